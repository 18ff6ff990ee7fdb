//! Positions that are closed by force: each such order was due, and no account stayed beyond its bound without one.

use std::collections::BTreeMap;

use wire::{
    AccountId, AccountScope, AnyMessage, CancelOrder, DROP_REFUSED, InstrumentId, LimitKind, NewOrder,
    Offset, Side, StrategyId,
};

use super::books::{Books, Key};
use super::findings::Findings;
use super::holdings::{EARLIER, LONG, SHORT, TODAY};
use super::rules::{LATE, ROUNDING};
use crate::desk::{DROPS, Seen};

const ONE: i128 = 1_000_000_000;

/// An account that has a bound.
#[derive(Clone, Copy, Debug, Default)]
struct Bound {
    /// Since when it is beyond, and where that was.
    beyond: Option<(u64, u64)>,
    /// When it was beyond the last time, or may have been.
    last: Option<u64>,
    /// Since it went beyond, something was done: an order by force, or a cancel that makes room for one.
    is_answered: bool,
    is_told: bool,
}

pub(super) struct Forced {
    pub(super) findings: Findings,
    ledger: Option<StrategyId>,
    bounds: BTreeMap<AccountId, Bound>,
    /// When lots moved the last time.
    traded: BTreeMap<(AccountId, InstrumentId), u64>,
    last: u64,
}

pub(super) fn part() -> Findings {
    Findings::new(
        "forced",
        "each order by force was due and closes what was held, and no account stays beyond its bound without one",
    )
}

impl Forced {
    /// `ledger`: the seat that closes by force.
    pub(super) fn new(ledger: Option<StrategyId>) -> Forced {
        Forced { findings: part(), ledger, bounds: BTreeMap::new(), traded: BTreeMap::new(), last: 0 }
    }

    /// A frame of the drop copy, before the books have it.
    pub(super) fn before(&mut self, seen: &Seen, books: &Books) {
        self.last = self.last.max(seen.time);
        match AnyMessage::decode(seen.id, &seen.payload) {
            Ok(AnyMessage::NewOrder(order)) => self.order(seen, books, &order),
            Ok(AnyMessage::CancelOrder(cancel))
                if cancel.source == 0 || cancel.source & CancelOrder::OF_TD != 0 =>
            {
                if let Some(Key::Opened(account)) =
                    books.orders.get(&cancel.order_id).map(|order| order.account)
                    && let Some(bound) = self.bounds.get_mut(&account)
                {
                    bound.is_answered = true;
                }
            }
            // The account's own orders are cancelled first.
            Ok(AnyMessage::AccountChange(change)) if change.who.as_str() == "ledger" => {
                if let Some(bound) = self.bounds.get_mut(&AccountId(change.subject)) {
                    bound.is_answered |= change.scope == AccountScope::Account;
                }
            }
            Ok(_) | Err(_) => {}
        }
    }

    fn order(&mut self, seen: &Seen, books: &Books, order: &NewOrder) {
        let is_ledgers = self.ledger == Some(order.order_id.strategy());
        let is_forced = order.flags & NewOrder::FORCED != 0;
        if is_forced != is_ledgers {
            if seen.topic != DROP_REFUSED {
                let found =
                    format!("order {} {} by force", order.order_id, if is_forced { "is" } else { "is not" });
                self.findings.differs(DROPS, seen.position, found, "orders of the ledger are, and no others");
            }
            return;
        }
        if !is_forced {
            return;
        }
        self.findings.checked += 1;
        let id = order.order_id;
        let bound = self.bounds.entry(order.account).or_default();
        bound.is_answered = true;
        let was_beyond =
            bound.beyond.is_some() || bound.last.is_some_and(|last| seen.time.saturating_sub(last) <= LATE);
        // What is refused is not sent: whether it was due matters all the same.
        if !was_beyond {
            let found = format!("order {id} closes by force for account {}", order.account);
            self.findings.differs(DROPS, seen.position, found, "its margin is within its bound: none is due");
        }
        let side = if order.side == Side::Sell { LONG } else { SHORT };
        let lots = books.accounts.get(&Key::Opened(order.account)).and_then(|account| {
            let lots = account.positions.get(&order.instrument)?;
            Some(match order.offset() {
                Some(Offset::CloseToday) => lots.lots[side][TODAY],
                Some(Offset::CloseYesterday) => lots.lots[side][EARLIER],
                Some(Offset::Auto | Offset::Close) => lots.total(side),
                Some(Offset::Open) | None => 0,
            })
        });
        let held = lots.unwrap_or_default();
        // Lots that traded while it was on its way leave less than it was sent for.
        let traded = self.traded.get(&(order.account, order.instrument));
        let is_settled = traded.is_none_or(|traded| seen.time.saturating_sub(*traded) > LATE);
        if order.quantity.0 > held && is_settled {
            let found = format!("order {id} closes {} by force", order.quantity);
            self.findings.differs(DROPS, seen.position, found, format!("at most the {held} that are held"));
        }
    }

    /// A frame of the drop copy, once the books have it.
    pub(super) fn after(&mut self, seen: &Seen, books: &Books) {
        if seen.topic == DROP_REFUSED {
            return;
        }
        let Ok(message) = AnyMessage::decode(seen.id, &seen.payload) else { return };
        let of_fill = match message {
            AnyMessage::Fill(fill) => match books.orders.get(&fill.order_id).map(|order| order.account) {
                Some(Key::Opened(account)) => {
                    self.traded.insert((account, fill.instrument), seen.time);
                    Some(account)
                }
                Some(Key::Own(_)) | None => return,
            },
            AnyMessage::Mark(_)
            | AnyMessage::Settle(_)
            | AnyMessage::CurrencyRate(_)
            | AnyMessage::MarginRule(_)
            | AnyMessage::AccountLimit(_)
            | AnyMessage::AccountChange(_) => None,
            _ => return,
        };
        let bounds: Vec<(AccountId, i128)> = books
            .limited(LimitKind::ForcedLiquidation)
            .filter(|((scope, _), _)| *scope == AccountScope::Account)
            .map(|((_, number), limit)| (AccountId(number), i128::from(limit.number)))
            .filter(|(account, _)| of_fill.is_none_or(|of| of == *account))
            .collect();
        for (account, bound) in bounds {
            self.look(seen, books, account, bound);
        }
    }

    fn look(&mut self, seen: &Seen, books: &Books, account: AccountId, bound: i128) {
        if books.vague.contains(&Key::Opened(account)) {
            return;
        }
        let Some((margin, equity)) = books.margin_and_equity(account) else { return };
        self.findings.checked += 1;
        let beyond = |slack: i128| {
            let allowed = if equity <= 0 { 0 } else { (equity / ONE) * bound + (equity % ONE) * bound / ONE };
            margin > 0 && margin > allowed + slack
        };
        let rounding = ROUNDING + margin / 1_000_000;
        let state = self.bounds.entry(account).or_default();
        if beyond(-rounding) {
            state.last = Some(seen.time);
        }
        match (beyond(rounding), state.beyond) {
            (true, None) => {
                *state =
                    Bound { beyond: Some((seen.position, seen.time)), last: state.last, ..Bound::default() };
            }
            (true, Some((position, since)))
                if !state.is_answered && !state.is_told && seen.time.saturating_sub(since) > LATE =>
            {
                state.is_told = true;
                self.findings.differs(
                    DROPS,
                    position,
                    format!("the margin of account {account} is beyond its bound from here on, and nothing is closed by force"),
                    "an order by force",
                );
            }
            (true, Some(_)) | (false, _) => {}
        }
        let state = self.bounds.entry(account).or_default();
        if !beyond(rounding) {
            state.beyond = None;
        }
    }

    pub(super) fn finish(mut self, books: &Books) -> Findings {
        for (account, bound) in &self.bounds {
            if let Some((position, since)) = bound.beyond.filter(|_| !bound.is_answered && !bound.is_told) {
                if self.last.saturating_sub(since) > LATE {
                    let found = format!(
                        "the margin of account {account} is beyond its bound from here on, and nothing is closed by force"
                    );
                    self.findings.differs(DROPS, position, found, "an order by force");
                } else {
                    let note = format!(
                        "account {account} is beyond its bound, and an order by force is yet to come"
                    );
                    self.findings.notes.push(note);
                }
            }
        }
        let bounded = books.limited(LimitKind::ForcedLiquidation).count() > 0;
        if bounded && !books.vague.is_empty() {
            self.findings.lacks(format!(
                "the charges of {} accounts are not known from fills: their margin is not looked at",
                books.vague.len()
            ));
        }
        self.findings
    }
}
