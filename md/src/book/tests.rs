use std::collections::BTreeMap;

use proptest::prelude::*;
use wire::{InstrumentId, Nanos, TradePrint};

use super::*;
use crate::source::SourceEvent;

fn part(action: BookAction, side: Side, order: u64, price: i64, quantity: i64) -> BookEvent {
    BookEvent {
        instrument: InstrumentId(1),
        action,
        side,
        flags: BookEvent::LAST,
        order_ref: order,
        price: Price(price),
        quantity: Quantity(quantity),
        event_time: Nanos(0),
        sequence: 0,
        reserved: 0,
    }
}

fn event(parts: &[BookEvent]) -> SourceEvent {
    SourceEvent { instrument: InstrumentId(1), book_events: parts.to_vec(), ..SourceEvent::default() }
}

fn books() -> Books {
    let mut instruments = crate::sim::instruments(1);
    instruments[0].id = InstrumentId(1);
    Books::new(&instruments)
}

fn bids(book: &Book) -> Vec<(i64, i64, u32)> {
    book.levels(Side::Buy).map(|level| (level.price.0, level.quantity.0, level.orders)).collect()
}

use BookAction::*;
use Side::*;

#[test]
fn levels_are_sums_of_their_orders() {
    let mut book = Book::new();
    for one in [
        part(Add, Buy, 1, 100, 5),
        part(Add, Buy, 2, 101, 7),
        part(Add, Buy, 3, 100, 1),
        part(Reduce, Buy, 1, 100, 2),
        part(Execute, Buy, 2, 101, 3),
    ] {
        book.apply(&one).unwrap();
    }
    assert_eq!(bids(&book), [(101, 4, 1), (100, 4, 2)]);
    book.apply(&part(Modify, Buy, 1, 99, 9)).unwrap();
    assert_eq!(bids(&book), [(101, 4, 1), (100, 1, 1), (99, 9, 1)]);
    book.apply(&part(Execute, Buy, 2, 101, 4)).unwrap();
    book.apply(&part(Delete, Buy, 3, 100, 1)).unwrap();
    assert_eq!(bids(&book), [(99, 9, 1)]);
    assert_eq!((book.orders(), book.resting()), (1, 9));
    book.apply(&part(Clear, Buy, 0, 0, 0)).unwrap();
    assert_eq!((book.orders(), bids(&book).len()), (0, 0));
}

#[test]
fn what_does_not_fit_is_said_and_leaves_the_book_whole() {
    let mut book = Book::new();
    assert_eq!(book.apply(&part(Reduce, Buy, 9, 100, 5)), Err(BookError::UnknownOrder(9)));
    assert_eq!(book.apply(&part(Add, Buy, 1, 100, 0)), Err(BookError::Quantity(1)));
    book.apply(&part(Add, Buy, 1, 100, 5)).unwrap();
    assert_eq!(book.apply(&part(Add, Buy, 1, 101, 6)), Err(BookError::DuplicateOrder(1)));
    assert_eq!(bids(&book), [(101, 6, 1)]);
    let too_much = BookError::TooMuch { order: 1, left: 6, asked: 8 };
    assert_eq!(book.apply(&part(Execute, Buy, 1, 101, 8)), Err(too_much));
    assert_eq!(book.orders(), 0);
    book.apply(&part(Add, Buy, 1, 100, i64::MAX)).unwrap();
    assert_eq!(book.apply(&part(Add, Buy, 2, 100, 1)), Err(BookError::Quantity(2)));
    assert_eq!(bids(&book), [(100, i64::MAX, 1)]);
}

#[test]
fn a_quote_is_due_when_the_top_ten_change_or_a_trade_happened() {
    let mut books = books();
    for order in 0..10 {
        let add = event(&[part(Add, Buy, order, 100 - order as i64, 5)]);
        assert!(books.apply(&add).quote.is_some(), "level {order}");
    }
    assert!(books.apply(&event(&[part(Add, Buy, 20, 80, 5)])).quote.is_none());
    assert!(books.apply(&event(&[part(Delete, Buy, 20, 80, 5)])).quote.is_none());
    let quote = *books.apply(&event(&[part(Add, Buy, 21, 91, 2)])).quote.unwrap();
    assert_eq!(quote.bids[9].quantity, Quantity(7));
    // Removed and added again within one event: nothing visible changes.
    let net_zero = event(&[part(Delete, Buy, 21, 91, 2), part(Add, Buy, 22, 91, 2)]);
    assert!(books.apply(&net_zero).quote.is_none());
    let mut trade = event(&[part(Trade, Sell, 0, 100, 3)]);
    trade.trades.push(TradePrint {
        instrument: InstrumentId(1),
        aggressor: wire::Aggressor::Buy,
        reserved: [0; 3],
        due: Nanos(0),
        event_time: Nanos(0),
        sequence: 0,
        price: Price(100),
        quantity: Quantity(3),
        trade_id: 0,
    });
    assert_eq!(books.apply(&trade).quote.unwrap().last_quantity, Quantity(3));
    let stranger = SourceEvent { instrument: InstrumentId(9), ..trade };
    assert!(books.apply(&stranger).quote.is_none());
}

#[test]
fn crossed_books_and_warm_ups_hold_quotes_back_until_they_end() {
    let mut books = books();
    let warm_up = SourceEvent { warm_up: true, ..event(&[part(Add, Buy, 1, 100, 5)]) };
    assert!(books.apply(&warm_up).quote.is_none());
    // Nothing visible changes, but the quote that was held back is due.
    assert!(books.apply(&event(&[])).quote.is_some());
    assert!(books.apply(&event(&[part(Add, Sell, 2, 100, 5)])).quote.is_none());
    assert!(books.apply(&event(&[part(Add, Sell, 3, 101, 5)])).quote.is_none());
    assert_eq!(books.crossed(), 2);
    assert!(books.apply(&event(&[part(Delete, Sell, 2, 100, 5)])).quote.is_some());
}

proptest! {
    /// Compared with a map of orders that is summed up anew after every event.
    #[test]
    fn random_events_give_the_same_levels_as_a_plain_sum(
        steps in prop::collection::vec((0..5_u8, any::<bool>(), 0..20_u64, 90..110_i64, -1..30_i64), 0..400)
    ) {
        let (mut book, mut shown) = (Book::new(), Quote::empty(InstrumentId(1)));
        let mut orders: BTreeMap<u64, (Side, i64, i64)> = BTreeMap::new();
        for (kind, buys, order, price, quantity) in steps {
            let side = if buys { Buy } else { Sell };
            let action = [Add, Reduce, Delete, Execute, Modify][usize::from(kind)];
            let answer = book.apply(&part(action, side, order, price, quantity));
            match action {
                Add => {
                    orders.remove(&order);
                    if quantity > 0 {
                        orders.insert(order, (side, price, quantity));
                    }
                }
                Delete => {
                    orders.remove(&order);
                }
                _ if quantity <= 0 => prop_assert!(answer.is_err()),
                Modify => {
                    if let Some(known) = orders.get_mut(&order) {
                        *known = (known.0, price, quantity);
                    }
                }
                _ => {
                    if let Some(known) = orders.get_mut(&order) {
                        known.2 -= quantity;
                    }
                    orders.retain(|_, known| known.2 > 0);
                }
            }
            book.quote(&mut shown);
            for (side, levels) in [(Buy, &shown.bids), (Sell, &shown.asks)] {
                let mut sums: BTreeMap<i64, i64> = BTreeMap::new();
                for known in orders.values().filter(|known| known.0 == side) {
                    *sums.entry(known.1).or_default() += known.2;
                }
                let mut sums: Vec<(i64, i64)> = sums.into_iter().collect();
                if side == Buy {
                    sums.reverse();
                }
                sums.truncate(wire::LEVELS);
                let levels: Vec<(i64, i64)> = levels
                    .iter()
                    .filter(|level| level.is_some())
                    .map(|level| (level.price.0, level.quantity.0))
                    .collect();
                prop_assert_eq!(levels, sums);
            }
        }
    }
}
