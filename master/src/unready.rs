//! What a node waits for that has registered and is not ready.

use journal::Journal;
use topology::NodeKind;

use crate::supervise::Master;

/// A journal has no room for its writer when its recorder is behind by so many eighths of it.
const FULL_EIGHTHS: u64 = 7;

impl Master {
    /// Why the node of this index may not be ready.
    pub(crate) fn why_not_ready(&self, index: usize) -> String {
        let spec = &self.nodes[index].spec;
        if spec.kind == NodeKind::Recorder {
            return "its disk does not answer".to_owned();
        }
        let recorders = self.nodes.iter().filter(|node| node.spec.kind == NodeKind::Recorder);
        let slow = recorders.filter_map(|recorder| {
            let full = self.full_behind(u32::from(recorder.spec.seat));
            (full > 0).then(|| {
                let name = &recorder.spec.name;
                format!(
                    "{full} journals are full until recorder `{name}` has them on disk, which is too slow"
                )
            })
        });
        let slow: Vec<String> = slow.collect();
        if !slow.is_empty() {
            return slow.join("; ");
        }
        "its `create` does not return, or the ledger does not answer".to_owned()
    }

    /// How many journals have no room because of the reader in this seat.
    fn full_behind(&self, seat: u32) -> usize {
        let names = self.instance.topology.journals.iter().map(|spec| &spec.name);
        let journals = names.filter_map(|name| self.instance.open(name).ok());
        journals.filter(|journal| is_full_behind(journal, seat)).count()
    }
}

fn is_full_behind(journal: &Journal, seat: u32) -> bool {
    let stat = journal.stat();
    let behind = stat.readers.iter().filter(|reader| reader.gated && reader.seat == seat);
    let positions = behind.map(|reader| reader.holds.unwrap_or(reader.position));
    positions
        .min()
        .is_some_and(|first| stat.head.saturating_sub(first) >= stat.shape.capacity / 8 * FULL_EIGHTHS)
}

#[cfg(test)]
mod tests {
    use journal::{Clock, JournalShape};

    use super::*;

    #[test]
    fn a_journal_is_full_behind_the_reader_that_keeps_it_and_behind_no_other() {
        let shape =
            JournalShape { id: 1, name: "t".into(), capacity: 1 << 16, seats: 64, topics: 1, page: 4096 };
        let journal = Journal::in_memory(shape).unwrap();
        let (mut quick, _slow) = (journal.gated(3).unwrap(), journal.gated(4).unwrap());
        assert!(!is_full_behind(&journal, 4));
        let mut writer = journal.writer(0, Clock::monotonic()).unwrap();
        while writer.write(1, 0, &[7; 96]).is_ok() {}
        while quick.read().unwrap().is_some() {}
        quick.publish();
        assert!(is_full_behind(&journal, 4) && !is_full_behind(&journal, 3) && !is_full_behind(&journal, 5));
    }
}
