//! How a language is described: every key with its type, its default, what it allows and what it means. Checking, the
//! JSON Schema, the list of settings and the defaults of the typed structs all come from this one description.
//!
//! A table is written once, with [`section!`](crate::section), as the Rust struct that holds it:
//!
//! ```text
//! doc comment            → doc line of the key
//! field name             → key
//! field type             → Kind (or the one given after `=>`)
//! default expression     → default, in the struct and in the schema
//! `, Absent::…`          → what a missing key means, where it is not simply the default
//! ```

pub(crate) mod check;
mod expect;
mod json;
mod macros;
mod value;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use crate::forms;

pub use json::json_schema;

/// What a key's value may be.
#[derive(Clone, Copy)]
pub enum Kind {
    /// `true` or `false`.
    Flag,
    /// An integer from `min` to `max`.
    Integer {
        /// Smallest.
        min: i64,
        /// Largest.
        max: i64,
    },
    /// A number from `min` to `max`, with or without a fraction.
    Number {
        /// Smallest.
        min: f64,
        /// Largest.
        max: f64,
    },
    /// Any text but the empty one.
    Text,
    /// Text such as `"2ms"`.
    Duration {
        /// Shortest, in nanoseconds.
        min_ns: u64,
        /// Longest, in nanoseconds.
        max_ns: u64,
    },
    /// Text with a form of its own.
    Parsed(&'static Form),
    /// One of some words.
    Words(&'static Words),
    /// An array.
    List(&'static Kind),
    /// `[key]`.
    Table(&'static TableSchema),
    /// `[[key]]`, each table with a `name` or known by its place. A text stands for the table that has it as its first
    /// key, if the other keys may be left out.
    Tables(&'static TableSchema),
    /// `[key]` alone, or with `[[key.group]]`.
    Groups(&'static Groups),
    /// `[key.NAME]`, tables under names of the user's own: what the names are, and what the tables hold.
    Named(&'static Form, &'static TableSchema),
    /// A table whose keys are checked elsewhere.
    Free,
    /// One of several, of different TOML types.
    Either(&'static [Kind]),
}

/// A table that stands for one group, or holds the defaults of the groups in its array `group`.
pub struct Groups {
    /// The keys of a group.
    pub table: &'static TableSchema,
    /// For the JSON Schema.
    pub doc: &'static str,
    /// What to write in a group that has no name.
    pub unnamed: &'static str,
}

/// Text with a form of its own.
pub struct Form {
    /// With its article: `a size`.
    pub what: &'static str,
    /// As TOML: `"4MiB"`.
    pub example: &'static str,
    /// For the JSON Schema.
    pub pattern: &'static str,
    /// Answers the text as it is kept, or what is wrong with it.
    pub parse: fn(&str) -> Result<String, String>,
    /// May also be written as an integer.
    pub integer: bool,
    /// Most characters, where the pattern does not say it.
    pub longest: Option<usize>,
}

/// The words of an enumeration.
pub struct Words {
    /// What they name: `wait mode`.
    pub what: &'static str,
    /// Word and meaning.
    pub words: &'static [(&'static str, &'static str)],
}

/// What it means that a key is not there.
#[derive(Clone, Copy)]
pub enum Absent {
    /// Its default holds.
    Default,
    /// The value depends on other keys; the text says how.
    Derived(&'static str),
    /// It must be there; the text says what to write.
    Required(&'static str),
}

/// A key of a table.
pub struct Key {
    /// As the file has it.
    pub name: &'static str,
    /// The lines of its doc comment.
    pub doc: &'static [&'static str],
    /// What its value may be.
    pub kind: Kind,
    /// What it means that it is not there.
    pub absent: Absent,
    /// The field is `#[serde(flatten)]`: its keys stand in the same table.
    pub flatten: bool,
}

impl Key {
    /// The doc comment as one text.
    pub fn doc_text(&self) -> String {
        self.doc.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ").trim().to_owned()
    }
}

/// A table of the file.
pub struct TableSchema {
    /// The lines of its doc comment.
    pub doc: &'static [&'static str],
    /// Its keys, in the order of the struct.
    pub keys: &'static [Key],
    /// An object with the default of every key.
    pub defaults: fn() -> Json,
}

impl TableSchema {
    /// All keys, the flattened ones too, in the order of the struct.
    pub fn all_keys(&self) -> Vec<&'static Key> {
        let mut all = Vec::new();
        for key in self.keys {
            match key.kind {
                Kind::Table(inner) if key.flatten => all.extend(inner.all_keys()),
                _ => all.push(key),
            }
        }
        all
    }

    /// The key that a text in the place of the whole table stands for: the first, if it alone is required.
    pub(crate) fn short_key(&self) -> Option<&'static Key> {
        let mut required = self.keys.iter().filter(|key| matches!(key.absent, Absent::Required(_)));
        let key = required.next()?;
        let is_first = self.keys.first().is_some_and(|first| first.name == key.name);
        (is_first && expect::takes_text(&key.kind) && required.next().is_none()).then_some(key)
    }
}

/// Longest duration that any key takes.
pub const DAY_NS: u64 = 86_400_000_000_000;

/// A type that a key can have without a kind of its own after `=>`.
pub trait Described {
    /// What a value of this type may be.
    const KIND: Kind;
}

/// A struct that holds a table; [`section!`](crate::section) writes it.
pub trait Section: Default + Serialize + DeserializeOwned {
    /// The table.
    const TABLE: &'static TableSchema;

    /// An object with the default of every key.
    fn defaults() -> Json {
        serde_json::to_value(Self::default()).unwrap_or_default()
    }
}

impl<T: Section> Described for T {
    const KIND: Kind = Kind::Table(T::TABLE);
}

crate::described! {
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
