//! Pages of the documentation, whole or in part, from the code.

mod guide;
mod messages;
mod platform_file;
mod values;

use std::io;
use std::path::Path;

/// The made part of a page that people write.
struct Part {
    page: &'static str,
    /// The line before it.
    begin: &'static str,
    /// The line behind it; otherwise it goes to the end.
    end: Option<&'static str>,
    text: String,
}

impl Part {
    /// The page with this part in its place.
    fn placed(self, root: &Path) -> io::Result<(String, String)> {
        let page = std::fs::read_to_string(root.join(self.page))?;
        let missing = |line: &str| io::Error::other(format!("{} has no line `{}`", self.page, line.trim()));
        let (head, rest) = page.split_once(self.begin).ok_or_else(|| missing(self.begin))?;
        let tail = match self.end {
            None => "",
            Some(end) => rest.find(end).map(|at| &rest[at..]).ok_or_else(|| missing(end))?,
        };
        Ok((self.page.to_owned(), format!("{head}{}{}{tail}", self.begin, self.text)))
    }
}

/// Every page.
pub(crate) fn files(root: &Path) -> io::Result<Vec<(String, String)>> {
    let parts = [messages::part(), values::part(), guide::part(root)];
    let mut pages = parts.into_iter().map(|part| part.placed(root)).collect::<io::Result<Vec<_>>>()?;
    pages.push(("docs/reference/platform-file.md".to_owned(), platform_file::document()));
    Ok(pages)
}
