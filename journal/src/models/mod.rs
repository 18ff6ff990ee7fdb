//! Model checks: loom runs the shipped code under every interleaving of its atomics, and every value that the memory
//! model lets a load see, within the bounds that each model prints.
//!
//! Only what the outside world does is replaced: [`sync`] wraps loom's atomics so that a thread can be killed between
//! any two stores, [`futex`] plays the kernel's part, files cannot be mapped. A wake-up that gets lost leaves a
//! thread asleep for ever, which loom reports as a deadlock.

pub(crate) mod futex;
pub(crate) mod sync;

#[cfg(test)]
mod batch;
#[cfg(test)]
mod interest;
#[cfg(test)]
mod park;
#[cfg(test)]
mod recovery;
#[cfg(test)]
mod ring;
#[cfg(test)]
mod support;
#[cfg(test)]
mod told;
