//! Other languages beside Rust: reading, writing, waking up, and an order by the same strategy.
//!
//! Each language has a program that does what it is told on its standard input (`bindings/README.md` has the protocol); Rust's is
//! this crate's [`run_peer`]. All of them are alive for the whole measurement and are asked in turns, so that whatever else the
//! host does is shared by all. An order is measured on a platform of real processes with one taker, which every language has.

mod found;
mod peer;
mod program;
mod report;
mod row;
mod taker;

use std::path::PathBuf;
use std::process::Command;

use journal::{Clock, Journal, JournalFiles, JournalShape, Registry};
use pinning::Host;

use crate::ipc::IpcError;
use crate::orders::Waiting;
use crate::scratch::Scratch;

pub use found::Skipped;
pub use peer::run_peer;
pub use report::{LanguageRow, LanguagesReport};
use row::Row;

/// Bytes of a message that is read or written.
const BYTES: usize = 128;
/// Messages in the journal that is read: all of it stays in a core's cache, as what is read at once does.
const FRAMES: u64 = 5_000;
/// Bytes in a ring.
const CAPACITY: u64 = 1 << 20;
/// The seats of the registry.
const SEATS: u32 = 64;
/// The seat that sleeps.
const SLEEPER: u32 = 1;
/// The journal that is read.
const READ: &str = "read";

/// What to measure.
#[derive(Clone, Debug)]
pub struct LanguagesSettings {
    /// The folder `bindings` of a source tree.
    pub bindings: PathBuf,
    /// Where the programs are built.
    pub build: PathBuf,
    /// These languages alone; all that there are when empty. Rust is always measured.
    pub only: Vec<String>,
    /// Turns over all languages.
    pub rounds: usize,
    /// Turns before the first that counts, in which runtimes compile what is hot.
    pub warm: usize,
    /// How often the journal is read in a turn.
    pub readings: u64,
    /// Messages written in a turn.
    pub writes: u64,
    /// Messages that wake a sleeper in a turn.
    pub wakes: u64,
    /// Platforms that are run for each language and way of waiting.
    pub platforms: usize,
    /// Quotes of each.
    pub quotes: u64,
    /// CPUs to use; all that this process may use when empty.
    pub cpus: Vec<usize>,
    /// The `colo` binary.
    pub colo: PathBuf,
}

impl LanguagesSettings {
    /// Some fifteen minutes.
    pub fn full(colo: PathBuf) -> LanguagesSettings {
        LanguagesSettings {
            bindings: PathBuf::from("bindings"),
            build: PathBuf::from("target/languages"),
            only: Vec::new(),
            rounds: 31,
            warm: 10,
            readings: 40,
            writes: 100_000,
            wakes: 200,
            platforms: 5,
            quotes: 6_000,
            cpus: Vec::new(),
            colo,
        }
    }

    /// Within two minutes, when the programs are built.
    pub fn quick(colo: PathBuf) -> LanguagesSettings {
        LanguagesSettings {
            rounds: 5,
            warm: 5,
            wakes: 50,
            platforms: 1,
            quotes: 1_000,
            ..LanguagesSettings::full(colo)
        }
    }
}

/// Measures. `rust` starts Rust's program. `progress` receives what is being measured, and how much is done (0 to 1). When it
/// returns false, the measurement ends with [`IpcError::Stopped`], and leaves nothing behind.
///
/// # Errors
/// [`IpcError`].
pub fn measure(
    settings: &LanguagesSettings,
    rust: impl Fn() -> Command,
    progress: impl Fn(&str, f64) -> bool,
) -> Result<LanguagesReport, IpcError> {
    let host = Host::read("/".as_ref())?;
    let go_on = |what: &str, done| if progress(what, done) { Ok(()) } else { Err(IpcError::Stopped) };
    let mut settings = settings.clone();
    if settings.cpus.is_empty() {
        settings.cpus = host.allowed.iter().collect();
    }
    let settings = &settings;
    if settings.cpus.len() < 2 {
        return Err(IpcError::TooFewCpus { found: settings.cpus.len() });
    }
    let scratch = Scratch::create().map_err(crate::ipc::system("make a folder in /dev/shm"))?;
    let clock = Clock::calibrate();
    Registry::create(&scratch.path().join("registry"), SEATS, clock)?;
    let mut skipped = Vec::new();
    let mut rows = vec![Row::rust(rust())?];
    for folder in found::folders(settings)? {
        let name = found::name(&folder);
        go_on(&format!("building {name}"), 0.0)?;
        match found::build(&folder, &settings.build)? {
            Ok(programs) => rows.push(Row::start(name, &programs)?),
            Err(reason) => skipped.push(Skipped { language: name, reason }),
        }
    }
    create(&scratch, READ, 1)?;
    let sum = fill(&scratch, clock)?;
    for (index, row) in rows.iter().enumerate() {
        create(&scratch, &row.journal(), index as u32 + 2)?;
    }
    // Platforms take most of the time.
    let turns = settings.warm + settings.rounds;
    for turn in 0..turns {
        for row in &mut rows {
            go_on(&row.name, 0.2 * turn as f64 / turns as f64)?;
            row.turn(settings, scratch.path(), clock, sum, turn >= settings.warm)?;
        }
    }
    let platforms = settings.platforms * rows.len() * Waiting::ALL.len();
    for done in 0..platforms {
        let count = rows.len();
        let (row, waiting) = (&mut rows[done % count], Waiting::ALL[done / count % Waiting::ALL.len()]);
        let share = 0.2 + 0.8 * done as f64 / platforms as f64;
        go_on(&format!("{}, {}", row.name, waiting.as_str()), share)?;
        let found = taker::t2o(settings, row.taker(), waiting, || progress(&row.name, share))?;
        row.answered(waiting, found);
    }
    Ok(report::report(host.summary(), settings, &rows, skipped))
}

fn create(scratch: &Scratch, name: &str, id: u32) -> Result<(), IpcError> {
    let shape =
        JournalShape { id, name: name.to_owned(), capacity: CAPACITY, seats: SEATS, topics: 1, page: 4096 };
    Journal::create(JournalFiles::new(scratch.path(), scratch.path(), name), shape, 1)?;
    Ok(())
}

/// Writes what is read; the sum of the first words, which every reader must find.
fn fill(scratch: &Scratch, clock: Clock) -> Result<u64, IpcError> {
    let journal = Journal::open(JournalFiles::new(scratch.path(), scratch.path(), READ))?;
    let mut writer = journal.writer(0, clock)?;
    let mut sum = 0_u64;
    for number in 0..FRAMES {
        let word = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut payload = [7; BYTES];
        payload[..8].copy_from_slice(&word.to_le_bytes());
        writer.write(1, 0, &payload)?;
        sum = sum.wrapping_add(word);
    }
    Ok(sum)
}
