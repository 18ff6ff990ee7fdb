//! A Python module of constants.

use std::fmt::Write as _;

use super::{Group, MADE, Value};

pub(crate) fn constants(doc: &str, groups: &[Group]) -> String {
    let mut text = format!("\"\"\"{doc}\n\n{MADE}\n\"\"\"\n\nfrom typing import Final\n");
    for group in groups {
        let _ = write!(text, "\n# {}\n", group.doc);
        for constant in &group.constants {
            let name = constant.name.replace("__", "_");
            let _ = match constant.value {
                Value::Small(value) => writeln!(text, "{name}: Final = {value}"),
                Value::Word(value) => writeln!(text, "{name}: Final = {value:#x}"),
                Value::Signed(value) => writeln!(text, "{name}: Final = {value}"),
            };
        }
    }
    text
}
