//! One line of bits that reports which of many journals have news.
//!
//! Writers set a bit behind their commit; the reader takes the bits and reads those journals until they are empty.
//! `docs/waiting.md` draws it, and says why no frame stays behind.
//!
//! The first look, before the swap, is only an optimisation: the line is fetched for reading, and need not be owned
//! before the message is read. The second look mostly finds nothing new.
//!
//! A writer in a language without atomic read-modify-writes stores 1 into the bell's last word instead, which asks for a
//! look at every journal. Such stores hide each other, so both sides fence: the writer between commit and store, the
//! reader between swap and look. If the reader's fence is the first, the writer's store comes after the swap, and stays.
//!
//! A writer that is killed between commit and bell leaves a frame that nothing reports. Therefore the reader looks at
//! all of its journals now and then, and always before it sleeps.

use std::sync::Arc;

use crate::files::control::Bits;
use crate::files::registry::Registry;
use crate::layout::registry as at;
use crate::sync::{Ordering, fence};

/// Words with bits; the last word of the bell asks for a look at every journal.
const WORDS: usize = at::BELL_ALL - at::BELL;

/// The reading side of a seat's bell: one per node, for nodes with many inputs.
#[derive(Debug)]
pub struct Doorbell {
    registry: Arc<Registry>,
    seat: u32,
    /// Words in which one of our journals has its bit, ascending.
    words: Vec<BellWord>,
    /// The last word asked for a look at every journal, and is still set.
    all_reported: bool,
}

/// One word of the bell.
#[derive(Debug)]
struct BellWord {
    index: usize,
    /// The bits of our journals.
    own: u64,
    /// Its bits were reported, and are still set.
    reported: bool,
}

impl Doorbell {
    /// Number of bits.
    pub const BITS: u32 = WORDS as u32 * 64;

    /// The bit of a journal.
    pub fn bit(journal: u32) -> u32 {
        journal % Doorbell::BITS
    }

    /// From now on, writers of these journals (by id) that find the seat interested ring. `None` when there is no such
    /// seat, or the registry is mapped read-only.
    ///
    /// Call [`announce`](super::announce) before relying on it, and then look at every journal once.
    pub fn install(
        registry: Arc<Registry>,
        seat: u32,
        journals: impl IntoIterator<Item = u32>,
    ) -> Option<Doorbell> {
        if !registry.is_writable() || seat >= registry.seats() {
            return None;
        }
        let mut own = [0_u64; WORDS];
        for bit in journals.into_iter().map(Doorbell::bit) {
            own[bit as usize / 64] |= 1 << (bit % 64);
        }
        registry.set_notified_by(seat, at::NOTIFY_BELL, true);
        let words = own.into_iter().enumerate().filter(|&(_, own)| own != 0);
        let words = words.map(|(index, own)| BellWord { index, own, reported: false }).collect();
        Some(Doorbell { registry, seat, words, all_reported: false })
    }

    /// Writers no longer ring for `seat`: its node has no bell.
    pub fn remove(registry: &Registry, seat: u32) {
        if registry.is_writable() && seat < registry.seats() {
            registry.set_notified_by(seat, at::NOTIFY_BELL, false);
        }
    }

    /// Reports what was rung: `each` gets the bit of each journal that may have news, each ring in two calls. When
    /// nothing was rung, this loads one line and stores nothing.
    #[inline]
    pub fn poll(&mut self, mut each: impl FnMut(u32)) {
        let all = self.rang_for_all();
        for BellWord { index, own, reported } in &mut self.words {
            let word = self.registry.bell(self.seat, *index);
            // SYNC: bell.
            let mut bits =
                if *reported { word.swap(0, Ordering::Acquire) } else { word.load(Ordering::Acquire) };
            if bits != 0 {
                *reported = !*reported;
            }
            if all {
                bits |= *own;
            }
            Bits(bits).for_each(|bit| each(*index as u32 * 64 + bit));
        }
    }

    /// True when a writer that cannot set a single bit asks for a look at every journal, in two calls as with the bits.
    #[inline]
    fn rang_for_all(&mut self) -> bool {
        let word = self.registry.bell(self.seat, WORDS);
        if !self.all_reported {
            self.all_reported = word.load(Ordering::Relaxed) != 0;
            return self.all_reported;
        }
        self.all_reported = false;
        word.swap(0, Ordering::Relaxed);
        // SYNC: bell. One of several writers' stores was seen and taken, but the frames of all of them are there.
        fence(Ordering::SeqCst);
        true
    }
}

/// The writer's end, behind its commit. It always writes, even when the bit is set already: a look before it would
/// fetch the line once more, and mostly the bit is not set.
#[inline]
pub(super) fn ring(registry: &Registry, seat: u32, journal: u32) {
    let bit = Doorbell::bit(journal);
    // SYNC: bell.
    registry.bell(seat, bit as usize / 64).fetch_or(1 << (bit % 64), Ordering::Release);
}
