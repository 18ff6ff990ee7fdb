//! Money, positions, margin and charges, counted a second time in a simpler way than the accounts do: from deposits, fills and prices
//! alone, without costs, reservations or settlements.
//!
//! Whatever the cost method and whatever settlements have paid, in each currency
//!
//! ```text
//! cash:             balance              = deposits − withdrawals + sold − bought − charges
//! margin, futures:  balance + unrealised = deposits − withdrawals + sold − bought + positions at the mark − charges
//! ```

use std::collections::BTreeMap;

use accounts::{Desk, PositionRow};
use wire::{AccountId, AccountKind, InstrumentId, Price, StrategyId, WideMoney};

use super::books::{Account, Books, Key, Terms, worth};
use super::findings::Findings;
use super::holdings::{EARLIER, LONG, Lots, SHORT, TODAY};
use super::rules::ROUNDING;
use crate::desk::DROPS;

fn money(amount: i128) -> WideMoney {
    WideMoney::from_wide(amount)
}

/// The part, before anything was compared.
pub(super) fn part() -> Findings {
    Findings::new(
        "recount",
        "money, positions, margin and charges are what deposits, fills, rules and prices alone come to",
    )
}

/// Compares the second count with the accounts.
pub(super) fn compare(books: &Books, desk: &Desk) -> Findings {
    let mut findings = part();
    for (key, account) in &books.accounts {
        one(&mut findings, books, desk, (key, account));
    }
    for (instrument, contract) in desk.contracts() {
        let mark = books.marks.get(&instrument).copied().unwrap_or(Price::NONE);
        findings.same(DROPS, None, &format!("mark of instrument {instrument}"), contract.mark, mark);
    }
    if !books.vague.is_empty() {
        let count = books.vague.len();
        findings.notes.push(format!(
            "{count} accounts close lots of one day and of either day: charges, margin and days were not counted there"
        ));
    }
    findings.notes.push(format!("{} accounts", books.accounts.len()));
    findings
}

/// One account: positions, money in each currency, margin.
fn one(findings: &mut Findings, books: &Books, desk: &Desk, (key, account): (&Key, &Account)) {
    let (id, strategy, name) = match *key {
        Key::Opened(id) => (id, StrategyId(0), format!("account {}", id.0)),
        Key::Own(strategy) => (AccountId::OWN, strategy, format!("own account of seat {}", strategy.0)),
    };
    let rows = desk.positions(strategy, id);
    let is_vague = books.vague.contains(key);
    positions(findings, &name, account, &rows, is_vague);
    let purses = desk.purses(strategy, id);
    for (currency, counted) in &account.purses {
        let Some(kept) = purses.iter().find(|purse| purse.currency == *currency) else {
            findings.differs(DROPS, None, format!("{name} has no money in {currency}"), "a purse");
            continue;
        };
        let mut same = |what: &str, kept: i128, counted: i128| {
            let what = format!("{name}, {currency}, {what}");
            findings.same(DROPS, None, &what, money(kept), money(counted));
        };
        same("deposits", kept.totals.deposits, counted.deposits);
        same("withdrawals", kept.totals.withdrawals, counted.withdrawals);
        // Whose closings are vague pays by day what cannot be counted here; the identity below holds with what it paid.
        if !is_vague {
            same("fees", kept.totals.fees, counted.fees);
            same("taxes", kept.totals.taxes, counted.taxes);
        }
        let charges = kept.totals.fees + kept.totals.taxes;
        let came = counted.deposits - counted.withdrawals + counted.flow - charges;
        let (kept, counted) = match account.kind {
            AccountKind::Cash => (kept.balance, came),
            AccountKind::Margin | AccountKind::Futures => {
                let its = rows.iter().filter(|row| {
                    books.terms.get(&row.instrument).is_some_and(|terms| terms.currency == *currency)
                });
                let (gain, value) = its.fold((0, 0), |(gain, value), row| {
                    let (more, worth) = open(row, account, &books.marks, &books.terms);
                    (gain + more, value + worth)
                });
                (kept.balance + gain, came + value)
            }
        };
        same("balance with what is open", kept, counted);
    }
    let margins = if is_vague { BTreeMap::new() } else { books.margins_of(key) };
    for (currency, counted) in margins {
        let kept = purses.iter().find(|purse| purse.currency == currency).map_or(0, |purse| purse.margin);
        // Costs and what settlements have paid are rounded apart there, and together here.
        let counted = if (kept - counted).abs() <= ROUNDING { kept } else { counted };
        findings.same(DROPS, None, &format!("{name}, {currency}, margin"), money(kept), money(counted));
    }
}

/// What the accounts say an open position has gained, and what it is worth at the mark. Without a mark the accounts see no gain: it
/// then counts what it cost, by the accounts.
fn open(
    row: &PositionRow,
    account: &Account,
    marks: &BTreeMap<InstrumentId, Price>,
    terms: &BTreeMap<InstrumentId, Terms>,
) -> (i128, i128) {
    let multiplier = terms.get(&row.instrument).map_or(1, |terms| terms.multiplier);
    let net = account.positions.get(&row.instrument).map_or(0, Lots::net);
    match marks.get(&row.instrument) {
        Some(mark) => (row.unrealised, worth(*mark, net, multiplier)),
        None => (0, row.long_cost - row.short_cost),
    }
}

fn positions(findings: &mut Findings, name: &str, account: &Account, rows: &[PositionRow], is_vague: bool) {
    for (instrument, counted) in &account.positions {
        let kept = rows.iter().find(|row| row.instrument == *instrument);
        let kept = kept.map_or([[0; 2]; 2], |row| {
            [[row.long_today, row.long_yesterday], [row.short_today, row.short_yesterday]]
        });
        for (side, word) in [(LONG, "long"), (SHORT, "short")] {
            let what = format!("{name}, instrument {instrument}, {word}");
            if is_vague {
                let all = |of: &[[i64; 2]; 2]| of[side][TODAY] + of[side][EARLIER];
                findings.same(DROPS, None, &what, all(&kept), all(&counted.lots));
            } else {
                let by_day =
                    |of: &[[i64; 2]; 2]| format!("{} today, {} earlier", of[side][TODAY], of[side][EARLIER]);
                findings.same(DROPS, None, &what, by_day(&kept), by_day(&counted.lots));
            }
        }
    }
    for row in rows.iter().filter(|row| !account.positions.contains_key(&row.instrument)) {
        let what = format!("{name} has a position in instrument {}", row.instrument);
        findings.differs(DROPS, None, what, "no fill says so");
    }
}

#[cfg(test)]
mod tests {
    use wire::{
        AccountAction, AccountScope, AnyMessage, Currency, FeeRule, Fill, NewOrder, OrderId, Side, Symbol,
    };

    use super::*;
    use crate::desk::Seen;

    fn seen(message: &AnyMessage, position: u64) -> Seen {
        Seen { position, time: position, topic: 0, id: message.id(), payload: message.bytes().to_vec() }
    }

    /// An account that bought 10 of multiplier 5 at 100, paid a charge, and sold 4 at 110.
    fn stream() -> Vec<AnyMessage> {
        let (who, why) = (wire::Text::cut("ann"), wire::Text::cut("test"));
        let cny = Currency::cut("CNY");
        let (account, instrument) = (AccountId(7), InstrumentId(1));
        let amount = |whole: i128| WideMoney::from_wide(whole * 1_000_000_000);
        let change = wire::AccountChange {
            subject: 7,
            scope: AccountScope::Account,
            action: AccountAction::Deposit,
            reserved: 0,
            amount: amount(10_000),
            currency: cny,
            who,
            why,
        };
        let price = |whole: i64| Price(whole * 1_000_000_000);
        let order = |number, side| NewOrder {
            account,
            ..NewOrder::plain(
                OrderId::new(StrategyId(5), 1, number),
                instrument,
                side,
                wire::OrderType::Limit,
                wire::TimeInForce::GoodTillCancel,
                price(if side == Side::Buy { 100 } else { 110 }),
                wire::Quantity(10),
            )
        };
        let fill = |number, side, lots, remaining, at: i64, execution| Fill {
            order_id: OrderId::new(StrategyId(5), 1, number),
            trade_id: u64::from(number),
            instrument,
            side,
            liquidity: wire::Liquidity::Taker,
            reserved: [0; 2],
            price: price(at),
            quantity: wire::Quantity(lots),
            remaining: wire::Quantity(remaining),
            event_time: wire::Nanos(0),
            execution,
            answered_up_to: 0,
        };
        vec![
            AnyMessage::CurrencyRate(wire::CurrencyRate { currency: cny, rate: 1_000_000_000 }),
            AnyMessage::ContractTerms(wire::ContractTerms {
                instrument,
                flags: wire::ContractTerms::TRADABLE,
                symbol: Symbol::new("SIM001").unwrap(),
                currency: cny,
                multiplier: 5,
                price_low: Price::NONE,
                price_high: Price::NONE,
            }),
            AnyMessage::AccountOpen(wire::AccountOpen {
                account,
                group: 0,
                parent: AccountId(0),
                kind: AccountKind::Margin,
                method: wire::CostMethod::Average,
                reserved: 0,
                currency: cny,
                name: wire::Text::EMPTY,
                who,
                why,
            }),
            AnyMessage::FeeRule(FeeRule {
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
                rate: 1_000_000,
                per_lot: WideMoney::default(),
                minimum: amount(1),
                who,
                why,
            }),
            AnyMessage::AccountChange(change),
            AnyMessage::NewOrder(order(1, Side::Buy)),
            AnyMessage::Fill(fill(1, Side::Buy, 10, 0, 100, 64)),
            AnyMessage::NewOrder(order(2, Side::Sell)),
            AnyMessage::Fill(fill(2, Side::Sell, 4, 6, 110, 128)),
            AnyMessage::Mark(wire::Mark { instrument, reserved: 0, price: price(120) }),
        ]
    }

    /// What a recount of `counted` says of the accounts that `kept` leads to.
    fn findings(kept: &[AnyMessage], counted: &[AnyMessage]) -> Findings {
        let mut follower = accounts::Follower::new(accounts::Options::default());
        for (message, position) in kept.iter().zip((64_u64..).step_by(64)) {
            let at = (position, 0, wire::Nanos(position));
            follower.frame(at, message.id(), message.bytes()).unwrap();
        }
        let mut books = Books::default();
        for (message, position) in counted.iter().zip((64_u64..).step_by(64)) {
            books.take(&seen(message, position));
        }
        compare(&books, &follower.desk)
    }

    #[test]
    fn accounts_that_follow_the_same_frames_agree_and_each_other_frame_is_noticed() {
        let all = stream();
        let same = findings(&all, &all);
        assert_eq!((same.differences, same.checked > 6), (0, true), "{:?}", same.rows);
        // One frame less on one side: a deposit, a fill, a rule, a mark.
        for left_out in [3, 4, 6, 8, 9] {
            let mut less = all.clone();
            less.remove(left_out);
            assert!(findings(&all, &less).differences > 0, "without frame {left_out}");
        }
    }
}
