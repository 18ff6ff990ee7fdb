//! Terms of an order in JSON, from their table: read in bodies, shown in answers, listed in the OpenAPI document.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Value as Json, json};
use wire::terms::{self, Asked, Holds, Term, Value};
use wire::{Nanos, Quantity};

/// Terms of an order with their values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Terms(pub(crate) Vec<Asked>);

impl Terms {
    /// The word of the term of this name.
    pub(crate) fn word(&self, name: &str) -> Option<&'static str> {
        self.0.iter().find_map(|(term, value)| match value {
            Value::Word(word) if term.name == name => Some(word.name),
            _ => None,
        })
    }
}

/// The value of a term in JSON; `None`: as if it were not there.
fn read(term: &'static Term, json: &Json) -> Result<Option<Value>, String> {
    if json.is_null() {
        return Ok(None);
    }
    let found = match term.holds {
        Holds::Lots(_) => json.as_i64().map(|lots| Some(Value::Quantity(Quantity(lots)))),
        Holds::Seconds(_) => json.as_u64().map(|time| Some(Value::Time(Nanos(time)))),
        Holds::Flag(_) => json.as_bool().map(|is_set| is_set.then(|| Value::Word(&term.words()[0]))),
        Holds::Words(_, words) => json
            .as_str()
            .and_then(|text| words.iter().find(|word| word.name == text))
            .map(|word| Some(Value::Word(word))),
    };
    found.ok_or_else(|| format!("`{}` is `{json}`; it must be {}", term.name, form(term)))
}

/// The values that it takes, in words.
fn form(term: &'static Term) -> String {
    match term.holds {
        Holds::Lots(_) => "a whole number".to_owned(),
        Holds::Seconds(_) => "a whole number of nanoseconds".to_owned(),
        Holds::Flag(_) => "true or false".to_owned(),
        Holds::Words(_, words) => {
            let words: Vec<&str> = words.iter().map(|word| word.name).collect();
            format!("one of {}", words.join(", "))
        }
    }
}

impl<'de> Deserialize<'de> for Terms {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Terms, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Terms;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the terms of an order")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Terms, A::Error> {
                let (mut asked, mut seen) = (Vec::new(), Vec::new());
                while let Some(name) = map.next_key::<String>()? {
                    let term = terms::named(&name)
                        .ok_or_else(|| A::Error::custom(format!("unknown field `{name}`")))?;
                    if seen.contains(&term.name) {
                        return Err(A::Error::duplicate_field(term.name));
                    }
                    seen.push(term.name);
                    let value = read(term, &map.next_value()?).map_err(A::Error::custom)?;
                    asked.extend(value.map(|value| (term, value)));
                }
                Ok(Terms(asked))
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

impl Serialize for Terms {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (term, value) in &self.0 {
            match (value, &term.holds) {
                (Value::Quantity(quantity), _) => map.serialize_entry(term.name, &quantity.0)?,
                (Value::Time(time), _) => map.serialize_entry(term.name, &time.0)?,
                (Value::Word(_), Holds::Flag(_)) => map.serialize_entry(term.name, &true)?,
                (Value::Word(word), _) => map.serialize_entry(term.name, word.name)?,
            }
        }
        map.end()
    }
}

/// Adds the terms to the properties of a schema of an order.
pub(crate) fn describe(terms: &'static [Term], schema: &mut Json) {
    for term in terms {
        let mut property = match term.holds {
            Holds::Lots(_) => json!({ "type": "integer", "format": "int64", "minimum": 1 }),
            Holds::Seconds(_) => json!({ "type": "integer", "format": "int64", "minimum": 1_000_000_000 }),
            Holds::Flag(_) => json!({ "type": "boolean" }),
            Holds::Words(_, words) => {
                let words: Vec<&str> = words.iter().map(|word| word.name).collect();
                json!({ "type": "string", "enum": words })
            }
        };
        let mut doc = term.doc.to_owned();
        if let Holds::Words(_, words) = term.holds {
            for word in words {
                doc.push_str(&format!(" `{}`: {}", word.name, word.doc));
            }
        }
        property["description"] = json!(doc);
        schema["properties"][term.name] = property;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(json: &str) -> Result<Terms, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    #[test]
    fn every_term_is_read_and_shown() {
        let json = r#"{"display":200,"minimum":100,"ends_ns":7000000000,"post_only":true,"self_trade":"cancel-both","offset":"open"}"#;
        let read = read_all(json).unwrap();
        assert_eq!(read.0.len(), terms::TERMS.len(), "no term is left out here");
        assert_eq!(serde_json::to_string(&read).unwrap(), json);
        assert_eq!(read_all(r#"{"post_only":false,"display":null}"#).unwrap(), Terms::default());
    }

    #[test]
    fn what_is_no_term_is_named() {
        for (json, part) in [
            (r#"{"displai":1}"#, "unknown field `displai`"),
            (r#"{"display":1.5}"#, "`display` is `1.5`; it must be a whole number"),
            (r#"{"display":"1"}"#, "`display`"),
            (r#"{"ends_ns":-1}"#, "nanoseconds"),
            (r#"{"self_trade":"none"}"#, "one of cancel-newest, cancel-oldest, cancel-both, decrement"),
            (r#"{"post_only":1}"#, "true or false"),
            (r#"{"display":1,"display":1}"#, "duplicate field `display`"),
            (r#"{"display":null,"display":1}"#, "duplicate field `display`"),
        ] {
            let error = read_all(json).unwrap_err();
            assert!(error.contains(part), "{json}: {error}");
        }
    }
}
