//! All that an instance shows at one moment, as rows: its nodes, its journals, and what it has counted since it was made.

mod journals;
mod nodes;

use serde::Serialize;

use crate::disks::Disk;
use crate::matched::Matched;
use crate::outgrown::Outgrown;
use crate::stages::Stages;
use crate::state::State;
use crate::totals::{Lost, Totals};
use crate::view::{DamagedJournal, InstanceView, ViewError};
pub use journals::{JournalStatus, ReaderStatus};
pub use nodes::NodeStatus;

/// An instance at one moment.
#[derive(Clone, Debug, Serialize)]
pub struct Status {
    /// Its name.
    pub instance: String,
    /// Where the platform stands; `dead` when nothing of it runs.
    pub phase: &'static str,
    /// Whether a master process lives.
    pub master: bool,
    /// Its processes are of another pid namespace: whether they live cannot be told from here.
    pub foreign: bool,
    /// What its clock is made from.
    pub clock: &'static str,
    /// By how much it is ahead of the host's clock; behind it: below zero.
    pub clock_ahead_ns: i64,
    /// What the journals have held since the instance was made; `None` where its topology cannot be read.
    pub totals: Option<Totals>,
    /// What came of matching since then; `None` likewise.
    pub matched: Option<Matched>,
    /// Where the time of orders went since then.
    #[serde(flatten)]
    pub stages: Stages,
    /// What which reader lost of which journal since then.
    pub lost_by: Vec<Lost>,
    /// Recorders that do not record, or whose recording lacks something.
    pub disks: Vec<Disk>,
    /// Journals whose rings are too small for the state in them.
    pub outgrown: Vec<Outgrown>,
    /// By seat.
    pub nodes: Vec<NodeStatus>,
    /// By number.
    pub journals: Vec<JournalStatus>,
    /// Journals that cannot be read.
    pub damaged: Vec<DamagedJournal>,
}

impl Status {
    /// Reads it.
    ///
    /// # Errors
    /// [`ViewError::Io`] when the journals cannot be listed.
    pub fn read(view: &InstanceView) -> Result<Status, ViewError> {
        let state = State::read(view)?;
        let master = state.has_master();
        let phase = state.phase_name();
        let State { instance, seats, journals, damaged, .. } = state;
        let topology = view.topology().ok();
        let totals = topology.as_ref().map(|topology| Totals::read(view, topology).0);
        let matched = topology.as_ref().zip(totals.as_ref());
        let matched = matched.map(|(topology, totals)| Matched::read(topology, totals, &seats));
        Ok(Status {
            instance,
            phase,
            master,
            foreign: view.is_foreign(),
            clock: view.clock().source().as_str(),
            clock_ahead_ns: view.clock_ahead_ns(),
            stages: Stages::read(view, topology.as_ref(), &totals.clone().unwrap_or_default()),
            totals,
            matched,
            lost_by: topology.as_ref().map(|made| Lost::read(view, made, &seats)).unwrap_or_default(),
            disks: Disk::of_all(&seats),
            outgrown: Outgrown::of_all(&seats),
            nodes: NodeStatus::of_all(view.instance(), &seats, &journals, topology.as_ref()),
            journals: JournalStatus::of_all(view, &journals, &seats),
            damaged,
        })
    }
}

#[cfg(test)]
mod tests {
    use topology::NodeKind;
    use wire::Quote;

    use super::*;
    use crate::fixture::{Instance, blank};

    #[test]
    fn each_node_and_journal_of_the_platform_file_has_a_row() {
        let made = Instance::new("status");
        made.write("md.quotes", &[blank::<Quote>()]);
        let status = Status::read(&made.view()).unwrap();
        let nodes: Vec<&str> = status.nodes.iter().map(|node| node.seated.node.as_str()).collect();
        let planned: Vec<&str> = made.topology.nodes.iter().map(|node| node.name.as_str()).collect();
        assert_eq!(nodes, planned);
        let journals: Vec<(u32, &str)> =
            status.journals.iter().map(|journal| (journal.id, journal.journal.as_str())).collect();
        let wired: Vec<(u32, &str)> =
            made.topology.journals.iter().map(|journal| (journal.id, journal.name.as_str())).collect();
        assert_eq!(journals, wired);
        assert_eq!(status.totals.map(|totals| totals.quotes), Some(1));
        assert!(!status.master && status.damaged.is_empty() && status.lost_by.is_empty());
        let md = status.nodes.iter().find(|node| node.seated.kind == NodeKind::Md.to_string()).unwrap();
        assert_eq!((md.starts, md.lag_bytes, md.planned_cpus.as_deref(), md.budget_ns), (1, 0, None, None));
    }

    #[test]
    fn what_a_damaged_journal_and_an_unreadable_topology_do_not_say_is_left_out() {
        let made = Instance::new("status-damaged");
        let view = made.view();
        std::fs::write(view.instance().topology(), "{ \"instance\"").unwrap();
        std::fs::write(view.instance().find_journal("td.samples").control, [0; 64]).unwrap();
        let status = Status::read(&view).unwrap();
        assert!(status.totals.is_none(), "{:?}", status.totals);
        let damaged: Vec<&str> = status.damaged.iter().map(|one| one.journal.as_str()).collect();
        assert_eq!(damaged, ["td.samples"]);
        assert_eq!(status.journals.len(), made.topology.journals.len() - 1);
        assert_eq!(status.nodes.len(), made.topology.nodes.len());
    }
}
