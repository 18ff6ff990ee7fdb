//! One value of one file.

use std::fs;
use std::io;

use serde::{Deserialize, Serialize};

use crate::cpuset::CpuSet;
use crate::host::tree::{Tree, Unreadable, chosen};

/// A value to change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The doctor's check that this satisfies.
    pub check: String,
    /// The file, below the root, without a leading slash.
    pub file: String,
    /// How the file writes its value.
    pub value: Value,
    /// The current value.
    pub before: String,
    /// The new value.
    pub after: String,
}

/// How a file writes its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Value {
    /// The value itself.
    Plain,
    /// As one word in brackets among others.
    Choice,
    /// As a list of CPUs.
    List,
    /// As a hexadecimal mask of CPUs.
    Mask,
}

/// The result of a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum Outcome {
    /// Written, and read back.
    Done {
        /// The change, with the value that is there now as its `after`: the kernel may provide fewer huge pages than
        /// requested.
        change: Change,
    },
    /// Refused by the kernel, or no longer possible; nothing was changed.
    Failed {
        /// The change.
        change: Change,
        /// The reason.
        reason: String,
    },
    /// Not undone, because the value is no longer the one that was written.
    Left {
        /// The change.
        change: Change,
        /// The value that is there now.
        found: String,
    },
}

impl Change {
    /// The value that is there now.
    pub(super) fn current(&self, tree: &Tree) -> Result<String, Unreadable> {
        current(tree, &self.file, self.value)
    }

    /// Whether two texts mean the same value (`f` and `0000000f`).
    pub(super) fn same(&self, one: &str, other: &str) -> bool {
        same(self.value, one, other)
    }

    pub(super) fn write(&self, tree: &Tree, text: &str) -> io::Result<()> {
        // No O_CREAT: a file that no longer exists must not be created.
        let mut file = fs::OpenOptions::new().write(true).truncate(true).open(tree.path(&self.file))?;
        io::Write::write_all(&mut file, format!("{text}\n").as_bytes())
    }
}

pub(super) fn current(tree: &Tree, file: &str, value: Value) -> Result<String, Unreadable> {
    let text = tree.text(file)?;
    Ok(match value {
        Value::Choice => chosen(&text).unwrap_or(&text).to_owned(),
        _ => text,
    })
}

pub(super) fn same(value: Value, one: &str, other: &str) -> bool {
    let equal = |read: fn(&str) -> Option<CpuSet>| read(one).is_some_and(|set| Some(set) == read(other));
    one == other
        || match value {
            Value::Plain | Value::Choice => false,
            Value::List => equal(|text| text.parse().ok()),
            Value::Mask => equal(|text| CpuSet::from_mask(text).ok()),
        }
}
