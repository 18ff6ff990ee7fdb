//! orderbook-rs: a book that several threads may use at once.

use bench_kit::book::{Book, Tally};
use bench_kit::flow::{Add, Cancel, Take};
use orderbook_rs::{Id, OrderBook, Side, TimeInForce};

use super::Facts;

pub(super) const FACTS: Facts = Facts {
    name: "orderbook-rs",
    version: "0.15",
    setup: "OrderBook::new, one thread, no listeners, no self-trade prevention, trades from the results of the calls. It is \
            built for many threads, which this comparison does not use",
};

pub(super) struct OrderbookRs(OrderBook<()>);

impl OrderbookRs {
    pub(super) fn new() -> OrderbookRs {
        OrderbookRs(OrderBook::new("BENCH"))
    }
}

#[inline(always)]
fn of(side: bench_kit::flow::Side) -> Side {
    match side {
        bench_kit::flow::Side::Buy => Side::Buy,
        bench_kit::flow::Side::Sell => Side::Sell,
    }
}

macro_rules! count {
    ($result:expr, $tally:expr) => {
        for trade in $result.trades().as_vec() {
            $tally.trade(trade.price().as_u128() as u32 - 1, trade.quantity().as_u64() as u32);
        }
    };
}

impl Book for OrderbookRs {
    #[inline(always)]
    fn add(&mut self, add: &Add, tally: &mut Tally) {
        let (id, price) = (Id::from_u64(add.id), u128::from(add.tick) + 1);
        let quantity = u64::from(add.quantity);
        let result =
            self.0.add_limit_order_with_result(id, price, quantity, of(add.side), TimeInForce::Gtc, None);
        if let Ok((_, Some(traded))) = result {
            count!(traded.match_result, tally);
        }
    }

    #[inline(always)]
    fn cancel(&mut self, cancel: &Cancel, tally: &mut Tally) {
        tally.cancelled += u64::from(matches!(self.0.cancel_order(Id::from_u64(cancel.id)), Ok(Some(_))));
    }

    #[inline(always)]
    fn take(&mut self, take: &Take, tally: &mut Tally) {
        let id = Id::from_u64(take.id);
        if let Ok(result) = self.0.submit_market_order(id, take.quantity.into(), of(take.side)) {
            count!(result, tally);
        }
    }
}
