//! Rust's program of the protocol.

use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::str::SplitWhitespace;
use std::sync::Arc;
use std::time::{Duration, Instant};

use journal::wait::{Parker, SAFETY_TIMEOUT, announce};
use journal::{Journal, JournalFiles, Registry};
use nix::time::{ClockId, clock_gettime};

use crate::ipc::{IpcError, system};

/// Most frames of a batch.
const BATCH: usize = 64;
/// Longest that a sleeper waits for a message.
const PATIENCE: Duration = Duration::from_secs(20);

/// The system's monotonic clock, which every language has.
pub(super) fn monotonic() -> u64 {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC).map(Duration::from);
    now.map_or(0, |now| now.as_nanos() as u64)
}

/// Does what it is told, until it is told to quit or its input ends.
///
/// # Errors
/// Its output cannot be written.
pub fn run_peer(input: impl BufRead, mut output: impl Write) -> Result<(), IpcError> {
    for line in input.lines().map_while(Result::ok) {
        if line == "quit" {
            break;
        }
        let end = match command(&line, &mut output) {
            Ok(words) => format!("ok {words}\n"),
            Err(error) => format!("error {}\n", error.to_string().replace('\n', " ")),
        };
        output.write_all(end.as_bytes()).and_then(|()| output.flush()).map_err(system("answer"))?;
    }
    Ok(())
}

/// The words of a command.
struct Words<'a>(SplitWhitespace<'a>);

impl Words<'_> {
    fn text(&mut self) -> Result<String, IpcError> {
        self.0.next().map(str::to_owned).ok_or_else(|| IpcError::Language("a word is missing".to_owned()))
    }

    fn number(&mut self) -> Result<u64, IpcError> {
        let word = self.text()?;
        word.parse().map_err(|_| IpcError::Language(format!("`{word}` is no number")))
    }

    fn journal(&mut self) -> Result<Journal, IpcError> {
        let folder = PathBuf::from(self.text()?);
        Ok(Journal::open(JournalFiles::new(&folder, &folder, self.text()?.as_str()))?)
    }
}

fn command(line: &str, output: &mut impl Write) -> Result<String, IpcError> {
    let mut words = Words(line.split_whitespace());
    match words.text()?.as_str() {
        "hello" => Ok("rust 1 read batch write wake".to_owned()),
        "read" => read(&words.journal()?, words.number()?, false),
        "batch" => read(&words.journal()?, words.number()?, true),
        "write" => write(&mut words),
        "wake" => wake(&mut words, output),
        other => Err(IpcError::Language(format!("there is no command `{other}`"))),
    }
}

fn first_word(payload: &[u8]) -> u64 {
    payload.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

fn read(journal: &Journal, rounds: u64, in_batches: bool) -> Result<String, IpcError> {
    let (mut frames, mut sum, mut time) = (0_u64, 0_u64, Duration::ZERO);
    for _ in 0..rounds {
        let mut reader = journal.observe(journal.first_position())?;
        let begin = Instant::now();
        if in_batches {
            while reader.read_batch(BATCH, |frame| {
                frames += 1;
                sum = sum.wrapping_add(first_word(frame.payload));
            })? > 0
            {}
        } else {
            while let Some(frame) = reader.read()? {
                frames += 1;
                sum = sum.wrapping_add(first_word(frame.payload));
            }
        }
        time += begin.elapsed();
    }
    Ok(format!("{frames} {} {sum} -", time.as_nanos()))
}

fn write(words: &mut Words<'_>) -> Result<String, IpcError> {
    let journal = words.journal()?;
    let path = PathBuf::from(words.text()?);
    let (count, bytes) = (words.number()?, words.number()?);
    let registry = Arc::new(Registry::open(&path)?);
    let mut writer = journal.writer(0, registry.clock(&path)?)?;
    writer.wake_through(registry);
    let payload = vec![7; bytes as usize];
    let begin = Instant::now();
    for _ in 0..count {
        writer.write(1, 0, &payload)?;
    }
    Ok(format!("{count} {} -", begin.elapsed().as_nanos()))
}

fn wake(words: &mut Words<'_>, output: &mut impl Write) -> Result<String, IpcError> {
    let journal = words.journal()?;
    let registry = Arc::new(Registry::open(&PathBuf::from(words.text()?))?);
    let (seat, count) = (words.number()? as u32, words.number()?);
    let parker = Parker::new(Arc::clone(&registry), seat)
        .ok_or_else(|| IpcError::Language(format!("there is no seat {seat}")))?;
    let mut reader = journal.loose_at(seat, journal.head())?;
    journal.set_interest(seat, None)?;
    announce(&registry);
    output.write_all(b"ready\n").and_then(|()| output.flush()).map_err(system("answer"))?;
    let mut times = Vec::with_capacity(count as usize);
    let mut last = Instant::now();
    while (times.len() as u64) < count {
        match reader.read()? {
            Some(frame) => {
                times.push(monotonic().saturating_sub(first_word(frame.payload)).to_string());
                last = Instant::now();
            }
            None if last.elapsed() > PATIENCE => {
                return Err(IpcError::Language("no message came".to_owned()));
            }
            None => {
                parker.park(SAFETY_TIMEOUT, || reader.has_news());
            }
        }
    }
    // Nobody is to be woken any more.
    journal.set_interest(seat, Some(&[]))?;
    Ok(times.join(" "))
}
