//! One sample of each message, with what its fields hold: what tests in other languages decode.

use std::fmt::Write as _;

use wire::schema::{Field, Kind, Record, TABLE};

/// The samples, a block each.
pub(crate) fn text() -> String {
    let mut text = format!(
        "# One message of each kind, made {}\n# message ID NAME SIZE, its bytes, then a line a field: its name, and what it holds.\n",
        super::MADE
    );
    for message in TABLE {
        let record = message.record;
        let mut bytes =
            (0..record.size).map(|at| (at * 37 + usize::from(message.id) * 11) as u8).collect::<Vec<_>>();
        settle(record, &mut bytes);
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        writeln!(text, "message {} {} {}\nbytes {hex}", message.id, record.name, record.size).unwrap();
        fields(record, &bytes, "", &mut text);
    }
    text
}

/// Makes the bytes those of a valid message.
fn settle(record: &Record, bytes: &mut [u8]) {
    for field in record.fields {
        let part = &mut bytes[field.offset..field.offset + field.size];
        match field.kind {
            Kind::Enum(of) => part[0] = of.members[usize::from(part[0]) % of.members.len()].value,
            Kind::Text => {
                part.fill(0);
                part[..3].copy_from_slice(b"AB1");
            }
            Kind::Reserved => part.fill(0),
            Kind::Record(inner) => settle(inner, part),
            Kind::List(inner) => part.chunks_exact_mut(inner.size).for_each(|item| settle(inner, item)),
            _ => {}
        }
    }
}

fn fields(record: &Record, bytes: &[u8], before: &str, text: &mut String) {
    for field in record.fields {
        let (part, name) =
            (&bytes[field.offset..field.offset + field.size], format!("{before}{}", field.name));
        match field.kind {
            Kind::Reserved | Kind::Opaque => {}
            Kind::Record(inner) => fields(inner, part, &format!("{name}."), text),
            Kind::List(inner) => {
                for (index, item) in part.chunks_exact(inner.size).enumerate() {
                    fields(inner, item, &format!("{name}.{index}."), text);
                }
            }
            _ => writeln!(text, "{name} {}", value(field, part)).unwrap(),
        }
    }
}

fn value(field: &Field, bytes: &[u8]) -> String {
    match field.kind {
        Kind::Text => "AB1".to_owned(),
        Kind::Enum(of) => of.members.iter().find(|member| member.value == bytes[0]).unwrap().name.to_owned(),
        kind => {
            let negative = kind.is_signed() && bytes.last().unwrap() >> 7 == 1;
            let mut wide = [if negative { 0xff } else { 0 }; 16];
            wide[..bytes.len()].copy_from_slice(bytes);
            i128::from_le_bytes(wide).to_string()
        }
    }
}
