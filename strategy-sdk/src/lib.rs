//! What a strategy author writes against.
//!
//! # What this crate guarantees
//!
//! - One thread: the strategy's methods are called one after the other, never concurrently.
//! - An order call returns at once, with an id that is never given out twice in the life of an instance, or with
//!   the request and why it was not sent.
//! - Each order names the message that it answers: journal, position, when it was due, published and received.
//! - Orders and fills are not lost. Market data may be, where the topology reads it loosely; then
//!   [`Strategy::gap`] says how much.
//! - Position and working orders in [`Context`] are those of the ledger at the start, plus every report since, each
//!   counted once.
//! - Where accounts are kept, [`Context::account`] says at any time how much money there is, without a message; orders
//!   are for the strategy's default account unless they name one ([`OrderRequest::account`]).
//! - On a deterministic platform the strategy's clock and its timers go by the market's time, and frames come in
//!   the order in which they were written.
//! - In steady state nothing allocates, locks or calls the system between a quote and the order that answers it.
//!
//! ```text
//!   md ── instruments, quotes ──►┐                               ┌──► Strategy::quote, best, trade, order, …
//!   td ── reports ──────────────►├─ node ─► Session ─────────────┤
//!   ledger ── state ────────────►┘   (poll, wait)    (core)      └◄── Context::order, cancel, set_timer, …
//!                                                      │
//!                                     td ◄── orders ───┘
//!
//!   main, run, Roster ─► process (the members of a node) ─► factory ─► session ─► Strategy
//! ```
//!
//! # Example
//!
//! The whole program, `src/main.rs` of a project of its own:
//!
//! ```no_run
//! use std::process::ExitCode;
//!
//! use strategy_sdk::{Context, NoParameters, OrderRequest, ParameterError, Quote, Side, Strategy};
//!
//! /// Buys a lot whenever the spread is a single tick.
//! struct Narrow;
//!
//! impl Strategy for Narrow {
//!     type Parameters = NoParameters;
//!
//!     fn create(_parameters: NoParameters) -> Result<Narrow, ParameterError> {
//!         Ok(Narrow)
//!     }
//!
//!     fn quote(&mut self, context: &mut Context, quote: &Quote) {
//!         let (Some(bid), Some(ask)) = (quote.best_bid(), quote.best_ask()) else { return };
//!         let Some(instrument) = context.instrument(quote.instrument) else { return };
//!         if ask.price - bid.price <= instrument.tick {
//!             let request = OrderRequest::limit(Side::Buy, instrument.id, ask.price, instrument.lot).ioc();
//!             if let Err(error) = context.order(request) {
//!                 context.log(error);
//!             }
//!         }
//!     }
//! }
//!
//! fn main() -> ExitCode {
//!     strategy_sdk::main::<Narrow>()
//! }
//! ```
//!
//! `README.md` beside this crate goes through it step by step; [`testing`] runs a strategy without a platform.
#![forbid(unsafe_code)]

mod bars;
mod context;
mod continuous;
mod error;
mod exported;
mod factory;
mod history;
mod instruments;
mod options;
mod orders;
mod panic;
mod port;
mod position;
mod process;
mod request;
mod roster;
mod run;
mod section;
mod session;
mod strategy;
pub mod testing;
mod timers;

pub use bars::{Bar, BarRequest, BarRule, BarSource, BarsError, BarsId};
pub use context::Context;
pub use continuous::{Adjustment, Continuous, ContinuousError, Roll, RollRule};
#[doc(hidden)]
pub use exported::Exported;
pub use instruments::{Instruments, Interest};
pub use options::{Options, parameter};
pub use orders::WorkingOrder;
pub use position::Position;
pub use request::{CancelError, CancelRequest, ChangeError, OrderError, OrderRequest, Refusal};
pub use roster::Roster;
pub use run::{PARAMETERS_SAID, Rest, main, run, run_resting};
pub use strategy::{NoParameters, ParameterError, Strategy};
pub use timers::{Timer, TimerId, When};

// What appears in the signatures above, so that an author can depend on this crate alone.
pub use node::{AccountError, Counter, DepthError, Exit, Gap};
#[doc(hidden)]
pub use plugin;
pub use serde::{self, Deserialize};
pub use topology::config::MarketData;
pub use wire::{
    AccountId, AccountKind, AccountState, Aggressor, ArithmeticError, Best, BookAction, BookEvent, CancelAll,
    Cause, Currency, Fill, Indicative, Instrument, InstrumentId, Level, Liquidity, MarketPhase, Money, Nanos,
    OrderId, OrderStatus, OrderType, OrderUpdate, Price, Quantity, Quote, Reason, Request, Side, StrategyId,
    Symbol, TimeInForce, TradePrint, TradingPhase, WideMoney,
};
