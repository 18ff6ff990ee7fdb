//! The trade gateway: every order of every strategy goes through it, every execution comes back through it.
//!
//! ```text
//!   orders.<strategy> ──► take ──► checks ──► Decision::Send ───► td.orders ──► matching
//!                                    │                                            │
//!   reports.<strategy> ◄── Decision::Answer                                       │
//!   reports.<strategy> ◄── Outcome::deliver ◄── execution ◄── matching.executions ┘
//! ```
//!
//! # What this crate guarantees
//!
//! - **Only its own orders.** An order belongs to the seat in its id. A request about another strategy's order is refused
//!   with [`wire::Reason::NotYours`], to its sender. An execution is reported to the order's owner only.
//! - **Limits hold in the worst case**: when all working orders of one side fill, each at the largest quantity that a
//!   replace on its way could give it. See [`Exposure`].
//! - **Every order ends.** What was sent to matching works until matching ends it, and
//!   `orders = rejected + filled + cancelled + working` at any moment. See [`Counters`].
//! - **What must end ends.** Once td has decided that an order must end (a kill switch, the end of its strategy or of its
//!   epoch), no replace of it goes out, and td owes a cancel until it has ended: one that the market refuses is sent again
//!   ([`Gateway::owed_cancels`]).
//! - **No panics.** Malformed messages and impossible executions are counted, each kind under its own name ([`Anomaly`]),
//!   and returned to be logged.
//! - **Steady cost.** An order, a cancel, a replace and an execution each cost a fixed number of table look-ups
//!   and no memory from the allocator once the tables have grown to their limits.
//! - **Same input, same output.** No clock, no I/O, no randomness; lists come out in the order of the ids.
//!
//! The core takes and returns plain values; [`run`] is the process that feeds it from journals.
//!
//! # Example
//!
//! ```
//! use td::{Decision, Gateway, GatewayOptions, Limits};
//! use wire::*;
//!
//! let mut gateway = Gateway::new(GatewayOptions { price_band: 0.1 })?;
//! gateway.on_instrument(&Instrument {
//!     id: InstrumentId(1),
//!     reserved: 0,
//!     symbol: Symbol::new("600519.SH").unwrap(),
//!     tick: Price(10_000_000),
//!     lot: Quantity(100),
//!     price_low: Price::NONE,
//!     price_high: Price::NONE,
//!     reference_price: Price(1_800 * Price::ONE),
//!     max_quantity: Quantity(0),
//!     multiplier: 0,
//!     currency: wire::Currency::EMPTY,
//! })?;
//! let me = StrategyId(7);
//! gateway.strategy_started(me, Limits { max_position: Quantity(1_000), ..Limits::NONE })?;
//!
//! let mut order = NewOrder {
//!     order_id: OrderId::new(me, 1, 1),
//!     instrument: InstrumentId(1),
//!     side: Side::Buy,
//!     order_type: OrderType::Limit,
//!     time_in_force: TimeInForce::Day,
//!     flags: 0,
//!     price: Price(1_790 * Price::ONE),
//!     quantity: Quantity(600),
//!     cause: Cause::NONE,
//!     account: AccountId::OWN,
//!     display_lots: 0, trigger: Price::ZERO, minimum_lots: 0, ends_s: 0,
//! };
//! let decision = gateway.take(me, NewOrder::ID, order.bytes());
//! assert_eq!(decision, Decision::Send(Request::New(order)));
//!
//! // A second one of that size could take the position to 1,200.
//! order.order_id = OrderId::new(me, 1, 2);
//! let Decision::Answer(answer) = gateway.take(me, NewOrder::ID, order.bytes()) else { panic!() };
//! assert_eq!((answer.status, answer.reason), (OrderStatus::Rejected, Reason::PositionLimit));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod answer;
mod checks;
mod counters;
mod decision;
mod desk;
mod ending;
mod execution;
mod gateway;
mod instruments;
mod limits;
mod orders;
mod owed;
mod process;
mod restore;
mod strategy_book;

pub use counters::{Anomalies, Anomaly, Counters, ReasonCounts};
pub use decision::Decision;
pub use desk::{Allowed, Gate};
pub use execution::{Delivery, Outcome};
pub use gateway::Gateway;
pub use instruments::InstrumentError;
pub use limits::{GatewayOptions, Limits, LimitsError};
pub use owed::{FIRST_PAUSE, LONGEST_PAUSE, back_off};
pub use process::SERVICE;
pub use restore::RestoreError;
pub use strategy_book::Exposure;
