//! Limits of an account, a group, a strategy or the platform, and the counters that stand beside them.

use wire::{AccountLimit, AccountScope, LimitChange, LimitKind, Nanos};

use crate::amount::MOST;
use crate::buckets::Bucket;
use crate::refusal::Refusal;
use crate::state::{state, state_enum};

/// Why a kill switch has fallen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KillCause {
    /// A person or a node asked for it.
    Entry = 1,
    /// The loss of the day passed its limit.
    Loss = 2,
    /// Too many orders were refused in a short time.
    RejectRate = 3,
    /// Too many orders came in a short time.
    RunawayRate = 4,
}
state_enum!(KillCause { Entry, Loss, RejectRate, RunawayRate });

/// The limits of one scope. `None`: no limit.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watch {
    pub(crate) killed: Option<KillCause>,
    /// Orders at work.
    pub(crate) open: u32,
    pub(crate) most_open: Option<u32>,
    pub(crate) position: Option<i64>,
    pub(crate) quantity: Option<i64>,
    pub(crate) orders: Option<Bucket>,
    pub(crate) messages: Option<Bucket>,
    pub(crate) runaway: Option<Bucket>,
    pub(crate) rejects: Option<Bucket>,
    pub(crate) notional: Option<i128>,
    pub(crate) gross: Option<i128>,
    pub(crate) loss: Option<i128>,
    /// In 1e-9 of equity.
    pub(crate) call: Option<u64>,
    pub(crate) forced: Option<u64>,
}
state!(Watch {
    killed,
    open,
    most_open,
    position,
    quantity,
    orders,
    messages,
    runaway,
    rejects,
    notional,
    gross,
    loss,
    call,
    forced
});

impl Watch {
    /// Sets or lifts a limit, but one of positions in one instrument.
    pub(crate) fn set(&mut self, entry: &AccountLimit) -> Result<(), Refusal> {
        let is_set = entry.change == LimitChange::Set;
        let number = i64::try_from(entry.number).map_err(|_| Refusal::Number)?;
        let amount = entry.amount.wide();
        let lots = is_set.then_some(number);
        let money = is_set.then_some(amount);
        let rate = is_set.then(|| Bucket::new(entry.number, entry.burst));
        let ratio = is_set.then_some(entry.number);
        let is_account = entry.scope == AccountScope::Account;
        match entry.limit {
            LimitKind::OrderRate
            | LimitKind::MessageRate
            | LimitKind::RejectRate
            | LimitKind::RunawayRate
                if is_set && (entry.number > Bucket::MOST || entry.burst == 0) =>
            {
                return Err(Refusal::Number);
            }
            LimitKind::GrossNotional | LimitKind::OrderNotional | LimitKind::Loss
                if !(0..=MOST).contains(&amount) =>
            {
                return Err(Refusal::Number);
            }
            LimitKind::Loss if entry.scope == AccountScope::Strategy => return Err(Refusal::Scope),
            LimitKind::MarginCall | LimitKind::ForcedLiquidation if !is_account => {
                return Err(Refusal::Scope);
            }
            LimitKind::Position => self.position = lots,
            LimitKind::OrderQuantity => self.quantity = lots,
            LimitKind::OpenOrders => {
                self.most_open = is_set.then(|| u32::try_from(number).unwrap_or(u32::MAX));
            }
            LimitKind::GrossNotional => self.gross = money,
            LimitKind::OrderNotional => self.notional = money,
            LimitKind::Loss => self.loss = money,
            LimitKind::OrderRate => self.orders = rate,
            LimitKind::MessageRate => self.messages = rate,
            LimitKind::RunawayRate => self.runaway = rate,
            LimitKind::RejectRate => self.rejects = rate,
            LimitKind::MarginCall => self.call = ratio,
            LimitKind::ForcedLiquidation => self.forced = ratio,
            LimitKind::Money | LimitKind::PriceBand | LimitKind::SelfTrade | LimitKind::ShortSale => {
                return Err(Refusal::Scope);
            }
        }
        Ok(())
    }

    /// Kills; true unless it was killed already.
    pub(crate) fn kill(&mut self, cause: KillCause) -> bool {
        let is_new = self.killed.is_none();
        if is_new {
            self.killed = Some(cause);
        }
        is_new
    }

    /// Counts a refused order; true where the limit of refusals is passed.
    pub(crate) fn rejects_pass(&mut self, now: Nanos) -> bool {
        self.rejects.as_mut().is_some_and(|bucket| !bucket.take(now))
    }

    /// Counts an order; true where the limit of runaway orders is passed.
    pub(crate) fn runs_away(&mut self, now: Nanos) -> bool {
        self.runaway.as_mut().is_some_and(|bucket| !bucket.take(now))
    }
}
