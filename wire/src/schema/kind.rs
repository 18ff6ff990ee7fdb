//! What a field holds: its meaning, unit and scale, by its type.

use super::{Enumeration, Flags, Record};
use crate::{AccountId, InstrumentId, Money, Nanos, OrderId, Price, Quantity, StrategyId, Symbol, WideMoney};

/// Meaning of a field's bytes. Integers are little-endian, as wide as [`Field::size`](super::Field::size) says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A plain number of 1, 2, 4 or 8 bytes.
    Unsigned,
    /// The same in two's complement.
    Signed,
    /// [`Price`].
    Price,
    /// [`Quantity`].
    Quantity,
    /// [`Money`].
    Money,
    /// [`WideMoney`].
    WideMoney,
    /// [`Nanos`]; zero is none.
    Time,
    /// Position in a journal, a `u64`; zero is none.
    Position,
    /// [`OrderId`].
    Order,
    /// [`InstrumentId`]; zero is none.
    Instrument,
    /// [`StrategyId`].
    Strategy,
    /// [`AccountId`].
    Account,
    /// [`Symbol`], or [`Text`](crate::Text) of another length.
    Text,
    /// A byte with names.
    Enum(&'static Enumeration),
    /// Bits with names.
    Flags(&'static Flags),
    /// A struct within.
    Record(&'static Record),
    /// As many structs of one kind as fit.
    List(&'static Record),
    /// Bytes that only who wrote them understands; tools pass over them.
    Opaque,
    /// Zeros; readers pass over them.
    Reserved,
}

impl Kind {
    /// What one is one of, as documents name it; empty for plain numbers and what has no unit.
    pub const fn unit(self) -> &'static str {
        match self {
            Kind::Price => "price",
            Kind::Quantity => "quantity",
            Kind::Money => "money",
            Kind::WideMoney => "wide money",
            Kind::Time => "ns",
            Kind::Position => "position",
            Kind::Order => "order id",
            Kind::Instrument => "instrument",
            Kind::Strategy => "seat",
            Kind::Account => "account",
            Kind::Text => "text",
            Kind::Enum(enumeration) => enumeration.name,
            Kind::Flags(flags) => flags.name,
            Kind::Unsigned
            | Kind::Signed
            | Kind::Record(_)
            | Kind::List(_)
            | Kind::Opaque
            | Kind::Reserved => "",
        }
    }

    /// True where the integer is signed.
    pub const fn is_signed(self) -> bool {
        matches!(self, Kind::Signed | Kind::Price | Kind::Quantity | Kind::Money | Kind::WideMoney)
    }

    /// The integer that stands for "nothing here" in fields of this kind, if there is one.
    pub(crate) const fn none(self) -> Option<i64> {
        match self {
            Kind::Price => Some(Price::NONE.0),
            Kind::Time | Kind::Position | Kind::Instrument => Some(0),
            _ => None,
        }
    }
}

/// A type that a field can have.
pub trait FieldType {
    /// What such a field holds.
    const KIND: Kind;
}

macro_rules! kinds {
    ($($field:ty => $kind:ident,)*) => {
        $(impl FieldType for $field {
            const KIND: Kind = Kind::$kind;
        })*
    };
}
kinds! {
    u8 => Unsigned,
    u16 => Unsigned,
    u32 => Unsigned,
    u64 => Unsigned,
    i32 => Signed,
    i64 => Signed,
    Price => Price,
    Quantity => Quantity,
    Money => Money,
    WideMoney => WideMoney,
    Nanos => Time,
    OrderId => Order,
    InstrumentId => Instrument,
    StrategyId => Strategy,
    AccountId => Account,
    Symbol => Text,
}

impl<const N: usize> FieldType for crate::Text<N> {
    const KIND: Kind = Kind::Text;
}

impl<T: super::Described, const COUNT: usize> FieldType for [T; COUNT] {
    const KIND: Kind = Kind::List(T::RECORD);
}
