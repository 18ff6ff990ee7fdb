//! What both kinds of reader have in common.

use std::sync::Arc;

use super::prefetch::Prefetch;
use super::{NoWriter, Topics, liveness};
use crate::error::ReadError;
use crate::files::control::{Control, WriterState};
use crate::fork::Opener;
use crate::layout::{frame, frame_bytes};
use crate::ring::bytes::{RawHeader, Ring};
use crate::sync::Ordering;

/// A place in a journal. Every reader dereferences to one, for queries about itself and its journal.
///
/// Only shared references to it are given out: a lent frame depends on the position not being changed from outside.
#[derive(Debug)]
pub struct ReaderCore {
    pub(super) ring: Ring,
    pub(super) control: Arc<Control>,
    /// Next frame to look at.
    pub(super) position: u64,
    /// The position that is visible to others.
    pub(super) published: u64,
    /// Frames returned.
    pub(super) frames: u64,
    pub(super) topics: Topics,
    prefetch: Prefetch,
    max_payload: u64,
    view: View,
    pub(super) opener: Opener,
}

/// How far a reader sees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum View {
    /// Up to the head: what is in memory.
    #[default]
    Committed,
    /// Only what is on disk, according to all readers that write there: see [`GatedReader::make_durable`]. Where no
    /// reader does, nothing.
    ///
    /// [`GatedReader::make_durable`]: crate::GatedReader::make_durable
    Durable,
}

impl ReaderCore {
    pub(super) fn new(ring: Ring, control: Arc<Control>, position: u64) -> ReaderCore {
        ReaderCore {
            max_payload: control.max_payload(),
            ring,
            control,
            position,
            published: position,
            frames: 0,
            topics: Topics::All,
            prefetch: Prefetch::new(),
            view: View::Committed,
            opener: Opener::current(),
        }
    }

    pub(super) fn set_view(&mut self, view: View) {
        self.view = view;
    }

    /// No frame at or behind this is returned now.
    #[inline(always)]
    pub(super) fn end(&self) -> u64 {
        if self.view == View::Committed { u64::MAX } else { self.durable_end() }
    }

    #[cold]
    fn durable_end(&self) -> u64 {
        self.control.durable().unwrap_or(0)
    }

    /// Header of the frame at our position, if one is committed there and its length is possible.
    #[inline(always)]
    pub(super) fn next_header(&mut self) -> Result<Option<RawHeader>, ReadError> {
        // SYNC: commit.
        let commit = self.ring.commit_word(self.position).load(Ordering::Acquire);
        if commit != self.position {
            // The line was cleared before its predecessor was committed. Only where the writer may have overwritten it
            // since are other values possible.
            return if commit == 0 {
                self.prefetch.fetch(&self.ring, self.position);
                Ok(None)
            } else {
                Err(self.corrupt("the commit word is neither clear nor this frame's position"))
            };
        }
        let header = self.ring.header(self.position);
        if u64::from(header.length) > self.max_payload {
            return Err(self.corrupt("the frame claims more payload than this journal allows"));
        }
        self.prefetch.record(header.length);
        Ok(Some(header))
    }

    /// Header of the frame at a position before which all are committed, if one is there that may be read. Where something
    /// is wrong with it, [`next_header`](Self::next_header) says what.
    #[cfg(not(loom))]
    pub(super) fn header_at(&self, position: u64) -> Option<RawHeader> {
        // SYNC: commit.
        if self.ring.commit_word(position).load(Ordering::Acquire) != position {
            return None;
        }
        let header = self.ring.header(position);
        (u64::from(header.length) <= self.max_payload).then_some(header)
    }

    /// Goes to the end of the frame at our position.
    #[inline(always)]
    pub(super) fn pass(&mut self, header: RawHeader) {
        self.position += frame_bytes(u64::from(header.length));
    }

    /// True when frames with this header are to be returned.
    #[inline(always)]
    pub(super) fn wants(&self, header: RawHeader) -> bool {
        header.flags & frame::VOID == 0 && self.topics.contains(header.topic)
    }

    /// True when there is something at our position: a frame, or what overwrote it.
    #[inline(always)]
    pub(super) fn is_written(&self) -> bool {
        if self.position >= self.end() {
            return false;
        }
        // SYNC: commit.
        self.ring.commit_word(self.position).load(Ordering::Acquire) != 0
    }

    /// True when the writer may have touched bytes at our position. Never with a gated reader.
    #[inline(always)]
    pub(super) fn is_lapped(&self) -> bool {
        self.control.intent().saturating_sub(self.ring.capacity()) > self.position
    }

    pub(super) fn corrupt(&self, what: &'static str) -> ReadError {
        ReadError::Corrupt { position: self.position, what }
    }

    /// Position of the next frame.
    #[inline]
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Number of the journal within the instance.
    pub fn journal_id(&self) -> u32 {
        self.control.shape().id
    }

    /// Name of the journal.
    pub fn journal_name(&self) -> &str {
        &self.control.shape().name
    }

    /// The journal's current writer. Reads `/proc`: call it when idle.
    pub fn writer_state(&self) -> WriterState {
        self.control.writer_state()
    }

    /// Checks that a writer may still write, or that something is left to read. Reads `/proc`: call it when idle, not
    /// in every turn of a poll loop.
    ///
    /// # Errors
    /// [`NoWriter`]: no writer, and nothing left to read.
    pub fn check_writer(&self) -> Result<(), NoWriter> {
        liveness::check(&self.control, || self.is_written() || self.is_lapped())
    }
}
