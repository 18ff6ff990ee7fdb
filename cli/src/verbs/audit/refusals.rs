//! td's refusals: what each names as its cause was so when it was given, where the journals say enough of it. Those of new orders
//! are here, those of cancels and replaces in [`changes`](super::changes).

use std::collections::{HashMap, HashSet};

use wire::{
    AccountId, AnyMessage, CancelOrder, DROP_REFUSED, NewOrder, OrderId, OrderStatus, OrderUpdate, Reason,
    Request, StrategyId,
};

use super::books::{Account, Books, Key};
use super::breaches::{Asked, breaches};
use super::changes::State;
use super::evidence::Evidence;
use super::findings::Findings;
use super::given::Given;
use super::rates::Rates;
use super::switches::account_of;
use crate::desk::{DROPS, Seen};

/// Whether the cause that a refusal names was there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Was {
    So,
    /// It is not written down.
    Unknown,
    Not(&'static str),
}

pub(super) struct Refusals {
    pub(super) findings: Findings,
    /// A refused order, whose refusal comes next.
    refused: Option<NewOrder>,
    newest: HashMap<StrategyId, OrderId>,
    evidence: Evidence,
    /// Orders that td has cancelled by itself.
    recalled: HashSet<OrderId>,
    /// Refusals whose cause is not written down.
    unknown: u64,
}

pub(super) fn part() -> Findings {
    Findings::new("refusals", "each refusal of a request names a cause that was there")
}

impl Refusals {
    pub(super) fn new(evidence: Evidence) -> Refusals {
        Refusals {
            findings: part(),
            refused: None,
            newest: HashMap::new(),
            evidence,
            recalled: HashSet::new(),
            unknown: 0,
        }
    }

    /// A frame of the drop copy, before the books and the rates have it.
    pub(super) fn before(&mut self, seen: &Seen, books: &Books, given: &Given, rates: &Rates) {
        let refused = self.refused.take();
        match AnyMessage::decode(seen.id, &seen.payload) {
            Ok(AnyMessage::NewOrder(order)) if seen.topic == DROP_REFUSED => self.refused = Some(order),
            Ok(AnyMessage::NewOrder(order)) => self.uses(order.order_id),
            Ok(AnyMessage::CancelOrder(cancel)) if is_of_td(&cancel) => {
                self.recalled.insert(cancel.order_id);
            }
            Ok(AnyMessage::OrderUpdate(update)) if update.execution == 0 => {
                let order = refused.filter(|order| order.order_id == update.order_id);
                let (evidence, recalled) = (&self.evidence, &self.recalled);
                let state = State { time: seen.time, books, given, rates, evidence, recalled };
                let was = match (update.status, &order) {
                    (OrderStatus::Rejected, Some(order)) => cause(order, &update, &state),
                    (OrderStatus::Rejected, None) => self.without_order(&update, &state),
                    (OrderStatus::CancelRejected | OrderStatus::ReplaceRejected, _) => {
                        state.of_change(&update)
                    }
                    _ => Was::Not("a refusal: td says nothing else of its own"),
                };
                self.finds(seen, &update, was);
                if let Some(order) = order {
                    self.uses(order.order_id);
                }
            }
            Ok(_) | Err(_) => {}
        }
    }

    /// An id is used up.
    fn uses(&mut self, id: OrderId) {
        let newest = self.newest.entry(id.strategy()).or_insert(id);
        if id.is_newer_than(*newest) {
            *newest = id;
        }
    }

    fn finds(&mut self, seen: &Seen, update: &OrderUpdate, was: Was) {
        match was {
            Was::So => self.findings.checked += 1,
            Was::Unknown => self.unknown += 1,
            Was::Not(expected) => {
                self.findings.checked += 1;
                let asked = match update.status {
                    OrderStatus::CancelRejected => "a cancel of ",
                    OrderStatus::ReplaceRejected => "a replace of ",
                    _ => "",
                };
                let found = format!("{asked}order {} is refused: {}", update.order_id, update.reason);
                self.findings.differs(DROPS, seen.position, found, expected);
            }
        }
    }

    /// Of an order that leaves nothing behind but its refusal.
    fn without_order(&self, update: &OrderUpdate, state: &State<'_>) -> Was {
        match update.reason {
            Reason::DuplicateOrder => {
                let newest = self.newest.get(&update.order_id.strategy());
                let is_new = newest.is_none_or(|newest| update.order_id.is_newer_than(*newest));
                if is_new { Was::Not("it is taken: its id is new") } else { Was::So }
            }
            Reason::NotYours | Reason::StrategyGone | Reason::Malformed => {
                if given_to_ledger(state, update) {
                    return Was::Unknown;
                }
                let Some(written) = state.evidence.written(update) else { return state.unasked() };
                match (&written.request, update.reason) {
                    (None, reason) => state.unread(written, reason),
                    (Some(Request::New(_)), Reason::NotYours) => State::foreign(written, update.order_id),
                    (Some(Request::New(_)), Reason::StrategyGone) => state.gone(written),
                    (Some(Request::New(_)), _) => Was::Not("the refused order before its refusal"),
                    (Some(_), _) => Was::Not("an answer of the kind of its request"),
                }
            }
            _ => Was::Not("the refused order before its refusal"),
        }
    }

    pub(super) fn finish(mut self) -> Findings {
        if self.unknown > 0 {
            let unknown = self.unknown;
            self.findings
                .notes
                .push(format!("{unknown} refusals have causes that the drop copy does not have"));
        }
        self.findings
    }
}

pub(super) fn so(is_so: bool, expected: &'static str) -> Was {
    if is_so { Was::So } else { Was::Not(expected) }
}

/// A cancel that no strategy has asked for: td's own, or for the ledger.
fn is_of_td(cancel: &CancelOrder) -> bool {
    cancel.source == 0 || Request::Cancel(*cancel).is_of_td()
}

/// The ledger asks elsewhere than strategies.
fn given_to_ledger(state: &State<'_>, update: &OrderUpdate) -> bool {
    state.given.ledger == Some(update.order_id.strategy())
}

/// Whether a refusal had its cause. Every reason has its row.
fn cause(order: &NewOrder, update: &OrderUpdate, state: &State<'_>) -> Was {
    let State { books, given, rates, .. } = *state;
    let (reason, key) = (update.reason, account_of(order));
    let account = |is: fn(&Account) -> bool| books.accounts.get(&key).is_some_and(is);
    let scopes = books.scopes_of(key, order.order_id.strategy());
    match reason {
        Reason::Killed => {
            let has_fallen = scopes.iter().any(|scope| books.killed.contains(scope));
            so(has_fallen, "it is taken: no kill switch above it has fallen")
        }
        Reason::AccountFrozen => so(account(|its| its.is_frozen), "it is taken: its account is not frozen"),
        Reason::AccountClosed => so(account(|its| its.is_closed), "it is taken: its account is open"),
        Reason::ForcedLiquidation => {
            let is_so = account(|its| its.is_closed_by_force);
            so(is_so, "it is taken: its account is not closed by force")
        }
        Reason::UnknownAccount => {
            let is_known = is_for(order.order_id.strategy(), order.account, books, given);
            so(!is_known, "it is taken: there is such an account, and the strategy may trade for it")
        }
        Reason::OrderRate | Reason::MessageRate => {
            so(rates.may_refuse(&scopes, reason), "it is taken: no limit of rates was near")
        }
        Reason::UnknownInstrument
        | Reason::OffTick
        | Reason::PriceBand
        | Reason::Quantity
        | Reason::WorkingOrders
        | Reason::PositionLimit
        | Reason::Malformed
        | Reason::SelfTrade
        | Reason::InsufficientFunds
        | Reason::NotionalLimit
        | Reason::OrderNotional
        | Reason::ShortSale
        | Reason::NotTradable
        | Reason::NotClosable
        | Reason::NoWorstPrice => breaks(order, reason, books, given),
        Reason::NotDurable => state.not_durable(order.order_id.strategy().0),
        Reason::StrategyGone => match state.evidence.written(update) {
            Some(written) => state.gone(written),
            None => state.unasked(),
        },
        Reason::Overload => Was::Unknown,
        // Such orders leave no copy behind.
        Reason::NotYours | Reason::DuplicateOrder => Was::Not("a refusal without a copy of the order"),
        Reason::None
        | Reason::Requested
        | Reason::NoLiquidity
        | Reason::NotFillable
        | Reason::WouldTrade
        | Reason::UnknownOrder
        | Reason::MarketClosed
        | Reason::CallAuction
        | Reason::Expired
        | Reason::Unsupported => Was::Not("a reason of td: only the market gives this one"),
    }
}

/// Whether the strategy may trade for the account that it names, and there is such a one.
pub(super) fn is_for(strategy: StrategyId, named: AccountId, books: &Books, given: &Given) -> bool {
    let choice = given.strategies.get(&strategy.0).map(|its| &its.accounts);
    if given.ledger == Some(strategy) || choice.is_none_or(|choice| choice.is_all()) {
        return named == AccountId::OWN || books.accounts.contains_key(&Key::Opened(named));
    }
    let listed = choice.map_or(&[][..], |choice| choice.listed());
    match (listed, named) {
        ([], named) => named == AccountId::OWN,
        ([first, ..], AccountId::OWN) => books.accounts.contains_key(&Key::Opened(AccountId(*first))),
        (listed, named) => listed.contains(&named.0) && books.accounts.contains_key(&Key::Opened(named)),
    }
}

/// Whether the order breaks the rule that its refusal names.
fn breaks(order: &NewOrder, reason: Reason, books: &Books, given: &Given) -> Was {
    let is_of_instrument =
        matches!(reason, Reason::OffTick | Reason::PriceBand | Reason::Quantity | Reason::UnknownInstrument);
    if is_of_instrument && given.listed.is_empty() {
        return Was::Unknown;
    }
    let Some(asked) = Asked::new(books, order) else {
        return if reason == Reason::UnknownInstrument { Was::So } else { Was::Unknown };
    };
    let is_broken = breaches(given, books, &asked).iter().any(|breach| breach.reason == reason);
    if is_broken { Was::So } else { Was::Not("it is taken: it keeps to that rule") }
}
