//! The lengths that a message's payload has had.
//!
//! A message grows at its end: a field that a later version brings stands behind all others, and is zero where a message says nothing
//! by it. So a payload of an earlier version is the beginning of one of today, and a payload whose last fields are zero is written as
//! the earliest version has it that has all the others.

use super::{Record, VERSION};

/// From this version on new fields are appended. Those before it took bytes that were reserved.
pub const APPENDED_FROM: u16 = 13;

impl Record {
    /// Bytes of the payload in a version of the messages; zero in one that does not have the message.
    pub const fn size_in(&self, version: u16) -> usize {
        let version = if version < APPENDED_FROM { APPENDED_FROM - 1 } else { version };
        let (mut place, mut size) = (0, 0);
        while place < self.fields.len() {
            let field = &self.fields[place];
            if field.since <= version && field.offset + field.size > size {
                size = field.offset + field.size;
            }
            place += 1;
        }
        size
    }

    /// Bytes of the payload in the first version that has the message.
    pub(crate) const fn shortest(&self) -> usize {
        let mut version = APPENDED_FROM - 1;
        while version < VERSION && self.size_in(version) == 0 {
            version += 1;
        }
        match self.size_in(version) {
            0 => self.size,
            size => size,
        }
    }

    /// Whether a payload had so many bytes in some version, or has them today.
    pub(crate) fn had_length(&self, length: usize) -> bool {
        let mut versions = APPENDED_FROM - 1..=VERSION;
        length == self.size || (length > 0 && versions.any(|version| self.size_in(version) == length))
    }

    /// As few of a message's bytes as a version has had that say the same.
    pub(crate) fn shortened<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        let says = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        let sizes = (APPENDED_FROM - 1..=VERSION).map(|version| self.size_in(version));
        let fits = sizes.filter(|size| *size > 0 && *size >= says).min();
        bytes.get(..fits.unwrap_or(bytes.len())).unwrap_or(bytes)
    }
}

#[cfg(test)]
mod tests {
    use wire_derive::Described;
    use zerocopy::{Immutable, IntoBytes, KnownLayout, TryFromBytes};

    use super::*;
    use crate::message::TABLE;
    use crate::schema::{Described, Kind, Value, View, newer};
    use crate::{Message, Side, WireError};

    /// A message that has grown twice.
    #[derive(Clone, Copy, Debug, PartialEq, TryFromBytes, IntoBytes, KnownLayout, Immutable, Described)]
    #[repr(C)]
    struct Grown {
        /// Of the first version.
        number: u64,
        /// An enumeration, which zero is no member of.
        side: Side,
        /// Zero.
        reserved: [u8; 3],
        /// In what was reserved.
        #[field(since = 4)]
        account: u32,
        /// Appended.
        #[field(since = 13)]
        condition: u64,
        /// Appended later.
        #[field(since = 15)]
        other: u64,
    }

    impl Message for Grown {
        const ID: u16 = 9_999;
        const NAME: &'static str = "Grown";
    }

    const ONE: Grown =
        Grown { number: 7, side: Side::Sell, reserved: [0; 3], account: 3, condition: 0, other: 0 };

    #[test]
    fn a_payload_of_an_earlier_version_is_one_of_today() {
        let sizes: Vec<usize> =
            [0, 1, 4, 12, 13, 14, 15].iter().map(|version| Grown::RECORD.size_in(*version)).collect();
        assert_eq!(sizes, [16, 16, 16, 16, 24, 24, 32]);
        assert_eq!((Grown::SIZE, Grown::RECORD.shortest()), (32, 16));
        assert_eq!(ONE.bytes().len(), 16, "what says nothing is not written");
        assert_eq!(Grown::decode(ONE.bytes()), Ok(ONE));
        assert_eq!(Grown::read(ONE.bytes(), |grown| *grown), Ok(ONE));
        let two = Grown { other: 5, ..ONE };
        assert_eq!((two.bytes().len(), Grown::decode(two.bytes())), (32, Ok(two)));
        assert_eq!(Grown::decode(two.as_bytes()), Ok(two));
        for length in [0, 8, 15, 17, 33, 40] {
            let wrong = Err(WireError::Size { name: "Grown", expected: 32, found: length });
            assert_eq!(Grown::decode(&vec![1; length]), wrong, "{length}");
        }
        let mut foreign = ONE.bytes().to_vec();
        foreign[8] = 77;
        let wrong = WireError::Invalid { name: "Grown", field: "side", value: 77 };
        assert_eq!(Grown::decode(&foreign), Err(wrong));
    }

    #[test]
    fn a_view_of_an_earlier_version_has_zeros_where_it_had_nothing() {
        let view = View::of_message(&ONE);
        let values: Vec<_> = view.fields().map(|(field, value)| (field.name, value)).collect();
        assert_eq!(values.len(), 5, "reserved bytes are no field");
        assert_eq!(values[3], ("condition", Some(Value::Unsigned(0))));
        assert_eq!(values[4], ("other", Some(Value::Unsigned(0))));
    }

    #[test]
    fn what_is_appended_comes_behind_all_and_has_a_zero() {
        for message in TABLE.iter().map(|message| message.record).chain([Grown::RECORD]) {
            let mut newest = 0;
            for field in message.fields {
                let since = field.since.max(APPENDED_FROM - 1);
                assert!(since >= newest, "{}.{} stands before what came earlier", message.name, field.name);
                newest = since;
                let is_new_message = message.fields.iter().all(|other| other.since == field.since);
                let has_zero = !matches!(field.kind, Kind::Enum(_) | Kind::Record(_) | Kind::List(_));
                assert!(
                    since < APPENDED_FROM || is_new_message || has_zero,
                    "{}.{}: a field that is appended is a number, a text or flags, whose zero says what messages before it said",
                    message.name,
                    field.name
                );
            }
            assert_eq!(message.size_in(u16::MAX), message.size, "{}", message.name);
        }
        assert_eq!(newer(Grown::ID, ONE.bytes(), 12), None);
    }
}
