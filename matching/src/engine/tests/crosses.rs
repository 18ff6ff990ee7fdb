//! Own orders at crosses and reopenings of a recorded market, beside a call auction that is computed here: shares one by one, by price and time.

use proptest::prelude::*;
use wire::Side::{Buy, Sell};
use wire::TradingPhase::{Continuous, Halt, VolatilityAuction};
use wire::*;

use super::fixture::*;
use crate::engine::{CallAuctions, Engine, EngineOptions, FillModel, SelfTrade};

const BOTH: [CallAuctions; 2] = [CallAuctions::Refuse, CallAuctions::Uncross];

fn engine_with(fill: FillModel, call_auctions: CallAuctions) -> Engine {
    let mut engine = Engine::new(EngineOptions { call_auctions, ..options(fill, SelfTrade::Allow) });
    engine.on_instrument(&instrument(STOCK));
    engine
}

/// An order of the auction; their order is that of their arrival.
#[derive(Clone, Copy, Debug)]
struct Entry {
    side: Side,
    price: i64,
    quantity: i64,
    is_own: bool,
}

/// What each entry trades at `price`, by price and time.
fn traded(entries: &[Entry], price: i64) -> Vec<i64> {
    let shares = |side: Side| -> Vec<usize> {
        let reaches = |entry: &Entry| if side == Buy { entry.price >= price } else { entry.price <= price };
        let mut all: Vec<usize> =
            (0..entries.len()).filter(|at| entries[*at].side == side && reaches(&entries[*at])).collect();
        all.sort_by_key(|at| if side == Buy { -entries[*at].price } else { entries[*at].price });
        all.into_iter().flat_map(|at| std::iter::repeat_n(at, entries[at].quantity as usize)).collect()
    };
    let mut traded = vec![0; entries.len()];
    for (buy, sell) in shares(Buy).into_iter().zip(shares(Sell)) {
        traded[buy] += 1;
        traded[sell] += 1;
    }
    traded
}

/// Limits at which most trades and no better order is left over, ascending.
fn prices(entries: &[Entry]) -> Vec<i64> {
    let volume = |price| traded(entries, price).iter().sum::<i64>();
    let most = entries.iter().map(|entry| volume(entry.price)).max().unwrap_or(0);
    let is_clear = |price: i64| {
        entries.iter().zip(traded(entries, price)).all(|(entry, traded)| {
            let is_better = if entry.side == Buy { entry.price > price } else { entry.price < price };
            !is_better || traded == entry.quantity
        })
    };
    let mut prices: Vec<i64> = entries.iter().map(|entry| entry.price).collect();
    prices.sort_unstable();
    prices.retain(|price| most > 0 && volume(*price) == most && is_clear(*price));
    prices
}

/// The price at which trading resumes.
fn reopening_price(entries: &[Entry]) -> Option<i64> {
    let prices = prices(entries);
    let of = |side| {
        entries.iter().filter(move |entry| !entry.is_own && entry.side == side).map(|entry| entry.price)
    };
    let (bid, ask) = (of(Buy).max(), of(Sell).min());
    let twice_middle = bid.or(ask).zip(ask.or(bid)).map(|(bid, ask)| bid + ask);
    let (low, high) = (*prices.first()?, *prices.last()?);
    let distance = |price: i64| twice_middle.map_or(0, |middle| (2 * price - middle).abs());
    Some(if distance(high) < distance(low) { high } else { low })
}

/// The fills of own orders, by strategy: price and quantity.
fn fills(answers: &[Execution]) -> Vec<(u16, i64, i64)> {
    let mut fills: Vec<(u16, i64, i64)> = Vec::new();
    for answer in answers {
        if let Execution::Fill(fill) = answer {
            let (strategy, price) = (fill.order_id.strategy().0, fill.price.0);
            match fills.iter_mut().find(|known| (known.0, known.1) == (strategy, price)) {
                Some(known) => known.2 += fill.quantity.0,
                None => fills.push((strategy, price, fill.quantity.0)),
            }
        }
    }
    fills.sort_unstable();
    fills
}

/// What own orders trade in such an auction; an order's strategy is its place, counted from 1.
fn expected(entries: &[Entry], price: i64) -> Vec<(u16, i64, i64)> {
    let own = entries.iter().zip(traded(entries, price)).zip(1..).filter(|((entry, _), _)| entry.is_own);
    own.filter(|((_, traded), _)| *traded > 0).map(|((_, traded), place)| (place, price, traded)).collect()
}

fn market_of(entries: &[Entry]) -> Vec<Entry> {
    let of_market =
        |entry: &Entry| Entry { quantity: if entry.is_own { 0 } else { entry.quantity }, ..*entry };
    entries.iter().map(of_market).collect()
}

fn enters(engine: &mut Engine, place: usize, entry: &Entry) {
    let input = if entry.is_own {
        Input::New(limit(id(place as u16 + 1, 1), entry.side, entry.price, entry.quantity))
    } else {
        Input::Event(in_halt(add(place as u64 + 1, entry.side, entry.price, entry.quantity)))
    };
    let said = said(&feed(engine, &input));
    assert_eq!(said.len(), usize::from(entry.is_own), "{said:?}");
    assert!(said.iter().all(|line| line.ends_with("accepted")), "{said:?}");
}

fn in_halt(event: BookEvent) -> BookEvent {
    BookEvent { flags: event.flags | BookEvent::CALL_AUCTION, ..event }
}

/// Trades that are not of the cross: of a hidden order, with a side and without one, and of orders that are in the book (9000) and are not.
fn strays() -> [BookEvent; 4] {
    let hidden = BookEvent { flags: BookEvent::HIDDEN, ..event(BookAction::Trade, 0, Buy, 100, 500) };
    [
        hidden,
        BookEvent { flags: BookEvent::HIDDEN | BookEvent::NO_SIDE, ..hidden },
        event(BookAction::Execute, 9_000, Buy, 1, 1),
        event(BookAction::Execute, 9_001, Sell, 100, 50),
    ]
    .map(in_halt)
}

fn entries(len: usize) -> impl Strategy<Value = Vec<Entry>> {
    let entry = (any::<bool>(), 95..=105_i64, 1..=9_i64, any::<bool>()).prop_map(
        |(buys, price, quantity, is_own)| Entry {
            side: if buys { Buy } else { Sell },
            price,
            quantity,
            is_own,
        },
    );
    prop::collection::vec(entry, 0..len)
}

/// What a cross is in a file: each executed order, and the sum, at one price, the sum first or last.
fn cross_of(market: &[Entry], price: i64, sum_first: bool, is_printed: bool) -> Vec<BookEvent> {
    let executed = traded(market, price);
    let volume = executed.iter().sum::<i64>() / 2;
    let (part, sum) = if is_printed { (0, BookEvent::UNPRINTED) } else { (BookEvent::UNPRINTED, 0) };
    let parts = market.iter().zip(executed).zip(1..).filter(|((_, quantity), _)| *quantity > 0);
    let mut events: Vec<BookEvent> = parts
        .map(|((entry, quantity), order)| BookEvent {
            flags: BookEvent::NO_SIDE | part,
            ..event(BookAction::Execute, order, entry.side, price, quantity)
        })
        .collect();
    let sum =
        BookEvent { flags: BookEvent::NO_SIDE | sum, ..event(BookAction::Trade, 0, Buy, price, volume) };
    if volume > 0 {
        events.insert(if sum_first { 0 } else { events.len() }, sum);
    }
    events.into_iter().map(in_halt).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    /// Halt, orders of both kinds, strays, a second halt, the cross if the market's orders cross, and trading.
    #[test]
    fn orders_in_a_halt_trade_as_in_a_call_auction_of_the_whole_book(
        entries in entries(14),
        stray in 0..14_usize,
        is_halted_again in any::<bool>(),
        (sum_first, is_printed) in (any::<bool>(), any::<bool>()),
        which in any::<prop::sample::Index>(),
    ) {
        let mut engine = engine_with(FillModel::Book, CallAuctions::Uncross);
        history(&mut engine, add(9_000, Buy, 1, 100));
        feed(&mut engine, &phase_of(STOCK, Halt));
        for (place, entry) in entries.iter().enumerate() {
            if place == stray {
                strays().into_iter().for_each(|event| assert!(history(&mut engine, event).is_empty()));
            }
            enters(&mut engine, place, entry);
        }
        feed(&mut engine, &phase_of(STOCK, VolatilityAuction));
        if is_halted_again {
            feed(&mut engine, &phase_of(STOCK, Continuous));
            feed(&mut engine, &phase_of(STOCK, Halt));
        }
        let market = market_of(&entries);
        let recorded = prices(&market);
        if recorded.is_empty() {
            feed(&mut engine, &phase_of(STOCK, Continuous));
            let answers = feed(&mut engine, &Input::EndOfInstant);
            let mut all = entries.clone();
            all.push(Entry { side: Buy, price: 1, quantity: 99, is_own: false });
            prop_assert_eq!(fills(&answers), reopening_price(&all).map_or(vec![], |price| expected(&all, price)));
        } else {
            let price = *which.get(&recorded);
            let cross = cross_of(&market, price, sum_first, is_printed);
            let answers: Vec<Execution> =
                cross.iter().flat_map(|event| feed(&mut engine, &Input::Event(*event))).collect();
            prop_assert_eq!(fills(&answers), expected(&entries, price));
        }
    }

    /// As before, with orders that rest when the halt begins: whether others are collected makes no difference.
    #[test]
    fn orders_from_before_a_halt_trade_in_its_cross_as_those_that_are_collected(
        entries in entries(14),
        (sum_first, is_printed) in (any::<bool>(), any::<bool>()),
        which in any::<prop::sample::Index>(),
    ) {
        let mut entries = entries;
        // Own orders first, and none that cross each other.
        entries.sort_by_key(|entry| !entry.is_own);
        for entry in entries.iter_mut().filter(|entry| entry.is_own) {
            entry.price += if entry.side == Buy { -5 } else { 6 };
        }
        let market = market_of(&entries);
        let recorded = prices(&market);
        for call_auctions in BOTH {
            let mut engine = engine_with(FillModel::Book, call_auctions);
            for (place, entry) in entries.iter().enumerate() {
                if place == entries.iter().filter(|entry| entry.is_own).count() {
                    feed(&mut engine, &phase_of(STOCK, Halt));
                }
                enters(&mut engine, place, entry);
            }
            if !recorded.is_empty() {
                let price = *which.get(&recorded);
                let cross = cross_of(&market, price, sum_first, is_printed);
                let answers: Vec<Execution> =
                    cross.iter().flat_map(|event| feed(&mut engine, &Input::Event(*event))).collect();
                prop_assert_eq!(fills(&answers), expected(&entries, price), "{:?}", call_auctions);
            }
        }
    }

    /// Beside quotes: the displayed quantities are before own orders at their price.
    #[test]
    fn beside_quotes_trading_resumes_with_a_call_auction_of_quote_and_orders(
        own in entries(10),
        (bids, asks) in (prop::collection::vec(1..=9_i64, 0..4), prop::collection::vec(1..=9_i64, 0..4)),
        (bid, ask) in (95..=100_i64, 101..=105_i64),
    ) {
        let level = |side, price, quantity| Entry { side, price, quantity, is_own: false };
        let bids: Vec<Entry> = bids.iter().zip(0..).map(|(quantity, at)| level(Buy, bid - at, *quantity)).collect();
        let asks: Vec<Entry> = asks.iter().zip(0..).map(|(quantity, at)| level(Sell, ask + at, *quantity)).collect();
        let shown = |levels: &[Entry]| levels.iter().map(|level| (level.price, level.quantity)).collect::<Vec<_>>();
        let quote = quote(&shown(&bids), &shown(&asks));
        let mut all = [bids, asks].concat();
        let first = all.len();
        all.extend(own.iter().map(|entry| Entry { is_own: true, ..*entry }));
        let mut engine = engine_with(FillModel::Quotes, CallAuctions::Uncross);
        feed(&mut engine, &phase_of(STOCK, Halt));
        for (place, entry) in all.iter().enumerate().skip(first) {
            enters(&mut engine, place, entry);
            // No cross: a hidden order.
            assert!(feed(&mut engine, &Input::Print(print(Aggressor::Buy, 100, 50))).is_empty());
        }
        feed(&mut engine, &phase_of(STOCK, Continuous));
        let mut answers = feed(&mut engine, &Input::Quote(quote));
        answers.extend(feed(&mut engine, &Input::EndOfInstant));
        prop_assert_eq!(fills(&answers), reopening_price(&all).map_or(vec![], |price| expected(&all, price)));
    }
}

/// Bids 102 × 10 and 101 × 10 of the market, an own bid of 100 behind them, and an own ask of 99: the ask belongs to the market's bids.
#[test]
fn own_orders_do_not_trade_with_each_other_past_a_better_order_of_the_market() {
    let own = [limit(id(1, 1), Buy, 100, 10), limit(id(2, 1), Sell, 99, 15)];
    for fill in [FillModel::Book, FillModel::Quotes] {
        let mut engine = engine_with(fill, CallAuctions::Uncross);
        feed(&mut engine, &phase_of(STOCK, Halt));
        own.iter().for_each(|order| assert_eq!(enter(&mut engine, *order).len(), 1));
        for (order, price) in [(1, 102), (2, 101)] {
            history(&mut engine, in_halt(add(order, Buy, price, 10)));
        }
        feed(&mut engine, &phase_of(STOCK, Continuous));
        feed(&mut engine, &Input::Quote(quote(&[(102, 10), (101, 10)], &[])));
        let filled = said(&feed(&mut engine, &Input::EndOfInstant));
        assert_eq!(filled[..2], ["2-1: 10 @ 101 maker", "2-1: partially-filled"], "{fill:?}");
        assert_eq!(filled[2..], ["2-1: 5 @ 101 maker", "2-1: filled"], "{fill:?}");
    }
}

/// After each kind of trade that is no cross, and in a second halt behind a cross, orders are collected as before.
#[test]
fn a_trade_within_a_phase_does_not_end_it() {
    for phase in [Halt, VolatilityAuction] {
        for stray in strays() {
            let mut engine = engine_with(FillModel::Book, CallAuctions::Uncross);
            history(&mut engine, add(9_000, Buy, 1, 100));
            enter(&mut engine, limit(id(1, 1), Buy, 101, 10));
            feed(&mut engine, &phase_of(STOCK, phase));
            assert!(history(&mut engine, stray).is_empty(), "{stray:?}");
            assert_eq!(enter(&mut engine, limit(id(1, 2), Sell, 101, 10)), ["1-2: accepted"], "{stray:?}");
        }
        let mut engine = engine_with(FillModel::Book, CallAuctions::Uncross);
        feed(&mut engine, &phase_of(STOCK, phase));
        let cross = BookEvent { flags: BookEvent::NO_SIDE, ..event(BookAction::Trade, 0, Buy, 100, 50) };
        let mut collected = 0;
        for halt in 1..=3 {
            assert_eq!(enter(&mut engine, limit(id(halt, 1), Buy, 101, 10)).len(), 1);
            collected += history(&mut engine, in_halt(cross)).len();
            feed(&mut engine, &phase_of(STOCK, Continuous));
            feed(&mut engine, &phase_of(STOCK, phase));
        }
        assert_eq!(collected, 6, "each halt has its cross");
    }
}
