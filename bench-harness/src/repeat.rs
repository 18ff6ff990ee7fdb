//! One platform, started from scratch several times.

use std::collections::BTreeMap;

use bench_kit::Spread;
use master_client::{Launch, LaunchError};
use observe::Report;
use serde::{Deserialize, Serialize};

/// Reports of several runs, and the spread of each stage.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Repeated {
    /// In the order of the runs.
    pub reports: Vec<Report>,
    /// By stage: `md`, `strategy`, `order`, `t2o`, `t2o_intended`.
    pub stages: BTreeMap<String, StageSpread>,
}

/// How one stage's figures differ from run to run, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StageSpread {
    /// Spread of the means.
    pub mean_us: Spread,
    /// Spread of the medians.
    pub p50_us: Spread,
    /// Spread of the 99th percentiles.
    pub p99_us: Spread,
}

/// Runs a platform to its end `runs` times, each time from scratch. `go_on` is called before and during each run; when
/// it returns false, the results so far are returned.
///
/// # Errors
/// The first run that fails to start or to stop.
pub fn repeat(launch: &Launch, runs: usize, go_on: impl Fn() -> bool) -> Result<Repeated, LaunchError> {
    let mut reports = Vec::with_capacity(runs);
    while reports.len() < runs && go_on() {
        let mut running = launch.clone().start(|_, _| go_on())?;
        let end = running.watch(|_| go_on());
        let report = running.finish()?;
        end?;
        if go_on() {
            reports.push(report);
        }
    }
    let stages = spreads(&reports);
    Ok(Repeated { reports, stages })
}

fn spreads(reports: &[Report]) -> BTreeMap<String, StageSpread> {
    let names: Vec<String> = reports.iter().flat_map(|report| report.stages.stages.keys().cloned()).collect();
    let mut spreads = BTreeMap::new();
    for name in names {
        let measured: Vec<_> = reports
            .iter()
            .filter_map(|report| report.stages.stages.get(&name))
            .filter(|stage| stage.n > 0)
            .collect();
        let spread = |figure: fn(&observe::StageSummary) -> f64| {
            Spread::of(measured.iter().map(|stage| figure(stage)))
        };
        if let (Some(mean_us), Some(p50_us), Some(p99_us)) =
            (spread(|stage| stage.mean_us), spread(|stage| stage.p50_us), spread(|stage| stage.p99_us))
        {
            spreads.insert(name, StageSpread { mean_us, p50_us, p99_us });
        }
    }
    spreads
}
