//! matchcore: commands in, outcomes out.

use bench_kit::book::{Book, Tally};
use bench_kit::flow::{Add, Cancel, Flow, Take};
use matchcore::{
    CancelCmd, Command, CommandKind, CommandMeta, CommandOutcome, CommandReport, LimitOrder, MarketOrder,
    NewOrder, OrderBook, OrderFlags, OrderId, OrderKind, Price, Quantity, QuantityPolicy, SequenceNumber,
    Side, SubmitCmd, TimeInForce, Timestamp,
};

use super::Facts;

pub(super) const FACTS: Facts = Facts {
    name: "matchcore",
    version: "0.4",
    setup: "OrderBook::new, good-till-cancel limit orders. It numbers orders by their commands; the number is kept by the \
            order's place in the flow, in a vector, so it needs no index of our ids",
};

pub(super) struct Matchcore {
    book: OrderBook,
    sequence: u64,
    /// The crate's numbers by place.
    numbers: Vec<OrderId>,
}

impl Matchcore {
    pub(super) fn new(flow: &Flow) -> Matchcore {
        Matchcore {
            book: OrderBook::new("BENCH"),
            sequence: 0,
            numbers: vec![OrderId(0); flow.places as usize],
        }
    }

    #[inline(always)]
    fn execute(&mut self, kind: CommandKind, tally: &mut Tally) {
        let meta = CommandMeta {
            sequence_number: SequenceNumber(self.sequence),
            timestamp: Timestamp(self.sequence),
        };
        self.sequence += 1;
        match self.book.execute(&Command { meta, kind }) {
            CommandOutcome::Applied(CommandReport::Submit(effects)) => {
                let trades =
                    effects.target_order().match_result().into_iter().flat_map(|result| result.trades());
                trades.for_each(|trade| tally.trade(trade.price().0 as u32 - 1, trade.quantity().0 as u32));
            }
            CommandOutcome::Applied(CommandReport::Cancel) => tally.cancelled += 1,
            CommandOutcome::Applied(CommandReport::Amend(_)) | CommandOutcome::Rejected(_) => {}
        }
    }
}

#[inline(always)]
fn of(side: bench_kit::flow::Side) -> Side {
    match side {
        bench_kit::flow::Side::Buy => Side::Buy,
        bench_kit::flow::Side::Sell => Side::Sell,
    }
}

impl Book for Matchcore {
    #[inline(always)]
    fn add(&mut self, add: &Add, tally: &mut Tally) {
        self.numbers[add.place as usize] = OrderId(self.sequence);
        let order = LimitOrder::new(
            // It takes no price of zero.
            Price(u64::from(add.tick) + 1),
            QuantityPolicy::Standard { quantity: Quantity(add.quantity.into()) },
            OrderFlags::new(of(add.side), false, TimeInForce::Gtc),
        );
        self.execute(CommandKind::Submit(SubmitCmd { order: NewOrder::Limit(order) }), tally);
    }

    #[inline(always)]
    fn cancel(&mut self, cancel: &Cancel, tally: &mut Tally) {
        let order_id = self.numbers[cancel.place as usize];
        self.execute(CommandKind::Cancel(CancelCmd { order_id, order_kind: OrderKind::Limit }), tally);
    }

    #[inline(always)]
    fn take(&mut self, take: &Take, tally: &mut Tally) {
        let order = MarketOrder::new(Quantity(take.quantity.into()), of(take.side), false);
        self.execute(CommandKind::Submit(SubmitCmd { order: NewOrder::Market(order) }), tally);
    }
}
