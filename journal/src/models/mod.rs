//! Model checks: loom runs the shipped code under every interleaving of its atomics, and with every value that the
//! memory model lets a load return, within the bounds that each model prints.
//!
//! Only the outside world is replaced: [`sync`] wraps loom's atomics so that a thread can be killed between any two
//! stores, [`futex`] plays the kernel's part, and files cannot be mapped. A lost wake-up leaves a thread asleep for
//! ever, which loom reports as a deadlock.
//!
//! The models of the ring also run on plain threads ([`stage`]), without loom, mainly under miri.

#[cfg(loom)]
pub(crate) mod futex;
#[cfg(loom)]
pub(crate) mod sync;

#[cfg(test)]
mod batch;
#[cfg(test)]
mod copies;
#[cfg(all(test, loom))]
mod durable;
#[cfg(all(test, loom))]
mod interest;
#[cfg(test)]
mod kept;
#[cfg(test)]
mod latest;
#[cfg(all(test, loom))]
mod notified;
#[cfg(all(test, loom))]
mod park;
#[cfg(test)]
mod records;
#[cfg(all(test, loom))]
mod recovery;
#[cfg(test)]
mod ring;
#[cfg(test)]
mod scenes;
#[cfg(test)]
mod stage;
#[cfg(test)]
mod support;
