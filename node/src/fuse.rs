//! The end of a node at a chosen commit: for proofs that a successor completes what a killed node has left.
//!
//! A kill between two commits leaves the journals with the first and without the second. The fuse counts the commits of all
//! journals that a node writes, and unwinds the node's thread right behind the chosen one, before the node does anything else:
//! its cursors stay where they are, and what it kept in memory is lost.
//!
//! ```no_run
//! # fn seated() -> node::Node { unimplemented!() }
//! # fn steps(_: node::Node) -> Box<dyn node::Steps> { unimplemented!() }
//! use std::panic::{AssertUnwindSafe, catch_unwind};
//!
//! let fuse = node::Fuse::after(3);
//! let mut node = seated();
//! node.light(&fuse);
//! let mut steps = steps(node);
//! let ended = catch_unwind(AssertUnwindSafe(|| while steps.step().is_ok() {}));
//! assert!(ended.is_err_and(|end| end.is::<node::Blown>()));
//! ```

use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, PoisonError};

/// Burns down with each commit. Clones are the same fuse.
#[derive(Clone, Debug)]
pub struct Fuse(Arc<Mutex<Burning>>);

#[derive(Debug)]
struct Burning {
    /// The commit behind which it ends; zero: never.
    at: u64,
    /// The journal of each commit so far.
    commits: Vec<String>,
}

/// What unwinds the thread of a node whose fuse has burnt down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blown {
    /// Number of the commit, from 1.
    pub commit: u64,
    /// Its journal.
    pub journal: String,
}

impl Fuse {
    /// Ends the node behind this commit, counted from 1; zero: never.
    pub fn after(commit: u64) -> Fuse {
        Fuse(Arc::new(Mutex::new(Burning { at: commit, commits: Vec::new() })))
    }

    /// The journals of the commits so far, in their order.
    pub fn commits(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).commits.clone()
    }

    /// A commit to this journal.
    #[cold]
    pub(crate) fn burn(&self, journal: &str) {
        let mut burning = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        burning.commits.push(journal.to_owned());
        let commit = burning.commits.len() as u64;
        if commit == burning.at {
            drop(burning);
            // Not a panic: there is no fault, and nothing to print.
            resume_unwind(Box::new(Blown { commit, journal: journal.to_owned() }));
        }
    }
}
