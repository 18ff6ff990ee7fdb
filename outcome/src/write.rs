//! A folder, from before the platform starts until after it is down.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use journal::process::ProcessIdentity;
use node::{InstanceDir, Intent, OwnLock, replace_file};
use observe::{InstanceView, Report};
use serde_json::Value as Json;
use topology::config::{MarketSource, MatchingConfig, MdConfig};
use topology::{NodeKind, Program, TdSection, Topology, samples_file};

use crate::data::{FileMark, files_below};
use crate::fold::{Fold, Halts, Partial, Span};
use crate::follow::{Follow, Missed};
use crate::logs::Marks;
use crate::manifest::{FORMAT, LOCK, MANIFEST, Manifest, Mode, RunState, VERSION, Writer};

/// The platform file as resolved: every key with its value and origin, and what runs.
const PLATFORM: &str = "platform.json";
/// The file as it was written.
const PLATFORM_TEXT: &str = "platform.toml";
/// What people have set, stopped or replaced while it ran.
const STRATEGIES: &str = "strategies.json";
const T2O: &str = "t2o.json";
const LOGS: &str = "logs";
/// Room for the manifest, so that it can say that the disk is full.
const RESERVE: &str = "reserve";
const RESERVE_BYTES: usize = 256 << 10;
/// Folders tell of positions and orders: only their owner reads them.
const FOLDER_MODE: u32 = 0o700;
/// Mode of the folders above, as far as the umask leaves it.
const SHARED_MODE: u32 = 0o777;
/// More runs of one instance do not begin in one second.
const MOST_OF_A_SECOND: u32 = 1_000;
/// What is buffered is written at least so often: a run that is killed leaves what it had.
const FLUSH_EVERY: Duration = Duration::from_secs(1);

/// Where a run's folder is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Exactly here.
    Folder(PathBuf),
    /// In this folder of runs, with a name of its own.
    Root(PathBuf),
}

/// What is known of a run before it starts.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// How its nodes run.
    pub mode: Mode,
    /// The platform file as it was named.
    pub platform: Option<String>,
    /// Its text.
    pub text: Option<String>,
    /// Its keys, each with value and origin.
    pub settings: Option<Json>,
    /// Version of colo.
    pub colo: String,
    /// What runs in the place of a program: its plug-in.
    pub plugins: BTreeMap<PathBuf, PathBuf>,
    /// Its first frames may be gone: it is read only now that it ends, and began so long ago.
    pub age: Option<Duration>,
}

/// The folder cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum RunsError {
    /// The system refuses.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// With what.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Another user could have a part in it.
    #[error(transparent)]
    Folder(#[from] node::FolderError),
    /// Something is there.
    #[error("{} is there and not empty: name another folder for the run", .0.display())]
    NotEmpty(PathBuf),
}

impl RunsError {
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> RunsError {
        let path = path.to_owned();
        move |source| RunsError::Io { action, path, source }
    }
}

/// What came of a folder.
#[derive(Clone, Debug)]
pub struct Written {
    /// Where it is.
    pub folder: PathBuf,
    /// What could not be written.
    pub problems: Vec<String>,
    /// What it lacks of the run.
    pub missed: Vec<Missed>,
    /// Orders that were refused, by the reason.
    pub refused: BTreeMap<String, u64>,
    /// What the market's phases did to them.
    pub halts: Halts,
}

/// A folder that is being written.
#[derive(Debug)]
pub struct RunWriter {
    folder: PathBuf,
    /// Tells that the run goes on. `None`: its file system has no locks.
    lock: Option<OwnLock>,
    manifest: Manifest,
    topology: Topology,
    follow: Option<Follow>,
    marks: Option<Marks>,
    hashes: Option<JoinHandle<Vec<FileMark>>>,
    flushed: Instant,
    /// What people want of strategies, as it was last written.
    intents: BTreeMap<String, Intent>,
    problems: Vec<String>,
}

impl RunWriter {
    /// Makes the folder of a run that is about to start.
    ///
    /// # Errors
    /// [`RunsError`].
    pub fn begin(place: &Place, topology: &Topology, about: About) -> Result<RunWriter, RunsError> {
        let started = SystemTime::now() - about.age.unwrap_or_default();
        let folder = make_folder(place, &topology.instance, started)?;
        let md: MdConfig = section(topology, NodeKind::Md);
        let mut paths: Vec<PathBuf> = match (&md.files, md.source.is_replay()) {
            (Some(files), true) => files.paths().into_iter().map(absolute).collect(),
            _ => Vec::new(),
        };
        let matching: MatchingConfig = section(topology, NodeKind::Matching);
        let drawn_from = [&matching.order_latency, &matching.report_latency];
        let drawn_from = drawn_from.into_iter().filter_map(|latency| latency.samples());
        paths.extend(drawn_from.map(|samples| absolute(&samples_file(samples))));
        paths.dedup();
        let hash = move || files_below(&paths).iter().map(|path| FileMark::of(path)).collect();
        // Beside the run: a day of gigabytes takes a while.
        let hashes = std::thread::Builder::new().name("hashes".to_owned()).spawn(hash).ok();
        let ProcessIdentity { pid, start } = ProcessIdentity::current();
        let manifest = Manifest {
            format: FORMAT.to_owned(),
            version: VERSION,
            instance: topology.instance.clone(),
            mode: about.mode,
            deterministic: topology.deterministic,
            started: rfc3339(started),
            colo: about.colo,
            writer: Writer { pid, start },
            platform: about.platform,
            source: word(&md.source),
            seed: (md.source == MarketSource::Sim).then_some(md.seed),
            instruments: instruments(&md),
            programs: programs(topology, &about.plugins),
            ..Manifest::default()
        };
        let logs = InstanceDir::new(&topology.instance).map(|instance| instance.logs());
        let marks = logs.filter(|_| about.age.is_none()).map(Marks::of);
        let lock = take_lock(&folder);
        let mut writer = RunWriter {
            folder,
            lock,
            manifest,
            topology: topology.clone(),
            follow: None,
            marks,
            hashes,
            flushed: Instant::now(),
            intents: BTreeMap::new(),
            problems: Vec::new(),
        };
        writer.put_manifest().map_err(RunsError::io("write", &writer.folder.join(MANIFEST)))?;
        let _ = fs::write(writer.folder.join(RESERVE), vec![0; RESERVE_BYTES]);
        let resolved = serde_json::json!({
            "file": writer.manifest.platform, "settings": about.settings, "topology": topology,
        });
        writer.put(PLATFORM, &serde_json::to_vec_pretty(&resolved).unwrap_or_default());
        if let Some(text) = about.text {
            writer.put(PLATFORM_TEXT, text.as_bytes());
        }
        Ok(writer)
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The instance is there: reads along from now on.
    pub fn follow(&mut self, view: &InstanceView) {
        let td = self.topology.nodes.iter().find(|node| node.kind == NodeKind::Td);
        let td = td.and_then(|td| serde_json::from_value::<TdSection>(td.section.clone()).ok());
        let desk = td.and_then(|td| td.desk);
        let options = desk.map(|desk| accounts::Options { remembered: desk.config.remembered });
        let fold = Fold::new(&self.folder, &self.topology, options);
        let is_alone = self.manifest.mode == Mode::OneProcess;
        self.follow = Some(Follow::open(view.instance(), &self.topology, view.clock(), fold, is_alone));
        self.note_intents();
    }

    /// Takes what is new. To be called after each turn of all nodes in one process, else many times a second.
    #[inline]
    pub fn look(&mut self) {
        if let Some(follow) = &mut self.follow {
            follow.look();
        }
    }

    /// Writes what is buffered, if it is time. To be called now and then.
    pub fn flush(&mut self) {
        if self.flushed.elapsed() >= FLUSH_EVERY {
            self.flushed = Instant::now();
            self.follow.iter_mut().for_each(Follow::flush);
            self.note_intents();
        }
    }

    /// What people have set, stopped or replaced while the run goes: with the instance it is gone.
    fn note_intents(&mut self) {
        if self.manifest.mode == Mode::OneProcess {
            return;
        }
        let Some(instance) = InstanceDir::new(&self.topology.instance) else { return };
        let strategies = self.topology.nodes.iter().filter(|node| node.kind == NodeKind::Strategy);
        let read =
            |node: &topology::NodeSpec| Some((node.name.clone(), Intent::read(&instance, &node.name).ok()?));
        let wanted: BTreeMap<String, Intent> =
            strategies.filter_map(read).filter(|(_, intent)| *intent != Intent::default()).collect();
        // Once the instance is gone nothing is known any more, which is not to hide what was.
        if !wanted.is_empty() && wanted != self.intents {
            self.put(STRATEGIES, &serde_json::to_vec_pretty(&wanted).unwrap_or_default());
            self.intents = wanted;
        }
    }

    /// The platform is down: the rest of its rows, and the manifest. Without a report the run has failed.
    pub fn finish(mut self, report: Option<&Report>, is_interrupted: bool) -> Written {
        let reserve = self.folder.join(RESERVE);
        let (span, missed) = match self.follow.take() {
            Some(follow) => {
                let (fold, missed) = follow.finish();
                // Marks and samples are looked at, not added up.
                let is_whole = !missed.iter().any(Missed::is_of_orders);
                let partial = (!is_whole).then_some(Partial(report));
                let span = match fold.map(|fold| fold.finish(partial)) {
                    Some((files, problems, span)) => {
                        self.manifest.files = files;
                        self.problems.extend(problems);
                        span
                    }
                    None => {
                        self.problems.push("the thread that writes the tables has failed".to_owned());
                        Span::default()
                    }
                };
                (span, missed)
            }
            None => (Span::default(), Vec::new()),
        };
        if let Some(marks) = &self.marks
            && let Err(error) = marks.copy(&self.folder.join(LOGS))
        {
            self.problems.push(format!("cannot copy the logs to {}: {error}", self.folder.display()));
        }
        if let Some(report) = report {
            self.put(T2O, &serde_json::to_vec_pretty(&report.stages).unwrap_or_default());
        }
        let failed = report.is_none_or(|report| report.failed_nodes().next().is_some());
        let hashes = self.hashes.take().and_then(|hashes| hashes.join().ok());
        let problems = std::mem::take(&mut self.problems);
        let _ = fs::remove_file(reserve);
        self.manifest = Manifest {
            state: match (failed, is_interrupted) {
                (true, _) => RunState::Failed,
                (false, true) => RunState::Interrupted,
                (false, false) => RunState::Finished,
            },
            ended: Some(rfc3339(SystemTime::now())),
            seconds: report.map(|report| report.seconds),
            first_ns: span.begin,
            last_ns: span.end,
            sample_ns: span.sample_ns,
            t2o_left_out: span.samples_left_out,
            refused: span.refused.clone(),
            halts: span.halts,
            data: hashes.unwrap_or_default(),
            complete: problems.is_empty() && missed.is_empty(),
            missed: missed.clone(),
            problems: problems.clone(),
            currency: report.and_then(|report| match &report.currencies[..] {
                [one] => Some(one.clone()),
                _ => None,
            }),
            report: report.cloned(),
            ..std::mem::take(&mut self.manifest)
        };
        self.problems = problems;
        if let Err(error) = self.put_manifest() {
            let path = self.folder.join(MANIFEST);
            self.problems.push(format!("cannot write {}: {error}", path.display()));
        }
        // It tells no more than the manifest now.
        let _ = fs::remove_file(self.folder.join(LOCK));
        drop(self.lock);
        Written {
            folder: self.folder,
            problems: self.problems,
            missed,
            refused: span.refused,
            halts: span.halts,
        }
    }

    /// Takes the folder away again: nothing ran.
    pub fn abandon(self) {
        if let Err(error) = fs::remove_dir_all(&self.folder) {
            log::warn!("cannot remove {}: {error}", self.folder.display());
        }
    }

    fn put_manifest(&self) -> io::Result<()> {
        let text = serde_json::to_vec_pretty(&self.manifest)?;
        replace_file(&self.folder.join(MANIFEST), 0o666, |file| file.write_all(&text)).map(drop)
    }

    fn put(&mut self, name: &str, bytes: &[u8]) {
        let path = self.folder.join(name);
        if let Err(error) = fs::write(&path, bytes) {
            self.problems.push(format!("cannot write {}: {error}", path.display()));
        }
    }
}

/// Makes the folder: of that place itself, or with a name of `name` and the time in a folder of such folders.
///
/// # Errors
/// [`RunsError`].
pub fn make_folder(place: &Place, name: &str, time: SystemTime) -> Result<PathBuf, RunsError> {
    let mut one = DirBuilder::new();
    one.mode(FOLDER_MODE);
    match place {
        Place::Folder(folder) => {
            if let Some(parent) = folder.parent().filter(|parent| !parent.as_os_str().is_empty()) {
                node::shared_folder(parent, SHARED_MODE)?;
            }
            match one.create(folder) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    let mut inside = fs::read_dir(folder).map_err(RunsError::io("read", folder))?;
                    // A process that was killed before it wrote the manifest leaves its lock.
                    let is_used = |entry: io::Result<fs::DirEntry>| {
                        entry.map_or(true, |entry| entry.file_name() != LOCK)
                    };
                    if inside.any(is_used) || OwnLock::is_held(&folder.join(LOCK)) {
                        return Err(RunsError::NotEmpty(folder.clone()));
                    }
                    node::own_folder(folder, FOLDER_MODE)?;
                    Ok(folder.clone())
                }
                made => made.map(|()| folder.clone()).map_err(RunsError::io("create", folder)),
            }
        }
        Place::Root(root) => {
            node::shared_folder(root, SHARED_MODE)?;
            let time = humantime::format_rfc3339_seconds(time).to_string();
            let name = format!("{name}-{}", time.replace(['-', ':'], ""));
            for number in 1.. {
                let folder = match number {
                    1 => root.join(&name),
                    number => root.join(format!("{name}-{number}")),
                };
                match one.create(&folder) {
                    Err(error)
                        if error.kind() == io::ErrorKind::AlreadyExists && number < MOST_OF_A_SECOND => {}
                    made => return made.map(|()| folder.clone()).map_err(RunsError::io("create", &folder)),
                }
            }
            Err(RunsError::NotEmpty(root.clone()))
        }
    }
}

/// The lock of a folder that is being written.
fn take_lock(folder: &Path) -> Option<OwnLock> {
    let path = folder.join(LOCK);
    let taken = OwnLock::take(&path);
    if let Err(error) = &taken {
        log::warn!("{error}: whether this run goes on is judged by the start time of its process");
        let _ = fs::remove_file(&path);
    }
    taken.ok().flatten()
}

fn rfc3339(time: SystemTime) -> String {
    humantime::format_rfc3339_millis(time).to_string()
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

fn word(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Json::String(word)) => word,
        _ => String::new(),
    }
}

fn section<T: serde::de::DeserializeOwned + Default>(topology: &Topology, kind: NodeKind) -> T {
    let node = topology.nodes.iter().find(|node| node.kind == kind);
    node.and_then(|node| serde_json::from_value(node.section.clone()).ok()).unwrap_or_default()
}

/// The file of instruments, if there is one: a ready set is in the version of colo.
fn instruments(md: &MdConfig) -> Option<FileMark> {
    let name = md.instruments_file.as_ref().filter(|name| !name.starts_with("ready:"))?;
    Some(FileMark::of(&absolute(Path::new(name))))
}

/// A program that many nodes run is read once.
fn programs(topology: &Topology, plugins: &BTreeMap<PathBuf, PathBuf>) -> BTreeMap<String, FileMark> {
    let mut marks: BTreeMap<&Path, FileMark> = BTreeMap::new();
    let own = topology.nodes.iter().filter_map(|node| match &node.program {
        Program::Path(path) => Some((node.name.clone(), plugins.get(path).unwrap_or(path).as_path())),
        Program::Builtin(_) => None,
    });
    own.map(|(node, path)| (node, marks.entry(path).or_insert_with(|| FileMark::of(path)).clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_with_nothing_but_a_lock_of_a_dead_run_is_used_and_any_other_is_not() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("run");
        let make = || make_folder(&Place::Folder(folder.clone()), "demo", SystemTime::now());
        assert_eq!(make().unwrap(), folder);
        let lock = take_lock(&folder).unwrap();
        assert!(matches!(make(), Err(RunsError::NotEmpty(_))), "its run goes on");
        drop(lock);
        assert!(folder.join(LOCK).exists());
        assert_eq!(make().unwrap(), folder);
        fs::write(folder.join("notes"), "").unwrap();
        assert!(matches!(make(), Err(RunsError::NotEmpty(_))));
    }
}
