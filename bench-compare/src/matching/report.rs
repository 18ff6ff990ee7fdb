//! The report: JSON and Markdown.

use std::fmt::Write as _;
use std::path::Path;

use super::{Report, Row};
use crate::error::{CompareError, system};

impl Report {
    /// Writes `matching.json` and `matching.md`, and prints the latter.
    pub(super) fn write(&self, folder: &Path) -> Result<(), CompareError> {
        std::fs::create_dir_all(folder).map_err(system("make the folder of results"))?;
        let json =
            serde_json::to_string_pretty(self).map_err(|error| CompareError::Peer(error.to_string()))?;
        let text = self.markdown();
        for (name, text) in [("matching.json", &json), ("matching.md", &text)] {
            std::fs::write(folder.join(name), text).map_err(system("write the results"))?;
        }
        println!("{text}");
        Ok(())
    }

    fn markdown(&self) -> String {
        let mut text = format!(
            "# Matching engines side by side\n\n{}{}, {} CPUs, load {} at the start, {}, {}; {} operations a flow, {} turns, each engine once a turn, all on CPU {}; \
             {:.1} minutes. Times of single operations are less the clock's {:.1} ns.\n\nAll engines get the same operations and \
             must trade and cancel the same. *Times colo* is the engine's time by colo's: \
             above 1, colo is faster. A flow's time is the sum of slices of 1,024 operations, each the median of the turns; the range \
             is that of whole turns, interruptions included.\n",
            self.host.cpu,
            if self.host.virtual_machine { " (virtual machine)" } else { "" },
            self.host.cpus,
            self.host.load,
            self.host.rustc,
            self.host.date,
            self.operations,
            self.turns,
            self.cpu,
            self.minutes,
            self.clock_cost_ns,
        );
        for row in &self.rows {
            table(&mut text, row);
        }
        text += "\n## Setup\n\n| engine | version | set up |\n|---|---|---|\n";
        for facts in &self.engines {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "| {} | {} | {} |", facts.name, facts.version, facts.setup);
        }
        text
    }
}

fn table(text: &mut String, row: &Row) {
    let _ = writeln!(
        text,
        "\n## {}, {} levels\n\n| engine | M ops/s | range | times colo | ns an operation | p50 ns | p99 ns | p99.9 ns |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|",
        row.mix, row.levels
    );
    for entry in &row.engines {
        let _ = match (&entry.figures, &entry.error) {
            (Some(figures), _) => writeln!(
                text,
                "| {} | {:.2} | {:.2}..{:.2} | {:.2} | {:.1} | {:.0} | {:.0} | {:.0} |",
                entry.engine,
                figures.ops_per_s / 1e6,
                figures.ops_range[0] / 1e6,
                figures.ops_range[1] / 1e6,
                figures.ratio,
                1e9 / figures.ops_per_s,
                figures.p50_ns,
                figures.p99_ns,
                figures.p999_ns,
            ),
            (None, error) => {
                let why = error.as_deref().unwrap_or("not measured");
                writeln!(text, "| {} | {why} | | | | | | |", entry.engine)
            }
        };
    }
}
