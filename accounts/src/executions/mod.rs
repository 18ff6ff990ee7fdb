//! Executions: what the market says has happened. It is booked, whatever was expected.

mod trade;
mod update;

use wire::{Execution, Fill, NewOrder, OrderStatus, OrderUpdate};

use crate::amount::value;
use crate::anomaly::Anomaly;
use crate::desk::Desk;
use crate::executions::trade::trade;
use crate::orders::{Reservation, Stage};
use crate::positions::NOTHING;

impl Desk {
    /// Takes an execution; `Some` where it does not fit what came before.
    pub fn execution(&mut self, execution: &Execution) -> Option<Anomaly> {
        match execution {
            Execution::Fill(fill) => self.on_fill(fill),
            Execution::Update(update) => self.on_update(update),
        }
    }

    /// A fill; see [`Desk::execution`].
    pub fn on_fill(&mut self, fill: &Fill) -> Option<Anomaly> {
        self.fill(fill).map(|anomaly| self.anomalies.count(anomaly))
    }

    /// An update; see [`Desk::execution`].
    pub fn on_update(&mut self, update: &OrderUpdate) -> Option<Anomaly> {
        self.update(update).map(|anomaly| self.anomalies.count(anomaly))
    }

    fn fill(&mut self, fill: &Fill) -> Option<Anomaly> {
        let Some(place) = self.orders.find(fill.order_id) else { return Some(Anomaly::Unbooked) };
        let order = self.orders.get(place)?;
        let fits = order.instrument() == fill.instrument && order.side() == fill.side;
        if !fits || fill.quantity.0 <= 0 || !fill.price.is_some() {
            return Some(Anomaly::Garbled);
        }
        if fill.trade_id != 0 && order.trades.contains(&fill.trade_id) {
            return Some(Anomaly::Doubled);
        }
        let contract = self.contracts.get(fill.instrument)?;
        let account = self.accounts.get(order.account as usize)?;
        let has_room = value(fill.price, fill.quantity.0, contract.multiplier).is_some()
            && account.purses().all(crate::purse::Purse::has_room)
            && order.filled.checked_add(fill.quantity.0).is_some()
            && account.slot(fill.instrument).is_none_or(|slot| {
                slot.holdings.iter().all(|side| side.total().checked_add(fill.quantity.0).is_some())
            });
        if !has_room {
            return Some(Anomaly::Overflow);
        }
        let is_late = order.stage == Stage::Ended;
        let is_over = fill.quantity.0 > order.remaining();
        let account = order.account as usize;
        let was_closing = order.closing;
        self.hold(place, Reservation::default());
        self.book(place, fill);
        let order = self.orders.get_mut(place)?;
        order.trades.rotate_right(1);
        order.trades[0] = fill.trade_id;
        order.filled += fill.quantity.0;
        if order.stage == Stage::Sent {
            order.stage = Stage::Working;
        }
        if !is_late {
            let is_whole = order.filled >= order.total;
            order.status = if is_whole { OrderStatus::Filled } else { OrderStatus::PartiallyFilled };
        }
        order.closing = was_closing.saturating_sub(fill.quantity.0).max(0).min(order.open());
        let is_out_of_step = fill.remaining.0 != order.remaining();
        self.reserve(place);
        self.balance_closes(place);
        self.watch_loss(account);
        if is_late {
            Some(Anomaly::Late)
        } else if is_over {
            Some(Anomaly::OverFill)
        } else {
            is_out_of_step.then_some(Anomaly::OutOfStep)
        }
    }

    /// Moves lots and money.
    fn book(&mut self, place: u32, fill: &Fill) -> Option<()> {
        let Desk { orders, accounts, contracts, scopes, fees, margins, .. } = self;
        let order = orders.get_mut(place)?;
        let account = accounts.get_mut(order.account as usize)?;
        let contract = contracts.get(fill.instrument)?;
        let amount = value(fill.price, fill.quantity.0, contract.multiplier)?;
        let booked = trade(account, contract, margins, order, fill.price, fill.quantity.0)?;
        let before = fees.charged(order.schedule, order.side(), &order.traded);
        for (class, lots, value) in booked.parts {
            order.traded.add(class, fill.liquidity, lots, value);
        }
        let after = fees.charged(order.schedule, order.side(), &order.traded);
        let (fee, tax) = (after.fees - before.fees, after.taxes - before.taxes);
        account.seen = (u64::MAX, 0);
        if let Some(slot) = account.slot_mut(fill.instrument) {
            slot.charges += fee + tax;
        }
        let purse = account.purse(contract.currency);
        purse.balance -= fee + tax;
        purse.totals.fees += fee;
        purse.totals.taxes += tax;
        let strategy = order.strategy();
        let [group, by_strategy, platform] = scopes.of(account.group, strategy);
        // A strategy may trade for several accounts: its own position has its own cost.
        if let Some(scope) = by_strategy {
            let grown = scope.exposure(fill.instrument).trade(fill.side, fill.quantity.0, amount);
            scope.add_gross(contract.currency, grown);
        }
        for scope in [group, platform].into_iter().flatten() {
            scope.exposure(fill.instrument).trade(fill.side, fill.quantity.0, amount);
            scope.add_gross(contract.currency, booked.gross);
        }
        Some(())
    }

    /// Orders at work may close more than is left: the newest of them open instead, those that close by force last.
    pub(crate) fn balance_closes(&mut self, place: u32) {
        let Some(order) = self.orders.get(place) else { return };
        let (instrument, account) = (order.instrument(), order.account as usize);
        for (side, is_forced) in [(0, false), (0, true), (1, false), (1, true)] {
            let slot = |desk: &Desk| {
                let slot = desk.accounts.get(account)?.slot(instrument)?;
                Some((slot.holdings[1 - side].excess(), slot.first[side]))
            };
            let Some((mut excess, mut next)) = slot(self) else { return };
            while excess != [0; 3] && next != NOTHING {
                let Some(order) = self.orders.get_mut(next) else { break };
                let (this, following) = (next, order.next);
                let is_meant = is_forced == (order.request.flags & NewOrder::FORCED != 0);
                let cut = excess[order.closes as usize].min(order.closing);
                if is_meant && cut > 0 {
                    order.closing -= cut;
                    self.reserve(this);
                    excess = slot(self).map_or([0; 3], |(excess, _)| excess);
                }
                next = following;
            }
        }
    }
}
