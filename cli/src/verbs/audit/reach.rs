//! How far journals should agree: what one node has just written, another may not have answered yet.

use std::collections::BTreeMap;

use journal::Journal;
use node::InstanceDir;
use observe::InstanceView;
use topology::NodeKind;

use crate::desk::{DROPS, ENTRIES, EXECUTIONS, ORDERS, Seen, Source};
use crate::failure::Failure;

/// So long before a recording's end all journals should agree.
const SETTLED_NS: u64 = 1_000_000_000;

/// What was there when the audit began.
#[derive(Clone, Debug)]
pub(super) enum Reach {
    /// Heads of journals, read before that of the drop copy.
    Live { heads: BTreeMap<&'static str, u64>, td_runs: bool },
    /// Journals agree in what is older than this.
    Recorded { before: u64 },
}

impl Reach {
    pub(super) fn of(source: &Source) -> Result<Reach, Failure> {
        match source {
            Source::Recorded(recording) => {
                Ok(Reach::Recorded { before: recording.end().time.saturating_sub(SETTLED_NS) })
            }
            Source::Live(instance) => {
                let view = InstanceView::open(instance.clone())?;
                let td_runs = view.seats_of(NodeKind::Td).any(|seat| seat.alive);
                let mut heads = BTreeMap::new();
                for name in [ORDERS, EXECUTIONS, ENTRIES] {
                    heads.insert(name, head(instance, name)?);
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
        }
    }

    /// Whether the journal that a frame of the drop copy is from should have it: td writes the drop copy last, but a recording
    /// may end in one journal before another.
    pub(super) fn is_due(&self, seen: &Seen) -> bool {
        match self {
            Reach::Recorded { before } => seen.time < *before,
            Reach::Live { .. } => true,
        }
    }

    /// Whether a frame of another journal was there when the audit began.
    pub(super) fn has(&self, journal: &str, seen: &Seen) -> bool {
        match self {
            Reach::Recorded { .. } => true,
            Reach::Live { heads, .. } => heads.get(journal).is_some_and(|head| seen.position < *head),
        }
    }
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
