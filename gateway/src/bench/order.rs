//! Orders over HTTP: how many a second, and how long until the client hears of its own.

use std::collections::HashMap;
use std::net::TcpStream;
use std::time::Duration;

use journal::Journal;
use serde::Serialize;
use wire::{Execution, Message, NewOrder, OrderId, OrderStatus};

use super::crowd::{Member, connect, upgrade};
use super::http::{Http, WATCHDOG, load};
use super::platform::{Peer, Platform, order};
use super::{BenchError, Size, percentile, rounded};

/// Connections that send orders.
const CONNECTIONS: usize = 64;
/// Orders, and echoes, of a turn.
const TURN: usize = 50;

/// What came of it.
#[derive(Clone, Debug, Serialize)]
pub struct Orders {
    /// Connections, each of which sends the next order when td has answered the last.
    pub connections: usize,
    /// Orders that td answered.
    pub requests_per_s: f64,
    /// By the rate of `hello`; null where that was not measured.
    pub ratio_to_hello: Option<f64>,
    /// An order's answer under this load.
    pub answer_p50_us: f64,
    /// The same.
    pub answer_p99_us: f64,
    /// Orders that were refused: must be 0.
    pub failed: u64,
    /// One client, one order at a time: from before it is sent until its first report is read from the WebSocket.
    pub samples: usize,
    /// Median.
    pub notification_p50_us: f64,
    /// 99th percentile.
    pub notification_p99_us: f64,
    /// As many bytes there and back over a bare socket, in turns with the orders.
    pub echo_p50_us: f64,
    /// 99th percentile.
    pub echo_p99_us: f64,
    /// The difference of the medians.
    pub above_echo_us: f64,
    /// Where the time goes: medians.
    pub stages: Stages,
}

/// Parts of an order's way, by the times in the journals.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Stages {
    /// From the client to the frame in `orders.gateway`.
    pub http_in_us: f64,
    /// From there to the frame in `td.orders`.
    pub td_us: f64,
    /// From there to the frame in `matching.executions`.
    pub matching_us: f64,
    /// From there to the frame in `reports.gateway`.
    pub report_us: f64,
    /// From there until the client has read it.
    pub out_us: f64,
}

#[derive(Clone, Copy, Debug)]
struct Sample {
    order: OrderId,
    sent: u64,
    reported: u64,
    heard: u64,
}

pub(super) fn measure(platform: &Platform, size: Size, hello: Option<f64>) -> Result<Orders, BenchError> {
    let request = platform.request("POST", "/v1/orders", &order(9, "ioc", ""));
    let loaded = load(platform.port, CONNECTIONS, &request, Duration::from_millis(300), size.span)?;
    let journals = ["orders.gateway", "td.orders", "matching.executions"];
    let mut readers = Vec::new();
    for name in journals {
        let failed =
            |error: &dyn std::fmt::Display| BenchError::Failed(format!("the journal `{name}`: {error}"));
        let journal =
            Journal::open_read_only(platform.instance.find_journal(name)).map_err(|error| failed(&error))?;
        readers.push(journal.observe(journal.head()).map_err(|error| failed(&error))?);
    }
    let (samples, echoes) = turns(platform, size)?;
    // By order: its first frame in each of the three.
    let mut times: HashMap<OrderId, [u64; 3]> = HashMap::new();
    for (place, reader) in readers.iter_mut().enumerate() {
        while let Ok(Some(frame)) = reader.read() {
            let order = match frame.message_id {
                NewOrder::ID => NewOrder::decode(frame.payload).map(|order| order.order_id),
                id => Execution::decode(id, frame.payload).map(|report| report.order_id()),
            };
            let Ok(order) = order else { continue };
            let times = times.entry(order).or_default();
            if times[place] == 0 {
                times[place] = frame.time;
            }
        }
    }
    let mut parts: [Vec<f64>; 5] = Default::default();
    for sample in &samples {
        let Some([order, td, matched]) = times.get(&sample.order) else { continue };
        let ends = [sample.sent, *order, *td, *matched, sample.reported, sample.heard];
        if ends.contains(&0) {
            continue;
        }
        for (part, pair) in parts.iter_mut().zip(ends.windows(2)) {
            part.push(pair[1].saturating_sub(pair[0]) as f64 / 1e3);
        }
    }
    let [http_in, td, matched, report, out] = parts.map(|part| rounded(percentile(part, 0.5), 1));
    let whole: Vec<f64> =
        samples.iter().map(|sample| sample.heard.saturating_sub(sample.sent) as f64 / 1e3).collect();
    let (notification, echo) = (percentile(whole.clone(), 0.5), percentile(echoes.clone(), 0.5));
    Ok(Orders {
        connections: CONNECTIONS,
        requests_per_s: loaded.per_s.round(),
        ratio_to_hello: hello.map(|hello| rounded(loaded.per_s / hello, 3)),
        answer_p50_us: rounded(percentile(loaded.times.clone(), 0.5), 1),
        answer_p99_us: rounded(percentile(loaded.times, 0.99), 1),
        failed: loaded.refused,
        samples: samples.len(),
        notification_p50_us: rounded(notification, 1),
        notification_p99_us: rounded(percentile(whole, 0.99), 1),
        echo_p50_us: rounded(echo, 1),
        echo_p99_us: rounded(percentile(echoes, 0.99), 1),
        above_echo_us: rounded(notification - echo, 1),
        stages: Stages {
            http_in_us: http_in,
            td_us: td,
            matching_us: matched,
            report_us: report,
            out_us: out,
        },
    })
}

/// Orders and echoes, block by block.
fn turns(platform: &Platform, size: Size) -> Result<(Vec<Sample>, Vec<f64>), BenchError> {
    let peer = Peer::start("echo")?;
    let mut bare = TcpStream::connect(("127.0.0.1", peer.port))?;
    bare.set_nodelay(true)?;
    bare.set_read_timeout(Some(WATCHDOG))?;
    let mut http = Http::connect(platform.port)?;
    let mut socket = subscribed(platform)?;
    // Its answer does not wait for td, so it is not in the way of the report.
    let request = platform.request("POST", "/v1/orders", &order(9, "ioc", r#","wait":"none""#));
    let (mut samples, mut echoes) = (Vec::new(), Vec::new());
    let mut back = vec![0; request.len()];
    for turn in 0..size.order_turns + 1 {
        platform.goes_on()?;
        for _ in 0..TURN {
            let sent = platform.clock.now();
            http.send(&request)?;
            let (mut first, mut heard) = (None, 0);
            // Its first report, and its end.
            socket.until(|_, payload| {
                let (report, time) = report(payload)?;
                if first.is_none() {
                    (first, heard) = (Some((report.order_id(), time)), platform.clock.now());
                }
                ends(&report).then_some(())
            })?;
            if http.hear()? != 202 {
                return Err(BenchError::Failed("an order was refused".to_owned()));
            }
            // The first turn is for caches.
            if let Some((order, reported)) = first.filter(|_| turn > 0) {
                samples.push(Sample { order, sent, reported, heard });
            }
        }
        for _ in 0..TURN {
            use std::io::{Read, Write};
            let sent = platform.clock.now();
            bare.write_all(&request)?;
            bare.read_exact(&mut back)?;
            if turn > 0 {
                echoes.push(platform.clock.now().saturating_sub(sent) as f64 / 1e3);
            }
        }
    }
    Ok((samples, echoes))
}

/// A WebSocket that hears of the orders of account 9, in the wire's encoding.
pub(super) fn subscribed(platform: &Platform) -> Result<Member, BenchError> {
    let mut all = connect(platform.port, 1, Some(&upgrade(&platform.token)))?;
    let mut socket = all.pop().ok_or_else(|| BenchError::Failed("no WebSocket".to_owned()))?;
    socket.say(r#"{"encoding":"binary","subscribe":[{"channel":"orders","accounts":[9]}]}"#)?;
    socket.until(|code, _| (code == 1).then_some(()))?;
    Ok(socket)
}

/// The report in a binary message, and the time of its frame.
pub(super) fn report(payload: &[u8]) -> Option<(Execution, u64)> {
    let id = u16::from_le_bytes(payload.get(2..4)?.try_into().ok()?);
    let time = u64::from_le_bytes(payload.get(16..24)?.try_into().ok()?);
    Some((Execution::decode(id, payload.get(24..)?).ok()?, time))
}

/// Is this the last word about an order that cannot trade?
pub(super) fn ends(report: &Execution) -> bool {
    matches!(report, Execution::Update(update)
        if matches!(update.status, OrderStatus::Cancelled | OrderStatus::Rejected | OrderStatus::Filled))
}
