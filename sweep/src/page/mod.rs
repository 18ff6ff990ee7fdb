//! One HTML page of a sweep: it needs nothing else. Its script draws the heat maps from the figures that stand in it.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use crate::config::Goal;
use crate::judge::{Combination, Figures, Selection, Split, judge};
use crate::results::{Results, Row};
use outcome::page::STYLE as HOUSE_STYLE;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");
/// Rows of the table.
const MOST_ROWS: usize = 1_000;
/// Runs that failed, each with its reason.
const MOST_FAILED: usize = 50;
/// With more figures than this a page has only the measures that are asked for most.
const MOST_FIGURES: usize = 200_000;
const ASKED_FOR: [&str; 6] = ["pnl", "sharpe", "max_drawdown", "fills", "turnover", "fill_ratio"];

/// The page.
pub fn page(results: &Results) -> String {
    let manifest = &results.manifest;
    let name =
        results.folder.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let split = Split::of_file(results);
    let judgement = judge(results, &manifest.measure, manifest.goal, &split);
    let mut body = header(results, &name, &judgement.selection, split.has_test());
    body.push_str(MAPS);
    body.push_str(&table(results, &judgement.combinations, split.has_test()));
    body.push_str(&failures(results));
    body.push_str(&facts(results));
    // A closing tag in a name must not end the element.
    let mut data = data(results);
    data["open"] = json!(open(results, &judgement.combinations));
    let data = data.to_string().replace('<', "\\u003c");
    format!(
        "<!doctype html>\n<html lang=en>\n<meta charset=utf-8>\n\
         <meta name=viewport content=\"width=device-width, initial-scale=1\">\n<title>{} – colo</title>\n\
         <style>\n{HOUSE_STYLE}{STYLE}</style>\n<body>\n<a class=skip href=\"#table\">To the table of combinations</a>\n\
         <main>\n{body}</main>\n<script type=\"application/json\" id=data>{data}</script>\n<script>\n{SCRIPT}</script>\n\
         </body>\n</html>\n",
        escape(&name)
    )
}

/// Filled by the script.
const MAPS: &str = "<h2>Heat map</h2>\n<div id=controls class=controls></div>\n\
    <p id=about class=source></p>\n<noscript><p class=note>The heat maps need JavaScript; the table below does not.</p></noscript>\n\
    <div class=scroll id=map tabindex=0></div>\n<div id=legend class=scale></div>\n<output id=reading aria-live=polite></output>\n\
    <section id=by-day hidden><h2>Day by day</h2>\n<p class=source>The same map, axis for axis, for each day alone; all days share one scale. A corner that is good on one day only is no good corner.</p>\n<div id=day-legend class=scale></div>\n\
    <div id=days class=days></div></section>\n";

fn header(results: &Results, name: &str, selection: &Selection, has_test: bool) -> String {
    let manifest = &results.manifest;
    let whose = manifest.strategy.as_deref().unwrap_or("all strategies together");
    let better = if manifest.goal == Goal::Max { "larger" } else { "smaller" };
    let mut text = format!(
        "<header><h1>{}</h1>\n<p class=lead>{} of {}; {better} is better. Started {}.</p>\n",
        escape(name),
        escape(&manifest.measure),
        escape(whose),
        escape(&manifest.started)
    );
    let failed = results.count("failed") + results.count("timeout");
    if results.state_word() != "finished" {
        let open = results.count("open");
        note(
            &mut text,
            &format!(
                "This sweep is {}: {open} of {} runs have not ended.",
                results.state_word(),
                manifest.runs
            ),
        );
    }
    if failed > 0 {
        note(
            &mut text,
            &format!(
                "{failed} runs failed. Combinations that lack a run are ranked behind those that have all: the run that failed might have been the bad one."
            ),
        );
    }
    let tile = |value: Option<f64>, what: &str| {
        let value = value.map_or("–".to_owned(), figure);
        format!("<li><b>{value}</b><span>{what}</span></li>")
    };
    let mut tiles = vec![
        format!("<li><b>{}</b><span>combinations tried</span></li>", selection.tried),
        tile(selection.best, "best mean, days to train with"),
        tile(selection.best_by_luck, "what the best of as many would show by luck alone"),
    ];
    if has_test {
        tiles.push(tile(selection.best_in_test, "the best one on the test days"));
        tiles.push(tile(selection.all_in_test, "all combinations on the test days"));
        let correlation = selection.rank_correlation.map_or("–".to_owned(), |value| format!("{value:.2}"));
        tiles.push(format!("<li><b>{correlation}</b><span>rank correlation of training and test days; 0: the choice carries nothing over</span></li>"));
    }
    if let Some(deflated) = selection.deflated_sharpe {
        tiles.push(format!(
            "<li><b>{:.1} %</b><span>deflated Sharpe ratio: probability that the best one's true ratio is above that of the best of {} without skill</span></li>",
            deflated * 100.0,
            selection.tried
        ));
    }
    text.push_str(&format!("<ul class=tiles>{}</ul>\n", tiles.concat()));
    if !has_test {
        let words = match manifest.days.len() {
            0 | 1 => {
                "There is one day: the best combination is the best of that day, and nothing says what it is worth on another."
            }
            _ => {
                "No day is kept for a test: the best mean is what was chosen for, and overstates what is to be expected. `test` in [days] keeps some."
            }
        };
        text.push_str(&format!("<p class=source>{words}</p>\n"));
    }
    if let Some(why) = &selection.no_deflated_sharpe {
        text.push_str(&format!("<p class=source>No deflated Sharpe ratio: {}.</p>\n", escape(why)));
    }
    text + "</header>\n"
}

/// What the script draws from: the means over seeds, by combination and day.
fn data(results: &Results) -> Json {
    let manifest = &results.manifest;
    let mut days: Vec<(String, bool)> =
        manifest.days.iter().map(|day| (day.name.clone(), day.part == "test")).collect();
    if days.is_empty() {
        days.push((String::new(), false));
    }
    let has =
        |index: usize| results.rows.iter().any(|row| row.measures.get(index).copied().flatten().is_some());
    let is_many = results.rows.len() * results.measures.len() > MOST_FIGURES;
    let measures: Vec<usize> = (0..results.measures.len())
        .filter(|index| {
            let name = results.measures[*index].as_str();
            has(*index) && (!is_many || name == manifest.measure || ASKED_FOR.contains(&name))
        })
        .collect();
    let place =
        |axis: usize, value: &str| manifest.parameters[axis].values.iter().position(|other| other == value);
    let mut cells: BTreeMap<(Vec<usize>, usize), Vec<&Row>> = BTreeMap::new();
    for row in &results.rows {
        let choice: Option<Vec<usize>> =
            row.values.iter().enumerate().map(|(axis, value)| place(axis, value)).collect();
        let day = days.iter().position(|(name, _)| *name == row.day);
        if let (Some(choice), Some(day)) = (choice, day) {
            cells.entry((choice, day)).or_default().push(row);
        }
    }
    let rows = cells.into_iter().map(|((choice, day), rows)| {
        let finished = || rows.iter().filter(|row| row.state == "finished");
        let mean = |index: &usize| -> Json {
            let values: Vec<f64> = finished().filter_map(|row| row.measures[*index]).collect();
            let is_whole = values.len() == rows.len();
            if is_whole {
                json!(rounded(values.iter().sum::<f64>() / values.len() as f64))
            } else {
                Json::Null
            }
        };
        json!([choice, day, measures.iter().map(mean).collect::<Vec<_>>()])
    });
    let units: BTreeMap<&str, &str> = outcome::strategy_measures().map(|one| (one.name, one.unit)).collect();
    let unit = |index: &usize| units.get(results.measures[*index].as_str()).copied().unwrap_or_default();
    let goal = |index: &usize| {
        let name = results.measures[*index].as_str();
        let goal = if name == manifest.measure { manifest.goal } else { crate::plan::goal_of(name) };
        if goal == Goal::Max { "max" } else { "min" }
    };
    json!({
        "parameters": manifest.parameters.iter().map(|axis| &axis.key).collect::<Vec<_>>(),
        "values": manifest.parameters.iter().map(|axis| &axis.values).collect::<Vec<_>>(),
        "days": days,
        "seeds": manifest.seeds.len(),
        "measures": measures.iter().map(|index| &results.measures[*index]).collect::<Vec<_>>(),
        "units": measures.iter().map(unit).collect::<Vec<_>>(),
        "goals": measures.iter().map(goal).collect::<Vec<_>>(),
        "measure": manifest.measure,
        "rows": rows.collect::<Vec<_>>(),
    })
}

/// The best combination's values, by place, where the map that the page opens with has no figure for it: a mean over the values
/// of the other parameters lacks a run. The first two parameters with several values are the map's.
fn open(results: &Results, combinations: &[Combination]) -> Option<Vec<usize>> {
    let axes = &results.manifest.parameters;
    let varied = (0..axes.len()).filter(|axis| axes[*axis].values.len() > 1);
    let of_map: Vec<usize> = varied.take(2).collect();
    let lacks = |one: &Combination| one.failed + one.missing > 0;
    let best = combinations.first().filter(|best| !lacks(best))?;
    let in_its_cell = |one: &&Combination| of_map.iter().all(|axis| one.values[*axis] == best.values[*axis]);
    combinations.iter().filter(in_its_cell).any(lacks).then_some(())?;
    let place = |(axis, value): (usize, &String)| axes[axis].values.iter().position(|other| other == value);
    best.values.iter().enumerate().map(place).collect()
}

/// Six digits are more than a colour shows.
fn rounded(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

fn table(results: &Results, combinations: &[Combination], has_test: bool) -> String {
    let unit = results.unit();
    let mut head = results.short_names();
    head.extend([unit, "mean", "standard deviation", "worst", "on"].map(str::to_owned));
    if has_test {
        head.extend(["test days", "test mean", "test worst"].map(str::to_owned));
    }
    head.push("runs it lacks".to_owned());
    let cell = |text: &str| format!("<td>{}</td>", escape(text));
    let rows = combinations.iter().take(MOST_ROWS).map(|one| {
        let mut row: String = one.values.iter().map(|value| cell(value)).collect();
        let [n, mean, sd, worst, on] = figures(one.train.as_ref());
        row.extend([n, mean, sd, worst, on].map(|text| cell(&text)));
        if has_test {
            let [n, mean, _, worst, _] = figures(one.test.as_ref());
            row.extend([n, mean, worst].map(|text| cell(&text)));
        }
        row.push_str(&cell(&(one.failed + one.missing).to_string()));
        format!("<tr>{row}</tr>\n")
    });
    let head: String = head
        .iter()
        .map(|name| format!("<th scope=col><button type=button>{}</button></th>", escape(name)))
        .collect();
    let more = match combinations.len().saturating_sub(MOST_ROWS) {
        0 => String::new(),
        more => format!(" {more} more are in table.csv."),
    };
    format!(
        "<h2 id=table>Combinations</h2>\n<p class=source>{} over {unit}, the best first; a head sorts by its column. A day counts once, as the mean over its seeds.{more}</p>\n\
         <div class=\"scroll tall\" tabindex=0><table class=sortable>\n<thead><tr>{head}</tr></thead>\n<tbody>{}</tbody></table></div>\n",
        escape(&results.manifest.measure),
        rows.collect::<String>()
    )
}

fn figures(figures: Option<&Figures>) -> [String; 5] {
    let none = || "–".to_owned();
    match figures {
        None => [none(), none(), none(), none(), none()],
        Some(one) => [
            one.n.to_string(),
            figure(one.mean),
            one.sd.map_or_else(none, figure),
            figure(one.worst),
            if one.worst_at.is_empty() { none() } else { one.worst_at.clone() },
        ],
    }
}

fn failures(results: &Results) -> String {
    let failed: Vec<&Row> = results.rows.iter().filter(|row| !row.why.is_empty()).collect();
    if failed.is_empty() {
        return String::new();
    }
    let rows = failed.iter().take(MOST_FAILED).map(|row| {
        let what = row.values.iter().chain([&row.day, &row.seed]).filter(|text| !text.is_empty());
        let what: Vec<&str> = what.map(String::as_str).collect();
        format!(
            "<tr><td class=word>{}</td><td class=word>{}</td><td class=word>{}</td><td class=\"word long\">{}</td></tr>\n",
            row.run,
            escape(&what.join(", ")),
            row.state,
            escape(&row.why)
        )
    });
    format!(
        "<h2>Runs that failed</h2>\n<div class=\"scroll tall\" tabindex=0><table><thead><tr><th class=word>run</th><th class=word>with</th><th class=word>how</th><th class=word>why</th></tr></thead>\n<tbody>{}</tbody></table></div>\n",
        rows.collect::<String>()
    )
}

fn facts(results: &Results) -> String {
    let manifest = &results.manifest;
    let mut rows = vec![
        ("colo", manifest.colo.clone()),
        ("sweep file", manifest.file.display().to_string()),
        ("platform file", manifest.platform.display().to_string()),
        ("runs", format!("{}, {} at a time, {:.0} s", manifest.runs, manifest.jobs, manifest.seconds)),
    ];
    if let Some(sample) = manifest.sample {
        rows.push(("sample", format!("{sample} of {} combinations, seed {}", manifest.grid, manifest.seed)));
    }
    for file in &manifest.files {
        let hash = file.xxh3.as_deref().unwrap_or("no hash");
        rows.push(("made from", format!("{}, {} bytes, xxh3 {hash}", file.path.display(), file.bytes)));
    }
    let rows: String = rows
        .iter()
        .map(|(key, value)| format!("<tr><td>{key}</td><td>{}</td></tr>\n", escape(value)))
        .collect();
    format!(
        "<h2>Where it came from</h2>\n<div class=\"scroll facts\" tabindex=0><table class=facts>{rows}</table></div>\n"
    )
}

fn note(text: &mut String, words: &str) {
    text.push_str(&format!("<p class=note>{}</p>\n", escape(words)));
}

/// Five digits that count.
fn figure(value: f64) -> String {
    if value.abs() < 1e-9 {
        return "0".to_owned();
    }
    let places = (4 - value.abs().log10().floor() as i32).clamp(0, 9) as usize;
    format!("{value:.places$}")
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
