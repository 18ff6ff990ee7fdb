//! From a folder's tables to what the page shows of them.

use std::collections::BTreeMap;
use std::path::Path;

use super::thin::{BUCKETS, Point, Thin};
use crate::manifest::Manifest;
use crate::shelf::{ShelfError, read};
use crate::table::{Row, Table};

/// Lines in one picture beside that of all together.
const MOST_LINES: usize = 8;
/// Instruments with a picture of their own.
const MOST_INSTRUMENTS: usize = 4;
/// Bins of the distribution, by octaves of a quarter.
pub(super) const BINS: usize = 80;

/// One strategy's lines.
#[derive(Debug, Default)]
pub(super) struct Lines {
    pub(super) name: String,
    pub(super) equity: Vec<Point>,
    pub(super) position: Vec<Point>,
}

/// An instrument's price, and the fills on it.
#[derive(Debug, Default)]
pub(super) struct Priced {
    pub(super) name: String,
    pub(super) fills: u64,
    pub(super) price: Vec<Point>,
    /// Of each stretch of time the lowest and highest of each side.
    pub(super) bought: Vec<Point>,
    pub(super) sold: Vec<Point>,
}

/// All that the page shows.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    pub(super) manifest: Manifest,
    /// Seconds since the epoch at which the pictures begin, and how long they last.
    pub(super) begin: f64,
    pub(super) length: f64,
    pub(super) total: Vec<Point>,
    pub(super) drawdown: Vec<Point>,
    pub(super) lines: Vec<Lines>,
    /// Strategies that have no line of their own.
    pub(super) without_line: usize,
    pub(super) priced: Vec<Priced>,
    pub(super) without_picture: usize,
    /// The head and rows of `strategies.csv`.
    pub(super) strategies: (Vec<String>, Vec<Row>),
    /// What was refused: of which strategy, what, why, how often.
    pub(super) refused: BTreeMap<(String, &'static str, String), u64>,
    /// Tick-to-order times of orders, by quarter of an octave from 0.1 µs on.
    pub(super) times: Vec<u64>,
    /// Tables that are not as the run left them.
    pub(super) faults: Vec<String>,
    /// Rows that were cut off.
    pub(super) damaged: u64,
}

pub(super) fn gather(folder: &Path) -> Result<Gathered, ShelfError> {
    let mut all = Gathered { manifest: read(folder)?, times: vec![0; BINS], ..Gathered::default() };
    all.faults = crate::whole::faults(folder, &all.manifest);
    span(folder, &mut all)?;
    equity(folder, &mut all)?;
    prices(folder, &mut all)?;
    if let Some(mut table) = Table::open(folder, "strategies.csv")? {
        all.strategies.0 = table.columns().to_vec();
        while let Some(row) = table.next()? {
            all.strategies.1.push(row);
        }
    }
    refusals(folder, &mut all)?;
    times(folder, &mut all)?;
    Ok(all)
}

/// The times of the samples: of a run that was killed the manifest does not know them.
fn span(folder: &Path, all: &mut Gathered) -> Result<(), ShelfError> {
    let Some(mut table) = Table::open(folder, "equity.csv")? else { return Ok(()) };
    let time = table.column("time_ns")?;
    let (mut first, mut last) = (None, 0_u64);
    while let Some(row) = table.next()? {
        let at: u64 = row[time].parse().unwrap_or(0);
        first = first.or(Some(at));
        last = last.max(at);
    }
    let first = first.unwrap_or(last);
    all.begin = first as f64 / 1e9;
    all.length = (last.saturating_sub(first) as f64 / 1e9).max(1e-6);
    all.damaged += table.damaged;
    Ok(())
}

/// Seconds from the begin of the pictures.
fn at(text: &str, begin: f64) -> Option<f64> {
    let time: u64 = text.parse().ok()?;
    let whole = (begin * 1e9) as u64;
    Some(if time >= whole { (time - whole) as f64 / 1e9 } else { 0.0 })
}

fn equity(folder: &Path, all: &mut Gathered) -> Result<(), ShelfError> {
    let Some(mut table) = Table::open(folder, "equity.csv")? else { return Ok(()) };
    let [time, strategy, equity, position] = [
        table.column("time_ns")?,
        table.column("strategy")?,
        table.column("equity")?,
        table.column("position")?,
    ];
    let new = || Thin::new(0.0, all.length);
    let mut lines: BTreeMap<String, (Thin, Thin, f64)> = BTreeMap::new();
    let (mut total, mut drawdown, mut peak, mut sum) = (new(), new(), 0.0_f64, 0.0);
    let mut seen: Option<f64> = None;
    while let Some(row) = table.next()? {
        let Some(now) = at(&row[time], all.begin) else { continue };
        // All rows of one time belong together.
        if let Some(before) = seen.filter(|before| *before != now) {
            peak = peak.max(sum);
            total.add((before, sum));
            drawdown.add((before, sum - peak));
        }
        seen = Some(now);
        let (value, held) = (number(&row[equity]), number(&row[position]));
        let line = lines.entry(row[strategy].clone()).or_insert_with(|| (new(), new(), 0.0));
        sum += value - line.2;
        line.2 = value;
        line.0.add((now, value));
        line.1.add((now, held));
    }
    if let Some(before) = seen {
        total.add((before, sum));
        drawdown.add((before, sum - peak.max(sum)));
    }
    (all.total, all.drawdown) = (total.points(), drawdown.points());
    let mut lines: Vec<(String, (Thin, Thin, f64))> = lines.into_iter().collect();
    lines.sort_by(|one, other| other.1.2.abs().total_cmp(&one.1.2.abs()));
    all.without_line = lines.len().saturating_sub(MOST_LINES);
    let shown = lines.into_iter().take(MOST_LINES).map(|(name, (equity, position, _))| Lines {
        name,
        equity: equity.points(),
        position: position.points(),
    });
    all.lines = shown.collect();
    Ok(())
}

/// By instrument and side: fills, and their lowest and highest price by stretch of time.
#[derive(Debug, Default)]
struct Marks {
    symbol: String,
    fills: u64,
    sides: [BTreeMap<usize, (Point, Point)>; 2],
}

fn prices(folder: &Path, all: &mut Gathered) -> Result<(), ShelfError> {
    let mut marks: BTreeMap<String, Marks> = BTreeMap::new();
    if let Some(mut table) = Table::open(folder, "fills.csv")? {
        let [time, instrument, symbol, side, price] = [
            table.column("time_ns")?,
            table.column("instrument")?,
            table.column("symbol")?,
            table.column("side")?,
            table.column("price")?,
        ];
        while let Some(row) = table.next()? {
            let Some(now) = at(&row[time], all.begin) else { continue };
            let mark = marks.entry(row[instrument].clone()).or_default();
            mark.symbol.clone_from(&row[symbol]);
            mark.fills += 1;
            // A third of the stretches: marks are wider than lines.
            let bucket = (now / all.length * BUCKETS as f64 / 3.0) as usize;
            let point = (now, number(&row[price]));
            let side = &mut mark.sides[usize::from(row[side] == "sell")];
            let (low, high) = side.entry(bucket).or_insert((point, point));
            if point.1 < low.1 {
                *low = point;
            }
            if point.1 > high.1 {
                *high = point;
            }
        }
        all.damaged += table.damaged;
    }
    let mut most: Vec<(String, Marks)> = marks.into_iter().collect();
    most.sort_by_key(|(_, mark)| std::cmp::Reverse(mark.fills));
    all.without_picture = most.len().saturating_sub(MOST_INSTRUMENTS);
    most.truncate(MOST_INSTRUMENTS);
    let mut lines: BTreeMap<&str, Thin> =
        most.iter().map(|(instrument, _)| (instrument.as_str(), Thin::new(0.0, all.length))).collect();
    if let Some(mut table) = Table::open(folder, "prices.csv")? {
        let [time, instrument, mark] =
            [table.column("time_ns")?, table.column("instrument")?, table.column("mark")?];
        while let Some(row) = table.next()? {
            if let (Some(now), Some(line)) =
                (at(&row[time], all.begin), lines.get_mut(row[instrument].as_str()))
            {
                line.add((now, number(&row[mark])));
            }
        }
    }
    let mut priced = Vec::new();
    for (instrument, Marks { symbol, fills, sides: [bought, sold] }) in &most {
        let both = |side: &BTreeMap<usize, (Point, Point)>| -> Vec<Point> {
            side.values()
                .flat_map(|(low, high)| if low == high { vec![*low] } else { vec![*low, *high] })
                .collect()
        };
        priced.push(Priced {
            name: if symbol.is_empty() { instrument.clone() } else { symbol.clone() },
            fills: *fills,
            price: lines.remove(instrument.as_str()).map(Thin::points).unwrap_or_default(),
            bought: both(bought),
            sold: both(sold),
        });
    }
    all.priced = priced;
    Ok(())
}

fn refusals(folder: &Path, all: &mut Gathered) -> Result<(), ShelfError> {
    let Some(mut table) = Table::open(folder, "orders.csv")? else { return Ok(()) };
    let [strategy, status, reason, refused, why] = [
        table.column("strategy")?,
        table.column("status")?,
        table.column("reason")?,
        table.column("refused")?,
        table.column("refused_reason")?,
    ];
    while let Some(row) = table.next()? {
        let mut count = |what, reason: &str, number| {
            *all.refused.entry((row[strategy].clone(), what, reason.to_owned())).or_default() += number;
        };
        match row[status].as_str() {
            "rejected" => count("order rejected", &row[reason], 1),
            "cancelled" if row[reason] != "requested" => count("order cancelled", &row[reason], 1),
            _ => {}
        }
        match row[refused].parse::<u64>() {
            Ok(0) | Err(_) => {}
            Ok(number) => count("cancel or replace refused (last reason)", &row[why], number),
        }
    }
    all.damaged += table.damaged;
    Ok(())
}

fn times(folder: &Path, all: &mut Gathered) -> Result<(), ShelfError> {
    let Some(mut table) = Table::open(folder, "t2o.csv")? else { return Ok(()) };
    let (published, taken) = (table.column("published_ns")?, table.column("taken_ns")?);
    while let Some(row) = table.next()? {
        if let (Ok(published), Ok(taken)) = (row[published].parse::<u64>(), row[taken].parse::<u64>()) {
            let us = taken.saturating_sub(published).max(1) as f64 / 1_000.0;
            let bin = ((us / 0.1).log2() * 4.0).max(0.0) as usize;
            all.times[bin.min(BINS - 1)] += 1;
        }
    }
    Ok(())
}

pub(super) fn number(text: &str) -> f64 {
    text.parse().unwrap_or(0.0)
}
