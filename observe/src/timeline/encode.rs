//! Protocol buffers, as far as a trace needs them: numbers and bytes behind a tag.

/// A message that is being written.
#[derive(Clone, Debug, Default)]
pub(super) struct Message(Vec<u8>);

const VARINT: u64 = 0;
const FIXED_64: u64 = 1;
const BYTES: u64 = 2;

impl Message {
    pub(super) fn number(mut self, field: u64, value: u64) -> Message {
        varint(&mut self.0, field << 3 | VARINT);
        varint(&mut self.0, value);
        self
    }

    /// A signed number without zigzag: `int32` and `int64`.
    pub(super) fn signed(self, field: u64, value: i64) -> Message {
        self.number(field, value as u64)
    }

    pub(super) fn fixed(mut self, field: u64, value: u64) -> Message {
        varint(&mut self.0, field << 3 | FIXED_64);
        self.0.extend(value.to_le_bytes());
        self
    }

    pub(super) fn text(self, field: u64, text: &str) -> Message {
        self.bytes(field, text.as_bytes())
    }

    pub(super) fn message(self, field: u64, inner: &Message) -> Message {
        self.bytes(field, &inner.0)
    }

    pub(super) fn bytes(mut self, field: u64, bytes: &[u8]) -> Message {
        varint(&mut self.0, field << 3 | BYTES);
        varint(&mut self.0, bytes.len() as u64);
        self.0.extend(bytes);
        self
    }

    pub(super) fn finished(&self) -> &[u8] {
        &self.0
    }
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_are_those_of_the_examples_in_the_format_s_own_documentation() {
        // https://protobuf.dev/programming-guides/encoding: 150 in field 1, "testing" in field 2, a message in field 3.
        let number = Message::default().number(1, 150);
        assert_eq!(number.finished(), [0x08, 0x96, 0x01]);
        let text = Message::default().text(2, "testing");
        assert_eq!(text.finished(), [0x12, 0x07, 0x74, 0x65, 0x73, 0x74, 0x69, 0x6e, 0x67]);
        let inner = Message::default().message(3, &number);
        assert_eq!(inner.finished(), [0x1a, 0x03, 0x08, 0x96, 0x01]);
        let negative = Message::default().signed(1, -2);
        assert_eq!(negative.finished(), [8, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]);
        assert_eq!(Message::default().fixed(1, 1).finished(), [9, 1, 0, 0, 0, 0, 0, 0, 0]);
    }
}
