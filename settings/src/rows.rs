//! The effective configuration key by key, with the origin of each value.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value as Json;

use crate::document::Span;
use crate::report::Sources;
use crate::schema::check::{Checker, Row, RowOrigin};

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Origin {
    /// The file says so.
    File {
        /// As it was named.
        file: String,
        /// From 1.
        line: usize,
        /// In characters, from 1.
        column: usize,
    },
    /// The command line says so.
    Set {
        /// The whole argument.
        argument: String,
    },
    /// Nothing sets it.
    Default,
    /// It follows from other keys.
    Derived {
        /// How.
        how: String,
    },
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Origin::File { file, line, .. } => write!(f, "{file}:{line}"),
            Origin::Set { argument } => write!(f, "--set {argument}"),
            Origin::Default => f.pad("default"),
            Origin::Derived { how } => write!(f, "derived: {how}"),
        }
    }
}

/// One key of the effective configuration.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Setting {
    /// As for `--set`: `input.interval`, `groups.first.count`.
    pub key: String,
    /// Null when it is not set.
    pub value: Json,
    /// Where the value comes from.
    pub origin: Origin,
    /// What the key means.
    pub doc: String,
}

impl Setting {
    /// The value as TOML; `-` when it is not set.
    pub fn value_text(&self) -> String {
        toml_text(&self.value)
    }
}

fn toml_text(value: &Json) -> String {
    match value {
        Json::Null => "-".to_owned(),
        Json::Array(items) => format!("[{}]", items.iter().map(toml_text).collect::<Vec<_>>().join(", ")),
        Json::Object(object) if object.is_empty() => "{}".to_owned(),
        Json::Object(object) => {
            let said = object.iter().filter(|(_, value)| !value.is_null());
            let pairs: Vec<String> =
                said.map(|(key, value)| format!("{key} = {}", toml_text(value))).collect();
            format!("{{ {} }}", pairs.join(", "))
        }
        other => other.to_string(),
    }
}

/// What the check found out about each key, by path: `input.interval`, `groups.first.count`.
#[derive(Clone, Debug)]
pub struct Rows {
    sources: Sources,
    rows: Vec<Row>,
    headers: BTreeMap<String, Span>,
    bad: BTreeSet<String>,
}

impl Rows {
    pub(crate) fn new(checker: Checker<'_>) -> Rows {
        Rows {
            sources: checker.report.sources().clone(),
            rows: checker.rows,
            headers: checker.headers,
            bad: checker.bad,
        }
    }

    /// The texts that the values come from: for a [`crate::Report`] or a [`crate::Document`] that speaks of the same places.
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    fn row(&self, path: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.path == path)
    }

    /// Whether the file or the command line sets this key.
    pub fn is_written(&self, path: &str) -> bool {
        self.span(path).is_some()
    }

    /// Where the value of this key is written.
    pub fn span(&self, path: &str) -> Option<Span> {
        match self.row(path)?.origin {
            RowOrigin::Written { value, .. } => Some(value),
            _ => None,
        }
    }

    /// Where the value of this key is written, or else the table that it would stand in.
    pub fn place(&self, path: &str) -> Option<Span> {
        let mut path = path;
        if let Some(span) = self.span(path) {
            return Some(span);
        }
        loop {
            if let Some(header) = self.headers.get(path) {
                return Some(*header);
            }
            (path, _) = path.rsplit_once('.')?;
        }
    }

    /// Whether the table at this path is written.
    pub fn has_table(&self, path: &str) -> bool {
        self.headers.contains_key(path)
    }

    /// Paths whose value is wrong in itself, so that rules about them keep silent.
    pub fn bad(&self) -> impl Iterator<Item = &str> {
        self.bad.iter().map(String::as_str)
    }

    /// Whether anything at this path, or below it, is wrong in itself.
    pub fn is_bad(&self, path: &str) -> bool {
        self.bad
            .iter()
            .any(|bad| bad.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')))
    }

    /// Sets the value of a key that follows from others.
    pub fn derive(&mut self, path: &str, value: impl Serialize) {
        if let Some(row) = self.rows.iter_mut().find(|row| row.path == path) {
            row.value = serde_json::to_value(value).unwrap_or_default();
        }
    }

    /// Every key with its value, its origin and its documentation.
    pub fn settings(&self) -> Vec<Setting> {
        let origin = |row: &Row| match row.origin {
            RowOrigin::Default => Origin::Default,
            RowOrigin::Derived(how) => Origin::Derived { how: how.to_owned() },
            RowOrigin::Written { key, .. } if key.is_override() => {
                Origin::Set { argument: self.sources.argument(key.source).to_owned() }
            }
            RowOrigin::Written { key, .. } => {
                let location = self.sources.location(key);
                Origin::File { file: location.file, line: location.line, column: location.column }
            }
        };
        let setting = |row: &Row| Setting {
            key: row.path.clone(),
            value: row.value.clone(),
            origin: origin(row),
            doc: row.doc.clone(),
        };
        self.rows.iter().map(setting).collect()
    }
}
