//! Invented results, for tests.

use std::collections::BTreeMap;

use super::kept::{Errors, Kept};
use super::pages::Pages;
use super::probe::Observed;
use super::record::{RunRecord, RunStage};
use super::result::{CellResult, DoctorWords, FORMAT, Results, SliceSummary, StageResult};
use super::slices::{Level, Slice};

/// A cell whose runs have these means of t2o, in µs.
pub(crate) fn cell(group: &str, load: usize, rate: f64, means: &[f64]) -> CellResult {
    let run = |(index, mean): (usize, &f64)| RunRecord {
        cell: format!("{group}{load}"),
        repeat: index as u32 + 1,
        started_unix: 1_795_247_410,
        seconds: 3.0,
        samples: 1_000,
        disordered: 0,
        achieved_rate: rate,
        expected: 1_000,
        lost: 0,
        unpublished: 0,
        outstanding: 0,
        open_from_us: None,
        lateness_p99_us: 60.0,
        on_disk: 0,
        slices: Vec::new(),
        kept: Vec::new(),
        stages: stages(*mean, |mean| RunStage {
            mean_us: mean,
            sd_us: mean / 10.0,
            p50_us: mean * 0.9,
            p90_us: mean * 2.0,
            p99_us: mean * 3.0,
            p999_us: mean * 5.0,
            max_us: mean * 9.0,
        }),
        observed: Observed::default(),
        pages: Pages::default(),
        huge_wanted: false,
        doctor_fail: Vec::new(),
        doctor_warn: Vec::new(),
        failed: None,
    };
    let mean = means.iter().sum::<f64>() / means.len() as f64;
    let low = means.iter().copied().fold(f64::INFINITY, f64::min);
    let high = means.iter().copied().fold(0.0, f64::max);
    CellResult {
        name: format!("{group}{load}"),
        group: group.to_owned(),
        load,
        rate,
        repeats: means.len(),
        samples: 1_000 * means.len() as u64,
        achieved_rate: rate,
        expected: 1_000 * means.len() as u64,
        lost: 0,
        unpublished: 0,
        marked: Vec::new(),
        stages: stages(1.0, |share| StageResult {
            mean_us: [low * share, high * share],
            p50_us: mean * share * 0.9,
            p90_us: mean * share * 2.0,
            p99_us: mean * share * 3.0,
            p999_us: mean * share * 5.0,
            max_us: mean * share * 9.0,
            all_mean_us: mean * share,
            curve: [0.0, 0.5, 0.9, 0.99, 0.999].map(|q: f64| [q, mean * share * (1.0 + 3.0 * q)]).to_vec(),
        }),
        wakeups: rate * 4.0,
        context_switches: rate * 9.0,
        migrations: Some(0.0),
        page_faults: 0,
        run_queue_wait_ms: Some(0.5),
        off_plan: 0,
        steal_percent: 0.0,
        cpus_used: Some(0.4),
        cpus_others: Some(0.1),
        slices: None,
        pages: "4 KiB".to_owned(),
        lateness_p99_us: 60.0,
        runs: means.iter().enumerate().map(run).collect(),
    }
}

/// The same cell with ten quiet slices a run, whose figures are those of the whole run.
pub(crate) fn sliced(mut cell: CellResult) -> CellResult {
    for run in &mut cell.runs {
        let slice = |at: u64| Slice {
            from_ns: at * 300_000_000,
            until_ns: (at + 1) * 300_000_000,
            others_seen: true,
            others_cpus: Some(0.0),
            cpus_allowed: 2,
            answers: 100,
            ..Slice::default()
        };
        run.slices = (0..10).map(slice).collect();
        let error = Errors { mean: 0.02, p50: 0.01, p90: 0.03, p99: 0.05, p999: 0.1, max: 0.2 };
        run.kept = vec![Kept {
            level: Level::Quiet,
            slices: 10,
            seconds: run.seconds,
            samples: run.samples,
            achieved_rate: run.achieved_rate,
            lateness_p99_us: run.lateness_p99_us,
            open_from_us: run.open_from_us,
            stages: run.stages.clone(),
            errors: run.stages.keys().map(|name| (name.clone(), error)).collect(),
        }];
    }
    cell.slices = SliceSummary::of(&cell.runs);
    cell
}

/// The cell of a scenario with this rate.
pub(crate) fn scenario_cell(group: &str, rate: f64) -> super::scenario::Cell {
    let text =
        format!("[scenario]\nname = \"made-up\"\n[[load]]\nrate = {rate}\n[[group]]\nname = \"{group}\"\n");
    let scenario =
        super::scenario::parse("made-up.toml", &text, &[]).unwrap_or_else(|error| panic!("{error}"));
    scenario.cells.into_iter().next().unwrap()
}

/// Half of it md, a tenth strategy, the rest order.
fn stages<T>(t2o: f64, stage: impl Fn(f64) -> T) -> BTreeMap<String, T> {
    [("md", 0.5), ("strategy", 0.1), ("order", 0.4), ("t2o", 1.0), ("t2o_intended", 1.2)]
        .into_iter()
        .map(|(name, share)| (name.to_owned(), stage(t2o * share)))
        .collect()
}

/// Results with these cells and claims: name and comparison.
pub(crate) fn results(cells: Vec<CellResult>, claims: &[(&str, &str)]) -> Results {
    let mut names: Vec<String> = cells.iter().map(|cell| cell.group.clone()).collect();
    names.sort();
    names.dedup();
    let mut rates: Vec<f64> = cells.iter().map(|cell| cell.rate).collect();
    rates.sort_by(f64::total_cmp);
    rates.dedup();
    let mut text = "[scenario]\nname = \"made-up\"\ntitle = \"made up <for> tests\"\n".to_owned();
    rates.iter().for_each(|rate| text.push_str(&format!("[[load]]\nrate = {rate}\n")));
    names
        .iter()
        .for_each(|name| text.push_str(&format!("[[group]]\nname = \"{name}\"\ntitle = \"group {name}\"\n")));
    for (name, holds) in claims {
        text.push_str(&format!("[[claim]]\nname = \"{name}\"\nsays = \"{name}\"\nholds = \"{holds}\"\n"));
    }
    let settings =
        super::scenario::parse("made-up.toml", &text, &[]).unwrap_or_else(|error| panic!("{error}")).config;
    let host = pinning::Host::read("/".as_ref()).unwrap().summary();
    Results {
        format: FORMAT,
        host,
        scenario: "made-up".to_owned(),
        colo: "0".to_owned(),
        started_unix: 1_795_247_410,
        last_unix: 1_795_249_410,
        doctor: DoctorWords::default(),
        faults: Vec::new(),
        cells,
        missing: Vec::new(),
        left_out: Vec::new(),
        settings,
    }
}
