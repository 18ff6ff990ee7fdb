//! What `colo matching verify` prints.

use std::fmt::Write;

use matching::verify::{Difference, Report};
use serde::Serialize;

use crate::args::OrderSource;
use crate::output::{count, number};

/// Securities that a text lists one by one.
const LISTED: usize = 12;

#[derive(Serialize)]
pub(super) struct Output<'a> {
    source: &'static str,
    identical: bool,
    compared: Vec<&'static str>,
    not_compared: Vec<&'static str>,
    unknown_order: u64,
    securities: Vec<SecurityOutput<'a>>,
}

#[derive(Serialize)]
struct SecurityOutput<'a> {
    id: &'a str,
    orders: u64,
    orders_refused: u64,
    trades: u64,
    trades_identical: u64,
    trades_extra: u64,
    trades_hidden: u64,
    cancels: u64,
    cancels_identical: u64,
    auctions: u64,
    auctions_identical: u64,
    snapshots: u64,
    snapshots_identical: u64,
    totals: u64,
    totals_identical: u64,
    statistics: u64,
    statistics_identical: u64,
    clocks_off: u64,
    cut_short: bool,
    corrected: u64,
    differences: u64,
    first_difference: Option<DifferenceOutput<'a>>,
    listed: Vec<DifferenceOutput<'a>>,
}

#[derive(Serialize)]
struct DifferenceOutput<'a> {
    what: &'static str,
    place: String,
    order: Option<u64>,
    expected: &'a str,
    found: &'a str,
}

impl<'a> Output<'a> {
    pub(super) fn of(
        source: OrderSource,
        unknown_order: u64,
        reports: &'a [(String, Report)],
        lists_all: bool,
    ) -> Output<'a> {
        let (compared, not_compared) = scope(source, reports);
        Output {
            source: name(source),
            identical: reports.iter().all(|(_, report)| report.differences == 0),
            compared,
            not_compared,
            unknown_order,
            securities: reports
                .iter()
                .map(|(id, report)| SecurityOutput::of(id, report, lists_all))
                .collect(),
        }
    }
}

impl<'a> SecurityOutput<'a> {
    fn of(id: &'a str, report: &'a Report, lists_all: bool) -> SecurityOutput<'a> {
        SecurityOutput {
            id,
            orders: report.orders,
            orders_refused: report.refused,
            trades: report.trades,
            trades_identical: report.trades_identical,
            trades_extra: report.trades_extra,
            trades_hidden: report.trades_hidden,
            cancels: report.cancels,
            cancels_identical: report.cancels_identical,
            auctions: report.auctions,
            auctions_identical: report.auctions_identical,
            snapshots: report.snapshots,
            snapshots_identical: report.snapshots_identical,
            totals: report.totals,
            totals_identical: report.totals_identical,
            statistics: report.statistics,
            statistics_identical: report.statistics_identical,
            clocks_off: report.clocks_off,
            cut_short: report.is_cut,
            corrected: report.corrected,
            differences: report.differences,
            first_difference: report.first_difference().map(DifferenceOutput::of),
            listed: shown(report, lists_all).iter().map(DifferenceOutput::of).collect(),
        }
    }
}

impl<'a> DifferenceOutput<'a> {
    fn of(difference: &'a Difference) -> DifferenceOutput<'a> {
        DifferenceOutput {
            what: difference.what.name(),
            place: difference.place.to_string(),
            order: difference.order,
            expected: &difference.expected,
            found: &difference.found,
        }
    }
}

/// The differences that are printed of a security.
fn shown(report: &Report, lists_all: bool) -> &[Difference] {
    let most = if lists_all { usize::MAX } else { 1 };
    &report.listed[..report.listed.len().min(most)]
}

fn name(source: OrderSource) -> &'static str {
    match source {
        OrderSource::Sse => "sse",
        OrderSource::Lobster => "lobster",
        OrderSource::Pitch => "pitch",
    }
}

/// What is compared, and what the feed does not tell.
fn scope(source: OrderSource, reports: &[(String, Report)]) -> (Vec<&'static str>, Vec<&'static str>) {
    if source == OrderSource::Sse {
        let mut compared = vec![
            "trades: both orders, price, quantity, order in time, money",
            "auctions: price, volume, every trade in sequence",
            "cancels: side and price of the order, what was left of it",
            "clocks of orders and cancels: between those of the rows before and behind",
        ];
        let snapshots = "snapshots of continuous trading: ten levels, price, volume, number of orders";
        let has_snapshots = reports.iter().any(|(_, report)| report.snapshots > 0);
        let mut not_compared = vec!["snapshots outside of continuous trading"];
        if has_snapshots {
            compared.push(snapshots);
            if reports.iter().any(|(_, report)| report.totals > 0) {
                compared
                    .push("snapshots of continuous trading: volume, orders and prices of each side in total");
            }
            if reports.iter().any(|(_, report)| report.statistics > 0) {
                compared
                    .push("snapshots of continuous trading: volume, turnover, last, high and low of the day");
            }
        } else {
            not_compared.insert(0, "snapshots of continuous trading: no file was given");
        }
        return (compared, not_compared);
    }
    let compared = vec![
        "trades: the resting order, price, quantity, order in time",
        "cancels: side and price of the order, what was left of it, or that so much was left",
        "clocks: no row before the one that precedes it",
    ];
    let mut not_compared = vec![
        "the incoming order of a trade: the feed does not name it",
        "trades with orders that are never shown",
        "auctions and halts: the feed does not tell which orders take part",
    ];
    if source == OrderSource::Lobster {
        not_compared.push("orders that rest out of the file's levels and are never mentioned");
    } else {
        not_compared.push("orders from before the first message: the feed does not give their symbol");
    }
    (compared, not_compared)
}

/// The same for people.
pub(super) fn text(
    source: OrderSource,
    unknown_order: u64,
    reports: &[(String, Report)],
    lists_all: bool,
) -> String {
    let mut text = String::new();
    let (same, differing): (Vec<_>, Vec<_>) = reports.iter().partition(|(_, report)| report.differences == 0);
    if reports.len() > LISTED {
        line(&mut text, &format!("{} securities", number(reports.len() as u64)), &sum(reports));
    }
    let listed = if reports.len() > LISTED { &differing } else { &reports.iter().collect::<Vec<_>>() };
    let most = if lists_all { usize::MAX } else { LISTED };
    for (id, report) in listed.iter().take(most) {
        line(&mut text, id, report);
        for (index, one) in shown(report, lists_all).iter().enumerate() {
            let number = match lists_all {
                true => format!("{} of {}", index + 1, count(report.differences, "difference")),
                false => format!("first of {}", count(report.differences, "difference")),
            };
            difference(&mut text, &number, one);
        }
    }
    if differing.len() > most {
        let _ = writeln!(text, "and {} more that differ", number((differing.len() - LISTED) as u64));
    }
    let _ = writeln!(text, "identical: {} of {}", number(same.len() as u64), number(reports.len() as u64));
    let (compared, not_compared) = scope(source, reports);
    for (head, list) in [("compared", compared), ("not compared", not_compared)] {
        list.iter().for_each(|item| {
            let _ = writeln!(text, "{head}: {item}");
        });
    }
    if unknown_order > 0 {
        let _ = writeln!(text, "left out: {} about orders that no row adds", count(unknown_order, "row"));
    }
    text
}

fn line(text: &mut String, id: &str, report: &Report) {
    // "1 of 1 trade identical": what is counted is all of them.
    let of = |identical: u64, all: u64, what: &str| {
        let (first, rest) =
            what.split_once(' ').map_or((what, String::new()), |(one, of)| (one, format!(" {of}")));
        format!("{} of {}{rest}", number(identical), count(all, first))
    };
    let mut parts = vec![
        count(report.orders, "order"),
        of(report.trades_identical, report.trades, "trade identical"),
        of(report.cancels_identical, report.cancels, "cancel"),
    ];
    if report.auctions > 0 {
        parts.push(of(report.auctions_identical, report.auctions, "auction"));
    }
    if report.snapshots > 0 {
        parts.push(of(report.snapshots_identical, report.snapshots, "snapshot"));
    }
    if report.totals > 0 {
        parts.push(of(report.totals_identical, report.totals, "total of snapshots"));
    }
    if report.statistics > 0 {
        parts.push(of(report.statistics_identical, report.statistics, "snapshot with statistics"));
    }
    for (all, what, of_them) in [
        (report.clocks_off, "time", "out of order"),
        (report.refused, "order", "refused"),
        (report.trades_extra, "trade", "that the market did not make"),
        (report.corrected, "order", "corrected"),
        (report.trades_hidden, "trade", "not comparable"),
    ] {
        if all > 0 {
            parts.push(format!("{} {of_them}", count(all, what)));
        }
    }
    let _ = writeln!(text, "{id}: {}", parts.join(", "));
    if report.is_cut {
        let _ =
            writeln!(text, "  cut short: no row of the day's last three minutes, so its end is not compared");
    }
}

fn difference(text: &mut String, number: &str, one: &Difference) {
    let order = one.order.map_or_else(String::new, |order| format!(", order {order}"));
    let _ = writeln!(
        text,
        "  {number}: {} ({}{order})\n    expected: {}\n    found:    {}",
        one.what.name(),
        one.place,
        one.expected,
        one.found
    );
}

fn sum(reports: &[(String, Report)]) -> Report {
    reports.iter().fold(Report::default(), |mut sum, (_, report)| {
        sum.orders += report.orders;
        sum.refused += report.refused;
        sum.trades += report.trades;
        sum.trades_identical += report.trades_identical;
        sum.trades_extra += report.trades_extra;
        sum.trades_hidden += report.trades_hidden;
        sum.cancels += report.cancels;
        sum.cancels_identical += report.cancels_identical;
        sum.auctions += report.auctions;
        sum.auctions_identical += report.auctions_identical;
        sum.snapshots += report.snapshots;
        sum.snapshots_identical += report.snapshots_identical;
        sum.totals += report.totals;
        sum.totals_identical += report.totals_identical;
        sum.statistics += report.statistics;
        sum.statistics_identical += report.statistics_identical;
        sum.clocks_off += report.clocks_off;
        sum.corrected += report.corrected;
        sum
    })
}
