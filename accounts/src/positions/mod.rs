//! What an account holds of an instrument: long and short, today's and yesterday's, at which cost.

mod holding;
mod slot;

pub(crate) use holding::{Holding, LONG, SHORT, TODAY, YESTERDAY};
pub(crate) use slot::{NOTHING, Slot, index};
