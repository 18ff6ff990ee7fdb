//! Starting the master process.

use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use journal::process::ProcessIdentity;
use node::{INSTANCE_VARIABLE, InstanceDir, NODE_VARIABLE, Phase};
use observe::{Collector, InstanceView};
use topology::Topology;

use crate::error::{LaunchError, system};
use crate::running::Running;

/// A platform that is about to start.
#[derive(Clone, Debug)]
pub struct Launch {
    /// What is to run.
    pub topology: Topology,
    /// The `colo` binary.
    pub colo: PathBuf,
    /// Keep every latency sample besides the histograms.
    pub keep_raw: bool,
    /// What it goes on with.
    pub recover: Option<Recover>,
}

/// An earlier run of the instance, as its recorders have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recover {
    /// The recordings, one for each recorder.
    pub folders: Vec<PathBuf>,
    /// As of this time, in nanoseconds since the epoch; else as of their end.
    pub until: Option<u64>,
}

/// Between two looks at the phase.
const TICK: Duration = Duration::from_millis(2);

impl Launch {
    /// Starts master, and waits until every node is ready or master gives up. `progress` is called between looks with
    /// the number of nodes that are ready; when it answers false, the start is given up.
    ///
    /// # Errors
    /// [`LaunchError::MasterFailed`] with what master said.
    pub fn start(self, mut progress: impl FnMut(usize, usize) -> bool) -> Result<Running, LaunchError> {
        let instance = InstanceDir::new(&self.topology.instance)
            .ok_or_else(|| LaunchError::BadInstance(self.topology.instance.clone()))?;
        let log = instance.log("master");
        instance.create_logs().map_err(system(&format!("create {}", instance.logs().display())))?;
        let mut master = self.spawn(&log)?;
        let total = self.topology.nodes.len();
        let mut asked_to_stop = false;
        let view = loop {
            if let Some(status) = master.try_wait().map_err(system("wait for master"))? {
                let exit = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
                let words = last_words(&mut master, status);
                return Err(LaunchError::MasterFailed { words, log, exit });
            }
            let view = self.view_of(&instance, &master);
            let ready = view.as_ref().map_or(0, ready_nodes);
            if let Some(view) = view
                && view.phase() == Phase::Running
            {
                break view;
            }
            if !progress(ready, total) && !asked_to_stop {
                asked_to_stop = true;
                stop_politely(&master);
            }
            std::thread::sleep(TICK);
        };
        let collector = if self.keep_raw { Collector::open(&view).ok() } else { None };
        Ok(Running::new(view, self.topology, collector, Some(master)))
    }

    fn spawn(&self, log: &Path) -> Result<Child, LaunchError> {
        let open = || OpenOptions::new().create(true).append(true).open(log);
        let log_file = open().map_err(system(&format!("open {}", log.display())))?;
        journal::process::pass_no_descriptors_on()
            .map_err(system("keep the caller's files from the platform"))?;
        let mut command = Command::new(&self.colo);
        command.args(["run", "master", "--topology", "-"]);
        // So that it is found as a part of the instance before it holds the lock.
        command.env(INSTANCE_VARIABLE, &self.topology.instance).env(NODE_VARIABLE, "master");
        if let Some(recover) = &self.recover {
            for folder in &recover.folders {
                command.arg("--recover").arg(folder);
            }
            if let Some(until) = recover.until {
                command.arg("--until-ns").arg(until.to_string());
            }
        }
        let mut master = command
            .stdin(Stdio::piped())
            // Why it fails, if it does: the log may have other masters' words in it, earlier ones' and rivals'.
            .stdout(Stdio::piped())
            .stderr(log_file)
            .process_group(0)
            .spawn()
            .map_err(system(&format!("start {}", self.colo.display())))?;
        let text = serde_json::to_vec(&self.topology)
            .map_err(|error| system("pass the topology on")(error.into()))?;
        if let Some(mut stdin) = master.stdin.take() {
            // A master that ends early says why in its log.
            let _ = stdin.write_all(&text);
        }
        Ok(master)
    }

    /// The instance as `master` has made it; `None` while it is not there, or is still a dead master's.
    fn view_of(&self, instance: &InstanceDir, master: &Child) -> Option<InstanceView> {
        let view = InstanceView::open(instance.clone()).ok()?;
        // A pid alone says little: a living platform of another pid namespace may have a master of the same number.
        let ours = ProcessIdentity::of(master.id());
        let sits = view.seats().first().is_some_and(|seat| Some(seat.process) == ours);
        (sits && !view.is_foreign()).then_some(view)
    }
}

fn ready_nodes(view: &InstanceView) -> usize {
    use node::NodeState::{Finished, Running};
    view.seats().iter().filter(|seat| matches!(seat.state, Running | Finished)).count()
}

fn stop_politely(master: &Child) {
    if let Some(identity) = ProcessIdentity::of(master.id())
        && let Ok(handle) = journal::process::PidFd::open(identity)
    {
        let _ = handle.signal(nix::sys::signal::Signal::SIGTERM as i32);
    }
}

/// Why a master that has ended did not go on, in its own words if it left any.
fn last_words(master: &mut Child, status: ExitStatus) -> String {
    let mut words = String::new();
    if let Some(mut stdout) = master.stdout.take()
        && let Err(error) = stdout.read_to_string(&mut words)
    {
        log::debug!("what master said cannot be read: {error}");
    }
    let words = words.trim_end();
    if !words.is_empty() {
        return words.to_owned();
    }
    match status.signal() {
        Some(signal) => format!("master {}", node::killed_by(signal)),
        None => format!("master ended without a word ({status})"),
    }
}
