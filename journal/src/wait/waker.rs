//! The waking side of one writer.

use std::sync::Arc;

use super::{barrier, doorbell, wake, wake_after_fence};
use crate::files::control::{Bits, Control};
use crate::files::registry::Registry;
use crate::layout::{MAX_SEATS, control as at, registry};
use crate::sync::{Ordering, fence, light_barrier};

/// Notifies the seats that want what was written.
#[derive(Debug)]
pub(crate) struct Waker {
    registry: Arc<Registry>,
    /// Announcements of others put no fence into this process's threads.
    is_deaf: bool,
}

impl Waker {
    pub(crate) fn new(registry: Arc<Registry>) -> Waker {
        Waker { registry, is_deaf: !barrier::register() }
    }

    /// After a commit: rings and wakes the seats that want `topic`. Returns how many were woken. If no seat wants it:
    /// one load for each 64 seats.
    #[inline(always)]
    pub(crate) fn notify(&self, control: &Control, topic: u32) -> u64 {
        let mut woken = 0;
        self.before_look();
        for (first_seat, row) in control.interest(topic) {
            let wanted = row.load(Ordering::Relaxed);
            if wanted != 0 {
                woken += self.notify_seats(control, first_seat, wanted);
            }
        }
        woken
    }

    /// Between the commit and the look at the row.
    #[inline(always)]
    fn before_look(&self) {
        // SYNC: interest.
        light_barrier();
        // Its line is that of the bits of notification: where there is interest it is needed next, and where there is
        // none its load does not wait for that of the row.
        if self.is_deaf || self.registry.requires_fences() {
            fence(Ordering::SeqCst);
        }
    }

    /// As [`Waker::notify`], once for frames of several topics: each seat that wants one of them is notified once.
    #[inline]
    pub(crate) fn notify_rows(&self, control: &Control, topics: impl IntoIterator<Item = u32>) -> u64 {
        self.before_look();
        let mut rows = [0; MAX_SEATS as usize / 64];
        for topic in topics {
            for (joint, (_, row)) in rows.iter_mut().zip(control.interest(topic)) {
                *joint |= row.load(Ordering::Relaxed);
            }
        }
        let wanted = (0..).step_by(64).zip(rows).filter(|&(_, wanted)| wanted != 0);
        wanted.map(|(first_seat, wanted)| self.notify_seats(control, first_seat, wanted)).sum()
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
        let wake = |bit| u64::from(wake_after_fence(&self.registry, first_seat + bit, Some(journal)));
        Bits(sleepers).map(wake).sum()
    }

    /// After more was written to disk: rings and wakes the seats that wait for that.
    pub(crate) fn notify_durable(&self, control: &Control) {
        self.before_look();
        for (first_seat, waiting) in control.durable_waiters() {
            let wanted = waiting.load(Ordering::Relaxed);
            if wanted != 0 {
                self.notify_seats(control, first_seat, wanted);
            }
        }
    }

    /// When the ring is full: wakes gated readers that sleep although they hold up the writer. They sleep through
    /// frames of topics that they do not want, and have not skipped those frames yet; or they keep frames that they
    /// have read, and may have less to keep by now.
    #[cold]
    pub(crate) fn wake_blocking_readers(&self, control: &Control, needed: u64) -> u64 {
        let first_kept = needed.saturating_sub(control.shape().capacity);
        let blocking = control.readers(at::GATED).filter(|&seat| control.needed_by(seat) < first_kept);
        blocking.map(|seat| u64::from(wake(&self.registry, seat))).sum()
    }
}
