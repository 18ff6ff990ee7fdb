//! One quote to all: the gateway beside a loop with one write for each socket, block by block.

use std::time::Duration;

use serde::Serialize;

use super::crowd::{Crowd, connect, upgrade};
use super::http::{Http, WATCHDOG};
use super::peer::monotonic_ns;
use super::platform::{Peer, Platform};
use super::{BenchError, Size, percentile, rounded};

/// What came of it. Times count from the quote's frame in md's journal, or from before the loop's first write.
#[derive(Clone, Debug, Serialize)]
pub struct Broadcast {
    /// WebSockets that hear each quote.
    pub subscribers: usize,
    /// Quotes, and as many turns of the loop.
    pub rounds: usize,
    /// Bytes of a message.
    pub message_bytes: usize,
    /// When the first subscriber had it: median of the rounds, as the others.
    pub first_us: f64,
    /// When half of them had it.
    pub p50_us: f64,
    /// When 99 of 100 had it.
    pub p99_us: f64,
    /// When all had it.
    pub last_us: f64,
    /// Subscribers by the time until the last one had it.
    pub deliveries_per_s: f64,
    /// The loop's.
    pub bare_deliveries_per_s: f64,
    /// The gateway's deliveries a second by the loop's.
    pub ratio_to_bare_write: f64,
    /// The last one's time by the first one's.
    pub fairness: f64,
    /// The loop's.
    pub bare_fairness: f64,
}

/// Of each, one behind the other.
const BLOCKS: usize = 3;
/// The first rounds of a block are for caches.
const UNCOUNTED: usize = 2;

/// One round's: first, middle, 99 of 100, last, in microseconds.
#[derive(Clone, Copy, Debug)]
struct Arrivals([f64; 4]);

pub(super) fn measure(platform: &Platform, size: Size) -> Result<Broadcast, BenchError> {
    let (mut mine, mut its, mut bytes) = (Vec::new(), Vec::new(), 0);
    // In blocks: both crowds at once would be more files than a process may have open.
    for block in 0..BLOCKS {
        bytes = gateway(platform, size, block, &mut mine)?;
        bare(platform, size, bytes, &mut its)?;
    }
    let middle =
        |all: &[Arrivals], place: usize| percentile(all.iter().map(|one| one.0[place]).collect(), 0.5);
    let rate = |last: f64| size.subscribers as f64 / last * 1e6;
    let fairness = |all: &[Arrivals]| percentile(all.iter().map(|one| one.0[3] / one.0[0]).collect(), 0.5);
    Ok(Broadcast {
        subscribers: size.subscribers,
        rounds: mine.len(),
        message_bytes: bytes,
        first_us: rounded(middle(&mine, 0), 1),
        p50_us: rounded(middle(&mine, 1), 1),
        p99_us: rounded(middle(&mine, 2), 1),
        last_us: rounded(middle(&mine, 3), 1),
        deliveries_per_s: rate(middle(&mine, 3)).round(),
        bare_deliveries_per_s: rate(middle(&its, 3)).round(),
        ratio_to_bare_write: rounded(middle(&its, 3) / middle(&mine, 3), 3),
        fairness: rounded(fairness(&mine), 2),
        bare_fairness: rounded(fairness(&its), 2),
    })
}

/// Quotes through the gateway; how long a message was.
fn gateway(
    platform: &Platform,
    size: Size,
    block: usize,
    arrivals: &mut Vec<Arrivals>,
) -> Result<usize, BenchError> {
    let mut http = Http::connect(platform.port)?;
    let mut crowd = Crowd::new(connect(platform.port, size.subscribers, Some(&upgrade(&platform.token)))?)?;
    crowd.tell(r#"{"subscribe":[{"channel":"quotes","symbols":["SIM001"]}]}"#)?;
    crowd.drain()?;
    let mut bytes = 0;
    for round in 0..size.broadcast_rounds / BLOCKS + UNCOUNTED {
        platform.goes_on()?;
        // Each changes the book's best.
        let step = block * (size.broadcast_rounds / BLOCKS + UNCOUNTED) + round;
        let body = format!(
            r#"{{"account":9,"symbol":"SIM001","side":"buy","quantity":1,"price":"{}.{:02}","wait":"none"}}"#,
            92 + step / 100,
            step % 100
        );
        if http.ask(&platform.request("POST", "/v1/orders", &body))? != 202 {
            return Err(BenchError::Failed("an order that moves the book was refused".to_owned()));
        }
        let one = hear(&mut crowd, &|| platform.clock.now(), |payload| {
            bytes = payload.len();
            let text = std::str::from_utf8(payload).ok()?;
            let digits = text.split("\"time_ns\":").nth(1)?;
            digits.split(|end: char| !end.is_ascii_digit()).next()?.parse().ok()
        })?;
        crowd.drain()?;
        if round >= UNCOUNTED {
            arrivals.push(one);
        }
    }
    if block + 1 == BLOCKS {
        http.ask(&platform.request("DELETE", "/v1/orders?account=9", ""))?;
    }
    Ok(bytes)
}

/// The same number of bytes by a loop.
fn bare(
    platform: &Platform,
    size: Size,
    bytes: usize,
    arrivals: &mut Vec<Arrivals>,
) -> Result<(), BenchError> {
    let mut peer = Peer::start("write")?;
    peer.tell(&format!("accept {}", size.subscribers))?;
    let mut crowd = Crowd::new(connect(peer.port, size.subscribers, None)?)?;
    peer.hear()?;
    for round in 0..size.broadcast_rounds / BLOCKS + UNCOUNTED {
        platform.goes_on()?;
        peer.tell(&format!("write {bytes}"))?;
        let one = hear(&mut crowd, &monotonic_ns, |payload| {
            Some(u64::from_le_bytes(payload.get(..8)?.try_into().ok()?))
        })?;
        peer.hear()?;
        if round >= UNCOUNTED {
            arrivals.push(one);
        }
    }
    Ok(())
}

/// When a message came to each.
fn hear(
    crowd: &mut Crowd,
    now: &dyn Fn() -> u64,
    mut sent: impl FnMut(&[u8]) -> Option<u64>,
) -> Result<Arrivals, BenchError> {
    let count = crowd.members.len();
    let (mut begin, mut times, mut has) = (None, Vec::with_capacity(count), vec![false; count]);
    crowd.hear(WATCHDOG, |number, code, payload| {
        if matches!(code, 1 | 2) && !std::mem::replace(&mut has[number], true) {
            times.push(now());
            if begin.is_none() {
                begin = sent(payload);
            }
        }
        times.len() < count
    })?;
    let begin = begin.ok_or_else(|| BenchError::Failed("a message has no time".to_owned()))?;
    let at = |place: usize| times.get(place).map_or(0.0, |time| time.saturating_sub(begin) as f64 / 1e3);
    std::thread::sleep(Duration::from_millis(5));
    Ok(Arrivals([at(0), at(count / 2), at(count * 99 / 100), at(count - 1)]))
}
