//! `colo sweep show`.

use std::path::Path;

use ::sweep::{Combination, Figures, Goal, Judgement, Results, Selection, Split};
use node::Exit;
use serde_json::json;

use super::args::Show;
use crate::failure::Failure;
use crate::output::{self, Format, count, number, table};

/// Combinations that are shown when a sweep ends.
const BRIEF: usize = 10;
/// Runs that failed, of which the reasons are shown.
const MOST_REASONS: usize = 10;

pub(super) fn show(arguments: &Show) -> Result<u8, Failure> {
    let folder = ::sweep::find(&arguments.dir, arguments.sweep.as_deref())?;
    let results = Results::read(&folder)?;
    let wrong = |message: String| Failure::new(Exit::Usage, message);
    let measure = arguments.measure.clone().unwrap_or_else(|| results.manifest.measure.clone());
    if results.measure(&measure).is_none() {
        let known = results.measures.join(", ");
        return Err(wrong(format!("the table has no measure `{measure}`: it has {known}")));
    }
    let goal = goal(&results, &measure);
    let split = match &arguments.split {
        Some(text) => Split::parse(&results, text).map_err(|why| wrong(format!("--split: {why}")))?,
        None => Split::of_file(&results),
    };
    let mut judgement = ::sweep::judge(&results, &measure, goal, &split);
    let extra = sort(&mut judgement, &results, arguments, goal).map_err(wrong)?;
    let shown = arguments.top.unwrap_or(usize::MAX);
    match arguments.format {
        Format::Json => output::print_json(&answer(&results, &judgement, goal, &split, shown))?,
        Format::Text => {
            let text = text(&results, &judgement, &split, shown, extra.as_deref());
            output::print(&(text + &reasons(&results)))?;
        }
    }
    Ok(Exit::Done.code())
}

/// The best combinations and what they are worth, when a sweep has ended; it has said itself what failed.
pub(super) fn brief(folder: &Path) -> Result<(), Failure> {
    let results = Results::read(folder)?;
    let measure = results.manifest.measure.clone();
    let split = Split::of_file(&results);
    let judgement = ::sweep::judge(&results, &measure, results.manifest.goal, &split);
    output::print(&text(&results, &judgement, &split, BRIEF, None))
}

fn goal(results: &Results, measure: &str) -> Goal {
    if measure == results.manifest.measure { results.manifest.goal } else { ::sweep::goal_of(measure) }
}

/// Sorts as asked; the other measure that it went by.
fn sort(
    judgement: &mut Judgement,
    results: &Results,
    arguments: &Show,
    goal: Goal,
) -> Result<Option<String>, String> {
    let by = arguments.sort.as_str();
    let parameter = parameter(results, by);
    let is_measure = results.measure(by).is_some();
    if !["mean", "sd", "worst", "test"].contains(&by) && parameter.is_none() && !is_measure {
        let names = results.short_names();
        return Err(format!(
            "--sort {by}: there is mean, sd, worst, test, {}, and the measures {}",
            names.join(", "),
            results.measures.join(", ")
        ));
    }
    let figures = |figures: &Option<Figures>, of: fn(&Figures) -> Option<f64>| figures.as_ref().and_then(of);
    let key = |one: &Combination| -> Option<f64> {
        let (value, goal) = match by {
            "mean" => (figures(&one.train, |it| Some(it.mean)), goal),
            "sd" => (figures(&one.train, |it| it.sd), Goal::Min),
            "worst" => (figures(&one.train, |it| Some(it.worst)), goal),
            "test" => (figures(&one.test, |it| Some(it.mean)), goal),
            other => (one.others.get(other).copied(), ::sweep::goal_of(other)),
        };
        value.map(|value| if goal == Goal::Max { -value } else { value })
    };
    if let Some(place) = parameter {
        judgement.combinations.sort_by(|one, other| {
            let number = |value: &String| value.parse::<f64>().ok();
            match (number(&one.values[place]), number(&other.values[place])) {
                (Some(one), Some(other)) => one.total_cmp(&other),
                _ => one.values[place].cmp(&other.values[place]),
            }
        });
    } else if by != "mean" {
        // What has no such figure comes last.
        judgement.combinations.sort_by(|one, other| {
            let (one, other) = (key(one), key(other));
            one.is_none().cmp(&other.is_none()).then(one.unwrap_or(0.0).total_cmp(&other.unwrap_or(0.0)))
        });
    }
    if arguments.reverse {
        judgement.combinations.reverse();
    }
    let is_other = is_measure && by != judgement.measure && parameter.is_none();
    Ok(is_other.then(|| by.to_owned()))
}

/// A parameter by its whole key, or by its last word where only one has it.
fn parameter(results: &Results, name: &str) -> Option<usize> {
    let whole = results.manifest.parameters.iter().position(|axis| axis.key == name);
    whole.or_else(|| results.short_names().iter().position(|short| short == name))
}

fn answer(
    results: &Results,
    judgement: &Judgement,
    goal: Goal,
    split: &Split,
    shown: usize,
) -> serde_json::Value {
    let manifest = &results.manifest;
    let keys: Vec<&str> = manifest.parameters.iter().map(|axis| axis.key.as_str()).collect();
    let combination = |one: &Combination| {
        let values: serde_json::Map<String, serde_json::Value> = keys
            .iter()
            .zip(&one.values)
            .map(|(key, value)| ((*key).to_owned(), value.clone().into()))
            .collect();
        json!({
            "parameters": values,
            "train": one.train,
            "test": one.test,
            "failed": one.failed,
            "missing": one.missing,
            "measures": one.others,
        })
    };
    let days = |is_test: bool| -> Vec<&str> {
        let names = manifest.days.iter().map(|day| day.name.as_str());
        names.filter(|day| split.is_test(day) == is_test).collect()
    };
    json!({
        "folder": output::path(&results.folder),
        "name": manifest.name,
        "state": results.state_word(),
        "platform": output::path(&manifest.platform),
        "strategy": manifest.strategy,
        "measure": judgement.measure,
        "goal": goal,
        "parameters": keys,
        "train": days(false),
        "test": days(true),
        "seeds": manifest.seeds,
        "runs": manifest.runs,
        "finished": results.count("finished"),
        "failed": results.count("failed") + results.count("timeout"),
        "grid": manifest.grid,
        "selection": judgement.selection,
        "combinations": judgement.combinations.iter().take(shown).map(combination).collect::<Vec<_>>(),
    })
}

fn text(
    results: &Results,
    judgement: &Judgement,
    split: &Split,
    shown: usize,
    extra: Option<&str>,
) -> String {
    let manifest = &results.manifest;
    let folder = super::super::keeping::shown(&results.folder).display().to_string();
    let finished = results.count("finished");
    let failed = results.count("failed") + results.count("timeout");
    let mut text = format!(
        "{}: {}, {finished} of {} finished, {failed} failed\n",
        output::escaped(&folder),
        results.state_word(),
        count(manifest.runs as u64, "run")
    );
    let whose = manifest.strategy.as_deref().unwrap_or("all strategies together");
    let unit = results.unit();
    text.push_str(&format!("{} of {}, over {unit}\n\n", judgement.measure, output::escaped(whose)));
    let mut head = results.short_names();
    let left = head.len();
    head.extend(["n", "mean", "sd", "worst", "on"].map(str::to_owned));
    if split.has_test() {
        head.extend(["test n", "test mean", "test worst"].map(str::to_owned));
    }
    head.extend(extra.map(|extra| format!("{extra}, mean")));
    let some_lack = judgement.combinations.iter().any(|one| one.failed + one.missing > 0);
    if some_lack {
        head.push("lacks".to_owned());
    }
    let rows = judgement.combinations.iter().take(shown).map(|one| {
        let mut row: Vec<String> = one.values.iter().map(|value| output::escaped(value)).collect();
        row.extend(figures(one.train.as_ref()));
        if split.has_test() {
            let [n, mean, _, worst, _] = figures(one.test.as_ref());
            row.extend([n, mean, worst]);
        }
        row.extend(extra.map(|extra| one.others.get(extra).map_or("-".to_owned(), |value| figure(*value))));
        if some_lack {
            row.push(lacks(one));
        }
        row
    });
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    text.push_str(&table(&head, left.min(1), rows));
    let more = judgement.combinations.len().saturating_sub(shown);
    if more > 0 {
        text.push_str(&format!("and {} more\n", count(more as u64, "combination")));
    }
    text.push('\n');
    text.push_str(&worth(results, judgement, split));
    text
}

/// Why the first runs failed.
fn reasons(results: &Results) -> String {
    let why = results.rows.iter().filter(|row| !row.why.is_empty());
    let lines = why.take(MOST_REASONS);
    lines.map(|row| format!("run {}: {}: {}\n", row.run, row.state, output::escaped(&row.why))).collect()
}

/// What is missing of a combination: it is ranked behind those that lack nothing.
fn lacks(one: &Combination) -> String {
    match (one.failed, one.missing) {
        (0, 0) => "-".to_owned(),
        (failed, 0) => format!("{failed} failed"),
        (0, missing) => format!("{missing} missing"),
        (failed, missing) => format!("{failed} failed, {missing} missing"),
    }
}

fn figures(figures: Option<&Figures>) -> [String; 5] {
    let none = || "-".to_owned();
    match figures {
        None => [none(), none(), none(), none(), none()],
        Some(one) => [
            number(one.n as u64),
            figure(one.mean),
            one.sd.map_or_else(none, figure),
            figure(one.worst),
            if one.worst_at.is_empty() { none() } else { output::escaped(&one.worst_at) },
        ],
    }
}

/// Five digits that count.
fn figure(value: f64) -> String {
    let whole = value.abs().max(1e-12).log10().floor() as i32;
    if value == 0.0 || whole < -6 && value.abs() < 1e-6 {
        return "0".to_owned();
    }
    let places = (4 - whole).clamp(0, 8) as usize;
    format!("{value:.places$}")
}

/// How much of the best one's lead may be luck.
fn worth(results: &Results, judgement: &Judgement, split: &Split) -> String {
    let Selection {
        tried,
        best,
        best_by_luck,
        best_in_test,
        rank_in_test,
        all_in_test,
        rank_correlation,
        sharpe,
        sharpe_n,
        skewness,
        kurtosis,
        sharpe_by_luck,
        deflated_sharpe,
        no_deflated_sharpe,
    } = &judgement.selection;
    let mut text = match results.manifest.sample {
        Some(_) if results.manifest.grid > *tried as u64 => {
            format!("tried: {tried} of {} combinations\n", number(results.manifest.grid))
        }
        _ => format!("tried: {}\n", count(*tried as u64, "combination")),
    };
    if let (Some(best), Some(luck)) = (best, best_by_luck) {
        text.push_str(&format!(
            "the best mean is {}; if all {tried} were alike and only luck told them apart, the best would still show about {}\n",
            figure(*best),
            figure(*luck)
        ));
    }
    match (best_in_test, rank_in_test, all_in_test) {
        (Some(test), Some(rank), Some(all)) => {
            text.push_str(&format!(
                "on the test days the best one shows {}, place {rank} of {tried}; all together show {}\n",
                figure(*test),
                figure(*all)
            ));
            if let Some(correlation) = rank_correlation {
                text.push_str(&format!(
                    "rank correlation of training and test days: {correlation:.2} (1: the same order; 0 or less: the choice carries nothing over)\n"
                ));
            }
        }
        _ if !split.has_test() && results.manifest.days.len() > 1 => {
            text.push_str("no day is kept for a test: `--split 0.7`, or `test` in [days], shows what the choice is worth on days it has not seen\n");
        }
        _ => {}
    }
    match (sharpe, sharpe_n, sharpe_by_luck, deflated_sharpe) {
        (Some(sharpe), Some(n), Some(luck), Some(deflated)) => text.push_str(&format!(
            "Sharpe ratio of the best one: {} per interval over {} intervals; the best of {tried} without skill: {}; deflated: {:.1} % that it is above that (skewness of its changes {}, kurtosis {}; normal: 0 and 3)\n",
            figure(*sharpe),
            number(*n as u64),
            figure(*luck),
            deflated * 100.0,
            skewness.map_or("-".to_owned(), figure),
            kurtosis.map_or("-".to_owned(), figure)
        )),
        _ => {
            if let Some(why) = no_deflated_sharpe {
                text.push_str(&format!("no deflated Sharpe ratio: {why}\n"));
            }
        }
    }
    text
}
