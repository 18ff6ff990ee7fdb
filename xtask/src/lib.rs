//! Files made from the code: constants and messages of other languages, pages of reference.
//!
//! ```text
//!   wire::schema ──────► layout, messages ─► C, Go, Java, Python; docs/messages.md
//!   journal::layout ───► layout ───────────► the same languages
//!   bindings/c/src ────► header ───────────► colo_functions.h
//!   topology::schema ──► pages ────────────► docs/reference/platform-file.md
//!   node, strategy-sdk ► pages ────────────► docs/journal-format.md, strategy-sdk/README.md
//! ```
//!
//! The files are committed. `cargo xtask gen` writes them, `cargo xtask gen --check` names those that are not as the code says.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a maintainer runs it: what cannot be made ends it")]

mod header;
pub mod layout;
mod messages;
mod pages;

use std::path::{Path, PathBuf};
use std::{fs, io};

/// The top of the tree.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_owned).unwrap_or_default()
}

/// Every made file: its path below the top of the tree, and its text.
pub fn files(root: &Path) -> io::Result<Vec<(String, String)>> {
    let mut files = layout::files();
    files.extend(messages::files());
    files.push(header::file(root)?);
    files.extend(pages::files(root)?);
    Ok(files)
}

/// A file that is not as the code says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stale {
    /// Where it lies below the top of the tree.
    pub path: String,
    /// Its text; `None`: no generator makes it any more.
    pub text: Option<String>,
    /// The first line that differs, from 1.
    pub line: usize,
}

/// The files that are not as the code says.
pub fn stale(root: &Path) -> io::Result<Vec<Stale>> {
    let files = files(root)?;
    let mut stale = Vec::new();
    for (path, text) in &files {
        let found = match fs::read_to_string(root.join(path)) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error),
        };
        if found != *text {
            let line = 1 + found.lines().zip(text.lines()).take_while(|(found, text)| found == text).count();
            stale.push(Stale { path: path.clone(), text: Some(text.clone()), line });
        }
    }
    for entry in fs::read_dir(root.join(messages::JAVA))? {
        let entry = entry?;
        let path = format!("{}/{}", messages::JAVA, entry.file_name().to_string_lossy());
        let is_listed = files.iter().any(|(made, _)| *made == path);
        if !is_listed && fs::read_to_string(entry.path())?.contains(messages::MADE) {
            stale.push(Stale { path, text: None, line: 1 });
        }
    }
    Ok(stale)
}

impl Stale {
    /// Makes it as the code says.
    pub fn renew(&self, root: &Path) -> io::Result<()> {
        let path = root.join(&self.path);
        let Some(text) = &self.text else { return fs::remove_file(path) };
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(path, text)
    }
}
