//! Whether a new order or a replace is one that the market takes.

use wire::{Nanos, Price, Quantity, Reason};

use super::book::Book;
use super::core::{Core, Incoming};
use super::phase::{Auction, Phase, auction_of};
use super::records::{Extra, Flags, LevelPlace, Place, Record};
use super::request::{Kind, Lifetime, Order};

/// Checks a new order, in the order that the rules name, and makes a record of it.
#[inline(always)]
pub(crate) fn order(book: &Book, order: &Order, now: u64) -> Result<Incoming, Reason> {
    if !book.permission.enter {
        return Err(Reason::MarketClosed);
    }
    let is_plain = is_plain(order);
    if !is_plain {
        phase(book, order, now)?;
    }
    quantity(book, order.quantity)?;
    if !is_plain {
        part(book, order.quantity, order.display)?;
        part(book, order.quantity, order.minimum)?;
        parts(order.quantity, order.display)?;
        conditions(order)?;
    }
    let mut record = record(book, order);
    let mut limit = Price::NONE;
    match order.kind {
        Kind::Limit(price) => {
            price_of(book, price)?;
            limit = price;
        }
        kind => {
            if let Some(price) = kind.price() {
                present(price)?;
            }
            if let Some(trigger) = kind.trigger() {
                present(trigger)?;
            }
            for price in [kind.price(), kind.trigger()].into_iter().flatten() {
                on_tick(book, price)?;
            }
            for price in [kind.price(), kind.trigger()].into_iter().flatten() {
                in_limits(book, book.grid.tick(price).unwrap_or_default())?;
            }
            limit = kind.price().unwrap_or(limit);
            record.flags.set_market(kind.price().is_none());
            record.flags.set_stop(kind.trigger().is_some());
        }
    }
    record.flags.set_post_only(order.post_only);
    record.price = limit;
    let extra = if is_plain { None } else { extra(book, order) };
    let incoming = Incoming { record, extra, minimum: order.minimum.0 };
    let waits = order.lifetime == Lifetime::AtTheClose;
    if order.post_only && book.phase == Phase::Continuous && !waits && Core::would_trade(book, &incoming) {
        return Err(Reason::WouldTrade);
    }
    Ok(incoming)
}

/// A limit order for the day without any condition.
#[inline(always)]
pub(crate) fn is_plain(order: &Order) -> bool {
    matches!(order.kind, Kind::Limit(_))
        && order.lifetime == Lifetime::Day
        && order.display.0 | order.minimum.0 == 0
        && !order.post_only
}

/// The record of an order that rests nowhere yet.
#[inline(always)]
pub(crate) fn record(book: &Book, order: &Order) -> Record {
    Record {
        id: order.id,
        price: order.kind.price().unwrap_or(Price::NONE),
        open: order.quantity.0,
        filled: 0,
        prev: Place::NONE,
        next: Place::NONE,
        level: LevelPlace::NONE,
        extra: u32::MAX,
        account: order.account.0,
        strategy: order.strategy.0,
        book: book.number,
        sequence: 0,
        flags: Flags::new(order.side, order.lifetime, order.self_trade.unwrap_or(book.market.self_trade)),
    }
}

/// What few orders have.
fn extra(book: &Book, order: &Order) -> Option<Extra> {
    let ends = match order.lifetime {
        Lifetime::GoodTillDate(Nanos(ends)) => ends,
        _ => u64::MAX,
    };
    let trigger = order.kind.trigger().and_then(|trigger| book.grid.tick(trigger));
    (order.display.0 > 0 || ends != u64::MAX || trigger.is_some())
        .then(|| Extra::new(order.display.0, trigger.unwrap_or(0), ends))
}

/// What only continuous trading, or only the opening auction takes.
fn phase(book: &Book, order: &Order, now: u64) -> Result<(), Reason> {
    let market = order.kind == Kind::Market && !book.market.market_in_auctions;
    if book.phase != Phase::Continuous {
        let at_once = matches!(order.lifetime, Lifetime::ImmediateOrCancel | Lifetime::FillOrKill);
        if at_once || order.minimum.0 != 0 || market {
            return Err(Reason::MarketClosed);
        }
    }
    if market && order.lifetime == Lifetime::AtTheClose {
        return Err(Reason::MarketClosed);
    }
    match order.lifetime {
        Lifetime::AtTheOpen if auction_of(book.phase) != Some(Auction::Opening) => Err(Reason::MarketClosed),
        Lifetime::GoodTillDate(ends) if ends.0 <= now => Err(Reason::Expired),
        _ => Ok(()),
    }
}

/// A positive multiple of the lot within the limit.
#[inline(always)]
pub(crate) fn quantity(book: &Book, quantity: Quantity) -> Result<(), Reason> {
    let fits = quantity.0 > 0 && quantity.0 <= book.max_quantity;
    if fits && (book.lot == 1 || quantity.0 % book.lot == 0) { Ok(()) } else { Err(Reason::Quantity) }
}

/// Nothing, or a multiple of the lot that is not more than the whole.
fn part(book: &Book, whole: Quantity, part: Quantity) -> Result<(), Reason> {
    let fits = part.0 >= 0 && part.0 <= whole.0 && part.0 % book.lot == 0;
    if fits { Ok(()) } else { Err(Reason::Quantity) }
}

/// Most parts that an iceberg may come in: each part is a trade and a refresh of one request.
const PARTS: i64 = 10_000;

/// An iceberg that does not come in too many parts.
pub(crate) fn parts(whole: Quantity, display: Quantity) -> Result<(), Reason> {
    let fits = display.0 == 0 || whole.0 / PARTS <= display.0;
    if fits { Ok(()) } else { Err(Reason::Quantity) }
}

/// Conditions that go together.
fn conditions(order: &Order) -> Result<(), Reason> {
    let is_stop = order.kind.trigger().is_some();
    let at_once = matches!(order.lifetime, Lifetime::ImmediateOrCancel | Lifetime::FillOrKill);
    let at_auction = matches!(order.lifetime, Lifetime::AtTheOpen | Lifetime::AtTheClose);
    let has_minimum = order.minimum.0 > 0;
    let post_only = !order.post_only || matches!(order.kind, Kind::Limit(_)) && !at_once && !has_minimum;
    let display = order.display.0 == 0 || order.kind.price().is_some();
    let auction = !at_auction || !is_stop && !has_minimum;
    let stop = !is_stop || !at_once && !has_minimum;
    if post_only && display && auction && stop { Ok(()) } else { Err(Reason::Malformed) }
}

#[inline(always)]
fn present(price: Price) -> Result<(), Reason> {
    if price.is_some() { Ok(()) } else { Err(Reason::Malformed) }
}

fn on_tick(book: &Book, price: Price) -> Result<i64, Reason> {
    book.grid.tick(price).ok_or(Reason::OffTick)
}

#[inline(always)]
fn in_limits(book: &Book, tick: i64) -> Result<(), Reason> {
    if tick >= book.low && tick <= book.high { Ok(()) } else { Err(Reason::PriceBand) }
}

/// A limit price that the instrument allows.
#[inline(always)]
pub(crate) fn price_of(book: &Book, price: Price) -> Result<(), Reason> {
    present(price)?;
    in_limits(book, book.grid.tick(price).ok_or(Reason::OffTick)?)
}
