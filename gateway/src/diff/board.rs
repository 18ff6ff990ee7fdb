//! What stands for all DIFF sessions of this gateway: rows, each with the number of the change that made it so, written once
//! however many sessions get it. A session remembers the last number that it has seen, and takes what is newer.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::rc::Rc;
use std::sync::Arc;

use accounts::ContractView;
use wire::{Execution, InstrumentId, Message, OrderId, Quote, TradePrint};

use super::charts::Series;
use super::rows::{self, Name, Traded};
use crate::push::{About, Channel, Event};
use crate::side::quoted;
use crate::view::{InstrumentView, OrderView};

/// Orders and trades of an account that are kept at most: of orders, those at work beside.
const KEPT: usize = 100_000;

/// A row as an entry of its object, `"key":{…}`.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) version: u64,
    pub(crate) text: Rc<str>,
    /// May it be forgotten?
    is_done: bool,
}

/// Rows by key, and in the order of their last changes.
#[derive(Debug)]
pub(crate) struct Book<K> {
    rows: HashMap<K, Row>,
    changes: BTreeMap<u64, K>,
}

impl<K> Default for Book<K> {
    fn default() -> Book<K> {
        Book { rows: HashMap::new(), changes: BTreeMap::new() }
    }
}

impl<K: Clone + Eq + Hash> Book<K> {
    /// Sets a row; one that is as it was is no change.
    fn set(&mut self, key: K, text: String, is_done: bool, versions: &mut u64) -> bool {
        if self.rows.get(&key).is_some_and(|row| *row.text == *text) {
            return false;
        }
        self.put(key, text.into(), is_done, versions);
        while self.rows.len() > KEPT {
            let Some((_, oldest)) = self.changes.pop_first() else { break };
            match self.rows.remove(&oldest) {
                // It may still change, and goes to the end of the line.
                Some(row) if !row.is_done => {
                    let has_room = self.changes.len() <= 2 * KEPT;
                    self.put(oldest, row.text, false, versions);
                    if has_room {
                        break;
                    }
                }
                _ => {}
            }
        }
        true
    }

    fn put(&mut self, key: K, text: Rc<str>, is_done: bool, versions: &mut u64) {
        *versions += 1;
        let row = Row { version: *versions, text, is_done };
        if let Some(before) = self.rows.insert(key.clone(), row) {
            self.changes.remove(&before.version);
        }
        self.changes.insert(*versions, key);
    }

    /// What has changed behind this number, in that order.
    pub(crate) fn since(&self, seen: u64) -> impl Iterator<Item = &str> {
        let keys = self.changes.range(seen.saturating_add(1)..).map(|(_, key)| key);
        keys.filter_map(|key| self.rows.get(key)).map(|row| &*row.text)
    }

    /// What has changed behind `seen`, in that order and up to about `most` bytes, but one row at least; and the change up to which
    /// this is all. `version` is the last change of all.
    pub(crate) fn part(&self, seen: u64, version: u64, most: usize) -> (Vec<&str>, u64) {
        let (mut rows, mut bytes) = (Vec::new(), 0);
        let mut reached = seen;
        for (change, key) in self.changes.range(seen.saturating_add(1)..) {
            if bytes >= most && !rows.is_empty() {
                return (rows, reached);
            }
            reached = *change;
            if let Some(row) = self.rows.get(key) {
                bytes += row.text.len();
                rows.push(&*row.text);
            }
        }
        (rows, version)
    }

    /// A row as it stands.
    pub(crate) fn get(&self, key: &K) -> Option<&str> {
        self.rows.get(key).map(|row| &*row.text)
    }

    pub(crate) fn is_new(&self, seen: u64) -> bool {
        self.changes.last_key_value().is_some_and(|(last, _)| *last > seen)
    }
}

/// One account's.
#[derive(Debug, Default)]
pub(crate) struct Account {
    pub(crate) money: Book<()>,
    pub(crate) positions: Book<u32>,
    pub(crate) orders: Book<String>,
    pub(crate) trades: Book<String>,
    /// The platform's ids of the orders, by the name that clients use.
    pub(crate) ids: HashMap<String, (OrderId, u64)>,
}

/// One instrument's quote.
#[derive(Debug)]
struct Quoted {
    version: u64,
    quote: Quote,
    published_ns: u64,
    traded: Traded,
    /// Written by the first session that wants it.
    text: OnceCell<Rc<str>>,
}

#[derive(Debug, Default)]
pub(crate) struct Board {
    /// The number of the last change.
    pub(crate) version: u64,
    pub(crate) exchange: String,
    instruments: HashMap<u32, Name>,
    /// Events about orders of instruments that are not listed yet.
    early: Vec<Arc<Event>>,
    numbers: HashMap<String, u32>,
    pub(crate) contracts: HashMap<u32, ContractView>,
    quotes: HashMap<u32, Quoted>,
    pub(crate) accounts: HashMap<u32, Account>,
    pub(crate) series: HashMap<(u32, u64), Series>,
}

impl Board {
    pub(crate) fn new(exchange: String) -> Board {
        Board { exchange, ..Board::default() }
    }

    /// A quote of nothing stands there from the beginning: clients wait for one.
    pub(crate) fn list(&mut self, views: Vec<InstrumentView>, now_ns: u64) {
        for view in views {
            let name = Name::of(&view.symbol, &self.exchange);
            self.numbers.insert(name.full(), view.instrument);
            self.instruments.insert(view.instrument, name);
            if !self.quotes.contains_key(&view.instrument) {
                self.quoted(view.instrument, now_ns, |_| {});
            }
        }
        let mut early = std::mem::take(&mut self.early);
        apply_all(self, &mut early);
    }

    /// The number of `SHFE.SIM001`.
    pub(crate) fn number(&self, full: &str) -> Option<u32> {
        self.numbers.get(full).copied()
    }

    pub(crate) fn name(&self, instrument: u32) -> Name {
        self.instruments.get(&instrument).map_or_else(
            || Name { exchange: self.exchange.clone(), symbol: instrument.to_string() },
            Name::clone,
        )
    }

    pub(crate) fn multiplier(&self, instrument: u32) -> u64 {
        self.contracts.get(&instrument).map_or(1, |contract| contract.multiplier)
    }

    /// An event of the core.
    pub(crate) fn apply(&mut self, event: &Event) {
        match (&event.about, event.channel) {
            (About::Order(order), Channel::Orders) => {
                self.order(order);
                if let Ok(Execution::Fill(fill)) = Execution::decode(event.message_id, &event.payload) {
                    let name = self.name(order.instrument);
                    let row = rows::trade(&name, order, &fill, event.time_ns, event.sequence);
                    let key = rows::trade_id(order, &fill);
                    let text = rows::entry(&key, &row);
                    let account = self.accounts.entry(order.account).or_default();
                    account.trades.set(key, text, true, &mut self.version);
                }
            }
            (About::Market(_), Channel::Quotes) => self.quote(event),
            (About::Market(_), Channel::Trades) => {
                if let Ok(print) = TradePrint::decode(&event.payload) {
                    self.trade(&print, event.time_ns);
                }
            }
            _ => {}
        }
    }

    /// An order, as the core has it; one that is older than what is known is passed over.
    pub(crate) fn order(&mut self, order: &OrderView) {
        let name = self.name(order.instrument);
        let key = rows::order_id(order).into_owned();
        let account = self.accounts.entry(order.account).or_default();
        if account.ids.get(&key).is_some_and(|(_, sequence)| *sequence > order.sequence) {
            return;
        }
        if let Ok(id) = order.order_id.parse() {
            account.ids.insert(key.clone(), (id, order.sequence));
        }
        let text = rows::entry(&key, &rows::order(&name, order));
        account.orders.set(key, text, !order.working, &mut self.version);
        if account.ids.len() > 2 * KEPT {
            let Account { ids, orders, .. } = account;
            ids.retain(|key, _| orders.rows.contains_key(key));
        }
    }

    /// All quotes have changed.
    #[cfg(test)]
    pub(crate) fn touch_quotes(&mut self) {
        let numbers: Vec<u32> = self.quotes.keys().copied().collect();
        for number in numbers {
            self.quoted(number, 1, |_| {});
        }
    }

    fn quote(&mut self, event: &Event) {
        let known = self.quotes.get(&event.key).map(|quoted| quoted.quote);
        let quote = quoted(event, known);
        if let Some(quote) = quote {
            self.quoted(event.key, event.time_ns, |quoted| quoted.quote = quote);
        }
    }

    fn trade(&mut self, print: &TradePrint, time_ns: u64) {
        self.quoted(print.instrument.0, time_ns, |quoted| quoted.traded.add(print.price, print.quantity.0));
        for (_, series) in
            self.series.iter_mut().filter(|((instrument, _), _)| *instrument == print.instrument.0)
        {
            series.is_stale = true;
        }
    }

    fn quoted(&mut self, instrument: u32, published_ns: u64, change: impl FnOnce(&mut Quoted)) {
        self.version += 1;
        let quoted = self.quotes.entry(instrument).or_insert_with(|| Quoted {
            version: 0,
            quote: Quote::empty(InstrumentId(instrument)),
            published_ns,
            traded: Traded::NOTHING,
            text: OnceCell::new(),
        });
        change(quoted);
        (quoted.version, quoted.published_ns, quoted.text) = (self.version, published_ns, OnceCell::new());
    }

    /// A quote, if it has changed behind this number.
    pub(crate) fn quote_since(&self, instrument: u32, seen: u64) -> Option<(Rc<str>, u64)> {
        let quoted = self.quotes.get(&instrument).filter(|quoted| quoted.version > seen)?;
        let write = || {
            let (name, multiplier) = (self.name(instrument), self.multiplier(instrument));
            let row = rows::quote(&name, &quoted.quote, quoted.published_ns, &quoted.traded, multiplier);
            Rc::from(rows::entry(&name.full(), &row))
        };
        Some((Rc::clone(quoted.text.get_or_init(write)), quoted.version))
    }

    /// A position; one in an instrument without a name comes again once that is listed.
    pub(crate) fn position(&mut self, row: &accounts::PositionRow) {
        if !self.instruments.contains_key(&row.instrument.0) {
            return;
        }
        let name = self.name(row.instrument.0);
        let contract = self.contracts.get(&row.instrument.0).copied();
        let text = rows::entry(&name.full(), &rows::position(&name, row, contract));
        let account = self.accounts.entry(row.account.0).or_default();
        account.positions.set(row.instrument.0, text, true, &mut self.version);
    }

    pub(crate) fn money(&mut self, number: u32, row: &str) {
        let account = self.accounts.entry(number).or_default();
        // Clients look for this currency, whatever the account has.
        account.money.set((), rows::entry("CNY", row), true, &mut self.version);
    }
}

/// Events in a thread's hands are shared with the threads that push.
pub(crate) fn apply_all(board: &mut Board, events: &mut Vec<Arc<Event>>) -> bool {
    let is_any = !events.is_empty();
    for event in events.drain(..) {
        let is_early =
            matches!(&event.about, About::Order(order) if !board.instruments.contains_key(&order.instrument));
        if is_early {
            board.early.push(event);
        } else {
            board.apply(&event);
        }
    }
    is_any
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_gets_what_has_changed_since_it_looked_and_each_row_once() {
        let (mut book, mut version) = (Book::default(), 0);
        for (key, text) in [("a", "1"), ("b", "1"), ("a", "2"), ("c", "1"), ("b", "1")] {
            book.set(key.to_owned(), text.to_owned(), false, &mut version);
        }
        let all: Vec<&str> = book.since(0).collect();
        assert_eq!((all, version), (vec!["1", "2", "1"], 4), "the last one changes nothing");
        assert_eq!(book.since(3).count(), 1);
        assert!(book.is_new(3) && !book.is_new(4));
    }

    #[test]
    fn what_is_kept_is_bounded_and_orders_at_work_stay() {
        let (mut book, mut version) = (Book::default(), 0);
        book.set(0, "works".to_owned(), false, &mut version);
        for key in 1..KEPT as u64 + 100 {
            book.set(key, key.to_string(), true, &mut version);
        }
        assert!(book.rows.len() <= KEPT + 1 && book.rows.contains_key(&0) && !book.rows.contains_key(&1));
        assert_eq!(book.rows.len(), book.changes.len());
    }
}
