//! `colo runs compare`.

use node::Exit;
use outcome::compare::{Comparison, Measure, TableVerdict, Verdict, compare as compared};
use outcome::shelf;

use super::args::Compare;
use crate::failure::Failure;
use crate::output::{self, Format, number, table};

pub(super) fn compare(arguments: &Compare) -> Result<u8, Failure> {
    let root = super::root(&arguments.dir);
    let one = shelf::find(&root, Some(&arguments.one))?;
    let other = shelf::find(&root, Some(&arguments.other))?;
    let comparison = compared(&one, &other)?;
    match arguments.format {
        Format::Json => output::print_json(&serde_json::json!({
            "one": one, "other": other, "comparison": comparison,
        }))?,
        Format::Text => output::print(&text(&comparison))?,
    }
    let exit = match comparison.verdict {
        Verdict::Same | Verdict::Noise => Exit::Done,
        Verdict::Differs => Exit::CheckFailed,
        Verdict::TooLittle => Exit::Inconclusive,
    };
    Ok(exit.code())
}

fn text(comparison: &Comparison) -> String {
    let mut text = String::new();
    if !comparison.inputs.is_empty() {
        let rows = comparison.inputs.iter().map(|changed| {
            [&changed.what, &changed.one, &changed.other].map(|cell| output::escaped(cell)).to_vec()
        });
        text.push_str(&table(&["made from", "one", "other"], 3, rows));
        text.push('\n');
    }
    for caveat in &comparison.caveats {
        text.push_str(&format!("not a whole run: {}\n", output::escaped(caveat)));
    }
    comparison.tables.iter().for_each(|table| text.push_str(&of_table(table)));
    if !comparison.measures.is_empty() {
        text.push_str(&table(
            &["mean of", "strategy", "n", "n other", "one", "other", "difference, 95 % in all", "verdict"],
            2,
            comparison.measures.iter().map(row),
        ));
    }
    text.push_str(match comparison.verdict {
        Verdict::Same => "the same: every table, byte for byte\n",
        Verdict::Differs if comparison.deterministic => "they differ, and in lock-step that is no noise\n",
        Verdict::Differs => {
            "they differ by more than noise within these runs; repeat both to see what runs vary by\n"
        }
        Verdict::Noise => "no difference is more than noise\n",
        Verdict::TooLittle => "there is too little to tell\n",
    });
    text
}

fn of_table(table: &TableVerdict) -> String {
    let Some(line) = table.line else { return format!("{}: the same\n", table.name) };
    let shown = |row: &Option<String>| row.as_ref().map_or("(ended)".to_owned(), |row| output::escaped(row));
    let columns =
        if table.columns.is_empty() { String::new() } else { format!(" ({})", table.columns.join(", ")) };
    format!(
        "{}: differs from line {} on{columns}\n  one    {}\n  other  {}\n",
        table.name,
        number(line),
        shown(&table.one),
        shown(&table.other)
    )
}

fn row(measure: &Measure) -> Vec<String> {
    let digits = if measure.name.ends_with("_us") { 2 } else { 6 };
    let some = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.digits$}"));
    let interval = match (measure.low, measure.high) {
        (Some(low), Some(high)) => format!("{low:+.digits$} to {high:+.digits$}"),
        _ => "-".to_owned(),
    };
    let verdict = match measure.verdict {
        Verdict::Differs => "differs",
        Verdict::Noise | Verdict::Same => "noise",
        Verdict::TooLittle => "too few",
    };
    vec![
        measure.name.clone(),
        measure.strategy.clone().unwrap_or_else(|| "all".to_owned()),
        number(measure.one_n as u64),
        number(measure.other_n as u64),
        some(measure.one),
        some(measure.other),
        interval,
        verdict.to_owned(),
    ]
}
