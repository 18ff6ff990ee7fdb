//! What every benchmark needs: the [`Spread`] of repeated measurements, and child processes that end with their owner
//! ([`OwnedChild`]). It knows nothing of the platform, so that comparisons with other libraries can use it too.
//!
//! ```
//! use bench_kit::Spread;
//!
//! let means = Spread::of([41.0, 38.5, 44.2]).expect("three runs");
//! assert_eq!((means.low, means.median, means.high), (38.5, 41.0, 44.2));
//! ```

#![forbid(unsafe_code)]

mod child;
mod spread;

pub use child::OwnedChild;
pub use spread::Spread;
