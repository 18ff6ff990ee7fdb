//! What the ledger asks td for: kills, and what it takes to close positions by force. And whom it has asked for money.
//!
//! An account whose margin has passed its bound is closed in three steps, each once the drop copy has the one before:
//!
//! ```text
//!  1. it is frozen          no order of its own comes any more, which would freeze lots again
//!  2. its orders are cancelled, until they have ended
//!  3. in each instrument where none of them is left, positions are closed
//!  … until the margin is as it should be: then it is freed
//! ```
//!
//! A survey is made of the state that the drop copy has led to, so what was asked for and has not come back through it is
//! remembered here: no kill is asked for twice, and no forced order is sent for lots that one on its way, or at work, closes.
//! Sent is not done: what does not come back is asked for again, less and less often.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use accounts::{BY_FORCE, Desk, ForcedOrder, MarginAction};
use wire::{
    AccountAction, AccountChange, AccountId, AccountScope, CancelOrder, Currency, Fill, Instrument,
    InstrumentId, Message, NewOrder, Offset, OrderId, OrderType, OrderUpdate, Price, Quantity, Side,
    StrategyId, Text, TimeInForce, WideMoney,
};

use super::kills::Kills;

/// An attempt that has traded nothing doubles the number of surveys until the next, up to this.
const LONGEST_PAUSE: u32 = 64;
/// Without a band, a forced order trades at prices up to this part worse than the mark: a tenth.
const WORSE: i64 = 10;

/// One message for td.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "few at a time")]
pub(crate) enum Wanted {
    /// A kill switch is to fall.
    Kill(AccountChange),
    /// An account is to be frozen while it is closed by force, or freed.
    Freeze(AccountChange),
    /// An order of an account that is closed by force is to end.
    Cancel(CancelOrder),
    /// A position is to be closed.
    Close(NewOrder),
}

/// An account whose margin asks for money, for the first time since it had enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) account: AccountId,
    pub(crate) owner: Option<StrategyId>,
    pub(crate) missing: i128,
}

/// What is asked for until the drop copy has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Freeze(AccountId),
    Free(AccountId),
    Cancel(OrderId, InstrumentId),
}

/// Which lots: account, instrument, -1 where they are sold, offset.
type Lots = (AccountId, InstrumentId, i64, Offset);

/// Surveys after which something may be tried again.
#[derive(Clone, Copy, Debug, Default)]
struct Pause {
    length: u32,
    left: u32,
}

impl Pause {
    /// True while it lasts. Counts a survey.
    fn lasts(&mut self) -> bool {
        let lasts = self.left > 0;
        self.left = self.left.saturating_sub(1);
        lasts
    }

    /// Begins after an attempt: twice as long as the one before.
    fn begin(&mut self) {
        self.length = (self.length * 2).clamp(1, LONGEST_PAUSE);
        self.left = self.length;
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Guard {
    seat: StrategyId,
    epoch: u16,
    sequence: u32,
    /// Not written yet.
    waiting: VecDeque<Wanted>,
    /// Forced orders, written or waiting, that the drop copy does not have yet.
    on_way: Vec<NewOrder>,
    kills: Kills,
    called: BTreeSet<(AccountId, Option<StrategyId>)>,
    pauses: BTreeMap<Lots, Pause>,
    steps: BTreeMap<Step, Pause>,
    /// The last survey has left something to be tried again.
    is_busy: bool,
}

impl Guard {
    /// Of the ledger in this seat; its orders carry the epoch of its writer, so that their ids are used once.
    pub(crate) fn new(seat: StrategyId, epoch: u64) -> Guard {
        Guard {
            seat,
            // The id holds the low bits; those who compare ids know that they wrap.
            epoch: epoch as u16,
            sequence: 0,
            waiting: VecDeque::new(),
            on_way: Vec::new(),
            kills: Kills::default(),
            called: BTreeSet::new(),
            pauses: BTreeMap::new(),
            steps: BTreeMap::new(),
            is_busy: false,
        }
    }

    /// Takes over what a predecessor has sent, with positions in its journal, of which td has read what stands before `read`: what
    /// the desk has not seen of it is on its way.
    pub(crate) fn restore(&mut self, sent: impl IntoIterator<Item = (u64, Wanted)>, read: u64, desk: &Desk) {
        let killed = desk.killed();
        for (position, wanted) in sent {
            match wanted {
                // What td has read may be behind what the desk contains, and is recognised by its number.
                Wanted::Close(order) if order.order_id.strategy() == self.seat => self.on_way.push(order),
                Wanted::Close(_) => {}
                Wanted::Kill(_) | Wanted::Freeze(_) | Wanted::Cancel(_) if position < read => {}
                Wanted::Kill(kill) if killed.contains(&(kill.scope, kill.subject)) => {}
                Wanted::Kill(kill) => self.kills.written(kill.scope, kill.subject, position),
                Wanted::Freeze(change) => self.begin(match change.action {
                    AccountAction::Freeze => Step::Freeze(AccountId(change.subject)),
                    _ => Step::Free(AccountId(change.subject)),
                }),
                Wanted::Cancel(cancel) => self.begin(Step::Cancel(cancel.order_id, cancel.instrument)),
            }
        }
        if let Some(newest) = desk.newest_order(self.seat) {
            self.arrived(newest);
        }
    }

    /// td was asked for this step: it is asked for again after a pause.
    fn begin(&mut self, step: Step) {
        self.steps.entry(step).or_default().begin();
    }

    /// True while kills are waited for: [`Guard::read`] is to be called between surveys.
    pub(crate) fn awaits_kills(&self) -> bool {
        !self.kills.is_empty()
    }

    /// td has read what stands before this position, and each survey from now on contains what td had written by now.
    pub(crate) fn read(&mut self, position: u64) {
        self.kills.read(position);
    }

    /// A frame of the drop copy: what was asked for arrives.
    pub(crate) fn seen(&mut self, message_id: u16, payload: &[u8]) {
        match message_id {
            NewOrder::ID => {
                let order = NewOrder::decode(payload).ok().map(|order| order.order_id);
                if let Some(id) = order.filter(|id| id.strategy() == self.seat) {
                    self.arrived(id);
                }
            }
            // td may refuse one without a copy of it.
            OrderUpdate::ID if !self.on_way.is_empty() => {
                if let Ok(update) = OrderUpdate::decode(payload)
                    && update.order_id.strategy() == self.seat
                {
                    self.arrived(update.order_id);
                }
            }
            Fill::ID if !self.pauses.is_empty() => {
                if let Ok(fill) = Fill::decode(payload)
                    && fill.order_id.strategy() == self.seat
                {
                    let traded = (fill.instrument, fill.side.sign());
                    self.pauses.retain(|(_, instrument, side, _), _| (*instrument, *side) != traded);
                }
            }
            AccountChange::ID if !self.kills.is_empty() => {
                if let Ok(change) = AccountChange::decode(payload)
                    && change.action == AccountAction::Kill
                {
                    self.kills.arrived(change.scope, change.subject);
                }
            }
            _ => {}
        }
    }

    /// td takes them in their order.
    fn arrived(&mut self, id: OrderId) {
        self.on_way.retain(|order| order.order_id.is_newer_than(id));
    }

    /// Looks at all accounts. What td is to do waits from now on; accounts that were not asked for money yet are returned.
    pub(crate) fn survey(&mut self, desk: &Desk, listed: &Listed) -> Vec<Call> {
        let (kills, actions) = desk.look();
        for kill in kills {
            if self.kills.ask(kill.scope, kill.subject) {
                self.waiting.push_back(Wanted::Kill(killing(kill.scope, kill.subject)));
            }
        }
        let (mut calls, mut closes) = (Vec::new(), Vec::new());
        for action in actions {
            match action {
                MarginAction::Call { account, owner, missing } => {
                    calls.push(Call { account, owner, missing })
                }
                // A strategy's own account has no margin that is asked for.
                MarginAction::Close(close) if close.owner.is_some() => {}
                MarginAction::Close(close) => closes.push(close),
            }
        }
        self.liquidate(&closes, desk, listed);
        let asked: BTreeSet<_> = calls.iter().map(|call| (call.account, call.owner)).collect();
        calls.retain(|call| !self.called.contains(&(call.account, call.owner)));
        self.called = asked;
        calls
    }

    /// True while an account is past its bound, or is still to be freed: surveys go on without any news then.
    pub(crate) fn is_busy(&self) -> bool {
        self.is_busy
    }

    /// Takes the accounts past their bound a step further, and frees those that are no longer.
    fn liquidate(&mut self, closes: &[ForcedOrder], desk: &Desk, listed: &Listed) {
        let past: BTreeSet<AccountId> = closes.iter().map(|close| close.account).collect();
        let frozen: BTreeSet<AccountId> = desk.closed_by_force().collect();
        self.is_busy = !past.is_empty() || !frozen.is_empty();
        if !self.is_busy && self.pauses.is_empty() && self.steps.is_empty() {
            return;
        }
        let mut due = BTreeSet::new();
        // Where an order of the account itself is left, nothing is closed yet: both might fill.
        let mut taken = BTreeSet::new();
        for account in &past {
            if !frozen.contains(account) {
                due.insert(Step::Freeze(*account));
            }
            for (order, _) in desk.orders_of_account(*account) {
                if order.order_id.strategy() != self.seat {
                    due.insert(Step::Cancel(order.order_id, order.instrument));
                    taken.insert((*account, order.instrument));
                }
            }
        }
        due.extend(
            frozen
                .difference(&past)
                .filter(|account| !self.closes_in(**account, desk))
                .map(|account| Step::Free(*account)),
        );
        self.steps.retain(|step, _| due.contains(step));
        for step in due {
            let pause = self.steps.entry(step).or_default();
            if !pause.lasts() {
                pause.begin();
                self.waiting.push_back(step.wanted());
            }
        }
        let is_ready = |close: &ForcedOrder| {
            frozen.contains(&close.account) && !taken.contains(&(close.account, close.instrument))
        };
        self.close(closes, is_ready, desk, listed);
    }

    /// Whether a forced order of the account is on its way or at work.
    fn closes_in(&self, account: AccountId, desk: &Desk) -> bool {
        let at_work = desk.orders_of_account(account);
        self.on_way.iter().any(|order| order.account == account)
            || at_work.iter().any(|(order, _)| order.order_id.strategy() == self.seat)
    }

    fn close(
        &mut self,
        closes: &[ForcedOrder],
        is_ready: impl Fn(&ForcedOrder) -> bool,
        desk: &Desk,
        listed: &Listed,
    ) {
        let wanted: BTreeSet<Lots> = closes.iter().map(lots_of).collect();
        self.pauses.retain(|lots, _| wanted.contains(lots));
        if closes.is_empty() {
            return;
        }
        let at_work = desk.orders_of(self.seat);
        for close in closes.iter().filter(|close| is_ready(close)) {
            let lots = lots_of(close);
            if self.pauses.get_mut(&lots).is_some_and(Pause::lasts) {
                continue;
            }
            let closing = |order: &NewOrder| lots_of_order(order) == Some(lots);
            let works: i64 = at_work.iter().filter(|(order, _)| closing(order)).map(|(_, open)| open).sum();
            let sent: i64 =
                self.on_way.iter().filter(|order| closing(order)).map(|order| order.quantity.0).sum();
            let Some(sequence) = self.sequence.checked_add(1) else { return };
            let id = OrderId::new(self.seat, self.epoch, sequence);
            let Some(order) = order(id, close, works.saturating_add(sent), desk, listed) else { continue };
            self.sequence = sequence;
            self.on_way.push(order);
            self.waiting.push_back(Wanted::Close(order));
            self.pauses.entry(lots).or_default().begin();
        }
    }

    /// What goes to td next.
    pub(crate) fn next(&self) -> Option<&Wanted> {
        self.waiting.front()
    }

    /// It was written at this position.
    pub(crate) fn sent(&mut self, position: u64) {
        match self.waiting.pop_front() {
            Some(Wanted::Kill(kill)) => self.kills.written(kill.scope, kill.subject, position),
            Some(Wanted::Freeze(_) | Wanted::Cancel(_) | Wanted::Close(_)) | None => {}
        }
    }
}

/// What md has listed, by number: prices and quantities that the market takes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Listed(Vec<Option<Instrument>>);

impl Listed {
    /// An instrument is listed, or listed anew.
    pub(crate) fn set(&mut self, instrument: &Instrument) {
        let index = instrument.id.0 as usize;
        if instrument.id.0 >= wire::MAX_INSTRUMENTS {
            return;
        }
        if self.0.len() <= index {
            self.0.resize(index + 1, None);
        }
        if let Some(known) = self.0.get_mut(index) {
            *known = Some(*instrument);
        }
    }

    fn get(&self, instrument: InstrumentId) -> Option<&Instrument> {
        self.0.get(instrument.0 as usize)?.as_ref()
    }
}

fn lots_of(close: &ForcedOrder) -> Lots {
    (close.account, close.instrument, close.side.sign(), close.offset)
}

/// `None` where the offset says nothing.
fn lots_of_order(order: &NewOrder) -> Option<Lots> {
    Some((order.account, order.instrument, order.side.sign(), order.offset()?))
}

impl Step {
    fn wanted(self) -> Wanted {
        let change = |account: AccountId, action| AccountChange {
            action,
            who: Text::cut(BY_FORCE[0]),
            why: Text::cut(BY_FORCE[1]),
            ..killing(AccountScope::Account, account.0)
        };
        match self {
            Step::Freeze(account) => Wanted::Freeze(change(account, AccountAction::Freeze)),
            Step::Free(account) => Wanted::Freeze(change(account, AccountAction::Unfreeze)),
            Step::Cancel(order, instrument) => Wanted::Cancel(CancelOrder::new(order, instrument)),
        }
    }
}

fn killing(scope: AccountScope, subject: u32) -> AccountChange {
    AccountChange {
        subject,
        scope,
        action: AccountAction::Kill,
        reserved: 0,
        amount: WideMoney::default(),
        currency: Currency::EMPTY,
        who: Text::cut("ledger"),
        why: Text::cut(accounts::KillCause::Loss.why()),
    }
}

/// The order that closes what is not closed by others already; `None`: nothing is left, or nobody knows a price.
fn order(id: OrderId, close: &ForcedOrder, closed: i64, desk: &Desk, listed: &Listed) -> Option<NewOrder> {
    let row = desk.position(id.strategy(), close.account, close.instrument)?;
    let [today, yesterday] = match close.side {
        Side::Sell => [row.long_today, row.long_yesterday],
        Side::Buy => [row.short_today, row.short_yesterday],
    };
    let held = match close.offset {
        Offset::CloseToday => today,
        Offset::CloseYesterday => yesterday,
        Offset::Auto | Offset::Open | Offset::Close => today.saturating_add(yesterday),
    };
    let instrument = listed.get(close.instrument);
    let lot = instrument.map_or(1, |instrument| instrument.lot.0.max(1));
    // In whole lots, but never more than is held: what is less than a lot is sold as it is.
    let whole = close.quantity.saturating_add(lot - 1) / lot * lot;
    let most = if held >= lot { held / lot * lot } else { held };
    let mut quantity = whole.min(most).saturating_sub(closed);
    if let Some(most) = instrument.map(|instrument| instrument.max_quantity.0).filter(|most| *most > 0) {
        quantity = quantity.min(most);
    }
    if quantity <= 0 {
        return None;
    }
    // A market order's worst price is the band's end, so without a band it would be refused.
    let has_band = instrument
        .is_some_and(|instrument| instrument.price_low.is_some() && instrument.price_high.is_some());
    let (order_type, price) = match has_band {
        true => (OrderType::Market, Price::NONE),
        false => (OrderType::Limit, worse_than(row.mark, close.side, instrument)?),
    };
    let plain = NewOrder::plain(
        id,
        close.instrument,
        close.side,
        order_type,
        TimeInForce::ImmediateOrCancel,
        price,
        Quantity(quantity),
    );
    Some(NewOrder { account: close.account, flags: NewOrder::FORCED | close.offset.flags(), ..plain })
}

/// A price at which the order trades with what is there, as far as it is not absurd.
fn worse_than(mark: Price, side: Side, instrument: Option<&Instrument>) -> Option<Price> {
    let reference =
        || instrument.map(|instrument| instrument.reference_price).filter(|price| price.is_some());
    let mark = if mark.is_some() { mark } else { reference()? };
    let tick = instrument.map_or(1, |instrument| instrument.tick.0.max(1));
    let away = mark.0.saturating_add(side.sign().saturating_mul(mark.0.saturating_abs() / WORSE));
    // Towards the other side, to a whole tick.
    let down = away.div_euclid(tick).saturating_mul(tick);
    let mut price = match side {
        Side::Sell if mark > Price::ZERO => down.max(tick),
        Side::Sell => down,
        Side::Buy if down == away => away,
        Side::Buy => down.saturating_add(tick),
    };
    if let Some(instrument) = instrument {
        if instrument.price_low.is_some() {
            price = price.max(instrument.price_low.0);
        }
        if instrument.price_high.is_some() {
            price = price.min(instrument.price_high.0);
        }
    }
    Some(Price(price))
}

#[cfg(test)]
impl Guard {
    pub(crate) fn take(&mut self) -> Vec<Wanted> {
        self.waiting.drain(..).collect()
    }
}
