//! Messages for people and for programs: named fields, as the table of fields has them, and one line of text.
//!
//! Prices and money are exact decimals, as text (`"100.01"`), times are nanoseconds since the epoch, order ids read
//! `SEAT-EPOCH-SEQUENCE`. What a message leaves open (no price, no cause) is null.

mod brief;

use std::sync::LazyLock;

use serde_json::{Map, Value, json};
use wire::AnyMessage;
use wire::schema::{self, Field, Kind, List, Record, TABLE, View};

pub(crate) use brief::brief;

/// The CSV columns of all messages, each where the table of fields has it first.
pub(crate) fn columns() -> &'static [String] {
    static COLUMNS: LazyLock<Vec<String>> = LazyLock::new(|| {
        let mut columns = Vec::new();
        for name in TABLE.iter().flat_map(|message| columns_of(message.record)) {
            if !columns.contains(&name) {
                columns.push(name);
            }
        }
        columns
    });
    &COLUMNS
}

/// The fields of a message by name; the names are among [`columns`].
pub(crate) fn fields(message: &AnyMessage) -> Vec<(String, Value)> {
    fields_of(message.view())
}

/// The same as one object.
pub(crate) fn object_of(message: &AnyMessage) -> Map<String, Value> {
    fields(message).into_iter().collect()
}

fn columns_of(record: &'static Record) -> Vec<String> {
    record.fields.iter().flat_map(columns_of_field).collect()
}

/// A record within stands by its own fields, a word of flags by one column a flag, a list by its first element and
/// then as a whole.
fn columns_of_field(field: &'static Field) -> Vec<String> {
    match field.kind {
        Kind::Opaque | Kind::Reserved => Vec::new(),
        Kind::Record(record) => columns_of(record),
        Kind::Flags(flags) => flags.flags.iter().map(|flag| flag.name.to_owned()).collect(),
        Kind::List(item) => {
            let mut columns = first_columns(field, item);
            columns.push(field.column.to_owned());
            columns
        }
        _ => vec![field.column.to_owned()],
    }
}

/// Columns of the first element of a list: `bid_price` and `bid_quantity` of `bids`.
fn first_columns(list: &Field, item: &'static Record) -> Vec<String> {
    let one = list.column.trim_end_matches('s');
    columns_of(item).iter().map(|column| format!("{one}_{column}")).collect()
}

fn fields_of(view: View<'_>) -> Vec<(String, Value)> {
    let mut fields = Vec::new();
    for (field, value) in view.fields() {
        let nulls = |columns: Vec<String>| columns.into_iter().map(|column| (column, Value::Null));
        match value {
            Some(schema::Value::Record(inner)) if inner.is_present() => fields.extend(fields_of(inner)),
            Some(schema::Value::Record(_)) | None => fields.extend(nulls(columns_of_field(field))),
            Some(schema::Value::Flags(word, flags)) => {
                let bits = flags.flags.iter().map(|flag| (flag.name.to_owned(), json!(word & flag.bit != 0)));
                fields.extend(bits);
            }
            Some(schema::Value::List(list)) => {
                let first = list.iter().next().filter(View::is_present);
                let columns = first_columns(field, list.record());
                match first {
                    Some(item) => fields.extend(columns.into_iter().zip(values_of(item))),
                    None => fields.extend(nulls(columns)),
                }
                fields.push((field.column.to_owned(), items(list)));
            }
            Some(value) => fields.push((field.column.to_owned(), json_of(value))),
        }
    }
    fields
}

/// The elements that are there, each as the list of its values.
fn items(list: List<'_>) -> Value {
    list.iter().filter(View::is_present).map(|item| Value::Array(values_of(item))).collect()
}

fn values_of(view: View<'_>) -> Vec<Value> {
    fields_of(view).into_iter().map(|(_, value)| value).collect()
}

/// Amounts are text: a float would not hold all of their digits.
fn json_of(value: schema::Value<'_>) -> Value {
    match value {
        schema::Value::Unsigned(number) | schema::Value::Position(number) => json!(number),
        schema::Value::Signed(number) => json!(number),
        schema::Value::Price(price) => json!(price.to_string()),
        schema::Value::Quantity(quantity) => json!(quantity.0),
        schema::Value::Money(money) => json!(money.to_string()),
        schema::Value::WideMoney(money) => json!(money.to_string()),
        schema::Value::Time(time) => json!(time.0),
        schema::Value::Order(order) => json!(order.to_string()),
        schema::Value::Instrument(instrument) => json!(instrument.0),
        schema::Value::Strategy(strategy) => json!(strategy.0),
        schema::Value::Account(account) => json!(account.0),
        schema::Value::Text(text) => json!(text),
        schema::Value::Enum(member) => json!(member.name),
        schema::Value::Flags(word, _) => json!(word),
        schema::Value::Record(view) => Value::Object(fields_of(view).into_iter().collect()),
        schema::Value::List(list) => items(list),
    }
}

/// The id of a kind of message by its name (letters of either case, with or without `-` and `_`) or its number.
pub(crate) fn kind_id(text: &str) -> Option<u16> {
    let plain = |text: &str| text.to_lowercase().replace(['-', '_'], "");
    let named = TABLE.iter().find(|message| plain(message.record.name) == plain(text));
    named.map(|message| message.id).or_else(|| text.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::{Cause, Fill, InstrumentId, Message, NewOrder, OrderId, Price, StrategyId};

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
        let fields = object_of(&AnyMessage::NewOrder(order));
        assert_eq!(fields["price"], "9007199254.740993123");
        assert_eq!(fields["order_id"], "12-1-42");
        assert!(fields["cause_journal"].is_null() && fields["received_ns"].is_null());
        let market = object_of(&AnyMessage::NewOrder(NewOrder { price: Price::NONE, ..order }));
        assert!(market["price"].is_null());
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
