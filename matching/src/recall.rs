//! The executions of a killed matching, read back from its own journal, and what its successor has to add to them.
//!
//! The books are lost with their process. What they held is known all the same: an order that was accepted and has no end
//! in `matching.executions` worked. The successor writes the end of each, in the same journal, before anything else. So the
//! executions hold every order's end once, and in its place, however often matching is killed.

use std::collections::BTreeMap;

use node::{InstanceDir, OpenError, RunError, last_snapshot, read_behind_snapshot, read_held};
use wire::fold::{Snapshot, WorkingOrders};
use wire::{
    Execution, Fill, InstrumentId, Message, OrderStatus, OrderUpdate, Quantity, Reason, Statistics,
    TradePrint, WireError,
};

/// The executions so far.
#[derive(Debug, Default)]
pub(crate) struct Recall {
    orders: WorkingOrders,
    /// Requests up to this position in `td.orders` are answered.
    pub(crate) request: u64,
    /// Number of the last trade.
    pub(crate) trade: u64,
    /// One of each trade.
    fills: Vec<Fill>,
}

/// The statistics of an instrument, or those before its first trade.
fn of(traded: &mut BTreeMap<InstrumentId, Statistics>, instrument: InstrumentId) -> &mut Statistics {
    traded.entry(instrument).or_insert_with(|| Statistics::none(instrument))
}

/// Takes statistics and trades of an exchange's market data.
fn market_data(traded: &mut BTreeMap<InstrumentId, Statistics>, message_id: u16, payload: &[u8]) {
    if let (Statistics::ID, Ok(statistics)) = (message_id, Statistics::decode(payload)) {
        traded.insert(statistics.instrument, statistics);
    } else if let (TradePrint::ID, Ok(trade)) = (message_id, TradePrint::decode(payload)) {
        of(traded, trade.instrument).add(trade.trade_id, trade.price, trade.quantity);
    }
}

impl Recall {
    /// Reads `executions` back from the ledger's last snapshot on; what that one needs is kept.
    pub(crate) fn read(instance: &InstanceDir, executions: &str) -> Result<Recall, RunError> {
        let behind = |snapshot: Option<Snapshot>, _| Recall::behind(snapshot.as_ref(), instance, executions);
        let (mut recall, is_whole) = read_behind_snapshot(instance, behind).map_err(failed)?;
        if !is_whole {
            log::error!(
                "executions since the ledger's last snapshot are overwritten: older orders get no end"
            );
            let (held, is_whole) = Recall::behind(None, instance, executions).map_err(failed)?;
            // What begins behind an overwritten frame would end orders that have their end.
            recall = if is_whole { held } else { Recall::default() };
            let snapshot = last_snapshot(instance).map_err(failed)?;
            recall.trade = recall.trade.max(snapshot.map_or(0, |snapshot| snapshot.begin.trade));
        }
        Ok(recall)
    }

    /// A snapshot, with the executions behind it; and whether these are all there.
    fn behind(
        snapshot: Option<&Snapshot>,
        instance: &InstanceDir,
        executions: &str,
    ) -> Result<(Recall, bool), OpenError> {
        let mut recall = Recall::from(snapshot);
        let from = snapshot.map(|snapshot| snapshot.begin.execution).filter(|from| *from > 0);
        let is_whole = read_held(instance, executions, from, |frame| {
            if let Err(error) = recall.take(frame.position, frame.message_id, frame.payload) {
                log::error!("execution at position {}: {error}; passed over", frame.position);
            }
        })?;
        Ok((recall, is_whole))
    }

    fn from(snapshot: Option<&Snapshot>) -> Recall {
        let orders = snapshot.map(WorkingOrders::of).unwrap_or_default();
        // No fill may lie behind the snapshot, and the executions before it may be overwritten.
        Recall { trade: orders.last_trade(), orders, request: 0, fills: Vec::new() }
    }

    fn take(&mut self, position: u64, message_id: u16, payload: &[u8]) -> Result<(), WireError> {
        let execution = Execution::decode(message_id, payload)?;
        self.request = execution.answered_up_to();
        if let Execution::Fill(fill) = execution
            && self.fills.last().is_none_or(|last| last.trade_id != fill.trade_id)
        {
            self.fills.push(fill);
        }
        if self.orders.advance(position, &execution) && self.orders.fits(&execution) {
            self.orders.apply(position, &execution);
        }
        self.trade = self.trade.max(self.orders.last_trade());
        Ok(())
    }

    /// What had traded in an exchange: its last statistics, with the trades behind them. Some of these trades may only be in
    /// the executions.
    pub(crate) fn statistics(
        &self,
        instance: &InstanceDir,
        market: Option<&str>,
    ) -> Result<Vec<Statistics>, RunError> {
        let mut traded = BTreeMap::new();
        if let Some(market) = market {
            read_held(instance, market, None, |frame| {
                market_data(&mut traded, frame.message_id, frame.payload);
            })
            .map_err(failed)?;
        }
        self.add_fills(&mut traded);
        Ok(traded.into_values().collect())
    }

    fn add_fills(&self, traded: &mut BTreeMap<InstrumentId, Statistics>) {
        for fill in &self.fills {
            let statistics = of(traded, fill.instrument);
            statistics.add(fill.trade_id, fill.price, fill.quantity);
        }
    }

    /// The ends of the orders that were lost with the books, by order id.
    pub(crate) fn into_ends(self) -> impl Iterator<Item = OrderUpdate> {
        let working: Vec<OrderUpdate> = self.orders.iter().copied().collect();
        working.into_iter().map(move |order| {
            // Of answers too long for one batch the last may be missing.
            let (status, reason) = match order.remaining {
                Quantity::ZERO => (OrderStatus::Filled, Reason::None),
                _ => (OrderStatus::Cancelled, Reason::MarketClosed),
            };
            let remaining = Quantity::ZERO;
            OrderUpdate { status, reason, remaining, execution: 0, answered_up_to: self.request, ..order }
        })
    }
}

fn failed(error: OpenError) -> RunError {
    RunError::failed(format!("cannot take up where matching was: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::{Aggressor, Liquidity, Nanos, OrderId, Price, Side, SnapshotBegin, StrategyId};

    fn update(sequence: u32, status: OrderStatus, filled: i64, request: u64) -> Execution {
        Execution::Update(OrderUpdate {
            price: Price(10),
            quantity: Quantity(9),
            filled: Quantity(filled),
            remaining: Quantity(9 - filled),
            answered_up_to: request,
            ..OrderUpdate::about(
                OrderId::new(StrategyId(5), 1, sequence),
                InstrumentId(1),
                status,
                Reason::None,
            )
        })
    }

    fn fill(sequence: u32, remaining: i64, request: u64) -> Fill {
        Fill {
            order_id: OrderId::new(StrategyId(5), 1, sequence),
            trade_id: 40 + u64::from(sequence),
            instrument: InstrumentId(1),
            side: Side::Buy,
            liquidity: Liquidity::Maker,
            reserved: [0; 2],
            price: Price(10),
            quantity: Quantity(4),
            remaining: Quantity(remaining),
            event_time: Nanos(0),
            execution: 0,
            answered_up_to: request,
        }
    }

    fn snapshot(execution: u64, trade: u64, orders: Vec<OrderUpdate>) -> Snapshot {
        let begin = SnapshotBegin {
            snapshot: 3,
            execution,
            strategy: SnapshotBegin::EVERYBODY,
            reserved: [0; 3],
            generation: 0,
            trade,
        };
        Snapshot { begin, positions: Vec::new(), orders, quotes: Vec::new() }
    }

    fn take(recall: &mut Recall, position: u64, execution: &Execution) {
        recall.take(position, execution.message_id(), execution.bytes()).unwrap();
    }

    #[test]
    fn what_was_accepted_and_has_no_end_is_ended_once() {
        let Execution::Update(known) = update(2, OrderStatus::Accepted, 0, 50) else { panic!() };
        let known = OrderUpdate { execution: 700, ..known };
        let mut recall = Recall::from(Some(&snapshot(1_000, 0, vec![known])));
        // Before the snapshot: in it, or ended.
        take(&mut recall, 640, &update(1, OrderStatus::Accepted, 0, 64));
        let behind = [
            update(3, OrderStatus::Accepted, 0, 128),
            update(4, OrderStatus::Accepted, 0, 192),
            Execution::Fill(fill(3, 5, 192)),
            update(3, OrderStatus::PartiallyFilled, 4, 192),
            update(4, OrderStatus::Cancelled, 0, 256),
            update(3, OrderStatus::ReplaceRejected, 0, 320),
        ];
        (1_024..).step_by(128).zip(&behind).for_each(|(position, execution)| {
            take(&mut recall, position, execution);
        });
        assert_eq!((recall.request, recall.trade), (320, 43));
        let ends: Vec<OrderUpdate> = recall.into_ends().collect();
        assert_eq!(ends.iter().map(|end| end.order_id.sequence()).collect::<Vec<_>>(), [2, 3]);
        assert!(ends.iter().all(|end| end.status == OrderStatus::Cancelled));
        assert!(ends.iter().all(|end| (end.execution, end.answered_up_to) == (0, 320)));
        assert_eq!((ends[1].filled, ends[1].remaining), (Quantity(4), Quantity(0)));
        // A successor that is killed after the first of them ends only the other.
        let mut again = Recall::default();
        let accepted = ends.iter().map(|end| OrderUpdate { status: OrderStatus::Accepted, ..*end });
        for (position, execution) in (64..).step_by(128).zip(accepted.chain([ends[0]])) {
            take(&mut again, position, &Execution::Update(execution));
        }
        assert_eq!(again.into_ends().count(), 1);
    }

    #[test]
    fn statistics_are_the_last_ones_with_every_trade_behind_them_once() {
        let print = |trade_id, price| TradePrint {
            instrument: InstrumentId(1),
            aggressor: Aggressor::Buy,
            reserved: [0; 3],
            due: Nanos(0),
            event_time: Nanos(0),
            sequence: 7,
            price: Price(price),
            quantity: Quantity(2),
            trade_id,
        };
        let mut known = Statistics::none(InstrumentId(1));
        known.add(3, Price(20), Quantity(5));
        let mut traded = BTreeMap::new();
        for trade in [print(1, 5), print(2, 6)] {
            market_data(&mut traded, TradePrint::ID, trade.bytes());
        }
        market_data(&mut traded, Statistics::ID, known.bytes());
        market_data(&mut traded, TradePrint::ID, print(4, 30).bytes());
        // The trade with the number 43 was lost on its way into the market data; both of its fills are there.
        let mut recall = Recall::default();
        for execution in [update(3, OrderStatus::Accepted, 0, 64), Execution::Fill(fill(3, 5, 64))] {
            take(&mut recall, 64, &execution);
        }
        take(&mut recall, 320, &Execution::Fill(Fill { side: Side::Sell, ..fill(3, 5, 64) }));
        recall.add_fills(&mut traded);
        let found = traded[&InstrumentId(1)];
        assert_eq!(
            (found.open, found.high, found.low, found.last),
            (Price(20), Price(30), Price(10), Price(10))
        );
        assert_eq!((found.volume, found.trades, found.trade_id), (Quantity(5 + 2 + 4), 3, 43));
        assert_eq!(found.turnover.wide(), 5 * 20 + 2 * 30 + 4 * 10);
    }

    #[test]
    fn an_order_works_on_when_a_second_one_with_its_id_is_rejected() {
        let mut recall = Recall::default();
        take(&mut recall, 64, &update(1, OrderStatus::Accepted, 0, 64));
        let Execution::Update(rejected) = update(1, OrderStatus::Rejected, 0, 128) else { panic!() };
        let of_a_copy = OrderUpdate { reason: Reason::DuplicateOrder, ..rejected };
        take(&mut recall, 192, &Execution::Update(of_a_copy));
        assert_eq!(recall.into_ends().count(), 1, "it has no end yet");
    }

    #[test]
    fn trades_are_numbered_on_although_no_fill_lies_behind_the_snapshot() {
        let mut recall = Recall::from(Some(&snapshot(1_000, 854, Vec::new())));
        take(&mut recall, 1_024, &update(1, OrderStatus::Accepted, 0, 64));
        assert_eq!(recall.trade, 854);
        let fill = Fill { trade_id: 855, ..fill(1, 5, 128) };
        recall.take(1_152, Fill::ID, fill.bytes()).unwrap();
        assert_eq!(recall.trade, 855);
    }
}
