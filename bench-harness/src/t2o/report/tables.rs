//! The content of both HTML and Markdown, as rows of text.

use super::super::claims::Verdict;
use super::form::{date, interval, means, rate, thousands, us};
use super::known;
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
    table
}

/// The first word of each caveat.
fn short_caveats(cell: &CellResult) -> String {
    let words: Vec<&str> = cell.marked.iter().filter_map(|mark| mark.split(':').next()).collect();
    if words.is_empty() { "–".to_owned() } else { words.join(" ") }
}

/// The original report's figures, and this run's.
pub(super) fn beside_the_report(results: &Results) -> Table {
    let flatness = known::FLATNESS.map(|(group, theirs)| {
        let means = || cells_of(results, group).filter_map(|cell| Some(cell.stage("t2o")?.all_mean_us));
        let (low, high) = (means().fold(f64::INFINITY, f64::min), means().fold(0.0, f64::max));
        let count = means().count();
        let ours =
            if count < 2 { "not measured".to_owned() } else { format!("{:.1} ({count} rates)", high / low) };
        vec![format!("highest / lowest mean t2o over the rates, group {group}"), theirs.to_string(), ours]
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
    let [low, high] = known::RANGE_US;
    let mixed = cells_of(results, "F").filter_map(|cell| Some(cell.stage("t2o")?.p50_us)).fold(0.0, f64::max);
    let mut rows = vec![vec![
        "mean t2o of 80 parked strategies, groups A to D".to_owned(),
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
    let rows = verdicts.iter().map(|verdict| {
        vec![
            verdict.says.clone(),
            verdict.source.clone(),
            verdict.outcome.to_string(),
            verdict.holds.clone(),
            verdict.numbers.clone(),
        ]
    });
    Table {
        title: "Claims".to_owned(),
        head: owned(["claim", "whose", "verdict", "as a comparison", "with the figures"]),
        rows: rows.collect(),
        words: 5,
    }
}

/// What a reader must know.
pub(super) const HOW_TO_READ: [&str; 7] = [
    "A cell is a group at a load: A10 is group A at the tenth rate. Each run of it is a platform brought up for it alone.",
    "Every order names the quote that caused it, so each message has five times on one clock: due, published by md, received by the strategy, ordered, taken by td. Market-data transfer + strategy + order transfer = t2o was checked for every message.",
    "Means are ranges, as in the report: the lowest and the highest mean of the runs. Percentiles are over all messages of all runs.",
    "“From due” counts from the time at which md’s schedule wanted the quote, so a generator that falls behind cannot hide it.",
    "A marked cell is shown like any other; its caveats say why it is to be read with care.",
    "A claim holds or is refuted only where the runs do not overlap and the host was not busy with something else; otherwise it is inconclusive.",
    "Cells with few messages (slow rates) say little about percentiles; compare figures only with others of the same host and the same run.",
];
