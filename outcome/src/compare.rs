//! Two runs side by side: which of their differences are more than noise.
//!
//! In lock-step nothing is noise: the tables are the same, or the first row that differs is shown. Live runs are compared by
//! their means, with an interval for the difference ([`interval`]). It holds what one run varies in itself, and not how runs
//! differ from one another: for that a run is to be repeated.

mod interval;

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;
use serde_json::Value as Json;

use crate::manifest::Manifest;
use crate::shelf::{ShelfError, read};
use crate::table::Table;
use crate::whole::{caveats, faults};

use self::interval::{Series, interval};

/// Fewer values say nothing.
const LEAST: usize = 30;
/// Nor do values that depend on each other so much that they say no more than so many.
const LEAST_EFFECTIVE: f64 = 3.0;
/// All intervals together hold with this probability, or a higher one.
const LEVEL: f64 = 0.95;
/// Tables that are the same when runs in lock-step are.
const TABLES: [&str; 7] = [
    "orders.csv",
    "fills.csv",
    "equity.csv",
    "positions.csv",
    "prices.csv",
    "accounts.csv",
    "strategies.csv",
];

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Lock-step: all tables are the same.
    Same,
    /// More than noise.
    Differs,
    /// No difference is more than noise.
    Noise,
    /// Too little to tell.
    TooLittle,
}

/// A comparison.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The whole.
    pub verdict: Verdict,
    /// Both ran in lock-step.
    pub deterministic: bool,
    /// What keeps either from being compared as a whole run.
    pub caveats: Vec<String>,
    /// What they were made from, where that differs.
    pub inputs: Vec<Changed>,
    /// Lock-step: the tables.
    pub tables: Vec<TableVerdict>,
    /// Live: measures.
    pub measures: Vec<Measure>,
}

/// Something that they were made from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Changed {
    /// A key of the platform file, a data file, the version of colo.
    pub what: String,
    /// In the one.
    pub one: String,
    /// In the other.
    pub other: String,
}

/// One table of two runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TableVerdict {
    /// The file.
    pub name: String,
    /// Byte for byte.
    pub same: bool,
    /// The first line that differs; the head is line 1.
    pub line: Option<u64>,
    /// The columns in which it does.
    pub columns: Vec<String>,
    /// That line in the one; `None`: it has ended.
    pub one: Option<String>,
    /// In the other.
    pub other: Option<String>,
}

/// A mean in both runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measure {
    /// `t2o_us`, or `realised_per_closing_fill`.
    pub name: String,
    /// Of which strategy; `None`: of all.
    pub strategy: Option<String>,
    /// Values in the one.
    pub one_n: usize,
    /// Values in the other.
    pub other_n: usize,
    /// Mean of the one.
    pub one: Option<f64>,
    /// Mean of the other.
    pub other: Option<f64>,
    /// How many independent values say as much as those of the one; `None` of fewer than 30.
    pub one_effective: Option<f64>,
    /// The same of the other.
    pub other_effective: Option<f64>,
    /// Interval for the other's mean less the one's.
    pub low: Option<f64>,
    /// Its upper end.
    pub high: Option<f64>,
    /// Whether it is more than noise.
    pub verdict: Verdict,
}

/// Compares the runs in two folders.
///
/// # Errors
/// [`ShelfError`] when a folder cannot be read.
pub fn compare(one: &Path, other: &Path) -> Result<Comparison, ShelfError> {
    let (first, second) = (read(one)?, read(other)?);
    for (folder, manifest) in [(one, &first), (other, &second)] {
        if let Some(why) = faults(folder, manifest).into_iter().next() {
            return Err(ShelfError::Damaged { path: folder.to_owned(), why });
        }
    }
    let of = |name: &str, folder, manifest| -> Vec<String> {
        caveats(folder, manifest).into_iter().map(|caveat| format!("{name}: {caveat}")).collect()
    };
    let caveats = [of("one", one, &first), of("other", other, &second)].concat();
    let inputs = inputs((one, &first), (other, &second));
    let deterministic = first.deterministic && second.deterministic;
    let (mut tables, mut measures) = (Vec::new(), Vec::new());
    if deterministic {
        for name in TABLES {
            tables.extend(table(name, one, other)?);
        }
    } else {
        measures = measure_all(one, other)?;
    }
    let is_any = |verdict| measures.iter().any(|measure| measure.verdict == verdict);
    let verdict = match deterministic {
        true if tables.is_empty() => Verdict::TooLittle,
        true if tables.iter().all(|table| table.same) => Verdict::Same,
        true => Verdict::Differs,
        false if is_any(Verdict::Differs) => Verdict::Differs,
        false if is_any(Verdict::Noise) => Verdict::Noise,
        false => Verdict::TooLittle,
    };
    Ok(Comparison { verdict, deterministic, caveats, inputs, tables, measures })
}

/// Where the runs were made from different things.
fn inputs((one, first): (&Path, &Manifest), (other, second): (&Path, &Manifest)) -> Vec<Changed> {
    let (mut ours, mut theirs) = (facts(one, first), facts(other, second));
    let keys: Vec<String> = ours.keys().chain(theirs.keys()).cloned().collect();
    let mut changed = Vec::new();
    for what in keys {
        let (one, other) = (ours.remove(&what), theirs.remove(&what));
        // Of a run that was killed nobody knows the data: it is read beside the run.
        let is_known = !what.starts_with("data ") || (!first.data.is_empty() && !second.data.is_empty());
        if one != other && is_known {
            let shown = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
            changed.push(Changed { what, one: shown(one), other: shown(other) });
        }
    }
    changed
}

fn facts(folder: &Path, manifest: &Manifest) -> BTreeMap<String, String> {
    let mut facts = BTreeMap::new();
    let mut put = |what: String, value: String| facts.insert(what, value);
    put("colo".to_owned(), manifest.colo.clone());
    for file in &manifest.data {
        let name = file.path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        put(format!("data {name}"), file.xxh3.clone().unwrap_or_default());
    }
    if let Some(file) = &manifest.instruments {
        put("instruments file".to_owned(), file.xxh3.clone().unwrap_or_default());
    }
    for (node, file) in &manifest.programs {
        put(format!("program of {node}"), file.xxh3.clone().unwrap_or_default());
    }
    let platform = std::fs::read(folder.join("platform.json")).unwrap_or_default();
    let platform: Json = serde_json::from_slice(&platform).unwrap_or_default();
    for setting in platform["settings"].as_array().into_iter().flatten() {
        let Some(key) = setting["key"].as_str() else { continue };
        // What the run is called and where its files lie is not what it was made from.
        let is_hashed = key == "md.instruments_file" && manifest.instruments.is_some();
        let is_place = is_hashed || matches!(key, "platform.instance" | "md.files");
        if !is_place && !key.starts_with("platform.runs") {
            put(key.to_owned(), setting["value"].to_string());
        }
    }
    facts
}

/// The first line of a table that differs; `None` where neither run has it.
fn table(name: &str, one: &Path, other: &Path) -> Result<Option<TableVerdict>, ShelfError> {
    let (first, second) = (Table::open(one, name)?, Table::open(other, name)?);
    let mut verdict = TableVerdict {
        name: name.to_owned(),
        same: true,
        line: None,
        columns: Vec::new(),
        one: None,
        other: None,
    };
    let (mut first, mut second) = match (first, second) {
        (None, None) => return Ok(None),
        (Some(first), Some(second)) if first.columns() == second.columns() => (first, second),
        (first, second) => {
            let head = |table: Option<Table>| table.map(|table| table.columns().join(","));
            (verdict.same, verdict.line) = (false, Some(1));
            (verdict.one, verdict.other) = (head(first), head(second));
            return Ok(Some(verdict));
        }
    };
    for line in 2.. {
        let (ours, theirs) = (first.line()?, second.line()?);
        if ours.is_none() && theirs.is_none() {
            break;
        }
        if ours != theirs {
            let columns = first.columns().to_vec();
            let cells = |line: &Option<String>| -> Vec<String> {
                line.iter().flat_map(|line| line.split(',').map(str::to_owned)).collect()
            };
            let (mine, others) = (cells(&ours), cells(&theirs));
            let differs = |(index, _): &(usize, String)| mine.get(*index) != others.get(*index);
            if ours.is_some() && theirs.is_some() {
                verdict.columns =
                    columns.into_iter().enumerate().filter(differs).map(|(_, name)| name).collect();
            }
            (verdict.same, verdict.line, verdict.one, verdict.other) = (false, Some(line), ours, theirs);
            break;
        }
    }
    Ok(Some(verdict))
}

/// Values of a run by measure and strategy, in the order in which they came.
type Values = BTreeMap<(String, Option<String>), Vec<f64>>;

fn measure_all(one: &Path, other: &Path) -> Result<Vec<Measure>, ShelfError> {
    let (ours, mut theirs) = (values(one)?, values(other)?);
    let pairs: Vec<_> = ours
        .into_iter()
        .filter_map(|(key, ours)| theirs.remove(&key).map(|theirs| (key, ours, theirs)))
        .collect();
    // All of them are looked at, so each has to be surer.
    let missed = (1.0 - LEVEL) / pairs.len().max(1) as f64;
    Ok(pairs.into_iter().map(|(key, ours, theirs)| measure(key, &ours, &theirs, missed)).collect())
}

fn values(folder: &Path) -> Result<Values, ShelfError> {
    let mut values = Values::new();
    let mut put = |name: &str, strategy: &str, value: f64| {
        values.entry((name.to_owned(), None)).or_default().push(value);
        values.entry((name.to_owned(), Some(strategy.to_owned()))).or_default().push(value);
    };
    if let Some(mut table) = Table::open(folder, "t2o.csv")? {
        let (strategy, published, taken) =
            (table.column("strategy")?, table.column("published_ns")?, table.column("taken_ns")?);
        while let Some(row) = table.next()? {
            if let (Ok(published), Ok(taken)) = (row[published].parse::<u64>(), row[taken].parse::<u64>()) {
                put("t2o_us", &row[strategy], taken.saturating_sub(published) as f64 / 1_000.0);
            }
        }
    }
    if let Some(mut table) = Table::open(folder, "fills.csv")? {
        let (strategy, closed, realised) =
            (table.column("strategy")?, table.column("closed")?, table.column("realised")?);
        while let Some(row) = table.next()? {
            if row[closed] != "0"
                && let Ok(realised) = row[realised].parse::<f64>()
            {
                put("realised_per_closing_fill", &row[strategy], realised);
            }
        }
    }
    Ok(values)
}

/// `missed`: the chance that the interval does not hold the true difference.
fn measure((name, strategy): (String, Option<String>), one: &[f64], other: &[f64], missed: f64) -> Measure {
    let mean =
        |values: &[f64]| (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
    let mut measure = Measure {
        name,
        strategy,
        one_n: one.len(),
        other_n: other.len(),
        one: mean(one),
        other: mean(other),
        one_effective: None,
        other_effective: None,
        low: None,
        high: None,
        verdict: Verdict::TooLittle,
    };
    if one.len() < LEAST || other.len() < LEAST {
        return measure;
    }
    let (one, other) = (Series::of(one), Series::of(other));
    (measure.one_effective, measure.other_effective) = (Some(one.effective()), Some(other.effective()));
    if one.effective().min(other.effective()) >= LEAST_EFFECTIVE {
        let (low, high) = interval(&one, &other, missed);
        (measure.low, measure.high) = (Some(low), Some(high));
        measure.verdict = if low > 0.0 || high < 0.0 { Verdict::Differs } else { Verdict::Noise };
    }
    measure
}

#[cfg(test)]
mod tests;
