//! The rates for people.

use observe::{JournalRates, NodeRates, Rates};

use crate::output::{bytes, number, table};
use crate::verbs::report::late_sleeps;
use crate::verbs::seats::{damaged_text, held_text};

/// Lines besides the rows of the two tables: three of totals, two heads, two empty ones, two "more".
const FRAME: usize = 9;

/// All of it in at most `lines` lines: what is cut is said.
pub(super) fn text(report: &Rates, lines: usize) -> String {
    let said = held_text(report.nodes.iter().map(|node| &node.seated)) + &damaged_text(&report.damaged);
    let room = lines.saturating_sub(FRAME + said.lines().count());
    let (nodes, journals) = shares(room, report.nodes.len(), report.journals.len());
    let mut text = totals(report);
    text.push_str(&said);
    text.push('\n');
    let shown = report.nodes.iter().take(nodes).map(node);
    text.push_str(&table(
        &[
            "node",
            "state",
            "wait",
            "cpu",
            "cpu %",
            "read/s",
            "written/s",
            "wakes/s",
            "orders/s",
            "lag",
            "lost",
            "t2o p50",
            "p99 µs",
        ],
        3,
        shown,
    ));
    text.push_str(&more(report.nodes.len() - nodes, "nodes"));
    text.push('\n');
    let shown = busiest(&report.journals).into_iter().take(journals).map(journal);
    text.push_str(&table(
        &["journal", "writer", "frames/s", "bytes/s", "wakes/s", "full/s", "readers", "lag", "of", "lost"],
        2,
        shown,
    ));
    text.push_str(&more(report.journals.len() - journals, "journals"));
    text
}

/// How many nodes and journals fit: all, or half of the room each, and what one leaves the other takes.
fn shares(room: usize, nodes: usize, journals: usize) -> (usize, usize) {
    let half = room / 2;
    let shown = nodes.min(half.max(room.saturating_sub(journals)));
    (shown, journals.min(room - shown))
}

fn more(hidden: usize, what: &str) -> String {
    match hidden {
        0 => String::new(),
        hidden => format!("… {hidden} more {what}; --once shows all\n"),
    }
}

fn totals(report: &Rates) -> String {
    let totals = &report.totals;
    let master = if report.master { "" } else { ", without master" };
    let t2o = match (totals.t2o.p50_us, totals.t2o.p99_us, totals.t2o.max_us) {
        (Some(p50), Some(p99), Some(max)) => {
            format!("t2o of {} orders: p50 {p50:.1}, p99 {p99:.1}, max {max:.1} µs", number(totals.t2o.n))
        }
        _ => "no order answered a quote".to_owned(),
    };
    let mut losses = format!("lost {}", bytes(totals.lost_bytes));
    if totals.wait_timeouts_with_data > 0 {
        let of = report.nodes.iter().map(|node| (node.seated.node.as_str(), node.wait_timeouts_with_data));
        losses.push_str(&format!(", {}", late_sleeps(totals.wait_timeouts_with_data, of)));
    }
    if totals.t2o_lost_bytes > 0 {
        losses.push_str(&format!(
            ", {} of samples came too fast (the nodes' t2o lack them)",
            bytes(totals.t2o_lost_bytes)
        ));
    }
    format!(
        "instance {}: {}{master}, over {:.1} s\n\
         {} quotes/s, {} orders/s, {} fills/s, {} wake-ups/s; {losses}\n\
         {t2o}\n",
        report.instance,
        report.phase,
        report.interval_s,
        rate(totals.quotes_per_s),
        rate(totals.orders_per_s),
        rate(totals.fills_per_s),
        rate(totals.wakes_per_s),
    )
}

fn node(row: &NodeRates) -> Vec<String> {
    let dash = || "-".to_owned();
    let tenths = |value: f64| format!("{value:.1}");
    vec![
        row.seated.node.clone(),
        row.seated.state.clone(),
        row.seated.mode.clone(),
        row.seated.cpu.map_or_else(dash, |cpu| cpu.to_string()),
        row.cpu_percent.map_or_else(dash, tenths),
        rate(row.frames_read_per_s),
        rate(row.frames_written_per_s),
        rate(row.wakes_per_s),
        rate(row.orders_per_s),
        bytes(row.lag_bytes),
        bytes(row.lost_bytes),
        row.t2o_p50_us.map_or_else(dash, tenths),
        row.t2o_p99_us.map_or_else(dash, tenths),
    ]
}

/// Those that lose or hold up first, then by bytes.
fn busiest(journals: &[JournalRates]) -> Vec<&JournalRates> {
    let mut sorted: Vec<&JournalRates> = journals.iter().collect();
    sorted
        .sort_by(|a, b| b.full_per_s.total_cmp(&a.full_per_s).then(b.bytes_per_s.total_cmp(&a.bytes_per_s)));
    sorted
}

fn journal(row: &JournalRates) -> Vec<String> {
    vec![
        row.journal.clone(),
        match (&row.writer, row.writer_state) {
            (Some(writer), "alive") => writer.clone(),
            (Some(writer), state) => format!("{writer}, {state}"),
            (None, _) => "-".to_owned(),
        },
        rate(row.frames_per_s),
        bytes(row.bytes_per_s.round() as u64),
        rate(row.wakes_per_s),
        rate(row.full_per_s),
        row.readers.to_string(),
        bytes(row.lag_bytes),
        row.lag_reader.clone().unwrap_or_else(|| "-".to_owned()),
        bytes(row.lost_bytes),
    ]
}

fn rate(value: f64) -> String {
    number(value.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::shares;

    #[test]
    fn what_one_table_leaves_the_other_takes() {
        assert_eq!(shares(usize::MAX, 13, 23), (13, 23));
        assert_eq!(shares(20, 13, 23), (10, 10));
        assert_eq!(shares(20, 3, 23), (3, 17));
        assert_eq!(shares(20, 23, 3), (17, 3));
        assert_eq!(shares(0, 5, 5), (0, 0));
    }
}
