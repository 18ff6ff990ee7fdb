//! Messages for people and for programs: named fields, and one line of text.
//!
//! Prices and money are exact decimals, as text (`"100.01"`), times are nanoseconds since the epoch, order ids read
//! `SEAT-EPOCH-SEQUENCE`. What a message leaves open (no price, no cause) is null.

mod brief;

use serde_json::{Value, json};
use wire::{AnyMessage, BookEvent, Cause, Level, NodeEvent, Price, Quote, SnapshotBegin, StrategyId};

pub(crate) use brief::brief;

/// Every field that a message can have, in the order of the CSV columns.
pub(crate) const FIELDS: &[&str] = &[
    "instrument",
    "symbol",
    "order_id",
    "side",
    "order_type",
    "time_in_force",
    "price",
    "quantity",
    "filled",
    "remaining",
    "status",
    "reason",
    "liquidity",
    "trade_id",
    "execution",
    "request",
    "told",
    "bid_price",
    "bid_quantity",
    "ask_price",
    "ask_quantity",
    "last_price",
    "last_quantity",
    "bids",
    "asks",
    "aggressor",
    "action",
    "order_ref",
    "loses_priority",
    "is_last",
    "sequence",
    "due_ns",
    "event_time_ns",
    "published_ns",
    "received_ns",
    "ordered_ns",
    "taken_ns",
    "cause_journal",
    "cause_position",
    "tick",
    "lot",
    "price_low",
    "price_high",
    "reference_price",
    "max_quantity",
    "snapshot",
    "frames",
    "strategy",
    "generation",
    "last_trade",
    "net_position",
    "average_price",
    "realised",
    "unrealised",
    "cash",
    "mark_price",
    "bought",
    "sold",
    "fills",
    "orders",
    "seat",
    "change",
    "node_kind",
    "pid",
    "exit_code",
    "quotes",
    "trades",
    "book_events",
    "source_messages",
    "skipped",
    "rejected",
];

/// The fields of a message by name; the names are among [`FIELDS`].
pub(crate) fn fields(message: &AnyMessage) -> Vec<(&'static str, Value)> {
    match message {
        AnyMessage::Instrument(m) => vec![
            ("instrument", json!(m.id.0)),
            ("symbol", json!(m.symbol.as_str())),
            ("tick", price(m.tick)),
            ("lot", json!(m.lot.0)),
            ("price_low", price(m.price_low)),
            ("price_high", price(m.price_high)),
            ("reference_price", price(m.reference_price)),
            ("max_quantity", json!(m.max_quantity.0)),
        ],
        AnyMessage::Quote(m) => quote(m),
        AnyMessage::TradePrint(m) => vec![
            ("instrument", json!(m.instrument.0)),
            ("price", price(m.price)),
            ("quantity", json!(m.quantity.0)),
            ("aggressor", json!(m.aggressor.as_str())),
            ("trade_id", json!(m.trade_id)),
            ("sequence", json!(m.sequence)),
            ("due_ns", time(m.due.0)),
            ("event_time_ns", time(m.event_time.0)),
        ],
        AnyMessage::BookEvent(m) => vec![
            ("instrument", json!(m.instrument.0)),
            ("action", json!(m.action.as_str())),
            ("side", json!(m.side.as_str())),
            ("order_ref", json!(m.order_ref)),
            ("price", price(m.price)),
            ("quantity", json!(m.quantity.0)),
            ("loses_priority", json!(m.flags & BookEvent::LOSES_PRIORITY != 0)),
            ("is_last", json!(m.flags & BookEvent::LAST != 0)),
            ("sequence", json!(m.sequence)),
            ("event_time_ns", time(m.event_time.0)),
        ],
        AnyMessage::NewOrder(m) => {
            let mut fields = vec![
                ("order_id", json!(m.order_id.to_string())),
                ("instrument", json!(m.instrument.0)),
                ("side", json!(m.side.as_str())),
                ("order_type", json!(m.order_type.as_str())),
                ("time_in_force", json!(m.time_in_force.as_str())),
                ("price", price(m.price)),
                ("quantity", json!(m.quantity.0)),
            ];
            fields.extend(cause(&m.cause));
            fields
        }
        AnyMessage::CancelOrder(m) => {
            vec![("order_id", json!(m.order_id.to_string())), ("instrument", json!(m.instrument.0))]
        }
        AnyMessage::ReplaceOrder(m) => vec![
            ("order_id", json!(m.order_id.to_string())),
            ("instrument", json!(m.instrument.0)),
            ("price", price(m.price)),
            ("quantity", json!(m.quantity.0)),
        ],
        AnyMessage::LatencySample(m) => vec![
            ("order_id", json!(m.order_id.to_string())),
            ("due_ns", time(m.due.0)),
            ("published_ns", time(m.published.0)),
            ("received_ns", time(m.received.0)),
            ("ordered_ns", time(m.ordered.0)),
            ("taken_ns", time(m.taken.0)),
        ],
        AnyMessage::OrderUpdate(m) => vec![
            ("order_id", json!(m.order_id.to_string())),
            ("instrument", json!(m.instrument.0)),
            ("side", json!(m.side.as_str())),
            ("status", json!(m.status.as_str())),
            ("reason", json!(m.reason.as_str())),
            ("price", price(m.price)),
            ("quantity", json!(m.quantity.0)),
            ("filled", json!(m.filled.0)),
            ("remaining", json!(m.remaining.0)),
            ("execution", place(m.execution)),
            ("request", place(m.request)),
            ("told", place(m.told)),
            ("event_time_ns", time(m.event_time.0)),
        ],
        AnyMessage::Fill(m) => vec![
            ("order_id", json!(m.order_id.to_string())),
            ("instrument", json!(m.instrument.0)),
            ("side", json!(m.side.as_str())),
            ("price", price(m.price)),
            ("quantity", json!(m.quantity.0)),
            ("remaining", json!(m.remaining.0)),
            ("liquidity", json!(m.liquidity.as_str())),
            ("trade_id", json!(m.trade_id)),
            ("execution", place(m.execution)),
            ("event_time_ns", time(m.event_time.0)),
        ],
        AnyMessage::SnapshotBegin(m) => vec![
            ("snapshot", json!(m.snapshot)),
            ("execution", place(m.execution)),
            ("strategy", strategy(m.strategy)),
            ("generation", json!(m.generation)),
            ("last_trade", json!(m.trade)),
        ],
        AnyMessage::SnapshotEnd(m) => vec![
            ("snapshot", json!(m.snapshot)),
            ("frames", json!(m.frames)),
            ("strategy", strategy(m.strategy)),
            ("generation", json!(m.generation)),
        ],
        AnyMessage::PositionState(m) => vec![
            ("strategy", strategy(m.strategy)),
            ("instrument", json!(m.instrument.0)),
            ("net_position", json!(m.position.0)),
            ("average_price", price(m.average_price)),
            ("realised", json!(m.realised.to_string())),
            ("unrealised", json!(m.unrealised.to_string())),
            ("cash", json!(m.cash.to_string())),
            ("mark_price", price(m.mark_price)),
            ("bought", json!(m.bought.0)),
            ("sold", json!(m.sold.0)),
            ("fills", json!(m.fills)),
            ("orders", json!(m.orders)),
        ],
        AnyMessage::NodeEvent(m) => vec![
            ("seat", json!(m.seat)),
            ("change", json!(m.change.as_str())),
            ("node_kind", json!(if m.kind == NodeEvent::STRATEGY { "strategy" } else { "platform" })),
            ("generation", json!(m.generation)),
            ("pid", json!(m.pid)),
            ("exit_code", if m.exit_code < 0 { Value::Null } else { json!(m.exit_code) }),
        ],
        AnyMessage::EndOfStream(m) => vec![
            ("quotes", json!(m.quotes)),
            ("trades", json!(m.trades)),
            ("book_events", json!(m.book_events)),
            ("source_messages", json!(m.source_messages)),
            ("skipped", json!(m.skipped)),
            ("rejected", json!(m.rejected)),
        ],
    }
}

/// The same as one object.
pub(crate) fn object_of(message: &AnyMessage) -> Value {
    fields(message).into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn quote(m: &Quote) -> Vec<(&'static str, Value)> {
    let best = |level: Option<Level>| match level {
        Some(level) => (price(level.price), json!(level.quantity.0)),
        None => (Value::Null, Value::Null),
    };
    let depth = |levels: &[Level]| -> Value {
        let there = levels.iter().filter(|level| level.is_some());
        there.map(|level| json!([level.price.to_string(), level.quantity.0])).collect()
    };
    let ((bid_price, bid_quantity), (ask_price, ask_quantity)) = (best(m.best_bid()), best(m.best_ask()));
    vec![
        ("instrument", json!(m.instrument.0)),
        ("bid_price", bid_price),
        ("bid_quantity", bid_quantity),
        ("ask_price", ask_price),
        ("ask_quantity", ask_quantity),
        ("last_price", price(m.last_price)),
        ("last_quantity", json!(m.last_quantity.0)),
        ("bids", depth(&m.bids)),
        ("asks", depth(&m.asks)),
        ("sequence", json!(m.sequence)),
        ("due_ns", time(m.due.0)),
        ("event_time_ns", time(m.event_time.0)),
    ]
}

fn cause(cause: &Cause) -> Vec<(&'static str, Value)> {
    let known = |value: u64| if cause.is_some() { json!(value) } else { Value::Null };
    vec![
        ("cause_journal", known(u64::from(cause.journal))),
        ("cause_position", known(cause.position)),
        ("due_ns", time(cause.due.0)),
        ("published_ns", time(cause.published.0)),
        ("received_ns", time(cause.received.0)),
    ]
}

/// Exact, as text: a float would not hold all of its digits.
fn price(price: Price) -> Value {
    if price.is_some() { json!(price.to_string()) } else { Value::Null }
}

/// Zero is no time.
fn time(nanos: u64) -> Value {
    if nanos == 0 { Value::Null } else { json!(nanos) }
}

/// Zero is no position.
fn place(position: u64) -> Value {
    time(position)
}

fn strategy(strategy: StrategyId) -> Value {
    if strategy == SnapshotBegin::EVERYBODY { Value::Null } else { json!(strategy.0) }
}

/// The order that a message is about, if it is about one.
pub(crate) fn order_of(message: &AnyMessage) -> Option<wire::OrderId> {
    match message {
        AnyMessage::NewOrder(m) => Some(m.order_id),
        AnyMessage::CancelOrder(m) => Some(m.order_id),
        AnyMessage::ReplaceOrder(m) => Some(m.order_id),
        AnyMessage::LatencySample(m) => Some(m.order_id),
        AnyMessage::OrderUpdate(m) => Some(m.order_id),
        AnyMessage::Fill(m) => Some(m.order_id),
        _ => None,
    }
}

/// The id of a kind of message by its name (letters of either case, with or without `-` and `_`) or its number.
pub(crate) fn kind_id(text: &str) -> Option<u16> {
    let plain = |text: &str| text.to_lowercase().replace(['-', '_'], "");
    let named = AnyMessage::ALL.iter().find(|(_, name, _)| plain(name) == plain(text));
    named.map(|(id, _, _)| *id).or_else(|| text.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use wire::{Fill, InstrumentId, Message, NewOrder, OrderId};

    /// A message of each kind: all bytes 1, which every enumeration allows.
    fn one_of_each() -> Vec<AnyMessage> {
        let decode = |&(id, name, size): &(u16, &str, usize)| {
            [1_u8, 0]
                .iter()
                .find_map(|&byte| AnyMessage::decode(id, &vec![byte; size]).ok())
                .unwrap_or_else(|| panic!("no {name} of equal bytes"))
        };
        AnyMessage::ALL.iter().map(decode).collect()
    }

    #[test]
    fn every_field_has_a_column_and_every_column_a_field() {
        let mut seen = BTreeSet::new();
        for message in one_of_each() {
            let names: Vec<&str> = fields(&message).into_iter().map(|(name, _)| name).collect();
            assert!(!names.is_empty() && !brief(&message).is_empty());
            assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{}", message.name());
            seen.extend(names);
        }
        assert_eq!(seen, FIELDS.iter().copied().collect::<BTreeSet<_>>());
        assert_eq!(seen.len(), FIELDS.len(), "a column is listed twice");
    }

    #[test]
    fn prices_keep_every_digit_and_what_is_open_is_null() {
        let order = NewOrder::decode(&[1; NewOrder::SIZE]).unwrap();
        let order = NewOrder {
            order_id: OrderId::new(StrategyId(12), 1, 42),
            instrument: InstrumentId(3),
            price: Price(9_007_199_254_740_993_123),
            cause: Cause::NONE,
            ..order
        };
        let fields = fields(&AnyMessage::NewOrder(order));
        let field = |name: &str| &fields.iter().find(|(known, _)| *known == name).unwrap().1;
        assert_eq!(field("price"), "9007199254.740993123");
        assert_eq!(field("order_id"), "12-1-42");
        assert!(field("cause_position").is_null() && field("received_ns").is_null());
        assert_eq!(price(Price::NONE), Value::Null);
        assert_eq!(order_of(&AnyMessage::NewOrder(order)), Some(order.order_id));
    }

    #[test]
    fn kinds_are_known_by_name_and_number() {
        for text in ["Fill", "fill", "21"] {
            assert_eq!(kind_id(text), Some(Fill::ID), "{text}");
        }
        assert_eq!(kind_id("new-order"), Some(NewOrder::ID));
        assert_eq!(kind_id("bananas"), None);
    }
}
