//! The rates for people.

use observe::{JournalRates, Rates};

use super::columns::{self, rate};
use super::view::{Extent, Pane, View};
use crate::output::{bytes, number};
use crate::verbs::report::late_sleeps;
use crate::verbs::seats::{damaged_text, held_text};

/// Lines besides the rows of the two tables: three of totals, two heads, two empty ones, two "more".
const FRAME: usize = 9;

const KEYS: &str =
    "q ends · Tab the other table · ↑ ↓ PgUp PgDn rows · ← → sort by · r other way round · h this line\n";

/// All of it.
pub(super) fn text(report: &Rates) -> String {
    drawn(report, &View::default(), (usize::MAX, usize::MAX)).0
}

/// As much as fits into so many columns and lines: what is cut is said. And what the table in front comes to.
pub(super) fn drawn(report: &Rates, view: &View, (width, lines): (usize, usize)) -> (String, Extent) {
    let said = held_text(report.nodes.iter().map(|node| &node.seated)) + &damaged_text(&report.damaged);
    let frame = FRAME + said.lines().count() + usize::from(view.has_help);
    let (nodes, journals) = shares(lines.saturating_sub(frame), report.nodes.len(), report.journals.len());
    let mut text = if view.has_help { KEYS.to_owned() } else { String::new() };
    text.push_str(&totals(report));
    text.push_str(&said);
    text.push('\n');
    let rows = columns::sorted(report.nodes.iter().collect(), columns::NODES, &view.nodes);
    let first = view.nodes.first.min(rows.len() - nodes);
    let (drawn, hidden) = columns::drawn(&rows[first..first + nodes], columns::NODES, 3, &view.nodes, width);
    text.push_str(&drawn);
    text.push_str(&more(rows.len() - nodes, hidden, "nodes"));
    text.push('\n');
    let rows = columns::sorted(busiest(&report.journals), columns::JOURNALS, &view.journals);
    let first = view.journals.first.min(rows.len() - journals);
    let (drawn, hidden) =
        columns::drawn(&rows[first..first + journals], columns::JOURNALS, 2, &view.journals, width);
    text.push_str(&drawn);
    text.push_str(&more(rows.len() - journals, hidden, "journals"));
    let extent = match view.pane {
        Pane::Nodes => Extent { rows: report.nodes.len(), columns: columns::NODES.len(), page: nodes },
        Pane::Journals => Extent { rows: rows.len(), columns: columns::JOURNALS.len(), page: journals },
    };
    (text, extent)
}

/// How many nodes and journals fit: all, or half of the room each, and what one leaves the other takes.
fn shares(room: usize, nodes: usize, journals: usize) -> (usize, usize) {
    let half = room / 2;
    let shown = nodes.min(half.max(room.saturating_sub(journals)));
    (shown, journals.min(room - shown))
}

fn more(rows: usize, columns: usize, what: &str) -> String {
    let rows = (rows > 0).then(|| format!("{rows} more {what}"));
    let columns = (columns > 0).then(|| format!("{columns} columns have no room"));
    let hidden: Vec<String> = rows.into_iter().chain(columns).collect();
    if hidden.is_empty() { String::new() } else { format!("… {}; --once shows all\n", hidden.join(", ")) }
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

/// Those that lose or hold up first, then by bytes.
fn busiest(journals: &[JournalRates]) -> Vec<&JournalRates> {
    let mut sorted: Vec<&JournalRates> = journals.iter().collect();
    sorted
        .sort_by(|a, b| b.full_per_s.total_cmp(&a.full_per_s).then(b.bytes_per_s.total_cmp(&a.bytes_per_s)));
    sorted
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
