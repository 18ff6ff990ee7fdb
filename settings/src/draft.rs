//! From a document to typed values.

use crate::Diagnostics;
use crate::document::{Document, Table};
use crate::report::Report;
use crate::rows::Rows;
use crate::schema::Section;
use crate::schema::check::Checker;

/// A document whose keys were checked one by one, open for rules between them.
#[derive(Clone, Debug)]
pub struct Draft<T> {
    /// What the document says, with defaults for what it leaves out and for what is wrong.
    pub value: T,
    /// Each key, and where its value comes from.
    pub rows: Rows,
    /// What is wrong so far.
    pub report: Report,
    whole: bool,
}

/// What a document says, without an error in it.
#[derive(Clone, Debug)]
pub struct Checked<T> {
    /// The typed value.
    pub value: T,
    /// Each key, and where its value comes from.
    pub rows: Rows,
    /// What looks wrong but is allowed.
    pub warnings: Diagnostics,
}

/// Checks `text`, the content of a file that messages call `file`, with the `--set` arguments `sets` (`KEY=VALUE`)
/// over it, against the language whose root table is `T`.
///
/// # Errors
/// Everything that is wrong.
pub fn parse<T: Section>(file: &str, text: &str, sets: &[String]) -> Result<Checked<T>, Diagnostics> {
    Document::parse(file, text, sets).check::<T>().finish()
}

impl<T: Section> Draft<T> {
    pub(crate) fn check(root: &Table, whole: bool, mut report: Report) -> Draft<T> {
        let mut checker = Checker::new(T::TABLE, &mut report);
        let effective = checker.root(root);
        let rows = Rows::new(checker);
        let value = serde_json::from_value(effective).unwrap_or_else(|error| {
            let message = format!("the schema and the types of this language disagree: {error}");
            report
                .error(None, message)
                .help("this is a fault of the program: please report it with the file");
            T::default()
        });
        Draft { value, rows, report, whole }
    }
}

impl<T> Draft<T> {
    /// False when the text has syntax errors: keys may be missing that are written there, so that rules between keys
    /// would say what is not so.
    pub fn is_whole(&self) -> bool {
        self.whole
    }

    /// The value, unless an error was noted.
    ///
    /// # Errors
    /// Everything that was noted.
    pub fn finish(self) -> Result<Checked<T>, Diagnostics> {
        let failed = self.report.has_errors();
        let found = self.report.finish();
        match failed {
            true => Err(found),
            false => Ok(Checked { value: self.value, rows: self.rows, warnings: found }),
        }
    }
}
