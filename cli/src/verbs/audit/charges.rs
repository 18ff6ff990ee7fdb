//! Charges, counted a second time: the rules as they were entered, and what each order pays by them.

use wire::{AccountId, ChargeKind, FeeEvent, FeeRule, InstrumentId, Liquidity, Side, Symbol};

const ONE: i128 = 1_000_000_000;

/// What a fill does to a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Open,
    Close,
    CloseToday,
}

/// What an order has traded: by whose order rested, and by class.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Traded {
    lots: [[i128; 3]; 2],
    value: [[i128; 3]; 2],
}

impl Traded {
    pub(super) fn add(&mut self, class: Class, liquidity: Liquidity, lots: i64, value: i128) {
        let came_in = usize::from(liquidity == Liquidity::Taker);
        self.lots[came_in][class as usize] += i128::from(lots);
        self.value[came_in][class as usize] += value.abs();
    }
}

/// Whose charges are asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Of {
    pub(super) account: AccountId,
    pub(super) parent: AccountId,
    pub(super) instrument: InstrumentId,
    pub(super) symbol: Symbol,
}

/// The rules that can hold for an order, the most specific of each number first.
pub(super) fn rules(all: &[FeeRule], of: &Of) -> Vec<FeeRule> {
    let mut ranked: Vec<_> = all
        .iter()
        .filter_map(|rule| Some((rank((rule.account, rule.instrument, rule.prefix), of)?, rule)))
        .collect();
    ranked.sort_by_key(|(rank, rule)| (rule.charge, std::cmp::Reverse(*rank)));
    ranked.into_iter().map(|(_, rule)| *rule).collect()
}

/// Whether one fill can be of both: the later of two such rules takes the place of the earlier.
pub(super) fn meet(one: &FeeRule, other: &FeeRule) -> bool {
    let sides = [Side::Buy, Side::Sell].iter().any(|side| one.side.covers(*side) && other.side.covers(*side));
    let events = [one.event, other.event].contains(&FeeEvent::Any) || one.event == other.event;
    let kinds = [one.flags, other.flags].contains(&0) || one.flags == other.flags;
    sides && events && kinds
}

/// Whether a rule is for fills of this kind.
fn is_for(rule: &FeeRule, side: Side, came_in: usize, class: Class) -> bool {
    let event = match class {
        Class::Open => FeeEvent::Open,
        Class::Close => FeeEvent::Close,
        Class::CloseToday => FeeEvent::CloseToday,
    };
    let flag = [FeeRule::MAKER, FeeRule::TAKER][came_in];
    rule.side.covers(side) && [FeeEvent::Any, event].contains(&rule.event) && [0, flag].contains(&rule.flags)
}

/// First counts whose rule it is, then the instrument, then how long its prefix is.
pub(super) fn rank(
    (account, instrument, prefix): (AccountId, InstrumentId, Symbol),
    of: &Of,
) -> Option<(u8, usize)> {
    let account = if account.0 == 0 {
        0
    } else if account == of.account {
        2
    } else if account == of.parent {
        1
    } else {
        return None;
    };
    let instrument = if instrument.0 != 0 {
        (instrument == of.instrument).then_some(usize::MAX)
    } else {
        let prefix = prefix.as_str();
        of.symbol.as_str().starts_with(prefix).then_some(prefix.len())
    };
    Some((account, instrument?))
}

fn divided_up(amount: i128, by: i128) -> i128 {
    amount / by + i128::from(amount % by > 0)
}

/// What an order pays in all: fees, taxes. Each kind of fill is charged by the first rule of a number that is for it.
pub(super) fn paid(rules: &[FeeRule], side: Side, traded: &Traded) -> (i128, i128) {
    let (mut fees, mut taxes) = (0, 0);
    for (place, rule) in rules.iter().enumerate() {
        let (mut lots, mut value) = (0, 0);
        for came_in in [0, 1] {
            for class in [Class::Open, Class::Close, Class::CloseToday] {
                let first = rules
                    .iter()
                    .position(|other| other.charge == rule.charge && is_for(other, side, came_in, class));
                if first == Some(place) {
                    lots += traded.lots[came_in][class as usize];
                    value += traded.value[came_in][class as usize];
                }
            }
        }
        if lots == 0 {
            continue;
        }
        let rate = i128::from(rule.rate);
        let part = (value / ONE).saturating_mul(rate) + divided_up((value % ONE) * rate, ONE);
        let amount = part.saturating_add(rule.per_lot.wide().saturating_mul(lots));
        let unit = i128::from(rule.unit.max(1));
        let amount = (divided_up(amount, unit) * unit).max(rule.minimum.wide());
        match rule.kind {
            ChargeKind::Fee => fees += amount,
            ChargeKind::Tax => taxes += amount,
        }
    }
    (fees, taxes)
}

/// The most that an order may yet pay: each kind of fill as if all lots were of it.
pub(super) fn to_come(rules: &[FeeRule], side: Side, traded: &Traded, (lots, value): (i64, i128)) -> i128 {
    if rules.is_empty() || lots <= 0 {
        return 0;
    }
    let until_now = paid(rules, side, traded);
    let mut all = 0;
    for class in [Class::Open, Class::Close, Class::CloseToday] {
        for liquidity in [Liquidity::Maker, Liquidity::Taker] {
            let mut then = *traded;
            then.add(class, liquidity, lots, value);
            let then = paid(rules, side, &then);
            all += (then.0 - until_now.0 + then.1 - until_now.1).max(0);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use wire::{FeeSide, Text, WideMoney};

    use super::*;

    fn rule(charge: u16, rate: u64) -> FeeRule {
        FeeRule {
            account: AccountId(0),
            instrument: InstrumentId(0),
            prefix: Symbol::default(),
            charge,
            kind: ChargeKind::Fee,
            side: FeeSide::Both,
            event: FeeEvent::Any,
            flags: 0,
            reserved: [0; 2],
            unit: 10_000_000,
            rate,
            per_lot: WideMoney::default(),
            minimum: WideMoney::from_wide(5 * ONE),
            who: Text::EMPTY,
            why: Text::EMPTY,
        }
    }

    #[test]
    fn an_order_pays_the_example_of_the_document() {
        let rules = [rule(1, 2_500_000)];
        let mut traded = Traded::default();
        traded.add(Class::Open, Liquidity::Taker, 100, 1_000 * ONE);
        assert_eq!(paid(&rules, Side::Buy, &traded), (5 * ONE, 0));
        traded.add(Class::Open, Liquidity::Maker, 200, 2_000 * ONE);
        assert_eq!(paid(&rules, Side::Buy, &traded), (7 * ONE + ONE / 2, 0));
        assert_eq!(paid(&rules, Side::Buy, &Traded::default()), (0, 0), "nothing traded, nothing paid");
    }

    #[test]
    fn the_most_specific_rule_of_each_number_holds() {
        let of = Of {
            account: AccountId(7),
            parent: AccountId(3),
            instrument: InstrumentId(9),
            symbol: Symbol::new("IF2601").unwrap(),
        };
        let everybody = rule(1, 1);
        let prefix = FeeRule { prefix: Symbol::new("IF").unwrap(), rate: 2, ..everybody };
        let other = FeeRule { prefix: Symbol::new("IC").unwrap(), rate: 3, ..everybody };
        let parent = FeeRule { account: AccountId(3), rate: 4, ..everybody };
        let own = FeeRule { account: AccountId(7), rate: 5, ..everybody };
        let all = [everybody, prefix, other, rule(2, 9)];
        let rates = |all: &[FeeRule]| rules(all, &of).iter().map(|rule| rule.rate).collect::<Vec<_>>();
        assert_eq!(rates(&all), [2, 1, 9]);
        assert_eq!(rates(&[everybody, prefix, parent]), [4, 2, 1]);
        assert_eq!(rates(&[own, everybody, prefix, parent]), [5, 4, 2, 1]);
        let mut traded = Traded::default();
        traded.add(Class::Open, Liquidity::Taker, 100, 1_000 * ONE * ONE);
        let paid_by = |all: &[FeeRule]| {
            let least = |rule: &FeeRule| FeeRule { minimum: WideMoney::default(), unit: 0, ..*rule };
            let all: Vec<FeeRule> = all.iter().map(least).collect();
            paid(&rules(&all, &of), Side::Buy, &traded).0 / (1_000 * ONE)
        };
        assert_eq!((paid_by(&all), paid_by(&[own, everybody, prefix, parent])), (11, 5));
        // A rule that is not for this fill leaves it to the next.
        let resting = FeeRule { flags: FeeRule::MAKER, ..own };
        let sold = FeeRule { side: FeeSide::Sell, ..parent };
        assert_eq!(paid_by(&[resting, sold, prefix, everybody]), 2);
        let came_in = FeeRule { flags: FeeRule::TAKER, ..everybody };
        let rested = FeeRule { flags: FeeRule::MAKER, rate: 7, ..everybody };
        assert_eq!(paid_by(&[came_in, rested]), 1);
        assert!(meet(&everybody, &sold) && meet(&rested, &sold) && !meet(&came_in, &rested));
    }
}
