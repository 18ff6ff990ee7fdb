//! DIFF, the protocol of tqsdk: a copy of what the client asked for, kept up to date by JSON merge patches.
//!
//! ```text
//!   core ── events ──► Board (rows, written once) ──► Session: what it has not seen ──► answer to peek_message
//!   client ── insert_order, cancel_order ──► Door ──► core
//! ```
//!
//! One thread with a runtime of its own serves all sessions. A session is answered when it asks, with all that is new for it, so
//! nothing piles up for one that is slow. Pure: what is asked, rows, bars, a session's state. `docs/diff.md` is for those who
//! write clients.

mod access;
mod asked;
mod board;
mod charts;
mod connection;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzz;
mod http;
mod json;
mod money;
mod rows;
mod session;
mod trading;

pub(crate) use http::answer;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gateway_tokens::Token;
use node::InstanceDir;
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use topology::config::GatewayConfig;
use wire::InstrumentId;

use crate::core::ask::Ask;
use crate::http::auth::Peer;
use crate::http::{Shared, ask};
use crate::meter::Waiting;
use crate::push::{Mailbox, NewSocket};
use crate::side::{Letterbox, thread};
use access::Access;
use board::{Board, apply_all};
use charts::{Series, source};
use money::Holdings;
use session::Session;

/// Between two looks at tokens and clocks.
const LOOK: Duration = Duration::from_millis(200);

/// Answers that are written before the sessions send theirs.
const AT_A_TIME: usize = 128;

/// A socket after its handshake.
pub(crate) struct Arrival {
    pub(crate) socket: NewSocket,
    pub(crate) peer: Peer,
}

/// Bytes that are kept for all sessions at most; beyond, a session that has more than its share is ended.
pub(crate) const KEPT: usize = 256 << 20;
const SHARE: usize = 64 << 10;
/// Bytes of answers that are being written at most; beyond, further answers wait.
pub(crate) const ANSWERS: usize = 64 << 20;

/// Where HTTP hands sockets over, and asks whose an access token is.
pub(crate) struct Door {
    arrivals: UnboundedSender<Arrival>,
    pub(crate) access: Access,
}

impl Door {
    pub(crate) fn take(&self, arrival: Arrival) {
        let _ = self.arrivals.send(arrival);
    }
}

/// Both ends of the way in, where the platform file asks for it.
pub(crate) fn door(
    config: &GatewayConfig,
    instance: &InstanceDir,
) -> Result<Option<(Door, UnboundedReceiver<Arrival>)>, String> {
    if !config.diff {
        return Ok(None);
    }
    let access = Access::of(instance).map_err(|error| format!("no key for DIFF's access tokens: {error}"))?;
    let (arrivals, arriving) = unbounded_channel();
    Ok(Some((Door { arrivals, access }, arriving)))
}

/// Starts the thread.
pub(crate) fn start(
    shared: &Arc<Shared>,
    mailbox: Mailbox,
    arriving: UnboundedReceiver<Arrival>,
) -> Result<std::thread::JoinHandle<()>, String> {
    let shared = Arc::clone(shared);
    thread("diff", move || run(shared, mailbox, arriving))
}

/// A session, as the board's task knows it.
struct Handle {
    session: RefCell<Session>,
    /// An answer is ready, or the session is to end.
    news: Notify,
    answer: RefCell<Option<Answer>>,
    tokens: RefCell<Vec<Arc<Token>>>,
    end: Cell<Option<(u16, &'static str)>>,
    heard: Cell<Instant>,
    pinged: Cell<bool>,
}

/// An answer. Its bytes count until it is written.
struct Answer {
    text: String,
    _bytes: Bytes,
}

/// Bytes that count in a sum as long as they are kept.
struct Bytes {
    sum: Rc<Cell<usize>>,
    count: usize,
}

impl Bytes {
    fn none(sum: &Rc<Cell<usize>>) -> Bytes {
        Bytes { sum: Rc::clone(sum), count: 0 }
    }

    fn set(&mut self, count: usize) {
        self.sum.set(self.sum.get() - self.count + count);
        self.count = count;
    }
}

impl Drop for Bytes {
    fn drop(&mut self) {
        self.set(0);
    }
}

/// The thread's.
struct Place {
    shared: Arc<Shared>,
    /// Bytes that are kept for all sessions: what they have asked for, and what waits for their peeks.
    kept: Rc<Cell<usize>>,
    /// Bytes of answers that are being written.
    answers: Rc<Cell<usize>>,
    board: RefCell<Board>,
    holdings: RefCell<Holdings>,
    handles: RefCell<BTreeMap<u64, Rc<Handle>>>,
    /// The core has said what it read of its predecessors: names are known.
    is_ready: Cell<bool>,
}

impl Place {
    fn now(&self) -> u64 {
        self.shared.node.now()
    }

    /// Writes the answer of a session that has peeked, if there is news for it.
    fn tell(&self, handle: &Handle) {
        // The next look comes soon, and others have been written then.
        if self.answers.get() >= ANSWERS {
            return;
        }
        // One at a time: the next peek comes behind it.
        if handle.answer.borrow().is_none()
            && let Some(text) = handle.session.borrow_mut().answer(&self.board.borrow(), self.now())
        {
            let mut bytes = Bytes::none(&self.answers);
            bytes.set(text.len());
            *handle.answer.borrow_mut() = Some(Answer { text, _bytes: bytes });
            handle.news.notify_one();
        }
    }

    /// In parts: the first answers are on their way while the last ones are written.
    async fn tell_all(&self) {
        let handles: Vec<Rc<Handle>> = self.handles.borrow().values().cloned().collect();
        for some in handles.chunks(AT_A_TIME) {
            some.iter().for_each(|handle| self.tell(handle));
            if handles.len() > AT_A_TIME {
                tokio::task::yield_now().await;
            }
        }
    }

    /// For whom positions and money are followed.
    fn accounts(&self) -> BTreeSet<u32> {
        let handles = self.handles.borrow();
        handles.values().flat_map(|handle| handle.session.borrow().accounts().collect::<Vec<_>>()).collect()
    }

    /// Positions and money up to now.
    fn follow(&self, is_whole: bool) {
        let accounts = self.accounts();
        if !accounts.is_empty() {
            self.holdings.borrow_mut().follow(&mut self.board.borrow_mut(), &accounts, is_whole);
        }
    }

    /// Brings the bars of one length of an instrument up to now.
    async fn refresh(&self, key: (u32, u64)) {
        let Ok((span, _)) = source(key.1) else { return };
        let limit = {
            let mut board = self.board.borrow_mut();
            let series = board.series.entry(key).or_insert_with(|| Series::new(key.1));
            series.is_stale = false;
            series.wanted(Instant::now())
        };
        let bars = ask(&self.shared, |reply| Ask::Bars(InstrumentId(key.0), span, limit, reply)).await;
        let mut board = self.board.borrow_mut();
        let board = &mut *board;
        let Some(series) = board.series.get_mut(&key) else { return };
        match bars {
            Ok(bars) => {
                series.taken = Some(Instant::now());
                series.take(&bars, bars.len() >= limit, &mut board.version);
            }
            Err(_) => series.is_stale = true,
        }
    }

    /// Brings up all that charts are made of; what no chart is made of any more goes.
    async fn refresh_stale(&self) {
        let wanted: BTreeSet<(u32, u64)> = {
            let handles = self.handles.borrow();
            handles.values().flat_map(|handle| handle.session.borrow().series().collect::<Vec<_>>()).collect()
        };
        let stale: Vec<(u32, u64)> = {
            let mut board = self.board.borrow_mut();
            board.series.retain(|key, _| wanted.contains(key));
            board.series.iter().filter(|(_, series)| series.is_stale).map(|(key, _)| *key).collect()
        };
        for key in stale {
            self.refresh(key).await;
        }
    }

    /// Tokens that are not good any more, and clients that are silent.
    fn look(&self) {
        let now = Instant::now();
        self.shared.meter.diff(Waiting {
            sessions: self.handles.borrow().len() as u64,
            kept: self.kept.get() as u64,
            answers: self.answers.get() as u64,
        });
        for handle in self.handles.borrow().values() {
            let silent = now.duration_since(handle.heard.get());
            let ping = self.shared.config.ping;
            if !handle.tokens.borrow().iter().all(|token| self.shared.guard.is_good(&token.id)) {
                handle.end.set(Some((4003, "the token is not good any more")));
            } else if silent > ping * 2 {
                handle.end.set(Some((1001, "no word for too long")));
            } else if silent <= ping || handle.pinged.get() {
                continue;
            }
            handle.news.notify_one();
        }
    }
}

async fn run(shared: Arc<Shared>, mailbox: Mailbox, mut arriving: UnboundedReceiver<Arrival>) {
    let holdings = Holdings::new(shared.instance.clone(), shared.node_seat(), shared.keeps_accounts);
    let place = Rc::new(Place {
        board: RefCell::new(Board::new(shared.config.diff_exchange.clone())),
        holdings: RefCell::new(holdings),
        handles: RefCell::default(),
        is_ready: Cell::default(),
        kept: Rc::default(),
        answers: Rc::default(),
        shared,
    });
    let mut letters = Letterbox::new(mailbox);
    let arrivals = {
        let place = Rc::clone(&place);
        async move {
            let mut number = 0;
            while let Some(arrival) = arriving.recv().await {
                number += 1;
                let place = Rc::clone(&place);
                tokio::task::spawn_local(async move {
                    // Before that it would be told of instruments without a name.
                    while !place.is_ready.get() && !place.shared.node.is_stopping() {
                        tokio::time::sleep(Duration::from_millis(5)).await;
                    }
                    connection::serve(place, number, arrival).await;
                });
            }
        }
    };
    tokio::task::spawn_local(arrivals);
    let (mut looked, mut lists) = (Instant::now(), true);
    loop {
        let new = letters.next(|| place.shared.node.wake()).await;
        let is_closing = new.is_closing;
        lists |= !new.listed.is_empty();
        new.listed.clear();
        new.lost.clear();
        let mut has_events = apply_all(&mut place.board.borrow_mut(), &mut new.events);
        for order in new.resolved.drain(..) {
            place.board.borrow_mut().order(&order);
        }
        if lists && let Ok(instruments) = ask(&place.shared, Ask::Instruments).await {
            (lists, has_events) = (false, true);
            let now_ns = place.now();
            place.board.borrow_mut().list(instruments, now_ns);
            place.is_ready.set(true);
            place.follow(true);
        }
        if has_events {
            place.refresh_stale().await;
        }
        place.follow(false);
        place.tell_all().await;
        if looked.elapsed() >= LOOK {
            looked = Instant::now();
            place.look();
        }
        if is_closing {
            for handle in place.handles.borrow().values() {
                handle.end.set(Some((1001, "the gateway stops: come back in a moment")));
                handle.news.notify_one();
            }
            // Their last words.
            tokio::time::sleep(Duration::from_millis(100)).await;
            return;
        }
    }
}
