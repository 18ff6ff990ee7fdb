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
    /// Lowest and highest price of its own that it has or may get.
    pub(crate) prices: (i64, i64),
    pub(crate) open: i64,
    pub(crate) closing: i64,
    pub(crate) closes: Closes,
    /// It was sent to close; of accounts that tell opening from closing.
    pub(crate) is_closing: bool,
    pub(crate) traded: &'a Traded,
}

/// The reservation of an order: what its fills may take from `available`, at the worst of the prices at which it may trade.
///
/// - cash: a purchase holds back its value and its charges; a sale what its charges exceed its value by.
/// - margin and futures: the initial margin of what it opens, what that loses against the mark at once, and its charges.
///
/// An amount beyond the largest booking counts as that: the check of money then refuses it.
#[inline]
pub(crate) fn of(terms: &Terms<'_>, claim: &Claim<'_>) -> Reservation {
    if claim.open == 0 {
        return Reservation::default();
    }
    let closing = claim.closing.clamp(0, claim.open);
    let opening = claim.open - closing;
    let (low, high) = terms.contract.reach(claim.side, claim.prices);
    let dearest = if low.unsigned_abs() > high.unsigned_abs() { low } else { high };
    let worth = |price: i64, lots: i64| match lots {
        0 => 0,
        _ => value(Price(price), lots, terms.contract.multiplier).unwrap_or(MOST),
    };
    let charges = charges(terms, claim, closing, worth(dearest, claim.open));
    let money = match (terms.kind, claim.side) {
        (AccountKind::Cash, Side::Buy) => worth(high, claim.open).max(0) + charges,
        (AccountKind::Cash, Side::Sell) => (charges - worth(low, claim.open)).max(0),
        (AccountKind::Margin | AccountKind::Futures, side) => {
            opened(terms, side, (low, high), opening, &worth) + charges
        }
    };
    Reservation { money, gross: worth(dearest, opening).abs(), open: claim.open, closing }
}

/// Initial margin, and the loss against the mark, of lots that are opened at the worst price. Between two prices both grow
/// evenly, so the worst is one of the ends.
#[inline]
fn opened(
    terms: &Terms<'_>,
    side: Side,
    (low, high): (i64, i64),
    lots: i64,
    worth: &impl Fn(i64, i64) -> i128,
) -> i128 {
    if lots == 0 {
        return 0;
    }
    let mark = terms.contract.mark;
    let index = if side == Side::Buy { LONG } else { SHORT };
    let at = |price: i64| {
        let loss = match side {
            _ if !mark.is_some() => 0,
            Side::Buy => worth(price, lots) - worth(mark.0, lots),
            Side::Sell => worth(mark.0, lots) - worth(price, lots),
        };
        terms.rates.margin(index, worth(price, lots), lots).saturating_add(loss.max(0))
    };
    if low == high { at(high) } else { at(low).max(at(high)) }
}

/// The charges still to come, each as if all lots that it may be for were its own.
fn charges(terms: &Terms<'_>, claim: &Claim<'_>, closing: i64, dearest: i128) -> i128 {
    if terms.fees.is_free(terms.schedule) {
        return 0;
    }
    let classes: &[Class] = match (terms.kind, claim.side) {
        (AccountKind::Cash, Side::Buy) => &[Class::Open],
        (AccountKind::Cash, Side::Sell) => &[Class::Close, Class::CloseToday],
        // What opens today may close when its turn comes, and the other way round.
        (AccountKind::Margin, _) => &[Class::Open, Class::Close, Class::CloseToday],
        (AccountKind::Futures, _) if !claim.is_closing => &[Class::Open],
        // What is closed by others first, the rest of it opens.
        (AccountKind::Futures, _) if closing < claim.open => &[Class::Open, Class::Close, Class::CloseToday],
        (AccountKind::Futures, _) => match claim.closes {
            Closes::Today => &[Class::CloseToday],
            Closes::Yesterday => &[Class::Close],
            Closes::Any => &[Class::Close, Class::CloseToday],
        },
    };
    let to_come = ToCome::new(classes, claim.open, dearest);
    let until_now = match claim.traded.is_nothing() {
        true => Charged::default(),
        false => terms.fees.charged(terms.schedule, claim.side, claim.traded),
    };
    let all = terms.fees.worst(terms.schedule, claim.side, claim.traded, &to_come);
    (all - until_now.fees - until_now.taxes).max(0)
}
