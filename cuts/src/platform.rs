//! A platform in this thread: its nodes, turned one after the other until none has anything to do.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::time::{Duration, Instant};

use gateway::Clients;
use journal::{Journal, Registry};
use master::Embedded;
use node::{
    Blown, Clock, Component, Context, Frame, Fuse, InputId, Node, Output, Phase, RunError, Runner, Steps,
    Stepwise,
};
use topology::config::{Fill, MatchingConfig};
use topology::{NodeKind, Topology};
use wire::{AnyMessage, DROP_TAKEN, NodeChange, StrategyId};

use crate::clients::Served;
use crate::market::Market;
use crate::script::{Event, Script};
use crate::traces::Traces;

/// A run that takes longer hangs.
const WATCHDOG: Duration = Duration::from_secs(60);
/// Rounds in which no node does anything before the platform counts as settled. Who waits for room tries again after some time.
const QUIET: u32 = 3;
/// Work that is due within this time belongs to the same event.
const MOMENT: Duration = Duration::from_millis(5);
/// The same of the ledger: it looks at accounts for a tenth of the time at most, so a look that the host delays puts the next one off.
const LOOK: Duration = Duration::from_secs(1);
/// So many times in a row nothing may come of such a wait: a program at a venue looks at its line for ever.
const NAPS: u32 = 4;
/// What a master announces of a process that was killed.
const KILLED: i32 = -9;

/// Behind which commits a writer is ended: its first process behind the first number of its commits, that one's successor behind
/// the second, and so on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Which writer.
    pub node: &'static str,
    /// Numbers of commits, each counted from 1 for the process that it ends.
    pub commits: Vec<u64>,
}

/// What a run has left.
#[derive(Debug)]
pub struct Ended {
    /// The frames of all journals, and the states of who follows them.
    pub traces: Traces,
    /// The journal of each commit of the writer's first process.
    pub commits: Vec<String>,
    /// The commits behind which it was ended.
    pub blown: Vec<Blown>,
}

type Queue = Rc<RefCell<VecDeque<(u16, Vec<u8>)>>>;

struct Part {
    name: String,
    kind: NodeKind,
    seat: u16,
    /// `None` between an end and the successor's start.
    steps: Option<Box<dyn Steps>>,
    /// It has no turns: a process that the system does not run.
    is_held: bool,
}

impl Part {
    fn has_news(&self) -> bool {
        self.steps.as_ref().is_some_and(|steps| steps.has_news() && !steps.holds_back())
    }

    /// How long it is until it wants its next turn, if that turn belongs to the same event.
    fn pause(&self, now: u64) -> Option<Duration> {
        let deadline = self.steps.as_ref()?.deadline()?;
        let pause = Duration::from_nanos(deadline.saturating_sub(now));
        let most = if self.kind == NodeKind::Ledger { LOOK } else { MOMENT };
        (pause <= most).then_some(pause)
    }
}

/// The nodes of a platform. Dropped, it removes its instance.
pub struct Platform {
    instance: Option<Embedded>,
    parts: Vec<Part>,
    queues: BTreeMap<String, Queue>,
    /// Where a program in matching's seat trades, if one does.
    market: Market,
    /// Clients of the gateway, where there is one.
    served: Served,
    entries: Option<journal::Writer>,
    traces: Traces,
    cut: Cut,
    /// The fuse of the writer's present process.
    fuse: Fuse,
    /// How many processes of the writer there were.
    lives: usize,
    commits: Vec<String>,
    blown: Vec<Blown>,
    clock: Clock,
    hangs_at: Instant,
}

impl Platform {
    /// Plays a script to its end.
    ///
    /// # Panics
    /// When the platform cannot be built, a node fails, or nothing comes to rest.
    pub fn play(topology: Topology, script: &Script, cut: &Cut) -> Ended {
        let mut platform = Platform::start(topology, script.late_node(), cut.clone());
        for event in script.events() {
            platform.happens(event);
        }
        platform.finish()
    }

    fn start(topology: Topology, late: Option<&'static str>, cut: Cut) -> Platform {
        let instance = Embedded::build(topology).expect("an instance");
        let directory = instance.directory().clone();
        let fuse = Fuse::after(0);
        let registry = Registry::open(&directory.registry()).expect("the registry");
        let clock = registry.clock(&directory.registry()).expect("the platform's clock");
        let mut platform = Platform {
            clock,
            traces: Traces::of(&directory, instance.topology()),
            instance: Some(instance),
            parts: Vec::new(),
            queues: BTreeMap::new(),
            market: Market::default(),
            served: Served::default(),
            entries: None,
            cut,
            fuse,
            lives: 0,
            commits: Vec::new(),
            blown: Vec::new(),
            hangs_at: Instant::now() + WATCHDOG,
        };
        let specs: Vec<(String, NodeKind, u16)> = platform
            .instance()
            .topology()
            .start_sequence()
            .into_iter()
            .filter(|spec| spec.seat != 0)
            .map(|spec| (spec.name.clone(), spec.kind, spec.seat))
            .collect();
        for (name, kind, seat) in specs {
            let is_held = late == Some(name.as_str());
            platform.parts.push(Part { name, kind, seat, steps: None, is_held });
            platform.launch(platform.parts.len() - 1);
            platform.settle();
        }
        platform.instance().set_phase(Phase::Running);
        if let Ok(journal) = Journal::open(directory.find_journal("desk.entries")) {
            platform.entries = Some(journal.writer(0, clock).expect("the writer of entries"));
        }
        platform.settle();
        platform
    }

    fn instance(&self) -> &Embedded {
        self.instance.as_ref().expect("it is there until the end")
    }

    /// Starts a process of a node; those that end while they start are followed by the next.
    fn launch(&mut self, index: usize) {
        loop {
            let (name, kind) = (self.parts[index].name.clone(), self.parts[index].kind);
            let mut node = self.instance().seat(&name).expect("a seat");
            if name == self.cut.node {
                self.fuse = Fuse::after(self.cut.commits.get(self.lives).copied().unwrap_or(0));
                self.lives += 1;
                node.light(&self.fuse);
            }
            let queue = Rc::clone(self.queues.entry(name.clone()).or_default());
            let market = self.market.clone();
            let started = catch_unwind(AssertUnwindSafe(|| {
                let (mut steps, clients) =
                    make(kind, node, queue, &market).unwrap_or_else(|error| panic!("{name}: {error}"));
                steps.start().unwrap_or_else(|error| panic!("{name}: {error}"));
                (steps, clients)
            }));
            match started {
                Ok((steps, clients)) => {
                    self.parts[index].steps = Some(steps);
                    clients.into_iter().for_each(|clients| self.served.begin(clients));
                    return;
                }
                Err(end) => self.has_ended(index, end),
            }
        }
    }

    /// Its process was ended by its fuse; anything else is a fault.
    fn has_ended(&mut self, index: usize, end: Box<dyn std::any::Any + Send>) {
        match end.downcast::<Blown>() {
            Ok(blown) => {
                if self.blown.is_empty() {
                    self.commits = self.fuse.commits();
                }
                self.blown.push(*blown);
                self.parts[index].steps = None;
                self.instance().announce(self.parts[index].seat, NodeChange::Died, KILLED);
            }
            Err(panic) => resume_unwind(panic),
        }
    }

    /// A call of a node, which may be its last.
    fn call<T>(
        &mut self,
        index: usize,
        call: impl FnOnce(&mut dyn Steps) -> Result<T, RunError>,
    ) -> Option<T> {
        let part = &mut self.parts[index];
        let steps = part.steps.as_mut().expect("it runs");
        match catch_unwind(AssertUnwindSafe(|| call(steps.as_mut()))) {
            Ok(Ok(done)) => Some(done),
            Ok(Err(error)) => panic!("{}: {error}", part.name),
            Err(end) => {
                self.has_ended(index, end);
                self.launch(index);
                None
            }
        }
    }

    fn happens(&mut self, event: &Event) {
        match event {
            Event::Entry(entry) => {
                let entries = self.entries.as_mut().expect("the platform keeps accounts");
                entries.write(entry.id(), 0, entry.bytes()).expect("room for an entry");
            }
            Event::Client(asked) => asked.iter().for_each(|asked| self.served.ask(*asked)),
            Event::Half(entry) => self.take_half(entry),
            Event::Request(strategy, request) => {
                let queue = self.queues.get(*strategy).expect("a strategy of the script");
                queue.borrow_mut().push_back((request.message_id(), request.bytes().to_vec()));
            }
            Event::Hold(node) => self.part(node).is_held = true,
            Event::Release(node) => self.part(node).is_held = false,
            Event::Rest => self.settle(),
        }
    }

    /// td dies behind the copy of an entry and before its result.
    fn take_half(&mut self, entry: &AnyMessage) {
        let td = self.parts.iter().position(|part| part.kind == NodeKind::Td).expect("a td");
        self.parts[td].steps = None;
        self.happens(&Event::Entry(*entry));
        let journal = Journal::open(self.instance().directory().find_journal("td.drops")).expect("td.drops");
        let mut drops = journal.writer(u32::from(self.parts[td].seat), self.clock).expect("its writer");
        drops.write(entry.id(), DROP_TAKEN, entry.bytes()).expect("room for a copy");
        drop(drops);
        self.instance().announce(self.parts[td].seat, NodeChange::Died, KILLED);
        self.launch(td);
    }

    fn part(&mut self, name: &str) -> &mut Part {
        self.parts.iter_mut().find(|part| part.name == name).expect("a node of the platform")
    }

    /// Turns all nodes that are not held until none has anything to do.
    fn settle(&mut self) {
        let (mut quiet, mut naps) = (0, 0);
        while quiet < QUIET {
            assert!(Instant::now() < self.hangs_at, "the platform does not come to rest: {:?}", self.blown);
            let mut any = false;
            for index in 0..self.parts.len() {
                if self.parts[index].steps.is_none() || self.parts[index].is_held {
                    continue;
                }
                any |= match self.call(index, |steps| steps.step()) {
                    Some(worked) => worked,
                    None => {
                        self.catches_up(index);
                        true
                    }
                };
            }
            any |= self.parts.iter().any(|part| !part.is_held && part.has_news());
            self.traces.read();
            (quiet, naps) = if any { (0, 0) } else { (quiet + 1, naps) };
            if quiet == QUIET && naps < NAPS && self.waits_for_a_moment() {
                (quiet, naps) = (0, naps + 1);
            }
        }
    }

    /// Turns a successor alone until it has taken what its predecessor would have taken in that turn: in which order a node takes
    /// frames of different journals depends on who has a turn between two of its own, without a cut too.
    fn catches_up(&mut self, index: usize) {
        let mut quiet = 0;
        while quiet < QUIET {
            assert!(Instant::now() < self.hangs_at, "the successor does not come to rest: {:?}", self.blown);
            let worked = self.call(index, |steps| steps.step()).unwrap_or(true);
            quiet = if worked { 0 } else { quiet + 1 };
            if quiet > 0
                && let Some(pause) = self.parts[index].pause(self.clock.now())
            {
                std::thread::sleep(pause);
            }
        }
    }

    /// Sleeps until the first node wants a turn, if that is soon. Beside a node that is held the others may try for ever.
    fn waits_for_a_moment(&self) -> bool {
        if self.parts.iter().any(|part| part.is_held) {
            return false;
        }
        let now = self.clock.now();
        let Some(pause) = self.parts.iter().filter_map(|part| part.pause(now)).min() else { return false };
        std::thread::sleep(pause);
        true
    }

    /// Stops the ledger, which writes its last state down.
    fn finish(mut self) -> Ended {
        self.settle();
        let ledger = self.parts.iter().position(|part| part.kind == NodeKind::Ledger).expect("a ledger");
        let is_stopped = |platform: &mut Platform| -> Option<()> {
            platform.call(ledger, |steps| {
                steps.begin_stop();
                Ok(())
            })?;
            while !platform.call(ledger, |steps| steps.drain())? {
                assert!(Instant::now() < platform.hangs_at, "the ledger does not stop");
            }
            platform.call(ledger, |steps| steps.stop())
        };
        while is_stopped(&mut self).is_none() {}
        self.traces.read();
        let directory = self.instance().directory().clone();
        self.traces.last_states(&directory);
        if self.blown.is_empty() {
            self.commits = self.fuse.commits();
        }
        Ended {
            traces: std::mem::take(&mut self.traces),
            commits: std::mem::take(&mut self.commits),
            blown: std::mem::take(&mut self.blown),
        }
    }
}

impl Drop for Platform {
    fn drop(&mut self) {
        self.parts.clear();
        self.instance.take().into_iter().for_each(Embedded::remove);
    }
}

/// A node's program, and of the gateway's the door for its clients.
type Made = (Box<dyn Steps>, Option<Clients>);

/// Sets up the program of a node.
fn make(kind: NodeKind, mut node: Node, queue: Queue, market: &Market) -> Result<Made, RunError> {
    let service = match kind {
        NodeKind::Md => &md::SERVICE,
        NodeKind::Td => &td::SERVICE,
        NodeKind::Matching if node.section::<MatchingConfig>()?.fill == Fill::External => {
            return Ok((venue::steps(node, market.line())?, None));
        }
        NodeKind::Matching => &matching::SERVICE,
        NodeKind::Ledger => &ledger::SERVICE,
        NodeKind::Strategy => {
            let orders = node.take_output("orders").or_else(|_| node.take_output("requests"))?;
            return Ok((Stepwise.run(node, Scripted { orders, queue })?, None));
        }
        NodeKind::Gateway => {
            let (steps, clients) = gateway::steps(node)?;
            return Ok((steps, Some(clients)));
        }
        kind => panic!("no {kind} is known here"),
    };
    Ok(((service.steps.expect("it can be turned"))(node)?, None))
}

/// A strategy that sends what the script says, and reads everything.
struct Scripted {
    orders: Output,
    queue: Queue,
}

impl Component for Scripted {
    fn turn(&mut self, context: &mut Context) -> Result<(), RunError> {
        while let Some((message_id, payload)) = self.queue.borrow_mut().pop_front() {
            self.orders
                .post_bytes(message_id, 0, &payload)
                .map_err(|source| RunError::Write { journal: self.orders.journal.clone(), source })?;
            context.worked();
        }
        Ok(())
    }

    fn frame(&mut self, _: &mut Context, _: InputId, _: &Frame<'_>) -> Result<(), RunError> {
        Ok(())
    }
}

/// The seat of a strategy, which the ids of its orders begin with.
pub(crate) fn seat_of(topology: &Topology, name: &str) -> StrategyId {
    StrategyId(topology.node(name).expect("a node of the platform").seat)
}
