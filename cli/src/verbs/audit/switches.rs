//! Kill switches: each that had to fall has fallen, none fell without a cause, and nothing goes out under one that has.
//!
//! The results of a day, and how full the limits of rates are, come from the drop copy by code of this audit. td decides by a
//! clock of its own and the ledger looks at marks a moment later, so what must be and what may be lie apart; a difference is
//! what neither explains.

use std::collections::{BTreeMap, HashSet};

use wire::{
    AccountAction, AccountChange, AccountId, AccountLimit, AccountScope, AnyMessage, CancelOrder,
    DROP_REFUSED, LimitChange, LimitKind, NewOrder, OrderId, OrderStatus, WideMoney,
};

use super::books::{Books, Key, Scope};
use super::findings::Findings;
use super::gauge::Gauge;
use super::rules::{BY_ITSELF, Cause, Counts, LATE, ROUNDING, order_counts, refusal_counts};
use crate::desk::{DROPS, Seen, scope_name};

/// A switch that has to fall.
#[derive(Clone, Debug)]
struct Due {
    position: u64,
    time: u64,
    why: String,
    /// td decides it in the same step; otherwise the ledger looks a moment later.
    at_once: bool,
}

/// Whether the loss of a scope's day is past its limit.
#[derive(Clone, Copy, Debug, Default)]
struct Loss {
    is_past: bool,
    /// When it was the last time.
    last: Option<u64>,
}

pub(super) struct Switches {
    pub(super) findings: Findings,
    gauges: BTreeMap<(Scope, Cause), Gauge>,
    losses: BTreeMap<Scope, Loss>,
    due: BTreeMap<(Scope, Cause), Due>,
    /// When each fell that has fallen.
    fell: BTreeMap<Scope, u64>,
    /// A refused order, whose refusal comes next.
    refused: Option<NewOrder>,
    cancelled: HashSet<OrderId>,
    last: u64,
}

pub(super) fn part() -> Findings {
    Findings::new(
        "switches",
        "each kill switch fell when a limit was passed and not without that, and nothing goes out under one",
    )
}

fn name((scope, subject): Scope) -> String {
    scope_name(scope, subject, None)
}

/// The account that an order is for.
pub(super) fn account_of(order: &NewOrder) -> Key {
    match order.account {
        AccountId::OWN => Key::Own(order.order_id.strategy()),
        account => Key::Opened(account),
    }
}

impl Switches {
    pub(super) fn new() -> Switches {
        Switches {
            findings: part(),
            gauges: BTreeMap::new(),
            losses: BTreeMap::new(),
            due: BTreeMap::new(),
            fell: BTreeMap::new(),
            refused: None,
            cancelled: HashSet::new(),
            last: 0,
        }
    }

    /// A frame of the drop copy, before the books have it.
    pub(super) fn before(&mut self, seen: &Seen, books: &Books) {
        self.last = self.last.max(seen.time);
        let refused = self.refused.take();
        let Ok(message) = AnyMessage::decode(seen.id, &seen.payload) else { return };
        match message {
            AnyMessage::NewOrder(order) if seen.topic == DROP_REFUSED => self.refused = Some(order),
            AnyMessage::NewOrder(order) => self.sent(seen, books, &order),
            AnyMessage::ReplaceOrder(replace) => {
                if let Some(order) = books.orders.get(&replace.order_id) {
                    let what = format!("a replace of {}", replace.order_id);
                    self.goes_out(seen, books, (order.account, order.strategy()), &what);
                }
            }
            AnyMessage::CancelOrder(CancelOrder { order_id, .. }) => drop(self.cancelled.insert(order_id)),
            AnyMessage::OrderUpdate(update) if update.status == OrderStatus::Rejected => match refused {
                Some(order) if update.execution == 0 && order.order_id == update.order_id => {
                    let scopes = books.scopes_of(account_of(&order), order.order_id.strategy());
                    for scope in &scopes {
                        let counts = refusal_counts(update.reason, scope.0);
                        self.count(seen, std::slice::from_ref(scope), Cause::RejectRate, counts);
                    }
                    self.count(seen, &scopes, Cause::RunawayRate, order_counts(Some(update.reason)));
                }
                // The market's refusals count by the market's time.
                _ if update.execution != 0 => {
                    if let Some(order) = books.orders.get(&update.order_id) {
                        let scopes = books.scopes_of(order.account, order.strategy());
                        self.count(seen, &scopes, Cause::RejectRate, Counts::Maybe);
                    }
                }
                _ => {}
            },
            AnyMessage::AccountChange(change) => self.change(seen, &change),
            AnyMessage::AccountLimit(limit) => self.limit(&limit),
            _ => {}
        }
    }

    fn sent(&mut self, seen: &Seen, books: &Books, order: &NewOrder) {
        // What closes by force is held up by no switch, and counts for no rate.
        if order.flags & NewOrder::FORCED != 0 {
            return;
        }
        let of = (account_of(order), order.order_id.strategy());
        self.goes_out(seen, books, of, &format!("order {}", order.order_id));
        if let Some(account) = books.accounts.get(&of.0) {
            for (is_so, word) in [
                (account.is_frozen, "frozen"),
                (account.is_closed_by_force, "closed by force"),
                (account.is_closed, "closed"),
            ] {
                if is_so {
                    let found = format!("order {} went out for account {}", order.order_id, order.account);
                    self.findings.differs(DROPS, seen.position, found, format!("none: it is {word}"));
                }
            }
        }
        let scopes = books.scopes_of(of.0, of.1);
        self.count(seen, &scopes, Cause::RunawayRate, order_counts(None));
    }

    /// Something goes out: no switch above it has fallen or had to.
    fn goes_out(
        &mut self,
        seen: &Seen,
        books: &Books,
        (account, strategy): (Key, wire::StrategyId),
        what: &str,
    ) {
        self.findings.checked += 1;
        for scope in books.scopes_of(account, strategy) {
            if books.killed.contains(&scope) {
                let found = format!("{what} went out under the fallen kill switch of {}", name(scope));
                self.findings.differs(DROPS, seen.position, found, "nothing new until it is revived");
            }
            for cause in [Cause::Loss, Cause::RejectRate, Cause::RunawayRate] {
                let is_over = |due: &Due| due.at_once || seen.time.saturating_sub(due.time) > LATE;
                if self.due.get(&(scope, cause)).is_some_and(is_over)
                    && let Some(due) = self.due.remove(&(scope, cause))
                {
                    let found = format!("{what} went out, after {}", due.why);
                    let expected = format!("the kill switch of {} falls first", name(scope));
                    self.findings.differs(DROPS, seen.position, found, expected);
                }
            }
        }
    }

    fn count(&mut self, seen: &Seen, scopes: &[Scope], cause: Cause, counts: Counts) {
        for scope in scopes {
            // Under a switch that has fallen nothing more can happen.
            let Some(gauge) =
                self.gauges.get_mut(&(*scope, cause)).filter(|_| !self.fell.contains_key(scope))
            else {
                continue;
            };
            self.findings.checked += 1;
            gauge.count(counts, seen.time);
            if gauge.must_have_passed() {
                let word = if cause == Cause::RejectRate { "refused orders" } else { "orders" };
                let why = format!("more {word} of {} in a short time than its limit", name(*scope));
                let due = Due { position: seen.position, time: seen.time, why, at_once: true };
                self.due.entry((*scope, cause)).or_insert(due);
            }
        }
    }

    fn change(&mut self, seen: &Seen, change: &AccountChange) {
        let scope = (change.scope, change.subject);
        match change.action {
            AccountAction::Kill => {
                if BY_ITSELF.contains(&change.who.as_str()) {
                    self.fell_by_itself(seen, scope, change);
                }
                self.due.retain(|(due, _), _| *due != scope);
                self.fell.entry(scope).or_insert(seen.time);
            }
            AccountAction::Revive => {
                self.fell.remove(&scope);
                self.losses.entry(scope).or_default().last = None;
                for ((of, _), gauge) in &mut self.gauges {
                    if *of == scope {
                        gauge.revived();
                    }
                }
            }
            AccountAction::Deposit
            | AccountAction::Withdraw
            | AccountAction::Freeze
            | AccountAction::Unfreeze
            | AccountAction::Close => {}
        }
    }

    /// td or the ledger says why: it is so.
    fn fell_by_itself(&mut self, seen: &Seen, scope: Scope, change: &AccountChange) {
        self.findings.checked += 1;
        let (by, of) = (change.who, name(scope));
        let has_cause = match Cause::of(change.why.as_str()) {
            Some(Cause::Loss) => {
                let loss = self.losses.get(&scope).copied().unwrap_or_default();
                loss.is_past || loss.last.is_some_and(|last| seen.time.saturating_sub(last) <= LATE)
            }
            Some(cause) => self.gauges.get(&(scope, cause)).is_some_and(Gauge::may_have_passed),
            None => false,
        };
        if !has_cause {
            let found = format!("{by} let the kill switch of {of} fall: {}", change.why);
            self.findings.differs(DROPS, seen.position, found, "a limit that was passed: none was");
        }
    }

    fn limit(&mut self, limit: &AccountLimit) {
        let scope = (limit.scope, limit.subject);
        let cause = match limit.limit {
            LimitKind::Loss => Cause::Loss,
            LimitKind::RejectRate => Cause::RejectRate,
            LimitKind::RunawayRate => Cause::RunawayRate,
            LimitKind::Position
            | LimitKind::GrossNotional
            | LimitKind::OrderQuantity
            | LimitKind::OrderNotional
            | LimitKind::OrderRate
            | LimitKind::MessageRate
            | LimitKind::OpenOrders
            | LimitKind::MarginCall
            | LimitKind::ForcedLiquidation
            | LimitKind::Money
            | LimitKind::PriceBand
            | LimitKind::SelfTrade
            | LimitKind::ShortSale => return,
        };
        self.due.remove(&(scope, cause));
        match (cause, limit.change) {
            (Cause::Loss, _) => drop(self.losses.insert(scope, Loss::default())),
            (_, LimitChange::Set) => drop(self.gauges.insert((scope, cause), Gauge::new(limit))),
            (_, LimitChange::Lift) => drop(self.gauges.remove(&(scope, cause))),
            (_, LimitChange::Enable | LimitChange::Disable) => {}
        }
    }

    /// A frame of the drop copy, once the books have it: the losses of the day.
    pub(super) fn after(&mut self, seen: &Seen, books: &Books) {
        if seen.topic == DROP_REFUSED {
            return;
        }
        let Ok(message) = AnyMessage::decode(seen.id, &seen.payload) else { return };
        let filled = match message {
            AnyMessage::Fill(fill) if fill.execution != 0 => Some(fill.order_id),
            AnyMessage::Mark(_) | AnyMessage::Settle(_) | AnyMessage::CurrencyRate(_) => None,
            AnyMessage::AccountLimit(limit) if limit.limit == LimitKind::Loss => None,
            _ => return,
        };
        let of_fill = filled.and_then(|id| books.orders.get(&id));
        let scopes = of_fill.map(|order| books.scopes_of(order.account, order.strategy()));
        let limits: Vec<(Scope, i128)> = books
            .limited(LimitKind::Loss)
            .filter(|(scope, _)| scopes.as_ref().is_none_or(|scopes| scopes.contains(scope)))
            .map(|(scope, limit)| (scope, limit.amount.wide()))
            .collect();
        for (scope, limit) in limits {
            // td looks at the account of each fill, and the ledger at all others a moment later.
            let at_once = filled.is_some() && scope.0 == AccountScope::Account;
            self.lose(seen, books, scope, (limit, at_once));
        }
    }

    fn lose(&mut self, seen: &Seen, books: &Books, scope: Scope, (limit, at_once): (i128, bool)) {
        let Some(result) = books.day_result(scope) else { return };
        self.findings.checked += 1;
        let loss = self.losses.entry(scope).or_default();
        loss.is_past = result < -limit + ROUNDING;
        if loss.is_past {
            loss.last = Some(seen.time);
        }
        let key = (scope, Cause::Loss);
        if result >= -limit - ROUNDING || self.fell.contains_key(&scope) {
            // It came back before the ledger looked.
            if self.due.get(&key).is_some_and(|due| !due.at_once) {
                self.due.remove(&key);
            }
            return;
        }
        let (result, limit) = (WideMoney::from_wide(result), WideMoney::from_wide(limit));
        let why = format!("a result of the day of {} of {result}, beyond its limit of {limit}", name(scope));
        self.due.entry(key).or_insert(Due { position: seen.position, time: seen.time, why, at_once });
    }

    pub(super) fn finish(mut self, books: &Books) -> Findings {
        for ((scope, _), due) in std::mem::take(&mut self.due) {
            let of = name(scope);
            if self.last.saturating_sub(due.time) > LATE {
                let found = format!("{}, and the kill switch of {of} has not fallen", due.why);
                self.findings.differs(DROPS, due.position, found, "it falls");
            } else {
                self.findings.notes.push(format!("{}: its kill switch has not fallen yet", due.why));
            }
        }
        let mut working: Vec<_> = books.orders.values().filter(|order| !order.has_ended).collect();
        working.sort_unstable_by_key(|order| order.request.order_id);
        for order in working {
            let id = order.request.order_id;
            let fallen = books.scopes_of(order.account, order.strategy()).into_iter().find(|scope| {
                self.fell.get(scope).is_some_and(|fell| self.last.saturating_sub(*fell) > LATE)
            });
            if let Some(scope) = fallen.filter(|_| order.request.flags & NewOrder::FORCED == 0) {
                self.findings.checked += 1;
                if !self.cancelled.contains(&id) {
                    let found = format!("order {id} works on under the kill switch of {}", name(scope));
                    self.findings.differs(DROPS, None, found, "a cancel of it");
                }
            }
        }
        if !books.vague.is_empty() && books.limited(LimitKind::Loss).count() > 0 {
            self.findings.lacks(format!(
                "the results of {} accounts, and of what contains them, are not counted here: their charges are not known",
                books.vague.len()
            ));
        }
        self.findings
    }
}
