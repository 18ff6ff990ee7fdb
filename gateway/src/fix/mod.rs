//! FIX 4.4 and 5.0 SP2 for orders: an acceptor.
//!
//! ```text
//!   core ── events ──► Place: reports, quotes ──► Link: a connection ──► Store: noted, then sent
//!   client ── NewOrderSingle … ──► Link ──► Door ──► core ── Outcome ──► Link
//! ```
//!
//! One thread with a runtime of its own serves all sessions. What a session must not forget is in a file before it is sent, so
//! that sequence numbers, resends and reports survive a kill; ClOrdIDs are the core's client ids. Pure: codec, words, rules of
//! sequence numbers. `docs/fix.md` is for those who write clients.

#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzz;
mod link;
mod logon;
mod market;
mod sessions;
mod status;
mod store;
mod trading;
mod words;

pub(crate) use fix_codec::{codec, sequence};

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use node::OwnLock;
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio_rustls::TlsAcceptor;
use topology::config::FixConfig;
use wire::{Message as _, TradePrint};

use crate::core::ask::Ask;
use crate::http::socket::{Stream, keep_alive, listen, tls};
use crate::http::{Shared, ask};
use crate::push::{About, Channel, Event, Mailbox, Positions};
use crate::side::{Letterbox, quoted, thread};
use crate::view::OrderView;
use market::Market;

/// Reports that a session can catch up with.
const HISTORY: usize = 65_536;
/// After an accept that failed, as it does when there are no descriptors left.
const PAUSE: Duration = Duration::from_millis(50);

/// The connection of a session, as a later Logon of the same session sees it.
#[derive(Debug, Default)]
struct Live {
    /// The number that its next message must have; zero: it has just begun.
    next_in: Cell<u64>,
    /// A later Logon takes its place.
    replaced: Notify,
    /// It has let the session go.
    ended: Notify,
}

/// The thread's.
struct Place {
    shared: Arc<Shared>,
    config: FixConfig,
    /// No other gateway has these sessions.
    _lock: OwnLock,
    /// Reports about orders, the oldest first.
    reports: RefCell<VecDeque<Arc<Event>>>,
    /// Reports up to this one are not there any more.
    forgotten: Cell<u64>,
    /// Orders with lost reports, as they stand by the ledger, each with a number that grows.
    resolved: RefCell<VecDeque<(u64, Rc<OrderView>)>>,
    market: RefCell<Market>,
    /// Whose positions reports have; `None` until all reports that a predecessor was sent are here.
    positions: Cell<Option<Positions>>,
    is_closing: Cell<bool>,
    /// One connection a session.
    live: RefCell<BTreeMap<(String, String), Rc<Live>>>,
    bells: RefCell<BTreeMap<u64, Rc<Notify>>>,
}

/// Binds, and starts the thread.
pub(crate) fn start(
    shared: &Arc<Shared>,
    config: &FixConfig,
    mailbox: Mailbox,
) -> Result<std::thread::JoinHandle<()>, String> {
    let at = |error: &dyn std::fmt::Display| format!("gateway.fix.listen: `{}`: {error}", config.listen);
    let address = config.listen.parse().map_err(|error: std::net::AddrParseError| at(&error))?;
    let listener = listen(address).map_err(|error| at(&error))?;
    let acceptor = match &shared.config.tls {
        None => None,
        Some(config) => {
            let mut made = (*tls(config)?).clone();
            // FIX has no name in TLS.
            made.alpn_protocols.clear();
            Some(TlsAcceptor::from(Arc::new(made)))
        }
    };
    let file: &std::path::Path = config.sessions.as_ref();
    // It may come later: it is read again at each logon.
    match file.exists() {
        true => drop(sessions::read(file)?),
        false => log::warn!("gateway.fix.sessions: there is no `{}`: nobody can log on", file.display()),
    }
    let lock = sessions::claim(file)?;
    log::info!("FIX listens on {}", listener.local_addr().unwrap_or(address));
    let (shared, config) = (Arc::clone(shared), config.clone());
    thread("fix", move || run(shared, config, lock, mailbox, listener, acceptor))
}

impl Place {
    /// By the platform's clock, as all times of journals are.
    fn now(&self) -> u64 {
        self.shared.node.now()
    }

    /// By the host's clock, which is put right while a platform runs: SendingTime (52) is held against that of the other side.
    fn sending_time(&self) -> u64 {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        since.map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
    }

    fn ring(&self) {
        self.bells.borrow().values().for_each(|bell| bell.notify_one());
    }

    /// An event of the core.
    fn apply(&self, event: Arc<Event>) {
        match (&event.about, event.channel) {
            (About::Order(_), _) => {
                let mut reports = self.reports.borrow_mut();
                if reports.len() == HISTORY
                    && let Some(oldest) = reports.pop_front()
                {
                    self.forgotten.set(oldest.sequence);
                }
                reports.push_back(event);
            }
            (About::Market(_), Channel::Quotes) => {
                let mut market = self.market.borrow_mut();
                let known = market.quote(event.key);
                if let Some(quote) = quoted(&event, known) {
                    market.set(quote);
                }
            }
            (About::Market(_), Channel::Trades) if event.message_id == TradePrint::ID => {
                if let Ok(print) = TradePrint::decode(&event.payload) {
                    self.market.borrow_mut().trade(&print);
                }
            }
            _ => {}
        }
    }

    /// An order with lost reports stands so by the ledger.
    fn resolve(&self, order: OrderView) {
        let mut resolved = self.resolved.borrow_mut();
        let number = resolved.back().map_or(0, |(number, _)| *number) + 1;
        if resolved.len() == HISTORY {
            resolved.pop_front();
        }
        resolved.push_back((number, Rc::new(order)));
    }

    /// Those behind a number.
    fn resolved_after(&self, number: u64) -> Vec<(u64, Rc<OrderView>)> {
        let resolved = self.resolved.borrow();
        let first = resolved.partition_point(|(known, _)| *known <= number);
        resolved.range(first..).cloned().collect()
    }

    /// The time and the position of the last report that is here.
    fn last(&self) -> (u64, u64) {
        self.reports
            .borrow()
            .back()
            .map_or((0, self.forgotten.get()), |event| (event.time_ns, event.sequence))
    }

    /// Position of the last report that is not behind this time and position.
    fn last_before(&self, noted: (u64, u64)) -> u64 {
        let reports = self.reports.borrow();
        let count = reports.partition_point(|event| (event.time_ns, event.sequence) <= noted);
        count.checked_sub(1).and_then(|last| reports.get(last)).map_or(0, |event| event.sequence)
    }

    /// Reports behind a position.
    fn reports_after(&self, position: u64) -> Vec<Arc<Event>> {
        let reports = self.reports.borrow();
        let first = reports.partition_point(|event| event.sequence <= position);
        reports.range(first..).cloned().collect()
    }
}

/// A connection's bell, until the connection ends, however it ends.
struct Bell<'a> {
    place: &'a Place,
    number: u64,
}

impl Drop for Bell<'_> {
    fn drop(&mut self) {
        self.place.bells.borrow_mut().remove(&self.number);
    }
}

async fn accept(place: Rc<Place>, listener: TcpListener, acceptor: Option<TlsAcceptor>) {
    let mut number = 0;
    loop {
        let (stream, from) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                log::warn!("FIX: a connection cannot be accepted: {error}");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        let Ok(permit) = Arc::clone(&place.shared.permits).try_acquire_owned() else {
            place.shared.meter.refused();
            continue;
        };
        place.shared.meter.accepted();
        let _ = stream.set_nodelay(true);
        keep_alive(&stream);
        number += 1;
        let (place, acceptor, number) = (Rc::clone(&place), acceptor.clone(), number);
        tokio::task::spawn_local(async move {
            let stream = match acceptor {
                None => Stream::Tcp(stream),
                Some(acceptor) => {
                    let secured =
                        tokio::time::timeout(place.shared.config.head, acceptor.accept(stream)).await;
                    let Ok(Ok(secured)) = secured else { return };
                    Stream::Tls(Box::new(secured))
                }
            };
            let bell = Rc::new(Notify::new());
            place.bells.borrow_mut().insert(number, Rc::clone(&bell));
            let _bell = Bell { place: &place, number };
            logon::serve(&place, &bell, stream, from).await;
            drop(permit);
        });
    }
}

async fn run(
    shared: Arc<Shared>,
    config: FixConfig,
    lock: OwnLock,
    mailbox: Mailbox,
    listener: std::net::TcpListener,
    acceptor: Option<TlsAcceptor>,
) {
    let place = Rc::new(Place {
        shared,
        config,
        _lock: lock,
        reports: RefCell::default(),
        forgotten: Cell::default(),
        resolved: RefCell::default(),
        market: RefCell::default(),
        positions: Cell::default(),
        is_closing: Cell::default(),
        live: RefCell::default(),
        bells: RefCell::default(),
    });
    match TcpListener::from_std(listener) {
        Ok(listener) => drop(tokio::task::spawn_local(accept(Rc::clone(&place), listener, acceptor))),
        Err(error) => return log::error!("FIX does not listen: {error}"),
    }
    let mut letters = Letterbox::new(mailbox);
    let (mut lists, mut positions) = (true, None);
    loop {
        let new = letters.next(|| place.shared.node.wake()).await;
        let is_closing = new.is_closing;
        lists |= !new.listed.is_empty();
        new.listed.clear();
        for (_, lost) in new.lost.drain(..).filter(|(_, lost)| lost.channel == Channel::Orders) {
            place.forgotten.set(place.forgotten.get().max(lost.to));
        }
        new.events.drain(..).for_each(|event| place.apply(event));
        new.resolved.drain(..).for_each(|order| place.resolve(order));
        positions = new.read_back.take().or(positions);
        if lists && let Ok(instruments) = ask(&place.shared, Ask::Instruments).await {
            lists = false;
            let names: HashMap<String, u32> =
                instruments.into_iter().map(|view| (view.symbol, view.instrument)).collect();
            place.market.borrow_mut().list(names);
        }
        // A session that began without the instruments' names would get reports without them.
        if !lists {
            place.positions.set(positions);
        }
        place.is_closing.set(is_closing);
        place.ring();
        if is_closing {
            // Their logouts.
            tokio::time::sleep(Duration::from_millis(200)).await;
            return;
        }
    }
}
