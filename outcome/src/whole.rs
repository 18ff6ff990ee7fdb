//! Whether a folder is as its run left it.

use std::io::ErrorKind;
use std::path::Path;

use crate::data::digest;
use crate::manifest::{Manifest, RunState};

/// Tables that are not what the manifest says of them, a sentence each. None of a run that goes on or was killed: of its tables
/// nothing is known yet.
pub fn faults(folder: &Path, manifest: &Manifest) -> Vec<String> {
    if manifest.state == RunState::Running {
        return Vec::new();
    }
    let fault = |listed: &crate::Listed| {
        let name = &listed.name;
        match digest(&folder.join(name)) {
            Err(error) if error.kind() == ErrorKind::NotFound => Some(format!("{name} is missing")),
            Err(error) => Some(format!("{name} cannot be read: {error}")),
            Ok((bytes, _)) if bytes != listed.bytes => {
                Some(format!("{name} has {bytes} bytes, and the run wrote {}", listed.bytes))
            }
            Ok((_, hash)) if listed.xxh3.as_ref().is_some_and(|known| *known != hash) => {
                Some(format!("{name} is not what the run wrote: its bytes were changed"))
            }
            Ok(_) => None,
        }
    };
    manifest.files.iter().filter_map(fault).collect()
}

/// What keeps a run from being compared as a whole one, a sentence each.
pub(crate) fn caveats(folder: &Path, manifest: &Manifest) -> Vec<String> {
    let mut caveats = Vec::new();
    match manifest.state {
        RunState::Finished => {}
        RunState::Running if manifest.is_alive(folder) => caveats.push("it still runs".to_owned()),
        RunState::Running => caveats.push("it was killed before its end".to_owned()),
        RunState::Interrupted => caveats.push("it was ended before its source was".to_owned()),
        RunState::Failed => caveats.push("a node failed in it".to_owned()),
    }
    let missed = manifest.missed.iter().map(|missed| format!("it lacks a part of {}", missed.journal));
    caveats.extend(missed.chain(manifest.problems.iter().cloned()));
    caveats
}
