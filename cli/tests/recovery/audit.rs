//! What all journals together must say, whoever was killed meanwhile.
//!
//! ```text
//!  orders.S ──1──► td.orders or a refusal ──1──► an answer, at last a final one ──1──► reports.S
//!                                                          └────────────────────1──► the ledger's positions
//! ```

use std::collections::{BTreeMap, BTreeSet};

use matching::TradeIds;
use wire::{AnyMessage, Fill, OrderId, OrderStatus, OrderUpdate, PositionState, Reason, SnapshotBegin};

use crate::model::Model;
use crate::witness::{Fulls, Record, Records};

/// What was looked at, and what was found wrong.
#[derive(Debug, Default)]
pub(crate) struct Audit {
    pub(crate) orders: usize,
    pub(crate) changes: usize,
    pub(crate) refused: usize,
    pub(crate) fills: usize,
    pub(crate) trades: usize,
    pub(crate) executions: usize,
    pub(crate) reports: usize,
    /// Reports that never came, of strategies for which that is announced.
    pub(crate) lost_reports: usize,
    pub(crate) snapshots: usize,
    pub(crate) quotes: usize,
    pub(crate) lost_with_matching: usize,
    /// Orders that came to a closed market.
    pub(crate) closed_out: usize,
    pub(crate) faults: Vec<String>,
    /// How often each journal was full.
    pub(crate) fulls: Fulls,
}

impl std::fmt::Display for Audit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} quotes; {} orders, {} changes, {} refused by td; {} executions, {} fills in {} trades, {} orders lost with matching, \
             {} refused by a closed market; \
             {} reports, {} lost and announced; {} snapshots",
            self.quotes,
            self.orders,
            self.changes,
            self.refused,
            self.executions,
            self.fills,
            self.trades,
            self.lost_with_matching,
            self.closed_out,
            self.reports,
            self.lost_reports,
            self.snapshots
        )
    }
}

/// One order, as far as the journals speak of it.
#[derive(Debug, Default)]
struct Order {
    asked: usize,
    /// Cancels and replaces.
    changes_asked: usize,
    sent: usize,
    changes_sent: usize,
    refused: usize,
    changes_refused: usize,
    accepted: usize,
    rejected: usize,
    changes_answered: usize,
    finals: usize,
    /// Behind its end, or before its beginning.
    misplaced: usize,
    filled: i64,
    filled_at_end: i64,
    finals_reported: usize,
}

/// By journal of reports: how many `down` says are lost.
pub(crate) type Announced = BTreeMap<String, usize>;

pub(crate) fn audit(records: &Records, announced: &Announced) -> Audit {
    let mut audit = Audit::default();
    let mut orders: BTreeMap<OrderId, Order> = BTreeMap::new();
    for (name, frames) in records {
        let ordered =
            frames.windows(2).all(|pair| pair[0].position < pair[1].position && pair[0].time <= pair[1].time);
        audit.check(ordered, || format!("{name} goes back"));
        if name.starts_with("orders.") {
            audit.asked(name, frames, &mut orders);
        }
    }
    audit.sent(&records["td.orders"], &mut orders);
    audit.executed(&records["matching.executions"], &mut orders);
    for (name, frames) in records.iter().filter(|(name, _)| name.starts_with("reports.")) {
        audit.reported(name, frames, records, announced.get(name).copied().unwrap_or(0), &mut orders);
    }
    if let Some(drops) = records.get("td.drops") {
        audit.copied(drops, &records["matching.executions"]);
    }
    audit.lives(&orders);
    audit.market(&records["md.quotes"]);
    audit.ledger(&records["ledger.state"], &records["matching.executions"]);
    audit
}

impl Audit {
    pub(crate) fn check(&mut self, holds: bool, fault: impl FnOnce() -> String) {
        if !holds {
            self.faults.push(fault());
        }
    }

    /// Ids count up without a gap within each life of a strategy.
    fn asked(&mut self, name: &str, frames: &[Record], orders: &mut BTreeMap<OrderId, Order>) {
        let mut last = OrderId(0);
        for frame in frames {
            match &frame.message {
                AnyMessage::NewOrder(order) => {
                    let id = order.order_id;
                    let follows = match id.epoch() == last.epoch() {
                        true => id.sequence() == last.sequence() + 1,
                        false => id.sequence() == 1 && id > last,
                    };
                    self.check(follows, || format!("{name}: order {id} follows {last}"));
                    last = id;
                    self.orders += 1;
                    orders.entry(id).or_default().asked += 1;
                }
                AnyMessage::CancelOrder(cancel) => self.change(orders, cancel.order_id),
                AnyMessage::ReplaceOrder(replace) => self.change(orders, replace.order_id),
                other => self.faults.push(format!("{name}: {}", other.name())),
            }
        }
    }

    fn change(&mut self, orders: &mut BTreeMap<OrderId, Order>, id: OrderId) {
        self.changes += 1;
        orders.entry(id).or_default().changes_asked += 1;
    }

    fn sent(&mut self, frames: &[Record], orders: &mut BTreeMap<OrderId, Order>) {
        let mut newest: BTreeMap<u16, OrderId> = BTreeMap::new();
        for frame in frames {
            match &frame.message {
                AnyMessage::NewOrder(order) => {
                    let newest = newest.entry(order.order_id.strategy().0).or_default();
                    self.check(order.order_id > *newest, || {
                        format!("td.orders: order {} behind {newest}", order.order_id)
                    });
                    *newest = order.order_id;
                    orders.entry(order.order_id).or_default().sent += 1;
                }
                AnyMessage::CancelOrder(cancel) => {
                    orders.entry(cancel.order_id).or_default().changes_sent += 1
                }
                AnyMessage::ReplaceOrder(replace) => {
                    orders.entry(replace.order_id).or_default().changes_sent += 1;
                }
                other => self.faults.push(format!("td.orders: {}", other.name())),
            }
        }
    }

    fn executed(&mut self, frames: &[Record], orders: &mut BTreeMap<OrderId, Order>) {
        // Both sides of a trade between two strategies, or neither.
        let mut open_trade: Option<(OrderId, i64)> = None;
        let mut trades = TradeIds::default();
        let mut answered = 0;
        for frame in frames {
            self.executions += 1;
            let (execution, answered_up_to) = match &frame.message {
                AnyMessage::Fill(fill) => (fill.execution, fill.answered_up_to),
                AnyMessage::OrderUpdate(update) => (update.execution, update.answered_up_to),
                _ => (0, answered),
            };
            self.check(execution == 0 && answered_up_to >= answered, || {
                format!(
                    "at {}: passes on {execution}, answered up to {answered_up_to} after {answered}",
                    frame.position
                )
            });
            answered = answered_up_to;
            match &frame.message {
                AnyMessage::Fill(fill) => {
                    self.fills += 1;
                    self.faults.extend(trades.check(fill).err().map(|error| error.to_string()));
                    let order = orders.entry(fill.order_id).or_default();
                    order.filled += fill.quantity.0;
                    order.misplaced += usize::from(order.accepted == 0 || order.finals > 0);
                    open_trade = Some((fill.order_id, fill.quantity.0));
                }
                AnyMessage::OrderUpdate(update) => {
                    if let Some((id, _)) = open_trade.take() {
                        self.check(update.order_id == id, || format!("a fill of {id} without its update"));
                    }
                    let closed = update.reason == Reason::MarketClosed;
                    self.lost_with_matching += usize::from(closed && update.status == OrderStatus::Cancelled);
                    self.closed_out += usize::from(closed && update.status == OrderStatus::Rejected);
                    count(orders.entry(update.order_id).or_default(), update);
                }
                other => self.faults.push(format!("matching.executions: {}", other.name())),
            }
        }
        self.trades = usize::try_from(trades.trades()).unwrap_or(usize::MAX);
        self.check(open_trade.is_none(), || "the last fill has no update".to_owned());
    }

    /// What matching says about a strategy's orders arrives there, in its order, once: all of it, but for as much as td
    /// announced to be lost.
    fn reported(
        &mut self,
        name: &str,
        frames: &[Record],
        records: &Records,
        announced: usize,
        orders: &mut BTreeMap<OrderId, Order>,
    ) {
        let seats = seats_of(name, records);
        let expected = records["matching.executions"]
            .iter()
            .filter(|frame| owner(&frame.message).is_some_and(|owner| seats.contains(&owner)));
        let mut expected = expected.map(|frame| with_execution(&frame.message, frame.position));
        let (mut wrong, mut lost) = (0, Vec::new());
        for frame in frames {
            self.reports += 1;
            if let AnyMessage::OrderUpdate(update) = &frame.message {
                let order = orders.entry(update.order_id).or_default();
                order.finals_reported += usize::from(update.status.is_final());
                if update.execution == 0 {
                    self.refused += 1;
                    match update.status {
                        OrderStatus::Rejected => order.refused += 1,
                        status if status.is_refusal() => order.changes_refused += 1,
                        status => self.faults.push(format!("{name}: td says {status} by itself")),
                    }
                    continue;
                }
            }
            let mut next = expected.next();
            while lost.len() < announced && next.is_some_and(|next| next != frame.message) {
                lost.extend(next);
                next = expected.next();
            }
            if wrong < 3 {
                self.check(next == Some(frame.message), || {
                    format!("{name} at {}: {:?}, expected {next:?}", frame.position, frame.message)
                });
            }
            wrong += usize::from(next != Some(frame.message));
        }
        lost.extend(expected.by_ref().take(announced - lost.len()));
        for message in &lost {
            if let AnyMessage::OrderUpdate(update) = message {
                let order = orders.entry(update.order_id).or_default();
                order.finals_reported += usize::from(update.status.is_final());
            }
        }
        self.lost_reports += lost.len();
        let missing = expected.count();
        self.check(missing == 0, || format!("{name}: {missing} reports are missing at the end"));
    }

    /// The drop copy has each execution once, in matching's order.
    fn copied(&mut self, drops: &[Record], executions: &[Record]) {
        let of = |record: &Record| match &record.message {
            AnyMessage::OrderUpdate(update) => Some(update.execution),
            AnyMessage::Fill(fill) => Some(fill.execution),
            _ => None,
        };
        let copied = drops.iter().filter_map(of).filter(|execution| *execution != 0);
        let missing = !copied.eq(executions.iter().map(|record| record.position));
        self.check(!missing, || "the drop copy has other executions than matching has written".to_owned());
    }

    /// Every order has one life, and every change one answer.
    fn lives(&mut self, orders: &BTreeMap<OrderId, Order>) {
        for (id, order) in orders {
            let one_life = order.asked == 1
                && order.sent + order.refused == 1
                && order.accepted + order.rejected == order.sent
                && order.finals == order.sent
                && order.finals_reported == 1
                && order.misplaced == 0
                && order.filled == order.filled_at_end;
            // td cancels by itself what a strategy leaves behind, which may cross the strategy's own cancel.
            let taken = order.changes_sent + order.changes_refused;
            let changes = taken >= order.changes_asked
                && taken <= order.changes_asked + 1
                && order.changes_answered == order.changes_sent;
            self.check(one_life && changes, || format!("order {id}: {order:?}"));
        }
        self.check(self.orders > 0 && self.fills > 0, || "no orders or no fills at all".to_owned());
    }

    /// Each instrument's quotes are numbered without a gap.
    fn market(&mut self, frames: &[Record]) {
        let mut last: BTreeMap<u32, u64> = BTreeMap::new();
        for frame in frames {
            if let AnyMessage::Quote(quote) = &frame.message {
                self.quotes += 1;
                let last = last.entry(quote.instrument.0).or_default();
                let (instrument, sequence) = (quote.instrument, quote.sequence);
                self.check(sequence == *last + 1, || {
                    format!("md.quotes: instrument {instrument}: quote {sequence} behind {last}")
                });
                *last = sequence;
            }
        }
    }

    /// Every snapshot is the sum of the executions before the position that it names.
    fn ledger(&mut self, state: &[Record], executions: &[Record]) {
        let mut model = Model::default();
        let mut rest = executions.iter().peekable();
        let mut begun: Option<(SnapshotBegin, Vec<PositionState>, Vec<OrderUpdate>)> = None;
        let mut reached = 0;
        for frame in state {
            match &frame.message {
                AnyMessage::SnapshotBegin(begin) => begun = Some((*begin, Vec::new(), Vec::new())),
                AnyMessage::PositionState(position) => begun.iter_mut().for_each(|s| s.1.push(*position)),
                AnyMessage::OrderUpdate(update) => begun.iter_mut().for_each(|s| s.2.push(*update)),
                AnyMessage::SnapshotEnd(end) => {
                    let Some((begin, positions, working)) = begun.take() else { continue };
                    if begin.snapshot != end.snapshot {
                        continue;
                    }
                    self.snapshots += 1;
                    self.check(begin.execution >= reached, || {
                        format!("snapshot {} goes back", begin.snapshot)
                    });
                    reached = begin.execution;
                    while let Some(execution) = rest.next_if(|frame| frame.position < begin.execution) {
                        model.take(execution);
                    }
                    let difference = model.difference(begin.strategy, &positions, &working);
                    self.check(difference.is_none(), || {
                        format!("snapshot {}: {}", begin.snapshot, difference.unwrap_or_default())
                    });
                }
                _ => {}
            }
        }
        let left = rest.count();
        self.check(left == 0, || format!("{left} executions are in no snapshot"));
        self.check(self.snapshots > 0, || "no snapshot at all".to_owned());
    }
}

/// The strategies whose reports these are: one, or all that have none of their own and therefore share a host.
fn seats_of(reports: &str, records: &Records) -> BTreeSet<u16> {
    let own = reports.replacen("reports.", "orders.", 1);
    let is_hosted = |orders: &str| {
        orders.starts_with("orders.") && !records.contains_key(&orders.replacen("orders.", "reports.", 1))
    };
    let journals = records.iter().filter(|(name, _)| match records.contains_key(&own) {
        true => **name == own,
        false => is_hosted(name),
    });
    journals.flat_map(|(_, frames)| frames).filter_map(|frame| owner(&frame.message)).collect()
}

fn count(order: &mut Order, update: &OrderUpdate) {
    let refusal = update.status.is_refusal();
    let begins = matches!(update.status, OrderStatus::Accepted | OrderStatus::Rejected);
    let placed = refusal || (order.finals == 0 && begins == (order.accepted == 0));
    order.misplaced += usize::from(!placed);
    order.accepted += usize::from(update.status == OrderStatus::Accepted);
    order.rejected += usize::from(update.status == OrderStatus::Rejected);
    let by_request = update.status == OrderStatus::Cancelled && update.reason == Reason::Requested;
    order.changes_answered += usize::from(refusal || by_request || update.status == OrderStatus::Replaced);
    if update.status.is_final() {
        order.finals += 1;
        order.filled_at_end = update.filled.0;
    }
}

fn owner(message: &AnyMessage) -> Option<u16> {
    let id = match message {
        AnyMessage::NewOrder(order) => order.order_id,
        AnyMessage::CancelOrder(cancel) => cancel.order_id,
        AnyMessage::ReplaceOrder(replace) => replace.order_id,
        AnyMessage::OrderUpdate(update) => update.order_id,
        AnyMessage::Fill(fill) => fill.order_id,
        _ => return None,
    };
    Some(id.strategy().0)
}

/// As td passes it on.
fn with_execution(message: &AnyMessage, execution: u64) -> AnyMessage {
    match message {
        AnyMessage::OrderUpdate(update) => AnyMessage::OrderUpdate(OrderUpdate { execution, ..*update }),
        AnyMessage::Fill(fill) => AnyMessage::Fill(Fill { execution, ..*fill }),
        other => *other,
    }
}
