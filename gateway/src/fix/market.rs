//! Market data in FIX: the latest quotes, and what a subscription is told of them. Pure.

use std::collections::{BTreeMap, HashMap, VecDeque};

use wire::{InstrumentId, Level, Price, Quote, TradePrint};

use super::codec::{Fields, Message};
use super::words::{Wrong, need, parse};

/// Trades of a subscription between two messages; beyond, the oldest are left out.
const TRADES: usize = 1_000;
/// Instruments of a request at most.
const MOST: usize = 1_000;

/// What is known of all instruments.
#[derive(Debug, Default)]
pub(crate) struct Market {
    numbers: HashMap<String, u32>,
    names: HashMap<u32, String>,
    quotes: HashMap<u32, (Quote, u64)>,
    /// The last trades of all, each with its number.
    trades: VecDeque<(u64, TradePrint)>,
    version: u64,
}

impl Market {
    pub(crate) fn list(&mut self, numbers: HashMap<String, u32>) {
        self.names = numbers.iter().map(|(name, number)| (*number, name.clone())).collect();
        self.numbers = numbers;
    }

    pub(crate) fn number(&self, symbol: &str) -> Option<u32> {
        self.numbers.get(symbol).copied()
    }

    pub(crate) fn name(&self, instrument: u32) -> String {
        self.names.get(&instrument).cloned().unwrap_or_else(|| instrument.to_string())
    }

    pub(crate) fn quote(&self, instrument: u32) -> Option<Quote> {
        self.quotes.get(&instrument).map(|(quote, _)| *quote)
    }

    pub(crate) fn set(&mut self, quote: Quote) {
        self.version += 1;
        self.quotes.insert(quote.instrument.0, (quote, self.version));
    }

    pub(crate) fn trade(&mut self, print: &TradePrint) {
        self.version += 1;
        if self.trades.len() == TRADES {
            self.trades.pop_front();
        }
        self.trades.push_back((self.version, *print));
    }
}

/// A MarketDataRequest that is wrong: MDReqRejReason, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refused(pub(crate) char, pub(crate) String);

type Sides = Vec<(char, Price, i64)>;

/// A subscription.
#[derive(Debug)]
pub(crate) struct Subscription {
    id: String,
    instruments: Vec<u32>,
    depth: usize,
    is_incremental: bool,
    types: Vec<char>,
    told: BTreeMap<u32, (u64, Sides)>,
    trades: u64,
}

/// What a request asks for.
#[derive(Debug)]
pub(crate) enum Wish {
    Once(Subscription),
    Subscribe(Subscription),
    End,
}

impl Subscription {
    pub(crate) fn read(message: &Message, market: &Market) -> Result<Result<(String, Wish), Refused>, Wrong> {
        let id = need(message, 262)?.to_owned();
        let kind = need(message, 263)?;
        if kind == "2" {
            return Ok(Ok((id, Wish::End)));
        }
        if !matches!(kind, "0" | "1") {
            return Ok(Err(Refused('4', format!("tag 263 is `{kind}`; it must be 0, 1 or 2"))));
        }
        let depth = match parse::<usize>(message, 264)?.ok_or_else(|| Wrong::missing(264))? {
            0 => wire::LEVELS,
            depth => depth.min(wire::LEVELS),
        };
        let is_incremental = match message.get(265) {
            None | Some("0") => false,
            Some("1") => true,
            Some(other) => return Ok(Err(Refused('6', format!("tag 265 is `{other}`; it must be 0 or 1")))),
        };
        let types: Vec<char> = message.all(269).filter_map(|kind| kind.chars().next()).collect();
        if types.is_empty() {
            return Err(Wrong::missing(269));
        }
        if let Some(other) = types.iter().find(|kind| !matches!(kind, '0' | '1' | '2')) {
            return Ok(Err(Refused('8', format!("tag 269 is `{other}`; it must be 0, 1 or 2"))));
        }
        let symbols: Vec<&str> = message.all(55).collect();
        if symbols.is_empty() {
            return Err(Wrong::missing(55));
        }
        if symbols.len() > MOST {
            return Ok(Err(Refused('D', format!("a request has up to {MOST} instruments"))));
        }
        let mut instruments = Vec::new();
        for symbol in symbols {
            match market.number(symbol) {
                Some(number) => instruments.push(number),
                None => return Ok(Err(Refused('0', format!("there is no instrument `{symbol}`")))),
            }
        }
        let made = Subscription {
            id: id.clone(),
            instruments,
            depth,
            is_incremental,
            types,
            told: BTreeMap::new(),
            trades: market.version,
        };
        Ok(Ok((id, if kind == "1" { Wish::Subscribe(made) } else { Wish::Once(made) })))
    }

    fn sides(&self, quote: &Quote) -> Sides {
        let mut sides = Vec::new();
        for (kind, levels) in [('0', &quote.bids), ('1', &quote.asks)] {
            if self.types.contains(&kind) {
                let there = levels.iter().take(self.depth).filter(|level: &&Level| level.is_some());
                sides.extend(there.map(|level| (kind, level.price, level.quantity.0)));
            }
        }
        sides
    }

    /// What is new for it: types of messages, and what they say.
    pub(crate) fn news(&mut self, market: &Market) -> Vec<(&'static str, Fields)> {
        let mut news = Vec::new();
        for instrument in self.instruments.clone() {
            let (quote, version) = market
                .quotes
                .get(&instrument)
                .copied()
                .unwrap_or((Quote::empty(InstrumentId(instrument)), 0));
            let before = self.told.get(&instrument);
            if before.is_some_and(|(told, _)| *told >= version) {
                continue;
            }
            let (sides, name) = (self.sides(&quote), market.name(instrument));
            match before {
                Some((_, before)) if self.is_incremental => {
                    if let Some(fields) = changes(&self.id, &name, before, &sides) {
                        news.push(("X", fields));
                    }
                }
                Some((_, before)) if *before == sides => {}
                _ => news.push(("W", self.snapshot(&name, &sides, &quote))),
            }
            self.told.insert(instrument, (version, sides));
        }
        if self.types.contains(&'2') {
            let first = market.trades.partition_point(|(number, _)| *number <= self.trades);
            for (_, print) in market.trades.range(first..) {
                if self.instruments.contains(&print.instrument.0) {
                    let fields = Fields::default()
                        .with(262, &self.id)
                        .with(268, 1)
                        .with(279, 0)
                        .with(269, '2')
                        .with(55, market.name(print.instrument.0))
                        .with(270, print.price)
                        .with(271, print.quantity.0);
                    news.push(("X", fields));
                }
            }
            self.trades = market.version;
        }
        news
    }

    fn snapshot(&self, name: &str, sides: &Sides, quote: &Quote) -> Fields {
        let has_trade = self.types.contains(&'2') && quote.last_price.is_some() && quote.last_quantity.0 > 0;
        let mut fields = Fields::default()
            .with(262, &self.id)
            .with(55, name)
            .with(268, sides.len() + usize::from(has_trade));
        for (kind, price, quantity) in sides {
            fields = fields.with(269, kind).with(270, price).with(271, quantity);
        }
        if has_trade {
            fields = fields.with(269, '2').with(270, quote.last_price).with(271, quote.last_quantity.0);
        }
        fields
    }
}

/// From one state of the book to the next.
fn changes(id: &str, name: &str, before: &Sides, now: &Sides) -> Option<Fields> {
    let find = |all: &Sides, kind: char, price: Price| {
        all.iter().find(|(side, other, _)| *side == kind && *other == price).map(|(.., quantity)| *quantity)
    };
    let mut entries = Vec::new();
    for (kind, price, quantity) in before {
        if find(now, *kind, *price).is_none() {
            entries.push(('2', *kind, *price, *quantity));
        }
    }
    for (kind, price, quantity) in now {
        match find(before, *kind, *price) {
            None => entries.push(('0', *kind, *price, *quantity)),
            Some(was) if was != *quantity => entries.push(('1', *kind, *price, *quantity)),
            Some(_) => {}
        }
    }
    if entries.is_empty() {
        return None;
    }
    let mut fields = Fields::default().with(262, id).with(268, entries.len());
    for (action, kind, price, quantity) in entries {
        fields = fields.with(279, action).with(269, kind).with(55, name).with(270, price).with(271, quantity);
    }
    Some(fields)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::Quantity;

    fn level(price: i64, quantity: i64) -> Level {
        Level { price: Price(price * Price::ONE), quantity: Quantity(quantity) }
    }

    fn request(more: &[(u32, &str)]) -> Message {
        let fields = [(35, "V"), (262, "r"), (263, "1"), (264, "0"), (269, "0"), (269, "1")];
        let all = fields.iter().chain(more);
        Message { fields: all.map(|(tag, value)| (*tag, (*value).to_owned())).collect() }
    }

    #[test]
    fn a_snapshot_is_followed_by_what_has_changed() {
        let mut market = Market::default();
        market.list([("A".to_owned(), 1)].into());
        let mut quote = Quote::empty(InstrumentId(1));
        (quote.bids[0], quote.asks[0]) = (level(10, 5), level(11, 6));
        market.set(quote);
        let Ok(Ok((_, Wish::Subscribe(mut subscription)))) =
            Subscription::read(&request(&[(265, "1"), (55, "A")]), &market)
        else {
            panic!()
        };
        let first = subscription.news(&market);
        assert_eq!(first[0].0, "W");
        assert!(first[0].1.0.contains("268=2\x01269=0\x01270=10\x01271=5\x01269=1\x01270=11\x01271=6\x01"));
        assert!(subscription.news(&market).is_empty());
        (quote.bids[0], quote.asks[0]) = (level(12, 1), level(11, 7));
        market.set(quote);
        let next = subscription.news(&market);
        assert_eq!(next[0].0, "X");
        assert!(next[0].1.0.contains("268=3\x01279=2\x01269=0\x0155=A\x01270=10"), "{:?}", next[0].1);
        assert!(next[0].1.0.contains("279=1\x01269=1\x0155=A\x01270=11\x01271=7\x01"));
        assert!(matches!(Subscription::read(&request(&[(55, "B")]), &market), Ok(Err(Refused('0', _)))));
        assert!(matches!(Subscription::read(&request(&[(265, "1")]), &market), Err(Wrong { tag: 55, .. })));
    }
}
