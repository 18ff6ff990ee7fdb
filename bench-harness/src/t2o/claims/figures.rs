//! What stands in a claim: which cells and figures it speaks of, and what comes of them.

use super::{
    COUNTED, CellResult, Errors, Expression, HUMP, Interval, Json, Operator, Results, RunRecord, RunStage,
};

pub(super) fn sign(operator: Operator) -> &'static str {
    match operator {
        Operator::Less => "<",
        Operator::LessOrEqual => "≤",
        Operator::Greater => ">",
        Operator::GreaterOrEqual => "≥",
        _ => "=",
    }
}

/// The figures in an expression.
pub(super) fn leaves(expression: &Expression) -> Vec<&Expression> {
    match expression {
        Expression::Number(_) => Vec::new(),
        Expression::Pair(left, _, right) => [leaves(left), leaves(right)].concat(),
        Expression::Not(inner) => leaves(inner),
        leaf => vec![leaf],
    }
}

/// Whether a figure is one of a single cell that differs from run to run.
pub(super) fn is_paired(leaf: &Expression) -> bool {
    matches!(leaf, Expression::Figure { figure, .. } if !COUNTED.contains(&figure.as_str()))
}

pub(super) fn is_counted(leaf: &Expression) -> bool {
    matches!(leaf, Expression::Figure { figure, .. } if COUNTED.contains(&figure.as_str()))
}

pub(super) fn group_of(leaf: &Expression) -> Option<&str> {
    match leaf {
        Expression::Figure { group, .. }
        | Expression::Extreme { group, .. }
        | Expression::MShaped { group } => Some(group),
        _ => None,
    }
}

/// Whether some node of a group's platform polls, or a relay does for its strategies. Such a node never sleeps, so the
/// scheduler takes its CPU away for whole turns of others; one that sleeps is mostly let in at once.
pub(super) fn polls(results: &Results, group: &str) -> bool {
    fn has(value: &Json) -> bool {
        match value {
            Json::Object(table) => table
                .iter()
                .any(|(key, value)| key == "relay" || (key == "mode" && *value == *"fast") || has(value)),
            Json::Array(values) => values.iter().any(has),
            _ => false,
        }
    }
    let platform =
        results.settings.group.iter().find(|known| known.name == group).map(|known| &known.platform);
    platform.is_some_and(has) || has(&results.settings.base)
}

/// Whether a side of a comparison grows with each of its figures.
pub(super) fn is_increasing(side: &Expression) -> bool {
    match side {
        Expression::Pair(left, Operator::Plus | Operator::Times, right) => {
            is_increasing(left) && is_increasing(right)
        }
        Expression::Pair(left, Operator::Minus | Operator::Over, right) => {
            is_increasing(left) && leaves(right).is_empty()
        }
        Expression::Number(number) => *number >= 0.0,
        Expression::Figure { .. } => true,
        _ => false,
    }
}

/// Whether a comparison of one figure with a number is one that a busier host makes harder: times become longer by it, and
/// rates lower.
pub(super) fn noise_is_against(left: &Expression, operator: Operator) -> bool {
    let Expression::Figure { figure, .. } = left else { return false };
    match operator {
        Operator::Less | Operator::LessOrEqual => of_stage(figure).is_some() || figure == "lateness_p99",
        Operator::Greater | Operator::GreaterOrEqual => figure == "achieved",
        _ => false,
    }
}

pub(super) fn speaks_of(leaf: &Expression, cell: &CellResult) -> bool {
    match leaf {
        Expression::Figure { group, rate, .. } => cell.group == *group && cell.rate == *rate,
        Expression::Extreme { group, .. } | Expression::MShaped { group } => cell.group == *group,
        _ => false,
    }
}

/// `p50(A, 80)`.
pub(super) fn short(leaf: &Expression) -> String {
    match leaf {
        Expression::Figure { figure, group, rate, .. } => format!("{figure}({group}, {rate})"),
        _ => String::new(),
    }
}

/// The value of an expression whose figures, in the order of `leaves`, have these values.
pub(super) fn evaluate(expression: &Expression, leaves: &[&Expression], values: &[f64]) -> f64 {
    match expression {
        Expression::Number(number) => *number,
        Expression::Pair(left, operator, right) => {
            let (a, b) = (evaluate(left, leaves, values), evaluate(right, leaves, values));
            match operator {
                Operator::Plus => a + b,
                Operator::Minus => a - b,
                Operator::Times => a * b,
                _ => a / b,
            }
        }
        leaf => {
            let place = leaves.iter().position(|known| *known == leaf);
            place.and_then(|at| values.get(at)).copied().unwrap_or(f64::NAN)
        }
    }
}

/// Valley, hump, valley, hump, valley, in this order, each step by at least [`HUMP`]. Each point has its value as a
/// peak and its value as a valley.
pub(super) fn has_two_humps(points: &[(f64, f64)]) -> bool {
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

/// The caveat, if there is one, that makes a cell's times useless for judging the platform, however quiet the host is in
/// between.
pub(in crate::t2o) fn spoilt(cell: &CellResult) -> Option<&str> {
    marked(cell, &["failed", "off-plan", "restarted"])
}

/// The caveat, if there is one, that makes the times of a cell's whole runs useless for judging the platform.
pub(in crate::t2o) fn disturbed(cell: &CellResult) -> Option<&str> {
    marked(cell, &["failed", "others", "steal", "off-plan", "restarted"])
}

fn marked<'a>(cell: &'a CellResult, words: &[&str]) -> Option<&'a str> {
    cell.marked.iter().filter_map(|mark| mark.split(':').next()).find(|mark| words.contains(mark))
}

pub(super) fn of_stage(figure: &str) -> Option<fn(&RunStage) -> f64> {
    Some(match figure {
        "mean" => |stage| stage.mean_us,
        "p50" => |stage| stage.p50_us,
        "p90" => |stage| stage.p90_us,
        "p99" => |stage| stage.p99_us,
        "p999" => |stage| stage.p999_us,
        "max" => |stage| stage.max_us,
        _ => return None,
    })
}

pub(super) fn of_errors(figure: &str) -> Option<fn(&Errors) -> f64> {
    Some(match figure {
        "mean" => |errors| errors.mean,
        "p50" => |errors| errors.p50,
        "p90" => |errors| errors.p90,
        "p99" => |errors| errors.p99,
        "p999" => |errors| errors.p999,
        "max" => |errors| errors.max,
        _ => return None,
    })
}

/// A figure of a cell as the interval that its whole runs span. Of a single run the mean has the interval of its standard
/// error, and a percentile none.
pub(super) fn figure_of(
    results: &Results,
    cell: &CellResult,
    (figure, stage): (&str, &str),
    is_raw: bool,
) -> Option<Interval> {
    let runs: Vec<_> =
        cell.runs.iter().filter(|run| run.failed.is_none() && !run.stages.is_empty()).collect();
    let too_few = runs.is_empty() || cell.samples < results.settings.run.fewest_samples;
    // Claims may be about losses and contradictions on any host.
    let counted = COUNTED.contains(&figure);
    if too_few || (!counted && !is_raw && disturbed(cell).is_some()) {
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
    let what = of_stage(figure)?;
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

/// A figure in three digits or so.
pub(super) fn figure_text(figure: f64) -> String {
    if figure.abs() < 100.0 { format!("{figure:.2}") } else { format!("{figure:.0}") }
}
