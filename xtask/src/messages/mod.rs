//! The messages in the languages of `bindings/`, from the table of fields, with samples that their tests read.

mod go;
mod java;
mod samples;

use std::collections::BTreeMap;

use wire::schema::{Enumeration, Flags, Kind, Record, TABLE};

/// In the first line of everything that is made here.
pub(crate) const MADE: &str = "by `cargo xtask gen` from the table of fields. DO NOT EDIT.";

/// What the messages consist of, each once.
#[derive(Default)]
struct Parts {
    records: BTreeMap<&'static str, &'static Record>,
    enumerations: BTreeMap<&'static str, &'static Enumeration>,
    flags: BTreeMap<&'static str, &'static Flags>,
}

impl Parts {
    fn of_table() -> Parts {
        let mut parts = Parts::default();
        TABLE.iter().for_each(|message| parts.collect(message.record));
        for message in TABLE {
            parts.records.remove(message.record.name);
        }
        parts
    }

    fn collect(&mut self, record: &'static Record) {
        self.records.insert(record.name, record);
        for field in record.fields {
            match field.kind {
                Kind::Enum(enumeration) => drop(self.enumerations.insert(enumeration.name, enumeration)),
                Kind::Flags(flags) => drop(self.flags.insert(flags.name, flags)),
                Kind::Record(inner) | Kind::List(inner) => self.collect(inner),
                _ => {}
            }
        }
    }
}

/// `partially-filled`, `order_id` → `PartiallyFilled`, `OrderId`.
fn camel(name: &str) -> String {
    let words = name.split(['-', '_', '.', ' ']);
    words.map(|word| word[..1].to_uppercase() + &word[1..]).collect()
}

/// A doc comment without the marks of links.
fn prose(doc: &str) -> String {
    doc.replace("[`", "`").replace("`]", "`").replace("::", ".")
}

/// Every file of messages.
pub(crate) fn files() -> Vec<(String, String)> {
    let of_class = |(name, text)| (format!("{JAVA}/{name}.java"), text);
    let mut files: Vec<_> = java::files().into_iter().map(of_class).collect();
    files.push(("bindings/go/wire/messages.go".to_owned(), go::messages()));
    files.push(("bindings/vectors/messages.txt".to_owned(), samples::text()));
    files
}

/// The classes of Java, which are all the files of their folder that say so.
pub(crate) const JAVA: &str = "bindings/java/src/main/java/colo/wire";
