//! Clients resume at any moment of any gateway's life, read as they like, and the gateway's reader is lapped: each receives every order of
//! its accounts once or in a gap, and never a sequence that is not above the last.

use std::collections::BTreeSet;
use std::io::Read;
use std::os::unix::net::UnixStream;

use gateway_tokens::{Role, Token};
use tokio::sync::Semaphore;

use super::*;
use crate::push::event::About;
use crate::push::frame::Incoming;
use crate::push::mailbox::{NewSocket, Permit, Socket};

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
}

/// The journal of reports, of which a ring holds the latest.
#[derive(Default)]
struct Journal {
    reports: Vec<Report>,
    head: u64,
}

impl Journal {
    fn write(&mut self, dice: &mut Dice) {
        let (sequence, account) = (self.head, dice.between(1, 3) as u32);
        self.reports.push(Report { sequence, account });
        self.head += 64 * dice.between(1, 4) as u64;
    }
}

/// A gateway: a reader of the journal, a thread that pushes, and its client.
struct Gateway {
    history: History,
    known: u64,
    /// The next report to read, by its index.
    next: usize,
    client: Option<Client>,
}

impl Gateway {
    /// Reads from the oldest report that the ring holds.
    fn begin(journal: &Journal, dice: &mut Dice) -> Gateway {
        let most = dice.between(8, 64);
        let mut gateway = Gateway {
            history: History { most, ..History::default() },
            known: journal.head.saturating_sub(1),
            next: 0,
            client: None,
        };
        let cut = journal.reports.len().saturating_sub(dice.between(1, 200));
        if cut > 0 {
            gateway.is_lapped(journal, cut, 0);
        }
        gateway
    }

    /// The reports before this one are overwritten.
    fn is_lapped(&mut self, journal: &Journal, next: usize, from: u64) {
        let to = journal.reports.get(next).map_or(journal.head, |report| report.sequence) - 1;
        self.history.lost(to);
        if let Some(client) = &mut self.client {
            client.lost(Lost { channel: Channel::Orders, from, to });
        }
        (self.next, self.known) = (next, self.known.max(to));
    }

    /// Reads one report. False: the client is let go.
    fn read(&mut self, journal: &Journal) -> bool {
        let Some(report) = journal.reports.get(self.next) else { return true };
        self.next += 1;
        self.known = self.known.max(report.sequence);
        let Report { sequence, account } = *report;
        let about = About::Node(String::new());
        let event = Arc::new(Event::new(Channel::Orders, account, sequence, 0, 1, &[0; 40], about));
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

    /// A client comes, and resumes behind this sequence.
    fn arrives(&mut self, from: Option<u64>, accounts: &[u32]) -> UnixStream {
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
        let mut client = Client::new(new, 2_048, Instant::now());
        let from = from.map_or(String::new(), |from| format!(",\"from\":{from}"));
        let text = format!(
            r#"{{"encoding":"binary","subscribe":[{{"channel":"orders","accounts":{accounts:?}{from}}}]}}"#
        );
        let mut wishes = Vec::new();
        assert!(client.hear(Incoming::Text(text), &Default::default(), &mut wishes).is_ok());
        assert_eq!(wishes.len(), 1);
        for wish in &wishes {
            self.history.begins(&mut client, wish, self.known);
        }
        self.client = Some(client);
        theirs
    }
}

/// What a client has received, over all of its connections.
#[derive(Default)]
struct Received {
    bytes: Vec<u8>,
    last: u64,
    orders: BTreeSet<u64>,
    gaps: Vec<(u64, u64)>,
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
                    self.orders.insert(sequence);
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
    let (mut delivered, mut missed, mut successors) = (0, 0, 0);
    for seed in 0..seeds {
        let mut dice = Dice(seed);
        let mut journal = Journal { head: 4_096, ..Journal::default() };
        (0..dice.between(0, 300)).for_each(|_| journal.write(&mut dice));
        let mut gateway = Gateway::begin(&journal, &mut dice);
        let accounts: &[u32] = if dice.between(0, 2) == 0 { &[1] } else { &[1, 2] };
        // It has had nothing: the first report that it wants is the next to come.
        let begun = journal.head - 1;
        let mut received = Received { last: begun, ..Received::default() };
        let mut socket = gateway.arrives(None, accounts);
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
                // The gateway dies.
                _ => {
                    successors += 1;
                    received.receive(&mut socket);
                    gateway = Gateway::begin(&journal, &mut dice);
                    received.bytes.clear();
                    socket = gateway.arrives(Some(received.last), accounts);
                    gateway.write()
                }
            };
            if !stays {
                received.receive(&mut socket);
                received.bytes.clear();
                socket = gateway.arrives(Some(received.last), accounts);
            }
        }
        // In the end it reads all that comes.
        for _ in 0..4_000 {
            let stays = gateway.read(&journal) && gateway.write();
            received.receive(&mut socket);
            if !stays {
                received.bytes.clear();
                socket = gateway.arrives(Some(received.last), accounts);
            }
        }
        received.receive(&mut socket);
        for report in journal.reports.iter().filter(|report| report.sequence > begun) {
            let in_gap = received.gaps.iter().any(|(from, to)| (*from..=*to).contains(&report.sequence));
            let is_delivered = received.orders.contains(&report.sequence);
            let is_wanted = accounts.contains(&report.account);
            assert!(!(is_delivered && in_gap), "seed {seed}: {} is delivered and in a gap", report.sequence);
            assert_eq!(is_delivered || in_gap && is_wanted, is_wanted, "seed {seed}: {}", report.sequence);
            delivered += u64::from(is_delivered);
            missed += u64::from(in_gap);
        }
    }
    println!("{delivered} delivered, {missed} in gaps, {successors} successors");
    assert!(delivered > 1_000 && missed > 1_000 && successors > 100);
}

#[test]
fn a_sequence_of_an_earlier_run_brings_all_of_this_one() {
    let mut dice = Dice(1);
    let mut journal = Journal { head: 4_096, ..Journal::default() };
    (0..5).for_each(|_| journal.write(&mut dice));
    let mut gateway = Gateway { history: History::default(), known: journal.head - 1, next: 0, client: None };
    let mut socket = gateway.arrives(Some(1 << 40), &[1, 2]);
    (0..5).for_each(|_| assert!(gateway.read(&journal)));
    let mut received = Received::default();
    received.receive(&mut socket);
    assert_eq!((received.orders.len(), received.gaps.len()), (5, 0));
}
