//! `colo journal clean`: what dead instances left.

use std::path::Path;

use journal::{Journal, WriterState};
use node::{Claim, ClaimError, Exit, InstanceDir};
use observe::InstanceView;
use serde::Serialize;

use super::args::Clean;
use super::benches::{self, Bench};
use crate::failure::Failure;
use crate::output::{self, Format, bytes};
use crate::verbs::instance::suggestion;

/// What `--format json` prints.
#[derive(Debug, Serialize)]
struct CleanReport {
    dry_run: bool,
    instances: Vec<Cleaned>,
    /// Folders of benchmarks.
    benches: Vec<Bench>,
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
pub(super) struct Living {
    pub(super) node: String,
    pub(super) pid: Option<u32>,
}

pub(super) fn clean(arguments: &Clean) -> Result<u8, Failure> {
    let all = InstanceDir::all_with_remains().map_err(Failure::system("list", &InstanceDir::root()))?;
    let chosen = match arguments.instance.name() {
        None => all,
        Some(name) => vec![one(name, all)?],
    };
    let instances =
        chosen.iter().map(|instance| look(instance, arguments.dry_run)).collect::<Result<Vec<_>, _>>()?;
    if let (Some(name), [Cleaned { alive, .. }]) = (arguments.instance.name(), instances.as_slice())
        && !alive.is_empty()
    {
        let who: Vec<String> = alive.iter().map(Living::text).collect();
        let message = format!("instance `{name}` lives: {}; `colo down {name}` stops it", who.join(", "));
        return Err(Failure::new(Exit::Failed, message));
    }
    let benches = match arguments.instance.name() {
        None => benches::clean(arguments.dry_run)?,
        Some(_) => Vec::new(),
    };
    let report = CleanReport { dry_run: arguments.dry_run, instances, benches };
    match arguments.format {
        Format::Json => output::print_json(&report)?,
        Format::Text => output::print(&text(&report))?,
    }
    Ok(Exit::Done.code())
}

fn one(name: &str, all: Vec<InstanceDir>) -> Result<InstanceDir, Failure> {
    let wanted = InstanceDir::new(name).ok_or(master_client::LaunchError::BadInstance(name.to_owned()))?;
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
    let claim = match instance.claim_remains() {
        Ok(claim) => claim,
        Err(ClaimError::Held { holder }) => {
            let is_foreign = holder.is_some_and(|holder| !holder.is_of_this_namespace());
            let node = if is_foreign { "master of another pid namespace" } else { "master" }.to_owned();
            found.alive.push(Living { node, pid: holder.map(|holder| holder.process.pid) });
            None
        }
        Err(error) => return Err(Failure::system("claim", instance.path())(error.into())),
    };
    for living in living(instance, claim.as_ref())? {
        if found.alive.iter().all(|known| known.pid.is_none() || known.pid != living.pid) {
            found.alive.push(living);
        }
    }
    if !found.alive.is_empty() {
        return Ok(found);
    }
    let unfinished = instance.unfinished().map_err(Failure::system("list", &InstanceDir::root()))?;
    for root in instance.places().into_iter().chain(unfinished) {
        if root.exists() {
            found.paths.push(root.display().to_string());
            found.bytes += size(&root);
        }
    }
    found.outcome = "would-remove";
    if !dry_run {
        let removed = match &claim {
            Some(claim) => claim.remove(),
            None => instance.remove_remains(),
        };
        removed.map_err(Failure::system("remove", instance.path()))?;
        found.outcome = "removed";
    }
    Ok(found)
}

/// Processes that sit in a seat or write a journal; where the registry cannot be read, those that have a file mapped; where
/// process ids say nothing, the locks that somebody holds.
fn living(instance: &InstanceDir, claim: Option<&Claim>) -> Result<Vec<Living>, Failure> {
    let mut found = Vec::new();
    let view = InstanceView::open(instance.clone());
    let is_foreign = view.as_ref().is_ok_and(InstanceView::is_foreign);
    if let Some(claim) = claim
        && (is_foreign || view.is_err())
        && claim.is_in_use().map_err(Failure::system("look at the locks of", instance.path()))?
    {
        let node = "processes that hold its journals, perhaps of another pid namespace".to_owned();
        found.push(Living { node, pid: None });
    }
    if is_foreign {
        return Ok(found);
    }
    match view {
        Ok(view) => {
            let seats = view.seats().into_iter().filter(|seat| seat.alive);
            found.extend(seats.map(|seat| Living { node: seat.name, pid: Some(seat.process.pid) }));
        }
        Err(_) => found.extend(master_client::members(instance).into_iter().map(|member| Living {
            node: format!("{}, which has its files mapped", member.command),
            pid: Some(member.process.pid),
        })),
    }
    for name in instance.journal_names().unwrap_or_default() {
        if let Ok(journal) = Journal::open_read_only(instance.find_journal(&name))
            && let WriterState::Attached(process) = journal.stat().writer
            && found.iter().all(|living| living.pid != Some(process.pid))
        {
            found.push(Living { node: format!("the writer of {name}"), pid: Some(process.pid) });
        }
    }
    Ok(found)
}

pub(super) fn size(path: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(path) else { return path.metadata().map_or(0, |data| data.len()) };
    entries.flatten().map(|entry| size(&entry.path())).sum()
}

fn text(report: &CleanReport) -> String {
    if report.instances.is_empty() && report.benches.is_empty() {
        return "nothing is left of any instance\n".to_owned();
    }
    let instances = report.instances.iter().map(|instance| {
        let places = instance.paths.join(", ");
        line(&instance.instance, instance.outcome, instance.bytes, &places, &instance.alive)
    });
    let benches = report
        .benches
        .iter()
        .map(|bench| line("a benchmark", bench.outcome, bench.bytes, &bench.path, &bench.alive));
    instances.chain(benches).collect()
}

fn line(name: &str, outcome: &str, size: u64, places: &str, alive: &[Living]) -> String {
    let done = match outcome {
        "alive" => {
            let who: Vec<String> = alive.iter().map(Living::text).collect();
            return format!("{name}: lives, left alone: {}\n", who.join(", "));
        }
        "removed" => "removed",
        _ => "would be removed",
    };
    format!("{name}: {} {done}: {places}\n", bytes(size))
}
