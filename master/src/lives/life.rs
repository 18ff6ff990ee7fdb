//! One node's life, from one start to the next.

use std::time::Duration;

use topology::NodeKind;
use topology::config::RestartPolicy;

use super::Time;
use super::end::{End, Ended};

/// A life of this length is not a failed start: the next pause is the shortest again, and the count of restarts begins
/// anew.
pub(crate) const STEADY: Duration = Duration::from_secs(10);
/// Shortest pause after a start that the system refused: the missing resource does not return at once.
pub(crate) const REFUSED_PAUSE: Duration = Duration::from_millis(200);
/// Longest pause before a start during a stop: everybody waits for it.
pub(crate) const PAUSE_IN_STOP: Duration = REFUSED_PAUSE;
/// During a stop a node is started so often at most to finish what it owes.
pub(crate) const FINISHING_STARTS: u32 = 3;
/// Limit of doublings of the pause.
const DOUBLINGS: u32 = 10;

/// The constant rules for one node.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    pub(crate) kind: NodeKind,
    /// The node whose process it shares, if it has none of its own.
    pub(crate) host: Option<usize>,
    /// Nodes that must be ready before it starts.
    pub(crate) needs: Vec<usize>,
    /// Pause between the start before it and its own.
    pub(crate) stagger: Duration,
    pub(crate) policy: RestartPolicy,
    /// Limit of successive restarts.
    pub(crate) max: u32,
    pub(crate) backoff: Duration,
}

/// The stage of a node.
///
/// ```text
///  Waiting ─► Starting ─► Joined ─► Ready        Down ─► Joined: by hand
///                ▲  │        │        │            ▲
///                │  └────────┴────────┴─ ended ────┤
///                └────────── Due ◄─────────────────┘
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Not started yet; a host also while none of its strategies is requested.
    Waiting,
    /// To be started again at this time.
    Due(Time),
    /// Started, or requested from its host, at this time.
    Starting(Time),
    /// It took its seat at this time and is setting itself up.
    Joined(Time),
    /// It polls.
    Ready,
    /// It ended and is not restarted.
    Down,
}

/// What follows the end of a life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// A restart after a pause.
    Again { pause: Duration, restart: u32 },
    /// Matching is started once more, only to end its predecessor's orders.
    Closes,
    /// A host is started again with its strategies that are restarted.
    WithItsStrategies,
    /// No restart.
    Stays,
}

/// One node.
#[derive(Clone, Debug)]
pub(crate) struct Life {
    pub(crate) stage: Stage,
    /// Start of the present life.
    pub(crate) since: Time,
    /// Restarts without a steady life between them.
    pub(crate) restarts: u32,
    /// When it first ended before the platform was up, without a steady life since.
    pub(crate) failing_since: Option<Time>,
    /// Started, or to be started, once more to close the market: for matching.
    pub(crate) closes: bool,
    /// The generation that was announced as joined, and not as ended yet.
    pub(crate) announced: Option<u64>,
    /// The generation that was announced as dead; nothing was announced since.
    pub(crate) died: Option<u64>,
    /// A person wants it to be stopped.
    pub(crate) held: Option<Held>,
    /// A process sat in its seat: what it was to handle may not be handled.
    pub(crate) has_lived: bool,
    /// When its present process was asked to end, by a person or because the platform stops. A process is asked once: a second
    /// signal ends it at once, before it has handled what is committed.
    pub(crate) asked: Option<Time>,
    /// Its present process is to end because the platform stops.
    pub(crate) is_ending: bool,
    /// Starts during the stop.
    pub(crate) finishing: u32,
    /// Its cursors hold up writers: it was given them before its start, or has read with them.
    pub(crate) holds: bool,
    /// A recorder that has failed for good: its file says what its cursors do.
    pub(crate) is_gate: bool,
}

/// A node that a person has stopped, or is stopping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    /// Its orders work on.
    pub(crate) keeps: bool,
    /// It did not end when it was asked to, and was killed.
    pub(crate) killed: bool,
}

impl Life {
    pub(crate) fn new() -> Life {
        Life {
            stage: Stage::Waiting,
            since: Time::ZERO,
            restarts: 0,
            failing_since: None,
            closes: false,
            announced: None,
            died: None,
            held: None,
            has_lived: false,
            asked: None,
            is_ending: false,
            finishing: 0,
            holds: true,
            is_gate: false,
        }
    }

    /// It has a process, or was requested from its host.
    pub(crate) fn lives(&self) -> bool {
        matches!(self.stage, Stage::Starting(_) | Stage::Joined(_) | Stage::Ready)
    }

    /// Starts now.
    pub(crate) fn begin(&mut self, now: Time) {
        (self.stage, self.since, self.asked, self.is_ending) = (Stage::Starting(now), now, None, false);
    }

    /// The platform stops: whether it has a successor all the same, which finishes what it owes.
    pub(crate) fn owes(&self, rules: &Rules) -> bool {
        topology::finishes(rules.kind) && self.has_lived && self.finishing < FINISHING_STARTS
    }

    /// Decides what follows its end, and changes to that stage. `within`: a node of a platform that is not up yet is started
    /// again for so long; else the start would never end. `None`: the platform is up.
    pub(crate) fn end(
        &mut self,
        rules: &Rules,
        end: End,
        now: Time,
        within: Option<Time>,
        stopping: bool,
    ) -> Next {
        let was_steady = end.ended != Ended::NotStarted && now.saturating_sub(self.since) >= STEADY;
        if was_steady && self.stage == Stage::Ready {
            self.failing_since = None;
        }
        let failing_since = *self.failing_since.get_or_insert(now);
        let is_over = within.is_some_and(|within| now.saturating_sub(failing_since) > within) && !stopping;
        let next =
            if is_over { Next::Stays } else { self.next(rules, end, was_steady, within.is_none(), stopping) };
        (self.asked, self.is_ending) = (None, false);
        self.stage = match next {
            Next::Again { pause, restart } => {
                self.restarts = restart;
                Stage::Due(now + pause)
            }
            Next::Closes => {
                (self.closes, self.restarts) = (true, 0);
                Stage::Due(now)
            }
            Next::WithItsStrategies | Next::Stays => Stage::Down,
        };
        next
    }

    fn next(&self, rules: &Rules, end: End, was_steady: bool, up: bool, stopping: bool) -> Next {
        // A host is started by the strategies that need it.
        if end.gave_up() || self.held.is_some() || rules.kind == NodeKind::Host {
            return Next::Stays;
        }
        let is_done = self.is_ending && !end.is_failure();
        if stopping && (is_done || !self.owes(rules)) {
            return Next::Stays;
        }
        let longest = if stopping { PAUSE_IN_STOP } else { Duration::MAX };
        let restarts = if was_steady { 0 } else { self.restarts };
        let pause = (rules.backoff * 2_u32.saturating_pow(restarts.min(DOUBLINGS))).min(longest);
        let restart = restarts.saturating_add(1);
        if end.ended == Ended::NotStarted && self.closes {
            // No other node can close the market: try until the system allows it.
            return Next::Again { pause: pause.max(REFUSED_PAUSE), restart };
        }
        let wanted = match rules.policy {
            RestartPolicy::Never => false,
            RestartPolicy::OnFailure => end.is_failure(),
            RestartPolicy::Always => true,
        };
        if wanted && !self.closes && restarts < rules.max {
            let floor = if end.ended == Ended::NotStarted { REFUSED_PAUSE } else { Duration::ZERO };
            return Next::Again { pause: pause.max(floor), restart };
        }
        // No other node can end its orders, and writers would wait for its cursors for ever. A failure before the
        // platform is up ends the platform instead.
        if rules.kind == NodeKind::Matching && !self.closes && (up || !end.is_failure()) {
            return Next::Closes;
        }
        Next::Stays
    }
}
