//! `docs/reference/platform-file.md`: every key of the platform file, from its schema.

use std::fmt::Write as _;

use serde_json::{Map, Value};

const HEAD: &str = "\
<!-- Made by `cargo xtask gen` from the schema of platform files -->

# The platform file, key by key

A platform is one TOML file. `colo check FILE` looks for mistakes, `colo explain FILE` shows each value with its origin, `colo schema`
prints the schema that this page is made from. Any key can be given on the command line: `--set md.interval=500us`. A key that
stands here without a default may be left out, unless *required* stands beside it.

Times are texts: `\"250us\"`, `\"5ms\"`, `\"1m\"`. Sizes likewise: `\"64KiB\"`, `\"16MiB\"`. Paths start at the file's folder.
";

/// A table of the file.
struct Section<'a> {
    /// `[journal.md]`, `[[strategies.group]]`.
    names: Vec<String>,
    description: &'a str,
    keys: Vec<Key<'a>>,
}

struct Key<'a> {
    name: &'a str,
    schema: &'a Value,
    is_required: bool,
}

fn text<'a>(schema: &'a Value, name: &str) -> &'a str {
    schema[name].as_str().unwrap_or_default()
}

/// The properties, where this is a table.
fn properties(schema: &Value) -> Option<&Map<String, Value>> {
    schema["properties"].as_object()
}

fn collect<'a>(schema: &'a Value, path: &str, is_list: bool, sections: &mut Vec<Section<'a>>) {
    let Some(all) = properties(schema) else { return };
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let is_table = |schema: &Value| is_inner_table(schema);
    let keys: Vec<Key<'_>> = all
        .iter()
        .filter(|(_, schema)| !is_table(schema))
        .map(|(name, schema)| Key { name, schema, is_required: required.contains(&name.as_str()) })
        .collect();
    if !path.is_empty() && (!keys.is_empty() || !text(schema, "description").is_empty()) {
        let name = if is_list { format!("[[{path}]]") } else { format!("[{path}]") };
        // Tables that have the same keys (the journals') stand together.
        let known = sections.iter_mut().find(|section| is_same(&section.keys, &keys));
        match known {
            Some(section) if keys.len() > 2 => {
                let what = text(schema, "description");
                section.names.push(if what.is_empty() { name } else { format!("{name}: {what}") });
            }
            _ => sections.push(Section { names: vec![name], description: text(schema, "description"), keys }),
        }
    }
    for (name, schema) in all.iter().filter(|(_, schema)| is_table(schema)) {
        let inner = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        if schema["type"] == "array" {
            collect(&schema["items"], &inner, true, sections);
        } else {
            collect(schema, &inner, false, sections);
            collect(&schema["additionalProperties"], &format!("{inner}.NAME"), false, sections);
        }
    }
}

/// Of its own heading, as opposed to a value.
fn is_inner_table(schema: &Value) -> bool {
    let of = |schema: &Value| properties(schema).is_some_and(|all| !all.is_empty());
    of(schema) || of(&schema["additionalProperties"]) || of(&schema["items"])
}

fn is_same(a: &[Key<'_>], b: &[Key<'_>]) -> bool {
    a.len() == b.len()
        && a.iter()
            .zip(b)
            .all(|(a, b)| a.name == b.name && text(a.schema, "description") == text(b.schema, "description"))
}

/// What may stand behind the equals sign.
fn value(schema: &Value) -> String {
    if let Some(options) = schema["oneOf"].as_array().or(schema["anyOf"].as_array()) {
        return options.iter().map(value).collect::<Vec<_>>().join(", ");
    }
    if let Some(constant) = schema.get("const") {
        return format!("`{constant}`");
    }
    let types: Vec<&str> = match &schema["type"] {
        Value::String(one) => vec![one.as_str()],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let word = |kind: &str| match kind {
        "string" => "text".to_owned(),
        "integer" => match (schema["minimum"].as_i64(), schema["maximum"].as_i64()) {
            (Some(least), Some(most)) if most < i64::from(u32::MAX) => format!("{least} to {most}"),
            (Some(least), _) if least != 0 => format!("integer from {least}"),
            _ => "integer".to_owned(),
        },
        "array" => format!("list of {}", value(&schema["items"])),
        "object" => "table".to_owned(),
        "boolean" => "`true`, `false`".to_owned(),
        other => other.to_owned(),
    };
    types.into_iter().map(word).collect::<Vec<_>>().join(" or ")
}

/// What choices mean, below the description.
fn choices(schema: &Value) -> String {
    let mut text = String::new();
    for choice in ["oneOf", "anyOf"].iter().filter_map(|name| schema[*name].as_array()).flatten() {
        if let (Some(constant), Some(what)) = (choice.get("const"), choice["description"].as_str()) {
            let _ = write!(text, "<br>`{constant}`: {what}");
        }
    }
    text
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

pub(super) fn document() -> String {
    let schema = topology::schema();
    let mut sections = Vec::new();
    collect(&schema, "", false, &mut sections);
    let mut text = HEAD.to_owned();
    for section in &sections {
        let (first, others) = section.names.split_first().unwrap();
        let _ = write!(text, "\n## `{first}`\n\n{}\n", section.description);
        if !others.is_empty() {
            text.push_str("\nThe same keys, for one each:\n\n");
            for other in others {
                let (name, what) = other.split_once(": ").unwrap_or((other, ""));
                let _ = writeln!(text, "- `{name}` {what}");
            }
        }
        if section.keys.is_empty() {
            continue;
        }
        text.push_str("\n| key | value | default | |\n|---|---|---|---|\n");
        for key in &section.keys {
            let default = match (&key.schema["default"], key.is_required) {
                (_, true) => "*required*".to_owned(),
                (Value::Null, _) => String::new(),
                (value, _) => format!("`{value}`"),
            };
            let what = text_of(key.schema);
            let _ = writeln!(
                text,
                "| `{}` | {} | {} | {} |",
                key.name,
                cell(&value(key.schema)),
                cell(&default),
                cell(&what)
            );
        }
    }
    text
}

fn text_of(schema: &Value) -> String {
    text(schema, "description").to_owned() + &choices(schema)
}
