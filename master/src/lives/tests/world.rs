//! A model on which the exploration carries out master's decisions: processes, seats, announcements, cursors.

use std::collections::VecDeque;

use topology::NodeKind;
use topology::config::RestartPolicy;
use wire::NodeChange;

use super::{LIMITS, platform};
use crate::lives::life::FINISHING_STARTS;
use crate::lives::{Decision, End, Ended, Event, Found, Lives, Next, Rules, Standing, Stopping, Time};

/// A possible step.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// Killed; master notices at its next look.
    Dies(usize),
    /// Leaves its seat with this exit code; master notices at its next look.
    Leaves(usize, u8),
    /// Registers: a started process that has not registered yet, or one that was started by hand.
    Registers(usize),
    /// Polls for the first time.
    GetsReady(usize),
    /// The system refuses the next start.
    RefusesNext,
    /// Master looks at every node, this many milliseconds later.
    Looks(u64),
    /// A stop is requested.
    Stop,
    /// A person stops it: its process, or its next start.
    Hold(usize),
    /// A person starts it again.
    LetGo(usize),
    /// Master is killed, others may die, and the next one takes over.
    TakenOver,
    /// Master is killed, this node too, and the next one takes over.
    TakenOverWithout(usize),
}

/// The process, as the node itself sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Process {
    None,
    Started,
    Joined,
    Ready,
    /// Master has not noticed yet.
    Ended(End),
}

#[derive(Clone, Debug)]
struct Node {
    process: Process,
    generation: u64,
    /// The last announcement.
    said: Option<(NodeChange, u64)>,
    /// Its cursors hold up a writer.
    holds: bool,
    /// A person has stopped it.
    is_held: bool,
    was_asked_to_stop: bool,
    closing_starts: u32,
    finishing_starts: u32,
    /// Its last end, once master has noticed it.
    last: Option<End>,
}

#[derive(Clone, Debug)]
pub(super) struct World {
    rules: Vec<Rules>,
    lives: Lives,
    nodes: Vec<Node>,
    now: Time,
    refuses: bool,
    pub(super) is_up: bool,
    has_failed: bool,
    is_stopping: bool,
    pending: VecDeque<Event>,
    /// The steps so far, printed when a check fails.
    history: Vec<Step>,
}

impl Drop for World {
    fn drop(&mut self) {
        if std::thread::panicking() && !self.history.is_empty() {
            println!("after {:?}", std::mem::take(&mut self.history));
        }
    }
}

impl World {
    pub(super) fn new(policy: RestartPolicy) -> World {
        let rules = platform(policy);
        let node = Node {
            process: Process::None,
            generation: 0,
            said: None,
            holds: true,
            is_held: false,
            was_asked_to_stop: false,
            closing_starts: 0,
            finishing_starts: 0,
            last: None,
        };
        World {
            lives: Lives::new(rules.clone(), LIMITS),
            nodes: vec![node; rules.len()],
            rules,
            now: Time::ZERO,
            refuses: false,
            is_up: false,
            has_failed: false,
            is_stopping: false,
            pending: VecDeque::new(),
            history: Vec::new(),
        }
    }

    /// False: the step is not possible in this state.
    pub(super) fn step(&mut self, step: Step) -> bool {
        self.history.push(step);
        match step {
            Step::Dies(node) => self.ends(node, End { left: false, ended: Ended::Signal(9) }),
            Step::Leaves(node, code) => {
                matches!(self.nodes[node].process, Process::Joined | Process::Ready)
                    && self.ends(node, End { left: code == 0, ended: Ended::Exit(code) })
            }
            Step::Registers(node) => self.registers(node),
            Step::GetsReady(node) => {
                let can = self.nodes[node].process == Process::Joined;
                if can {
                    self.nodes[node].process = Process::Ready;
                }
                can
            }
            Step::RefusesNext => !std::mem::replace(&mut self.refuses, true),
            Step::Looks(after) => {
                self.now += Time::from_millis(after);
                self.look();
                true
            }
            Step::Stop => {
                self.happens(Event::StopAsked);
                true
            }
            Step::Hold(node) => self.held(node, true),
            Step::LetGo(node) => self.held(node, false),
            Step::TakenOver => self.taken_over(),
            Step::TakenOverWithout(node) => {
                self.ends(node, End { left: false, ended: Ended::Unknown }) && self.taken_over()
            }
        }
    }

    fn is_alive(&self, node: usize) -> bool {
        matches!(self.nodes[node].process, Process::Started | Process::Joined | Process::Ready)
    }

    fn members(&self, host: usize) -> Vec<usize> {
        (0..self.rules.len()).filter(|node| self.rules[*node].host == Some(host)).collect()
    }

    fn ends(&mut self, node: usize, end: End) -> bool {
        if !self.is_alive(node)
            || (self.rules[node].host.is_some() && self.nodes[node].process == Process::Started)
        {
            return false;
        }
        self.nodes[node].process = Process::Ended(end);
        for member in self.members(node) {
            if self.is_alive(member) {
                self.nodes[member].process = Process::Ended(End { left: false, ended: end.ended });
            }
        }
        true
    }

    fn registers(&mut self, node: usize) -> bool {
        // As master does: before the seat of a dead node is assigned, its end is handled.
        let by_hand = self.rules[node].host.is_none() && !self.is_alive(node) && !self.nodes[node].is_held;
        if !by_hand && self.nodes[node].process != Process::Started {
            return false;
        }
        self.bury(node);
        if !self.lives.may_register(node) {
            return false;
        }
        if self.rules[node].host.is_some_and(|host| !self.is_alive(host)) {
            return false;
        }
        let state = &mut self.nodes[node];
        state.was_asked_to_stop &= !by_hand;
        state.process = Process::Joined;
        state.generation += 1;
        state.holds = true;
        let generation = state.generation;
        self.happens(Event::Registered { node, generation });
        true
    }

    fn bury(&mut self, node: usize) {
        if let Process::Ended(end) = self.nodes[node].process {
            for member in self.members(node) {
                self.bury(member);
            }
            self.nodes[node].process = Process::None;
            self.nodes[node].last = Some(end);
            self.happens(Event::Ended { node, end });
        }
    }

    fn look(&mut self) {
        for node in 0..self.nodes.len() {
            self.bury(node);
        }
        for node in 0..self.nodes.len() {
            if self.lives.is_awaited(node) && self.nodes[node].process == Process::Ready {
                self.happens(Event::Ready { node });
            }
        }
        self.happens(Event::Tick);
    }

    /// As master does: only while the platform is up.
    fn held(&mut self, node: usize, so: bool) -> bool {
        let is_possible = self.is_up && !self.is_stopping && self.nodes[node].is_held != so;
        if !is_possible || !so && self.nodes[node].process != Process::None {
            return false;
        }
        self.nodes[node].is_held = so;
        self.happens(if so { Event::Hold { node, keeps: false } } else { Event::LetGo { node } });
        true
    }

    fn taken_over(&mut self) -> bool {
        if self.lives.stopping().is_some() {
            return false;
        }
        let standings: Vec<Standing> = self.nodes.iter().map(standing).collect();
        for node in &mut self.nodes {
            if let Process::Ended(end) = node.process {
                (node.process, node.last) = (Process::None, Some(end));
            }
        }
        let (lives, decisions) =
            Lives::taken_over(self.rules.clone(), LIMITS, &standings, self.is_up, self.now);
        self.lives = lives;
        for decision in decisions {
            self.carry_out(decision);
        }
        self.follow_up();
        true
    }

    fn happens(&mut self, event: Event) {
        self.pending.push_back(event);
        self.follow_up();
    }

    fn follow_up(&mut self) {
        while let Some(event) = self.pending.pop_front() {
            for decision in self.lives.on(event, self.now) {
                self.carry_out(decision);
            }
            let held = (0..self.nodes.len())
                .find(|node| self.nodes[*node].holds && !self.lives.needs_cursors(*node));
            assert_eq!(held, None, "no successor is awaited, and the cursors stay");
        }
    }

    fn carry_out(&mut self, decision: Decision) {
        match decision {
            Decision::Start { node, closes } => {
                assert!(!self.is_alive(node), "two processes of node {node}");
                assert!(!self.is_stopping || self.finishes(node), "started while stopping");
                assert!(self.rules[node].host.is_none());
                assert!(!closes || self.rules[node].kind == NodeKind::Matching);
                self.nodes[node].closing_starts += u32::from(closes);
                if std::mem::take(&mut self.refuses) {
                    // There was no process to die.
                    self.nodes[node].last = Some(End { left: false, ended: Ended::NotStarted });
                    self.pending.push_back(Event::NotStarted { node });
                } else {
                    self.nodes[node].process = Process::Started;
                    self.nodes[node].was_asked_to_stop = false;
                }
            }
            Decision::Ask { node } => {
                assert!(!self.is_alive(node) && self.rules[node].host.is_some());
                self.nodes[node].process = Process::Started;
            }
            Decision::Dismiss { node } => {
                assert!(self.nodes[node].process != Process::None && self.rules[node].host.is_some());
            }
            Decision::Announce { node, change, generation, .. } => self.announced(node, change, generation),
            Decision::Release { node, all } => {
                assert!(!self.is_alive(node) || self.rules[node].host.is_some(), "a living node's cursors");
                self.nodes[node].holds &= !all;
            }
            Decision::Mark { node, next, .. } => {
                if self.rules[node].host.is_some() {
                    self.nodes[node].process = Process::None;
                }
                assert!(next != Next::Closes || self.rules[node].kind == NodeKind::Matching);
            }
            Decision::Up => {
                assert!(!std::mem::replace(&mut self.is_up, true), "up twice");
            }
            Decision::Fail(failure) => {
                assert!(!self.is_up, "{failure:?} took a platform down that was up");
                assert!(!std::mem::replace(&mut self.has_failed, true), "failed twice");
            }
            Decision::Signal { nodes, kill } => self.signalled(&nodes, kill),
            Decision::Stopped => {
                let left: Vec<usize> = (0..self.nodes.len()).filter(|node| self.is_alive(*node)).collect();
                assert_eq!(left, [0; 0], "alive at the end");
            }
            Decision::Stopping => self.is_stopping = true,
            Decision::Rouse | Decision::Cut => {}
        }
    }

    /// While stopping only those are started who owe something, and a few times at most.
    fn finishes(&mut self, node: usize) -> bool {
        self.nodes[node].finishing_starts += 1;
        topology::finishes(self.rules[node].kind) && self.nodes[node].finishing_starts <= FINISHING_STARTS
    }

    /// Announcements about a seat alternate between joined and ended, with growing generations.
    fn announced(&mut self, node: usize, change: NodeChange, generation: u64) {
        let said = &mut self.nodes[node].said;
        match (change, *said) {
            (NodeChange::Joined, None) => {}
            (NodeChange::Joined, Some((before, last))) => {
                assert!(before != NodeChange::Joined, "node {node} joined twice");
                assert!(generation > last, "node {node} joined as {generation} after {last}");
            }
            // One whose orders outlive its process is not started again.
            (NodeChange::Left, Some((NodeChange::Died, last))) => {
                assert_eq!(self.rules[node].kind, NodeKind::Gateway, "node {node} left after it died");
                assert_eq!(generation, last);
            }
            (_, before) => {
                assert_eq!(before, Some((NodeChange::Joined, generation)), "node {node} is {change:?}");
            }
        }
        *said = Some((change, generation));
    }

    /// No node is asked to end before those that write to it have ended.
    fn signalled(&mut self, nodes: &[usize], kill: bool) {
        let group = |node: usize| topology::stop_group(self.rules[node].kind, LIMITS.in_lock_step);
        // A successor that does not get ready is killed at any time.
        for &node in nodes.iter().filter(|_| !kill) {
            for other in (0..self.nodes.len()).filter(|other| group(*other) < group(node)) {
                assert!(!self.is_alive(other), "{node} was asked to end before {other}");
            }
        }
        for &node in nodes {
            assert!(kill || !self.nodes[node].was_asked_to_stop, "a second SIGTERM ends it at once");
            self.nodes[node].was_asked_to_stop = true;
            if kill {
                self.ends(node, End { left: false, ended: Ended::Signal(9) });
            }
        }
    }

    /// From now on every node does what is asked: then no intermediate state may last, and the platform stops when
    /// asked.
    pub(super) fn comes_to_rest(mut self) {
        self.refuses = false;
        for _ in 0..12 {
            self.step(Step::Looks(3_000));
            for node in 0..self.nodes.len() {
                if self.nodes[node].process == Process::Started {
                    self.registers(node);
                }
                self.step(Step::GetsReady(node));
            }
        }
        self.step(Step::Looks(1));
        if self.lives.stopping().is_none() {
            self.is_at_rest();
        }
        self.happens(Event::StopAsked);
        // Some must be killed.
        for round in 0..200 {
            for node in 0..self.nodes.len() {
                if self.nodes[node].process == Process::Started {
                    self.registers(node);
                }
                self.step(Step::GetsReady(node));
                if self.nodes[node].was_asked_to_stop && (node + round) % 3 == 0 {
                    self.ends(node, End { left: true, ended: Ended::Exit(0) });
                }
            }
            self.step(Step::Looks(2_000));
        }
        assert_eq!(self.lives.stopping(), Some(Stopping::Done), "{self:#?}");
        for (number, node) in self.nodes.iter().enumerate() {
            assert!(!matches!(node.said, Some((NodeChange::Joined, _))), "the end of {number} was not said");
        }
    }

    fn is_at_rest(&self) {
        assert!(self.is_up, "{self:#?}");
        for number in 0..self.nodes.len() {
            let (node, rules) = (&self.nodes[number], &self.rules[number]);
            let alive = node.process == Process::Ready;
            assert!(alive || node.process == Process::None, "{number}: {:?}", node.process);
            assert_eq!(alive, self.lives.lives(number), "{number}");
            let is_said = matches!(node.said, Some((NodeChange::Joined, said)) if said == node.generation);
            assert_eq!(alive, is_said, "what is said of {number}: {:?}", node.said);
            let waits_to_start = rules.kind == NodeKind::Host && node.generation == 0;
            assert!(alive || !node.holds || waits_to_start, "{number} has ended and holds others up");
            if !alive && rules.kind == NodeKind::Matching {
                assert!(node.closing_starts > 0, "nobody closed the market");
            }
        }
    }
}

fn standing(node: &Node) -> Standing {
    let found = match node.process {
        Process::None => match node.last {
            Some(end) => Found::Ended(end),
            None => Found::Untouched,
        },
        Process::Started => Found::Starting,
        Process::Joined => Found::Joined,
        Process::Ready => Found::Ready,
        Process::Ended(end) => Found::Ended(end),
    };
    let held = node.is_held.then_some(false);
    Standing { generation: node.generation, said: node.said, found, held, asked: node.was_asked_to_stop }
}
