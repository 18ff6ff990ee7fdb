//! Objects written piece by piece: prices stand in them exactly, as numbers.

use std::fmt::{Display, Write};

use wire::Price;

/// Stands for "not a number" in DIFF.
const NONE: &str = "\"-\"";

/// A text with its quotation marks.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// An object that is being written.
#[derive(Debug)]
pub(crate) struct Object(String);

impl Object {
    pub(crate) fn new() -> Object {
        Object("{".to_owned())
    }

    /// Anything that is JSON as it stands.
    pub(crate) fn raw(mut self, name: &str, value: impl Display) -> Object {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        let _ = write!(self.0, "\"{name}\":{value}");
        self
    }

    pub(crate) fn text(self, name: &str, value: &str) -> Object {
        let value = quoted(value);
        self.raw(name, value)
    }

    pub(crate) fn price(self, name: &str, price: Price) -> Object {
        if price.is_some() { self.raw(name, price) } else { self.raw(name, NONE) }
    }

    /// A decimal number, where there is one.
    pub(crate) fn number(self, name: &str, value: Option<impl Display>) -> Object {
        match value {
            Some(value) => self.raw(name, value),
            None => self.raw(name, NONE),
        }
    }

    pub(crate) fn end(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

/// An object of entries that are written already.
pub(crate) fn object<'a>(entries: impl Iterator<Item = &'a str>) -> String {
    let mut text = String::from("{");
    for entry in entries {
        if text.len() > 1 {
            text.push(',');
        }
        text.push_str(entry);
    }
    text.push('}');
    text
}
