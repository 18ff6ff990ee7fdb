//! The report as Markdown.

use super::super::claims::Verdict;
use super::summary::Summary;
use super::tables::{self, Table};
use super::{form, known};
use crate::t2o::result::Results;

pub(super) fn text(results: &Results, claims: &[Verdict], summary: &Summary) -> String {
    let head = &results.settings.scenario;
    let mut text = format!("# {}\n\n", head.title);
    text.push_str(&format!(
        "{} cells, {} messages, {}, {}\n\n",
        results.cells.len(),
        form::thousands(results.cells.iter().map(|cell| cell.samples).sum()),
        results.host.cpu_model,
        form::date(results.started_unix),
    ));
    if let Some(note) = &head.note {
        text.push_str(&format!("{note}\n\n"));
    }
    if let Some(words) = tables::not_run(results) {
        text.push_str(&format!("**{words}**\n\n"));
    }
    push(&mut text, &tables::best(summary));
    push(&mut text, &tables::faults(summary));
    for words in tables::host_words(summary) {
        text.push_str(&format!("{words}\n\n"));
    }
    push(&mut text, &tables::distrusted(summary));
    for (name, title) in tables::groups(results) {
        push(&mut text, &tables::group(results, name, title));
    }
    push(&mut text, &tables::beside_the_report(results));
    text.push_str(&format!("The report is {}.\n\n", known::SOURCE));
    if !claims.is_empty() {
        push(&mut text, &tables::claims(claims));
    }
    push(&mut text, &tables::caveats(results));
    push(&mut text, &tables::costs(results));
    push(&mut text, &tables::host(results));
    text.push_str("## How to read it\n\n");
    for line in tables::HOW_TO_READ {
        text.push_str(&format!("- {line}\n"));
    }
    text
}

fn push(text: &mut String, table: &Table) {
    if table.rows.is_empty() {
        return;
    }
    let cell = |word: &String| word.replace('|', "\\|").replace('\n', " ");
    let line = |row: &[String]| format!("| {} |\n", row.iter().map(cell).collect::<Vec<_>>().join(" | "));
    text.push_str(&format!("## {}\n\n", table.title));
    text.push_str(&line(&table.head));
    let rules = (0..table.head.len()).map(|index| if index < table.words { "---" } else { "---:" });
    text.push_str(&format!("| {} |\n", rules.collect::<Vec<_>>().join(" | ")));
    table.rows.iter().for_each(|row| text.push_str(&line(row)));
    text.push('\n');
}
