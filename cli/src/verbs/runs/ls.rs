//! `colo runs ls`.

use node::Exit;
use outcome::Manifest;
use outcome::shelf::{self, Shelved};
use serde::Serialize;

use super::args::Ls;
use crate::failure::Failure;
use crate::output::{self, Format, bytes, number, table};

/// One row.
#[derive(Debug, Serialize)]
struct Row {
    folder: String,
    state: String,
    instance: Option<String>,
    mode: Option<outcome::Mode>,
    started: Option<String>,
    seconds: Option<f64>,
    orders: Option<u64>,
    fills: Option<u64>,
    pnl: Option<f64>,
    complete: Option<bool>,
    bytes: u64,
    error: Option<String>,
}

impl Row {
    /// Its files do not hold all of it.
    fn is_partial(&self) -> bool {
        self.complete == Some(false) && matches!(self.state.as_str(), "finished" | "interrupted" | "failed")
    }

    fn of(shelved: &Shelved) -> Row {
        let manifest: Option<&Manifest> = shelved.manifest.as_ref().ok();
        let report = manifest.and_then(|manifest| manifest.report.as_ref());
        Row {
            folder: super::super::keeping::shown(&shelved.folder).display().to_string(),
            state: manifest.map_or("damaged", |manifest| manifest.state_word(&shelved.folder)).to_owned(),
            instance: manifest.map(|manifest| manifest.instance.clone()),
            mode: manifest.map(|manifest| manifest.mode),
            started: manifest.map(|manifest| manifest.started.clone()),
            seconds: manifest.and_then(|manifest| manifest.seconds),
            orders: report.map(|report| report.totals.requests.orders),
            fills: report.map(|report| report.totals.fills),
            pnl: report.map(observe::Report::pnl),
            complete: manifest.map(|manifest| manifest.complete),
            bytes: shelved.bytes,
            error: shelved.manifest.as_ref().err().map(ToString::to_string),
        }
    }
}

pub(super) fn ls(arguments: &Ls) -> Result<u8, Failure> {
    let root = super::root(&arguments.dir);
    let rows: Vec<Row> = shelf::list(&root)?.iter().map(Row::of).collect();
    match arguments.format {
        Format::Json => output::print_json(&serde_json::json!({ "dir": output::path(&root), "runs": rows }))?,
        Format::Text if rows.is_empty() => {
            talk!("there is no run in {}: `colo up` makes one", root.display())
        }
        Format::Text => output::print(&text(&rows))?,
    }
    Ok(Exit::Done.code())
}

fn text(rows: &[Row]) -> String {
    let some = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
    let shown = rows.iter().map(|row| {
        vec![
            output::escaped(&row.folder),
            if row.is_partial() { format!("{}, in part", row.state) } else { row.state.clone() },
            some(row.started.as_ref().map(|started| started.chars().take(19).collect())),
            some(row.seconds.map(|seconds| format!("{seconds:.1}"))),
            some(row.orders.map(number)),
            some(row.fills.map(number)),
            some(row.pnl.map(|pnl| format!("{pnl:.2}"))),
            bytes(row.bytes),
        ]
    });
    let mut text = table(&["run", "state", "started", "seconds", "orders", "fills", "pnl", "size"], 3, shown);
    for error in rows.iter().filter_map(|row| row.error.as_ref()) {
        text.push_str(&format!("{error}\n"));
    }
    text
}
