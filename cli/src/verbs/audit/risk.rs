//! What the ledger asks for stands in the drop copy once, in order and unchanged, and its marks are prices of the market.

use std::collections::{BTreeMap, VecDeque};

use topology::Topology;
use wire::{
    AccountChange, AnyMessage, Best, DROP_REFUSED, Instrument, InstrumentId, Mark, Message, NewOrder, Price,
    Quote, Request, StrategyId, TradePrint,
};

use super::Stop;
use super::books::Books;
use super::findings::Findings;
use super::frames::{said, same};
use super::given::Given;
use super::offsets::Offsets;
use super::reach::Reach;
use super::rules::{LATE, STALE, mark_span};
use crate::desk::{DROPS, Fault, Seen, Source, Stream};

pub(super) const RISK: &str = "ledger.risk";
const INSTRUMENTS: &str = "md.instruments";
/// Where the market's prices stand.
const MARKETS: [&str; 2] = ["md.quotes", "md.best"];

/// What the market showed for a while.
#[derive(Clone, Copy, Debug)]
struct Shown {
    time: u64,
    low: i64,
    high: i64,
}

/// Prices of one instrument: what was shown lately, and what is shown now.
#[derive(Debug, Default)]
struct Prices {
    lately: VecDeque<Shown>,
    bid: Option<Price>,
    ask: Option<Price>,
    trade: Option<Price>,
    /// What md lists, until there is more.
    reference: Option<Price>,
}

pub(super) struct Risk<'a> {
    pub(super) findings: Findings,
    reach: Reach,
    /// `None` where there is no such journal, or its begin is overwritten.
    risk: Option<Stream<'a>>,
    markets: Vec<Stream<'a>>,
    /// Where the market's journals begin in time: zero where they are whole.
    markets_from: u64,
    prices: BTreeMap<InstrumentId, Prices>,
    ledger: Option<StrategyId>,
    /// The last mark of each instrument in the drop copy: a ledger that is started again repeats it.
    marks: BTreeMap<InstrumentId, Price>,
    /// The first mark of each instrument that td has passed over; one that replaces it must follow.
    passed_over: BTreeMap<InstrumentId, u64>,
    /// Marks older than the prices that are left.
    unseen: u64,
}

pub(super) fn part() -> Findings {
    Findings::new(
        "marks",
        "marks are prices of the market, and what the ledger asks for is in the drop copy once, in order, unchanged",
    )
}

impl<'a> Risk<'a> {
    pub(super) fn new(
        source: &'a Source,
        topology: &Topology,
        reach: Reach,
        is_begin: bool,
    ) -> Result<Risk<'a>, Stop> {
        let mut findings = part();
        let mut risk = source.held(RISK)?;
        let has_begin = match &mut risk {
            Some(stream) => stream.is_at_begin()?,
            None => false,
        };
        if !has_begin || !is_begin {
            let why = if risk.is_none() { "is not there" } else { "does not reach back to its begin" };
            findings.lacks(format!(
                "{RISK} or {DROPS} {why}: what the ledger asked for is not compared with what took effect"
            ));
            risk = None;
        }
        let mut prices: BTreeMap<InstrumentId, Prices> = BTreeMap::new();
        if let Some(mut stream) = source.held(INSTRUMENTS)? {
            while let Some(seen) = stream.next()? {
                if seen.id == Instrument::ID
                    && let Ok(listed) = Instrument::decode(&seen.payload)
                    && listed.reference_price.is_some()
                {
                    prices.entry(listed.id).or_default().reference = Some(listed.reference_price);
                }
            }
        }
        let (mut markets, mut markets_from) = (Vec::new(), 0);
        for name in MARKETS {
            if let Some(mut stream) = source.held(name)? {
                if !stream.is_at_begin()? {
                    let first = stream.peek()?.map_or(u64::MAX, |seen| seen.time);
                    markets_from = markets_from.max(first.saturating_add(LATE));
                }
                markets.push(stream);
            }
        }
        if markets.is_empty() {
            findings.lacks("there are no prices of the market: marks are not compared with them");
        }
        let ledger = topology.nodes.iter().find(|node| node.kind == topology::NodeKind::Ledger);
        Ok(Risk {
            findings,
            reach,
            risk,
            markets,
            markets_from,
            prices,
            ledger: ledger.map(|node| StrategyId(node.seat)),
            marks: BTreeMap::new(),
            passed_over: BTreeMap::new(),
            unseen: 0,
        })
    }

    /// The next frame of the drop copy.
    /// `known`: the books before it, and the rules that td is given.
    pub(super) fn take(&mut self, seen: &Seen, known: Option<(&Books, &Given)>) -> Result<(), Stop> {
        if !self.is_asked_for(seen) {
            return Ok(());
        }
        let asked = self.compare(seen, known)?;
        if let Some(mark) = mark_of(seen) {
            // td may have been away since the ledger has taken it from the market.
            self.mark(seen, &mark, asked.unwrap_or(seen.time))?;
        }
        Ok(())
    }

    /// Marks, what the ledger changes about accounts, and its orders, refused ones too. Its cancels look like td's own.
    fn is_asked_for(&self, seen: &Seen) -> bool {
        match AnyMessage::decode(seen.id, &seen.payload) {
            Ok(AnyMessage::Mark(_)) => true,
            Ok(AnyMessage::AccountChange(change)) => change.who.as_str() == "ledger",
            Ok(AnyMessage::NewOrder(order)) => self.ledger == Some(order.order_id.strategy()),
            Ok(_) | Err(_) => false,
        }
    }

    /// When the ledger asked for it, where that is there.
    fn compare(&mut self, seen: &Seen, known: Option<(&Books, &Given)>) -> Result<Option<u64>, Fault> {
        let Some(risk) = &mut self.risk else { return Ok(None) };
        self.findings.checked += 1;
        while let Some(asked) = risk.next()? {
            if is_same(&asked, seen, known) {
                if let Some(mark) = mark_of(seen) {
                    self.passed_over.remove(&mark.instrument);
                }
                return Ok(Some(asked.time));
            }
            // A td that was away takes no mark that another one has replaced by then.
            if let Some(mark) = mark_of(&asked) {
                if self.marks.get(&mark.instrument) == Some(&mark.price) {
                    // Nothing has changed by it.
                    self.passed_over.remove(&mark.instrument);
                    continue;
                }
                if seen.time.saturating_sub(asked.time) > STALE {
                    self.passed_over.entry(mark.instrument).or_insert(asked.position);
                    continue;
                }
            }
            // A change that is so already, and an order that td refuses without a copy of it, leave nothing behind. Cancels
            // stand with those of td.
            let is_its = asked_for(&asked).is_some_and(|of| asked_for(seen) == Some(of));
            if asked.id == Mark::ID || is_its {
                self.findings.differs(DROPS, seen.position, said(seen), said(&asked));
                return Ok(None);
            }
        }
        if self.reach.is_due(seen) {
            let expected = format!("nothing: {RISK} has no more that was asked for");
            self.findings.differs(DROPS, seen.position, said(seen), expected);
        }
        Ok(None)
    }

    /// `time`: when it was a price of the market.
    fn mark(&mut self, seen: &Seen, mark: &Mark, time: u64) -> Result<(), Fault> {
        let before = self.marks.insert(mark.instrument, mark.price);
        self.advance(time)?;
        if self.markets.is_empty() || before == Some(mark.price) {
            return Ok(());
        }
        if time < self.markets_from {
            self.unseen += 1;
            return Ok(());
        }
        self.findings.checked += 1;
        let prices = self.prices.entry(mark.instrument).or_default();
        prices.forget(time.saturating_sub(LATE));
        let low = prices.lately.iter().map(|shown| shown.low).min();
        let high = prices.lately.iter().map(|shown| shown.high).max();
        let found = format!("a mark of instrument {} at {}", mark.instrument, mark.price);
        match (low, high) {
            (Some(low), Some(high)) if (low..=high).contains(&mark.price.0) => {}
            (Some(low), Some(high)) => {
                let expected = format!(
                    "a price between {} and {}, which the market showed then",
                    Price(low),
                    Price(high)
                );
                self.findings.differs(DROPS, seen.position, found, expected);
            }
            _ => self.findings.differs(DROPS, seen.position, found, "none: the market showed no price"),
        }
        Ok(())
    }

    /// Takes what the market showed up to a time.
    fn advance(&mut self, time: u64) -> Result<(), Fault> {
        for stream in &mut self.markets {
            while stream.peek()?.is_some_and(|seen| seen.time <= time) {
                let Some(seen) = stream.next()? else { break };
                show(&mut self.prices, &seen);
            }
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Findings, Stop> {
        if self.unseen > 0 {
            self.findings.lacks(format!(
                "{} marks are older than the market's prices that are left, and were not compared with them",
                self.unseen
            ));
        }
        let mut left = 0_u64;
        if let Some(risk) = &mut self.risk {
            while let Some(seen) = risk.next()? {
                left += u64::from(self.reach.has(RISK, &seen));
                if let Some(mark) = mark_of(&seen) {
                    self.passed_over.remove(&mark.instrument);
                }
            }
        }
        for (instrument, position) in &self.passed_over {
            let expected = "a later mark of the instrument in the drop copy";
            let found =
                format!("a mark of instrument {instrument} that td has passed over, and none behind it");
            self.findings.differs(RISK, *position, found, expected);
        }
        if left > 0 {
            let why = self.reach.why_not_yet();
            self.findings.notes.push(format!("{left} frames of {RISK} not in {DROPS} yet: {why}"));
        }
        Ok(self.findings)
    }
}

fn mark_of(seen: &Seen) -> Option<Mark> {
    (seen.id == Mark::ID).then(|| Mark::decode(&seen.payload).ok())?
}

/// What a change or an order is about: two of the same are the same request.
fn asked_for(seen: &Seen) -> Option<(u16, u64)> {
    match AnyMessage::decode(seen.id, &seen.payload).ok()? {
        AnyMessage::NewOrder(order) => Some((NewOrder::ID, order.order_id.0)),
        AnyMessage::AccountChange(change) => {
            let what = u64::from(change.scope as u8) << 8 | u64::from(change.action as u8);
            Some((AccountChange::ID, u64::from(change.subject) << 16 | what))
        }
        _ => None,
    }
}

/// td may choose what an order closes, and rounds its price to the tick that holds there; all else is as it was asked for.
fn is_same(asked: &Seen, seen: &Seen, known: Option<(&Books, &Given)>) -> bool {
    if asked.id != NewOrder::ID || seen.id != NewOrder::ID {
        return same(asked, seen);
    }
    let (Ok(asked), Ok(sent)) = (NewOrder::decode(&asked.payload), NewOrder::decode(&seen.payload)) else {
        return false;
    };
    let offsets = match seen.topic {
        DROP_REFUSED => Offsets::Kept,
        _ => Offsets::of(known.map(|(books, _)| books), &Request::New(sent)),
    };
    let Some(flags) = offsets.flags(asked.flags, sent.flags) else { return false };
    let rounds = |given: &Given| given.rounds(asked.instrument, asked.price, sent.price);
    let price = if known.is_some_and(|(_, given)| rounds(given)) { asked.price } else { sent.price };
    asked == NewOrder { flags, price, ..sent }
}

fn show(prices: &mut BTreeMap<InstrumentId, Prices>, seen: &Seen) {
    let some = |price: Price| price.is_some().then_some(price);
    match seen.id {
        Quote::ID => {
            let Ok(quote) = Quote::decode(&seen.payload) else { return };
            let its = prices.entry(quote.instrument).or_default();
            its.bid = quote.best_bid().map(|level| level.price);
            its.ask = quote.best_ask().map(|level| level.price);
            its.trade = some(quote.last_price).or(its.trade);
            its.shown(seen.time);
        }
        Best::ID => {
            let Ok(best) = Best::decode(&seen.payload) else { return };
            let its = prices.entry(InstrumentId(seen.topic)).or_default();
            its.bid = best.best_bid().map(|level| level.price);
            its.ask = best.best_ask().map(|level| level.price);
            its.shown(seen.time);
        }
        TradePrint::ID => {
            let Ok(trade) = TradePrint::decode(&seen.payload) else { return };
            let its = prices.entry(trade.instrument).or_default();
            its.trade = some(trade.price).or(its.trade);
            its.shown(seen.time);
        }
        _ => {}
    }
}

impl Prices {
    fn shown(&mut self, time: u64) {
        let before = self.lately.back().map(|shown| (shown.low, shown.high));
        let known = self.reference.map(|reference| (reference.0, reference.0));
        if let Some((low, high)) = mark_span((self.bid, self.ask), self.trade, before.or(known)) {
            self.lately.push_back(Shown { time, low, high });
        }
        self.forget(time.saturating_sub(LATE));
    }

    /// What was shown until then is kept, and what was shown before that is not.
    fn forget(&mut self, until: u64) {
        while self.lately.get(1).is_some_and(|next| next.time <= until) {
            self.lately.pop_front();
        }
    }
}
