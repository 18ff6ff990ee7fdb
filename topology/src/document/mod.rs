//! TOML text as a tree in which every key and value knows where it was written.

pub(crate) mod overrides;

use std::collections::BTreeSet;

use serde_json::Value as Json;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::diagnostic::{Diagnostic, Location, Severity};

/// Bytes `start..end` of one source: 0 is the file, `n` the n-th `--set`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Span {
    pub(crate) source: usize,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Span {
    /// True when it stands in a `--set` and not in the file.
    pub(crate) fn is_override(&self) -> bool {
        self.source > 0
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Value {
    Text(String),
    /// `None`: more than an `i64` holds.
    Integer(Option<i64>),
    Float(f64),
    Bool(bool),
    Datetime(String),
    Array(Vec<Node>),
    Table(Table),
}

#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) value: Value,
    pub(crate) span: Span,
    /// The value as typed, when it comes from a `--set` without quotes: `--set md.files=2023` is a name.
    pub(crate) raw: Option<String>,
}

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) key_span: Span,
    pub(crate) node: Node,
}

/// Entries in the order of the source.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table(pub(crate) Vec<Entry>);

impl Table {
    pub(crate) fn get(&self, key: &str) -> Option<&Entry> {
        self.0.iter().find(|entry| entry.key == key)
    }

    pub(crate) fn remove(&mut self, key: &str) -> Option<Entry> {
        let index = self.0.iter().position(|entry| entry.key == key)?;
        Some(self.0.remove(index))
    }

    /// Takes over what `base` says and this table does not, table by table; what the command line says in
    /// `base` wins.
    pub(crate) fn inherit(&mut self, base: &Table) {
        for entry in &base.0 {
            let Some(own) = self.0.iter_mut().find(|own| own.key == entry.key) else {
                self.0.push(entry.clone());
                continue;
            };
            match (&mut own.node.value, &entry.node.value) {
                (Value::Table(own), Value::Table(base)) => own.inherit(base),
                _ if entry.node.span.source > own.node.span.source => *own = entry.clone(),
                _ => {}
            }
        }
    }
}

impl Node {
    /// What it is, for messages: `the integer 5`.
    pub(crate) fn describe(&self) -> String {
        match &self.value {
            Value::Text(text) => format!("the string {text:?}"),
            Value::Integer(Some(value)) => format!("the integer {value}"),
            Value::Integer(None) => "an integer that is too large".to_owned(),
            Value::Float(value) => format!("the number {value}"),
            Value::Bool(value) => format!("the boolean {value}"),
            Value::Datetime(value) => format!("the date or time {value}"),
            Value::Array(_) => "an array".to_owned(),
            Value::Table(_) => "a table".to_owned(),
        }
    }

    /// The value without its places.
    pub(crate) fn to_json(&self) -> Json {
        match &self.value {
            Value::Text(text) | Value::Datetime(text) => Json::from(text.as_str()),
            Value::Integer(value) => value.map_or(Json::Null, Json::from),
            Value::Float(value) => Json::from(*value),
            Value::Bool(value) => Json::from(*value),
            Value::Array(items) => items.iter().map(Node::to_json).collect(),
            Value::Table(table) => {
                let pairs = table.0.iter().map(|entry| (entry.key.clone(), entry.node.to_json()));
                Json::Object(pairs.collect())
            }
        }
    }

    fn from_toml(value: &Spanned<DeValue<'_>>, source: usize, offset: usize) -> Node {
        let span = value.span();
        let converted = match value.get_ref() {
            DeValue::String(text) => Value::Text(text.to_string()),
            DeValue::Integer(number) => {
                Value::Integer(i64::from_str_radix(number.as_str(), number.radix()).ok())
            }
            DeValue::Float(number) => Value::Float(number.as_str().parse().unwrap_or(f64::NAN)),
            DeValue::Boolean(flag) => Value::Bool(*flag),
            DeValue::Datetime(datetime) => Value::Datetime(datetime.to_string()),
            DeValue::Array(items) => {
                Value::Array(items.iter().map(|item| Node::from_toml(item, source, offset)).collect())
            }
            DeValue::Table(table) => Value::Table(Table::from_toml(table, source, offset)),
        };
        let span = Span { source, start: span.start + offset, end: span.end + offset };
        Node { value: converted, span, raw: None }
    }
}

impl Table {
    /// The last key of this name, in any table, that stands before byte `end`: in practice the first of a pair.
    fn last_before(&self, key: &str, end: usize) -> Option<Span> {
        let own = self.0.iter().filter(|entry| entry.key == key && entry.key_span.start < end);
        let inner = self.0.iter().filter_map(|entry| match &entry.node.value {
            Value::Table(table) => table.last_before(key, end),
            _ => None,
        });
        own.map(|entry| entry.key_span).chain(inner).max()
    }

    fn from_toml(table: &DeTable<'_>, source: usize, offset: usize) -> Table {
        let mut entries: Vec<Entry> = table
            .iter()
            .map(|(key, value)| {
                let span = key.span();
                Entry {
                    key: key.get_ref().to_string(),
                    key_span: Span { source, start: span.start + offset, end: span.end + offset },
                    node: Node::from_toml(value, source, offset),
                }
            })
            .collect();
        entries.sort_by_key(|entry| entry.key_span);
        Table(entries)
    }
}

/// The texts that a configuration comes from, and what was found wrong with them so far.
#[derive(Clone, Debug)]
pub(crate) struct Report {
    file: String,
    texts: Vec<String>,
    found: Vec<(Option<Span>, Diagnostic)>,
    /// Lines of the file that are not TOML: what else is said about them would mislead.
    garbled: BTreeSet<usize>,
}

impl Report {
    pub(crate) fn new(file: &str, text: &str, sets: &[String]) -> Report {
        let texts = std::iter::once(text.to_owned()).chain(sets.iter().cloned()).collect();
        Report { file: file.to_owned(), texts, found: Vec::new(), garbled: BTreeSet::new() }
    }

    pub(crate) fn has_errors(&self) -> bool {
        self.found.iter().any(|(_, diagnostic)| diagnostic.severity == Severity::Error)
    }

    /// The n-th `--set` argument, from 1.
    pub(crate) fn argument(&self, source: usize) -> &str {
        self.texts.get(source).map_or("", String::as_str)
    }

    pub(crate) fn location(&self, span: Span) -> Location {
        let file = if span.is_override() { "--set" } else { &self.file };
        let text = self.texts.get(span.source).map_or("", String::as_str);
        Location::new(file, text, span.start, span.end)
    }

    pub(crate) fn error(&mut self, span: impl Into<Option<Span>>, message: impl Into<String>) -> Noted<'_> {
        self.note(Severity::Error, span.into(), message.into())
    }

    pub(crate) fn warning(&mut self, span: impl Into<Option<Span>>, message: impl Into<String>) -> Noted<'_> {
        self.note(Severity::Warning, span.into(), message.into())
    }

    fn note(&mut self, severity: Severity, span: Option<Span>, message: String) -> Noted<'_> {
        let location = span.map(|span| self.location(span));
        let diagnostic = Diagnostic { severity, message, location, related: None, help: Vec::new() };
        self.found.push((span, diagnostic));
        Noted { report: self }
    }

    /// All of it in the order of the sources, each once, although inherited values are looked at many times.
    pub(crate) fn take(&mut self) -> Vec<Diagnostic> {
        self.found.sort_by_key(|(span, diagnostic)| (diagnostic.severity, *span));
        let mut all: Vec<Diagnostic> = Vec::new();
        let garbled = |diagnostic: &Diagnostic| match &diagnostic.location {
            Some(location) => location.file == self.file && self.garbled.contains(&location.line),
            None => false,
        };
        for (_, diagnostic) in self.found.drain(..) {
            if garbled(&diagnostic) && !diagnostic.message.starts_with(NOT_TOML) {
                continue;
            }
            let same = |other: &Diagnostic| {
                other.message == diagnostic.message && other.location == diagnostic.location
            };
            if !all.iter().any(same) {
                all.push(diagnostic);
            }
        }
        all
    }
}

/// The diagnostic just noted, to add to.
pub(crate) struct Noted<'a> {
    report: &'a mut Report,
}

impl Noted<'_> {
    pub(crate) fn help(self, text: impl Into<String>) -> Self {
        if let Some((_, diagnostic)) = self.report.found.last_mut() {
            diagnostic.help.push(text.into());
        }
        self
    }

    pub(crate) fn related(self, span: Option<Span>, label: impl Into<String>) -> Self {
        let location = span.map(|span| self.report.location(span));
        if let (Some((_, diagnostic)), Some(location)) = (self.report.found.last_mut(), location) {
            diagnostic.related = Some((location, label.into()));
        }
        self
    }
}

const NOT_TOML: &str = "this is not TOML";

/// Reads the file. Faults of syntax are noted, and what could be read is returned with `false`.
pub(crate) fn parse(text: &str, report: &mut Report) -> (Table, bool) {
    let (document, errors) = DeTable::parse_recoverable(text);
    let table = Table::from_toml(document.get_ref(), 0, 0);
    for error in &errors {
        let span = error.span().map(|span| Span { source: 0, start: span.start, end: span.end });
        let key = span.and_then(|span| text.get(span.start..span.end)).unwrap_or_default().trim_matches('"');
        if error.message() == "duplicate key" {
            let first = span.and_then(|span| table.last_before(key, span.start));
            let header = span.is_some_and(|span| text[..span.start].trim_end().ends_with('['));
            let message = match header {
                true => format!("the section [{key}] stands twice"),
                false => format!("`{key}` stands twice in its table"),
            };
            report.error(span, message).help("keep one of them").related(first, "the first one is here");
            continue;
        }
        report
            .error(span, format!("{NOT_TOML}: {}", error.message()))
            .help("text stands in quotes, a table's name in [brackets], one `key = value` a line");
        report.garbled.extend(span.map(|span| report.location(span).line));
    }
    (table, errors.is_empty())
}
