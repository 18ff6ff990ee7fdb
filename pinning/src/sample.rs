//! A quick comparison of a process's threads with their plan, cheap enough to run all the time.

use crate::host::tree::Tree;
use crate::observe::{ObserveError, OffPlan, Scheduling, list};
use crate::placement::Placement;
use std::path::Path;

/// The result of one look at a process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlaceSample {
    /// Number of threads that were checked.
    pub threads: u64,
    /// Of those, the ones that deviate from the plan, with their names.
    pub off_plan: Vec<(String, OffPlan)>,
}

/// Checks every thread of process `pid` once. Threads that end meanwhile are left out.
///
/// # Errors
/// [`ObserveError::Gone`] when no thread can be seen.
pub fn sample(pid: u32, placement: &Placement) -> Result<PlaceSample, ObserveError> {
    let tree = Tree::new(Path::new("/"));
    let mut found = PlaceSample::default();
    for tid in tree.numbered_all(&format!("proc/{pid}/task")) {
        let Some(thread) = look(&tree, &format!("proc/{pid}/task/{tid}"), placement) else { continue };
        found.threads += 1;
        let (name, off_plan) = thread;
        found.off_plan.extend(off_plan.map(|off_plan| (name, off_plan)));
    }
    if found.threads == 0 { Err(ObserveError::Gone { pid }) } else { Ok(found) }
}

/// A thread's name and how it deviates from the plan; `None` when it cannot be read.
fn look(tree: &Tree, folder: &str, placement: &Placement) -> Option<(String, Option<OffPlan>)> {
    let stat = tree.text(&format!("{folder}/stat")).ok()?;
    // The name is in parentheses and may contain any character, parentheses too: the last one ends it.
    let (head, tail) = stat.rsplit_once(')')?;
    let name = head.split_once('(').map_or("", |(_, name)| name).to_owned();
    let fields: Vec<&str> = tail.split_whitespace().collect();
    // Field numbers as in proc(5), where the state, the first word after the name, is field 3.
    let field = |number: usize| fields.get(number - 3)?.parse::<i64>().ok();
    let cpu = usize::try_from(field(39)?).ok()?;
    let policy = u32::try_from(field(41)?).ok()?;
    let scheduling = Scheduling::from_numbers(policy, field(19)?, field(40)?);
    let allowed = list(tree, &format!("{folder}/status"), "Cpus_allowed_list").ok()?;
    Some((name, OffPlan::of(cpu, &allowed, scheduling, placement)))
}
