//! The effective configuration key by key, with the origin of each value.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value as Json;

use crate::config::{PlatformConfig, StrategyGroup};
use crate::document::{Report, Span};
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
    /// Nobody says anything.
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
    /// As for `--set`: `md.interval`, `strategies.group.takers.count`.
    pub key: String,
    /// Null when it is not set.
    pub value: Json,
    /// Who said so.
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

/// The rows that the check answered, for rules to ask and for explaining.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    rows: Vec<Row>,
    headers: BTreeMap<String, Span>,
    bad: BTreeSet<String>,
}

impl Settings {
    pub(crate) fn new(checker: Checker<'_>) -> Settings {
        Settings { rows: checker.rows, headers: checker.headers, bad: checker.bad }
    }

    fn row(&self, path: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.path == path)
    }

    /// Whether file or command line say it.
    pub(crate) fn is_written(&self, path: &str) -> bool {
        self.span(path).is_some()
    }

    /// Where the value of this key is written.
    pub(crate) fn span(&self, path: &str) -> Option<Span> {
        match self.row(path)?.origin {
            RowOrigin::Written { value, .. } => Some(value),
            _ => None,
        }
    }

    /// Where the key is written, or else the table that it would stand in.
    pub(crate) fn place(&self, path: &str) -> Option<Span> {
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

    /// Whether anything at this path, or below it, was found wrong before.
    pub(crate) fn is_bad(&self, path: &str) -> bool {
        self.bad
            .iter()
            .any(|bad| bad.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')))
    }

    /// Whether anything was found wrong that decides which nodes and journals there are.
    pub(crate) fn structure_is_bad(&self) -> bool {
        let words = ["node", "strategies", "group", "name", "count", "needs", "reads", "writes", "journal"];
        let structural = |path: &String| {
            let parts = path.split('.').next().is_some_and(|first| first == "node" || first == "strategies");
            parts && path.rsplit('.').next().is_some_and(|last| words.contains(&last))
        };
        self.bad.iter().any(structural)
    }

    /// Replaces the value of a key that follows from others.
    pub(crate) fn derive(&mut self, path: &str, value: impl Serialize) {
        if let Some(row) = self.rows.iter_mut().find(|row| row.path == path) {
            row.value = serde_json::to_value(value).unwrap_or_default();
        }
    }

    /// For people.
    pub(crate) fn explain(&self, report: &Report) -> Vec<Setting> {
        let origin = |row: &Row| match row.origin {
            RowOrigin::Default => Origin::Default,
            RowOrigin::Derived(how) => Origin::Derived { how: how.to_owned() },
            RowOrigin::Written { key, .. } if key.is_override() => {
                Origin::Set { argument: report.argument(key.source).to_owned() }
            }
            RowOrigin::Written { key, .. } => {
                let location = report.location(key);
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

    /// The path of the table that describes the host of that name: that of the first group that runs there.
    pub(crate) fn host_path(&self, name: &str, config: &PlatformConfig) -> String {
        let here = |group: &&StrategyGroup| group.host.as_ref().is_some_and(|host| host.name == name);
        let group = config.strategies.iter().find(here).map_or("", |group| group.name.as_str());
        format!("{}.host", self.group_path(group))
    }

    /// The path of the n-th group of strategies.
    pub(crate) fn group_path(&self, name: &str) -> String {
        let path = format!("strategies.group.{name}");
        if self.headers.contains_key(&path) { path } else { "strategies".to_owned() }
    }
}
