//! What a node does when nothing is there: it polls on, or sleeps, and updates its heartbeat.

use std::time::Duration;

use journal::wait::{LONGEST_SLEEP, SAFETY_TIMEOUT, Wakeup};
use topology::config::Mode;

use super::PollLoop;
use crate::input::Input;
use crate::run::Component;
use crate::state::Counter;

/// Idle rounds of a busy-polling node between two looks at the clock.
const IDLE_ROUNDS: u32 = 1 << 10;
/// Heartbeats are at least this far apart, in nanoseconds.
const HEARTBEAT: u64 = 10_000_000;
/// A frame older than this, in nanoseconds, that a safety time-out finds was missed; a younger one may have been
/// committed by a writer that is about to wake us.
const MISSED: u64 = 10_000_000;
/// A relay without a heartbeat for this long, in nanoseconds, is not waited for any more.
const RELAY_PATIENCE: u64 = 50_000_000;

/// A napping node parks after this many naps without news.
pub(super) const QUIET_NAPS: u32 = 20;
/// The kernel may end a sleep by the clock as much later, to end several at once.
pub(super) const TIMER_SLACK: Duration = Duration::from_micros(50);

/// How long a node may sleep before it looks at its journals by itself: longer after a longer time without events.
#[derive(Debug)]
pub(super) struct SafetyNet {
    timeout: Duration,
    /// Time of the last look or wake-up: nanoseconds on the platform's clock.
    looked: u64,
}

impl SafetyNet {
    pub(super) fn new() -> SafetyNet {
        SafetyNet { timeout: SAFETY_TIMEOUT, looked: 0 }
    }

    /// Time-out of the next sleep. A seat with a relay has to notice soon that the relay is silent.
    fn timeout(&self, is_relayed: bool) -> Duration {
        if is_relayed { SAFETY_TIMEOUT } else { self.timeout }
    }

    /// Records a wake-up.
    fn woken(&mut self, now: u64) {
        self.tighten();
        self.looked = now;
    }

    /// Records a time-out. Returns whether a look is due: always at the net's own time-out; and a node whose timers end
    /// every sleep earlier looks as often as one without.
    fn timed_out(&mut self, now: u64, is_safety: bool) -> bool {
        let is_due = is_safety || now.saturating_sub(self.looked) >= SAFETY_TIMEOUT.as_nanos() as u64;
        if is_due {
            self.looked = now;
        }
        is_due
    }

    /// Records any event.
    fn tighten(&mut self) {
        self.timeout = SAFETY_TIMEOUT;
    }

    /// Records a safety time-out that found nothing at all.
    fn loosen(&mut self) {
        self.timeout = (self.timeout * 2).min(LONGEST_SLEEP);
    }
}

impl PollLoop {
    /// Frames were there. However many follow, the node updates its heartbeat.
    pub(super) fn news(&mut self) {
        self.last_news = self.context.now();
        self.quiet_naps = 0;
        self.beat_at(self.last_news);
    }

    /// Nothing was there: polls on, or sleeps.
    pub(super) fn wait(&mut self, component: &impl Component) {
        match self.mode {
            Mode::Fast => self.spin(),
            Mode::Parked => self.park(component),
            Mode::Adaptive { spin } => {
                if self.context.now().saturating_sub(self.last_news) < spin.as_nanos() as u64 {
                    self.spin();
                } else {
                    self.park(component);
                }
            }
            Mode::Napping { within } if self.quiet_naps < QUIET_NAPS => self.nap(component, within),
            Mode::Napping { .. } => self.park(component),
        }
    }

    /// Sleeps by the clock. Its word says that it is awake, so no writer makes a system call for it.
    fn nap(&mut self, component: &impl Component, within: Duration) {
        let now = self.context.now();
        self.beat_at(now);
        self.look_for_folder(now);
        let due = self.context.deadline.map(|deadline| Duration::from_nanos(deadline.saturating_sub(now)));
        if due.is_some_and(|due| due.is_zero()) {
            return;
        }
        self.quiet_naps += 1;
        self.context.add(Counter::Naps, 1);
        let nap = within.saturating_sub(TIMER_SLACK).max(TIMER_SLACK);
        component.falls_asleep();
        std::thread::sleep(due.map_or(nap, |due| due.min(nap)));
        component.wakes_up();
    }

    #[inline]
    fn spin(&mut self) {
        std::hint::spin_loop();
        self.idle_rounds = self.idle_rounds.wrapping_add(1);
        if self.idle_rounds.is_multiple_of(IDLE_ROUNDS) {
            self.beat();
        }
    }

    fn park(&mut self, component: &impl Component) {
        let now = self.context.now();
        self.beat_at(now);
        self.look_for_folder(now);
        let Some(parker) = &self.parker else { return };
        let net = self.net.timeout(parker.is_relayed());
        let (mut timeout, mut is_safety) = match self.context.deadline {
            Some(deadline) if deadline <= now => return,
            Some(deadline) if deadline - now < net.as_nanos() as u64 => {
                (Duration::from_nanos(deadline - now), false)
            }
            _ => (net, true),
        };
        // In a doze, the journal whose writer does not wake the node.
        let mut left_alone = None;
        let mut is_whole_doze = false;
        if let Some(patience) = &mut self.patience
            && let Some(longest) = patience.doze(&self.inputs, component.questions())
        {
            left_alone = Some(patience.journal);
            is_whole_doze = longest <= timeout;
            (timeout, is_safety) = (timeout.min(longest), is_safety && !is_whole_doze);
        }
        let (inputs, accepting, handle) = (&*self.inputs, &self.accepting, &self.context.handle);
        let due = &mut self.due;
        // Not only the inputs that rang: a sleep costs more than a look at every input.
        let has_news = || {
            let news = |(index, input): (usize, &Input)| accepting[index] && input.reader.has_news();
            let found = inputs.iter().enumerate().position(|(index, input)| news((index, input)));
            found.inspect(|&index| due.look_at(index)).is_some()
                || component.is_wanted()
                || handle.is_stopping()
        };
        component.falls_asleep();
        let slept = match left_alone {
            Some(journal) => parker.doze(timeout, journal, has_news),
            None => parker.park(timeout, has_news),
        };
        component.wakes_up();
        let Some(wakeup) = slept else {
            self.net.tighten();
            return;
        };
        self.context.add(if left_alone.is_some() { Counter::Naps } else { Counter::Parks }, 1);
        match wakeup {
            Wakeup::Woken => {
                self.context.add(Counter::Wakes, 1);
                // The time before the sleep: a node that was woken has a message to pass on, and no time for another
                // clock reading.
                self.net.woken(now);
            }
            Wakeup::TimedOut => {
                if is_whole_doze && let Some(patience) = &mut self.patience {
                    patience.expired();
                    self.due.look_at(patience.input);
                }
                self.look_by_itself(is_safety, left_alone.is_some());
            }
        }
    }

    /// After a sleep that ended by time-out. In a doze one input's messages may wait.
    fn look_by_itself(&mut self, is_safety: bool, in_doze: bool) {
        let now = self.context.now();
        let is_due = self.net.timed_out(now, is_safety);
        if is_due {
            self.leave_silent_relay(now);
        }
        // Frames of other topics, and of inputs that are not accepted now, count as events too.
        let has_news = self.inputs.iter().any(|input| input.reader.has_news());
        if has_news {
            self.net.tighten();
            self.count_missed(now, in_doze);
        }
        if is_safety {
            self.context.add(Counter::WaitTimeouts, 1);
            if !has_news {
                self.net.loosen();
            }
        }
    }

    fn leave_silent_relay(&self, now: u64) {
        if self.parker.as_ref().is_some_and(|parker| parker.leave_silent_relay(now, RELAY_PATIENCE)) {
            log::warn!("the relay shows no sign of life: writers wake this node from now on");
        }
    }

    /// A time-out, including that of a timer, must not find a frame that is older than a moment.
    fn count_missed(&mut self, now: u64, in_doze: bool) {
        let mut missed = false;
        self.due.everything();
        let may_wait = self.patience.as_ref().filter(|_| in_doze).map(|patience| patience.input);
        for (index, (input, accepts)) in self.inputs.iter_mut().zip(&self.accepting).enumerate() {
            if *accepts
                && may_wait != Some(index)
                && let Ok(Some(time)) = input.reader.peek_time()
            {
                missed |= now.saturating_sub(time) > MISSED;
            }
        }
        if missed {
            self.context.add(Counter::WaitTimeoutsWithData, 1);
        }
    }

    pub(super) fn beat(&mut self) {
        let now = self.context.now();
        self.beat_at(now);
        self.look_for_folder(now);
    }

    fn beat_at(&mut self, now: u64) {
        if now.saturating_sub(self.last_heartbeat) >= HEARTBEAT {
            self.last_heartbeat = now;
            self.context.handle.beat(now);
            // A writer that is killed between a commit and the bell leaves a frame that nothing reports.
            self.due.everything();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_net_widens_to_its_limit_while_nothing_happens() {
        let mut net = SafetyNet::new();
        let mut timeouts = Vec::new();
        for _ in 0..4 {
            timeouts.push(net.timeout(false).as_millis());
            assert_eq!(net.timeout(true), SAFETY_TIMEOUT, "a silent relay is noticed as soon as ever");
            net.loosen();
        }
        assert_eq!(timeouts, [100, 200, 400, 400]);
        net.tighten();
        assert_eq!(net.timeout(false), SAFETY_TIMEOUT);
    }

    #[test]
    fn timers_that_end_every_sleep_do_not_keep_the_net_away() {
        const TIMER: u64 = 30_000_000;
        let mut net = SafetyNet::new();
        net.woken(1_000);
        let looks = (1..=40).filter(|turn| net.timed_out(1_000 + turn * TIMER, false));
        assert_eq!(looks.collect::<Vec<_>>(), [4, 8, 12, 16, 20, 24, 28, 32, 36, 40]);
        assert!(net.timed_out(1_000 + 41 * TIMER, true), "the net's own time-out always looks");
        assert!(!net.timed_out(1_000 + 44 * TIMER, false), "and counts as a look");
    }
}
