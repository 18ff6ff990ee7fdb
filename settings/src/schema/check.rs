//! The file's tree against the schema: every fault is noted, every key gets a value and an origin.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value as Json};

use super::{Absent, Form, Groups, Key, Kind, TableSchema};
use crate::document::{Entry, Node, Span, Table, Value};
use crate::report::Report;
use crate::suggest::nearest;

/// Where a value comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RowOrigin {
    Written { key: Span, value: Span },
    Default,
    Derived(&'static str),
}

/// One key of the effective configuration.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) path: String,
    pub(crate) value: Json,
    pub(crate) doc: String,
    pub(crate) origin: RowOrigin,
}

/// What is known of a table while it is checked.
#[derive(Clone)]
pub(super) struct Place {
    /// Before the keys in paths: `strategies.group.takers`.
    pub(super) path: String,
    /// In messages: `strategies`. The same for all groups, so that a fault they inherit is said once.
    pub(super) label: String,
    /// Its header, if it has one.
    pub(super) header: Option<Span>,
}

impl Place {
    fn join(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    fn label(&self, key: &str) -> String {
        if self.label.is_empty() { key.to_owned() } else { format!("{}.{key}", self.label) }
    }
}

pub(crate) struct Checker<'a> {
    pub(crate) report: &'a mut Report,
    root: &'static TableSchema,
    /// In the order of the schema.
    pub(crate) rows: Vec<Row>,
    /// Where the tables that are there begin, by path.
    pub(crate) headers: BTreeMap<String, Span>,
    /// Paths whose value was wrong: later rules keep silent about them.
    pub(crate) bad: BTreeSet<String>,
    only_written: bool,
}

impl<'a> Checker<'a> {
    pub(crate) fn new(root: &'static TableSchema, report: &'a mut Report) -> Checker<'a> {
        Checker {
            report,
            root,
            rows: Vec::new(),
            headers: BTreeMap::new(),
            bad: BTreeSet::new(),
            only_written: false,
        }
    }

    /// The whole file. Where a value is wrong or missing, the answer holds its default.
    pub(crate) fn root(&mut self, table: &Table) -> Json {
        let place = Place { path: String::new(), label: String::new(), header: None };
        self.table(self.root, table, &place)
    }

    pub(super) fn table(&mut self, schema: &'static TableSchema, table: &Table, place: &Place) -> Json {
        if let Some(header) = place.header {
            self.headers.entry(place.path.clone()).or_insert(header);
        }
        let keys = schema.all_keys();
        let mut defaults = (schema.defaults)();
        let mut result = Map::new();
        for entry in table.0.iter().filter(|entry| keys.iter().all(|key| key.name != entry.key)) {
            self.unknown(entry, &keys, place);
        }
        for key in keys {
            let default = defaults.get_mut(key.name).map(Json::take).unwrap_or_default();
            let value = match table.get(key.name) {
                Some(entry) => self.entry(key, entry, place).unwrap_or(default),
                None => self.absent(key, default, place),
            };
            // Nothing: the struct's own default is just that.
            if !value.is_null() {
                result.insert(key.name.to_owned(), value);
            }
        }
        Json::Object(result)
    }

    fn nested(&mut self, schema: &'static TableSchema, entry: &Entry, place: &Place) -> Json {
        let empty = Table::default();
        let table = if let Value::Table(table) = &entry.node.value { table } else { &empty };
        let inner = Place {
            path: place.join(&entry.key),
            label: place.label(&entry.key),
            header: Some(entry.key_span),
        };
        self.table(schema, table, &inner)
    }

    /// Tables under names of the user's own. Of their keys only those that are there are listed.
    fn named(&mut self, form: &Form, schema: &'static TableSchema, table: &Table, place: &Place) -> Json {
        let was = std::mem::replace(&mut self.only_written, true);
        let mut result = Map::new();
        for entry in &table.0 {
            if let Err(why) = (form.parse)(&entry.key) {
                let message = format!("`{}` is not {}: {why}", entry.key, form.what);
                self.report.error(entry.key_span, message);
            }
            if matches!(entry.node.value, Value::Table(_)) {
                result.insert(entry.key.clone(), self.nested(schema, entry, place));
            } else {
                self.wrong_type(&Kind::Table(schema), &entry.node, &place.label(&entry.key));
            }
        }
        self.only_written = was;
        Json::Object(result)
    }

    fn absent(&mut self, key: &Key, default: Json, place: &Place) -> Json {
        let path = place.join(key.name);
        let origin = match key.absent {
            Absent::Required(help) if !self.bad.contains(&path) => {
                self.bad.insert(path);
                let table = matches!(key.kind, Kind::Table(_) | Kind::Groups(_));
                let message = match (table, place.label.as_str()) {
                    (true, _) => format!("the section [{}] is missing", place.label(key.name)),
                    (false, label) => format!("`{}` is missing in [{label}]", key.name),
                };
                self.report.error(place.header, message).help(help);
                return default;
            }
            Absent::Derived(how) => RowOrigin::Derived(how),
            _ => RowOrigin::Default,
        };
        match (key.kind, &default) {
            (Kind::Table(schema), Json::Object(_)) => {
                let inner = Place { path, label: place.label(key.name), header: place.header };
                self.table(schema, &Table::default(), &inner)
            }
            (Kind::Tables(_) | Kind::Groups(_) | Kind::Named(..), _) => default,
            _ => {
                // What follows from other sections is listed there.
                let elsewhere = matches!(origin, RowOrigin::Derived(_)) && default.is_null();
                if !self.only_written && !elsewhere {
                    self.rows.push(Row { path, value: default.clone(), doc: key.doc_text(), origin });
                }
                default
            }
        }
    }

    /// A key that is there. `None` when its value is wrong, which has been noted.
    fn entry(&mut self, key: &Key, entry: &Entry, place: &Place) -> Option<Json> {
        let path = place.join(key.name);
        match (key.kind, &entry.node.value) {
            (Kind::Table(schema), Value::Table(_)) => return Some(self.nested(schema, entry, place)),
            (Kind::Named(form, schema), Value::Table(table)) => {
                let inner = Place { path, label: place.label(key.name), header: Some(entry.key_span) };
                return Some(self.named(form, schema, table, &inner));
            }
            (Kind::Tables(schema), Value::Array(items)) => {
                return Some(self.tables(schema, items, &path, &place.label(key.name), None));
            }
            (Kind::Groups(groups), Value::Table(table)) => {
                return Some(self.groups(groups, table, entry.key_span, &path));
            }
            _ => {}
        }
        let rows = self.rows.len();
        let value = self.value(&key.kind, &entry.node, &place.label(key.name));
        self.rows.truncate(rows);
        match &value {
            None => drop(self.bad.insert(path)),
            Some(value) => {
                let origin = RowOrigin::Written { key: entry.key_span, value: entry.node.span };
                self.rows.push(Row { path, value: value.clone(), doc: key.doc_text(), origin });
            }
        }
        value
    }

    /// One group, or the defaults of several.
    fn groups(&mut self, groups: &'static Groups, table: &Table, header: Span, path: &str) -> Json {
        let schema = groups.table;
        let mut base = table.clone();
        let place = Place { path: path.to_owned(), label: path.to_owned(), header: Some(header) };
        let Some(group) = base.remove("group") else {
            return Json::Array(vec![self.table(schema, &base, &place)]);
        };
        if !matches!(group.node.value, Value::Array(_)) {
            if group.key_span.is_override() {
                let message = format!("this file has no [[{path}.group]]");
                self.report
                    .error(group.key_span, message)
                    .help(format!("[{path}] is the one group: {path}.KEY"));
            } else {
                self.wrong_type(&Kind::Tables(schema), &group.node, &format!("{path}.group"));
            }
            self.bad.insert(format!("{path}.group"));
            return Json::Array(vec![self.table(schema, &base, &place)]);
        }
        if let Some(name) = base.remove("name") {
            self.report
                .error(name.key_span, format!("[{path}] has groups, so its own `name` names nothing"))
                .help(format!("name each [[{path}.group]]"));
        }
        let items = if let Value::Array(items) = &group.node.value { items.as_slice() } else { &[] };
        self.tables(schema, items, &format!("{path}.group"), path, Some((&base, groups.unnamed)))
    }

    /// `[[label]]`, each by its name. Of groups, `base` is what each of them inherits, and what to write where a name is
    /// missing.
    fn tables(
        &mut self,
        schema: &'static TableSchema,
        items: &[Node],
        path: &str,
        label: &str,
        base: Option<(&Table, &str)>,
    ) -> Json {
        let mut names: Vec<(String, Span)> = Vec::new();
        let mut result = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let mut table = match (&item.value, schema.short_key()) {
                (Value::Table(table), _) => table.clone(),
                (Value::Text(_), Some(key)) => {
                    Table(vec![Entry { key: key.name.to_owned(), key_span: item.span, node: item.clone() }])
                }
                _ => {
                    let message = format!("`{path}` must be tables, found {}", item.describe());
                    self.report.error(item.span, message);
                    continue;
                }
            };
            let mut item_path = format!("{path}.{index}");
            if let Some(Entry { node: Node { value: Value::Text(name), span, .. }, .. }) = table.get("name") {
                item_path = format!("{path}.{name}");
                if let Some((_, first)) = names.iter().find(|(other, _)| other == name) {
                    let message = format!("two [[{path}]] are named `{name}`");
                    let noted = self.report.error(*span, message).help("give each a name of its own");
                    noted.related(Some(*first), "the first one is here");
                    item_path = format!("{path}.{index}");
                    self.bad.insert(path.to_owned());
                }
                names.push((name.clone(), *span));
            } else if let Some((_, unnamed)) = base
                && table.get("name").is_none()
            {
                let noted = self.report.error(item.span, format!("this [[{path}]] has no `name`"));
                noted.help(unnamed);
                self.bad.insert(path.to_owned());
            }
            if let Some((base, _)) = base {
                table.inherit(base);
            }
            let place = Place { path: item_path, label: label.to_owned(), header: Some(item.span) };
            result.push(self.table(schema, &table, &place));
        }
        Json::Array(result)
    }

    fn unknown(&mut self, entry: &Entry, keys: &[&'static Key], place: &Place) {
        let written = entry.key.as_str();
        self.bad.insert(place.join(written));
        let names = || keys.iter().map(|key| key.name);
        let message = match (place.label.as_str(), &entry.node.value) {
            ("", Value::Table(_)) => format!("unknown section [{written}]"),
            ("", _) => format!("unknown key `{written}` outside of all sections"),
            (label, _) => format!("unknown key `{written}` in [{label}]"),
        };
        let elsewhere = self.root.keys.iter().find(|section| {
            let inner = match section.kind {
                Kind::Table(inner) => inner,
                Kind::Groups(groups) => groups.table,
                _ => return false,
            };
            section.name != place.label && inner.all_keys().iter().any(|key| key.name == written)
        });
        let help = match (nearest(written, names()), elsewhere) {
            (Some(near), _) => {
                self.bad.insert(place.join(near));
                let is_section =
                    |key: &Key| key.name == near && matches!(key.kind, Kind::Table(_) | Kind::Groups(_));
                let is_table = matches!(entry.node.value, Value::Table(_));
                match place.label.as_str() {
                    "" if is_table || keys.iter().any(|key| is_section(key)) => {
                        format!("did you mean [{near}]?")
                    }
                    _ => format!("did you mean `{near}`?"),
                }
            }
            (None, Some(section)) => format!("`{written}` is a key of [{}]", section.name),
            (None, None) => format!("what can stand here: {}", names().collect::<Vec<_>>().join(", ")),
        };
        self.report.error(entry.key_span, message).help(help);
    }
}
