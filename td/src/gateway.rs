//! The gateway: what strategies ask goes in here. What matching answers is in [`Gateway::execution`].

use wire::{
    CancelOrder, Instrument, InstrumentId, Message, NewOrder, OrderId, OrderStatus, OrderUpdate, Price,
    Reason, ReplaceOrder, StrategyId,
};

use crate::account::{Account, Exposure};
use crate::answer;
use crate::counters::{Anomalies, Anomaly, Counters};
use crate::instruments::{InstrumentError, Instruments};
use crate::limits::{BandWidth, GatewayOptions, Limits, LimitsError};
use crate::request::{Decision, Request};

/// Checks orders, tracks them to their end, and says who hears of it. See the crate's page for what it promises
/// and an example.
///
/// Feed it, each from its own journal and in that journal's order: instruments, strategies' messages, executions.
/// Write what it hands back before the input's cursor moves on, and a restart loses nothing.
#[derive(Debug)]
pub struct Gateway {
    pub(crate) instruments: Instruments,
    /// By seat. Boxed: seats are many, strategies few.
    pub(crate) accounts: Vec<Option<Box<Account>>>,
    pub(crate) anomalies: Anomalies,
    /// Executions before this position have been seen.
    pub(crate) next_execution: u64,
    /// Those before this position are in the state that it was restored from: passed on, and not booked.
    pub(crate) contained: u64,
}

impl Gateway {
    /// An empty gateway: no instrument, no strategy.
    ///
    /// # Errors
    /// [`LimitsError::PriceBand`].
    pub fn new(options: GatewayOptions) -> Result<Gateway, LimitsError> {
        Ok(Gateway {
            instruments: Instruments::new(BandWidth::new(options.price_band)?),
            accounts: Vec::new(),
            anomalies: Anomalies::default(),
            next_execution: 0,
            contained: 0,
        })
    }

    /// Lists an instrument, or replaces its rules. Orders that work already stay as they are.
    ///
    /// # Errors
    /// [`InstrumentError`]; the instrument is then not listed, or keeps the rules it had.
    pub fn on_instrument(&mut self, instrument: &Instrument) -> Result<(), InstrumentError> {
        self.instruments.define(instrument)?;
        let length = self.instruments.table_length();
        self.accounts.iter_mut().flatten().for_each(|account| account.reach(length));
        Ok(())
    }

    /// Moves the middle of an instrument's price band, for instance to its latest mid. Nothing happens when the
    /// instrument is unknown, `price` is [`Price::NONE`], or no band is set.
    ///
    /// Feeding mids makes decisions depend on how quotes and orders interleave: leave it out where a run has to
    /// repeat exactly.
    pub fn set_reference_price(&mut self, instrument: InstrumentId, price: Price) {
        self.instruments.set_reference(instrument, price);
    }

    /// A strategy has joined, for the first time or again. Orders of its predecessor that still work stay its own,
    /// and so does the position.
    ///
    /// # Errors
    /// [`LimitsError::Negative`]; nothing has changed then.
    pub fn strategy_started(&mut self, strategy: StrategyId, limits: Limits) -> Result<(), LimitsError> {
        limits.check()?;
        self.account_or_new(strategy).start(limits);
        Ok(())
    }

    /// A strategy has stopped or died: from here until it starts again everything it asked is refused with
    /// [`Reason::StrategyGone`]. Hands back the cancels to write to `td.orders`: of every order that works and has no
    /// cancel on its way; none when it was gone already.
    pub fn strategy_gone(&mut self, strategy: StrategyId) -> Vec<CancelOrder> {
        match self.account_mut(strategy) {
            Some(account) if account.alive => {
                account.alive = false;
                account.cancel_all()
            }
            _ => Vec::new(),
        }
    }

    /// Cancels to write to `td.orders` for everything that works for a strategy and has no cancel on its way, by
    /// ascending order id.
    pub fn cancel_all(&mut self, strategy: StrategyId) -> Vec<CancelOrder> {
        self.account_mut(strategy).map_or_else(Vec::new, Account::cancel_all)
    }

    /// Cancels to write to `td.orders` for everything that works for a strategy under an epoch before `epoch`, and has no
    /// cancel on its way, by ascending order id: for a strategy that was started again unnoticed.
    pub fn cancel_before(&mut self, strategy: StrategyId, epoch: u16) -> Vec<CancelOrder> {
        let is_older = |id: OrderId| (epoch.wrapping_sub(id.epoch()) as i16) > 0;
        self.account_mut(strategy).map_or_else(Vec::new, |account| account.cancel_if(is_older))
    }

    /// Takes one frame that a process of strategy `from` wrote which has ended meanwhile: refused with
    /// [`Reason::StrategyGone`], although its successor may have joined.
    pub fn take_from_the_dead(&mut self, from: StrategyId, message_id: u16, payload: &[u8]) -> Decision {
        let is_alive = self.set_alive(from, false);
        let decision = self.take(from, message_id, payload);
        self.set_alive(from, is_alive);
        decision
    }

    fn set_alive(&mut self, strategy: StrategyId, alive: bool) -> bool {
        self.account_mut(strategy).is_some_and(|account| std::mem::replace(&mut account.alive, alive))
    }

    /// Takes one frame from the journal of strategy `from`.
    pub fn take(&mut self, from: StrategyId, message_id: u16, payload: &[u8]) -> Decision {
        let decided = match Request::decode(message_id, payload) {
            Ok(Request::New(order)) => self.on_new_order(from, &order).map(Request::New),
            Ok(Request::Cancel(cancel)) => self.on_cancel(from, &cancel).map(Request::Cancel),
            Ok(Request::Replace(replace)) => self.on_replace(from, &replace).map(Request::Replace),
            Err(_) => return self.on_garbled(from, message_id, payload),
        };
        match decided {
            Ok(request) => Decision::Send(request),
            Err(update) => Decision::Answer(update),
        }
    }

    /// Checks a new order; see [`Gateway::take`]. `Ok` holds what to send to matching.
    ///
    /// # Errors
    /// The refusal to write to the reports of `from`.
    pub fn on_new_order(&mut self, from: StrategyId, order: &NewOrder) -> Result<NewOrder, OrderUpdate> {
        let Gateway { accounts, instruments, anomalies, .. } = self;
        let Some(account) = find(accounts, from) else {
            anomalies.note(Anomaly::UnknownStrategy);
            return Err(answer::new_order(order, Reason::StrategyGone));
        };
        account.counters.orders += 1;
        let admitted = if order.order_id.strategy() == from {
            account.admit(order, instruments)
        } else {
            Err(Reason::NotYours)
        };
        match admitted {
            Ok(()) => {
                account.counters.sent += 1;
                Ok(*order)
            }
            Err(reason) => {
                account.counters.rejected.add(reason);
                Err(answer::new_order(order, reason))
            }
        }
    }

    /// Checks a cancel; see [`Gateway::take`]. `Ok` holds what to send to matching.
    ///
    /// # Errors
    /// The refusal to write to the reports of `from`.
    pub fn on_cancel(&mut self, from: StrategyId, cancel: &CancelOrder) -> Result<CancelOrder, OrderUpdate> {
        let Gateway { accounts, anomalies, .. } = self;
        let Some(account) = find(accounts, from) else {
            anomalies.note(Anomaly::UnknownStrategy);
            return Err(answer::cancel(cancel, None, Reason::StrategyGone));
        };
        account.counters.cancel_requests += 1;
        let admitted = if cancel.order_id.strategy() == from {
            account.admit_cancel(cancel)
        } else {
            Err(Reason::NotYours)
        };
        admitted.map(|()| *cancel).map_err(|reason| {
            account.counters.requests_rejected.add(reason);
            answer::cancel(cancel, account.orders.get(cancel.order_id), reason)
        })
    }

    /// Checks a replace; see [`Gateway::take`]. `Ok` holds what to send to matching.
    ///
    /// # Errors
    /// The refusal to write to the reports of `from`.
    pub fn on_replace(
        &mut self,
        from: StrategyId,
        replace: &ReplaceOrder,
    ) -> Result<ReplaceOrder, OrderUpdate> {
        let Gateway { accounts, instruments, anomalies, .. } = self;
        let Some(account) = find(accounts, from) else {
            anomalies.note(Anomaly::UnknownStrategy);
            return Err(answer::replace(replace, None, Reason::StrategyGone));
        };
        account.counters.replace_requests += 1;
        let admitted = if replace.order_id.strategy() == from {
            account.admit_replace(replace, instruments)
        } else {
            Err(Reason::NotYours)
        };
        admitted.map(|()| *replace).map_err(|reason| {
            account.counters.requests_rejected.add(reason);
            answer::replace(replace, account.orders.get(replace.order_id), reason)
        })
    }

    /// Bytes that do not decode. All three requests begin with the order's id, so that one can be answered.
    fn on_garbled(&mut self, from: StrategyId, message_id: u16, payload: &[u8]) -> Decision {
        let Gateway { accounts, anomalies, .. } = self;
        anomalies.note(Anomaly::Unreadable);
        let status = match message_id {
            NewOrder::ID => OrderStatus::Rejected,
            CancelOrder::ID => OrderStatus::CancelRejected,
            ReplaceOrder::ID => OrderStatus::ReplaceRejected,
            _ => return Decision::Drop,
        };
        let (Some(&id), Some(account)) = (payload.first_chunk::<8>(), find(accounts, from)) else {
            return Decision::Drop;
        };
        let counters = &mut account.counters;
        match status {
            OrderStatus::Rejected => {
                counters.orders += 1;
                counters.rejected.add(Reason::Malformed);
            }
            OrderStatus::CancelRejected => {
                counters.cancel_requests += 1;
                counters.requests_rejected.add(Reason::Malformed);
            }
            _ => {
                counters.replace_requests += 1;
                counters.requests_rejected.add(Reason::Malformed);
            }
        }
        Decision::Answer(answer::malformed(OrderId(u64::from_le_bytes(id)), status))
    }

    /// What a strategy did; `None` when it never started.
    pub fn counters(&self, strategy: StrategyId) -> Option<&Counters> {
        self.account(strategy).map(|account| &account.counters)
    }

    /// How many orders of a strategy have not ended.
    pub fn working_orders(&self, strategy: StrategyId) -> usize {
        self.account(strategy).map_or(0, |account| account.orders.len())
    }

    /// Position and what works on top of it; all zeros for what is not known.
    pub fn exposure(&self, strategy: StrategyId, instrument: InstrumentId) -> Exposure {
        self.account(strategy)
            .and_then(|account| account.exposures.get(instrument.0 as usize).copied())
            .unwrap_or_default()
    }

    /// What should not have come up, and how often it did.
    pub fn anomalies(&self) -> &Anomalies {
        &self.anomalies
    }

    /// Strategies that ever started, by ascending seat.
    pub fn strategies(&self) -> impl Iterator<Item = StrategyId> + '_ {
        let held = self.accounts.iter().enumerate().filter(|(_, account)| account.is_some());
        held.map(|(seat, _)| StrategyId(seat as u16))
    }

    fn account(&self, strategy: StrategyId) -> Option<&Account> {
        self.accounts.get(usize::from(strategy.0))?.as_deref()
    }

    fn account_mut(&mut self, strategy: StrategyId) -> Option<&mut Account> {
        find(&mut self.accounts, strategy)
    }

    /// The account of a strategy; a new one is gone until it starts.
    pub(crate) fn account_or_new(&mut self, strategy: StrategyId) -> &mut Account {
        let seat = usize::from(strategy.0);
        if self.accounts.len() <= seat {
            self.accounts.resize_with(seat + 1, || None);
        }
        let length = self.instruments.table_length();
        self.accounts[seat].get_or_insert_with(|| Box::new(Account::new(length)))
    }
}

/// A free function, so that the rest of the gateway stays free to borrow.
pub(crate) fn find(accounts: &mut [Option<Box<Account>>], strategy: StrategyId) -> Option<&mut Account> {
    accounts.get_mut(usize::from(strategy.0))?.as_deref_mut()
}
