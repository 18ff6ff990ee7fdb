//! Why a cell's figures are to be read with care.

use topology::scenario::Cell;

use super::record::RunRecord;

/// Below this share of the asked rate, md did not keep up.
const RATE_KEPT: f64 = 0.98;
/// Lateness of md beyond which its schedule says little, in microseconds.
const LATE_US: f64 = 1_000.0;
/// Per cent of time that the hypervisor may take.
const STEAL: f64 = 1.0;
/// CPUs that others may use beside the platform.
const OTHERS: f64 = 0.5;

/// Each mark begins with a word of its own, and says the figure.
pub(crate) fn of(cell: &Cell, fewest: u64, runs: &[RunRecord]) -> Vec<String> {
    let mut marks = Vec::new();
    let worst = |what: &dyn Fn(&RunRecord) -> f64| runs.iter().map(what).fold(0.0, f64::max);
    let total = |what: &dyn Fn(&RunRecord) -> u64| runs.iter().map(what).sum::<u64>();
    for run in runs {
        if let Some(why) = &run.failed {
            marks.push(format!("failed: run {}: {}", run.repeat, why.lines().next().unwrap_or_default()));
        }
    }
    let samples = total(&|run| run.samples);
    if samples < fewest {
        marks.push(format!("few-samples: {samples}"));
    }
    let disordered = total(&|run| run.disordered);
    if disordered > 0 {
        marks.push(format!("disordered: {disordered} messages whose times contradict each other"));
    }
    let lost = total(&|run| run.lost);
    if lost > 0 {
        marks.push(format!("lost: {lost}"));
    }
    let late_news = total(&|run| run.observed.wait_timeouts_with_data);
    if late_news > 0 {
        marks.push(format!("wait-timeouts: {late_news} sleeps were not ended in time"));
    }
    // A schedule that ends between two quotes is no loss of rate.
    let short = |run: &&RunRecord| {
        run.failed.is_none() && run.achieved_rate < RATE_KEPT * cell.rate - 1.0 / run.seconds.max(1.0)
    };
    if let Some(run) = runs.iter().find(short) {
        marks.push(format!("rate: {:.0} of {} quotes/s", run.achieved_rate, cell.rate));
    }
    let late = worst(&|run| run.lateness_p99_us);
    if late > LATE_US {
        marks.push(format!("late: md's p99 is {late:.0} µs behind its schedule"));
    }
    let off_plan = total(&|run| run.observed.off_plan);
    if off_plan > 0 {
        let looked_at = total(&|run| run.observed.looked_at);
        let stray = runs.iter().flat_map(|run| &run.observed.strays).next();
        let stray = stray.map_or(String::new(), |stray| format!(": {stray}"));
        marks.push(format!("off-plan: {off_plan} of {looked_at} looks{stray}"));
    }
    if runs.iter().any(|run| run.huge_wanted && run.pages.small_bytes > 0) {
        let words = if runs.iter().all(|run| run.pages.huge_bytes == 0) { "all" } else { "some" };
        marks.push(format!("pages: {words} rings lie on 4 KiB pages, huge ones were asked for"));
    }
    let steal = worst(&|run| run.observed.steal_percent);
    if steal > STEAL {
        marks.push(format!("steal: {steal:.1} % of the time was the hypervisor's"));
    }
    let others = worst(&|run| run.observed.cpus_others.unwrap_or(0.0));
    if others > OTHERS {
        marks.push(format!("others: {others:.1} CPUs were at other work"));
    }
    marks
}
