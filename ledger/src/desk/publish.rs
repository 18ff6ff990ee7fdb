//! Which accounts have changed since they were shown last.

use std::collections::BTreeSet;

use accounts::{Follower, Touched};
use wire::{AccountState, InstrumentId};

/// What is to be shown. Gathered, since a round brings many changes of the same accounts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Changed {
    all: bool,
    accounts: Vec<u32>,
    /// By place: whether it is among them.
    is_in: Vec<bool>,
    instruments: BTreeSet<InstrumentId>,
}

impl Changed {
    /// Everything is to be shown.
    pub(crate) fn all() -> Changed {
        Changed { all: true, ..Changed::default() }
    }

    /// A frame has changed this.
    pub(crate) fn add(&mut self, touched: Touched) {
        match touched {
            Touched::Nothing => {}
            Touched::Account(place) => {
                let index = place as usize;
                if self.is_in.len() <= index {
                    self.is_in.resize(index + 1, false);
                }
                if !std::mem::replace(&mut self.is_in[index], true) {
                    self.accounts.push(place);
                }
            }
            Touched::Instrument(instrument) => drop(self.instruments.insert(instrument)),
            Touched::All => self.all = true,
        }
    }

    /// True while nothing is to be shown.
    pub(crate) fn is_empty(&self) -> bool {
        !self.all && self.accounts.is_empty() && self.instruments.is_empty()
    }

    /// Passes on each changed account with its slot, and forgets the changes.
    pub(crate) fn show(&mut self, follower: &Follower, mut visit: impl FnMut(u32, AccountState)) {
        if std::mem::take(&mut self.all) {
            follower.states(Touched::All, visit);
            self.accounts.clear();
            self.is_in.clear();
            self.instruments.clear();
            return;
        }
        for instrument in std::mem::take(&mut self.instruments) {
            follower.states(Touched::Instrument(instrument), &mut visit);
        }
        for place in self.accounts.drain(..) {
            self.is_in[place as usize] = false;
            follower.states(Touched::Account(place), &mut visit);
        }
    }
}
