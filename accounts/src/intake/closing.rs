//! What a new order closes.

use wire::{AccountKind, Offset, Reason, Side};

use crate::orders::Closes;
use crate::positions::Holding;

/// What a new order has found to close.
#[derive(Clone, Copy, Debug)]
pub(super) struct Closing {
    pub(super) lots: i64,
    pub(super) of: Closes,
    pub(super) offset: Offset,
}

/// What an order closes, by the rules of its account's kind. Nothing is split where offsets are told apart: what does not
/// fit whole into a close opens.
// Always: what it returns is small fields that the caller would read back as words, which stalls.
#[inline(always)]
pub(super) fn closing(
    kind: AccountKind,
    offset: Offset,
    side: Side,
    opposite: &Holding,
    quantity: i64,
    (is_apart, is_forced): (bool, bool),
) -> Result<Closing, Reason> {
    // What closes by force takes lots that others may close too, and never opens.
    let [today, yesterday, any] = if is_forced { opposite.held() } else { opposite.closable() };
    let net = |lots: i64| Closing { lots, of: Closes::Any, offset: Offset::Auto };
    match (kind, side) {
        (AccountKind::Cash | AccountKind::Margin, _) if is_forced && quantity > any => {
            return Err(Reason::NotClosable);
        }
        (AccountKind::Cash | AccountKind::Margin, _) => return Ok(net(quantity.min(any))),
        (AccountKind::Futures, _) => {}
    }
    let whole = |of: Closes, offset: Offset| Closing { lots: quantity, of, offset };
    let open = Closing { lots: 0, of: Closes::Any, offset: Offset::Open };
    let fits = |closable: i64, closing: Closing| {
        if quantity <= closable { Ok(closing) } else { Err(Reason::NotClosable) }
    };
    let of_today = whole(Closes::Today, Offset::CloseToday);
    let of_yesterday = whole(Closes::Yesterday, Offset::CloseYesterday);
    let of_any = whole(Closes::Any, Offset::Close);
    match offset {
        Offset::Open | Offset::Auto if is_forced => fits(any, of_any),
        Offset::Open => Ok(open),
        Offset::Auto if is_apart => {
            Ok(fits(today, of_today).or_else(|_| fits(yesterday, of_yesterday)).unwrap_or(open))
        }
        Offset::Auto => Ok(fits(any, of_any).unwrap_or(open)),
        Offset::CloseToday => fits(today, of_today),
        Offset::CloseYesterday => fits(yesterday, of_yesterday),
        Offset::Close if is_apart => fits(yesterday, of_yesterday),
        Offset::Close => fits(any, of_any),
    }
}
