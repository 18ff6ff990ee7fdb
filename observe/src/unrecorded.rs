//! What a recorder left behind: frames that are on no disk, and gone with the instance.

use node::Counter;
use serde::{Deserialize, Serialize};
use topology::config::{Durability, ReaderKind, RecorderConfig, WhenFull};
use topology::{NodeKind, Topology};

use crate::view::{InstanceView, SeatView};

/// The end of a journal that a recorder was to record and did not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unrecorded {
    /// The recorder.
    pub recorder: String,
    /// The journal.
    pub journal: String,
    /// Position of the first frame that is not on disk. `None`: the recorder let the writer go on while its disk refused, and was
    /// killed before it could say from where on.
    pub from: Option<u64>,
    /// End of the journal's frames.
    pub end: u64,
}

impl Unrecorded {
    /// Of all recorders, once everybody has stopped.
    pub fn read(view: &InstanceView, topology: &Topology, seats: &[SeatView]) -> Vec<Unrecorded> {
        let mut found = Vec::new();
        for seat in seats.iter().filter(|seat| seat.kind == NodeKind::Recorder) {
            let Some(node) = topology.node(&seat.name) else { continue };
            // One that stops by itself says in its cursors what it owes.
            let was_killed = seat.exit.is_none_or(|exit| exit > 128);
            let lets_go = serde_json::from_value(node.section.clone())
                .is_ok_and(|config: RecorderConfig| config.when_full == WhenFull::Gap);
            let may_owe = was_killed && lets_go && seat.counter(Counter::DiskRefusesSince) > 0;
            let before = found.len();
            let mut of_masters = None;
            for read in &node.reads {
                let spec = topology.journal(&read.journal);
                let is_masters = spec.is_some_and(|journal| journal.writer == "master");
                let is_sync = spec.is_some_and(|journal| journal.durability == Durability::Sync);
                let Ok((journal, _)) = view.journal(&read.journal) else { continue };
                let (from, end) = (journal.finished_by(seat.seat), journal.head());
                let from = match from < end {
                    true => Some(from),
                    false if may_owe && read.kind == ReaderKind::Gated && !is_sync => None,
                    false => continue,
                };
                let (recorder, journal) = (seat.name.clone(), read.journal.clone());
                let row = Unrecorded { recorder, journal, from, end };
                if is_masters { of_masters = Some(row) } else { found.push(row) }
            }
            // That a recorder has ended, however it did, it does not live to record: alone that is no loss.
            if found.len() > before {
                found.extend(of_masters);
            }
        }
        found
    }
}

impl std::fmt::Display for Unrecorded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Unrecorded { recorder, journal, from, end } = self;
        match from {
            Some(from) => write!(
                f,
                "{journal} from position {from} to {end} ({} bytes) is not on disk: recorder {recorder} has not written it",
                end - from
            ),
            None => write!(
                f,
                "the end of {journal}, up to position {end}, may not be on disk: recorder {recorder} was killed while its disk took nothing"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use node::NodeState;
    use wire::{NodeEvent, Quote};

    use super::*;
    use crate::fixture::{Instance, blank, counting, seat};

    #[test]
    fn what_a_recorder_had_not_finished_with_is_named_with_its_positions() {
        let made = Instance::with(
            "unrecorded",
            "[md]\n[strategies]\ncount = 2\n[[recorder]]\npath = \"somewhere\"\nwhen_full = \"gap\"\n",
        );
        let recorder = made.topology.nodes.iter().find(|node| node.kind == NodeKind::Recorder).unwrap();
        let opened = made.open("md.quotes");
        opened.admit_gated(u32::from(recorder.seat)).unwrap();
        let first = opened.first_position();
        let ended = |exit: u8| SeatView {
            state: NodeState::Stopped,
            exit: Some(exit),
            ..seat(u32::from(recorder.seat), &recorder.name, NodeKind::Recorder)
        };
        let read = |seat: SeatView| Unrecorded::read(&made.view(), &made.topology, &[seat]);
        let of_quotes = |found: Vec<Unrecorded>| found.into_iter().find(|row| row.journal == "md.quotes");
        made.write("master.events", &[blank::<NodeEvent>()]);
        assert_eq!(read(ended(0)), [], "nothing was written but its own end");
        made.write("md.quotes", &[blank::<Quote>(), blank::<Quote>()]);
        let row = of_quotes(read(ended(1))).unwrap();
        assert_eq!((row.from, row.end), (Some(first), opened.head()));
        assert!(row.to_string().contains(&format!("from position {first} to {}", row.end)), "{row}");
        // All of it was read, and dismissed as all cursors are at the stop.
        let mut reader = opened.gated(u32::from(recorder.seat)).unwrap();
        while reader.read().unwrap().is_some() {}
        reader.publish();
        drop(reader);
        opened.dismiss(u32::from(recorder.seat)).unwrap();
        assert_eq!(of_quotes(read(ended(0))), None);
        // Passed over is not written; who was killed could not say what.
        let refuses = |exit| counting(ended(exit), &[(Counter::DiskRefusesSince, 5)]);
        assert_eq!(of_quotes(read(refuses(137))).unwrap().from, None);
        assert_eq!(of_quotes(read(refuses(1))), None);
    }
}
