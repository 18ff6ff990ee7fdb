//! What was asked of the market altogether: the status of all orders (AF), the positions (AN). Pure.

use std::collections::BTreeSet;

use fix_codec::codec::Message;
use venue::{News, OrderState, Report, Says};
use wire::{InstrumentId, Nanos};

use crate::hear::{self, Instruments};

/// A request and what has come of it.
#[derive(Clone, Debug)]
struct Asked {
    id: String,
    /// How many reports there are, once a report gives it.
    total: Option<u64>,
    reports: u64,
}

impl Asked {
    fn new(id: String) -> Asked {
        Asked { id, total: None, reports: 0 }
    }

    fn is_whole(&self) -> bool {
        self.total.is_some_and(|total| self.reports >= total)
    }
}

#[derive(Debug, Default)]
pub(crate) struct Reconcile {
    last: u64,
    orders: Option<Asked>,
    /// Orders that are asked for with the next request for all: the market answers for none alone.
    wanted: BTreeSet<String>,
    /// Those that the request under way must name.
    due: BTreeSet<String>,
    positions: Option<Asked>,
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

    /// Whether all orders are to be asked for.
    pub(crate) fn is_due(&self) -> bool {
        self.orders.is_none() && !self.wanted.is_empty()
    }

    /// All orders are asked for under this id.
    pub(crate) fn ask_orders(&mut self, now_ns: u64) -> String {
        let id = self.id(now_ns);
        self.due = std::mem::take(&mut self.wanted);
        self.orders = Some(Asked::new(id.clone()));
        id
    }

    /// All positions are asked for under this id.
    pub(crate) fn ask_positions(&mut self, now_ns: u64) -> String {
        let id = self.id(now_ns);
        self.named.clear();
        self.positions = Some(Asked::new(id.clone()));
        id
    }

    /// The line is another one: what was asked on the last is not answered.
    pub(crate) fn forget(&mut self) {
        (self.orders, self.positions) = (None, None);
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
