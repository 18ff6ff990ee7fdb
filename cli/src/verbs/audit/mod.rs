//! `colo audit`: the accounts computed again from what the journals hold, independently of td and of the ledger.

mod align;
pub(crate) mod args;
mod charges;
mod findings;
mod frames;
mod lives;
mod reach;
mod recount;
mod sequence;
mod states;

use std::time::Duration;

use node::Exit;
use serde::Serialize;

use args::Audit;
use findings::{Difference, Findings};
use lives::Lives;
use reach::Reach;
use recount::Recount;
use sequence::Sequence;
use states::States;

use super::instance::instance;
use crate::desk::{self, DROPS, Fault, Source, Stream};
use crate::failure::Failure;
use crate::output::{self, Format, count, number, table};

/// A living writer may overwrite what is being read; then all is read anew.
const TRIES: usize = 8;
/// td has so long to write down what it has just handled.
const SETTLES: Duration = Duration::from_millis(200);

/// Why an audit ends before its end.
enum Stop {
    /// Something was overwritten meanwhile.
    Again(Fault),
    Failed(Box<Failure>),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Stop {
        match fault {
            Fault::Overwritten(_) => Stop::Again(fault),
            Fault::Damaged(_) => Failure::from(fault).into(),
        }
    }
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Stop {
        Stop::Failed(Box::new(failure))
    }
}

/// What `--format json` prints.
#[derive(Debug, Serialize)]
struct Report {
    source: String,
    /// `same`, `differs` or `inconclusive`.
    verdict: &'static str,
    /// The drop copy was read from its first frame on.
    from_begin: bool,
    frames: u64,
    parts: Vec<Findings>,
    differences: Vec<Difference>,
}

pub(super) fn audit(arguments: &Audit) -> Result<u8, Failure> {
    let source = match &arguments.recording.recording {
        Some(folder) => Source::recording(folder)?,
        None => {
            let instance = instance(arguments.instance.name())?;
            desk::demand(&instance)?;
            Source::Live(instance)
        }
    };
    let mut left = TRIES;
    let report = loop {
        left -= 1;
        match look(&source) {
            Ok(report) => break report,
            Err(Stop::Again(_)) if left > 0 => {}
            Err(Stop::Again(fault)) => return Err(fault.into()),
            Err(Stop::Failed(failure)) => return Err(*failure),
        }
    };
    match arguments.format {
        Format::Json => output::print_json(&report)?,
        Format::Text => output::print(&report.text())?,
    }
    Ok(match report.verdict {
        "same" => Exit::Done,
        "differs" => Exit::CheckFailed,
        _ => Exit::Inconclusive,
    }
    .code())
}

/// A journal that an audit cannot do without, from a position on.
fn stream<'a>(source: &'a Source, journal: &'static str, position: u64) -> Result<Stream<'a>, Stop> {
    let missing = || {
        let message = format!(
            "{} has no `{journal}`: an audit needs {}, {DROPS}, {}, {} and {}, and a recorder must read them all",
            source.name(),
            desk::ORDERS,
            desk::EXECUTIONS,
            desk::ENTRIES,
            desk::SNAPSHOTS
        );
        Stop::from(Failure::new(Exit::Usage, message))
    };
    source.stream(journal, position)?.ok_or_else(missing)
}

fn look(source: &Source) -> Result<Report, Stop> {
    let section = desk::section(&source.topology()?);
    let options = desk::options(section.as_ref());
    let reach = Reach::of(source)?;
    if reach.grows() {
        std::thread::sleep(SETTLES);
    }
    let end = reach::end(source)?;
    let mut drops = stream(source, DROPS, 0)?;
    let from_begin = drops.is_at_begin()?;
    let mut sequence = Sequence::new(source, from_begin, reach)?;
    let mut states = States::new(source, options, from_begin)?;
    let mut recount = from_begin.then(Recount::new);
    let mut lives = Lives::new(from_begin);
    let mut frames = 0;
    while let Some(seen) = drops.next()?.filter(|seen| seen.position < end) {
        frames += 1;
        sequence.take(&seen)?;
        states.take(&seen)?;
        lives.take(&seen);
        if let Some(recount) = &mut recount {
            recount.take(&seen);
        }
    }
    let (states, follower) = states.finish(source)?;
    let desk = follower.as_ref().map(|follower| &follower.desk);
    let recount = match (recount, desk) {
        (Some(recount), Some(desk)) => recount.finish(desk),
        _ => {
            let mut findings = Recount::new().findings;
            findings.lacks(format!("{DROPS} does not reach back to its begin; a recording of it does"));
            findings
        }
    };
    let mut parts = vec![sequence.finish()?, states, recount, lives.finish(desk)];
    let differences: Vec<Difference> =
        parts.iter_mut().flat_map(|part| std::mem::take(&mut part.rows)).collect();
    let verdict = match (parts.iter().all(|part| part.differences == 0), parts.iter().all(|part| part.whole))
    {
        (false, _) => "differs",
        (true, true) => "same",
        (true, false) => "inconclusive",
    };
    Ok(Report { source: source.name(), verdict, from_begin, frames, parts, differences })
}

impl Report {
    fn text(&self) -> String {
        let rows = self.parts.iter().map(|part| {
            let whole = if part.whole { "whole" } else { "in part" };
            vec![
                part.part.to_owned(),
                part.what.to_owned(),
                whole.to_owned(),
                number(part.checked),
                number(part.differences),
            ]
        });
        let begin = if self.from_begin { "from its begin" } else { "as far as it reaches back" };
        let mut text = format!("{}: {} of {DROPS}, {begin}\n\n", self.source, count(self.frames, "frame"));
        text.push_str(&table(&["part", "holds", "seen", "checked", "differ"], 3, rows));
        for part in &self.parts {
            for note in &part.notes {
                text.push_str(&format!("{}: {note}\n", part.part));
            }
        }
        for row in &self.differences {
            let position = row.position.map_or(String::new(), |position| format!("@{position}"));
            text.push_str(&format!(
                "\n{} {}{position}\n  found     {}\n  expected  {}\n",
                row.part, row.journal, row.found, row.expected
            ));
        }
        let told = self.differences.len() as u64;
        let all: u64 = self.parts.iter().map(|part| part.differences).sum();
        if all > told {
            text.push_str(&format!("\n{} more are not listed\n", number(all - told)));
        }
        let verdict = match self.verdict {
            "same" => "nothing differs",
            "differs" => "differs",
            _ => "nothing differs in what could be looked at, which is not all",
        };
        text + &format!("\n{verdict}\n")
    }
}
