//! Shared memory for the roles of a block: one page of words for each role, written by that role alone.

use std::path::Path;
use std::time::{Duration, Instant};

use journal::tools::Floor;

use crate::error::CompareError;

/// Words of a role's page.
pub(crate) mod word {
    /// The last step that the role has reached.
    pub(crate) const STEP: usize = 0;
    /// The bare word that is bounced.
    pub(crate) const BOUNCE: usize = 1;
    /// Writer: messages written, plus one, once it is done. Readers: messages seen, plus one.
    pub(crate) const COUNT: usize = 2;
    /// Reader: messages lost.
    pub(crate) const LOST: usize = 3;
    /// Writer, deaths: when it began to open, on the monotonic clock.
    pub(crate) const BEGUN: usize = 4;
    /// Writer, deaths: when it sent its first message.
    pub(crate) const FIRST: usize = 5;
    /// Reader, deaths: generation of the last writer from which it received a message.
    pub(crate) const GENERATION: usize = 6;
    /// Reader, deaths: when it first received a message of that generation.
    pub(crate) const HEARD: usize = 7;
    /// Reader, deaths: messages whose bytes were not all from one message.
    pub(crate) const TORN: usize = 8;
    /// Reader, deaths: messages missing between two of one generation.
    pub(crate) const GAPS: usize = 9;
    /// Reader, deaths: when the last message arrived.
    pub(crate) const LAST: usize = 10;
    /// Reader, deaths: the longest silence since [`KILLED`].
    pub(crate) const SILENCE: usize = 11;
    /// Driver's page (the last one): when the other reader was killed.
    pub(crate) const KILLED: usize = 12;
    /// Driver's page: not zero when every role must end.
    pub(crate) const END: usize = 13;
    /// The answering role, asleep: how long it kept the last message, in nanoseconds.
    pub(crate) const HELD: usize = 14;
}

/// All pages, as one role sees them.
#[derive(Debug)]
pub(crate) struct Board {
    role: usize,
    pages: Vec<Floor>,
}

/// Longest wait for the others at a step: a JVM has to start, or eighty processes on few cores.
const PATIENCE: Duration = Duration::from_secs(60);

impl Board {
    /// Created by the driver: one page for each role, and one of its own after them.
    pub(crate) fn create(room: &Path, roles: usize) -> Result<Board, CompareError> {
        let pages = (0..=roles).map(|role| Floor::create(&page(room, role)));
        let pages = pages.collect::<Result<_, _>>().map_err(failed("create"))?;
        Ok(Board { role: roles, pages })
    }

    /// Opened by a role, which maps all pages.
    pub(crate) fn open(room: &Path, role: usize, roles: usize) -> Result<Board, CompareError> {
        let pages = (0..=roles).map(|role| Floor::open(&page(room, role)));
        let pages = pages.collect::<Result<_, _>>().map_err(failed("open"))?;
        Ok(Board { role, pages })
    }

    /// A word of any role.
    #[inline(always)]
    pub(crate) fn get(&self, role: usize, index: usize) -> u64 {
        self.pages[role].get(index)
    }

    /// A word of the driver.
    #[inline(always)]
    pub(crate) fn driver(&self, index: usize) -> u64 {
        self.pages[self.pages.len() - 1].get(index)
    }

    /// Sets a word of our own.
    #[inline(always)]
    pub(crate) fn set(&self, index: usize, value: u64) {
        self.pages[self.role].set(index, value);
    }

    /// Waits until every role has reached `step`.
    pub(crate) fn meet(&self, step: u64) -> Result<(), CompareError> {
        self.set(word::STEP, step);
        let roles = self.pages.len() - 1;
        let since = Instant::now();
        for role in 0..roles {
            let mut turns = 0_u32;
            while self.get(role, word::STEP) < step {
                turns += 1;
                if turns < 20_000 {
                    std::hint::spin_loop();
                    continue;
                }
                // Sleep: with more roles than cores, spinning keeps the others from getting here.
                std::thread::sleep(Duration::from_micros(200));
                if since.elapsed() > PATIENCE {
                    return Err(CompareError::Silent { seconds: PATIENCE.as_secs() });
                }
            }
        }
        Ok(())
    }
}

fn page(room: &Path, role: usize) -> std::path::PathBuf {
    room.join(format!("board-{role}"))
}

fn failed<E: std::fmt::Display>(action: &'static str) -> impl Fn(E) -> CompareError {
    move |error| CompareError::Board { action, what: error.to_string() }
}
