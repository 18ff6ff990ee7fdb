//! The report as one self-contained HTML file.

use super::super::claims::{Outcome, Verdict};
use super::plots::Look;
use super::summary::Summary;
use super::tables::{self, Table};
use super::{form, known, matrix, plots, style};
use crate::t2o::result::Results;
use crate::t2o::slices::Level;

pub(super) fn page(results: &Results, claims: &[Verdict], summary: &Summary) -> String {
    let head = &results.settings.scenario;
    let mut body = format!("<header><h1>{}</h1>\n<p class=lead>{}</p>\n", escape(&head.title), lead(results));
    if let Some(note) = &head.note {
        body.push_str(&format!("<p class=note>{}</p>\n", escape(note)));
    }
    body.push_str("</header>\n");
    verdict(&mut body, claims, summary, tables::not_run(results).as_deref());
    let about = "In each cell the median (bold) and the mean t2o in µs of the slices that count; “busy”: too few are quiet, so disturbed ones are in it; “raw”: the same of whole runs; under \
                 the dotted line the means of the report’s cell. The stronger the shade, the slower, in logarithmic steps of the median. † the cell has \
                 caveats; ‡ and hatched: it is not to be trusted.";
    let table = matrix::table(results);
    if !table.is_empty() {
        body.push_str(&format!(
            "<figure><h2>The matrix</h2>\n{table}<figcaption>{}</figcaption></figure>\n",
            escape(about)
        ));
    }
    let groups = legend(results);
    let panels = plots::curves(results);
    if !panels.is_empty() {
        let panel = |(title, svg): &(&str, String)| {
            format!("<div><h3>{title}</h3>\n<div class=plot>{svg}</div></div>\n")
        };
        let about = format!(
            "Bars through the means span the means of the runs; hollow markers are marked cells. Wide pale bars are the \
             cells of the report, from its lowest to its highest mean, in the colour of the group that repeats them. The report is {}.",
            known::SOURCE
        );
        body.push_str(&format!(
            "<figure><h2>t2o by rate</h2>\n{}<div class=panels>{}</div>\n<figcaption>{}</figcaption></figure>\n",
            groups.replace("</ul>", "<li><i class=theirs></i>the report’s cell</li></ul>"),
            panels.iter().map(panel).collect::<String>(),
            escape(&about)
        ));
    }
    section(&mut body, &tables::beside_the_report(results), None);
    body.push_str(&format!("<p class=source>The report is {}.</p>\n", escape(known::SOURCE)));
    if !claims.is_empty() {
        section(&mut body, &tables::claims(claims), Some("claims"));
    }
    body.push_str("<h2>Group by group</h2>\n");
    for (name, title) in tables::groups(results) {
        table_of(&mut body, &tables::group(results, name, title), "h3", None);
    }
    for (rate, svg) in plots::distributions(results) {
        let title = format!("Distribution at {} quotes/s", form::rate(rate));
        let about =
            "t2o of all messages at each percentile; the axis has equal steps for 90 %, 99 %, 99.9 %, …";
        figure(&mut body, &title, about, &groups, &svg);
    }
    let parts: String =
        plots::PARTS.iter().map(|(words, class)| format!("<li><i class={class}></i>{words}</li>")).collect();
    for (rate, svg) in plots::stacks(results) {
        let title = format!("Where the time goes at {} quotes/s", form::rate(rate));
        let about = "Mean of each stage over all messages. A bar with an arrow goes on beyond the plot.";
        figure(&mut body, &title, about, &format!("<ul class=legend>{parts}</ul>\n"), &svg);
    }
    section(&mut body, &tables::caveats(results), Some("words"));
    section(&mut body, &tables::costs(results), None);
    section(&mut body, &tables::host(results), Some("host"));
    body.push_str("<h2>How to read it</h2>\n<ul>\n");
    for line in tables::HOW_TO_READ {
        body.push_str(&format!("<li>{}</li>\n", escape(line)));
    }
    body.push_str("</ul>\n");
    format!(
        "<!doctype html>\n<html lang=en>\n<meta charset=utf-8>\n\
         <meta name=viewport content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n\
         <style>\n{}</style>\n<body>\n<main>\n{body}</main>\n</body>\n</html>\n",
        escape(&head.title),
        style::sheet()
    )
}

/// Cells not to trust that are listed with their reasons at once.
const FEW: usize = 5;

/// The best group at the highest rate, in a sentence.
fn answer(summary: &Summary) -> String {
    let Some(best) = summary.best.last() else {
        return "No two groups can be compared at any rate.".to_owned();
    };
    let rank = match best.alike.as_slice() {
        [] => "is the quickest".to_owned(),
        alike => format!("has the lowest median, {} not told apart from it", alike.join(", ")),
    };
    format!(
        "At {} quotes/s <b>{}</b> ({}) {}: median {} µs, means {} µs{}.",
        form::rate(best.rate),
        escape(&best.group),
        escape(&best.title),
        escape(&rank),
        form::us(best.p50_us),
        form::range(best.mean_us),
        if best.level == Some(Level::Busy) { ", beside other work on the host" } else { "" }
    )
}

/// What a reader wants to know first.
fn verdict(body: &mut String, claims: &[Verdict], summary: &Summary, not_run: Option<&str>) {
    body.push_str("<section class=verdict>\n");
    body.push_str(&format!("<h2>Verdict</h2>\n<p class=answer>{}</p>\n", answer(summary)));
    if let Some(words) = not_run {
        body.push_str(&format!("<p class=answer><b>{}</b></p>\n", escape(words)));
    }
    body.push_str(&tally(claims));
    table_of(body, &tables::best(summary), "h2", Some("words"));
    let faults = tables::faults(summary);
    if faults.rows.is_empty() {
        body.push_str("<h2>What the host costs</h2>\n");
    }
    table_of(body, &faults, "h2", Some("\"words faults\""));
    for words in tables::host_words(summary) {
        body.push_str(&format!("<p>{}</p>\n", escape(&words)));
    }
    let distrusted = tables::distrusted(summary);
    match distrusted.rows.len() {
        0 => body.push_str("<h2>Cells not to trust</h2>\n<p>None.</p>\n"),
        1..=FEW => table_of(body, &distrusted, "h2", Some("words")),
        many => {
            // A long list would push the matrix away.
            let cells: Vec<&str> = summary.distrusted.iter().map(|cell| cell.cell.as_str()).collect();
            body.push_str(&format!(
                "<h2>Cells not to trust</h2>\n<details><summary>{many} cells: {}</summary>\n",
                escape(&cells.join(" "))
            ));
            table_of(body, &Table { title: "Why".to_owned(), ..distrusted }, "h3", Some("words"));
            body.push_str("</details>\n");
        }
    }
    body.push_str("</section>\n");
}

fn lead(results: &Results) -> String {
    let messages: u64 = results.cells.iter().map(|cell| cell.samples).sum();
    let marked = results.cells.iter().filter(|cell| !cell.marked.is_empty()).count();
    escape(&format!(
        "{} cells ({marked} marked), {} messages, {} strategies; {}, {} CPUs; {}",
        results.cells.len(),
        form::thousands(messages),
        results.settings.run.strategies,
        results.host.cpu_model,
        results.host.cpus,
        form::date(results.started_unix),
    ))
}

/// The number of claims with each result.
fn tally(claims: &[Verdict]) -> String {
    if claims.is_empty() {
        return String::new();
    }
    let count = |outcome| claims.iter().filter(|verdict| verdict.outcome == outcome).count();
    format!(
        "<p class=tally><span class=holds>{} claims hold</span> <span class=refuted>{} refuted</span> \
         <span class=inconclusive>{} inconclusive</span></p>\n",
        count(Outcome::Holds),
        count(Outcome::Refuted),
        count(Outcome::Inconclusive)
    )
}

/// How each group looks, as a list.
fn legend(results: &Results) -> String {
    let item = |(name, title): (&str, &str)| {
        format!("<li>{}{}: {}</li>", Look::of(results, name).key(), escape(name), escape(title))
    };
    format!("<ul class=legend>{}</ul>\n", tables::groups(results).into_iter().map(item).collect::<String>())
}

fn figure(body: &mut String, title: &str, about: &str, legend: &str, svg: &str) {
    if svg.is_empty() {
        return;
    }
    body.push_str(&format!(
        "<figure><h2>{}</h2>\n{legend}<div class=plot>{svg}</div>\n<figcaption>{}</figcaption></figure>\n",
        escape(title),
        escape(about)
    ));
}

fn section(body: &mut String, rows: &Table, class: Option<&str>) {
    table_of(body, rows, "h2", class);
}

fn table_of(body: &mut String, table: &Table, level: &str, class: Option<&str>) {
    if table.rows.is_empty() {
        return;
    }
    let side = |index: usize| if index < table.words { " class=word" } else { "" };
    let class = class.map_or(String::new(), |class| format!(" class={class}"));
    body.push_str(&format!(
        "<{level}>{}</{level}>\n<div class=scroll><table{class}>\n",
        escape(&table.title)
    ));
    if table.head.iter().any(|word| !word.is_empty()) {
        body.push_str("<thead><tr>");
        for (index, word) in table.head.iter().enumerate() {
            body.push_str(&format!("<th{}>{}</th>", side(index), escape(word)));
        }
        body.push_str("</tr></thead>\n");
    }
    for row in &table.rows {
        body.push_str("<tr>");
        for (index, word) in row.iter().enumerate() {
            let verdict = ["holds", "refuted", "inconclusive"].contains(&word.as_str());
            let text = if verdict { format!("<span class={word}>{word}</span>") } else { escape(word) };
            body.push_str(&format!("<td{}>{text}</td>", side(index)));
        }
        body.push_str("</tr>\n");
    }
    body.push_str("</table></div>\n");
}

pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
