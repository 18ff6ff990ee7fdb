//! Reasons to read a cell's figures with care.

use std::collections::BTreeMap;

use super::record::RunRecord;

/// Below this share of the requested rate, md did not keep up.
const RATE_KEPT: f64 = 0.98;
/// Lateness of md beyond which its schedule has little meaning, in microseconds.
const LATE_US: f64 = 1_000.0;
/// Percentage of time that the hypervisor may take.
const STEAL: f64 = 1.0;
/// CPUs that other processes may use, where that is known exactly, and as a share of the CPUs that the platform may
/// use.
const OTHERS: f64 = 0.05;
const OTHERS_SHARE: f64 = 0.01;
/// The same where only the host's own account is available, whose error is this large.
const OTHERS_UNSEEN: f64 = 0.5;
/// Milliseconds a second that a node which is alone on its CPU may wait for it.
const WAITED: f64 = 5.0;
/// Limit of the nodes that a caveat names.
const NAMED: usize = 5;
/// Share of the answers that may arrive after the end.
const OUTSTANDING: f64 = 0.05;

/// Each caveat begins with a word of its own, and states the figure.
pub(crate) fn of(rate: f64, fewest: u64, runs: &[RunRecord]) -> Vec<String> {
    let mut caveats = Vec::new();
    let worst = |what: &dyn Fn(&RunRecord) -> f64| runs.iter().map(what).fold(0.0, f64::max);
    let total = |what: &dyn Fn(&RunRecord) -> u64| runs.iter().map(what).sum::<u64>();
    for run in runs {
        if let Some(why) = &run.failed {
            caveats.push(format!("failed: run {}: {}", run.repeat, why.lines().next().unwrap_or_default()));
        }
    }
    let samples = total(&|run| run.samples);
    if samples < fewest {
        caveats.push(format!("few-samples: {samples}"));
    }
    let disordered = total(&|run| run.disordered);
    if disordered > 0 {
        caveats.push(format!("disordered: {disordered} messages whose times contradict each other"));
    }
    let on_disk = total(&|run| run.on_disk);
    if on_disk > 0 && on_disk < samples {
        caveats.push(format!("on-disk: of {} of {samples} orders it is not known when", samples - on_disk));
    }
    caveats.extend(lost(runs));
    if let Some(run) = runs.iter().find(|run| has_backlog(run)) {
        caveats.push(format!(
            "backlog: {} of {} answers were not there at the end of run {}",
            run.outstanding, run.expected, run.repeat
        ));
    }
    let undelivered = total(&|run| run.observed.undelivered);
    if undelivered > 0 {
        caveats.push(format!("undelivered: {undelivered} messages"));
    }
    let mut restarted: Vec<&str> =
        runs.iter().flat_map(|run| &run.observed.restarted).map(String::as_str).collect();
    restarted.sort_unstable();
    restarted.dedup();
    if !restarted.is_empty() {
        let more = if restarted.len() > 5 { ", …" } else { "" };
        let named = restarted.iter().take(5).copied().collect::<Vec<_>>().join(", ");
        caveats.push(format!("restarted: {named}{more} ended and came back"));
    }
    let late_news = total(&|run| run.observed.wait_timeouts_with_data);
    if late_news > 0 {
        let were = if late_news == 1 { "sleep was" } else { "sleeps were" };
        let owners = late_sleeps(runs);
        caveats.push(format!("wait-timeouts: {late_news} {were} not ended in time{owners}"));
    }
    // A schedule that ends between two quotes does not reduce the rate.
    let short = |run: &&RunRecord| {
        run.failed.is_none() && run.achieved_rate < RATE_KEPT * rate - 1.0 / run.seconds.max(1.0)
    };
    if let Some(run) = runs.iter().find(short) {
        caveats.push(format!("rate: {:.0} of {} quotes/s", run.achieved_rate, rate));
    }
    let late = worst(&|run| run.lateness_p99_us);
    if late > LATE_US {
        caveats.push(format!("late: md's p99 is {late:.0} µs behind its schedule"));
    }
    let off_plan = total(&|run| run.observed.off_plan);
    if off_plan > 0 {
        let looked_at = total(&|run| run.observed.looked_at);
        let stray = runs.iter().flat_map(|run| &run.observed.strays).next();
        let stray = stray.map_or(String::new(), |stray| format!(": {stray}"));
        caveats.push(format!("off-plan: {off_plan} of {looked_at} looks{stray}"));
    }
    if runs.iter().any(|run| run.huge_wanted && run.pages.small_bytes > 0) {
        let words = if runs.iter().all(|run| run.pages.huge_bytes == 0) { "all" } else { "some" };
        caveats.push(format!("pages: {words} rings lie on 4 KiB pages, huge ones were asked for"));
    }
    let steal = worst(&|run| run.observed.steal_percent);
    if steal > STEAL {
        caveats.push(format!("steal: {steal:.1} % of the time was the hypervisor's"));
    }
    caveats.extend(others(runs));
    caveats
}

/// With few quotes, the last ones are not evidence: two of them do not make a backlog.
pub(crate) fn has_backlog(run: &RunRecord) -> bool {
    run.failed.is_none() && run.outstanding as f64 > OUTSTANDING * run.expected as f64 + 2.0
}

/// Any missing answer, however few.
fn lost(runs: &[RunRecord]) -> Option<String> {
    let total = |what: fn(&RunRecord) -> u64| runs.iter().map(what).sum::<u64>();
    let (lost, expected) = (total(|run| run.lost), total(|run| run.expected));
    if lost == 0 {
        return None;
    }
    let unpublished = match total(|run| run.unpublished) {
        0 => String::new(),
        some => format!(", {some} of these because md was behind"),
    };
    Some(format!(
        "lost: {lost} of {expected} answers did not come{unpublished}; they count with the time that they were waited for"
    ))
}

fn others(runs: &[RunRecord]) -> Option<String> {
    let beside = |run: &&RunRecord| {
        let cpus = run.observed.cpus_others.unwrap_or(0.0);
        let most = if run.observed.others.is_empty() {
            OTHERS_UNSEEN
        } else {
            OTHERS.max(OTHERS_SHARE * run.observed.cpus_allowed as f64)
        };
        cpus > most
    };
    let cpus = |run: &&RunRecord| run.observed.cpus_others.unwrap_or(0.0);
    let worst = runs.iter().filter(beside).max_by(|a, b| cpus(a).total_cmp(&cpus(b)));
    let waits = |run: &RunRecord| run.observed.waited.first().cloned().filter(|w| w.ms_a_second > WAITED);
    let waited = runs.iter().filter_map(waits).max_by(|a, b| a.ms_a_second.total_cmp(&b.ms_a_second));
    let waited = waited.map(|waited| {
        let (node, cpu, ms) = (waited.node, waited.cpu, waited.ms_a_second);
        format!("{node}, alone on CPU {cpu}, waited {ms:.1} ms a second for it")
    });
    let worst = worst.map(|run| {
        let most = run.observed.others.iter().take(3).cloned().collect::<Vec<_>>().join(", ");
        let most = if most.is_empty() { most } else { format!(" ({most})") };
        format!("{:.2} CPUs were at other work{most}", cpus(&run))
    });
    let words: Vec<String> = [worst, waited].into_iter().flatten().collect();
    (!words.is_empty()).then(|| format!("others: {}", words.join("; ")))
}

/// Whose sleeps were not ended in time, over all runs.
fn late_sleeps(runs: &[RunRecord]) -> String {
    let mut owners: BTreeMap<&str, u64> = BTreeMap::new();
    for (node, sleeps) in runs.iter().flat_map(|run| &run.observed.late_sleeps) {
        *owners.entry(node).or_default() += sleeps;
    }
    let more = if owners.len() > NAMED { ", …" } else { "" };
    let named: Vec<String> =
        owners.iter().take(NAMED).map(|(node, sleeps)| format!("{node} {sleeps}")).collect();
    // Runs of an earlier version do not say it.
    if named.is_empty() { String::new() } else { format!(" ({}{more})", named.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::t2o::fixture::cell;
    use crate::t2o::probe::Waited;

    /// First words of the caveats of a run that `spoil` has changed.
    fn words(spoil: impl Fn(&mut RunRecord)) -> Vec<String> {
        let mut runs = cell("A", 1, 80.0, &[40.0, 41.0, 39.0]).runs;
        spoil(&mut runs[1]);
        let caveats = of(80.0, 5, &runs);
        caveats.iter().filter_map(|caveat| caveat.split(':').next()).map(str::to_owned).collect()
    }

    #[test]
    fn any_shortfall_marks_the_cell() {
        assert_eq!(words(|_| {}), [""; 0]);
        assert_eq!(words(|run| run.lost = 1), ["lost"]);
        assert_eq!(words(|run| run.outstanding = 60), ["backlog"]);
        assert_eq!(words(|run| run.outstanding = 40), [""; 0]);
        assert_eq!(words(|run| run.observed.undelivered = 1), ["undelivered"]);
    }

    #[test]
    fn sleeps_that_were_not_ended_in_time_have_owners() {
        let mut runs = cell("A", 1, 80.0, &[40.0, 41.0, 39.0]).runs;
        for (run, (node, sleeps)) in runs.iter_mut().zip([("td", 2), ("md", 1), ("td", 3)]) {
            run.observed.wait_timeouts_with_data = sleeps;
            run.observed.late_sleeps = BTreeMap::from([(node.to_owned(), sleeps)]);
        }
        assert_eq!(of(80.0, 5, &runs), ["wait-timeouts: 6 sleeps were not ended in time (md 1, td 5)"]);
        runs.iter_mut().for_each(|run| run.observed.late_sleeps.clear());
        assert_eq!(
            of(80.0, 5, &runs),
            ["wait-timeouts: 6 sleeps were not ended in time"],
            "an earlier version's"
        );
    }

    #[test]
    fn a_node_that_came_back_marks_the_cell() {
        assert_eq!(words(|run| run.observed.restarted = vec!["td".to_owned()]), ["restarted"]);
    }

    #[test]
    fn others_mark_the_cell_by_their_cpus_or_by_what_a_node_waited() {
        let seen = |cpus| {
            move |run: &mut RunRecord| {
                run.observed.cpus_others = Some(cpus);
                run.observed.others = vec!["hog (7) 0.33".to_owned()];
                run.observed.cpus_allowed = 4;
            }
        };
        assert_eq!(words(seen(0.33)), ["others"], "a third of one CPU");
        assert_eq!(words(seen(0.04)), [""; 0]);
        let unseen = |cpus| move |run: &mut RunRecord| run.observed.cpus_others = Some(cpus);
        assert_eq!(words(unseen(0.4)), [""; 0], "the host's account is not that exact");
        assert_eq!(words(unseen(0.6)), ["others"]);
        let waited = |ms_a_second| {
            move |run: &mut RunRecord| {
                run.observed.waited = vec![Waited { node: "td".to_owned(), cpu: 1, ms_a_second }];
            }
        };
        assert_eq!(words(waited(8.0)), ["others"]);
        assert_eq!(words(waited(1.0)), [""; 0]);
    }
}
