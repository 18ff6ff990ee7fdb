//! Orders out: what a program owes that sits in matching's seat (`[matching] fill = "external"`) and trades at a market
//! elsewhere.
//!
//! ```text
//!   td.orders ─► Driver ─► Command ─► Venue ─► the market
//!                  │ ▲                   │
//!                  │ └────── News ◄──────┘
//!                  ▼
//!       matching.executions            Memory: each request and each piece of news, before it is acted upon
//! ```
//!
//! An author writes a [`Venue`], which says a few words over a line and hears a few, and hands it to [`main`]. The rest is
//! here, and the same for every market:
//!
//! - Every request has one answer, every order one end, and every fill is written once, with a number of its own, above those
//!   before it: however late, often or disorderly the market speaks, and whenever this process is killed.
//! - An order's name at the market is written down before the order is sent. An order whose outcome is not known stays "sent",
//!   and the market is asked for it, until it says what became of it.
//! - An execution that no fill can say is kept, counted, listed and stops new orders, until an operator settles it ([`Unbooked`]): at
//!   each moment the market's position is booked + not booked.
//! - While the line is down, new orders and replaces are refused (`market-closed`), and cancels wait for it.
//! - The [`Driver`] is a function of what it has heard: a killed process's successor reads the [`Memory`] and goes on, and what had
//!   not been written to `matching.executions` any more is written then.
//!
//! What it does not do: it brings no market data from there, and books nothing of orders that others sent for the same account: what they
//! trade is listed as not booked, where the market says it.
//!
//! [`conform`] holds a [`Venue`] to all that, against a market that its author can make answer as badly as he likes; the made-up
//! market in [`conform::made_up`] is the one that the driver itself is held against.
#![forbid(unsafe_code)]

mod average;
pub mod conform;
mod driver;
mod look;
mod market;
mod memory;
mod process;
mod unbooked;

/// For what a line keeps on disk: files and locks of its own, over no link of another user.
pub use node::{OwnLock, boot_id, own_file, replace_file};

pub use crate::average::{Average, ParseAverageError};
pub use crate::driver::{Driver, Effects, Input, Overdue};
pub use crate::look::{decide, look};
pub use crate::market::{Command, Lots, News, OrderState, Report, Says, Target, Venue};
pub use crate::memory::{Memory, MemoryError};
pub use crate::process::{Setup, main, steps};
pub use crate::unbooked::{How, LOT, Settled, Settlement, Sums, Unbooked, Why, decimal};
