//! `colo journal`: looking into journals. Nothing here needs a master, and only `clean` changes anything.

pub(crate) mod args;
mod benches;
mod chain;
mod clean;
mod disk;
mod list;
mod record;
mod recorded;
mod select;
mod stat;
mod tail;
mod target;
mod trace;
mod trades;
mod verify;

use args::{JournalVerb, RecordingArgument};
pub(crate) use recorded::open as open_recording;
pub(crate) use select::Span;
pub(super) use target::files;

use crate::failure::Failure;

pub(super) fn dispatch(verb: &JournalVerb) -> Result<u8, Failure> {
    match verb {
        JournalVerb::Ls { recording: RecordingArgument { recording: Some(folder) }, format, .. } => {
            recorded::list(folder, *format)
        }
        JournalVerb::Ls { instance, format, .. } => list::list(instance, *format),
        JournalVerb::Stat(arguments) => stat::stat(arguments),
        JournalVerb::Tail(arguments) => tail::tail(arguments),
        JournalVerb::Dump(arguments) => tail::dump(arguments),
        JournalVerb::Verify(arguments) => verify::verify(arguments),
        JournalVerb::Trace(arguments) => trace::trace(arguments),
        JournalVerb::Clean(arguments) => clean::clean(arguments),
    }
}
