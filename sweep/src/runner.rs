//! Runs each in a process of its own, several at a time, and notes how each ended.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::error::SweepError;
use crate::inputs::Inputs;
use crate::outcome_of::{self, Ended};
use crate::plan::{Cell, Sweep};
use crate::presence::Presence;
use crate::shelf::Shelf;
use crate::store::{Done, RunEnd, State, Store};

/// Tells `colo up` the process that it is to end with.
pub const OWNER_VARIABLE: &str = "COLO_OWNER";
/// How often it is looked whether a run has ended.
const LOOK: Duration = Duration::from_millis(2);
/// How often the caller is told, and asked whether to go on.
const TELL: Duration = Duration::from_millis(50);
/// A run that was asked to end and has not by then is killed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// How a session runs its platforms.
#[derive(Clone, Debug)]
pub struct Options {
    /// `colo`.
    pub program: PathBuf,
    /// Runs at a time.
    pub jobs: usize,
    /// Instances are called so, with a number behind.
    pub instance: String,
}

impl Options {
    /// The instance of a job, from 0.
    pub fn instance_of(&self, job: usize) -> String {
        format!("{}-{}", self.instance, job + 1)
    }

    /// Takes away what a run that was killed has left of its instance.
    fn clear(&self, job: usize) {
        take_away(&self.program, &self.instance_of(job));
    }
}

/// Removes an instance with all that still lives of it.
pub(crate) fn take_away(program: &Path, instance: &str) {
    let mut down = Command::new(program);
    down.args(["down", instance, "--force"]);
    // A further Ctrl-C is not for it.
    down.process_group(0);
    // There may be nothing left.
    let _ = down.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
}

/// How far a session has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Runs of the sweep.
    pub runs: usize,
    /// That have ended, also in earlier sessions.
    pub done: usize,
    /// Of these: failed.
    pub failed: usize,
}

/// What a session came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Session {
    /// At its end.
    pub progress: Progress,
    /// Runs that ended in it.
    pub ran: usize,
    /// Somebody ended it.
    pub is_interrupted: bool,
    /// Real seconds of it.
    pub seconds: f64,
}

/// A run under way.
struct Job {
    slot: usize,
    cell: usize,
    inputs: String,
    child: Child,
    began: Instant,
    /// When it was asked to end, because it took too long.
    asked: Option<Instant>,
}

/// Runs what has not ended yet. `go_on` is asked several times a second; runs that end because it says no have time for that,
/// unless `at_once` says that they have none.
///
/// # Errors
/// [`SweepError`] when the folder cannot be written; what is finished is kept.
pub fn run(
    sweep: &Sweep,
    store: &mut Store,
    inputs: &mut Inputs,
    options: &Options,
    go_on: &mut dyn FnMut(Progress) -> bool,
    at_once: &dyn Fn() -> bool,
) -> Result<Session, SweepError> {
    let began = Instant::now();
    let presence = Presence::begin(store.folder(), options, at_once)?;
    let open = sweep.cells.iter().filter(|cell| !store.done.contains_key(&cell.number));
    let mut runner = Runner {
        waiting: open.map(|cell| cell.number - 1).collect(),
        jobs: (0..options.jobs.max(1)).map(|_| None).collect(),
        shelf: Shelf::new(sweep, store),
        ran: 0,
        sweep,
        store,
        inputs,
        options,
        presence: &presence,
    };
    let ended = runner.all(go_on);
    runner.stop(at_once);
    let (ran, progress) = (runner.ran, runner.progress());
    presence.end();
    let is_interrupted = !ended?;
    let seconds = began.elapsed().as_secs_f64();
    store.write_table(sweep)?;
    store.manifest.state = if is_interrupted { State::Interrupted } else { State::Finished };
    store.manifest.ended = Some(crate::store::now());
    store.manifest.seconds += seconds;
    store.put_manifest()?;
    Ok(Session { progress, ran, is_interrupted, seconds })
}

struct Runner<'a> {
    waiting: VecDeque<usize>,
    jobs: Vec<Option<Job>>,
    shelf: Shelf,
    ran: usize,
    sweep: &'a Sweep,
    store: &'a mut Store,
    inputs: &'a mut Inputs,
    options: &'a Options,
    presence: &'a Presence,
}

impl Runner<'_> {
    fn progress(&self) -> Progress {
        let failed = self.store.done.values().filter(|done| done.state != RunEnd::Finished).count();
        Progress { runs: self.sweep.cells.len(), done: self.store.done.len(), failed }
    }

    /// False when it was interrupted.
    fn all(&mut self, go_on: &mut dyn FnMut(Progress) -> bool) -> Result<bool, SweepError> {
        let mut told: Option<Instant> = None;
        loop {
            for slot in 0..self.jobs.len() {
                self.look(slot)?;
                if self.jobs[slot].is_none()
                    && let Some(cell) = self.waiting.pop_front()
                {
                    self.jobs[slot] = self.start(slot, cell)?;
                }
            }
            if told.is_none_or(|told| told.elapsed() >= TELL) {
                told = Some(Instant::now());
                if !go_on(self.progress()) {
                    return Ok(false);
                }
                self.store.refresh_table(self.sweep)?;
            }
            if self.waiting.is_empty() && self.jobs.iter().all(Option::is_none) {
                go_on(self.progress());
                return Ok(true);
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Starts a run; `None` where it could not even begin, which is noted.
    fn start(&mut self, slot: usize, cell: usize) -> Result<Option<Job>, SweepError> {
        let one = &self.sweep.cells[cell];
        let inputs = self.inputs.of(self.sweep, one).unwrap_or_default();
        let folder = self.store.run_folder(one.number);
        // What a run left that was killed.
        if folder.exists() {
            fs::remove_dir_all(&folder).map_err(SweepError::io("remove", &folder))?;
        }
        let words = words_of(&folder);
        let stderr = File::create(&words).map_err(SweepError::io("create", &words))?;
        let mut command = Command::new(&self.options.program);
        command.arg("up").arg(&self.sweep.platform);
        for set in sets(self.sweep, one, &self.options.instance_of(slot)) {
            command.arg("--set").arg(set);
        }
        command.arg("--out").arg(&folder).args(["--format", "json"]);
        command.env(OWNER_VARIABLE, std::process::id().to_string());
        command.stdin(self.presence.of_a_run()?).stdout(Stdio::null()).stderr(stderr);
        // Ctrl-C is for the sweep, which ends its runs itself.
        command.process_group(0);
        let began = Instant::now();
        match command.spawn() {
            Ok(child) => Ok(Some(Job { slot, cell, inputs, child, began, asked: None })),
            Err(source) => {
                let _ = fs::remove_file(&words);
                Err(SweepError::Io { action: "start", path: self.options.program.clone(), source })
            }
        }
    }

    /// Whether the run of a slot has ended, and if so, how.
    fn look(&mut self, slot: usize) -> Result<(), SweepError> {
        let Some(job) = &mut self.jobs[slot] else { return Ok(()) };
        let status = match job.child.try_wait() {
            Ok(Some(status)) => status,
            _ => {
                let timeout = self.sweep.config.timeout;
                match job.asked {
                    None if job.began.elapsed() >= timeout => {
                        ask(&job.child);
                        job.asked = Some(Instant::now());
                    }
                    Some(asked) if asked.elapsed() >= PATIENCE => kill(job.child.id()),
                    _ => {}
                }
                return Ok(());
            }
        };
        let Some(job) = self.jobs[slot].take() else { return Ok(()) };
        self.ended(slot, job, status)
    }

    fn ended(&mut self, slot: usize, job: Job, status: ExitStatus) -> Result<(), SweepError> {
        let seconds = job.began.elapsed().as_secs_f64();
        if status.signal().is_some() {
            self.options.clear(slot);
        }
        let cell = &self.sweep.cells[job.cell];
        let folder = self.store.run_folder(cell.number);
        let words = words_of(&folder);
        let said = fs::read_to_string(&words).unwrap_or_default();
        let Ended { state, why, measures } = match job.asked {
            Some(_) => Ended::timeout(self.sweep.config.timeout),
            None => outcome_of::read(&folder, self.sweep.config.strategy.as_deref(), exit_of(status), &said),
        };
        // The instance's name says which job it was, which is another each time.
        let why = why.replace(&self.options.instance_of(slot), "INSTANCE");
        if state == RunEnd::Finished {
            let _ = fs::remove_file(&words);
        } else if fs::create_dir_all(&folder).is_ok() {
            let _ = fs::rename(&words, folder.join(outcome_of::WORDS));
        }
        let done = Done {
            run: cell.number,
            inputs: job.inputs,
            state,
            why,
            seconds,
            bytes: outcome::shelf::bytes_of(&folder),
            measures,
        };
        self.shelf.add(&done);
        self.store.add(done)?;
        self.shelf.make_room(self.store);
        self.ran += 1;
        Ok(())
    }

    /// Ends what still runs; what it left is removed.
    fn stop(&mut self, at_once: &dyn Fn() -> bool) {
        let mut jobs: Vec<Job> = self.jobs.iter_mut().filter_map(Option::take).collect();
        jobs.iter().for_each(|job| ask(&job.child));
        let began = Instant::now();
        for job in &mut jobs {
            while matches!(job.child.try_wait(), Ok(None)) {
                if began.elapsed() >= PATIENCE || at_once() {
                    kill(job.child.id());
                    let _ = job.child.wait();
                    self.options.clear(job.slot);
                    break;
                }
                std::thread::sleep(LOOK);
            }
            let folder = self.store.run_folder(self.sweep.cells[job.cell].number);
            let _ = fs::remove_file(words_of(&folder));
            let _ = fs::remove_dir_all(&folder);
        }
    }
}

/// All that is changed in the platform file of a run.
fn sets(sweep: &Sweep, cell: &Cell, instance: &str) -> Vec<String> {
    let mut sets = sweep.sets_of(cell);
    sets.push(format!("platform.instance=\"{instance}\""));
    sets
}

/// Where the words of a run go while it lasts: its folder must be empty when it begins.
fn words_of(folder: &Path) -> PathBuf {
    folder.with_extension("words")
}

fn exit_of(status: ExitStatus) -> Result<i32, i32> {
    match (status.code(), status.signal()) {
        (Some(code), _) => Ok(code),
        (None, signal) => Err(signal.unwrap_or_default()),
    }
}

/// Asks a run to end, as Ctrl-C would.
fn ask(child: &Child) {
    send("-TERM", &child.id().to_string());
}

/// Ends a run with whatever it has started in its process group.
pub(crate) fn kill(pid: u32) {
    send("-KILL", &format!("-{pid}"));
}

/// `Child` itself can only kill one process.
fn send(signal: &str, whom: &str) {
    let mut kill = Command::new("kill");
    kill.args([signal, "--", whom]).process_group(0);
    let _ = kill.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
}
