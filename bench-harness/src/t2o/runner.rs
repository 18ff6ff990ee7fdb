//! One run of one cell: a fresh platform, a warm-up, a measured stretch, and down again.

use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use launcher::{Launch, LaunchError, Running};
use pinning::{Doctor, Host, ResolvedPlan, Status};
use topology::Pages as WantedPages;

use super::error::T2oError;
use super::order::Run;
use super::pages::Pages;
use super::probe::{Observed, PlanWatch, Snapshot};
use super::record::{Histograms, RunRecord};
use super::stamps::Stamps;

/// Between two looks at the samples: seldom enough to cost nothing, often enough that the ring never laps.
const TICK: Duration = Duration::from_millis(10);
/// Orders that answer the last quotes are waited for this long.
const DRAIN: Duration = Duration::from_millis(60);

/// A run and its raw records; `None` when the caller stopped it.
pub(crate) type Outcome = Option<(RunRecord, Vec<Stamps>)>;

/// What runs of one group have in common.
#[derive(Clone, Debug, Default)]
pub(crate) struct Verdict {
    pub(crate) fail: Vec<String>,
    pub(crate) warn: Vec<String>,
}

impl Verdict {
    /// The doctor's, on this host, for this plan.
    pub(crate) fn of(plan: Option<&ResolvedPlan>) -> Verdict {
        let checks = Doctor::report("/".as_ref(), plan).checks;
        let with = |status| {
            let found = checks.iter().filter(|check| check.status == status);
            found.map(|check| check.id.clone()).collect()
        };
        Verdict { fail: with(Status::Fail), warn: with(Status::Warn) }
    }
}

/// Runs it. `go_on` is called every few milliseconds with the share that is done; when it answers false, the platform
/// comes down and there is no outcome. A platform that fails is an outcome too.
///
/// # Errors
/// [`T2oError::Histogram`].
pub(crate) fn run(
    run: Run<'_>,
    (colo, host, look): (&Path, &Host, Duration),
    verdict: &Verdict,
    go_on: &mut dyn FnMut(f64) -> bool,
) -> Result<Outcome, T2oError> {
    let started_unix = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let mut record = blank(run, started_unix, verdict);
    let histograms = Histograms::new()?;
    let launch = Launch { topology: run.cell.topology.clone(), colo: colo.to_owned(), keep_raw: true };
    let running = match launch.start(|_, _| go_on(0.0)) {
        Ok(running) => running,
        Err(_) if !go_on(0.0) => return Ok(None),
        Err(error) => return failed(record, &error),
    };
    let plan = run.cell.topology.place(host).ok().flatten();
    let watch = PlanWatch::new(plan.as_ref(), host.allowed.len());
    let mut measured = Measured { running, watch, histograms, records: Vec::new() };
    let ended = measured.stretch(run, look, &mut record, go_on);
    let Measured { running, histograms, records, .. } = measured;
    let report = match running.finish() {
        Ok(report) => report,
        Err(error) => return failed(record, &error),
    };
    if ended == Ended::Asked {
        return Ok(None);
    }
    record.samples = histograms.samples;
    record.disordered = histograms.disordered;
    record.lateness_p99_us = histograms.lateness_p99_us();
    record.stages = histograms.run_stages();
    let broken: Vec<String> =
        report.failed_nodes().map(|node| format!("{} ({})", node.name, node.state)).collect();
    if ended == Ended::MasterGone {
        record.failed = Some("master ended while it was measured".to_owned());
    } else if !broken.is_empty() {
        record.failed = Some(format!("failed: {}", broken.join(", ")));
    }
    Ok(Some((record, records)))
}

fn failed(mut record: RunRecord, error: &LaunchError) -> Result<Outcome, T2oError> {
    record.failed = Some(error.to_string());
    Ok(Some((record, Vec::new())))
}

fn blank(run: Run<'_>, started_unix: u64, verdict: &Verdict) -> RunRecord {
    let huge = |journal: &topology::JournalSpec| journal.pages != WantedPages::Small;
    RunRecord {
        cell: run.cell.name.clone(),
        repeat: run.repeat,
        started_unix,
        seconds: 0.0,
        samples: 0,
        disordered: 0,
        achieved_rate: 0.0,
        lost: 0,
        lateness_p99_us: 0.0,
        stages: Default::default(),
        observed: Observed::default(),
        pages: Pages::default(),
        huge_wanted: run.cell.topology.journals.iter().any(huge),
        doctor_fail: verdict.fail.clone(),
        doctor_warn: verdict.warn.clone(),
        failed: None,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    Done,
    Asked,
    MasterGone,
}

struct Measured {
    running: Running,
    watch: PlanWatch,
    histograms: Histograms,
    records: Vec<Stamps>,
}

impl Measured {
    /// Warm-up and measured stretch.
    fn stretch(
        &mut self,
        run: Run<'_>,
        look: Duration,
        record: &mut RunRecord,
        go_on: &mut dyn FnMut(f64) -> bool,
    ) -> Ended {
        let cell = run.cell;
        let whole = (cell.warmup + cell.measured()).as_secs_f64();
        let begun = Instant::now();
        let mut share = |begun: Instant| go_on((begun.elapsed().as_secs_f64() / whole).min(1.0));
        while begun.elapsed() < cell.warmup {
            match (self.running.look(), share(begun)) {
                (_, false) => return Ended::Asked,
                (false, _) => return Ended::MasterGone,
                _ => sleep(TICK.min(cell.warmup)),
            }
        }
        record.pages = Pages::of(self.running.view());
        let before = Snapshot::take(self.running.view());
        let from = self.running.view().clock().now();
        let measured = Instant::now();
        let mut looked = Instant::now();
        let mut taken = self.answered();
        let first = taken;
        loop {
            sleep(TICK);
            match (self.running.look(), share(begun)) {
                (_, false) => return Ended::Asked,
                (false, _) => return Ended::MasterGone,
                _ => {}
            }
            taken = taken.max(self.answered());
            let enough = taken - first >= cell.samples && measured.elapsed() >= cell.shortest;
            if enough || measured.elapsed() >= cell.longest {
                break;
            }
            if !self.watch.is_idle() && looked.elapsed() >= look {
                self.watch.look(self.running.view());
                looked = Instant::now();
            }
        }
        let until = self.running.view().clock().now();
        record.seconds = measured.elapsed().as_secs_f64();
        let observed = Snapshot::take(self.running.view()).since(&before);
        sleep(DRAIN);
        self.running.look();
        self.keep(from, until);
        self.settle(observed, record);
        Ended::Done
    }

    /// Latency samples so far.
    fn answered(&self) -> u64 {
        self.running.collector().map_or(0, |collector| collector.raw().len() as u64)
    }

    /// Keeps the messages that were published between two moments.
    fn keep(&mut self, from: u64, until: u64) {
        let samples = self.running.collector().map(|collector| collector.raw()).unwrap_or_default();
        for sample in samples.iter().filter(|sample| (from..until).contains(&sample.published.0)) {
            let stamps = Stamps::from(sample);
            self.histograms.add(&stamps);
            self.records.push(stamps);
        }
    }

    fn settle(&mut self, mut observed: Observed, record: &mut RunRecord) {
        let watch = std::mem::replace(&mut self.watch, PlanWatch::new(None, 0));
        watch.into(&mut observed);
        record.achieved_rate = observed.quotes as f64 / observed.seconds;
        // Orders in flight at the end are no loss: what was measured counts besides what was counted.
        let answered = observed.orders.max(self.histograms.samples);
        let unread = self.running.collector().map_or(0, |collector| collector.lost_bytes());
        let lapped = observed.bytes_lost > 0;
        let unanswered = if lapped { observed.quotes.saturating_sub(answered) } else { 0 };
        record.lost = unanswered + observed.undelivered;
        observed.bytes_lost += unread;
        record.observed = observed;
    }
}
