//! The accounts in the gateway: for which a strategy may trade, and what the desk says to its requests.

use accounts::{Applied, Desk, Entry, Follower, Kill, Refusal};
use wire::{
    AccountChange, AccountId, AccountScope, CancelAll, CancelOrder, Execution, Instrument, Mark, Message,
    NewOrder, OrderId, OrderUpdate, Reason, ReplaceOrder, Request, StrategyId,
};

use crate::gateway::{Gateway, find};
use wire::Nanos;

/// The accounts of a gateway, and who trades for which.
#[derive(Debug)]
pub struct Gate {
    follower: Follower,
    /// By seat.
    allowed: Vec<Allowed>,
    /// Accounts that there is room for, strategies' own ones not counted.
    most: u32,
    opened: u32,
    /// Whose orders close by force: the ledger.
    forces: Option<StrategyId>,
}

/// For which accounts a strategy may trade.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Allowed {
    /// All.
    All,
    /// These; the first is meant where an order names none. Empty: its own.
    Listed(Vec<AccountId>),
}

impl Gate {
    /// Of these accounts: a new desk, or one that was restored. `most` may be opened.
    pub fn new(follower: Follower, most: u32) -> Gate {
        let opened = follower.desk.accounts().filter(|account| account.owner.is_none()).count() as u32;
        Gate { follower, allowed: Vec::new(), most, opened, forces: None }
    }

    /// Says for which accounts a strategy may trade.
    pub fn allow(&mut self, strategy: StrategyId, accounts: Allowed) {
        let seat = usize::from(strategy.0);
        if self.allowed.len() <= seat {
            self.allowed.resize(seat + 1, Allowed::Listed(Vec::new()));
        }
        self.allowed[seat] = accounts;
    }

    /// Whose orders close by force.
    pub fn force_by(&mut self, seat: StrategyId) {
        self.forces = Some(seat);
    }

    /// The accounts, and how much of the journals is in them.
    pub fn follower(&self) -> &Follower {
        &self.follower
    }

    /// Takes an entry that a client made at `time`: one that looks like a slip and cannot be taken back is refused unless it is
    /// marked as forced, whatever client it comes from.
    ///
    /// # Errors
    /// [`Refusal`]; nothing has changed then.
    pub fn entry_of_client(&mut self, entry: &Entry, time: Nanos) -> Result<Applied, Refusal> {
        self.follower.desk.plausible(entry, time)?;
        self.entry(entry)
    }

    /// Takes an entry.
    ///
    /// # Errors
    /// [`Refusal`]; nothing has changed then.
    pub fn entry(&mut self, entry: &Entry) -> Result<Applied, Refusal> {
        let is_open = matches!(entry, Entry::Open(_));
        if is_open && self.opened >= self.most {
            return Err(Refusal::Full);
        }
        let applied = self.follower.desk.apply(entry)?;
        self.opened += u32::from(is_open);
        Ok(applied)
    }

    /// Positions count at this price from now on. False: they did before.
    pub fn mark(&mut self, mark: &Mark) -> bool {
        self.follower.desk.mark(mark.instrument, mark.price)
    }

    /// Whether an instrument's terms are known.
    pub fn has_terms(&self, instrument: &Instrument) -> bool {
        self.follower.desk.has_terms(instrument.id)
    }

    /// Steps in which it wants to look ahead; none while the accounts are few.
    pub fn looks_ahead(&self) -> u32 {
        if self.follower.desk.looks_ahead() { Desk::STEPS } else { 0 }
    }

    /// A request will come: what it will need is read. See [`Desk::ahead_of_order`].
    pub fn ahead_of_request(&self, from: StrategyId, message_id: u16, payload: &[u8], step: u32) {
        if message_id == NewOrder::ID {
            let _ = NewOrder::read(payload, |order| {
                if let Ok(account) = self.account(from, order.account) {
                    self.follower.desk.ahead_of_order(from, account, order.instrument, step);
                }
            });
        }
    }

    /// The account that an order of this strategy is for.
    pub(crate) fn account(&self, from: StrategyId, named: AccountId) -> Result<AccountId, Reason> {
        let allowed = match self.allowed.get(usize::from(from.0)) {
            _ if self.forces == Some(from) => return Ok(named),
            Some(Allowed::All) => return Ok(named),
            Some(Allowed::Listed(accounts)) => accounts.as_slice(),
            None => &[],
        };
        match allowed.first() {
            None if named == AccountId::OWN => Ok(named),
            Some(_) if allowed.contains(&named) => Ok(named),
            Some(first) if named == AccountId::OWN => Ok(*first),
            _ => Err(Reason::UnknownAccount),
        }
    }

    /// Whether it may say that it closes by force.
    pub(crate) fn may_force(&self, from: StrategyId, order: &NewOrder) -> bool {
        order.flags & NewOrder::FORCED == 0 || self.forces == Some(from)
    }

    /// What became of a request that came before.
    pub(crate) fn known(&self, from: StrategyId, order: &NewOrder) -> Option<OrderUpdate> {
        let desk = &self.follower.desk;
        // As it came, if it was refused; else for the account that was meant.
        if let Ok(update) = desk.answered(order)? {
            return Some(update);
        }
        let account = self.account(from, order.account).ok()?;
        desk.answered(&NewOrder { account, ..*order })?.ok()
    }

    /// The desk's checks. The order becomes as it goes out.
    pub(crate) fn new_order(
        &mut self,
        from: StrategyId,
        order: &mut NewOrder,
        now: Nanos,
    ) -> Result<(), Reason> {
        if self.forces == Some(from) {
            // Kill switches and rates hold nobody back who closes by force.
            return self.follower.desk.accept(order);
        }
        self.follower.desk.admit(from, order, now)
    }

    pub(crate) fn replace(
        &mut self,
        from: StrategyId,
        replace: &ReplaceOrder,
        now: Nanos,
    ) -> Result<(), Reason> {
        self.follower.desk.replace(from, replace, now)
    }

    pub(crate) fn cancel(&mut self, cancel: &CancelOrder, now: Nanos) {
        // It may have crossed the order's end.
        let _ = self.follower.desk.cancel(cancel.order_id.strategy(), cancel, now);
    }

    /// A mass cancel counts as one request.
    pub(crate) fn cancel_all(&mut self, from: StrategyId, cancel: &CancelAll, now: Nanos) {
        let account = cancel.of_account().and_then(|named| self.account(from, named).ok());
        self.follower.desk.cancel_all(from, account, now);
    }

    /// Remembers an order that was refused before the desk was asked.
    pub(crate) fn refuse(&mut self, order: &NewOrder, reason: Reason, now: Nanos) {
        self.follower.desk.refuse(order, reason, now);
    }

    /// Books an execution as it is passed on; false where it was booked before.
    pub(crate) fn execution(&mut self, position: u64, execution: &Execution) -> bool {
        let contained = &mut self.follower.contained.execution;
        if position <= *contained {
            return false;
        }
        *contained = position;
        self.follower.desk.execution(execution);
        true
    }
}

/// Whether a refused order is remembered, so that it is answered the same when it comes again: its id is its sender's, and used
/// up by it.
pub(crate) fn is_remembered(reason: Reason) -> bool {
    !matches!(reason, Reason::NotYours | Reason::StrategyGone | Reason::DuplicateOrder)
}

impl Gateway {
    /// Keeps these accounts from now on.
    pub fn keep_accounts(&mut self, gate: Gate) {
        self.gate = Some(Box::new(gate));
    }

    /// The accounts, where they are kept.
    pub fn accounts(&self) -> Option<&Gate> {
        self.gate.as_deref()
    }

    /// The same, to change them.
    pub fn accounts_mut(&mut self) -> Option<&mut Gate> {
        self.gate.as_deref_mut()
    }

    /// What the drop copy has of a refused order before its refusal, if anything: the order as the desk remembers it, so that who
    /// follows remembers the same. It may be for another account, or at another price, than it came with.
    pub fn refused_copy(&self, payload: &[u8], refusal: &OrderUpdate) -> Option<NewOrder> {
        if !is_remembered(refusal.reason) {
            return None;
        }
        // Bytes that are no order are remembered by nobody.
        let came = NewOrder::decode(payload).ok().filter(|order| order.order_id == refusal.order_id)?;
        let kept = self.accounts().and_then(|gate| gate.follower.desk.refused_order(came.order_id));
        Some(kept.unwrap_or(came))
    }

    /// The kill switches that have fallen since the last call, oldest first.
    pub fn take_kills(&mut self) -> Vec<Kill> {
        self.gate.as_mut().map_or_else(Vec::new, |gate| gate.follower.desk.take_kills())
    }

    /// True when a kill switch has fallen since [`Gateway::take_kills`].
    pub fn has_kills(&self) -> bool {
        self.gate.as_ref().is_some_and(|gate| gate.follower.desk.has_kills())
    }

    /// What is killed now.
    pub fn killed(&self) -> Vec<(AccountScope, u32)> {
        self.gate.as_ref().map_or_else(Vec::new, |gate| gate.follower.desk.killed())
    }

    /// Everything that works in a scope must end, but for orders that close by force: the cancels to write to `td.orders`, one
    /// for each order without a cancel on its way, by ascending order id. Asked again, it cancels again what was refused
    /// meanwhile.
    pub fn cancel_scope(&mut self, scope: AccountScope, subject: u32) -> Vec<CancelOrder> {
        let Some(gate) = &self.gate else { return Vec::new() };
        let working = gate.follower.desk.working_in(scope, subject);
        self.end_killed(working.into_iter().map(|(id, _)| id))
    }

    /// The ledger wants one order to end, so that what it holds can be closed by force: from now on it must. The cancel to write
    /// to `td.orders`, if it works and has none on its way.
    pub fn cancel_one(&mut self, cancel: &CancelOrder) -> Option<CancelOrder> {
        let Gateway { books, owed, .. } = self;
        let book = find(books, cancel.order_id.strategy())?;
        book.end_order(cancel.order_id, Reason::ForcedLiquidation, owed)
    }

    /// Cancels for the orders that kill switches have fallen over, also where the switches were lifted since.
    pub fn cancel_killed(&mut self) -> Vec<CancelOrder> {
        let Some(gate) = &self.gate else { return Vec::new() };
        let ids: Vec<OrderId> = gate.follower.desk.must_end().collect();
        self.end_killed(ids.into_iter())
    }

    fn end_killed(&mut self, ids: impl Iterator<Item = OrderId>) -> Vec<CancelOrder> {
        let Gateway { books, owed, .. } = self;
        let end = |id: OrderId| find(books, id.strategy())?.end_order(id, Reason::Killed, owed);
        ids.filter_map(end).collect()
    }

    /// The desk notes cancels that the gateway itself has made.
    pub fn note_cancels(&mut self, cancels: &[CancelOrder]) {
        if let Some(gate) = &mut self.gate {
            cancels.iter().for_each(|cancel| gate.follower.desk.note_cancel(cancel.order_id));
        }
    }

    /// A request that a predecessor sent on and did not copy: the desk takes it too. Before [`Gateway::resend`].
    /// It counts for the rates at the time at which it was sent.
    pub fn catch_up(&mut self, request: &Request, sent: Nanos) {
        let Some(gate) = &mut self.gate else { return };
        match request {
            Request::New(order) => drop(gate.follower.desk.accept(order)),
            Request::Replace(replace) => drop(gate.follower.desk.accept_replace(replace)),
            Request::Cancel(cancel) if request.is_of_td() => {
                gate.follower.desk.note_cancel(cancel.order_id);
            }
            Request::Cancel(cancel) => return gate.cancel(cancel, sent),
            Request::CancelAll(_) => {}
        }
        gate.follower.desk.count_request(request, sent);
    }
}

/// The entry that says so of a kill switch that has fallen by itself.
pub(crate) fn kill_entry(kill: &Kill) -> AccountChange {
    AccountChange {
        subject: kill.subject,
        scope: kill.scope,
        action: wire::AccountAction::Kill,
        reserved: 0,
        amount: wire::WideMoney::default(),
        currency: wire::Currency::EMPTY,
        who: wire::Text::cut(accounts::KillCause::BY_ITSELF[0]),
        why: wire::Text::cut(kill.cause.why()),
    }
}
