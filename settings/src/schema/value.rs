//! A single value against its kind.

use serde_json::Value as Json;

use super::Kind;
use super::check::{Checker, Place};
use super::expect::{accepts, expected, takes_text};
use crate::document::{Node, Value};
use crate::suggest::nearest;

impl Checker<'_> {
    /// A value that is no table of the file's own. `None` when it is wrong, which has been noted.
    pub(super) fn value(&mut self, kind: &Kind, node: &Node, path: &str) -> Option<Json> {
        let text = match (&node.value, &node.raw) {
            (Value::Text(text), _) | (_, Some(text)) | (Value::Datetime(text), _) => Some(text.as_str()),
            _ => None,
        };
        match (kind, &node.value) {
            (Kind::Flag, Value::Bool(value)) => return Some(Json::from(*value)),
            (Kind::Integer { min, max }, Value::Integer(Some(value))) if (min..=max).contains(&value) => {
                return Some(Json::from(*value));
            }
            (Kind::Number { min, max }, Value::Float(value)) if (min..=max).contains(&value) => {
                return Some(Json::from(*value));
            }
            (Kind::Number { min, max }, Value::Integer(Some(value)))
                if (*min..=*max).contains(&(*value as f64)) =>
            {
                return Some(Json::from(*value as f64));
            }
            (Kind::Free, Value::Table(_)) => return Some(node.to_json()),
            (Kind::List(item), Value::Array(nodes)) => {
                let values: Vec<_> = nodes.iter().map(|node| self.value(item, node, path)).collect();
                return values.into_iter().collect();
            }
            (Kind::Table(schema), Value::Table(table)) => {
                let place = Place { path: path.to_owned(), label: path.to_owned(), header: Some(node.span) };
                let bad = self.bad.len();
                let value = self.table(schema, table, &place);
                return (self.bad.len() == bad).then_some(value);
            }
            (whole @ Kind::Either(kinds), _) => {
                let as_typed = kinds.iter().find(|kind| accepts(kind, node));
                let as_text = || kinds.iter().find(|kind| node.raw.is_some() && takes_text(kind));
                if let Some(kind) = as_typed.or_else(as_text) {
                    return match text.filter(|_| takes_text(kind)) {
                        Some(text) => self.text(kind, whole, text, node, path),
                        None => self.value(kind, node, path),
                    };
                }
            }
            (Kind::Parsed(form), Value::Integer(Some(value))) if form.integer => {
                return self.text(kind, kind, &value.to_string(), node, path);
            }
            _ => {
                if let Some(text) = text.filter(|_| takes_text(kind)) {
                    return self.text(kind, kind, text, node, path);
                }
            }
        }
        self.wrong_type(kind, node, path);
        None
    }

    /// `whole` is the kind that `kind` is one choice of.
    fn text(&mut self, kind: &Kind, whole: &Kind, text: &str, node: &Node, path: &str) -> Option<Json> {
        match kind {
            Kind::Text if text.is_empty() => {
                self.report.error(node.span, format!("`{path}` is empty"));
                None
            }
            Kind::Text => Some(Json::from(text)),
            Kind::Words(words) => {
                if let Some((word, _)) = words.words.iter().find(|(word, _)| *word == text) {
                    return Some(Json::from(*word));
                }
                let all = || words.words.iter().map(|(word, _)| *word);
                let noted = self.report.error(node.span, format!("{text:?} is no {}", words.what));
                let known = format!("`{path}` may be {}", expected(whole));
                match nearest(text, all()) {
                    Some(near) => noted.help(format!("did you mean \"{near}\"?")).help(known),
                    None => noted.help(known),
                };
                None
            }
            Kind::Parsed(form) => match (form.parse)(text) {
                Ok(value) => Some(Json::from(value)),
                Err(why) => {
                    let message = format!("{text:?} is not {}: {why}", form.what);
                    self.report.error(node.span, message).help(format!("for example {}", form.example));
                    None
                }
            },
            Kind::Duration { min_ns, max_ns } => match humantime::parse_duration(text) {
                Ok(value) if (u128::from(*min_ns)..=u128::from(*max_ns)).contains(&value.as_nanos()) => {
                    Some(Json::from(crate::duration::text(value)))
                }
                Ok(_) => {
                    self.wrong_type(kind, node, path);
                    None
                }
                Err(why) => {
                    self.report
                        .error(node.span, format!("{text:?} is no duration: {why}"))
                        .help("a number and its unit: ns, us, ms, s, min or h, as in \"30us\"");
                    None
                }
            },
            _ => None,
        }
    }

    pub(super) fn wrong_type(&mut self, kind: &Kind, node: &Node, path: &str) {
        let message = format!("`{path}` must be {}, found {}", expected(kind), node.describe());
        let noted = self.report.error(node.span, message);
        match (kind, &node.value) {
            (Kind::Duration { .. }, Value::Integer(Some(number))) => {
                noted.help(format!("write its unit: \"{number}ms\" or \"{number}s\""));
            }
            (Kind::Integer { .. } | Kind::Flag | Kind::Number { .. }, Value::Text(text))
                if text.parse::<f64>().is_ok() || text == "true" || text == "false" =>
            {
                noted.help(format!("leave out the quotes: {text}"));
            }
            (Kind::List(_), Value::Text(text)) => drop(noted.help(format!("write [{text:?}]"))),
            _ => {}
        }
    }
}
