//! Flyweights of Java over the bytes of the messages: reading one makes no garbage.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use wire::schema::{Enumeration, Field, Flags, Kind, Record, TABLE, VERSION};

use super::{MADE, Parts, camel, prose};

fn lower(name: &str) -> String {
    let name = camel(name);
    name[..1].to_lowercase() + &name[1..]
}

fn upper(name: &str) -> String {
    name.replace(['-', ' '], "_").to_uppercase()
}

fn escaped(doc: &str) -> String {
    prose(doc).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn enumeration(of: &Enumeration) -> String {
    let mut text = format!(
        "// Made {MADE}\npackage colo.wire;\n\n/** {} */\npublic enum {} {{\n",
        escaped(of.doc),
        of.name
    );
    for member in of.members {
        writeln!(
            text,
            "    /** {} */\n    {}(\"{}\"),",
            escaped(member.doc),
            upper(member.name),
            member.name
        )
        .unwrap();
    }
    text.push_str("    ;\n");
    let name = of.name;
    writeln!(
        text,
        "\n    private static final {name}[] ALL = values();\n    private final String text;\n\n    {name}(String text) {{\n        this.text = text;\n    }}\n\n    /** The byte that stands for it. */\n    public byte value() {{\n        return (byte) (ordinal() + 1);\n    }}\n\n    /** The member of a byte; null where none has it. */\n    public static {name} of(byte value) {{\n        int index = (value & 0xff) - 1;\n        return index >= 0 && index < ALL.length ? ALL[index] : null;\n    }}\n\n    @Override\n    public String toString() {{\n        return text;\n    }}\n}}"
    )
    .unwrap();
    text
}

fn flags(of: &Flags, text: &mut String) {
    for flag in of.flags {
        writeln!(
            text,
            "    /** {} */\n    public static final int {} = {};",
            escaped(flag.doc),
            upper(flag.name),
            flag.bit
        )
        .unwrap();
    }
}

/// What reads and writes an integer of so many bytes.
fn width(size: usize) -> (&'static str, &'static str) {
    match size {
        1 => ("byte", "Byte"),
        2 => ("short", "Short"),
        4 => ("int", "Int"),
        _ => ("long", "Long"),
    }
}

fn accessors(record: &Record, before: &str, offset: usize, list: Option<(usize, usize)>, text: &mut String) {
    for field in record.fields {
        let at = offset + field.offset;
        let name =
            if before.is_empty() { lower(field.name) } else { format!("{before}{}", camel(field.name)) };
        match field.kind {
            Kind::Reserved => {}
            Kind::Record(inner) => accessors(inner, &name, at, list, text),
            Kind::List(inner) => {
                accessors(inner, &name, at, Some((inner.size, field.size / inner.size)), text)
            }
            _ => accessor(field, &name, at, list, text),
        }
    }
}

fn accessor(field: &Field, name: &str, at: usize, list: Option<(usize, usize)>, text: &mut String) {
    let (index, more, place) = match list {
        // What lies behind the list is another field: no index may reach it.
        Some((size, count)) => {
            ("int index", "int index, ", format!("{at} + {size} * inside(index, {count})"))
        }
        None => ("", "", at.to_string()),
    };
    writeln!(text, "\n    /** {} */", escaped(field.doc)).unwrap();
    match field.kind {
        Kind::Enum(of) => {
            let of = of.name;
            writeln!(
                text,
                "    public {of} {name}({index}) {{\n        return {of}.of(getByte({place}));\n    }}"
            )
            .unwrap();
            writeln!(text, "\n    public void {name}({more}{of} value) {{\n        setByte({place}, value.value());\n    }}").unwrap();
        }
        Kind::Text => {
            let size = field.size;
            writeln!(
                text,
                "    public String {name}({index}) {{\n        return getText({place}, {size});\n    }}"
            )
            .unwrap();
            writeln!(text, "\n    public void {name}({more}String value) {{\n        setText({place}, {size}, value);\n    }}").unwrap();
        }
        Kind::Opaque => {
            let size = field.size;
            writeln!(
                text,
                "    public void {name}({more}byte[] to) {{\n        getBytes({place}, {size}, to);\n    }}"
            )
            .unwrap();
        }
        Kind::WideMoney => {
            let high = match list {
                Some((size, count)) => format!("{} + {size} * inside(index, {count})", at + 8),
                None => (at + 8).to_string(),
            };
            writeln!(text, "    public long {name}Low({index}) {{\n        return getLong({place});\n    }}")
                .unwrap();
            writeln!(text, "\n    /** The upper half. */\n    public long {name}High({index}) {{\n        return getLong({high});\n    }}").unwrap();
            writeln!(text, "\n    public void {name}({more}long low, long high) {{\n        setLong({place}, low);\n        setLong({high}, high);\n    }}").unwrap();
        }
        kind => {
            let (of, method) = width(field.size);
            // Narrow unsigned numbers are read into the next wider type.
            let (of, read, write) = match (field.size, kind.is_signed()) {
                (1, false) => ("int", format!("getByte({place}) & 0xff"), "(byte) value"),
                (2, false) => ("int", format!("getShort({place}) & 0xffff"), "(short) value"),
                _ => (of, format!("get{method}({place})"), "value"),
            };
            writeln!(text, "    public {of} {name}({index}) {{\n        return {read};\n    }}").unwrap();
            writeln!(text, "\n    public void {name}({more}{of} value) {{\n        set{method}({place}, {write});\n    }}").unwrap();
        }
    }
}

fn validity(record: &Record, offset: usize, checks: &mut Vec<String>) {
    for field in record.fields {
        match field.kind {
            Kind::Enum(of) => {
                checks.push(format!("{}.of(getByte({})) != null", of.name, offset + field.offset))
            }
            Kind::Record(inner) => validity(inner, offset + field.offset, checks),
            _ => {}
        }
    }
}

fn own_flags(record: &Record, text: &mut String) {
    for field in record.fields {
        if let Kind::Flags(of) = field.kind {
            flags(of, text);
        }
    }
}

fn message(record: &Record, id: u16) -> String {
    let (name, size) = (record.name, record.size);
    let mut text = format!(
        "// Made {MADE}\npackage colo.wire;\n\n/** {} */\npublic final class {name} extends Message {{\n",
        escaped(record.doc)
    );
    writeln!(text, "    public static final int ID = {id};\n    public static final int SIZE = {size};")
        .unwrap();
    own_flags(record, &mut text);
    writeln!(text, "\n    @Override\n    public int messageId() {{\n        return ID;\n    }}\n\n    @Override\n    public int size() {{\n        return SIZE;\n    }}").unwrap();
    let mut checks = Vec::new();
    validity(record, 0, &mut checks);
    let checks = if checks.is_empty() { "true".to_owned() } else { checks.join("\n            && ") };
    writeln!(text, "\n    @Override\n    public boolean isValid() {{\n        return {checks};\n    }}")
        .unwrap();
    accessors(record, "", 0, None, &mut text);
    text.push_str("}\n");
    text
}

/// The files, by the names of their classes.
pub(crate) fn files() -> BTreeMap<String, String> {
    let parts = Parts::of_table();
    let mut files = BTreeMap::new();
    for (name, of) in &parts.enumerations {
        let values: Vec<u8> = of.members.iter().map(|member| member.value).collect();
        assert_eq!(values, (1..=values.len() as u8).collect::<Vec<_>>(), "{name}: values in a row");
        files.insert((*name).to_owned(), enumeration(of));
    }
    let mut list = format!(
        "// Made {MADE}\npackage colo.wire;\n\n/** All messages. */\npublic final class Messages {{\n    /** Version of the messages. */\n    public static final int VERSION = {VERSION};\n\n    private Messages() {{}}\n\n    /** A message of this kind, without bytes yet; null for an id that is not of this version. */\n    public static Message create(int id) {{\n        return switch (id) {{\n"
    );
    for kind in TABLE {
        files.insert(kind.record.name.to_owned(), message(kind.record, kind.id));
        writeln!(list, "            case {} -> new {}();", kind.id, kind.record.name).unwrap();
    }
    list.push_str("            default -> null;\n        };\n    }\n}\n");
    files.insert("Messages".to_owned(), list);
    files
}
