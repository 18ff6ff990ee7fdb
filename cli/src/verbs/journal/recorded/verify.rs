//! `colo journal verify --recording`.

use std::path::Path;

use node::Exit;
use recorder::read::{Finding, Verification};
use serde_json::{Value, json};

use super::{journal, open};
use crate::failure::Failure;
use crate::output::{self, Format, bytes, count, number, table};

pub(in super::super) fn verify(folder: &Path, name: Option<&str>, format: Format) -> Result<u8, Failure> {
    crate::interrupt::ends_reading()?;
    let recording = open(folder)?;
    if let Some(name) = name {
        journal(&recording, name)?;
    }
    let mut verified = recording.verify().map_err(Failure::system("read", recording.folder()))?;
    if let Some(name) = name {
        verified.journals.retain(|report| report.journal == name);
        // What is about no journal may be about this one.
        verified.findings.retain(|finding| finding.journal.as_deref().is_none_or(|about| about == name));
    }
    let folder = recording.folder().display().to_string();
    match format {
        Format::Json => output::print_json(&json(&folder, &verified))?,
        Format::Text => output::print(&text(&folder, &verified))?,
    }
    Ok(if verified.is_clean() { Exit::Done } else { Exit::CheckFailed }.code())
}

fn json(folder: &str, verified: &Verification) -> Value {
    let finding = |finding: &Finding| {
        json!({
            "kind": finding.kind.as_str(),
            "fault": finding.kind.is_fault(),
            "segment": finding.segment,
            "offset": finding.offset,
            "journal": finding.journal,
            "position": finding.position,
            "found": finding.found,
        })
    };
    json!({
        "recording": folder,
        "clean": verified.is_clean(),
        "segments": verified.segments,
        "journals": verified.journals,
        "findings": verified.findings.iter().map(finding).collect::<Vec<_>>(),
    })
}

fn text(folder: &str, verified: &Verification) -> String {
    let rows = verified.journals.iter().map(|report| {
        let position =
            |position: Option<u64>| position.map_or("-".to_owned(), |position| position.to_string());
        vec![
            report.journal.clone(),
            number(report.frames),
            bytes(report.bytes),
            position(report.oldest),
            position(report.end),
        ]
    });
    let mut text = table(&["journal", "frames", "bytes", "oldest", "end"], 1, rows);
    for finding in &verified.findings {
        let segment = finding.segment.map_or(String::new(), |segment| format!(" segment {segment}"));
        let offset = finding.offset.map_or(String::new(), |offset| format!(" at {offset}"));
        let journal = match (&finding.journal, finding.position) {
            (Some(journal), Some(position)) => format!(" {journal}@{position}"),
            (Some(journal), None) => format!(" {journal}"),
            _ => String::new(),
        };
        text.push_str(&format!(
            "\n{}{segment}{offset}{journal}\n  {}\n",
            finding.kind.as_str(),
            finding.found
        ));
    }
    let faults = verified.findings.iter().filter(|finding| finding.kind.is_fault()).count() as u64;
    let verdict = if faults == 0 { "clean".to_owned() } else { count(faults, "finding") };
    let blocks: u64 = verified.segments.iter().map(|segment| segment.blocks).sum();
    let frames: u64 = verified.journals.iter().map(|report| report.frames).sum();
    text.push_str(&format!(
        "\n{verdict}: {} of {} in {} of {folder}\n",
        count(frames, "frame"),
        count(blocks, "block"),
        count(verified.segments.len() as u64, "segment"),
    ));
    text
}
