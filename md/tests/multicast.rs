//! ITCH over multicast on loopback: whatever is lost, doubled or out of order on the way, the stream is that of the file.
//! A host without multicast on its loopback says so and is skipped.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot go on fails")]

mod support;

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, TryRecvError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use md::book::Books;
use md::source::multicast::{Hearing, MulticastSource, Place, Plan, Received, Sender, Sent, session};
use md::source::{Counts, Files, OnBadRow, Options, Source, SourceError, SourceEvent, SourceKind, itch};
use support::itch::Day;
use support::{replay, write};
use wire::{BookEvent, InstrumentId, Quote, Symbol, TradePrint};

/// Longest that one session may take before the test gives up.
const WATCHDOG: Duration = Duration::from_secs(120);

/// What was published of each stock: with its number in the list left out, which another list may give otherwise.
#[derive(Debug, Default, PartialEq)]
struct Published {
    flow: Vec<(Symbol, BookEvent)>,
    trades: Vec<(Symbol, TradePrint)>,
    quotes: Vec<(Symbol, Quote)>,
}

impl Published {
    fn take(&mut self, symbol: Symbol, event: &SourceEvent, quote: Option<&Quote>) {
        let instrument = InstrumentId(0);
        let flow = event.book_events.iter().map(|part| (symbol, BookEvent { instrument, ..*part }));
        self.flow.extend(flow);
        self.trades.extend(event.trades.iter().map(|trade| (symbol, TradePrint { instrument, ..*trade })));
        self.quotes.extend(quote.map(|quote| (symbol, Quote { instrument, ..*quote })));
    }
}

struct Running {
    group: SocketAddrV4,
    server: SocketAddrV4,
    /// The sender goes on as long as this is there.
    stop: Option<mpsc::Sender<()>>,
    sender: Option<JoinHandle<Sent>>,
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(sender) = self.sender.take() {
            let _ = sender.join();
        }
    }
}

/// A group of this test's own; `None` where the host has no multicast.
fn group(number: u8) -> Option<SocketAddrV4> {
    let own = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap();
    let port = own.local_addr().unwrap().port();
    let ip = Ipv4Addr::new(239, 255, std::process::id() as u8, number);
    if let Err(error) = own.join_multicast_v4(&ip, &Ipv4Addr::LOCALHOST) {
        println!("skipped: no multicast on the loopback of this host: {error}");
        return None;
    }
    Some(SocketAddrV4::new(ip, port))
}

fn start(group: SocketAddrV4, messages: Vec<Vec<u8>>, change: impl FnOnce(&mut Plan)) -> Running {
    let mut plan = Plan {
        group,
        interface: Ipv4Addr::LOCALHOST,
        server: SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0),
        session: session("20101224").unwrap(),
        rate: 0,
        per_packet: 5,
        loss: 0.0,
        reorder: 0.0,
        seed: 7,
        withheld: None,
        linger: WATCHDOG,
    };
    change(&mut plan);
    let sender = Sender::new(plan, messages).unwrap();
    let SocketAddr::V4(server) = sender.server().unwrap() else { panic!("no IPv4") };
    let (stop, until) = mpsc::channel::<()>();
    let is_over = move || matches!(until.try_recv(), Err(TryRecvError::Disconnected));
    let sender = std::thread::spawn(move || sender.run(is_over).unwrap());
    Running { group, server, stop: Some(stop), sender: Some(sender) }
}

fn hearing(running: &Running) -> Hearing {
    Hearing {
        place: Place { group: running.group, interface: Ipv4Addr::LOCALHOST, server: Some(running.server) },
        session: None,
        fill_within: Duration::from_secs(30),
        silence: Duration::from_secs(30),
    }
}

/// Hears a session to its end.
fn hear(hearing: Hearing, options: &Options) -> Result<(Published, Counts, Received), SourceError> {
    let mut source = MulticastSource::open(hearing, options)?;
    let symbols: Vec<Symbol> = source.instruments().iter().map(|instrument| instrument.symbol).collect();
    let mut books = Books::new(source.instruments());
    let mut published = Published::default();
    let mut event = SourceEvent::default();
    let begin = Instant::now();
    loop {
        assert!(begin.elapsed() < WATCHDOG, "the session hangs: {:?}", source.received());
        if source.next(&mut event)? {
            let rebuilt = books.apply(&event);
            published.take(symbols[event.instrument.0 as usize - 1], &event, rebuilt.quote);
        } else if source.is_waiting() {
            std::thread::sleep(Duration::from_micros(50));
        } else {
            break;
        }
    }
    assert!(source.counts().balanced(), "{:?}", source.counts());
    assert_eq!(books.anomalies().total(), 0);
    Ok((published, *source.counts(), *source.received()))
}

fn of_file(path: &Path) -> (Published, Counts) {
    let mut published = Published::default();
    let mut source =
        md::source::open(SourceKind::Itch, &Files::Path(path.to_owned()), &Options::default()).unwrap();
    let symbols: Vec<Symbol> = source.instruments().iter().map(|instrument| instrument.symbol).collect();
    let mut books = Books::new(source.instruments());
    let mut event = SourceEvent::default();
    while source.next(&mut event).unwrap() {
        let rebuilt = books.apply(&event);
        published.take(symbols[event.instrument.0 as usize - 1], &event, rebuilt.quote);
    }
    (published, *source.counts())
}

/// The public sample where it is, otherwise a day made here, of many messages.
fn day(folder: &Path) -> PathBuf {
    let data = std::env::var_os("COLO_DATA")
        .map(PathBuf::from)
        .unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/data"));
    let sample = data.join("itch-20101224/ex20101224.TEST_ITCH_50");
    if sample.exists() {
        return sample;
    }
    println!("no recorded data at {}: a day made here is sent", sample.display());
    let mut day = Day::example();
    let end = day.messages.pop().unwrap();
    for number in 0..5_000 {
        let price = 1_000_000 + (number % 97) as u32 * 100;
        day.messages.push(support::itch::add(1, 20 + number / 100, 1_000 + number, b'B', 5, "AAPL", price));
    }
    day.messages.push(end);
    let path = folder.join("20101224.itch");
    write(&path, &day.bytes(true));
    path
}

#[test]
fn with_loss_and_reordering_the_stream_is_that_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = day(folder.path());
    let messages = itch::messages(&path).unwrap();
    let (expected, counted) = of_file(&path);
    assert!(!expected.quotes.is_empty() && !expected.trades.is_empty());
    for (number, (loss, reorder)) in [(0.0, 0.0), (0.05, 0.05), (0.5, 0.2)].into_iter().enumerate() {
        let Some(group) = group(number as u8) else { return };
        let running = start(group, messages.clone(), |plan| (plan.loss, plan.reorder) = (loss, reorder));
        let (published, counts, received) = hear(hearing(&running), &Options::default()).unwrap();
        println!("loss {loss}, reordering {reorder}: {received:?}");
        assert!(published == expected, "loss {loss}: not the stream of the file");
        assert_eq!(counts, counted);
        assert_eq!(received.lost, 0);
        if loss > 0.0 {
            assert!(received.gaps > 0 && received.requests > 0 && received.filled > 0, "{received:?}");
        }
    }
}

#[test]
fn who_comes_late_gets_all_that_was_before() {
    let folder = tempfile::tempdir().unwrap();
    let path = day(folder.path());
    let Some(group) = group(10) else { return };
    // Nothing of the group is heard but its end.
    let running = start(group, itch::messages(&path).unwrap(), |plan| plan.loss = 1.0);
    let (published, _, received) = hear(hearing(&running), &Options::default()).unwrap();
    assert!(published == of_file(&path).0, "not the stream of the file");
    assert!(received.lost == 0 && received.filled > 0, "{received:?}");
}

#[test]
fn what_nobody_sends_again_is_declared_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let path = day(folder.path());
    let messages = itch::messages(&path).unwrap();
    let all = messages.len() as u64;
    // The group loses everything, and the server three of them.
    let lose = |plan: &mut Plan| (plan.loss, plan.withheld) = (1.0, Some((100, 103)));
    let Some(first) = group(20) else { return };
    let running = start(first, messages.clone(), lose);
    let soon = |running: &Running| Hearing { fill_within: Duration::from_millis(300), ..hearing(running) };
    let error = hear(soon(&running), &Options::default()).err().unwrap().to_string();
    assert!(error.contains("row 100") && error.contains("messages 100 to 102 (3) never came"), "{error}");
    drop(running);
    let Some(second) = group(21) else { return };
    let running = start(second, messages, lose);
    let skip = Options { on_bad_row: OnBadRow::Skip, ..Options::default() };
    let (_, counts, received) = hear(soon(&running), &skip).unwrap();
    assert_eq!((counts.read, counts.rejected, received.lost), (all, 3, 3), "{counts:?}");
}

#[test]
fn a_group_that_says_nothing_is_an_error_and_not_a_wait_without_end() {
    let Some(group) = group(30) else { return };
    let place = Place { group, interface: Ipv4Addr::LOCALHOST, server: None };
    let quiet = Duration::from_millis(50);
    let hearing = Hearing { place, session: None, fill_within: quiet, silence: quiet };
    let error = hear(hearing, &Options::default()).err().unwrap().to_string();
    assert!(error.contains("nothing was heard for 0.05 s"), "{error}");
}

#[test]
fn a_file_that_is_sent_replays_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("20101224.itch");
    write(&path, &Day::example().bytes(false));
    let whole = replay(SourceKind::Itch, &Files::Path(path.clone()), &Options::default()).unwrap();
    assert_eq!(itch::messages(&path).unwrap().len() as u64, whole.counts.read);
}
