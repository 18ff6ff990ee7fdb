//! The report as one self-contained HTML file.

use super::super::claims::{Outcome, Verdict};
use super::tables::{self, Table};
use super::{form, known, plots};
use crate::t2o::error::T2oError;
use crate::t2o::result::Results;

const STYLE: &str = include_str!("style.css");

pub(super) fn page(results: &Results, claims: &[Verdict]) -> Result<String, T2oError> {
    let head = &results.settings.scenario;
    let mut body = format!("<header><h1>{}</h1>\n<p class=lead>{}</p>\n", escape(&head.title), lead(results));
    if let Some(note) = &head.note {
        body.push_str(&format!("<p class=note>{}</p>\n", escape(note)));
    }
    body.push_str(&summary(claims));
    body.push_str("</header>\n");
    figure(
        &mut body,
        "The matrix",
        "Median t2o in µs, group by rate; the colours are on a logarithmic scale.",
        "",
        &plots::heat_map(results)?,
    );
    let about = "Mean t2o by rate; bars span the means of the runs. The band is the range of the report’s matrix, whose curve has the shape of an M.";
    let groups = legend(&plots::legend(results));
    figure(&mut body, "t2o by rate", about, &groups, &plots::curves(results)?);
    section(&mut body, &tables::beside_the_report(results), None);
    body.push_str(&format!("<p class=source>The report is {}.</p>\n", escape(known::SOURCE)));
    if !claims.is_empty() {
        section(&mut body, &tables::claims(claims), Some("claims"));
    }
    body.push_str("<h2>Group by group</h2>\n");
    for (name, title) in tables::groups(results) {
        table(&mut body, &tables::group(results, name, title), "h3", None);
    }
    for (rate, svg) in plots::distributions(results)? {
        let title = format!("Distribution at {} quotes/s", form::rate(rate));
        figure(
            &mut body,
            &title,
            "t2o at each percentile; the axis has equal steps for 90 %, 99 %, 99.9 %, …",
            &groups,
            &svg,
        );
    }
    for (rate, svg) in plots::stacks(results)? {
        let title = format!("Where the time goes at {} quotes/s", form::rate(rate));
        let about = "Mean of each stage over all messages. A bar with an arrow goes on beyond the plot.";
        figure(&mut body, &title, about, &legend(&plots::parts()), &svg);
    }
    section(&mut body, &tables::caveats(results), None);
    section(&mut body, &tables::costs(results), None);
    section(&mut body, &tables::host(results), Some("host"));
    body.push_str("<h2>How to read it</h2>\n<ul>\n");
    for line in tables::HOW_TO_READ {
        body.push_str(&format!("<li>{}</li>\n", escape(line)));
    }
    body.push_str("</ul>\n");
    Ok(format!(
        "<!doctype html>\n<html lang=en>\n<meta charset=utf-8>\n\
         <meta name=viewport content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n\
         <style>\n{STYLE}</style>\n<body>\n<main>\n{body}</main>\n</body>\n</html>\n",
        escape(&head.title)
    ))
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
fn summary(claims: &[Verdict]) -> String {
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

/// The meaning of each colour, as a list.
fn legend(colours: &[(String, plotters::style::RGBColor)]) -> String {
    let item = |(words, colour): &(String, plotters::style::RGBColor)| {
        let plotters::style::RGBColor(red, green, blue) = colour;
        format!("<li><i style=\"background:rgb({red},{green},{blue})\"></i>{}</li>", escape(words))
    };
    format!("<ul class=legend>{}</ul>\n", colours.iter().map(item).collect::<String>())
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
    table(body, rows, "h2", class);
}

fn table(body: &mut String, table: &Table, level: &str, class: Option<&str>) {
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

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
