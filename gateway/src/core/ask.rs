//! What the threads outside ask of the core, and how it gets there: a bounded queue without a lock, and a wake-up.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use crossbeam_queue::ArrayQueue;
use node::NodeHandle;
use tokio::sync::oneshot;
use wire::terms::{Asked, Term, TermError};
use wire::{AccountId, InstrumentId, NewOrder, OrderId, Price, Quantity, Text};

pub(crate) use super::owed::Scope;
use crate::view::{Bar, BarSpan, InstrumentView, OrderView, QuoteView, TradeView};

/// As many may wait for the core.
const LONGEST: usize = 16_384;

/// Who asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Client {
    /// The token's public number.
    pub(crate) token: u64,
    /// Where the request came from.
    pub(crate) address: Text<48>,
}

/// A new order, checked as far as that is possible without the core.
#[derive(Clone, Debug)]
pub(crate) struct Submission {
    pub(crate) client: Client,
    pub(crate) client_id: Text<48>,
    /// Its id is the core's to give.
    pub(crate) order: NewOrder,
    /// Its terms, as the client asks for them: the core knows the instrument's lot.
    pub(crate) terms: Vec<Asked>,
    /// The client says that it asks again.
    pub(crate) is_retry: bool,
    /// Answer at once, not with td's first word.
    pub(crate) at_once: bool,
}

/// An order, by whichever of its names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OrderName {
    Id(OrderId),
    Client(AccountId, Text<48>),
}

/// Which orders.
#[derive(Clone, Debug, Default)]
pub(crate) struct OrderFilter {
    /// None: all; else only of these.
    pub(crate) accounts: Option<Vec<u32>>,
    pub(crate) instrument: Option<InstrumentId>,
    pub(crate) working: bool,
    pub(crate) limit: usize,
}

/// What is asked.
#[derive(Debug)]
pub(crate) enum Ask {
    Submit(Box<Submission>, Reply<Outcome>),
    /// An order that is cancelled when this session ends.
    SubmitIn(u64, Box<Submission>, Reply<Outcome>),
    /// A session begins, of the token with this number.
    Begin(u64, u64),
    /// It has ended: what works of its orders is cancelled.
    End(u64),
    Cancel {
        order: OrderName,
        scope: Option<Vec<u32>>,
        reply: Reply<Outcome>,
    },
    Replace {
        order: OrderName,
        scope: Option<Vec<u32>>,
        price: Option<Price>,
        quantity: Option<Quantity>,
        /// Terms that the order must have already.
        terms: Vec<Asked>,
        reply: Reply<Outcome>,
    },
    CancelAll {
        scope: Scope,
        reply: Reply<Outcome>,
    },
    Order {
        order: OrderName,
        scope: Option<Vec<u32>>,
        reply: Reply<Outcome>,
    },
    Orders(OrderFilter, Reply<Vec<OrderView>>),
    Instruments(Reply<Vec<InstrumentView>>),
    /// The number of a symbol, or of itself.
    Find(String, Reply<Option<InstrumentView>>),
    Quote(InstrumentId, Reply<Option<QuoteView>>),
    Trades(InstrumentId, usize, Reply<Vec<TradeView>>),
    Bars(InstrumentId, BarSpan, usize, Reply<Vec<Bar>>),
}

/// Where an answer goes.
pub(crate) type Reply<T> = oneshot::Sender<T>;

/// What became of a request about an order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Outcome {
    /// The order, as it stands.
    Order(OrderView),
    /// The same client id was used for it before: this is what became of that order.
    Again(OrderView),
    /// The same client id was used for an order that differs.
    Differs(OrderView),
    /// td or the market has refused the request.
    Refused(OrderView, wire::Reason),
    /// There is no such order, or not for this client.
    NoSuchOrder,
    /// It may have been there: what is remembered does not go back so far.
    Forgotten,
    /// Nothing was sent: the order cannot have this term so.
    Term(&'static Term, TermError),
    /// Nothing was sent: td is behind.
    Full,
    /// Nothing was sent: so many orders work, and the journal of orders holds no more.
    TooMany(usize),
    /// Nothing was sent: the session has ended, or was never this token's.
    NoSession,
    /// Nothing was sent: the order has ended.
    Ended(OrderView),
    /// A mass cancel is sent; so many orders worked, and each is cancelled until it has ended.
    CancelsAll(u64),
}

/// What a client gets that would have more orders at work than can be remembered.
pub(crate) fn too_many(most: usize) -> String {
    format!(
        "not sent: {most} orders work, and the ring of the gateway's orders remembers no more across a restart; \
         [journal] orders.capacity of the platform file sets it"
    )
}

/// The way to the core, for any thread.
#[derive(Clone, Debug)]
pub(crate) struct Door {
    queue: Arc<ArrayQueue<Ask>>,
    core: NodeHandle,
    /// The instruments as the core knows them, so that an order need not ask for its own first.
    symbols: Arc<RwLock<HashMap<String, InstrumentId>>>,
}

impl Door {
    pub(crate) fn new(core: NodeHandle) -> Door {
        Door { queue: Arc::new(ArrayQueue::new(LONGEST)), core, symbols: Arc::default() }
    }

    /// The core has heard of an instrument.
    pub(super) fn list(&self, symbol: String, instrument: InstrumentId) {
        self.symbols.write().unwrap_or_else(PoisonError::into_inner).insert(symbol, instrument);
    }

    /// An instrument by its symbol; `None`: the core may know it by its number, or soon.
    pub(crate) fn instrument(&self, symbol: &str) -> Option<InstrumentId> {
        self.symbols.read().unwrap_or_else(PoisonError::into_inner).get(symbol).copied()
    }

    /// False: the core is behind, and nothing was asked.
    pub(crate) fn put(&self, ask: Ask) -> bool {
        let is_in = self.queue.push(ask).is_ok();
        self.core.wake();
        is_in
    }

    pub(crate) fn take(&self) -> Option<Ask> {
        self.queue.pop()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }
}
