//! Where the folder of a run goes, and what is said of it.

use std::env;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use backtest::{Plugin, Plugins, Witness};
use observe::{InstanceView, Report};
use outcome::shelf::{self, Keep};
use outcome::{About, Mode, Place, RunWriter, Written};
use topology::config::PlatformSection;
use topology::{Platform, RunFolder, Topology};

use crate::args::OutArguments;
use crate::failure::Failure;
use crate::output::bytes;

/// The folder of runs, unless somebody says otherwise; empty: none is made.
pub(super) const RUNS_VARIABLE: &str = "COLO_RUNS";
/// The same, where nobody does.
const RUNS: &str = "runs";

/// What is asked of a run's folder.
#[derive(Clone, Debug)]
pub(super) struct Keeping {
    place: Option<Place>,
    /// Whether it is there because it always is: then it may fail to be made.
    is_default: bool,
    keep: Keep,
    about: About,
}

impl Keeping {
    /// As the arguments, the platform file, the environment and the custom say, in this order. A platform that stays has a
    /// folder only where somebody asks for one.
    pub(super) fn of(out: &OutArguments, platform: Option<&Platform>, stays: bool) -> Keeping {
        let defaults = PlatformSection::default();
        let section = platform.map_or(&defaults, |platform| &platform.config.platform);
        let keep = Keep { age: section.runs_keep_for, bytes: section.runs_keep_bytes.0 };
        let root = |path: &Path| (!path.as_os_str().is_empty()).then(|| Place::Root(absolute(path)));
        let (place, is_default) = match (&out.out, &section.runs) {
            _ if out.no_out => (None, false),
            (Some(folder), _) => (Some(Place::Folder(absolute(folder))), false),
            (None, Some(path)) => (root(Path::new(path)), false),
            (None, None) => match env::var_os(RUNS_VARIABLE) {
                Some(path) => (root(Path::new(&path)).filter(|_| !stays), false),
                None => (root(Path::new(RUNS)).filter(|_| !stays), true),
            },
        };
        let read = |platform: &Platform| std::fs::read_to_string(&platform.file).ok();
        let about = About {
            platform: platform.map(|platform| platform.file.clone()),
            text: platform.and_then(read),
            settings: platform.and_then(|platform| serde_json::to_value(platform.settings()).ok()),
            colo: env!("CARGO_PKG_VERSION").to_owned(),
            ..About::default()
        };
        Keeping { place, is_default, keep, about }
    }

    /// As whoever brought the platform up said, or is said now that it goes down.
    pub(super) fn at_its_end(out: Option<&Path>, topology: &Topology, age: Duration) -> Keeping {
        let before = topology.run_folder.as_ref().map(|folder| match folder.is_itself {
            true => Place::Folder(folder.path.clone()),
            false => Place::Root(folder.path.clone()),
        });
        let about = About { colo: env!("CARGO_PKG_VERSION").to_owned(), age: Some(age), ..About::default() };
        let defaults = PlatformSection::default();
        Keeping {
            place: out.map(|folder| Place::Folder(absolute(folder))).or(before),
            // What was noted long ago may be taken by now; the platform goes down all the same.
            is_default: out.is_none(),
            keep: Keep { age: defaults.runs_keep_for, bytes: defaults.runs_keep_bytes.0 },
            about,
        }
    }

    /// With these plug-ins in the place of programs.
    pub(super) fn with_plugins(mut self, plugins: &Plugins) -> Keeping {
        let paths = |(program, plugin): (&Path, &Plugin)| (program.to_owned(), plugin.path().to_owned());
        self.about.plugins = plugins.all().map(paths).collect();
        self
    }

    /// For who takes it down later.
    pub(super) fn noted(&self) -> Option<RunFolder> {
        self.place.as_ref().map(|place| match place {
            Place::Folder(path) => RunFolder { path: path.clone(), is_itself: true },
            Place::Root(path) => RunFolder { path: path.clone(), is_itself: false },
        })
    }

    /// Makes the folder.
    pub(super) fn begin(self, topology: &Topology, mode: Mode) -> Result<Kept, Failure> {
        let root = match &self.place {
            Some(Place::Root(root)) => Some(root.clone()),
            _ => None,
        };
        let Some(place) = self.place else { return Ok(Kept::default()) };
        match RunWriter::begin(&place, topology, About { mode, ..self.about }) {
            Ok(writer) => Ok(Kept { writer: Some(writer), root, keep: Some(self.keep) }),
            Err(error) if self.is_default => {
                talk!("colo: no folder for this run: {error}; --out names another, --no-out wants none");
                Ok(Kept::default())
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// How the nodes of a topology run over processes.
pub(super) fn mode(topology: &Topology) -> Mode {
    if topology.deterministic { Mode::LockStep } else { Mode::Live }
}

/// The folder of a run, if it has one.
#[derive(Debug, Default)]
pub(super) struct Kept {
    writer: Option<RunWriter>,
    /// The folder of runs, of which some may have to go.
    root: Option<PathBuf>,
    keep: Option<Keep>,
}

impl Witness for Kept {
    fn begins(&mut self, view: &InstanceView) {
        self.follow(view);
    }

    #[inline]
    fn turned(&mut self) {
        if let Some(writer) = &mut self.writer {
            writer.look();
        }
    }

    fn flush(&mut self) {
        if let Some(writer) = &mut self.writer {
            writer.flush();
        }
    }
}

impl Kept {
    pub(super) fn follow(&mut self, view: &InstanceView) {
        if let Some(writer) = &mut self.writer {
            writer.follow(view);
        }
    }

    /// Takes what is new, over processes.
    pub(super) fn look(&mut self) {
        if let Some(writer) = &mut self.writer {
            writer.look();
            writer.flush();
        }
    }

    /// Nothing was started.
    pub(super) fn abandon(self) {
        self.writer.into_iter().for_each(RunWriter::abandon);
    }

    /// The platform is down. False when the folder is not what it should be.
    #[must_use]
    pub(super) fn finish(self, report: Option<&Report>, is_interrupted: bool) -> bool {
        let Some(writer) = self.writer else { return true };
        let Written { folder, problems, missed, refused, halts } = writer.finish(report, is_interrupted);
        let shown = shown(&folder);
        for missed in &missed {
            let why = missed
                .error
                .clone()
                .unwrap_or_else(|| format!("{} were overwritten before they were read", bytes(missed.bytes)));
            talk!("the run's folder lacks a part of {}: {why}", missed.journal);
        }
        for problem in &problems {
            talk!("colo: the run's folder is not whole: {problem}");
        }
        if !refused.is_empty() {
            let rules = refused.iter().map(|(reason, orders)| format!("{orders} {reason}"));
            talk!("orders refused, by reason: {}", rules.collect::<Vec<_>>().join(", "));
        }
        if let Some(words) = halts.words() {
            talk!("the market: {words}");
        }
        talk!("the run is in {}; `colo runs show {}` shows it", shown.display(), shown.display());
        if let (Some(root), Some(keep)) = (self.root, self.keep) {
            make_room(&root, keep, &folder);
        }
        problems.is_empty()
    }
}

/// Removes old runs.
fn make_room(root: &Path, keep: Keep, newest: &Path) {
    let shelved = match shelf::list(root) {
        Ok(shelved) => shelved,
        Err(error) => return talk!("colo: old runs are not looked through: {error}"),
    };
    for removal in shelf::surplus(&shelved, keep, SystemTime::now()) {
        if removal.folder == newest {
            continue;
        }
        let folder = shown(&removal.folder);
        match shelf::remove(&removal.folder) {
            Ok(()) => {
                talk!("removed the run in {} ({}: see `colo runs clean`)", folder.display(), removal.because)
            }
            Err(error) => talk!("colo: an old run stays: {error}"),
        }
    }
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// As short as it can be written from here.
pub(super) fn shown(path: &Path) -> PathBuf {
    let here = env::current_dir().unwrap_or_default();
    path.strip_prefix(&here).map_or_else(|_| path.to_owned(), Path::to_owned)
}
