//! `cli/tests/golden/messages.json` and `.csv` hold how two made-up messages of every kind are printed: one with all its
//! fields, one that leaves open what can be. After a wanted change: `cargo xtask gen`, and read
//! the difference.

use std::path::Path;

use wire::schema::{self, Field, Kind, TABLE};
use wire::{AnyMessage, OrderId, StrategyId};

use super::*;

/// Numbers that are all different, so that no two fields can be mistaken for each other.
struct Fixture {
    next: u64,
    is_open: bool,
}

impl Fixture {
    fn payload(&mut self, record: &schema::Record) -> Vec<u8> {
        let mut bytes = vec![0; record.size];
        for field in record.fields {
            self.fill(field, &mut bytes[field.offset..field.offset + field.size]);
        }
        bytes
    }

    fn fill(&mut self, field: &Field, bytes: &mut [u8]) {
        self.next += 1;
        let next = self.next;
        let number = match field.kind {
            _ if self.is_open && field.none.is_some() => field.none.unwrap() as u64,
            Kind::Opaque | Kind::Reserved => return,
            Kind::Text => return bytes[..4].copy_from_slice(b"AAPL"),
            Kind::Record(inner) => return bytes.copy_from_slice(&self.payload(inner)),
            Kind::List(item) => {
                for (index, place) in bytes.chunks_exact_mut(item.size).enumerate() {
                    let is_open = self.is_open;
                    self.is_open |= index >= 2;
                    place.copy_from_slice(&self.payload(item));
                    self.is_open = is_open;
                }
                return;
            }
            Kind::WideMoney => {
                return bytes.copy_from_slice(&(-i128::from(next) * 1_000_000_001).to_le_bytes());
            }
            Kind::Enum(kind) => kind.members[next as usize % kind.members.len()].value.into(),
            Kind::Flags(kind) if self.is_open => kind.flags[0].bit,
            Kind::Flags(kind) => kind.flags.iter().map(|flag| flag.bit).sum(),
            Kind::Price => next * 1_010_000_000,
            Kind::Money => (next * 1_010_000).wrapping_neg(),
            Kind::Time => 1_700_000_000_000_000_000 + next,
            Kind::Position => next * 64,
            Kind::Order => OrderId::new(StrategyId(7), 1, next as u32).0,
            _ => next,
        };
        bytes.copy_from_slice(&number.to_le_bytes()[..bytes.len()]);
    }
}

fn records() -> Vec<Record> {
    let mut records = Vec::new();
    for is_open in [false, true] {
        let mut fixture = Fixture { next: 0, is_open };
        for message in TABLE {
            let payload = fixture.payload(message.record);
            let content = Content::Message(AnyMessage::decode(message.id, &payload).expect("a message"));
            records.push(Record::Frame {
                position: 64 * (records.len() as u64 + 1),
                time: 1_700_000_000_000_000_000,
                topic: 3,
                epoch: 1,
                id: message.id,
                bytes: payload.len(),
                record_bytes: None,
                content: Box::new(content),
            });
        }
    }
    records
}

fn compare(file: &str, printed: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(file);
    ::golden::hold(&path, printed);
}

#[test]
fn every_message_is_printed_as_in_its_golden_file() {
    let records = records();
    assert!(records.len() >= 30);
    let json: String = records.iter().map(|record| format!("{}\n", record.json("j"))).collect();
    compare("messages.json", &json);
    let mut csv = csv::Writer::from_writer(Vec::new());
    csv.write_record(Record::columns()).unwrap();
    records.iter().for_each(|record| csv.write_record(record.row("j")).unwrap());
    compare("messages.csv", std::str::from_utf8(&csv.into_inner().unwrap()).unwrap());
}

/// No column is without a value in all of the messages, and no value without a column.
#[test]
fn every_column_is_used() {
    let mut open: std::collections::BTreeSet<&str> = columns().iter().map(String::as_str).collect();
    for record in records() {
        let json = record.json("j");
        for (name, value) in json["fields"].as_object().unwrap() {
            assert!(columns().contains(name), "{name} has no column");
            if !value.is_null() {
                open.remove(name.as_str());
            }
        }
    }
    assert!(open.is_empty(), "{open:?} are always null");
}
