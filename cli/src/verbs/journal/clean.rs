//! `colo journal clean`: what dead instances left.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use journal::{Journal, WriterState};
use node::{Exit, InstanceDir, InstanceView};
use serde::Serialize;

use super::args::Clean;
use crate::failure::Failure;
use crate::output::{self, Format, bytes};
use crate::verbs::instance::suggestion;

/// What `--format json` prints.
#[derive(Debug, Serialize)]
struct CleanReport {
    dry_run: bool,
    instances: Vec<Cleaned>,
}

#[derive(Debug, Serialize)]
struct Cleaned {
    instance: String,
    /// `alive`, `removed`, or `would-remove`.
    outcome: &'static str,
    /// What is, or would be, removed: files and folders.
    paths: Vec<String>,
    bytes: u64,
    /// Who keeps it from being removed.
    alive: Vec<Living>,
}

/// A process that is part of an instance.
#[derive(Debug, Serialize)]
struct Living {
    node: String,
    pid: Option<u32>,
}

pub(super) fn clean(arguments: &Clean) -> Result<u8, Failure> {
    let all = InstanceDir::all_with_remains().map_err(Failure::system("list", &InstanceDir::root()))?;
    let chosen = match &arguments.instance.instance {
        None => all,
        Some(name) => vec![one(name, all)?],
    };
    let instances =
        chosen.iter().map(|instance| look(instance, arguments.dry_run)).collect::<Result<Vec<_>, _>>()?;
    if let (Some(name), [Cleaned { alive, .. }]) = (&arguments.instance.instance, instances.as_slice())
        && !alive.is_empty()
    {
        let who: Vec<String> = alive.iter().map(Living::text).collect();
        let message = format!("instance `{name}` lives: {}; `colo down {name}` stops it", who.join(", "));
        return Err(Failure::new(Exit::Failed, message));
    }
    let report = CleanReport { dry_run: arguments.dry_run, instances };
    match arguments.format {
        Format::Json => output::print_json(&report)?,
        Format::Text => output::print(&text(&report))?,
    }
    Ok(Exit::Done.code())
}

fn one(name: &str, all: Vec<InstanceDir>) -> Result<InstanceDir, Failure> {
    let wanted = InstanceDir::new(name).ok_or(launcher::LaunchError::BadInstance(name.to_owned()))?;
    let names: Vec<&str> = all.iter().map(InstanceDir::name).collect();
    if !names.contains(&name) {
        let message = format!("there is no instance `{name}`{}", suggestion(name, &names));
        return Err(Failure::new(Exit::NoMaster, message));
    }
    Ok(wanted)
}

impl Living {
    fn text(&self) -> String {
        match self.pid {
            Some(pid) => format!("{} (process {pid})", self.node),
            None => self.node.clone(),
        }
    }
}

/// Removes one instance if nobody lives in it.
fn look(instance: &InstanceDir, dry_run: bool) -> Result<Cleaned, Failure> {
    let mut found = Cleaned {
        instance: instance.name().to_owned(),
        outcome: "alive",
        paths: Vec::new(),
        bytes: 0,
        alive: Vec::new(),
    };
    // Held while it is removed: nobody can come up in it meanwhile.
    let lock = match lock(instance, dry_run)? {
        Lock::Taken(pid) => {
            found.alive.push(Living { node: "master".to_owned(), pid });
            None
        }
        Lock::Held(file) => Some(file),
        Lock::None => None,
    };
    for living in living(instance) {
        if found.alive.iter().all(|known| known.pid != living.pid) {
            found.alive.push(living);
        }
    }
    if !found.alive.is_empty() {
        return Ok(found);
    }
    for root in instance.places() {
        if root.exists() {
            found.paths.push(root.display().to_string());
            found.bytes += size(&root);
        }
    }
    found.outcome = "would-remove";
    if !dry_run {
        instance.remove().map_err(Failure::system("remove", instance.path()))?;
        found.outcome = "removed";
    }
    drop(lock);
    Ok(found)
}

enum Lock {
    Held(#[allow(dead_code, reason = "held, not used")] File),
    /// By this process, if it says so.
    Taken(Option<u32>),
    None,
}

fn lock(instance: &InstanceDir, dry_run: bool) -> Result<Lock, Failure> {
    let path = instance.lock();
    if dry_run && !path.exists() {
        return Ok(Lock::None);
    }
    std::fs::create_dir_all(instance.path()).map_err(Failure::system("make", instance.path()))?;
    let open = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
    let file = open.map_err(Failure::system("open", &path))?;
    match file.try_lock() {
        Ok(()) => Ok(Lock::Held(file)),
        Err(TryLockError::WouldBlock) => {
            let pid = std::fs::read_to_string(&path).ok().and_then(|text| text.trim().parse().ok());
            Ok(Lock::Taken(pid))
        }
        Err(TryLockError::Error(error)) => Err(Failure::system("lock", &path)(error)),
    }
}

/// Processes that sit in a seat or write a journal; where the registry cannot be read, those that have a file mapped.
fn living(instance: &InstanceDir) -> Vec<Living> {
    let mut found = Vec::new();
    match InstanceView::open(instance.clone()) {
        Ok(view) => {
            let seats = view.seats().into_iter().filter(|seat| seat.alive);
            found.extend(seats.map(|seat| Living { node: seat.name, pid: Some(seat.process.pid) }));
        }
        Err(_) => found.extend(mapping(&instance.places())),
    }
    for name in instance.journal_names().unwrap_or_default() {
        if let Ok(journal) = Journal::open_read_only(instance.find_journal(&name))
            && let WriterState::Attached(process) = journal.stat().writer
            && found.iter().all(|living| living.pid != Some(process.pid))
        {
            found.push(Living { node: format!("the writer of {name}"), pid: Some(process.pid) });
        }
    }
    found
}

/// Processes of this user that have a file below one of these folders mapped.
fn mapping(folders: &[PathBuf]) -> Vec<Living> {
    let prefixes: Vec<String> = folders.iter().map(|folder| format!("{}/", folder.display())).collect();
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .filter_map(|entry| {
            let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
            let maps = std::fs::read_to_string(entry.path().join("maps")).ok()?;
            (pid != std::process::id() && prefixes.iter().any(|prefix| maps.contains(prefix)))
                .then(|| Living { node: "a process that has its files mapped".to_owned(), pid: Some(pid) })
        })
        .collect()
}

fn size(path: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(path) else { return path.metadata().map_or(0, |data| data.len()) };
    entries.flatten().map(|entry| size(&entry.path())).sum()
}

fn text(report: &CleanReport) -> String {
    if report.instances.is_empty() {
        return "nothing is left of any instance\n".to_owned();
    }
    let mut text = String::new();
    for instance in &report.instances {
        let name = &instance.instance;
        match instance.outcome {
            "alive" => {
                let who: Vec<String> = instance.alive.iter().map(Living::text).collect();
                text.push_str(&format!("{name}: lives, left alone: {}\n", who.join(", ")));
            }
            outcome => {
                let done = if outcome == "removed" { "removed" } else { "would be removed" };
                let places = instance.paths.join(", ");
                text.push_str(&format!("{name}: {} {done}: {places}\n", bytes(instance.bytes)));
            }
        }
    }
    text
}
