//! What clients see: the objects of the HTTP answers and of the WebSocket's JSON.

use serde::Serialize;
use utoipa::ToSchema;
use wire::{Instrument, Price, Quote, Symbol, TradePrint};

use crate::terms::Terms;

/// A price as clients read it: an exact decimal number, as text; absent where there is none.
pub(crate) fn price(price: Price) -> Option<String> {
    price.is_some().then(|| price.to_string())
}

/// An instrument and its rules.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub(crate) struct InstrumentView {
    /// Its number.
    pub instrument: u32,
    /// Its name.
    pub symbol: String,
    /// Prices are multiples of this.
    pub tick: Option<String>,
    /// Quantities are multiples of this.
    pub lot: i64,
    /// Lowest price that an order may have.
    pub price_low: Option<String>,
    /// Highest price that an order may have.
    pub price_high: Option<String>,
    /// A price to start from.
    pub reference_price: Option<String>,
}

impl InstrumentView {
    pub(crate) fn of(instrument: &Instrument) -> InstrumentView {
        InstrumentView {
            instrument: instrument.id.0,
            symbol: instrument.symbol.to_string(),
            tick: price(instrument.tick).filter(|_| instrument.tick.0 > 0),
            lot: instrument.lot.0,
            price_low: price(instrument.price_low),
            price_high: price(instrument.price_high),
            reference_price: price(instrument.reference_price),
        }
    }
}

/// One price level.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub(crate) struct LevelView {
    /// The price.
    pub price: String,
    /// The sum of what rests there.
    pub quantity: i64,
}

/// The latest quote: the best levels first.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub(crate) struct QuoteView {
    /// Which instrument.
    pub instrument: u32,
    /// Its name.
    pub symbol: String,
    /// The market's time, in nanoseconds since the epoch.
    pub event_time_ns: u64,
    /// When it was published here, in nanoseconds since the epoch.
    pub published_ns: u64,
    /// The source's own number of the event.
    pub sequence: u64,
    /// Price of the last trade.
    pub last_price: Option<String>,
    /// Quantity of the last trade.
    pub last_quantity: i64,
    /// Descending prices.
    pub bids: Vec<LevelView>,
    /// Ascending prices.
    pub asks: Vec<LevelView>,
}

impl QuoteView {
    pub(crate) fn of(quote: &Quote, symbol: Symbol, published_ns: u64) -> QuoteView {
        let levels = |levels: &[wire::Level]| {
            let there = levels.iter().filter(|level| level.is_some());
            there
                .map(|level| LevelView { price: level.price.to_string(), quantity: level.quantity.0 })
                .collect()
        };
        QuoteView {
            instrument: quote.instrument.0,
            symbol: symbol.to_string(),
            event_time_ns: quote.event_time.0,
            published_ns,
            sequence: quote.sequence,
            last_price: price(quote.last_price),
            last_quantity: quote.last_quantity.0,
            bids: levels(&quote.bids),
            asks: levels(&quote.asks),
        }
    }
}

/// A trade.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub(crate) struct TradeView {
    /// Which instrument.
    pub instrument: u32,
    /// The market's number of the trade; zero: none.
    pub trade: u64,
    /// The market's time, in nanoseconds since the epoch.
    pub event_time_ns: u64,
    /// At which price.
    pub price: Option<String>,
    /// How much.
    pub quantity: i64,
    /// Whose incoming order caused it: `buy`, `sell` or `none`.
    pub aggressor: &'static str,
}

impl TradeView {
    pub(crate) fn of(print: &TradePrint) -> TradeView {
        TradeView {
            instrument: print.instrument.0,
            trade: print.trade_id,
            event_time_ns: print.event_time.0,
            price: price(print.price),
            quantity: print.quantity.0,
            aggressor: print.aggressor.as_str(),
        }
    }
}

/// How long a bar is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BarSpan {
    Second,
    Minute,
}

/// What traded within a second or a minute.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub(crate) struct Bar {
    /// Its begin, in nanoseconds since the epoch.
    pub begin_ns: u64,
    /// First price.
    pub open: String,
    /// Highest price.
    pub high: String,
    /// Lowest price.
    pub low: String,
    /// Last price.
    pub close: String,
    /// How much traded.
    pub quantity: i64,
    /// In how many trades.
    pub trades: u64,
}

/// An order, as far as it is known here.
#[derive(Clone, Debug, Default, PartialEq, Serialize, ToSchema)]
pub(crate) struct OrderView {
    /// Its id, as in `12-1-42`.
    pub order_id: String,
    /// What the client calls it.
    pub client_order_id: Option<String>,
    /// For which account.
    pub account: u32,
    /// What is traded.
    pub instrument: u32,
    /// `buy` or `sell`.
    pub side: &'static str,
    /// `limit`, `market`, `stop`, `stop-limit`.
    pub order_type: &'static str,
    /// How long it lives.
    pub time_in_force: &'static str,
    /// Limit price.
    pub price: Option<String>,
    /// How much, what has traded included.
    pub quantity: i64,
    /// How much has traded.
    pub filled: i64,
    /// How much may still trade.
    pub remaining: i64,
    /// `sent`: no answer yet; `unknown`: what became of it is not known; otherwise as td or the market says.
    pub status: &'static str,
    /// True while it may still trade.
    pub working: bool,
    /// Why, when it was refused or cancelled.
    pub reason: Option<&'static str>,
    /// The number of that reason.
    pub reason_code: Option<u8>,
    /// The token that it came with.
    pub token: String,
    /// When it was sent, in nanoseconds since the epoch.
    pub sent_ns: u64,
    /// Number of the last event about it: WebSockets resume by it. Zero: none.
    pub sequence: u64,
    /// The terms that it has.
    #[serde(flatten)]
    #[schema(ignore)]
    pub terms: Terms,
}

/// How an account stands.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub(crate) struct AccountView {
    /// Its number; zero: a strategy's own.
    pub account: u32,
    /// Whose own it is, by seat.
    pub owner: Option<u16>,
    /// By which rules it trades.
    pub kind: &'static str,
    /// Its currency.
    pub currency: String,
    /// The money that is there.
    pub balance: String,
    /// What it is worth.
    pub equity: String,
    /// What new orders may use.
    pub available: String,
    /// What orders at work hold back.
    pub frozen: String,
    /// Margin of its positions.
    pub margin: String,
    /// Profit and loss since the begin of the day.
    pub day_result: String,
    /// Orders at work.
    pub open_orders: u32,
}

/// A position.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub(crate) struct PositionView {
    /// Whose: the account, zero where accounts are not kept.
    pub account: u32,
    /// In what.
    pub instrument: u32,
    /// `net`, or `long` and `short` where they are kept apart.
    pub side: &'static str,
    /// Signed where it is net: short is negative.
    pub quantity: i64,
    /// Average price of what is open.
    pub average_price: Option<String>,
    /// Profit and loss of what was closed.
    pub realised: String,
    /// Profit and loss of what is open.
    pub unrealised: String,
}
