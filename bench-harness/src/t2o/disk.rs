//! When the orders of a run were on disk, from its recordings, once the platform has stopped: nothing is measured on the
//! way of a message.

use std::collections::BTreeMap;
use std::path::PathBuf;

use recorder::read::{FrameError, Recording};
use recorder::shelf::Shelf;
use topology::{Stream, Topology};
use wire::{Message, NewOrder};

use super::stamps::Stamps;

/// The recordings of one run.
#[derive(Debug)]
pub(super) struct OrdersOnDisk {
    /// By order id.
    times: BTreeMap<u64, u64>,
    folders: Vec<PathBuf>,
}

impl OrdersOnDisk {
    /// Reads the recordings that were begun at `since` or later, in nanoseconds since the epoch; `None` without any.
    fn read(topology: &Topology, since: u64) -> Result<Option<OrdersOnDisk>, FrameError> {
        let mut found = OrdersOnDisk { times: BTreeMap::new(), folders: Vec::new() };
        for shelf in Shelf::all(topology, u64::MAX) {
            let begun = |run: &&Recording| {
                run.segments().first().is_some_and(|segment| segment.head.created.get() >= since)
            };
            let Some(run) = shelf.latest().filter(begun) else { continue };
            found.add(run)?;
            found.folders.push(run.folder().to_owned());
        }
        Ok(if found.folders.is_empty() { None } else { Some(found) })
    }

    fn add(&mut self, run: &Recording) -> Result<(), FrameError> {
        let syncs = run.syncs()?;
        let is_of_orders = |name: &str| Stream::of(name) == Some(Stream::Requests);
        for journal in run.description().journals.iter().filter(|journal| is_of_orders(&journal.name)) {
            let mut frames = run.frames(journal, 0);
            loop {
                let order = match frames.next() {
                    Ok(Some(frame)) if frame.message_id == NewOrder::ID => {
                        NewOrder::decode(frame.payload).ok()
                    }
                    Ok(Some(_)) | Err(FrameError::Missing { .. }) => None,
                    Ok(None) => break,
                    Err(error) => return Err(error),
                };
                if let Some((order, time)) = order.zip(syncs.of(frames.cut())) {
                    self.times.insert(order.order_id.0, time);
                }
            }
        }
        Ok(())
    }

    /// Adds the times to the answers of a run that began at `since`, and removes its recordings: each run makes new ones,
    /// and its times are in the raw files.
    ///
    /// # Errors
    /// What went wrong, in words.
    pub(super) fn mark(topology: &Topology, since: u64, answers: &mut [Stamps]) -> Result<(), String> {
        let read = OrdersOnDisk::read(topology, since);
        let Some(found) = read.map_err(|error| format!("its recording cannot be read: {error}"))? else {
            return Ok(());
        };
        for answer in answers.iter_mut().filter(|answer| !answer.is_open()) {
            answer.durable = found.times.get(&answer.order_id).copied().unwrap_or(0);
        }
        let gone = found.folders.iter().try_for_each(std::fs::remove_dir_all);
        gone.map_err(|error| format!("its recording cannot be removed: {error}"))
    }
}
