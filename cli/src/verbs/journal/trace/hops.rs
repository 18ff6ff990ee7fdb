//! From frames to hops: what happened to an order, in order of time, with the hops of which the frame is gone.
//!
//! ```text
//! due ─► published ─► received ─► ordered ─► taken ─► routed ─► executed ─► reported
//! (md's   md.quotes   (the       orders.X    (td's    td.orders  matching.   reports.X
//!  plan)               order                  sample)             executions
//!                      says so)
//! ```

use node::NodeKind;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use wire::{AnyMessage, Cause, LatencySample, OrderId};

use super::search::{Found, Place, Search};
use crate::message::{brief, object_of};

/// A step of an order's way, in causal order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Step {
    /// t0: the schedule wanted the cause published.
    Due,
    /// t1: the cause was committed.
    Published,
    /// t2: the strategy had it in hand.
    Received,
    /// t3: the strategy committed the order, or a later request about it.
    Ordered,
    /// t4: td had it in hand.
    Taken,
    /// td passed it on to matching.
    Routed,
    /// Matching said what became of it.
    Executed,
    /// td told the strategy.
    Reported,
    /// Written by a node that is none of the standard ones.
    Other,
}

impl Step {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Step::Due => "due",
            Step::Published => "published",
            Step::Received => "received",
            Step::Ordered => "ordered",
            Step::Taken => "taken",
            Step::Routed => "routed",
            Step::Executed => "executed",
            Step::Reported => "reported",
            Step::Other => "other",
        }
    }
}

/// What is known of a hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Evidence {
    /// Its frame is there.
    Frame,
    /// It has no frame of its own; another frame names its time.
    Noted,
    /// Its frame is overwritten; its time only where another frame names it.
    Overwritten,
    /// Its journal goes back far enough, but does not hold it: it is under way, or a process died over it.
    Missing,
}

/// One hop.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Hop {
    pub(super) hop: Step,
    pub(super) evidence: Evidence,
    pub(super) node: Option<String>,
    pub(super) journal: Option<String>,
    pub(super) position: Option<u64>,
    pub(super) time_ns: Option<u64>,
    /// Since the cause was published, or since the first hop whose time is known.
    pub(super) since_start_ns: Option<i64>,
    /// Since the last hop before it whose time is known.
    pub(super) since_previous_ns: Option<i64>,
    #[serde(flatten, serialize_with = "named")]
    pub(super) message: Option<AnyMessage>,
    /// Where it belongs in time, known or not.
    #[serde(skip)]
    place: u64,
}

/// Kind and fields of a message, as `colo journal dump` names them.
fn named<S: Serializer>(message: &Option<AnyMessage>, serializer: S) -> Result<S::Ok, S::Error> {
    let mut object = serializer.serialize_map(Some(2))?;
    object.serialize_entry("message", &message.as_ref().map(AnyMessage::name))?;
    object.serialize_entry("fields", &message.as_ref().map(object_of))?;
    object.end()
}

impl Hop {
    fn of(step: Step, found: &Found) -> Hop {
        Hop {
            hop: step,
            evidence: Evidence::Frame,
            node: Some(found.writer.node.clone()),
            journal: Some(found.journal.clone()),
            position: Some(found.position),
            message: Some(found.message),
            ..Hop::noted(step, None, found.time)
        }
    }

    /// A hop without a frame of its own.
    fn noted(step: Step, node: Option<String>, time: u64) -> Hop {
        Hop {
            hop: step,
            evidence: Evidence::Noted,
            node,
            journal: None,
            position: None,
            time_ns: (time != 0).then_some(time),
            since_start_ns: None,
            since_previous_ns: None,
            message: None,
            place: time,
        }
    }

    /// A hop that must have been: what came `place` later, or its own time, says so.
    fn lost(step: Step, evidence: Evidence, place: u64) -> Hop {
        Hop { evidence, time_ns: None, ..Hop::noted(step, None, place) }
    }

    /// What it says, for people.
    pub(super) fn text(&self) -> String {
        match (self.evidence, &self.message) {
            (_, Some(message)) => brief(message),
            (Evidence::Overwritten, None) => "overwritten: its frame is gone from the ring".to_owned(),
            (Evidence::Missing, None) => "not there: still under way, or a process died over it".to_owned(),
            (_, None) => match self.hop {
                Step::Due => "when the schedule wanted it published".to_owned(),
                Step::Received => "the strategy had it in hand".to_owned(),
                Step::Taken => "td had it in hand".to_owned(),
                _ => String::new(),
            },
        }
    }
}

/// All hops of an order, in order of time; empty when no frame speaks of it.
pub(super) fn hops(order: OrderId, search: &Search, place: &Place) -> Vec<Hop> {
    let mut hops: Vec<Hop> =
        search.found.iter().filter_map(|found| Some(Hop::of(step(found)?, found))).collect();
    if search.found.is_empty() {
        return hops;
    }
    let sample = search.found.iter().find_map(|found| match found.message {
        AnyMessage::LatencySample(sample) => Some(sample),
        _ => None,
    });
    let strategy = place.seat(u32::from(order.strategy().0)).map(|seat| seat.name.clone());
    origin(&mut hops, search, place, sample, strategy.as_deref());
    if let Some(sample) = sample {
        let td = search.found.iter().find(|found| matches!(found.message, AnyMessage::LatencySample(_)));
        hops.push(Hop::noted(Step::Taken, td.map(|found| found.writer.node.clone()), sample.taken.0));
    }
    routed(&mut hops, search);
    executions(&mut hops, search);
    hops.sort_by_key(|hop| (hop.place, hop.hop, hop.position));
    deltas(&mut hops);
    hops
}

/// `None`: a sample is no hop, it names times of others.
fn step(found: &Found) -> Option<Step> {
    let request = matches!(
        found.message,
        AnyMessage::NewOrder(_) | AnyMessage::CancelOrder(_) | AnyMessage::ReplaceOrder(_)
    );
    match (&found.message, found.writer.kind) {
        (AnyMessage::LatencySample(_), _) => None,
        (_, Some(NodeKind::Strategy)) if request => Some(Step::Ordered),
        (_, Some(NodeKind::Td)) if request => Some(Step::Routed),
        (_, Some(NodeKind::Td)) => Some(Step::Reported),
        (_, Some(NodeKind::Matching)) => Some(Step::Executed),
        // Working orders in the ledger's snapshots.
        (_, Some(NodeKind::Ledger)) => None,
        _ => Some(Step::Other),
    }
}

/// The cause with its times, and the order itself where its frame is gone.
fn origin(
    hops: &mut Vec<Hop>,
    search: &Search,
    place: &Place,
    sample: Option<LatencySample>,
    strategy: Option<&str>,
) {
    let cause: Option<Cause> = search.found.iter().find_map(|found| match &found.message {
        AnyMessage::NewOrder(order) => Some(order.cause),
        _ => None,
    });
    let strategy = || strategy.map(str::to_owned);
    let (due, published, received) = match (cause.filter(Cause::is_some), sample) {
        (Some(cause), _) => (cause.due.0, cause.published.0, cause.received.0),
        (None, Some(sample)) => (sample.due.0, sample.published.0, sample.received.0),
        (None, None) => (0, 0, 0),
    };
    if published != 0 {
        let frame = cause.and_then(|cause| place.cause(cause.journal, cause.position));
        let md = frame.as_ref().map(|found| found.writer.node.clone());
        if due != 0 {
            hops.push(Hop::noted(Step::Due, md, due));
        }
        hops.push(match &frame {
            Some(found) => Hop::of(Step::Published, found),
            None => Hop {
                journal: cause.and_then(|cause| place.journal_name(cause.journal)),
                position: cause.map(|cause| cause.position),
                time_ns: Some(published),
                ..Hop::lost(Step::Published, Evidence::Overwritten, published)
            },
        });
        hops.push(Hop::noted(Step::Received, strategy(), received));
    }
    if cause.is_none() {
        let first = search.found.iter().map(|found| found.time).min().unwrap_or(0);
        let time = sample.map(|sample| sample.ordered.0);
        hops.push(Hop {
            node: strategy(),
            time_ns: time,
            ..Hop::lost(Step::Ordered, gone(search, NodeKind::Strategy, first), time.unwrap_or(first))
        });
    }
}

/// td passed on what matching answered, even if the frame is gone.
fn routed(hops: &mut Vec<Hop>, search: &Search) {
    let first_of = |step: Step| hops.iter().filter(|hop| hop.hop == step).map(|hop| hop.place).min();
    let rejected_by_td = search
        .found
        .iter()
        .any(|found| step(found) == Some(Step::Reported) && execution(&found.message) == Some(0));
    if first_of(Step::Routed).is_some() || rejected_by_td {
        return;
    }
    let executed = first_of(Step::Executed);
    let Some(later) = executed.or(first_of(Step::Reported)).or(first_of(Step::Taken)) else { return };
    let evidence = if executed.is_some() { Evidence::Overwritten } else { gone(search, NodeKind::Td, later) };
    hops.push(Hop { journal: Some("td.orders".to_owned()), ..Hop::lost(Step::Routed, evidence, later) });
}

/// Each report names the execution that it passes on; each execution is to be reported.
fn executions(hops: &mut Vec<Hop>, search: &Search) {
    let executed = |position: u64| {
        search.found.iter().any(|found| step(found) == Some(Step::Executed) && found.position == position)
    };
    let mut lost = Vec::new();
    for found in &search.found {
        match (step(found), execution(&found.message)) {
            (Some(Step::Reported), Some(position)) if position != 0 && !executed(position) => {
                lost.push(Hop {
                    journal: search.written_by(NodeKind::Matching),
                    position: Some(position),
                    ..Hop::lost(Step::Executed, Evidence::Overwritten, found.time)
                })
            }
            (Some(Step::Executed), Some(_)) => {
                let reported = search.found.iter().any(|other| {
                    step(other) == Some(Step::Reported) && execution(&other.message) == Some(found.position)
                });
                if !reported {
                    // Right behind the execution, wherever it was.
                    let evidence = gone(search, NodeKind::Td, found.time);
                    lost.push(Hop::lost(Step::Reported, evidence, found.time));
                }
            }
            _ => {}
        }
    }
    hops.extend(lost);
}

/// Position of matching's frame that a message passes on; zero in matching's own, and where td is the author.
fn execution(message: &AnyMessage) -> Option<u64> {
    match message {
        AnyMessage::OrderUpdate(update) => Some(update.execution),
        AnyMessage::Fill(fill) => Some(fill.execution),
        _ => None,
    }
}

/// Why a frame of this time is not there: any journal of such a writer that begins later may have held it.
fn gone(search: &Search, writer: NodeKind, time: u64) -> Evidence {
    let may_have = search.searched.iter().any(|searched| {
        let begins_later = searched.oldest_time.is_none_or(|oldest| oldest > time);
        searched.writer.kind == Some(writer) && !searched.whole && begins_later
    });
    if may_have { Evidence::Overwritten } else { Evidence::Missing }
}

impl Search {
    fn written_by(&self, kind: NodeKind) -> Option<String> {
        let found = self.searched.iter().find(|searched| searched.writer.kind == Some(kind));
        found.map(|searched| searched.journal.clone())
    }
}

fn deltas(hops: &mut [Hop]) {
    let published = hops.iter().find(|hop| hop.hop == Step::Published).and_then(|hop| hop.time_ns);
    let Some(start) = published.or_else(|| hops.iter().find_map(|hop| hop.time_ns)) else { return };
    let since = |time: u64, earlier: u64| (time as i64).wrapping_sub(earlier as i64);
    let mut previous = None;
    for hop in hops {
        let Some(time) = hop.time_ns else { continue };
        hop.since_start_ns = Some(since(time, start));
        hop.since_previous_ns = previous.map(|previous| since(time, previous));
        previous = Some(time);
    }
}
