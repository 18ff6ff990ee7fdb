//! Limits of rates of orders and of requests, counted once more by the times of the drop copy.

use std::collections::BTreeMap;

use wire::{AccountLimit, AnyMessage, DROP_REFUSED, LimitChange, LimitKind, NewOrder, Reason, Request};

use super::books::{Books, Scope};
use super::gauge::Gauge;
use super::rules::Counts;
use super::switches::account_of;
use crate::desk::Seen;

const KINDS: [LimitKind; 3] = [LimitKind::OrderRate, LimitKind::MessageRate, LimitKind::RunawayRate];

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Rates {
    gauges: BTreeMap<(Scope, LimitKind), Gauge>,
    /// Limits without a rate are never full again, and a successor of td that cannot read all of the drop copy begins with none.
    bursts: std::collections::BTreeSet<(Scope, LimitKind)>,
}

impl Rates {
    /// A frame of the drop copy, before the books have it. The scope and the kind of a limit of which more went out than it allows.
    pub(super) fn before(&mut self, seen: &Seen, books: &Books) -> Option<(Scope, LimitKind)> {
        match AnyMessage::decode(seen.id, &seen.payload) {
            Ok(AnyMessage::AccountLimit(limit)) => {
                self.limit(&limit);
                None
            }
            Ok(AnyMessage::NewOrder(order)) => {
                if order.flags & NewOrder::FORCED != 0 {
                    return None;
                }
                let scopes = books.scopes_of(account_of(&order), order.order_id.strategy());
                let is_sent = seen.topic != DROP_REFUSED;
                let counts = if is_sent { Counts::Yes } else { Counts::Maybe };
                self.count(seen, &scopes, &KINDS, counts);
                // Runaway orders kill, which another part holds.
                let is_over = |kind: LimitKind| kind != LimitKind::RunawayRate;
                is_sent.then(|| self.over(&scopes, is_over)).flatten()
            }
            _ => {
                if let Ok(request) = Request::decode(seen.id, &seen.payload)
                    && !request.is_of_td()
                    && let Some(order) = books.orders.get(&request.order_id())
                {
                    let scopes = books.scopes_of(order.account, order.strategy());
                    // It takes a token if there is one.
                    self.count(seen, &scopes, &[LimitKind::MessageRate], Counts::Maybe);
                } else if seen.id == <wire::CancelAll as wire::Message>::ID {
                    self.count_all(seen);
                }
                None
            }
        }
    }

    /// A mass cancel counts somewhere.
    fn count_all(&mut self, seen: &Seen) {
        for ((_, kind), gauge) in &mut self.gauges {
            if *kind == LimitKind::MessageRate {
                gauge.count(Counts::Maybe, seen.time);
            }
        }
    }

    fn limit(&mut self, limit: &AccountLimit) {
        if !KINDS.contains(&limit.limit) {
            return;
        }
        let key = ((limit.scope, limit.subject), limit.limit);
        self.gauges.remove(&key);
        self.bursts.remove(&key);
        if limit.change == LimitChange::Set {
            self.gauges.insert(key, Gauge::new(limit));
            if limit.number == 0 {
                self.bursts.insert(key);
            }
        }
    }

    fn count(&mut self, seen: &Seen, scopes: &[Scope], kinds: &[LimitKind], counts: Counts) {
        for scope in scopes {
            for kind in kinds {
                if let Some(gauge) = self.gauges.get_mut(&(*scope, *kind)) {
                    gauge.count(counts, seen.time);
                }
            }
        }
    }

    fn over(&self, scopes: &[Scope], is_meant: impl Fn(LimitKind) -> bool) -> Option<(Scope, LimitKind)> {
        let all = scopes.iter().flat_map(|scope| KINDS.map(|kind| (*scope, kind)));
        all.filter(|(_, kind)| is_meant(*kind))
            .find(|key| self.gauges.get(key).is_some_and(Gauge::must_have_passed))
    }

    /// Whether a limit of these scopes may refuse so.
    pub(super) fn may_refuse(&self, scopes: &[Scope], reason: Reason) -> bool {
        let kinds = match reason {
            Reason::MessageRate => &KINDS[1..2],
            // A runaway order is refused as one of too many.
            _ => &[LimitKind::OrderRate, LimitKind::RunawayRate][..],
        };
        let mut all = scopes.iter().flat_map(|scope| kinds.iter().map(|kind| (*scope, *kind)));
        all.any(|key| self.bursts.contains(&key) || self.gauges.get(&key).is_some_and(Gauge::may_have_passed))
    }
}
