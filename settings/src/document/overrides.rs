//! `--set a.b=c`: one value of the file, replaced from the command line.

use toml::de::{DeTable, DeValue};

use super::{Entry, Node, Span, Table, Value};
use crate::report::Report;
use crate::suggest::{nearest, or_list};

/// Puts the `--set` argument number `source` into `root`. Faults are noted; the argument then has no effect.
pub(super) fn apply(root: &mut Table, argument: &str, source: usize, report: &mut Report) {
    let whole = Span { source, start: 0, end: argument.len() };
    let Some((path, value_start)) = path(argument, source) else {
        report
            .error(whole, "this is no setting")
            .help("write KEY=VALUE with the key as in the file: --set TABLE.KEY=VALUE");
        return;
    };
    let Some(node) = value(argument, value_start, source, report) else { return };
    insert(root, &path, node, report);
}

struct Segment {
    key: String,
    span: Span,
}

/// The keys before the first `=` that ends a valid dotted key, and where the value starts.
fn path(argument: &str, source: usize) -> Option<(Vec<Segment>, usize)> {
    argument.match_indices('=').find_map(|(at, _)| {
        let text = argument[..at].to_owned() + "=0";
        if text.contains(['\n', '\r', '#', '[']) {
            return None;
        }
        let document = DeTable::parse(&text).ok()?;
        let mut segments = Vec::new();
        let mut table = document.get_ref();
        loop {
            let (key, value) = table.iter().next()?;
            let span = Span { source, start: key.span().start, end: key.span().end };
            segments.push(Segment { key: key.get_ref().to_string(), span });
            match value.get_ref() {
                DeValue::Table(inner) => table = inner,
                _ => return Some((segments, at + 1)),
            }
        }
    })
}

/// The value as TOML, or else as plain text.
fn value(argument: &str, start: usize, source: usize, report: &mut Report) -> Option<Node> {
    let rest = &argument[start..];
    let text = rest.trim();
    let start = start + (rest.len() - rest.trim_start().len());
    let span = Span { source, start, end: start + text.len() };
    if text.is_empty() {
        report
            .error(Span { source, start: 0, end: argument.len() }, "this setting has no value")
            .help("write KEY=VALUE; an empty text is KEY='\"\"'");
        return None;
    }
    match DeValue::parse(text) {
        Ok(parsed) => {
            let mut node = Node::from_toml(&parsed, source, start);
            node.span = span;
            let quoted = matches!(node.value, Value::Text(_) | Value::Array(_) | Value::Table(_));
            node.raw = (!quoted).then(|| text.to_owned());
            Some(node)
        }
        Err(error) if text.starts_with(['[', '{', '"', '\'']) => {
            report
                .error(span, format!("this is not TOML: {}", error.message()))
                .help("an array is [1, 2], a table { key = \"value\" }; mind the quotes of your shell");
            None
        }
        Err(_) => Some(Node { value: Value::Text(text.to_owned()), span, raw: None }),
    }
}

fn insert(table: &mut Table, path: &[Segment], node: Node, report: &mut Report) {
    let [segment, rest @ ..] = path else { return };
    let index = match table.0.iter().position(|entry| entry.key == segment.key) {
        Some(index) => index,
        None => {
            let empty = Node { value: Value::Table(Table::default()), span: segment.span, raw: None };
            table.0.push(Entry { key: segment.key.clone(), key_span: segment.span, node: empty });
            table.0.len() - 1
        }
    };
    let entry = &mut table.0[index];
    let [next, after @ ..] = rest else {
        entry.key_span = segment.span;
        entry.node = node;
        return;
    };
    match &mut entry.node.value {
        Value::Table(inner) => match named_in(inner, rest) {
            Some(array) => {
                let keys: Vec<&str> = rest.iter().map(|segment| segment.key.as_str()).collect();
                let path = format!("{}.{array}.{}", segment.key, keys.join("."));
                let message = format!("`{}` is no key of [{}]", next.key, segment.key);
                report.error(next.span, message).help(format!("did you mean {path}?"));
            }
            None => insert(inner, rest, node, report),
        },
        Value::Array(items) if items.iter().all(|item| matches!(item.value, Value::Table(_))) => {
            let names: Vec<String> = items.iter().map(name_of).collect();
            let found = names.iter().position(|name| *name == next.key);
            let found = found.or_else(|| next.key.parse().ok().filter(|index| *index < items.len()));
            match found.and_then(|index| items.get_mut(index)) {
                Some(_) if after.is_empty() => {
                    let message = format!("this names a whole [[{}]]", segment.key);
                    report.error(next.span, message).help(format!("add the key: {}.count=4", next.key));
                }
                Some(Node { value: Value::Table(inner), .. }) => insert(inner, after, node, report),
                _ => {
                    let known = || names.iter().map(String::as_str).filter(|name| !name.is_empty());
                    let noted =
                        report.error(next.span, format!("no [[{}]] is named `{}`", segment.key, next.key));
                    match nearest(&next.key, known()) {
                        Some(name) => noted.help(format!("did you mean `{name}`?")),
                        None => noted.help(format!("there is {}", or_list(known(), "`"))),
                    };
                }
            }
        }
        // A single value gives way to the table: `input.files.orders=F` replaces `files = "DIR"`.
        _ => {
            let mut inner = Table::default();
            insert(&mut inner, rest, node, report);
            entry.key_span = segment.span;
            entry.node = Node { value: Value::Table(inner), span: segment.span, raw: None };
        }
    }
}

/// The array in `table` that has a table of the name that `path` begins with, where the table itself has no such key: who
/// wrote the path forgot the array.
fn named_in(table: &Table, path: &[Segment]) -> Option<String> {
    let [name, _, ..] = path else { return None };
    if table.0.iter().any(|entry| entry.key == name.key) {
        return None;
    }
    let has_it = |entry: &&Entry| match &entry.node.value {
        Value::Array(items) => items.iter().any(|item| name_of(item) == name.key),
        _ => false,
    };
    table.0.iter().find(has_it).map(|entry| entry.key.clone())
}

/// The `name` of one table of an array of tables, or nothing.
fn name_of(item: &Node) -> String {
    let Value::Table(table) = &item.value else { return String::new() };
    match table.get("name").map(|entry| &entry.node.value) {
        Some(Value::Text(name)) => name.clone(),
        _ => String::new(),
    }
}
