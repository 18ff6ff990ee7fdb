//! What is pushed: one event, encoded once in each way that somebody wants, however many get it.

use std::sync::{Arc, OnceLock};

use serde::Serialize;
use wire::{Best, Execution, InstrumentId, Message, NodeEvent, Quote, Symbol, TradePrint};

use super::frame::{Kind, frame};
use super::queue::Shared;
use crate::view::{AccountView, OrderView, QuoteView, TradeView, price};

/// The channels, the most urgent first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Channel {
    Orders = 0,
    Accounts = 1,
    Platform = 2,
    Trades = 3,
    Quotes = 4,
}

impl Channel {
    pub(crate) const ALL: [Channel; 5] =
        [Channel::Orders, Channel::Accounts, Channel::Platform, Channel::Trades, Channel::Quotes];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Channel::Orders => "orders",
            Channel::Accounts => "accounts",
            Channel::Platform => "platform",
            Channel::Trades => "trades",
            Channel::Quotes => "quotes",
        }
    }

    pub(crate) fn of(name: &str) -> Option<Channel> {
        Channel::ALL.into_iter().find(|channel| channel.as_str() == name)
    }
}

/// How a client wants its messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    Json,
    Binary,
}

/// What the JSON of an event is made from.
#[derive(Debug)]
pub(crate) enum About {
    /// A frame of market data, of the instrument with this name.
    Market(Symbol),
    Order(Box<OrderView>),
    Account(Box<AccountView>),
    /// A node's name.
    Node(String),
}

/// One event.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) channel: Channel,
    /// The instrument, or the account.
    pub(crate) key: u32,
    /// Position in the journal that it comes from.
    pub(crate) sequence: u64,
    pub(crate) time_ns: u64,
    pub(crate) message_id: u16,
    pub(crate) payload: Box<[u8]>,
    pub(crate) about: About,
    json: OnceLock<Shared>,
    binary: OnceLock<Shared>,
}

/// Version of the binary header.
const VERSION: u8 = 1;

#[derive(Serialize)]
struct Envelope<T> {
    channel: &'static str,
    sequence: u64,
    time_ns: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    fill: Option<FillView>,
    data: T,
}

#[derive(Serialize)]
struct FillView {
    trade: u64,
    price: Option<String>,
    quantity: i64,
    liquidity: &'static str,
}

#[derive(Serialize)]
struct NodeView<'a> {
    node: &'a str,
    change: &'static str,
    exit_code: i32,
}

impl Event {
    #[allow(clippy::too_many_arguments, reason = "its parts, once")]
    pub(crate) fn new(
        channel: Channel,
        key: u32,
        sequence: u64,
        time_ns: u64,
        message_id: u16,
        payload: &[u8],
        about: About,
    ) -> Event {
        let (json, binary) = (OnceLock::new(), OnceLock::new());
        Event { channel, key, sequence, time_ns, message_id, payload: payload.into(), about, json, binary }
    }

    /// The frame in this encoding: made by the first who wants it.
    pub(crate) fn frame(&self, encoding: Encoding) -> &Shared {
        match encoding {
            Encoding::Json => self.json.get_or_init(|| Arc::from(frame(Kind::Text, &self.json()))),
            Encoding::Binary => self.binary.get_or_init(|| Arc::from(frame(Kind::Binary, &self.binary()))),
        }
    }

    /// Twenty-four bytes of header, then the payload as it stands in the journal.
    fn binary(&self) -> Vec<u8> {
        let mut bytes = vec![VERSION, self.channel as u8];
        bytes.extend_from_slice(&self.message_id.to_le_bytes());
        bytes.extend_from_slice(&self.key.to_le_bytes());
        bytes.extend_from_slice(&self.sequence.to_le_bytes());
        bytes.extend_from_slice(&self.time_ns.to_le_bytes());
        bytes.extend_from_slice(&self.payload);
        bytes
    }

    fn json(&self) -> Vec<u8> {
        match &self.about {
            About::Market(symbol) => match self.message_id {
                Quote::ID => match Quote::decode(&self.payload) {
                    Ok(quote) => self.envelope(QuoteView::of(&quote, *symbol, self.time_ns), None),
                    Err(_) => Vec::new(),
                },
                Best::ID => match Best::decode(&self.payload) {
                    Ok(best) => {
                        let mut quote = Quote::empty(InstrumentId(self.key));
                        quote.bids[0] = best.best_bid().unwrap_or(wire::Level::EMPTY);
                        quote.asks[0] = best.best_ask().unwrap_or(wire::Level::EMPTY);
                        self.envelope(QuoteView::of(&quote, *symbol, self.time_ns), None)
                    }
                    Err(_) => Vec::new(),
                },
                _ => match TradePrint::decode(&self.payload) {
                    Ok(print) => self.envelope(TradeView::of(&print), None),
                    Err(_) => Vec::new(),
                },
            },
            About::Order(order) => {
                let fill = match Execution::decode(self.message_id, &self.payload) {
                    Ok(Execution::Fill(fill)) => Some(FillView {
                        trade: fill.trade_id,
                        price: price(fill.price),
                        quantity: fill.quantity.0,
                        liquidity: fill.liquidity.as_str(),
                    }),
                    _ => None,
                };
                self.envelope(order, fill)
            }
            About::Account(account) => self.envelope(account, None),
            About::Node(node) => match NodeEvent::decode(&self.payload) {
                Ok(event) => self.envelope(
                    NodeView { node, change: event.change.as_str(), exit_code: event.exit_code },
                    None,
                ),
                Err(_) => Vec::new(),
            },
        }
    }

    fn envelope(&self, data: impl Serialize, fill: Option<FillView>) -> Vec<u8> {
        let (channel, sequence, time_ns) = (self.channel.as_str(), self.sequence, self.time_ns);
        serde_json::to_vec(&Envelope { channel, sequence, time_ns, fill, data }).unwrap_or_default()
    }
}
