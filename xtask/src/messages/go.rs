//! Structs of Go with the layout of the messages.

use std::fmt::Write as _;

use wire::schema::{Field, Kind, Record, TABLE, VERSION};

use super::{MADE, Parts, camel, prose};

/// Words that Go's authors write in capitals.
fn name(word: &str) -> String {
    let name = camel(word);
    match name.strip_suffix("Id") {
        Some(rest) => format!("{rest}ID"),
        None => name,
    }
}

fn type_of(field: &Field) -> String {
    match field.kind {
        Kind::Price => "Price".to_owned(),
        Kind::Quantity => "Quantity".to_owned(),
        Kind::Money => "Money".to_owned(),
        Kind::WideMoney => "WideMoney".to_owned(),
        Kind::Time => "Nanos".to_owned(),
        Kind::Order => "OrderID".to_owned(),
        Kind::Instrument => "InstrumentID".to_owned(),
        Kind::Strategy => "StrategyID".to_owned(),
        Kind::Account => "AccountID".to_owned(),
        Kind::Enum(of) => of.name.to_owned(),
        Kind::Record(inner) => inner.name.to_owned(),
        Kind::List(item) => format!("[{}]{}", field.size / item.size, item.name),
        Kind::Text => format!("Text{}", field.size),
        Kind::Opaque | Kind::Reserved => format!("[{}]byte", field.size),
        kind => format!("{}int{}", if kind.is_signed() { "" } else { "u" }, field.size * 8),
    }
}

fn record(record: &Record, text: &mut String) {
    writeln!(text, "\n// {} has {} bytes. {}", record.name, record.size, prose(record.doc)).unwrap();
    writeln!(text, "type {} struct {{", record.name).unwrap();
    for field in record.fields {
        let is_reserved = matches!(field.kind, Kind::Reserved);
        writeln!(text, "\t// {}", prose(field.doc)).unwrap();
        writeln!(
            text,
            "\t{} {}",
            if is_reserved { "_".to_owned() } else { name(field.name) },
            type_of(field)
        )
        .unwrap();
    }
    text.push_str("}\n\n// The layout is the contract's, or this does not compile.\n");
    writeln!(text, "var _ [{}]struct{{}} = [unsafe.Sizeof({}{{}})]struct{{}}{{}}", record.size, record.name)
        .unwrap();
    for field in record.fields.iter().filter(|field| !matches!(field.kind, Kind::Reserved)) {
        let (owner, name) = (record.name, name(field.name));
        writeln!(
            text,
            "var _ [{}]struct{{}} = [unsafe.Offsetof({owner}{{}}.{name})]struct{{}}{{}}",
            field.offset
        )
        .unwrap();
    }
    writeln!(text, "\nfunc (m *{}) invalid() string {{", record.name).unwrap();
    for field in record.fields {
        let name = name(field.name);
        match field.kind {
            Kind::Enum(_) => {
                writeln!(text, "\tif !m.{name}.IsListed() {{\n\t\treturn \"{}\"\n\t}}", field.name).unwrap();
            }
            Kind::Record(inner) if has_enumerations(inner) => {
                writeln!(text, "\tif field := m.{name}.invalid(); field != \"\" {{\n\t\treturn field\n\t}}")
                    .unwrap();
            }
            _ => {}
        }
    }
    text.push_str("\treturn \"\"\n}\n");
}

fn has_enumerations(record: &Record) -> bool {
    record.fields.iter().any(|field| matches!(field.kind, Kind::Enum(_)))
}

pub(crate) fn messages() -> String {
    let parts = Parts::of_table();
    let mut text = format!("// Code generated {MADE}\n\npackage wire\n\nimport \"unsafe\"\n");
    writeln!(text, "\n// Version of the messages.\nconst Version = {VERSION}").unwrap();
    for (of, enumeration) in &parts.enumerations {
        let mut members = String::new();
        let mut names = String::new();
        for member in enumeration.members {
            let name = camel(member.name);
            writeln!(members, "\t// {}\n\t{of}{name} {of} = {}", prose(member.doc), member.value).unwrap();
            writeln!(names, "\tcase {of}{name}:\n\t\treturn \"{}\"", member.name).unwrap();
        }
        writeln!(text, "\n// {of}: {}\ntype {of} uint8\n\nconst (\n{members})", prose(enumeration.doc))
            .unwrap();
        writeln!(text, "\nfunc (v {of}) String() string {{\n\tswitch v {{\n{names}\t}}\n\treturn unlisted(\"{of}\", uint8(v))\n}}").unwrap();
        let values: Vec<u8> = enumeration.members.iter().map(|member| member.value).collect();
        assert_eq!(values, (1..=values.len() as u8).collect::<Vec<_>>(), "{of}: values in a row");
        writeln!(text, "\n// IsListed is false for a value that no member has.\nfunc (v {of}) IsListed() bool {{\n\treturn v-1 < {}\n}}", values.len()).unwrap();
    }
    for (of, flags) in &parts.flags {
        let of = of.trim_end_matches("Flags");
        text.push_str("\nconst (\n");
        for flag in flags.flags {
            writeln!(text, "\t// {}\n\t{of}{} = {}", prose(flag.doc), camel(flag.name), flag.bit).unwrap();
        }
        text.push_str(")\n");
    }
    parts.records.values().for_each(|part| record(part, &mut text));
    for message in TABLE {
        let (of, id, size) = (message.record.name, message.id, message.record.size);
        record(message.record, &mut text);
        writeln!(text, "\n// {of}MessageID stands in the frame's header.\nconst {of}MessageID uint16 = {id}")
            .unwrap();
        writeln!(
            text,
            "\n// MessageID of the message.\nfunc (m *{of}) MessageID() uint16 {{\n\treturn {id}\n}}"
        )
        .unwrap();
        writeln!(text, "\n// AsBytes are those of the message itself, not a copy.\nfunc (m *{of}) AsBytes() []byte {{\n\treturn (*[{size}]byte)(unsafe.Pointer(m))[:]\n}}").unwrap();
        writeln!(text, "\n// Decode copies a payload into the message.\nfunc (m *{of}) Decode(payload []byte) error {{\n\tif len(payload) != {size} {{\n\t\treturn sizeError(\"{of}\", {size}, len(payload))\n\t}}\n\tcopy((*[{size}]byte)(unsafe.Pointer(m))[:], payload)\n\tif field := m.invalid(); field != \"\" {{\n\t\treturn invalidError(\"{of}\", field)\n\t}}\n\treturn nil\n}}").unwrap();
    }
    text.push_str("\n// New is a message of this kind, empty; nil for an id that is not of this version.\nfunc New(id uint16) Message {\n\tswitch id {\n");
    for message in TABLE {
        writeln!(text, "\tcase {}:\n\t\treturn new({})", message.id, message.record.name).unwrap();
    }
    text.push_str("\t}\n\treturn nil\n}\n");
    text
}
