//! A recorded day through a strategy, in a plain `cargo test`: no platform, no process, no shared memory.
//!
//! # What this crate guarantees
//!
//! - **The same parts as a platform's**: the readers and books of `md`, the engine of `matching`, the session of the SDK. Each
//!   event is answered before the next one comes, as in lock-step, and the strategy's clock is the market's.
//! - **Twice the same**: nothing depends on the time of day, on threads or on the host.
//!
//! What a platform has beside them is left out: accounts, limits and the checks of `td` but those of tick and lot, latency, and
//! other strategies.
//!
//! ```text
//!  Day (files) ──► books ──► flow, trades, quotes ──► the strategy ──┐ orders
//!                    │                                     ▲        ▼
//!                    └───────── flow or quotes ─────► matching ── fills, updates
//! ```
//!
//! # Example
//!
//! ```
//! use strategy_sdk::{Context, NoParameters, ParameterError, Quote, Strategy};
//! use strategy_testing::{Day, replay};
//!
//! /// Buys a lot at the first ask it sees.
//! struct BuyOnce(bool);
//!
//! impl Strategy for BuyOnce {
//!     type Parameters = NoParameters;
//!
//!     fn create(_parameters: NoParameters) -> Result<BuyOnce, ParameterError> {
//!         Ok(BuyOnce(false))
//!     }
//!
//!     fn quote(&mut self, context: &mut Context, quote: &Quote) {
//!         let (Some(ask), false) = (quote.best_ask(), self.0) else { return };
//!         self.0 = context.buy(quote.instrument, ask.price, strategy_sdk::Quantity(1)).is_ok();
//!     }
//! }
//!
//! # let folder = std::env::temp_dir().join(format!("strategy-testing-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder)?;
//! # std::fs::write(folder.join("message.csv"), "34200.1,1,11,18,5853300,1\n34200.2,1,12,5,5859100,-1\n")?;
//! let day = Day::lobster(&folder).symbols(["AAPL"]);
//! let run = replay::<BuyOnce>(NoParameters {}, &day)?;
//! assert_eq!(run.orders().count(), 1);
//! let fills: Vec<_> = run.fills().collect();
//! assert_eq!(fills[0].price.to_string(), "585.91");
//! assert_eq!(run.position("AAPL").quantity.0, 1);
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod day;
mod market;
mod recording;
mod run;

pub use day::{Day, ReplayError};
pub use run::{Replay, Run, replay};

pub use matching::engine::FillModel;
pub use strategy_sdk::testing::Setup;
