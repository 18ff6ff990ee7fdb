//! The report of a run, for people.

use std::collections::BTreeMap;

use node::{Exit, InstanceDir, NodeState};
use observe::{Lost, Matched, NOTHING_BETWEEN, NodeOutcome, Report, Requests, StageSummary, Stages};
use wire::stages::STAGES;

use crate::failure::Failure;
use crate::output::{self, Format, count, number, table};
use crate::verbs::irregular;

/// Prints a report.
pub(crate) fn print(report: &Report, format: Format) -> Result<(), Failure> {
    match format {
        Format::Json => output::print_json(report),
        Format::Text => output::print(&text(report)),
    }
}

/// A run in which a node failed has failed, whatever it measured, and so has one whose end is not on disk or not finished. A node's exit
/// code is its own: what `colo` ends with says what came of the verb. Of a strategy that never started there is no result.
pub(crate) fn exit(report: &Report) -> u8 {
    match (report.failed_nodes().next(), report.never_started.is_empty()) {
        (Some(_), _) => Exit::Failed.code(),
        (None, _) if none(report).is_some() => Exit::CheckFailed.code(),
        (None, false) if is_whole(report) => Exit::Inconclusive.code(),
        (None, _) => exit_of_stop(report),
    }
}

/// The caveat that says that there is no result.
pub(crate) fn none(report: &Report) -> Option<&str> {
    report.caveats.iter().map(String::as_str).find(|caveat| caveat.starts_with(NOTHING_BETWEEN))
}

/// Taking a platform down has failed when what was to be recorded went with it, or what was begun is not finished.
pub(crate) fn exit_of_stop(report: &Report) -> u8 {
    if is_whole(report) { Exit::Done.code() } else { Exit::Failed.code() }
}

fn is_whole(report: &Report) -> bool {
    report.unrecorded.is_empty() && report.unfinished.is_empty()
}

pub(crate) fn text(report: &Report) -> String {
    let mut text = String::new();
    text.push_str(&stages(&report.stages));
    text.push('\n');
    text.push_str(&totals(report));
    if !report.strategies.is_empty() {
        text.push('\n');
        text.push_str(&strategies(report));
    }
    text.push('\n');
    text.push_str(&losses(report));
    text.push_str(&memory(report));
    for caveat in &report.caveats {
        text.push_str(&format!("caveat: {caveat}\n"));
    }
    for node in report.failed_nodes() {
        text.push_str(&failed(&report.instance, node));
    }
    for node in report.nodes.iter().filter(|node| node.by_a_person) {
        text.push_str(&format!("node {} was stopped by a person\n", node.name));
    }
    let came_again = |node: &&NodeOutcome| node.starts > 1 && node.name != "master";
    for node in report.nodes.iter().filter(came_again) {
        text.push_str(&format!("node {} was started {} times\n", node.name, node.starts));
    }
    text
}

/// How a node failed, and where its last words are.
fn failed(instance: &str, node: &NodeOutcome) -> String {
    let lived = matches!(node.state, NodeState::Joined | NodeState::Running | NodeState::Finished);
    let how = match node.exit {
        _ if node.overstayed => "did not stop when it was asked to, and was killed".to_owned(),
        Some(code @ 129..) if lived => {
            format!("{} while the platform was being stopped", node::how_it_ended(code))
        }
        Some(0) => "ended with exit code 0, before it was asked to".to_owned(),
        Some(code) => node::how_it_ended(code),
        None => "ended without an exit code".to_owned(),
    };
    let again = if node.state == NodeState::Failed { "; it was not started again" } else { "" };
    let log = InstanceDir::new(instance).map(|instance| instance.log(&node.name));
    // A strategy in a host has its words in the host's.
    let log =
        log.filter(|log| log.exists()).map_or(String::new(), |log| format!(" (log: {})", log.display()));
    let reason = node.reason.as_ref().map_or(String::new(), |reason| format!(": {reason}"));
    format!("node {} failed: it {how}{again}{log}{reason}\n", node.name)
}

/// The t2o table.
pub(crate) fn stages(stages: &Stages) -> String {
    let row = |name: &str| -> Option<Vec<String>> {
        let summary = stages.stages.get(name).filter(|summary| summary.n > 0)?;
        let StageSummary { n, mean_us, p50_us, p90_us, p99_us, p999_us, max_us } = *summary;
        let mut row = vec![name.to_owned(), number(n)];
        row.extend([mean_us, p50_us, p90_us, p99_us, p999_us, max_us].map(|time| format!("{time:.1}")));
        Some(row)
    };
    let rows: Vec<Vec<String>> = STAGES.into_iter().filter_map(row).collect();
    let untimed = untimed(stages);
    if rows.is_empty() {
        return format!("no order answered a quote: there is no tick-to-order time to show\n{untimed}");
    }
    let head = ["stage, µs", "n", "mean", "p50", "p90", "p99", "p99.9", "max"];
    table(&head, 1, rows) + &untimed
}

/// Why the stages have fewer orders than there were.
fn untimed(stages: &Stages) -> String {
    let reasons = [
        (stages.orders_without_quote, "answered no quote (a timer, a report or a start caused them)"),
        (stages.disordered_samples, "have times that contradict each other"),
        (stages.orders_of_old_quotes, "answered a quote of before the recovery"),
        (stages.orders_before_recovery, "came before the recovery"),
        (stages.orders_not_taken, "were not taken by td"),
    ];
    let reasons: Vec<String> = reasons
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, reason)| format!("{} {reason}", number(*count)))
        .collect();
    if reasons.is_empty() {
        String::new()
    } else {
        format!("orders without these times: {}\n", reasons.join(", "))
    }
}

fn totals(report: &Report) -> String {
    let totals = &report.totals;
    let mut line = format!(
        "{} quotes, {} trade prints, {}, {} fills in {:.1} s",
        number(totals.quotes),
        number(totals.trades),
        requests(&totals.requests),
        number(totals.fills),
        report.seconds,
    );
    line.push('\n');
    line.push_str(&matched(&report.matched));
    if report.source.messages > 0 {
        line.push_str(&format!(
            "\nsource: {} messages read, {} left out on purpose, {} not understood or missing; {} order-flow events published",
            number(report.source.messages),
            number(report.source.skipped),
            number(report.source.rejected),
            number(totals.book_events),
        ));
        line.push_str(&irregular::text(&report.source.irregular, totals.quotes));
    }
    if report.deterministic {
        line.push_str(lock_step(report));
    }
    line + "\n"
}

/// The trades, how many of them between strategies, and by which rules.
pub(crate) fn matched(matched: &Matched) -> String {
    let share = matched.own_share.map_or(String::new(), |share| format!(" ({:.1} %)", share * 100.0));
    let (trades, own) = (number(matched.trades), number(matched.own_trades));
    let rules = matched.rules.as_ref().map_or(String::new(), |rules| format!("; {}", rules.written()));
    format!("{trades} trades, {own} of them{share} between strategies{rules}")
}

/// Only a run that came to its own end, without a death, repeats.
fn lock_step(report: &Report) -> &'static str {
    let finished = |node: &NodeOutcome| node.name == "md" && node.state == NodeState::Finished;
    if !report.nodes.iter().any(finished) {
        "\nran in lock-step, and was stopped before the end of its source: the whole run has these fills first"
    } else if report.nodes.iter().any(|node| node.starts > 1) {
        "\nran in lock-step, and a node was started again: another run may give other fills"
    } else {
        "\nran in lock-step: the same files and seed give the same fills"
    }
}

/// Orders, cancels and replaces, each with how many of them were refused.
pub(crate) fn requests(requests: &Requests) -> String {
    let of = |count: u64, what: &str, rejected: u64| {
        let rejected = if rejected > 0 { format!(" ({} rejected)", number(rejected)) } else { String::new() };
        format!("{} {what}{rejected}", number(count))
    };
    [
        of(requests.orders, "orders", requests.rejected),
        of(requests.cancels, "cancels", requests.cancels_rejected),
        of(requests.replaces, "replaces", requests.replaces_rejected),
    ]
    .join(", ")
}

fn strategies(report: &Report) -> String {
    let rows = report.strategies.iter().map(|strategy| {
        vec![
            strategy.name.clone(),
            number(strategy.requests.orders),
            number(strategy.requests.rejected),
            number(strategy.fills),
            strategy.position.to_string(),
            format!("{:.2}", strategy.pnl),
        ]
    });
    table(&["strategy", "orders", "rejected", "fills", "position", "pnl"], 1, rows)
}

/// The rings by the pages that are behind them.
fn memory(report: &Report) -> String {
    let mut kinds: BTreeMap<String, (usize, u64)> = BTreeMap::new();
    for row in &report.memory {
        let kind =
            row.pages.map_or("pages that could not be looked at".to_owned(), |pages| pages.to_string());
        let (count, bytes) = kinds.entry(kind).or_default();
        *count += 1;
        *bytes += row.bytes;
    }
    let kinds: Vec<String> = kinds
        .into_iter()
        .map(|(kind, (count, bytes))| format!("{count} on {kind} ({})", output::bytes(bytes)))
        .collect();
    if kinds.is_empty() { String::new() } else { format!("journals: {}\n", kinds.join(", ")) }
}

fn losses(report: &Report) -> String {
    let mut text: String = report.unfinished.iter().map(|row| format!("not finished: {row}\n")).collect();
    text.extend(report.unrecorded.iter().map(|row| format!("not recorded: {row}\n")));
    if report.orders_lost > 0 {
        let orders = count(report.orders_lost, "working order");
        text.push_str(&format!("lost: {orders}, cancelled because matching's books were not found again\n"));
    }
    // Beside these, "nothing" would be wrong.
    if text.is_empty() || report.lost > 0 {
        text.push_str(&lost(&report.lost_by));
    }
    text + &slips(report)
}

/// What was not lost, and is not as it should be.
fn slips(report: &Report) -> String {
    let mut text = String::new();
    if report.closed_rejects > 0 {
        let requests = count(report.closed_rejects, "request");
        text.push_str(&format!("  {requests} refused: the market was closed\n"));
    }
    if report.wait_timeouts_with_data > 0 {
        let of = report.nodes.iter().map(|node| (node.name.as_str(), node.wait_timeouts_with_data));
        text.push_str(&format!("  {}\n", late_sleeps(report.wait_timeouts_with_data, of)));
    }
    if report.stages.disordered_samples > 0 {
        text.push_str(&format!("  {} samples contradict themselves\n", report.stages.disordered_samples));
    }
    text
}

/// Sleeps that only the safety time-out ended, and whose they were.
pub(crate) fn late_sleeps<'a>(all: u64, of: impl Iterator<Item = (&'a str, u64)>) -> String {
    let mut owners: Vec<(&str, u64)> = of.filter(|(_, sleeps)| *sleeps > 0).collect();
    owners.sort_by_key(|(_, sleeps)| std::cmp::Reverse(*sleeps));
    let named: Vec<String> =
        owners.iter().map(|(name, sleeps)| format!("{name} {}", number(*sleeps))).collect();
    let were = if all == 1 { "was" } else { "were" };
    format!("{} {were} not ended in time: {}", count(all, "sleep"), named.join(", "))
}

/// A line for each reader and journal.
pub(crate) fn lost(lost_by: &[Lost]) -> String {
    let line = |lost: &Lost| {
        let mut what = Vec::new();
        if lost.gaps > 0 {
            what.push(format!("{} in {}", output::bytes(lost.bytes), count(lost.gaps, "lap")));
        }
        if lost.undelivered > 0 {
            what.push(format!("{} that td gave up", count(lost.undelivered, "message")));
        }
        format!("lost: {} of {}: {}\n", lost.node, lost.journal, what.join(", "))
    };
    if lost_by.is_empty() { "lost: nothing\n".to_owned() } else { lost_by.iter().map(line).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleeps_that_ended_late_have_owners() {
        let of = |nodes: &[(&'static str, u64)]| {
            late_sleeps(nodes.iter().map(|(_, sleeps)| sleeps).sum(), nodes.iter().copied())
        };
        assert_eq!(of(&[("md", 0), ("td", 1)]), "1 sleep was not ended in time: td 1");
        let several = of(&[("md", 2), ("td", 0), ("ledger", 1_000)]);
        assert_eq!(several, "1,002 sleeps were not ended in time: ledger 1,000, md 2");
    }
}
