//! The table of fields: every message, field, enumeration and flag, as data.
//!
//! It is derived from the types ([`Described`], [`FieldType`]), so nothing is listed twice. All of it is `'static` and
//! needs no allocation: printing, conversion to other formats and documents are loops over [`TABLE`].
//!
//! ```text
//! TABLE ─► MessageType (id) ─► Record (name, size) ─► Field (name, offset, size, since) ─► Kind (unit, scale)
//!                                 ▲                                                         │
//!                                 └── a record within, a list of records ───────────────────┤
//!                                                   Enumeration ─► Member, Flags ─► Flag ◄──┘
//! ```
//!
//! [`View`] reads a payload by the table:
//!
//! ```
//! use wire::schema::{Value, View};
//! use wire::{CancelOrder, InstrumentId, Message, OrderId, StrategyId};
//!
//! let cancel = CancelOrder::new(OrderId::new(StrategyId(7), 1, 42), InstrumentId(3));
//! let view = View::of(CancelOrder::ID, cancel.bytes())?;
//! let (field, value) = view.fields().next().unwrap();
//! assert_eq!((field.name, value), ("order_id", Some(Value::Order(cancel.order_id))));
//! # Ok::<(), wire::WireError>(())
//! ```

mod kind;
mod lengths;
mod newer;
mod view;

pub use crate::message::TABLE;
pub use kind::{FieldType, Kind};
pub use lengths::APPENDED_FROM;
pub use newer::newer;
pub(crate) use view::invalid;
pub use view::{List, Value, View};

/// Version of the messages, raised with every change of them. [`Field::since`] counts in it.
///
/// | version | what is new |
/// |---|---|
/// | 1 | the first |
/// | 2 | `NewOrder.account` |
/// | 3 | `answered_up_to` of `OrderUpdate` and `Fill`; `OrderUpdate.refused_request` and `reported_up_to`, which were `request` and `told` |
/// | 4 | conditions of `NewOrder`: `flags`, `display_lots`, `trigger`, `minimum_lots`, `ends_s`; stop orders, more times in force, more reasons; `MarketPhase`, `Indicative`, `BookEvent.is_snapshot` |
/// | 5 | `Best`; `CancelAll` and `mass-cancelled`; `Statistics`; `NewOrder.decrement` with `reduced`; `triggered`; `BookEvent.is_hidden`; `OrderImage`, `MarketImage`, `NewestOrder`, `StateEnd`, `DueTime`, `StateBegin` |
/// | 6 | accounts: `AccountOpen`, `AccountChange`, `AccountLimit`, `FeeRule`, `MarginRule`, `ContractTerms`, `CurrencyRate`, `SettlementPrice`, `Settle`; `NewOrder.offset_…`; reasons from `insufficient-funds` on |
/// | 7 | `EntryResult`, `Mark`, `AccountState`, `DeskPart`; `NewOrder.forced` |
/// | 8 | `ClientOrder` |
/// | 9 | `Instrument.multiplier` and `currency`; `FeeRule.maker` and `taker` |
/// | 10 | `Settle.flags` with `forced_settlement` |
/// | 11 | `ClientOrder.flags` with `ends_with_session` |
/// | 12 | `KeptOrder` |
pub const VERSION: u16 = 12;

/// One kind of message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MessageType {
    /// Stands in the frame's header.
    pub id: u16,
    /// What the payload is.
    pub record: &'static Record,
}

/// A struct: a message, or a part of one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Record {
    /// The type's name.
    pub name: &'static str,
    /// What it is, in the words of its documentation.
    pub doc: &'static str,
    /// Bytes.
    pub size: usize,
    /// In the order of their offsets, without gaps.
    pub fields: &'static [Field],
    /// Index of the field that decides whether the record is there at all: where it holds nothing, all of it is open.
    pub present_with: Option<usize>,
}

/// One field of a [`Record`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Field {
    /// The field's name.
    pub name: &'static str,
    /// Its name in JSON and as a column of CSV.
    pub column: &'static str,
    /// Bytes before it in its record.
    pub offset: usize,
    /// Bytes.
    pub size: usize,
    /// What it holds.
    pub kind: Kind,
    /// The integer that stands for "nothing here", if there is one.
    pub none: Option<i64>,
    /// [`VERSION`] that brought it.
    pub since: u16,
    /// What it is, in the words of its documentation.
    pub doc: &'static str,
}

/// A type of one byte whose values have names.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Enumeration {
    /// The type's name.
    pub name: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// By value.
    pub members: &'static [Member],
}

/// One value of an [`Enumeration`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Member {
    /// The byte.
    pub value: u8,
    /// As it is printed.
    pub name: &'static str,
    /// What it means.
    pub doc: &'static str,
}

/// A word of flags.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flags {
    /// Name of the set: that of its record, and `Flags`.
    pub name: &'static str,
    /// By bit.
    pub flags: &'static [Flag],
}

/// One flag.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flag {
    /// The word with only this flag set.
    pub bit: u64,
    /// As it is printed, and its column.
    pub name: &'static str,
    /// What it means when it is set.
    pub doc: &'static str,
}

/// A struct with a row in the table. Derived.
pub trait Described {
    /// Its description.
    const RECORD: &'static Record;
}

/// The kind of message with this id.
pub fn message_type(id: u16) -> Option<&'static MessageType> {
    TABLE.iter().find(|message| message.id == id)
}

/// Constants of a struct that are flags, and their descriptions.
macro_rules! flags {
    ($record:ident: $word:ty { $($(#[doc = $doc:literal])* $flag:ident = $bit:literal => $name:literal,)* }) => {
        impl $record {
            $($(#[doc = $doc])* pub const $flag: $word = $bit;)*

            pub(crate) const FLAGS: &'static crate::schema::Flags = &crate::schema::Flags {
                name: concat!(stringify!($record), "Flags"),
                flags: &[$(crate::schema::Flag {
                    bit: $bit,
                    name: $name,
                    doc: concat!($($doc),*).trim_ascii(),
                },)*],
            };
        }
    };
}
pub(crate) use flags;
