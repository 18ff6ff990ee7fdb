//! One message of a frame, or one gap, as it is printed: a line of text, a JSON object, a row of CSV.

use journal::layout::frame::RECORD;
use journal::{Frame, Gap};
use serde_json::{Value, json};
use wire::{AnyMessage, WireError};

use crate::message::{brief, columns, object_of};

/// CSV columns of the frame itself; those of its message follow, then `payload`.
const FRAME_COLUMNS: &[&str] = &[
    "journal",
    "position",
    "time_ns",
    "topic",
    "epoch",
    "message_id",
    "message",
    "bytes",
    "record_bytes",
    "lost_bytes",
    "error",
];
/// Place of `error` among them.
const ERROR: usize = FRAME_COLUMNS.len() - 1;
/// Last column: the bytes in hex where they could not be decoded.
const PAYLOAD_COLUMN: &str = "payload";

/// Why frames of a journal that lives, or did, are missing.
pub(super) const OVERWRITTEN: &str = "they were overwritten";

/// What stands at one place of a journal.
#[derive(Clone, Debug)]
pub(super) enum Record {
    Frame {
        position: u64,
        time: u64,
        topic: u32,
        epoch: u32,
        id: u16,
        bytes: usize,
        /// Size of each message of a frame of records; `None` for a frame that is one message.
        record_bytes: Option<usize>,
        content: Box<Content>,
    },
    /// Frames that are missing, and why.
    Gap(Gap, &'static str),
    /// All behind this position is missing, however much that was, and why.
    End(u64, &'static str),
}

/// A payload.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "almost all are messages, and few are kept at a time")]
pub(super) enum Content {
    Message(AnyMessage),
    /// No message of this version: why, and the bytes.
    Unknown(String, Vec<u8>),
}

impl Record {
    /// The messages of a frame: of one of records each, with its own position. Records that do not fill their frame are
    /// shown as what they are, so that nothing of it is hidden.
    pub(super) fn all_of<'a>(frame: &'a Frame<'_>) -> impl Iterator<Item = Record> + 'a {
        let (size, length) = (usize::from(frame.flags & RECORD), frame.payload.len());
        let record_bytes = (size != 0).then_some(size);
        let is_whole = size == 0 || length > 0 && length.is_multiple_of(size);
        let torn = (!is_whole).then(|| {
            let error = format!("records of {size} bytes do not fill a payload of {length}");
            (frame.position, Content::Unknown(error, frame.payload.to_vec()))
        });
        let records = frame.records().filter(move |_| is_whole);
        let decoded = records.map(move |(position, payload)| {
            let content = match AnyMessage::decode(frame.message_id, payload) {
                Ok(message) => Content::Message(message),
                Err(error) => Content::Unknown(why(error, record_bytes), payload.to_vec()),
            };
            (position, content)
        });
        decoded.chain(torn).map(move |(position, content)| Record::Frame {
            position,
            time: frame.time,
            topic: frame.topic,
            epoch: frame.epoch,
            id: frame.message_id,
            bytes: if is_whole { record_bytes.unwrap_or(length) } else { length },
            record_bytes,
            content: Box::new(content),
        })
    }

    /// Of the message, or of the first byte that is missing.
    pub(super) fn position(&self) -> u64 {
        match self {
            Record::Frame { position, .. } => *position,
            Record::Gap(gap, _) => gap.from,
            Record::End(position, _) => *position,
        }
    }

    /// For people: position, time of day in UTC, what it says.
    pub(super) fn text(&self) -> String {
        match self {
            Record::Gap(gap, why) => format!(
                "{:>12}  --  {} bytes are lost: {why}; going on at {}",
                gap.from,
                gap.bytes(),
                gap.resumed_at
            ),
            Record::End(position, why) => format!("{position:>12}  --  what follows is lost: {why}"),
            Record::Frame { position, time, id, topic, content, .. } => {
                let said = match content.as_ref() {
                    Content::Message(message) => brief(message),
                    Content::Unknown(error, payload) => {
                        format!("! id {id} topic {topic}: {error}: {}", hex(payload))
                    }
                };
                format!("{position:>12}  {}  {said}", time_of_day(*time))
            }
        }
    }

    /// One object.
    pub(super) fn json(&self, journal: &str) -> Value {
        match self {
            Record::Gap(gap, why) => json!({
                "journal": journal,
                "position": gap.from,
                "message": "gap",
                "reason": why,
                "lost_bytes": gap.bytes(),
                "resumed_at": gap.resumed_at,
            }),
            Record::End(position, why) => json!({
                "journal": journal,
                "position": position,
                "message": "gap",
                "reason": why,
                "lost_bytes": null,
                "resumed_at": null,
            }),
            Record::Frame { position, time, topic, epoch, id, bytes, record_bytes, content } => {
                let mut object = json!({
                    "journal": journal,
                    "position": position,
                    "time_ns": time,
                    "topic": topic,
                    "epoch": epoch,
                    "message_id": id,
                    "message": null,
                    "bytes": bytes,
                    "record_bytes": record_bytes,
                });
                match content.as_ref() {
                    Content::Message(message) => {
                        object["message"] = json!(message.name());
                        object["fields"] = Value::Object(object_of(message));
                    }
                    Content::Unknown(error, payload) => {
                        object["error"] = json!(error);
                        object["payload"] = json!(hex(payload));
                    }
                }
                object
            }
        }
    }

    /// Names of the CSV columns.
    pub(super) fn columns() -> impl Iterator<Item = &'static str> {
        FRAME_COLUMNS.iter().copied().chain(columns().iter().map(String::as_str)).chain([PAYLOAD_COLUMN])
    }

    /// The CSV row.
    pub(super) fn row(&self, journal: &str) -> Vec<String> {
        let whole = self.json(journal);
        let cell = |name: &str| whole.get(name).map(plain).unwrap_or_default();
        let mut row: Vec<String> = FRAME_COLUMNS.iter().map(|name| cell(name)).collect();
        if let Record::Gap(_, why) | Record::End(_, why) = self {
            row[ERROR] = (*why).to_owned();
        }
        let fields = &whole["fields"];
        row.extend(columns().iter().map(|name| fields.get(name).map(plain).unwrap_or_default()));
        row.push(cell(PAYLOAD_COLUMN));
        row
    }
}

/// Why these bytes are no message: of a record the size is its frame's, not its own.
fn why(error: WireError, record_bytes: Option<usize>) -> String {
    match (error, record_bytes) {
        (WireError::Size { name, expected, .. }, Some(size)) => {
            format!("a {name} has {expected} bytes, but the records of this frame have {size}")
        }
        (error, _) => error.to_string(),
    }
}

/// A value in a cell: levels of a book as `PRICE*QUANTITY PRICE*QUANTITY …`.
fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(levels) => {
            let joined = |values: &[Value], by: &str| values.iter().map(plain).collect::<Vec<_>>().join(by);
            match levels.first() {
                Some(Value::Array(_)) => joined(levels, " "),
                _ => joined(levels, "*"),
            }
        }
        other => other.to_string(),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// `06:30:00.123456789`, UTC.
pub(super) fn time_of_day(nanos: u64) -> String {
    let (seconds, fraction) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
    let (hours, minutes) = (seconds / 3_600 % 24, seconds / 60 % 60);
    format!("{hours:02}:{minutes:02}:{:02}.{fraction:09}", seconds % 60)
}

#[cfg(test)]
mod golden;

#[cfg(test)]
mod tests {
    use super::*;
    use wire::{CancelOrder, InstrumentId, Message, OrderId, StrategyId};

    fn frame(id: u16, payload: &[u8]) -> Frame<'_> {
        Frame {
            position: 640,
            time: 23_400_123_456_789,
            message_id: id,
            flags: 0,
            topic: 3,
            epoch: 1,
            payload,
        }
    }

    fn one(frame: &Frame<'_>) -> Record {
        let mut all = Record::all_of(frame);
        let record = all.next().unwrap();
        assert!(all.next().is_none());
        record
    }

    #[test]
    fn a_message_is_printed_in_three_ways() {
        let cancel = CancelOrder::new(OrderId::new(StrategyId(7), 1, 42), InstrumentId(3));
        let record = one(&frame(CancelOrder::ID, cancel.bytes()));
        assert_eq!(
            record.text(),
            "         640  06:30:00.123456789  CancelOrder order_id 7-1-42 instrument 3"
        );
        let json = record.json("orders.a");
        assert_eq!(
            (&json["message"], &json["fields"]["order_id"]),
            (&json!("CancelOrder"), &json!("7-1-42"))
        );
        let row = record.row("orders.a");
        assert_eq!(row.len(), Record::columns().count());
        let cell = |name: &str| row[Record::columns().position(|column| column == name).unwrap()].clone();
        assert_eq!(
            (cell("journal"), cell("order_id"), cell("price")),
            ("orders.a".into(), "7-1-42".into(), "".into())
        );
    }

    #[test]
    fn what_is_no_message_keeps_its_bytes_and_a_gap_says_how_much_is_lost() {
        let record = one(&frame(999, &[0xab, 0x01]));
        let json = record.json("x");
        assert_eq!((&json["message"], &json["payload"]), (&Value::Null, &json!("ab01")));
        assert!(record.text().contains("ab01") && record.row("x").last().unwrap() == "ab01");
        let gap = Record::Gap(Gap { from: 64, resumed_at: 640 }, OVERWRITTEN);
        let said = gap.json("x");
        assert_eq!(
            (&said["lost_bytes"], &said["message"], &said["reason"]),
            (&json!(576), &json!("gap"), &json!(OVERWRITTEN))
        );
        let columns: Vec<&str> = Record::columns().collect();
        let row = gap.row("x");
        let cell = |name: &str| row[columns.iter().position(|column| *column == name).unwrap()].as_str();
        assert_eq!((cell("message"), cell("lost_bytes"), cell("position")), ("gap", "576", "64"));
        assert_eq!(cell("error"), OVERWRITTEN);
    }

    #[test]
    fn records_that_do_not_fill_their_frame_are_one_row_that_says_so() {
        for (size, payload) in [(4, &[1_u8, 2, 3, 4, 5, 6][..]), (8, &[])] {
            let json = one(&Frame { flags: size, ..frame(CancelOrder::ID, payload) }).json("x");
            assert_eq!((&json["position"], &json["record_bytes"]), (&json!(640), &json!(size)));
            let error = format!("records of {size} bytes do not fill a payload of {}", payload.len());
            assert_eq!((&json["error"], &json["payload"]), (&json!(error), &json!(hex(payload))));
        }
    }

    #[test]
    fn columns_have_names_of_their_own() {
        let mut columns: Vec<&str> = Record::columns().collect();
        let count = columns.len();
        columns.sort_unstable();
        columns.dedup();
        assert_eq!(columns.len(), count);
    }
}
