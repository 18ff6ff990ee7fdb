//! In which order a platform stops, with its master or without.

use super::{NodeKind, Service};

/// What stops together. Between two groups, what the first has written is handled by the others: those who write first
/// stop first, who looks on sees all of it, and who books it stops last. The market stops before the way to it: what it says
/// last, by its own time or because a market elsewhere does, is then still reported and copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum StopGroup {
    /// Those who send orders, and who helps them.
    Senders,
    /// The market's data.
    Market,
    /// The market.
    Exchange,
    /// The way of orders to the market, and of its answers back.
    Gateway,
    /// Who looks on.
    Observers,
    /// The books that are kept.
    Books,
    /// Who writes to disk what all others have written.
    Disk,
    /// The owner of the instance.
    Owner,
}

impl StopGroup {
    const ORDER: [StopGroup; 8] = [
        StopGroup::Senders,
        StopGroup::Market,
        StopGroup::Exchange,
        StopGroup::Gateway,
        StopGroup::Observers,
        StopGroup::Books,
        StopGroup::Disk,
        StopGroup::Owner,
    ];

    /// In lock-step the market goes first: what it published last is then answered by all, and nothing is published that
    /// only some would answer.
    const LOCK_STEP: [StopGroup; 8] = [
        StopGroup::Market,
        StopGroup::Senders,
        StopGroup::Exchange,
        StopGroup::Gateway,
        StopGroup::Observers,
        StopGroup::Books,
        StopGroup::Disk,
        StopGroup::Owner,
    ];

    fn order(in_lock_step: bool) -> &'static [StopGroup] {
        if in_lock_step { &StopGroup::LOCK_STEP } else { &StopGroup::ORDER }
    }
}

/// Groups of kinds, the first to stop first.
pub fn stop_order(in_lock_step: bool) -> Vec<Vec<NodeKind>> {
    let kinds = |group: &StopGroup| {
        Service::all().iter().filter(|service| service.stops == *group).map(|service| service.kind).collect()
    };
    StopGroup::order(in_lock_step).iter().map(kinds).collect()
}

/// Position of a kind in [`stop_order`].
pub fn stop_group(kind: NodeKind, in_lock_step: bool) -> usize {
    let order = StopGroup::order(in_lock_step);
    order.iter().position(|group| *group == Service::of(kind).stops).unwrap_or(order.len() - 1)
}

/// Whether a kind handles what others have written, so that its death leaves something undone: all who stop when nobody trades
/// any more.
pub fn finishes(kind: NodeKind) -> bool {
    !matches!(Service::of(kind).stops, StopGroup::Senders | StopGroup::Market | StopGroup::Owner)
}

/// Whether nothing that others wait for follows from what a kind reads.
pub fn looks_on(kind: NodeKind) -> bool {
    matches!(Service::of(kind).stops, StopGroup::Observers | StopGroup::Disk)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_market_says_last_is_reported_and_what_is_reported_is_booked() {
        for in_lock_step in [false, true] {
            let at = |kind| stop_group(kind, in_lock_step);
            let order =
                [NodeKind::Strategy, NodeKind::Matching, NodeKind::Td, NodeKind::Ledger, NodeKind::Recorder];
            assert!(order.is_sorted_by_key(|kind| at(*kind)));
            assert!(at(NodeKind::Md) < at(NodeKind::Matching));
        }
    }

    #[test]
    fn those_who_finish_stop_behind_all_who_do_not() {
        for in_lock_step in [false, true] {
            let last = |finish: bool| {
                let groups = NodeKind::ALL
                    .iter()
                    .filter(|kind| finishes(**kind) == finish && **kind != NodeKind::Master);
                groups.map(|kind| stop_group(*kind, in_lock_step)).collect::<Vec<_>>()
            };
            assert!(last(false).iter().max() < last(true).iter().min());
        }
    }

    #[test]
    fn every_kind_has_one_place_in_the_order() {
        for in_lock_step in [false, true] {
            let order = stop_order(in_lock_step);
            assert!(order.iter().all(|group| !group.is_empty()));
            for &kind in NodeKind::ALL {
                let places = order.iter().filter(|group| group.contains(&kind)).count();
                assert_eq!(places, 1, "{kind}");
                assert!(order[stop_group(kind, in_lock_step)].contains(&kind));
            }
        }
    }

    #[test]
    fn in_lock_step_nothing_is_published_that_only_some_would_answer() {
        let is_before = |in_lock_step| {
            stop_group(NodeKind::Md, in_lock_step) < stop_group(NodeKind::Strategy, in_lock_step)
        };
        assert!(is_before(true) && !is_before(false));
    }

    #[test]
    fn who_looks_on_stops_when_nobody_trades_any_more_and_before_the_books() {
        for in_lock_step in [false, true] {
            let at = |kind| stop_group(kind, in_lock_step);
            assert!(at(NodeKind::Matching) < at(NodeKind::Observer));
            assert!(at(NodeKind::Observer) < at(NodeKind::Ledger));
            assert_eq!(at(NodeKind::Service), at(NodeKind::Strategy));
        }
    }
}
