//! Continuous contracts: when they roll, what the series is, and how a position follows.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::time::Duration;

use strategy_sdk::testing::{Harness, Role, Setup};
use strategy_sdk::*;

const H4: InstrumentId = InstrumentId(1);
const M4: InstrumentId = InstrumentId(2);
const U4: InstrumentId = InstrumentId(3);
const DAY: u64 = 86_400_000_000_000;

#[derive(Clone, Debug, Deserialize)]
struct Parameters {
    #[serde(skip)]
    rule: Option<RollRule>,
    /// Bought, or sold, at the first quote.
    lots: i64,
}

/// Rolls and reopens.
#[derive(Debug)]
struct Roller {
    future: Continuous,
    /// Number of the quote at which it rolled.
    rolls: Vec<(u64, Roll)>,
    quotes: u64,
    lots: i64,
}

impl Strategy for Roller {
    type Parameters = Parameters;

    fn create(parameters: Parameters) -> Result<Roller, ParameterError> {
        let future = Continuous::new(&[H4, M4, U4], parameters.rule.unwrap());
        let future = future.map_err(|error| ParameterError::new("rule", error.to_string()))?.keeping(3);
        Ok(Roller { future, rolls: Vec::new(), quotes: 0, lots: parameters.lots })
    }

    fn start(&mut self, context: &mut Context) {
        for id in [H4, M4, U4] {
            context.bars(BarRequest::count(id, 1)).unwrap();
        }
    }

    fn trade(&mut self, _context: &mut Context, trade: &TradePrint) {
        self.future.trade(trade);
    }

    fn quote(&mut self, context: &mut Context, _quote: &Quote) {
        self.quotes += 1;
        let side = if self.lots > 0 { Side::Buy } else { Side::Sell };
        if self.quotes == 1 && self.lots != 0 {
            context.order(OrderRequest::market(side, H4, Quantity(self.lots.abs()))).unwrap();
        }
        if let Some(roll) = self.future.roll(context) {
            self.rolls.push((self.quotes, roll));
            self.future.reopen(context, &roll).unwrap();
        }
    }

    fn bar(&mut self, _context: &mut Context, bar: &Bar) {
        self.future.bar(bar);
    }
}

fn roller(rule: RollRule, lots: i64) -> Harness<Roller> {
    let setup = Setup { interest: Interest::All, ..Harness::<Roller>::setup() };
    let mut harness = Harness::with(Parameters { rule: Some(rule), lots }, setup).unwrap();
    for symbol in ["ESH4", "ESM4", "ESU4"] {
        harness.list(symbol, "0.25", 1);
    }
    harness.start();
    harness
}

fn at(harness: &mut Harness<Roller>, time: u64) {
    let now = harness.context().now().0;
    harness.advance(Duration::from_nanos(time - now));
}

fn trade(harness: &mut Harness<Roller>, instrument: InstrumentId, text: &str, quantity: i64) {
    let time = harness.context().now().0;
    let (price, quantity) = (price(text), Quantity(quantity));
    let print = TradePrint { price, quantity, ..support::trade_print(instrument, time, time) };
    harness.send(Role::Quotes, instrument.0, &print);
}

fn rolls(harness: &Harness<Roller>) -> Vec<(u64, u32, String)> {
    let rolls = harness.strategy().rolls.iter();
    rolls.map(|(quote, roll)| (*quote, roll.to.0, roll.gap.to_string())).collect()
}

fn price(text: &str) -> Price {
    text.parse().unwrap()
}

#[test]
fn it_rolls_at_its_times_once_both_contracts_have_a_bid_and_an_ask() {
    let mut harness = roller(RollRule::At(vec![Nanos(3 * DAY), Nanos(5 * DAY)]), 0);
    at(&mut harness, 2 * DAY);
    harness.quote(H4, "4000", "4000.5", 10);
    assert_eq!(rolls(&harness), []);
    at(&mut harness, 3 * DAY);
    harness.quote(H4, "4001", "4001.5", 10);
    assert_eq!(rolls(&harness), [], "the next contract has no prices yet");
    harness.quote(M4, "4050", "4050.75", 10);
    assert_eq!(rolls(&harness), [(3, 2, "49.125".to_owned())]);
    assert_eq!(harness.strategy().future.front(), M4);
    // Another day passes, with no price of the last contract.
    at(&mut harness, 6 * DAY);
    harness.quote(M4, "4060", "4060.5", 10);
    harness.quote(U4, "4100", "4100.5", 10);
    assert_eq!(rolls(&harness)[1..], [(5, 3, "40".to_owned())]);
    at(&mut harness, 60 * DAY);
    harness.quote(U4, "4100", "4100.5", 10);
    assert_eq!(rolls(&harness).len(), 2, "the last contract stays the front one");
    let adjusted = |contract, text| harness.strategy().future.back_adjusted(contract, price(text));
    assert_eq!(adjusted(H4, "4000"), Some(price("4089.125")));
    assert_eq!(adjusted(M4, "4060"), Some(price("4100")));
    assert_eq!(adjusted(U4, "4100"), Some(price("4100")));
    assert_eq!(adjusted(InstrumentId(9), "1"), None);
}

#[test]
fn by_volume_it_rolls_at_the_begin_of_the_day_after_the_next_one_traded_more() {
    let begin = 22 * 3_600_000_000_000;
    let mut harness = roller(RollRule::Volume { day_begins: Duration::from_nanos(begin) }, 0);
    let day = |harness: &mut Harness<Roller>, number: u64| {
        at(harness, number * DAY + begin);
        harness.quote(H4, "4000", "4000.5", 10);
        harness.quote(M4, "4050", "4050.5", 10);
        harness.quote(U4, "4100", "4100.5", 10);
    };
    day(&mut harness, 10);
    trade(&mut harness, H4, "4000", 100);
    trade(&mut harness, M4, "4000", 100);
    trade(&mut harness, U4, "4000", 900);
    day(&mut harness, 11);
    assert_eq!(rolls(&harness), [], "as much is not more, and the contract after the next does not count");
    trade(&mut harness, H4, "4000", 50);
    trade(&mut harness, M4, "4000", 51);
    at(&mut harness, 12 * DAY + begin - 1);
    harness.quote(M4, "4050", "4050.5", 10);
    assert_eq!(rolls(&harness), [], "the day has not ended");
    day(&mut harness, 12);
    assert_eq!(rolls(&harness), [(8, 2, "50".to_owned())]);
    // A weekend: the day that counts is the last one with trades.
    trade(&mut harness, M4, "4000", 5);
    trade(&mut harness, U4, "4000", 6);
    day(&mut harness, 15);
    assert_eq!(rolls(&harness)[1..], [(11, 3, "50".to_owned())]);
}

#[test]
fn a_position_is_closed_in_the_old_contract_and_opened_in_the_new_one() {
    for (sign, close, open) in [(1, Side::Sell, Side::Buy), (-1, Side::Buy, Side::Sell)] {
        let mut harness = roller(RollRule::At(vec![Nanos(3 * DAY), Nanos(5 * DAY)]), sign * 7);
        harness.quote(H4, "4000", "4000.5", 10);
        harness.quote(M4, "4050", "4050.5", 10);
        let [Request::New(first)] = harness.sent()[..] else { panic!() };
        harness.accept(&first);
        harness.fill(&first, price("4000"), 7);
        at(&mut harness, 3 * DAY);
        harness.quote(H4, "4000", "4000.5", 10);
        let sent = harness.sent();
        let [Request::New(closing), Request::New(opening)] = sent[..] else { panic!("{sent:?}") };
        assert_eq!((closing.instrument, closing.side, closing.quantity), (H4, close, Quantity(7)));
        assert_eq!((opening.instrument, opening.side, opening.quantity), (M4, open, Quantity(7)));
    }
}

#[test]
fn a_series_has_the_front_contracts_bars_with_a_jump_or_without() {
    let mut harness = roller(RollRule::At(vec![Nanos(3 * DAY), Nanos(5 * DAY)]), 0);
    harness.quote(H4, "4000", "4000", 1);
    harness.quote(M4, "4050", "4050", 1);
    for (instrument, close) in [(H4, "3990"), (H4, "3995"), (M4, "4047"), (H4, "4000")] {
        trade(&mut harness, instrument, close, 1);
    }
    at(&mut harness, 3 * DAY);
    harness.quote(M4, "4050", "4050", 1);
    trade(&mut harness, M4, "4051", 1);
    let closes = |adjustment| {
        let bars = harness.strategy().future.bars(adjustment);
        bars.map(|bar| [bar.open, bar.high, bar.low, bar.close].map(|price| price.to_string()))
            .collect::<Vec<_>>()
    };
    let all = |closes: [&str; 3]| closes.map(|close| [close; 4].map(str::to_owned));
    assert_eq!(closes(Adjustment::None), all(["3995", "4000", "4051"]), "the oldest of four is gone");
    assert_eq!(closes(Adjustment::Back), all(["4045", "4050", "4051"]));
}

#[test]
fn what_cannot_be_a_continuous_contract_is_refused() {
    let new = |contracts: &[InstrumentId], rule| Continuous::new(contracts, rule).map(|_| ()).unwrap_err();
    let at = |times: &[u64]| RollRule::At(times.iter().copied().map(Nanos).collect());
    assert_eq!(new(&[H4], at(&[])), ContinuousError::Contracts);
    assert_eq!(new(&[H4, M4, H4], at(&[1, 2])), ContinuousError::Contracts);
    assert_eq!(new(&[H4, M4, U4], at(&[1])), ContinuousError::Times { expected: 2 });
    assert_eq!(new(&[H4, M4, U4], at(&[2, 2])), ContinuousError::Times { expected: 2 });
    let day = RollRule::Volume { day_begins: Duration::from_secs(86_400) };
    assert_eq!(new(&[H4, M4], day), ContinuousError::DayBegins);
}
