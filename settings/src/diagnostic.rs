//! What is wrong with a file, where, and what to do: all of it at once.

use std::fmt;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use serde::Serialize;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Nothing may start.
    Error,
    /// It may start, but probably not as meant.
    Warning,
}

/// A place in a file or in a `--set` argument.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Location {
    /// The file as it was named, or `--set`.
    pub file: String,
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
    /// Characters marked, at least 1 unless the line ends there.
    pub length: usize,
    /// The whole line.
    pub text: String,
}

impl Location {
    /// The place of `start..end` (bytes) in `text`, cut off at the end of its first line. Bytes past the end,
    /// or within a character, are moved to the nearest place that exists.
    pub(crate) fn new(file: &str, text: &str, start: usize, end: usize) -> Location {
        let boundary = |mut at: usize| {
            at = at.min(text.len());
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let start = boundary(start);
        let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
        let line = text[line_start..line_end].trim_end_matches('\r');
        let start = start.min(line_start + line.len());
        let end = boundary(end).clamp(start, line_start + line.len());
        Location {
            file: file.to_owned(),
            line: text[..line_start].matches('\n').count() + 1,
            column: text[line_start..start].chars().count() + 1,
            length: text[start..end].chars().count(),
            text: line.to_owned(),
        }
    }

    /// The marked bytes of [`Location::text`].
    fn bytes(&self) -> std::ops::Range<usize> {
        let at = |characters: usize| {
            self.text.char_indices().nth(characters).map_or(self.text.len(), |(byte, _)| byte)
        };
        at(self.column - 1)..at(self.column - 1 + self.length)
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// How bad.
    pub severity: Severity,
    /// What is wrong, in one sentence without a full stop.
    pub message: String,
    /// Where; `None` when it is about the file as a whole.
    pub location: Option<Location>,
    /// A second place that belongs to it, and what it is.
    pub related: Option<(Location, String)>,
    /// What to do.
    pub help: Vec<String>,
}

/// Everything that is wrong with one configuration, in the order of the file.
///
/// Displays as text for a terminal without colours; [`Diagnostics::render`] chooses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnostics {
    /// The file as it was named.
    pub file: String,
    /// Never empty when this is an error.
    pub diagnostics: Vec<Diagnostic>,
}

impl Diagnostics {
    /// How many are errors, not warnings.
    pub fn errors(&self) -> usize {
        self.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error).count()
    }

    /// Takes over from `other` what is new, errors before warnings.
    pub fn join(&mut self, other: Diagnostics) {
        for diagnostic in other.diagnostics {
            let same = |known: &Diagnostic| {
                known.message == diagnostic.message && known.location == diagnostic.location
            };
            if !self.diagnostics.iter().any(same) {
                self.diagnostics.push(diagnostic);
            }
        }
        self.diagnostics.sort_by_key(|diagnostic| diagnostic.severity);
    }

    /// The text: each with its line, a caret under the place, and what to do.
    pub fn render(&self, colour: bool) -> String {
        let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
        let blocks = self.diagnostics.iter().map(|diagnostic| self.render_one(diagnostic, &renderer));
        blocks.collect::<Vec<_>>().join("\n\n")
    }

    fn render_one(&self, diagnostic: &Diagnostic, renderer: &Renderer) -> String {
        let level = match diagnostic.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let title = level.primary_title(diagnostic.message.as_str());
        let mut group: Group<'_> = match &diagnostic.location {
            None => title.element(Origin::path(self.file.as_str())),
            Some(location) => title.element(
                Snippet::source(location.text.as_str())
                    .path(location.file.as_str())
                    .line_start(location.line)
                    .annotation(AnnotationKind::Primary.span(location.bytes())),
            ),
        };
        if let Some((location, label)) = &diagnostic.related {
            group = group.element(Level::NOTE.message(label.as_str())).element(
                Snippet::source(location.text.as_str())
                    .path(location.file.as_str())
                    .line_start(location.line)
                    .annotation(AnnotationKind::Context.span(location.bytes())),
            );
        }
        for help in &diagnostic.help {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        renderer.render(&[group])
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.errors();
        f.write_str(&self.render(false))?;
        if count > 0 {
            let errors = if count == 1 { "error" } else { "errors" };
            write!(f, "\n\n{}: {count} {errors}", self.file)?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_counts_characters_and_stays_on_its_line() {
        let text = "a = 1\r\nµ = \"x\ny\"\n";
        let at = text.find('"').unwrap();
        let location = Location::new("f", text, at, text.len());
        assert_eq!((location.line, location.column, location.length), (2, 5, 2));
        assert_eq!(location.text, "µ = \"x");
        let end = Location::new("f", text, 999, 1000);
        assert_eq!((end.line, end.column, end.length), (4, 1, 0));
        assert_eq!(Location::new("f", text, 8, 8).column, 1, "inside a character");
    }
}
