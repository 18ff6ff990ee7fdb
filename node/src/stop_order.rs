//! In which order a platform stops, with its master or without.

use std::time::Duration;

use crate::state::NodeKind;

const WHO_WRITES: &[NodeKind] =
    &[NodeKind::Strategy, NodeKind::Host, NodeKind::Custom, NodeKind::Observer, NodeKind::Relay];

/// Groups of kinds, the first to stop first. Between two groups, what the first has written is handled by the others.
///
/// Those who write first stop first; who books it all stops last. In lock-step md goes before them: what it published last
/// is then answered by all, and nothing is published that only some would answer.
pub fn stop_order(in_lock_step: bool) -> [&'static [NodeKind]; 6] {
    let (first, second): (&[NodeKind], &[NodeKind]) =
        if in_lock_step { (&[NodeKind::Md], WHO_WRITES) } else { (WHO_WRITES, &[NodeKind::Md]) };
    [first, second, &[NodeKind::Td], &[NodeKind::Matching], &[NodeKind::Ledger], &[NodeKind::Master]]
}

/// Longest wait between two groups for what is under way. Cursors of the dead are not waited for longer. In lock-step the
/// last market event has as long as a node that was asked to stop.
pub const SETTLE: Duration = Duration::from_millis(500);

/// Position of a kind in [`stop_order`].
pub fn stop_group(kind: NodeKind, in_lock_step: bool) -> usize {
    let order = stop_order(in_lock_step);
    order.iter().position(|kinds| kinds.contains(&kind)).unwrap_or(order.len() - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_one_place_in_the_order() {
        let kinds: Vec<NodeKind> = (0..64).filter_map(NodeKind::from_word).collect();
        assert!(kinds.len() >= 10, "{kinds:?}");
        for in_lock_step in [false, true] {
            let order = stop_order(in_lock_step);
            for &kind in &kinds {
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
}
