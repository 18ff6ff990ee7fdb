//! `docs/messages.md` and the code say the same. After a wanted change of a message:
//! `UPDATE_GOLDEN=1 cargo test -p wire --test messages_document`, and read the difference.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::panic, reason = "a test that cannot go on fails")]

mod support;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use support::{Described, enumerations, plain, structs};
use wire::*;

const START: &str =
    "<!-- From here on made from the source of `wire`: see wire/tests/messages_document.rs -->\n";

fn path(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file)
}

/// Constants that the texts name, as the compiler has them.
fn constants() -> BTreeMap<&'static str, String> {
    BTreeMap::from([
        ("Price::NONE", Price::NONE.0.to_string()),
        ("BookEvent::LOSES_PRIORITY", BookEvent::LOSES_PRIORITY.to_string()),
        ("BookEvent::LAST", BookEvent::LAST.to_string()),
        ("BookEvent::CALL_AUCTION", BookEvent::CALL_AUCTION.to_string()),
        ("Quote::CALL_AUCTION", Quote::CALL_AUCTION.to_string()),
        ("NodeEvent::STRATEGY", NodeEvent::STRATEGY.to_string()),
        ("NodeEvent::PLATFORM", NodeEvent::PLATFORM.to_string()),
        ("u16::MAX", u16::MAX.to_string()),
    ])
}

/// A doc comment as the document has it: members by their printed names, constants by their values.
fn prose(doc: &str, enumerations: &BTreeMap<String, Described>) -> String {
    let mut text = String::new();
    for (index, part) in doc.split('`').enumerate() {
        let is_name = index % 2 == 1;
        if !is_name {
            text.push_str(part);
            continue;
        }
        let member = part.split_once("::").and_then(|(name, member)| {
            let found = enumerations.get(name)?.members.iter().find(|known| known.name == member)?;
            found.kind.split_once(' ').map(|(_, text)| text.to_owned())
        });
        if let Some(value) = constants().get(part) {
            write!(text, "`{part}` ({value})").unwrap();
            continue;
        }
        let name = member.unwrap_or_else(|| part.replace("::", "."));
        let is_shouted = name
            .split('.')
            .nth(1)
            .is_some_and(|word| word.chars().all(|c| c.is_ascii_uppercase() || c == '_'));
        assert!(
            !is_shouted,
            "`{name}` is a constant that the document does not explain: add it to `constants`"
        );
        write!(text, "`{name}`").unwrap();
    }
    text.replace("[`", "`").replace("`]", "`").replace(")]", ")").replace('|', "\\|")
}

/// The rows of a struct from `offset` on, and where it ends. A struct within is unfolded, its array is one row.
fn rows(described: &Described, offset: usize, before: &str, known: &Known, table: &mut String) -> usize {
    let mut offset = offset;
    for member in &described.members {
        let name = format!("{before}{}", member.name);
        let doc = prose(&member.doc, &known.enumerations);
        let kind = member.kind.replace("LEVELS", &LEVELS.to_string());
        if let Some(inner) = known.structs.get(&kind) {
            offset = rows(inner, offset, &format!("{name}."), known, table);
            continue;
        }
        let (bytes, kind, unit) = known.layout(&kind);
        writeln!(table, "| {offset} | {name} | {kind} | {unit} | {doc} |").unwrap();
        offset += bytes;
    }
    offset
}

struct Known {
    structs: BTreeMap<String, Described>,
    enumerations: BTreeMap<String, Described>,
}

impl Known {
    fn layout(&self, kind: &str) -> (usize, String, String) {
        if let Some((bytes, name, unit)) = plain(kind) {
            return (bytes, name, unit.to_owned());
        }
        if self.enumerations.contains_key(kind) {
            return (1, "u8".to_owned(), format!("`{kind}`"));
        }
        if let Some((item, count)) =
            kind.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')?.split_once("; "))
            && let Some(inner) = self.structs.get(item)
        {
            let bytes = rows(inner, 0, "", self, &mut String::new());
            let count: usize = count.parse().unwrap();
            return (bytes * count, format!("{count} × {item}"), format!("{bytes} bytes each"));
        }
        panic!("`{kind}` is a type that this test does not know: add it to `support::plain`");
    }

    fn table(&self, described: &Described) -> (String, usize) {
        let mut table = String::from("| offset | field | type | unit | holds |\n|---|---|---|---|---|\n");
        let bytes = rows(described, 0, "", self, &mut table);
        (table, bytes)
    }
}

/// What follows the marker in the document.
fn generated() -> String {
    let known = Known { structs: structs(), enumerations: enumerations() };
    let mut text = String::from("\n## The messages\n");
    for &(id, name, size) in AnyMessage::ALL {
        let described = &known.structs[name];
        let (table, bytes) = known.table(described);
        // No message has padding, so that the sum of its fields is its size: the compiler holds us to both.
        assert_eq!(bytes, size, "{name}: the fields that this test has read are not the whole message");
        let doc = prose(&described.doc, &known.enumerations);
        write!(text, "\n### {id} {name}, {size} bytes\n\n{doc}\n\n{table}").unwrap();
    }
    let level = &known.structs["Level"];
    let (table, bytes) = known.table(level);
    assert_eq!(bytes, size_of::<Level>());
    write!(text, "\n### Level, {bytes} bytes\n\n{}\n\n{table}", prose(&level.doc, &known.enumerations))
        .unwrap();
    text.push_str("\n## The enumerations\n\nOne byte each. No member is 0: a message with a value that is not listed is damaged, or of another version.\n");
    for (name, described) in &known.enumerations {
        write!(
            text,
            "\n### {name}\n\n{}\n\n| value | name | meaning |\n|---|---|---|\n",
            prose(&described.doc, &known.enumerations)
        )
        .unwrap();
        for member in &described.members {
            let (value, word) = member.kind.split_once(' ').unwrap();
            writeln!(text, "| {value} | {word} | {} |", prose(&member.doc, &known.enumerations)).unwrap();
        }
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
    println!("{} messages are as the document says", AnyMessage::ALL.len());
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
    };
    let cancel = CancelOrder::new(OrderId::new(StrategyId(7), 2, 43), InstrumentId(3));
    let frames = [
        (Quote::ID, hex(quote.bytes())),
        (Fill::ID, hex(fill.bytes())),
        (CancelOrder::ID, hex(cancel.bytes())),
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
        Err(error) => return println!("SKIPPED: python3: {error}"),
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
    says(3, &["\"error\""]);
    says(4, &["\"error\""]);
}
