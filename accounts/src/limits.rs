//! Limits of an account, a group, a strategy or the platform, and the counters that stand beside them.

use wire::{AccountLimit, AccountScope, LimitChange, LimitKind, Nanos};

use crate::amount::MOST;
use crate::buckets::Bucket;
use crate::refusal::Refusal;
use crate::state::{Reader, State, state, state_enum};

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

impl KillCause {
    /// Who names the reason in the entry of a switch that has fallen by itself.
    pub const BY_ITSELF: [&str; 2] = ["td", "ledger"];

    /// The reason in such an entry.
    pub fn why(self) -> &'static str {
        match self {
            KillCause::Entry => "asked for",
            KillCause::Loss => "the loss of the day passed its limit",
            KillCause::RejectRate => "too many refused orders a second",
            KillCause::RunawayRate => "too many orders a second",
        }
    }

    /// The cause that an entry names.
    pub(crate) fn of(who: &str, why: &str) -> KillCause {
        let all = [KillCause::Loss, KillCause::RejectRate, KillCause::RunawayRate];
        let named = all.into_iter().find(|cause| cause.why() == why);
        named.filter(|_| KillCause::BY_ITSELF.contains(&who)).unwrap_or(KillCause::Entry)
    }
}

/// A number that is not negative, or none, in the room of the number: checks read many of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Most<T>(T);

impl<T: Copy + From<i8> + PartialOrd> Most<T> {
    pub(crate) fn new(number: Option<T>) -> Most<T> {
        Most(number.filter(|number| *number >= T::from(0)).unwrap_or(T::from(-1)))
    }

    pub(crate) fn get(self) -> Option<T> {
        (self.0 >= T::from(0)).then_some(self.0)
    }
}

impl<T: Copy + From<i8> + PartialOrd> Default for Most<T> {
    fn default() -> Most<T> {
        Most::new(None)
    }
}

impl<T: Copy + From<i8> + PartialOrd + State> State for Most<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.get().put(out);
    }

    fn get(from: &mut Reader<'_>) -> Option<Most<T>> {
        Option::get(from).map(Most::new)
    }
}

/// The limits of one scope. What each order is checked against comes first, in two lines of memory; what follows only some
/// checks read.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(crate) struct Watch {
    pub(crate) messages: Option<Bucket>,
    pub(crate) orders: Option<Bucket>,
    pub(crate) most_open: Option<u32>,
    /// Orders at work.
    pub(crate) open: u32,
    pub(crate) killed: Option<KillCause>,

    pub(crate) runaway: Option<Bucket>,
    pub(crate) quantity: Most<i64>,
    pub(crate) position: Most<i64>,
    pub(crate) notional: Most<i128>,

    pub(crate) gross: Most<i128>,
    pub(crate) loss: Most<i128>,
    pub(crate) rejects: Option<Bucket>,
    /// In 1e-9 of equity.
    pub(crate) call: Most<i64>,
    pub(crate) forced: Most<i64>,
}
const _: () =
    assert!(std::mem::offset_of!(Watch, runaway) == 64 && std::mem::offset_of!(Watch, gross) == 128);
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
        let lots = Most::new(is_set.then_some(number));
        let money = Most::new(is_set.then_some(amount));
        let rate = is_set.then(|| Bucket::new(entry.number, entry.burst));
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
            LimitKind::MarginCall => self.call = lots,
            LimitKind::ForcedLiquidation => self.forced = lots,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_limit_is_another_than_a_limit_of_zero() {
        assert_eq!((Most::new(Some(0_i64)).get(), Most::<i64>::new(None).get()), (Some(0), None));
        assert_eq!(Most::new(Some(i64::MAX)).get(), Some(i64::MAX));
        assert_eq!(Most::new(Some(MOST)).get(), Some(MOST));
    }
}
