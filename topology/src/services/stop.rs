//! In which order a platform stops, with its master or without.

use super::{NodeKind, Service};

/// What stops together. Between two groups, what the first has written is handled by the others: those who write first
/// stop first, who looks on sees all of it, and who books it stops last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum StopGroup {
    /// Those who send orders, and who helps them.
    Senders,
    /// The market's data.
    Market,
    /// The way of orders to the market.
    Gateway,
    /// The market.
    Exchange,
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
        StopGroup::Gateway,
        StopGroup::Exchange,
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
        StopGroup::Gateway,
        StopGroup::Exchange,
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

#[cfg(test)]
mod tests {
    use super::*;

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
