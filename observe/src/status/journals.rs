//! A row for each journal.

use journal::WriterState;
use pinning::PageBacking;
use serde::Serialize;

use crate::seated::seat_name;
use crate::view::{InstanceView, JournalView, SeatView};

/// A journal at one moment.
#[derive(Clone, Debug, Serialize)]
pub struct JournalStatus {
    /// Its name.
    pub journal: String,
    /// Its number.
    pub id: u32,
    /// Bytes of its ring.
    pub capacity_bytes: u64,
    /// Pages that it was made for.
    pub page_bytes: u64,
    /// Pages that it lies on, in words.
    pub backing: String,
    /// The same as the kernel says it of a process that maps the ring; `None` when none does that may be looked into.
    pub pages: Option<PageBacking>,
    /// Bytes committed so far.
    pub head: u64,
    /// Frames committed so far.
    pub frames: u64,
    /// Who writes it, in words.
    pub writer: String,
    /// The writer's epoch.
    pub epoch: u64,
    /// Writes that found it full.
    pub full: u64,
    /// Readers that its writer woke.
    pub wakes: u64,
    /// Its readers.
    pub readers: Vec<ReaderStatus>,
}

/// A reader of a journal at one moment.
#[derive(Clone, Debug, Serialize)]
pub struct ReaderStatus {
    /// The node that reads.
    pub node: String,
    /// `gated` or `loose`.
    pub kind: &'static str,
    /// Where it stands.
    pub position: u64,
    /// Bytes from there to the head.
    pub lag_bytes: u64,
    /// Bytes that were overwritten before it had read them.
    pub lost_bytes: u64,
    /// How many times it was overtaken.
    pub gaps: u64,
}

impl JournalStatus {
    /// Rows of these journals by number, with what the kernel says of their pages.
    pub fn of_all(view: &InstanceView, journals: &[JournalView], seats: &[SeatView]) -> Vec<JournalStatus> {
        let backings = view.backings(journals);
        let row = |journal: &JournalView| {
            let pages = backings.get(&journal.stat.shape.name).copied();
            JournalStatus::of(journal, seats, pages, view.is_foreign())
        };
        let mut rows: Vec<JournalStatus> = journals.iter().map(row).collect();
        rows.sort_by_key(|row| row.id);
        rows
    }

    fn of(
        journal: &JournalView,
        seats: &[SeatView],
        pages: Option<PageBacking>,
        is_foreign: bool,
    ) -> JournalStatus {
        let stat = &journal.stat;
        let readers = stat.readers.iter().map(|reader| ReaderStatus {
            node: seat_name(seats, reader.seat),
            kind: if reader.gated { "gated" } else { "loose" },
            position: reader.position,
            lag_bytes: stat.head.saturating_sub(reader.position),
            lost_bytes: reader.lost,
            gaps: reader.gaps,
        });
        JournalStatus {
            journal: stat.shape.name.clone(),
            id: stat.shape.id,
            capacity_bytes: stat.shape.capacity,
            page_bytes: stat.shape.page,
            backing: pages.map_or_else(|| made_for(stat.shape.page), |pages| pages.to_string()),
            pages,
            head: stat.head,
            frames: stat.frames,
            writer: writer(stat.writer, is_foreign),
            epoch: stat.epoch,
            full: stat.full,
            wakes: stat.wakes,
            readers: readers.collect(),
        }
    }
}

fn made_for(page_bytes: u64) -> String {
    let pages = match page_bytes {
        4_096 => PageBacking::Small { page_bytes },
        _ => PageBacking::Huge { page_bytes },
    };
    format!("made for {pages}, nobody maps it")
}

fn writer(state: WriterState, is_foreign: bool) -> String {
    match state {
        WriterState::Never => "nobody yet".to_owned(),
        WriterState::Closed => "left".to_owned(),
        WriterState::Attached(process) | WriterState::Dead(process) if is_foreign => {
            format!("process {} of another pid namespace", process.pid)
        }
        WriterState::Attached(process) => format!("process {}", process.pid),
        WriterState::Dead(process) => format!("process {} died", process.pid),
    }
}

#[cfg(test)]
mod tests {
    use journal::process::ProcessIdentity;

    use super::*;
    use crate::fixture::journal;

    #[test]
    fn whether_a_writer_of_another_namespace_lives_is_not_claimed() {
        let dead = WriterState::Dead(ProcessIdentity { pid: 7, start: 1 });
        assert_eq!(writer(dead, false), "process 7 died");
        assert_eq!(writer(dead, true), "process 7 of another pid namespace");
        assert_eq!(writer(WriterState::Closed, true), "left");
    }

    #[test]
    fn a_ring_that_nobody_maps_is_said_to_be_made_for_its_pages() {
        let mut ring = journal(1, "md.quotes", 1);
        let backing = |ring: &JournalView| JournalStatus::of(ring, &[], None, false).backing;
        assert_eq!(backing(&ring), "made for 4 KiB pages, nobody maps it");
        ring.stat.shape.page = 2 << 20;
        assert_eq!(backing(&ring), "made for 2 MiB huge pages, nobody maps it");
        let pages = Some(PageBacking::Huge { page_bytes: 2 << 20 });
        assert_eq!(JournalStatus::of(&ring, &[], pages, false).backing, "2 MiB huge pages");
    }
}
