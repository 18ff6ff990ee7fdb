//! The one description of a platform file: every key with its type, its default, what it allows and what it
//! means. Checking, `schema()`, `explain()` and the defaults of the typed structs all come from it.
//!
//! A table of the file is written once, with `section!`, as the Rust struct that
//! holds it:
//!
//! ```text
//! doc comment            → doc line of the key
//! field name             → key
//! field type             → Kind (or the one given after `=>`)
//! default expression     → default, in the struct and in the schema
//! `, Absent::…`          → what a missing key means, where it is not simply the default
//! ```

#[cfg(test)]
mod agreement;
pub(crate) mod check;
mod expect;
pub(crate) mod forms;
pub(crate) mod json;
mod macros;
mod value;

pub(crate) use macros::{described, section, words};

use serde_json::Value as Json;

/// What a key's value may be.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Flag,
    Integer {
        min: i64,
        max: i64,
    },
    Number {
        min: f64,
        max: f64,
    },
    /// Any text but the empty one.
    Text,
    Duration {
        min_ns: u64,
        max_ns: u64,
    },
    /// Text with a form of its own.
    Parsed(&'static Form),
    Words(&'static Words),
    List(&'static Kind),
    Table(&'static TableSchema),
    /// `[[key]]`.
    Tables(&'static TableSchema),
    /// A table that also is the default of the tables in its `group` array: `[strategies]`.
    Groups(&'static TableSchema),
    /// Tables under names of the user's own: what the names are, and what the tables hold.
    Named(&'static Form, &'static TableSchema),
    /// A table with keys that someone else checks.
    Free,
    /// One of several, of different TOML types.
    Either(&'static [Kind]),
}

/// Text with a form of its own.
pub(crate) struct Form {
    /// With its article: `a size`.
    pub(crate) what: &'static str,
    /// As TOML: `"4MiB"`.
    pub(crate) example: &'static str,
    /// For the JSON Schema.
    pub(crate) pattern: &'static str,
    /// Answers the text as it is kept, or what is wrong with it.
    pub(crate) parse: fn(&str) -> Result<String, String>,
    /// May also be written as an integer.
    pub(crate) integer: bool,
    /// Most characters, where the pattern does not say it.
    pub(crate) longest: Option<usize>,
}

/// The words of an enumeration.
pub(crate) struct Words {
    /// What they name: `wait mode`.
    pub(crate) what: &'static str,
    /// Word and meaning.
    pub(crate) words: &'static [(&'static str, &'static str)],
}

/// What it means that a key is not there.
#[derive(Clone, Copy)]
pub(crate) enum Absent {
    /// Its default holds.
    Default,
    /// The value depends on other keys; the text says how.
    Derived(&'static str),
    /// It must be there; the text says what to write.
    Required(&'static str),
}

pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) doc: &'static [&'static str],
    pub(crate) kind: Kind,
    pub(crate) absent: Absent,
    /// The field is `#[serde(flatten)]`: its keys stand in the same table.
    pub(crate) flatten: bool,
}

impl Key {
    /// The doc comment as one text.
    pub(crate) fn doc_text(&self) -> String {
        self.doc.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ").trim().to_owned()
    }
}

/// One table of the file.
pub(crate) struct TableSchema {
    pub(crate) doc: &'static [&'static str],
    pub(crate) keys: &'static [Key],
    /// An object with the default of every key.
    pub(crate) defaults: fn() -> Json,
}

impl TableSchema {
    /// All keys, the flattened ones too, in the order of the struct.
    pub(crate) fn all_keys(&self) -> Vec<&'static Key> {
        let mut all = Vec::new();
        for key in self.keys {
            match key.kind {
                Kind::Table(inner) if key.flatten => all.extend(inner.all_keys()),
                _ => all.push(key),
            }
        }
        all
    }
}

/// Longest duration that any key takes.
pub(crate) const DAY_NS: u64 = 86_400_000_000_000;

/// A type that a key can have.
pub(crate) trait Described {
    const KIND: Kind;
}

/// A struct that describes a table.
pub(crate) trait Section {
    const TABLE: &'static TableSchema;
}

impl<T: Section> Described for T {
    const KIND: Kind = Kind::Table(T::TABLE);
}

described! {
    bool = Kind::Flag;
    u32 = Kind::Integer { min: 0, max: u32::MAX as i64 };
    u64 = Kind::Integer { min: 0, max: i64::MAX };
    i64 = Kind::Integer { min: 0, max: i64::MAX };
    f64 = Kind::Number { min: 0.0, max: f64::MAX };
    String = Kind::Text;
    std::path::PathBuf = Kind::Text;
    std::time::Duration = Kind::Duration { min_ns: 0, max_ns: DAY_NS };
    serde_json::Value = Kind::Free;
    crate::units::ByteSize = Kind::Parsed(&forms::SIZE);
    crate::units::TimeOfDay = Kind::Parsed(&forms::TIME_OF_DAY);
    crate::units::CpuList = Kind::Parsed(&forms::CPUS);
}
impl<T: Described> Described for Option<T> {
    const KIND: Kind = T::KIND;
}
impl<T: Described> Described for Vec<T> {
    const KIND: Kind = Kind::List(&T::KIND);
}
