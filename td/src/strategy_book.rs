//! What the gateway keeps about one strategy.

use std::collections::BTreeSet;

use wire::{
    AccountId, CancelAll, CancelOrder, InstrumentId, Nanos, NewOrder, OrderId, Quantity, Reason,
    ReplaceOrder, Side, StrategyId,
};

use crate::checks;
use crate::counters::Counters;
use crate::desk::Gate;
use crate::instruments::Instruments;
use crate::limits::Limits;
use crate::orders::{self, OrderTable, WorkingOrder};
use crate::owed::Owed;

/// One strategy's position in one instrument, and what works on top of it.
///
/// The worst case of a side is the position if everything that works on that side fills and nothing on the other
/// does: `position + working_buys` for buys, `working_sells - position` for sells. A position limit bounds both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exposure {
    /// Bought less sold. Wide, so that no stream of fills can overflow it.
    pub position: i128,
    /// What may yet be bought: the open quantities of all buy orders, replaces on their way included.
    pub working_buys: i128,
    /// What may yet be sold.
    pub working_sells: i128,
}

impl Exposure {
    /// The position in the worst case of `side`, as a positive number in that direction.
    pub fn worst_case(&self, side: Side) -> i128 {
        match side {
            Side::Buy => self.position + self.working_buys,
            Side::Sell => self.working_sells - self.position,
        }
    }

    pub(crate) fn work(&mut self, side: Side, change: i64) {
        match side {
            Side::Buy => self.working_buys += i128::from(change),
            Side::Sell => self.working_sells += i128::from(change),
        }
    }

    pub(crate) fn trade(&mut self, side: Side, quantity: Quantity) {
        self.position += i128::from(side.sign()) * i128::from(quantity.0);
    }
}

/// Orders that there is room for at first where a strategy has no limit.
const LEAST_ROOM: usize = 512;
/// And at most where it has one; the table of a strategy with a higher limit grows when needed.
const MOST_ROOM: usize = 4_096;

#[derive(Debug)]
pub(crate) struct StrategyBook {
    pub(crate) limits: Limits,
    /// False from its end to its next start.
    pub(crate) is_running: bool,
    /// False while what it would be told of new orders could not be put on disk, and must be.
    pub(crate) is_durable: bool,
    /// Newest id. One that is not newer was used before.
    newest: Option<OrderId>,
    pub(crate) orders: OrderTable,
    /// Mass cancels of everything that are on their way.
    pub(crate) mass_cancels: BTreeSet<OrderId>,
    /// By instrument id.
    pub(crate) exposures: Vec<Exposure>,
    pub(crate) counters: Counters,
}

impl StrategyBook {
    /// Stopped until it is started.
    pub(crate) fn new(instruments: usize) -> StrategyBook {
        StrategyBook {
            limits: Limits::NONE,
            is_running: false,
            is_durable: true,
            newest: None,
            orders: OrderTable::default(),
            mass_cancels: BTreeSet::new(),
            exposures: vec![Exposure::default(); instruments],
            counters: Counters::default(),
        }
    }

    pub(crate) fn start(&mut self, strategy: StrategyId, limits: Limits) {
        let room = match limits.max_working_orders {
            0 => LEAST_ROOM,
            limit => (limit as usize).min(MOST_ROOM),
        };
        self.orders.reserve(strategy, room);
        self.limits = limits;
        self.is_running = true;
    }

    /// Makes room for instrument ids below `instruments`.
    pub(crate) fn reach(&mut self, instruments: usize) {
        if self.exposures.len() < instruments {
            self.exposures.resize(instruments, Exposure::default());
        }
    }

    pub(crate) fn exposure(&mut self, instrument: InstrumentId) -> Option<&mut Exposure> {
        self.exposures.get_mut(instrument.0 as usize)
    }

    /// True, and remembered, when the id is newer than all before.
    pub(crate) fn claim(&mut self, id: OrderId) -> bool {
        let is_newer = self.newest.is_none_or(|newest| id.is_newer_than(newest));
        if is_newer {
            self.newest = Some(id);
        }
        is_newer
    }

    /// Adds the order to the table if it passes all checks but the first, which is the gateway's. Without accounts.
    pub(crate) fn admit(&mut self, order: &NewOrder, instruments: &Instruments) -> Result<(), Reason> {
        if !self.is_running {
            return Err(Reason::StrategyGone);
        }
        if !self.claim(order.order_id) {
            return Err(Reason::DuplicateOrder);
        }
        if !self.is_durable {
            return Err(Reason::NotDurable);
        }
        checks::account(order.account)?;
        let rules = instruments.get(order.instrument).ok_or(Reason::UnknownInstrument)?;
        checks::quantity(rules, &self.limits, order.quantity)?;
        checks::order_price(rules, order)?;
        checks::working_orders(&self.limits, self.orders.len())?;
        let limits = self.limits;
        let exposure = self.exposure(order.instrument).ok_or(Reason::UnknownInstrument)?;
        checks::position(&limits, exposure, order.side, order.quantity.0)?;
        exposure.work(order.side, order.quantity.0);
        self.orders.insert(order.order_id, WorkingOrder::sent(order));
        Ok(())
    }

    /// The same with accounts, of which the desk says last. The order becomes as it goes out.
    pub(crate) fn admit_for(
        &mut self,
        order: &mut NewOrder,
        instruments: &Instruments,
        (gate, from, now): (&mut Gate, StrategyId, Nanos),
    ) -> Result<(), Reason> {
        self.take_id(order)?;
        order.account = gate.account(from, order.account)?;
        if !gate.may_force(from, order) {
            return Err(Reason::Malformed);
        }
        let rules = instruments.get(order.instrument).ok_or(Reason::UnknownInstrument)?;
        checks::quantity(rules, &self.limits, order.quantity)?;
        if order.flags & NewOrder::FORCED != 0 {
            // Whoever closes by force names about a price: the tick that holds there is the market's matter.
            if order.order_type.has_price() {
                order.price = rules.to_tick(order.price, order.side);
            }
            checks::forced_price(rules, order)?;
        } else {
            checks::order_price(rules, order)?;
        }
        self.check_limits(order)?;
        gate.new_order(from, order, now)?;
        self.add(order);
        Ok(())
    }

    /// The strategy runs, the id is new, and what is said of it can be put on disk, where it must be.
    #[inline]
    fn take_id(&mut self, order: &NewOrder) -> Result<(), Reason> {
        if !self.is_running {
            return Err(Reason::StrategyGone);
        }
        if !self.claim(order.order_id) {
            return Err(Reason::DuplicateOrder);
        }
        if self.is_durable { Ok(()) } else { Err(Reason::NotDurable) }
    }

    #[inline]
    fn check_limits(&mut self, order: &NewOrder) -> Result<(), Reason> {
        checks::working_orders(&self.limits, self.orders.len())?;
        let limits = self.limits;
        let exposure = self.exposure(order.instrument).ok_or(Reason::UnknownInstrument)?;
        checks::position(&limits, exposure, order.side, order.quantity.0)
    }

    #[inline]
    fn add(&mut self, order: &NewOrder) {
        if let Some(exposure) = self.exposure(order.instrument) {
            exposure.work(order.side, order.quantity.0);
        }
        self.orders.insert(order.order_id, WorkingOrder::sent(order));
    }

    /// Notes that a cancel goes out.
    pub(crate) fn admit_cancel(&mut self, cancel: &CancelOrder) -> Result<(), Reason> {
        if !self.is_running {
            return Err(Reason::StrategyGone);
        }
        let order = self.orders.get_mut(cancel.order_id).ok_or(Reason::UnknownOrder)?;
        if order.instrument != cancel.instrument {
            return Err(Reason::Malformed);
        }
        order.cancel_sent();
        Ok(())
    }

    /// Whether a mass cancel may go out. What it cancels is reported order by order.
    pub(crate) fn admit_cancel_all(
        &mut self,
        cancel: &CancelAll,
        instruments: &Instruments,
        may_name: impl FnOnce(AccountId) -> Result<(), Reason>,
    ) -> Result<(), Reason> {
        if !self.is_running {
            return Err(Reason::StrategyGone);
        }
        cancel.of_account().map_or(Ok(()), may_name)?;
        let instrument = cancel.of_instrument();
        if instrument.is_some_and(|instrument| instruments.get(instrument).is_none()) {
            return Err(Reason::UnknownInstrument);
        }
        if instrument.is_none() && cancel.of_account().is_none() && cancel.of_side().is_none() {
            self.mass_cancels.insert(cancel.order_id);
        }
        Ok(())
    }

    /// Notes that a replace goes out, and reserves what it adds.
    pub(crate) fn admit_replace(
        &mut self,
        replace: &ReplaceOrder,
        instruments: &Instruments,
        gate: Option<(&mut Gate, StrategyId, Nanos)>,
    ) -> Result<(), Reason> {
        if !self.is_running {
            return Err(Reason::StrategyGone);
        }
        let order = self.orders.get_mut(replace.order_id).ok_or(Reason::UnknownOrder)?;
        if order.instrument != replace.instrument {
            return Err(Reason::Malformed);
        }
        if let Some(why) = order.ends {
            return Err(why);
        }
        if !self.is_durable {
            return Err(Reason::NotDurable);
        }
        let rules = instruments.get(replace.instrument).ok_or(Reason::UnknownInstrument)?;
        checks::quantity(rules, &self.limits, replace.quantity)?;
        if replace.quantity.0 <= order.filled {
            return Err(Reason::Quantity);
        }
        checks::price(rules, replace.price)?;
        let added = order.added_by_replace(replace.quantity.0);
        let exposure =
            self.exposures.get_mut(replace.instrument.0 as usize).ok_or(Reason::UnknownInstrument)?;
        checks::position(&self.limits, exposure, order.side, added)?;
        if let Some((gate, from, now)) = gate {
            gate.replace(from, replace, now)?;
        }
        exposure.work(order.side, added);
        order.replace_sent(replace.quantity.0);
        Ok(())
    }

    /// Removes an order that has ended from the table, and releases what it reserved.
    pub(crate) fn end(&mut self, id: OrderId) -> Option<WorkingOrder> {
        let order = self.orders.remove(id)?;
        if let Some(exposure) = self.exposure(order.instrument) {
            exposure.work(order.side, -order.open());
        }
        Some(order)
    }

    /// Notes that the orders that `wanted` selects must end. A cancel for each that has none on its way, by ascending id; each
    /// counts as sent.
    pub(crate) fn end_those(
        &mut self,
        why: Reason,
        owed: &mut Owed,
        wanted: impl Fn(OrderId) -> bool,
    ) -> Vec<CancelOrder> {
        let ids = orders::ids(&self.orders).into_iter().filter(|id| wanted(*id));
        ids.filter_map(|id| self.end_order(id, why, owed)).collect()
    }

    /// Notes that all orders must end, of which a mass cancel is on its way.
    pub(crate) fn end_by_mass_cancel(&mut self, why: Reason, owed: &mut Owed) {
        for id in orders::ids(&self.orders) {
            let Some(order) = self.orders.get_mut(id) else { continue };
            order.must_end(why);
            owed.add(id, order.instrument);
        }
    }

    /// The last mass cancel has its answer: what must end, works on and has no cancel on its way was not cancelled by it.
    pub(crate) fn mass_cancelled(&mut self, id: OrderId, owed: &mut Owed) {
        if !self.mass_cancels.remove(&id) || !self.mass_cancels.is_empty() {
            return;
        }
        for id in orders::ids(&self.orders) {
            let order = self.orders.get(id);
            if let Some(order) = order.filter(|order| order.ends.is_some() && !order.is_cancelling()) {
                owed.refused(id, order.instrument);
            }
        }
    }

    /// Notes that an order must end. Its cancel, if it works and has none on its way; it counts as sent.
    pub(crate) fn end_order(&mut self, id: OrderId, why: Reason, owed: &mut Owed) -> Option<CancelOrder> {
        let order = self.orders.get_mut(id)?;
        order.must_end(why);
        owed.add(id, order.instrument);
        if order.is_cancelling() {
            return None;
        }
        order.cancel_sent();
        owed.sent(id, order.instrument);
        Some(CancelOrder::new(id, order.instrument))
    }
}
