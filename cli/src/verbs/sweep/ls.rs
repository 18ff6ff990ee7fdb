//! `colo sweep ls`.

use ::sweep::Results;
use node::Exit;
use serde::Serialize;

use super::args::Ls;
use crate::failure::Failure;
use crate::output::{self, Format, bytes, number, table};

/// One row.
#[derive(Debug, Serialize)]
struct Row {
    folder: String,
    state: String,
    started: String,
    runs: usize,
    finished: usize,
    failed: usize,
    measure: String,
    bytes: u64,
}

pub(super) fn ls(arguments: &Ls) -> Result<u8, Failure> {
    let mut all = ::sweep::all(&arguments.dir);
    all.sort_by(|one, other| one.0.started.cmp(&other.0.started));
    let row = |folder: &std::path::Path| -> Option<Row> {
        let results = Results::read(folder).ok()?;
        Some(Row {
            folder: super::super::keeping::shown(folder).display().to_string(),
            state: results.state_word().to_owned(),
            started: results.manifest.started.clone(),
            runs: results.manifest.runs,
            finished: results.count("finished"),
            failed: results.count("failed") + results.count("timeout"),
            measure: results.manifest.measure.clone(),
            bytes: outcome::shelf::bytes_of(folder),
        })
    };
    let rows: Vec<Row> = all.iter().filter_map(|(_, folder)| row(folder)).collect();
    match arguments.format {
        Format::Json => {
            let dir = output::path(&arguments.dir);
            output::print_json(&serde_json::json!({ "dir": dir, "sweeps": rows }))?;
        }
        Format::Text if rows.is_empty() => {
            talk!("there is no sweep in {}: `colo sweep FILE` makes one", arguments.dir.display());
        }
        Format::Text => {
            let shown = rows.iter().map(|row| {
                vec![
                    output::escaped(&row.folder),
                    row.state.clone(),
                    row.started.chars().take(19).collect(),
                    number(row.runs as u64),
                    number(row.finished as u64),
                    number(row.failed as u64),
                    row.measure.clone(),
                    bytes(row.bytes),
                ]
            });
            let head = ["sweep", "state", "started", "runs", "finished", "failed", "measure", "size"];
            output::print(&table(&head, 3, shown))?;
        }
    }
    Ok(Exit::Done.code())
}
