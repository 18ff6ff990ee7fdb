//! `colo t2o compare`.

use bench_harness::t2o::{Change, Comparison, host_differences};
use node::Exit;

use super::args::Compare;
use super::plan::number_of;
use crate::failure::Failure;
use crate::output::{self, Format, table};

pub(crate) fn compare(arguments: &Compare) -> Result<u8, Failure> {
    let before = super::checked(&arguments.before)?;
    let after = super::checked(&arguments.after)?;
    let differences = host_differences(&before, &after);
    if !differences.is_empty() {
        let list = differences.join("; ");
        if !arguments.any_host {
            return Err(Failure::new(
                Exit::HostUnfit,
                format!(
                    "the hosts differ ({list}): figures of different hosts say little; --any-host compares all the same"
                ),
            ));
        }
        talk!("the hosts differ: {list}");
    }
    let comparison = Comparison::of(&before, &after, arguments.tolerance);
    for note in &comparison.notes {
        talk!("{note}");
    }
    match arguments.format {
        Format::Json => output::print_json(&comparison)?,
        Format::Text => output::print(&text(&comparison))?,
    }
    let exit = match comparison {
        _ if comparison.count(Change::Worse) > 0 => Exit::CheckFailed,
        _ if comparison.says_nothing() => Exit::Inconclusive,
        _ => Exit::Done,
    };
    Ok(exit.code())
}

fn text(comparison: &Comparison) -> String {
    let percent = |share: f64| format!("{:+.1} %", share * 100.0);
    let rows = comparison.cells.iter().map(|cell| {
        vec![
            cell.cell.clone(),
            cell.change.to_string(),
            number_of(cell.rate),
            format!("{:.1}", cell.before_us),
            format!("{:.1}", cell.after_us),
            percent(cell.difference),
            cell.interval
                .map_or("-".to_owned(), |[low, high]| format!("{} to {}", percent(low), percent(high))),
            format!("{} and {}", cell.runs[0], cell.runs[1]),
        ]
    });
    let head = [
        "cell",
        "change",
        "quotes/s",
        "t2o p50 before, µs",
        "after",
        "difference",
        "95 % for all cells",
        "runs",
    ];
    let mut text = table(&head, 2, rows);
    text.push('\n');
    for cell in &comparison.cells {
        if let Some(why) = &cell.why {
            text.push_str(&format!("{}: inconclusive: {why}\n", cell.cell));
        }
    }
    let words = [Change::Improved, Change::Worse, Change::NoChange, Change::Inconclusive];
    let counts: Vec<String> =
        words.iter().map(|change| format!("{} {change}", comparison.count(*change))).collect();
    text.push_str(&format!("{}\n", counts.join(", ")));
    if !comparison.unmatched.is_empty() {
        text.push_str(&format!("not compared: {}\n", comparison.unmatched.join(", ")));
    }
    text
}
