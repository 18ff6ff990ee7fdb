//! The result of a verification: what was checked, and what did not hold.

macro_rules! check_kinds {
    ($($name:ident $text:literal $what:literal;)*) => {
        /// What a verification looks at.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum CheckKind {
            $(#[doc = concat!("`", $text, "`: ", $what, ".")] $name,)*
            /// A check of somebody who knows more of the journal than its bytes.
            Other {
                /// Its short name in output.
                name: &'static str,
                /// What must hold.
                what: &'static str,
            },
        }

        impl CheckKind {
            /// Those of a journal by itself.
            const ALL: &[CheckKind] = &[$(CheckKind::$name),*];

            /// Its short name in output.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(CheckKind::$name => $text,)*
                    CheckKind::Other { name, .. } => name,
                }
            }

            /// What must hold.
            pub fn what(self) -> &'static str {
                match self {
                    $(CheckKind::$name => $what,)*
                    CheckKind::Other { what, .. } => what,
                }
            }
        }
    };
}

check_kinds! {
    Header "header" "magic, version, layout hash, sizes and name are possible and agree with the control file's length and name";
    Lock "lock" "the lock file is there and, where it can be read, belongs to the control file";
    Ring "ring" "the ring has the length that the header states";
    Writer "writer" "the writer's state, process, seat and epoch are possible";
    Head "head" "the head lies on a line within the stream";
    Intent "intent" "the writer's intent is at or ahead of the head, and no farther than a writer declares";
    Chain "chain" "commit words and lengths lead from the oldest frame to the head";
    Marks "marks" "the writer's marks are positions at which frames start";
    Time "time" "a writer's times do not go back, and the last one is the one that the control page names";
    Epoch "epoch" "writers' epochs do not go back, and are none that no writer had";
    Topic "topic" "topics are below the journal's number of topics";
    Flags "flags" "reserved bits are clear";
    Padding "padding" "payloads are filled up with zeros to a multiple of 16 bytes";
    End "end" "the line behind the last frame is clear";
    Count "count" "as many frames as the control page counts";
    Tally "tally" "the classes of the tally hold no more frames than are counted";
    Cursors "cursors" "readers' cursors are positions that a reader can have, at the start of a frame";
    Tables "tables" "bitmaps name only seats that exist; what is unused is zero";
}

/// Findings that are kept for one check; further ones are only counted.
const KEPT: u64 = 20;

/// One thing that was checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Check {
    /// Which.
    pub kind: CheckKind,
    /// How often it was checked: frames, words, cursors. Zero: there was nothing to check.
    pub count: u64,
    /// How often it did not hold.
    pub findings: u64,
}

/// One violation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What did not hold.
    pub check: CheckKind,
    /// Position in the stream, where there is one.
    pub position: Option<u64>,
    /// What was found.
    pub found: String,
    /// What was expected.
    pub expected: String,
}

/// What [`Journal::verify`](crate::Journal::verify) checked, and what did not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyReport {
    /// Name of the journal.
    pub journal: String,
    /// All checks, including those that were never applied.
    pub checks: Vec<Check>,
    /// The violations: of each check the first twenty; [`Check::findings`] counts them all.
    pub findings: Vec<Finding>,
    /// Where the walk began.
    pub oldest: u64,
    /// Where it ended: the head when it began.
    pub head: u64,
    /// Frames that were checked.
    pub frames: u64,
    /// Their bytes, headers and fillings included.
    pub bytes: u64,
    /// Bytes that a living writer overwrote before they could be checked.
    pub overtaken: u64,
}

impl VerifyReport {
    pub(super) fn new(journal: &str) -> VerifyReport {
        VerifyReport {
            journal: journal.to_owned(),
            checks: CheckKind::ALL.iter().map(|&kind| Check { kind, count: 0, findings: 0 }).collect(),
            findings: Vec::new(),
            oldest: 0,
            head: 0,
            frames: 0,
            bytes: 0,
            overtaken: 0,
        }
    }

    /// True when every check held.
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }

    /// Number of single checks.
    pub fn checked(&self) -> u64 {
        self.checks.iter().map(|check| check.count).sum()
    }

    fn check(&mut self, kind: CheckKind) -> Option<&mut Check> {
        self.checks.iter_mut().find(|check| check.kind == kind)
    }

    /// Notes that `kind` was checked `count` times more.
    pub(super) fn looked(&mut self, kind: CheckKind, count: u64) {
        if let Some(check) = self.check(kind) {
            check.count += count;
        }
    }

    /// Checks once whether something holds.
    pub(super) fn expect(
        &mut self,
        kind: CheckKind,
        holds: bool,
        position: impl Into<Option<u64>>,
        found: impl FnOnce() -> String,
        expected: impl FnOnce() -> String,
    ) {
        let Some(check) = self.check(kind) else { return };
        check.count += 1;
        if holds {
            return;
        }
        check.findings += 1;
        if check.findings <= KEPT {
            let (found, expected) = (found(), expected());
            self.findings.push(Finding { check: kind, position: position.into(), found, expected });
        }
    }

    /// Adds the results of a part of the verification.
    pub(super) fn absorb(&mut self, part: VerifyReport) {
        for (check, more) in self.checks.iter_mut().zip(part.checks) {
            check.count += more.count;
            check.findings += more.findings;
        }
        self.findings.extend(part.findings);
    }
}
