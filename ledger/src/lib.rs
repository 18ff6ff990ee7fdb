//! The ledger: positions, profit and loss, working orders and latest quotes of the whole platform, and the
//! snapshot from which a late joiner starts.
//!
//! ```text
//!   matching.executions ──► on_execution ──┐
//!   md.quotes ────────────► on_market ─────┼──► Book ──► snapshot ──► ledger.state ──► strategies, td, tools
//!   master.events ────────► on_node_event ─┘      ▲                        │
//!                                                 └───── restore ◄─────────┘ (a restarted ledger)
//! ```
//!
//! # What this crate guarantees
//!
//! - **The money adds up.** `realised + unrealised = cash + position × mark`, exactly, in 1e-9 of the currency;
//!   see [`Position`] for the method and the rounding.
//! - **Exactly once.** An execution at a position that was seen before changes nothing, so that a journal may be read again
//!   from any earlier position.
//! - **Interleaving does not matter.** Executions, market data and node events come from different journals. The state
//!   after all of them depends on each journal's own order only.
//! - **Same state, same snapshot**, message for message: positions by strategy and instrument, orders by id,
//!   quotes by instrument. A book restored from a snapshot of everybody gives that snapshot again.
//! - **No panics.** Impossible input is counted, each kind under its own name ([`Anomaly`]), and returned to be logged.
//!
//! - **Accounts follow the drop copy**, where they are kept, and nothing else: see `docs/accounts.md`.
//!
//! The core takes and returns plain values; `process` is the process that feeds it from journals.
//!
//! # Example
//!
//! ```
//! use ledger::{Book, SnapshotMessage};
//! use wire::*;
//!
//! let mut book = Book::new();
//! let me = StrategyId(7);
//! let fill = |side, price: &str, quantity| Fill {
//!     order_id: OrderId::new(me, 1, 1),
//!     trade_id: 1,
//!     instrument: InstrumentId(3),
//!     side,
//!     liquidity: Liquidity::Taker,
//!     reserved: [0; 2],
//!     price: price.parse().unwrap(),
//!     quantity: Quantity(quantity),
//!     remaining: Quantity(0),
//!     event_time: Nanos(0),
//!     execution: 0,
//!     answered_up_to: 0,
//! };
//! book.on_fill(64, &fill(Side::Buy, "10.00", 300));
//! book.on_fill(128, &fill(Side::Sell, "10.50", 400)); // closes 300, opens 100 short
//! book.on_fill(128, &fill(Side::Sell, "10.50", 400)); // the same frame again: nothing
//!
//! let states: Vec<_> = book.snapshot(me).collect();
//! let SnapshotMessage::Position(state) = states[1] else { panic!() };
//! assert_eq!((state.position, state.average_price), (Quantity(-100), "10.5".parse()?));
//! assert_eq!(state.realised, Money(150 * Money::ONE));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod anomalies;
mod askers;
mod book;
mod desk;
mod limits;
mod marks;
mod position;
mod process;
mod restore;
mod snapshot;

pub use anomalies::{Anomalies, Anomaly};
pub use book::{Book, Totals};
pub use position::Position;
pub use process::SERVICE;
pub use restore::RestoreError;
pub use snapshot::SnapshotMessage;
