//! Random streams of messages: what must hold after every single one.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::collections::BTreeMap;

use proptest::prelude::*;
use support::market::Market;
use support::{instrument, is_accounted};
use td::{Decision, Gateway, Limits};
use wire::*;

const STRATEGIES: u16 = 3;
const INSTRUMENTS: u32 = 2;
const LIMITS: Limits =
    Limits { max_order_quantity: Quantity(12), max_working_orders: 6, max_position: Quantity(20) };

#[derive(Clone, Debug)]
enum Step {
    New { from: u16, owner: u16, instrument: u32, buy: bool, quantity: i64, price: i64, repeat: bool },
    Cancel { from: u16, target: usize },
    Replace { from: u16, target: usize, quantity: i64, price: i64 },
    Market { die: u8 },
    Trade { target: usize, quantity: i64 },
    Reduce { target: usize, quantity: i64 },
    CancelAll { from: u16, owner: u16, instrument: u32, side: Option<bool> },
    Gone { strategy: u16 },
    Phase { takes_cancels: bool },
    Time { milliseconds: u64 },
    Back { strategy: u16 },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let seat = 0..STRATEGIES;
    let instrument = prop_oneof![9 => 1..=INSTRUMENTS, 1 => Just(INSTRUMENTS + 1)];
    let new = (seat.clone(), any::<u8>(), instrument, any::<bool>(), -1..14_i64, 8..13_i64, any::<u8>())
        .prop_map(|(from, stranger, instrument, buy, quantity, price, repeat)| Step::New {
            from,
            owner: if stranger < 16 { (from + 1) % STRATEGIES } else { from },
            instrument,
            buy,
            quantity,
            price,
            repeat: repeat < 16,
        });
    let step = prop_oneof![
        8 => new,
        2 => (seat.clone(), any::<usize>()).prop_map(|(from, target)| Step::Cancel { from, target }),
        4 => (seat.clone(), any::<usize>(), 0..14_i64, 8..13_i64)
            .prop_map(|(from, target, quantity, price)| Step::Replace { from, target, quantity, price }),
        8 => any::<u8>().prop_map(|die| Step::Market { die }),
        3 => (any::<usize>(), 1..10_i64).prop_map(|(target, quantity)| Step::Trade { target, quantity }),
        2 => (any::<usize>(), 1..5_i64).prop_map(|(target, quantity)| Step::Reduce { target, quantity }),
        1 => (seat.clone(), any::<u8>(), 0..=INSTRUMENTS + 1, any::<Option<bool>>()).prop_map(
            |(from, stranger, instrument, side)| Step::CancelAll {
                from,
                owner: if stranger < 32 { (from + 1) % STRATEGIES } else { from },
                instrument,
                side,
            }
        ),
        1 => seat.clone().prop_map(|strategy| Step::Gone { strategy }),
        1 => any::<bool>().prop_map(|takes_cancels| Step::Phase { takes_cancels }),
        2 => (0..100_u64).prop_map(|milliseconds| Step::Time { milliseconds }),
        1 => seat.prop_map(|strategy| Step::Back { strategy }),
    ];
    proptest::collection::vec(step, 1..300)
}

/// The gateway and all that stands around it.
struct World {
    gateway: Gateway,
    market: Market,
    /// Ids given out, in order.
    ids: Vec<(OrderId, InstrumentId)>,
    /// How many final updates each sent order's owner has been told.
    ends: BTreeMap<OrderId, u32>,
    positions: BTreeMap<(StrategyId, InstrumentId), i64>,
    next: u32,
    frame: u64,
    now: u64,
}

impl World {
    fn new() -> World {
        let mut gateway = Gateway::new(td::GatewayOptions { price_band: 0.2 }).unwrap();
        for id in 1..=INSTRUMENTS {
            gateway
                .on_instrument(&Instrument {
                    lot: Quantity(1),
                    tick: Price(1),
                    reference_price: Price(10),
                    ..instrument(id)
                })
                .unwrap();
        }
        for seat in 0..STRATEGIES {
            gateway.strategy_started(StrategyId(seat), LIMITS).unwrap();
        }
        World {
            gateway,
            market: Market::default(),
            ids: Vec::new(),
            ends: BTreeMap::new(),
            positions: BTreeMap::new(),
            next: 0,
            frame: 0,
            now: 0,
        }
    }

    fn target(&self, index: usize) -> (OrderId, InstrumentId) {
        match self.ids.len() {
            0 => (OrderId(1), InstrumentId(1)),
            // Mostly recent ones, which are still alive.
            length => self.ids[length - 1 - index % length.min(8)],
        }
    }

    fn apply(&mut self, step: Step) {
        match step {
            Step::New { from, owner, instrument, buy, quantity, price, repeat } => {
                if !repeat {
                    self.next += 1;
                }
                let order = NewOrder {
                    order_id: OrderId::new(StrategyId(owner), 1, self.next),
                    instrument: InstrumentId(instrument),
                    price: Price(price),
                    ..support::order(0, if buy { Side::Buy } else { Side::Sell }, quantity)
                };
                self.ids.push((order.order_id, order.instrument));
                self.ask(from, Request::New(order));
            }
            Step::Cancel { from, target } => {
                let (id, instrument) = self.target(target);
                self.ask(from, Request::Cancel(CancelOrder::new(id, instrument)));
            }
            Step::Replace { from, target, quantity, price } => {
                let (order_id, instrument) = self.target(target);
                let (price, quantity) = (Price(price), Quantity(quantity));
                self.ask(
                    from,
                    Request::Replace(ReplaceOrder { order_id, instrument, source: 0, price, quantity }),
                );
            }
            Step::Market { die } => {
                let executions = self.market.step(die);
                self.execute(executions);
            }
            Step::Trade { target, quantity } => {
                let count = self.market.resting.len();
                if let Some(&id) = self.market.resting.keys().nth(target % count.max(1)) {
                    let executions = self.market.trade(id, quantity);
                    self.execute(executions);
                }
            }
            Step::Reduce { target, quantity } => {
                let count = self.market.resting.len();
                if let Some(&id) = self.market.resting.keys().nth(target % count.max(1)) {
                    let executions = self.market.reduce(id, quantity);
                    self.execute(executions);
                }
            }
            Step::CancelAll { from, owner, instrument, side } => {
                self.next += 1;
                let id = OrderId::new(StrategyId(owner), 1, self.next);
                let of_side = if side.is_some() { CancelAll::OF_SIDE } else { 0 };
                self.ask(
                    from,
                    Request::CancelAll(CancelAll {
                        instrument: InstrumentId(instrument),
                        side: if side == Some(true) { Side::Sell } else { Side::Buy },
                        flags: of_side,
                        ..CancelAll::new(id)
                    }),
                );
            }
            Step::Gone { strategy } => {
                let cancels = self.gateway.strategy_stopped(StrategyId(strategy));
                self.market.queue.extend(cancels.into_iter().map(Request::Cancel));
            }
            Step::Phase { takes_cancels } => self.market.takes_cancels = takes_cancels,
            Step::Time { milliseconds } => {
                self.now += milliseconds * 1_000_000;
                let cancels = self.gateway.owed_cancels(self.now, td::back_off);
                self.market.queue.extend(cancels.into_iter().map(Request::Cancel));
            }
            Step::Back { strategy } => {
                self.gateway.strategy_started(StrategyId(strategy), LIMITS).unwrap();
            }
        }
    }

    fn ask(&mut self, from: u16, request: Request) {
        let from = StrategyId(from);
        match self.gateway.take(from, request.message_id(), request.bytes()) {
            Decision::Send(checked) => {
                assert_eq!(checked, request, "what was checked is what is sent");
                assert_eq!(checked.order_id().strategy(), from, "nobody else's order gets through");
                if let Request::New(order) = checked {
                    assert_eq!(self.ends.insert(order.order_id, 0), None, "an id was let through twice");
                }
                let changes = matches!(checked, Request::Replace(_));
                assert!(!changes || self.gateway.must_end().all(|order| order != checked.order_id()));
                self.market.queue.push_back(checked);
            }
            Decision::Answer(answer) => {
                assert_eq!(answer.order_id, request.order_id());
                assert_ne!(answer.reason, Reason::None);
                let foreign = request.order_id().strategy() != from;
                assert_eq!(answer.reason == Reason::NotYours, foreign);
            }
            Decision::Drop | Decision::Repeat(_) => panic!("dropped {request:?}"),
        }
    }

    fn execute(&mut self, executions: Vec<Execution>) {
        for execution in executions {
            self.frame += 64;
            let outcome = match execution {
                Execution::Fill(fill) => {
                    let held = self.positions.entry((fill.order_id.strategy(), fill.instrument)).or_default();
                    *held += fill.side.sign() * fill.quantity.0;
                    self.gateway.on_fill(self.frame, &fill)
                }
                Execution::Update(update) => {
                    if update.status.is_final() {
                        *self.ends.get_mut(&update.order_id).unwrap() += 1;
                    }
                    self.gateway.on_update(self.frame, &update)
                }
            };
            assert_eq!(outcome.anomaly, None, "{execution:?}");
            let delivery = outcome.deliver.unwrap();
            let (owner, position) = (delivery.report.order_id().strategy(), delivery.report.position());
            assert_eq!((delivery.to, position), (owner, Some(self.frame)));
        }
    }

    /// What must hold between any two messages.
    fn check(&self) {
        let live = self.market.live();
        for strategy in (0..STRATEGIES).map(StrategyId) {
            let own = live.iter().filter(|(order, _)| order.order_id.strategy() == strategy);
            let working = self.gateway.working_orders(strategy);
            assert_eq!(working, own.clone().count());
            assert!(working <= LIMITS.max_working_orders as usize);
            assert!(is_accounted(self.gateway.counters(strategy).unwrap(), working));
            let ending = self.gateway.must_end().filter(|order| order.strategy() == strategy);
            assert!(ending.count() <= working, "what must end works, or is forgotten");
            for instrument in (1..=INSTRUMENTS).map(InstrumentId) {
                let exposure = self.gateway.exposure(strategy, instrument);
                let held = self.positions.get(&(strategy, instrument)).copied().unwrap_or(0);
                assert_eq!(exposure.position, i128::from(held));
                for side in [Side::Buy, Side::Sell] {
                    let mut open = 0;
                    let mut replaces = 0;
                    for (order, filled) in own.clone().filter(|(order, _)| order.instrument == instrument) {
                        if order.side == side {
                            let (total, on_their_way) = self.market.largest_total(order);
                            open += total - filled;
                            replaces += on_their_way;
                        }
                    }
                    let worst = side.sign() * held + open;
                    assert!(worst <= LIMITS.max_position.0, "{strategy:?} {instrument} {side}: {worst}");
                    let counted = exposure.worst_case(side);
                    assert!(counted >= i128::from(worst) && counted <= i128::from(LIMITS.max_position.0));
                    assert!(replaces > 0 || counted == i128::from(worst), "{counted} against {worst}");
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn limits_hold_and_every_order_ends_accounted(steps in steps()) {
        let mut world = World::new();
        for step in steps {
            world.apply(step);
            world.check();
        }
        for strategy in 0..STRATEGIES {
            world.apply(Step::Gone { strategy });
        }
        // Whatever the market refused until now: from some moment on it takes cancels.
        for _ in 0..40 {
            while !world.market.queue.is_empty() {
                world.apply(Step::Market { die: 7 });
                world.check();
            }
            world.apply(Step::Phase { takes_cancels: true });
            world.apply(Step::Time { milliseconds: 1_000 });
        }
        prop_assert!(world.market.resting.is_empty(), "the cancels took everything out");
        prop_assert!(world.gateway.must_end().next().is_none() && !world.gateway.owes_cancels());
        prop_assert!(world.ends.values().all(|&ends| ends == 1), "{:?}", world.ends);
        for strategy in (0..STRATEGIES).map(StrategyId) {
            prop_assert_eq!(world.gateway.working_orders(strategy), 0);
            let exposure = world.gateway.exposure(strategy, InstrumentId(1));
            prop_assert_eq!((exposure.working_buys, exposure.working_sells), (0, 0));
        }
    }
}
