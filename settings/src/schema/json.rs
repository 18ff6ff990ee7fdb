//! The schema as JSON Schema (draft 2020-12), for editors and for other languages.

use serde_json::{Map, Value as Json, json};

use super::{Absent, Form, Key, Kind, Section, TableSchema};

/// The format of files whose root table is `T` as JSON Schema.
pub fn json_schema<T: Section>(title: &str) -> Json {
    let mut schema = table(T::TABLE, &[]);
    if let Json::Object(object) = &mut schema {
        object.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
        object.insert("title".to_owned(), json!(title));
    }
    schema
}

/// `extra` are keys that the struct does not have: `group` of a table with groups.
fn table(schema: &'static TableSchema, extra: &[(&str, Json)]) -> Json {
    let mut properties = Map::new();
    let mut required = Vec::new();
    let mut defaults = (schema.defaults)();
    for key in schema.all_keys() {
        let default = defaults.get_mut(key.name).map(Json::take).unwrap_or_default();
        properties.insert(key.name.to_owned(), property(key, default));
        if matches!(key.absent, Absent::Required(_)) {
            required.push(key.name);
        }
    }
    for (name, value) in extra {
        properties.insert((*name).to_owned(), value.clone());
    }
    let mut object = json!({ "type": "object", "description": doc(schema.doc), "properties": properties });
    if !required.is_empty() {
        object["required"] = json!(required);
    }
    object["additionalProperties"] = json!(false);
    object
}

fn doc(lines: &[&str]) -> String {
    lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ").trim().to_owned()
}

fn property(key: &Key, default: Json) -> Json {
    let mut schema = kind(&key.kind);
    if let Json::Object(object) = &mut schema {
        let mut text = key.doc_text();
        if let Absent::Derived(how) = key.absent {
            text = format!("{text} Default: {how}.");
        }
        object.insert("description".to_owned(), Json::from(text));
        let plain = matches!(key.absent, Absent::Default) && !default.is_null() && !default.is_object();
        if plain && !matches!(key.kind, Kind::Tables(_)) {
            object.insert("default".to_owned(), default);
        }
    }
    schema
}

fn kind(kind_of: &Kind) -> Json {
    match kind_of {
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Integer { min, max } => json!({ "type": "integer", "minimum": min, "maximum": max }),
        Kind::Number { min, max } if *max < f64::MAX => {
            json!({ "type": "number", "minimum": min, "maximum": max })
        }
        Kind::Number { min, .. } => json!({ "type": "number", "minimum": min }),
        Kind::Text => json!({ "type": "string", "minLength": 1 }),
        Kind::Duration { .. } => {
            json!({ "type": "string", "pattern": "^([0-9]+ *[a-z]+ *)+$", "examples": ["2ms"] })
        }
        Kind::Parsed(form) if form.integer => {
            json!({ "type": ["string", "integer"], "pattern": form.pattern })
        }
        Kind::Parsed(form) => {
            let mut text = of_form(form);
            text["type"] = json!("string");
            text
        }
        Kind::Words(words) => {
            let all = words.words.iter();
            json!({ "oneOf": all.map(|(word, doc)| json!({ "const": word, "description": doc.trim() }))
                .collect::<Vec<_>>() })
        }
        Kind::List(item) => json!({ "type": "array", "items": kind(item) }),
        Kind::Table(schema) => table(schema, &[]),
        Kind::Tables(schema) => {
            let mut item = table(schema, &[]);
            if let Some(key) = schema.short_key() {
                // `pattern` and `maxLength` speak of texts alone, the other words of tables.
                if let (Json::Object(item), Json::Object(text)) = (&mut item, kind(&key.kind)) {
                    item.extend(text);
                }
                item["type"] = json!(["object", "string"]);
            }
            json!({ "type": "array", "items": item })
        }
        Kind::Groups(groups) => {
            let items = table(groups.table, &[]);
            let array = json!({ "type": "array", "items": items, "description": groups.doc });
            table(groups.table, &[("group", array)])
        }
        Kind::Named(form, inner) => json!({
            "type": "object",
            "propertyNames": of_form(form),
            "additionalProperties": table(inner, &[]),
        }),
        Kind::Free => json!({ "type": "object" }),
        Kind::Either(kinds) => json!({ "anyOf": kinds.iter().map(kind).collect::<Vec<_>>() }),
    }
}

/// What text of a form looks like.
fn of_form(form: &Form) -> Json {
    let mut text = json!({ "pattern": form.pattern });
    if let Some(longest) = form.longest {
        text["maxLength"] = json!(longest);
    }
    text
}
