//! What an audit has looked at, and what differs.

use serde::Serialize;

/// Of more differences in one part only their number is told: after the first ones there is nothing new in them.
const MOST: usize = 200;

/// Something that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Difference {
    pub(super) part: &'static str,
    pub(super) journal: &'static str,
    pub(super) position: Option<u64>,
    pub(super) found: String,
    pub(super) expected: String,
}

/// One part of an audit.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Findings {
    pub(super) part: &'static str,
    /// What it holds, in words.
    pub(super) what: &'static str,
    /// False where the journals do not reach back far enough for all of it.
    pub(super) whole: bool,
    pub(super) checked: u64,
    pub(super) differences: u64,
    pub(super) notes: Vec<String>,
    #[serde(skip)]
    pub(super) rows: Vec<Difference>,
}

impl Findings {
    pub(super) fn new(part: &'static str, what: &'static str) -> Findings {
        Findings { part, what, whole: true, checked: 0, differences: 0, notes: Vec::new(), rows: Vec::new() }
    }

    pub(super) fn differs(
        &mut self,
        journal: &'static str,
        position: impl Into<Option<u64>>,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) {
        self.differences += 1;
        if self.rows.len() < MOST {
            self.rows.push(Difference {
                part: self.part,
                journal,
                position: position.into(),
                found: found.into(),
                expected: expected.into(),
            });
        }
    }

    /// Counts a comparison, and what it found.
    pub(super) fn same<T: PartialEq + std::fmt::Display>(
        &mut self,
        journal: &'static str,
        position: Option<u64>,
        what: &str,
        found: T,
        expected: T,
    ) {
        self.checked += 1;
        if found != expected {
            self.differs(journal, position, format!("{what}: {found}"), expected.to_string());
        }
    }

    /// Not all of it could be looked at.
    pub(super) fn lacks(&mut self, why: impl Into<String>) {
        self.whole = false;
        self.notes.push(why.into());
    }
}
