//! Rates of a desk that goes on where another one stopped: the drop copy is counted once more.
//!
//! Who follows the drop copy need not count rates, so that snapshots have no levels of buckets. A successor of td counts all frames that
//! are held: requests that went out and refused ones take their tokens at the time of their frame. A bucket begins full where the
//! drop copy is held from its first frame on and where its limit was set, and otherwise empty at the oldest frame.

use wire::{
    AccountLimit, CancelAll, CancelOrder, DROP_REFUSED, LimitChange, LimitKind, Message, Nanos, NewOrder,
    OrderStatus, OrderUpdate, Reason, ReplaceOrder, Request, StrategyId,
};

use crate::account::NO_GROUP;
use crate::buckets::Bucket;
use crate::desk::Desk;
use crate::intake::Counting;
use crate::limits::Watch;

/// Counts the rates of a desk again.
#[derive(Debug)]
pub struct Rates<'a> {
    desk: &'a mut Desk,
    /// Nothing counts as later than this.
    now: Nanos,
    refused: Option<NewOrder>,
}

impl<'a> Rates<'a> {
    /// Of a desk that contains the drop copy up to its end. `unknown_before` is the time of the oldest frame that is held; `None` where
    /// that is the first of all.
    pub fn new(desk: &'a mut Desk, unknown_before: Option<Nanos>, now: Nanos) -> Rates<'a> {
        for bucket in desk.watches().flat_map(Watch::buckets) {
            match unknown_before {
                None => bucket.fill(Nanos(0)),
                Some(begin) => bucket.empty(begin.min(now)),
            }
        }
        Rates { desk, now, refused: None }
    }

    /// Counts a frame of the drop copy. What cannot be read was reported by who followed it.
    pub fn frame(&mut self, (topic, time): (u32, Nanos), message_id: u16, payload: &[u8]) {
        let time = time.min(self.now);
        let refused = self.refused.take();
        match message_id {
            NewOrder::ID if topic == DROP_REFUSED => self.refused = NewOrder::decode(payload).ok(),
            NewOrder::ID | CancelOrder::ID | ReplaceOrder::ID | CancelAll::ID => {
                if let Ok(request) = Request::decode(message_id, payload) {
                    self.desk.count_request(&request, time);
                }
            }
            OrderUpdate::ID => {
                if let Ok(update) = OrderUpdate::decode(payload)
                    && update.status == OrderStatus::Rejected
                {
                    match refused.filter(|order| order.order_id == update.order_id) {
                        Some(order) => self.desk.count_refused(&order, update.reason, time),
                        None if update.execution != 0 => {
                            self.desk.count_rejected(&update, update.event_time.min(self.now));
                        }
                        None => {}
                    }
                }
            }
            AccountLimit::ID => {
                if let Ok(limit) = AccountLimit::decode(payload)
                    && limit.change == LimitChange::Set
                    && let Some(bucket) = self.desk.bucket(&limit)
                {
                    bucket.fill(time);
                }
            }
            // Executions, marks and other entries take no tokens.
            _ => {}
        }
    }
}

impl Watch {
    fn buckets(&mut self) -> impl Iterator<Item = &mut Bucket> {
        let Watch { messages, orders, runaway, rejects, .. } = self;
        [messages, orders, runaway, rejects].into_iter().flatten()
    }

    /// Takes what a new order takes. False where one of the buckets is empty: the later ones are not asked then, unless the order
    /// went out.
    fn count_order(&mut self, now: Nanos, went_out: bool) -> bool {
        let Watch { messages, orders, runaway, .. } = self;
        [messages, orders, runaway].into_iter().flatten().all(|bucket| {
            let has = bucket.take(now);
            if !has && went_out {
                bucket.drain(now);
            }
            has || went_out
        })
    }
}

impl Desk {
    fn watches(&mut self) -> impl Iterator<Item = &mut Watch> {
        let Desk { accounts, scopes, .. } = self;
        let groups = scopes.groups.iter_mut().map(|(_, scope)| scope);
        let strategies = scopes.strategies.iter_mut().flatten().map(|scope| &mut **scope);
        let scopes = groups.chain(strategies).chain([&mut scopes.platform]).map(|scope| &mut scope.watch);
        accounts.iter_mut().map(|account| &mut account.watch).chain(scopes)
    }

    fn bucket(&mut self, limit: &AccountLimit) -> Option<&mut Bucket> {
        let watch = self.watch(limit.scope, limit.subject)?;
        match limit.limit {
            LimitKind::OrderRate => watch.orders.as_mut(),
            LimitKind::MessageRate => watch.messages.as_mut(),
            LimitKind::RunawayRate => watch.runaway.as_mut(),
            LimitKind::RejectRate => watch.rejects.as_mut(),
            LimitKind::Position
            | LimitKind::OrderQuantity
            | LimitKind::OpenOrders
            | LimitKind::GrossNotional
            | LimitKind::OrderNotional
            | LimitKind::Loss
            | LimitKind::MarginCall
            | LimitKind::ForcedLiquidation
            | LimitKind::Money
            | LimitKind::PriceBand
            | LimitKind::SelfTrade
            | LimitKind::ShortSale => None,
        }
    }

    /// Account, group, strategy and platform.
    fn levels(&mut self, place: Option<usize>, from: StrategyId) -> [Option<&mut Watch>; 4] {
        let account = place.and_then(|place| self.accounts.get_mut(place));
        let group = account.as_ref().map_or(NO_GROUP, |account| account.group);
        let [group, strategy, platform] =
            self.scopes.of(group, from).map(|scope| scope.map(|scope| &mut scope.watch));
        [account.map(|account| &mut account.watch), group, strategy, platform]
    }

    /// Counts a request that went out for the rates of all that it is of. What td asks for by itself, and what closes by force,
    /// counts for none.
    pub fn count_request(&mut self, request: &Request, now: Nanos) {
        if request.is_of_td() {
            return;
        }
        match request {
            Request::New(order) if order.flags & NewOrder::FORCED != 0 => {}
            Request::New(order) => {
                let from = order.order_id.strategy();
                let place = self.place_of(order.account, from);
                for watch in self.levels(place, from).into_iter().flatten() {
                    watch.count_order(now, true);
                }
            }
            Request::Cancel(_) | Request::Replace(_) => {
                let id = request.order_id();
                let order = self.orders.find(id).and_then(|place| self.orders.get(place));
                let place = order.map(|order| order.account as usize);
                self.drain_messages(place, id.strategy(), now);
            }
            Request::CancelAll(cancel) => {
                let from = request.order_id().strategy();
                self.cancel_all(from, cancel.of_account(), now);
            }
        }
    }

    /// Counts an order that was refused, as it was counted then.
    fn count_refused(&mut self, order: &NewOrder, reason: Reason, now: Nanos) {
        let from = order.order_id.strategy();
        let place = self.place_of(order.account, from);
        let mut by = None;
        if takes_tokens(reason) {
            let is_rate = matches!(reason, Reason::OrderRate | Reason::MessageRate);
            let levels = self.levels(place, from).into_iter().enumerate();
            by = levels
                .filter_map(|(level, watch)| Some((level, watch?)))
                .find_map(|(level, watch)| (!watch.count_order(now, !is_rate)).then_some(level));
        }
        self.count_rejects(place, from, (reason, by), now);
    }

    /// Counts an order that the market has rejected.
    fn count_rejected(&mut self, update: &OrderUpdate, now: Nanos) {
        let order = self.orders.find(update.order_id).and_then(|place| self.orders.get(place));
        // The rejection of a second copy ends nothing, and is none.
        if let Some(order) = order.filter(|order| order.status == OrderStatus::Rejected) {
            let place = order.account as usize;
            self.count_rejects(Some(place), update.order_id.strategy(), (update.reason, None), now);
        }
    }

    fn count_rejects(
        &mut self,
        place: Option<usize>,
        from: StrategyId,
        (reason, by): (Reason, Option<usize>),
        now: Nanos,
    ) {
        let counts = Counting::of(reason).levels(by);
        for (watch, _) in self.levels(place, from).into_iter().zip(counts).filter(|(_, counts)| *counts) {
            watch.and_then(|watch| watch.rejects.as_mut()).into_iter().for_each(|bucket| bucket.drain(now));
        }
    }
}

/// Whether an order that is refused so has come as far as the rates. Some reasons are given before them and behind them: such an order counts,
/// so that no more passes than before.
fn takes_tokens(reason: Reason) -> bool {
    match reason {
        Reason::UnknownInstrument
        | Reason::PriceBand
        | Reason::Quantity
        | Reason::WorkingOrders
        | Reason::PositionLimit
        | Reason::SelfTrade
        | Reason::InsufficientFunds
        | Reason::NotionalLimit
        | Reason::OrderNotional
        | Reason::OrderRate
        | Reason::MessageRate
        | Reason::ShortSale
        | Reason::NotTradable
        | Reason::NotClosable
        | Reason::NoWorstPrice => true,
        Reason::None
        | Reason::Requested
        | Reason::OffTick
        | Reason::NoLiquidity
        | Reason::NotFillable
        | Reason::WouldTrade
        | Reason::UnknownOrder
        | Reason::NotYours
        | Reason::DuplicateOrder
        | Reason::StrategyGone
        | Reason::MarketClosed
        | Reason::Malformed
        | Reason::Overload
        | Reason::CallAuction
        | Reason::UnknownAccount
        | Reason::Expired
        | Reason::Unsupported
        | Reason::NotDurable
        | Reason::AccountFrozen
        | Reason::AccountClosed
        | Reason::ForcedLiquidation
        | Reason::Killed => false,
    }
}
