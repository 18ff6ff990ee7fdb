//! A new order as C passes it.

use matching::exchange::{Kind, Lifetime, Order};
use wire::{AccountId, InstrumentId, Price, Quantity, Side, StrategyId};

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
    /// Zero.
    pub reserved: [u8; 7],
}

const _: () = assert!(size_of::<COrder>() == 64, "as in the header");

impl COrder {
    /// The order; `None` if a value is none of its enumeration.
    pub(crate) fn to_order(self) -> Option<Order> {
        let price = Price(self.price);
        Some(Order {
            id: self.order,
            instrument: InstrumentId(self.instrument),
            side: match self.side {
                1 => Side::Buy,
                2 => Side::Sell,
                _ => return None,
            },
            kind: if price.is_some() { Kind::Limit(price) } else { Kind::Market },
            lifetime: match self.lifetime {
                0 => Lifetime::Day,
                1 => Lifetime::GoodTillCancel,
                3 => Lifetime::ImmediateOrCancel,
                4 => Lifetime::FillOrKill,
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
            // A benchmark's orders are all of one strategy and trade with each other.
            self_trade: Some(matching::exchange::SelfTrade::Allow),
        })
    }
}
