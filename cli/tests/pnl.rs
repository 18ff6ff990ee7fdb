//! Profit and loss as a report has it, from the ledger's own messages.

use ledger::Book;
use wire::fold::{Snapshot, SnapshotReader};
use wire::{
    AnyMessage, Fill, InstrumentId, Level, Liquidity, Nanos, OrderId, Price, Quantity, Quote, Side,
    SnapshotBegin, StrategyId,
};

/// Numbers that look random and are the same on every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

const INSTRUMENTS: u32 = 4;
const ME: StrategyId = StrategyId(5);

fn snapshot(book: &mut Book) -> Snapshot {
    let mut reader = SnapshotReader::of_everybody();
    let mut messages = book.snapshot(SnapshotBegin::EVERYBODY).map(AnyMessage::from);
    messages.find_map(|message| reader.take(message).ok().flatten()).expect("a book's snapshot is whole")
}

#[test]
fn profit_of_random_fills_is_their_exact_sum_rounded_once_also_after_a_restart_of_the_ledger() {
    let mut off = 0;
    for seed in 1..=400 {
        let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed));
        let mut book = Book::new();
        // In 1e-9 of the currency.
        let (mut cash, mut held) = (0_i128, [0_i128; INSTRUMENTS as usize]);
        let fills = 1 + numbers.below(60);
        for number in 1..=fills {
            let instrument = numbers.below(u64::from(INSTRUMENTS)) as u32;
            let side = if numbers.below(2) == 0 { Side::Buy } else { Side::Sell };
            let (price, quantity) =
                (1 + numbers.below(4_000_000_000_000) as i64, 1 + numbers.below(500) as i64);
            let fill = Fill {
                trade_id: number,
                order_id: OrderId::new(ME, 1, number as u32),
                instrument: InstrumentId(instrument + 1),
                side,
                price: Price(price),
                quantity: Quantity(quantity),
                liquidity: Liquidity::Maker,
                reserved: [0; 2],
                remaining: Quantity(0),
                event_time: Nanos(0),
                execution: 0,
                answered_up_to: 0,
            };
            book.on_fill(number * 64, &fill);
            cash -= i128::from(price) * i128::from(quantity) * i128::from(side.sign());
            held[instrument as usize] += i128::from(quantity) * i128::from(side.sign());
            if number == fills / 2 {
                book = Book::restore(&snapshot(&mut book), &[]).expect("its own snapshot");
            }
        }
        let mut exact = cash;
        for instrument in 0..INSTRUMENTS {
            let bid = 1 + numbers.below(4_000_000_000_000) as i64;
            let mut quote = Quote::empty(InstrumentId(instrument + 1));
            quote.bids[0] = Level { price: Price(bid), quantity: Quantity(5) };
            quote.asks[0] = Level { price: Price(bid + 8), quantity: Quantity(5) };
            book.on_quote(&quote);
            let mark = i128::from(book.mark(InstrumentId(instrument + 1)).0);
            exact += held[instrument as usize] * mark;
        }
        let micros = exact / 1_000;
        let text = format!(
            "{}{}.{:06}",
            if micros < 0 { "-" } else { "" },
            micros.abs() / 1_000_000,
            micros.abs() % 1_000_000
        );
        let expected: f64 = text.parse().expect("a number");

        let states = snapshot(&mut book).positions;
        let sum = observe::profit(&states, &std::collections::BTreeMap::new());
        assert_eq!(sum, exact, "seed {seed}: in 1e-9");
        assert_eq!(wire::Money::from_wide(sum).to_f64(), expected, "seed {seed}: {exact} in 1e-9");
        // What a sum of the rounded parts would say.
        let rounded: f64 =
            states.iter().map(|state| state.realised.to_f64() + state.unrealised.to_f64()).sum();
        off += u32::from(rounded != expected);
    }
    assert!(off > 0, "these fills do not tell exact from rounded");
}
