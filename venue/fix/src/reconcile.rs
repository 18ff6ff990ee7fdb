//! What was asked of the market altogether: the status of all orders (AF), the positions (AN). Pure.

use std::collections::BTreeSet;

use fix_codec::codec::Message;
use venue::{News, OrderState, Report, Says};
use wire::{InstrumentId, Nanos};

use crate::hear::{self, Instruments};
use crate::questions::Pace;

/// A request that is not answered for so many nanoseconds is sent again, where its answer is still wanted.
const PATIENCE: u64 = 10_000_000_000;

/// A request and what has come of it.
#[derive(Clone, Debug)]
struct Asked {
    id: String,
    at: u64,
    /// How many reports there are, once a report gives it.
    total: Option<u64>,
    reports: u64,
}

impl Asked {
    fn new(id: String, at: u64) -> Asked {
        Asked { id, at, total: None, reports: 0 }
    }

    fn is_whole(&self) -> bool {
        self.total.is_some_and(|total| self.reports >= total)
    }
}

#[derive(Debug, Default)]
pub(crate) struct Reconcile {
    last: u64,
    orders: Option<Asked>,
    /// The status of all orders is to be asked for, and the positions are.
    wants_orders: bool,
    wants_positions: bool,
    orders_pace: Pace,
    positions_pace: Pace,
    /// Orders that are asked for with the next request for all: the market answers for none alone.
    wanted: BTreeSet<String>,
    /// Those that the request under way must name.
    due: BTreeSet<String>,
    positions: Option<Asked>,
    /// Of the last request for positions on this line.
    positions_id: String,
    /// Instruments that a report has named.
    named: BTreeSet<InstrumentId>,
}

impl Reconcile {
    fn id(&mut self, now_ns: u64) -> String {
        self.last += 1;
        format!("r{now_ns}.{}", self.last)
    }

    /// An order is asked for where the market answers only for all together.
    pub(crate) fn want(&mut self, name: &str) {
        self.wanted.insert(name.to_owned());
    }

    /// Everything is asked for once its time has come.
    pub(crate) fn want_all(&mut self) {
        (self.wants_orders, self.wants_positions) = (true, true);
    }

    /// Whether all orders are to be asked for now. Takes the turn.
    pub(crate) fn are_orders_due(&mut self, now_ns: u64) -> bool {
        let is_open = self.orders.as_ref().is_some_and(|asked| now_ns < asked.at + PATIENCE);
        let is_wanted = self.wants_orders || !self.wanted.is_empty() && !is_open;
        is_wanted && self.orders_pace.take(now_ns)
    }

    /// Whether all positions are to be asked for now: one question after the other. Takes the turn.
    pub(crate) fn are_positions_due(&mut self, now_ns: u64) -> bool {
        let is_open = self.positions.as_ref().is_some_and(|asked| now_ns < asked.at + PATIENCE);
        self.wants_positions && !is_open && self.positions_pace.take(now_ns)
    }

    /// All orders are asked for under this id.
    pub(crate) fn ask_orders(&mut self, now_ns: u64) -> String {
        let id = self.id(now_ns);
        self.wants_orders = false;
        // Those of a request that is not answered too.
        self.due.append(&mut self.wanted);
        self.orders = Some(Asked::new(id.clone(), now_ns));
        id
    }

    /// All positions are asked for under this id.
    pub(crate) fn ask_positions(&mut self, now_ns: u64) -> String {
        let id = self.id(now_ns);
        self.wants_positions = false;
        self.named.clear();
        self.positions_id.clone_from(&id);
        self.positions = Some(Asked::new(id.clone(), now_ns));
        id
    }

    /// The line is another one: what was asked on the last is not answered.
    pub(crate) fn forget(&mut self) {
        (self.orders, self.positions) = (None, None);
        self.positions_id.clear();
        (self.wants_orders, self.wants_positions) = (false, false);
        self.wanted.clear();
        self.due.clear();
    }

    /// The market will not answer for all orders together.
    pub(crate) fn no_orders(&mut self) {
        self.orders = None;
        self.due.clear();
    }

    pub(crate) fn no_positions(&mut self) {
        self.positions = None;
    }

    /// An execution report that answers a request for all orders. Behind the last, those that it did not name are none of the market's.
    pub(crate) fn order(&mut self, message: &Message, news: &mut Vec<News>) {
        let Some(asked) = self.orders.as_mut().filter(|asked| message.get(584) == Some(asked.id.as_str()))
        else {
            return;
        };
        asked.reports += 1;
        asked.total = message.number(911).or(asked.total);
        if let Some(name) = message.get(11) {
            self.due.remove(name);
        }
        // A market without orders answers with one report that rejects the question.
        let is_none = message.get(11).is_none() && message.get(39) == Some("8");
        if asked.is_whole() || message.is(912) || is_none {
            let time = message.get(52).and_then(fix_codec::time::read_utc_nanos).unwrap_or(0);
            for name in std::mem::take(&mut self.due) {
                let says = Says::Status { state: OrderState::None, filled: None, average: None, terms: None };
                let report = Report { name, original: None, of: None, time: Nanos(time), says };
                news.push(News::Report(report));
            }
            self.orders = None;
        }
    }

    /// The answer to a request for positions: how many reports follow. `false`: the market has none to give.
    pub(crate) fn positions_follow(
        &mut self,
        message: &Message,
        all: impl Iterator<Item = InstrumentId>,
        news: &mut Vec<News>,
    ) -> bool {
        let Some(asked) = self.positions.as_mut().filter(|asked| message.get(710) == Some(asked.id.as_str()))
        else {
            return true;
        };
        match message.get(728) {
            None | Some("0") => {
                asked.total = message.number(727).or(asked.total);
                self.finish(all, news);
                true
            }
            // No positions were found: all are zero.
            Some("2") => {
                asked.total = Some(0);
                self.finish(all, news);
                true
            }
            _ => {
                self.positions = None;
                false
            }
        }
    }

    /// A position report.
    pub(crate) fn position(
        &mut self,
        message: &Message,
        instruments: &impl Instruments,
        all: impl Iterator<Item = InstrumentId>,
        news: &mut Vec<News>,
    ) {
        if message.get(710).is_some_and(|id| id != self.positions_id) {
            return log::warn!(
                "a position report that answers another question than the last is passed over"
            );
        }
        let found =
            hear::position(message).and_then(|(symbol, lots)| Some((instruments.instrument(symbol)?, lots)));
        match found {
            Some((instrument, lots)) => {
                self.named.insert(instrument);
                news.push(News::Position { instrument, lots });
            }
            None => log::warn!(
                "a position report of {} is not understood, or of no instrument that is listed here",
                message.get(55).unwrap_or("-")
            ),
        }
        if let Some(asked) =
            self.positions.as_mut().filter(|asked| message.get(710) == Some(asked.id.as_str()))
        {
            asked.reports += 1;
            asked.total = message.number(727).or(asked.total);
            self.finish(all, news);
        }
    }

    /// What no report has named is zero.
    fn finish(&mut self, all: impl Iterator<Item = InstrumentId>, news: &mut Vec<News>) {
        if !self.positions.as_ref().is_some_and(Asked::is_whole) {
            return;
        }
        self.positions = None;
        for instrument in all.filter(|instrument| !self.named.contains(instrument)) {
            news.push(News::Position { instrument, lots: 0 });
        }
    }
}
