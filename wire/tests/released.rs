//! Messages of every version that was released are read by this one, and say the same.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use wire::AnyMessage;
use wire::schema::{VERSION, Value, View, message_type};

fn released() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bindings/vectors/released");
    let files = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    files.map(|file| file.unwrap().path()).collect()
}

fn number(value: &Value<'_>) -> Option<i128> {
    Some(match *value {
        Value::Unsigned(value) | Value::Position(value) | Value::Flags(value, _) => value.into(),
        Value::Signed(value) => value.into(),
        Value::Price(value) => value.0.into(),
        Value::Quantity(value) => value.0.into(),
        Value::Money(value) => value.0.into(),
        Value::WideMoney(value) => value.wide(),
        Value::Time(value) => value.0.into(),
        Value::Order(value) => value.0.into(),
        Value::Instrument(value) => value.0.into(),
        Value::Strategy(value) => value.0.into(),
        Value::Account(value) => value.0.into(),
        Value::Text(_) | Value::Enum(_) | Value::Record(_) | Value::List(_) => return None,
    })
}

/// What each field holds, by its name.
fn collect(view: View<'_>, before: &str, found: &mut BTreeMap<String, String>) {
    for (field, value) in view.fields() {
        let name = format!("{before}{}", field.name);
        match value {
            Some(Value::Record(inner)) => collect(inner, &format!("{name}."), found),
            Some(Value::List(list)) => {
                for (index, item) in list.iter().enumerate() {
                    collect(item, &format!("{name}.{index}."), found);
                }
            }
            Some(Value::Text(text)) => _ = found.insert(name, text.to_owned()),
            Some(Value::Enum(member)) => _ = found.insert(name, member.name.to_owned()),
            Some(other) => _ = found.insert(name, number(&other).unwrap_or_default().to_string()),
            None => _ = found.insert(name, field.none.unwrap_or_default().to_string()),
        }
    }
}

fn bytes_of(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

#[test]
fn messages_of_every_released_version_say_what_they_said() {
    let mut versions = 0;
    for path in released() {
        let version: u16 = path.file_stem().unwrap().to_string_lossy().parse().unwrap();
        assert!(version <= VERSION, "{version}");
        let text = std::fs::read_to_string(&path).unwrap();
        let mut messages = 0;
        for block in text.split("\nmessage ").skip(1) {
            let mut lines = block.lines();
            let id: u16 = lines.next().unwrap().split(' ').next().unwrap().parse().unwrap();
            let bytes = bytes_of(lines.next().unwrap().strip_prefix("bytes ").unwrap());
            let name =
                message_type(id).unwrap_or_else(|| panic!("{version}: {id} is no message")).record.name;
            let message = AnyMessage::decode(id, &bytes)
                .unwrap_or_else(|error| panic!("version {version}, {name}: {error}"));
            let mut found = BTreeMap::new();
            collect(View::of(id, &bytes).unwrap(), "", &mut found);
            for line in lines.filter(|line| !line.is_empty()) {
                let (field, value) = line.split_once(' ').unwrap();
                assert_eq!(found.remove(field).as_deref(), Some(value), "version {version}, {name}.{field}");
            }
            // What a later version has brought says nothing.
            for (field, value) in found {
                assert!(value == "0" || value.is_empty(), "version {version}, {name}.{field} is {value}");
            }
            assert_eq!(message.bytes(), bytes, "version {version}, {name}: it is written as it was");
            messages += 1;
        }
        assert!(messages > 40, "version {version}: {messages} messages");
        versions += 1;
    }
    assert!(versions > 0);
}
