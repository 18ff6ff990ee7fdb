//! Many connections that wait, and a report to one of them; and as many notifications as go.

use std::time::{Duration, Instant};

use serde::Serialize;

use super::crowd::{Crowd, connect, upgrade};
use super::http::{Http, WATCHDOG, plain};
use super::order::{ends, report, subscribed};
use super::platform::{Platform, order};
use super::{BenchError, Size, percentile, rounded};

/// Who hears each report where notifications are counted.
const HEARERS: usize = 400;
/// Orders of a batch there, and batches on their way.
const BATCH: usize = 50;
const ON_THEIR_WAY: u64 = 4;

/// What came of it.
#[derive(Clone, Debug, Serialize)]
pub struct Private {
    /// WebSockets that are open; one of them is for the account that trades.
    pub connections: usize,
    /// Orders, one at a time: from before each is sent until its first report is read.
    pub samples: usize,
    /// Median.
    pub p50_us: f64,
    /// 99th percentile.
    pub p99_us: f64,
    /// WebSockets that were opened, with their handshakes.
    pub connections_per_s: f64,
    /// The gateway's memory for one that waits.
    pub websocket_bytes: f64,
    /// The same of one that has asked over HTTP and idles.
    pub http_bytes: f64,
    /// Those that hear every report where notifications are counted.
    pub hearers: usize,
    /// Reports that WebSockets have read, encoded once each.
    pub notifications_per_s: f64,
}

pub(super) fn measure(platform: &mut Platform, size: Size) -> Result<Private, BenchError> {
    let http_bytes = idle(platform, size)?;
    // What it has taken for others it would give to these: memory is that of a new gateway.
    platform.again()?;
    let before = platform.memory()?;
    let begin = Instant::now();
    let members = connect(platform.port, size.connections, Some(&upgrade(&platform.token)))?;
    let connections_per_s = size.connections as f64 / begin.elapsed().as_secs_f64();
    let mut crowd = Crowd::new(members)?;
    crowd.tell(r#"{"subscribe":[{"channel":"orders","accounts":[8]}]}"#)?;
    // Looks at clocks and tokens have come around.
    std::thread::sleep(Duration::from_millis(500));
    let memory = platform.memory()?.saturating_sub(before) as f64 / size.connections as f64;
    let mut socket = subscribed(platform)?;
    let mut http = Http::connect(platform.port)?;
    let request = platform.request("POST", "/v1/orders", &order(9, "ioc", r#","wait":"none""#));
    let mut times = Vec::new();
    for number in 0..size.private_orders + 50 {
        platform.goes_on()?;
        let sent = platform.clock.now();
        http.send(&request)?;
        let mut heard = 0;
        socket.until(|_, payload| {
            let (report, _) = report(payload)?;
            if heard == 0 {
                heard = platform.clock.now();
            }
            ends(&report).then_some(())
        })?;
        http.hear()?;
        if number >= 50 {
            times.push(heard.saturating_sub(sent) as f64 / 1e3);
        }
    }
    drop(crowd);
    let notifications = notifications(platform, size)?;
    Ok(Private {
        connections: size.connections,
        samples: times.len(),
        p50_us: rounded(percentile(times.clone(), 0.5), 1),
        p99_us: rounded(percentile(times, 0.99), 1),
        connections_per_s: connections_per_s.round(),
        websocket_bytes: memory.round(),
        http_bytes: http_bytes.round(),
        hearers: HEARERS,
        notifications_per_s: notifications.round(),
    })
}

/// Memory for a connection over HTTP that idles.
fn idle(platform: &mut Platform, size: Size) -> Result<f64, BenchError> {
    platform.again()?;
    let before = platform.memory()?;
    let mut idle = Vec::with_capacity(size.connections);
    for _ in 0..size.connections {
        let mut http = Http::connect(platform.port)?;
        http.ask(&plain("/health"))?;
        idle.push(http);
    }
    let grown = platform.memory()?.saturating_sub(before);
    Ok(grown as f64 / idle.len().max(1) as f64)
}

/// Batches of orders, of which every hearer hears every report.
fn notifications(platform: &Platform, size: Size) -> Result<f64, BenchError> {
    let mut crowd = Crowd::new(connect(platform.port, HEARERS, Some(&upgrade(&platform.token)))?)?;
    crowd.tell(r#"{"encoding":"binary","subscribe":[{"channel":"orders","accounts":[9]}]}"#)?;
    let orders = vec![order(9, "ioc", r#","wait":"none""#); BATCH].join(",");
    let request = platform.request("POST", "/v1/orders/batch", &format!(r#"{{"orders":[{orders}]}}"#));
    let mut http = Http::connect(platform.port)?;
    let (mut sent, mut heard, mut lasts) = (0_u64, 0_u64, 0_u64);
    let mut failed = None;
    let mut send = || {
        if let Err(error) = http.ask(&request) {
            failed = Some(error);
        }
    };
    for _ in 0..ON_THEIR_WAY {
        send();
        sent += 1;
    }
    let a_batch = (BATCH * HEARERS) as u64;
    let begin = Instant::now();
    let end = begin + size.span;
    let mut took = Duration::ZERO;
    crowd.hear(WATCHDOG, |_, code, payload| {
        if code != 2 {
            return true;
        }
        heard += 1;
        // The status of an update stands at a place of its own: decoding all would measure the client.
        lasts += u64::from(report(payload).is_some_and(|(report, _)| ends(&report)));
        if lasts % a_batch == 0 {
            took = begin.elapsed();
        }
        if lasts >= (sent - ON_THEIR_WAY + 1) * a_batch && Instant::now() < end {
            send();
            sent += 1;
        }
        lasts < sent * a_batch
    })?;
    match failed {
        Some(error) => Err(error.into()),
        None => Ok(heard as f64 / took.as_secs_f64()),
    }
}
