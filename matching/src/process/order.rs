//! Requests as the exchange takes them.

use topology::config::{SelfTradeOwner, SelfTradeRule};
use wire::{AccountId, CancelAll, Nanos, NewOrder, OrderType, Quantity, Reason, TimeInForce};

use crate::exchange::{Filter, Kind, Lifetime, MarketRules, Order, Owner, SelfTrade};

/// What the platform file says of self-trades, beside the set of rules. A firm has no exchange of its own: the check of the file
/// refuses it.
pub(super) fn set_self_trade(rules: &mut MarketRules, rule: SelfTradeRule, owner: SelfTradeOwner) {
    match owner {
        SelfTradeOwner::AsRules | SelfTradeOwner::Firm => {}
        SelfTradeOwner::Strategy => rules.owner = Owner::Strategy,
        SelfTradeOwner::Account => rules.owner = Owner::Account,
    }
    rules.self_trade = match rule {
        SelfTradeRule::AsRules => return,
        SelfTradeRule::Allow => SelfTrade::Allow,
        SelfTradeRule::CancelNewest => SelfTrade::CancelNewest,
        SelfTradeRule::CancelOldest => SelfTrade::CancelOldest,
        SelfTradeRule::CancelBoth => SelfTrade::CancelBoth,
        SelfTradeRule::Decrement => SelfTrade::Decrement,
    };
}

/// The orders that a mass cancel takes: of its strategy only.
pub(super) fn filter(request: &CancelAll) -> Filter {
    Filter {
        strategy: Some(request.order_id.strategy()),
        account: request.of_account(),
        instrument: request.of_instrument(),
        side: request.of_side(),
    }
}

/// A new order, with parts of its quantity in units instead of lots.
pub(super) fn order(request: &NewOrder, lot: i64) -> Result<Order, Reason> {
    let lots = |lots: u32| i64::from(lots).checked_mul(lot).map(Quantity).ok_or(Reason::Quantity);
    let post_only =
        request.flags & NewOrder::POST_ONLY != 0 || request.time_in_force == TimeInForce::PostOnly;
    Ok(Order {
        id: request.order_id.0,
        instrument: request.instrument,
        side: request.side,
        kind: match request.order_type {
            OrderType::Limit => Kind::Limit(request.price),
            OrderType::Market => Kind::Market,
            OrderType::Stop => Kind::Stop { trigger: request.trigger },
            OrderType::StopLimit => Kind::StopLimit { trigger: request.trigger, price: request.price },
        },
        lifetime: match request.time_in_force {
            TimeInForce::Day | TimeInForce::PostOnly => Lifetime::Day,
            TimeInForce::ImmediateOrCancel => Lifetime::ImmediateOrCancel,
            TimeInForce::FillOrKill => Lifetime::FillOrKill,
            TimeInForce::GoodTillCancel => Lifetime::GoodTillCancel,
            TimeInForce::GoodTillDate => {
                Lifetime::GoodTillDate(Nanos(u64::from(request.ends_s) * 1_000_000_000))
            }
            TimeInForce::AtTheOpen => Lifetime::AtTheOpen,
            TimeInForce::AtTheClose => Lifetime::AtTheClose,
        },
        post_only,
        quantity: request.quantity,
        display: lots(request.display_lots)?,
        minimum: lots(request.minimum_lots)?,
        account: AccountId(request.account.0),
        strategy: request.order_id.strategy(),
        self_trade: self_trade(request.flags)?,
    })
}

/// The self-trade prevention that the order itself asks for.
fn self_trade(flags: u8) -> Result<Option<SelfTrade>, Reason> {
    const BOTH: u8 = NewOrder::CANCEL_NEWEST | NewOrder::CANCEL_OLDEST;
    match flags & (BOTH | NewOrder::DECREMENT) {
        0 => Ok(None),
        NewOrder::CANCEL_NEWEST => Ok(Some(SelfTrade::CancelNewest)),
        NewOrder::CANCEL_OLDEST => Ok(Some(SelfTrade::CancelOldest)),
        BOTH => Ok(Some(SelfTrade::CancelBoth)),
        NewOrder::DECREMENT => Ok(Some(SelfTrade::Decrement)),
        _ => Err(Reason::Malformed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_decides_whose_orders_must_not_trade_with_each_other() {
        let owner = |mut rules: MarketRules, owner| {
            set_self_trade(&mut rules, SelfTradeRule::AsRules, owner);
            rules.owner
        };
        assert_eq!(owner(MarketRules::plain(), SelfTradeOwner::AsRules), Owner::Strategy);
        assert_eq!(owner(MarketRules::cme(), SelfTradeOwner::AsRules), Owner::Account);
        assert_eq!(owner(MarketRules::plain(), SelfTradeOwner::Account), Owner::Account);
        assert_eq!(owner(MarketRules::cme(), SelfTradeOwner::Strategy), Owner::Strategy);
    }
}
