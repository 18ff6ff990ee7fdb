//! `colo md verify`.

use md::source::{Counts, Files};
use md::verify::{
    BookDifference, VerifyError, verify_dbn, verify_itch, verify_lobster, verify_pitch, verify_sse,
};
use node::Exit;
use serde::Serialize;

use crate::args::{MdVerify, VerifySource};
use crate::failure::Failure;
use crate::output::{self, Format, number};

pub(crate) fn verify(arguments: &MdVerify) -> Result<u8, Failure> {
    let orderbook = arguments.orderbook.clone().unwrap_or_default();
    let unusable = |error: VerifyError| Failure::new(Exit::Usage, error.to_string());
    match arguments.source {
        VerifySource::Lobster => {
            let report =
                verify_lobster(&arguments.messages, &orderbook, arguments.levels).map_err(unusable)?;
            let difference = report.first_difference.clone();
            let text = compared("rows", report.identical, report.rows, difference.as_ref());
            print(
                arguments.format,
                &report,
                &(text + &contradicting(&report.counts, &report.contradictions)),
            )?;
            Ok(judge(&report.counts, report.identical, report.rows, arguments.tolerance.unwrap_or(0.001)))
        }
        VerifySource::Sse => {
            let files = Files::Path(arguments.messages.clone());
            let report = verify_sse(&files, &orderbook, &arguments.symbols).map_err(unusable)?;
            let difference = report.first_difference.clone();
            let compared = compared("snapshots", report.identical, report.snapshots, difference.as_ref());
            let text = format!("{} symbols: {compared}", number(report.symbols));
            print(
                arguments.format,
                &report,
                &(text + &contradicting(&report.counts, &report.contradictions)),
            )?;
            Ok(judge(
                &report.counts,
                report.identical,
                report.snapshots,
                arguments.tolerance.unwrap_or(0.001),
            ))
        }
        VerifySource::Dbn => {
            let report = verify_dbn(&arguments.messages).map_err(unusable)?;
            let difference = report.first_difference.clone();
            let compared = compared("fills", report.identical, report.fills, difference.as_ref());
            let text = format!(
                "{} symbols, {} trades: {compared}the book was crossed behind {} events\n",
                number(report.symbols),
                number(report.trades),
                number(report.crossed)
            );
            print(
                arguments.format,
                &report,
                &(text + &contradicting(&report.counts, &report.contradictions)),
            )?;
            Ok(judge(&report.counts, report.identical, report.fills, arguments.tolerance.unwrap_or(0.001)))
        }
        VerifySource::Itch => {
            let report = verify_itch(&arguments.messages).map_err(unusable)?;
            let text = format!(
                "{} messages, {} stocks: {} added = {} cancelled + {} executed + {} resting: {}\n{} trades of hidden \
                 orders and crosses; books crossed behind {} events; {} events did not fit; {} messages about orders that \
                 no message adds\n",
                number(report.messages),
                number(report.symbols),
                report.adds,
                report.cancels,
                report.executions,
                report.resting,
                if report.conserved { "holds for every stock" } else { "does NOT hold" },
                number(report.unseen_trades),
                number(report.crossed),
                number(report.anomalies),
                number(report.counts.skipped.unknown_order),
            );
            let text = match report.crossed {
                0 => text,
                _ => {
                    text + "a book that is crossed while its stock trades lacks messages: the file was cut or thinned out\n"
                }
            };
            let text = match report.counts.unended {
                0 => text,
                _ => text + "the message that says that no other follows is missing: the file was cut off\n",
            };
            print(
                arguments.format,
                &report,
                &(text + &contradicting(&report.counts, &report.contradictions)),
            )?;
            let is_whole = report.conserved && report.anomalies == 0 && report.counts.unended == 0;
            Ok(judge(&report.counts, u64::from(is_whole), 1, 0.0))
        }
        VerifySource::Pitch => {
            let report = verify_pitch(&arguments.messages).map_err(unusable)?;
            let text = format!(
                "{} symbols: {} added = {} cancelled + {} executed + {} resting: {}\n",
                number(report.symbols),
                report.adds,
                report.cancels,
                report.executions,
                report.resting,
                if report.conserved { "holds for every symbol" } else { "does NOT hold" },
            );
            print(
                arguments.format,
                &report,
                &(text + &contradicting(&report.counts, &report.contradictions)),
            )?;
            Ok(judge(&report.counts, u64::from(report.conserved), 1, 0.0))
        }
    }
}

fn print(format: Format, report: &impl Serialize, text: &str) -> Result<(), Failure> {
    match format {
        Format::Json => output::print_json(report),
        Format::Text => output::print(text),
    }
}

fn compared(what: &str, identical: u64, all: u64, first: Option<&BookDifference>) -> String {
    let share = if all == 0 { 0.0 } else { identical as f64 / all as f64 * 100.0 };
    let mut text = format!("{} of {} {what} identical ({share:.3} %)\n", number(identical), number(all));
    if let Some(difference) = first {
        text.push_str(&format!(
            "first difference: row {}, {}: the file says {}, our book has {}\n",
            difference.row, difference.place, difference.file, difference.ours
        ));
    }
    text
}

/// The rows that contradict others, in words; nothing when there are none.
fn contradicting(counts: &Counts, first: &[String]) -> String {
    let count = counts.irregular();
    if count == 0 {
        return String::new();
    }
    let kinds = counts.irregular_kinds();
    let mut text =
        format!("{} of {} rows contradict others ({kinds}):\n", number(count), number(counts.read));
    first.iter().for_each(|row| text.push_str(&format!("  {row}\n")));
    let more = count.saturating_sub(first.len() as u64);
    if more > 0 {
        text.push_str(&format!("  and {} more\n", number(more)));
    }
    text
}

/// Nothing compared is no success, and neither are rows that contradict each other.
fn judge(counts: &Counts, identical: u64, all: u64, tolerance: f64) -> u8 {
    let holds = all > 0 && counts.irregular() == 0 && (all - identical) as f64 <= tolerance * all as f64;
    if holds { Exit::Done } else { Exit::CheckFailed }.code()
}
