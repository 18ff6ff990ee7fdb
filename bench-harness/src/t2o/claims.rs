//! Judges the scenario's claims by the figures.
//!
//! A figure is an interval: the range over the runs of its cell, for every kind of figure. A comparison holds when it
//! holds for the whole intervals, is refuted when it holds nowhere in them, and is inconclusive where they overlap, or
//! where a cell has no usable figures: not run, too few messages, or a host that was busy otherwise. Where answers are
//! missing, a time above the shortest wait for one is a lower bound: its interval has no upper end. A claim is
//! therefore as strong as the runs allow, and never stronger.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::record::{RunRecord, RunStage};
use super::result::{CellResult, Results};
use super::scenario::claim::{self, Expression, Operator};

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
}

/// Judges all claims of the scenario.
pub fn judge(results: &Results) -> Vec<Verdict> {
    let judge_one = |claim: &super::scenario::ClaimConfig| {
        let mut judge = Judge { results, numbers: Vec::new() };
        let outcome = match claim::read(&claim.holds) {
            Ok(expression) => judge.truth(&expression),
            Err(error) => {
                judge.numbers.push(format!("cannot be read: {}", error.what));
                Outcome::Inconclusive
            }
        };
        Verdict {
            name: claim.name.clone(),
            says: claim.says.clone(),
            source: claim.source.clone(),
            holds: claim.holds.clone(),
            outcome,
            numbers: judge.numbers.join("; "),
        }
    };
    results.settings.claim.iter().map(judge_one).collect()
}

/// The range of a figure: low and high.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Interval {
    low: f64,
    high: f64,
}

impl Interval {
    fn point(figure: f64) -> Interval {
        Interval { low: figure, high: figure }
    }

    /// The interval around some figures; `None` without any.
    fn around(figures: impl Iterator<Item = f64>) -> Option<Interval> {
        figures
            .map(Interval::point)
            .reduce(|a, b| Interval { low: a.low.min(b.low), high: a.high.max(b.high) })
    }

    fn with(self, operator: Operator, other: Interval) -> Option<Interval> {
        let apply = |a: f64, b: f64| match operator {
            Operator::Plus => a + b,
            Operator::Minus => a - b,
            Operator::Times => a * b,
            _ => a / b,
        };
        let corners = [
            apply(self.low, other.low),
            apply(self.low, other.high),
            apply(self.high, other.low),
            apply(self.high, other.high),
        ];
        // An unknown upper end stays unknown; undefined results (∞ - ∞, a division by zero) decide nothing.
        let divides = matches!(operator, Operator::Over) && other.low <= 0.0 && other.high >= 0.0;
        let whole = !divides && corners.iter().all(|figure| !figure.is_nan());
        whole.then(|| Interval::around(corners.into_iter())).flatten()
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text =
            |figure: f64| if figure.abs() < 100.0 { format!("{figure:.2}") } else { format!("{figure:.0}") };
        if self.high.is_infinite() {
            return f.pad(&format!("{} or more", text(self.low)));
        }
        let (low, high) = (text(self.low), text(self.high));
        if low == high { f.pad(&low) } else { f.pad(&format!("{low}..{high}")) }
    }
}

struct Judge<'a> {
    results: &'a Results,
    numbers: Vec<String>,
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
            Expression::Pair(left, operator, right) => self.compare(left, *operator, right),
            Expression::MShaped { group } => self.m_shaped(group),
            _ => {
                self.numbers.push("a figure alone is no claim".to_owned());
                Inconclusive
            }
        }
    }

    fn compare(&mut self, left: &Expression, operator: Operator, right: &Expression) -> Outcome {
        let (Some(a), Some(b)) = (self.figure(left), self.figure(right)) else {
            return Outcome::Inconclusive;
        };
        let (sign, surely, never) = match operator {
            Operator::Less => ("<", a.high < b.low, a.low >= b.high),
            Operator::LessOrEqual => ("≤", a.high <= b.low, a.low > b.high),
            Operator::Greater => (">", a.low > b.high, a.high <= b.low),
            Operator::GreaterOrEqual => ("≥", a.low >= b.high, a.high < b.low),
            _ => ("=", a == b && a.low == a.high, a.high < b.low || a.low > b.high),
        };
        self.numbers.push(format!("{a} {sign} {b}"));
        match (surely, never) {
            (true, _) => Outcome::Holds,
            (_, true) => Outcome::Refuted,
            _ => Outcome::Inconclusive,
        }
    }

    fn figure(&mut self, expression: &Expression) -> Option<Interval> {
        match expression {
            Expression::Number(number) => Some(Interval::point(*number)),
            Expression::Figure { figure, group, rate, stage } => {
                let cell = self.results.cell(group, *rate);
                let found = cell.and_then(|cell| figure_of(self.results, cell, figure, stage));
                if found.is_none() {
                    let why = cell.and_then(disturbed).unwrap_or("too few runs or messages, or none");
                    self.numbers.push(format!("{figure}({group}, {rate}): {why}"));
                }
                found
            }
            Expression::Extreme { highest, figure, group } => self.extreme(*highest, figure, group),
            Expression::Pair(left, operator, right) => {
                let (left, right) = (self.figure(left)?, self.figure(right)?);
                left.with(*operator, right)
            }
            _ => None,
        }
    }

    /// Over all rates of the group: a missing one may have been the extreme.
    fn extreme(&mut self, highest: bool, figure: &str, group: &str) -> Option<Interval> {
        let all = self.curve(group, figure)?;
        let pick = |figures: &mut dyn Iterator<Item = f64>| {
            if highest { figures.fold(0.0, f64::max) } else { figures.fold(f64::INFINITY, f64::min) }
        };
        Some(Interval {
            low: pick(&mut all.iter().map(|interval| interval.low)),
            high: pick(&mut all.iter().map(|interval| interval.high)),
        })
    }

    /// A figure of t2o rate by rate, lowest rate first.
    fn curve(&mut self, group: &str, figure: &str) -> Option<Vec<Interval>> {
        let mut cells: Vec<&CellResult> =
            self.results.cells.iter().filter(|cell| cell.group == group).collect();
        cells.sort_by(|a, b| a.rate.total_cmp(&b.rate));
        let missing: Vec<&String> = self
            .results
            .missing
            .iter()
            .filter(|name| name.strip_prefix(group).is_some_and(|load| load.parse::<u32>().is_ok()))
            .collect();
        let figures: Option<Vec<Interval>> =
            cells.iter().map(|cell| figure_of(self.results, cell, figure, "t2o")).collect();
        if cells.is_empty() || !missing.is_empty() || figures.is_none() {
            self.numbers.push(format!("{group}: not every rate was measured undisturbed"));
            return None;
        }
        figures
    }

    fn m_shaped(&mut self, group: &str) -> Outcome {
        let Some(curve) = self.curve(group, "mean") else { return Outcome::Inconclusive };
        let means: Vec<String> =
            curve.iter().map(|mean| format!("{:.0}", (mean.low + mean.high) / 2.0)).collect();
        self.numbers.push(format!("means over the rates: {} µs", means.join(" ")));
        let pairs = |peak: fn(&Interval) -> f64, valley: fn(&Interval) -> f64| -> Vec<(f64, f64)> {
            curve.iter().map(|mean| (peak(mean), valley(mean))).collect()
        };
        if has_two_humps(&pairs(|mean| mean.low, |mean| mean.high)) {
            Outcome::Holds
        } else if has_two_humps(&pairs(|mean| mean.high, |mean| mean.low)) {
            Outcome::Inconclusive
        } else {
            Outcome::Refuted
        }
    }
}

/// Valley, hump, valley, hump, valley, in this order, each step by at least [`HUMP`]. Each point has its value as a
/// peak and its value as a valley.
fn has_two_humps(points: &[(f64, f64)]) -> bool {
    // Reached so far: 0 nothing, 1 a valley, 2 a hump, … 5 the last valley. Always keep the most extreme point.
    let (mut reached, mut last) = (1, f64::INFINITY);
    for (peak, valley) in points {
        if reached % 2 == 1 {
            if *peak > HUMP * last {
                (reached, last) = (reached + 1, *peak);
            } else {
                last = last.min(*valley);
            }
        } else if *valley * HUMP < last {
            (reached, last) = (reached + 1, *valley);
        } else {
            last = last.max(*peak);
        }
        if reached == 5 {
            return true;
        }
    }
    false
}

/// The caveat, if there is one, that makes a cell's times useless for judging the platform.
pub(crate) fn disturbed(cell: &CellResult) -> Option<&str> {
    let spoils = |mark: &str| ["failed", "others", "steal", "off-plan", "restarted"].contains(&mark);
    cell.marked.iter().filter_map(|mark| mark.split(':').next()).find(|mark| spoils(mark))
}

/// A figure of a cell as the interval that its runs span. Of a single run the mean has the interval of its standard
/// error, and a percentile none.
fn figure_of(results: &Results, cell: &CellResult, figure: &str, stage: &str) -> Option<Interval> {
    let runs: Vec<_> =
        cell.runs.iter().filter(|run| run.failed.is_none() && !run.stages.is_empty()).collect();
    let too_few = runs.is_empty() || cell.samples < results.settings.run.fewest_samples;
    // Claims may be about losses and contradictions on any host.
    let counted = ["lost", "samples", "disordered"].contains(&figure);
    if too_few || (!counted && disturbed(cell).is_some()) {
        return None;
    }
    let over = |what: &dyn Fn(&RunRecord) -> f64| Interval::around(runs.iter().map(|run| what(run)));
    let a_second =
        |what: &dyn Fn(&RunRecord) -> u64| over(&|run| what(run) as f64 / run.observed.seconds.max(1e-9));
    match figure {
        "achieved" => return over(&|run| run.achieved_rate),
        "lost" => return Some(Interval::point(cell.lost as f64)),
        "samples" => return Some(Interval::point(cell.samples as f64)),
        "disordered" => {
            return Some(Interval::point(runs.iter().map(|run| run.disordered).sum::<u64>() as f64));
        }
        "lateness_p99" => return over(&|run| run.lateness_p99_us),
        "wakeups" => return a_second(&|run| run.observed.wakeups),
        "context_switches" => return a_second(&|run| run.observed.context_switches),
        _ => {}
    }
    let by_run: Vec<(&RunRecord, &RunStage)> =
        runs.iter().filter_map(|run| Some((*run, run.stages.get(stage)?))).collect();
    let what: fn(&RunStage) -> f64 = match figure {
        "mean" => |stage| stage.mean_us,
        "p50" => |stage| stage.p50_us,
        "p90" => |stage| stage.p90_us,
        "p99" => |stage| stage.p99_us,
        "p999" => |stage| stage.p999_us,
        "max" => |stage| stage.max_us,
        _ => return None,
    };
    let mut interval = match by_run.as_slice() {
        [(run, only)] if figure == "mean" => {
            let error = 1.96 * only.sd_us / (run.samples as f64).sqrt();
            Interval { low: (only.mean_us - error).max(0.0), high: only.mean_us + error }
        }
        [_] => return None,
        several => Interval::around(several.iter().map(|(_, stage)| what(stage)))?,
    };
    // Waits that were cut short are in t2o only, and in every mean of it.
    let cut = |(run, stage): &(&RunRecord, &RunStage)| {
        run.open_from_us.is_some() && (figure == "mean" || run.is_least(what(stage)))
    };
    if stage.starts_with("t2o") && by_run.iter().any(cut) {
        interval.high = f64::INFINITY;
    }
    Some(interval)
}

#[cfg(test)]
mod tests;
