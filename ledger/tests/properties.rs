//! Random streams: the money adds up, and neither mixing, nor repeating, nor restoring changes the state.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use ledger::{Book, Position, SnapshotMessage};
use proptest::prelude::*;
use support::*;
use wire::*;

fn side() -> impl Strategy<Value = Side> {
    prop_oneof![Just(Side::Buy), Just(Side::Sell)]
}

fn price() -> impl Strategy<Value = i64> {
    prop_oneof![-20..20_i64, 1..4_000_000_000_000_i64]
}

fn trades(most: i64, length: usize) -> impl Strategy<Value = Vec<(Side, i64, i64)>> {
    proptest::collection::vec((side(), price(), 1..=most), 1..length)
}

fn throws() -> impl Strategy<Value = Vec<Throw>> {
    let throw = (
        any::<u8>(),
        1..4_u16,
        1..4_u32,
        any::<bool>(),
        1..4_000_000_000_000_i64,
        1..5_000_i64,
        any::<usize>(),
    )
        .prop_map(|(kind, strategy, instrument, buy, price, quantity, pick)| Throw {
            kind,
            strategy,
            instrument,
            buy,
            price,
            quantity,
            pick,
        });
    proptest::collection::vec(throw, 1..120)
}

#[derive(Clone, Debug)]
enum Market {
    Quote(u32, i64, i64),
    OneSided(u32, i64),
    Print(u32, i64),
}

fn market() -> impl Strategy<Value = Vec<Market>> {
    let one = prop_oneof![
        (1..5_u32, price(), 0..100_i64).prop_map(|(id, bid, spread)| Market::Quote(id, bid, bid + spread)),
        (1..5_u32, price()).prop_map(|(id, bid)| Market::OneSided(id, bid)),
        (1..5_u32, price()).prop_map(|(id, price)| Market::Print(id, price)),
    ];
    proptest::collection::vec(one, 0..60)
}

fn feed_market(book: &mut Book, market: &Market) {
    let anomaly = match *market {
        Market::Quote(id, bid, ask) => book.on_market(0, Quote::ID, quote(id, bid, ask).bytes()),
        Market::OneSided(id, bid) => {
            let mut quote = quote(id, bid, 0);
            quote.asks[0] = Level::EMPTY;
            book.on_market(0, Quote::ID, quote.bytes())
        }
        Market::Print(id, price) => book.on_market(0, TradePrint::ID, print(id, price).bytes()),
    };
    assert_eq!(anomaly, None);
}

/// Which journal the next message comes from, until both are empty.
fn mix(book: &mut Book, executions: &[Execution], market: &[Market], turns: &[bool]) {
    let mut executions = (0..).map(|number| number * 64).zip(executions);
    let mut market = market.iter();
    let mut turns = turns.iter().copied().cycle();
    loop {
        let market_first = turns.next().unwrap_or(false);
        let next_market = if market_first { market.next() } else { None };
        match next_market {
            Some(message) => feed_market(book, message),
            None => match executions.next() {
                Some((position, execution)) => assert_eq!(feed(execution, book, position), None),
                None => match market.next() {
                    Some(message) => feed_market(book, message),
                    None => return,
                },
            },
        }
    }
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a.abs() } else { gcd(b, a % b) }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn the_cash_identity_is_exact(trades in trades(1 << 32, 60), mark in price()) {
        let mut position = Position::FLAT;
        let (mut held, mut cash) = (0_i64, 0_i128);
        for (number, &(side, price, quantity)) in (1..).zip(&trades) {
            position = position.trade(side, Price(price), Quantity(quantity)).unwrap();
            held += side.sign() * quantity;
            cash -= i128::from(side.sign()) * i128::from(price) * i128::from(quantity);
            prop_assert_eq!((position.quantity(), position.cash()), (held, cash));
            let worth = cash + i128::from(held) * i128::from(mark);
            prop_assert_eq!(position.realised() + position.unrealised(Price(mark)), worth);
            prop_assert!(held != 0 || position.unrealised(Price(mark)) == 0, "flat is flat");

            let state = position.state(ME, STOCK, Price(mark));
            prop_assert_eq!(state.bought - state.sold, Quantity(held));
            prop_assert_eq!(state.fills, number);
            let shown = i128::from(state.realised.0) + i128::from(state.unrealised.0);
            let saturated = [state.realised, state.unrealised].iter().any(|money| money.0.unsigned_abs() >= 1 << 62);
            prop_assert!(saturated || (shown * 1_000 - worth).abs() < 2_000, "{shown} against {worth}");
        }
    }

    /// Against the same method in fractions, which never round.
    #[test]
    fn rounding_moves_less_than_one_unit_per_partial_close(
        trades in proptest::collection::vec((side(), -50..1_000_i64, 1..40_i64), 1..16),
    ) {
        let mut position = Position::FLAT;
        let (mut numerator, mut denominator, mut closes) = (0_i128, 1_i128, 0);
        for (side, price, quantity) in trades {
            let held = i128::from(position.quantity());
            let signed = i128::from(side.sign() * quantity);
            if held * signed >= 0 {
                numerator += i128::from(price) * signed * denominator;
            } else if signed.abs() < held.abs() {
                numerator *= held.abs() - signed.abs();
                denominator *= held.abs();
                closes += 1;
            } else {
                (numerator, denominator, closes) = (i128::from(price) * (held + signed), 1, 0);
            }
            let shared = gcd(numerator, denominator).max(1);
            (numerator, denominator) = (numerator / shared, denominator / shared);
            position = position.trade(side, Price(price), Quantity(quantity)).unwrap();
            // Cost of what is open, which is what it is worth at zero turned round.
            let cost = -position.unrealised(Price(0));
            prop_assert!((cost * denominator - numerator).abs() <= closes * denominator);
            prop_assert!(closes > 0 || cost * denominator == numerator);
        }
    }

    #[test]
    fn a_flip_is_a_close_and_an_opening(trades in trades(1_000, 20), price in price(), beyond in 1..1_000_i64) {
        let position = trades.iter().fold(Position::FLAT, |position, &(side, price, quantity)| {
            position.trade(side, Price(price), Quantity(quantity)).unwrap()
        });
        let held = position.quantity();
        prop_assume!(held != 0);
        let (side, price) = (if held > 0 { Side::Sell } else { Side::Buy }, Price(price));
        let at_once = position.trade(side, price, Quantity(held.abs() + beyond)).unwrap();
        let closed = position.trade(side, price, Quantity(held.abs())).unwrap();
        let in_two = closed.trade(side, price, Quantity(beyond)).unwrap();
        prop_assert_eq!((closed.quantity(), closed.realised()), (0, closed.cash()));
        prop_assert_eq!(at_once.quantity(), side.sign() * beyond);
        prop_assert_eq!(at_once.average_price(), price);
        prop_assert_eq!((at_once.realised(), at_once.cash()), (in_two.realised(), in_two.cash()));
        prop_assert_eq!(at_once.realised(), closed.realised(), "opening realises nothing");
    }

    /// Fills on one side only, in any order, come to the same.
    #[test]
    fn fills_of_one_side_may_change_places(trades in trades(1_000, 20), turn in any::<usize>()) {
        let all = |trades: &[(Side, i64, i64)]| {
            trades.iter().fold(Position::FLAT, |position, &(_, price, quantity)| {
                position.trade(Side::Sell, Price(price), Quantity(quantity)).unwrap()
            })
        };
        let mut turned = trades.clone();
        turned.rotate_left(turn % trades.len());
        prop_assert_eq!(all(&trades), all(&turned));
        turned.reverse();
        prop_assert_eq!(all(&trades), all(&turned));
    }

    #[test]
    fn mixing_the_journals_and_reading_again_change_nothing(
        throws in throws(),
        market in market(),
        turns in proptest::collection::vec(any::<bool>(), 1..40),
        back in any::<usize>(),
    ) {
        let executions = executions(&throws);
        let (mut one, mut other) = (Book::new(), Book::new());
        mix(&mut one, &executions, &market, &[false]);
        mix(&mut other, &executions, &market, &turns);
        prop_assert_eq!(everything(&mut one), everything(&mut other));
        // A reader that starts again further back: every frame is told to be old, and nothing changes.
        let before = everything(&mut other);
        let from = back % executions.len();
        for (number, execution) in executions.iter().enumerate().skip(from) {
            let anomaly = feed(execution, &mut other, number as u64 * 64);
            prop_assert_eq!(anomaly, Some(ledger::Anomaly::Redelivered));
        }
        prop_assert_eq!(everything(&mut other), before);
    }

    #[test]
    fn a_restored_book_gives_the_same_snapshot_and_goes_on(
        throws in throws(),
        market in market(),
        turns in proptest::collection::vec(any::<bool>(), 1..40),
        cut in any::<usize>(),
    ) {
        let executions = executions(&throws);
        let cut = cut % (executions.len() + 1);
        let mut book = Book::new();
        mix(&mut book, &executions[..cut], &market, &turns);
        let mut restored = Book::restore(&snapshot(&mut book), &[]).unwrap();
        prop_assert_eq!(everything(&mut restored), everything(&mut book));

        // Both hear the market again: the last trade of what nobody held is not in a snapshot.
        for message in &market {
            feed_market(&mut book, message);
            feed_market(&mut restored, message);
        }
        // Reads on from the beginning: what the snapshot contains is ignored.
        for (number, execution) in executions.iter().enumerate() {
            feed(execution, &mut restored, number as u64 * 64);
            if number >= cut {
                feed(execution, &mut book, number as u64 * 64);
            }
        }
        for (one, other) in everything(&mut restored).into_iter().zip(everything(&mut book)) {
            if let (SnapshotMessage::Position(one), SnapshotMessage::Position(other)) = (one, other) {
                if one.mark_price.is_some() || one.position == Quantity(0) {
                    prop_assert_eq!(one.profit(1), other.profit(1));
                }
                let plain = |state| PositionState {
                    average_price: Price(0),
                    realised: Money(0),
                    unrealised: Money(0),
                    ..state
                };
                prop_assert_eq!(plain(one), plain(other));
            } else {
                prop_assert_eq!(one, other);
            }
        }
    }

    #[test]
    fn one_strategys_snapshot_is_its_part_of_everybodys(throws in throws(), market in market()) {
        let mut book = Book::new();
        mix(&mut book, &executions(&throws), &market, &[true]);
        let all = everything(&mut book);
        for strategy in (0..5).map(StrategyId) {
            let part: Vec<_> = all.iter().filter(|message| match message {
                SnapshotMessage::Position(position) => position.strategy == strategy,
                SnapshotMessage::Order(order) => order.order_id.strategy() == strategy,
                SnapshotMessage::Quote(_) => true,
                SnapshotMessage::Begin(_) | SnapshotMessage::End(_) => false,
            }).copied().collect();
            let own = state(&mut book, strategy);
            prop_assert_eq!(&own[1..own.len() - 1], &part[..]);
            let Some(SnapshotMessage::End(end)) = own.last() else { panic!("no end") };
            prop_assert_eq!(end.frames, part.len() as u64);
        }
    }
}
