//! `colo journal trace`: one order on its way, from the quote that caused it to its last report.

use std::collections::BTreeSet;

use node::Exit;
use observe::{Evidence, Hop, NotFound, OrderSearch, Searched, Step, Trace, TraceStages, Unreadable};
use recorder::shelf::Shelf;
use serde::Serialize;
use serde_json::{Map, Value};
use wire::{AnyMessage, OrderId};

use super::disk::OnDisk;
use super::{args, recorded};
use crate::failure::Failure;
use crate::message::{brief, object_of};
use crate::output::{self, Format, table};
use crate::verbs::instance;

/// What `--format json` prints.
#[derive(Debug, Serialize)]
struct TraceReport<'a> {
    instance: &'a str,
    order_id: String,
    strategy: Option<&'a str>,
    status: &'static str,
    quantity: Option<i64>,
    filled: Option<i64>,
    stages: Stages<'a>,
    hops: Vec<HopRow<'a>>,
    /// Hops whose frame is overwritten.
    overwritten: usize,
    searched: &'a [Searched],
    unreadable: &'a [Unreadable],
}

/// The spans between hops, and from memory to disk.
#[derive(Debug, Serialize)]
struct Stages<'a> {
    #[serde(flatten)]
    hops: &'a TraceStages,
    durable_ns: Option<i64>,
}

/// A hop with kind and fields of its message, as `colo journal dump` names them.
#[derive(Debug, Serialize)]
struct HopRow<'a> {
    #[serde(flatten)]
    hop: &'a Hop,
    durable_ns: Option<u64>,
    since_commit_ns: Option<i64>,
    message: Option<&'static str>,
    fields: Option<Map<String, Value>>,
}

impl HopRow<'_> {
    fn of<'a>(number: usize, hop: &'a Hop, disk: &OnDisk) -> HopRow<'a> {
        let message = hop.message.as_ref();
        let (durable_ns, since_commit_ns) = (disk.time(number), disk.since_commit(number, hop));
        HopRow {
            hop,
            durable_ns,
            since_commit_ns,
            message: message.map(AnyMessage::name),
            fields: message.map(object_of),
        }
    }
}

pub(super) fn trace(arguments: &args::Trace) -> Result<u8, Failure> {
    if arguments.order.is_none() && !arguments.last {
        let message =
            "say which order, as in `colo journal trace 7-1-42`, or --last for that of the newest fill";
        return Err(Failure::new(Exit::Usage, message));
    }
    // With --last, what stands alone is the instance.
    let (order, named) = match (arguments.last, arguments.order.as_deref(), arguments.instance.name()) {
        (true, Some(_), Some(_)) => {
            return Err(Failure::new(Exit::Usage, "say which order, or --last; not both"));
        }
        (true, alone, named) => (None, alone.or(named)),
        (false, order, named) => (order, named),
    };
    let wanted = order.map(parse).transpose()?;
    if let Some(folder) = &arguments.recording.recording {
        return recorded::trace(folder, wanted, arguments);
    }
    let view = instance::view(named)?;
    let order = match wanted {
        Some(order) => order,
        None => newest(OrderSearch::newest(&view)?, view.instance().name())?,
    };
    // The recordings of the instance, which its own topology names.
    let shelves = |since: u64| view.topology().map_or(Vec::new(), |topology| Shelf::all(&topology, since));
    print(OrderSearch::of(&view, order)?, view.instance().name(), arguments.format, shelves)
}

/// Prints what a search has found. `shelves`: recordings of frames since a time.
pub(super) fn print(
    search: OrderSearch<'_>,
    place: &str,
    format: Format,
    shelves: impl FnOnce(u64) -> Vec<Shelf>,
) -> Result<u8, Failure> {
    say_left_out(search.unreadable());
    let trace = search.trace().map_err(not_found)?;
    let since = trace.hops.iter().filter_map(|hop| hop.time_ns).min().unwrap_or(0);
    let disk = OnDisk::of(&trace, &shelves(since));
    match format {
        Format::Json => output::print_json(&report(place, &trace, &disk))?,
        Format::Text => output::print(&text(place, &trace, &disk))?,
    }
    Ok(Exit::Done.code())
}

/// The newest order that was found; `place` is where.
pub(super) fn newest(
    (newest, unreadable): (Option<OrderId>, Vec<Unreadable>),
    name: &str,
) -> Result<OrderId, Failure> {
    say_left_out(&unreadable);
    newest.ok_or_else(|| {
        Failure::new(Exit::Inconclusive, format!("the journals of instance `{name}` hold no order"))
    })
}

fn say_left_out(unreadable: &[Unreadable]) {
    for Unreadable { journal, error } in unreadable {
        talk!("colo: journal `{journal}` is left out: {error}");
    }
}

fn not_found(why: NotFound) -> Failure {
    let exit = match why {
        NotFound::Overwritten { .. } => Exit::Inconclusive,
        _ => Exit::Failed,
    };
    Failure::new(exit, why.to_string())
}

/// `SEAT-EPOCH-SEQUENCE`, or the whole as one number.
fn parse(text: &str) -> Result<OrderId, Failure> {
    let number = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    };
    match number {
        Some(number) => Ok(OrderId(number)),
        None => text.parse::<OrderId>().map_err(|error| {
            let message = format!("{error}, or its number, as in 3377704015495210 or 0xc00010000002a");
            Failure::new(Exit::Usage, message)
        }),
    }
}

fn report<'a>(place: &'a str, trace: &'a Trace, disk: &OnDisk) -> TraceReport<'a> {
    let hops = trace.hops.iter().enumerate();
    TraceReport {
        instance: place,
        order_id: trace.order.to_string(),
        strategy: trace.strategy.as_deref(),
        status: trace.status,
        quantity: trace.quantity,
        filled: trace.filled,
        stages: Stages { hops: &trace.stages, durable_ns: disk.order(trace) },
        hops: hops.map(|(number, hop)| HopRow::of(number, hop, disk)).collect(),
        overwritten: trace.overwritten().count(),
        searched: &trace.searched,
        unreadable: &trace.unreadable,
    }
}

fn text(place: &str, trace: &Trace, disk: &OnDisk) -> String {
    let traded = match (trace.filled, trace.quantity) {
        (Some(filled), Some(quantity)) => format!(", {filled} of {quantity} traded"),
        _ => String::new(),
    };
    let owner = trace.strategy.as_deref().unwrap_or("an unknown strategy");
    let mut text =
        format!("order {} of {owner}, instance {}: {}{traded}\n\n", trace.order, place, trace.status);
    let dash = || "-".to_owned();
    let rows = trace.hops.iter().enumerate().map(|(number, hop)| {
        let place = match (&hop.journal, hop.position) {
            (Some(journal), Some(position)) => format!("{journal}@{position}"),
            (Some(journal), None) => journal.clone(),
            _ => dash(),
        };
        let mut row = vec![
            hop.hop.as_str().to_owned(),
            hop.since_start_ns.map_or_else(dash, micros),
            hop.since_previous_ns.map_or_else(dash, micros),
        ];
        if !disk.is_empty() {
            row.push(disk.since_commit(number, hop).map_or_else(dash, micros));
        }
        row.extend([hop.node.clone().unwrap_or_else(dash), place, what(hop)]);
        row
    });
    let numbers: &[&str] =
        if disk.is_empty() { &["at, µs", "hop, µs"] } else { &["at, µs", "hop, µs", "on disk, µs"] };
    let head = [&["hop"][..], numbers, &["node", "frame", "what"][..]].concat();
    text.push_str(&aligned(&head, numbers.len(), rows.collect()));
    let known = trace.stages.known().chain(disk.order(trace).map(|span| ("durable", span)));
    let spans: Vec<String> = known.map(|(name, span)| format!("{name} {} µs", micros(span))).collect();
    if !spans.is_empty() {
        text.push_str(&format!("\n{}\n", spans.join(", ")));
    }
    let overwritten = trace.overwritten().count();
    if overwritten > 0 {
        let rings: BTreeSet<&str> = trace.overwritten().filter_map(|hop| hop.journal.as_deref()).collect();
        let rings: Vec<&str> = rings.into_iter().collect();
        text.push_str(&format!(
            "{} of {} hops are overwritten; larger rings keep more: {}\n",
            overwritten,
            trace.hops.len(),
            rings.join(", ")
        ));
    }
    text
}

/// What a hop says, for people.
fn what(hop: &Hop) -> String {
    match (hop.evidence, &hop.message) {
        (_, Some(message)) => brief(message),
        (Evidence::Overwritten, None) => "overwritten: its frame is gone from the ring".to_owned(),
        (Evidence::Missing, None) => "not there: still under way, or a process died over it".to_owned(),
        (_, None) => match hop.hop {
            Step::Due => "when the schedule wanted it published".to_owned(),
            Step::Received => "the strategy had it in hand".to_owned(),
            Step::Taken => "td had it in hand".to_owned(),
            _ => String::new(),
        },
    }
}

/// Numbers to the right, of which so many columns follow the first; words to the left.
fn aligned(head: &[&str], numbers: usize, rows: Vec<Vec<String>>) -> String {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.max().unwrap_or(0).max(head[column].chars().count())
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    // A table aligns all its columns behind the first ones to the right: numbers are filled up here instead.
    let filled = rows.into_iter().map(|mut row| {
        for column in 1..=numbers {
            row[column] = format!("{:>1$}", row[column], widths[column]);
        }
        row
    });
    table(head, head.len(), filled)
}

/// Microseconds to the nanosecond.
fn micros(nanos: i64) -> String {
    format!("{:.3}", nanos as f64 / 1_000.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::StrategyId;

    #[test]
    fn order_ids_are_read_in_three_forms_and_nothing_else() {
        let order = OrderId::new(StrategyId(12), 1, 42);
        for text in ["12-1-42", "3377704015495210", "0xc00010000002a"] {
            assert_eq!(parse(text).unwrap(), order, "{text}");
        }
        for text in ["", "12-1", "soon", "0xzz", "-5"] {
            assert_eq!(parse(text).unwrap_err().exit(), Exit::Usage.code(), "{text}");
        }
    }
}
