//! What stays of the runs' folders.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::config::{Goal, Keep};
use crate::outcome_of::{STRATEGIES, WORDS};
use crate::plan::Sweep;
use crate::store::{Done, RunEnd, Store};

/// Which runs keep everything, and which have been cut down.
pub(crate) struct Shelf {
    keep: Keep,
    measure: String,
    goal: Goal,
    /// The good ones first; the same whatever the order in which runs end.
    ranked: Vec<(f64, usize)>,
    whole: BTreeSet<usize>,
}

impl Shelf {
    /// With what has ended in earlier sessions.
    pub(crate) fn new(sweep: &Sweep, store: &Store) -> Shelf {
        let mut shelf = Shelf {
            keep: sweep.config.keep,
            measure: sweep.config.measure.clone(),
            goal: sweep.goal(),
            ranked: Vec::new(),
            whole: BTreeSet::new(),
        };
        store.done.values().for_each(|done| shelf.add(done));
        shelf.make_room(store);
        shelf
    }

    pub(crate) fn add(&mut self, done: &Done) {
        self.whole.insert(done.run);
        let value = done.measures.get(&self.measure).and_then(|value| value.parse::<f64>().ok());
        if let (RunEnd::Finished, Some(value)) = (done.state, value.filter(|value| value.is_finite())) {
            let value = if self.goal == Goal::Max { -value } else { value };
            let at = self
                .ranked
                .partition_point(|other| other.0.total_cmp(&value).then(other.1.cmp(&done.run)).is_lt());
            self.ranked.insert(at, (value, done.run));
        }
    }

    /// Cuts down what is not to be kept whole. What cannot be removed stays.
    pub(crate) fn make_room(&mut self, store: &Store) {
        let best: BTreeSet<usize> = match self.keep {
            Keep::All => return,
            Keep::Tables => BTreeSet::new(),
            Keep::Best(number) => self.ranked.iter().take(number).map(|(_, run)| *run).collect(),
        };
        for run in self.whole.difference(&best).copied().collect::<Vec<_>>() {
            let is_failed = store.done.get(&run).is_some_and(|done| done.state != RunEnd::Finished);
            cut_down(&store.run_folder(run), is_failed);
            self.whole.remove(&run);
        }
    }
}

/// Leaves the manifest and the table of strategies, and of a run that failed what it has said.
fn cut_down(folder: &Path, is_failed: bool) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let kept: &[&str] =
            if is_failed { &["run.json", STRATEGIES, "logs", WORDS] } else { &["run.json", STRATEGIES] };
        if kept.iter().any(|kept| name == *kept) {
            continue;
        }
        let path = entry.path();
        let _ = match entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            true => fs::remove_dir_all(&path),
            false => fs::remove_file(&path),
        };
    }
}
