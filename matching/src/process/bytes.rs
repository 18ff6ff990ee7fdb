//! The exchange of a platform as a function of its requests' bytes, with what must hold after each: for fuzzing.

use std::time::Duration;

use topology::config::{MatchingConfig, PhaseName, PhaseStart, SelfTradeRule, TickRow};
use wire::fold::WorkingOrders;
use wire::{
    CancelAll, CancelOrder, Execution, Instrument, InstrumentId, Message, Nanos, NewOrder, OrderStatus,
    Price, Quantity, ReplaceOrder, Request, Side, Symbol, WireError,
};

use super::feed::MarketMessage;
use super::participants::Participants;
use crate::exchange::Phase;

const INSTRUMENTS: u32 = 3;
/// What the first byte of a step stands for, with the bytes of payload behind it.
const REQUESTS: [(u16, usize); 4] = [
    (NewOrder::ID, NewOrder::SIZE),
    (CancelOrder::ID, CancelOrder::SIZE),
    (ReplaceOrder::ID, ReplaceOrder::SIZE),
    (CancelAll::ID, CancelAll::SIZE),
];

/// Takes arbitrary bytes as requests and passing time, and checks what the exchange answers and publishes.
///
/// The first byte chooses the rules. Then come steps: a byte for the kind, one for the strategy and one for the instrument,
/// and the payload of the kind's size. A byte that is not 255 takes the place of what the payload says; with the strategy
/// goes the number of the order, which is the next one for a new order.
///
/// # Panics
/// When something does not hold that must: the answers contradict each other or the books, a book is crossed in
/// continuous trading, or a number is missing in the market data.
#[allow(unreachable_pub, reason = "public with the feature `fuzzing`")]
pub fn exchange_of_bytes(mut bytes: &[u8]) {
    let Some(rules) = take(&mut bytes, 1) else { return };
    let mut world = World::new(rules[0]);
    let mut orders = 0_u32;
    while let Some(head) = take(&mut bytes, 3) {
        let kind = usize::from(head[0]) % (REQUESTS.len() + 1);
        let Some((id, size)) = REQUESTS.get(kind).copied() else {
            world.pass(u64::from(head[1]) << (head[2] % 32));
            continue;
        };
        let Some(payload) = take(&mut bytes, size) else { return };
        let mut payload = payload.to_vec();
        // All requests begin with the order's id, whose last two bytes are the strategy; then comes the instrument.
        if head[1] != 255 {
            // Ids only grow; changes are of an order that there was, or of none.
            orders += u32::from(id == NewOrder::ID);
            let sequence = if id == NewOrder::ID { orders } else { u32::from(payload[0]) % (orders + 2) };
            payload[..4].copy_from_slice(&sequence.to_le_bytes());
            payload[4..8].copy_from_slice(&[0, 0, head[1] % 4, 0]);
        }
        if head[2] != 255 {
            payload[8..12].copy_from_slice(&(u32::from(head[2]) % (INSTRUMENTS + 1)).to_le_bytes());
        }
        world.request(id, &payload);
    }
}

fn take<'a>(bytes: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(count)?;
    *bytes = rest;
    Some(taken)
}

struct World {
    participants: Participants,
    now: u64,
    answers: Vec<Execution>,
    /// The orders that work, as td and the ledger make them from the answers.
    working: WorkingOrders,
    position: u64,
    /// By instrument: number of the last event.
    sequences: [u64; INSTRUMENTS as usize + 1],
}

impl World {
    fn new(rules: u8) -> World {
        use topology::config::RuleSet::{Cme, Plain, Shanghai, Shenzhen};
        let self_trades = [SelfTradeRule::AsRules, SelfTradeRule::Decrement, SelfTradeRule::CancelBoth];
        let phases = [PhaseName::OpeningAuction, PhaseName::Continuous, PhaseName::ClosingAuction];
        let row = |(number, phase): (usize, PhaseName)| PhaseStart {
            after: Some(Duration::from_millis(number as u64)),
            phase,
            ..PhaseStart::default()
        };
        let tick = |from, tick| TickRow { from: Price(from), tick: Price(tick), instruments: Vec::new() };
        let config = MatchingConfig {
            rules: [Plain, Shanghai, Shenzhen, Cme][usize::from(rules % 4)],
            self_trade: self_trades[usize::from(rules / 4 % 3)],
            phases: if rules & 64 == 0 {
                Vec::new()
            } else {
                phases.into_iter().enumerate().map(row).collect()
            },
            ticks: if rules & 128 == 0 { Vec::new() } else { vec![tick(0, 1), tick(64, 16)] },
            band: f64::from(rules & 16) / 100.0,
            ..MatchingConfig::default()
        };
        let mut participants = Participants::new(&config);
        for id in 1..=INSTRUMENTS {
            participants.list(&instrument(id));
        }
        let mut world = World {
            participants,
            now: 1_000_000_000,
            answers: Vec::new(),
            working: WorkingOrders::default(),
            position: 0,
            sequences: [0; INSTRUMENTS as usize + 1],
        };
        let now = Nanos(world.now);
        world.participants.open(now, now, &mut world.answers);
        world.check();
        world
    }

    fn pass(&mut self, time: u64) {
        self.now = self.now.saturating_add(time);
        self.participants.pass(Nanos(self.now), &mut self.answers);
        self.participants.timely(Nanos(self.now));
        self.check();
    }

    /// One frame of `td.orders`. Like the process, it passes over what does not decode.
    fn request(&mut self, id: u16, payload: &[u8]) {
        let now = Nanos(self.now);
        let answered = self.carry_out(id, payload, now);
        if answered.is_ok() {
            assert!(!self.answers.is_empty(), "a request without an answer: {id} {payload:?}");
        }
        self.check();
    }

    fn carry_out(&mut self, id: u16, payload: &[u8], now: Nanos) -> Result<(), WireError> {
        let World { participants, answers, .. } = self;
        participants.request(&Request::decode(id, payload)?, now, answers);
        Ok(())
    }

    fn check(&mut self) {
        for execution in std::mem::take(&mut self.answers) {
            self.position += 64;
            if let Execution::Update(update) = &execution
                && update.status == OrderStatus::Rejected
            {
                // What was asked for, which may be anything; and it never worked.
                continue;
            }
            assert!(self.working.fits(&execution), "{execution:?}");
            let contradiction = self.working.apply(self.position, &execution);
            assert_eq!(contradiction, None, "{execution:?}");
        }
        let exchange = &self.participants.exchange;
        assert_eq!(self.working.iter().count(), exchange.working_orders());
        for order in self.working.iter() {
            let known = exchange.order(order.order_id.0);
            let open = known.map(|known| (known.open, known.filled));
            assert_eq!(open, Some((order.remaining, order.filled)), "{order:?}");
        }
        for id in (1..=INSTRUMENTS).map(InstrumentId) {
            let (Some(book), Some(phase)) = (exchange.book(id), exchange.phase(id)) else { continue };
            let best = |side| book.best(side).map(|level| level.price);
            let is_crossed = best(Side::Buy).zip(best(Side::Sell)).is_some_and(|(bid, ask)| bid >= ask);
            assert!(!is_crossed || phase != Phase::Continuous, "instrument {id} is crossed");
        }
        self.published();
    }

    /// Events are numbered without a gap, and repetitions bear the number of the last.
    fn published(&mut self) {
        for message in self.participants.feed.messages() {
            let (number, is_event) = match message {
                MarketMessage::Book(event) => (event.sequence, event.flags & wire::BookEvent::SNAPSHOT == 0),
                MarketMessage::Phase(phase) => {
                    let known = self.sequences[phase.instrument.0 as usize];
                    (phase.sequence, phase.sequence != known)
                }
                MarketMessage::Trade(trade) => (trade.sequence, false),
                MarketMessage::Indicative(indicative) => (indicative.sequence, false),
                MarketMessage::Statistics(statistics) => (statistics.sequence, false),
                MarketMessage::End(_) => continue,
            };
            let known = &mut self.sequences[message.instrument().0 as usize];
            *known += u64::from(is_event);
            assert_eq!(number, *known, "{message:?}");
        }
        self.participants.feed.clear();
    }
}

fn instrument(id: u32) -> Instrument {
    Instrument {
        id: InstrumentId(id),
        reserved: 0,
        symbol: Symbol::default(),
        tick: Price(i64::from(id)),
        lot: Quantity(i64::from(id)),
        price_low: Price::NONE,
        price_high: Price::NONE,
        reference_price: Price(100),
        max_quantity: Quantity::ZERO,
        multiplier: 0,
        currency: wire::Currency::EMPTY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use wire::{OrderId, OrderType, StrategyId, TimeInForce};

    fn new_order() -> impl Strategy<Value = Vec<u8>> {
        let kind = prop::sample::select(vec![
            OrderType::Limit,
            OrderType::Limit,
            OrderType::Market,
            OrderType::Stop,
            OrderType::StopLimit,
        ]);
        let lives = prop::sample::select(vec![
            TimeInForce::Day,
            TimeInForce::ImmediateOrCancel,
            TimeInForce::FillOrKill,
            TimeInForce::GoodTillDate,
            TimeInForce::AtTheClose,
        ]);
        let numbers = (1..40_u32, 90..110_i64, 90..110_i64, 1..60_i64, 0..4_u32, 0..16_u8);
        (kind, lives, any::<bool>(), numbers).prop_map(|(order_type, life, buys, numbers)| {
            let (sequence, price, trigger, quantity, display_lots, flags) = numbers;
            let side = if buys { Side::Buy } else { Side::Sell };
            let id = OrderId::new(StrategyId(0), 0, sequence);
            let (price, quantity) = (Price(price), Quantity(quantity));
            let plain = NewOrder::plain(id, InstrumentId(1), side, order_type, life, price, quantity);
            let order = NewOrder { trigger: Price(trigger), display_lots, flags, ends_s: 1, ..plain };
            step(0, order.bytes())
        })
    }

    /// A step of this kind, by strategy 1 and in instrument 1 unless another part of the test says otherwise.
    fn step(kind: u8, payload: &[u8]) -> Vec<u8> {
        [&[kind, 1, 1], payload].concat()
    }

    fn any_step() -> impl Strategy<Value = Vec<u8>> {
        let cancel = (1..40_u32).prop_map(|sequence| {
            let id = OrderId::new(StrategyId(1), 0, sequence);
            step(1, CancelOrder::new(id, InstrumentId(1)).bytes())
        });
        let whose = (new_order(), 0..3_u8).prop_map(|(mut order, strategy)| {
            order[1] = strategy;
            order
        });
        let all = Just(step(3, CancelAll::new(OrderId::new(StrategyId(1), 0, 1)).bytes()));
        prop_oneof![
            8 => whose,
            2 => cancel,
            1 => all,
            1 => (any::<u8>(), any::<u8>()).prop_map(|(time, shift)| vec![4, time, shift]),
            1 => prop::collection::vec(any::<u8>(), 0..120),
        ]
    }

    proptest! {
        #[test]
        fn requests_of_any_bytes_leave_the_exchange_and_its_answers_sound(
            rules in any::<u8>(),
            steps in prop::collection::vec(any_step(), 0..120),
        ) {
            exchange_of_bytes(&[vec![rules], steps.concat()].concat());
        }
    }
}
