//! Deaths: the driver kills a process, waits, and reads from the board what the others observed.

use std::time::{Duration, Instant};

use rand::Rng as _;
use serde::Serialize;

use super::Plan;
use super::block::{Folder, Peers, task};
use crate::board::{Board, word};
use crate::error::CompareError;
use crate::place::now;
use crate::rival::Facts;
use crate::task::Work;

/// Bytes of the messages.
const PAYLOAD: usize = 128;
/// Time limit for the first message.
const START: Duration = Duration::from_secs(30);

/// Writers were killed while a reader stayed attached.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct WriterDeaths {
    /// The rival.
    pub(crate) rival: &'static str,
    /// Writers that were killed while they wrote.
    pub(crate) kills: usize,
    /// New writers from which the attached reader received messages.
    pub(crate) heard: usize,
    /// From when the new writer began to open until the reader had its first message: median, in milliseconds.
    pub(crate) median_ms: Option<f64>,
    /// The longest.
    pub(crate) longest_ms: Option<f64>,
    /// How long was waited before a writer counted as never received, in seconds.
    pub(crate) patience_s: u64,
    /// Messages whose bytes were not all from one message.
    pub(crate) torn: u64,
    /// Places where messages of one writer were missing.
    pub(crate) gaps: u64,
    /// The message of a new writer or the reader that gave up.
    pub(crate) said: Option<String>,
}

/// One of two readers was killed.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ReaderDeath {
    /// The rival.
    pub(crate) rival: &'static str,
    /// The other reader's longest silence since, in milliseconds.
    pub(crate) silence_ms: Option<f64>,
    /// True when it received nothing more within the waiting time.
    pub(crate) for_ever: bool,
    /// The waiting time, in seconds.
    pub(crate) patience_s: u64,
    /// Any other failure.
    pub(crate) said: Option<String>,
}

/// Both kinds, for all rivals whose processes can be killed.
pub(crate) fn measure(plan: &Plan) -> Result<(Vec<WriterDeaths>, Vec<ReaderDeath>), CompareError> {
    let (mut writers, mut readers) = (Vec::new(), Vec::new());
    for facts in plan.rivals.iter().filter(|facts| facts.can.die) {
        eprintln!("deaths: {}", facts.name);
        writers.push(writer_dies(plan, facts)?);
        // A channel that fills up stops by itself.
        if facts.can.fan_out && facts.can.lossless && facts.can.endless {
            readers.push(reader_dies(plan, facts)?);
        }
    }
    Ok((writers, readers))
}

fn wait(limit: Duration, mut until: impl FnMut() -> bool) -> bool {
    let begin = Instant::now();
    while !until() {
        if begin.elapsed() > limit {
            return false;
        }
        std::thread::sleep(Duration::from_micros(500));
    }
    true
}

fn writer_dies(plan: &Plan, facts: &Facts) -> Result<WriterDeaths, CompareError> {
    let room = Folder::new()?;
    let board = Board::create(room.path(), 2)?;
    let mut peers = Peers::default();
    let mut told = task(facts, Work::WriterDies, PAYLOAD, room.path(), &plan.cpus);
    peers.start(0, &told)?;
    let mut result = WriterDeaths {
        rival: facts.name,
        kills: 0,
        heard: 0,
        median_ms: None,
        longest_ms: None,
        patience_s: plan.patience_s,
        torn: 0,
        gaps: 0,
        said: None,
    };
    let ready = wait(START, || board.get(0, word::STEP) == 2 || peers.ended(0).is_some());
    if !ready || board.get(0, word::STEP) != 2 {
        result.said = peers.kill(0).or(Some("the reader did not start".to_owned()));
        return Ok(result);
    }
    let mut times = Vec::new();
    let patience = Duration::from_secs(plan.patience_s);
    for generation in 1..=plan.kills as u64 + 1 {
        told.generation = generation;
        peers.start(1, &told)?;
        // After two writers that were never received, the patience is reduced.
        let unheard =
            generation.saturating_sub(2) as usize - result.heard.min(generation.saturating_sub(2) as usize);
        let limit = match (generation, unheard) {
            (1, _) => START,
            (_, 0..=1) => patience,
            _ => Duration::from_secs(1),
        };
        let mut gone = None;
        let heard = wait(limit, || {
            gone = peers.ended(1);
            gone.is_some() || board.get(0, word::GENERATION) == generation
        }) && gone.is_none();
        if let Some(last_words) = gone.or_else(|| peers.ended(0)) {
            result.said.get_or_insert(last_words);
        }
        if generation == 1 && !heard {
            result.said.get_or_insert("the first writer was not heard".to_owned());
            return Ok(result);
        }
        if generation > 1 && heard {
            result.heard += 1;
            times.push(board.get(0, word::HEARD).saturating_sub(board.get(1, word::BEGUN)) as f64 / 1e6);
        }
        if generation <= plan.kills as u64 {
            // At a random moment of its writing.
            std::thread::sleep(Duration::from_micros(rand::rng().random_range(5_000..15_000)));
            result.kills += 1;
        }
        if let Some(last_words) = peers.kill(1) {
            result.said.get_or_insert(last_words);
        }
    }
    result.torn = board.get(0, word::TORN);
    result.gaps = board.get(0, word::GAPS);
    times.sort_by(f64::total_cmp);
    result.median_ms = times.get(times.len() / 2).copied();
    result.longest_ms = times.last().copied();
    Ok(result)
}

fn reader_dies(plan: &Plan, facts: &Facts) -> Result<ReaderDeath, CompareError> {
    let room = Folder::new()?;
    let board = Board::create(room.path(), 3)?;
    let mut peers = Peers::default();
    let told = task(facts, Work::ReaderDies, PAYLOAD, room.path(), &plan.cpus);
    for role in 0..3 {
        peers.start(role, &told)?;
    }
    let mut result = ReaderDeath {
        rival: facts.name,
        silence_ms: None,
        for_ever: false,
        patience_s: plan.patience_s,
        said: None,
    };
    let flows = || (1..=2).all(|role| board.get(role, word::COUNT) > 1_000);
    if !wait(START, || flows() || (0..3).any(|role| peers.ended(role).is_some())) || !flows() {
        result.said = (0..3).find_map(|role| peers.ended(role)).or(Some("nothing flowed".to_owned()));
        return Ok(result);
    }
    std::thread::sleep(Duration::from_millis(50));
    board.set(word::KILLED, now());
    peers.kill(2);
    let killed = Instant::now();
    loop {
        std::thread::sleep(Duration::from_millis(10));
        let quiet = now().saturating_sub(board.get(1, word::LAST));
        let silence = board.get(1, word::SILENCE);
        // Messages flow again, or never stopped.
        if killed.elapsed() > Duration::from_millis(1_500) && quiet < 100_000_000 {
            result.silence_ms = Some(silence as f64 / 1e6);
            return Ok(result);
        }
        if let Some(last_words) = (0..2).find_map(|role| peers.ended(role)) {
            result.said = Some(last_words);
            return Ok(result);
        }
        if killed.elapsed() > Duration::from_secs(plan.patience_s) {
            result.for_ever = true;
            result.said = peers.last_words(0);
            result.silence_ms = Some(quiet as f64 / 1e6);
            return Ok(result);
        }
    }
}
