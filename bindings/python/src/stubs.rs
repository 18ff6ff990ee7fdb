//! The typed stubs of what is made from the table of fields.

use std::fmt::Write as _;

use pyo3::prelude::*;
use wire::schema::{Kind, Record};

use crate::messages::{best_of, is_level, is_shown, member_name, parts};

/// How Python's types name what a field holds.
fn annotation(kind: Kind) -> String {
    match kind {
        Kind::Text => "str".to_owned(),
        Kind::Opaque => "bytes".to_owned(),
        Kind::Enum(enumeration) => enumeration.name.to_owned(),
        Kind::Record(record) => record.name.to_owned(),
        Kind::List(record) if is_level(record) => "tuple[tuple[int, int], ...]".to_owned(),
        Kind::List(record) => format!("tuple[{}, ...]", record.name),
        _ => "int".to_owned(),
    }
}

/// One line, without the brackets that link in Rust's documentation.
fn plain(doc: &str) -> String {
    doc.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .replace(['[', ']', '`'], "")
        .replace('\\', "")
        .replace('"', "'")
}

fn class(text: &mut String, record: &Record) {
    let _ = write!(text, "\n@final\nclass {}:\n    \"\"\"{}\"\"\"\n\n", record.name, plain(record.doc));
    let mut property = |name: &str, kind: Kind, doc: &str| {
        let _ = writeln!(
            text,
            "    @property\n    def {name}(self) -> {}:\n        \"\"\"{}\"\"\"",
            annotation(kind),
            plain(doc)
        );
    };
    for field in record.fields.iter().filter(|field| is_shown(field)) {
        property(field.name, field.kind, field.doc);
        for (name, part) in best_of(field) {
            property(&name, part.kind, &format!("{} Of the best level.", part.doc));
        }
    }
    let _ = writeln!(
        text,
        "    def copy(self) -> {}:\n        \"\"\"A copy that stays valid beyond the call.\"\"\"",
        record.name
    );
}

/// The text of `_messages.pyi`, made from the table of fields.
#[pyfunction]
pub(crate) fn stubs() -> String {
    let (records, enumerations) = parts();
    let mut text = "\"\"\"The messages and enumerations of the platform: docs/messages.md.\n\nMade from the table of fields by `colo._colo.stubs()`; do not edit.\n\"\"\"\n\n\
                    from enum import IntEnum\nfrom typing import Final, final\n\nNO_PRICE: Final[int]\nPRICE_ONE: Final[int]\nMONEY_ONE: Final[int]\n"
        .to_owned();
    let constants = ["MONEY_ONE", "NO_PRICE", "PRICE_ONE"];
    let mut all: Vec<&str> = constants.into_iter().chain(enumerations.iter().map(|all| all.name)).collect();
    all.extend(records.iter().map(|record| record.name));
    let _ = writeln!(text, "\n__all__ = [");
    for name in all {
        let _ = writeln!(text, "    \"{name}\",");
    }
    text.push_str("]\n");
    for enumeration in enumerations {
        let _ = write!(
            text,
            "\nclass {}(IntEnum):\n    \"\"\"{}\"\"\"\n\n",
            enumeration.name,
            plain(enumeration.doc)
        );
        for member in enumeration.members {
            let _ = writeln!(text, "    {} = {}", member_name(member.name), member.value);
        }
    }
    records.iter().for_each(|record| class(&mut text, record));
    text
}
