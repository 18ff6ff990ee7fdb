//! WebSockets, pushed to by threads of their own: no task and no wake-up for a subscriber and a message.
//!
//! ```text
//!   core ── Hub ──► a mailbox a thread ──► Pusher (epoll) ──► Client: subscriptions, Queue ──► writev
//!   http ── sockets after the handshake ──────┘
//! ```
//!
//! The core hands over what it has gathered in a turn, with one lock and at most one wake-up a thread. An event is encoded by the
//! first thread that has a reader for it, and shared by all. A client that does not read fills its own queue only.

mod client;
mod event;
pub(crate) mod frame;
mod history;
mod hub;
mod mailbox;
mod pusher;
mod queue;
mod table;

#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use client::message;
pub(crate) use event::{About, Channel, Event};
pub(crate) use frame::{Decoder, Incoming, Kind, close, frame};
pub(crate) use hub::{Hub, Known};
pub(crate) use mailbox::{Letters, Mailbox, NewSocket, Permit, Positions, Socket};
pub(crate) use queue::Counts;

use std::sync::{Arc, Mutex, PoisonError};

use node::NodeHandle;
use topology::config::GatewayConfig;

use crate::core::ask::Door;
use crate::http::auth::Guard;
use crate::meter::Meter;

/// The threads, for those who hand sockets over.
#[derive(Clone)]
pub(crate) struct Pushers {
    mailboxes: Arc<Vec<Mailbox>>,
    next: Arc<Mutex<usize>>,
    threads: Arc<Mutex<Vec<std::thread::JoinHandle<()>>>>,
}

impl Pushers {
    /// Gives a socket to the next thread.
    pub(crate) fn take(&self, socket: NewSocket) {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        *next = (*next + 1) % self.mailboxes.len().max(1);
        if let Some(mailbox) = self.mailboxes.get(*next) {
            mailbox.arrive(socket);
        }
    }

    pub(crate) fn join(&self) {
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in threads {
            let _ = thread.join();
        }
    }
}

/// Starts them. `sides` are threads of other protocols that hear the same.
pub(crate) fn start(
    config: &GatewayConfig,
    node: &NodeHandle,
    guard: &Arc<Guard>,
    accounts: Option<node::InstanceDir>,
    meter: &Arc<Meter>,
    door: &Door,
    sides: Vec<Mailbox>,
) -> Result<(Hub, Pushers), String> {
    let failed = |error: &dyn std::fmt::Display| format!("the threads that push cannot start: {error}");
    let made: Result<Vec<Mailbox>, _> = (0..config.push_threads).map(|_| Mailbox::new()).collect();
    let mailboxes = Arc::new(made.map_err(|error| failed(&error))?);
    let known = Known::default();
    let mut threads = Vec::new();
    for (number, mailbox) in mailboxes.iter().enumerate() {
        let pusher = pusher::Pusher::new(
            (mailbox.clone(), known.clone()),
            node.clone(),
            Arc::clone(guard),
            config,
            accounts.clone(),
        )
        .map_err(|error| failed(&error))?
        .counted(number, Arc::clone(meter))
        .with_door(door.clone());
        let thread = std::thread::Builder::new().name(format!("push-{number}")).spawn(move || pusher.run());
        threads.push(thread.map_err(|error| failed(&error))?);
    }
    let pushers = Pushers {
        mailboxes: Arc::clone(&mailboxes),
        next: Arc::default(),
        threads: Arc::new(Mutex::new(threads)),
    };
    let all = mailboxes.iter().cloned().chain(sides).collect();
    Ok((Hub::new(Arc::new(all), known), pushers))
}
