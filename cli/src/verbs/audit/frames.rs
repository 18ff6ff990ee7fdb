//! What frames of the drop copy are.

use wire::{
    AccountChange, AccountLimit, AccountOpen, AnyMessage, CancelAll, CancelOrder, ContractTerms,
    CurrencyRate, FeeRule, MarginRule, Message, NewOrder, OrderId, ReplaceOrder, Settle, SettlementPrice,
};

use crate::desk::Seen;
use crate::message::brief;

/// A frame in words.
pub(super) fn said(seen: &Seen) -> String {
    match AnyMessage::decode(seen.id, &seen.payload) {
        Ok(message) => brief(&message),
        Err(error) => error.to_string(),
    }
}

pub(super) fn is_request(id: u16) -> bool {
    matches!(id, NewOrder::ID | CancelOrder::ID | ReplaceOrder::ID | CancelAll::ID)
}

pub(super) fn is_entry(id: u16) -> bool {
    matches!(
        id,
        AccountOpen::ID
            | AccountChange::ID
            | AccountLimit::ID
            | FeeRule::ID
            | MarginRule::ID
            | ContractTerms::ID
            | CurrencyRate::ID
            | SettlementPrice::ID
            | Settle::ID
    )
}

/// Who entered something; of reference data nobody.
pub(super) fn who(seen: &Seen) -> Option<String> {
    let who = match AnyMessage::decode(seen.id, &seen.payload).ok()? {
        AnyMessage::AccountOpen(m) => m.who,
        AnyMessage::AccountChange(m) => m.who,
        AnyMessage::AccountLimit(m) => m.who,
        AnyMessage::FeeRule(m) => m.who,
        AnyMessage::MarginRule(m) => m.who,
        AnyMessage::Settle(m) => m.who,
        _ => return None,
    };
    Some(who.to_string())
}

pub(super) fn order_of(seen: &Seen) -> Option<OrderId> {
    match AnyMessage::decode(seen.id, &seen.payload).ok()? {
        AnyMessage::NewOrder(m) => Some(m.order_id),
        AnyMessage::CancelOrder(m) => Some(m.order_id),
        AnyMessage::ReplaceOrder(m) => Some(m.order_id),
        AnyMessage::CancelAll(m) => Some(m.order_id),
        _ => None,
    }
}

pub(super) fn same(one: &Seen, other: &Seen) -> bool {
    (one.id, &one.payload) == (other.id, &other.payload)
}
