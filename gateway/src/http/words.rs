//! What the OpenAPI document says of texts and numbers beside their types: the words that a text may be, the form that it has, how
//! large a number may be. The words are those that the code reads and prints.

use serde_json::{Value, json};
use wire::schema::{FieldType, Kind as FieldKind};
use wire::{AccountAction, AccountScope, OrderStatus, OrderType, Reason, Side, TimeInForce};

use super::body;
use super::problem::Kind;

/// Of a schema's property, or of a parameter of any route.
enum Form {
    OneOf(Vec<String>),
    Pattern(&'static str),
}

/// A decimal number: `10.25`.
const DECIMAL: &str = r"^-?[0-9]+(\.[0-9]+)?$";
/// An order: `12-1-42`.
const ORDER: &str = "^[0-9]+-[0-9]+-[0-9]+$";

/// The words of a type, as it is printed.
fn printed<T: FieldType>() -> Vec<String> {
    match T::KIND {
        FieldKind::Enum(all) => all.members.iter().map(|member| member.name.to_owned()).collect(),
        _ => Vec::new(),
    }
}

/// The words that a body may have.
fn read<T>(known: &[(&str, T)]) -> Vec<String> {
    known.iter().map(|(word, _)| (*word).to_owned()).collect()
}

fn texts(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// By schema and property.
fn properties() -> Vec<(&'static str, &'static str, Form)> {
    use Form::{OneOf, Pattern};
    let status = [printed::<OrderStatus>(), texts(&["sent", "unknown"])].concat();
    let problems = Kind::ALL.iter().map(|kind| format!("/docs#{}", kind.parts().0)).collect();
    vec![
        ("OrderBody", "side", OneOf(read(&body::SIDES))),
        ("OrderBody", "type", OneOf(read(&body::ORDER_TYPES))),
        ("OrderBody", "time_in_force", OneOf(read(&body::TIMES_IN_FORCE))),
        ("OrderBody", "wait", OneOf(read(&body::WAITS))),
        ("OrderBody", "session", Pattern("^[0-9A-Fa-f]{1,16}$")),
        ("OrderView", "order_id", Pattern(ORDER)),
        ("OrderView", "side", OneOf(printed::<Side>())),
        ("OrderView", "order_type", OneOf(printed::<OrderType>())),
        ("OrderView", "time_in_force", OneOf(printed::<TimeInForce>())),
        ("OrderView", "price", Pattern(DECIMAL)),
        ("OrderView", "status", OneOf(status)),
        ("OrderView", "reason", OneOf(printed::<Reason>())),
        ("PositionView", "side", OneOf(texts(&["net", "long", "short"]))),
        ("PositionView", "average_price", Pattern(DECIMAL)),
        ("KilledView", "scope", OneOf(printed::<AccountScope>())),
        ("KilledView", "action", OneOf(printed::<AccountAction>())),
        ("Problem", "type", OneOf(problems)),
        ("Problem", "reason", OneOf(printed::<Reason>())),
    ]
}

/// By the name of a parameter.
fn parameters() -> Vec<(&'static str, Form)> {
    vec![("order_id", Form::Pattern(ORDER)), ("side", Form::OneOf(read(&body::SIDES)))]
}

impl Form {
    fn put(self, schema: &mut Value) {
        match self {
            Form::Pattern(pattern) => schema["pattern"] = json!(pattern),
            Form::OneOf(words) => {
                let is_optional =
                    schema["type"].as_array().is_some_and(|types| types.contains(&json!("null")));
                let mut words: Vec<Value> = words.into_iter().map(Value::String).collect();
                words.extend(is_optional.then_some(Value::Null));
                schema["enum"] = Value::Array(words);
            }
        }
    }
}

/// Adds all of this to the document.
pub(super) fn complete(document: &mut Value) {
    ranges(document);
    for schema in ["OrderBody", "OrderView"] {
        if let Some(schema) = document.pointer_mut(&format!("/components/schemas/{schema}")) {
            crate::terms::describe(wire::terms::TERMS, schema);
        }
    }
    for (schema, property, form) in properties() {
        if let Some(schema) =
            document.pointer_mut(&format!("/components/schemas/{schema}/properties/{property}"))
        {
            form.put(schema);
        }
    }
    let paths = document["paths"].as_object_mut().into_iter().flat_map(|paths| paths.values_mut());
    let routes = paths.filter_map(Value::as_object_mut).flat_map(|path| path.values_mut());
    for route in routes {
        for parameter in route["parameters"].as_array_mut().into_iter().flatten() {
            let form = parameters().into_iter().find(|(name, _)| parameter["name"] == **name);
            if let Some((_, form)) = form {
                form.put(&mut parameter["schema"]);
            }
        }
    }
}

/// A number without a sign has 32 bits, and all of them count: the format of 32 bits has a sign.
fn ranges(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(ranges),
        Value::Object(object) => {
            let is_natural = object.get("minimum").and_then(Value::as_f64).is_some_and(|least| least >= 0.0);
            if is_natural && object.get("format") == Some(&json!("int32")) && !object.contains_key("maximum")
            {
                object.insert("format".to_owned(), json!("int64"));
                object.insert("maximum".to_owned(), json!(u32::MAX));
            }
            object.values_mut().for_each(ranges);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_lists_the_words_and_forms_of_every_text_that_has_some() {
        let document: Value = serde_json::from_str(&super::super::document::document()).unwrap();
        for (schema, property, form) in properties() {
            let found = &document["components"]["schemas"][schema]["properties"][property];
            let what = format!("{schema}.{property}: {found}");
            match form {
                Form::Pattern(pattern) => assert_eq!(found["pattern"], pattern, "{what}"),
                Form::OneOf(words) => {
                    assert!(words.len() > 1, "{what}");
                    let listed = found["enum"].as_array().unwrap_or_else(|| panic!("{what}"));
                    assert!(words.iter().all(|word| listed.contains(&json!(word))), "{what}");
                }
            }
        }
        for (schema, term) in ["OrderBody", "OrderView"]
            .iter()
            .flat_map(|schema| wire::terms::TERMS.iter().map(move |term| (schema, term)))
        {
            let found = &document["components"]["schemas"][schema]["properties"][term.name];
            assert!(found["description"].as_str().unwrap().starts_with(term.doc), "{schema}.{}", term.name);
        }
        let account = &document["components"]["schemas"]["OrderBody"]["properties"]["account"];
        assert_eq!((&account["minimum"], &account["maximum"]), (&json!(0), &json!(u32::MAX)), "{account}");
        let routes = document["paths"]["/v1/orders/{order_id}"]["get"]["parameters"].as_array().unwrap();
        assert_eq!(routes[0]["schema"]["pattern"], ORDER);
    }
}
