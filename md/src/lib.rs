//! Market data in: recorded days and simulated instruments, as instruments, quotes, trades and order flow.
//!
//! All but a live source is pure: no clock, no threads, only seeded randomness; the only input is files. The publishing
//! process is built on top. What comes over multicast is read with sockets and a clock, and decoded by pure code.
//!
//! ```text
//! source   recorded files ──► SourceEvent { book events, trades }      sse · lobster · pitch · dbn · itch · multicast
//! book     SourceEvent ──► books of all orders ──► Quote when the ten best levels changed
//! pace     time of an event ──► when it is due, at 1×, 50×, or as fast as possible
//! sim      seed ──► Quote, TradePrint, on a schedule
//! verify   our book compared with what the market or vendor itself published
//! ```
//!
//! # What this crate guarantees
//!
//! - **Every row is accounted for**: read = applied + skipped (by reason) + rejected ([`source::Counts`]).
//! - **Book events fit**: a source never names an order that is not in the book, and never takes more from one than it
//!   has. Where the files do not contain resting orders (from before their first row, or outside their view), the
//!   source's own page describes how it treats them.
//! - **Same input, same output**: no result depends on the order of a hash map, the time of day, or the machine.
//! - **Bad input is an error that names file, row, column, the value found and the value expected**; never a panic.
//!
//! # Example
//!
//! ```
//! use md::book::Books;
//! use md::source::{Files, Options, SourceEvent, SourceKind, open};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = std::env::temp_dir().join(format!("md-example-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder)?;
//! std::fs::write(folder.join("message.csv"), "34200.1,1,11,18,5853300,1\n34200.2,1,12,5,5859100,-1\n")?;
//! let mut source = open(SourceKind::Lobster, &Files::Path(folder.clone()), &Options::default())?;
//! let mut books = Books::new(source.instruments());
//! let mut event = SourceEvent::default();
//! let mut quotes = Vec::new();
//! while source.next(&mut event)? {
//!     quotes.extend(books.apply(&event).quote.copied());
//! }
//! assert_eq!(quotes.len(), 2);
//! assert_eq!(quotes[1].best_bid().unwrap().price.to_string(), "585.33");
//! assert!(source.counts().balanced());
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

pub mod book;
pub mod pace;
mod process;
pub mod sim;
pub mod source;
pub mod verify;

pub use process::SERVICE;
