//! A fill's lots and money.

use wire::{AccountKind, Price, Side};

use crate::account::Account;
use crate::amount::value;
use crate::contracts::Contract;
use crate::fees::Class;
use crate::margin::Margins;
use crate::orders::{Closes, Order};
use crate::positions::{Holding, TODAY, YESTERDAY, index};

/// What a fill has done.
pub(super) struct Booked {
    /// By how much positions are worth more, without signs.
    pub(super) gross: i128,
    /// For charges: what each part was, its lots and its value.
    pub(super) parts: [(Class, i64, i128); 3],
}

/// How much of each day a fill closes.
fn closes(kind: AccountKind, order: &Order, opposite: &Holding, lots: i64) -> [i64; 2] {
    let of = |day: usize, left: i64| opposite.lots[day].min(left).max(0);
    match (kind, order.closes) {
        (AccountKind::Futures, _) if !order.is_closing => [0, 0],
        (AccountKind::Futures, Closes::Today) => [of(TODAY, lots), 0],
        (AccountKind::Futures, Closes::Yesterday) => [0, of(YESTERDAY, lots)],
        _ => {
            // Earlier days first, but what orders of one day may close is theirs as long as there is other.
            let free = |day: usize| (opposite.lots[day] - opposite.frozen[day]).max(0);
            let mut old = free(YESTERDAY).min(lots);
            let today = free(TODAY).min(lots - old);
            let mut new = today;
            old += (opposite.lots[YESTERDAY] - old).min(lots - old - new).max(0);
            new += (opposite.lots[TODAY] - new).min(lots - old - new).max(0);
            [new, old]
        }
    }
}

/// Moves a fill's lots in and out of the holdings, and its money.
pub(super) fn trade(
    account: &mut Account,
    contract: &Contract,
    margins: &Margins,
    order: &Order,
    price: Price,
    lots: i64,
) -> Option<Booked> {
    let (kind, method, multiplier) = (account.kind, account.method, contract.multiplier);
    let side = index(order.side());
    let slot = account.slot_mut(order.instrument())?;
    let gross = slot.gross();
    let (mine, opposite) = (side, 1 - side);
    let by_day = closes(kind, order, &slot.holdings[opposite], lots);
    let opened = lots - by_day[TODAY] - by_day[YESTERDAY];
    // The sign of what is closed: purchases close what is short.
    let sign: i128 = if order.side() == Side::Sell { 1 } else { -1 };
    let (mut gain, mut back, mut invested) = (0, 0, 0);
    let mut parts = [(Class::Open, 0, 0), (Class::Close, 0, 0), (Class::CloseToday, 0, 0)];
    for (day, class) in [(YESTERDAY, Class::Close), (TODAY, Class::CloseToday)] {
        if by_day[day] == 0 {
            continue;
        }
        let worth = value(price, by_day[day], multiplier)?;
        let closed = slot.holdings[opposite].close(method, day, by_day[day], multiplier);
        gain += sign * (worth - closed.cost);
        back += sign * closed.settled;
        invested -= sign * closed.cost;
        parts[class as usize] = (class, by_day[day], worth);
    }
    if opened > 0 {
        let worth = value(price, opened, multiplier)?;
        slot.holdings[mine].open(method, price, opened, worth);
        invested -= sign * worth;
        parts[0] = (Class::Open, opened, worth);
    }
    let margin = slot.remargin(kind, margins.rates(slot.rates));
    slot.realised += gain;
    let gross = slot.gross() - gross;
    let purse = account.purse(contract.currency);
    purse.margin += margin;
    purse.gross += gross;
    purse.totals.realised += gain;
    if kind == AccountKind::Cash {
        purse.totals.invested += invested;
        purse.balance += gain - invested;
    } else {
        purse.totals.variation -= back;
        purse.balance += gain - back;
    }
    Some(Booked { gross, parts })
}
