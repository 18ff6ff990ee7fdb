//! The accounts of whoever follows the drop copy: the ledger, an audit, a restarted gateway.
//!
//! td decides; the drop copy is the sequence of all that took effect, in td's order. A desk that takes the same sequence is the
//! same, but for rates, which only who decides has to count.

use wire::{
    AccountState, CancelAll, CancelOrder, DROP_REFUSED, EntryResult, Fill, InstrumentId, Mark, Message,
    Nanos, NewOrder, OrderStatus, OrderUpdate, Reason, ReplaceOrder, Request,
};

use crate::anomaly::Anomaly;
use crate::apply::Applied;
use crate::desk::{Desk, Options};
use crate::entry::Entry;
use crate::refusal::Refusal;
use crate::snapshot::RestoreError;
use crate::state::{Reader, State, state};

/// How much of the journals a desk contains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Contained {
    /// Everything in the drop copy before this position.
    pub drops: u64,
    /// Executions up to the one at this position; zero: none.
    pub execution: u64,
    /// Entries up to the one at this position; zero: none.
    pub entry: u64,
    /// Frames of the drop copy.
    pub frames: u64,
    /// The entries of the platform file are all there.
    pub is_opened: bool,
    /// Requests among them that went out.
    pub requests: u64,
    /// The last of these: its message id, order, and the line of the strategy's journal that it came from.
    pub last_kind: u16,
    /// As above.
    pub last_order: wire::OrderId,
    /// As above.
    pub last_source: u32,
}
state!(Contained {
    drops,
    execution,
    entry,
    frames,
    is_opened,
    requests,
    last_kind,
    last_order,
    last_source
});

impl Contained {
    fn sent(&mut self, key: (u16, wire::OrderId, u32)) {
        self.requests += 1;
        (self.last_kind, self.last_order, self.last_source) = key;
    }

    /// Whether this is the last request that is contained, or one that looks the same.
    pub fn ends_with(&self, request: &Request) -> bool {
        self.requests > 0 && key(request) == (self.last_kind, self.last_order, self.last_source)
    }
}

fn key(request: &Request) -> (u16, wire::OrderId, u32) {
    (request.message_id(), request.order_id(), request.source().unwrap_or(0))
}

/// A desk, and how far it has followed the drop copy.
#[derive(Clone, Debug)]
pub struct Follower {
    /// The accounts.
    pub desk: Desk,
    /// What is in them.
    pub contained: Contained,
    /// The request whose refusal comes next.
    refused: Option<NewOrder>,
}

/// Which accounts a frame has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touched {
    /// None.
    Nothing,
    /// The one at this place, from zero, by the order of opening.
    Account(u32),
    /// Those that hold this instrument.
    Instrument(InstrumentId),
    /// Perhaps all.
    All,
}

/// What a frame of the drop copy was.
#[derive(Clone, Debug, PartialEq)]
pub struct Followed {
    /// What it has changed.
    pub touched: Touched,
    /// What an entry has done.
    pub applied: Option<Applied>,
    /// Where an execution does not fit.
    pub anomaly: Option<Anomaly>,
}

impl Followed {
    fn touched(touched: Touched) -> Followed {
        Followed { touched, applied: None, anomaly: None }
    }
}

/// A frame of the drop copy that cannot follow what came before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FollowError {
    /// No message of the drop copy.
    #[error("position {position}: message {message_id} is no message of the drop copy, or is damaged")]
    Unreadable {
        /// Of the frame.
        position: u64,
        /// Its id.
        message_id: u16,
    },
    /// A request that was sent on, and could not have been.
    #[error("position {position}: a request went out that these accounts would have refused ({reason})")]
    Request {
        /// Of the frame.
        position: u64,
        /// Why.
        reason: Reason,
    },
    /// An entry that took effect, and could not have.
    #[error("position {position}: an entry took effect that these accounts would have refused: {refusal}")]
    Entry {
        /// Of the frame.
        position: u64,
        /// Why.
        refusal: Refusal,
    },
    /// An execution that was there before.
    #[error(
        "position {position}: the execution at {execution} is not newer than the one before, at {before}"
    )]
    Order {
        /// Of the frame.
        position: u64,
        /// Of the execution.
        execution: u64,
        /// Of the one before.
        before: u64,
    },
}

impl Follower {
    /// Of an empty desk.
    pub fn new(options: Options) -> Follower {
        Follower { desk: Desk::new(options), contained: Contained::default(), refused: None }
    }

    /// Takes a frame of the drop copy; those that are contained already change nothing. An error is one of the sequence: what
    /// follows is taken all the same.
    ///
    /// # Errors
    /// [`FollowError`].
    pub fn frame(
        &mut self,
        (position, topic, time): (u64, u32, Nanos),
        message_id: u16,
        payload: &[u8],
    ) -> Result<Followed, FollowError> {
        if position < self.contained.drops {
            return Ok(Followed::touched(Touched::Nothing));
        }
        self.contained.drops = position + 1;
        self.contained.frames += 1;
        let unreadable = |_| FollowError::Unreadable { position, message_id };
        let refused = self.refused.take();
        if topic == DROP_REFUSED {
            if message_id == NewOrder::ID {
                self.refused = Some(NewOrder::decode(payload).map_err(unreadable)?);
            }
            return Ok(Followed::touched(Touched::Nothing));
        }
        match message_id {
            NewOrder::ID => {
                NewOrder::read(payload, |order| self.new_order(position, order)).map_err(unreadable)?
            }
            CancelOrder::ID | ReplaceOrder::ID | CancelAll::ID => {
                let request = Request::decode(message_id, payload).map_err(unreadable)?;
                self.contained.sent(key(&request));
                self.request(position, &request, time)
            }
            OrderUpdate::ID => OrderUpdate::read(payload, |update| self.update(position, update, refused))
                .map_err(unreadable)?,
            Fill::ID => Fill::read(payload, |fill| self.fill(position, fill)).map_err(unreadable)?,
            Mark::ID => {
                let mark = Mark::decode(payload).map_err(unreadable)?;
                self.desk.mark(mark.instrument, mark.price);
                Ok(Followed::touched(Touched::Instrument(mark.instrument)))
            }
            EntryResult::ID => {
                let result = EntryResult::decode(payload).map_err(unreadable)?;
                self.contained.entry = self.contained.entry.max(result.entry);
                self.contained.is_opened |= result.entry == 0;
                Ok(Followed::touched(Touched::Nothing))
            }
            _ => {
                let entry = Entry::decode(message_id, payload)
                    .map_err(|_| FollowError::Unreadable { position, message_id })?;
                self.entry(position, &entry)
            }
        }
    }

    /// A frame will come: what it will need is read. See [`Desk::ahead_of_order`].
    pub fn ahead(&self, message_id: u16, payload: &[u8], step: u32) {
        let ahead = match message_id {
            NewOrder::ID => NewOrder::read(payload, |order| {
                let from = order.order_id.strategy();
                self.desk.ahead_of_order(from, order.account, order.instrument, step);
            }),
            OrderUpdate::ID => OrderUpdate::read(payload, |update| {
                // What goes on working as it did changes no account.
                if step == 0 || update.status != OrderStatus::Accepted {
                    self.desk.ahead_of_execution(update.order_id, step);
                }
            }),
            Fill::ID => Fill::read(payload, |fill| self.desk.ahead_of_execution(fill.order_id, step)),
            _ => Ok(()),
        };
        // What cannot be read is said when it comes.
        let _ = ahead;
    }

    fn new_order(&mut self, position: u64, order: &NewOrder) -> Result<Followed, FollowError> {
        self.contained.sent((NewOrder::ID, order.order_id, 0));
        match self.desk.accept_for(order) {
            Ok(place) => Ok(Followed::touched(Touched::Account(place as u32))),
            Err(reason) => Err(FollowError::Request { position, reason }),
        }
    }

    fn request(&mut self, position: u64, request: &Request, time: Nanos) -> Result<Followed, FollowError> {
        let taken = match request {
            Request::New(order) => self.desk.accept(order),
            Request::Replace(replace) => self.desk.accept_replace(replace),
            Request::Cancel(cancel) if request.is_of_td() => {
                self.desk.note_cancel(cancel.order_id);
                Ok(())
            }
            Request::Cancel(cancel) => {
                // It may have crossed the order's end.
                let _ = self.desk.cancel(cancel.order_id.strategy(), cancel, time);
                Ok(())
            }
            // Each order that it takes has an update of its own.
            Request::CancelAll(_) => return Ok(Followed::touched(Touched::Nothing)),
        };
        taken.map_err(|reason| FollowError::Request { position, reason })?;
        Ok(Followed::touched(self.desk.touched_by(request.order_id())))
    }

    fn update(
        &mut self,
        position: u64,
        update: &OrderUpdate,
        refused: Option<NewOrder>,
    ) -> Result<Followed, FollowError> {
        if update.execution == 0 {
            if let Some(order) = refused
                && update.status == OrderStatus::Rejected
                && update.order_id == order.order_id
            {
                self.desk.reject(&order, update.reason);
            }
            return Ok(Followed::touched(Touched::Nothing));
        }
        self.execution(position, (update.execution, update.order_id), |desk| desk.on_update(update))
    }

    fn fill(&mut self, position: u64, fill: &Fill) -> Result<Followed, FollowError> {
        if fill.execution == 0 {
            return Ok(Followed::touched(Touched::Nothing));
        }
        self.execution(position, (fill.execution, fill.order_id), |desk| desk.on_fill(fill))
    }

    fn execution(
        &mut self,
        position: u64,
        (at, order): (u64, wire::OrderId),
        book: impl FnOnce(&mut Desk) -> Option<Anomaly>,
    ) -> Result<Followed, FollowError> {
        let before = self.contained.execution;
        if at <= before {
            return Err(FollowError::Order { position, execution: at, before });
        }
        self.contained.execution = at;
        let anomaly = book(&mut self.desk);
        let touched = self.desk.touched_by(order);
        // What falls by itself is an entry of td's, too.
        let fell = !self.desk.take_kills().is_empty();
        Ok(Followed { touched: if fell { Touched::All } else { touched }, applied: None, anomaly })
    }

    fn entry(&mut self, position: u64, entry: &Entry) -> Result<Followed, FollowError> {
        let applied = match self.desk.apply(entry) {
            Ok(applied) => applied,
            // A switch that has fallen here by itself.
            Err(Refusal::Already) => Applied::Already,
            Err(refusal) => return Err(FollowError::Entry { position, refusal }),
        };
        self.desk.take_kills();
        let touched = match entry {
            Entry::Open(open) => self.desk.touched_account(open.account),
            Entry::Change(change) if change.scope == wire::AccountScope::Account => {
                self.desk.touched_account(wire::AccountId(change.subject))
            }
            Entry::Limit(_) | Entry::Price(_) => Touched::Nothing,
            _ => Touched::All,
        };
        Ok(Followed { touched, applied: Some(applied), anomaly: None })
    }

    /// The state as bytes, with what it contains.
    pub fn snapshot(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write_snapshot(&mut out);
        out
    }

    /// The same in memory that was used before.
    pub fn write_snapshot(&self, out: &mut Vec<u8>) {
        out.clear();
        self.contained.put(out);
        self.refused.put(out);
        self.desk.write_snapshot(out);
    }

    /// What [`Follower::snapshot`] has written.
    ///
    /// # Errors
    /// [`RestoreError`].
    pub fn restore(bytes: &[u8]) -> Result<Follower, RestoreError> {
        let mut reader = Reader(bytes);
        let contained = Contained::get(&mut reader).ok_or(RestoreError::Length)?;
        let refused = State::get(&mut reader).ok_or(RestoreError::Length)?;
        Ok(Follower { desk: Desk::restore(reader.0)?, contained, refused })
    }

    /// The accounts as others read them, each with its slot: those that `touched` names.
    pub fn states(&self, touched: Touched, mut visit: impl FnMut(u32, AccountState)) {
        let mut show = |place: u32| {
            if let Some(state) = self.desk.state(place, self.contained.drops) {
                visit(place, state);
            }
        };
        match touched {
            Touched::Nothing => {}
            Touched::Account(place) => show(place),
            Touched::Instrument(instrument) => {
                let holds = |place: &u32| self.desk.holds(*place, instrument);
                (0..self.desk.count()).filter(holds).for_each(show);
            }
            Touched::All => (0..self.desk.count()).for_each(show),
        }
    }
}

impl Desk {
    /// How many accounts there are, strategies' own ones among them.
    pub fn count(&self) -> u32 {
        self.accounts.len() as u32
    }

    fn touched_by(&self, order: wire::OrderId) -> Touched {
        let order = self.orders.find(order).and_then(|place| self.orders.get(place));
        order.map_or(Touched::Nothing, |order| Touched::Account(order.account))
    }

    fn touched_account(&self, account: wire::AccountId) -> Touched {
        self.find(account).map_or(Touched::Nothing, |place| Touched::Account(place as u32))
    }

    fn holds(&self, place: u32, instrument: InstrumentId) -> bool {
        let account = self.accounts.get(place as usize);
        let slot = account.and_then(|account| account.slot(instrument));
        slot.is_some_and(|slot| !slot.is_flat() || slot.working != [0; 2])
    }

    /// How the account at a place stands, by the order of opening from zero; `drops` says what is contained.
    pub fn state(&self, place: u32, drops: u64) -> Option<AccountState> {
        let account = self.accounts.get(place as usize)?;
        let (mut balance, mut frozen) = (0_i128, 0_i128);
        let home = account.home.currency;
        for purse in account.purses() {
            balance += self.currencies.convert(purse.balance, purse.currency, home);
            frozen -= self.currencies.convert(-purse.reserved, purse.currency, home);
        }
        let view = self.view(account)?;
        let mut flags = 0;
        for (is_so, flag) in [
            (view.is_frozen, AccountState::FROZEN),
            (view.is_closed, AccountState::CLOSED),
            (self.is_killed(account), AccountState::KILLED),
        ] {
            flags |= if is_so { flag } else { 0 };
        }
        let wide = wire::WideMoney::from_wide;
        Some(AccountState {
            account: account.id,
            open_orders: view.open_orders,
            owner: account.owner.unwrap_or(AccountState::NOBODY),
            kind: account.kind,
            flags,
            reserved: 0,
            currency: view.currency,
            drops,
            risk_ratio: view.risk_ratio,
            balance: wide(balance),
            equity: wide(view.equity),
            available: wide(view.available),
            frozen: wide(frozen),
            margin: wide(view.margin),
            day_result: wide(view.day_result),
        })
    }

    /// Its own switch, its owner's, its group's, or the platform's.
    fn is_killed(&self, account: &crate::account::Account) -> bool {
        let group = self.scopes.groups.get(account.group as usize);
        account.watch.killed.is_some()
            || account.owner.is_some_and(|owner| self.is_strategy_killed(owner))
            || group.is_some_and(|(_, scope)| scope.watch.killed.is_some())
            || self.scopes.platform.watch.killed.is_some()
    }
}
