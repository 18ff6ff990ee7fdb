//! Cancels that td owes and the market has refused are sent again ([`crate::owed`]).
//!
//! Live, td looks at what is owed every [`LOOK`]: whether a pause is over, and, beside an exchange of strategies, whether an
//! instrument's phase has changed, which is read from the exchange's market data beside td's inputs. In lock-step time is the
//! number of market events, and a cancel is sent again behind the next execution or batch after a later event: never by
//! itself, so a run ends however much is owed, and two runs send the same.

use std::collections::{BTreeMap, BTreeSet};

use node::{Context, Frame, InstanceDir, Node, Quiescence, RunError};
use topology::Stream;
use wire::{AccountScope, InstrumentId, MarketPhase, Message, TradingPhase};

use super::Td;

/// Between two looks, in nanoseconds.
const LOOK: u64 = 500_000;

/// The exchange's market data, read beside td's inputs: it wakes nobody here, and nobody waits for td there.
#[derive(Debug)]
struct Market {
    journal: Quiescence,
    /// Up to here it was read.
    position: u64,
}

impl Market {
    /// From its head on; `None` where there is no exchange.
    fn open(instance: &InstanceDir) -> Option<Market> {
        let journal = Quiescence::watch(instance, |name| Some(name) == Stream::Market.journal())
            .inspect_err(|error| log::warn!("phases are not watched: {error}"))
            .ok()?;
        let position = journal.journals().first()?.head();
        Some(Market { journal, position })
    }

    /// Passes what has come since to the caller. False when some of it was overwritten.
    fn read(&mut self, mut visit: impl FnMut(&Frame<'_>)) -> bool {
        let Some(journal) = self.journal.journals().first() else { return true };
        let head = journal.head();
        let from = std::mem::replace(&mut self.position, head);
        if from == head {
            return true;
        }
        let Ok(mut reader) = journal.observe(from) else { return false };
        while reader.position() < head {
            match reader.read() {
                Ok(Some(frame)) => visit(&frame),
                Ok(None) => break,
                Err(_) => return false,
            }
        }
        true
    }
}

/// What is looked at while cancels are owed.
#[derive(Debug)]
pub(super) struct Watch {
    instance: InstanceDir,
    /// The exchange's market data, from the first refusal until nothing is owed; none beside another market.
    market: Option<Market>,
    /// The phases that it last named.
    phases: BTreeMap<InstrumentId, TradingPhase>,
    /// Nothing is looked at before this time.
    next: u64,
    /// Instruments of which a line of the log says that cancels are refused.
    logged: BTreeSet<InstrumentId>,
}

impl Watch {
    pub(super) fn new(node: &Node) -> Watch {
        Watch {
            instance: node.instance().clone(),
            market: None,
            phases: BTreeMap::new(),
            next: 0,
            logged: BTreeSet::new(),
        }
    }

    /// Nothing is owed any more.
    fn end(&mut self) {
        self.market = None;
        self.phases.clear();
        self.logged.clear();
    }

    /// Writes to the log what is owed for the first time.
    fn log(&mut self, owing: impl Iterator<Item = InstrumentId>) {
        for instrument in owing {
            if self.logged.insert(instrument) {
                log::warn!(
                    "instrument {instrument}: the market refuses cancels of orders that must end; they are sent again until \
                     these orders have ended"
                );
            }
        }
    }
}

impl Td {
    /// All that works in a scope must end.
    pub(super) fn cancel_scope(&mut self, scope: AccountScope, subject: u32) -> Result<(), RunError> {
        let cancels = self.gateway.cancel_scope(scope, subject);
        if !cancels.is_empty() {
            log::warn!("kill switch: {} orders are cancelled", cancels.len());
        }
        self.cancel(cancels)
    }

    /// Sends again what is due. Called only while something is owed.
    pub(super) fn send_owed(&mut self, context: &mut Context) -> Result<(), RunError> {
        let now = context.now();
        if now >= self.watch.next {
            self.watch.next = now + LOOK;
            self.look_at_phases();
            // Behind what waits for room.
            if self.orders.backlog() == 0 && self.is_copied() {
                self.send_due(now, crate::back_off)?;
            }
        }
        if self.gateway.owes_cancels() {
            context.wake_at(self.watch.next);
        }
        Ok(())
    }

    /// The same in lock-step.
    pub(super) fn send_owed_in_step(&mut self) -> Result<(), RunError> {
        match &self.batches {
            Some(batches) if self.gateway.owes_cancels() => self.send_due(batches.event(), |_| 1),
            _ => Ok(()),
        }
    }

    fn send_due(&mut self, now: u64, pause: impl Fn(u32) -> u64) -> Result<(), RunError> {
        self.watch.log(self.gateway.owing_instruments());
        let cancels = self.gateway.owed_cancels(now, pause);
        self.cancel(cancels)?;
        if !self.gateway.owes_cancels() {
            self.watch.end();
        }
        Ok(())
    }

    /// An instrument whose phase has changed may take cancels.
    fn look_at_phases(&mut self) {
        if self.watch.market.is_none() && self.watch.logged.is_empty() {
            self.watch.market = Market::open(&self.watch.instance);
        }
        let Td { watch, gateway, .. } = self;
        let Watch { market: Some(market), phases, .. } = watch else { return };
        let is_whole = market.read(|frame| {
            if frame.message_id == MarketPhase::ID
                && let Ok(phase) = MarketPhase::decode(frame.payload)
                // Behind a snapshot it is only repeated.
                && phases.insert(phase.instrument, phase.phase) != Some(phase.phase)
            {
                gateway.market_changed(phase.instrument);
            }
        });
        if !is_whole {
            let owing: Vec<InstrumentId> = gateway.owing_instruments().collect();
            owing.into_iter().for_each(|instrument| gateway.market_changed(instrument));
        }
    }
}
