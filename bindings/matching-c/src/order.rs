//! A new order as C passes it.

use matching::exchange::{Kind, Lifetime, Order, SelfTrade};
use wire::{AccountId, InstrumentId, Nanos, Price, Quantity, Side, StrategyId};

/// `colo_order` of the header.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct COrder {
    /// Size of this structure.
    pub struct_size: u32,
    /// What to trade.
    pub instrument: u32,
    /// Its number.
    pub order: u64,
    /// Limit price, or `i64::MIN`.
    pub price: i64,
    /// How much.
    pub quantity: i64,
    /// How much the book shows at a time; zero: all.
    pub display: i64,
    /// How much it must trade at once.
    pub minimum: i64,
    /// For which account.
    pub account: u32,
    /// By which strategy.
    pub strategy: u16,
    /// 1 buy, 2 sell.
    pub side: u8,
    /// As in the header.
    pub lifetime: u8,
    /// 0 or 1.
    pub post_only: u8,
    /// As in the header.
    pub self_trade: u8,
    /// 0 or 1.
    pub is_stop: u8,
    /// Zero.
    pub reserved: [u8; 5],
    /// What a stop waits for.
    pub trigger: i64,
    /// When a good-till-date order ends, in nanoseconds.
    pub ends: u64,
}

const _: () = assert!(size_of::<COrder>() == 80, "as in the header");

/// Size of the structure's first version, which ended before `trigger`.
pub(crate) const FIRST_SIZE: usize = 64;

/// How an order or a market says what becomes of orders of one owner; `Some(None)`: as the market's rules say.
pub(crate) fn self_trade(number: u8) -> Option<Option<SelfTrade>> {
    Some(match number {
        0 => Some(SelfTrade::Allow),
        1 => None,
        2 => Some(SelfTrade::CancelNewest),
        3 => Some(SelfTrade::CancelOldest),
        4 => Some(SelfTrade::CancelBoth),
        5 => Some(SelfTrade::Decrement),
        _ => return None,
    })
}

pub(crate) fn side(number: u8) -> Option<Side> {
    match number {
        1 => Some(Side::Buy),
        2 => Some(Side::Sell),
        _ => None,
    }
}

impl COrder {
    fn kind(&self) -> Option<Kind> {
        let (price, trigger) = (Price(self.price), Price(self.trigger));
        match (self.is_stop, price.is_some()) {
            (0, true) => Some(Kind::Limit(price)),
            (0, false) => Some(Kind::Market),
            (1, true) => Some(Kind::StopLimit { trigger, price }),
            (1, false) => Some(Kind::Stop { trigger }),
            _ => None,
        }
    }

    /// The order; `None` if a value is none of its enumeration.
    pub(crate) fn to_order(self) -> Option<Order> {
        Some(Order {
            id: self.order,
            instrument: InstrumentId(self.instrument),
            side: side(self.side)?,
            kind: self.kind()?,
            lifetime: match self.lifetime {
                0 => Lifetime::Day,
                1 => Lifetime::GoodTillCancel,
                2 => Lifetime::GoodTillDate(Nanos(self.ends)),
                3 => Lifetime::ImmediateOrCancel,
                4 => Lifetime::FillOrKill,
                5 => Lifetime::AtTheOpen,
                6 => Lifetime::AtTheClose,
                _ => return None,
            },
            post_only: match self.post_only {
                0 => false,
                1 => true,
                _ => return None,
            },
            quantity: Quantity(self.quantity),
            display: Quantity(self.display),
            minimum: Quantity(self.minimum),
            account: AccountId(self.account),
            strategy: StrategyId(self.strategy),
            self_trade: self_trade(self.self_trade)?,
        })
    }
}
