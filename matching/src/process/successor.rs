//! The successor of a matching process that was killed, until its instruments are listed.

use std::time::Instant;

use node::{InstanceDir, Node};
use topology::config::MatchingConfig;
use wire::{Instrument, Nanos};

use super::beside::{self, Resumed};
use super::participants::Participants;
use super::recorded::Recorded;
use super::replay::{Journals, RestoreError, Restored, restore};
use crate::engine::FillModel;

/// What it needs to find the books again, or to begin without them.
#[derive(Debug)]
pub(super) struct Successor {
    instance: InstanceDir,
    journals: Journals,
    config: MatchingConfig,
    instruments: Vec<Instrument>,
    /// Where it begins to read a recorded or quoted market, and where that ends.
    market: (u64, u64),
    /// Where it begins to read requests.
    taken: u64,
}

impl Successor {
    pub(super) fn new(
        node: &Node,
        config: MatchingConfig,
        journals: Journals,
        market: (u64, u64),
        taken: u64,
    ) -> Successor {
        let instance = node.instance().clone();
        Successor { instance, journals, config, instruments: Vec::new(), market, taken }
    }

    /// The instance.
    pub(super) fn instance(&self) -> &InstanceDir {
        &self.instance
    }

    /// Remembers an instrument.
    pub(super) fn list(&mut self, instrument: Instrument) {
        self.instruments.push(instrument);
    }

    /// An exchange with the instruments and without orders.
    pub(super) fn empty(&self) -> Participants {
        let mut exchange = Participants::new(&self.config);
        self.instruments.iter().for_each(|instrument| exchange.list(instrument));
        exchange
    }

    /// Puts an exchange that has its instruments where its predecessor was; `executions` is how many frames that journal has.
    pub(super) fn restore(
        &self,
        exchange: &mut Participants,
        start: Nanos,
        executions: u64,
    ) -> Result<Restored, RestoreError> {
        let began = clock();
        let restored = restore(exchange, &self.instance, &self.journals, start, executions)?;
        log::info!(
            "restarted: {} working orders found again, {} requests carried out again, in {} us",
            exchange.exchange.working_orders(),
            restored.requests,
            began.elapsed().as_micros()
        );
        Ok(restored)
    }
}

impl Successor {
    /// Books beside a recorded or quoted market, with the instruments and without orders.
    pub(super) fn empty_beside(&self, fill: FillModel) -> Recorded {
        let mut recorded = Recorded::new(&self.config, fill, true);
        self.instruments.iter().for_each(|instrument| recorded.list(instrument));
        recorded
    }

    /// Puts such books where those of the predecessor were; `executions` is how many frames that journal has.
    pub(super) fn restore_beside(
        &self,
        recorded: &mut Recorded,
        executions: u64,
    ) -> Result<Resumed, RestoreError> {
        let began = clock();
        let begins = (self.market, self.taken);
        let resumed = beside::restore(recorded, &self.instance, &self.journals, executions, begins)?;
        log::info!(
            "restarted: {} working orders found again beside {} of the market, {} requests and {} messages of the market \
             taken again, in {} us",
            recorded.engine.working_orders(),
            recorded.engine.resting_orders() - recorded.engine.working_orders(),
            resumed.requests,
            resumed.messages,
            began.elapsed().as_micros()
        );
        Ok(resumed)
    }
}

/// For the log only.
#[allow(clippy::disallowed_methods, reason = "nothing depends on it but a line of the log")]
fn clock() -> Instant {
    Instant::now()
}
