//! Who takes part: one file each, set up as its documentation recommends for records that are on disk when they are
//! acknowledged.

mod bare;
mod colo;
mod fjall;
mod okaywal;
mod redb;
mod sqlite;

use std::path::Path;

use serde::Serialize;

use crate::DurableError;

/// Bytes of a record.
pub(crate) const RECORD_BYTES: usize = 128;

/// A record.
pub(crate) type Record = [u8; RECORD_BYTES];

/// An open store.
pub(crate) trait Store {
    /// Appends records, all of them on disk when this returns.
    fn put(&mut self, records: &[Record]) -> Result<(), String>;

    /// Closes it, opens it again, and counts what it holds; `None`: it cannot know.
    fn held(self: Box<Self>, folder: &Path) -> Result<Option<u64>, String>;
}

type Open = fn(&Path) -> Result<Box<dyn Store>, String>;

/// A store that takes part.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Facts {
    /// Its name.
    pub(crate) name: &'static str,
    /// Its version.
    pub(crate) version: &'static str,
    /// How it is set up.
    pub(crate) setup: &'static str,
    #[serde(skip)]
    pub(crate) open: Open,
}

/// All of them; first what the others are measured by.
const ALL: [Facts; 7] = [
    bare::FACTS,
    colo::FACTS,
    colo::FACTS_OF_FRAMES,
    okaywal::FACTS,
    redb::FACTS,
    fjall::FACTS,
    sqlite::FACTS,
];

/// Those to measure: the bare loop and colo always.
pub(crate) fn chosen(only: &[String]) -> Result<Vec<Facts>, DurableError> {
    let names: Vec<&str> = ALL.iter().map(|facts| facts.name).collect();
    if let Some(unknown) = only.iter().find(|name| !names.contains(&name.as_str())) {
        let names = names.join(", ");
        return Err(DurableError::Usage(format!("no store is called {unknown}; there are: {names}")));
    }
    let is_chosen = |(place, facts): &(usize, &Facts)| {
        *place < 2 || only.is_empty() || only.iter().any(|name| name == facts.name)
    };
    Ok(ALL.iter().enumerate().filter(is_chosen).map(|(_, facts)| *facts).collect())
}

/// An error in words.
fn said<E: std::fmt::Display>(what: &'static str) -> impl Fn(E) -> String {
    move |error| format!("{what}: {error}")
}
