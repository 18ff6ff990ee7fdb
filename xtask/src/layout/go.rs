//! A Go package of constants.

use std::fmt::Write as _;

use super::names::camel;
use super::{Group, MADE, Value};

pub(crate) fn constants(doc: &str, groups: &[Group]) -> String {
    let mut text = format!(
        "// Code generated from the constants of colo; DO NOT EDIT.\n// {MADE}\n\npackage layout\n\n// {doc}\n"
    );
    for group in groups {
        let _ = write!(text, "\n// {}\nconst (\n", group.doc);
        let names: Vec<String> = group.constants.iter().map(|constant| camel(&constant.name)).collect();
        let widest = names.iter().map(String::len).max().unwrap_or(0);
        for (constant, name) in group.constants.iter().zip(names) {
            let value = match constant.value {
                Value::Small(value) => format!("{value}"),
                Value::Word(value) => format!("uint64({value:#x})"),
                Value::Signed(value) => format!("int64({value})"),
            };
            let _ = writeln!(text, "\t{name:widest$} = {value}");
        }
        text.push_str(")\n");
    }
    text
}
