//! What people want of one strategy while the others go on: that it stops, starts, takes other parameters.
//!
//! What is wanted is written down first ([`Intent`]), then done: so a master that takes over goes on with it.

use std::time::{Duration, Instant};

use node::protocol::{Assignment, Reply, Want};
use node::{ANSWER_WORD, ASK_WORD, Answer, Ask, Exit, Hold, Intent, NodeState, Orders, Parameters};
use serde_json::Value;
use topology::NodeKind;
use wire::NodeChange;

use crate::carry::last_errors;
use crate::clients::ClientId;
use crate::lives::{Ended, Event};
use crate::supervise::Master;

/// So long a strategy has to answer to new parameters: its calls last microseconds, and it wakes within a tenth of a second.
const ANSWERS_WITHIN: Duration = Duration::from_secs(5);
/// After a kill, a process may take so long to be gone.
const GONE_WITHIN: Duration = Duration::from_secs(5);

/// Somebody who waits for the answer.
#[derive(Debug)]
pub(crate) struct Wanted {
    client: ClientId,
    node: usize,
    what: What,
    until: Instant,
}

#[derive(Debug)]
enum What {
    /// That it has stopped.
    Stop,
    /// That it runs; what was wanted before.
    Start { before: Box<Intent> },
    /// It does not come up, and is being ended.
    Fails { reason: String },
    /// That it has answered the ask of this number.
    Set { number: u64 },
}

impl Master {
    /// Begins with what a client wants. `None`: it is answered later.
    pub(crate) fn want(&mut self, client: ClientId, name: &str, want: Want) -> Option<Reply> {
        let begun = self.demand_strategy(name).and_then(|node| match want {
            Want::Stop { orders } => self.want_stop(client, node, orders),
            Want::Start { program, params } => {
                let before = self.nodes[node].intent.clone();
                let mut intent = Intent { stopped: None, ..before };
                intent.program = program.or(intent.program);
                intent.params.extend(params);
                self.want_start(client, node, intent)
            }
            Want::Set { params } => self.want_set(client, node, params),
        });
        match begun {
            Ok(is_done) => is_done.then_some(Reply::Done),
            Err(reason) => Some(Reply::Refused { reason }),
        }
    }

    fn demand_strategy(&self, name: &str) -> Result<usize, String> {
        let node = self.nodes.iter().position(|node| node.spec.name == name);
        let node = node.ok_or_else(|| format!("the platform file lists no strategy `{name}`"))?;
        let kind = self.nodes[node].spec.kind;
        if kind != NodeKind::Strategy {
            return Err(format!("`{name}` is no strategy ({kind}), and only strategies come and go"));
        }
        if self.lives.stopping().is_some() {
            return Err("the platform is stopping".to_owned());
        }
        if !self.lives.is_up() {
            return Err("the platform is still starting: try again when it is up".to_owned());
        }
        if self.instance.topology.deterministic {
            let why = "the platform runs in lock-step, where a run gives the same each time: nothing is changed while it runs";
            return Err(why.to_owned());
        }
        if self.wanted.iter().any(|wanted| wanted.node == node) {
            return Err(format!("something else is being done with `{name}`: try again when that is done"));
        }
        Ok(node)
    }

    /// Ok: whether it is done already.
    fn want_stop(&mut self, client: ClientId, node: usize, orders: Orders) -> Result<bool, String> {
        let (name, lives) = (self.nodes[node].spec.name.clone(), self.lives.lives(node));
        let before = self.nodes[node].intent.stopped;
        let kept = before.is_some_and(|before| before.orders == Orders::Keep);
        if !lives && orders == Orders::Keep && !kept {
            return Err(format!("`{name}` does not run, and its orders were cancelled when it ended"));
        }
        let hold = Hold { orders, at: self.instance.clock.now() };
        let intent = Intent { stopped: Some(hold), ..self.nodes[node].intent.clone() };
        self.write_intent(node, intent)?;
        log::info!("a person wants strategy `{name}` to stop ({orders:?} its orders)");
        self.happened(Event::Hold { node, keeps: orders == Orders::Keep });
        if !self.lives.lives(node) {
            self.mark_as_held(node);
            if kept && orders == Orders::Cancel {
                // It has left; td now hears that its orders go too.
                let seat = self.instance.registry.seat(u32::from(self.nodes[node].spec.seat));
                let generation = seat.map_or(0, |seat| seat.generation());
                self.announce(node, NodeChange::Left, generation, -1);
            }
            return Ok(true);
        }
        let until = Instant::now() + self.config.stop_timeout + GONE_WITHIN;
        self.wanted.push(Wanted { client, node, what: What::Stop, until });
        Ok(false)
    }

    fn mark_as_held(&self, node: usize) {
        if let Some(seat) = self.instance.registry.occupy(u32::from(self.nodes[node].spec.seat)) {
            seat.set_exit(Exit::by_a_person(seat.exit()));
            if seat.state() == NodeState::Dead.to_word() {
                seat.set_state(NodeState::Failed.to_word());
            }
        }
    }

    fn want_start(&mut self, client: ClientId, node: usize, intent: Intent) -> Result<bool, String> {
        let name = self.nodes[node].spec.name.clone();
        if self.lives.is_being_held(node) {
            return Err(format!("`{name}` is still stopping: try again when it has stopped"));
        }
        if self.lives.lives(node) {
            return Err(format!("`{name}` runs already"));
        }
        if intent.program.is_some() && self.nodes[node].spec.host.is_some() {
            return Err(of_the_host(&name));
        }
        let before = Box::new(self.nodes[node].intent.clone());
        let seat = self.instance.registry.seat(u32::from(self.nodes[node].spec.seat));
        let started = seat.map_or(0, |seat| seat.generation()) + 1;
        self.write_intent(node, Intent { started, ..intent })?;
        log::info!("a person wants strategy `{name}` to start");
        self.happened(Event::LetGo { node });
        let until = Instant::now() + self.config.ready_timeout;
        self.wanted.push(Wanted { client, node, what: What::Start { before }, until });
        Ok(false)
    }

    fn want_set(&mut self, client: ClientId, node: usize, changed: Parameters) -> Result<bool, String> {
        let managed = &self.nodes[node];
        let name = managed.spec.name.clone();
        let seat = self.instance.registry.occupy(u32::from(managed.spec.seat)).ok_or("it has no seat")?;
        if !self.lives.is_ready(node) {
            let how = format!("`colo strategy start {name} KEY=VALUE` starts it with other parameters");
            return Err(format!("`{name}` does not run: {how}"));
        }
        if seat.counter(ANSWER_WORD) == 0 {
            return Err(format!(
                "`{name}` is of a library that does not take parameters while it runs: `colo strategy reload {name} KEY=VALUE` starts it again with them"
            ));
        }
        let mut params = managed.intent.over(&managed.spec.parameters);
        params.extend(changed.clone());
        let number = seat.counter(ASK_WORD) + 1;
        Ask { number, params, changed }
            .write(&self.instance.directory, &name)
            .map_err(|error| format!("what is asked of `{name}` cannot be written: {error}"))?;
        seat.set_counter(ASK_WORD, number);
        self.nodes[node].asked = Some(number);
        self.wake_strategy(node);
        let until = Instant::now() + ANSWERS_WITHIN;
        self.wanted.push(Wanted { client, node, what: What::Set { number }, until });
        Ok(false)
    }

    fn write_intent(&mut self, node: usize, intent: Intent) -> Result<(), String> {
        let name = &self.nodes[node].spec.name;
        intent
            .write(&self.instance.directory, name)
            .map_err(|error| format!("what is wanted of `{name}` cannot be written: {error}"))?;
        self.nodes[node].intent = intent;
        Ok(())
    }

    /// What was wanted under the master before this one.
    pub(crate) fn recall_intents(&mut self) {
        for managed in self.nodes.iter_mut().filter(|node| node.spec.kind == NodeKind::Strategy) {
            let name = &managed.spec.name;
            managed.intent = Intent::read(&self.instance.directory, name).unwrap_or_else(|error| {
                log::error!("what was wanted of strategy `{name}` cannot be read and is forgotten: {error}");
                Intent::default()
            });
            let seat = self.instance.registry.seat(u32::from(managed.spec.seat));
            let asked = seat.map_or(0, |seat| seat.counter(ASK_WORD));
            managed.asked = (asked > managed.intent.settled).then_some(asked);
        }
    }

    /// What was set goes over the parameters of the platform file.
    pub(crate) fn hand_over_parameters(&mut self, node: usize, assignment: &mut Assignment) {
        // What it was asked before it ended is not answered any more.
        self.nodes[node].asked = None;
        let managed = &self.nodes[node];
        if let Some(section) = assignment.section.as_object_mut()
            && !managed.intent.params.is_empty()
        {
            let all = managed.intent.over(&managed.spec.parameters);
            section.insert("params".to_owned(), Value::Object(all));
        }
    }

    /// Whether something shows only in shared memory.
    pub(crate) fn is_at_a_wish(&self) -> bool {
        !self.wanted.is_empty() || (0..self.nodes.len()).any(|node| self.lives.is_being_held(node))
    }

    /// Goes on with what is wanted, and answers who waits.
    pub(crate) fn look_at_wanted(&mut self) {
        for node in 0..self.nodes.len() {
            if self.lives.is_being_held(node) {
                self.dismiss(node);
            }
            if let Some(number) = self.nodes[node].asked {
                self.look_for_answer(node, number);
            }
        }
        let mut waiting = std::mem::take(&mut self.wanted);
        waiting.retain_mut(|wanted| {
            let Some(outcome) = self.outcome_of(wanted) else { return true };
            let reply = match outcome {
                Ok(()) => Reply::Done,
                Err(reason) => Reply::Refused { reason },
            };
            self.clients.answer(wanted.client, &reply, Instant::now());
            false
        });
        self.wanted = waiting;
    }

    fn outcome_of(&mut self, wanted: &mut Wanted) -> Option<Result<(), String>> {
        let node = wanted.node;
        let (name, is_late) = (self.nodes[node].spec.name.clone(), Instant::now() >= wanted.until);
        let lives = self.lives.lives(node);
        if self.lives.stopping().is_some() {
            return Some(Err("the platform is stopping".to_owned()));
        }
        match &wanted.what {
            What::Stop if !lives => Some(Ok(())),
            What::Stop if is_late => Some(Err(self.why_it_does_not_stop(node))),
            What::Fails { reason } if !lives || is_late => Some(Err(reason.clone())),
            What::Start { .. } if self.lives.is_ready(node) => Some(Ok(())),
            What::Start { before } => {
                // What follows would be the supervisor's restart.
                let has_ended = self.lives.has_failed(node);
                if !has_ended && !is_late {
                    return None;
                }
                let reason = self.why_it_does_not_start(node, has_ended);
                self.give_up_start(node, before.as_ref().clone());
                wanted.until = Instant::now() + self.config.stop_timeout + GONE_WITHIN;
                wanted.what = What::Fails { reason };
                None
            }
            What::Set { number } => self.answer_to(node, *number).or_else(|| {
                if !lives {
                    return Some(Err(format!("`{name}` ended before it answered: nothing is set")));
                }
                is_late.then(|| {
                    Err(format!(
                        "`{name}` has not answered within {} s: it may still take them, `colo strategy ls` shows what is set",
                        ANSWERS_WITHIN.as_secs()
                    ))
                })
            }),
            What::Stop | What::Fails { .. } => None,
        }
    }

    /// It stays stopped, with the program and the parameters that it had.
    fn give_up_start(&mut self, node: usize, before: Intent) {
        let orders = before.stopped.map_or(Orders::Cancel, |stopped| stopped.orders);
        let hold = Hold { orders, at: self.instance.clock.now() };
        let intent = Intent { stopped: Some(hold), ..before };
        if let Err(reason) = self.write_intent(node, intent) {
            log::error!("{reason}");
        }
        self.happened(Event::Hold { node, keeps: false });
        if !self.lives.lives(node) {
            self.mark_as_held(node);
        }
    }

    fn why_it_does_not_start(&mut self, node: usize, has_ended: bool) -> String {
        let refused = self.nodes[node].refused.take();
        let managed = &self.nodes[node];
        let (name, seconds) = (&managed.spec.name, self.config.ready_timeout.as_secs_f64());
        let host = self.nodes.iter().find(|node| Some(&node.spec.name) == managed.spec.host.as_ref());
        let speaker = host.unwrap_or(managed);
        let log = self.instance.directory.log(&speaker.spec.name);
        let words = last_errors(&log, speaker.log_from);
        let how = match (refused, has_ended) {
            (Some(error), _) => {
                format!("the program {} cannot be started: {error}", self.program(node).display())
            }
            (None, true) => format!("it {}", self.end_of(node, Ended::Unknown).ended),
            (None, false) => format!("it is not ready within {seconds} s (master.ready_timeout)"),
        };
        format!("`{name}` does not start: {how}{words}\n  its log: {}", log.display())
    }

    fn why_it_does_not_stop(&self, node: usize) -> String {
        let managed = &self.nodes[node];
        let name = &managed.spec.name;
        match &managed.spec.host {
            Some(host) => format!(
                "`{name}` has not stopped yet: its host `{host}` is in a call of a strategy that does not return; it stops when that does"
            ),
            None => format!("`{name}` was killed and is not gone yet: `colo status` shows when it is"),
        }
    }

    /// Whether an ask was answered; what was taken is kept.
    fn look_for_answer(&mut self, node: usize, number: u64) {
        let name = self.nodes[node].spec.name.clone();
        let answer = Answer::read(&self.instance.directory, &name).ok().flatten();
        let Some(answer) = answer.filter(|answer| answer.number == number) else {
            if !self.lives.lives(node) {
                self.nodes[node].asked = None;
            }
            return;
        };
        let mut intent = Intent { settled: number, ..self.nodes[node].intent.clone() };
        let ask = Ask::read(&self.instance.directory, &name).ok().flatten();
        if let (None, Some(ask)) = (&answer.error, ask.filter(|ask| ask.number == number)) {
            log::info!("strategy `{name}` was set: {}", Value::Object(ask.changed.clone()));
            intent.params.extend(ask.changed);
        }
        self.nodes[node].asked = None;
        if let Err(reason) = self.write_intent(node, intent) {
            log::error!("{reason}");
        }
    }

    /// What the strategy said to an ask, once that is settled.
    fn answer_to(&self, node: usize, number: u64) -> Option<Result<(), String>> {
        let managed = &self.nodes[node];
        if managed.asked.is_some() || managed.intent.settled < number {
            return None;
        }
        let answer = Answer::read(&self.instance.directory, &managed.spec.name).ok().flatten()?;
        let name = &managed.spec.name;
        Some(match answer.error {
            None => Ok(()),
            Some(why) => Err(format!("`{name}` does not take them: {why}")),
        })
    }

    /// Asks its host that it leaves, and wakes whoever was asked to end: a signal between a look at its flag and a sleep does
    /// not end the sleep.
    pub(crate) fn dismiss(&self, node: usize) {
        let managed = &self.nodes[node];
        let state = self.instance.state(managed.spec.seat);
        if managed.spec.host.is_some() && matches!(state, NodeState::Running | NodeState::Finished) {
            self.set_state(node, NodeState::Stopping);
        }
        if managed.spec.host.is_some() && state == NodeState::Starting {
            // Its host has not taken the request up.
            self.set_state(node, NodeState::Stopped);
        }
        self.wake_strategy(node);
    }

    fn wake_strategy(&self, node: usize) {
        let spec = &self.nodes[node].spec;
        let host = self.nodes.iter().find(|node| Some(&node.spec.name) == spec.host.as_ref());
        let seat = host.map_or(spec.seat, |host| host.spec.seat);
        journal::wait::wake(&self.instance.registry, u32::from(seat));
    }
}

fn of_the_host(name: &str) -> String {
    format!(
        "`{name}` shares its process and its program with others: take `host` out of its group, and it can have a program of its own"
    )
}
