//! `colo journal verify`.

use journal::tools::{CheckKind, Finding, VerifyReport, verify_files};
use journal::{JournalFiles, OpenError};
use node::{Exit, InstanceDir, Latencies};
use observe::verify_registry;
use serde_json::{Value, json};

use super::args::Verify;
use super::{recorded, target, trades};
use crate::failure::Failure;
use crate::output::{self, Format, bytes, count, number, table};
use crate::verbs::instance;

/// What was verified: journals, and for a whole instance its registry and what ties its files together.
struct Verified {
    instance: Option<String>,
    journals: Vec<VerifyReport>,
    /// Checks of the registry and of the directory.
    around: u64,
    findings: Vec<(String, Finding)>,
}

pub(super) fn verify(arguments: &Verify) -> Result<u8, Failure> {
    if let Some(folder) = &arguments.recording.recording {
        return recorded::verify(folder, arguments.journal.as_deref(), arguments.format);
    }
    let verified = match &arguments.journal {
        Some(name) => one(name, arguments.instance.name())?,
        None => whole(&instance::instance(arguments.instance.name())?)?,
    };
    match arguments.format {
        Format::Json => output::print_json(&verified.json())?,
        Format::Text => output::print(&verified.text())?,
    }
    if !verified.findings.is_empty() {
        return Ok(Exit::CheckFailed.code());
    }
    if verified.checked() == 0 {
        talk!("colo: nothing was there to verify");
        return Ok(Exit::Inconclusive.code());
    }
    Ok(Exit::Done.code())
}

fn one(name: &str, instance: Option<&str>) -> Result<Verified, Failure> {
    let (files, instance) = match target::files_of_path(name)? {
        Some(files) => (files, None),
        None => {
            let instance = instance::instance(instance)?;
            (target::files(&instance, name)?, Some(instance.name().to_owned()))
        }
    };
    let report = verified(&files)?;
    Ok(Verified::new(instance, vec![report], 0, Vec::new()))
}

/// A journal's frames, and the numbers of the trades in them.
fn verified(files: &JournalFiles) -> Result<VerifyReport, OpenError> {
    let mut report = verify_files(files)?;
    trades::verify(&mut report, files);
    Ok(report)
}

fn whole(instance: &InstanceDir) -> Result<Verified, Failure> {
    let mut journals = Vec::new();
    let (mut around, mut findings) = (0, Vec::new());
    let folder = instance.journals();
    for name in instance.journal_names().map_err(Failure::system("list", &folder))? {
        match verified(&instance.find_journal(&name)) {
            Ok(report) => journals.push(report),
            // Gone since it was listed: the instance is being taken down.
            Err(OpenError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error.into()),
        }
    }
    let registry = verify_registry(instance)?;
    around += registry.checked;
    findings.extend(registry.findings.into_iter().map(|finding| ("registry".to_owned(), finding)));
    let (checked, loose_ends) = files(instance)?;
    around += checked;
    findings.extend(loose_ends);
    Ok(Verified::new(Some(instance.name().to_owned()), journals, around, findings))
}

const FILES: CheckKind = CheckKind::Other {
    name: "files",
    what: "each ring and lock has its control file; nothing is left half made",
};

/// Each ring has its control file; nothing is left half made.
fn files(instance: &InstanceDir) -> Result<(u64, Vec<(String, Finding)>), Failure> {
    let mut checked = 0;
    let mut findings = Vec::new();
    let folder = instance.journals();
    let entries = std::fs::read_dir(&folder).map_err(Failure::system("list", &folder))?;
    for entry in entries {
        let path = entry.map_err(Failure::system("list", &folder))?.path();
        checked += 1;
        if path == instance.latencies() {
            if let Err(error) = Latencies::of(instance) {
                let expected = "td's histograms of the times of orders, whole".to_owned();
                let found = error.to_string();
                let finding = Finding { check: FILES, position: None, found, expected };
                findings.push(("td.latencies".to_owned(), finding));
            }
            continue;
        }
        if [instance.depths(), instance.accounts(), instance.venue()].contains(&path) {
            continue;
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let expected = match path.extension().and_then(|extension| extension.to_str()) {
            Some("ctl") => continue,
            Some("ring") if path.with_extension("ctl").exists() => continue,
            Some("lock") if path.with_extension("ctl").exists() => continue,
            Some("ring" | "lock") => "its control file beside it",
            Some("new") => "no file that is half made; its maker was killed (`colo up` makes it anew)",
            _ => "only NAME.ctl, NAME.ring, NAME.lock and td.latencies",
        };
        let found = format!("the file {name}");
        let finding = Finding { check: FILES, position: None, found, expected: expected.to_owned() };
        findings.push((name, finding));
    }
    Ok((checked, findings))
}

impl Verified {
    fn new(
        instance: Option<String>,
        journals: Vec<VerifyReport>,
        around: u64,
        mut findings: Vec<(String, Finding)>,
    ) -> Verified {
        let of_journals = journals.iter().flat_map(|report| {
            report.findings.iter().map(|finding| (report.journal.clone(), finding.clone()))
        });
        findings.splice(0..0, of_journals);
        Verified { instance, journals, around, findings }
    }

    fn checked(&self) -> u64 {
        self.around + self.journals.iter().map(VerifyReport::checked).sum::<u64>()
    }

    fn frames(&self) -> u64 {
        self.journals.iter().map(|report| report.frames).sum()
    }

    fn json(&self) -> Value {
        let checks = |report: &VerifyReport| -> Value {
            let check = |check: &journal::tools::Check| json!({ "name": check.kind.as_str(), "what": check.kind.what(), "count": check.count, "findings": check.findings });
            report.checks.iter().map(check).collect()
        };
        let journal = |report: &VerifyReport| {
            json!({
                "journal": report.journal,
                "clean": report.is_clean(),
                "oldest": report.oldest,
                "head": report.head,
                "frames": report.frames,
                "bytes": report.bytes,
                "overtaken_bytes": report.overtaken,
                "checks": checks(report),
            })
        };
        let finding = |(journal, finding): &(String, Finding)| {
            json!({
                "journal": journal,
                "check": finding.check.as_str(),
                "position": finding.position,
                "found": finding.found,
                "expected": finding.expected,
            })
        };
        json!({
            "instance": self.instance,
            "clean": self.findings.is_empty(),
            "checked": self.checked(),
            "frames": self.frames(),
            "journals": self.journals.iter().map(journal).collect::<Vec<_>>(),
            "findings": self.findings.iter().map(finding).collect::<Vec<_>>(),
        })
    }

    fn text(&self) -> String {
        let rows = self.journals.iter().map(|report| {
            let findings: u64 = report.checks.iter().map(|check| check.findings).sum();
            let overtaken = match report.overtaken {
                0 => String::new(),
                lost => format!(", {} overtaken", bytes(lost)),
            };
            let result = if findings == 0 { "clean".to_owned() } else { count(findings, "finding") };
            vec![
                report.journal.clone(),
                number(report.frames),
                bytes(report.bytes),
                number(report.checked()),
                format!("{result}{overtaken}"),
            ]
        });
        let mut text = table(&["journal", "frames", "bytes", "checks", "result"], 1, rows);
        if let Some(report) = self.journals.first() {
            text.push_str("\nwhat was checked, and how often:\n");
            let sum = |kind: CheckKind| -> u64 {
                let counts = self.journals.iter().flat_map(|report| &report.checks);
                counts.filter(|check| check.kind == kind).map(|check| check.count).sum()
            };
            for check in &report.checks {
                text.push_str(&format!(
                    "  {:>12}  {:<8} {}\n",
                    number(sum(check.kind)),
                    check.kind.as_str(),
                    check.kind.what()
                ));
            }
        }
        if self.around > 0 {
            let what = "seats, clock and names in the registry; no file without its partner";
            text.push_str(&format!("  {:>12}  {:<8} {what}\n", number(self.around), "instance"));
        }
        for (journal, finding) in &self.findings {
            let place = finding.position.map_or(String::new(), |position| format!(" at {position}"));
            text.push_str(&format!(
                "\n{journal}{place}: {}\n  found    {}\n  expected {}\n",
                finding.check.as_str(),
                finding.found,
                finding.expected
            ));
        }
        let verdict = match self.findings.len() {
            0 => "clean".to_owned(),
            findings => count(findings as u64, "finding"),
        };
        text.push_str(&format!(
            "\n{verdict}: {} of {} in {}\n",
            count(self.checked(), "check"),
            count(self.frames(), "frame"),
            count(self.journals.len() as u64, "journal")
        ));
        text
    }
}
