//! The content of both HTML and Markdown, as rows of text.

use super::super::claims::Verdict;
use super::form::{date, interval, means, range, rate, thousands, us};
use super::known;
use super::summary::Summary;
use crate::t2o::record::DURABLE;
use crate::t2o::result::{CellResult, Results};

/// A table: its head, its rows, and how many columns from the left are text.
pub(super) struct Table {
    pub(super) title: String,
    pub(super) head: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
    pub(super) words: usize,
}

fn owned<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_owned).to_vec()
}

/// The groups that have cells, with their titles.
pub(super) fn groups(results: &Results) -> Vec<(&str, &str)> {
    let has = |name: &str| results.cells.iter().any(|cell| cell.group == name);
    let groups = results.settings.group.iter().filter(|group| has(&group.name));
    groups.map(|group| (group.name.as_str(), group.title.as_str())).collect()
}

pub(super) fn cells_of<'a>(results: &'a Results, group: &'a str) -> impl Iterator<Item = &'a CellResult> {
    results.cells.iter().filter(move |cell| cell.group == group)
}

/// Every rate that a cell has, lowest first.
pub(super) fn rates(results: &Results) -> Vec<f64> {
    let mut rates: Vec<f64> = results.cells.iter().map(|cell| cell.rate).collect();
    rates.sort_by(f64::total_cmp);
    rates.dedup();
    rates
}

/// Where the columns of recorded orders stand: behind those of t2o.
const DISK_COLUMN: usize = 9;

/// One group in the form of the original report: transfer times as ranges of the means of the runs.
pub(super) fn group(results: &Results, name: &str, title: &str) -> Table {
    let instruments = |cell: &CellResult| {
        let own = results.settings.group.iter().find(|group| group.name == cell.group);
        own.and_then(|group| group.instruments).unwrap_or(results.settings.run.instruments)
    };
    let is_recorded = cells_of(results, name).any(|cell| cell.stage(DURABLE).is_some());
    let is_sliced = cells_of(results, name).any(|cell| cell.slices.is_some());
    let is_known = cells_of(results, name).any(|cell| known::of(results, cell).is_some());
    let rows = cells_of(results, name).map(|cell| {
        let t2o = cell.stage("t2o");
        let figure = |figure: Option<f64>| figure.map_or("–".to_owned(), us);
        let mut row = vec![
            cell.name.clone(),
            rate(cell.rate),
            interval(cell, instruments(cell)),
            means(cell, "order"),
            means(cell, "md"),
            means(cell, "t2o"),
            figure(t2o.map(|stage| stage.p50_us)),
            figure(t2o.map(|stage| stage.p99_us)),
            figure(cell.stage("t2o_intended").map(|stage| stage.p99_us)),
            cell.repeats.to_string(),
            thousands(cell.samples),
            short_caveats(cell),
        ];
        if is_recorded {
            let durable = cell.stage(DURABLE);
            let both = [durable.map(|stage| stage.p50_us), durable.map(|stage| stage.p99_us)];
            row.splice(DISK_COLUMN..DISK_COLUMN, both.map(figure));
        }
        let place = row.len() - 1;
        if is_known {
            row.insert(place, known::of(results, cell).map_or("–".to_owned(), |known| range(known.t2o_us)));
        }
        if is_sliced {
            row.splice(place..place, of_slices(cell));
        }
        row
    });
    let mut table = Table {
        title: format!("{name}: {title}"),
        head: owned([
            "cell",
            "quotes/s",
            "each instrument, s",
            "order transfer, mean µs",
            "market-data transfer, mean µs",
            "t2o, mean µs",
            "t2o p50",
            "t2o p99",
            "from due, p99",
            "runs",
            "messages",
            "marked",
        ]),
        rows: rows.collect(),
        words: 1,
    };
    if is_recorded {
        table.head.splice(DISK_COLUMN..DISK_COLUMN, owned(["order on disk, p50", "on disk, p99"]));
    }
    let place = table.head.len() - 1;
    if is_known {
        table.head.insert(place, "the report’s t2o, mean µs".to_owned());
    }
    if is_sliced {
        let head = ["slices that count", "their t2o, mean µs", "their p50"];
        table.head.splice(place..place, owned(head));
    }
    table
}

/// Which slices of a cell count, and what they say.
fn of_slices(cell: &CellResult) -> [String; 3] {
    let none = || "–".to_owned();
    let Some(slices) = &cell.slices else { return [none(), none(), none()] };
    match slices.level {
        None => [format!("0 of {}", slices.all), none(), none()],
        Some(level) => {
            let used: usize =
                cell.runs.iter().filter_map(|run| run.kept(level)).map(|kept| kept.slices).sum();
            [format!("{used} of {}, {level}", slices.all), range(slices.mean_us), range(slices.p50_us)]
        }
    }
}

/// The first word of each caveat.
fn short_caveats(cell: &CellResult) -> String {
    let words: Vec<&str> = cell.marked.iter().filter_map(|mark| mark.split(':').next()).collect();
    if words.is_empty() { "–".to_owned() } else { words.join(" ") }
}

/// What the session has not measured: it was stopped, or runs failed.
pub(super) fn not_run(results: &Results) -> Option<String> {
    let missing = &results.missing;
    (!missing.is_empty())
        .then(|| format!("These results are not whole. Not measured: {}.", missing.join(" ")))
}

/// The original report's figures, and this run's.
pub(super) fn beside_the_report(results: &Results) -> Table {
    let flatness = ["A", "D"].map(|group| {
        let means = || cells_of(results, group).filter_map(|cell| Some(cell.stage("t2o")?.all_mean_us));
        let (low, high) = (means().fold(f64::INFINITY, f64::min), means().fold(0.0, f64::max));
        let count = means().count();
        let ours =
            if count < 2 { "not measured".to_owned() } else { format!("{:.1} ({count} rates)", high / low) };
        let [low, high] = known::range(|theirs| theirs == group);
        let theirs = format!("{:.1}", high / low);
        vec![format!("highest / lowest mean t2o over the rates, group {group}"), theirs, ours]
    });
    let matrix = |cell: &&CellResult| ["A", "B", "C", "D"].contains(&cell.group.as_str());
    let means =
        || results.cells.iter().filter(matrix).filter_map(|cell| Some(cell.stage("t2o")?.all_mean_us));
    let ours = match means().count() {
        0 => "not measured".to_owned(),
        _ => {
            let (low, high) = (means().fold(f64::INFINITY, f64::min), means().fold(0.0, f64::max));
            format!("{} to {} µs", us(low), us(high))
        }
    };
    let [low, high] = known::range(|_| true);
    let mixed = cells_of(results, "F").filter_map(|cell| Some(cell.stage("t2o")?.p50_us)).fold(0.0, f64::max);
    let mut rows = vec![vec![
        match results.settings.run.strategies {
            80 => "mean t2o of 80 parked strategies, groups A to D".to_owned(),
            other => {
                format!("mean t2o of 80 parked strategies, groups A to D; this run has {other} strategies")
            }
        },
        format!("{} to {} µs", us(low), us(high)),
        ours,
    ]];
    rows.extend(flatness);
    rows.push(vec![
        "t2o when md is fast and strategies are parked (F, highest median)".to_owned(),
        format!("{} µs more", us(known::MIXED_US)),
        if mixed > 0.0 { format!("{} µs in all", us(mixed)) } else { "not measured".to_owned() },
    ]);
    Table {
        title: "Beside the report".to_owned(),
        head: owned(["what", "the report", "this run"]),
        rows,
        words: 1,
    }
}

/// The host and the run.
pub(super) fn host(results: &Results) -> Table {
    let host = &results.host;
    let list = |ids: &[String]| if ids.is_empty() { "none".to_owned() } else { ids.join(", ") };
    let huge: Vec<String> =
        host.huge_pages.iter().map(|pool| format!("{} of {} KiB", pool.total, pool.size_kib)).collect();
    let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "none".to_owned());
    let rows = [
        ("processor", host.cpu_model.clone()),
        (
            "cores",
            format!(
                "{} ({} CPUs, {} allowed: {})",
                host.cores,
                host.cpus,
                host.allowed_cpus.len(),
                host.allowed_cpus
            ),
        ),
        ("NUMA nodes", host.numa_nodes.to_string()),
        (
            "memory",
            host.memory_bytes
                .map_or("unknown".to_owned(), |bytes| format!("{:.1} GiB", bytes as f64 / 1_073_741_824.0)),
        ),
        ("huge pages", if huge.is_empty() { "none reserved".to_owned() } else { huge.join(", ") }),
        ("kernel", host.kernel.as_ref().map_or("unknown".to_owned(), ToString::to_string)),
        ("hypervisor", or_none(&host.virtualised)),
        ("container", or_none(&host.container)),
        ("clock", or_none(&host.clocksource)),
        ("colo", results.colo.clone()),
        ("scenario", format!("{}, order seed {}", results.scenario, results.settings.run.seed)),
        ("first and last run", format!("{} and {}", date(results.started_unix), date(results.last_unix))),
        ("doctor fails", list(&results.doctor.fail)),
        ("doctor warns", list(&results.doctor.warn)),
    ];
    Table {
        title: "Where it ran".to_owned(),
        head: owned(["", ""]),
        rows: rows.map(|(key, value)| vec![key.to_owned(), value]).to_vec(),
        words: 2,
    }
}

/// The cost of each cell for the host.
pub(super) fn costs(results: &Results) -> Table {
    let some = |figure: Option<f64>, digits: usize| {
        figure.map_or("–".to_owned(), |figure| format!("{figure:.digits$}"))
    };
    let rows = results.cells.iter().map(|cell| {
        vec![
            cell.name.clone(),
            rate((cell.achieved_rate * 10.0).round() / 10.0),
            us(cell.lateness_p99_us),
            cell.lost.to_string(),
            thousands(cell.wakeups.round() as u64),
            thousands(cell.context_switches.round() as u64),
            some(cell.migrations, 0),
            cell.page_faults.to_string(),
            some(cell.run_queue_wait_ms, 1),
            some(cell.cpus_used, 2),
            some(cell.cpus_others, 2),
            format!("{:.1}", cell.steal_percent),
            cell.off_plan.to_string(),
            cell.pages.clone(),
        ]
    });
    Table {
        title: "What it cost".to_owned(),
        head: owned([
            "cell",
            "quotes/s reached",
            "md late, p99 µs",
            "lost",
            "wake-ups/s",
            "switches/s",
            "migrations/s",
            "page faults",
            "run-queue wait, ms/s",
            "CPUs used",
            "CPUs of others",
            "steal, %",
            "off plan",
            "pages",
        ]),
        rows: rows.collect(),
        words: 1,
    }
}

/// Every caveat in full.
pub(super) fn caveats(results: &Results) -> Table {
    let rows = results
        .cells
        .iter()
        .flat_map(|cell| cell.marked.iter().map(|mark| vec![cell.name.clone(), mark.clone()]));
    Table { title: "Marked cells".to_owned(), head: owned(["cell", "why"]), rows: rows.collect(), words: 2 }
}

/// The claims and their results.
pub(super) fn claims(verdicts: &[Verdict]) -> Table {
    let is_sliced = verdicts.iter().any(|verdict| !verdict.raw.is_empty());
    let rows = verdicts.iter().map(|verdict| {
        let mut row = vec![
            verdict.says.clone(),
            verdict.source.clone(),
            verdict.outcome.to_string(),
            verdict.holds.clone(),
            verdict.numbers.clone(),
        ];
        if is_sliced {
            row.push(verdict.slices.map_or("–".to_owned(), |slices| {
                format!("{} of {}, {}", slices.used, slices.of, slices.level)
            }));
            row.push(verdict.raw.clone());
        }
        row
    });
    let mut head = owned(["claim", "whose", "verdict", "as a comparison", "with the figures"]);
    if is_sliced {
        head.extend(owned(["slices that count", "raw: whole runs, undecided"]));
    }
    Table { title: "Claims".to_owned(), words: head.len(), head, rows: rows.collect() }
}

/// The best group at each rate.
pub(super) fn best(summary: &Summary) -> Table {
    let list = |groups: &[String]| if groups.is_empty() { "–".to_owned() } else { groups.join(" ") };
    let rows = summary.best.iter().map(|best| {
        vec![
            rate(best.rate),
            format!("{}: {}", best.group, best.title),
            us(best.p50_us),
            range(best.mean_us),
            best.level.map_or("whole runs".to_owned(), |level| level.to_string()),
            list(&best.slower),
            list(&best.alike),
        ]
    });
    Table {
        title: "Best group for your rate".to_owned(),
        head: owned([
            "quotes/s",
            "best group",
            "median t2o, µs",
            "means, µs",
            "slices",
            "surely slower",
            "not told apart from it",
        ]),
        rows: rows.collect(),
        words: 2,
    }
}

/// What the host did to the figures, in sentences.
pub(super) fn host_words(summary: &Summary) -> Vec<String> {
    let host = &summary.host;
    if host.slices == 0 {
        return vec!["These results have no slices: cells are judged as a whole.".to_owned()];
    }
    let percent = |count: usize| format!("{:.0} %", 100.0 * count as f64 / host.slices as f64);
    let left_out = host.slices - host.quiet - host.busy;
    let mut words = vec![format!(
        "{} of {} slices were quiet ({}), {} busy ({}), {} are left out ({}).",
        host.quiet,
        host.slices,
        percent(host.quiet),
        host.busy,
        percent(host.busy),
        left_out,
        percent(left_out)
    )];
    if let (Some(mean), Some(p99)) = (host.mean_times, host.p99_times) {
        words.push(format!(
            "With what the host did meanwhile, whole runs have {mean:.2} times the mean and {p99:.2} times the 99th percentile \
             of the slices that count (middle of all runs)."
        ));
    }
    words
}

/// The dearest faults of the host.
pub(super) fn faults(summary: &Summary) -> Table {
    let rows = summary.host.faults.iter().map(|fault| {
        let fix = if fault.fix.is_empty() { "–".to_owned() } else { fault.fix.clone() };
        vec![fault.id.clone(), fault.found.clone(), fault.cost.clone(), fix]
    });
    Table {
        title: "What the host costs".to_owned(),
        head: owned(["check", "found", "costs", "mend"]),
        rows: rows.collect(),
        words: 4,
    }
}

/// Cells whose figures are not to be trusted.
pub(super) fn distrusted(summary: &Summary) -> Table {
    let rows = summary.distrusted.iter().map(|cell| vec![cell.cell.clone(), cell.why.clone()]);
    Table {
        title: "Cells not to trust".to_owned(),
        head: owned(["cell", "why"]),
        rows: rows.collect(),
        words: 2,
    }
}

/// What a reader must know.
pub(super) const HOW_TO_READ: [&str; 8] = [
    "A cell is a group at a load: A10 is group A at the tenth rate. Each run of it is a platform brought up for it alone.",
    "Every order names the quote that caused it, so each message has five times on one clock: due, published by md, received by the strategy, ordered, taken by td. Market-data transfer + strategy + order transfer = t2o was checked for every message.",
    "Means are ranges, as in the report: the lowest and the highest mean of the runs. Percentiles are over all messages of all runs.",
    "“From due” counts from the time at which md’s schedule wanted the quote, so a generator that falls behind cannot hide it.",
    "A marked cell is shown like any other; its caveats say why it is to be read with care.",
    "Runs are cut into slices. By what the hypervisor and other processes did in it, and by how late the generator was, a slice is quiet, busy, or left out; never by its answers’ times. The matrix and the curves show the slices that count: quiet ones, or busy ones too where quiet ones are too few.",
    "A claim holds or is refuted where the interval of its ratio, over passes and over blocks of slices, agrees as a whole; otherwise it is inconclusive. Beside it stands what whole runs say, as ranges over the runs.",
    "Cells with few messages (slow rates) say little about percentiles; compare figures only with others of the same host and the same run.",
];
