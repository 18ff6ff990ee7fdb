//! Slips of a person that no later entry takes back: a number of another unit, and what would trade or kill at once.
//!
//! Most entries are undone by another one: a limit or a rule is set again, a deposit is withdrawn, a kill is revived. What they
//! cause meanwhile is not: positions that are closed by force, orders that a kill cancels, charges that fills have paid. An
//! entry that would cause such a thing at once is asked about, and so is a number that no unit of the field explains.

use accounts::{Desk, Entry, Kill, MarginAction};
use node::{Exit, InstanceDir};
use wire::{CurrencyRate, FeeRule, LimitChange, LimitKind, MarginRule};

use crate::desk::{self, Kills};
use crate::failure::Failure;

const ONE: u64 = 1_000_000_000;
/// A margin above the whole value is a percentage that was not divided by a hundred.
const MOST_MARGIN: u64 = ONE;
/// A charge above a tenth of the value, the same.
const MOST_CHARGE: u64 = ONE / 10;
/// A bound of margin above ten times the equity, the same.
const MOST_RATIO: u64 = 10 * ONE;

/// Refuses an entry that looks like a slip. `is_forced`: its author has confirmed it.
pub(super) fn demand(instance: &InstanceDir, entry: &Entry, is_forced: bool) -> Result<(), Failure> {
    if is_forced {
        return Ok(());
    }
    let topology = desk::topology(instance)?;
    let following = desk::follow(instance, desk::section(&topology).as_ref())?;
    let desk = &following.follower.desk;
    let name = |kill: &Kill| Kills::of(kill, Some(&topology)).to_string();
    match unlikely(desk, entry).or_else(|| effect(desk, entry, name)) {
        None => Ok(()),
        Some(what) => Err(Failure::new(Exit::Usage, format!("{what}: if it is meant, say --force"))),
    }
}

/// A number that looks like one of another unit.
fn unlikely(desk: &Desk, entry: &Entry) -> Option<String> {
    let above = |value: u64, most: u64, what: &str| {
        let percent = |value: u64| value as f64 / (ONE / 100) as f64;
        (value > most).then(|| format!("{what} of {} % is more than {} %", percent(value), percent(most)))
    };
    match entry {
        Entry::Margin(MarginRule { long_rate, short_rate, .. }) => {
            above(*long_rate.max(short_rate), MOST_MARGIN, "a margin")
        }
        Entry::Fee(FeeRule { rate, .. }) => above(*rate, MOST_CHARGE, "a charge"),
        Entry::Limit(limit)
            if limit.change == LimitChange::Set
                && matches!(limit.limit, LimitKind::MarginCall | LimitKind::ForcedLiquidation) =>
        {
            above(limit.number, MOST_RATIO, "a bound of margin")
        }
        Entry::Rate(CurrencyRate { currency, rate }) => {
            let known = desk.currency_rate(*currency)?;
            (rate.abs_diff(known) > known / 2)
                .then(|| format!("the rate of {currency} is more than half away from what it is now"))
        }
        Entry::Limit(_)
        | Entry::Open(_)
        | Entry::Change(_)
        | Entry::Terms(_)
        | Entry::Price(_)
        | Entry::Settle(_) => None,
    }
}

/// What would be closed by force or killed at once, and is not without the entry.
fn effect(desk: &Desk, entry: &Entry, name: impl Fn(&Kill) -> String) -> Option<String> {
    let mut after = desk.clone();
    // td refuses it, and says why.
    after.apply(entry).ok()?;
    let closes = |actions: &[MarginAction]| {
        let close = |action: &MarginAction| match action {
            MarginAction::Close(order) if order.owner.is_none() => Some(order.account),
            _ => None,
        };
        actions.iter().filter_map(close).collect::<std::collections::BTreeSet<_>>()
    };
    let ((kills, actions), (kills_after, actions_after)) = (desk.look(), after.look());
    let closed = closes(&actions);
    if let Some(account) = closes(&actions_after).into_iter().find(|account| !closed.contains(account)) {
        return Some(format!("positions of account {account} would be closed by force at once"));
    }
    let fallen = kills_after.iter().find(|kill| !kills.contains(kill))?;
    Some(format!("the kill switch of {} would fall at once", name(fallen)))
}

#[cfg(test)]
mod tests {
    use accounts::Options;
    use wire::{
        AccountAction, AccountChange, AccountId, AccountKind, AccountLimit, AccountOpen, AccountScope,
        ContractTerms, CostMethod, Currency, Fill, InstrumentId, Liquidity, Nanos, NewOrder, OrderId,
        OrderType, Price, Quantity, Side, StrategyId, Symbol, Text, TimeInForce, WideMoney,
    };

    use super::*;

    const CNY: &str = "CNY";

    fn margin(long: u64) -> Entry {
        Entry::Margin(MarginRule {
            account: AccountId(0),
            instrument: InstrumentId(0),
            prefix: Symbol::default(),
            long_rate: long,
            short_rate: long,
            long_per_lot: WideMoney::default(),
            short_per_lot: WideMoney::default(),
            who: Text::cut("ann"),
            why: Text::cut("test"),
        })
    }

    fn limit(limit: LimitKind, number: u64, amount: i128) -> Entry {
        Entry::Limit(AccountLimit {
            subject: 7,
            scope: AccountScope::Account,
            limit,
            change: LimitChange::Set,
            reserved: 0,
            instrument: InstrumentId(0),
            burst: 0,
            number,
            amount: WideMoney::from_wide(amount),
            who: Text::cut("ann"),
            why: Text::cut("test"),
        })
    }

    fn rate(currency: &str, rate: u64) -> Entry {
        Entry::Rate(CurrencyRate { currency: Currency::cut(currency), rate })
    }

    fn fee(rate: u64) -> Entry {
        Entry::Fee(FeeRule {
            account: AccountId(0),
            instrument: InstrumentId(0),
            prefix: Symbol::default(),
            charge: 1,
            kind: wire::ChargeKind::Fee,
            side: wire::FeeSide::Both,
            event: wire::FeeEvent::Any,
            flags: 0,
            reserved: [0; 2],
            unit: 0,
            rate,
            per_lot: WideMoney::default(),
            minimum: WideMoney::default(),
            who: Text::cut("ann"),
            why: Text::cut("test"),
        })
    }

    fn change(action: AccountAction, units: i128) -> Entry {
        Entry::Change(AccountChange {
            subject: 7,
            scope: AccountScope::Account,
            action,
            reserved: 0,
            amount: WideMoney::from_wide(units * i128::from(ONE)),
            currency: Currency::cut(CNY),
            who: Text::cut("ann"),
            why: Text::cut("test"),
        })
    }

    /// Account 7 has 10,000 and holds 100 lots at 50, at a margin of a tenth: 500 of 10,000. The mark is 40: it has lost 1,000.
    fn desk() -> Desk {
        let mut desk = Desk::new(Options::default());
        let terms = ContractTerms {
            instrument: InstrumentId(1),
            flags: ContractTerms::TRADABLE,
            symbol: Symbol::new("SIM001").unwrap(),
            currency: Currency::cut(CNY),
            multiplier: 1,
            price_low: Price::NONE,
            price_high: Price::NONE,
        };
        let open = AccountOpen {
            account: AccountId(7),
            group: 0,
            parent: AccountId(0),
            kind: AccountKind::Margin,
            method: CostMethod::Average,
            reserved: 0,
            currency: Currency::cut(CNY),
            name: Text::EMPTY,
            who: Text::cut("ann"),
            why: Text::cut("test"),
        };
        let entries = [
            rate(CNY, ONE),
            rate("USD", 7 * ONE),
            Entry::Terms(terms),
            Entry::Open(open),
            change(AccountAction::Deposit, 10_000),
            margin(ONE / 10),
            limit(LimitKind::ForcedLiquidation, ONE, 0),
        ];
        entries.iter().for_each(|entry| drop(desk.apply(entry).unwrap()));
        let strategy = StrategyId(5);
        let id = OrderId::new(strategy, 1, 1);
        let price = Price(50 * ONE as i64);
        let order = NewOrder {
            account: AccountId(7),
            ..NewOrder::plain(
                id,
                InstrumentId(1),
                Side::Buy,
                OrderType::Limit,
                TimeInForce::Day,
                price,
                Quantity(100),
            )
        };
        let mut sent = order;
        desk.admit(strategy, &mut sent, Nanos(1)).unwrap();
        let fill = Fill {
            order_id: id,
            trade_id: 1,
            instrument: InstrumentId(1),
            side: Side::Buy,
            liquidity: Liquidity::Taker,
            reserved: [0; 2],
            price,
            quantity: Quantity(100),
            remaining: Quantity(0),
            event_time: Nanos(0),
            execution: 64,
            answered_up_to: 0,
        };
        desk.on_fill(&fill);
        desk.mark(InstrumentId(1), Price(40 * ONE as i64));
        desk
    }

    #[test]
    fn what_trades_or_kills_at_once_and_numbers_of_another_unit_are_asked_about() {
        let desk = desk();
        let asked = |entry: &Entry| unlikely(&desk, entry).or_else(|| effect(&desk, entry, |_| "it".into()));
        for (entry, word) in [
            (margin(10 * ONE), "a margin of 1000 % is more than 100 %"),
            (fee(25 * ONE / 100), "a charge of 25 % is more than 10 %"),
            (limit(LimitKind::MarginCall, 80 * ONE, 0), "8000 %"),
            (rate("USD", 70 * ONE), "more than half away"),
            (rate("USD", ONE / 10), "more than half away"),
            (limit(LimitKind::ForcedLiquidation, ONE / 100, 0), "account 7 would be closed by force"),
            (limit(LimitKind::Loss, 0, 10 * i128::from(ONE)), "the kill switch of it would fall"),
        ] {
            let said = asked(&entry).unwrap_or_default();
            assert!(said.contains(word), "{entry:?}: {said:?}");
        }
        for entry in [
            margin(12 * ONE / 100),
            fee(25 * ONE / 10_000),
            limit(LimitKind::MarginCall, 8 * ONE / 10, 0),
            limit(LimitKind::ForcedLiquidation, 9 * ONE / 10, 0),
            limit(LimitKind::Loss, 0, 50_000 * i128::from(ONE)),
            rate("USD", 71 * ONE / 10),
            rate("EUR", 8 * ONE),
            change(AccountAction::Deposit, 1_000_000_000),
        ] {
            assert_eq!(asked(&entry), None, "{entry:?}");
        }
    }
}
