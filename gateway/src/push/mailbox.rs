//! What a thread that pushes is given: events from the core, sockets from HTTP.

use std::fmt;
use std::io::{self, IoSlice, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gateway_tokens::Token;
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::socket::sockopt::SndBuf;
use nix::sys::socket::{Shutdown, setsockopt, shutdown};
use tokio::sync::{Notify, OwnedSemaphorePermit, oneshot};

use super::event::{Channel, Event};
use super::queue::Lost;
use crate::view::OrderView;

/// Events that may wait for a thread; beyond, market data is left out and announced.
const LONGEST: usize = 65_536;

/// A socket of either kind, which does not block.
#[derive(Debug)]
pub(crate) enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Socket {
    pub(crate) fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Socket::Tcp(stream) => stream.read(bytes),
            Socket::Unix(stream) => stream.read(bytes),
        }
    }

    /// What the system may hold for it: beyond, what waits is ours to conflate.
    pub(crate) fn limit(&self, bytes: usize) {
        let set = setsockopt(self, SndBuf, &bytes);
        if let Err(error) = set {
            log::debug!("the size of a socket's buffer stays as it is: {error}");
        }
    }

    /// Nothing more is written; the other end may still say something.
    pub(crate) fn finish(&self) {
        // It fails for who has gone already.
        let _ = shutdown(self.as_fd().as_raw_fd(), Shutdown::Write);
    }

    pub(crate) fn write(&mut self, bytes: &[IoSlice<'_>]) -> io::Result<usize> {
        match (self, bytes) {
            // Most have one frame, for which the system has the shorter way.
            (Socket::Tcp(stream), [one]) => stream.write(one),
            (Socket::Tcp(stream), bytes) => stream.write_vectored(bytes),
            (Socket::Unix(stream), bytes) => stream.write_vectored(bytes),
        }
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Socket::Tcp(stream) => stream.as_fd(),
            Socket::Unix(stream) => stream.as_fd(),
        }
    }
}

/// A socket after its handshake.
#[derive(Debug)]
pub(crate) struct NewSocket {
    pub(crate) socket: Socket,
    /// What came behind the handshake.
    pub(crate) early: Vec<u8>,
    pub(crate) token: Arc<Token>,
    pub(crate) permit: Permit,
}

/// A connection's place among all. It is held by the thread that has the socket, and by the relay between that thread and TLS, which
/// has descriptors too and must end with it.
#[derive(Debug)]
pub(crate) struct Permit {
    permit: Arc<OwnedSemaphorePermit>,
    /// Dropped with the permit: the relay waits for that.
    _ends: Option<oneshot::Sender<()>>,
}

impl Permit {
    pub(crate) fn new(permit: OwnedSemaphorePermit) -> Permit {
        Permit { permit: Arc::new(permit), _ends: None }
    }

    /// A part for the thread that has the socket, and a sign that resolves once this part is dropped.
    pub(crate) fn share(&self) -> (Permit, oneshot::Receiver<()>) {
        let (ends, ended) = oneshot::channel();
        (Permit { permit: Arc::clone(&self.permit), _ends: Some(ends) }, ended)
    }
}

/// The journal whose positions are the sequences of reports. A recovered journal continues the positions of the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Positions {
    /// When the journal was created, nanoseconds since the epoch.
    pub(crate) created: u64,
    pub(crate) incarnation: u64,
}

/// As clients get it: `stream`, opaque to them.
impl fmt::Display for Positions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}-{}", self.created, self.incarnation)
    }
}

#[derive(Debug, Default)]
pub(crate) struct Letters {
    pub(crate) events: Vec<Arc<Event>>,
    pub(crate) arrivals: Vec<NewSocket>,
    /// Losses, and how many of the events came before each.
    pub(crate) lost: Vec<(usize, Lost)>,
    /// Names and numbers of instruments.
    pub(crate) listed: Vec<(String, u32)>,
    /// Orders with lost reports, as they stand by the ledger. Only threads that keep orders take them.
    pub(crate) resolved: Vec<OrderView>,
    /// Reports that were in the journal when the gateway started are among the events so far. Set once.
    pub(crate) read_back: Option<Positions>,
    pub(crate) is_closing: bool,
    /// The thread has clients; without them it keeps own orders only.
    pub(crate) has_clients: bool,
    /// It has its first clients since, and wants the latest quotes.
    pub(crate) wants_latest: bool,
    is_asleep: bool,
}

/// One thread's.
#[derive(Clone, Debug)]
pub(crate) struct Mailbox {
    letters: Arc<Mutex<Letters>>,
    bell: Arc<EventFd>,
    /// Rung instead, where a task waits.
    task: Option<Arc<Notify>>,
}

impl Mailbox {
    pub(crate) fn new() -> io::Result<Mailbox> {
        let bell = EventFd::from_flags(EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC)?;
        Ok(Mailbox { letters: Arc::default(), bell: Arc::new(bell), task: None })
    }

    /// One that a task waits for.
    pub(crate) fn for_task() -> io::Result<Mailbox> {
        Ok(Mailbox { task: Some(Arc::default()), ..Mailbox::new()? })
    }

    /// It has rung, or it rings.
    pub(crate) async fn rung(&self) {
        match &self.task {
            Some(task) => task.notified().await,
            None => std::future::pending().await,
        }
    }

    pub(crate) fn bell(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }

    fn lock(&self) -> MutexGuard<'_, Letters> {
        self.letters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes what is in it, and wakes the thread if it sleeps.
    fn post(&self, change: impl FnOnce(&mut Letters)) {
        let wakes = {
            let mut letters = self.lock();
            change(&mut letters);
            std::mem::take(&mut letters.is_asleep)
        };
        match &self.task {
            _ if !wakes => {}
            Some(task) => task.notify_one(),
            None => drop(self.bell.write(1)),
        }
    }

    pub(crate) fn arrive(&self, socket: NewSocket) {
        self.post(|letters| letters.arrivals.push(socket));
    }

    pub(crate) fn close(&self) {
        self.post(|letters| letters.is_closing = true);
    }

    pub(crate) fn read_back(&self, positions: Positions) {
        self.post(|letters| letters.read_back = Some(positions));
    }

    pub(crate) fn list(&self, symbol: &str, instrument: u32) {
        self.post(|letters| letters.listed.push((symbol.to_owned(), instrument)));
    }

    pub(crate) fn lose(&self, lost: Lost) {
        self.post(|letters| letters.lost.push((letters.events.len(), lost)));
    }

    /// These orders have lost reports and stand so by the ledger.
    pub(crate) fn resolve(&self, orders: &[OrderView]) {
        // A thread with a bell pushes reports alone.
        if self.task.is_some() {
            self.post(|letters| letters.resolved.extend_from_slice(orders));
        }
    }

    /// Events of a turn; `latest` are the last quotes, for a thread that has had no clients.
    pub(crate) fn push<'a>(&self, events: &[Arc<Event>], latest: impl Iterator<Item = &'a Arc<Event>>) {
        {
            let letters = self.lock();
            let is_wanted = |event: &Arc<Event>| event.channel == Channel::Orders || letters.has_clients;
            if !letters.wants_latest && !events.iter().any(is_wanted) {
                return;
            }
        }
        self.post(|letters| {
            if std::mem::take(&mut letters.wants_latest) {
                letters.events.extend(latest.cloned());
            }
            for event in events {
                if event.channel != Channel::Orders && !letters.has_clients {
                    continue;
                }
                if event.channel >= Channel::Trades && letters.events.len() >= LONGEST {
                    let lost = Lost { channel: event.channel, from: event.sequence, to: event.sequence };
                    // Until somebody takes what is there, none of this channel comes behind it.
                    match letters.lost.iter_mut().rfind(|(_, known)| known.channel == lost.channel) {
                        Some((at, known)) if *at >= LONGEST => known.to = lost.to,
                        _ => letters.lost.push((letters.events.len(), lost)),
                    }
                    continue;
                }
                letters.events.push(Arc::clone(event));
            }
        });
    }

    /// Takes all of it; if there is nothing, the thread may sleep until the bell rings.
    pub(crate) fn take(&self, into: &mut Letters, has_clients: bool) -> bool {
        let _ = self.bell.read();
        let mut letters = self.lock();
        if has_clients && !letters.has_clients {
            letters.wants_latest = true;
        }
        letters.has_clients = has_clients;
        std::mem::swap(&mut into.events, &mut letters.events);
        std::mem::swap(&mut into.arrivals, &mut letters.arrivals);
        std::mem::swap(&mut into.lost, &mut letters.lost);
        std::mem::swap(&mut into.listed, &mut letters.listed);
        std::mem::swap(&mut into.resolved, &mut letters.resolved);
        into.read_back = letters.read_back.take();
        into.is_closing = letters.is_closing;
        let is_empty = into.events.is_empty()
            && into.read_back.is_none()
            && into.arrivals.is_empty()
            && into.lost.is_empty()
            && into.resolved.is_empty();
        letters.is_asleep = is_empty;
        letters.wants_latest
    }
}
