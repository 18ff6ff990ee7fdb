//! Forms of text that several keys of the platform file share.

use settings::forms::NameRule;
use settings::schema::Form;
use settings::{ByteSize, CpuList, nearest, or_list};

use crate::faults;

/// Longest name of an instance.
pub const LONGEST_INSTANCE: usize = 32;
/// Longest name of a node, a group or a host: with a number, and `orders.` or `reports.` before it, it still is the name
/// of a journal.
const LONGEST_NAME: usize = 48;
/// Longest name of a journal: what its control file has room for.
pub const LONGEST_JOURNAL: usize = 63;

/// Small letters, digits, `-`, `_` and what `also` adds.
const fn small(also: &'static [char], longest: usize) -> NameRule {
    NameRule { capitals: false, also, longest }
}

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

/// A path that may be empty.
pub(crate) const RUNS: Form = Form {
    what: "a folder",
    example: "\"runs\"",
    pattern: "^[^\\n]*$",
    parse: |text| match text.contains('\n') {
        true => Err("a path of one line".to_owned()),
        false => Ok(text.to_owned()),
    },
    integer: false,
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

/// The name of an instance is the name of a folder, and part of a socket's path (at most 107 bytes in all).
pub(crate) const INSTANCE: Form = Form {
    what: "the name of an instance",
    example: "\"demo\"",
    pattern: "^[a-z0-9][a-z0-9_-]*$",
    parse: |text| small(&[], LONGEST_INSTANCE).check(text),
    integer: false,
    longest: Some(LONGEST_INSTANCE),
};

/// The name of a node, a group or a host becomes part of the names of its journals.
pub(crate) const NODE: Form = Form {
    what: "the name of a node",
    example: "\"makers\"",
    pattern: "^[a-z0-9][a-z0-9_-]*$",
    parse: |text| small(&[], LONGEST_NAME).check(text),
    integer: false,
    longest: Some(LONGEST_NAME),
};

pub(crate) const JOURNAL: Form = Form {
    what: "the name of a journal",
    example: "\"md.quotes\"",
    pattern: "^[a-z0-9][a-z0-9_-]*(\\.[a-z0-9][a-z0-9_-]*)*$",
    parse: |text| {
        text.split('.').try_for_each(|part| small(&[], usize::MAX).check(part).map(drop))?;
        small(&['.'], LONGEST_JOURNAL).check(text)
    },
    integer: false,
    longest: Some(LONGEST_JOURNAL),
};

/// Journals: a name, or a pattern of names.
pub(crate) const JOURNALS: Form = Form {
    what: "the name of a journal or a pattern of names",
    example: "\"orders.*\"",
    pattern: "^[a-z0-9*?][a-z0-9_*?-]*(\\.[a-z0-9*?][a-z0-9_*?-]*)*$",
    parse: |text| {
        let part = |part: &str| small(&['*', '?'], usize::MAX).check(part).map(drop);
        text.split('.').try_for_each(part)?;
        small(&['.', '*', '?'], LONGEST_JOURNAL).check(text)
    },
    integer: false,
    longest: Some(LONGEST_JOURNAL),
};

/// A node's name, with its number if it is one of a group.
pub(crate) const MEMBER: Form = Form {
    what: "the name of a node",
    example: "\"takers-1\"",
    pattern: "^[a-z0-9][a-z0-9_-]*$",
    parse: |text| small(&[], LONGEST_JOURNAL).check(text),
    integer: false,
    longest: Some(LONGEST_JOURNAL),
};

/// The same, or a pattern of them.
pub(crate) const NODE_PATTERN: Form = Form {
    what: "a node's name, or a pattern of names",
    example: "\"takers-*\"",
    pattern: "^[a-z0-9*?][a-z0-9_*?-]*$",
    parse: |text| small(&['*', '?'], LONGEST_JOURNAL).check(text),
    integer: false,
    longest: Some(LONGEST_JOURNAL),
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

/// A price, exactly.
pub(crate) const PRICE: Form = Form {
    what: "a price",
    example: "\"0.01\"",
    pattern: "^[0-9]+(\\.[0-9]{1,9})?$",
    parse: |text| match text.parse::<wire::Price>() {
        Ok(price) => Ok(price.to_string()),
        Err(error) => Err(error.to_string()),
    },
    integer: true,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_fit_for_file_names() {
        assert!((NODE.parse)("demo-2_x").is_ok());
        for wrong in ["", "-x", "a/b", "a b", "..", "é", "Demo", &"x".repeat(49)] {
            assert!((NODE.parse)(wrong).is_err(), "{wrong}");
        }
        assert!((INSTANCE.parse)(&"x".repeat(33)).is_err());
        assert!((JOURNAL.parse)("md.quotes").is_ok());
        assert!((JOURNAL.parse)("md..quotes").is_err());
    }
}
