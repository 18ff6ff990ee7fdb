//! One order on its way, from the quote that caused it to its last report.

mod hops;
mod search;
mod volume;

use serde::Serialize;
use wire::stages::{ENDS, STAGES};
use wire::{AnyMessage, OrderId};

use crate::view::{InstanceView, ViewError};
use hops::hops;
pub use hops::{Evidence, Hop, Step};
use search::{Place, Search};
pub use search::{Searched, Unreadable, distance_from_end};
pub use volume::{Archive, Archived, Visit};

/// All that the journals of an instance hold about one order.
#[derive(Debug)]
pub struct OrderSearch<'a> {
    order: OrderId,
    place: Place<'a>,
    search: Search,
}

/// An order's way.
#[derive(Clone, Debug)]
pub struct Trace {
    /// The order.
    pub order: OrderId,
    /// Name of the strategy that sent it.
    pub strategy: Option<String>,
    /// The order's last known status; `unknown` when nothing says it.
    pub status: &'static str,
    /// Its quantity.
    pub quantity: Option<i64>,
    /// How much of it is traded.
    pub filled: Option<i64>,
    /// Spans between hops.
    pub stages: TraceStages,
    /// The hops in order of time, also those whose frames are gone.
    pub hops: Vec<Hop>,
    /// The journals that were looked through.
    pub searched: Vec<Searched>,
    /// Those that could not be.
    pub unreadable: Vec<Unreadable>,
}

/// Spans between hops; `None` where one of the two is not known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TraceStages {
    /// From the cause's publication until the strategy had it.
    pub md_ns: Option<i64>,
    /// From there to the order.
    pub strategy_ns: Option<i64>,
    /// From there until td had it.
    pub order_ns: Option<i64>,
    /// The three of them.
    pub t2o_ns: Option<i64>,
    /// The same from when the schedule wanted the cause published.
    pub t2o_intended_ns: Option<i64>,
    /// From the cause's publication to the first execution.
    pub quote_to_execution_ns: Option<i64>,
    /// From the cause's publication to the last report.
    pub quote_to_report_ns: Option<i64>,
}

/// No frame speaks of an order: why, as far as can be told.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotFound {
    /// The order's id names a seat without a strategy.
    #[error(
        "there is no order {order} in instance `{instance}`: no strategy sits in seat {seat}; strategies sit in: {strategies}"
    )]
    NoStrategy {
        /// The order.
        order: OrderId,
        /// Where it was looked for.
        instance: String,
        /// The seat.
        seat: u32,
        /// Seats and names of those that there are.
        strategies: String,
    },
    /// Its frames are overwritten, if there were any.
    #[error(
        "order {order} of {strategy} is overwritten, if it ever was: the oldest order that its journal still holds is \
         {oldest}; a larger ring keeps more ([journal] in the platform file)"
    )]
    Overwritten {
        /// The order.
        order: OrderId,
        /// Whose it would be.
        strategy: String,
        /// The oldest that is there.
        oldest: OrderId,
    },
    /// The strategy has sent others.
    #[error("there is no order {order} in instance `{instance}`: the newest of {strategy} is {newest}")]
    Unknown {
        /// The order.
        order: OrderId,
        /// Where it was looked for.
        instance: String,
        /// Whose it would be.
        strategy: String,
        /// The newest that is there.
        newest: OrderId,
    },
    /// The strategy has sent none.
    #[error("there is no order {order} in instance `{instance}`: {strategy} has sent none")]
    SentNone {
        /// The order.
        order: OrderId,
        /// Where it was looked for.
        instance: String,
        /// Whose it would be.
        strategy: String,
    },
}

impl<'a> OrderSearch<'a> {
    /// Looks through all journals for an order.
    ///
    /// # Errors
    /// [`ViewError::Io`] when the journals cannot be listed.
    pub fn of(view: &'a InstanceView, order: OrderId) -> Result<OrderSearch<'a>, ViewError> {
        let place = Place::new(view);
        Ok(OrderSearch { order, search: place.search(order)?, place })
    }

    /// The order that was filled last, as far as its strategy knows; the newest order where nothing was filled. With the
    /// journals that could not be read for that.
    ///
    /// # Errors
    /// [`ViewError::Io`] when the journals cannot be listed.
    pub fn newest(view: &InstanceView) -> Result<(Option<OrderId>, Vec<Unreadable>), ViewError> {
        Place::new(view).newest()
    }

    /// As [`OrderSearch::of`], in journals that were kept elsewhere.
    ///
    /// # Errors
    /// None at present: what cannot be read is in [`OrderSearch::unreadable`].
    pub fn of_archive(archive: &'a dyn Archive, order: OrderId) -> Result<OrderSearch<'a>, ViewError> {
        let place = Place::archived(archive);
        Ok(OrderSearch { order, search: place.search(order)?, place })
    }

    /// As [`OrderSearch::newest`], in journals that were kept elsewhere.
    ///
    /// # Errors
    /// None at present: what cannot be read is in the list.
    pub fn newest_of_archive(archive: &dyn Archive) -> Result<(Option<OrderId>, Vec<Unreadable>), ViewError> {
        Place::archived(archive).newest()
    }

    /// Journals that could not be read.
    pub fn unreadable(&self) -> &[Unreadable] {
        &self.search.unreadable
    }

    /// The order's way.
    ///
    /// # Errors
    /// [`NotFound`] when no frame speaks of it.
    pub fn trace(self) -> Result<Trace, NotFound> {
        let hops = hops(self.order, &self.search, &self.place);
        if hops.is_empty() { Err(self.not_found()) } else { Ok(self.with(hops)) }
    }

    fn not_found(&self) -> NotFound {
        let (order, place) = (self.order, &self.place);
        let seat = u32::from(order.strategy().0);
        let instance = place.name().to_owned();
        let Some(owner) = place.seat(seat).filter(|owner| owner.kind.sends()) else {
            let known = place.seats.iter().filter(|seat| seat.kind.sends());
            let known: Vec<String> = known.map(|seat| format!("{} ({})", seat.seat, seat.name)).collect();
            let strategies = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            return NotFound::NoStrategy { order, instance, seat, strategies };
        };
        let strategies = self
            .search
            .searched
            .iter()
            .filter(|searched| searched.writer.kind.is_some_and(|kind| kind.sends()));
        let own: Vec<_> = strategies.filter(|searched| searched.writer.node == owner.name).collect();
        let orders = || own.iter().filter_map(|searched| searched.orders);
        let oldest = orders().map(|(first, _)| first).min();
        let newest = orders().map(|(_, last)| last).max();
        let whole = own.iter().all(|searched| searched.whole);
        let strategy = owner.name.clone();
        match (oldest, newest) {
            (Some(oldest), _) if order < oldest && !whole => {
                NotFound::Overwritten { order, strategy, oldest }
            }
            (_, Some(newest)) => NotFound::Unknown { order, instance, strategy, newest },
            _ => NotFound::SentNone { order, instance, strategy },
        }
    }

    fn with(self, hops: Vec<Hop>) -> Trace {
        let state = hops.iter().rev().find_map(|hop| match &hop.message {
            Some(AnyMessage::OrderUpdate(update)) if !update.status.is_refusal() => Some(*update),
            _ => None,
        });
        let quantity = self.search.found.iter().find_map(|found| match &found.message {
            AnyMessage::NewOrder(order) => Some(order.quantity.0),
            _ => None,
        });
        let strategy = self.place.seat(u32::from(self.order.strategy().0));
        Trace {
            order: self.order,
            strategy: strategy.map(|seat| seat.name.clone()),
            status: state.map_or("unknown", |update| update.status.as_str()),
            quantity: state.map(|update| update.quantity.0).or(quantity),
            filled: state.map(|update| update.filled.0),
            stages: TraceStages::of(&hops),
            hops,
            searched: self.search.searched,
            unreadable: self.search.unreadable,
        }
    }
}

impl Trace {
    /// Hops whose frame is overwritten.
    pub fn overwritten(&self) -> impl Iterator<Item = &Hop> {
        self.hops.iter().filter(|hop| hop.evidence == Evidence::Overwritten)
    }
}

impl TraceStages {
    /// Those that are known, in nanoseconds, each with the name of [`STAGES`] or a description.
    pub fn known(&self) -> impl Iterator<Item = (&'static str, i64)> {
        let [md, strategy, order, t2o, t2o_intended] = STAGES;
        let named = [
            (md, self.md_ns),
            (strategy, self.strategy_ns),
            (order, self.order_ns),
            (t2o, self.t2o_ns),
            (t2o_intended, self.t2o_intended_ns),
            ("quote to execution", self.quote_to_execution_ns),
            ("quote to last report", self.quote_to_report_ns),
        ];
        named.into_iter().filter_map(|(name, span)| Some((name, span?)))
    }

    fn of(hops: &[Hop]) -> TraceStages {
        let time = |step: Step| hops.iter().find(|hop| hop.hop == step).and_then(|hop| hop.time_ns);
        let last = |step: Step| hops.iter().rfind(|hop| hop.hop == step).and_then(|hop| hop.time_ns);
        let span = |from: Option<u64>, to: Option<u64>| Some((to? as i64).wrapping_sub(from? as i64));
        let published = time(Step::Published);
        let times = [Step::Due, Step::Published, Step::Received, Step::Ordered, Step::Taken].map(time);
        let [md_ns, strategy_ns, order_ns, t2o_ns, t2o_intended_ns] =
            ENDS.map(|(from, to)| span(times[from], times[to]));
        TraceStages {
            md_ns,
            strategy_ns,
            order_ns,
            t2o_ns,
            t2o_intended_ns,
            quote_to_execution_ns: span(published, time(Step::Executed)),
            quote_to_report_ns: span(published, last(Step::Reported)),
        }
    }
}

#[cfg(test)]
mod tests {
    use wire::{Cause, Message, NewOrder, OrderStatus, StrategyId};

    use super::*;
    use crate::fixture::{Instance, update_of};

    fn new_order(order_id: OrderId) -> (u16, Vec<u8>) {
        let order = NewOrder::decode(&[1; NewOrder::SIZE]).unwrap();
        (NewOrder::ID, NewOrder { order_id, cause: Cause::NONE, ..order }.bytes().to_vec())
    }

    fn order(seat: u32, sequence: u32) -> OrderId {
        OrderId::new(StrategyId(seat as u16), 1, sequence)
    }

    fn trace(made: &Instance, order: OrderId) -> Result<Trace, NotFound> {
        OrderSearch::of(&made.view(), order).unwrap().trace()
    }

    #[test]
    fn an_orders_way_is_told_from_its_frames_and_what_is_not_there_is_missing() {
        let made = Instance::new("way");
        let [seat, other] = made.strategies();
        let wanted = order(seat, 1);
        made.write(&format!("orders.{}", made.name(seat)), &[new_order(wanted)]);
        made.write(&format!("orders.{}", made.name(other)), &[new_order(order(other, 1))]);
        made.write("td.orders", &[new_order(order(other, 1)), new_order(wanted)]);
        let executed = made.write("matching.executions", &[update_of(wanted, OrderStatus::Accepted, 64)]);
        for seat in [seat, other] {
            let another = update_of(order(seat, 9), OrderStatus::Accepted, 0);
            made.write(&format!("reports.{}", made.name(seat)), &[another]);
        }
        let way = |trace: &Trace| -> Vec<(Step, Evidence)> {
            trace.hops.iter().map(|hop| (hop.hop, hop.evidence)).collect()
        };
        let known = [Step::Ordered, Step::Routed, Step::Executed].map(|step| (step, Evidence::Frame));

        let trace_before = trace(&made, wanted).unwrap();
        let under_way = [known.as_slice(), &[(Step::Reported, Evidence::Missing)]].concat();
        assert_eq!(way(&trace_before), under_way);
        let awaited = trace_before.hops.last().and_then(|hop| hop.journal.clone());
        assert_eq!(awaited, Some(format!("reports.{}", made.name(seat))), "its own, of two");

        let report = update_of(wanted, OrderStatus::Accepted, executed[0]);
        made.write(&format!("reports.{}", made.name(seat)), &[report]);
        let trace = trace(&made, wanted).unwrap();
        assert_eq!(way(&trace), [known.as_slice(), &[(Step::Reported, Evidence::Frame)]].concat());
        assert_eq!((trace.status, trace.strategy.as_deref()), ("accepted", Some(made.name(seat))));
        assert_eq!((trace.overwritten().count(), trace.unreadable.len()), (0, 0));
        // No quote has caused it, and td has left no sample.
        assert_eq!(trace.stages, TraceStages::default());
        assert_eq!(OrderSearch::newest(&made.view()).unwrap().0, Some(wanted));
    }

    #[test]
    fn an_order_that_is_not_there_is_answered_with_the_reason() {
        let made = Instance::new("not-there");
        let [seat, _] = made.strategies();
        assert_eq!(OrderSearch::newest(&made.view()).unwrap(), (None, Vec::new()));
        let answer = trace(&made, order(seat, 1)).unwrap_err();
        assert!(matches!(answer, NotFound::SentNone { .. }), "{answer}");
        made.write(&format!("orders.{}", made.name(seat)), &[new_order(order(seat, 1))]);
        let answer = trace(&made, order(seat, 2)).unwrap_err();
        assert!(matches!(answer, NotFound::Unknown { newest, .. } if newest == order(seat, 1)), "{answer}");
        let answer = trace(&made, order(1, 1)).unwrap_err().to_string();
        assert!(
            answer.contains("no strategy sits in seat 1") && answer.contains(made.name(seat)),
            "{answer}"
        );
    }
}
