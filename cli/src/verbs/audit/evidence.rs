//! What stands beside the drop copy about requests that td has refused: the requests, as their senders wrote them, and when
//! processes of their senders began and ended.

use std::collections::{BTreeMap, BTreeSet};

use topology::TdSection;
use wire::{AnyMessage, Message, NodeEvent, OrderStatus, OrderUpdate, Request};

use super::Stop;
use super::reach::EVENTS;
use crate::desk::{DROPS, Source};

/// By clocks of two processes something lies before something else only with this much between.
const APART: u64 = 1_000_000_000;

/// A request in the journal of its sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct Written {
    pub(super) seat: u16,
    pub(super) time: u64,
    /// `None`: bytes that are no request.
    pub(super) request: Option<Request>,
}

/// See the module. Without any of it, nothing is known.
#[derive(Clone, Debug, Default)]
pub(super) struct Evidence {
    /// Of refusals, by their position and the seat of their sender.
    pub(super) requests: BTreeMap<(u64, u16), Written>,
    /// The journals of all senders are there from their begin.
    pub(super) is_whole: bool,
    /// By seat: when its processes began and ended. `None`: this is not recorded.
    pub(super) changes: Option<BTreeMap<u16, Vec<u64>>>,
}

impl Evidence {
    /// Of the refusals in the drop copy up to `end`.
    pub(super) fn read(source: &Source, section: Option<&TdSection>, end: u64) -> Result<Evidence, Stop> {
        let wanted = refused(source, end)?;
        let mut evidence = Evidence { is_whole: section.is_some(), ..Evidence::default() };
        for sender in section.map(|section| section.strategies.as_slice()).unwrap_or_default() {
            let Some(mut stream) = source.held(&format!("orders.{}", sender.name))? else {
                evidence.is_whole = false;
                continue;
            };
            evidence.is_whole &= stream.is_at_begin()?;
            while let Some(seen) = stream.next()? {
                if wanted.contains(&seen.position) {
                    let request = Request::decode(seen.id, &seen.payload).ok();
                    let written = Written { seat: sender.seat, time: seen.time, request };
                    evidence.requests.insert((seen.position, sender.seat), written);
                }
            }
        }
        if let Some(mut events) = source.stream(EVENTS, 0)? {
            let is_begin = events.is_at_begin()?;
            let mut changes: BTreeMap<u16, Vec<u64>> = BTreeMap::new();
            while let Some(seen) = events.next()? {
                if seen.id == NodeEvent::ID
                    && let Ok(event) = NodeEvent::decode(&seen.payload)
                {
                    changes.entry(event.seat).or_default().push(seen.time);
                }
            }
            evidence.changes = is_begin.then_some(changes);
        }
        Ok(evidence)
    }

    /// The request that a refusal answers.
    pub(super) fn written(&self, update: &OrderUpdate) -> Option<&Written> {
        let position = update.refused_request;
        let all = self.requests.range((position, 0)..=(position, u16::MAX)).map(|(_, written)| written);
        let is_its = |written: &&Written| match &written.request {
            Some(request) => request.order_id() == update.order_id,
            None => true,
        };
        // Two senders may have written to this position; the owner is more likely.
        let owner = update.order_id.strategy().0;
        all.filter(is_its).max_by_key(|written| (written.request.is_some(), written.seat == owner))
    }

    /// Whether a process of this seat began or ended between these times.
    pub(super) fn has_changed(&self, seat: u16, from: u64, to: u64) -> Option<bool> {
        let changes = self.changes.as_ref()?.get(&seat).map(Vec::as_slice).unwrap_or_default();
        Some(
            changes.iter().any(|time| (from.saturating_sub(APART)..=to.saturating_add(APART)).contains(time)),
        )
    }
}

/// Positions of requests whose refusal leaves no copy of them in the drop copy.
fn refused(source: &Source, end: u64) -> Result<BTreeSet<u64>, Stop> {
    let mut wanted = BTreeSet::new();
    let mut has_copy = false;
    let mut drops = super::stream(source, DROPS, 0)?;
    while let Some(seen) = drops.next()?.filter(|seen| seen.position < end) {
        let is_refused_order = seen.topic == wire::DROP_REFUSED;
        if let Ok(AnyMessage::OrderUpdate(update)) = AnyMessage::decode(seen.id, &seen.payload)
            && update.execution == 0
            && !(has_copy && update.status == OrderStatus::Rejected && !needs_request(&update))
        {
            wanted.insert(update.refused_request);
        }
        has_copy = is_refused_order;
    }
    Ok(wanted)
}

/// The cause of such a refusal is not in the copy of the order.
fn needs_request(update: &OrderUpdate) -> bool {
    update.reason == wire::Reason::StrategyGone
}
