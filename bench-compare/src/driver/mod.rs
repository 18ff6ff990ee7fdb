//! The driver: plans a run, and measures all rounds.

mod block;
mod deaths;
mod disturbance;
mod host;
mod plan;
mod rounds;

pub(crate) use block::Figures;
pub(crate) use deaths::{ReaderDeath, WriterDeaths};
pub(crate) use host::HostFacts;
pub(crate) use plan::{Plan, Row, RowKind};
pub(crate) use rounds::Measured;

use std::time::Instant;

use crate::args::Settings;
use crate::error::{CompareError, system};
use crate::rivals;

/// Everything that one run measured.
#[derive(Debug)]
pub(crate) struct Results {
    /// What was planned.
    pub(crate) plan: Plan,
    /// The host and the run.
    pub(crate) host: HostFacts,
    /// The result of every block.
    pub(crate) blocks: Vec<Measured>,
    /// Writers killed.
    pub(crate) writer_deaths: Vec<WriterDeaths>,
    /// Readers killed.
    pub(crate) reader_deaths: Vec<ReaderDeath>,
    /// Duration of the run.
    pub(crate) minutes: f64,
}

/// Measures.
pub(crate) fn run(settings: &Settings) -> Result<Results, CompareError> {
    let plan = Plan::new(settings)?;
    std::fs::create_dir_all(&settings.out).map_err(system("make the folder for the results"))?;
    for missing in &plan.missing {
        eprintln!("{}: not run: {}", missing.name, missing.why);
    }
    let names: Vec<&str> = plan.rivals.iter().map(|facts| facts.name).collect();
    eprintln!("{} rounds of {} on CPUs {:?}", plan.rounds, names.join(", "), plan.cpus);
    let begin = Instant::now();
    let host = HostFacts::read(&plan, settings)?;
    let blocks = rounds::measure(&plan)?;
    let (writer_deaths, reader_deaths) =
        if plan.kills > 0 { deaths::measure(&plan)? } else { (Vec::new(), Vec::new()) };
    let minutes = begin.elapsed().as_secs_f64() / 60.0;
    Ok(Results { plan, host, blocks, writer_deaths, reader_deaths, minutes })
}

/// Prints the rivals.
pub(crate) fn list() {
    let (rivals, missing) = rivals::ready(|_| true);
    for facts in rivals {
        println!("{} ({})", facts.name, facts.version);
        for setting in facts.settings {
            println!("    {setting}");
        }
    }
    for missing in missing {
        println!("{}: not run: {}", missing.name, missing.why);
    }
}
