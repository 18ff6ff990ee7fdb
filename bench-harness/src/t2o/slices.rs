//! A run cut into slices: what the host did in each, and which of them decide.
//!
//! A shared host is quiet for a while and then it is not. A run as a whole is therefore hardly ever undisturbed, but most
//! of its slices may be. Each slice has a level: *quiet*, *busy* (others ran too, which all platforms of a comparison bear
//! alike), or *left out*. Whether a slice counts depends on the host and the generator alone, and never on the answers' times: a
//! platform that is compared with itself gets the same slices either way.
//!
//! Levels are computed again from the raw files whenever results are read: other limits here are another format.

use std::collections::BTreeSet;
use std::fmt;

use pinning::CpuSet;
use serde::{Deserialize, Serialize};

use super::others::Processes;
use super::probe::CpuTimes;
use super::record::median_of;
use super::stamps::Stamps;

/// Highest percentage of steal in a quiet slice: the account's own unit in half a second on two CPUs is one per cent.
const QUIET_STEAL: f64 = 2.0;
/// The same in a busy one.
const BUSY_STEAL: f64 = 20.0;
/// Share of the platform's CPUs that others may use in a quiet slice, and the least that counts at all.
const QUIET_OTHERS: f64 = 0.1;
const LEAST_OTHERS: f64 = 0.05;
/// Where other processes are not visible, the host's own account has an error of this many CPUs.
const UNSEEN_OTHERS: f64 = 0.5;
/// A slice is late when its quotes were this late, in microseconds …
const LATE_US: f64 = 1_000.0;
/// … and this many times as late as in the run's usual slice. A platform that keeps its own generator late in every slice
/// is not the host's fault.
const LATE_TIMES: f64 = 4.0;

/// How undisturbed a slice was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Next to nothing was stolen or ran beside the platform.
    #[default]
    Quiet,
    /// Others ran beside the platform.
    Busy,
    /// It says nothing.
    LeftOut,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Level::Quiet => "quiet",
            Level::Busy => "busy",
            Level::LeftOut => "left out",
        })
    }
}

/// One slice of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Slice {
    /// Its begin on the platform's clock, in nanoseconds, as in the raw file.
    pub from_ns: u64,
    /// Its end.
    pub until_ns: u64,
    /// Percentage of time that the hypervisor took.
    pub steal_percent: f64,
    /// CPUs that other processes used, of those that the platform may use; `null` when it is not known.
    pub others_cpus: Option<f64>,
    /// Other processes were visible one by one; otherwise `others_cpus` is what the host was busy minus what was ours.
    pub others_seen: bool,
    /// CPUs that the platform may use.
    pub cpus_allowed: usize,
    /// Answers to quotes that were published in it, missing ones included.
    pub answers: u64,
    /// Median lateness of the generator, in microseconds.
    pub lateness_p50_us: f64,
    /// Median of t2o, in microseconds; 0 without answers.
    pub t2o_p50_us: f64,
    /// Whether it counts.
    pub level: Level,
    /// Why it is not quiet: `steal`, `others`, `late`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub why: Vec<String>,
}

impl Slice {
    /// Its length in seconds.
    pub(crate) fn seconds(&self) -> f64 {
        self.until_ns.saturating_sub(self.from_ns) as f64 / 1e9
    }

    /// By the host alone; lateness is added when all slices of the run are known.
    fn host_level(&self) -> (Level, Vec<String>) {
        let (mut level, mut why) = (Level::Quiet, Vec::new());
        let mut at_least = |found: Level, word: &str| {
            if found > Level::Quiet {
                why.push(word.to_owned());
            }
            level = level.max(found);
        };
        at_least(graded(self.steal_percent, QUIET_STEAL, BUSY_STEAL), "steal");
        let cpus = self.cpus_allowed as f64;
        let least = if self.others_seen { LEAST_OTHERS } else { UNSEEN_OTHERS };
        let quiet = least.max(QUIET_OTHERS * cpus);
        let others = self.others_cpus.unwrap_or(0.0);
        // The scheduler shares the CPUs with them; nothing is taken away without a trace, as by the hypervisor.
        at_least(graded(others, quiet, f64::INFINITY), "others");
        (level, why)
    }
}

fn graded(figure: f64, quiet: f64, busy: f64) -> Level {
    match figure {
        figure if figure <= quiet => Level::Quiet,
        figure if figure <= busy => Level::Busy,
        _ => Level::LeftOut,
    }
}

/// The answers of each slice. A quote that was published after the last slice's end belongs to it.
pub(crate) fn divide<'a>(slices: &[Slice], records: &'a [Stamps]) -> Vec<Vec<&'a Stamps>> {
    let mut divided: Vec<Vec<&Stamps>> = slices.iter().map(|_| Vec::new()).collect();
    let Some(last) = slices.len().checked_sub(1) else { return divided };
    for stamps in records {
        let at = if stamps.published > 0 { stamps.published } else { stamps.due };
        let place = slices.partition_point(|slice| slice.until_ns <= at).min(last);
        divided[place].push(stamps);
    }
    divided
}

/// Gives each slice its figures and its level. What the host did in it is there already.
pub(crate) fn judge(slices: &mut [Slice], divided: &[Vec<&Stamps>]) {
    for (slice, answers) in slices.iter_mut().zip(divided) {
        slice.answers = answers.len() as u64;
        let lateness = answers.iter().map(|stamps| stamps.lateness());
        slice.lateness_p50_us = median_of(lateness.collect()) as f64 / 1e3;
        let took = |stamps: &&Stamps| match stamps.open_waits() {
            Some((waited, _)) => waited,
            None => stamps.stages().and_then(|stages| Some(stages[wire::stages::T2O]?.0)),
        };
        slice.t2o_p50_us = median_of(answers.iter().filter_map(took).collect()) as f64 / 1e3;
    }
    let usual = {
        let mut late: Vec<f64> =
            slices.iter().filter(|slice| slice.answers > 0).map(|slice| slice.lateness_p50_us).collect();
        late.sort_by(f64::total_cmp);
        late.get(late.len() / 2).copied().unwrap_or(0.0)
    };
    for slice in slices {
        let (mut level, mut why) = slice.host_level();
        if slice.lateness_p50_us > LATE_US && slice.lateness_p50_us > LATE_TIMES * usual {
            level = Level::LeftOut;
            why.push("late".to_owned());
        }
        (slice.level, slice.why) = (level, why);
    }
}

/// Accounts of the host at one moment.
#[derive(Clone, Debug)]
struct Mark {
    at_ns: u64,
    cpu: CpuTimes,
    processes: Option<Processes>,
    /// CPU time of the platform's processes, in ticks, where others are not visible.
    ours: u64,
}

/// Cuts a run into slices while it lasts.
#[derive(Debug)]
pub(crate) struct Slicer {
    ours: BTreeSet<u32>,
    allowed: CpuSet,
    length_ns: u64,
    last: Mark,
    slices: Vec<Slice>,
}

impl Slicer {
    /// Begins the first slice. `ours` are the platform's processes, which may run on `allowed`.
    pub(crate) fn begin(now_ns: u64, length_ns: u64, ours: BTreeSet<u32>, allowed: CpuSet) -> Slicer {
        let last = mark(now_ns, &ours);
        Slicer { ours, allowed, length_ns, last, slices: Vec::new() }
    }

    /// Ends the slice when it is long enough.
    pub(crate) fn look(&mut self, now_ns: u64) {
        if now_ns.saturating_sub(self.last.at_ns) >= self.length_ns {
            self.cut(now_ns);
        }
    }

    /// Ends the last slice. A rest of less than half a slice has no account of its own that says much: it is part of the
    /// slice before.
    pub(crate) fn end(mut self, now_ns: u64) -> Vec<Slice> {
        let rest = now_ns.saturating_sub(self.last.at_ns);
        match self.slices.last_mut() {
            Some(before) if rest < self.length_ns / 2 => before.until_ns = now_ns,
            _ => self.cut(now_ns),
        }
        self.slices
    }

    fn cut(&mut self, now_ns: u64) {
        let mark = mark(now_ns, &self.ours);
        let seconds = (mark.at_ns.saturating_sub(self.last.at_ns) as f64 / 1e9).max(1e-9);
        let seen = match (&mark.processes, &self.last.processes) {
            (Some(after), Some(before)) => Some(after.since(before, seconds, &self.ours, &self.allowed).cpus),
            _ => None,
        };
        let busy = mark.cpu.busy_cpus_since(self.last.cpu, seconds);
        let ours = Processes::cpus(mark.ours.saturating_sub(self.last.ours), seconds);
        self.slices.push(Slice {
            from_ns: self.last.at_ns,
            until_ns: mark.at_ns,
            steal_percent: mark.cpu.steal_percent_since(self.last.cpu),
            others_cpus: Some(seen.unwrap_or_else(|| (busy - ours).max(0.0))),
            others_seen: seen.is_some(),
            cpus_allowed: self.allowed.len(),
            ..Slice::default()
        });
        self.last = mark;
    }
}

fn mark(at_ns: u64, ours: &BTreeSet<u32>) -> Mark {
    let processes = Processes::beside(ours);
    let ticks = if processes.is_some() { 0 } else { Processes::ticks_of(ours) };
    Mark { at_ns, cpu: CpuTimes::now(), processes, ours: ticks }
}

#[cfg(test)]
mod tests;
