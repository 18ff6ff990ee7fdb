//! `docs/messages.md` and the code say the same. After a wanted change of a message:
//! `UPDATE_GOLDEN=1 cargo test -p wire --test messages_document`, and read the difference.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::panic, reason = "a test that cannot go on fails")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use wire::schema::{Enumeration, Field, Flags, Kind, Record, TABLE, VERSION};
use wire::*;

const START: &str =
    "<!-- From here on made from the table of fields: see wire/tests/messages_document.rs -->\n";

fn path(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file)
}

/// What the records name, each once.
#[derive(Default)]
struct Named {
    parts: BTreeMap<&'static str, &'static Record>,
    enumerations: BTreeMap<&'static str, &'static Enumeration>,
    flags: BTreeMap<&'static str, &'static Flags>,
}

impl Named {
    fn of_table() -> Named {
        let mut named = Named::default();
        TABLE.iter().for_each(|message| named.collect(message.record));
        named
    }

    fn collect(&mut self, record: &'static Record) {
        for field in record.fields {
            match field.kind {
                Kind::Enum(enumeration) => drop(self.enumerations.insert(enumeration.name, enumeration)),
                Kind::Flags(flags) => drop(self.flags.insert(flags.name, flags)),
                Kind::Record(inner) => self.collect(inner),
                Kind::List(item) => {
                    self.parts.insert(item.name, item);
                    self.collect(item);
                }
                _ => {}
            }
        }
    }

    /// A doc comment as the document has it: members by their printed names, constants by their values.
    fn prose(&self, doc: &str) -> String {
        let mut text = String::new();
        for (index, part) in doc.split('`').enumerate() {
            let is_name = index % 2 == 1;
            if !is_name {
                text.push_str(part);
                continue;
            }
            let constant = match part {
                "Price::NONE" => Some(Price::NONE.0.to_string()),
                "Best::MOST" => Some(Best::MOST.to_string()),
                "u16::MAX" => Some(u16::MAX.to_string()),
                _ => None,
            };
            if let Some(value) = constant {
                write!(text, "`{part}` ({value})").unwrap();
                continue;
            }
            let name = self.member(part).map_or_else(|| part.replace("::", "."), str::to_owned);
            let is_constant = name
                .split('.')
                .nth(1)
                .is_some_and(|word| word.chars().all(|c| c.is_ascii_uppercase() || c == '_'));
            assert!(!is_constant, "`{name}` is a constant that the document does not explain: add it here");
            write!(text, "`{name}`").unwrap();
        }
        text.replace("[`", "`").replace("`]", "`").replace(")]", ")").replace('|', "\\|")
    }

    /// The printed name of `Enumeration::Member`.
    fn member(&self, path: &str) -> Option<&'static str> {
        let (name, member) = path.split_once("::")?;
        let plain = |text: &str| text.replace('-', "").to_lowercase();
        let members = self.enumerations.get(name)?.members;
        members.iter().find(|known| plain(known.name) == plain(member)).map(|known| known.name)
    }

    /// The rows of a record whose first byte is at `offset`. A record within is unfolded, a list is one row.
    fn rows(&self, record: &Record, offset: usize, before: &str, table: &mut String) {
        for field in record.fields {
            let (offset, name) = (offset + field.offset, format!("{before}{}", field.name));
            if let Kind::Record(inner) = field.kind {
                self.rows(inner, offset, &format!("{name}."), table);
                continue;
            }
            let mut doc = self.prose(field.doc);
            if field.since > 1 {
                write!(doc, " Since version {}.", field.since).unwrap();
            }
            writeln!(table, "| {offset} | {name} | {} | {} | {doc} |", type_of(field), unit_of(field))
                .unwrap();
        }
    }

    fn table(&self, record: &Record) -> String {
        let mut table = String::from("| offset | field | type | unit | holds |\n|---|---|---|---|---|\n");
        self.rows(record, 0, "", &mut table);
        table
    }

    fn values<'a>(&self, rows: impl Iterator<Item = (u64, &'a str, &'a str)>) -> String {
        let mut table = String::from("\n| value | name | meaning |\n|---|---|---|\n");
        for (value, name, doc) in rows {
            writeln!(table, "| {value} | {name} | {} |", self.prose(doc)).unwrap();
        }
        table
    }
}

fn type_of(field: &Field) -> String {
    match field.kind {
        Kind::Text | Kind::Opaque | Kind::Reserved => {
            format!("{} byte{}", field.size, if field.size == 1 { "" } else { "s" })
        }
        Kind::List(item) => format!("{} × {}", field.size / item.size, item.name),
        kind => format!("{}{}", if kind.is_signed() { "i" } else { "u" }, field.size * 8),
    }
}

fn unit_of(field: &Field) -> String {
    match field.kind {
        Kind::Enum(_) => format!("`{}`", field.kind.unit()),
        Kind::Flags(_) => format!("`{}` bits", field.kind.unit()),
        Kind::List(item) => format!("{} bytes each", item.size),
        kind => kind.unit().to_owned(),
    }
}

/// What follows the marker in the document.
fn generated() -> String {
    let named = Named::of_table();
    let mut text = format!("\n## The messages\n\nVersion {VERSION}.\n");
    let mut section = |id: &str, record: &Record| {
        let (name, size, doc) = (record.name, record.size, named.prose(record.doc));
        write!(text, "\n### {id}{name}, {size} bytes\n\n{doc}\n\n{}", named.table(record)).unwrap();
    };
    TABLE.iter().for_each(|message| section(&format!("{} ", message.id), message.record));
    named.parts.values().for_each(|part| section("", part));
    text.push_str("\n## The enumerations\n\nOne byte each. No member is 0: a message with a value that is not listed is damaged, or of another version.\n");
    for (name, enumeration) in &named.enumerations {
        let members = enumeration.members.iter();
        let table = named.values(members.map(|member| (member.value.into(), member.name, member.doc)));
        write!(text, "\n### {name}\n\n{}\n{table}", named.prose(enumeration.doc)).unwrap();
    }
    text.push_str(
        "\n## The flags\n\nA word is the sum of those that are set. Bits that are not listed are zero.\n",
    );
    for (name, flags) in &named.flags {
        let table = named.values(flags.flags.iter().map(|flag| (flag.bit, flag.name, flag.doc)));
        write!(text, "\n### {name}\n{table}").unwrap();
    }
    text
}

#[test]
fn the_document_says_what_the_types_are() {
    let file = path("docs/messages.md");
    let text = std::fs::read_to_string(&file).expect("docs/messages.md is there");
    let (head, found) = text.split_once(START).expect("the document has its marker");
    let wanted = generated();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&file, format!("{head}{START}{wanted}")).unwrap();
        return;
    }
    for (line, (found, wanted)) in found.lines().zip(wanted.lines()).enumerate() {
        assert_eq!(
            found, wanted,
            "line {line} after the marker of docs/messages.md; after a wanted change: \
             UPDATE_GOLDEN=1 cargo test -p wire --test messages_document"
        );
    }
    assert_eq!(found.lines().count(), wanted.lines().count(), "UPDATE_GOLDEN=1 writes it anew");
    println!("{} messages are as the document says", TABLE.len());
    assert!(!TABLE.is_empty());
}

/// The part above the marker, which people write, names what the code has.
#[test]
fn units_and_parts_in_the_document_are_those_of_the_code() {
    let text = std::fs::read_to_string(path("docs/messages.md")).unwrap();
    let says = |sentence: &str| assert!(text.contains(sentence), "the document does not say: {sentence}");
    says(&format!("`value / {}`", Price::ONE));
    says(&format!("`value / {}`", Money::ONE));
    says(&Price::NONE.0.to_string());
    says(&format!("1 to {}", MAX_INSTRUMENTS - 1));
    says(&format!("{} bytes of UTF-8", Symbol::CAPACITY));
    let id = OrderId::new(StrategyId(0x1234), 0x5678, 0x9abc_def0);
    assert_eq!(id.0, 0x1234_5678_9abc_def0, "the bits of an order id");
    says("seat = id >> 48");
    assert_eq!(id.to_string(), format!("{}-{}-{}", 0x1234, 0x5678, 0x9abc_def0_u32));
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// `examples/readers/messages.py` knows nothing but the document.
#[test]
fn a_program_that_knows_only_the_document_reads_the_messages() {
    let mut quote = Quote::empty(InstrumentId(3));
    (quote.sequence, quote.event_time) = (77, Nanos(5));
    quote.bids[0] = Level { price: Price(12_340_000_000), quantity: Quantity(700) };
    quote.flags = Quote::CALL_AUCTION;
    quote.asks[9] = Level { price: Price(-1), quantity: Quantity(9) };
    let fill = Fill {
        order_id: OrderId::new(StrategyId(7), 2, 42),
        trade_id: 11,
        instrument: InstrumentId(3),
        side: Side::Sell,
        liquidity: Liquidity::Taker,
        reserved: [0; 2],
        price: Price(12_340_000_000),
        quantity: Quantity(5),
        remaining: Quantity(2),
        event_time: Nanos(6),
        execution: 4096,
        answered_up_to: 0,
    };
    let cancel = CancelOrder::new(OrderId::new(StrategyId(7), 2, 43), InstrumentId(3));
    let position = PositionState {
        cash: WideMoney::from_wide(-1_500_000_001),
        ..PositionState::decode(&[0; PositionState::SIZE]).unwrap()
    };
    let frames = [
        (Quote::ID, hex(quote.bytes())),
        (Fill::ID, hex(fill.bytes())),
        (CancelOrder::ID, hex(cancel.bytes())),
        (PositionState::ID, hex(position.bytes())),
        (Fill::ID, hex(&fill.bytes()[..8])),
        (9_999, String::new()),
    ];
    let input: String = frames
        .iter()
        .map(|(id, payload)| {
            format!("{{\"position\": 64, \"id\": {id}, \"topic\": 3, \"payload\": \"{payload}\"}}\n")
        })
        .collect();
    let python = Command::new("python3")
        .arg(path("examples/readers/messages.py"))
        .arg(path("docs/messages.md"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn();
    let mut python = match python {
        Ok(python) => python,
        Err(error) => return println!("skipped: python3: {error}"),
    };
    python.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = python.wait_with_output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), frames.len(), "{text}");
    let says = |line: usize, words: &[&str]| {
        for word in words {
            assert!(lines[line].contains(word), "{word} is not in {}", lines[line]);
        }
    };
    let first_bid = "\"bids\": [{\"price\": 12.34, \"quantity\": 700}, {\"price\": null, \"quantity\": 0}";
    says(
        0,
        &[
            "\"message\": \"Quote\"",
            "\"instrument\": 3",
            "\"sequence\": 77",
            "\"last_price\": null",
            "\"flags\": [\"call_auction\"]",
            first_bid,
        ],
    );
    says(0, &["{\"price\": -1e-09, \"quantity\": 9}]"]);
    says(
        1,
        &[
            "\"order_id\": \"7-2-42\"",
            "\"side\": \"sell\"",
            "\"liquidity\": \"taker\"",
            "\"price\": 12.34",
            "\"execution\": 4096",
        ],
    );
    says(2, &["\"message\": \"CancelOrder\"", "\"order_id\": \"7-2-43\""]);
    says(3, &["\"cash\": -1.500000001"]);
    says(4, &["\"error\""]);
    says(5, &["\"error\""]);
}
