//! Order books: the matching of the strategies' orders, by price and time.
//!
//! # What this crate guarantees
//!
//! - **The same input gives the same output**, byte for byte. The [engine] has no clock, no thread, no randomness,
//!   and no hash order that could affect the output.
//! - **A recorded market is replayed unchanged**, whatever strategies do beside it, and no volume of it is traded with
//!   them twice.
//! - **No input makes it panic.** Invalid input is counted, and the books stay consistent.
//!
//! ```text
//!   md.flow    BookEvent          ┐                ┌ Fill          one per order and trade
//!   md.quotes  Quote, TradePrint  ├──▶ engine ──▶──┤
//!   td.orders  NewOrder, Cancel-, │                └ OrderUpdate   after each fill, and as the
//!              ReplaceOrder       ┘                                answer to each request
//! ```
//!
//! # Example
//!
//! ```
//! use matching::engine::{Engine, EngineOptions, FillModel};
//! use wire::*;
//!
//! # let instrument = Instrument {
//! #     id: InstrumentId(1), reserved: 0, symbol: Symbol::new("600519.SH").unwrap(), tick: Price(10_000_000),
//! #     lot: Quantity(100), price_low: Price::NONE, price_high: Price::NONE, reference_price: Price::NONE,
//! #     max_quantity: Quantity(0), multiplier: 0, currency: wire::Currency::EMPTY,
//! # };
//! let mut engine = Engine::new(EngineOptions { fill: FillModel::Quotes, ..EngineOptions::default() });
//! engine.on_instrument(&instrument);
//! let mut answers: Vec<Execution> = Vec::new();
//!
//! let order = NewOrder {
//!     order_id: OrderId::new(StrategyId(3), 1, 1), instrument: instrument.id, side: Side::Buy,
//!     order_type: OrderType::Limit, time_in_force: TimeInForce::Day, flags: 0,
//!     price: "1801.00".parse()?, quantity: Quantity(200), cause: Cause::NONE,
//!     account: AccountId::OWN, display_lots: 0, trigger: Price::ZERO, minimum_lots: 0, ends_s: 0,
//! };
//! engine.new_order(&order, &mut answers);
//! assert_eq!(engine.working_orders(), 1);
//!
//! // The market comes to the order.
//! let mut quote = Quote::empty(instrument.id);
//! quote.asks[0] = Level { price: "1800.50".parse()?, quantity: Quantity(500) };
//! engine.on_quote(&quote, &mut answers);
//! let Execution::Fill(fill) = answers[1] else { panic!("{answers:?}") };
//! assert_eq!((fill.price, fill.quantity, fill.liquidity), (order.price, Quantity(200), Liquidity::Maker));
//! assert_eq!(engine.working_orders(), 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod closed;
pub mod engine;
pub mod exchange;
mod process;
mod recall;
pub mod seat;
mod trade_ids;
pub mod verify;

pub use process::SERVICE;
#[cfg(feature = "fuzzing")]
pub use process::exchange_of_bytes;
pub use trade_ids::{TradeIdError, TradeIds};
