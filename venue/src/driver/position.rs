//! The position that the market reports, held against what is booked and what is not.

use std::collections::BTreeMap;

use wire::{InstrumentId, Nanos, OrderId};

use super::order::Order;
use super::{Driver, Effects};
use crate::unbooked::{How, LOT, Sums, Unbooked, Why};

#[derive(Clone, Copy, Debug, Default)]
struct Held {
    sums: Sums,
    /// What was there before the first trade is known.
    is_known: bool,
    /// The last report differed by so much; before the first is known: so much was there before.
    differs: i128,
    /// So many reports in a row agree, while nothing was executed. Zero: no difference is in doubt.
    times: u32,
    /// How much was executed then.
    executed: u64,
    /// It was asked for since the last report that counted: a report that comes twice counts once.
    is_asked: bool,
}

/// A report may cross a trade, and a trade may be under way. So many reports in a row that say the same are needed, each behind the
/// patience of the process, and the orders are asked for in between.
const TIMES: u32 = 3;

#[derive(Clone, Debug, Default)]
pub(super) struct Positions(BTreeMap<InstrumentId, Held>);

impl Positions {
    /// A fill is written.
    pub(super) fn book(&mut self, instrument: InstrumentId, lots: i64) {
        self.0.entry(instrument).or_default().sums.booked += i128::from(lots) * LOT;
    }

    /// Something is not booked.
    pub(super) fn leave_open(&mut self, instrument: InstrumentId, lots: i128) {
        self.0.entry(instrument).or_default().sums.open += lots;
    }

    /// Something that was not booked is settled.
    pub(super) fn settle(&mut self, instrument: InstrumentId, lots: i128, how: How) {
        let sums = &mut self.0.entry(instrument).or_default().sums;
        sums.open -= lots;
        match how {
            // Its fill was counted when it was written.
            How::Book => {}
            How::Apart => sums.apart += lots,
        }
    }

    /// Those in doubt.
    pub(super) fn differing(&self) -> impl Iterator<Item = InstrumentId> {
        self.0.iter().filter(|(_, held)| held.times > 0).map(|(instrument, _)| *instrument)
    }

    /// They are asked for.
    pub(super) fn ask(&mut self) {
        self.0.values_mut().for_each(|held| held.is_asked = true);
    }
}

impl Driver {
    /// By instrument: what is booked, what is not, and what the market says.
    pub fn sums(&self) -> impl Iterator<Item = (InstrumentId, Sums)> {
        self.positions.0.iter().map(|(instrument, held)| (*instrument, held.sums))
    }

    /// The market says what the account holds.
    pub(super) fn position(&mut self, instrument: InstrumentId, lots: i128, effects: &mut Effects) {
        let executed = self.trade + self.unbooked.count();
        let first = || Held { is_asked: true, ..Held::default() };
        let held = self.positions.0.entry(instrument).or_insert_with(first);
        let sums = &mut held.sums;
        sums.reported = Some(lots);
        let differs = lots - sums.booked - sums.open - sums.apart - sums.before;
        if !held.is_known && self.newest.is_empty() {
            // Nothing was sent yet: all of it was there before.
            (held.is_known, sums.before) = (true, differs);
            return;
        }
        if held.is_known && differs == 0 {
            held.times = 0;
            return;
        }
        if !std::mem::take(&mut held.is_asked) {
            return;
        }
        let is_again = (differs, executed) == (held.differs, held.executed);
        (held.differs, held.executed) = (differs, executed);
        held.times = if is_again { held.times + 1 } else { 1 };
        if held.times < TIMES {
            let is_of = |order: &&Order| order.request.instrument == instrument;
            let orders: Vec<OrderId> =
                self.orders.values().filter(is_of).map(|order| order.request.order_id).collect();
            return orders.into_iter().for_each(|order_id| self.ask(order_id, effects));
        }
        held.times = 0;
        if !held.is_known {
            (held.is_known, held.sums.before) = (true, differs);
            return;
        }
        if self.withdraw_positions(instrument, differs, effects) {
            return;
        }
        self.unbook(
            Unbooked {
                number: 0,
                why: Why::Position,
                order: None,
                name: String::new(),
                trade: String::new(),
                instrument: Some(instrument),
                side: None,
                lots: differs,
                price: None,
                value: 0,
                time: Nanos(0),
                text: String::new(),
            },
            effects,
        );
    }
    /// Ends the differences of position that the market reported of an instrument and, as `differs` says, no longer reports.
    fn withdraw_positions(&mut self, instrument: InstrumentId, differs: i128, effects: &mut Effects) -> bool {
        let is_its = |what: &&Unbooked| what.why == Why::Position && what.instrument == Some(instrument);
        let its: Vec<(u64, i128)> =
            self.unbooked.open().filter(is_its).map(|what| (what.number, what.lots)).collect();
        let sum: i128 = its.iter().map(|(_, lots)| lots).sum();
        if its.is_empty() || sum + differs != 0 {
            return false;
        }
        for (number, lots) in its {
            self.positions.leave_open(instrument, -lots);
            self.unbooked.withdraw(number);
            effects.notes.push(format!("number {number} is ended: the market's position is what is booked"));
        }
        true
    }
}
