//! A document as a tree in which every key and value knows where it was written.

use serde_json::Value as Json;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Where something is written: a range of bytes in the file or in a `--set` argument.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// 0 is the file, `n` the n-th `--set`.
    pub(crate) source: usize,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Span {
    /// True for a place in a `--set` argument, false for one in the file.
    pub fn is_override(&self) -> bool {
        self.source > 0
    }

    /// Bytes `range` of the string that this value is, without its opening quote, for values that have a syntax of
    /// their own. The range is cut off at the end of the value.
    pub fn within(&self, range: std::ops::Range<usize>) -> Span {
        let start = (self.start + 1 + range.start).min(self.end.saturating_sub(1));
        Span { start, end: (self.start + 1 + range.end).clamp(start, self.end), ..*self }
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
    /// The value as typed, when it comes from a `--set` without quotes: `--set input.files=2023` is a name.
    pub(crate) raw: Option<String>,
}

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) key_span: Span,
    pub(crate) node: Node,
}

/// A table of a document: keys and values in the order of the source.
#[derive(Clone, Debug, Default)]
pub struct Table(pub(crate) Vec<Entry>);

impl Table {
    pub(crate) fn get(&self, key: &str) -> Option<&Entry> {
        self.0.iter().find(|entry| entry.key == key)
    }

    pub(crate) fn remove(&mut self, key: &str) -> Option<Entry> {
        let index = self.0.iter().position(|entry| entry.key == key)?;
        Some(self.0.remove(index))
    }

    /// Where this key is written.
    pub fn key_span(&self, key: &str) -> Option<Span> {
        Some(self.get(key)?.key_span)
    }

    /// The string under this key.
    pub fn text(&self, key: &str) -> Option<&str> {
        match &self.get(key)?.node.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Its keys, in the order of the source.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|entry| entry.key.as_str())
    }

    /// The value under this key, and where it is written.
    pub fn value(&self, key: &str) -> Option<(Json, Span)> {
        let node = &self.get(key)?.node;
        Some((node.to_json(), node.span))
    }

    /// The elements of the array under this key, each with where it is written; `None` where there is no array.
    pub fn items(&self, key: &str) -> Option<Vec<(Json, Span)>> {
        match &self.get(key)?.node.value {
            Value::Array(items) => Some(items.iter().map(|item| (item.to_json(), item.span)).collect()),
            _ => None,
        }
    }

    /// The table under this key.
    pub fn table(&self, key: &str) -> Option<&Table> {
        match &self.get(key)?.node.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    /// The array of tables under this key; empty where there is none.
    pub fn tables(&self, key: &str) -> impl Iterator<Item = &Table> {
        let items = match self.get(key).map(|entry| &entry.node.value) {
            Some(Value::Array(items)) => items.as_slice(),
            _ => &[],
        };
        items.iter().filter_map(|item| match &item.value {
            Value::Table(table) => Some(table),
            _ => None,
        })
    }

    /// Puts `value` where the keys of `path` lead, unless something is written there. A key in the middle that is not
    /// a table stays as it is.
    pub fn put_default(&mut self, path: &[&str], value: &Json) {
        let [key, rest @ ..] = path else { return };
        if self.get(key).is_none() {
            let empty = Json::Object(serde_json::Map::new());
            let Some(node) = Node::from_json(if rest.is_empty() { value } else { &empty }) else { return };
            self.0.push(Entry { key: (*key).to_owned(), key_span: node.span, node });
        }
        let entry = self.0.iter_mut().find(|entry| entry.key == *key);
        if let Some(Entry { node: Node { value: Value::Table(inner), .. }, .. }) = entry {
            inner.put_default(rest, value);
        }
    }

    /// Takes over from `base`, table by table, what this table does not say. A value of the command line in `base`
    /// replaces the one that is here. An empty table within (`params = {}`) takes over nothing but such values.
    pub fn inherit(&mut self, base: &Table) {
        for entry in &base.0 {
            let Some(own) = self.0.iter_mut().find(|own| own.key == entry.key) else {
                self.0.push(entry.clone());
                continue;
            };
            let source = own.node.span.source;
            match (&mut own.node.value, &entry.node.value) {
                (Value::Table(own), Value::Table(base)) if own.0.is_empty() => {
                    own.0.extend(base.0.iter().filter(|entry| entry.node.span.source > source).cloned());
                }
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

    /// The value at no place of any source; `None` for null, which TOML does not have.
    fn from_json(value: &Json) -> Option<Node> {
        let value = match value {
            Json::Null => return None,
            Json::Bool(value) => Value::Bool(*value),
            Json::Number(number) if number.is_f64() => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
            Json::Number(number) => Value::Integer(number.as_i64()),
            Json::String(text) => Value::Text(text.clone()),
            Json::Array(items) => Value::Array(items.iter().filter_map(Node::from_json).collect()),
            Json::Object(object) => {
                let entry = |(key, value): (&String, &Json)| {
                    let node = Node::from_json(value)?;
                    Some(Entry { key: key.clone(), key_span: node.span, node })
                };
                Value::Table(Table(object.iter().filter_map(entry).collect()))
            }
        };
        Some(Node { value, span: Span::default(), raw: None })
    }

    pub(super) fn from_toml(value: &Spanned<DeValue<'_>>, source: usize, offset: usize) -> Node {
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
    pub(super) fn last_before(&self, key: &str, end: usize) -> Option<Span> {
        let own = self.0.iter().filter(|entry| entry.key == key && entry.key_span.start < end);
        let inner = self.0.iter().filter_map(|entry| match &entry.node.value {
            Value::Table(table) => table.last_before(key, end),
            _ => None,
        });
        own.map(|entry| entry.key_span).chain(inner).max()
    }

    pub(super) fn from_toml(table: &DeTable<'_>, source: usize, offset: usize) -> Table {
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
