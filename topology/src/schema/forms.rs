//! Forms of text that several keys share.

use super::Form;
use crate::faults;
use crate::suggest::{nearest, or_list};
use crate::units::{self, ByteSize, CpuList, TimeOfDay};

fn canonical<T>(text: &str) -> Result<String, String>
where
    T: std::str::FromStr<Err = String> + std::fmt::Display,
{
    text.parse::<T>().map(|value| value.to_string())
}

pub(crate) const SIZE: Form = Form {
    what: "a size",
    example: "\"4MiB\"",
    pattern: "^[0-9]+ *(B|KiB|MiB|GiB)?$",
    parse: canonical::<ByteSize>,
    integer: true,
    longest: None,
};

/// The capacity of a ring: a size that a ring can have.
pub(crate) const CAPACITY: Form = Form {
    what: "the capacity of a ring",
    example: "\"4MiB\"",
    pattern: "^[0-9]+ *(B|KiB|MiB|GiB)?$",
    parse: |text| {
        let size: ByteSize = text.parse()?;
        match faults::near_capacities(size.0) {
            None => Ok(size.to_string()),
            Some(near) => {
                let near = or_list(near.iter().map(String::as_str), "\"");
                Err(format!("it is no power of two from 64KiB to 64GiB; the nearest: {near}"))
            }
        }
    },
    integer: true,
    longest: None,
};

pub(crate) const TIME_OF_DAY: Form = Form {
    what: "a time of day",
    example: "\"09:30:00\"",
    pattern: "^([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\\.[0-9]{1,9})?)?$",
    parse: canonical::<TimeOfDay>,
    integer: false,
    longest: None,
};

pub(crate) const CPUS: Form = Form {
    what: "a list of CPUs",
    example: "\"2-5,7\"",
    pattern: "^[0-9]+(-[0-9]+)?(, *[0-9]+(-[0-9]+)?)*$",
    parse: canonical::<CpuList>,
    integer: true,
    longest: None,
};

/// One CPU; kept as text, as the kernel writes it.
pub(crate) const CPU: Form = Form {
    what: "the number of a CPU",
    example: "3",
    pattern: "^[0-9]+$",
    parse: |text| match text.parse::<CpuList>()?.0[..] {
        [cpu] => Ok(cpu.to_string()),
        _ => Err("it names several: use `cpus` for a list".to_owned()),
    },
    integer: true,
    longest: None,
};

/// What is only shown and compared: a claim, a group of cells, a role.
pub(crate) const NAME: Form = Form {
    what: "a name",
    example: "\"makers\"",
    pattern: "^[A-Za-z0-9][A-Za-z0-9_-]*$",
    parse: units::label,
    integer: false,
    longest: Some(units::LONGEST_NAME),
};

/// The name of an instance is the name of a folder.
pub(crate) const INSTANCE: Form = Form {
    what: "the name of an instance",
    example: "\"demo\"",
    pattern: "^[a-z0-9][a-z0-9_-]*$",
    parse: units::instance_name,
    integer: false,
    longest: Some(units::LONGEST_INSTANCE),
};

/// The name of a node, a group or a host becomes part of the names of its journals.
pub(crate) const NODE: Form = Form {
    what: "the name of a node",
    example: "\"makers\"",
    pattern: "^[a-z0-9][a-z0-9_-]*$",
    parse: units::node_name,
    integer: false,
    longest: Some(units::LONGEST_NAME),
};

pub(crate) const JOURNAL: Form = Form {
    what: "the name of a journal",
    example: "\"md.quotes\"",
    pattern: "^[a-z0-9][a-z0-9_-]*(\\.[a-z0-9][a-z0-9_-]*)*$",
    parse: units::journal_name,
    integer: false,
    longest: Some(units::LONGEST_JOURNAL),
};

/// A node's name, with its number if it is one of a group.
pub(crate) const MEMBER: Form = Form {
    what: "the name of a node",
    example: "\"takers-1\"",
    pattern: "^[a-z0-9][a-z0-9_-]*$",
    parse: units::member_name,
    integer: false,
    longest: Some(units::LONGEST_JOURNAL),
};

/// The same, or a pattern of them.
pub(crate) const NODE_PATTERN: Form = Form {
    what: "a node's name, or a pattern of names",
    example: "\"takers-*\"",
    pattern: "^[a-z0-9*?][a-z0-9_*?-]*$",
    parse: units::node_pattern,
    integer: false,
    longest: Some(units::LONGEST_JOURNAL),
};

pub(crate) const SYMBOL: Form = Form {
    what: "a symbol",
    example: "\"600519.SH\"",
    pattern: "^.{1,24}$",
    parse: |text| match wire::Symbol::new(text) {
        Some(_) => Ok(text.to_owned()),
        None => Err(format!("a symbol has 1 to {} bytes, none of them zero", wire::Symbol::CAPACITY)),
    },
    integer: false,
    longest: None,
};

pub(crate) const POLICY: Form = Form {
    what: "a scheduling policy",
    example: "\"fifo:50\"",
    pattern: "^(idle|fifo:[1-9][0-9]?|nice:(-20|-?1?[0-9]))$",
    parse: |text| {
        let (word, number) = text.split_once(':').map_or((text, None), |(word, n)| (word, n.parse().ok()));
        let range = match (word, text.contains(':')) {
            ("idle", false) => return Ok(text.to_owned()),
            ("fifo", true) => 1..=99,
            ("nice", true) => -20..=19,
            _ => return Err("use fifo:1 to fifo:99, nice:-20 to nice:19, or idle".to_owned()),
        };
        match number {
            Some(number) if range.contains(&number) => Ok(text.to_owned()),
            _ => Err(format!("after `{word}:` comes a number from {} to {}", range.start(), range.end())),
        }
    },
    integer: false,
    longest: None,
};

/// A check of the doctor.
pub(crate) const CHECK: Form = Form {
    what: "a check of the doctor",
    example: "\"clock-source\"",
    pattern: "^[a-z0-9]+(-[a-z0-9]+)*$",
    parse: |text| {
        let known = pinning::check_ids();
        if known.contains(&text) {
            return Ok(text.to_owned());
        }
        match nearest(text, known) {
            Some(near) => Err(format!("did you mean \"{near}\"?")),
            None => Err("`colo doctor` lists them".to_owned()),
        }
    },
    integer: false,
    longest: None,
};
