//! `colo audit`: the accounts computed again from what the journals hold, independently of td and of the ledger.

mod align;
pub(crate) mod args;
mod books;
mod bounds;
mod breaches;
mod changes;
mod charges;
mod evidence;
mod findings;
mod forced;
mod frames;
mod funds;
mod gauge;
mod given;
mod gross;
mod holdings;
mod limits;
mod lives;
mod money;
mod offsets;
mod order;
mod outside;
mod rates;
mod reach;
mod recount;
mod refusals;
mod reports;
mod requests;
mod risk;
mod rules;
mod scopes;
mod sequence;
mod states;
mod sums;
mod switches;
#[cfg(test)]
mod tests;
mod venue;
mod works;

use std::time::Duration;

use node::Exit;
use serde::Serialize;
use topology::{NodeKind, TdSection};
use wire::{AnyMessage, DROP_REFUSED, Execution, StrategyId};

use args::Audit;
use books::Books;
use evidence::Evidence;
use findings::{Difference, Findings};
use forced::Forced;
use given::Given;
use limits::Limits;
use lives::Lives;
use reach::Reach;
use refusals::Refusals;
use reports::Reports;
use requests::{Copies, Requests};
use risk::Risk;
use sequence::Sequence;
use states::States;
use switches::Switches;
use venue::Venue;

use super::instance::instance;
use crate::desk::{self, DROPS, Fault, Seen, Source, Stream};
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

/// The same as it is now, so that its writer does not come round while it is compared.
fn held<'a>(source: &'a Source, journal: &'static str) -> Result<Stream<'a>, Stop> {
    match source.held(journal)? {
        Some(held) => Ok(held),
        None => stream(source, journal, 0),
    }
}

/// What follows from the drop copy from its begin on, and what is held of it.
struct Counted {
    books: Books,
    switches: Switches,
    limits: Limits,
    refusals: Refusals,
    forced: Forced,
}

impl Counted {
    fn new(limits: Limits, evidence: Evidence) -> Counted {
        Counted {
            books: Books::default(),
            switches: Switches::new(),
            refusals: Refusals::new(evidence),
            forced: Forced::new(limits.given.ledger),
            limits,
        }
    }

    fn take(&mut self, seen: &Seen) {
        let Counted { books, switches, limits, refusals, forced } = self;
        refusals.before(seen, books, &limits.given, &limits.rates);
        switches.before(seen, books);
        limits.before(seen, books);
        forced.before(seen, books);
        books.take(seen);
        switches.after(seen, books);
        forced.after(seen, books);
    }
}

/// The entries with which the accounts begin, made from the platform file once more.
fn opening(td: Option<&TdSection>) -> Result<Vec<AnyMessage>, String> {
    let td = td.ok_or("the platform's td is not understood")?;
    let section = td.desk.as_ref().ok_or("the platform keeps no accounts")?;
    let mut accounts = section.accounts.clone();
    if let Some(file) = &section.config.file {
        accounts.extend(topology::desk::read_accounts(std::path::Path::new(file))?);
    }
    let seat_of = |name: &str| {
        let its = td.strategies.iter().find(|strategy| strategy.name == name);
        its.map(|strategy| StrategyId(strategy.seat))
    };
    Ok(topology::desk::opening(&section.config, &accounts, seat_of))
}

fn look(source: &Source) -> Result<Report, Stop> {
    let topology = source.topology()?;
    let td = topology.nodes.iter().find(|node| node.kind == NodeKind::Td);
    let td = td.and_then(|node| serde_json::from_value::<TdSection>(node.section.clone()).ok());
    let options = desk::options(desk::section(&topology).as_ref());
    let ledger = topology.nodes.iter().find(|node| node.kind == NodeKind::Ledger);
    let ledger = ledger.map(|node| StrategyId(node.seat));
    let reach = Reach::of(source)?;
    if reach.grows() {
        std::thread::sleep(SETTLES);
    }
    let end = reach::end(source)?;
    // Each behind what it is compared with.
    let sent = held(source, desk::ORDERS)?;
    let mut reports = Reports::new(source, td.as_ref())?;
    let requests = Requests::new(source, &topology, td.as_ref(), sent)?;
    let venue = Venue::new(source, &topology)?;
    let mut drops = stream(source, DROPS, 0)?;
    let from_begin = drops.is_at_begin()?;
    let mut risk = Risk::new(source, &topology, reach.clone(), from_begin)?;
    let mut sequence = Sequence::new(source, from_begin, reach.clone(), opening(td.as_ref()))?;
    let mut states = States::new(source, options, from_begin)?;
    let mut lives = Lives::new(from_begin, venue::fill_of(&topology) == Some("external"));
    let mut counted = match from_begin {
        true => {
            let mut findings = limits::part();
            let given = Given::new(source, td.as_ref(), ledger, &mut findings)?;
            let evidence = Evidence::read(source, td.as_ref(), end)?;
            Some(Counted::new(Limits::new(given, findings), evidence))
        }
        false => None,
    };
    let (mut frames, mut settled) = (0, 0);
    let (mut refusals, mut copies) = (Vec::new(), Copies::new());
    while let Some(seen) = drops.next()?.filter(|seen| seen.position < end) {
        frames += 1;
        sequence.take(&seen)?;
        if let Some((entry, result)) = sequence.refused_entry.take() {
            states.refused(&entry, &result, seen.position);
        }
        states.take(&seen)?;
        risk.take(&seen, counted.as_ref().map(|counted| (&counted.books, &counted.limits.given)))?;
        lives.take(&seen);
        if let Some(counted) = &mut counted {
            counted.take(&seen);
        }
        match AnyMessage::decode(seen.id, &seen.payload) {
            Ok(AnyMessage::NewOrder(order)) if seen.topic == DROP_REFUSED => {
                copies.insert(order.order_id, (seen.position, order));
            }
            Ok(AnyMessage::OrderUpdate(update)) if update.execution == 0 && reach.is_answered(&seen) => {
                refusals.push((seen.position, update));
            }
            Ok(_) | Err(_) => {}
        }
        if reach.is_settled(&seen)
            && let Ok(execution) = Execution::decode(seen.id, &seen.payload)
        {
            settled = settled.max(execution.position().unwrap_or_default());
        }
    }
    reports.compare(settled)?;
    reports.compare_refusals(&refusals);
    let refused = (reports.is_whole && reports.has_room()).then_some(&reports.refused);
    let books = counted.as_ref().map(|counted| &counted.books);
    let requests = requests.compare(refused, (&copies, books), &reach)?;
    let venue = venue.compare(books)?;
    let (states, follower) = states.finish(source)?;
    let desk = follower.as_ref().map(|follower| &follower.desk);
    let counted = finish(counted, desk);
    let mut parts = vec![sequence.finish()?, states];
    parts.extend(counted);
    parts.extend([risk.finish()?, lives.finish(desk), requests, reports.finish(&reach), venue]);
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

/// The parts that need the drop copy from its begin.
fn finish(counted: Option<Counted>, desk: Option<&accounts::Desk>) -> Vec<Findings> {
    match (counted, desk) {
        (Some(counted), Some(desk)) => {
            let Counted { books, switches, limits, refusals, forced } = counted;
            vec![
                recount::compare(&books, desk),
                scopes::compare(&books, desk),
                limits.findings,
                refusals.finish(),
                switches.finish(&books),
                forced.finish(&books),
            ]
        }
        _ => [
            recount::part(),
            scopes::part(),
            limits::part(),
            refusals::part(),
            switches::part(),
            forced::part(),
        ]
        .into_iter()
        .map(|mut part| {
            part.lacks(format!("{DROPS} does not reach back to its begin; a recording of it does"));
            part
        })
        .collect(),
    }
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
