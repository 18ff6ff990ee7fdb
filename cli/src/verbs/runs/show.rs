//! `colo runs show`.

use std::path::Path;

use outcome::shelf;
use outcome::{Manifest, Missed};
use serde_json::json;

use super::args::One;
use crate::failure::Failure;
use crate::output::{self, Format, bytes, number, table};
use crate::verbs::report;

pub(super) fn show(arguments: &One) -> Result<u8, Failure> {
    let folder = shelf::find(&super::root(&arguments.dir), arguments.run.as_deref())?;
    let manifest = shelf::read(&folder)?;
    let faults = outcome::faults(&folder, &manifest);
    match arguments.format {
        Format::Json => {
            let state = manifest.state_word(&folder);
            output::print_json(
                &json!({ "folder": output::path(&folder), "state": state, "faults": faults, "run": manifest }),
            )?
        }
        Format::Text => output::print(&text(&folder, &manifest))?,
    }
    Ok(super::said(&faults).code())
}

fn text(folder: &Path, manifest: &Manifest) -> String {
    let shown = super::super::keeping::shown(folder).display().to_string();
    let mut text = format!("{}: {}\n", output::escaped(&shown), manifest.state_word(folder));
    let mut line =
        |key: &str, value: String| text.push_str(&format!("  {key:<12}{}\n", output::escaped(&value)));
    line("instance", manifest.instance.clone());
    let mode = match manifest.mode {
        outcome::Mode::OneProcess => "lock-step, in one process",
        outcome::Mode::LockStep => "lock-step over processes",
        outcome::Mode::Live => "live: another run gives other fills",
    };
    line("mode", mode.to_owned());
    line("started", manifest.started.clone());
    if let Some(seconds) = manifest.seconds {
        line("took", format!("{seconds:.1} s"));
    }
    if let (Some(first), Some(last)) = (manifest.first_ns, manifest.last_ns) {
        // Recorded days have the exchange's own clock, whatever its zone.
        let what = if manifest.deterministic { "market" } else { "clock" };
        let zone = if manifest.deterministic { "" } else { "Z" };
        let seconds = last.saturating_sub(first) as f64 / 1e9;
        line(what, format!("{}{zone} to {}{zone}, {seconds:.1} s", time(first), time(last)));
    }
    line("colo", manifest.colo.clone());
    if let Some(platform) = &manifest.platform {
        line("platform", platform.clone());
    }
    for file in &manifest.data {
        let hash = file.xxh3.as_deref().unwrap_or("no hash");
        line("data", format!("{}, {}, {hash}", file.path.display(), bytes(file.bytes)));
    }
    if let Some(file) = &manifest.instruments {
        let hash = file.xxh3.as_deref().unwrap_or("no hash");
        line("instruments", format!("{}, {}, {hash}", file.path.display(), bytes(file.bytes)));
    }
    if let Some(currency) = &manifest.currency {
        line("currency", currency.clone());
    }
    for (node, file) in &manifest.programs {
        let hash = file.xxh3.as_deref().unwrap_or("no hash");
        line("program", format!("{node}: {}, {}, {hash}", file.path.display(), bytes(file.bytes)));
    }
    if !manifest.files.is_empty() {
        let rows =
            manifest.files.iter().map(|file| vec![file.name.clone(), number(file.rows), bytes(file.bytes)]);
        text.push_str(&format!("\n{}", table(&["file", "rows", "size"], 1, rows)));
    }
    for missed in &manifest.missed {
        text.push_str(&format!("the files lack a part of {}: {}\n", missed.journal, lacks(missed)));
    }
    for problem in &manifest.problems {
        text.push_str(&format!("not whole: {}\n", output::escaped(problem)));
    }
    match &manifest.report {
        Some(of_run) => text.push_str(&format!("\n{}", report::text(of_run))),
        None => text.push_str("\nthere is no report: the run did not come to its end\n"),
    }
    text
}

fn lacks(missed: &Missed) -> String {
    missed
        .error
        .clone()
        .unwrap_or_else(|| format!("{} were overwritten before they were read", bytes(missed.bytes)))
}

fn time(ns: u64) -> String {
    let time = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_nanos(ns);
    humantime::format_rfc3339_millis(time).to_string().trim_end_matches('Z').to_owned()
}
