//! `/health` beside a loop that has nothing but hyper: in turns.

use std::time::Duration;

use bench_kit::Spread;
use serde::Serialize;

use super::http::{load, plain};
use super::platform::{Peer, Platform};
use super::{BenchError, Size, rounded};

/// As wrk has them.
const CONNECTIONS: usize = 360;

/// What came of it.
#[derive(Clone, Debug, Serialize)]
pub struct Hello {
    /// Connections, each of which asks again when it has its answer.
    pub connections: usize,
    /// Turns of both.
    pub rounds: usize,
    /// The gateway's answers: median.
    pub requests_per_s: f64,
    /// The bare loop's.
    pub bare_requests_per_s: f64,
    /// The gateway's by the bare loop's of the same turn: median.
    pub ratio_to_bare_hyper: f64,
    /// The gateway's answers that were no good ones.
    pub failed: u64,
}

pub(super) fn measure(platform: &Platform, size: Size) -> Result<Hello, BenchError> {
    let peer = Peer::start("hyper")?;
    let request = plain("/health");
    let (mut mine, mut bare, mut ratios, mut failed) = (Vec::new(), Vec::new(), Vec::new(), 0);
    let (warm, span) = (Duration::from_millis(200), Duration::from_millis(800));
    let one = |port| load(port, CONNECTIONS, &request, warm, span);
    for round in 0..size.hello_rounds {
        platform.goes_on()?;
        // Whoever is first in one turn is second in the next.
        let (first, second) =
            if round % 2 == 0 { (platform.port, peer.port) } else { (peer.port, platform.port) };
        let (one, other) = (one(first)?, one(second)?);
        let (gateway, hyper) = if round % 2 == 0 { (one, other) } else { (other, one) };
        failed += gateway.refused;
        ratios.push(gateway.per_s / hyper.per_s);
        mine.push(gateway.per_s);
        bare.push(hyper.per_s);
    }
    let median = |figures: Vec<f64>| Spread::of(figures).map_or(0.0, |spread| spread.median);
    Ok(Hello {
        connections: CONNECTIONS,
        rounds: size.hello_rounds,
        requests_per_s: median(mine).round(),
        bare_requests_per_s: median(bare).round(),
        ratio_to_bare_hyper: rounded(median(ratios), 3),
        failed,
    })
}
