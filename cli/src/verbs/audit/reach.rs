//! How far journals should agree: what one node has just written, another may not have answered yet.

use std::collections::BTreeMap;

use journal::Journal;
use node::InstanceDir;
use observe::InstanceView;
use topology::NodeKind;
use wire::{Message, NodeChange, NodeEvent};

use super::risk::RISK;
use crate::desk::{DROPS, ENTRIES, EXECUTIONS, ORDERS, Seen, Source};
use crate::failure::Failure;

pub(super) const EVENTS: &str = "master.events";
/// So long before a recording's end all journals should agree.
const SETTLED_NS: u64 = 1_000_000_000;

/// Bytes of the drop copy that a td may have written whose other journals it had not written when it was killed.
const TD_WRITES_AT_ONCE: u64 = 16 << 10;

/// What was there when the audit began.
#[derive(Clone, Debug)]
pub(super) enum Reach {
    /// Heads of journals, read before that of the drop copy.
    Live { heads: BTreeMap<&'static str, u64>, td_runs: bool },
    /// Journals agree in what is older than this.
    Recorded { before: u64 },
    /// The platform was taken down: td has written all that it ever will.
    Ended,
}

impl Reach {
    pub(super) fn of(source: &Source) -> Result<Reach, Failure> {
        match source {
            Source::Recorded(_) if has_ended(source)? => Ok(Reach::Ended),
            Source::Recorded(recording) => {
                Ok(Reach::Recorded { before: recording.end().time.saturating_sub(SETTLED_NS) })
            }
            Source::Live(instance) => {
                let view = InstanceView::open(instance.clone())?;
                let td_runs = view.seats_of(NodeKind::Td).any(|seat| seat.alive);
                let mut heads = BTreeMap::new();
                for name in [ORDERS, EXECUTIONS, ENTRIES, DROPS] {
                    heads.insert(name, head(instance, name)?);
                }
                if instance.journal_names().unwrap_or_default().iter().any(|name| name == RISK) {
                    heads.insert(RISK, head(instance, RISK)?);
                }
                Ok(Reach::Live { heads, td_runs })
            }
        }
    }

    /// Whether more may come while it is looked at.
    pub(super) fn grows(&self) -> bool {
        matches!(self, Reach::Live { td_runs: true, .. })
    }

    /// Why something may not be in the drop copy yet.
    pub(super) fn why_not_yet(&self) -> &'static str {
        match self {
            Reach::Live { td_runs: true, .. } => "td has not got there",
            Reach::Live { .. } => "td does not run, and its successor writes it",
            Reach::Recorded { .. } => "the recording ends before",
            Reach::Ended => "td has ended",
        }
    }

    /// Whether the journal that a frame of the drop copy is from should have it: td writes the drop copy last, but a recording
    /// may end in one journal before another.
    pub(super) fn is_due(&self, seen: &Seen) -> bool {
        match self {
            Reach::Recorded { before } => seen.time < *before,
            Reach::Live { .. } | Reach::Ended => true,
        }
    }

    /// Whether what td did together with a frame of the drop copy should stand in its other journals.
    pub(super) fn is_settled(&self, seen: &Seen) -> bool {
        match self {
            Reach::Recorded { before } => seen.time < *before,
            Reach::Ended => true,
            Reach::Live { heads, td_runs } => {
                *td_runs && heads.get(DROPS).is_some_and(|head| seen.position < *head)
            }
        }
    }

    /// Whether what td answered together with a frame of the drop copy was there when its reports were read: before the drop
    /// copy's last frames nothing is on its way, also of a td that does not run any more.
    pub(super) fn is_answered(&self, seen: &Seen) -> bool {
        match self {
            Reach::Recorded { before } => seen.time < *before,
            Reach::Ended => true,
            Reach::Live { heads, .. } => {
                heads.get(DROPS).is_some_and(|head| seen.position.saturating_add(TD_WRITES_AT_ONCE) < *head)
            }
        }
    }

    /// Whether a frame of another journal was there when the audit began.
    pub(super) fn has(&self, journal: &str, seen: &Seen) -> bool {
        match self {
            Reach::Recorded { .. } | Reach::Ended => true,
            Reach::Live { heads, .. } => heads.get(journal).is_some_and(|head| seen.position < *head),
        }
    }
}

/// Whether a recording says that the platform was taken down: the ledger, which stops behind td, has left in good order, and td
/// has left or died. A td that died while the rest ran on may have a successor that this recording does not have.
fn has_ended(source: &Source) -> Result<bool, Failure> {
    let topology = source.topology()?;
    let seat = |kind| topology.nodes.iter().find(|node| node.kind == kind).map(|node| node.seat);
    let (Some(td), Some(ledger)) = (seat(NodeKind::Td), seat(NodeKind::Ledger)) else { return Ok(false) };
    let mut last = BTreeMap::new();
    let Some(mut events) = source.stream(EVENTS, 0)? else { return Ok(false) };
    while let Some(seen) = events.next()? {
        if seen.id == NodeEvent::ID
            && let Ok(event) = NodeEvent::decode(&seen.payload)
        {
            last.insert(event.seat, event.change);
        }
    }
    let is_over = |seat| matches!(last.get(&seat), Some(NodeChange::Left | NodeChange::Died));
    Ok(is_over(td) && last.get(&ledger) == Some(&NodeChange::Left))
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
