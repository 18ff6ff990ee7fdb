//! What every source must hold, run against each of them: `docs/adapters.md` has the list. A new source is one more subject here.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot go on fails")]

mod support;

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};
use std::sync::mpsc::{self, TryRecvError};
use std::time::{Duration, Instant};

use md::book::Books;
use md::source::multicast::{Hearing, MulticastSource, Place, Plan, Sender, session};
use md::source::{Counts, Files, OnBadRow, Options, Source, SourceError, SourceEvent, SourceKind, open};
use support::itch::Day;
use support::{LOBSTER, PITCH, SSE_ORDERS, SSE_TRADES, dbn_file, mbo, write};
use wire::{Aggressor, BookAction, BookEvent, Instrument, Side, TradingPhase};

/// Longest that one source may take.
const WATCHDOG: Duration = Duration::from_secs(60);

type Open = dyn Fn(&[u8], &Options) -> Result<Box<dyn Source>, SourceError>;

/// A source, and a small whole day of it.
struct Subject {
    name: &'static str,
    bytes: Vec<u8>,
    open: Box<Open>,
}

/// One that reads a file of this name, with others beside it.
fn file(kind: SourceKind, name: &'static str, bytes: Vec<u8>, beside: &'static [(&str, &str)]) -> Subject {
    let folder = tempfile::tempdir().unwrap();
    let open_one = move |bytes: &[u8], options: &Options| {
        beside.iter().for_each(|(name, text)| write(&folder.path().join(name), text.as_bytes()));
        std::fs::write(folder.path().join(name), bytes).unwrap();
        let path = if beside.is_empty() { folder.path().join(name) } else { folder.path().to_owned() };
        open(kind, &Files::Path(path), options)
    };
    Subject { name, bytes, open: Box::new(open_one) }
}

fn subjects() -> Vec<Subject> {
    let mut records = [
        mbo(b'A', b'B', 7, 5_000_250_000_000, 5, true),
        mbo(b'A', b'A', 8, 5_000_500_000_000, 3, true),
        mbo(b'T', b'B', 0, 5_000_500_000_000, 1, false),
        mbo(b'F', b'A', 8, 5_000_500_000_000, 1, false),
        mbo(b'C', b'A', 8, 5_000_500_000_000, 1, true),
        mbo(b'C', b'B', 7, 5_000_250_000_000, 5, true),
    ];
    (0..)
        .zip(&mut records)
        .for_each(|(number, record)| record.hd.ts_event = 1_703_545_200_000_000_000 + number);
    let mut subjects = vec![
        file(SourceKind::Sse, "entrust.csv", SSE_ORDERS.into(), &[("trade.csv", SSE_TRADES)]),
        file(SourceKind::Lobster, "message.csv", LOBSTER.into(), &[]),
        file(SourceKind::Pitch, "pitch.txt", PITCH.into(), &[]),
        file(SourceKind::Dbn, "day.dbn", dbn_file(&records, dbn::Schema::Mbo), &[]),
        file(SourceKind::Itch, "day.itch", Day::example().bytes(true), &[]),
    ];
    let own = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap();
    match own.join_multicast_v4(&Ipv4Addr::new(239, 255, 77, 1), &Ipv4Addr::LOCALHOST) {
        Ok(()) => subjects.push(multicast()),
        Err(error) => println!("skipped: multicast: none on the loopback of this host: {error}"),
    }
    subjects
}

/// The messages of a file of ITCH, over loopback, a third of the packets lost.
fn multicast() -> Subject {
    let open_one = |bytes: &[u8], options: &Options| -> Result<Box<dyn Source>, SourceError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("day.itch");
        std::fs::write(&path, bytes).unwrap();
        let messages = md::source::itch::messages(&path)?;
        let port = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap().local_addr().unwrap().port();
        let group = SocketAddrV4::new(Ipv4Addr::new(239, 255, 77, std::process::id() as u8), port);
        let plan = Plan {
            group,
            interface: Ipv4Addr::LOCALHOST,
            server: SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0),
            session: session("conformity").unwrap(),
            rate: 0,
            per_packet: 2,
            loss: 0.3,
            reorder: 0.3,
            seed: 3,
            withheld: None,
            linger: WATCHDOG,
        };
        let sender = Sender::new(plan, messages).unwrap();
        let SocketAddr::V4(server) = sender.server().unwrap() else { panic!("no IPv4") };
        let (stop, until) = mpsc::channel::<()>();
        let is_over = move || matches!(until.try_recv(), Err(TryRecvError::Disconnected));
        let thread = std::thread::spawn(move || sender.run(is_over).unwrap());
        let hearing = Hearing {
            place: Place { group, interface: Ipv4Addr::LOCALHOST, server: Some(server) },
            session: None,
            fill_within: WATCHDOG,
            silence: WATCHDOG,
        };
        let heard = MulticastSource::open(hearing, options);
        let ended = Ended { stop: Some(stop), thread: Some(thread) };
        Ok(Box::new(Sending { source: heard?, _ended: ended }))
    };
    Subject { name: "multicast", bytes: Day::example().bytes(true), open: Box::new(open_one) }
}

/// A source with its sender, which ends with it.
struct Sending {
    source: MulticastSource,
    _ended: Ended,
}

struct Ended {
    /// The sender goes on as long as this is there.
    stop: Option<mpsc::Sender<()>>,
    thread: Option<std::thread::JoinHandle<md::source::multicast::Sent>>,
}

impl Drop for Ended {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Source for Sending {
    fn instruments(&self) -> &[Instrument] {
        self.source.instruments()
    }
    fn next(&mut self, event: &mut SourceEvent) -> Result<bool, SourceError> {
        self.source.next(event)
    }
    fn is_waiting(&self) -> bool {
        self.source.is_waiting()
    }
    fn counts(&self) -> &Counts {
        self.source.counts()
    }
    fn contradictions(&self) -> &[md::source::BadRow] {
        self.source.contradictions()
    }
    fn crossed(&mut self, event: &SourceEvent) -> Result<(), SourceError> {
        self.source.crossed(event)
    }
}

type Traded = std::collections::BTreeMap<(i64, u8), i64>;

/// What has traded by the order flow: quantity by price and by the side that came in.
fn of_flow(event: &SourceEvent) -> Traded {
    let mut traded = Traded::new();
    for part in &event.book_events {
        let is_trade = matches!(part.action, BookAction::Execute | BookAction::Trade);
        let is_sided = part.flags & BookEvent::NO_SIDE == 0;
        let in_auction =
            part.flags & BookEvent::CALL_AUCTION != 0 && part.action == BookAction::Execute && is_sided;
        // Both orders of an auction's trade rest, and each has its event.
        if !is_trade || part.flags & BookEvent::UNPRINTED != 0 || in_auction && part.side == Side::Sell {
            continue;
        }
        let aggressor = match part.side {
            _ if in_auction || !is_sided => Aggressor::None,
            Side::Buy => Aggressor::Sell,
            Side::Sell => Aggressor::Buy,
        };
        *traded.entry((part.price.0, aggressor as u8)).or_default() += part.quantity.0;
    }
    traded
}

fn of_prints(event: &SourceEvent) -> Traded {
    let mut traded = Traded::new();
    for print in &event.trades {
        *traded.entry((print.price.0, print.aggressor as u8)).or_default() += print.quantity.0;
    }
    traded
}

/// All that a source gives, with what must hold of each event.
fn run(
    subject: &Subject,
    bytes: &[u8],
    options: &Options,
) -> Result<(Vec<Instrument>, Vec<SourceEvent>, Counts), SourceError> {
    let name = subject.name;
    let mut source = (subject.open)(bytes, options)?;
    let listed = source.instruments().to_vec();
    let mut books = Books::new(&listed);
    let (mut events, mut event) = (Vec::new(), SourceEvent::default());
    let mut last = vec![0; listed.len() + 1];
    let mut phases = vec![TradingPhase::Continuous; listed.len() + 1];
    let (mut latest, mut back) = (0, 0);
    let (begin, is_whole) = (Instant::now(), bytes == subject.bytes);
    loop {
        assert!(begin.elapsed() < WATCHDOG, "{name}: hangs");
        if !source.next(&mut event)? {
            if source.is_waiting() {
                std::thread::sleep(Duration::from_micros(100));
                continue;
            }
            break;
        }
        let index = event.instrument.0 as usize;
        assert!(index > 0 && index <= listed.len(), "{name}: an event of an instrument that is not listed");
        let is_empty = event.book_events.is_empty() && event.trades.is_empty() && event.phase.is_none();
        assert!(!is_empty, "{name}: an empty event");
        assert!(event.sequence >= last[index], "{name}: numbers go back");
        last[index] = event.sequence;
        back += u64::from(event.event_time.0 < latest);
        latest = latest.max(event.event_time.0);
        if let Some(phase) = event.phase {
            let before = std::mem::replace(&mut phases[index], phase);
            assert_ne!(before, phase, "{name}: an instrument enters a phase once");
        }
        if is_whole {
            let is_held = phases[index] != TradingPhase::Continuous;
            assert_eq!(event.call_auction, is_held, "{name}: events are marked as the phase says: {event:?}");
        }
        for (place, part) in event.book_events.iter().enumerate() {
            let is_last = part.flags & BookEvent::LAST != 0;
            assert_eq!(is_last, place + 1 == event.book_events.len(), "{name}: the last part is marked");
            assert_eq!(part.instrument, event.instrument, "{name}: one event, one instrument");
        }
        if is_whole {
            assert_eq!(of_flow(&event), of_prints(&event), "{name}: flow and prints say the same: {event:?}");
        }
        if books.apply(&event).crossed {
            source.crossed(&event)?;
        }
        events.push(event.clone());
    }
    let counts = *source.counts();
    assert!(counts.balanced(), "{name}: every row is counted once: {counts:?}");
    assert_eq!(books.anomalies().total(), 0, "{name}: the events fit the books");
    assert!(!is_whole || back <= counts.off_time, "{name}: times go back {back} times: {counts:?}");
    assert!(!source.next(&mut event)?, "{name}: the end stays the end");
    assert!(source.contradictions().len() <= 5);
    Ok((listed, events, counts))
}

#[test]
fn the_list_is_whole_before_the_first_event() {
    for subject in subjects() {
        let name = subject.name;
        let (listed, events, counts) = run(&subject, &subject.bytes, &Options::default()).unwrap();
        assert!(!listed.is_empty() && !events.is_empty() && counts.rejected == 0, "{name}: {counts:?}");
        let ids: Vec<u32> = listed.iter().map(|instrument| instrument.id.0).collect();
        assert_eq!(ids, (1..=listed.len() as u32).collect::<Vec<_>>(), "{name}: ids count from 1");
        let names: BTreeSet<&str> = listed.iter().map(|instrument| instrument.symbol.as_str()).collect();
        assert_eq!(names.len(), listed.len(), "{name}: each name once");
        assert!(listed.iter().all(|one| one.tick.0 > 0 && one.lot.0 > 0), "{name}: {listed:?}");
        println!("{name}: {} instruments, {} events", listed.len(), events.len());
    }
}

#[test]
fn the_same_input_gives_the_same_events() {
    for subject in subjects() {
        let once = run(&subject, &subject.bytes, &Options::default()).unwrap();
        let again = run(&subject, &subject.bytes, &Options::default()).unwrap();
        assert!(once.1 == again.1 && once.2 == again.2, "{}", subject.name);
    }
}

#[test]
fn an_instrument_that_is_not_there_is_named() {
    for subject in subjects().into_iter().filter(|subject| subject.name != "message.csv") {
        let options = Options { symbols: vec!["NOSUCH".to_owned()], ..Options::default() };
        let error = run(&subject, &subject.bytes, &options).err();
        let error = error.unwrap_or_else(|| panic!("{}: taken", subject.name)).to_string();
        assert!(error.contains("NOSUCH"), "{}: {error}", subject.name);
    }
}

#[test]
fn what_is_damaged_is_an_error_with_its_place_or_counted_and_never_a_panic() {
    for subject in subjects() {
        // Over loopback each try takes a session.
        let step = if subject.name == "multicast" { 97 } else { 7 };
        let skip = Options { on_bad_row: OnBadRow::Skip, ..Options::default() };
        let (mut refused, mut taken) = (0, 0);
        for place in (0..subject.bytes.len()).step_by(step) {
            let mut damaged = subject.bytes.clone();
            damaged[place] ^= 0x15;
            for (bytes, options) in
                [(&damaged[..], &Options::default()), (&damaged, &skip), (&subject.bytes[..place], &skip)]
            {
                match run(&subject, bytes, options) {
                    Ok(_) => taken += 1,
                    Err(error) => {
                        refused += 1;
                        let text = error.to_string();
                        assert!(text.len() > 20 && !text.contains('\n'), "{}: {text}", subject.name);
                    }
                }
            }
        }
        println!("{}: {refused} refused, {taken} taken", subject.name);
        assert!(refused > 0, "{}: no damage was noticed", subject.name);
    }
}

#[test]
fn what_is_no_data_at_all_is_refused() {
    for subject in subjects() {
        for bytes in [&b""[..], b"\n\n", b"hello, world\n", b"PK\x03\x04\x14\x00", &[0; 64], &[0xff; 64]] {
            assert!(run(&subject, bytes, &Options::default()).is_err(), "{}: {bytes:?}", subject.name);
        }
    }
}
