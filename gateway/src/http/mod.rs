//! HTTP: threads that each accept and serve connections of their own, on hyper, without a framework.

pub(crate) mod answer;
pub(crate) mod auth;
pub(crate) mod body;
mod cold;
mod document;
mod market;
pub(crate) mod nonces;
mod orders;
mod overview;
mod page;
pub(crate) mod problem;
pub(crate) mod route;
mod serve;
pub(crate) mod socket;
mod trace;
pub(crate) mod upgrade;
mod words;

pub(crate) use answer::ask;
pub(crate) use cold::off_thread;
pub(crate) use cold::view as account_view;
pub use document::document;
pub(crate) use orders::{account, demand};
pub(crate) use serve::start;
pub(crate) use socket::Stream;
pub(crate) use socket::listen;
pub(crate) use upgrade::accept as accept_key;

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use node::{InstanceDir, NodeHandle};
use topology::config::GatewayConfig;

use crate::core::ask::Door;
use crate::meter::Meter;
use crate::push::Pushers;
use crate::watch::Watch;
use auth::Guard;

/// What all HTTP threads share.
pub(crate) struct Shared {
    pub(crate) config: GatewayConfig,
    pub(crate) keeps_accounts: bool,
    pub(crate) seat: u16,
    pub(crate) node: NodeHandle,
    pub(crate) instance: InstanceDir,
    pub(crate) door: Door,
    pub(crate) guard: Arc<Guard>,
    pub(crate) pushers: Pushers,
    /// One a connection.
    pub(crate) permits: Arc<tokio::sync::Semaphore>,
    pub(crate) document: bytes::Bytes,
    pub(crate) meter: Arc<Meter>,
    pub(crate) watch: Arc<Watch>,
    /// Where the platform file asks for it.
    pub(crate) diff: Option<crate::diff::Door>,
    /// One a thread: the clock that all of them share.
    pub(crate) ticks: Vec<tokio::sync::Notify>,
}

impl Shared {
    /// Follows the file of tokens and wakes the threads now and then, until the node stops.
    pub(crate) fn watch(&self) {
        let tick = || self.ticks.iter().for_each(tokio::sync::Notify::notify_one);
        for turn in 0_u64.. {
            if self.node.is_stopping() {
                break;
            }
            std::thread::sleep(TICK);
            if turn % 2 == 0 {
                self.guard.look();
            }
            tick();
        }
        tick();
    }

    /// The gateway's own seat: some accounts are its own.
    pub(crate) fn node_seat(&self) -> u16 {
        self.seat
    }

    /// So long a request may wait for the core, or for td.
    pub(crate) fn patience(&self) -> Duration {
        self.config.answer
    }
}

/// Between two looks at whether the node stops, and half as often at the file of tokens.
pub(crate) const TICK: Duration = Duration::from_millis(100);

/// One thread's.
pub(crate) type Here = Rc<Arc<Shared>>;
