//! The poll loop that every node runs.

use std::time::{Duration, Instant};

use journal::{Parker, ReadError, SAFETY_TIMEOUT, Wakeup};

use crate::due::Due;
use crate::error::RunError;
use crate::input::{Input, InputId};
use crate::node::Node;
use crate::run::{Component, Context, Wish};
use crate::state::{Counter, NodeState, WaitMode};

/// Frames taken from one input before the others get their turn.
const BURST: usize = 64;
/// Idle rounds of a busy-polling node between two looks at the clock.
const IDLE_ROUNDS: u32 = 1 << 10;
/// Signs of life are at least this far apart, in nanoseconds.
const HEARTBEAT: u64 = 10_000_000;
/// A frame that a safety time-out finds and that is older than this was missed; a younger one may have been
/// committed by a writer that is about to wake us.
const MISSED: u64 = 10_000_000;
/// A relay that has shown no sign of life for so long, in nanoseconds, is not waited for any more.
const RELAY_PATIENCE: u64 = 50_000_000;
/// A clean stop waits this long for readers that make room for what was kept back.
const STOP_PATIENCE: Duration = Duration::from_secs(2);
/// Between two tries then.
const STOP_RETRY: Duration = Duration::from_micros(200);

pub(crate) struct PollLoop<'a> {
    inputs: &'a mut Vec<Input>,
    pub(crate) context: Context,
    parker: Option<Parker>,
    mode: WaitMode,
    last_news: u64,
    last_heartbeat: u64,
    idle_rounds: u32,
    /// Which inputs took frames when they were last looked at: only they can end a sleep.
    accepting: Vec<bool>,
    /// Which inputs are to be looked at.
    due: Due,
}

impl<'a> PollLoop<'a> {
    pub(crate) fn new(node: &'a mut Node) -> PollLoop<'a> {
        let parker = Parker::new(std::sync::Arc::clone(&node.registry), node.assignment.seat);
        let handle = node.handle();
        PollLoop {
            mode: node.assignment.mode,
            accepting: vec![true; node.inputs.len()],
            due: Due::of(node),
            inputs: &mut node.inputs,
            context: Context { handle, deadline: None, stop_requested: false, wishes: Vec::new() },
            parker,
            last_news: 0,
            last_heartbeat: 0,
            idle_rounds: 0,
        }
    }

    pub(crate) fn run(&mut self, component: &mut impl Component) -> Result<(), RunError> {
        component.start(&mut self.context)?;
        self.grant_wishes()?;
        self.context.handle.set_state(NodeState::Running);
        self.beat();
        while !self.context.handle.is_stopping() && !self.context.stop_requested {
            self.context.deadline = None;
            component.turn(&mut self.context)?;
            self.grant_wishes()?;
            if self.round(component)? {
                self.idle_rounds = 0;
                self.news();
            } else {
                self.wait();
            }
        }
        self.context.handle.set_state(NodeState::Stopping);
        // What was committed before the stop is still ours to handle, and what we kept back still ours to write.
        let patience = Instant::now() + STOP_PATIENCE;
        loop {
            while self.round(component)? {}
            if component.flush(&mut self.context)? {
                break;
            }
            if Instant::now() > patience {
                log::error!(
                    "stops although not all could be written: its readers made no room in {STOP_PATIENCE:?}"
                );
                break;
            }
            std::thread::sleep(STOP_RETRY);
        }
        while self.round(component)? {}
        component.stop(&mut self.context)
    }

    /// Takes what is there. True when anything was.
    fn round(&mut self, component: &mut impl Component) -> Result<bool, RunError> {
        if component.in_time_order() { self.merged_round(component) } else { self.fair_round(component) }
    }

    /// One look at every input that is due.
    fn fair_round(&mut self, component: &mut impl Component) -> Result<bool, RunError> {
        let mut any = false;
        self.due.answer();
        let mut from = 0;
        while let Some(index) = self.due.next(from) {
            from = index + 1;
            let mut taken = 0;
            let mut accepts = true;
            while taken < BURST {
                accepts = self.accepts(component, index);
                if !accepts || !self.take(component, index)? {
                    break;
                }
                taken += 1;
            }
            self.accepting[index] = accepts;
            if accepts && taken < BURST {
                self.due.is_empty_now(index);
            }
            if taken > 0 {
                self.context.add(Counter::FramesRead, taken as u64);
                any = true;
            }
        }
        Ok(any)
    }

    /// The earliest frames of all inputs, in the order of their times.
    fn merged_round(&mut self, component: &mut impl Component) -> Result<bool, RunError> {
        let mut taken = 0;
        while taken < BURST {
            let Some(index) = self.earliest(component)? else { break };
            self.take(component, index)?;
            taken += 1;
        }
        if taken > 0 {
            self.context.add(Counter::FramesRead, taken as u64);
        }
        Ok(taken > 0)
    }

    /// The input with the earliest frame; of equal times, the journal with the lowest number.
    ///
    /// What caused a frame was committed before it, but perhaps after we had looked at its journal. So a look counts
    /// only when the next one finds the same.
    fn earliest(&mut self, component: &mut impl Component) -> Result<Option<usize>, RunError> {
        let mut before = None;
        loop {
            let mut found = None;
            for index in 0..self.inputs.len() {
                self.accepting[index] = self.accepts(component, index);
                if self.accepting[index]
                    && let Some(time) = self.peek_time(component, index)?
                {
                    let key = (time, self.inputs[index].journal_id(), index);
                    found = Some(found.map_or(key, |known: (u64, u32, usize)| known.min(key)));
                }
            }
            if found == before {
                return Ok(found.map(|(_, _, index)| index));
            }
            before = found;
        }
    }

    fn peek_time(&mut self, component: &mut impl Component, index: usize) -> Result<Option<u64>, RunError> {
        loop {
            match self.inputs[index].reader.peek_time() {
                Ok(time) => return Ok(time),
                Err(error) => self.failed(component, index, error)?,
            }
        }
    }

    fn accepts(&mut self, component: &mut impl Component, index: usize) -> bool {
        let reader = &mut self.inputs[index].reader;
        let accepts = component.accepts(InputId(index), reader.position());
        if !accepts && component.is_settled(InputId(index)) {
            reader.publish();
        }
        accepts
    }

    /// Hands out the next frame of one input, or the gap before it. False when there is none.
    fn take(&mut self, component: &mut impl Component, index: usize) -> Result<bool, RunError> {
        match self.inputs[index].reader.read() {
            Ok(Some(frame)) => component.frame(&mut self.context, InputId(index), &frame)?,
            Ok(None) => return Ok(false),
            Err(error) => self.failed(component, index, error)?,
        }
        self.grant_wishes()?;
        Ok(true)
    }

    #[cold]
    fn failed(
        &mut self,
        component: &mut impl Component,
        index: usize,
        error: ReadError,
    ) -> Result<(), RunError> {
        let ReadError::Lapped(gap) = error else {
            return Err(RunError::Read { journal: self.inputs[index].name().to_owned(), source: error });
        };
        self.context.add(Counter::Gaps, 1);
        self.context.add(Counter::BytesLost, gap.bytes());
        component.gap(&mut self.context, InputId(index), gap)
    }

    #[inline]
    fn grant_wishes(&mut self) -> Result<(), RunError> {
        if self.context.wishes.is_empty() { Ok(()) } else { self.grant() }
    }

    #[cold]
    fn grant(&mut self) -> Result<(), RunError> {
        let mut narrowed = false;
        for wish in std::mem::take(&mut self.context.wishes) {
            match wish {
                Wish::Keep(input, position) => {
                    if let Some(input) = self.inputs.get_mut(input.0) {
                        input.keep(position);
                    }
                }
                Wish::Narrow(input, topics) => {
                    let Some(input) = self.inputs.get_mut(input.0) else { continue };
                    narrowed = true;
                    input.narrow(topics.as_deref()).map_err(|error| {
                        RunError::failed(format!(
                            "cannot choose topics of journal `{}`: {error}",
                            input.name()
                        ))
                    })?;
                }
            }
        }
        if !narrowed {
            return Ok(());
        }
        if self.mode.sleeps() || self.due.has_bell() {
            // What was added must be seen by every writer before we sleep, or trust the bell, again.
            journal::announce();
        }
        self.due.everything();
        Ok(())
    }

    fn news(&mut self) {
        if !matches!(self.mode, WaitMode::Parked) {
            self.last_news = self.context.now();
            self.beat_at(self.last_news);
        } else {
            self.idle_rounds += 1;
            if self.idle_rounds.is_multiple_of(IDLE_ROUNDS) {
                self.beat();
            }
        }
    }

    /// Nothing was there: polls on, or sleeps.
    fn wait(&mut self) {
        match self.mode {
            WaitMode::Fast => self.spin(),
            WaitMode::Parked => self.park(),
            WaitMode::Adaptive { spin_ns } => {
                if self.context.now().saturating_sub(self.last_news) < spin_ns {
                    self.spin();
                } else {
                    self.park();
                }
            }
        }
    }

    #[inline]
    fn spin(&mut self) {
        std::hint::spin_loop();
        self.idle_rounds = self.idle_rounds.wrapping_add(1);
        if self.idle_rounds.is_multiple_of(IDLE_ROUNDS) {
            self.beat();
        }
    }

    fn park(&mut self) {
        let now = self.context.now();
        self.beat_at(now);
        let (timeout, is_safety) = match self.context.deadline {
            Some(deadline) if deadline <= now => return,
            Some(deadline) if deadline - now < SAFETY_TIMEOUT.as_nanos() as u64 => {
                (Duration::from_nanos(deadline - now), false)
            }
            _ => (SAFETY_TIMEOUT, true),
        };
        let Some(parker) = &self.parker else { return };
        let (inputs, accepting, handle) = (&*self.inputs, &self.accepting, &self.context.handle);
        let due = &mut self.due;
        // Whatever the bell says: a sleep costs more than a look at every input.
        let has_news = || {
            let news = |(index, input): (usize, &Input)| accepting[index] && input.reader.has_news();
            let found = inputs.iter().enumerate().position(|(index, input)| news((index, input)));
            found.inspect(|&index| due.look_at(index)).is_some() || handle.is_stopping()
        };
        let Some(wakeup) = parker.park(timeout, has_news) else { return };
        self.context.add(Counter::Parks, 1);
        match wakeup {
            Wakeup::Woken => self.context.add(Counter::Wakes, 1),
            Wakeup::TimedOut if is_safety => {
                self.context.add(Counter::WaitTimeouts, 1);
                self.leave_silent_relay();
                self.count_missed();
            }
            Wakeup::TimedOut => {}
        }
    }

    fn leave_silent_relay(&mut self) {
        let now = self.context.now();
        if self.parker.as_ref().is_some_and(|parker| parker.leave_silent_relay(now, RELAY_PATIENCE)) {
            log::warn!("the relay shows no sign of life: writers wake this node from now on");
        }
    }

    /// A safety time-out must find nothing that is older than a moment.
    fn count_missed(&mut self) {
        let now = self.context.now();
        let mut missed = false;
        self.due.everything();
        for (input, accepts) in self.inputs.iter_mut().zip(&self.accepting) {
            if *accepts && let Ok(Some(time)) = input.reader.peek_time() {
                missed |= now.saturating_sub(time) > MISSED;
            }
        }
        if missed {
            self.context.add(Counter::WaitTimeoutsWithData, 1);
        }
    }

    fn beat(&mut self) {
        self.beat_at(self.context.now());
    }

    fn beat_at(&mut self, now: u64) {
        if now.saturating_sub(self.last_heartbeat) >= HEARTBEAT {
            self.last_heartbeat = now;
            self.context.handle.beat(now);
            // A writer that is killed between a commit and the bell leaves a frame that nothing tells of.
            self.due.everything();
        }
    }
}

#[cfg(test)]
mod adaptive;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use journal::{Clock, Frame, Journal, JournalShape, Reader, Registry, Writer};

    use super::*;
    use crate::input::Told;
    use crate::instance::InstanceDir;
    use crate::protocol::Assignment;
    use crate::state::{NodeKind, WakePolicy};
    use crate::stop::StopFlag;

    const SEAT: u32 = 3;

    fn node(journals: &[Journal]) -> Node {
        let input = |journal: &Journal| Input {
            reader: Reader::Gated(journal.gated(SEAT).unwrap()),
            journal: Journal::in_memory(journal.shape().clone()).unwrap(),
            role: journal.shape().name.clone(),
            peer: String::new(),
            peer_seat: 0,
            seat: SEAT,
            told: Told::Wanted,
        };
        let assignment = Assignment {
            node: "test-1".into(),
            kind: NodeKind::Strategy,
            seat: SEAT,
            generation: 1,
            mode: WaitMode::Parked,
            wake: WakePolicy::Targeted,
            placement: None,
            deterministic: false,
            lock_memory: false,
            section: serde_json::Value::Null,
            writes: Vec::new(),
            reads: Vec::new(),
        };
        let clock = Clock::monotonic();
        Node::for_test(
            assignment,
            InstanceDir::new("test").unwrap(),
            Arc::new(Registry::in_memory(64, clock).unwrap()),
            clock,
            journals.iter().map(input).collect(),
            StopFlag::install().unwrap(),
        )
    }

    /// Times of two journals compare only when both are of one clock.
    fn journal(id: u32, clock: Clock) -> (Journal, Writer) {
        let name = format!("journal-{id}");
        let shape = JournalShape { id, name, capacity: 1 << 16, seats: 64, topics: 8, page: 4096 };
        let journal = Journal::in_memory(shape).unwrap();
        let writer = journal.writer(0, clock).unwrap();
        (journal, writer)
    }

    /// Notes what it is handed, and stops after `stop_after` frames. While the first input is looked at for the
    /// first time nothing is there yet: `cause`, then `effect` are written right behind that look.
    struct Recorder<'a> {
        by_time: bool,
        heard: Vec<(usize, u32)>,
        stop_after: usize,
        narrow_after: Option<usize>,
        late: Option<(&'a mut Writer, &'a mut Writer)>,
        looks: usize,
    }

    impl Component for Recorder<'_> {
        fn in_time_order(&self) -> bool {
            self.by_time
        }

        fn accepts(&mut self, _input: InputId, _position: u64) -> bool {
            self.looks += 1;
            if self.looks == 2
                && let Some((cause, effect)) = self.late.take()
            {
                cause.write(1, 1, b"").unwrap();
                effect.write(1, 2, b"").unwrap();
            }
            true
        }

        fn frame(
            &mut self,
            context: &mut Context,
            input: InputId,
            frame: &Frame<'_>,
        ) -> Result<(), RunError> {
            self.heard.push((input.0, frame.topic));
            if self.narrow_after == Some(self.heard.len()) {
                context.narrow(input, Some(&[2]));
            }
            if self.heard.len() == self.stop_after {
                context.request_stop();
            }
            Ok(())
        }
    }

    fn recorder<'a>(by_time: bool, stop_after: usize) -> Recorder<'a> {
        Recorder { by_time, heard: Vec::new(), stop_after, narrow_after: None, late: None, looks: 0 }
    }

    #[test]
    fn in_time_order_frames_of_two_journals_interleave_as_they_were_written() {
        for (by_time, expected) in
            [(true, [(1, 1), (0, 2), (1, 3), (0, 4)]), (false, [(0, 2), (0, 4), (1, 1), (1, 3)])]
        {
            let clock = Clock::monotonic();
            let ((first, mut to_first), (second, mut to_second)) = (journal(1, clock), journal(2, clock));
            let node = node(&[first, second]);
            for (journal, topic) in [(1, 1), (0, 2), (1, 3), (0, 4)] {
                let writer = if journal == 0 { &mut to_first } else { &mut to_second };
                writer.write(1, topic, b"").unwrap();
                // Equal times would be told apart by the journals' numbers.
                std::thread::sleep(Duration::from_micros(1));
            }
            let mut recorder = recorder(by_time, 4);
            node.run(&mut recorder).unwrap();
            assert_eq!(recorder.heard, expected, "by time: {by_time}");
        }
    }

    #[test]
    fn a_frame_is_not_handed_out_before_its_cause_that_was_written_behind_our_look() {
        for (by_time, expected) in [(true, [(0, 1), (1, 2)]), (false, [(1, 2), (0, 1)])] {
            let clock = Clock::monotonic();
            let ((causes, mut cause), (effects, mut effect)) = (journal(1, clock), journal(2, clock));
            let node = node(&[causes, effects]);
            let mut recorder = recorder(by_time, 2);
            recorder.late = Some((&mut cause, &mut effect));
            node.run(&mut recorder).unwrap();
            assert_eq!(recorder.heard, expected, "by time: {by_time}");
        }
    }

    #[test]
    fn topics_can_be_chosen_while_the_loop_runs() {
        let (only, mut writer) = journal(1, Clock::monotonic());
        let node = node(&[only]);
        for topic in [1, 1, 2, 1, 2] {
            writer.write(1, topic, b"").unwrap();
        }
        let mut recorder = recorder(false, 3);
        recorder.narrow_after = Some(1);
        node.run(&mut recorder).unwrap();
        assert_eq!(recorder.heard, [(0, 1), (0, 2), (0, 2)]);
    }
}
