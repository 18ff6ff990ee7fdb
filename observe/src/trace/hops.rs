//! From frames to hops: what happened to an order, in order of time, with the hops of which the frame is gone.
//!
//! ```text
//! due ─► published ─► received ─► ordered ─► taken ─► routed ─► executed ─► reported
//! (md's   md.quotes   (the       orders.X    (td's    td.orders  matching.   reports.X
//!  plan)               order                  sample)             executions
//!                      says so)
//! ```

use serde::Serialize;
use topology::{NodeKind, Stream};
use wire::{AnyMessage, OrderId};

use super::search::{Found, Place, Search, Searched, frame_at};

/// A step of an order's way, in causal order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Step {
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
    /// As it is printed.
    pub fn as_str(self) -> &'static str {
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
pub enum Evidence {
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
pub struct Hop {
    /// Which.
    pub hop: Step,
    /// What is known of it.
    pub evidence: Evidence,
    /// The node that made it.
    pub node: Option<String>,
    /// The journal of its frame.
    pub journal: Option<String>,
    /// Where its frame lies there.
    pub position: Option<u64>,
    /// When it was, in nanoseconds since the epoch.
    pub time_ns: Option<u64>,
    /// Since the cause was published, or since the first hop whose time is known.
    pub since_start_ns: Option<i64>,
    /// Since the last hop before it whose time is known.
    pub since_previous_ns: Option<i64>,
    /// Its frame.
    #[serde(skip)]
    pub message: Option<AnyMessage>,
    /// Where it belongs in time, known or not.
    #[serde(skip)]
    place: u64,
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
}

/// All hops of an order, in order of time; empty when no frame speaks of it.
pub(super) fn hops(order: OrderId, search: &Search, place: &Place<'_>) -> Vec<Hop> {
    if search.found.is_empty() {
        return Vec::new();
    }
    let strategy = place.seat(u32::from(order.strategy().0)).map(|seat| seat.name.clone());
    let reports = strategy.as_deref().and_then(|strategy| place.reports_of(strategy));
    let way = Way { search, strategy: strategy.as_deref(), reports };
    let mut hops: Vec<Hop> =
        search.found.iter().filter_map(|found| Some(Hop::of(step(found)?, found))).collect();
    hops.extend(way.origin(place));
    let later = way.lost(&hops);
    hops.extend(later);
    hops.sort_by_key(|hop| (hop.place, hop.hop, hop.position));
    deltas(&mut hops);
    hops
}

/// `None`: a sample is no hop, it names times of others.
fn step(found: &Found) -> Option<Step> {
    let request = matches!(
        found.message,
        AnyMessage::NewOrder(_)
            | AnyMessage::CancelOrder(_)
            | AnyMessage::ReplaceOrder(_)
            | AnyMessage::CancelAll(_)
    );
    match (&found.message, found.writer.kind) {
        (AnyMessage::LatencySample(_), _) => None,
        (_, Some(kind)) if request && kind.sends() => Some(Step::Ordered),
        (_, Some(NodeKind::Td)) if request => Some(Step::Routed),
        (_, Some(NodeKind::Td)) => Some(Step::Reported),
        (_, Some(NodeKind::Matching)) => Some(Step::Executed),
        // Working orders in the ledger's snapshots.
        (_, Some(NodeKind::Ledger)) => None,
        _ => Some(Step::Other),
    }
}

/// What was found, to find out what is missing.
struct Way<'a> {
    search: &'a Search,
    strategy: Option<&'a str>,
    /// The journal that its reports go to; `None` where the topology cannot be read.
    reports: Option<&'a str>,
}

impl Way<'_> {
    /// What came before the order: its cause with its times. And td's receive time, known only from the sample.
    fn origin(&self, place: &Place<'_>) -> Vec<Hop> {
        let mut hops = Vec::new();
        let found = &self.search.found;
        let sample = found.iter().find_map(|found| match &found.message {
            AnyMessage::LatencySample(sample) => Some((*sample, found)),
            _ => None,
        });
        let cause = found.iter().find_map(|found| match &found.message {
            AnyMessage::NewOrder(order) if order.cause.is_some() => Some(order.cause),
            _ => None,
        });
        let (due, published, received) = match (cause, sample) {
            (Some(cause), _) => (cause.due.0, cause.published.0, cause.received.0),
            (None, Some((sample, _))) => (sample.due.0, sample.published.0, sample.received.0),
            (None, None) => (0, 0, 0),
        };
        if published != 0 {
            let journal = cause.and_then(|cause| place.journal(cause.journal));
            let frame = journal
                .as_ref()
                .zip(cause)
                .and_then(|((name, journal, writer), cause)| frame_at(name, journal, writer, cause.position));
            let publisher = journal.as_ref().map(|(_, _, writer)| writer.node.clone());
            if due != 0 {
                hops.push(Hop::noted(Step::Due, publisher.clone(), due));
            }
            hops.push(match &frame {
                Some(found) => Hop::of(Step::Published, found),
                None => Hop {
                    evidence: Evidence::Overwritten,
                    journal: journal.map(|(name, ..)| name),
                    position: cause.map(|cause| cause.position),
                    ..Hop::noted(Step::Published, publisher, published)
                },
            });
            hops.push(Hop::noted(Step::Received, self.strategy.map(str::to_owned), received));
        }
        if let Some((sample, found)) = sample {
            hops.push(Hop::noted(Step::Taken, Some(found.writer.node.clone()), sample.taken.0));
            if !self.has(Step::Ordered) {
                hops.push(Hop {
                    time_ns: Some(sample.ordered.0),
                    ..self.gone(Step::Ordered, sample.ordered.0)
                });
            }
        }
        hops
    }

    /// Hops that must have been, or are still to come. A later one dates an earlier one; where there is none, the last
    /// that is known does.
    fn lost(&self, hops: &[Hop]) -> Vec<Hop> {
        let mut lost = Vec::new();
        let first = |step: Step| hops.iter().filter(|hop| hop.hop == step).map(|hop| hop.place).min();
        let known = hops.iter().map(|hop| hop.place).max().unwrap_or(0);
        if first(Step::Ordered).is_none() {
            let earliest = hops.iter().map(|hop| hop.place).min().unwrap_or(0);
            lost.push(self.gone(Step::Ordered, earliest));
        }
        let refused = self.executions(Step::Reported).any(|(_, execution)| execution == 0);
        if first(Step::Routed).is_none() && !refused {
            let later = first(Step::Executed).or(first(Step::Reported));
            lost.push(self.gone(Step::Routed, later.unwrap_or(known)));
        }
        // Each report names the execution that it passes on, and each execution is to be reported.
        let executed: Vec<u64> = self.executions(Step::Executed).map(|(found, _)| found.position).collect();
        let reported: Vec<u64> = self.executions(Step::Reported).map(|(_, execution)| execution).collect();
        for (found, execution) in self.executions(Step::Reported) {
            if execution != 0 && !executed.contains(&execution) {
                let hop = self.gone(Step::Executed, found.time);
                lost.push(Hop { evidence: Evidence::Overwritten, position: Some(execution), ..hop });
            }
        }
        for (found, _) in self.executions(Step::Executed) {
            if !reported.contains(&found.position) {
                lost.push(self.gone(Step::Reported, found.time));
            }
        }
        if executed.is_empty() && reported.is_empty() {
            lost.push(self.gone(Step::Executed, known));
            lost.push(self.gone(Step::Reported, known));
        }
        lost
    }

    fn has(&self, wanted: Step) -> bool {
        self.search.found.iter().any(|found| step(found) == Some(wanted))
    }

    /// Executions or reports of them, each with the position of matching's frame that it passes on.
    fn executions(&self, wanted: Step) -> impl Iterator<Item = (&Found, u64)> {
        let found = self.search.found.iter().filter(move |found| step(found) == Some(wanted));
        found.filter_map(|found| Some((found, execution(&found.message)?)))
    }

    /// A hop that is not there. Where its journal begins later, it may have been.
    fn gone(&self, step: Step, place: u64) -> Hop {
        let homes = self.homes(step);
        let cut = |home: &&&Searched| !home.whole && home.oldest_time.is_none_or(|oldest| oldest > place);
        let evidence = match homes.iter().find(cut) {
            Some(_) => Evidence::Overwritten,
            None => Evidence::Missing,
        };
        let home = if let [home] = homes.as_slice() { Some(*home) } else { None };
        Hop {
            evidence,
            time_ns: None,
            journal: home.map(|home| home.journal.clone()),
            ..Hop::noted(step, home.map(|home| home.writer.node.clone()), place)
        }
    }

    /// The journals in which a hop of this order may be.
    fn homes(&self, step: Step) -> Vec<&Searched> {
        let is_home = |searched: &&Searched| match (step, searched.writer.kind) {
            (Step::Ordered, Some(kind)) if kind.sends() => {
                Some(searched.writer.node.as_str()) == self.strategy
            }
            (Step::Routed, Some(NodeKind::Td)) => Stream::of(&searched.journal) == Some(Stream::Orders),
            (Step::Executed, Some(NodeKind::Matching)) => true,
            (Step::Reported, Some(NodeKind::Td)) => match self.reports {
                Some(reports) => searched.journal == reports,
                None => Stream::of(&searched.journal) == Some(Stream::Reports),
            },
            _ => false,
        };
        self.search.searched.iter().filter(is_home).collect()
    }
}

/// Position of matching's frame that a message passes on; zero in matching's own, and where td is the author.
fn execution(message: &AnyMessage) -> Option<u64> {
    match message {
        AnyMessage::OrderUpdate(update) => Some(update.execution),
        AnyMessage::Fill(fill) => Some(fill.execution),
        _ => None,
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
