//! The report of the blocks: JSON, Markdown, a plot.

mod markdown;
mod plot;
mod summary;
mod verdict;

use serde::Serialize;

use crate::args::Settings;
use crate::driver::{HostFacts, ReaderDeath, Results, WriterDeaths};
use crate::error::{CompareError, system};
use crate::rivals::Missing;

pub(crate) use summary::{Entry, RowSummary};

/// The report.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Report {
    /// Changes when the meaning of a name changes.
    pub(crate) format: u32,
    /// The host and the run.
    pub(crate) host: HostFacts,
    /// Duration of the run.
    pub(crate) minutes: f64,
    /// The rivals, with versions and settings.
    pub(crate) rivals: Vec<RivalFacts>,
    /// The rivals that could not take part, with the reasons.
    pub(crate) missing: Vec<Missing>,
    /// The rows.
    pub(crate) rows: Vec<RowSummary>,
    /// Writers killed.
    pub(crate) writer_deaths: Vec<WriterDeaths>,
    /// Readers killed.
    pub(crate) reader_deaths: Vec<ReaderDeath>,
    /// Every block that counts.
    pub(crate) blocks: Vec<BlockFacts>,
}

/// A rival.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct RivalFacts {
    /// Short name.
    pub(crate) name: &'static str,
    /// Version.
    pub(crate) version: String,
    /// Settings.
    pub(crate) settings: Vec<&'static str>,
    /// Runs as threads of one process.
    pub(crate) in_process: bool,
    /// Loses nothing.
    pub(crate) lossless: bool,
    /// Its readers can sleep.
    pub(crate) sleeps: bool,
    /// Its readers nap by a timer instead of being woken.
    pub(crate) naps: bool,
}

/// One block.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct BlockFacts {
    row: String,
    round: usize,
    rival: &'static str,
    figures: Option<crate::driver::Figures>,
    error: Option<String>,
    disturbed: Vec<String>,
    repeated: usize,
}

impl Report {
    /// Builds the report.
    pub(crate) fn new(results: Results) -> Report {
        let Results { plan, host, blocks, writer_deaths, reader_deaths, minutes } = results;
        let rivals = plan.rivals.iter().map(|facts| RivalFacts {
            name: facts.name,
            version: facts.version.clone(),
            settings: facts.settings.to_vec(),
            in_process: facts.in_process,
            lossless: facts.can.lossless,
            sleeps: facts.can.sleep,
            naps: facts.naps,
        });
        let rows = summary::rows(&plan, &blocks);
        let blocks = blocks.into_iter().map(|block| BlockFacts {
            row: plan.rows[block.row].id.clone(),
            round: block.round,
            rival: block.rival,
            error: block.outcome.as_ref().err().cloned(),
            figures: block.outcome.ok(),
            disturbed: block.disturbed,
            repeated: block.repeated,
        });
        Report {
            format: 1,
            host,
            minutes,
            rivals: rivals.collect(),
            missing: plan.missing.clone(),
            rows,
            writer_deaths,
            reader_deaths,
            blocks: blocks.collect(),
        }
    }

    /// Writes all three files, and the documentation's page if requested.
    pub(crate) fn write(&self, settings: &Settings) -> Result<(), CompareError> {
        let json =
            serde_json::to_string_pretty(self).map_err(|error| CompareError::Peer(error.to_string()))?;
        let text = markdown::page(self, "compare.svg");
        let write = |name: &str, text: &str| {
            std::fs::write(settings.out.join(name), text).map_err(system("write the results"))
        };
        write("compare.json", &json)?;
        write("compare.md", &text)?;
        plot::draw(self, &settings.out.join("compare.svg"))?;
        if let Some(docs) = &settings.docs {
            let picture = docs.with_extension("svg");
            let name = picture.file_name().unwrap_or_default().to_string_lossy().into_owned();
            std::fs::write(docs, markdown::page(self, &name)).map_err(system("write the page"))?;
            plot::draw(self, &picture)?;
        }
        println!("{text}");
        Ok(())
    }
}
