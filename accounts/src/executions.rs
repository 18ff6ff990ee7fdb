//! Executions: what the market says has happened. It is booked, whatever was expected.

use wire::{AccountKind, Execution, Fill, OrderStatus, OrderUpdate, Price, Side};

use crate::account::Account;
use crate::amount::value;
use crate::anomaly::Anomaly;
use crate::contracts::Contract;
use crate::desk::Desk;
use crate::fees::Class;
use crate::intake::widen;
use crate::orders::{Closes, Order, Stage};
use crate::positions::{Holding, NOTHING, TODAY, YESTERDAY, index};

impl Desk {
    /// Takes an execution; `Some` where it does not fit what came before.
    pub fn execution(&mut self, execution: &Execution) -> Option<Anomaly> {
        let anomaly = match execution {
            Execution::Fill(fill) => self.fill(fill),
            Execution::Update(update) => self.update(update),
        };
        anomaly.map(|anomaly| self.anomalies.count(anomaly))
    }

    fn fill(&mut self, fill: &Fill) -> Option<Anomaly> {
        let Some(place) = self.orders.find(fill.order_id) else { return Some(Anomaly::UnknownOrder) };
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
        self.hold(place, crate::orders::Reservation::default());
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
        let Desk { orders, accounts, contracts, scopes, fees, .. } = self;
        let order = orders.get_mut(place)?;
        let account = accounts.get_mut(order.account as usize)?;
        let contract = contracts.get(fill.instrument)?;
        let amount = value(fill.price, fill.quantity.0, contract.multiplier)?;
        let booked = trade(account, contract, order, fill.price, fill.quantity.0)?;
        let before = fees.charged(order.schedule, order.side(), &order.traded);
        for (class, lots, value) in booked.parts {
            order.traded.add(class, lots, value);
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

    /// Orders at work may close more than is left: the newest of them open instead.
    fn balance_closes(&mut self, place: u32) {
        let Some(order) = self.orders.get(place) else { return };
        let (instrument, account) = (order.instrument(), order.account as usize);
        for side in 0..2 {
            let slot = |desk: &Desk| {
                let slot = desk.accounts.get(account)?.slot(instrument)?;
                Some((slot.holdings[1 - side].excess(), slot.first[side]))
            };
            let Some((mut excess, mut next)) = slot(self) else { return };
            while excess != [0; 3] && next != NOTHING {
                let Some(order) = self.orders.get_mut(next) else { break };
                let (this, following) = (next, order.next);
                let cut = excess[order.closes as usize].min(order.closing);
                if cut > 0 {
                    order.closing -= cut;
                    self.reserve(this);
                    excess = slot(self).map_or([0; 3], |(excess, _)| excess);
                }
                next = following;
            }
        }
    }

    fn update(&mut self, update: &OrderUpdate) -> Option<Anomaly> {
        let Some(place) = self.orders.find(update.order_id) else { return Some(Anomaly::UnknownOrder) };
        let order = self.orders.get_mut(place)?;
        if order.instrument() != update.instrument {
            return Some(Anomaly::Garbled);
        }
        if order.stage == Stage::Ended {
            return Some(Anomaly::OutOfStep);
        }
        let fits = apply(order, update);
        if update.status.is_final() {
            (order.status, order.reason) = (update.status, update.reason);
            order.stage = Stage::Ended;
            let (account, strategy) = (order.account as usize, order.strategy());
            self.hold(place, crate::orders::Reservation::default());
            self.unlink(place);
            self.orders.ended(place);
            if update.status == OrderStatus::Rejected {
                self.refused(Some(account), strategy, update.event_time);
            }
        } else {
            let (low, high, side) = (order.low, order.high, index(order.side()));
            order.closing = order.closing.min(order.open());
            let account = self.accounts.get_mut(order.account as usize);
            if let Some(slot) = account.and_then(|account| account.slot_mut(update.instrument)) {
                widen(&mut slot.edge, side, low, high);
            }
            self.reserve(place);
        }
        (!fits).then_some(Anomaly::OutOfStep)
    }
}

/// Applies an update to an order at work; false where it does not fit.
fn apply(order: &mut Order, update: &OrderUpdate) -> bool {
    let was_sent = order.stage == Stage::Sent;
    let is_in_step = update.filled.0 == order.filled;
    if !update.status.is_final() && !update.status.is_refusal() {
        order.stage = Stage::Working;
    }
    match update.status {
        OrderStatus::Accepted => was_sent && update.quantity.0 == order.total,
        OrderStatus::PartiallyFilled => is_in_step && order.remaining() > 0,
        OrderStatus::Filled => is_in_step && order.remaining() == 0,
        OrderStatus::Cancelled => is_in_step,
        OrderStatus::Rejected => was_sent,
        OrderStatus::Replaced => {
            let was_asked = update.quantity.0 > 0 && update.quantity.0 <= order.ceiling;
            if update.quantity.0 > 0 {
                // The market decides what works, also where nobody here asked for it.
                order.confirm_price(update.price);
                order.total = update.quantity.0;
                order.ceiling = order.ceiling.max(order.total);
            }
            order.replace_answered() && was_asked && is_in_step
        }
        OrderStatus::ReplaceRejected => order.replace_answered(),
        OrderStatus::Reduced => {
            let is_smaller = update.quantity.0 > 0 && update.quantity.0 < order.total;
            if update.quantity.0 > 0 {
                order.total = update.quantity.0;
                // A replace on its way sets a total of its own, whatever the order has by then.
                order.ceiling =
                    if order.replaces == 0 { order.total } else { order.ceiling.max(order.total) };
            }
            is_smaller && is_in_step
        }
        OrderStatus::Triggered => update.quantity.0 == order.total && is_in_step,
        OrderStatus::CancelRejected => {
            let is_expected = order.cancels > 0;
            order.cancels = order.cancels.saturating_sub(1);
            is_expected
        }
        // About a request, and no order.
        OrderStatus::MassCancelled => false,
    }
}

/// What a fill has done.
struct Booked {
    /// By how much positions are worth more, without signs.
    gross: i128,
    /// For charges: what each part was, its lots and its value.
    parts: [(Class, i64, i128); 3],
}

/// How much of each day a fill closes.
fn closes(kind: AccountKind, order: &Order, opposite: &Holding, lots: i64) -> [i64; 2] {
    let of = |day: usize, left: i64| opposite.lots[day].min(left).max(0);
    match (kind, order.closes) {
        (AccountKind::Futures, _) if !order.is_closing => [0, 0],
        (AccountKind::Futures, Closes::Today) => [of(TODAY, lots), 0],
        (AccountKind::Futures, Closes::Yesterday) => [0, of(YESTERDAY, lots)],
        _ => {
            // Earlier days first, but what orders of one day may close is theirs as long as there is other.
            let free = |day: usize| (opposite.lots[day] - opposite.frozen[day]).max(0);
            let mut old = free(YESTERDAY).min(lots);
            let today = free(TODAY).min(lots - old);
            let mut new = today;
            old += (opposite.lots[YESTERDAY] - old).min(lots - old - new).max(0);
            new += (opposite.lots[TODAY] - new).min(lots - old - new).max(0);
            [new, old]
        }
    }
}

/// Moves a fill's lots in and out of the holdings, and its money.
fn trade(
    account: &mut Account,
    contract: &Contract,
    order: &Order,
    price: Price,
    lots: i64,
) -> Option<Booked> {
    let (kind, method, multiplier) = (account.kind, account.method, contract.multiplier);
    let side = index(order.side());
    let slot = account.slot_mut(order.instrument())?;
    let gross = slot.gross();
    let (mine, opposite) = (side, 1 - side);
    let by_day = closes(kind, order, &slot.holdings[opposite], lots);
    let opened = lots - by_day[TODAY] - by_day[YESTERDAY];
    // The sign of what is closed: purchases close what is short.
    let sign: i128 = if order.side() == Side::Sell { 1 } else { -1 };
    let (mut gain, mut back, mut invested) = (0, 0, 0);
    let mut parts = [(Class::Open, 0, 0), (Class::Close, 0, 0), (Class::CloseToday, 0, 0)];
    for (day, class) in [(YESTERDAY, Class::Close), (TODAY, Class::CloseToday)] {
        if by_day[day] == 0 {
            continue;
        }
        let worth = value(price, by_day[day], multiplier)?;
        let closed = slot.holdings[opposite].close(method, day, by_day[day], multiplier);
        gain += sign * (worth - closed.cost);
        back += sign * closed.settled;
        invested -= sign * closed.cost;
        parts[class as usize] = (class, by_day[day], worth);
    }
    if opened > 0 {
        let worth = value(price, opened, multiplier)?;
        slot.holdings[mine].open(method, price, opened, worth);
        invested -= sign * worth;
        parts[0] = (Class::Open, opened, worth);
    }
    let margin = slot.remargin(kind);
    slot.realised += gain;
    let gross = slot.gross() - gross;
    let purse = account.purse(contract.currency);
    purse.margin += margin;
    purse.gross += gross;
    purse.totals.realised += gain;
    if kind == AccountKind::Cash {
        purse.totals.invested += invested;
        purse.balance += gain - invested;
    } else {
        purse.totals.variation -= back;
        purse.balance += gain - back;
    }
    Some(Booked { gross, parts })
}
