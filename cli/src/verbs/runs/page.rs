//! `colo runs report`.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use node::replace_file;
use outcome::shelf;

use super::args::Page;
use crate::failure::Failure;
use crate::output::{self, Format, bytes};

pub(super) fn page(arguments: &Page) -> Result<u8, Failure> {
    let folder = shelf::find(&super::root(&arguments.dir), arguments.run.as_deref())?;
    let html = outcome::page::page(&folder)?;
    let file = arguments.to.clone().unwrap_or_else(|| folder.join("report.html"));
    put(&file, html.as_bytes()).map_err(Failure::system("write", &file))?;
    let faults = outcome::faults(&folder, &shelf::read(&folder)?);
    match arguments.format {
        Format::Json => output::print_json(&serde_json::json!({
            "folder": output::path(&folder), "file": output::path(&file), "bytes": html.len(), "faults": faults,
        }))?,
        Format::Text => {
            let shown = super::super::keeping::shown(&file).display().to_string();
            output::print(&format!("{}, {}\n", output::escaped(&shown), bytes(html.len() as u64)))?;
        }
    }
    Ok(super::said(&faults).code())
}

/// In one step, and in the place of a link that is there: what it leads to is none of ours. A device is written to.
fn put(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let is_special = fs::symlink_metadata(file).is_ok_and(|it| !it.is_file() && !it.is_symlink());
    if is_special {
        return fs::write(file, bytes);
    }
    replace_file(file, 0o666, |new| new.write_all(bytes)).map(drop)
}
