//! The core's side: events of a turn, handed over together.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use crossbeam_utils::atomic::AtomicCell;
use node::{Frame, Gap};
use wire::{Execution, Instrument, NodeEvent, Symbol};

use super::event::{About, Channel, Event};
use super::mailbox::{Mailbox, Positions};
use super::queue::Lost;
use crate::view::OrderView;

/// The reports that the core knows: written by the core alone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    last: Arc<AtomicCell<u64>>,
    positions: Arc<OnceLock<Positions>>,
}

impl Known {
    /// The last sequence of own orders that the core has read, or that was there when it began.
    pub(crate) fn last(&self) -> u64 {
        self.last.load()
    }

    /// The journal whose positions the sequences are. It is set before the first client comes.
    pub(crate) fn positions(&self) -> Positions {
        self.positions.get().copied().unwrap_or_default()
    }

    pub(super) fn begins(&self, positions: Positions, last: u64) {
        self.positions.get_or_init(|| positions);
        self.grows(last);
    }

    pub(super) fn grows(&self, sequence: u64) {
        if sequence > self.last.load() {
            self.last.store(sequence);
        }
    }
}

/// Where the core puts what is to be pushed.
#[derive(Debug)]
pub(crate) struct Hub {
    mailboxes: Arc<Vec<Mailbox>>,
    /// Of this turn.
    events: Vec<Arc<Event>>,
    /// The latest quote of each instrument.
    latest: HashMap<u32, Arc<Event>>,
    known: Known,
}

impl Hub {
    pub(crate) fn new(mailboxes: Arc<Vec<Mailbox>>, known: Known) -> Hub {
        Hub { mailboxes, events: Vec::new(), latest: HashMap::new(), known }
    }

    /// Reports of this journal before this position are there already: they are read once more.
    pub(crate) fn begins(&self, positions: Positions, reports_end: u64) {
        self.known.begins(positions, reports_end.saturating_sub(1));
    }

    pub(crate) fn instrument(&mut self, instrument: &Instrument) {
        for mailbox in self.mailboxes.iter() {
            mailbox.list(instrument.symbol.as_str(), instrument.id.0);
        }
    }

    pub(crate) fn market(&mut self, channel: Channel, instrument: u32, frame: &Frame<'_>, symbol: Symbol) {
        let event = Arc::new(Event::new(
            channel,
            instrument,
            frame.position,
            frame.time,
            frame.message_id,
            frame.payload,
            About::Market(symbol),
        ));
        if channel == Channel::Quotes {
            self.latest.insert(instrument, Arc::clone(&event));
        }
        self.events.push(event);
    }

    pub(crate) fn order(&mut self, account: u32, frame: &Frame<'_>, report: &Execution, view: OrderView) {
        self.known.grows(frame.position);
        self.events.push(Arc::new(Event::new(
            Channel::Orders,
            account,
            frame.position,
            frame.time,
            report.message_id(),
            report.bytes(),
            About::Order(Box::new(view)),
        )));
    }

    pub(crate) fn platform(&mut self, frame: &Frame<'_>, event: &NodeEvent, name: &str) {
        self.events.push(Arc::new(Event::new(
            Channel::Platform,
            u32::from(event.seat),
            frame.position,
            frame.time,
            frame.message_id,
            frame.payload,
            About::Node(name.to_owned()),
        )));
    }

    /// The core was overtaken in this journal: what lay between is lost to everybody.
    pub(crate) fn lost(&mut self, channels: &[Channel], gap: Gap) {
        for channel in channels {
            for mailbox in self.mailboxes.iter() {
                mailbox.lose(Lost {
                    channel: *channel,
                    from: gap.from,
                    to: gap.resumed_at.saturating_sub(1),
                });
            }
        }
    }

    /// These orders have lost reports and stand so by the ledger.
    pub(crate) fn resolved(&mut self, orders: Vec<OrderView>) {
        if orders.is_empty() {
            return;
        }
        // Earlier reports are delivered first.
        self.flush();
        for mailbox in self.mailboxes.iter() {
            mailbox.resolve(&orders);
        }
    }

    /// Reports that were in the journal at the start are read: they are handed over first.
    pub(crate) fn read_back(&mut self, positions: Positions) {
        self.flush();
        self.mailboxes.iter().for_each(|mailbox| mailbox.read_back(positions));
    }

    /// Hands over what this turn has brought.
    pub(crate) fn flush(&mut self) {
        for mailbox in self.mailboxes.iter() {
            mailbox.push(&self.events, self.latest.values());
        }
        self.events.clear();
    }

    pub(crate) fn close(&mut self) {
        self.flush();
        self.mailboxes.iter().for_each(Mailbox::close);
    }
}

#[cfg(test)]
mod tests {
    use super::super::mailbox::Letters;
    use super::*;

    #[test]
    fn reports_of_before_the_start_are_handed_over_before_it_is_said_that_they_are() {
        let mailbox = Mailbox::for_task().unwrap();
        let mut hub = Hub::new(Arc::new(vec![mailbox.clone()]), Known::default());
        hub.events.push(Arc::new(Event::new(Channel::Orders, 9, 64, 0, 0, &[], About::Node("x".to_owned()))));
        let mut letters = Letters::default();
        mailbox.take(&mut letters, true);
        assert!(letters.events.is_empty() && letters.read_back.is_none(), "the turn is not over");
        let positions = Positions { created: 5, incarnation: 1 };
        hub.read_back(positions);
        mailbox.take(&mut letters, true);
        assert_eq!((letters.events.len(), letters.read_back), (1, Some(positions)));
        letters.events.clear();
        mailbox.take(&mut letters, true);
        assert_eq!((letters.events.len(), letters.read_back), (0, None), "it is said once");
    }
}
