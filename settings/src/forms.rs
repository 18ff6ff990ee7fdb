//! Forms of text that every language may use, and the rule for names of its own.

use crate::schema::Form;
use crate::units::{ByteSize, CpuList, TimeOfDay};

fn canonical<T>(text: &str) -> Result<String, String>
where
    T: std::str::FromStr<Err = String> + std::fmt::Display,
{
    text.parse::<T>().map(|value| value.to_string())
}

/// Bytes: [`ByteSize`].
pub const SIZE: Form = Form {
    what: "a size",
    example: "\"4MiB\"",
    pattern: "^[0-9]+ *(B|KiB|MiB|GiB)?$",
    parse: canonical::<ByteSize>,
    integer: true,
    longest: None,
};

/// [`TimeOfDay`].
pub const TIME_OF_DAY: Form = Form {
    what: "a time of day",
    example: "\"09:30:00\"",
    pattern: "^([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\\.[0-9]{1,9})?)?$",
    parse: canonical::<TimeOfDay>,
    integer: false,
    longest: None,
};

/// [`CpuList`].
pub const CPUS: Form = Form {
    what: "a list of CPUs",
    example: "\"2-5,7\"",
    pattern: "^[0-9]+(-[0-9]+)?(, *[0-9]+(-[0-9]+)?)*$",
    parse: canonical::<CpuList>,
    integer: true,
    longest: None,
};

/// Most bytes of a [`NAME`].
const LONGEST_NAME: usize = 48;

/// A name that is only shown and compared: it becomes neither a file nor a journal.
pub const NAME: Form = Form {
    what: "a name",
    example: "\"makers\"",
    pattern: "^[A-Za-z0-9][A-Za-z0-9_-]*$",
    parse: |text| NameRule { capitals: true, also: &[], longest: LONGEST_NAME }.check(text),
    integer: false,
    longest: Some(LONGEST_NAME),
};

/// Which names are allowed: a letter or a digit, then letters, digits, `-` and `_`.
pub struct NameRule {
    /// Capital letters are letters too.
    pub capitals: bool,
    /// Further characters, at any place.
    pub also: &'static [char],
    /// Most bytes.
    pub longest: usize,
}

impl NameRule {
    /// The name, or what is wrong with it.
    ///
    /// # Errors
    /// Why it is not allowed, to be put behind "is not a name: ".
    pub fn check(&self, text: &str) -> Result<String, String> {
        let first = |c: char| {
            c.is_ascii_digit() || c.is_ascii_lowercase() || (self.capitals && c.is_ascii_uppercase())
        };
        let inner = |c: char| first(c) || c == '-' || c == '_' || self.also.contains(&c);
        let letters = if self.capitals { "letters" } else { "small letters" };
        match text.chars().find(|&c| !inner(c)) {
            Some(c) => Err(format!("`{c}` is not allowed: use {letters}, digits, `-` and `_`")),
            None if !text.starts_with(|c| first(c) || self.also.contains(&c)) => {
                Err("it must start with a letter or a digit".to_owned())
            }
            None if text.len() > self.longest => {
                Err(format!("it has {} characters; {} are allowed", text.len(), self.longest))
            }
            None => Ok(text.to_owned()),
        }
    }
}
