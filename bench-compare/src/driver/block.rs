//! Runs one block, from starting its processes to their end.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use bench_kit::OwnedChild;

use crate::board::Board;
use crate::driver::disturbance::Meter;
use crate::error::{CompareError, system};
use crate::rival::Facts;
use crate::task::{Answer, Outcome, Quantiles, Task, Work};

/// Time limit of a block.
const LIMIT: Duration = Duration::from_secs(120);

/// The figures of a block, by their stable names.
pub(crate) type Figures = BTreeMap<&'static str, f64>;

/// A successful block.
#[derive(Clone, Debug)]
pub(crate) struct Good {
    pub(crate) figures: Figures,
    /// What disturbed it; empty if nothing did.
    pub(crate) disturbed: Vec<String>,
}

/// The processes of a block; they are ended when this is dropped.
#[derive(Debug, Default)]
pub(crate) struct Peers(Vec<(usize, OwnedChild)>);

impl Peers {
    /// Starts a role.
    pub(crate) fn start(&mut self, role: usize, task: &Task) -> Result<(), CompareError> {
        let program = std::env::current_exe().map_err(system("find this program"))?;
        let text = serde_json::to_string(task).map_err(|error| CompareError::Peer(error.to_string()))?;
        let mut command = Command::new(program);
        command.args(["peer", &role.to_string(), &text]).env("RUST_BACKTRACE", "0");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = OwnedChild::spawn(&mut command).map_err(system("start a peer"))?;
        self.0.push((role, child));
        Ok(())
    }

    /// Kills a role at once and reaps it. Returns its message if it had ended before.
    pub(crate) fn kill(&mut self, role: usize) -> Option<String> {
        let index = self.0.iter().position(|(other, _)| *other == role)?;
        let (_, mut child) = self.0.swap_remove(index);
        let ended = matches!(child.try_wait(), Ok(Some(_)));
        child.end();
        ended.then(|| said(&mut child))
    }

    /// Kills a role; returns its message up to then, if there is one.
    pub(crate) fn last_words(&mut self, role: usize) -> Option<String> {
        let index = self.0.iter().position(|(other, _)| *other == role)?;
        let (_, mut child) = self.0.swap_remove(index);
        child.end();
        Some(said(&mut child)).filter(|words| words != SILENCE)
    }

    /// The message of a role, if it has ended.
    pub(crate) fn ended(&mut self, role: usize) -> Option<String> {
        let (_, child) = self.0.iter_mut().find(|(other, _)| *other == role)?;
        matches!(child.try_wait(), Ok(Some(_))).then(|| said(child))
    }

    /// Waits for all roles; the first failure is the block's.
    fn outcomes(&mut self) -> Result<Vec<Outcome>, CompareError> {
        let begin = Instant::now();
        loop {
            let mut running = 0;
            for (role, child) in &mut self.0 {
                match child.try_wait().map_err(system("wait for a peer"))? {
                    None => running += 1,
                    Some(status) if status.success() => {}
                    Some(status) => {
                        let what = said(child);
                        return Err(CompareError::Peer(format!("role {role} ended with {status}: {what}")));
                    }
                }
            }
            if running == 0 {
                break;
            }
            if begin.elapsed() > LIMIT {
                return Err(CompareError::Silent { seconds: LIMIT.as_secs() });
            }
            std::thread::sleep(Duration::from_millis(3));
        }
        self.0.sort_by_key(|(role, _)| *role);
        self.0.iter_mut().map(|(role, child)| outcome(*role, child)).collect()
    }
}

fn outcome(role: usize, child: &mut Child) -> Result<Outcome, CompareError> {
    let mut text = String::new();
    if let Some(output) = &mut child.stdout {
        output.read_to_string(&mut text).map_err(system("read what a peer measured"))?;
    }
    serde_json::from_str(text.lines().last().unwrap_or_default())
        .map_err(|error| CompareError::Peer(format!("role {role} answered nonsense: {error}")))
}

/// Stands for a missing message.
const SILENCE: &str = "(silence)";

/// The message on standard error: of a panic its text, otherwise the last line.
fn said(child: &mut Child) -> String {
    let mut text = String::new();
    if let Some(error) = &mut child.stderr {
        // Use whatever can be read.
        let _ = error.read_to_string(&mut text);
    }
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let line = match text.lines().position(|line| line.contains("panicked at")) {
        Some(panic) => text.lines().nth(panic + 1),
        None => lines.next_back(),
    };
    let line = line.unwrap_or(SILENCE);
    line.chars().take(300).collect()
}

/// A fresh folder in memory. When it is dropped, it is removed together with everything beside it that begins with its
/// name: the segments that killed processes leave behind.
#[derive(Debug)]
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Result<Folder, CompareError> {
        let mut builder = tempfile::Builder::new();
        let folder = builder.prefix("colo-compare-").tempdir_in("/dev/shm");
        folder.map(Folder).map_err(system("make a folder in /dev/shm"))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let Some(name) = self.path().file_name().map(|name| format!("{}_", name.to_string_lossy())) else {
            return;
        };
        for entry in std::fs::read_dir("/dev/shm").into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with(&name) {
                // It may be removed already.
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }
}

/// The task of all roles of a block.
pub(crate) fn task(facts: &Facts, work: Work, payload: usize, room: &Path, cpus: &[usize]) -> Task {
    Task {
        rival: facts.name.to_owned(),
        work,
        payload,
        room: room.to_owned(),
        cpus: cpus.to_vec(),
        generation: 0,
    }
}

/// Runs a block.
pub(crate) fn run(facts: &Facts, work: Work, payload: usize, cpus: &[usize]) -> Result<Good, CompareError> {
    let room = Folder::new()?;
    let _board = Board::create(room.path(), work.roles())?;
    let task = task(facts, work, payload, room.path(), cpus);
    let meter = Meter::start();
    let mut peers = Peers::default();
    let roles = if facts.in_process { 1 } else { work.roles() };
    for role in 0..roles {
        peers.start(role, &task)?;
    }
    let outcomes = peers.outcomes()?;
    drop(peers);
    let usage = meter.finish();
    let mut figures = figures(work, &outcomes, facts.can.lossless)?;
    let mut disturbed = usage.disturbances();
    if work.asleep() {
        figures.insert("cpu_cores", usage.own_cores);
    } else {
        let switches: u64 = outcomes.iter().map(|outcome| outcome.involuntary).sum();
        if switches > 2 * work.roles() as u64 {
            disturbed.push(format!("preempted {switches} times"));
        }
    }
    if let (Some(before), Some(after)) = (figures.get("floor_before"), figures.get("floor_after"))
        && before.max(*after) > 1.5 * before.min(*after)
    {
        disturbed.push(format!("the cores moved: the floor went from {before:.0} to {after:.0} ns"));
    }
    Ok(Good { figures, disturbed })
}

fn figures(work: Work, outcomes: &[Outcome], lossless: bool) -> Result<Figures, CompareError> {
    let first = outcomes.first().map(|outcome| outcome.answer.clone());
    let mut latencies: Vec<u64> = Vec::new();
    for outcome in outcomes {
        latencies.extend(&outcome.latencies);
        if let Answer::Latencies { nanos } = &outcome.answer {
            latencies.extend(nanos);
        }
    }
    Ok(match first {
        Some(Answer::PingPong { floor_before, own, floor_after }) => Figures::from([
            ("p50_ns", own.p50),
            ("p99_ns", own.p99),
            ("p999_ns", own.p999),
            ("max_ns", own.max),
            ("floor_before", floor_before.p50),
            ("floor_after", floor_after.p50),
            ("to_floor", own.p50 * 2.0 / (floor_before.p50 + floor_after.p50).max(1.0)),
        ]),
        Some(Answer::OneWay { written, nanos, lost }) => {
            let Work::OneWay { readers, .. } = work else { return Ok(Figures::new()) };
            let lost = lost as f64 / readers.max(1) as f64;
            Figures::from([
                ("per_second", (written as f64 - lost) * 1e9 / nanos.max(1) as f64),
                ("lost_share", lost / written.max(1) as f64),
                ("written", written as f64),
            ])
        }
        Some(Answer::Writer { cost, written, nanos }) => {
            let got = latencies.len() as u64;
            if got > written || got == 0 || (lossless && got != written) {
                let what = format!("{written} messages were written and {got} arrived");
                return Err(CompareError::Peer(what));
            }
            let latency = Quantiles::of(latencies, 1.0);
            Figures::from([
                ("p50_ns", latency.p50),
                ("p99_ns", latency.p99),
                ("max_ns", latency.max),
                ("writer_p50_ns", cost.p50),
                ("writer_p99_ns", cost.p99),
                ("lost_share", (written - got) as f64 / written.max(1) as f64),
                ("held_per_second", written as f64 * 1e9 / nanos.max(1) as f64),
            ])
        }
        _ => return Err(CompareError::Peer(format!("role 0 measured nothing of {work:?}"))),
    })
}
