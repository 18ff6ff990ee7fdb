//! A Java class of constants.

use std::fmt::Write as _;

use super::{Group, MADE, Value};

pub(crate) fn constants(class: &str, doc: &str, groups: &[Group]) -> String {
    let mut text = format!(
        "// {MADE}\npackage colo.layout;\n\n/** {doc} */\npublic final class {class} {{\n    private {class}() {{}}\n"
    );
    for group in groups {
        let _ = write!(text, "\n    // {}\n", group.doc);
        for constant in &group.constants {
            let name = constant.name.replace("__", "_");
            let _ = match constant.value {
                // Offsets and small numbers are signed in Java; what does not fit is a long.
                Value::Small(value) if i32::try_from(value).is_ok() => {
                    writeln!(text, "    public static final int {name} = {value};")
                }
                Value::Small(value) => writeln!(text, "    public static final long {name} = {value}L;"),
                Value::Word(value) => writeln!(text, "    public static final long {name} = {value:#x}L;"),
                Value::Signed(i64::MIN) => {
                    writeln!(text, "    public static final long {name} = Long.MIN_VALUE;")
                }
                Value::Signed(value) => writeln!(text, "    public static final long {name} = {value}L;"),
            };
        }
    }
    text.push_str("}\n");
    text
}
