//! What a table of runs says of its combinations, and how much of the best one's lead may be luck.
//!
//! - A combination's figures are over **days**: a day counts once, as the mean over its seeds. Where there are no days, each
//!   seed counts as one.
//! - Combinations are ranked on the training days alone. One that lacks a run is ranked behind those that have all of them: the
//!   run that failed might have been the bad one.
//! - `docs/sweeps.md` has the formulas and where they come from.

use std::collections::{BTreeMap, BTreeSet};

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
    /// Its place among all on the test days, from 1.
    pub rank_in_test: Option<usize>,
    /// Mean over all combinations on the test days: what choosing blindly gives.
    pub all_in_test: Option<f64>,
    /// Spearman's rank correlation between training and test days: 1: the same order, 0: the choice carries nothing over.
    pub rank_correlation: Option<f64>,
    /// The best one's Sharpe ratio per interval on the training days.
    pub sharpe: Option<f64>,
    /// Intervals that it is over.
    pub sharpe_n: Option<f64>,
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
    let mut order: Vec<Vec<String>> = Vec::new();
    let mut rows: BTreeMap<&[String], Vec<&Row>> = BTreeMap::new();
    for row in &results.rows {
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
    let best_rows = combinations.first().map(|best| rows[best.values.as_slice()].clone());
    let mut selection = selection(&combinations, goal);
    sharpe(results, &rows, &combinations, best_rows.as_deref(), split, &mut selection);
    Judgement { measure: measure.to_owned(), combinations, selection }
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
        by_day(rows.iter().filter(|row| split.is_test(&row.day) == is_test).copied(), place)
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

/// A value a day, the mean over its seeds; without days, a value a seed.
fn by_day<'a>(rows: impl Iterator<Item = &'a Row>, place: Option<usize>) -> Vec<(String, f64)> {
    let mut days: Vec<(String, Vec<f64>)> = Vec::new();
    for row in rows.filter(|row| row.state == "finished") {
        let Some(value) = place.and_then(|place| row.measures.get(place).copied().flatten()) else {
            continue;
        };
        let unit = if row.day.is_empty() { &row.seed } else { &row.day };
        match days.iter_mut().find(|(name, _)| name == unit) {
            Some((_, values)) => values.push(value),
            None => days.push((unit.clone(), vec![value])),
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
        let ahead = test.iter().filter(|other| signed(**other, goal) > signed(best, goal)).count();
        selection.rank_in_test = Some(ahead + 1);
        selection.rank_correlation = correlation(&ranks(&train), &ranks(&test));
    }
    selection
}

/// The deflated Sharpe ratio of the best combination (Bailey and López de Prado, 2014), with normal changes of equity.
fn sharpe(
    results: &Results,
    rows: &BTreeMap<&[String], Vec<&Row>>,
    combinations: &[Combination],
    best: Option<&[&Row]>,
    split: &Split,
    selection: &mut Selection,
) {
    let places = ["sharpe", "sharpe_n", "sharpe_interval_s"].map(|name| results.measure(name));
    let [Some(ratio), Some(n), Some(interval)] = places else { return };
    let train = |rows: &[&Row]| -> Vec<Row> {
        rows.iter().filter(|row| !split.is_test(&row.day)).map(|row| (*row).clone()).collect()
    };
    let pooled = |rows: &[&Row]| -> Option<(f64, f64)> {
        let rows = train(rows);
        let (ratios, ns) = (by_day(rows.iter(), Some(ratio)), by_day(rows.iter(), Some(n)));
        let weights: Vec<f64> =
            ratios.iter().filter_map(|(day, _)| Some(ns.iter().find(|(other, _)| other == day)?.1)).collect();
        let all: f64 = weights.iter().sum();
        let sum: f64 = ratios.iter().zip(&weights).map(|((_, ratio), weight)| ratio * weight).sum();
        (all > 0.0 && weights.len() == ratios.len()).then(|| (sum / all, all))
    };
    let whole = combinations.iter().filter(|one| one.is_whole());
    let trials: Vec<f64> = whole.filter_map(|one| Some(pooled(&rows[one.values.as_slice()])?.0)).collect();
    let Some((own, length)) = best.and_then(pooled) else {
        selection.no_deflated_sharpe = Some("the best combination has no Sharpe ratio of its own".to_owned());
        return;
    };
    (selection.sharpe, selection.sharpe_n) = (Some(own), Some(length));
    let intervals: BTreeSet<u64> = results
        .rows
        .iter()
        .filter(|row| row.state == "finished" && row.measures.get(ratio).copied().flatten().is_some())
        .filter_map(|row| Some(row.measures.get(interval).copied().flatten()? as u64))
        .collect();
    if intervals.len() > 1 {
        selection.no_deflated_sharpe = Some(
            "the ratios are over intervals of different lengths: some days are too short for minutes"
                .to_owned(),
        );
        return;
    }
    let (Some(sd), Some(expected)) = (deviation(&trials), expected_maximum(trials.len())) else {
        selection.no_deflated_sharpe = Some("there are fewer than two combinations with a ratio".to_owned());
        return;
    };
    if length < 2.0 {
        selection.no_deflated_sharpe = Some("the best one's ratio is over a single interval".to_owned());
        return;
    }
    let luck = sd * expected;
    selection.sharpe_by_luck = Some(luck);
    let error = ((1.0 + own * own / 2.0) / (length - 1.0)).sqrt();
    selection.deflated_sharpe = Some(normal((own - luck) / error));
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
