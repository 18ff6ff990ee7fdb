//! A sweep's folder.
//!
//! ```text
//! DIR/sweep.toml     the sweep file as it was
//!     sweep.json     what it means, what it was made from, how far it has come
//!     done.jsonl     a line a run that has ended, in the order of their ends: what --resume goes by
//!     table.csv      a row a run, in the order of the grid
//!     runs/0001/     what the run left behind, as far as it is kept
//!     lock           held while somebody is at it
//! ```

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use node::{OwnLock, replace_file};
use outcome::{FileMark, Place};
use serde::{Deserialize, Serialize};

use crate::config::{Goal, Keep};
use crate::error::SweepError;
use crate::plan::{Cell, Sweep};

/// The file that makes a folder one of a sweep.
pub const MANIFEST: &str = "sweep.json";
/// What its first key says.
pub const FORMAT: &str = "colo-sweep";
/// Grows when an older reader would misread.
pub const VERSION: u32 = 1;
const TEXT: &str = "sweep.toml";
const DONE: &str = "done.jsonl";
/// The table.
pub const TABLE: &str = "table.csv";
const RUNS: &str = "runs";
const LOCK: &str = "lock";
/// The table is written at most so often, and takes at most a part of the time.
const TABLE_EVERY: Duration = Duration::from_secs(2);
const TABLE_SHARE: u32 = 20;

/// How far a sweep has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It goes on, or its process was killed.
    #[default]
    Running,
    /// Every run has ended.
    Finished,
    /// Somebody ended it before.
    Interrupted,
}

/// A parameter and its values, as texts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Axis {
    /// As the sweep file has it.
    pub key: String,
    /// In the order of the file.
    pub values: Vec<String>,
}

/// A day of the sweep.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedDay {
    /// As in the table.
    pub name: String,
    /// Where its data lie.
    pub files: PathBuf,
    /// `train` or `test`.
    pub part: String,
}

/// `sweep.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Manifest {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`].
    pub version: u32,
    /// How far it has come.
    pub state: State,
    /// What it is called.
    pub name: String,
    /// The sweep file.
    pub file: PathBuf,
    /// The `--set` arguments over it.
    pub sets: Vec<String>,
    /// Where paths in these start.
    pub here: PathBuf,
    /// The platform file.
    pub platform: PathBuf,
    /// Whose measures are in the table; all strategies where it is not there.
    pub strategy: Option<String>,
    /// What combinations are compared by.
    pub measure: String,
    /// Which end of it is good.
    pub goal: Goal,
    /// What is tried.
    pub parameters: Vec<Axis>,
    /// On which days.
    pub days: Vec<ListedDay>,
    /// With which seeds.
    pub seeds: Vec<u64>,
    /// Each seed makes a market of its own, and is a day where there are no days. One that only a strategy has is not.
    #[serde(default = "as_before")]
    pub seeds_are_days: bool,
    /// Combinations of the whole grid.
    pub grid: u64,
    /// Combinations drawn from it.
    pub sample: Option<u32>,
    /// Seed of that draw.
    pub seed: u64,
    /// Runs.
    pub runs: usize,
    /// What stays of their folders.
    pub keep: Keep,
    /// Version of colo.
    pub colo: String,
    /// What the runs were made from: the platform file, the program, data, programs of strategies.
    pub files: Vec<FileMark>,
    /// Real time, RFC 3339.
    pub started: String,
    /// Real time, RFC 3339.
    pub ended: Option<String>,
    /// Real seconds, over all times that it was gone on with.
    pub seconds: f64,
    /// Runs at a time.
    pub jobs: usize,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunEnd {
    /// It came to its end.
    Finished,
    /// It did not, or its tables are not whole.
    Failed,
    /// It took too long.
    Timeout,
}

impl RunEnd {
    /// As in the table.
    pub fn as_str(self) -> &'static str {
        match self {
            RunEnd::Finished => "finished",
            RunEnd::Failed => "failed",
            RunEnd::Timeout => "timeout",
        }
    }
}

/// A line of `done.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Done {
    /// Which run.
    pub run: usize,
    /// Hash of what it was made from.
    pub inputs: String,
    /// How it ended.
    pub state: RunEnd,
    /// Why it did not come to its end.
    pub why: String,
    /// Real seconds.
    pub seconds: f64,
    /// Bytes of its folder before anything of it was removed.
    pub bytes: u64,
    /// By column of the table.
    pub measures: BTreeMap<String, String>,
}

/// A folder that is being written.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    /// What `sweep.json` says.
    pub manifest: Manifest,
    /// The runs that have ended.
    pub done: BTreeMap<usize, Done>,
    lines: File,
    table_written: Instant,
    table_took: Duration,
    _lock: OwnLock,
}

impl Store {
    /// Makes the folder of a new sweep.
    ///
    /// # Errors
    /// [`SweepError`].
    pub fn begin(place: &Place, sweep: &Sweep, colo: &str) -> Result<Store, SweepError> {
        let folder = outcome::make_folder(place, &sweep.name, SystemTime::now())?;
        let lock = lock(&folder)?;
        let path = folder.join(TEXT);
        fs::write(&path, &sweep.text).map_err(SweepError::io("write", &path))?;
        let runs = folder.join(RUNS);
        fs::create_dir(&runs).map_err(SweepError::io("create", &runs))?;
        let lines = append_to(&folder.join(DONE))?;
        let manifest = manifest_of(sweep, colo);
        let store = Store {
            folder,
            manifest,
            done: BTreeMap::new(),
            lines,
            table_written: Instant::now(),
            table_took: Duration::ZERO,
            _lock: lock,
        };
        store.put_manifest()?;
        Ok(store)
    }

    /// Takes the folder of an earlier one.
    ///
    /// # Errors
    /// [`SweepError`].
    pub fn open(folder: &Path) -> Result<Store, SweepError> {
        let manifest = read_manifest(folder)?;
        let lock = lock(folder)?;
        let path = folder.join(DONE);
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            other => other.map_err(SweepError::io("read", &path))?,
        };
        // A process that was killed may have left half a line.
        let whole: Vec<Done> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let mut lines = String::new();
        for done in &whole {
            lines.push_str(&line_of(done));
        }
        replace(&path, lines.as_bytes())?;
        Ok(Store {
            folder: folder.to_owned(),
            manifest,
            done: whole.into_iter().map(|done| (done.run, done)).collect(),
            lines: append_to(&path)?,
            table_written: Instant::now(),
            table_took: Duration::ZERO,
            _lock: lock,
        })
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Takes over what the sweep file says now, where it describes the same runs.
    ///
    /// # Errors
    /// [`SweepError::OtherRuns`].
    pub fn go_on_with(&mut self, sweep: &Sweep, colo: &str) -> Result<(), SweepError> {
        let (was, now) = (&self.manifest, manifest_of(sweep, colo));
        let names = |manifest: &Manifest| -> Vec<String> {
            manifest.days.iter().map(|day| day.name.clone()).collect()
        };
        let drawn = |manifest: &Manifest| manifest.sample.map(|sample| (sample, manifest.seed));
        let differs = [
            ("its parameters are others", was.parameters != now.parameters),
            ("its days are others", names(was) != names(&now)),
            ("its seeds are others", was.seeds != now.seeds),
            ("its sample is another", drawn(was) != drawn(&now)),
            ("it has another number of runs", was.runs != now.runs),
            ("it is about another strategy", was.strategy != now.strategy),
        ];
        if let Some((what, _)) = differs.into_iter().find(|(_, differs)| *differs) {
            return Err(SweepError::OtherRuns { folder: self.folder.clone(), what: what.to_owned() });
        }
        let (started, seconds, files) = (was.started.clone(), was.seconds, was.files.clone());
        self.manifest = Manifest { started, seconds, files, ..now };
        let path = self.folder.join(TEXT);
        fs::write(&path, &sweep.text).map_err(SweepError::io("write", &path))
    }

    /// The folder of a run.
    pub fn run_folder(&self, number: usize) -> PathBuf {
        self.folder.join(RUNS).join(name_of(number))
    }

    /// Notes a run that has ended.
    ///
    /// # Errors
    /// The disk is full.
    pub(crate) fn add(&mut self, done: Done) -> Result<(), SweepError> {
        let path = self.folder.join(DONE);
        self.lines.write_all(line_of(&done).as_bytes()).map_err(SweepError::io("write", &path))?;
        self.done.insert(done.run, done);
        Ok(())
    }

    /// Forgets runs: they are to run again.
    ///
    /// # Errors
    /// [`SweepError::Io`].
    pub fn forget(&mut self, runs: &[usize]) -> Result<(), SweepError> {
        self.done.retain(|run, _| !runs.contains(run));
        let lines: String = self.done.values().map(line_of).collect();
        let path = self.folder.join(DONE);
        replace(&path, lines.as_bytes())?;
        self.lines = append_to(&path)?;
        Ok(())
    }

    /// # Errors
    /// [`SweepError::Io`].
    pub fn put_manifest(&self) -> Result<(), SweepError> {
        let text = serde_json::to_vec_pretty(&self.manifest).unwrap_or_default();
        replace(&self.folder.join(MANIFEST), &text)
    }

    /// Writes the table, if it is time.
    pub(crate) fn refresh_table(&mut self, sweep: &Sweep) -> Result<(), SweepError> {
        if self.table_written.elapsed() < TABLE_EVERY.max(self.table_took * TABLE_SHARE) {
            return Ok(());
        }
        self.write_table(sweep)
    }

    /// Writes the table: whole, or as it was before.
    ///
    /// # Errors
    /// [`SweepError::Io`].
    pub fn write_table(&mut self, sweep: &Sweep) -> Result<(), SweepError> {
        let begun = Instant::now();
        let path = self.folder.join(TABLE);
        let failed =
            |error: csv::Error| SweepError::Io { action: "write", path: path.clone(), source: error.into() };
        let mut table =
            csv::WriterBuilder::new().terminator(csv::Terminator::Any(b'\n')).from_writer(Vec::new());
        table.write_record(head(sweep)).map_err(failed)?;
        for cell in &sweep.cells {
            table.write_record(row(sweep, cell, self.done.get(&cell.number))).map_err(failed)?;
        }
        let bytes = table.into_inner().map_err(|error| SweepError::Io {
            action: "write",
            path: path.clone(),
            source: io::Error::other(error.to_string()),
        })?;
        replace(&path, &bytes)?;
        (self.table_written, self.table_took) = (Instant::now(), begun.elapsed());
        Ok(())
    }
}

/// A run's name in tables, and its folder's.
pub fn name_of(number: usize) -> String {
    format!("{number:04}")
}

fn head(sweep: &Sweep) -> Vec<String> {
    let mut head = vec!["run".to_owned()];
    head.extend(sweep.parameters.iter().map(|parameter| parameter.key.clone()));
    head.extend(["day", "part", "seed", "state", "why"].map(str::to_owned));
    head.extend(outcome::strategy_measures().map(|measure| measure.name.to_owned()));
    head
}

fn row(sweep: &Sweep, cell: &Cell, done: Option<&Done>) -> Vec<String> {
    let mut row = vec![name_of(cell.number)];
    row.extend(sweep.values_of(cell).map(str::to_owned));
    let day = cell.day.map(|day| &sweep.days[day]);
    row.push(day.map_or_else(String::new, |day| day.name.clone()));
    row.push(part_of(day.is_some_and(|day| day.is_test)).to_owned());
    row.push(cell.seed.map_or_else(String::new, |seed| seed.to_string()));
    row.push(done.map_or("open", |done| done.state.as_str()).to_owned());
    row.push(done.map_or_else(String::new, |done| done.why.clone()));
    let measure = |name: &str| done.and_then(|done| done.measures.get(name)).cloned().unwrap_or_default();
    row.extend(outcome::strategy_measures().map(|column| measure(column.name)));
    row
}

pub(crate) fn part_of(is_test: bool) -> &'static str {
    if is_test { "test" } else { "train" }
}

/// An older colo took every seed for a day.
fn as_before() -> bool {
    true
}

fn manifest_of(sweep: &Sweep, colo: &str) -> Manifest {
    let config = &sweep.config;
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    Manifest {
        format: FORMAT.to_owned(),
        version: VERSION,
        state: State::Running,
        name: sweep.name.clone(),
        file: absolute(&sweep.file),
        sets: sweep.sets.clone(),
        here: absolute(&sweep.here),
        platform: absolute(&sweep.platform),
        strategy: config.strategy.clone(),
        measure: config.measure.clone(),
        goal: sweep.goal(),
        parameters: sweep
            .parameters
            .iter()
            .map(|one| Axis {
                key: one.key.clone(),
                values: one.values.iter().map(|value| value.text.clone()).collect(),
            })
            .collect(),
        days: sweep
            .days
            .iter()
            .map(|day| ListedDay {
                name: day.name.clone(),
                files: day.files.clone(),
                part: part_of(day.is_test).to_owned(),
            })
            .collect(),
        seeds: config.seeds.clone(),
        seeds_are_days: sweep.seeds_are_days,
        grid: sweep.grid,
        sample: config.sample,
        seed: config.seed,
        runs: sweep.cells.len(),
        keep: config.keep,
        colo: colo.to_owned(),
        files: Vec::new(),
        started: now(),
        ended: None,
        seconds: 0.0,
        jobs: 0,
    }
}

/// Reads the manifest of a folder.
///
/// # Errors
/// [`SweepError`].
pub fn read_manifest(folder: &Path) -> Result<Manifest, SweepError> {
    let path = folder.join(MANIFEST);
    let bytes = match fs::read(&path) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Err(SweepError::NoSweep(folder.to_owned()));
        }
        other => other.map_err(SweepError::io("read", &path))?,
    };
    let damaged = |why: String| SweepError::Damaged { path: path.clone(), why };
    let json: serde_json::Value = serde_json::from_slice(&bytes)
        .map_err(|error| damaged(format!("it is damaged or half written: {error}")))?;
    if json["format"] != FORMAT {
        return Err(damaged(format!("it is of something else: its `format` is not \"{FORMAT}\"")));
    }
    if json["version"] != VERSION {
        return Err(damaged(format!("it has version {}, this colo reads {VERSION}", json["version"])));
    }
    serde_json::from_value(json).map_err(|error| damaged(format!("it is damaged: {error}")))
}

/// Whether a process is at work in the folder.
pub fn is_in_use(folder: &Path) -> bool {
    OwnLock::is_held(&folder.join(LOCK))
}

/// The folder that is meant: a path, the name of one in `root`, or without either the latest there.
///
/// # Errors
/// [`SweepError`].
pub fn find(root: &Path, name: Option<&Path>) -> Result<PathBuf, SweepError> {
    if let Some(name) = name {
        let found =
            [name.to_owned(), root.join(name)].into_iter().find(|folder| folder.join(MANIFEST).exists());
        return found.ok_or_else(|| SweepError::NoSweep(name.to_owned()));
    }
    let latest =
        all(root).into_iter().max_by_key(|(manifest, folder)| (manifest.started.clone(), folder.clone()));
    latest.map(|(_, folder)| folder).ok_or_else(|| SweepError::Empty(root.to_owned()))
}

/// The sweeps in a folder, as far as they can be read.
pub fn all(root: &Path) -> Vec<(Manifest, PathBuf)> {
    let entries = fs::read_dir(root).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.filter_map(|folder| Some((read_manifest(&folder).ok()?, folder))).collect()
}

/// The mean real seconds and bytes of the runs that finished in a folder.
pub fn costs(folder: &Path) -> Option<(f64, u64)> {
    let text = fs::read_to_string(folder.join(DONE)).ok()?;
    let done: Vec<Done> = text
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .filter(|done: &Done| done.state == RunEnd::Finished)
        .collect();
    let n = done.len();
    let seconds: f64 = done.iter().map(|done| done.seconds).sum();
    let bytes: u64 = done.iter().map(|done| done.bytes).sum();
    (n > 0).then(|| (seconds / n as f64, bytes / n as u64))
}

fn lock(folder: &Path) -> Result<OwnLock, SweepError> {
    OwnLock::take(&folder.join(LOCK))?.ok_or_else(|| SweepError::InUse(folder.to_owned()))
}

fn append_to(path: &Path) -> Result<File, SweepError> {
    OpenOptions::new().create(true).append(true).open(path).map_err(SweepError::io("open", path))
}

fn line_of(done: &Done) -> String {
    serde_json::to_string(done).unwrap_or_default() + "\n"
}

fn replace(path: &Path, bytes: &[u8]) -> Result<(), SweepError> {
    replace_file(path, 0o666, |file| file.write_all(bytes)).map(drop).map_err(SweepError::io("write", path))
}

pub(crate) fn now() -> String {
    humantime::format_rfc3339_millis(SystemTime::now()).to_string()
}
