//! The state machine of a master that takes over: deaths that were not announced are announced now, with the same
//! consequences as any death.

use topology::NodeKind;
use wire::NodeChange;

use super::end::End;
use super::life::{Held, Rules, Stage};
use super::{Decision, Limits, Lives, Time};

/// The state that the last master and the node left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    /// Starts in the seat; 0: the seat was never used.
    pub(crate) generation: u64,
    /// The last announcement about this seat, with its generation; `None`: none that can still be read.
    pub(crate) said: Option<(NodeChange, u64)>,
    pub(crate) found: Found,
    /// A person has stopped it; true: its orders work on.
    pub(crate) held: Option<bool>,
    /// The last master sent its process the signal to end.
    pub(crate) asked: bool,
}

/// The state of a node that was taken over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// It was never started.
    Untouched,
    /// Its process lives and has not registered.
    Starting,
    /// It lives in its seat and is setting itself up.
    Joined,
    /// It runs.
    Ready,
    /// It has ended.
    Ended(End),
}

impl Lives {
    /// The lives of an instance whose master died. `was_up`: the platform was up then, and no death must end it now.
    pub(crate) fn taken_over(
        rules: Vec<Rules>,
        limits: Limits,
        standings: &[Standing],
        was_up: bool,
        now: Time,
    ) -> (Lives, Vec<Decision>) {
        let mut lives = Lives::new(rules, limits);
        lives.up = was_up;
        for (node, standing) in standings.iter().enumerate() {
            lives.lives[node].held = standing.held.map(|keeps| Held { keeps, killed: false });
            lives.lives[node].asked = standing.asked.then_some(now);
            lives.lives[node].died = match standing.said {
                Some((NodeChange::Died, said)) => Some(said),
                _ => None,
            };
            lives.announce_missing(node, standing);
            lives.lives[node].since = now;
            lives.lives[node].has_lived = standing.generation > 0;
            lives.lives[node].stage = match standing.found {
                Found::Untouched => Stage::Waiting,
                Found::Starting => Stage::Starting(now),
                Found::Joined => Stage::Joined(now),
                // Its stage until it ended.
                Found::Ready | Found::Ended(_) => Stage::Ready,
            };
        }
        // With a host, its strategies that have not ended yet end too.
        let (hosts, others): (Vec<usize>, Vec<usize>) =
            (0..standings.len()).partition(|node| lives.rules[*node].kind == NodeKind::Host);
        for node in others.into_iter().chain(hosts) {
            match standings[node].found {
                Found::Ended(end) if was_up => lives.ended(node, end, now),
                // The platform was starting, and this node starts again.
                Found::Ended(end) => lives.start_over(node, end),
                _ => {}
            }
        }
        for life in lives.lives.iter_mut().filter(|life| life.held.is_some() && !life.lives()) {
            life.stage = Stage::Down;
        }
        lives.release_unawaited();
        lives.announce_given_up();
        let decisions = std::mem::take(&mut lives.decisions);
        (lives, decisions)
    }

    fn start_over(&mut self, node: usize, end: End) {
        self.lives[node].stage = Stage::Waiting;
        if let Some(generation) = self.lives[node].announced.take() {
            self.announce(node, end.change(), generation, end.code());
        }
        self.decisions.push(Decision::Release { node, all: false });
    }

    /// Announces the changes of a seat that are missing, so that only its present life, if it has one, counts as
    /// announced.
    fn announce_missing(&mut self, node: usize, standing: &Standing) {
        let generation = standing.generation;
        let sits = !matches!(standing.found, Found::Untouched | Found::Starting) && generation > 0;
        match standing.said {
            Some((NodeChange::Joined, said)) if sits && said == generation => {
                self.lives[node].announced = Some(said);
                return;
            }
            // Its end was missed, and the seat has been taken since or is about to be.
            Some((NodeChange::Joined, said)) => self.announce(node, NodeChange::Died, said, -1),
            Some((_, said)) if said >= generation => return,
            // So long ago that it was overwritten: living nodes have been known for as long.
            None if !matches!(standing.found, Found::Ended(_)) => {
                self.lives[node].announced = sits.then_some(generation);
                return;
            }
            _ => {}
        }
        if sits {
            self.lives[node].announced = Some(generation);
            // A node that died at that moment is only announced as ended.
            if !matches!(standing.found, Found::Ended(_)) {
                self.announce(node, NodeChange::Joined, generation, -1);
            }
        }
    }
}
