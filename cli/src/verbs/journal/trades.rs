//! What verification adds to journals of fills: the numbers of their trades.

use journal::tools::{Check, CheckKind, Finding, VerifyReport};
use journal::{Journal, JournalFiles, LooseReader};
use matching::TradeIds;
use topology::Stream;
use wire::{AnyMessage, Fill, Message};

const TRADES: CheckKind = CheckKind::Other {
    name: "trades",
    what: "numbers of trades ascend, each of one fill or of the two sides of a trade between our own orders",
};

/// Findings that are kept; more are only counted.
const KEPT: usize = 20;

/// Adds the check to a journal's report. Only matching's journal and those of reports are looked at.
pub(super) fn verify(report: &mut VerifyReport, files: &JournalFiles) {
    let mut check = Check { kind: TRADES, count: 0, findings: 0 };
    // What cannot be read is a finding of the checks before.
    if matches!(Stream::of(&report.journal), Some(Stream::Executions | Stream::Reports)) {
        let reader = Journal::open_read_only(files.clone()).ok().and_then(|journal| {
            let oldest = journal.oldest_frame().ok()?;
            journal.observe(oldest).ok()
        });
        let findings = reader.map(|reader| walk(reader, report.head, &mut check)).unwrap_or_default();
        report.findings.extend(findings);
    }
    report.checks.push(check);
}

fn walk(mut reader: LooseReader, head: u64, check: &mut Check) -> Vec<Finding> {
    let mut ids = TradeIds::default();
    let mut findings = Vec::new();
    while reader.position() < head {
        let frame = match reader.read() {
            Ok(Some(frame)) => frame,
            // Frames that a living writer overwrote hide fills; the next ones ascend all the same.
            Err(journal::ReadError::Lapped(_)) => continue,
            Ok(None) | Err(_) => break,
        };
        if frame.message_id != Fill::ID {
            continue;
        }
        let Ok(AnyMessage::Fill(fill)) = AnyMessage::decode(frame.message_id, frame.payload) else {
            continue;
        };
        check.count += 1;
        if let Err(error) = ids.check(&fill) {
            check.findings += 1;
            if findings.len() < KEPT {
                findings.push(Finding {
                    check: TRADES,
                    position: Some(frame.position),
                    found: error.to_string(),
                    expected: "a number above that of the trade before, or the other side of that trade"
                        .to_owned(),
                });
            }
        }
    }
    findings
}
