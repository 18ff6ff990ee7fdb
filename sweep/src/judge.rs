//! What a table of runs says of its combinations, and how much of the best one's lead may be luck.
//!
//! - A combination's figures are over **days**: a day counts once, as the mean over its seeds. Where there are no days, each
//!   seed counts as one if it makes another market; seeds of a strategy over one recorded day are one day.
//! - Combinations are ranked on the training days alone. One that lacks a run is ranked behind those that have all of them: the
//!   run that failed might have been the bad one.
//! - `docs/sweeps.md` has the formulas and where they come from.

use std::collections::{BTreeMap, BTreeSet};

use outcome::PowerSums;
use serde::Serialize;

use crate::config::Goal;
use crate::results::{Results, Row};

/// Euler's constant.
const EULER: f64 = 0.577_215_664_901_532_9;

/// Which days are for the test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split(BTreeSet<String>);

impl Split {
    /// As the sweep file says.
    pub fn of_file(results: &Results) -> Split {
        let test = results.manifest.days.iter().filter(|day| day.part == "test");
        Split(test.map(|day| day.name.clone()).collect())
    }

    /// As `text` says: a share of the days to train with, in their order (`0.7`), or names of the days for the test.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(results: &Results, text: &str) -> Result<Split, String> {
        let days: Vec<&str> = results.manifest.days.iter().map(|day| day.name.as_str()).collect();
        if days.is_empty() {
            return Err("the sweep has no days to split".to_owned());
        }
        if let Ok(share) = text.parse::<f64>()
            && !days.contains(&text)
        {
            if !(share > 0.0 && share < 1.0) {
                return Err(format!("{text} is no share: write one between 0 and 1, as in 0.7"));
            }
            let train = ((days.len() as f64 * share).round() as usize).clamp(1, days.len() - 1);
            if days.len() < 2 {
                return Err("one day cannot be split".to_owned());
            }
            return Ok(Split(days[train..].iter().map(|day| (*day).to_owned()).collect()));
        }
        let test: BTreeSet<String> = text.split(',').map(|day| day.trim().to_owned()).collect();
        if let Some(unknown) = test.iter().find(|day| !days.contains(&day.as_str())) {
            return Err(format!("the sweep has no day `{unknown}`: it has {}", days.join(", ")));
        }
        if test.len() == days.len() {
            return Err("all days are for the test: none is left to choose by".to_owned());
        }
        Ok(Split(test))
    }

    /// Whether a day is for the test.
    pub fn is_test(&self, day: &str) -> bool {
        self.0.contains(day)
    }

    /// Whether any is.
    pub fn has_test(&self) -> bool {
        !self.0.is_empty()
    }
}

/// A measure over days.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figures {
    /// Days, or seeds where there are no days.
    pub n: usize,
    /// Mean.
    pub mean: f64,
    /// Standard deviation; `None` of one.
    pub sd: Option<f64>,
    /// The worst of them.
    pub worst: f64,
    /// Which that was.
    pub worst_at: String,
}

/// A combination of parameters.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Combination {
    /// By parameter.
    pub values: Vec<String>,
    /// Days to choose by.
    pub train: Option<Figures>,
    /// The other days.
    pub test: Option<Figures>,
    /// Runs that failed or took too long.
    pub failed: usize,
    /// Runs that have not ended, or (of those that have) without this measure.
    pub missing: usize,
    /// The means of other measures over the training days, by name.
    pub others: BTreeMap<String, f64>,
}

impl Combination {
    fn is_whole(&self) -> bool {
        self.failed == 0 && self.missing == 0
    }
}

/// What choosing the best of many says.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Selection {
    /// Combinations that were compared: they have all of their training runs.
    pub tried: usize,
    /// The best one's mean on the training days.
    pub best: Option<f64>,
    /// What the best of as many would show on average if all were alike and only luck told them apart.
    pub best_by_luck: Option<f64>,
    /// The best one's mean on the test days.
    pub best_in_test: Option<f64>,
    /// Its place among all on the test days, from 1; those that are equal share the mean of their places.
    pub rank_in_test: Option<f64>,
    /// Mean over all combinations on the test days: what choosing blindly gives.
    pub all_in_test: Option<f64>,
    /// Spearman's rank correlation between training and test days: 1: the same order, 0: the choice carries nothing over.
    pub rank_correlation: Option<f64>,
    /// The best one's Sharpe ratio per interval on the training days.
    pub sharpe: Option<f64>,
    /// Intervals that it is over.
    pub sharpe_n: Option<f64>,
    /// Skewness of its changes of equity.
    pub skewness: Option<f64>,
    /// Their kurtosis: 3 of a normal distribution.
    pub kurtosis: Option<f64>,
    /// What the best of as many without any skill would show.
    pub sharpe_by_luck: Option<f64>,
    /// Probability that the true ratio is above that: the deflated Sharpe ratio.
    pub deflated_sharpe: Option<f64>,
    /// Why there is none.
    pub no_deflated_sharpe: Option<String>,
}

/// Combinations, the best first, and what the choice is worth.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// The measure.
    pub measure: String,
    /// Ranked.
    pub combinations: Vec<Combination>,
    /// See there.
    pub selection: Selection,
}

/// Judges by a measure, which the table has.
pub fn judge(results: &Results, measure: &str, goal: Goal, split: &Split) -> Judgement {
    let settled: Vec<Row> = results.rows.iter().map(|row| settled(results, row)).collect();
    let mut order: Vec<Vec<String>> = Vec::new();
    let mut rows: BTreeMap<&[String], Vec<&Row>> = BTreeMap::new();
    for row in &settled {
        let of = rows.entry(&row.values).or_default();
        if of.is_empty() {
            order.push(row.values.clone());
        }
        of.push(row);
    }
    let place = results.measure(measure);
    let mut combinations: Vec<Combination> = order
        .iter()
        .map(|values| combination(results, values, &rows[values.as_slice()], place, goal, split))
        .collect();
    let key = |combination: &Combination| {
        let mean = combination.train.as_ref().map_or(f64::NEG_INFINITY, |train| signed(train.mean, goal));
        (combination.is_whole(), mean)
    };
    // Stable: those that are equal stay in the order of the grid.
    combinations.sort_by(|one, other| {
        let (one, other) = (key(one), key(other));
        other.0.cmp(&one.0).then(other.1.total_cmp(&one.1))
    });
    let mut selection = selection(&combinations, goal);
    sharpe(results, &rows, &combinations, split, &mut selection);
    Judgement { measure: measure.to_owned(), combinations, selection }
}

/// A run in which equity never moved has no ratio in its table, and has gained nothing: its ratio counts as 0.
fn settled(results: &Results, row: &Row) -> Row {
    let mut row = row.clone();
    let places = ["sharpe", "sharpe_n", "sharpe_sum2"].map(|name| results.measure(name));
    if let [Some(ratio), Some(n), Some(squares)] = places
        && row.measures[ratio].is_none()
        && row.measures[n].is_some_and(|n| n > 0.0)
        && row.measures[squares] == Some(0.0)
    {
        row.measures[ratio] = Some(0.0);
    }
    row
}

/// Larger is better.
fn signed(value: f64, goal: Goal) -> f64 {
    if goal == Goal::Max { value } else { -value }
}

fn combination(
    results: &Results,
    values: &[String],
    rows: &[&Row],
    place: Option<usize>,
    goal: Goal,
    split: &Split,
) -> Combination {
    let of = |is_test: bool, place: Option<usize>| -> Vec<(String, f64)> {
        let rows = rows.iter().filter(|row| split.is_test(&row.day) == is_test).copied();
        by_day(rows, place, results.manifest.seeds_are_days)
    };
    let failed = rows.iter().filter(|row| row.state == "failed" || row.state == "timeout").count();
    let has = |row: &&&Row| place.and_then(|place| row.measures.get(place).copied().flatten()).is_some();
    let missing = rows.len() - failed - rows.iter().filter(|row| row.state == "finished").filter(has).count();
    let mut others = BTreeMap::new();
    for (index, name) in results.measures.iter().enumerate() {
        if let Some(figures) = figures(&of(false, Some(index)), Goal::Max) {
            others.insert(name.clone(), figures.mean);
        }
    }
    Combination {
        values: values.to_owned(),
        train: figures(&of(false, place), goal),
        test: figures(&of(true, place), goal),
        failed,
        missing,
        others,
    }
}

/// What a row is one of several of: its day; without days its seed, where that makes another market.
fn unit_of(row: &Row, seeds_are_days: bool) -> &str {
    if row.day.is_empty() && seeds_are_days { &row.seed } else { &row.day }
}

/// A value a day, the mean over its seeds.
fn by_day<'a>(
    rows: impl Iterator<Item = &'a Row>,
    place: Option<usize>,
    seeds_are_days: bool,
) -> Vec<(String, f64)> {
    let mut days: Vec<(String, Vec<f64>)> = Vec::new();
    for row in rows.filter(|row| row.state == "finished") {
        let Some(value) = place.and_then(|place| row.measures.get(place).copied().flatten()) else {
            continue;
        };
        let unit = unit_of(row, seeds_are_days);
        match days.iter_mut().find(|(name, _)| name == unit) {
            Some((_, values)) => values.push(value),
            None => days.push((unit.to_owned(), vec![value])),
        }
    }
    days.into_iter().map(|(name, values)| (name, mean(&values))).collect()
}

fn figures(days: &[(String, f64)], goal: Goal) -> Option<Figures> {
    let values: Vec<f64> = days.iter().map(|(_, value)| *value).collect();
    let (worst_at, worst) =
        days.iter().min_by(|one, other| signed(one.1, goal).total_cmp(&signed(other.1, goal)))?;
    Some(Figures {
        n: values.len(),
        mean: mean(&values),
        sd: deviation(&values),
        worst: *worst,
        worst_at: worst_at.clone(),
    })
}

fn selection(combinations: &[Combination], goal: Goal) -> Selection {
    let whole: Vec<&Combination> =
        combinations.iter().filter(|one| one.is_whole() && one.train.is_some()).collect();
    let train: Vec<f64> = whole.iter().filter_map(|one| Some(one.train.as_ref()?.mean)).collect();
    let mut selection =
        Selection { tried: whole.len(), best: train.first().copied(), ..Selection::default() };
    if let (Some(sd), Some(expected)) = (deviation(&train), expected_maximum(train.len())) {
        selection.best_by_luck = Some(mean(&train) + signed(sd * expected, goal));
    }
    let test: Vec<f64> = whole.iter().filter_map(|one| Some(one.test.as_ref()?.mean)).collect();
    if test.len() == whole.len() && !test.is_empty() {
        let best = test[0];
        selection.best_in_test = Some(best);
        selection.all_in_test = Some(mean(&test));
        // The best is first, so places count from the other end.
        let places = ranks(&test.iter().map(|mean| -signed(*mean, goal)).collect::<Vec<f64>>());
        selection.rank_in_test = places.first().copied();
        selection.rank_correlation = correlation(&ranks(&train), &ranks(&test));
    }
    selection
}

/// Columns that a pooled Sharpe ratio is made from: the size of the sample, and its first four power sums.
const POWERS: [&str; 5] = ["sharpe_n", "sharpe_sum", "sharpe_sum2", "sharpe_sum3", "sharpe_sum4"];

/// The changes of equity of all training days together: the days' sums added up, each day the mean over its seeds.
///
/// A day on which nothing moved has its intervals as any other. Seeds over one day are one sample drawn repeatedly and not
/// as many: they do not lengthen it.
fn pooled(rows: &[&Row], places: [usize; 5], seeds_are_days: bool) -> Option<PowerSums> {
    let mut days: BTreeMap<&str, (PowerSums, f64)> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.state == "finished") {
        let cell = |place: usize| row.measures.get(place).copied().flatten();
        let [n, first, second, third, fourth] = places.map(cell);
        let sample = PowerSums { n: n?, sums: [first?, second?, third?, fourth?] };
        let day = days.entry(unit_of(row, seeds_are_days)).or_default();
        *day = (day.0.plus(sample), day.1 + 1.0);
    }
    (!days.is_empty()).then(|| {
        let means = days.into_values().map(|(sum, seeds)| sum.weighted(1.0 / seeds));
        means.fold(PowerSums::default(), PowerSums::plus)
    })
}

/// The deflated Sharpe ratio of the best combination (Bailey and López de Prado, 2014).
fn sharpe(
    results: &Results,
    rows: &BTreeMap<&[String], Vec<&Row>>,
    combinations: &[Combination],
    split: &Split,
    selection: &mut Selection,
) {
    if let Err(why) = deflate(results, rows, combinations, split, selection) {
        selection.no_deflated_sharpe = Some(why.to_owned());
    }
}

fn deflate(
    results: &Results,
    rows: &BTreeMap<&[String], Vec<&Row>>,
    combinations: &[Combination],
    split: &Split,
    selection: &mut Selection,
) -> Result<(), &'static str> {
    let [Some(n), Some(first), Some(second), Some(third), Some(fourth)] =
        POWERS.map(|name| results.measure(name))
    else {
        return Err("the runs have no sums of their changes of equity: an older colo made them");
    };
    let places = [n, first, second, third, fourth];
    let train = |one: &Combination| -> Vec<&Row> {
        let of = rows[one.values.as_slice()].iter().copied();
        of.filter(|row| !split.is_test(&row.day)).collect()
    };
    let seeds_are_days = results.manifest.seeds_are_days;
    let best = combinations.first().ok_or("there is no combination")?;
    let own = pooled(&train(best), places, seeds_are_days)
        .ok_or("the best combination has no Sharpe ratio of its own")?;
    let ratio = own.sharpe().ok_or("the best one's equity does not vary")?;
    (selection.sharpe, selection.sharpe_n) = (Some(ratio), Some(own.n));
    let whole: Vec<&Combination> = combinations.iter().filter(|one| one.is_whole()).collect();
    let lengths: BTreeSet<u64> = whole
        .iter()
        .flat_map(|one| train(one))
        .filter_map(|row| {
            Some(row.measures.get(results.measure("sharpe_interval_s")?).copied().flatten()? as u64)
        })
        .collect();
    if lengths.len() > 1 {
        return Err(
            "the ratios are over intervals of different lengths: some days are too short for minutes",
        );
    }
    // One that never moved has been tried as well: it has gained nothing.
    let of = |sums: PowerSums| if sums.is_flat() { Some(0.0) } else { sums.sharpe() };
    let trials: Vec<f64> =
        whole.iter().filter_map(|one| of(pooled(&train(one), places, seeds_are_days)?)).collect();
    let (Some(sd), Some(expected)) = (deviation(&trials), expected_maximum(trials.len())) else {
        return Err("there are fewer than two combinations with a ratio");
    };
    let luck = sd * expected;
    selection.sharpe_by_luck = Some(luck);
    let (skewness, kurtosis) = own.shape().ok_or("the best one's equity does not vary")?;
    (selection.skewness, selection.kurtosis) = (Some(skewness), Some(kurtosis));
    let variance = 1.0 - skewness * ratio + (kurtosis - 1.0) / 4.0 * ratio * ratio;
    if own.n <= 1.0 || variance <= 0.0 {
        return Err("the best one's changes have too few values for an error of its ratio");
    }
    selection.deflated_sharpe = Some(normal((ratio - luck) / (variance / (own.n - 1.0)).sqrt()));
    Ok(())
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Of a sample; `None` of fewer than two.
fn deviation(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let middle = mean(values);
    let squares: f64 = values.iter().map(|value| (value - middle).powi(2)).sum();
    Some((squares / (values.len() - 1) as f64).sqrt())
}

/// Places by size, from 1; those that are equal share the mean of theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let rank = |value: &f64| {
        let below = values.iter().filter(|other| *other < value).count();
        let equal = values.iter().filter(|other| *other == value).count();
        below as f64 + (equal as f64 + 1.0) / 2.0
    };
    values.iter().map(rank).collect()
}

/// Pearson's; `None` where one side does not vary, or of fewer than three.
fn correlation(one: &[f64], other: &[f64]) -> Option<f64> {
    if one.len() < 3 || one.len() != other.len() {
        return None;
    }
    let (mean_one, mean_other) = (mean(one), mean(other));
    let product: f64 = one.iter().zip(other).map(|(a, b)| (a - mean_one) * (b - mean_other)).sum();
    let squares = |values: &[f64], mean: f64| values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    let both = squares(one, mean_one) * squares(other, mean_other);
    (both > 0.0).then(|| product / both.sqrt())
}

/// What the largest of `n` standard normal numbers is on average, about; `None` of one.
fn expected_maximum(n: usize) -> Option<f64> {
    if n < 2 {
        return None;
    }
    let n = n as f64;
    Some((1.0 - EULER) * quantile(1.0 - 1.0 / n) + EULER * quantile(1.0 - 1.0 / (n * std::f64::consts::E)))
}

/// The standard normal distribution function, to 1e-7 (Abramowitz and Stegun, 7.1.26).
fn normal(x: f64) -> f64 {
    const COEFFICIENTS: [f64; 5] =
        [0.254_829_592, -0.284_496_736, 1.421_413_741, -1.453_152_027, 1.061_405_429];
    let z = x.abs() / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * z);
    let polynomial = COEFFICIENTS.iter().rev().fold(0.0, |sum, coefficient| (sum + coefficient) * t);
    let tail = polynomial * (-z * z).exp() / 2.0;
    if x >= 0.0 { 1.0 - tail } else { tail }
}

/// Its inverse between 0 and 1, by halving.
fn quantile(p: f64) -> f64 {
    let (mut low, mut high) = (-9.0, 9.0);
    for _ in 0..80 {
        let middle = (low + high) / 2.0;
        if normal(middle) < p { low = middle } else { high = middle }
    }
    (low + high) / 2.0
}

#[cfg(test)]
mod tests;
