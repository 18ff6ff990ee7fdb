//! TOML text as a tree in which every key and value knows where it was written.

mod overrides;
mod tree;

use toml::de::DeTable;

pub(crate) use tree::{Entry, Node, Value};
pub use tree::{Span, Table};

use crate::Draft;
use crate::report::{NOT_TOML, Report, Sources};
use crate::schema::Section;

/// A file and the `--set` arguments over it, read but not yet checked.
#[derive(Clone, Debug)]
pub struct Document {
    root: Table,
    /// False when the text has syntax errors, which are in `report`.
    whole: bool,
    report: Report,
}

impl Document {
    /// Reads `text`, the content of a file that messages call `file`, and puts the `--set` arguments `sets`
    /// (`KEY=VALUE`) into it. What is wrong comes out of the check.
    pub fn parse(file: &str, text: &str, sets: &[String]) -> Document {
        let mut report = Report::new(Sources::new(file, text, sets));
        let (mut root, whole) = read(text, &mut report);
        for (index, argument) in sets.iter().enumerate() {
            overrides::apply(&mut root, argument, index + 1, &mut report);
        }
        Document { root, whole, report }
    }

    /// A document that was put together from the tables of another: places are shown in `sources`.
    pub fn new(root: Table, sources: Sources) -> Document {
        Document { root, whole: true, report: Report::new(sources) }
    }

    /// Its tables.
    pub fn root(&self) -> &Table {
        &self.root
    }

    /// The texts that it comes from.
    pub fn sources(&self) -> &Sources {
        self.report.sources()
    }

    /// Checks it against the language whose root table is `T`, each key by itself. Rules between keys come next, and
    /// then [`Draft::finish`].
    pub fn check<T: Section>(self) -> Draft<T> {
        Draft::check(&self.root, self.whole, self.report)
    }
}

/// Reads the file. Syntax errors are noted, and what could be read is returned with `false`.
fn read(text: &str, report: &mut Report) -> (Table, bool) {
    let (document, errors) = DeTable::parse_recoverable(text);
    let table = Table::from_toml(document.get_ref(), 0, 0);
    for error in &errors {
        let span = error.span().map(|span| Span { source: 0, start: span.start, end: span.end });
        let key = span.and_then(|span| text.get(span.start..span.end)).unwrap_or_default().trim_matches('"');
        if error.message() == "duplicate key" {
            let first = span.and_then(|span| table.last_before(key, span.start));
            let header = span.is_some_and(|span| text[..span.start].trim_end().ends_with('['));
            let message = match header {
                true => format!("the section [{key}] stands twice"),
                false => format!("`{key}` stands twice in its table"),
            };
            report.error(span, message).help("keep one of them").related(first, "the first one is here");
            continue;
        }
        report
            .error(span, format!("{NOT_TOML}: {}", error.message()))
            .help("text stands in quotes, a table's name in [brackets], one `key = value` a line");
        report.garbled(span);
    }
    (table, errors.is_empty())
}
