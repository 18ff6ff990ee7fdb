//! The plan of a run.

use std::time::Duration;

use crate::args::Settings;
use crate::error::CompareError;
use crate::rival::{Can, Facts};
use crate::rivals::{self, Missing};
use crate::task::Work;

/// The rivals, the rows and the settings of a run.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// The rivals that take part.
    pub(crate) rivals: Vec<Facts>,
    /// The rivals that cannot, with the reasons.
    pub(crate) missing: Vec<Missing>,
    /// The rows measured in each round.
    pub(crate) rows: Vec<Row>,
    /// Number of rounds.
    pub(crate) rounds: usize,
    /// How often a disturbed block is measured again.
    pub(crate) repeats: usize,
    /// Rounds in which slow blocks are measured.
    pub(crate) slow_rounds: usize,
    /// Time limit for all repeated blocks.
    pub(crate) repeats_time: Duration,
    /// Writers that are killed; 0: no measurement of deaths.
    pub(crate) kills: usize,
    /// The silence that counts as permanent, in seconds.
    pub(crate) patience_s: u64,
    /// CPUs of the roles.
    pub(crate) cpus: Vec<usize>,
}

/// One row of the tables.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    /// Stable name.
    pub(crate) id: String,
    /// Heading.
    pub(crate) title: String,
    /// The table that it belongs to.
    pub(crate) kind: RowKind,
    /// Bytes of each message.
    pub(crate) payload: usize,
    /// The work.
    pub(crate) work: Work,
}

/// Kinds of rows; rows of one kind share their figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RowKind {
    /// Ping-pong, polling.
    Ping,
    /// Ping-pong, asleep.
    Asleep,
    /// Throughput.
    OneWay,
    /// Many sleepers.
    Sleepers,
}

impl Row {
    /// Processes that poll at the same time.
    pub(crate) fn polling_roles(&self) -> usize {
        match self.work {
            Work::PingPong { .. } => 2,
            Work::OneWay { readers, .. } => readers + 1,
            _ => 1,
        }
    }

    /// True when a rival is capable of it.
    pub(crate) fn suits(&self, can: Can) -> bool {
        match self.work {
            Work::PingPong { .. } => can.ping,
            Work::PingPongAsleep { .. } => can.ping && can.sleep,
            Work::OneWay { readers: 1, .. } => can.one_way,
            Work::OneWay { .. } => can.fan_out,
            Work::Sleepers { .. } => can.sleep && can.sleepers,
            Work::WriterDies | Work::ReaderDies => can.die,
        }
    }
}

impl Plan {
    /// Makes a plan from the command line.
    pub(crate) fn new(settings: &Settings) -> Result<Plan, CompareError> {
        for name in &settings.only {
            rivals::find(name)?;
        }
        let works = ["ping", "asleep", "one-way", "sleepers", "deaths"];
        if let Some(unknown) = settings.works.iter().find(|work| !works.contains(&work.as_str())) {
            let what = format!("there is no work `{unknown}`; there are: {}", works.join(", "));
            return Err(CompareError::Usage(what));
        }
        let (rivals, missing) = rivals::ready(|facts| {
            settings.only.is_empty()
                || facts.floor
                || facts.name.starts_with("colo")
                || settings.only.iter().any(|name| name == facts.name)
        });
        let wanted =
            |work: &str| settings.works.is_empty() || settings.works.iter().any(|asked| asked == work);
        let quick = settings.quick;
        Ok(Plan {
            rivals,
            missing,
            rows: rows(settings).into_iter().filter(|row| wanted(work_name(row.kind))).collect(),
            rounds: settings.rounds.unwrap_or(if quick { 2 } else { 7 }).max(1),
            repeats: settings.repeats.unwrap_or(if quick { 1 } else { 2 }),
            slow_rounds: if quick { 1 } else { 2 },
            repeats_time: Duration::from_secs(if quick { 20 } else { 4 * 60 }),
            kills: if wanted("deaths") { settings.kills.unwrap_or(if quick { 3 } else { 20 }) } else { 0 },
            patience_s: if quick { 3 } else { 15 },
            cpus: cpus(settings)?,
        })
    }
}

fn work_name(kind: RowKind) -> &'static str {
    match kind {
        RowKind::Ping => "ping",
        RowKind::Asleep => "asleep",
        RowKind::OneWay => "one-way",
        RowKind::Sleepers => "sleepers",
    }
}

fn rows(settings: &Settings) -> Vec<Row> {
    let quick = settings.quick;
    let trips = settings.trips.unwrap_or(if quick { 20_000 } else { 150_000 });
    let asleep = settings.trips.unwrap_or(if quick { 200 } else { 1_000 });
    let millis = settings.millis.unwrap_or(if quick { 200 } else { 500 });
    let sleeper_millis = settings.millis.unwrap_or(if quick { 500 } else { 1_000 });
    let mut rows = Vec::new();
    for payload in [32, 64, 128, 1024] {
        rows.push(Row {
            id: format!("ping-{payload}"),
            title: format!("Ping-pong, {payload} bytes, polling"),
            kind: RowKind::Ping,
            payload,
            work: Work::PingPong { trips, warm_up: (trips / 10).max(500) },
        });
    }
    for payload in [32, 64, 128, 1024] {
        rows.push(Row {
            id: format!("asleep-{payload}"),
            title: format!("Ping-pong, {payload} bytes, asleep"),
            kind: RowKind::Asleep,
            payload,
            work: Work::PingPongAsleep { trips: asleep, warm_up: (asleep / 10).max(100) },
        });
    }
    for readers in [1, 3] {
        rows.push(Row {
            id: format!("one-way-{readers}"),
            title: format!("One-way, 128 bytes, 1 → {readers}"),
            kind: RowKind::OneWay,
            payload: 128,
            work: Work::OneWay { readers, millis },
        });
    }
    for per_second in [800, 8_000] {
        rows.push(Row {
            id: format!("sleepers-{per_second}"),
            title: format!("1 → {} sleepers, {per_second} messages/s", settings.sleepers),
            kind: RowKind::Sleepers,
            payload: 128,
            work: Work::Sleepers { readers: settings.sleepers, per_second, millis: sleeper_millis },
        });
    }
    rows
}

/// The requested CPUs; otherwise the last four that this process may use, the last first: CPU 0 takes most interrupts.
fn cpus(settings: &Settings) -> Result<Vec<usize>, CompareError> {
    let host = pinning::Host::read("/".as_ref())
        .map_err(|error| CompareError::Usage(format!("the host cannot be read: {error}")))?;
    let allowed: Vec<usize> = (0..1024).rev().filter(|&cpu| host.allowed.contains(cpu)).collect();
    if let Some(cpu) = settings.cpus.iter().find(|cpu| !allowed.contains(cpu)) {
        return Err(CompareError::Usage(format!("CPU {cpu} is not among those that this process may use")));
    }
    let cpus =
        if settings.cpus.is_empty() { allowed.into_iter().take(4).collect() } else { settings.cpus.clone() };
    if cpus.len() < 2 {
        return Err(CompareError::Usage("needs at least two CPUs that this process may use".to_owned()));
    }
    Ok(cpus)
}
