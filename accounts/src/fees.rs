//! Fees and taxes.
//!
//! An order pays each charge once, on all its fills together: `per_lot × lots + rate × value`, rounded up to the charge's
//! unit, and no less than its minimum once it has traded. A fill pays what the sum has grown by. An order keeps the charges
//! that held when it came in.

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
    all: Parts,
    /// Of that, while it rested.
    rested: Parts,
}
state!(Traded { all, rested });

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

    fn plus(&self, other: &Parts, sign: i8) -> Parts {
        let mut sum = *self;
        for class in 0..3 {
            sum.lots[class] = sum.lots[class].saturating_add(i64::from(sign) * other.lots[class]);
            sum.value[class] = sum.value[class].saturating_add(i128::from(sign) * other.value[class]);
        }
        sum
    }
}

impl Traded {
    pub(crate) fn add(&mut self, class: Class, liquidity: Liquidity, lots: i64, value: i128) {
        self.all.add(class, lots, value);
        if liquidity == Liquidity::Maker {
            self.rested.add(class, lots, value);
        }
    }

    pub(crate) fn is_nothing(&self) -> bool {
        self.all.lots == [0; 3]
    }
}

/// What an order may yet trade, by class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ToCome(Parts);

impl ToCome {
    pub(crate) fn add(&mut self, class: Class, lots: i64, value: i128) {
        self.0.add(class, lots, value);
    }
}

/// One charge, as it holds for an account and an instrument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Charge {
    number: u16,
    kind: ChargeKind,
    side: FeeSide,
    event: FeeEvent,
    /// [`FeeRule::MAKER`], [`FeeRule::TAKER`], or 0.
    liquidity: u8,
    unit: u64,
    rate: u64,
    per_lot: i128,
    minimum: i128,
}
state!(Charge { number, kind, side, event, liquidity, unit, rate, per_lot, minimum });

impl Charge {
    #[inline]
    fn of(&self, side: Side, traded: &Traded) -> i128 {
        match self.liquidity {
            FeeRule::MAKER => self.of_parts(side, &traded.rested),
            FeeRule::TAKER => self.of_parts(side, &traded.all.plus(&traded.rested, -1)),
            _ => self.of_parts(side, &traded.all),
        }
    }

    /// The same, if all that is to come were of the kind that this charge is for.
    fn worst(&self, side: Side, traded: &Traded, to_come: &ToCome) -> i128 {
        match self.liquidity {
            FeeRule::MAKER => self.of_parts(side, &traded.rested.plus(&to_come.0, 1)),
            FeeRule::TAKER => self.of_parts(side, &traded.all.plus(&traded.rested, -1).plus(&to_come.0, 1)),
            _ => self.of_parts(side, &traded.all.plus(&to_come.0, 1)),
        }
    }

    #[inline]
    fn of_parts(&self, side: Side, parts: &Parts) -> i128 {
        if !self.side.covers(side) {
            return 0;
        }
        let Parts { lots, value } = parts;
        let (lots, value) = match self.event {
            FeeEvent::Any => (lots[0] + lots[1] + lots[2], value[0] + value[1] + value[2]),
            FeeEvent::Open => (lots[0], value[0]),
            FeeEvent::Close => (lots[1], value[1]),
            FeeEvent::CloseToday => (lots[2], value[2]),
        };
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
        match self.rules.iter_mut().find(|known| key(known) == key(rule)) {
            Some(known) => *known = *rule,
            None => self.rules.push(*rule),
        }
        Ok(())
    }

    /// The number of the charges that hold for a subject.
    pub(crate) fn resolve(&mut self, subject: &Subject) -> u32 {
        let mut charges: Vec<Charge> = Vec::new();
        for number in 1..=Fees::MOST_CHARGES {
            let ranked =
                self.rules.iter().filter(|rule| rule.charge == number).filter_map(|rule| {
                    Some((subject.rank(rule.account, rule.instrument, &rule.prefix)?, rule))
                });
            if let Some((_, rule)) = ranked.max_by_key(|(rank, _)| *rank) {
                charges.push(Charge {
                    number,
                    kind: rule.kind,
                    side: rule.side,
                    event: rule.event,
                    liquidity: rule.flags,
                    unit: rule.unit,
                    rate: rule.rate,
                    per_lot: rule.per_lot.wide(),
                    minimum: rule.minimum.wide(),
                });
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

    /// All that an order may yet come to, fees and taxes together: each charge as if all that is to come were its own.
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
