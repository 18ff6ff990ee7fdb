//! HTTP: threads that each accept and serve connections of their own, on hyper, without a framework.

pub(crate) mod answer;
pub(crate) mod auth;
pub(crate) mod body;
mod cold;
mod document;
mod market;
mod orders;
mod overview;
mod page;
pub(crate) mod problem;
pub(crate) mod route;
mod serve;
pub(crate) mod socket;
pub(crate) mod upgrade;

pub(crate) use answer::ask;
pub(crate) use cold::off_thread;
pub(crate) use cold::view as account_view;
pub use document::document;
pub(crate) use orders::{account, demand};
pub(crate) use serve::start;
pub(crate) use socket::Stream;

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
}

impl Shared {
    /// The gateway's own seat: some accounts are its own.
    pub(crate) fn node_seat(&self) -> u16 {
        self.seat
    }

    /// So long a request may wait for the core, or for td.
    pub(crate) fn patience(&self) -> Duration {
        self.config.answer
    }
}

/// One thread's.
pub(crate) type Here = Rc<Arc<Shared>>;
