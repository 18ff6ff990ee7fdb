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
use std::io::Write;
use std::path::{Path, PathBuf};

use node::replace_file;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use super::error::T2oError;
use super::raw;
use super::record::{Histograms, RunRecord};
use super::result::{CellResult, FORMAT, Fault, OLDEST_FORMAT, Results};
use super::scenario::{Cell, Scenario};
use super::stamps::Stamps;

/// Results, and whether they were compared with the raw files.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The results.
    pub results: Results,
    /// Raw files exist and agree; false when there are none.
    pub from_raw: bool,
}

/// A folder of results.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
}

impl Store {
    /// Creates the folder, or continues in it if `resume` is set.
    ///
    /// # Errors
    /// [`T2oError::NotEmpty`], [`T2oError::OtherScenario`], or an error of the system.
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

    /// The results in `folder`, or in a `t2o.json` itself. If there are raw files beside it, every figure is computed
    /// from them again and compared with `t2o.json`.
    ///
    /// # Errors
    /// [`T2oError::NoResults`], [`T2oError::OtherFormat`], [`T2oError::Garbled`], [`T2oError::Disagrees`], or an error
    /// of the system.
    pub fn results(folder: &Path) -> Result<Checked, T2oError> {
        let path = if folder.is_file() { folder.to_owned() } else { folder.join("t2o.json") };
        if !path.exists() {
            return Err(T2oError::NoResults(folder.to_owned()));
        }
        let json: Json = read_json(&path)?;
        match json["format"].as_u64() {
            Some(found) if !(u64::from(OLDEST_FORMAT)..=u64::from(FORMAT)).contains(&found) => {
                return Err(T2oError::OtherFormat { path, found, wanted: FORMAT, oldest: OLDEST_FORMAT });
            }
            _ => {}
        }
        let results: Results = serde_json::from_value(json)
            .map_err(|error| T2oError::Garbled { path: path.clone(), reason: error.to_string() })?;
        let folder = path.parent().unwrap_or(".".as_ref()).to_owned();
        let store = Store { folder };
        let from_raw = store.path("raw").is_dir();
        if from_raw {
            store.check(&path, &results)?;
        }
        Ok(Checked { results, from_raw })
    }

    /// Computes every cell again.
    fn check(&self, path: &Path, results: &Results) -> Result<(), T2oError> {
        let fewest = results.settings.run.fewest_samples;
        for cell in &results.cells {
            let raw = self.path("raw");
            let disagrees = |what: String| {
                let what = format!("cell {}: {what}", cell.name);
                T2oError::Disagrees { path: path.to_owned(), raw: raw.clone(), what }
            };
            let mut runs = Vec::new();
            for run in &cell.runs {
                let kept = self.run(&run.cell, run.repeat)?;
                let kept = kept.ok_or_else(|| disagrees(format!("runs/ has no run {}", run.repeat)))?;
                runs.push(kept);
            }
            let known = runs.iter().map(|run| run.repeat).max().unwrap_or(0);
            if self.run(&cell.name, known + 1)?.is_some() {
                return Err(disagrees(format!("runs/ has a run {}, which it leaves out", known + 1)));
            }
            let again = CellResult::of(&cell.measured_at(), fewest, runs.clone(), &self.messages(&runs)?);
            let json = |cell: &CellResult| serde_json::to_value(cell).unwrap_or_default();
            if let Some(what) = difference("", &json(cell), &json(&again)) {
                return Err(disagrees(what));
            }
        }
        Ok(())
    }

    /// Claims may change between two runs, measured settings may not.
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

    /// The doctor's findings of an earlier session; none when there was none.
    pub(crate) fn faults(&self) -> Vec<Fault> {
        let json: Option<Json> = read_json(&self.path("t2o.json")).ok();
        json.and_then(|json| serde_json::from_value(json["faults"].clone()).ok()).unwrap_or_default()
    }

    /// Whether this run exists and has figures.
    ///
    /// # Errors
    /// [`T2oError::Garbled`], or an error of the system.
    pub(crate) fn has(&self, cell: &str, repeat: u32) -> Result<bool, T2oError> {
        Ok(self.run(cell, repeat)?.is_some_and(|run| run.failed.is_none()))
    }

    fn run(&self, cell: &str, repeat: u32) -> Result<Option<RunRecord>, T2oError> {
        let path = self.path(&format!("runs/{cell}-{repeat}.json"));
        if path.exists() { read_json(&path).map(Some) } else { Ok(None) }
    }

    /// Stores a run; its messages first, so that an existing run is complete.
    pub(crate) fn keep(&self, record: &RunRecord, messages: &[Stamps]) -> Result<(), T2oError> {
        let name = format!("{}-{}", record.cell, record.repeat);
        let path = self.path(&format!("raw/{name}.csv.gz"));
        raw::write(&path, messages).map_err(T2oError::file("write", &path))?;
        self.write_json(&self.path(&format!("runs/{name}.json")), record)
    }

    /// All runs of one cell combined; `None` when there is none.
    pub(crate) fn cell(&self, cell: &Cell, fewest: u64) -> Result<Option<CellResult>, T2oError> {
        let mut runs = Vec::new();
        for repeat in 1..=cell.repeats {
            runs.extend(self.run(&cell.name, repeat)?);
        }
        if runs.is_empty() {
            return Ok(None);
        }
        let messages = self.messages(&runs)?;
        Ok(Some(CellResult::of(&cell.into(), fewest, runs, &messages)))
    }

    /// The messages of these runs. Each run's own record is compared with them.
    fn messages(&self, runs: &[RunRecord]) -> Result<Histograms, T2oError> {
        let mut messages = Histograms::new()?;
        for run in runs.iter().filter(|run| !run.stages.is_empty()) {
            let name = format!("{}-{}", run.cell, run.repeat);
            let raw = self.path(&format!("raw/{name}.csv.gz"));
            let records = raw::read(&raw).map_err(T2oError::file("read", &raw))?;
            let mut own = Histograms::new()?;
            for record in &records {
                messages.add(record);
                own.add(record);
            }
            let mut again = run.clone();
            again.take(&own, &records)?;
            (again.lost, again.expected) = (own.open, own.open + own.samples + own.disordered);
            let json = |run: &RunRecord| serde_json::to_value(run).unwrap_or_default();
            if let Some(what) = difference("", &json(run), &json(&again)) {
                let path = self.path(&format!("runs/{name}.json"));
                return Err(T2oError::Disagrees { path, raw, what });
            }
        }
        Ok(messages)
    }

    /// Writes `t2o.json`.
    pub(crate) fn write_results(&self, results: &Results) -> Result<(), T2oError> {
        self.write_json(&self.path("t2o.json"), results)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Writes completely or not at all.
    fn write_json(&self, path: &Path, value: &impl Serialize) -> Result<(), T2oError> {
        let text =
            serde_json::to_vec_pretty(value).map_err(|error| T2oError::file("write", path)(error.into()))?;
        replace_file(path, 0o666, |file| file.write_all(&text))
            .map(drop)
            .map_err(T2oError::file("write", path))
    }
}

fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, T2oError> {
    let text = fs::read(path).map_err(T2oError::file("read", path))?;
    serde_json::from_slice(&text)
        .map_err(|error| T2oError::Garbled { path: path.to_owned(), reason: error.to_string() })
}

/// The first figure that differs by more than rounding: its place, and both values.
fn difference(at: &str, said: &Json, found: &Json) -> Option<String> {
    match (said, found) {
        (Json::Object(a), Json::Object(b)) => {
            let names = a.keys().chain(b.keys().filter(|name| !a.contains_key(*name)));
            let path = |name: &str| if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") };
            names
                .filter_map(|name| difference(&path(name), &said[name.as_str()], &found[name.as_str()]))
                .next()
        }
        (Json::Array(a), Json::Array(b)) if a.len() == b.len() => {
            let pairs = a.iter().zip(b).enumerate();
            pairs.filter_map(|(index, (a, b))| difference(&format!("{at}[{index}]"), a, b)).next()
        }
        (Json::Number(a), Json::Number(b)) => {
            let (x, y) = (a.as_f64()?, b.as_f64()?);
            let same = (x - y).abs() <= 1e-9 * x.abs().max(y.abs());
            (!same).then(|| format!("{at} is {a} in the one and {b} in the other"))
        }
        (a, b) if a == b => None,
        (a, b) => Some(format!("{at} is {a} in the one and {b} in the other")),
    }
}

#[cfg(test)]
mod tests;
