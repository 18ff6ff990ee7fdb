//! Judges the scenario's claims by the figures.
//!
//! A run that was cut into slices is judged by those that count (see `slices`). A comparison of figures of several cells is
//! judged pass by pass: its ratio has an interval over passes and slices (see `decide`), and it holds when all of the interval
//! agrees, is refuted when none of it does, and is inconclusive otherwise. It takes the quiet slices where at least three
//! passes have enough of them, and else the busy ones too. A figure beside a number needs quiet ones, because others make
//! both sides slower and not a number; busy ones are enough for what a busy host makes harder, as a time below a number. So does
//! a platform with a node that polls, which loses more to others than one that sleeps. Extremes and the shape of a curve are judged by the interval of each cell.
//!
//! Runs without slices, of an older format, are judged whole: a figure is the range over the runs of its cell, and a cell of
//! a host that was busy otherwise decides nothing. What whole runs say is shown beside the verdict of slices, as *raw*.
//!
//! Where answers are missing, a time above the shortest wait for one is a lower bound: its interval has no upper end.

mod figures;
mod interval;

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::decide::{self, Estimate, FEWEST_PASSES, Found};
use super::kept::{Errors, Kept};
use super::record::{RunRecord, RunStage};
use super::result::{CellResult, Results};
use super::scenario::claim::{self, Expression, Operator};
use super::slices::Level;
pub(in crate::t2o) use figures::{disturbed, spoilt};
use figures::{
    evaluate, figure_of, figure_text, group_of, has_two_humps, is_counted, is_increasing, is_paired, leaves,
    noise_is_against, of_errors, of_stage, polls, short, sign, speaks_of,
};
use interval::Interval;

/// By how much a curve must rise or fall to count as a hump.
const HUMP: f64 = 1.25;

/// The result of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The figures confirm it.
    Holds,
    /// The figures contradict it.
    Refuted,
    /// The figures do not decide it.
    Inconclusive,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Outcome::Holds => "holds",
            Outcome::Refuted => "refuted",
            Outcome::Inconclusive => "inconclusive",
        })
    }
}

/// A claim and its result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// Its short name.
    pub name: String,
    /// The claim in words.
    pub says: String,
    /// The claim's author.
    pub source: String,
    /// The claim as a comparison.
    pub holds: String,
    /// The result.
    pub outcome: Outcome,
    /// The comparison's figures, or the reason why there are none.
    pub numbers: String,
    /// The same by whole runs, whatever the host did in them; empty where runs have no slices, and `numbers` are these.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub raw: String,
    /// The slices that decided it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slices: Option<UsedSlices>,
}

/// Slices behind a verdict, over all runs of its cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsedSlices {
    /// The worst level among them.
    pub level: Level,
    /// How many decided.
    pub used: usize,
    /// How many there are: the others are left out.
    pub of: usize,
}

/// Judges all claims of the scenario.
pub fn judge(results: &Results) -> Vec<Verdict> {
    let is_sliced = results.cells.iter().flat_map(|cell| &cell.runs).any(|run| !run.slices.is_empty());
    let judge_one = |claim: &super::scenario::ClaimConfig| {
        let by = |whole| {
            let mut judge = Judge { results, whole, numbers: Vec::new(), used: BTreeMap::new() };
            let outcome = match claim::read(&claim.holds) {
                Ok(expression) => judge.truth(&expression),
                Err(error) => {
                    judge.numbers.push(format!("cannot be read: {}", error.what));
                    Outcome::Inconclusive
                }
            };
            (outcome, judge)
        };
        let (outcome, judged) = by(if is_sliced { None } else { Some(Whole::Undisturbed) });
        let raw = if is_sliced { by(Some(Whole::Raw)).1.numbers.join("; ") } else { String::new() };
        Verdict {
            name: claim.name.clone(),
            says: claim.says.clone(),
            source: claim.source.clone(),
            holds: claim.holds.clone(),
            outcome,
            slices: judged.used_slices(),
            numbers: judged.numbers.join("; "),
            raw,
        }
    };
    results.settings.claim.iter().map(judge_one).collect()
}

/// How the medians of several cells at one rate compare, where slices decide: the logarithm of the best one's share of each of
/// the others'.
pub(crate) fn ratios_of_medians(
    results: &Results,
    best: &CellResult,
    others: &[&CellResult],
) -> Vec<Option<Found>> {
    let figure = |cell: &CellResult| Expression::Figure {
        figure: "p50".to_owned(),
        group: cell.group.clone(),
        rate: cell.rate,
        stage: "t2o".to_owned(),
    };
    let judge = Judge { results, whole: None, numbers: Vec::new(), used: BTreeMap::new() };
    let one = |other: &&CellResult| {
        let pair = Expression::Pair(Box::new(figure(best)), Operator::Over, Box::new(figure(other)));
        let leaves = leaves(&pair);
        let either_polls = [best, *other].iter().any(|cell| polls(results, &cell.group));
        let at = |level| judge.paired(level, &leaves, &|values| evaluate(&pair, &leaves, values).ln());
        at(Level::Quiet).ok().or_else(|| at(Level::Busy).ok().filter(|_| !either_polls))
    };
    others.iter().map(one).collect()
}

/// How whole runs are judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whole {
    /// Only those of cells that were not disturbed.
    Undisturbed,
    /// All.
    Raw,
}

/// The figures that are judged by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Basis {
    Runs(Whole),
    Slices(Level),
}

struct Judge<'a> {
    results: &'a Results,
    /// By whole runs; `None`: by slices.
    whole: Option<Whole>,
    numbers: Vec<String>,
    /// Level of the slices of each cell that decided something.
    used: BTreeMap<String, Level>,
}

impl Judge<'_> {
    fn truth(&mut self, expression: &Expression) -> Outcome {
        use Outcome::{Holds, Inconclusive, Refuted};
        match expression {
            Expression::Not(inner) => match self.truth(inner) {
                Holds => Refuted,
                Refuted => Holds,
                Inconclusive => Inconclusive,
            },
            Expression::Pair(left, Operator::And, right) => match (self.truth(left), self.truth(right)) {
                (Refuted, _) | (_, Refuted) => Refuted,
                (Holds, Holds) => Holds,
                _ => Inconclusive,
            },
            Expression::Pair(left, Operator::Or, right) => match (self.truth(left), self.truth(right)) {
                (Holds, _) | (_, Holds) => Holds,
                (Refuted, Refuted) => Refuted,
                _ => Inconclusive,
            },
            Expression::Pair(left, operator, right) => {
                let words = |judge: &Self, basis| judge.compare(basis, left, *operator, right);
                self.decide(&[left.as_ref(), right.as_ref()], words)
            }
            Expression::MShaped { group } => {
                self.decide(&[expression], |judge, basis| judge.m_shaped(basis, group))
            }
            _ => {
                self.numbers.push("a figure alone is no claim".to_owned());
                Inconclusive
            }
        }
    }

    /// By the best slices that decide anything; `ask` answers with the outcome and its figures, or with why there are none.
    fn decide(
        &mut self,
        parts: &[&Expression],
        ask: impl Fn(&Self, Basis) -> Result<(Outcome, String), String>,
    ) -> Outcome {
        let bases = match self.whole {
            Some(whole) => vec![Basis::Runs(whole)],
            None => vec![Basis::Slices(Level::Quiet), Basis::Slices(Level::Busy)],
        };
        let mut why = None;
        for basis in bases {
            match ask(self, basis) {
                Ok((outcome, numbers)) => {
                    if let Basis::Slices(level) = basis {
                        self.use_slices(parts, level);
                    }
                    self.numbers.push(numbers);
                    return outcome;
                }
                Err(reason) => why = Some(reason),
            }
        }
        self.numbers.extend(why);
        Outcome::Inconclusive
    }

    fn use_slices(&mut self, parts: &[&Expression], level: Level) {
        for part in parts.iter().flat_map(|part| leaves(part)) {
            let counted =
                matches!(part, Expression::Figure { figure, .. } if COUNTED.contains(&figure.as_str()));
            for cell in self.results.cells.iter().filter(|cell| !counted && speaks_of(part, cell)) {
                let known = self.used.entry(cell.name.clone()).or_insert(level);
                *known = (*known).max(level);
            }
        }
    }

    fn used_slices(&self) -> Option<UsedSlices> {
        let level = self.used.values().max()?;
        let runs = |name: &String| {
            self.results
                .cells
                .iter()
                .filter(|cell| cell.name == *name)
                .flat_map(|cell| &cell.runs)
                .collect::<Vec<_>>()
        };
        let used = |(name, level): (&String, &Level)| -> usize {
            runs(name).iter().filter_map(|run| Some(run.kept(*level)?.slices)).sum()
        };
        Some(UsedSlices {
            level: *level,
            used: self.used.iter().map(used).sum(),
            of: self.used.keys().flat_map(runs).map(|run| run.slices.len()).sum(),
        })
    }

    fn compare(
        &self,
        basis: Basis,
        left: &Expression,
        operator: Operator,
        right: &Expression,
    ) -> Result<(Outcome, String), String> {
        if let Basis::Slices(level) = basis {
            let leaves = [leaves(left), leaves(right)].concat();
            let has_figures = |side: &Expression| !self::leaves(side).is_empty();
            let counts_only = leaves.iter().all(|leaf| !is_paired(leaf) && is_counted(leaf));
            let beside_a_number = has_figures(left) != has_figures(right) && !counts_only;
            let polling =
                leaves.iter().find_map(|leaf| group_of(leaf).filter(|group| polls(self.results, group)));
            if let Some(group) = polling.filter(|_| level > Level::Quiet && !beside_a_number && !counts_only)
            {
                return Err(format!(
                    "too few quiet slices are left, and {group}, which polls, loses more in busy ones"
                ));
            }
            let sure = |found: (Outcome, String)| {
                let is_sure = level == Level::Quiet || !beside_a_number;
                if is_sure || (found.0 == Outcome::Holds && noise_is_against(left, operator)) {
                    return Ok(found);
                }
                Err("too few quiet slices are left, and a figure beside a number needs them".to_owned())
            };
            let all_paired = !leaves.is_empty() && leaves.iter().all(|leaf| is_paired(leaf));
            if operator != Operator::Equal
                && all_paired
                && let Some(found) = self.compare_paired(level, (left, operator, right))?
            {
                return sure(found);
            }
            return sure(self.compare_intervals(basis, left, operator, right)?);
        }
        self.compare_intervals(basis, left, operator, right)
    }

    /// By the interval of each side.
    fn compare_intervals(
        &self,
        basis: Basis,
        left: &Expression,
        operator: Operator,
        right: &Expression,
    ) -> Result<(Outcome, String), String> {
        let (a, b) = (self.figure(basis, left)?, self.figure(basis, right)?);
        let (surely, never) = match operator {
            Operator::Less => (a.high < b.low, a.low >= b.high),
            Operator::LessOrEqual => (a.high <= b.low, a.low > b.high),
            Operator::Greater => (a.low > b.high, a.high <= b.low),
            Operator::GreaterOrEqual => (a.low >= b.high, a.high < b.low),
            _ => (a == b && a.low == a.high, a.high < b.low || a.low > b.high),
        };
        Ok((outcome(surely, never), format!("{a} {} {b}", sign(operator))))
    }

    /// By the ratio of both sides, pass by pass. A side with a lower bound has no upper end; `None` where it is not plain which
    /// end that is.
    fn compare_paired(
        &self,
        level: Level,
        (left, operator, right): (&Expression, Operator, &Expression),
    ) -> Result<Option<(Outcome, String)>, String> {
        let leaves = [leaves(left), leaves(right)].concat();
        let mut open = [false; 2];
        for (which, side) in [left, right].into_iter().enumerate() {
            for leaf in self::leaves(side) {
                open[which] |= self.series(level, leaf)?.is_least;
            }
            if open[which] && !is_increasing(side) {
                return Ok(None);
            }
        }
        let ends = |mut found: Found| {
            if open[0] {
                found.high = f64::INFINITY;
            }
            if open[1] {
                found.low = f64::NEG_INFINITY;
            }
            found
        };
        let side = |which: &Expression, values: &[f64]| evaluate(which, &leaves, values);
        let ratio = |values: &[f64]| {
            let (a, b) = (side(left, values), side(right, values));
            if a > 0.0 && b > 0.0 { (a / b).ln() } else { f64::NAN }
        };
        // Sides that may be negative have no ratio.
        let Ok(found) = self.paired(level, &leaves, &ratio) else {
            let difference = |values: &[f64]| side(left, values) - side(right, values);
            return self.paired(level, &leaves, &difference).map(ends).map(|found| {
                let numbers = format!(
                    "difference {} ({} to {})",
                    figure_text(found.estimate),
                    figure_text(found.low),
                    figure_text(found.high)
                );
                Some((by_zero(operator, found), numbers))
            });
        };
        let found = ends(found);
        let one = |which: &Expression| self.paired(level, &leaves, &|values| side(which, values));
        let (a, b) = (one(left)?.estimate, one(right)?.estimate);
        let [estimate, low, high] = [found.estimate, found.low, found.high].map(|log| figure_text(log.exp()));
        let numbers = format!(
            "{} {} {}, ratio {estimate} ({low} to {high})",
            figure_text(a),
            sign(operator),
            figure_text(b)
        );
        Ok(Some((by_zero(operator, found), numbers)))
    }

    /// The interval of a function of these figures over the passes that have all of them.
    fn paired(
        &self,
        level: Level,
        leaves: &[&Expression],
        of: &dyn Fn(&[f64]) -> f64,
    ) -> Result<Found, String> {
        let all: Vec<Series> =
            leaves.iter().map(|leaf| self.series(level, leaf)).collect::<Result<_, _>>()?;
        let passes: Vec<u32> = all.first().map_or(Vec::new(), |first| {
            let common = |pass: &&u32| all.iter().all(|series| series.passes.contains_key(pass));
            first.passes.keys().filter(common).copied().collect()
        });
        let series: Vec<Vec<Estimate>> =
            all.iter().map(|one| passes.iter().map(|pass| one.passes[pass]).collect()).collect();
        decide::interval(&series, of).ok_or_else(|| {
            let cells: Vec<String> = leaves.iter().map(|leaf| short(leaf)).collect();
            format!(
                "{}: {} passes have enough {level} slices in all of them, {FEWEST_PASSES} are needed",
                cells.join(", "),
                passes.len()
            )
        })
    }

    /// A figure of one cell, pass by pass.
    fn series(&self, level: Level, leaf: &Expression) -> Result<Series, String> {
        let Expression::Figure { figure, group, rate, stage } = leaf else {
            return Err("no figure of one cell".to_owned());
        };
        let cell = self.results.cell(group, *rate).ok_or_else(|| format!("{}: not measured", short(leaf)))?;
        if let Some(mark) = spoilt(cell) {
            return Err(format!("{}: {mark}", short(leaf)));
        }
        let runs: Vec<(&RunRecord, &Kept)> =
            cell.runs.iter().filter_map(|run| Some((run, run.kept(level)?))).collect();
        let samples: u64 = runs.iter().map(|(_, kept)| kept.samples).sum();
        if samples < self.results.settings.run.fewest_samples {
            return Err(format!("{}: too few runs or messages in {level} slices, or none", short(leaf)));
        }
        let estimate = |(run, kept): &(&RunRecord, &Kept)| {
            let second = run.observed.seconds.max(1e-9);
            let whole = |value: f64| Some(Estimate { value, error: 0.0 });
            match figure.as_str() {
                "achieved" => whole(kept.achieved_rate),
                "lateness_p99" => whole(kept.lateness_p99_us),
                "wakeups" => whole(run.observed.wakeups as f64 / second),
                "context_switches" => whole(run.observed.context_switches as f64 / second),
                _ => {
                    let errors = kept.errors.get(stage).copied().unwrap_or_default();
                    let value = of_stage(figure)?(kept.stages.get(stage)?);
                    Some(Estimate { value, error: of_errors(figure)?(&errors) })
                }
            }
        };
        let passes: BTreeMap<u32, Estimate> =
            runs.iter().filter_map(|pair| Some((pair.0.repeat, estimate(pair)?))).collect();
        // Waits that were cut short are in t2o only, and in every mean of it.
        let cut = |(run, kept): &(&RunRecord, &Kept)| {
            let value = passes.get(&run.repeat).map_or(0.0, |estimate| estimate.value);
            kept.open_from_us.is_some() && (figure == "mean" || kept.is_least(value))
        };
        let is_least = stage.starts_with("t2o") && of_stage(figure).is_some() && runs.iter().any(cut);
        Ok(Series { passes, is_least })
    }

    fn figure(&self, basis: Basis, expression: &Expression) -> Result<Interval, String> {
        match expression {
            Expression::Number(number) => Ok(Interval::point(*number)),
            Expression::Figure { figure, group, rate, stage } => {
                let cell = self.results.cell(group, *rate);
                let counted = COUNTED.contains(&figure.as_str());
                match (basis, cell) {
                    (Basis::Slices(level), Some(_)) if !counted => self.of_slices(level, expression),
                    (_, Some(cell)) => {
                        let is_raw = basis == Basis::Runs(Whole::Raw);
                        figure_of(self.results, cell, (figure, stage), is_raw).ok_or_else(|| {
                            let why = disturbed(cell).filter(|_| !is_raw);
                            format!(
                                "{}: {}",
                                short(expression),
                                why.unwrap_or("too few runs or messages, or none")
                            )
                        })
                    }
                    (_, None) => Err(format!("{}: too few runs or messages, or none", short(expression))),
                }
            }
            Expression::Extreme { highest, figure, group } => self.extreme(basis, *highest, figure, group),
            Expression::Pair(left, operator, right) => {
                let (left, right) = (self.figure(basis, left)?, self.figure(basis, right)?);
                left.with(*operator, right).ok_or_else(|| "a division by zero".to_owned())
            }
            _ => Err("this is no figure".to_owned()),
        }
    }

    /// The interval of one cell's figure by its slices. Of a single run the mean has that of its messages' standard error,
    /// and a percentile none.
    fn of_slices(&self, level: Level, leaf: &Expression) -> Result<Interval, String> {
        let series = self.series(level, leaf)?;
        let passes: Vec<Estimate> = series.passes.values().copied().collect();
        let mut interval = match passes.as_slice() {
            [only] if matches!(leaf, Expression::Figure { figure, .. } if figure == "mean") => {
                let reach = 1.96 * only.error * only.value;
                Interval { low: (only.value - reach).max(0.0), high: only.value + reach }
            }
            // Nothing scatters that is zero in every run.
            all if all.len() >= FEWEST_PASSES && all.iter().all(|one| one.value == 0.0) => {
                Interval::point(0.0)
            }
            _ => {
                let found = self.paired(level, &[leaf], &|values| values[0].ln())?;
                Interval { low: found.low.exp(), high: found.high.exp() }
            }
        };
        if series.is_least {
            interval.high = f64::INFINITY;
        }
        Ok(interval)
    }

    /// Over all rates of the group: a missing one may have been the extreme.
    fn extreme(&self, basis: Basis, highest: bool, figure: &str, group: &str) -> Result<Interval, String> {
        let all = self.curve(basis, group, figure)?;
        let pick = |figures: &mut dyn Iterator<Item = f64>| {
            if highest { figures.fold(0.0, f64::max) } else { figures.fold(f64::INFINITY, f64::min) }
        };
        Ok(Interval {
            low: pick(&mut all.iter().map(|interval| interval.low)),
            high: pick(&mut all.iter().map(|interval| interval.high)),
        })
    }

    /// A figure of t2o rate by rate, lowest rate first.
    fn curve(&self, basis: Basis, group: &str, figure: &str) -> Result<Vec<Interval>, String> {
        let mut cells: Vec<&CellResult> =
            self.results.cells.iter().filter(|cell| cell.group == group).collect();
        cells.sort_by(|a, b| a.rate.total_cmp(&b.rate));
        let is_missing =
            |name: &String| name.strip_prefix(group).is_some_and(|load| load.parse::<u32>().is_ok());
        if cells.is_empty() || self.results.missing.iter().any(is_missing) {
            return Err(format!("{group}: not every rate was measured undisturbed"));
        }
        let leaf = |cell: &CellResult| Expression::Figure {
            figure: figure.to_owned(),
            group: group.to_owned(),
            rate: cell.rate,
            stage: "t2o".to_owned(),
        };
        let figures: Result<Vec<Interval>, String> =
            cells.iter().map(|cell| self.figure(basis, &leaf(cell))).collect();
        figures.map_err(|why| format!("{group}: not every rate was measured undisturbed ({why})"))
    }

    fn m_shaped(&self, basis: Basis, group: &str) -> Result<(Outcome, String), String> {
        let curve = self.curve(basis, group, "mean")?;
        let means: Vec<String> =
            curve.iter().map(|mean| format!("{:.0}", (mean.low + mean.high) / 2.0)).collect();
        let numbers = format!("means over the rates: {} µs", means.join(" "));
        let pairs = |peak: fn(&Interval) -> f64, valley: fn(&Interval) -> f64| -> Vec<(f64, f64)> {
            curve.iter().map(|mean| (peak(mean), valley(mean))).collect()
        };
        let surely = has_two_humps(&pairs(|mean| mean.low, |mean| mean.high));
        let maybe = has_two_humps(&pairs(|mean| mean.high, |mean| mean.low));
        Ok((outcome(surely, !maybe), numbers))
    }
}

/// One figure of one cell by pass.
struct Series {
    passes: BTreeMap<u32, Estimate>,
    /// In some pass it is a lower bound.
    is_least: bool,
}

/// Figures that are sums over whole runs, on any host.
const COUNTED: [&str; 3] = ["lost", "samples", "disordered"];

fn outcome(surely: bool, never: bool) -> Outcome {
    match (surely, never) {
        (true, _) => Outcome::Holds,
        (_, true) => Outcome::Refuted,
        _ => Outcome::Inconclusive,
    }
}

/// By where the interval of a difference, or of a ratio's logarithm, lies beside zero.
fn by_zero(operator: Operator, found: Found) -> Outcome {
    match operator {
        Operator::Less => outcome(found.high < 0.0, found.low >= 0.0),
        Operator::LessOrEqual => outcome(found.high <= 0.0, found.low > 0.0),
        Operator::Greater => outcome(found.low > 0.0, found.high <= 0.0),
        _ => outcome(found.low >= 0.0, found.high < 0.0),
    }
}

#[cfg(test)]
mod tests;
