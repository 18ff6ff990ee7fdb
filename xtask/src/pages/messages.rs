//! `docs/messages.md`: every message, enumeration and flag, from the table of fields.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use wire::schema::{Enumeration, Field, Flags, Kind, Record, TABLE, VERSION};
use wire::{Best, Price};

use super::Part;

/// The page, behind what people write.
pub(super) fn part() -> Part {
    Part {
        page: "docs/messages.md",
        begin: "<!-- From here on made by `cargo xtask gen` from the table of fields -->\n",
        end: None,
        text: generated(),
    }
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
