//! In which order a platform stops, with its master or without.

use std::time::Duration;

use crate::state::NodeKind;

/// Those who write first stop first; who books it all stops last. Between two groups, what the first has written is
/// handled by the others.
pub const STOP_ORDER: [&[NodeKind]; 6] = [
    &[NodeKind::Strategy, NodeKind::Host, NodeKind::Custom, NodeKind::Observer, NodeKind::Relay],
    &[NodeKind::Md],
    &[NodeKind::Td],
    &[NodeKind::Matching],
    &[NodeKind::Ledger],
    &[NodeKind::Master],
];

/// Longest wait between two groups for what is under way. Cursors of the dead are not waited for longer.
pub const SETTLE: Duration = Duration::from_millis(500);

/// Position of a kind in [`STOP_ORDER`].
pub fn stop_group(kind: NodeKind) -> usize {
    STOP_ORDER.iter().position(|kinds| kinds.contains(&kind)).unwrap_or(STOP_ORDER.len() - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_one_place_in_the_order() {
        let kinds: Vec<NodeKind> = (0..64).filter_map(NodeKind::from_word).collect();
        assert!(kinds.len() >= 10, "{kinds:?}");
        for kind in kinds {
            let places = STOP_ORDER.iter().filter(|group| group.contains(&kind)).count();
            assert_eq!(places, 1, "{kind}");
            assert!(STOP_ORDER[stop_group(kind)].contains(&kind));
        }
    }
}
