//! A folder of results.
//!
//! ```text
//! DIR/scenario.toml          the scenario's text, as it was
//!     scenario.json          the same with every key, to compare with
//!     runs/A10-1.json        one run of one cell
//!     raw/A10-1.csv.gz       its messages
//!     t2o.json               all of it
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;
use topology::scenario::{Cell, Scenario};

use super::error::T2oError;
use super::raw;
use super::record::{Histograms, RunRecord};
use super::result::{CellResult, Results};
use super::stamps::Stamps;

/// A folder of results.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
}

impl Store {
    /// Makes the folder, or goes on in it when `resume` says so.
    ///
    /// # Errors
    /// [`T2oError::NotEmpty`], [`T2oError::OtherScenario`], or the system's.
    pub fn create(folder: &Path, scenario: &Scenario, text: &str, resume: bool) -> Result<Store, T2oError> {
        let store = Store { folder: folder.to_owned() };
        let settings = store.path("scenario.json");
        if settings.exists() {
            if !resume {
                return Err(T2oError::NotEmpty(folder.to_owned()));
            }
            store.same_scenario(scenario)?;
            return Ok(store);
        }
        for name in ["runs", "raw"] {
            let path = store.path(name);
            fs::create_dir_all(&path).map_err(T2oError::file("create", &path))?;
        }
        let path = store.path("scenario.toml");
        fs::write(&path, text).map_err(T2oError::file("write", &path))?;
        store.write_json(&settings, &scenario.config)?;
        Ok(store)
    }

    /// The results that lie in `folder`, or in a `t2o.json` itself.
    ///
    /// # Errors
    /// [`T2oError::NoResults`], [`T2oError::Garbled`], or the system's.
    pub fn results(folder: &Path) -> Result<Results, T2oError> {
        let path = if folder.is_file() { folder.to_owned() } else { folder.join("t2o.json") };
        if !path.exists() {
            return Err(T2oError::NoResults(folder.to_owned()));
        }
        read_json(&path)
    }

    /// Claims may change between two runs, what is measured may not.
    fn same_scenario(&self, scenario: &Scenario) -> Result<(), T2oError> {
        let before: Json = read_json(&self.path("scenario.json"))?;
        let now = serde_json::to_value(&scenario.config).unwrap_or_default();
        for key in ["scenario", "run", "load", "base", "group"] {
            if before[key] != now[key] {
                let what = format!("[{key}] differs");
                return Err(T2oError::OtherScenario { folder: self.folder.clone(), what });
            }
        }
        Ok(())
    }

    /// Whether this run is there and has figures.
    pub fn has(&self, cell: &str, repeat: u32) -> bool {
        self.run(cell, repeat).is_some_and(|run| run.failed.is_none())
    }

    fn run(&self, cell: &str, repeat: u32) -> Option<RunRecord> {
        read_json(&self.path(&format!("runs/{cell}-{repeat}.json"))).ok()
    }

    /// Keeps a run; its messages first, so that a run that is there is whole.
    pub(crate) fn keep(&self, record: &RunRecord, messages: &[Stamps]) -> Result<(), T2oError> {
        let name = format!("{}-{}", record.cell, record.repeat);
        let path = self.path(&format!("raw/{name}.csv.gz"));
        raw::write(&path, messages).map_err(T2oError::file("write", &path))?;
        self.write_json(&self.path(&format!("runs/{name}.json")), record)
    }

    /// All runs of one cell put together; `None` when there is none.
    pub(crate) fn cell(&self, cell: &Cell, fewest: u64) -> Result<Option<CellResult>, T2oError> {
        let runs: Vec<RunRecord> =
            (1..=cell.repeats).filter_map(|repeat| self.run(&cell.name, repeat)).collect();
        if runs.is_empty() {
            return Ok(None);
        }
        let mut messages = Histograms::new()?;
        for run in runs.iter().filter(|run| run.samples > 0) {
            let path = self.path(&format!("raw/{}-{}.csv.gz", run.cell, run.repeat));
            let records = raw::read(&path).map_err(T2oError::file("read", &path))?;
            records.iter().for_each(|record| messages.add(record));
        }
        Ok(Some(CellResult::of(cell, fewest, runs, &messages)))
    }

    /// Writes `t2o.json`.
    pub(crate) fn write_results(&self, results: &Results) -> Result<(), T2oError> {
        self.write_json(&self.path("t2o.json"), results)
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Whole or not at all: a file that is there was written to its end.
    fn write_json(&self, path: &Path, value: &impl Serialize) -> Result<(), T2oError> {
        let text =
            serde_json::to_vec_pretty(value).map_err(|error| T2oError::file("write", path)(error.into()))?;
        let beside = path.with_extension("json.new");
        fs::write(&beside, text).map_err(T2oError::file("write", &beside))?;
        fs::rename(&beside, path).map_err(T2oError::file("write", path))
    }
}

fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, T2oError> {
    let text = fs::read(path).map_err(T2oError::file("read", path))?;
    serde_json::from_slice(&text)
        .map_err(|error| T2oError::Garbled { path: path.to_owned(), reason: error.to_string() })
}
