//! What stands in fields that a version of the messages does not have.

use super::{Field, Kind, Record, message_type};

/// The first field of a payload that came with a later version than this and is not zero, with the record that it is in. Messages
/// of this version have zeros there, or are not of this kind. `None` also for a payload of another length.
///
/// ```
/// use wire::schema::newer;
/// use wire::{AccountId, Message, NewOrder};
///
/// # let plain = NewOrder::plain(wire::OrderId(1), wire::InstrumentId(1), wire::Side::Buy, wire::OrderType::Limit, wire::TimeInForce::Day, wire::Price(1), wire::Quantity(1));
/// let order = NewOrder { account: AccountId(7), ..plain };
/// let (record, field) = newer(NewOrder::ID, order.bytes(), 1).unwrap();
/// assert_eq!((record.name, field.name, field.since), ("NewOrder", "account", 2));
/// assert_eq!(newer(NewOrder::ID, order.bytes(), 2), None);
/// ```
pub fn newer(id: u16, payload: &[u8], version: u16) -> Option<(&'static Record, &'static Field)> {
    let record = message_type(id)?.record;
    record.had_length(payload.len()).then(|| within(record, payload, version)).flatten()
}

fn within(
    record: &'static Record,
    payload: &[u8],
    version: u16,
) -> Option<(&'static Record, &'static Field)> {
    record.fields.iter().find_map(|field| {
        let bytes = payload.get(field.offset..field.offset + field.size).unwrap_or_default();
        if field.since > version && bytes.iter().any(|byte| *byte != 0) {
            return Some((record, field));
        }
        match field.kind {
            Kind::Record(inner) => within(inner, bytes, version),
            Kind::List(inner) => {
                bytes.chunks_exact(inner.size.max(1)).find_map(|bytes| within(inner, bytes, version))
            }
            _ => None,
        }
    })
}
