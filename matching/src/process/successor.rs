//! The successor of an exchange that was killed, until its instruments are listed.

use std::time::Instant;

use node::{InstanceDir, Node};
use topology::config::MatchingConfig;
use wire::{Instrument, Nanos};

use super::participants::Participants;
use super::replay::{Journals, RestoreError, Restored, restore};

/// What it needs to find the books again, or to begin without them.
#[derive(Debug)]
pub(super) struct Successor {
    instance: InstanceDir,
    journals: Journals,
    config: MatchingConfig,
    instruments: Vec<Instrument>,
}

impl Successor {
    pub(super) fn new(node: &Node, config: MatchingConfig, journals: Journals) -> Successor {
        Successor { instance: node.instance().clone(), journals, config, instruments: Vec::new() }
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

/// For the log only.
#[allow(clippy::disallowed_methods, reason = "nothing depends on it but a line of the log")]
fn clock() -> Instant {
    Instant::now()
}
