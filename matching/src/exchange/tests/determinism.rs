//! The same calls give the same events, on every machine and in every version that does not change the rules.

use std::io::Write;

use wire::{AccountId, InstrumentId, Nanos, Price, Quantity, Side, StrategyId};

use super::model::Model;
use super::operation::Operation;
use super::venue::Venue;
use crate::exchange::{
    DynamicBand, Event, Exchange, ExchangeOptions, Filter, InstrumentRules, Kind, Lifetime, MarketRules,
    Order, Phase, Replace, SelfTrade, Width,
};

const OPERATIONS: usize = 100_000;
/// FNV-1a of the events' text. It changes when the rules or the events do, and then is to be set anew.
const EVENTS: u64 = 0x7F8E_A2D8_3FC0_8B91;
const NUMBERS: u64 = 3_000;

/// Marsaglia's xorshift.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: u64) -> u64 {
        (self.next() >> 16) % limit
    }

    fn one_in(&mut self, many: u64) -> bool {
        self.below(many) == 0
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }

    fn number(&mut self) -> u64 {
        self.below(NUMBERS) << 33
    }

    fn instrument(&mut self) -> InstrumentId {
        InstrumentId(1 + self.below(3) as u32)
    }

    /// Around the middle more often than far from it.
    fn price(&mut self) -> Price {
        Price(1_000 + 5 * (self.below(20) + self.below(20)) as i64)
    }

    fn phase(&mut self) -> Phase {
        if self.one_in(2) { Phase::Continuous } else { self.pick(&Phase::ALL) }
    }

    fn order(&mut self, now: u64) -> Order {
        let (price, trigger) = (self.price(), self.price());
        let kind = match self.below(20) {
            0..2 => Kind::Market,
            2 => Kind::Stop { trigger },
            3 => Kind::StopLimit { trigger, price },
            _ => Kind::Limit(price),
        };
        let plain =
            [Lifetime::Day, Lifetime::GoodTillCancel, Lifetime::GoodTillDate(Nanos(now + self.below(5_000)))];
        let special =
            [Lifetime::ImmediateOrCancel, Lifetime::FillOrKill, Lifetime::AtTheOpen, Lifetime::AtTheClose];
        let policies = [
            SelfTrade::Allow,
            SelfTrade::CancelNewest,
            SelfTrade::CancelOldest,
            SelfTrade::CancelBoth,
            SelfTrade::Decrement,
        ];
        let quantity = 10 * (1 + self.below(30) as i64);
        let iceberg = matches!(kind, Kind::Limit(_)) && self.one_in(8);
        let minimum = matches!(kind, Kind::Limit(_)) && self.one_in(30);
        Order {
            id: self.number(),
            instrument: self.instrument(),
            side: self.pick(&[Side::Buy, Side::Sell]),
            kind,
            lifetime: if self.one_in(6) { self.pick(&special) } else { self.pick(&plain) },
            post_only: matches!(kind, Kind::Limit(_)) && self.one_in(20),
            quantity: Quantity(quantity),
            display: Quantity(if iceberg { 10 } else { 0 }),
            minimum: Quantity(if minimum { 10 } else { 0 }),
            account: AccountId(self.below(4) as u32),
            strategy: StrategyId(self.below(20) as u16),
            self_trade: if self.one_in(3) { Some(self.pick(&policies)) } else { None },
        }
    }

    fn operation(&mut self, now: &mut u64) -> Operation {
        match self.below(1_000) {
            0..500 => Operation::Submit(self.order(*now)),
            500..700 => Operation::Cancel(self.number()),
            700..900 => Operation::Replace(Replace {
                id: self.number(),
                price: self.price(),
                quantity: Quantity(10 * self.below(40) as i64),
            }),
            900 => Operation::MassCancel(Filter {
                strategy: Some(StrategyId(self.below(20) as u16)),
                ..Filter::default()
            }),
            901..905 => Operation::SetPhase(self.instrument(), self.phase()),
            905 => {
                let phases = (1..6).map(|step| (Nanos(*now + 50 * step), self.phase())).collect();
                Operation::Schedule(self.instrument(), phases)
            }
            _ => {
                *now += self.below(20);
                Operation::Advance(Nanos(*now))
            }
        }
    }
}

fn instruments() -> [InstrumentRules; 3] {
    let band = |auction| Some(DynamicBand { width: Width::BasisPoints(400), auction: Nanos(auction) });
    let plain = |id| InstrumentRules {
        reference_price: Price(1_100),
        ..InstrumentRules::new(InstrumentId(id), Price(5))
    };
    let ticks = vec![(Price(0), Price(5)), (Price(1_100), Price(10))];
    [
        InstrumentRules { lot: Quantity(10), ..plain(1) },
        InstrumentRules { ticks, dynamic_band: band(100), market: MarketRules::shenzhen(), ..plain(2) },
        InstrumentRules { dynamic_band: band(30), market: MarketRules::cme(), ..plain(3) },
    ]
}

fn run<V: Venue>(mut venue: V, operations: usize) -> Vec<Event> {
    for rules in instruments() {
        assert!(venue.list(rules));
    }
    let (mut random, mut now) = (Random(0x5EED_0FC0_1010), 0);
    (0..operations).flat_map(|_| random.operation(&mut now).put(&mut venue).1).collect()
}

fn engine(expected_orders: usize) -> Exchange {
    Exchange::new(ExchangeOptions { expected_orders, ..ExchangeOptions::default() })
}

/// FNV-1a.
struct Hash(u64);

impl Write for Hash {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_fixed_run_gives_the_events_it_always_gave() {
    let events = run(engine(1 << 16), OPERATIONS);
    let count = |which: fn(&Event) -> bool| events.iter().filter(|event| which(event)).count();
    let trades = count(|event| matches!(event, Event::Traded(_)));
    let uncrosses = count(|event| matches!(event, Event::Uncrossed { .. }));
    let triggers = count(|event| matches!(event, Event::Triggered(_)));
    println!(
        "{OPERATIONS} operations: {} events, {trades} trades, {uncrosses} uncrosses, {triggers} triggers",
        events.len()
    );
    assert!(trades > 10_000 && uncrosses > 100 && triggers > 500);
    let mut hash = Hash(0xCBF2_9CE4_8422_2325);
    events.iter().for_each(|event| writeln!(hash, "{event:?}").unwrap());
    assert_eq!(hash.0, EVENTS, "the events of a fixed run have changed: {:#x}", hash.0);
}

#[test]
fn the_same_run_gives_the_same_events_whatever_room_is_set_aside() {
    let events = run(engine(0), OPERATIONS);
    for expected_orders in [0, 1, 1_000, 100_000] {
        assert!(run(engine(expected_orders), OPERATIONS) == events, "with room for {expected_orders} orders");
    }
}

#[test]
fn the_model_gives_the_events_of_the_run() {
    let operations = 4_000;
    let (found, expected) = (run(engine(16), operations), run(Model::open(), operations));
    for (number, (found, expected)) in found.iter().zip(&expected).enumerate() {
        assert_eq!(found, expected, "event {number}: engine (left), model (right)");
    }
    assert_eq!(found.len(), expected.len());
}
