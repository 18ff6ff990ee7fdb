//! `colo tune`: what can be mended while the host runs, and put back.

use std::path::PathBuf;

use node::Exit;
use observe::huge_pages;
use pinning::{Change, Outcome, Proposal, TuneError, TuneOptions, undo};
use serde::Serialize;

use super::doctor::{Planned, planned};
use crate::args::Tune;
use crate::failure::Failure;
use crate::output::{self, Format};

/// KiB of the huge page that `--huge-pages` counts.
const DEFAULT_PAGE_KIB: u64 = 2048;

/// What `--format json` prints.
#[derive(Debug, Serialize)]
struct Answer<'a> {
    /// `dry-run`, `apply` or `undo`.
    action: &'static str,
    /// Where changes are recorded.
    record: PathBuf,
    /// What would be changed; what was is in `outcomes`.
    changes: &'a [Change],
    /// What became of each change.
    outcomes: &'a [Outcome],
    /// What needs a person: kernel parameters, limits, mounts.
    hints: &'a [String],
}

pub(crate) fn tune(arguments: &Tune) -> Result<u8, Failure> {
    let root = &arguments.plan.root;
    let record = arguments.record.clone().unwrap_or_else(|| root.join("run/colo/tune.jsonl"));
    if arguments.action.undo {
        let outcomes = undo(root, &record).map_err(failure)?;
        return print(
            arguments.format,
            &Answer { action: "undo", record, changes: &[], outcomes: &outcomes, hints: &[] },
        );
    }
    let planned = planned(&arguments.plan)?;
    if let Some(Planned { fit, .. }) = &planned
        && !fit.plan_problems.is_empty()
    {
        let lines: String = fit.plan_problems.iter().map(|problem| format!("\n  {problem}")).collect();
        return Err(Failure::new(Exit::HostUnfit, format!("the pin plan does not fit this host:{lines}")));
    }
    let wanted = match (arguments.huge_pages, &planned) {
        (Some(pages), _) => vec![(DEFAULT_PAGE_KIB, pages)],
        (None, Some(planned)) => huge_pages(&planned.platform.topology),
        (None, None) => Vec::new(),
    };
    let plan = planned.as_ref().and_then(|planned| planned.fit.plan.as_ref());
    let proposal = Proposal::new(root, TuneOptions { plan, huge_pages: &wanted })
        .map_err(|error| Failure::new(Exit::Failed, error.to_string()))?;
    let (action, outcomes) = match arguments.action.apply {
        true => ("apply", proposal.apply(&record).map_err(failure)?),
        false => ("dry-run", Vec::new()),
    };
    let Proposal { changes, hints, .. } = &proposal;
    print(arguments.format, &Answer { action, record, changes, outcomes: &outcomes, hints })
}

fn failure(error: TuneError) -> Failure {
    let exit = match &error {
        TuneError::Record { source, .. } => Exit::of_io(source),
        TuneError::Busy { .. } | TuneError::Garbled { .. } | TuneError::Nothing { .. } => Exit::Failed,
    };
    Failure::new(exit, error.to_string())
}

fn print(format: Format, answer: &Answer<'_>) -> Result<u8, Failure> {
    match format {
        Format::Json => output::print_json(answer)?,
        Format::Text => output::print(&text(answer))?,
    }
    // What somebody else has changed since is theirs: leaving it is no failure.
    let failed = answer.outcomes.iter().any(|outcome| matches!(outcome, Outcome::Failed { .. }));
    Ok(if failed { Exit::Failed } else { Exit::Done }.code())
}

fn line(change: &Change) -> String {
    format!("/{}: {} -> {}", change.file, change.before, change.after)
}

fn text(answer: &Answer<'_>) -> String {
    let mut text = String::new();
    if answer.action == "dry-run" {
        for change in answer.changes {
            text.push_str(&format!("would change  {}  ({})\n", line(change), change.check));
        }
        text.push_str(&format!("{} changes; --apply makes them\n", answer.changes.len()));
    }
    let verb = if answer.action == "undo" { "put back" } else { "changed" };
    for outcome in answer.outcomes {
        text.push_str(&match outcome {
            Outcome::Done { change } => format!("{verb}  {}\n", line(change)),
            Outcome::Failed { change, reason } => format!("FAILED  {}: {reason}\n", line(change)),
            Outcome::Left { change, found } => {
                format!("left  {}: somebody else made it {found}\n", line(change))
            }
        });
    }
    if answer.action == "apply" {
        let made = answer.outcomes.iter().filter(|outcome| matches!(outcome, Outcome::Done { .. })).count();
        text.push_str(&format!("{made} changes made"));
        let undo = format!("; recorded in {}, --undo puts them back", answer.record.display());
        text.push_str(if made > 0 { &undo } else { "" });
        text.push('\n');
    }
    if !answer.hints.is_empty() {
        text.push_str("\nwhat needs a person:\n");
        answer.hints.iter().for_each(|hint| text.push_str(&format!("  {hint}\n")));
    }
    text
}
