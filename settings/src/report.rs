//! What was found wrong so far, and the texts that it was found in.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Diagnostics, Location, Severity};
use crate::document::Span;

/// The texts that a configuration comes from: a file, and the `--set` arguments over it.
#[derive(Clone, Debug)]
pub struct Sources(Arc<Texts>);

#[derive(Debug)]
struct Texts {
    file: String,
    /// The file, then each argument.
    texts: Vec<String>,
}

impl Sources {
    /// The text of the file that messages call `file`, and the arguments.
    pub(crate) fn new(file: &str, text: &str, sets: &[String]) -> Sources {
        let texts = std::iter::once(text.to_owned()).chain(sets.iter().cloned()).collect();
        Sources(Arc::new(Texts { file: file.to_owned(), texts }))
    }

    /// The file as it was named.
    pub fn file(&self) -> &str {
        &self.0.file
    }

    /// The n-th `--set` argument, from 1.
    pub(crate) fn argument(&self, source: usize) -> &str {
        self.0.texts.get(source).map_or("", String::as_str)
    }

    pub(crate) fn location(&self, span: Span) -> Location {
        let file = if span.is_override() { "--set" } else { self.file() };
        Location::new(file, self.argument(span.source), span.start, span.end)
    }
}

/// Collects what is wrong, each with its place.
#[derive(Clone, Debug)]
pub struct Report {
    sources: Sources,
    found: Vec<(Option<Span>, Diagnostic)>,
    /// Lines of the file that are not TOML: what else is said about them would mislead.
    garbled: BTreeSet<usize>,
}

pub(crate) const NOT_TOML: &str = "this is not TOML";

impl Report {
    /// Nothing found yet in these texts.
    pub fn new(sources: Sources) -> Report {
        Report { sources, found: Vec::new(), garbled: BTreeSet::new() }
    }

    pub(crate) fn sources(&self) -> &Sources {
        &self.sources
    }

    /// Whether anything that was noted is an error.
    pub fn has_errors(&self) -> bool {
        self.found.iter().any(|(_, diagnostic)| diagnostic.severity == Severity::Error)
    }

    /// Notes an error; `span` is `None` when it is about the file as a whole.
    pub fn error(&mut self, span: impl Into<Option<Span>>, message: impl Into<String>) -> Noted<'_> {
        self.note(Severity::Error, span.into(), message.into())
    }

    /// Notes a warning.
    pub fn warning(&mut self, span: impl Into<Option<Span>>, message: impl Into<String>) -> Noted<'_> {
        self.note(Severity::Warning, span.into(), message.into())
    }

    fn note(&mut self, severity: Severity, span: Option<Span>, message: String) -> Noted<'_> {
        let location = span.map(|span| self.sources.location(span));
        let diagnostic = Diagnostic { severity, message, location, related: None, help: Vec::new() };
        self.found.push((span, diagnostic));
        Noted { report: self }
    }

    /// Notes the line of a syntax error.
    pub(crate) fn garbled(&mut self, span: Option<Span>) {
        self.garbled.extend(span.map(|span| self.sources.location(span).line));
    }

    /// Everything noted, in the order of the sources, each once: inherited values are checked many times.
    pub fn finish(mut self) -> Diagnostics {
        self.found.sort_by_key(|(span, diagnostic)| (diagnostic.severity, *span));
        let mut all: Vec<Diagnostic> = Vec::new();
        let garbled = |diagnostic: &Diagnostic| match &diagnostic.location {
            Some(location) => location.file == self.sources.file() && self.garbled.contains(&location.line),
            None => false,
        };
        for (_, diagnostic) in self.found {
            if garbled(&diagnostic) && !diagnostic.message.starts_with(NOT_TOML) {
                continue;
            }
            let same = |other: &Diagnostic| {
                other.message == diagnostic.message && other.location == diagnostic.location
            };
            if !all.iter().any(same) {
                all.push(diagnostic);
            }
        }
        Diagnostics { file: self.sources.file().to_owned(), diagnostics: all }
    }
}

/// A diagnostic that was just noted, to add to it.
pub struct Noted<'a> {
    report: &'a mut Report,
}

impl Noted<'_> {
    /// What to do about it.
    pub fn help(self, text: impl Into<String>) -> Self {
        if let Some((_, diagnostic)) = self.report.found.last_mut() {
            diagnostic.help.push(text.into());
        }
        self
    }

    /// A second place that belongs to it, and what it is.
    pub fn related(self, span: Option<Span>, label: impl Into<String>) -> Self {
        let location = span.map(|span| self.report.sources.location(span));
        if let (Some((_, diagnostic)), Some(location)) = (self.report.found.last_mut(), location) {
            diagnostic.related = Some((location, label.into()));
        }
        self
    }
}
