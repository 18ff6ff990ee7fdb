//! Makes a flow.

use std::collections::VecDeque;

use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::market::{Living, Market};
use super::mix::{FLEETING, Mix};
use super::operation::{Add, Cancel, Operation, Side, Take};
use super::{Flow, Ids, Plan, Shares};
use crate::book::Tally;

/// Operations from one crash to the next.
const CRASH_EVERY: usize = 2_000;
/// Operations of the crash itself.
const CRASH: usize = 40;
/// Of these each fifth is a sweep.
const SWEEP_EVERY: usize = 5;
/// Most orders that one sweep takes.
const MOST_SWEPT: usize = 100;
/// Operations from one step of the middle to the next in `volatile`.
const STEP_EVERY: usize = 32;
/// Largest quantity of an add.
const LARGEST: u32 = 100;

impl Flow {
    /// Makes the flow that `plan` describes.
    pub fn generate(plan: &Plan) -> Flow {
        let mut generator = Generator::new(*plan);
        let mut fill = Vec::new();
        while generator.market.len() < plan.mix.living(generator.levels) {
            let add = generator.new_add(false);
            generator.market.add(add);
            fill.push(Operation::Add(add));
        }
        generator.market.tally = Tally::default();
        let mut count = Count::default();
        let run = (0..plan.operations).map(|step| generator.next(step, &mut count)).collect();
        let expected = generator.market.tally;
        let mut drain = Vec::with_capacity(generator.market.len());
        while let Some(living) = generator.market.nth(0) {
            drain.push(generator.cancel(living));
        }
        let (ticks, places) = (generator.ticks(), generator.market.next_place().max(generator.most_places));
        let shares = count.shares(plan.operations, expected);
        Flow { plan: *plan, ticks, places, fill, run, drain, expected, shares }
    }
}

struct Generator {
    plan: Plan,
    /// As in the plan, within its bounds.
    levels: u32,
    random: ChaCha8Rng,
    market: Market,
    /// The lowest tick of asks.
    middle: u32,
    /// Side of the orders that the present crash sweeps away.
    crashing: Side,
    /// Orders of a short life, the oldest first.
    fleeting: VecDeque<(u32, u64)>,
    orders: u64,
    most_places: u32,
}

impl Generator {
    fn new(plan: Plan) -> Generator {
        let levels = plan.levels.clamp(2, 100_000);
        let mut generator = Generator {
            plan,
            levels,
            random: ChaCha8Rng::seed_from_u64(plan.seed),
            market: Market::default(),
            middle: 0,
            crashing: Side::Buy,
            fleeting: VecDeque::new(),
            orders: 0,
            most_places: 0,
        };
        generator.middle = generator.ticks() / 2;
        generator
    }

    /// Half of the levels: those of one side.
    fn half(&self) -> u32 {
        self.levels / 2
    }

    /// How many ticks there are: the levels, and on both sides room for the middle to walk.
    fn ticks(&self) -> u32 {
        2 * self.half() + 2 * self.plan.mix.room() * self.levels
    }

    fn next(&mut self, step: usize, count: &mut Count) -> Operation {
        self.move_middle(step);
        let (trades, operation) = (self.market.tally.trades, self.choose(step));
        count.see(&operation, self.market.tally.trades - trades, &self.market);
        self.most_places = self.most_places.max(self.market.next_place());
        operation
    }

    fn choose(&mut self, step: usize) -> Operation {
        if self.plan.mix == Mix::Crash && step % CRASH_EVERY < CRASH {
            return self.crash(step);
        }
        let (adds, takes) = self.plan.mix.shares();
        let intended = self.plan.mix.living(self.levels) as i64;
        // At a tenth too few, a tenth of all operations are adds instead of cancels.
        let lacking = (intended - self.market.len() as i64) * 1_000 / intended;
        match self.random.random_range(0..1_000) {
            draw if draw < takes => {
                let side = self.side();
                let quantity = self.random.random_range(1..=self.plan.mix.largest_take());
                self.take(side, quantity)
            }
            draw if draw < takes + adds + lacking.clamp(-200, 200) => {
                let fleeting = self.plan.mix == Mix::Calm && self.random.random_range(0..10) < 9;
                let add = self.new_add(fleeting);
                self.market.add(add);
                Operation::Add(add)
            }
            _ => match self.chosen() {
                Some(living) => self.cancel(living),
                None => self.take(Side::Buy, 1),
            },
        }
    }

    fn crash(&mut self, step: usize) -> Operation {
        if step.is_multiple_of(SWEEP_EVERY) {
            let levels = (self.half() / 10).max(1);
            let quantity = self.market.resting(self.crashing, levels, MOST_SWEPT).max(1);
            return self.take(self.crashing.other(), quantity);
        }
        let side = self.crashing;
        let chosen = (0..16).filter_map(|_| self.any()).find(|living| living.add.side == side);
        match chosen {
            Some(living) => self.cancel(living),
            None => self.take(side.other(), 1),
        }
    }

    /// Moves the middle as the mix has it.
    fn move_middle(&mut self, step: usize) {
        let (low, high) = (self.half(), self.ticks() - self.half());
        match self.plan.mix {
            Mix::Mixed | Mix::Calm => {}
            Mix::Volatile if step.is_multiple_of(STEP_EVERY) => {
                let most = (self.levels / 200).max(1);
                let to = self.middle + self.random.random_range(0..=2 * most);
                self.middle = to.saturating_sub(most).clamp(low, high);
            }
            Mix::Crash if step.is_multiple_of(CRASH_EVERY) => {
                // Back towards where there is room.
                let centre = self.ticks() / 2;
                self.crashing = match self.middle.cmp(&centre) {
                    std::cmp::Ordering::Less => Side::Sell,
                    std::cmp::Ordering::Greater => Side::Buy,
                    std::cmp::Ordering::Equal => self.side(),
                };
            }
            Mix::Crash if step % CRASH_EVERY == CRASH => {
                let best = self.market.best(self.crashing).unwrap_or(self.middle);
                let behind = if self.crashing == Side::Buy { best + 1 } else { best };
                self.middle = behind.clamp(low, high);
            }
            Mix::Volatile | Mix::Crash => {}
        }
    }

    /// The order to cancel; `None` if none lives.
    fn chosen(&mut self) -> Option<Living> {
        match self.plan.mix {
            Mix::Mixed => self.any(),
            Mix::Calm => {
                while self.fleeting.len() > FLEETING {
                    let (place, id) = self.fleeting.pop_front()?;
                    if let Some(living) = self.market.get(place, id) {
                        return Some(living);
                    }
                }
                self.any()
            }
            Mix::Volatile | Mix::Crash => {
                let (one, other) = (self.any()?, self.any()?);
                let far = |living: &Living| living.add.tick.abs_diff(self.middle);
                Some(if far(&one) >= far(&other) { one } else { other })
            }
        }
    }

    fn any(&mut self) -> Option<Living> {
        let living = self.market.len();
        (living > 0).then(|| self.random.random_range(0..living)).and_then(|index| self.market.nth(index))
    }

    fn side(&mut self) -> Side {
        if self.random.random_bool(0.5) { Side::Buy } else { Side::Sell }
    }

    fn new_add(&mut self, fleeting: bool) -> Add {
        let side = self.side();
        let half = self.half();
        let distance = match self.plan.mix {
            Mix::Calm if fleeting => self.random.random_range(0..half.min(5)),
            Mix::Mixed | Mix::Calm => self.random.random_range(0..half),
            Mix::Volatile | Mix::Crash => {
                self.random.random_range(0..half).min(self.random.random_range(0..half))
            }
        };
        let tick = match side {
            Side::Buy => self.middle - 1 - distance,
            Side::Sell => self.middle + distance,
        };
        let quantity = self.random.random_range(1..=LARGEST);
        let add = Add { id: self.id(), place: self.market.next_place(), tick, quantity, side };
        if fleeting {
            self.fleeting.push_back((add.place, add.id));
        }
        self.most_places = self.most_places.max(add.place + 1);
        add
    }

    fn take(&mut self, side: Side, quantity: u32) -> Operation {
        let take = Take { id: self.id(), quantity, side };
        self.market.take(take);
        Operation::Take(take)
    }

    fn cancel(&mut self, living: Living) -> Operation {
        self.market.cancel(living);
        Operation::Cancel(Cancel { id: living.add.id, place: living.add.place })
    }

    fn id(&mut self) -> u64 {
        self.orders += 1;
        match self.plan.ids {
            Ids::Ascending => self.orders,
            Ids::Scattered => scattered(self.orders),
        }
    }
}

/// One-to-one: the finalizer of splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
fn scattered(number: u64) -> u64 {
    let mut bits = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

/// Counts what the operations are.
#[derive(Default)]
struct Count {
    shares: Shares,
    living: Range,
    levels: Range,
}

impl Count {
    fn see(&mut self, operation: &Operation, trades: u64, market: &Market) {
        match operation {
            Operation::Add(_) => {
                self.shares.adds += 1;
                self.shares.crossing_adds += u64::from(trades > 0);
            }
            Operation::Cancel(_) => self.shares.cancels += 1,
            Operation::Take(_) => self.shares.takes += 1,
        }
        self.living.see(market.len() as u64);
        self.levels.see(market.levels() as u64);
    }

    fn shares(self, operations: usize, tally: Tally) -> Shares {
        let operations = operations.max(1) as u64;
        Shares {
            missed_cancels: self.shares.cancels - tally.cancelled,
            trades: tally.trades,
            living: self.living.of(operations),
            levels: self.levels.of(operations),
            ..self.shares
        }
    }
}

/// Fewest, sum and most.
#[derive(Default)]
struct Range {
    fewest: Option<u64>,
    sum: u64,
    most: u64,
}

impl Range {
    fn see(&mut self, number: u64) {
        self.fewest = Some(self.fewest.map_or(number, |fewest| fewest.min(number)));
        self.sum += number;
        self.most = self.most.max(number);
    }

    fn of(&self, operations: u64) -> [u64; 3] {
        [self.fewest.unwrap_or_default(), self.sum / operations, self.most]
    }
}
