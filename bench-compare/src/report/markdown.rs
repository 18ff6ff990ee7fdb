//! The page: tables and their summary.

use std::fmt::Write as _;

use bench_kit::Spread;

use super::verdict;
use super::{Entry, Report, RivalFacts, RowSummary};
use crate::driver::{ReaderDeath, RowKind, WriterDeaths};

/// The whole page, which refers to a picture beside it.
pub(crate) fn page(report: &Report, picture: &str) -> String {
    let mut page = String::new();
    // Writing to a string cannot fail.
    let _ = write_page(&mut page, report, picture);
    page
}

fn write_page(page: &mut String, report: &Report, picture: &str) -> std::fmt::Result {
    let host = &report.host;
    writeln!(page, "# Performance, side by side\n")?;
    writeln!(
        page,
        "Made by `bench-compare`; do not edit. {}, {} CPUs{}, Linux {}, {}. {}. {} rounds{}, roles on CPUs {:?}, load average \
         {} when it began, {:.0} minutes.\n",
        host.cpu,
        host.cpus,
        if host.virtual_machine { " of a virtual machine" } else { "" },
        host.kernel,
        host.rustc,
        host.date,
        host.rounds,
        if host.quick { " (quick: few messages, short runs)" } else { "" },
        host.used_cpus,
        host.load,
        report.minutes,
    )?;
    if let Some(note) = &host.note {
        writeln!(page, "**{note}**\n")?;
    }
    writeln!(page, "{}\n", verdict::disturbed(report))?;
    writeln!(page, "![Side by side]({picture})\n")?;
    writeln!(page, "## What the tables say\n")?;
    for line in verdict::lines(report) {
        writeln!(page, "- {line}")?;
    }
    ping_tables(page, report)?;
    one_way_tables(page, report)?;
    sleeper_tables(page, report)?;
    deaths(page, &report.writer_deaths, &report.reader_deaths)?;
    writeln!(page, "\n## Who, and how set up\n")?;
    for rival in &report.rivals {
        writeln!(page, "- **{}** ({})", rival.name, rival.version)?;
        for setting in &rival.settings {
            writeln!(page, "  - {setting}")?;
        }
    }
    for missing in &report.missing {
        writeln!(page, "- **{}**: not run: {}", missing.name, missing.why)?;
    }
    Ok(())
}

fn rows(report: &Report, kind: RowKind) -> impl Iterator<Item = &RowSummary> {
    report.rows.iter().filter(move |row| row.kind == kind)
}

fn name(report: &Report, entry: &Entry, asleep: bool) -> String {
    let is = |what: fn(&RivalFacts) -> bool| {
        report.rivals.iter().any(|rival| rival.name == entry.rival && what(rival))
    };
    let mut name = bold(entry.rival);
    if is(|rival| rival.in_process) {
        name.push_str(" (threads)");
    }
    if asleep && is(|rival| rival.naps) {
        name.push_str(" (naps by a timer)");
    }
    name
}

fn heading(page: &mut String, row: &RowSummary, columns: &[&str]) -> std::fmt::Result {
    writeln!(page, "\n### {}\n", row.title)?;
    writeln!(page, "| | {} | rounds (disturbed) |", columns.join(" | "))?;
    writeln!(page, "|---|{}---:|", "---:|".repeat(columns.len()))
}

fn line(
    page: &mut String,
    report: &Report,
    row: &RowSummary,
    entry: &Entry,
    cells: &[String],
) -> std::fmt::Result {
    let name = name(report, entry, matches!(row.kind, RowKind::Asleep | RowKind::Sleepers));
    if let Some(error) = &entry.error {
        let error = error.replace('|', "/");
        return writeln!(page, "| {name} | failed: {error} |{} |", " |".repeat(cells.len() - 1));
    }
    writeln!(page, "| {name} | {} | {} ({}) |", cells.join(" | "), entry.rounds, entry.disturbed)
}

fn ping_tables(page: &mut String, report: &Report) -> std::fmt::Result {
    writeln!(page, "\n## Ping-pong\n")?;
    writeln!(
        page,
        "Two processes bounce a message. One-way times, half of a round trip; median over the rounds. \"× floor\" is \
         against the bare word that the same two processes bounce right before and after, with its lowest and highest \
         round; \"× colo\" is against colo's median of the same round. Every byte is read on the other side."
    )?;
    for row in rows(report, RowKind::Ping) {
        heading(page, row, &["p50", "p99", "p99.9", "× floor", "× colo"])?;
        for entry in &row.entries {
            let cells = [
                time(entry, "p50_ns"),
                time(entry, "p99_ns"),
                time(entry, "p999_ns"),
                spread(entry.figures.get("to_floor")),
                spread(entry.to_colo.as_ref()),
            ];
            line(page, report, row, entry, &cells)?;
        }
    }
    writeln!(
        page,
        "\nThe same, each side asleep until the other's message comes. Both keep a message for 500 µs before they answer, which \
         is taken off, so that nobody gets away with polling; here the floor is a bare futex. Whoever naps by a timer is woken \
         by nobody and looks now and then: what a timer costs stands in its figures."
    )?;
    for row in rows(report, RowKind::Asleep) {
        heading(page, row, &["p50", "p99", "p99.9", "× colo"])?;
        for entry in &row.entries {
            let cells = [
                time(entry, "p50_ns"),
                time(entry, "p99_ns"),
                time(entry, "p999_ns"),
                spread(entry.to_colo.as_ref()),
            ];
            line(page, report, row, entry, &cells)?;
        }
    }
    Ok(())
}

fn one_way_tables(page: &mut String, report: &Report) -> std::fmt::Result {
    writeln!(page, "\n## One-way\n")?;
    writeln!(
        page,
        "One process writes as fast as it can; messages that each reader got, until the slowest had the last one. Those that may \
         overwrite what was not read are listed with what they lost, behind those that lose nothing."
    )?;
    for row in rows(report, RowKind::OneWay) {
        heading(page, row, &["million messages/s", "lost", "× colo"])?;
        for entry in &row.entries {
            let rate = entry.figures.get("per_second").map_or("–".to_owned(), |rate| {
                format!("{:.2} ({:.2}–{:.2})", rate.median / 1e6, rate.low / 1e6, rate.high / 1e6)
            });
            line(page, report, row, entry, &[rate, lost(entry), spread(entry.to_colo.as_ref())])?;
        }
    }
    Ok(())
}

fn sleeper_tables(page: &mut String, report: &Report) -> std::fmt::Result {
    if rows(report, RowKind::Sleepers).next().is_none() {
        return Ok(());
    }
    writeln!(page, "\n## Many sleepers\n")?;
    writeln!(
        page,
        "One writer on a core of its own, the readers asleep on the others, each message for one of them. Latency from \
         before the send until in the reader's hand; the writer's cost is one call of send; CPU is all processes of the \
         block, the writer's spinning core included."
    )?;
    for row in rows(report, RowKind::Sleepers) {
        heading(
            page,
            row,
            &["p50", "p99", "writer p50", "writer p99", "held/s", "lost", "CPU cores", "× colo"],
        )?;
        for entry in &row.entries {
            let plain = |name: &str, digits: usize| {
                entry
                    .figures
                    .get(name)
                    .map_or("–".to_owned(), |spread| format!("{:.digits$}", spread.median))
            };
            let cells = [
                time(entry, "p50_ns"),
                time(entry, "p99_ns"),
                time(entry, "writer_p50_ns"),
                time(entry, "writer_p99_ns"),
                plain("held_per_second", 0),
                lost(entry),
                plain("cpu_cores", 2),
                spread(entry.to_colo.as_ref()),
            ];
            line(page, report, row, entry, &cells)?;
        }
    }
    Ok(())
}

fn deaths(page: &mut String, writers: &[WriterDeaths], readers: &[ReaderDeath]) -> std::fmt::Result {
    if writers.is_empty() {
        return Ok(());
    }
    writeln!(page, "\n## Deaths\n")?;
    writeln!(
        page,
        "A writer is killed (SIGKILL) while it writes, and started again; one reader is attached all the time. Time is \
         from when the new writer begins to open until that reader has its first message; after {} s it counts as never.\n",
        writers.first().map_or(0, |first| first.patience_s)
    )?;
    writeln!(page, "| | new writers heard | median | longest | torn | gaps | said |")?;
    writeln!(page, "|---|---:|---:|---:|---:|---:|---|")?;
    for death in writers {
        writeln!(
            page,
            "| {} | {} of {} | {} | {} | {} | {} | {} |",
            bold(death.rival),
            death.heard,
            death.kills,
            millis(death.median_ms),
            millis(death.longest_ms),
            death.torn,
            death.gaps,
            death.said.as_deref().unwrap_or("").replace('|', "/"),
        )?;
    }
    writeln!(
        page,
        "\nOne of two readers that get everything is killed: the other's longest silence since.\n"
    )?;
    writeln!(page, "| | silence | said |")?;
    writeln!(page, "|---|---:|---|")?;
    for death in readers {
        let silence = if death.for_ever {
            format!("more than {} s", death.patience_s)
        } else {
            millis(death.silence_ms)
        };
        let said = death.said.as_deref().unwrap_or("").replace('|', "/");
        writeln!(page, "| {} | {silence} | {said} |", bold(death.rival))?;
    }
    Ok(())
}

fn lost(entry: &Entry) -> String {
    entry.figures.get("lost_share").map_or("–".to_owned(), |lost| {
        if lost.high == 0.0 { "nothing".to_owned() } else { format!("{:.1} %", lost.median * 100.0) }
    })
}

fn bold(name: &str) -> String {
    if name == "colo" { "**colo**".to_owned() } else { name.to_owned() }
}

fn millis(value: Option<f64>) -> String {
    value.map_or("–".to_owned(), |value| format!("{value:.2} ms"))
}

fn time(entry: &Entry, name: &str) -> String {
    entry.figures.get(name).map_or("–".to_owned(), |spread| nanos(spread.median))
}

/// A time with three digits.
pub(super) fn nanos(value: f64) -> String {
    match value {
        value if value < 1_000.0 => format!("{value:.0} ns"),
        value if value < 100_000.0 => format!("{:.1} µs", value / 1e3),
        value if value < 1_000_000.0 => format!("{:.0} µs", value / 1e3),
        value => format!("{:.1} ms", value / 1e6),
    }
}

fn spread(spread: Option<&Spread>) -> String {
    spread.map_or("–".to_owned(), |spread| {
        let digits = if spread.median < 10.0 { 2 } else { 0 };
        format!("{:.digits$} ({:.digits$}–{:.digits$})", spread.median, spread.low, spread.high)
    })
}

#[cfg(test)]
mod tests {
    use super::nanos;

    #[test]
    fn times_keep_their_unit_readable() {
        let told = [75.4, 1_234.0, 250_000.0, 12_345_678.0].map(nanos);
        assert_eq!(told, ["75 ns", "1.2 µs", "250 µs", "12.3 ms"]);
    }
}
