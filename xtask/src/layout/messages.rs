//! The constants of the messages.

use std::collections::BTreeMap;

use wire::schema::{Enumeration, Flags, Kind, Record, TABLE, VERSION};
use wire::{Best, MAX_INSTRUMENTS, Money, Price};

use super::names::shout;
use super::{Constant, Group, Value};

/// What the messages consist of, each once.
#[derive(Default)]
pub(crate) struct Parts {
    /// In the order in which a structure needs another one before it.
    pub(crate) records: Vec<&'static Record>,
    pub(crate) enumerations: BTreeMap<&'static str, &'static Enumeration>,
    pub(crate) flags: BTreeMap<&'static str, &'static Flags>,
}

impl Parts {
    pub(crate) fn all() -> Parts {
        let mut parts = Parts::default();
        TABLE.iter().for_each(|message| parts.add(message.record));
        parts
    }

    fn add(&mut self, record: &'static Record) {
        if self.records.iter().any(|known| known.name == record.name) {
            return;
        }
        for field in record.fields {
            match field.kind {
                Kind::Enum(enumeration) => drop(self.enumerations.insert(enumeration.name, enumeration)),
                Kind::Flags(flags) => drop(self.flags.insert(flags.name, flags)),
                Kind::Record(inner) | Kind::List(inner) => self.add(inner),
                _ => {}
            }
        }
        self.records.push(record);
    }
}

fn constant(name: String, value: u64, doc: &str) -> Constant {
    let value = u32::try_from(value).map_or(Value::Word(value), Value::Small);
    Constant { name, value, doc: doc.to_owned() }
}

/// Constants of the messages that are no offsets.
pub(crate) fn general() -> Group {
    Group {
        doc: "Units.".to_owned(),
        constants: vec![
            constant("MESSAGES_VERSION".to_owned(), VERSION.into(), "grows with every change of a message"),
            Constant {
                name: "NO_PRICE".to_owned(),
                value: Value::Signed(Price::NONE.0),
                doc: "a price that is none".to_owned(),
            },
            constant(
                "PRICE_ONE".to_owned(),
                Price::ONE.unsigned_abs(),
                "one unit of the currency as a price",
            ),
            constant("MONEY_ONE".to_owned(), Money::ONE.unsigned_abs(), "one unit of the currency as money"),
            constant("MOST_OF_BEST".to_owned(), Best::MOST.into(), "a quantity of Best: at least so much"),
            constant("MAX_INSTRUMENTS".to_owned(), MAX_INSTRUMENTS.into(), "instruments are 1 to one less"),
        ],
    }
}

/// Enumerations and flags.
pub(crate) fn named() -> Vec<Group> {
    let parts = Parts::all();
    let members = |enumeration: &Enumeration| Group {
        doc: format!("{}, one byte.", enumeration.name),
        constants: enumeration
            .members
            .iter()
            .map(|member| {
                let name = format!("{}_{}", shout(enumeration.name), shout(member.name));
                constant(name, member.value.into(), "")
            })
            .collect(),
    };
    let bits = |flags: &Flags| Group {
        doc: format!("{}: bits.", flags.name),
        constants: flags
            .flags
            .iter()
            .map(|flag| constant(format!("{}_{}", shout(flags.name), shout(flag.name)), flag.bit, ""))
            .collect(),
    };
    parts
        .enumerations
        .values()
        .map(|known| members(known))
        .chain(parts.flags.values().map(|known| bits(known)))
        .collect()
}

/// What `docs/messages.md` gives names to.
pub fn messages() -> Vec<Group> {
    let mut groups = vec![general()];
    for record in Parts::all().records {
        let name = shout(record.name);
        let id = TABLE.iter().find(|message| message.record.name == record.name);
        let mut constants = Vec::new();
        if let Some(message) = id {
            constants.push(constant(format!("{name}_MESSAGE"), message.id.into(), "frame.id"));
        }
        constants.push(constant(format!("{name}_SIZE"), record.size as u64, ""));
        for field in record.fields {
            constants.push(constant(format!("{name}__{}", shout(field.name)), field.offset as u64, ""));
        }
        groups.push(Group { doc: format!("{}.", record.name), constants });
    }
    groups.extend(named());
    groups
}
