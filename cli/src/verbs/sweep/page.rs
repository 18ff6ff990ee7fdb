//! `colo sweep report`.

use ::sweep::Results;
use node::Exit;

use super::args::Report;
use crate::failure::Failure;
use crate::output::{self, Format, bytes};

pub(super) fn page(arguments: &Report) -> Result<u8, Failure> {
    let folder = ::sweep::find(&arguments.dir, arguments.sweep.as_deref())?;
    let html = ::sweep::page(&Results::read(&folder)?);
    let file = arguments.to.clone().unwrap_or_else(|| folder.join("report.html"));
    std::fs::write(&file, &html).map_err(Failure::system("write", &file))?;
    match arguments.format {
        Format::Json => {
            output::print_json(&serde_json::json!({
                "folder": output::path(&folder), "file": output::path(&file), "bytes": html.len()
            }))?;
        }
        Format::Text => {
            let shown = super::super::keeping::shown(&file).display().to_string();
            output::print(&format!("{}, {}\n", output::escaped(&shown), bytes(html.len() as u64)))?;
        }
    }
    Ok(Exit::Done.code())
}
