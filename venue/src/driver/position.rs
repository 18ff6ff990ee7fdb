//! The position that the market reports, held against what is booked and what is not.

use std::collections::{BTreeMap, BTreeSet};

use wire::{InstrumentId, Nanos, OrderId};

use super::order::Order;
use super::{Driver, Effects};
use crate::unbooked::{How, LOT, Sums, Unbooked, Why};

/// So many reports in a row must differ, each behind the patience of the process. The orders are asked for in between.
const TIMES: u32 = 3;
/// What is executed in between may leave several differences possible. After so many reports the last one counts.
const TIMES_BUSY: u32 = 2 * TIMES;

/// The position of an instrument, and what the market's reports tell of it.
///
/// A report is of a moment between its question and its arrival, or a little after: trades that it holds may be reported behind it. So it
/// may be held against each sum of what is booked and not booked since the question, until the next report comes. For one of these
/// sums, the position less the sum is what was there before the first trade, or the market's position is another.
#[derive(Clone, Debug, Default)]
struct Held {
    sums: Sums,
    /// What may have been there before the first trade, as far as reports tell. Empty before the first.
    bases: BTreeSet<i128>,
    /// The market was asked: the sums since then.
    asked: Option<BTreeSet<i128>>,
    /// It was asked more than once since the last report: one more may follow the next.
    is_asked_again: bool,
    /// Reports so far.
    reports: u32,
    /// The last report, if it is in doubt.
    last: Option<Doubtful>,
    /// The last report is in doubt for so long that the trades that it holds are reported, and the market was asked since.
    is_overdue: bool,
    /// So many reports in a row are in doubt, before the last.
    times: u32,
    /// The bases that would explain all of these.
    candidates: BTreeSet<i128>,
}

/// A report in doubt, and the sums that it may be held against.
#[derive(Clone, Debug)]
struct Doubtful {
    number: u32,
    lots: i128,
    sums: BTreeSet<i128>,
}

/// What follows from a report.
enum Finding {
    /// It agrees, or answers no question.
    Nothing,
    /// It is in doubt: orders and positions are asked for.
    Doubtful,
    /// The market's position differs by so much.
    Differs(i128),
}

impl Held {
    fn sum(&self) -> i128 {
        self.sums.booked + self.sums.open + self.sums.apart
    }

    /// The sum has changed.
    fn note(&mut self) {
        let sum = self.sum();
        let since = self.asked.iter_mut().chain(self.last.iter_mut().map(|last| &mut last.sums));
        since.for_each(|sums| sums.extend([sum]));
    }

    fn report(&mut self, lots: i128, nothing_was_sent: bool) -> Finding {
        self.reports += 1;
        let sum = self.sum();
        let base = lots - sum;
        if self.bases.is_empty() && nothing_was_sent {
            // All of it was there before.
            (self.bases, self.sums.before) = (BTreeSet::from([base]), base);
            self.answered();
            return Finding::Nothing;
        }
        let asked = self.answered().filter(|_| self.last.is_none() || self.is_overdue);
        if asked.is_some() {
            self.close();
        }
        let is_quiet = asked.iter().flatten().all(|since| *since == sum);
        let is_in_doubt = self.times > 0 && !is_quiet;
        if self.bases.len() == 1 && self.bases.contains(&base) && !is_in_doubt {
            self.end_doubt();
            return Finding::Nothing;
        }
        let Some(mut since) = asked else { return Finding::Nothing };
        since.insert(sum);
        let is_enough = self.times + 1 >= if self.candidates.len() == 1 { TIMES } else { TIMES_BUSY };
        // Trades of this report may still be under way: those before must tell the difference alone.
        let is_other =
            self.candidates.is_disjoint(&self.bases) && bases(lots, &since).is_disjoint(&self.bases);
        if is_enough && is_other {
            let differs = preferred(&self.candidates, base) - self.sums.before;
            self.end_doubt();
            // The next report must agree with what is listed then.
            self.last = Some(Doubtful { number: self.reports, lots, sums: BTreeSet::new() });
            return Finding::Differs(differs);
        }
        if self.bases.is_empty() && self.last.is_none() {
            self.sums.before = base;
        }
        self.last = Some(Doubtful { number: self.reports, lots, sums: since });
        Finding::Doubtful
    }

    /// The sums since the question that a report answers.
    fn answered(&mut self) -> Option<BTreeSet<i128>> {
        let next = std::mem::take(&mut self.is_asked_again).then(|| BTreeSet::from([self.sum()]));
        std::mem::replace(&mut self.asked, next)
    }

    /// The last report can be held against no further sum.
    fn close(&mut self) {
        let Some(Doubtful { lots, sums, .. }) = self.last.take() else { return };
        self.is_overdue = false;
        let its = bases(lots, &sums);
        if self.bases.is_empty() {
            self.bases = its;
            return;
        }
        self.candidates = narrowed(&self.candidates, its);
        self.times += 1;
        if self.candidates.is_subset(&self.bases) {
            self.bases = std::mem::take(&mut self.candidates);
            self.sums.before = preferred(&self.bases, self.sums.before);
            self.end_doubt();
        }
    }

    fn end_doubt(&mut self) {
        (self.last, self.is_overdue, self.times) = (None, false, 0);
        self.candidates.clear();
    }
}

/// What was there before, if the position is of one of these sums.
fn bases(lots: i128, sums: &BTreeSet<i128>) -> BTreeSet<i128> {
    sums.iter().map(|sum| lots - sum).collect()
}

/// What both allow. Where the difference has changed: what the last one allows.
fn narrowed(candidates: &BTreeSet<i128>, last: BTreeSet<i128>) -> BTreeSet<i128> {
    let both: BTreeSet<i128> = candidates.intersection(&last).copied().collect();
    if both.is_empty() { last } else { both }
}

/// This one, if it is among them.
fn preferred(all: &BTreeSet<i128>, one: i128) -> i128 {
    all.get(&one).or(all.first()).copied().unwrap_or(one)
}

#[derive(Clone, Debug, Default)]
pub(super) struct Positions {
    held: BTreeMap<InstrumentId, Held>,
    /// The market was asked so often on this line.
    questions: u64,
}

impl Positions {
    fn held(&mut self, instrument: InstrumentId) -> &mut Held {
        let asked = (self.questions > 0).then(|| BTreeSet::from([0]));
        let is_asked_again = self.questions > 1;
        self.held.entry(instrument).or_insert_with(|| Held { asked, is_asked_again, ..Held::default() })
    }

    /// A fill is written.
    pub(super) fn book(&mut self, instrument: InstrumentId, lots: i64) {
        let held = self.held(instrument);
        held.sums.booked += i128::from(lots) * LOT;
        held.note();
    }

    /// Something is not booked.
    pub(super) fn leave_open(&mut self, instrument: InstrumentId, lots: i128) {
        let held = self.held(instrument);
        held.sums.open += lots;
        held.note();
    }

    /// Something that was not booked is settled.
    pub(super) fn settle(&mut self, instrument: InstrumentId, lots: i128, how: How) {
        let held = self.held(instrument);
        held.sums.open -= lots;
        match how {
            // Its fill was counted when it was written.
            How::Book => {}
            How::Apart => held.sums.apart += lots,
        }
        held.note();
    }

    /// Those in doubt, with the number of the report.
    pub(super) fn differing(&self) -> impl Iterator<Item = (InstrumentId, u32)> {
        self.held.iter().filter_map(|(instrument, held)| Some((*instrument, held.last.as_ref()?.number)))
    }

    /// The report of this number is in doubt for too long. Whether it is the last.
    pub(super) fn overdue(&mut self, instrument: InstrumentId, number: u32) -> bool {
        let held = self.held(instrument);
        held.is_overdue = held.last.as_ref().is_some_and(|last| last.number == number);
        held.is_overdue
    }

    /// They are asked for.
    pub(super) fn ask(&mut self) {
        self.questions += 1;
        for held in self.held.values_mut() {
            let sum = held.sum();
            held.is_asked_again = held.asked.is_some();
            held.asked.get_or_insert_default().insert(sum);
        }
    }

    /// The line is another one: what was asked on the last is not answered.
    pub(super) fn forget_questions(&mut self) {
        self.questions = 0;
        self.held.values_mut().for_each(|held| (held.asked, held.is_asked_again) = (None, false));
    }
}

impl Driver {
    /// By instrument: what is booked, what is not, and what the market says.
    pub fn sums(&self) -> impl Iterator<Item = (InstrumentId, Sums)> {
        self.positions.held.iter().map(|(instrument, held)| (*instrument, held.sums))
    }

    /// The market says what the account holds.
    pub(super) fn position(&mut self, instrument: InstrumentId, lots: i128, effects: &mut Effects) {
        let nothing_was_sent = self.names.is_empty();
        let held = self.positions.held(instrument);
        held.sums.reported = Some(lots);
        let differs = match held.report(lots, nothing_was_sent) {
            Finding::Nothing => return,
            Finding::Doubtful => {
                let is_of = |order: &&Order| order.request.instrument == instrument;
                let orders: Vec<OrderId> =
                    self.orders.values().filter(is_of).map(|order| order.request.order_id).collect();
                return orders.into_iter().for_each(|order_id| self.ask(order_id, effects));
            }
            Finding::Differs(differs) => differs,
        };
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
