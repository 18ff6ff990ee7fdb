//! One run of one cell: starts a fresh platform, warms up, measures, and stops it.

use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use master_client::{Launch, LaunchError, Running};
use pinning::{Doctor, Host, ResolvedPlan, Status};
use topology::Pages as WantedPages;

use super::answers::{Answers, Stretch};
use super::disk::OrdersOnDisk;
use super::error::T2oError;
use super::order::Run;
use super::pages::Pages;
use super::probe::{Observed, Snapshot};
use super::quotes::{Listeners, QuoteReader};
use super::record::{Histograms, RunRecord};
use super::result::Fault;
use super::slices::Slicer;
use super::stamps::Stamps;
use super::watch::PlanWatch;

/// Time between two looks at the samples: long enough to cost nothing, short enough that the ring never laps.
const TICK: Duration = Duration::from_millis(10);
/// Answers to the last quotes are waited for at least this long …
const DRAIN: Duration = Duration::from_millis(60);
/// … and this long while some are missing.
const LONGEST_DRAIN: Duration = Duration::from_millis(250);

/// A run and its raw records; `None` when the caller stopped it.
pub(crate) type Outcome = Option<(RunRecord, Vec<Stamps>)>;

/// What runs of one group have in common.
#[derive(Clone, Debug, Default)]
pub(crate) struct Verdict {
    pub(crate) fail: Vec<String>,
    pub(crate) warn: Vec<String>,
    pub(crate) faults: Vec<Fault>,
}

impl Verdict {
    /// The doctor's verdict on this host, for this plan.
    pub(crate) fn of(plan: Option<&ResolvedPlan>) -> Verdict {
        let checks = Doctor::report("/".as_ref(), plan).checks;
        let with = |status| {
            let found = checks.iter().filter(|check| check.status == status);
            found.map(|check| check.id.clone()).collect()
        };
        Verdict {
            fail: with(Status::Fail),
            warn: with(Status::Warn),
            faults: super::faults::of(checks.iter()),
        }
    }
}

/// Runs it. `go_on` is called every few milliseconds with the share that is done; when it returns false, the platform
/// is stopped and there is no outcome. A platform that fails is an outcome too.
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
    let launch =
        Launch { topology: run.cell.topology.clone(), colo: colo.to_owned(), keep_raw: true, recover: None };
    let running = match launch.start(|_, _| go_on(0.0)) {
        Ok(running) => running,
        Err(_) if !go_on(0.0) => return Ok(None),
        Err(error) => return failed(record, &error),
    };
    let plan = run.cell.topology.place(host).ok().flatten();
    let watch = PlanWatch::new(plan.as_ref(), host.allowed.len());
    let quotes = match QuoteReader::open(running.view(), &run.cell.topology) {
        Ok(quotes) => quotes,
        Err(error) => {
            record.failed = Some(format!("the quotes cannot be read: {error}"));
            running.finish().ok();
            return Ok(Some((record, Vec::new())));
        }
    };
    let mut measured = Measured { running, quotes, watch, histograms, records: Vec::new() };
    let ended = measured.stretch(run, look, &mut record, go_on);
    let Measured { running, mut histograms, mut records, .. } = measured;
    let report = match running.finish() {
        Ok(report) => report,
        Err(error) => return failed(record, &error),
    };
    let recording = OrdersOnDisk::mark(&run.cell.topology, started_unix * 1_000_000_000, &mut records);
    if ended == Ended::Asked {
        return Ok(None);
    }
    records.iter().for_each(|stamps| histograms.add(stamps));
    record.take(&histograms, &records)?;
    let broken: Vec<String> =
        report.failed_nodes().map(|node| format!("{} ({})", node.name, node.state)).collect();
    if let Err(what) = recording {
        record.failed = Some(what);
    } else if ended == Ended::MasterGone {
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
        expected: 0,
        lost: 0,
        unpublished: 0,
        outstanding: 0,
        open_from_us: None,
        lateness_p99_us: 0.0,
        stages: Default::default(),
        on_disk: 0,
        slices: Vec::new(),
        kept: Vec::new(),
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
    quotes: QuoteReader,
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
            match (self.look(), share(begun)) {
                (_, false) => return Ended::Asked,
                (false, _) => return Ended::MasterGone,
                _ => sleep(TICK.min(cell.warmup)),
            }
        }
        record.pages = Pages::of(self.running.view());
        let listeners = Listeners::of(self.running.view(), self.running.topology());
        self.watch.look(self.running.view());
        let before = Snapshot::take(self.running.view());
        let mut ours = before.pids();
        ours.insert(std::process::id());
        let from = self.now();
        let length_ns = u64::try_from(cell.slice.as_nanos()).unwrap_or(u64::MAX);
        let mut slicer = Slicer::begin(from, length_ns, ours, before.allowed());
        let measured = Instant::now();
        let mut looked = Instant::now();
        let mut taken = self.answered();
        let first = taken;
        loop {
            sleep(TICK);
            match (self.look(), share(begun)) {
                (_, false) => return Ended::Asked,
                (false, _) => return Ended::MasterGone,
                _ => {}
            }
            taken = taken.max(self.answered());
            let enough = taken - first >= cell.samples && measured.elapsed() >= cell.shortest;
            if enough || measured.elapsed() >= cell.longest {
                break;
            }
            slicer.look(self.now());
            if !self.watch.is_idle() && looked.elapsed() >= look {
                self.watch.look(self.running.view());
                looked = Instant::now();
            }
        }
        let until = self.now();
        record.slices = slicer.end(until);
        let after = Snapshot::take(self.running.view());
        self.watch.look(self.running.view());
        let mut observed = after.since(&before);
        let stretch = Stretch { from, until, closed: until, turn: 1e9 / cell.rate };
        let answers = self.drain(stretch, &listeners);
        // A node that ended during the wait for the last answers may be the reason why they are missing.
        observed.restarted = Snapshot::take(self.running.view()).restarted(&before);
        record.seconds = (until - from) as f64 / 1e9;
        self.settle(answers, observed, record);
        Ended::Done
    }

    /// Reads what has arrived; false when master has ended.
    fn look(&mut self) -> bool {
        self.quotes.take();
        self.running.look()
    }

    fn now(&self) -> u64 {
        self.running.view().clock().now()
    }

    /// Latency samples so far.
    fn answered(&self) -> u64 {
        self.running.collector().map_or(0, |collector| collector.raw().len() as u64)
    }

    /// Waits for answers under way, until all have arrived or the time limit is reached.
    fn drain(&mut self, stretch: Stretch, listeners: &Listeners) -> Answers {
        let begun = Instant::now();
        sleep(DRAIN);
        loop {
            self.look();
            // The time first: anything that arrives after it is open.
            let stretch = Stretch { closed: self.now(), ..stretch };
            let samples = self.running.collector().map(|collector| collector.raw()).unwrap_or_default();
            let samples: Vec<Stamps> = samples.iter().map(Stamps::from).collect();
            let answers = Answers::of(stretch, listeners, self.quotes.quotes(), &samples);
            if answers.lost() == 0 || begun.elapsed() >= LONGEST_DRAIN {
                return answers;
            }
            sleep(TICK);
        }
    }

    fn settle(&mut self, answers: Answers, mut observed: Observed, record: &mut RunRecord) {
        let watch = std::mem::replace(&mut self.watch, PlanWatch::new(None, 0));
        watch.into(&mut observed);
        record.achieved_rate = answers.published as f64 / record.seconds;
        record.expected = answers.expected;
        record.lost = answers.lost();
        record.outstanding = answers.outstanding;
        observed.bytes_lost += self.running.collector().map_or(0, |collector| collector.lost_bytes());
        self.records = answers.records;
        record.observed = observed;
    }
}
