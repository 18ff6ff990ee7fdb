//! `colo journal trace`: one order on its way, from the quote that caused it to its last report.

mod hops;
mod search;

use std::collections::BTreeSet;

use node::Exit;
use serde::Serialize;
use topology::NodeKind;
use wire::{AnyMessage, OrderId};

use super::args::Trace;
use crate::failure::Failure;
use crate::output::{self, Format, table};
use crate::verbs::instance;
use hops::{Evidence, Hop, Step, hops};
use search::{Place, Search};

/// What `--format json` prints.
#[derive(Debug, Serialize)]
struct TraceReport {
    instance: String,
    order_id: String,
    strategy: Option<String>,
    /// The order's last known status; `unknown` when nothing says it.
    status: &'static str,
    quantity: Option<i64>,
    filled: Option<i64>,
    stages: Stages,
    hops: Vec<Hop>,
    /// Hops whose frame is overwritten.
    overwritten: usize,
    searched: Vec<SearchedRow>,
    unreadable: Vec<UnreadableRow>,
}

/// Spans between hops; null where one of the two is not known.
#[derive(Debug, Serialize)]
struct Stages {
    md_ns: Option<i64>,
    strategy_ns: Option<i64>,
    order_ns: Option<i64>,
    t2o_ns: Option<i64>,
    t2o_intended_ns: Option<i64>,
    /// From the cause's publication to the first execution.
    quote_to_execution_ns: Option<i64>,
    /// From the cause's publication to the last report.
    quote_to_report_ns: Option<i64>,
}

#[derive(Debug, Serialize)]
struct SearchedRow {
    journal: String,
    frames: u64,
    oldest: u64,
    /// Nothing of it is overwritten.
    whole: bool,
}

#[derive(Debug, Serialize)]
struct UnreadableRow {
    journal: String,
    error: String,
}

pub(super) fn trace(arguments: &Trace) -> Result<u8, Failure> {
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
    let place = Place::new(instance::view(named)?);
    let order = match wanted {
        Some(order) => order,
        None => place.newest()?.ok_or_else(|| {
            let name = place.view.instance().name();
            Failure::new(Exit::Inconclusive, format!("the journals of instance `{name}` hold no order"))
        })?,
    };
    let search = place.search(order)?;
    for (journal, error) in &search.unreadable {
        talk!("colo: journal `{journal}` is left out: {error}");
    }
    let hops = hops(order, &search, &place);
    if hops.is_empty() {
        return Err(not_found(order, &search, &place));
    }
    let report = report(order, &search, &place, hops);
    match arguments.format {
        Format::Json => output::print_json(&report)?,
        Format::Text => output::print(&text(&report))?,
    }
    Ok(Exit::Done.code())
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

/// No frame speaks of it: why, as far as can be told.
fn not_found(order: OrderId, search: &Search, place: &Place) -> Failure {
    let seat = u32::from(order.strategy().0);
    let instance = place.view.instance().name();
    let Some(owner) = place.seat(seat).filter(|owner| owner.kind == NodeKind::Strategy) else {
        let known = place.seats.iter().filter(|seat| seat.kind == NodeKind::Strategy);
        let known: Vec<String> = known.map(|seat| format!("{} ({})", seat.seat, seat.name)).collect();
        let message = format!(
            "there is no order {order} in instance `{instance}`: no strategy sits in seat {seat}; strategies sit in: {}",
            if known.is_empty() { "none".to_owned() } else { known.join(", ") }
        );
        return Failure::new(Exit::Failed, message);
    };
    let own = search.searched.iter().filter(|searched| searched.writer.kind == Some(NodeKind::Strategy));
    let held: Vec<_> = own.filter(|searched| searched.writer.node == owner.name).collect();
    let orders = held.iter().filter_map(|searched| searched.orders);
    let (first, last) = orders.fold((None, None), |(first, last), (oldest, newest)| {
        (Some(first.map_or(oldest, |first: OrderId| first.min(oldest))), last.max(Some(newest)))
    });
    let whole = held.iter().all(|searched| searched.whole);
    match (first, last) {
        (Some(first), _) if order < first && !whole => Failure::new(
            Exit::Inconclusive,
            format!(
                "order {order} of {} is overwritten, if it ever was: the oldest order that its journal still holds is \
                 {first}; a larger ring keeps more ([journal] in the platform file)",
                owner.name
            ),
        ),
        (_, Some(last)) => Failure::new(
            Exit::Failed,
            format!(
                "there is no order {order} in instance `{instance}`: the newest of {} is {last}",
                owner.name
            ),
        ),
        _ => Failure::new(
            Exit::Failed,
            format!("there is no order {order} in instance `{instance}`: {} has sent none", owner.name),
        ),
    }
}

fn report(order: OrderId, search: &Search, place: &Place, hops: Vec<Hop>) -> TraceReport {
    let time = |step: Step| hops.iter().find(|hop| hop.hop == step).and_then(|hop| hop.time_ns);
    let last = |step: Step| hops.iter().rfind(|hop| hop.hop == step).and_then(|hop| hop.time_ns);
    let span = |from: Option<u64>, to: Option<u64>| Some((to? as i64).wrapping_sub(from? as i64));
    let published = time(Step::Published);
    let state = hops.iter().rev().find_map(|hop| match &hop.message {
        Some(AnyMessage::OrderUpdate(update)) if !update.status.is_refusal() => Some(update),
        _ => None,
    });
    let quantity = search.found.iter().find_map(|found| match &found.message {
        AnyMessage::NewOrder(order) => Some(order.quantity.0),
        _ => None,
    });
    TraceReport {
        instance: place.view.instance().name().to_owned(),
        order_id: order.to_string(),
        strategy: place.seat(u32::from(order.strategy().0)).map(|seat| seat.name.clone()),
        status: state.map_or("unknown", |update| update.status.as_str()),
        quantity: state.map(|update| update.quantity.0).or(quantity),
        filled: state.map(|update| update.filled.0),
        stages: Stages {
            md_ns: span(published, time(Step::Received)),
            strategy_ns: span(time(Step::Received), time(Step::Ordered)),
            order_ns: span(time(Step::Ordered), time(Step::Taken)),
            t2o_ns: span(published, time(Step::Taken)),
            t2o_intended_ns: span(time(Step::Due), time(Step::Taken)),
            quote_to_execution_ns: span(published, time(Step::Executed)),
            quote_to_report_ns: span(published, last(Step::Reported)),
        },
        overwritten: hops.iter().filter(|hop| hop.evidence == Evidence::Overwritten).count(),
        hops,
        searched: search
            .searched
            .iter()
            .map(|searched| SearchedRow {
                journal: searched.journal.clone(),
                frames: searched.frames,
                oldest: searched.oldest,
                whole: searched.whole,
            })
            .collect(),
        unreadable: search
            .unreadable
            .iter()
            .map(|(journal, error)| UnreadableRow { journal: journal.clone(), error: error.clone() })
            .collect(),
    }
}

fn text(report: &TraceReport) -> String {
    let traded = match (report.filled, report.quantity) {
        (Some(filled), Some(quantity)) => format!(", {filled} of {quantity} traded"),
        _ => String::new(),
    };
    let owner = report.strategy.as_deref().unwrap_or("an unknown strategy");
    let mut text = format!(
        "order {} of {owner}, instance {}: {}{traded}\n\n",
        report.order_id, report.instance, report.status
    );
    let dash = || "-".to_owned();
    let rows = report.hops.iter().map(|hop| {
        let place = match (&hop.journal, hop.position) {
            (Some(journal), Some(position)) => format!("{journal}@{position}"),
            (Some(journal), None) => journal.clone(),
            _ => dash(),
        };
        vec![
            hop.hop.as_str().to_owned(),
            hop.since_start_ns.map_or_else(dash, micros),
            hop.since_previous_ns.map_or_else(dash, micros),
            hop.node.clone().unwrap_or_else(dash),
            place,
            hop.text(),
        ]
    });
    let head = ["hop", "at, µs", "hop, µs", "node", "frame", "what"];
    text.push_str(&aligned(&head, rows.collect()));
    let span = |name: &str, span: Option<i64>| span.map(|span| format!("{name} {} µs", micros(span)));
    let stages = &report.stages;
    let spans = [
        span("md", stages.md_ns),
        span("strategy", stages.strategy_ns),
        span("order", stages.order_ns),
        span("t2o", stages.t2o_ns),
        span("quote to execution", stages.quote_to_execution_ns),
        span("quote to last report", stages.quote_to_report_ns),
    ];
    let spans: Vec<String> = spans.into_iter().flatten().collect();
    if !spans.is_empty() {
        text.push_str(&format!("\n{}\n", spans.join(", ")));
    }
    if report.overwritten > 0 {
        let gone = report.hops.iter().filter(|hop| hop.evidence == Evidence::Overwritten);
        let rings: BTreeSet<&str> = gone.filter_map(|hop| hop.journal.as_deref()).collect();
        let rings: Vec<&str> = rings.into_iter().collect();
        text.push_str(&format!(
            "{} of {} hops are overwritten; larger rings keep more: {}\n",
            report.overwritten,
            report.hops.len(),
            rings.join(", ")
        ));
    }
    text
}

/// Numbers to the right, words to the left.
fn aligned(head: &[&str; 6], rows: Vec<Vec<String>>) -> String {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.max().unwrap_or(0).max(head[column].chars().count())
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    // A table aligns all its columns behind the first ones to the right: numbers are filled up here instead.
    let filled = rows.into_iter().map(|mut row| {
        for column in [1, 2] {
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
