//! What a kind of value takes: for choosing among several, and in words.

use super::Kind;
use crate::document::{Node, Value};
use crate::suggest::or_list;

/// Whether the value may be written as text.
pub(super) fn takes_text(kind: &Kind) -> bool {
    matches!(kind, Kind::Text | Kind::Words(_) | Kind::Parsed(_) | Kind::Duration { .. })
}

/// Whether the value's TOML type is the one of this kind, right or wrong in itself.
pub(super) fn accepts(kind: &Kind, node: &Node) -> bool {
    match (kind, &node.value) {
        (Kind::Flag, Value::Bool(_)) | (Kind::Integer { .. }, Value::Integer(_)) => true,
        (Kind::Number { .. }, Value::Integer(_) | Value::Float(_)) => true,
        (Kind::Parsed(form), Value::Integer(_)) => form.integer,
        (Kind::List(_), Value::Array(_)) => true,
        (Kind::Table(_) | Kind::Free, Value::Table(_)) => true,
        (kind, Value::Text(_)) => takes_text(kind),
        _ => false,
    }
}

/// What a key takes, in words.
pub(super) fn expected(kind: &Kind) -> String {
    match kind {
        Kind::Flag => "true or false".to_owned(),
        Kind::Integer { min, max } if *max >= i64::from(u32::MAX) => format!("an integer, at least {min}"),
        Kind::Integer { min, max } => format!("an integer from {min} to {max}"),
        Kind::Number { min, max } if *max >= f64::MAX => format!("a number, at least {min}"),
        Kind::Number { min, max } => format!("a number from {min} to {max}"),
        Kind::Text => "a string".to_owned(),
        Kind::Duration { min_ns, max_ns } => {
            let text = |ns| crate::duration::text(std::time::Duration::from_nanos(ns));
            format!("a duration from \"{}\" to \"{}\"", text(*min_ns), text(*max_ns))
        }
        Kind::Parsed(form) => format!("{} such as {}", form.what, form.example),
        Kind::Words(words) => or_list(words.words.iter().map(|(word, _)| *word), "\""),
        Kind::List(item) => format!("an array, each of it {}", expected(item)),
        Kind::Table(_) | Kind::Groups(_) | Kind::Named(..) | Kind::Free => "a table".to_owned(),
        Kind::Tables(_) => "an array of tables".to_owned(),
        Kind::Either(kinds) => kinds.iter().map(expected).collect::<Vec<_>>().join(", or "),
    }
}
