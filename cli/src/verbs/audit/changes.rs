//! td's refusals of cancels and replaces: which causes each may name, and whether they were there.
//!
//! A cancel takes risk away, so next to nothing holds it up; a replace passes what a new order passes, less what only concerns
//! a further order.

use std::collections::HashSet;

use wire::{CancelAll, CancelOrder, OrderId, OrderStatus, OrderUpdate, Reason, ReplaceOrder, Request};

use super::books::{Account, Books};
use super::breaches::{Asked, breaches};
use super::evidence::{Evidence, Written};
use super::given::Given;
use super::order::Order;
use super::rates::Rates;
use super::refusals::{Was, is_for, so};

/// What is known when td refuses.
pub(super) struct State<'a> {
    pub(super) time: u64,
    pub(super) books: &'a Books,
    pub(super) given: &'a Given,
    pub(super) rates: &'a Rates,
    pub(super) evidence: &'a Evidence,
    /// Orders that td has cancelled by itself: they must end, whatever has happened since.
    pub(super) recalled: &'a HashSet<OrderId>,
}

impl State<'_> {
    /// Whether the refusal of a cancel, a mass cancel or a replace had its cause.
    pub(super) fn of_change(&self, update: &OrderUpdate) -> Was {
        if self.given.ledger == Some(update.order_id.strategy()) {
            // The ledger asks elsewhere.
            return Was::Unknown;
        }
        let Some(written) = self.evidence.written(update) else { return self.unasked() };
        match (&written.request, update.status) {
            (None, _) => self.unread(written, update.reason),
            (Some(Request::Cancel(cancel)), OrderStatus::CancelRejected) => {
                self.cancel(written, cancel, update.reason)
            }
            (Some(Request::CancelAll(cancel)), OrderStatus::CancelRejected) => {
                self.cancel_all(written, cancel, update.reason)
            }
            (Some(Request::Replace(replace)), OrderStatus::ReplaceRejected) => {
                self.replace(written, replace, update.reason)
            }
            (Some(_), _) => Was::Not("an answer of the kind of its request"),
        }
    }

    /// No sender has such a request.
    pub(super) fn unasked(&self) -> Was {
        if self.evidence.is_whole { Was::Not("nothing: nobody has asked that") } else { Was::Unknown }
    }

    /// Bytes that are no request.
    pub(super) fn unread(&self, written: &Written, reason: Reason) -> Was {
        match reason {
            Reason::Malformed => Was::So,
            Reason::StrategyGone => self.gone(written),
            _ => Was::Not("malformed: its bytes are no request"),
        }
    }

    /// The order is of the strategy that asks.
    pub(super) fn foreign(written: &Written, order: OrderId) -> Was {
        so(order.strategy().0 != written.seat, "it is taken: the order is its sender's")
    }

    /// The process that has asked has ended, or a later one asks about its order.
    pub(super) fn gone(&self, written: &Written) -> Was {
        match self.evidence.has_changed(written.seat, written.time, self.time) {
            None => Was::Unknown,
            Some(has_changed) => so(has_changed, "it is taken: its sender ran"),
        }
    }

    /// Whether a disk took what is reported is not written down, but who needs one is.
    pub(super) fn not_durable(&self, seat: u16) -> Was {
        match self.given.strategies.get(&seat) {
            Some(its) if its.recorders.is_empty() => {
                Was::Not("it is taken: its sender's reports need not be on disk")
            }
            Some(_) | None => Was::Unknown,
        }
    }

    fn works(&self, id: OrderId) -> Option<&Order> {
        self.books.orders.get(&id).filter(|order| !order.has_ended)
    }

    fn cancel(&self, written: &Written, cancel: &CancelOrder, reason: Reason) -> Was {
        match reason {
            Reason::NotYours => State::foreign(written, cancel.order_id),
            Reason::StrategyGone => self.gone(written),
            Reason::UnknownOrder => {
                so(self.works(cancel.order_id).is_none(), "it is sent: its order is at work")
            }
            Reason::Malformed => {
                let order = self.works(cancel.order_id);
                let differs = order.is_none_or(|order| order.request.instrument != cancel.instrument);
                so(differs, "it is sent: its order is of that instrument")
            }
            _ => Was::Not("it is sent: nothing else holds a cancel up"),
        }
    }

    fn cancel_all(&self, written: &Written, cancel: &CancelAll, reason: Reason) -> Was {
        let strategy = cancel.order_id.strategy();
        match reason {
            Reason::NotYours => State::foreign(written, cancel.order_id),
            Reason::StrategyGone => self.gone(written),
            Reason::UnknownAccount => {
                let named = cancel.of_account();
                let is_known = named.is_none_or(|named| is_for(strategy, named, self.books, self.given));
                so(!is_known, "it is sent: there is such an account, and the strategy may trade for it")
            }
            Reason::UnknownInstrument if self.given.listed.is_empty() => Was::Unknown,
            Reason::UnknownInstrument => {
                let is_listed = cancel.of_instrument().is_none_or(|id| self.given.listed.contains_key(&id));
                so(!is_listed, "it is sent: its instrument is listed")
            }
            _ => Was::Not("it is sent: nothing else holds a mass cancel up"),
        }
    }

    fn replace(&self, written: &Written, replace: &ReplaceOrder, reason: Reason) -> Was {
        let order = self.works(replace.order_id);
        match (reason, order) {
            (Reason::NotYours, _) => State::foreign(written, replace.order_id),
            (Reason::UnknownOrder, order) => so(order.is_none(), "its order is at work"),
            (Reason::StrategyGone, _) if self.recalled.contains(&replace.order_id) => Was::So,
            (Reason::StrategyGone, _) => self.gone(written),
            // Executions may stand before a refusal in the drop copy that td has read behind it.
            (_, None) => Was::Unknown,
            (reason, Some(order)) => self.of_order(written, replace, (reason, order)),
        }
    }

    /// The order works. Every reason has its row.
    fn of_order(&self, written: &Written, replace: &ReplaceOrder, (reason, order): (Reason, &Order)) -> Was {
        let account = |is: fn(&Account) -> bool| self.books.accounts.get(&order.account).is_some_and(is);
        let scopes = self.books.scopes_of(order.account, order.strategy());
        let is_recalled = self.recalled.contains(&replace.order_id);
        match reason {
            Reason::Killed => {
                let has_fallen = scopes.iter().any(|scope| self.books.killed.contains(scope));
                so(has_fallen || is_recalled, "no kill switch above it has fallen")
            }
            Reason::AccountFrozen => so(account(|its| its.is_frozen), "its account is not frozen"),
            Reason::AccountClosed => so(account(|its| its.is_closed), "its account is open"),
            Reason::ForcedLiquidation => {
                so(account(|its| its.is_closed_by_force) || is_recalled, "its account is not closed by force")
            }
            Reason::MessageRate => {
                so(self.rates.may_refuse(&scopes, reason), "no limit of the rate of requests was near")
            }
            Reason::Malformed => {
                let is_in_shape = replace.instrument == order.request.instrument
                    && replace.price.is_some()
                    && order.request.order_type.has_price();
                so(!is_in_shape, "it has a price, and its order's instrument")
            }
            Reason::Quantity if replace.quantity.0 <= order.filled => Was::So,
            Reason::NotDurable => self.not_durable(written.seat),
            Reason::UnknownInstrument
            | Reason::OffTick
            | Reason::PriceBand
            | Reason::Quantity
            | Reason::PositionLimit
            | Reason::SelfTrade
            | Reason::NotionalLimit
            | Reason::OrderNotional
            | Reason::ShortSale
            | Reason::NotTradable
            | Reason::NotClosable
            | Reason::NoWorstPrice
            | Reason::InsufficientFunds => self.breaks(replace, (reason, order)),
            // No further order, and no id of its own.
            Reason::WorkingOrders | Reason::OrderRate | Reason::DuplicateOrder | Reason::UnknownAccount => {
                Was::Not("a reason that a replace may have: this one is of new orders")
            }
            Reason::NotYours | Reason::UnknownOrder | Reason::StrategyGone => Was::Unknown,
            Reason::Overload => Was::Unknown,
            Reason::None
            | Reason::Requested
            | Reason::NoLiquidity
            | Reason::NotFillable
            | Reason::WouldTrade
            | Reason::MarketClosed
            | Reason::CallAuction
            | Reason::Expired
            | Reason::Unsupported => Was::Not("a reason of td: only the market gives this one"),
        }
    }

    fn breaks(&self, replace: &ReplaceOrder, (reason, order): (Reason, &Order)) -> Was {
        let is_of_instrument = matches!(
            reason,
            Reason::OffTick | Reason::PriceBand | Reason::Quantity | Reason::UnknownInstrument
        );
        if is_of_instrument && self.given.listed.is_empty() {
            return Was::Unknown;
        }
        let asked = Asked::replace(self.books, order, replace.price, replace.quantity.0);
        let is_broken = breaches(self.given, self.books, &asked).iter().any(|breach| breach.reason == reason);
        so(is_broken, "it keeps to that rule")
    }
}
