//! The waking side of one writer.

use std::sync::Arc;

use super::{doorbell, wake, wake_after_fence};
use crate::files::control::{Bits, Control};
use crate::files::registry::Registry;
use crate::layout::{control as at, registry};
use crate::sync::{Ordering, fence, light_barrier};

/// Notifies the seats that want what was written.
#[derive(Debug)]
pub(crate) struct Waker {
    registry: Arc<Registry>,
}

impl Waker {
    pub(crate) fn new(registry: Arc<Registry>) -> Waker {
        Waker { registry }
    }

    /// After a commit: rings and wakes the seats that want `topic`. Returns how many were woken. If no seat wants it:
    /// one load for each 64 seats.
    #[inline(always)]
    pub(crate) fn notify(&self, control: &Control, topic: u32) -> u64 {
        let mut woken = 0;
        // SYNC: interest. Between the commit and the look at the row.
        light_barrier();
        for (first_seat, row) in control.interest(topic) {
            let wanted = row.load(Ordering::Relaxed);
            if wanted != 0 {
                woken += self.notify_seats(control, first_seat, wanted);
            }
        }
        woken
    }

    /// As [`Waker::notify`], for all of these topics at once: a seat that wants several of them is notified once, and there
    /// is one fence.
    pub(crate) fn notify_rows(&self, control: &Control, topics: impl Iterator<Item = u32> + Clone) -> u64 {
        // SYNC: interest. Between the commit and the look at the rows.
        light_barrier();
        let mut woken = 0;
        for word in 0..control.shape().seats.div_ceil(64) {
            let wanted = topics
                .clone()
                .filter_map(|topic| control.interest(topic).nth(word as usize))
                .fold(0, |wanted, (_, row)| wanted | row.load(Ordering::Relaxed));
            if wanted != 0 {
                woken += self.notify_seats(control, word * 64, wanted);
            }
        }
        woken
    }

    /// Notifies the seats of one word of a row.
    #[inline(never)]
    fn notify_seats(&self, control: &Control, first_seat: u32, wanted: u64) -> u64 {
        if first_seat >= self.registry.seats() {
            return 0;
        }
        // SYNC: relay. A change of it is announced.
        let notified_by = |way| self.registry.notify_word(first_seat, way).load(Ordering::Relaxed);
        let journal = control.shape().id;
        for bit in Bits(wanted & notified_by(registry::NOTIFY_BELL)) {
            doorbell::ring(&self.registry, first_seat + bit, journal);
        }
        let sleepers = wanted & !notified_by(registry::NOTIFY_RELAY);
        if sleepers == 0 {
            return 0;
        }
        // SYNC: park. Between the commit and the looks at the words.
        fence(Ordering::SeqCst);
        Bits(sleepers).map(|bit| u64::from(wake_after_fence(&self.registry, first_seat + bit))).sum()
    }

    /// When the ring is full: wakes gated readers that sleep although they hold up the writer. They sleep through
    /// frames of topics that they do not want, and have not skipped those frames yet.
    #[cold]
    pub(crate) fn wake_blocking_readers(&self, control: &Control, needed: u64) -> u64 {
        let capacity = control.shape().capacity;
        let mut woken = 0;
        for seat in control.readers(at::GATED) {
            let cursor = control.word(control.cursor(seat) + at::CURSOR_POSITION).load(Ordering::Acquire);
            if needed.saturating_sub(capacity) > cursor && wake(&self.registry, seat) {
                woken += 1;
            }
        }
        woken
    }
}
