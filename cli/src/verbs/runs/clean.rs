//! `colo runs clean`.

use std::time::SystemTime;

use node::Exit;
use outcome::shelf::{self, Keep, Removal};

use super::args::Clean;
use crate::failure::Failure;
use crate::output::{self, Format, bytes, count};

pub(super) fn clean(arguments: &Clean) -> Result<u8, Failure> {
    let root = super::root(&arguments.dir);
    let shelved = shelf::list(&root)?;
    let keep = Keep { age: arguments.keep_for, bytes: arguments.keep_bytes.0 };
    let removals = shelf::surplus(&shelved, keep, SystemTime::now());
    if !arguments.dry_run {
        removals.iter().try_for_each(|removal| shelf::remove(&removal.folder))?;
    }
    let freed: u64 = removals.iter().map(|removal| removal.bytes).sum();
    match arguments.format {
        Format::Json => output::print_json(&serde_json::json!({
            "dir": output::path(&root), "dry_run": arguments.dry_run, "removed": removals, "bytes": freed,
            "left": shelved.len() - removals.len(),
        }))?,
        Format::Text => {
            let word = if arguments.dry_run { "would go" } else { "removed" };
            let line = |removal: &Removal| {
                let folder = super::super::keeping::shown(&removal.folder).display().to_string();
                format!(
                    "{word}: {}, {} ({})\n",
                    output::escaped(&folder),
                    bytes(removal.bytes),
                    removal.because
                )
            };
            let left = count((shelved.len() - removals.len()) as u64, "run");
            let lines: String = removals.iter().map(line).collect();
            output::print(&format!("{lines}{} in all; {left} left\n", bytes(freed)))?;
        }
    }
    Ok(Exit::Done.code())
}
