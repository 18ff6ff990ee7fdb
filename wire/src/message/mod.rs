//! The messages, by the part of the platform that writes them.

pub mod account;
pub mod best;
pub mod control;
pub mod desk;
pub mod execution;
pub mod image;
pub mod ledger;
pub mod market;
pub mod order;
pub mod request;

use zerocopy::{Immutable, IntoBytes, KnownLayout, TryFromBytes};

use crate::schema::{Described, Field, MessageType, View};
use crate::*;

#[cfg(not(target_endian = "little"))]
compile_error!("colo messages are little-endian in memory; this target is not");

/// A payload that does not decode as the requested message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// Wrong number of bytes.
    #[error("a {name} has {expected} bytes, but this payload has {found}")]
    Size {
        /// The message's name.
        name: &'static str,
        /// Its size.
        expected: usize,
        /// What was there.
        found: usize,
    },
    /// A field holds a value that it cannot have.
    #[error(
        "{field} of this {name} is {value}, which means nothing: was this journal written by another version?"
    )]
    Invalid {
        /// The message's name.
        name: &'static str,
        /// The field's name.
        field: &'static str,
        /// What it holds.
        value: u8,
    },
    /// No message has this id.
    #[error("{}", unknown(*id))]
    UnknownId {
        /// The id in the frame's header.
        id: u16,
    },
}

fn unknown(id: u16) -> String {
    match id {
        FIRST_FREE_ID.. => format!("message {id} is a service's own: only that service knows what it means"),
        _ => format!("no message has the id {id}: was this journal written by another version?"),
    }
}

/// No message has more bytes.
pub(crate) const LONGEST: usize = 4096;

/// A message: an id, a name, and bytes of fixed size, but for what later versions have appended ([`schema::APPENDED_FROM`]).
pub trait Message: Described + TryFromBytes + IntoBytes + KnownLayout + Immutable + Sized + Copy {
    /// Stands in the frame's header.
    const ID: u16;
    /// As printed by tools.
    const NAME: &'static str;
    /// Bytes of payload, at most.
    const SIZE: usize = size_of::<Self>();
    /// Its rows in the table of fields.
    const FIELDS: &'static [Field] = Self::RECORD.fields;

    /// The bytes to write: without the last fields where they are zero and an earlier version did not have them.
    #[inline]
    fn bytes(&self) -> &[u8] {
        if const { Self::RECORD.shortest() == Self::SIZE } {
            return self.as_bytes();
        }
        Self::RECORD.shortened(self.as_bytes())
    }

    /// Reads a payload of any alignment. Fields that its version did not have are zero.
    ///
    /// # Errors
    /// [`WireError::Size`] or [`WireError::Invalid`].
    fn decode(bytes: &[u8]) -> Result<Self, WireError> {
        if bytes.len() != Self::SIZE {
            return decode_earlier(bytes);
        }
        Self::try_read_from_bytes(bytes).map_err(|_| schema::invalid::<Self>(bytes))
    }

    /// Reads a payload in place. It is copied only where it is not aligned, which no frame of a journal is.
    ///
    /// # Errors
    /// As [`Message::decode`].
    #[inline]
    fn read<R>(bytes: &[u8], take: impl FnOnce(&Self) -> R) -> Result<R, WireError> {
        match Self::try_ref_from_bytes(bytes) {
            Ok(message) => Ok(take(message)),
            Err(_) => Self::decode(bytes).map(|message| take(&message)),
        }
    }
}

/// A payload of an earlier version. Out of line: no message of today takes this way unless it has grown.
#[cold]
fn decode_earlier<M: Message>(bytes: &[u8]) -> Result<M, WireError> {
    let mut whole = [0; LONGEST];
    match (whole.get_mut(..bytes.len()), M::RECORD.had_length(bytes.len())) {
        (Some(start), true) => start.copy_from_slice(bytes),
        _ => return Err(WireError::Size { name: M::NAME, expected: M::SIZE, found: bytes.len() }),
    }
    M::try_read_from_bytes(&whole[..M::SIZE]).map_err(|_| schema::invalid::<M>(bytes))
}

/// Ids from here on are free for services of one's own: no message of the platform has one.
pub const FIRST_FREE_ID: u16 = 1 << 15;

macro_rules! messages {
    ($($id:literal $message:ident $size:literal,)*) => {
        $(
            impl Message for $message {
                const ID: u16 = $id;
                const NAME: &'static str = stringify!($message);
            }
            const _: () = assert!($id > 0 && $id < FIRST_FREE_ID, stringify!($message));
            const _: () = assert!(size_of::<$message>() == $size, stringify!($message));
            const _: () = assert!(align_of::<$message>() <= 8, stringify!($message));
            const _: () = assert!($size <= LONGEST, stringify!($message));
        )*

        /// Any message, for tools and for readers of mixed journals.
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[allow(clippy::large_enum_variant, reason = "lives on the stack for the length of one match")]
        pub enum AnyMessage { $(#[doc = concat!("Id ", stringify!($id), ".")] $message($message),)* }

        /// All messages, by id.
        pub static TABLE: &[MessageType] = &[$(MessageType { id: $id, record: $message::RECORD },)*];

        impl AnyMessage {
            /// Decodes a payload by the id in its frame's header.
            ///
            /// # Errors
            /// Any [`WireError`].
            pub fn decode(id: u16, payload: &[u8]) -> Result<AnyMessage, WireError> {
                match id {
                    $($id => $message::decode(payload).map(AnyMessage::$message),)*
                    _ => Err(WireError::UnknownId { id }),
                }
            }

            /// Its id, for the header of its frame.
            pub fn id(&self) -> u16 {
                match self { $(AnyMessage::$message(_) => $message::ID,)* }
            }

            /// The bytes to write.
            pub fn bytes(&self) -> &[u8] {
                match self { $(AnyMessage::$message(message) => message.bytes(),)* }
            }

            /// The message's name.
            pub fn name(&self) -> &'static str {
                match self { $(AnyMessage::$message(_) => $message::NAME,)* }
            }

            /// Its fields, by the table.
            pub fn view(&self) -> View<'_> {
                match self { $(AnyMessage::$message(message) => View::of_message(message),)* }
            }
        }
    };
}

// The whole list, with the sizes that the compiler holds us to. An id is never given out twice.
messages! {
    1 Instrument 96,
    2 Quote 368,
    3 TradePrint 56,
    4 BookEvent 56,
    5 MarketPhase 24,
    6 Indicative 48,
    7 Best 32,
    8 MarketTime 8,
    10 NewOrder 96,
    11 CancelOrder 16,
    12 ReplaceOrder 32,
    13 LatencySample 48,
    14 CancelAll 24,
    15 Statistics 96,
    16 ClientOrder 120,
    17 KeptOrder 176,
    20 OrderUpdate 88,
    21 Fill 72,
    30 SnapshotBegin 40,
    31 SnapshotEnd 32,
    32 PositionState 96,
    40 NodeEvent 32,
    41 EndOfStream 48,
    50 OrderImage 96,
    51 MarketImage 32,
    52 NewestOrder 8,
    53 StateEnd 80,
    54 DueTime 16,
    55 StateBegin 8,
    56 RecordImage 72,
    57 BookImage 24,
    58 TakenImage 24,
    59 MarketRead 16,
    60 AccountOpen 152,
    61 AccountChange 128,
    62 AccountLimit 136,
    63 FeeRule 184,
    64 MarginRule 176,
    65 ContractTerms 64,
    66 CurrencyRate 16,
    67 SettlementPrice 16,
    68 Settle 40,
    69 EntryResult 16,
    70 Mark 16,
    71 AccountState 136,
    72 DeskPart 4064,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Record;

    #[test]
    fn ids_are_unique_and_ascending() {
        assert!(TABLE.windows(2).all(|pair| pair[0].id < pair[1].id));
        assert!(!TABLE.is_empty());
    }

    /// Their fields are integers only, so any bytes are a message.
    const INTEGERS_ONLY: [&str; 30] = [
        "Instrument",
        "Best",
        "MarketTime",
        "Quote",
        "CancelOrder",
        "Indicative",
        "ReplaceOrder",
        "LatencySample",
        "Statistics",
        "ClientOrder",
        "SnapshotBegin",
        "SnapshotEnd",
        "PositionState",
        "EndOfStream",
        "OrderImage",
        "NewestOrder",
        "StateEnd",
        "DueTime",
        "StateBegin",
        "BookImage",
        "TakenImage",
        "MarketRead",
        "MarginRule",
        "ContractTerms",
        "CurrencyRate",
        "SettlementPrice",
        "Settle",
        "EntryResult",
        "Mark",
        "DeskPart",
    ];

    #[test]
    fn zeroed_and_short_payloads_are_errors_and_never_panics() {
        for &MessageType { id, record: &Record { name, size, .. } } in TABLE {
            for length in 0..size {
                assert!(AnyMessage::decode(id, &vec![0; length]).is_err(), "{name} of {length} bytes");
            }
            let zeroed = AnyMessage::decode(id, &vec![0; size]);
            assert_eq!(zeroed.is_ok(), INTEGERS_ONLY.contains(&name), "{name}, zeroed: {zeroed:?}");
            for byte in [9, 200, 255] {
                // Which of these bytes are a message depends on its fields; none may panic.
                let _ = AnyMessage::decode(id, &vec![byte; size]);
            }
        }
        assert_eq!(AnyMessage::decode(999, &[]), Err(WireError::UnknownId { id: 999 }));
    }

    #[test]
    fn a_foreign_enumeration_byte_is_refused() {
        let order = NewOrder {
            order_id: OrderId(1),
            instrument: InstrumentId(1),
            side: Side::Buy,
            order_type: OrderType::Limit,
            time_in_force: TimeInForce::Day,
            flags: 0,
            price: Price(1),
            quantity: Quantity(1),
            cause: Cause::NONE,
            account: AccountId::OWN,
            display_lots: 0,
            trigger: Price::ZERO,
            minimum_lots: 0,
            ends_s: 0,
        };
        let mut bytes = order.bytes().to_vec();
        assert_eq!(NewOrder::decode(&bytes), Ok(order));
        bytes[std::mem::offset_of!(NewOrder, side)] = 3;
        assert_eq!(
            NewOrder::decode(&bytes),
            Err(WireError::Invalid { name: "NewOrder", field: "side", value: 3 })
        );
    }
}
