//! What a recording is of.

use journal::Journal;
use serde::{Deserialize, Serialize};

/// The first block of every segment, so that each can be read by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Description {
    /// Name of the instance.
    pub instance: String,
    /// Name of the recorder in the platform file.
    pub recorder: String,
    /// Version of the program that wrote it.
    pub program: String,
    /// Version of the messages (`docs/messages.md`).
    pub messages: u32,
    /// Version of the journal format, whose frames the blocks hold.
    pub journal_format: u32,
    /// The platform, as in the instance's `topology.json`.
    pub topology: serde_json::Value,
    /// The journals, by the numbers that blocks use.
    pub journals: Vec<RecordedJournal>,
}

/// A journal of a recording.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedJournal {
    /// Its number in this recording, from 1.
    pub number: u16,
    /// Its name.
    pub name: String,
    /// Its number in the instance.
    pub id: u32,
    /// Bytes in its ring.
    pub capacity: u64,
    /// Number of seats of its control page.
    pub seats: u32,
    /// Number of topics.
    pub topics: u32,
    /// Largest payload.
    pub max_payload: u64,
    /// Size of its pages.
    pub page: u64,
    /// Position of its first frame.
    pub first_position: u64,
    /// Which journal of this name it is.
    pub incarnation: u64,
    /// Whether the recorder may be overtaken, and then has gaps.
    pub loose: bool,
    /// Of a journal that was recovered: where its gated readers stood when the recording was described.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub readers: Vec<Stood>,
}

/// Where a reader stood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stood {
    /// Its seat.
    pub seat: u32,
    /// Its cursor.
    pub position: u64,
}

impl RecordedJournal {
    /// What a description says of this journal.
    pub fn of(number: u16, journal: &Journal, loose: bool) -> RecordedJournal {
        let (shape, stat) = (journal.shape(), journal.stat());
        // Those that go on where others stopped.
        let gated = stat.readers.iter().filter(|reader| reader.gated && stat.incarnation > 1);
        let readers = gated.map(|reader| Stood { seat: reader.seat, position: reader.position }).collect();
        RecordedJournal {
            number,
            name: shape.name.clone(),
            id: shape.id,
            capacity: shape.capacity,
            seats: shape.seats,
            topics: shape.topics,
            max_payload: stat.max_payload,
            page: shape.page,
            first_position: stat.first_position,
            incarnation: stat.incarnation,
            loose,
            readers,
        }
    }

    /// The same for several that a recorder reads gated, numbered in their order.
    pub fn of_all(journals: &[&Journal]) -> Vec<RecordedJournal> {
        journals
            .iter()
            .zip(1..)
            .map(|(journal, number)| RecordedJournal::of(number, journal, false))
            .collect()
    }
}

impl Description {
    /// The journal with this name.
    pub fn journal(&self, name: &str) -> Option<&RecordedJournal> {
        self.journals.iter().find(|journal| journal.name == name)
    }

    /// The journal with this number.
    pub fn numbered(&self, number: u16) -> Option<&RecordedJournal> {
        self.journals.get(usize::from(number).checked_sub(1)?)
    }
}
