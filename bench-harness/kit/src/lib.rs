//! What every benchmark needs: the [`Spread`] of repeated measurements, child processes that end with their owner
//! ([`OwnedChild`]), and for matching engines order flow ([`flow`]), plain books to compare with ([`book`]), and the loop
//! that measures both ([`measure`]). It knows nothing of the platform, so that comparisons with other libraries can use it
//! too.
//!
//! ```
//! use bench_kit::Spread;
//!
//! let means = Spread::of([41.0, 38.5, 44.2]).expect("three runs");
//! assert_eq!((means.low, means.median, means.high), (38.5, 41.0, 44.2));
//! ```

#![forbid(unsafe_code)]

pub mod book;
mod child;
pub mod flow;
pub mod measure;
mod spread;

pub use child::OwnedChild;
pub use spread::Spread;
