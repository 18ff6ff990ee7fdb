//! Fees and taxes.
//!
//! Of the rules of a charge's number that are for a fill, the most specific holds. An order pays each rule once, on all its
//! fills that it holds for together: `per_lot × lots + rate × value`, rounded up to the rule's unit, and no less than its
//! minimum once such a one has traded. A fill pays what the sum has grown by. An order keeps the rules that held when it came in.

use wire::{ChargeKind, FeeEvent, FeeRule, FeeSide, Liquidity, Side};

use crate::amount::{MOST, MOST_RATE, part_up, up_to};
use crate::refusal::Refusal;
use crate::rules::Subject;
use crate::state::state;

/// What a fill does to the position, for charges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Open = 0,
    Close = 1,
    CloseToday = 2,
}

/// What an order has traded so far, by class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Traded {
    /// While it rested.
    rested: Parts,
    /// While it came in.
    came_in: Parts,
}
state!(Traded { rested, came_in });

/// Lots and what they are worth, by class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Parts {
    lots: [i64; 3],
    value: [i128; 3],
}
state!(Parts { lots, value });

impl Parts {
    fn add(&mut self, class: Class, lots: i64, value: i128) {
        self.lots[class as usize] = self.lots[class as usize].saturating_add(lots);
        self.value[class as usize] = self.value[class as usize].saturating_add(value.abs());
    }

    /// Of the classes whose bits are set.
    #[inline]
    fn of(&self, classes: u16) -> (i64, i128) {
        let mut sum = (0_i64, 0_i128);
        for class in (0..3).filter(|class| classes & (1 << class) != 0) {
            sum.0 = sum.0.saturating_add(self.lots[class]);
            sum.1 = sum.1.saturating_add(self.value[class]);
        }
        sum
    }
}

impl Traded {
    pub(crate) fn add(&mut self, class: Class, liquidity: Liquidity, lots: i64, value: i128) {
        match liquidity {
            Liquidity::Maker => self.rested.add(class, lots, value),
            _ => self.came_in.add(class, lots, value),
        }
    }

    pub(crate) fn is_nothing(&self) -> bool {
        self.rested.lots == [0; 3] && self.came_in.lots == [0; 3]
    }
}

/// What an order may yet trade: as fills of which classes, and as much as it is worth at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ToCome {
    classes: u16,
    lots: i64,
    value: i128,
}

impl ToCome {
    pub(crate) fn new(classes: &[Class], lots: i64, value: i128) -> ToCome {
        let classes = classes.iter().fold(0, |bits, class| bits | 1 << *class as u16);
        ToCome { classes, lots, value: value.abs() }
    }

    /// What of it may be of the classes whose bits are set.
    fn of(&self, classes: u16) -> (i64, i128) {
        if classes & self.classes == 0 { (0, 0) } else { (self.lots, self.value) }
    }
}

/// Bits of the classes.
const CLASSES: u16 = 0b111;
/// Bits of one side: the classes of what rested, then those of what came in.
const OF_SIDE: u32 = 6;

/// The bits of a side's fills in a number that has those of both.
#[inline]
fn of_side(cells: u16, side: Side) -> u16 {
    match side {
        Side::Buy => cells,
        Side::Sell => cells >> OF_SIDE,
    }
}

/// Which fills a rule is for: a bit for each side, whose order rested, and class.
fn cells(rule: &FeeRule) -> u16 {
    let classes = match rule.event {
        FeeEvent::Any => CLASSES,
        FeeEvent::Open => 1 << Class::Open as u16,
        FeeEvent::Close => 1 << Class::Close as u16,
        FeeEvent::CloseToday => 1 << Class::CloseToday as u16,
    };
    let one_side = match rule.flags {
        FeeRule::MAKER => classes,
        FeeRule::TAKER => classes << 3,
        _ => classes | classes << 3,
    };
    match rule.side {
        FeeSide::Both => one_side | one_side << OF_SIDE,
        FeeSide::Buy => one_side,
        FeeSide::Sell => one_side << OF_SIDE,
    }
}

/// One rule, as it holds for an account and an instrument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Charge {
    number: u16,
    kind: ChargeKind,
    /// For which fills, less those of more specific rules of the same number.
    cells: u16,
    unit: u64,
    rate: u64,
    per_lot: i128,
    minimum: i128,
}
state!(Charge { number, kind, cells, unit, rate, per_lot, minimum });

impl Charge {
    #[inline]
    fn of(&self, side: Side, traded: &Traded) -> i128 {
        let cells = of_side(self.cells, side);
        let (rested, came_in) = (traded.rested.of(cells), traded.came_in.of(cells >> 3));
        self.amount(rested.0.saturating_add(came_in.0), rested.1.saturating_add(came_in.1))
    }

    /// The same, if all that is to come were of the kind that this charge is for.
    fn worst(&self, side: Side, traded: &Traded, to_come: &ToCome) -> i128 {
        let cells = of_side(self.cells, side);
        let parts = [
            traded.rested.of(cells),
            traded.came_in.of(cells >> 3),
            to_come.of((cells | cells >> 3) & CLASSES),
        ];
        let sum = |(lots, value): (i64, i128), part: (i64, i128)| {
            (lots.saturating_add(part.0), value.saturating_add(part.1))
        };
        let (lots, value) = parts.into_iter().fold((0, 0), sum);
        self.amount(lots, value)
    }

    #[inline]
    fn amount(&self, lots: i64, value: i128) -> i128 {
        if lots == 0 {
            return 0;
        }
        let by_lot = if self.per_lot == 0 { 0 } else { self.per_lot.saturating_mul(i128::from(lots)) };
        let amount = by_lot.saturating_add(part_up(value, self.rate));
        up_to(amount, self.unit).max(self.minimum)
    }
}

/// What is charged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Charged {
    pub(crate) fees: i128,
    pub(crate) taxes: i128,
}
state!(Charged { fees, taxes });

/// The rules, and what they come to for those who trade.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fees {
    pub(crate) rules: Vec<FeeRule>,
    /// Never changed once made: orders name them.
    schedules: Vec<Vec<Charge>>,
}
state!(Fees { rules, schedules });

impl Fees {
    const MOST_CHARGES: u16 = 8;

    pub(crate) fn set(&mut self, rule: &FeeRule) -> Result<(), Refusal> {
        let amounts = [rule.per_lot.wide(), rule.minimum.wide()];
        let fits = (1..=Fees::MOST_CHARGES).contains(&rule.charge)
            && rule.rate <= MOST_RATE
            && matches!(rule.flags, 0 | FeeRule::MAKER | FeeRule::TAKER)
            && amounts.iter().all(|amount| (0..=MOST >> 40).contains(amount));
        if !fits {
            return Err(Refusal::Number);
        }
        let key = |rule: &FeeRule| (rule.account, rule.instrument, rule.prefix, rule.charge);
        // Of two for the same fills the later holds, in the place of the first.
        let is_replaced = |known: &FeeRule| key(known) == key(rule) && cells(known) & cells(rule) != 0;
        let place = self.rules.iter().position(is_replaced).unwrap_or(self.rules.len());
        self.rules.retain(|known| !is_replaced(known));
        self.rules.insert(place, *rule);
        Ok(())
    }

    /// The number of the charges that hold for a subject.
    pub(crate) fn resolve(&mut self, subject: &Subject) -> u32 {
        let mut charges: Vec<Charge> = Vec::new();
        for number in 1..=Fees::MOST_CHARGES {
            let of_number = self.rules.iter().filter(|rule| rule.charge == number);
            let ranked = of_number
                .filter_map(|rule| Some((subject.rank(rule.account, rule.instrument, &rule.prefix)?, rule)));
            let mut ranked: Vec<(u32, &FeeRule)> = ranked.collect();
            ranked.sort_by_key(|(rank, _)| std::cmp::Reverse(*rank));
            let mut taken = 0;
            for (_, rule) in ranked {
                let left = cells(rule) & !taken;
                taken |= left;
                if left != 0 {
                    charges.push(Charge {
                        number,
                        kind: rule.kind,
                        cells: left,
                        unit: rule.unit,
                        rate: rule.rate,
                        per_lot: rule.per_lot.wide(),
                        minimum: rule.minimum.wide(),
                    });
                }
            }
        }
        let known = self.schedules.iter().position(|known| *known == charges);
        known.unwrap_or_else(|| {
            self.schedules.push(charges);
            self.schedules.len() - 1
        }) as u32
    }

    /// All that an order pays that has traded so much.
    #[inline]
    pub(crate) fn charged(&self, schedule: u32, side: Side, traded: &Traded) -> Charged {
        let mut sum = Charged::default();
        for charge in self.schedules.get(schedule as usize).into_iter().flatten() {
            let amount = charge.of(side, traded);
            match charge.kind {
                ChargeKind::Fee => sum.fees += amount,
                ChargeKind::Tax => sum.taxes += amount,
            }
        }
        sum
    }

    /// All that an order may come to, fees and taxes together: each charge as if all that is to come and may be its own were.
    #[inline]
    pub(crate) fn worst(&self, schedule: u32, side: Side, traded: &Traded, to_come: &ToCome) -> i128 {
        let charges = self.schedules.get(schedule as usize).into_iter().flatten();
        charges.map(|charge| charge.worst(side, traded, to_come)).sum()
    }

    /// True where nothing is charged.
    pub(crate) fn is_free(&self, schedule: u32) -> bool {
        self.schedules.get(schedule as usize).is_none_or(Vec::is_empty)
    }
}
