//! Message types as their source has them: what a document must say about each byte.

use std::collections::BTreeMap;
use std::path::Path;

use wire::*;

/// A struct or an enumeration with its texts.
#[derive(Debug)]
pub(crate) struct Described {
    pub(crate) name: String,
    pub(crate) doc: String,
    pub(crate) members: Vec<Member>,
}

/// A field (`kind`: its Rust type) or a member of an enumeration (`kind`: `VALUE TEXT`).
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) doc: String,
}

/// How a type looks in bytes: (bytes, type, unit).
pub(crate) fn plain(kind: &str) -> Option<(usize, String, &'static str)> {
    let known: [(&str, usize, &str, &str); 14] = [
        ("u8", 1, "u8", ""),
        ("u16", 2, "u16", ""),
        ("u32", 4, "u32", ""),
        ("u64", 8, "u64", ""),
        ("i32", 4, "i32", ""),
        ("i64", 8, "i64", ""),
        ("InstrumentId", size_of::<InstrumentId>(), "u32", "instrument"),
        ("StrategyId", size_of::<StrategyId>(), "u16", "seat"),
        ("OrderId", size_of::<OrderId>(), "u64", "order id"),
        ("Price", size_of::<Price>(), "i64", "price"),
        ("Quantity", size_of::<Quantity>(), "i64", "quantity"),
        ("Money", size_of::<Money>(), "i64", "money"),
        ("Nanos", size_of::<Nanos>(), "u64", "ns"),
        ("Symbol", size_of::<Symbol>(), "24 bytes", "text"),
    ];
    if let Some((item, count)) =
        kind.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')?.split_once("; "))
    {
        let (bytes, name, unit) = plain(item)?;
        let count: usize = count.parse().ok()?;
        return Some((bytes * count, format!("{count} × {name}"), unit));
    }
    known.iter().find(|row| row.0 == kind).map(|row| (row.1, row.2.to_owned(), row.3))
}

fn source(file: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(file)).unwrap()
}

/// All structs with named fields of the message modules, by name.
pub(crate) fn structs() -> BTreeMap<String, Described> {
    let files = ["market", "order", "execution", "ledger", "control"];
    let text: String = files.map(|file| source(&format!("message/{file}.rs"))).join("\n");
    let start = |line: &str| {
        line.strip_prefix("pub struct ").and_then(|rest| rest.strip_suffix(" {")).map(str::to_owned)
    };
    let member = |line: &str| {
        let (name, kind) = line.strip_prefix("pub ")?.strip_suffix(',')?.split_once(": ")?;
        Some((name.to_owned(), kind.to_owned()))
    };
    read(&text, start, member)
}

/// All enumerations, by name.
pub(crate) fn enumerations() -> BTreeMap<String, Described> {
    let start = |line: &str| {
        let name = line.strip_suffix(" {")?;
        (name.chars().all(char::is_alphanumeric) && name.starts_with(char::is_uppercase))
            .then(|| name.to_owned())
    };
    let member = |line: &str| {
        let (name, rest) = line.strip_suffix(',')?.split_once(" = ")?;
        let (value, text) = rest.split_once(" => ")?;
        Some((name.to_owned(), format!("{value} {}", text.trim_matches('"'))))
    };
    read(&source("enums.rs"), start, member)
}

/// Doc comments go to what follows them; code in them is left out.
fn read(
    text: &str,
    start: impl Fn(&str) -> Option<String>,
    member: impl Fn(&str) -> Option<(String, String)>,
) -> BTreeMap<String, Described> {
    let mut found: BTreeMap<String, Described> = BTreeMap::new();
    let mut open: Option<Described> = None;
    let (mut doc, mut is_code) = (Vec::new(), false);
    for line in text.lines().map(str::trim) {
        if let Some(words) = line.strip_prefix("///") {
            let words = words.trim();
            is_code ^= words.starts_with("```");
            if !is_code && !words.is_empty() && !words.starts_with("```") {
                doc.push(words.to_owned());
            }
            continue;
        }
        if line.starts_with("#[") || line.starts_with("Clone,") || line.ends_with(")]") {
            continue;
        }
        let text = std::mem::take(&mut doc).join(" ");
        match &mut open {
            None => {
                open = start(line).map(|name| Described { name, doc: text, members: Vec::new() });
            }
            Some(described) => match member(line) {
                Some((name, kind)) => described.members.push(Member { name, kind, doc: text }),
                None if line == "}" => {
                    found.extend(open.take().map(|described| (described.name.clone(), described)));
                }
                None => panic!("{}: `{line}` is no member that this test can read", described.name),
            },
        }
    }
    found
}
