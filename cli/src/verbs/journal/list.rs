//! `colo journal ls`.

use node::{Exit, InstanceDir};
use observe::{InstanceView, JournalStatus, JournalView};
use serde::Serialize;

use crate::args::InstanceArgument;
use crate::failure::Failure;
use crate::output::{self, Format, bytes, number, table};
use crate::verbs::instance;

/// What `--format json` prints.
#[derive(Debug, Serialize)]
struct Listing {
    instances: Vec<Instance>,
}

#[derive(Debug, Serialize)]
struct Instance {
    instance: String,
    /// Whether any of its processes lives.
    alive: bool,
    path: String,
    /// Why it, or one of its journals, cannot be read.
    errors: Vec<String>,
    journals: Vec<JournalStatus>,
}

pub(super) fn list(argument: &InstanceArgument, format: Format) -> Result<u8, Failure> {
    let instances = match argument.name() {
        Some(name) => vec![instance::instance(Some(name))?],
        None => instance::all()?,
    };
    let listing = Listing { instances: instances.into_iter().map(look).collect() };
    match format {
        Format::Json => output::print_json(&listing)?,
        Format::Text if listing.instances.is_empty() => {
            talk!("no instance is there; start one with `colo up`");
        }
        Format::Text => output::print(&text(&listing))?,
    }
    for instance in &listing.instances {
        for error in &instance.errors {
            talk!("colo: instance `{}`: {error}", instance.instance);
        }
    }
    Ok(Exit::Done.code())
}

/// One that cannot be read is listed with the reason: the others are still of interest.
fn look(instance: InstanceDir) -> Instance {
    let mut found = Instance {
        instance: instance.name().to_owned(),
        alive: false,
        path: instance.path().display().to_string(),
        errors: Vec::new(),
        journals: Vec::new(),
    };
    let view = match InstanceView::open(instance) {
        Ok(view) => view,
        Err(error) => {
            found.errors.push(error.to_string());
            return found;
        }
    };
    let seats = view.seats();
    found.alive = seats.iter().any(|seat| seat.alive);
    let journals = match view.journals() {
        Ok(journals) => journals,
        Err(error) => {
            found.errors.push(error.to_string());
            return found;
        }
    };
    found.errors.extend(journals.damaged.iter().map(|damaged| damaged.error.clone()));
    let journals: Vec<JournalView> = journals.sound.into_iter().map(|(_, view)| view).collect();
    found.journals = JournalStatus::of_all(&view, &journals, &seats);
    found
}

fn text(listing: &Listing) -> String {
    let lines = listing.instances.iter().flat_map(|instance| {
        let state = if instance.alive { "alive" } else { "dead" };
        let row = move |row: &JournalStatus| {
            vec![
                instance.instance.clone(),
                state.to_owned(),
                row.journal.clone(),
                bytes(row.capacity_bytes),
                number(row.frames),
                row.readers.len().to_string(),
                row.writer.clone(),
            ]
        };
        let nothing = instance.journals.is_empty().then(|| {
            let dash = || "-".to_owned();
            vec![instance.instance.clone(), state.to_owned(), dash(), dash(), dash(), dash(), dash()]
        });
        instance.journals.iter().map(row).chain(nothing)
    });
    table(&["instance", "state", "journal", "ring", "frames", "readers", "writer"], 3, lines)
}
