//! The verbs of `colo journal` on recordings.

mod frames;
mod list;
mod stat;
mod trace;
mod verify;

use std::path::Path;

use node::Exit;
use recorder::format::RecordedJournal;
use recorder::read::{FrameError, OpenError, Recording, StateError};
use recorder::recover::only;

pub(super) use frames::{dump, tail};
pub(super) use list::list;
pub(super) use stat::stat;
pub(super) use trace::trace;
pub(super) use verify::verify;

use crate::failure::Failure;
use crate::verbs::instance::suggestion;

/// The recording in a folder, or the latest of those in it.
pub(crate) fn open(folder: &Path) -> Result<Recording, Failure> {
    let failed = |folder: &Path, error: OpenError| {
        let exit = match &error {
            OpenError::Folder(error) => Exit::of_io(error),
            OpenError::Several(_) => Exit::Usage,
            _ => Exit::Failed,
        };
        Failure::new(exit, format!("{}: {error}", folder.display()))
    };
    let run = only(folder).map_err(|error| failed(folder, error))?;
    Recording::open(&run).map_err(|error| failed(&run, error))
}

fn journal<'a>(recording: &'a Recording, name: &str) -> Result<&'a RecordedJournal, Failure> {
    recording.description().journal(name).ok_or_else(|| {
        let journals = recording.description().journals.iter();
        let known: Vec<&str> = journals.map(|journal| journal.name.as_str()).collect();
        let folder = recording.folder().display();
        let message = format!("the recording {folder} has no journal `{name}`{}", suggestion(name, &known));
        Failure::new(Exit::Usage, message)
    })
}

fn unreadable(recording: &Recording) -> impl Fn(FrameError) -> Failure {
    let folder = recording.folder().display().to_string();
    move |error| Failure::new(Exit::Failed, format!("{folder}: {error}"))
}

/// What the journals had held at the end; `None` where no cut says it.
fn state(recording: &Recording) -> Result<Option<recorder::read::State>, Failure> {
    match recording.state(node::class_of) {
        Ok(state) => Ok(Some(state)),
        Err(StateError::None) => Ok(None),
        Err(error) => Err(Failure::new(Exit::Failed, format!("{}: {error}", recording.folder().display()))),
    }
}
