//! What an order at work holds back: the money that it may cost in the worst case.

use wire::{AccountKind, Price, Side};

use crate::amount::{MOST, value};
use crate::contracts::Contract;
use crate::fees::{Charged, Class, Fees, ToCome, Traded};
use crate::margin::Rates;
use crate::orders::{Closes, Reservation};
use crate::positions::{LONG, SHORT};

/// What decides it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms<'a> {
    pub(crate) kind: AccountKind,
    pub(crate) contract: &'a Contract,
    pub(crate) rates: &'a Rates,
    pub(crate) fees: &'a Fees,
    pub(crate) schedule: u32,
}

/// An order, as far as its reservation depends on it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Claim<'a> {
    pub(crate) side: Side,
    /// Highest price that it has or may get.
    pub(crate) high: i64,
    pub(crate) open: i64,
    pub(crate) closing: i64,
    pub(crate) closes: Closes,
    pub(crate) traded: &'a Traded,
}

/// The reservation of an order.
///
/// - cash: a purchase holds back its price and its charges; a sale what its charges exceed its price by.
/// - margin and futures: the margin of what it opens, and its charges.
///
/// An amount beyond the largest booking counts as that: the check of money then refuses it.
#[inline]
pub(crate) fn of(terms: &Terms<'_>, claim: &Claim<'_>) -> Reservation {
    if claim.open == 0 {
        return Reservation::default();
    }
    let closing = claim.closing.clamp(0, claim.open);
    let opening = claim.open - closing;
    let worth = |lots: i64| match lots {
        0 => 0,
        _ => value(Price(claim.high), lots, terms.contract.multiplier).unwrap_or(MOST),
    };
    let (opened, closed) = (worth(opening), worth(closing));
    let charges = charges(terms, claim, opening, opened, closing, closed);
    let money = match (terms.kind, claim.side) {
        (AccountKind::Cash, Side::Buy) => (opened + closed).max(0) + charges,
        (AccountKind::Cash, Side::Sell) => (charges - (opened + closed)).max(0),
        (_, side) => {
            terms.rates.margin(if side == Side::Buy { LONG } else { SHORT }, opened, opening) + charges
        }
    };
    Reservation { money, gross: opened.abs(), open: claim.open, closing }
}

/// The charges still to come, at the dearest way to close.
fn charges(
    terms: &Terms<'_>,
    claim: &Claim<'_>,
    opening: i64,
    opened: i128,
    closing: i64,
    closed: i128,
) -> i128 {
    if terms.fees.is_free(terms.schedule) {
        return 0;
    }
    let with = |class: Class| {
        let mut to_come = ToCome::default();
        to_come.add(Class::Open, opening, opened);
        if closing > 0 {
            to_come.add(class, closing, closed);
        }
        terms.fees.worst(terms.schedule, claim.side, claim.traded, &to_come)
    };
    let until_now = match claim.traded.is_nothing() {
        true => Charged::default(),
        false => terms.fees.charged(terms.schedule, claim.side, claim.traded),
    };
    let all = match claim.closes {
        _ if closing == 0 => with(Class::Open),
        Closes::Today => with(Class::CloseToday),
        Closes::Yesterday => with(Class::Close),
        Closes::Any => with(Class::Close).max(with(Class::CloseToday)),
    };
    (all - until_now.fees - until_now.taxes).max(0)
}
