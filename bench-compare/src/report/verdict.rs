//! Summarises the tables in words: the first in each row, and its margin.

use super::markdown::nanos;
use super::{Entry, Report, RowSummary};
use crate::driver::RowKind;

/// One line for each row, which names the best rival.
pub(crate) fn lines(report: &Report) -> Vec<String> {
    let mut lines: Vec<String> = report.rows.iter().filter_map(of_row).collect();
    lines.extend(of_writer_deaths(report));
    lines.extend(of_reader_deaths(report));
    lines
}

fn of_writer_deaths(report: &Report) -> Option<String> {
    let colo = report.writer_deaths.iter().find(|death| death.rival == "colo")?;
    let mut line = format!(
        "**Writer killed**: colo's reader heard {} of {} new writers; {} torn, {} gaps",
        colo.heard, colo.kills, colo.torn, colo.gaps
    );
    let heard_all = report.writer_deaths.iter().filter(|death| death.heard == death.kills);
    let times = heard_all.filter_map(|death| Some((death.median_ms?, death.rival)));
    line.push_str(&first_to_be_back(times, colo.median_ms));
    Some(line)
}

fn of_reader_deaths(report: &Report) -> Option<String> {
    let colo = report.reader_deaths.iter().find(|death| death.rival == "colo")?;
    let went_on = report.reader_deaths.iter().filter(|death| !death.for_ever);
    let times = went_on.filter_map(|death| Some((death.silence_ms?, death.rival)));
    let own = colo.silence_ms.filter(|_| !colo.for_ever);
    Some(format!("**Reader killed**: the other reader's longest silence{}", first_to_be_back(times, own)))
}

/// The shortest of these times in milliseconds, compared with colo's.
fn first_to_be_back(times: impl Iterator<Item = (f64, &'static str)>, own: Option<f64>) -> String {
    match (times.min_by(|a, b| a.0.total_cmp(&b.0)), own) {
        (Some((_, "colo")), Some(own)) => format!("; colo is first with {own:.2} ms."),
        (Some((best, rival)), Some(own)) => {
            format!("; **{rival} wins** with {best:.2} ms against colo's {own:.2} ms.")
        }
        (Some((best, rival)), None) => format!("; **{rival} wins** with {best:.2} ms; colo did not go on."),
        (None, _) => ".".to_owned(),
    }
}

fn figure(entry: &Entry, name: &str) -> Option<f64> {
    entry.figures.get(name).map(|spread| spread.median)
}

fn of_row(row: &RowSummary) -> Option<String> {
    let ranked: Vec<&Entry> =
        row.entries.iter().filter(|entry| entry.ranked && entry.error.is_none()).collect();
    let first = ranked.first()?;
    let colo = ranked.iter().find(|entry| entry.rival == "colo")?;
    let told = |entry: &Entry| match row.kind {
        RowKind::OneWay => figure(entry, "per_second").map(|rate| format!("{:.1} million/s", rate / 1e6)),
        _ => figure(entry, "p50_ns").map(nanos),
    };
    if row.crowded {
        return Some(format!(
            "**{}**: no ranking. More processes poll than there are CPUs here, so the figures depend on the scheduler.",
            row.title
        ));
    }
    let mut line = format!("**{}**: ", row.title);
    let ours = |entry: &Entry| entry.rival.starts_with("colo");
    if ours(first) {
        line.push_str(&format!("{} is first with {}", first.rival, told(first)?));
        if let Some(second) = ranked.iter().find(|entry| !ours(entry)) {
            line.push_str(&format!("; next is {} with {}", second.rival, told(second)?));
            if let Some(ratio) = second.to_colo {
                line.push_str(&format!(", {:.2} of colo's figure", ratio.median));
            }
        }
    } else {
        let ratio = first.to_colo.map_or(0.0, |ratio| ratio.median);
        line.push_str(&format!(
            "**{} wins** with {} against colo's {} ({ratio:.2} of colo's figure)",
            first.rival,
            told(first)?,
            told(colo)?,
        ));
    }
    if row.kind == RowKind::Ping
        && let Some(to_floor) = figure(colo, "to_floor")
    {
        line.push_str(&format!("; colo is at {to_floor:.2} × the bare word"));
    }
    for (name, said) in [("p99_ns", "p99"), ("p999_ns", "p99.9"), ("writer_p50_ns", "the writer's cost")] {
        let best = ranked.iter().filter_map(|entry| Some((figure(entry, name)?, *entry)));
        let Some((value, best)) = best.min_by(|a, b| a.0.total_cmp(&b.0)) else { continue };
        if !ours(best)
            && let Some(own) = figure(colo, name)
        {
            line.push_str(&format!(
                "; at {said} {} is ahead, {} against {}",
                best.rival,
                nanos(value),
                nanos(own)
            ));
        }
    }
    line.push('.');
    Some(line)
}

/// The number of disturbed blocks.
pub(crate) fn disturbed(report: &Report) -> String {
    let all = report.blocks.len();
    let disturbed = report.blocks.iter().filter(|block| !block.disturbed.is_empty()).count();
    let repeated: usize = report.blocks.iter().map(|block| block.repeated).sum();
    let mut text = format!(
        "Of {all} blocks that count, {disturbed} were disturbed by others (stolen time, foreign load, preemption, cores that \
         moved) even after {repeated} were measured again."
    );
    if disturbed * 4 > all {
        text.push_str(
            " **Measured on a shared host: where every round was disturbed the disturbed ones stand, and tails (p99 and up) \
             say more about the host than about anybody here.**",
        );
    }
    text
}
