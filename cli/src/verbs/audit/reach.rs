//! How far journals should agree: what one node has just written, another may not have answered yet.

use std::collections::BTreeMap;

use journal::Journal;
use node::{InstanceDir, NodeState};
use observe::InstanceView;
use topology::NodeKind;

use crate::desk::{DROPS, ENTRIES, EXECUTIONS, ORDERS, Seen, Source};
use crate::failure::Failure;

/// So long before a recording's end all journals should agree.
const SETTLED_NS: u64 = 1_000_000_000;

/// What should be in the drop copy by now.
#[derive(Clone, Debug)]
pub(super) enum Reach {
    /// Heads of journals, read before that of the drop copy.
    Live { heads: BTreeMap<&'static str, u64>, td: Td },
    /// Frames older than this.
    Recorded { before: u64 },
}

/// Where td stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Td {
    Runs,
    /// It handled what was there, and went.
    Stopped,
    /// It was killed: its successor writes what is missing.
    Dead,
}

impl Reach {
    pub(super) fn of(source: &Source) -> Result<Reach, Failure> {
        match source {
            Source::Recorded(recording) => {
                Ok(Reach::Recorded { before: recording.end().time.saturating_sub(SETTLED_NS) })
            }
            Source::Live(instance) => {
                let td = td(instance)?;
                let mut heads = BTreeMap::new();
                for name in [ORDERS, EXECUTIONS, ENTRIES] {
                    heads.insert(name, head(instance, name)?);
                }
                Ok(Reach::Live { heads, td })
            }
        }
    }

    /// Whether more may come while it is looked at.
    pub(super) fn grows(&self) -> bool {
        matches!(self, Reach::Live { td: Td::Runs, .. })
    }

    /// Whether td was killed.
    pub(super) fn lacks_td(&self) -> bool {
        matches!(self, Reach::Live { td: Td::Dead, .. })
    }

    /// Whether a frame should stand in both journals: one of `journal` in the drop copy; one of the drop copy, with none, in the
    /// journal that it is from.
    pub(super) fn is_due(&self, journal: Option<&'static str>, seen: &Seen) -> bool {
        match self {
            Reach::Recorded { before } => seen.time < *before,
            Reach::Live { heads, td } => match journal {
                // td writes to the drop copy last.
                None => true,
                Some(journal) => {
                    *td != Td::Dead && heads.get(journal).is_some_and(|head| seen.position < *head)
                }
            },
        }
    }
}

fn td(instance: &InstanceDir) -> Result<Td, Failure> {
    let view = InstanceView::open(instance.clone())?;
    let seat = view.seats_of(NodeKind::Td).next();
    Ok(match seat {
        Some(seat) if seat.alive => Td::Runs,
        Some(seat) if seat.state == NodeState::Stopped => Td::Stopped,
        _ => Td::Dead,
    })
}

fn head(instance: &InstanceDir, journal: &str) -> Result<u64, Failure> {
    Ok(Journal::open_read_only(instance.find_journal(journal))?.head())
}

/// Where the drop copy is read to.
pub(super) fn end(source: &Source) -> Result<u64, Failure> {
    match source {
        Source::Live(instance) => head(instance, DROPS),
        Source::Recorded(_) => Ok(u64::MAX),
    }
}
