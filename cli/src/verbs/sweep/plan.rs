//! What a sweep would run, what that takes, and about how long.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ::sweep::{Checked, Sweep};
use node::Exit;
use pinning::Host;
use serde_json::json;
use topology::config::MdConfig;
use topology::{NodeKind, Topology};

use crate::failure::Failure;
use crate::output::{self, Format, bytes, count, number};
use crate::verbs::fit;

/// What a run takes beside its journals.
const OWN_BYTES: u64 = 64 << 20;
/// Rates for a guess where no sweep of this name has run: recorded days and simulated quotes in lock-step, in one process.
const DATA_BYTES_PER_S: f64 = 4e6;
const QUOTES_PER_S: f64 = 1e5;
/// A packed file is about this much smaller.
const PACKED: u64 = 4;
/// What starting and ending a run takes.
const OVERHEAD_S: f64 = 0.25;
/// Over processes each hop is a wake-up.
const OVER_PROCESSES: f64 = 15.0;

/// What running a sweep comes to.
pub(super) struct Bill {
    pub(super) jobs: usize,
    /// Why so many.
    jobs_because: String,
    memory_bytes: u64,
    processes: usize,
    data_bytes: u64,
    run_s: f64,
    /// Where the time of a run is from.
    source: Option<PathBuf>,
    run_disk_bytes: Option<u64>,
    runs: usize,
}

impl Bill {
    /// For the runs that are left to do.
    pub(super) fn of(
        checked: &Checked,
        jobs: Option<u32>,
        left: usize,
        earlier: &Path,
    ) -> Result<Bill, Failure> {
        let Checked { sweep, first, .. } = checked;
        let memory_bytes = first.memory_bill().total_bytes;
        let is_alone = first.one_process != Some(false)
            && backtest::unfit(first, &backtest::Plugins::find(first)).is_empty();
        let processes = if is_alone { 1 } else { first.nodes.len() + 1 };
        let (jobs, jobs_because) = match jobs.or(sweep.config.jobs) {
            Some(jobs) => (jobs as usize, "as asked for".to_owned()),
            None => jobs_of(&fit::host(Path::new("/"))?, memory_bytes),
        };
        let data: Vec<(u64, u64)> = data_of(sweep, first).iter().map(|path| size(path)).collect();
        let earlier = costs(sweep, earlier);
        let plain: u64 = data.iter().map(|(_, plain)| plain).sum();
        let guess = guess(first, plain / data.len().max(1) as u64, is_alone);
        Ok(Bill {
            jobs: jobs.min(left.max(1)),
            jobs_because,
            memory_bytes,
            processes,
            data_bytes: data.iter().map(|(bytes, _)| bytes).sum(),
            run_s: earlier.as_ref().map_or(guess, |(seconds, ..)| *seconds),
            run_disk_bytes: earlier.as_ref().map(|(_, bytes, _)| *bytes),
            source: earlier.map(|(.., folder)| folder),
            runs: left,
        })
    }

    /// Runs side by side disturb each other; this does not count that.
    fn seconds(&self) -> f64 {
        self.run_s * self.runs.div_ceil(self.jobs) as f64
    }

    pub(super) fn line(&self) -> String {
        let how = match &self.source {
            Some(folder) => format!("as in {}", super::super::keeping::shown(folder).display()),
            None => "a guess from the size of the data".to_owned(),
        };
        format!(
            "{} at a time ({}); about {} ({} a run: {how})",
            self.jobs,
            self.jobs_because,
            roughly(self.seconds()),
            roughly(self.run_s)
        )
    }
}

/// As many as there are cores and memory for.
fn jobs_of(host: &Host, memory_bytes: u64) -> (usize, String) {
    let usable = |core: &&pinning::Core| core.cpus.overlaps(&host.allowed);
    let cores = host.cores.iter().filter(usable).count().max(1);
    let most = available_memory().map(|free| (free / 2 / (memory_bytes + OWN_BYTES)).max(1) as usize);
    match most {
        Some(most) if most < cores => (most, format!("memory for {most} of {cores} cores")),
        _ => (cores, count(cores as u64, "physical core")),
    }
}

fn available_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kib| kib << 10)
}

/// The days' files, or what the platform file names.
fn data_of(sweep: &Sweep, first: &Topology) -> Vec<PathBuf> {
    if !sweep.days.is_empty() {
        // Two parts of a day have the same files.
        let files: BTreeSet<&PathBuf> = sweep.days.iter().map(|day| &day.files).collect();
        return files.into_iter().cloned().collect();
    }
    let md = md_of(first);
    let files = md.files.as_ref().filter(|_| md.source.is_replay());
    files.map_or_else(Vec::new, |files| files.paths().into_iter().map(Path::to_owned).collect())
}

fn md_of(topology: &Topology) -> MdConfig {
    let node = topology.nodes.iter().find(|node| node.kind == NodeKind::Md);
    node.and_then(|node| serde_json::from_value(node.section.clone()).ok()).unwrap_or_default()
}

/// Bytes on disk, and about how many unpacked.
fn size(path: &Path) -> (u64, u64) {
    let files = outcome::files_below(&[path.to_owned()]);
    let mut sum = (0, 0);
    for file in files {
        let bytes = file.metadata().map_or(0, |metadata| metadata.len());
        let is_packed = file.extension().is_some_and(|extension| extension == "gz" || extension == "zst");
        sum = (sum.0 + bytes, sum.1 + if is_packed { bytes * PACKED } else { bytes });
    }
    sum
}

fn guess(first: &Topology, day_bytes: u64, is_alone: bool) -> f64 {
    let md = md_of(first);
    let run = match md.source.is_replay() {
        true => day_bytes as f64 / DATA_BYTES_PER_S,
        false => f64::from(md.instruments) * md.count as f64 / QUOTES_PER_S,
    };
    OVERHEAD_S + run * if is_alone { 1.0 } else { OVER_PROCESSES }
}

/// What a run took in the latest sweep of this name.
fn costs(sweep: &Sweep, root: &Path) -> Option<(f64, u64, PathBuf)> {
    let mut found = ::sweep::all(root);
    found.extend(::sweep::read_manifest(root).ok().map(|manifest| (manifest, root.to_owned())));
    found.retain(|(manifest, _)| manifest.name == sweep.name);
    found.sort_by(|one, other| other.0.started.cmp(&one.0.started));
    found.into_iter().find_map(|(_, folder)| {
        let (seconds, bytes) = ::sweep::costs(&folder)?;
        Some((seconds, bytes, folder))
    })
}

/// `colo check` of a sweep.
pub(crate) fn check(file: &Path, sets: &[String], format: Format) -> Result<u8, Failure> {
    let checked = super::load(file, sets, &std::env::current_dir()?)?;
    let bill = Bill::of(&checked, None, checked.sweep.cells.len(), Path::new(super::SWEEPS))?;
    print(&checked, &bill, format)
}

/// What `--dry-run` prints.
pub(super) fn print(checked: &Checked, bill: &Bill, format: Format) -> Result<u8, Failure> {
    match format {
        Format::Json => output::print_json(&answer(checked, bill))?,
        Format::Text => output::print(&text(checked, bill))?,
    }
    Ok(Exit::Done.code())
}

fn answer(checked: &Checked, bill: &Bill) -> serde_json::Value {
    let sweep = &checked.sweep;
    let parameter = |one: &::sweep::Parameter| {
        let values: Vec<&str> = one.values.iter().map(|value| value.text.as_str()).collect();
        json!({ "key": one.key, "values": values })
    };
    let day = |day: &::sweep::Day| json!({ "name": day.name, "files": output::path(&day.files), "part": if day.is_test { "test" } else { "train" } });
    json!({
        "file": output::path(&sweep.file),
        "name": sweep.name,
        "platform": output::path(&sweep.platform),
        "strategy": sweep.config.strategy,
        "measure": sweep.config.measure,
        "goal": sweep.goal(),
        "parameters": sweep.parameters.iter().map(parameter).collect::<Vec<_>>(),
        "days": sweep.days.iter().map(day).collect::<Vec<_>>(),
        "seeds": sweep.config.seeds,
        "grid": sweep.grid,
        "combinations": sweep.combinations(),
        "runs": sweep.cells.len(),
        "left": bill.runs,
        "jobs": bill.jobs,
        "processes": bill.processes,
        "memory_bytes": bill.memory_bytes,
        "data_bytes": bill.data_bytes,
        "keep": sweep.config.keep,
        "run_disk_bytes": bill.run_disk_bytes,
        "run_s": bill.run_s,
        "seconds": bill.seconds(),
        "is_guess": bill.source.is_none(),
        "warnings": checked.warnings.diagnostics.len(),
    })
}

fn text(checked: &Checked, bill: &Bill) -> String {
    let sweep = &checked.sweep;
    let mut factors = vec![count(sweep.combinations() as u64, "combination")];
    if !sweep.days.is_empty() {
        factors.push(count(sweep.days.len() as u64, "day"));
    }
    if !sweep.config.seeds.is_empty() {
        factors.push(count(sweep.config.seeds.len() as u64, "seed"));
    }
    let runs = count(sweep.cells.len() as u64, "run");
    let mut text = format!("{}: {runs} = {}", sweep.name, factors.join(" × "));
    if (sweep.combinations() as u64) < sweep.grid {
        text.push_str(&format!(
            ", drawn from {} of the grid with seed {}",
            number(sweep.grid),
            sweep.config.seed
        ));
    }
    text.push('\n');
    let mut line =
        |key: &str, value: String| text.push_str(&format!("  {key:<10}{}\n", output::escaped(&value)));
    if bill.runs < sweep.cells.len() {
        line("left", count(bill.runs as u64, "run"));
    }
    line("platform", sweep.platform.display().to_string());
    for parameter in &sweep.parameters {
        line("parameter", format!("{} = {}", parameter.key, values(parameter)));
    }
    for (what, is_test) in [("train on", false), ("test on", true)] {
        let names: Vec<&str> =
            sweep.days.iter().filter(|day| day.is_test == is_test).map(|day| day.name.as_str()).collect();
        if !names.is_empty() {
            line(what, shortened(&names));
        }
    }
    if !sweep.config.seeds.is_empty() {
        let seeds: Vec<String> = sweep.config.seeds.iter().map(u64::to_string).collect();
        let seeds: Vec<&str> = seeds.iter().map(String::as_str).collect();
        line("seeds", format!("{} as {}", shortened(&seeds), sweep.config.seed_keys.join(", ")));
    }
    let whose = sweep.config.strategy.as_deref().map_or("all strategies together".to_owned(), str::to_owned);
    let better = if sweep.goal() == ::sweep::Goal::Max { "larger" } else { "smaller" };
    line("measure", format!("{} of {whose}; {better} is better", sweep.config.measure));
    let processes = match bill.processes {
        1 => "one process".to_owned(),
        processes => format!("{processes} processes"),
    };
    line("a run", format!("{processes}, {} of journals in shared memory", bytes(bill.memory_bytes)));
    if bill.data_bytes > 0 {
        line("data", bytes(bill.data_bytes));
    }
    let disk = match (bill.run_disk_bytes, sweep.config.keep) {
        (Some(one), ::sweep::Keep::All) => format!(", about {}", bytes(one * sweep.cells.len() as u64)),
        (Some(one), ::sweep::Keep::Best(best)) => {
            format!(", about {} beside the tables", bytes(one * best.min(sweep.cells.len()) as u64))
        }
        _ => String::new(),
    };
    line("keeps", format!("{}{disk}", sweep.config.keep));
    line("runs", bill.line());
    text
}

fn values(parameter: &::sweep::Parameter) -> String {
    let texts: Vec<&str> = parameter.values.iter().map(|value| value.text.as_str()).collect();
    shortened(&texts)
}

/// The first and the last of many.
fn shortened(words: &[&str]) -> String {
    match words {
        [first, second, third, .., last] if words.len() > 12 => {
            format!("{first}, {second}, {third} … {last} ({})", words.len())
        }
        all => all.join(", "),
    }
}

/// A span that nobody should take for exact.
fn roughly(seconds: f64) -> String {
    if seconds < 10.0 {
        return format!("{seconds:.1} s");
    }
    humantime::format_duration(Duration::from_secs(seconds.round() as u64)).to_string()
}
