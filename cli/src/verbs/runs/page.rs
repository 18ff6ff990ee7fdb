//! `colo runs report`.

use node::Exit;
use outcome::shelf;

use super::args::Page;
use crate::failure::Failure;
use crate::output::{self, Format, bytes};

pub(super) fn page(arguments: &Page) -> Result<u8, Failure> {
    let folder = shelf::find(&super::root(&arguments.dir), arguments.run.as_deref())?;
    let html = outcome::page::page(&folder)?;
    let file = arguments.to.clone().unwrap_or_else(|| folder.join("report.html"));
    std::fs::write(&file, &html).map_err(Failure::system("write", &file))?;
    match arguments.format {
        Format::Json => {
            output::print_json(&serde_json::json!({ "folder": folder, "file": file, "bytes": html.len() }))?
        }
        Format::Text => {
            let shown = super::super::keeping::shown(&file).display().to_string();
            output::print(&format!("{}, {}\n", output::escaped(&shown), bytes(html.len() as u64)))?;
        }
    }
    Ok(Exit::Done.code())
}
