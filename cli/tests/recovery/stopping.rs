//! Deaths at every stage of a stop: either all is finished, or the stop says how much is not.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use wire::{AnyMessage, OrderId};

use crate::kind::Kind;
use crate::witness::{Record, Records};

/// When a process dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Just before the stop is asked for, and so that its successor is not there yet.
    Before,
    /// A moment after the stop was asked for.
    Asked,
    /// When those who send orders have ended.
    Settling,
    /// While it drains.
    Draining,
    /// A moment after the stop was asked for, and its successor too.
    Twice,
}

/// What dies, and when: those that left something undone first, for the short form. Not master: who takes the platform down
/// then ends all who hold its journals, and the witness is one of them.
pub(crate) const DEATHS: [(Kind, Stage); 22] = [
    (Kind::Td, Stage::Before),
    (Kind::Matching, Stage::Before),
    (Kind::Td, Stage::Settling),
    (Kind::Matching, Stage::Twice),
    (Kind::Ledger, Stage::Draining),
    (Kind::Td, Stage::Twice),
    (Kind::Recorder, Stage::Settling),
    (Kind::Strategy, Stage::Before),
    (Kind::Td, Stage::Draining),
    (Kind::Matching, Stage::Settling),
    (Kind::Ledger, Stage::Before),
    (Kind::Md, Stage::Asked),
    (Kind::Matching, Stage::Draining),
    (Kind::Td, Stage::Asked),
    (Kind::Strategy, Stage::Draining),
    (Kind::Ledger, Stage::Twice),
    (Kind::Recorder, Stage::Draining),
    (Kind::Matching, Stage::Asked),
    (Kind::Md, Stage::Before),
    (Kind::Ledger, Stage::Settling),
    (Kind::Recorder, Stage::Before),
    (Kind::Recorder, Stage::Twice),
];

/// What a stop left undone, by what was to be done.
pub(crate) type Counts = BTreeMap<String, u64>;

/// What the stop says.
pub(crate) fn reported(report: &Value) -> Counts {
    let mut counts = Counts::new();
    for row in report["unfinished"].as_array().into_iter().flatten() {
        assert_eq!(row["is_partial"], false, "{row}");
        let work = row["work"].as_str().expect("a word").to_owned();
        *counts.entry(work).or_default() += row["count"].as_u64().expect("a count");
    }
    counts
}

/// The same from all that was ever written: by ids, and not by how far somebody says to have read. `lost`: reports that td gave up,
/// as the stop says.
pub(crate) fn recounted(records: &Records, lost: usize) -> Counts {
    let sent = &records["td.orders"];
    let executions = &records["matching.executions"];
    let reports =
        || records.iter().filter(|(name, _)| name.starts_with("reports.")).flat_map(|(_, held)| held);
    let reported: BTreeSet<u64> = reports().filter_map(|record| execution_of(&record.message)).collect();
    let unreported = executions.iter().filter(|record| !reported.contains(&record.position)).count();
    let counts = [
        ("send", unsent(records)),
        ("answer", unanswered(sent, executions)),
        ("report", unreported.saturating_sub(lost)),
        ("copy", records.get("td.drops").map_or(0, |drops| uncopied(sent, executions, drops))),
    ];
    let some = counts.into_iter().filter(|(_, count)| *count > 0);
    some.map(|(work, count)| (work.to_owned(), count as u64)).collect()
}

/// Requests of strategies that are not in `td.orders`, and that no report refuses.
fn unsent(records: &Records) -> usize {
    let keys: BTreeSet<(OrderId, u32)> =
        records["td.orders"].iter().filter_map(|record| key(&record.message)).collect();
    let mut refused = BTreeSet::new();
    for record in records.iter().filter(|(name, _)| name.starts_with("reports.")).flat_map(|(_, held)| held) {
        if let AnyMessage::OrderUpdate(update) = &record.message {
            refused.insert((update.order_id, update.refused_request));
        }
    }
    let is_open = |record: &&Record| match (key(&record.message), &record.message) {
        (None, _) => false,
        (Some(key), AnyMessage::NewOrder(_)) => {
            !keys.contains(&key) && !refused.contains(&(key.0, record.position))
        }
        (Some((id, _)), _) => {
            !keys.contains(&(id, (record.position / 64) as u32)) && !refused.contains(&(id, record.position))
        }
    };
    let orders = records.iter().filter(|(name, _)| name.starts_with("orders.")).flat_map(|(_, held)| held);
    orders.filter(is_open).count()
}

/// New orders of which no execution speaks, and changes behind the last request that is answered.
fn unanswered(sent: &[Record], executions: &[Record]) -> usize {
    let answered: BTreeSet<OrderId> =
        executions.iter().filter_map(|record| order_of(&record.message)).collect();
    let last = executions.last().map_or(0, |record| answered_up_to(&record.message));
    let is_open = |record: &&Record| match &record.message {
        AnyMessage::NewOrder(order) => !answered.contains(&order.order_id),
        _ => record.position > last,
    };
    sent.iter().filter(is_open).count()
}

/// Executions and requests that are not in the drop copy.
fn uncopied(sent: &[Record], executions: &[Record], drops: &[Record]) -> usize {
    let copied: BTreeSet<u64> = drops.iter().filter_map(|record| execution_of(&record.message)).collect();
    let is_taken = |record: &&Record| record.topic == wire::DROP_TAKEN && key(&record.message).is_some();
    let taken = drops.iter().filter(is_taken).count();
    executions.iter().filter(|record| !copied.contains(&record.position)).count() + sent.len() - taken
}

/// A request: its order and, of a change, the line of its sender's journal that td notes in it.
fn key(message: &AnyMessage) -> Option<(OrderId, u32)> {
    match message {
        AnyMessage::NewOrder(order) => Some((order.order_id, 0)),
        AnyMessage::CancelOrder(cancel) => Some((cancel.order_id, cancel.source)),
        AnyMessage::ReplaceOrder(replace) => Some((replace.order_id, replace.source)),
        _ => None,
    }
}

fn order_of(message: &AnyMessage) -> Option<OrderId> {
    match message {
        AnyMessage::OrderUpdate(update) => Some(update.order_id),
        AnyMessage::Fill(fill) => Some(fill.order_id),
        _ => None,
    }
}

fn answered_up_to(message: &AnyMessage) -> u64 {
    match message {
        AnyMessage::OrderUpdate(update) => update.answered_up_to,
        AnyMessage::Fill(fill) => fill.answered_up_to,
        _ => 0,
    }
}

fn execution_of(message: &AnyMessage) -> Option<u64> {
    match message {
        AnyMessage::OrderUpdate(update) => Some(update.execution),
        AnyMessage::Fill(fill) => Some(fill.execution),
        _ => None,
    }
}
