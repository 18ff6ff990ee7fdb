//! Clients resume at any moment of any gateway's life, read as they like, the gateway's reader is lapped, and the platform is recovered
//! with fewer reports than a client has: each client receives every order of its accounts once or in a gap, and never a sequence that is
//! not above the last. After a reset that holds for all reports of the recovered platform.

use std::collections::BTreeMap;
use std::io::Read;
use std::os::unix::net::UnixStream;

use gateway_tokens::{Role, Token};
use tokio::sync::Semaphore;

use super::*;
use crate::push::event::About;
use crate::push::frame::Incoming;
use crate::push::mailbox::{NewSocket, Permit, Positions, Socket};

/// Numbers from a seed.
struct Dice(u64);

impl Dice {
    fn between(&mut self, from: usize, to: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        from + (self.0 >> 33) as usize % (to - from)
    }
}

/// A line of the reports' journal.
#[derive(Clone, Copy)]
struct Report {
    sequence: u64,
    account: u32,
    /// No other report has it, whatever was recovered.
    id: u64,
}

/// The journal of reports, of which a ring holds the latest.
struct Journal {
    positions: Positions,
    reports: Vec<Report>,
    head: u64,
    /// Reports that were ever written.
    count: u64,
}

impl Journal {
    fn new() -> Journal {
        let positions = Positions { created: 7, incarnation: 1 };
        Journal { positions, reports: Vec::new(), head: 4_096, count: 0 }
    }

    fn write(&mut self, dice: &mut Dice) {
        let (sequence, account) = (self.head, dice.between(1, 3) as u32);
        self.count += 1;
        self.reports.push(Report { sequence, account, id: self.count });
        self.head += 64 * dice.between(1, 4) as u64;
    }

    /// A power cut, and a recovery: the disk does not have the latest reports. Their sequences are used again.
    fn is_recovered(&mut self, dice: &mut Dice) {
        let lost = dice.between(0, self.reports.len().min(40) + 1);
        self.reports.truncate(self.reports.len() - lost);
        self.head = self.reports.last().map_or(4_096, |last| last.sequence + 64);
        self.positions.created += 1;
        self.positions.incarnation += 1;
    }
}

/// A gateway: a reader of the journal, a thread that pushes, and its client.
struct Gateway {
    history: History,
    known: Known,
    positions: Positions,
    /// The next report to read, by its index.
    next: usize,
    client: Option<Client>,
}

impl Gateway {
    /// Reads from the oldest report that the ring holds.
    fn begin(journal: &Journal, dice: &mut Dice) -> Gateway {
        let mut gateway = Gateway::of_all(journal, dice.between(8, 64));
        let cut = journal.reports.len().saturating_sub(dice.between(1, 200));
        if cut > 0 {
            gateway.is_lapped(journal, cut, 0);
        }
        gateway
    }

    /// Reads from the first report on, and keeps as many.
    fn of_all(journal: &Journal, most: usize) -> Gateway {
        let (history, known) = (History { most, ..History::default() }, Known::default());
        known.begins(journal.positions, journal.head.saturating_sub(1));
        Gateway { history, known, positions: journal.positions, next: 0, client: None }
    }

    /// The reports before this one are overwritten.
    fn is_lapped(&mut self, journal: &Journal, next: usize, from: u64) {
        let to = journal.reports.get(next).map_or(journal.head, |report| report.sequence) - 1;
        self.history.lost(to);
        if let Some(client) = &mut self.client {
            client.lost(Lost { channel: Channel::Orders, from, to });
        }
        self.next = next;
        self.known.grows(to);
    }

    /// Reads one report. False: the client is let go.
    fn read(&mut self, journal: &Journal) -> bool {
        let Some(report) = journal.reports.get(self.next) else { return true };
        self.next += 1;
        self.known.grows(report.sequence);
        let Report { sequence, account, id } = *report;
        let about = About::Node(String::new());
        let mut payload = [0; 40];
        payload[..8].copy_from_slice(&id.to_le_bytes());
        let event = Arc::new(Event::new(Channel::Orders, account, sequence, 0, 1, &payload, about));
        let pushed = match &mut self.client {
            Some(client) if client.wants(Channel::Orders, account) => client.push(&event, Instant::now()),
            _ => Ok(()),
        };
        self.history.add(event);
        pushed.is_ok() && self.write()
    }

    fn write(&mut self) -> bool {
        let Some(client) = &mut self.client else { return true };
        let written = client.write(Instant::now());
        written.and_then(|()| self.history.catch_up(client, Instant::now())).is_ok()
    }

    /// A client comes, and resumes behind what it has.
    fn arrives(&mut self, received: Option<&Received>, accounts: &[u32]) -> UnixStream {
        let (ours, theirs) = UnixStream::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        theirs.set_nonblocking(true).unwrap();
        let permit = Arc::new(Semaphore::new(1)).try_acquire_owned().unwrap();
        let token = Token {
            id: "0123456789abcdef".into(),
            name: "t".into(),
            role: Role::Trader,
            accounts: None,
            created: 0,
            expires: None,
            sha256: String::new(),
            signing_key: None,
            revoked: false,
        };
        let socket = Socket::Unix(ours);
        socket.limit(4 << 10);
        let new =
            NewSocket { socket, early: Vec::new(), token: Arc::new(token), permit: Permit::new(permit) };
        let mut client = Client::new(new, self.positions, 2_048, Instant::now());
        let from = received.map_or(String::new(), |received| {
            format!(r#","from":{},"stream":"{}""#, received.last, received.stream)
        });
        let text = format!(
            r#"{{"encoding":"binary","subscribe":[{{"channel":"orders","accounts":{accounts:?}{from}}}]}}"#
        );
        let mut wishes = Vec::new();
        assert!(client.hear(Incoming::Text(text), &Default::default(), &mut wishes).is_ok());
        assert_eq!(wishes.len(), 1);
        for wish in &wishes {
            assert!(self.history.begins(&mut client, wish, &self.known).is_ok());
        }
        self.client = Some(client);
        theirs
    }
}

/// What a client has received, over all of its connections.
#[derive(Default)]
struct Received {
    bytes: Vec<u8>,
    stream: String,
    last: u64,
    /// Ids of the reports, by their sequences.
    orders: BTreeMap<u64, u64>,
    gaps: Vec<(u64, u64)>,
    resets: u64,
}

impl Received {
    fn receive(&mut self, socket: &mut UnixStream) {
        let mut buffer = [0; 4_096];
        while let Ok(count @ 1..) = socket.read(&mut buffer) {
            self.bytes.extend_from_slice(&buffer[..count]);
        }
        while let Some((kind, payload, size)) = frame(&self.bytes) {
            match kind {
                2 => {
                    let sequence = u64::from_le_bytes(payload[8..16].try_into().unwrap());
                    assert!(sequence > self.last, "{sequence} behind {}", self.last);
                    self.last = sequence;
                    self.orders.insert(sequence, u64::from_le_bytes(payload[24..32].try_into().unwrap()));
                }
                1 => {
                    let text: serde_json::Value = serde_json::from_slice(&payload).unwrap();
                    if let Some(gap) = text.get("gap") {
                        let (from, to) = (gap["from"].as_u64().unwrap(), gap["to"].as_u64().unwrap());
                        assert!(
                            from > self.last && to >= from,
                            "a gap of {from} to {to} behind {}",
                            self.last
                        );
                        self.last = to;
                        self.gaps.push((from, to));
                    } else if let Some(reset) = text.get("reset") {
                        assert_eq!(reset["channel"], "orders");
                        // What it has is of another stream.
                        self.stream = reset["stream"].as_str().unwrap().to_owned();
                        self.last = 0;
                        self.orders.clear();
                        self.gaps.clear();
                        self.resets += 1;
                    } else if self.stream.is_empty() {
                        self.stream = text["stream"].as_str().unwrap().to_owned();
                    }
                }
                _ => {}
            }
            self.bytes.drain(..size);
        }
    }
}

/// A frame of the gateway's: its kind, its payload, its bytes in all.
fn frame(bytes: &[u8]) -> Option<(u8, Vec<u8>, usize)> {
    let (kind, short) = (bytes.first()? & 15, usize::from(*bytes.get(1)?));
    let (length, head) = match short {
        126 => (usize::from(u16::from_be_bytes([*bytes.get(2)?, *bytes.get(3)?])), 4),
        length => (length, 2),
    };
    Some((kind, bytes.get(head..head + length)?.to_vec(), head + length))
}

#[test]
fn each_order_is_delivered_once_or_lies_in_a_gap_and_sequences_ascend() {
    let seeds = std::env::var("COLO_RESUMES").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(300);
    let (mut delivered, mut missed, mut successors, mut resets) = (0, 0, 0, 0);
    for seed in 0..seeds {
        let mut dice = Dice(seed);
        let mut journal = Journal::new();
        (0..dice.between(0, 300)).for_each(|_| journal.write(&mut dice));
        let mut gateway = Gateway::begin(&journal, &mut dice);
        let accounts: &[u32] = if dice.between(0, 2) == 0 { &[1] } else { &[1, 2] };
        // It has had nothing: the first report that it wants is the next to come.
        let begun = journal.head - 1;
        let mut received = Received { last: begun, ..Received::default() };
        let mut socket = gateway.arrives(None, accounts);
        gateway.write();
        received.receive(&mut socket);
        for _ in 0..400 {
            let stays = match dice.between(0, 100) {
                0..30 => {
                    journal.write(&mut dice);
                    true
                }
                30..70 => gateway.read(&journal),
                70..90 => {
                    received.receive(&mut socket);
                    gateway.write()
                }
                90..93 => {
                    (0..60).for_each(|_| journal.write(&mut dice));
                    true
                }
                93..95 => {
                    let (next, behind) = (gateway.next, journal.reports.len() - gateway.next);
                    if behind > 0 {
                        let from = journal.reports[next].sequence;
                        gateway.is_lapped(&journal, next + dice.between(0, behind) + 1, from);
                    }
                    true
                }
                // The client's connection breaks.
                95..97 => false,
                // The gateway dies, or all processes and the host's memory with them.
                which => {
                    successors += 1;
                    if which == 99 {
                        journal.is_recovered(&mut dice);
                        (0..dice.between(0, 60)).for_each(|_| journal.write(&mut dice));
                    }
                    received.receive(&mut socket);
                    gateway = Gateway::begin(&journal, &mut dice);
                    received.bytes.clear();
                    socket = gateway.arrives(Some(&received), accounts);
                    gateway.write()
                }
            };
            if !stays {
                received.receive(&mut socket);
                received.bytes.clear();
                socket = gateway.arrives(Some(&received), accounts);
            }
        }
        // In the end it reads all that comes.
        for _ in 0..4_000 {
            let stays = gateway.read(&journal) && gateway.write();
            received.receive(&mut socket);
            if !stays {
                received.bytes.clear();
                socket = gateway.arrives(Some(&received), accounts);
            }
        }
        received.receive(&mut socket);
        assert_eq!(received.stream, journal.positions.to_string(), "seed {seed}");
        // A reset also brings the reports from before the client came.
        let begun = if received.resets > 0 { 0 } else { begun };
        resets += received.resets;
        for report in journal.reports.iter().filter(|report| report.sequence > begun) {
            let in_gap = received.gaps.iter().any(|(from, to)| (*from..=*to).contains(&report.sequence));
            let id = received.orders.get(&report.sequence);
            assert!(
                id.is_none_or(|id| *id == report.id),
                "seed {seed}: another report at {}",
                report.sequence
            );
            let is_delivered = id.is_some();
            let is_wanted = accounts.contains(&report.account);
            assert!(!(is_delivered && in_gap), "seed {seed}: {} is delivered and in a gap", report.sequence);
            assert_eq!(is_delivered || in_gap && is_wanted, is_wanted, "seed {seed}: {}", report.sequence);
            delivered += u64::from(is_delivered);
            missed += u64::from(in_gap);
        }
    }
    println!("{delivered} delivered, {missed} in gaps, {successors} successors, {resets} resets");
    assert!(delivered > 1_000 && missed > 1_000 && successors > 100 && resets > 100);
}

#[test]
fn a_sequence_that_is_none_of_this_stream_brings_all_of_it_behind_a_reset() {
    let mut dice = Dice(1);
    let mut journal = Journal::new();
    (0..5).for_each(|_| journal.write(&mut dice));
    let of = |created, incarnation| Positions { created, incarnation }.to_string();
    let (this, middle) = (journal.positions.to_string(), journal.reports[2].sequence);
    for (last, stream, resets, orders) in [
        (0, of(8, 1), 0, 5),
        (middle, this.clone(), 0, 2),
        (middle, of(7, 2), 1, 5),
        (middle, of(8, 1), 1, 5),
        (middle, "rubbish".to_owned(), 1, 5),
        // Beyond the last report.
        (1 << 40, this, 1, 5),
    ] {
        let mut gateway = Gateway::of_all(&journal, MOST);
        let mut received = Received { last, stream, ..Received::default() };
        let mut socket = gateway.arrives(Some(&received), &[1, 2]);
        (0..5).for_each(|_| assert!(gateway.read(&journal)));
        received.receive(&mut socket);
        assert_eq!((received.resets, received.orders.len(), received.gaps.len()), (resets, orders, 0));
    }
}

#[test]
fn a_sequence_without_its_stream_is_refused() {
    let journal = Journal::new();
    let mut gateway = Gateway::of_all(&journal, MOST);
    drop(gateway.arrives(None, &[1]));
    let client = gateway.client.as_mut().unwrap();
    let mut wishes = Vec::new();
    for (wish, begun) in
        [(r#""from":1"#, 0), (r#""stream":"x""#, 0), (r#""from":0"#, 1), (r#""from":1,"stream":"x""#, 1)]
    {
        let text = format!(r#"{{"subscribe":[{{"channel":"orders",{wish}}}]}}"#);
        assert!(client.hear(Incoming::Text(text), &Default::default(), &mut wishes).is_ok());
        assert_eq!(wishes.drain(..).count(), begun, "{wish}");
    }
}
