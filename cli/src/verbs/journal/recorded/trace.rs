//! `colo journal trace --recording`.

use std::path::Path;

use node::Exit;
use observe::{Archive, Archived, OrderSearch, Visit};
use recorder::read::{FrameError, Recording};
use recorder::shelf::Shelf as Shelves;
use topology::Topology;
use wire::OrderId;

use super::super::args::{Selection, Trace};
use super::super::select::Filter;
use super::super::trace;
use super::open;
use crate::failure::Failure;

/// A recording, as a trace reads it.
#[derive(Debug)]
struct Shelf {
    recording: Recording,
    topology: Topology,
    name: String,
    filter: Filter,
}

pub(in super::super) fn trace(
    folder: &Path,
    wanted: Option<OrderId>,
    arguments: &Trace,
) -> Result<u8, Failure> {
    let recording = open(folder)?;
    let name = recording.folder().display().to_string();
    let wiring = recording.description().topology.clone();
    let topology = serde_json::from_value(wiring).map_err(|error| {
        Failure::new(Exit::Failed, format!("{name}: its platform is not understood: {error}"))
    })?;
    let (from, to) = (arguments.from.clone(), arguments.to.clone());
    for text in [&from, &to].into_iter().flatten() {
        if text.parse::<u64>().is_ok() {
            let message = format!("`{text}`: several journals are searched, so only a time will do");
            return Err(Failure::new(Exit::Usage, message));
        }
    }
    let selection = Selection { from, to, ..Selection::default() };
    let filter = Filter::new(&selection, recording.end().time, || Ok(Vec::new()))?;
    let shelf = Shelf { recording, topology, name, filter };
    let order = match wanted {
        Some(order) => order,
        None => trace::newest(OrderSearch::newest_of_archive(&shelf)?, &shelf.name)?,
    };
    let search = OrderSearch::of_archive(&shelf, order)?;
    // Opened once more, and to its end: what said when the last cuts were on disk came after them.
    let on_disk = |_| Recording::open(shelf.recording.folder()).map(Shelves::single).into_iter().collect();
    trace::print(search, &shelf.name, arguments.format, on_disk)
}

impl Archive for Shelf {
    fn name(&self) -> &str {
        &self.name
    }

    fn topology(&self) -> &Topology {
        &self.topology
    }

    fn journals(&self) -> Vec<Archived> {
        let journals = self.recording.description().journals.iter();
        journals
            .map(|journal| Archived {
                name: journal.name.clone(),
                id: journal.id,
                first_position: journal.first_position,
            })
            .collect()
    }

    fn each(&self, journal: &str, position: u64, visit: &mut Visit<'_>) -> Result<bool, String> {
        let description = self.recording.description();
        let journal = description.journal(journal).ok_or_else(|| "it was not recorded".to_owned())?;
        // One frame at its place is wanted even if it is older than the rest.
        let since = if position == 0 { self.filter.start().1 } else { 0 };
        let mut frames = self.recording.frames_since(journal, position, since);
        let mut lost = false;
        loop {
            match frames.next() {
                Ok(Some(frame)) if self.filter.is_past(frame.position, frame.time) => return Ok(lost),
                Ok(Some(frame)) if frame.time < since => {}
                Ok(Some(frame)) => {
                    if !visit(frame.position, frame.time, frame.message_id, frame.payload) {
                        return Ok(lost);
                    }
                }
                Ok(None) => return Ok(lost),
                Err(FrameError::Missing { .. }) => lost = true,
                Err(error) => return Err(error.to_string()),
            }
        }
    }
}
