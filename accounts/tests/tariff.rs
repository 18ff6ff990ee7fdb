//! Charges by who rested, and the tariff beside the accounts: both must come to the same.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use accounts::{Entry, Tariff, Verdict};
use support::*;
use wire::*;

fn listed(terms: &ContractTerms) -> Instrument {
    Instrument {
        id: terms.instrument,
        reserved: 0,
        symbol: terms.symbol,
        tick: Price(Price::ONE),
        lot: Quantity(1),
        price_low: terms.price_low,
        price_high: terms.price_high,
        reference_price: Price::NONE,
        max_quantity: Quantity(0),
        multiplier: terms.multiplier,
        currency: terms.currency,
    }
}

fn with(execution: Execution, liquidity: Liquidity) -> Fill {
    match execution {
        Execution::Fill(fill) => Fill { liquidity, ..fill },
        Execution::Update(_) => panic!("no fill"),
    }
}

#[test]
fn a_charge_may_be_for_orders_that_rest_or_that_come_in() {
    let mut desk = desk();
    // A thousandth for who rests, two for who comes in, at least five.
    let maker = FeeRule { flags: FeeRule::MAKER, ..fee(1, 1_000_000, 0, 0) };
    let taker = FeeRule { flags: FeeRule::TAKER, ..fee(2, 2_000_000, 0, 5 * ONE) };
    for rule in [maker, taker] {
        desk.apply(&Entry::Fee(rule)).unwrap();
    }
    let both = FeeRule { flags: FeeRule::MAKER | FeeRule::TAKER, ..fee(3, 0, 0, 0) };
    assert!(desk.apply(&Entry::Fee(both)).is_err(), "for both is for all: no flag");
    let first = order(1, CASH, STOCK, Side::Buy, 1_000, 10);
    assert!(matches!(send(&mut desk, &first), Verdict::Send(_)));
    // Nobody knows which it will be: 10,000, and 10 and 20 of charges.
    assert_eq!(desk.reserved(first.order_id), Some(10_030 * ONE));
    let fees = |desk: &accounts::Desk| desk.purses(STRATEGY, CASH)[0].totals.fees;
    desk.on_fill(&with(fill(&first, 1, 100, first.price, 900), Liquidity::Taker));
    assert_eq!(fees(&desk), 5 * ONE, "the least");
    desk.on_fill(&with(fill(&first, 2, 400, first.price, 500), Liquidity::Maker));
    assert_eq!(fees(&desk), 9 * ONE);
    desk.on_fill(&with(fill(&first, 3, 500, first.price, 0), Liquidity::Taker));
    assert_eq!(fees(&desk), (4 + 12) * ONE);
    desk.audit().unwrap();
}

#[test]
fn of_the_rules_of_a_charge_that_are_for_a_fill_the_most_specific_holds() {
    let stock = Symbol::new("6").unwrap();
    let by = |rules: &[FeeRule], side: Side, liquidity: Liquidity| {
        let mut desk = desk();
        for rule in rules {
            desk.apply(&Entry::Fee(*rule)).unwrap();
        }
        let buy = order(1, CASH, STOCK, Side::Buy, 100, 10);
        assert!(matches!(send(&mut desk, &buy), Verdict::Send(_)));
        desk.on_fill(&with(fill(&buy, 1, 100, buy.price, 0), liquidity));
        desk.execution(&update(&buy, OrderStatus::Filled, 100, 100));
        let fees = |desk: &accounts::Desk| desk.purses(STRATEGY, CASH)[0].totals.fees / ONE;
        let bought = fees(&desk);
        desk.audit().unwrap();
        if side == Side::Buy {
            return bought;
        }
        let sell = order(2, CASH, STOCK, Side::Sell, 100, 10);
        assert!(matches!(send(&mut desk, &sell), Verdict::Send(_)));
        desk.on_fill(&with(fill(&sell, 2, 100, sell.price, 0), liquidity));
        fees(&desk) - bought
    };
    let lot = |lots: i128| fee(1, 0, lots * ONE, 0);
    let maker = FeeRule { flags: FeeRule::MAKER, ..lot(1) };
    let taker = FeeRule { flags: FeeRule::TAKER, ..lot(2) };
    let bought = FeeRule { side: FeeSide::Buy, ..lot(3) };
    let sold = FeeRule { side: FeeSide::Sell, ..lot(4) };
    let near = FeeRule { prefix: stock, flags: FeeRule::MAKER, ..lot(5) };
    for (rules, side, liquidity, wanted) in [
        (&[maker, taker][..], Side::Buy, Liquidity::Maker, 100),
        (&[maker, taker], Side::Buy, Liquidity::Taker, 200),
        (&[bought, sold], Side::Buy, Liquidity::Taker, 300),
        (&[bought, sold], Side::Sell, Liquidity::Taker, 400),
        (&[near, taker], Side::Buy, Liquidity::Maker, 500),
        (&[near, taker], Side::Buy, Liquidity::Taker, 200),
        (&[near, lot(6)], Side::Sell, Liquidity::Taker, 600),
        // Entered later, for some of the same fills: it takes the place.
        (&[maker, taker, lot(7)], Side::Buy, Liquidity::Taker, 700),
        (&[lot(7), maker], Side::Buy, Liquidity::Taker, 0),
    ] {
        assert_eq!(by(rules, side, liquidity), wanted, "{side} {liquidity:?} by {rules:?}");
    }
}

#[test]
fn the_tariff_charges_what_margin_accounts_and_cash_accounts_do() {
    let mut desk = desk();
    let mut tariff = Tariff::default();
    for entry in reference() {
        if let Entry::Terms(terms) = entry {
            tariff.list(&listed(&terms));
        }
    }
    for rule in [
        FeeRule { flags: FeeRule::TAKER, ..fee(1, 333_333, 0, 5 * ONE) },
        FeeRule { flags: FeeRule::MAKER, side: FeeSide::Buy, ..fee(1, 0, ONE / 3, 0) },
        FeeRule { event: FeeEvent::Open, ..fee(2, 0, ONE / 7, 0) },
        FeeRule { event: FeeEvent::CloseToday, ..fee(2, 0, ONE / 9, 0) },
        FeeRule { event: FeeEvent::CloseToday, ..fee(3, 77_777, 0, 0) },
        FeeRule { kind: ChargeKind::Tax, side: FeeSide::Sell, ..fee(4, 500_000, 0, 0) },
        FeeRule { prefix: Symbol::new("IF").unwrap(), ..fee(4, 100, 0, 0) },
    ] {
        desk.apply(&Entry::Fee(rule)).unwrap();
        tariff.rule(&rule).unwrap();
    }
    let paid = |desk: &accounts::Desk, account| {
        let totals = desk.purses(STRATEGY, account)[0].totals;
        totals.fees + totals.taxes
    };
    let mut seed = 7_u64;
    let mut below = |most: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) % most
    };
    let mut own = 0;
    for number in 1..=400 {
        // The own account of the strategy, and one with a number.
        let account = [AccountId::OWN, MARGINED][below(2) as usize];
        let instrument = [STOCK, INDEX][below(2) as usize];
        let side = [Side::Buy, Side::Sell][below(2) as usize];
        let lots = 3 + below(5) as i64;
        let sent = order(number, account, instrument, side, lots, 2 + below(9) as i64);
        assert!(matches!(send(&mut desk, &sent), Verdict::Send(_)), "{:?}", refusal(&mut desk, &sent));
        let parts = [1, lots - 1];
        for (part, liquidity) in parts.into_iter().zip([Liquidity::Taker, Liquidity::Maker]) {
            let remaining = if part == 1 { lots - 1 } else { 0 };
            let trade = u64::from(number) * 2 + u64::from(part == 1);
            let fill = with(fill(&sent, trade, part, sent.price, remaining), liquidity);
            let before = paid(&desk, account);
            desk.on_fill(&fill);
            let charged = paid(&desk, account) - before;
            assert_eq!(tariff.fill(account, &fill), charged, "order {number}: {fill:?}");
            own += u64::from(account == AccountId::OWN && charged > 0);
        }
        desk.execution(&update(&sent, OrderStatus::Filled, lots, lots));
        tariff.ended(sent.order_id);
    }
    assert!(own > 50, "{own}");
}
