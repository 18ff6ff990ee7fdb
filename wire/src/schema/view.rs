//! Payloads, read by the table.

use zerocopy::FromBytes;

use super::{Described, Field, Flags, Kind, Member, Record, message_type};
use crate::{
    AccountId, InstrumentId, Message, Money, Nanos, OrderId, Price, Quantity, StrategyId, WideMoney,
    WireError,
};

/// What fields hold that came after the version of a payload.
const ZEROS: [u8; crate::message::LONGEST] = [0; crate::message::LONGEST];

/// A message, or a part of one, in its bytes. They are as many as the record has, or had in an earlier version, and each byte of an
/// enumeration is one of its members.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View<'a> {
    record: &'static Record,
    bytes: &'a [u8],
}

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// A plain number.
    Unsigned(u64),
    /// The same, signed.
    Signed(i64),
    /// A price.
    Price(Price),
    /// A number of shares or contracts.
    Quantity(Quantity),
    /// An amount to 1e-6.
    Money(Money),
    /// An amount to 1e-9.
    WideMoney(WideMoney),
    /// A time.
    Time(Nanos),
    /// A position in a journal.
    Position(u64),
    /// An order.
    Order(OrderId),
    /// An instrument.
    Instrument(InstrumentId),
    /// A strategy.
    Strategy(StrategyId),
    /// An account.
    Account(AccountId),
    /// Text.
    Text(&'a str),
    /// A member of an enumeration.
    Enum(&'static Member),
    /// A word of flags, and what its bits are.
    Flags(u64, &'static Flags),
    /// A struct within.
    Record(View<'a>),
    /// Structs of one kind.
    List(List<'a>),
}

/// Structs of one kind, one behind the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct List<'a> {
    record: &'static Record,
    bytes: &'a [u8],
}

impl<'a> View<'a> {
    /// Reads a payload by the id in its frame's header.
    ///
    /// # Errors
    /// Any [`WireError`]; the same as of [`AnyMessage::decode`](crate::AnyMessage::decode).
    pub fn of(id: u16, payload: &'a [u8]) -> Result<View<'a>, WireError> {
        let record = message_type(id).ok_or(WireError::UnknownId { id })?.record;
        if !record.had_length(payload.len()) {
            return Err(WireError::Size { name: record.name, expected: record.size, found: payload.len() });
        }
        let view = View { record, bytes: payload };
        match view.invalid() {
            Some((field, value)) => Err(WireError::Invalid { name: record.name, field: field.name, value }),
            None => Ok(view),
        }
    }

    /// A message that was decoded before.
    pub(crate) fn of_message<M: Message>(message: &'a M) -> View<'a> {
        View { record: M::RECORD, bytes: message.bytes() }
    }

    /// What is read.
    pub fn record(&self) -> &'static Record {
        self.record
    }

    /// The fields but the reserved ones. `None`: the field holds nothing.
    pub fn fields(&self) -> impl Iterator<Item = (&'static Field, Option<Value<'a>>)> + use<'a> {
        let view = *self;
        let readable =
            self.record.fields.iter().filter(|field| !matches!(field.kind, Kind::Opaque | Kind::Reserved));
        readable.map(move |field| (field, view.value(field)))
    }

    /// False where the record as a whole holds nothing: a level that the book does not have, an order without a cause.
    pub fn is_present(&self) -> bool {
        let key = self.record.present_with.and_then(|index| self.record.fields.get(index));
        key.is_none_or(|field| self.value(field).is_some())
    }

    fn value(&self, field: &Field) -> Option<Value<'a>> {
        let bytes = self.bytes.get(field.offset..field.offset + field.size);
        let bytes = bytes.or_else(|| ZEROS.get(..field.size))?;
        let raw = integer(bytes, field.kind.is_signed());
        if field.none == Some(raw) {
            return None;
        }
        Some(match field.kind {
            Kind::Unsigned => Value::Unsigned(raw as u64),
            Kind::Signed => Value::Signed(raw),
            Kind::Price => Value::Price(Price(raw)),
            Kind::Quantity => Value::Quantity(Quantity(raw)),
            Kind::Money => Value::Money(Money(raw)),
            Kind::WideMoney => Value::WideMoney(WideMoney::read_from_bytes(bytes).ok()?),
            Kind::Time => Value::Time(Nanos(raw as u64)),
            Kind::Position => Value::Position(raw as u64),
            Kind::Order => Value::Order(OrderId(raw as u64)),
            Kind::Instrument => Value::Instrument(InstrumentId(raw as u32)),
            Kind::Strategy => Value::Strategy(StrategyId(raw as u16)),
            Kind::Account => Value::Account(AccountId(raw as u32)),
            Kind::Text => Value::Text(crate::text::until_zero(bytes)),
            Kind::Enum(enumeration) => {
                Value::Enum(enumeration.members.iter().find(|member| i64::from(member.value) == raw)?)
            }
            Kind::Flags(flags) => Value::Flags(raw as u64, flags),
            Kind::Record(record) => Value::Record(View { record, bytes }),
            Kind::List(record) => Value::List(List { record, bytes }),
            Kind::Opaque | Kind::Reserved => return None,
        })
    }

    /// The first field whose byte is no member of its enumeration, and that byte.
    fn invalid(&self) -> Option<(&'static Field, u8)> {
        self.record.fields.iter().find_map(|field| match field.kind {
            Kind::Enum(_) if self.value(field).is_none() => Some((field, *self.bytes.get(field.offset)?)),
            Kind::Record(record) => {
                let bytes = self.bytes.get(field.offset..field.offset + field.size)?;
                View { record, bytes }.invalid()
            }
            Kind::List(record) => {
                let bytes = self.bytes.get(field.offset..field.offset + field.size)?;
                List { record, bytes }.iter().find_map(|item| item.invalid())
            }
            _ => None,
        })
    }
}

impl<'a> List<'a> {
    /// What each is.
    pub fn record(&self) -> &'static Record {
        self.record
    }

    /// All of them, also those that are not present.
    pub fn iter(&self) -> impl Iterator<Item = View<'a>> + use<'a> {
        let record = self.record;
        self.bytes.chunks_exact(record.size.max(1)).map(move |bytes| View { record, bytes })
    }
}

/// Why decoding refused bytes of the right number. Kept out of line: decoding is on the way of every message.
#[cold]
pub(crate) fn invalid<T: Described>(bytes: &[u8]) -> WireError {
    let record = T::RECORD;
    match (View { record, bytes }).invalid() {
        Some((field, value)) => WireError::Invalid { name: record.name, field: field.name, value },
        None => WireError::Invalid { name: record.name, field: "?", value: 0 },
    }
}

/// The first eight bytes at most, little-endian.
fn integer(bytes: &[u8], signed: bool) -> i64 {
    let mut word = [0; 8];
    let size = bytes.len().min(8);
    word[..size].copy_from_slice(&bytes[..size]);
    let unused = 64 - 8 * size as u32;
    match (i64::from_le_bytes(word), unused) {
        (value, 1..=56) if signed => value << unused >> unused,
        (value, _) => value,
    }
}
