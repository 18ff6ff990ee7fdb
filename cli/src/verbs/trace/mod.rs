//! `colo trace`: a trace of the platform that ui.perfetto.dev opens.

pub(crate) mod args;
mod export;
mod file;
mod frames;
mod record;

use args::TraceVerb;
use node::Exit;
use observe::TimelineTotals;
use serde::Serialize;

use crate::failure::Failure;
use crate::output::{self, Format};

/// Why a trace has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Ended {
    /// Everything is in it.
    Complete,
    /// The time was over.
    Time,
    /// Ctrl-C.
    Interrupted,
    /// The file has its size.
    MaxBytes,
    /// The platform is gone.
    PlatformGone,
}

/// What `--format json` prints.
#[derive(Debug, Serialize)]
struct Report {
    file: String,
    instance: String,
    ended: Ended,
    #[serde(flatten)]
    totals: TimelineTotals,
    unreadable: Vec<Unreadable>,
}

/// A journal that is not in the trace.
#[derive(Debug, Serialize)]
struct Unreadable {
    journal: String,
    error: String,
}

pub(super) fn dispatch(verb: &TraceVerb) -> Result<u8, Failure> {
    match verb {
        TraceVerb::Record(arguments) => record::record(arguments),
        TraceVerb::Export(arguments) => export::export(arguments),
    }
}

fn print(report: &Report, format: Format) -> Result<u8, Failure> {
    for Unreadable { journal, error } in &report.unreadable {
        talk!("colo: journal `{journal}` is left out, or ends early: {error}");
    }
    let totals = &report.totals;
    if totals.gaps > 0 {
        talk!(
            "colo: frames are missing {} times, {} in all; the trace marks where",
            output::number(totals.gaps),
            output::bytes(totals.lost_bytes)
        );
    }
    match format {
        Format::Json => output::print_json(report)?,
        Format::Text => output::print(&text(report))?,
    }
    Ok(Exit::Done.code())
}

fn text(report: &Report) -> String {
    let totals = &report.totals;
    let why = match report.ended {
        Ended::Complete | Ended::Time => "",
        Ended::Interrupted => "; interrupted",
        Ended::MaxBytes => "; the file has the size that it may have (--max-bytes), what follows is left out",
        Ended::PlatformGone => "; the platform has ended",
    };
    let span = totals.ends_ns.unwrap_or(0).saturating_sub(totals.begins_ns.unwrap_or(0));
    let (orders, slices) = (output::count(totals.orders, "order"), output::count(totals.slices, "slice"));
    format!(
        "{}: {} of instance {} in {}; {}, {orders}, {slices}{why}\nopen it at https://ui.perfetto.dev\n",
        report.file,
        output::duration(span),
        report.instance,
        output::bytes(totals.bytes),
        output::count(totals.frames, "frame"),
    )
}
