//! C headers, which C++ can include too.

use std::fmt::Write as _;

use wire::schema::{Field, Kind, Record, TABLE};

use super::messages::{Parts, general, named};
use super::names::{shout, snake};
use super::{Constant, Group, MADE, Value};

fn value(constant: &Constant) -> String {
    match constant.value {
        Value::Small(value) => format!("{value}u"),
        Value::Word(value) => format!("UINT64_C({value:#x})"),
        Value::Signed(i64::MIN) => "INT64_MIN".to_owned(),
        Value::Signed(value) => format!("INT64_C({value})"),
    }
}

fn define(groups: &[Group]) -> String {
    let mut text = String::new();
    for group in groups {
        let _ = write!(text, "\n/* {} */\n", group.doc);
        for constant in &group.constants {
            let doc =
                if constant.doc.is_empty() { String::new() } else { format!(" /* {} */", constant.doc) };
            let _ =
                writeln!(text, "#define COLO_{} {}{doc}", constant.name.replace("__", "_"), value(constant));
        }
    }
    text
}

/// A header of constants.
pub(crate) fn constants(guard: &str, doc: &str, groups: &[Group]) -> String {
    format!(
        "/*\n * {doc}\n * {MADE}\n */\n#ifndef {guard}\n#define {guard}\n\n#include <stdint.h>\n{}\n#endif\n",
        define(groups)
    )
}

/// The messages as structures, their enumerations and flags.
pub(crate) fn structures() -> String {
    let mut text = format!(
        "/*\n * The messages byte by byte: docs/messages.md says what each field holds.\n * {MADE}\n */\n\
         #ifndef COLO_MESSAGES_H\n#define COLO_MESSAGES_H\n\n#include <stddef.h>\n#include <stdint.h>\n\n\
         #ifdef __cplusplus\n#define COLO_HOLDS(condition, what) static_assert(condition, what)\n#else\n\
         #define COLO_HOLDS(condition, what) _Static_assert(condition, what)\n#endif\n"
    );
    text.push_str(&define(&[general()]));
    text.push_str(&define(&named()));
    text.push_str("\n/* frame.id of each message. */\n");
    for message in TABLE {
        let _ = writeln!(text, "#define COLO_{}_MESSAGE {}u", shout(message.record.name), message.id);
    }
    text.push_str(
        "\n/* In billionths, 128 bits with a sign: low half first. */\n\
         typedef struct colo_wide { uint64_t low; int64_t high; } colo_wide;\n",
    );
    Parts::all().records.iter().for_each(|record| structure(record, &mut text));
    text.push_str("\n#undef COLO_HOLDS\n#endif\n");
    text
}

fn structure(record: &Record, text: &mut String) {
    let name = format!("colo_{}", snake(record.name));
    let _ = write!(text, "\n/* {}. */\ntypedef struct {name} {{\n", record.name);
    for field in record.fields {
        let _ = writeln!(text, "    {};", member(field));
    }
    let _ = writeln!(text, "}} {name};");
    let _ = writeln!(text, "COLO_HOLDS(sizeof({name}) == {}, \"{name}\");", record.size);
    for field in record.fields {
        let _ = writeln!(
            text,
            "COLO_HOLDS(offsetof({name}, {}) == {}, \"{name}.{}\");",
            field.name, field.offset, field.name
        );
    }
}

fn member(field: &Field) -> String {
    let name = field.name;
    match field.kind {
        Kind::Record(inner) => format!("colo_{} {name}", snake(inner.name)),
        Kind::List(inner) => format!("colo_{} {name}[{}]", snake(inner.name), field.size / inner.size),
        Kind::Text => format!("char {name}[{}]", field.size),
        Kind::Opaque | Kind::Reserved => format!("uint8_t {name}[{}]", field.size),
        _ if field.size == 16 => format!("colo_wide {name}"),
        kind => format!("{}int{}_t {name}", if kind.is_signed() { "" } else { "u" }, field.size * 8),
    }
}
