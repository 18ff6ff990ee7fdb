//! The messages in the languages of `bindings/`, made from the table of fields, with samples that their tests read. After a
//! wanted change of a message: `UPDATE_GOLDEN=1 cargo test -p wire --test bindings`.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::panic, reason = "a test that cannot go on fails")]

#[path = "bindings/go.rs"]
mod go;
#[path = "bindings/java.rs"]
mod java;
#[path = "bindings/samples.rs"]
mod samples;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use wire::schema::{Enumeration, Flags, Kind, Record, TABLE};

/// First line of everything that is made here.
const MADE: &str = "made from the table of fields: see wire/tests/bindings.rs. DO NOT EDIT.";

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

/// The file as it is to be, or the difference.
fn hold(file: &str, wanted: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        return fs::write(path, wanted).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    let differs = found.lines().zip(wanted.lines()).position(|(found, wanted)| found != wanted);
    assert!(
        found == wanted,
        "{file} is not as the types are, from line {differs:?} on; after a wanted change: \
         UPDATE_GOLDEN=1 cargo test -p wire --test bindings"
    );
}

#[test]
fn the_messages_in_go_are_those_of_the_types() {
    hold("bindings/go/wire/messages.go", &go::messages());
}

#[test]
fn the_messages_in_java_are_those_of_the_types() {
    let files = java::files();
    for (name, text) in &files {
        hold(&format!("bindings/java/src/main/java/colo/wire/{name}.java"), text);
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bindings/java/src/main/java/colo/wire");
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let is_made = fs::read_to_string(&path).unwrap().contains(MADE);
        assert!(
            !is_made || files.contains_key(&name),
            "{name}.java is of a message that is not there any more"
        );
    }
    println!("{} files", files.len());
}

#[test]
fn the_samples_are_those_of_the_types() {
    hold("bindings/vectors/messages.txt", &samples::text());
}
