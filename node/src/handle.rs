//! What a node's threads may use: clock, counters, state, and other seats.

use std::os::unix::net::UnixStream;
use std::sync::Arc;

use journal::wait::Relay;
use journal::{Clock, Registry};

use crate::error::RunError;
use crate::exit::Exit;
use crate::front::Front;
use crate::instance::InstanceDir;
use crate::protocol::{self, ProtocolError, Reply, Request};
use crate::state::{Counter, NodeState, Phase};
use crate::stop::StopFlag;

/// The part of a node that any thread may use.
#[derive(Clone, Debug)]
pub struct NodeHandle {
    pub(crate) registry: Arc<Registry>,
    pub(crate) seat: u32,
    pub(crate) clock: Clock,
    pub(crate) stop: StopFlag,
    pub(crate) instance: InstanceDir,
    /// Who gives seats, where that is not master behind its socket.
    pub(crate) front: Option<Arc<dyn Front>>,
}

impl NodeHandle {
    /// The platform's time in nanoseconds since the epoch.
    #[inline]
    pub fn now(&self) -> u64 {
        self.clock.now()
    }

    /// The platform's clock.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// Adds to one of the node's counters. One thread per counter.
    #[inline]
    pub fn add(&self, counter: Counter, amount: u64) {
        if let Some(seat) = self.registry.occupy(self.seat) {
            seat.add(counter as usize, amount);
        }
    }

    /// Sets one of the node's counters. One thread per counter.
    #[inline]
    pub fn set(&self, counter: Counter, value: u64) {
        if let Some(seat) = self.registry.occupy(self.seat) {
            seat.set_counter(counter as usize, value);
        }
    }

    /// Counts abandoned messages to the node in `seat`, for this node and for that seat.
    pub fn gave_up(&self, seat: u32, messages: u64) {
        self.add(Counter::Undelivered, messages);
        if let Some(seat) = self.registry.occupy(seat) {
            seat.set_undelivered(seat.undelivered().wrapping_add(messages));
        }
    }

    /// Records how many messages to the node in `seat` exist only in this process's memory, for a successor.
    pub fn set_at_risk(&self, seat: u32, messages: u64) {
        if let Some(seat) = self.registry.occupy(seat) {
            seat.set_at_risk(messages);
        }
    }

    /// The number that a predecessor last recorded there.
    pub fn at_risk(&self, seat: u32) -> u64 {
        self.registry.seat(seat).map_or(0, |seat| seat.at_risk())
    }

    /// Name of the node in `seat`.
    pub fn name_of(&self, seat: u32) -> String {
        self.registry.name(seat)
    }

    /// Value of one of the node's counters.
    pub fn counter(&self, counter: Counter) -> u64 {
        self.registry.seat(self.seat).map_or(0, |seat| seat.counter(counter as usize))
    }

    /// Sets the node's state.
    pub fn set_state(&self, state: NodeState) {
        if let Some(seat) = self.registry.occupy(self.seat) {
            seat.set_state(state.to_word());
        }
    }

    /// The phase of the platform.
    pub fn phase(&self) -> Phase {
        Phase::from_word(self.registry.phase()).unwrap_or(Phase::Starting)
    }

    /// True once the process was asked to stop.
    pub fn is_stopping(&self) -> bool {
        self.stop.is_set()
    }

    /// Gives the seats of a relay in this node's seat back to the writers.
    pub(crate) fn give_back(&self) -> usize {
        Relay::give_back(&self.registry, self.seat)
    }

    /// Updates the heartbeat and the CPU that the caller runs on.
    pub fn beat(&self, now: u64) {
        if let Some(seat) = self.registry.occupy(self.seat) {
            seat.set_heartbeat(now);
            if let Ok(cpu) = nix::sched::sched_getcpu() {
                seat.set_cpu(cpu as u64);
            }
        }
    }

    /// Wakes the node's own poll loop if it sleeps.
    pub fn wake(&self) {
        journal::wait::wake(&self.registry, self.seat);
    }

    /// A handle for another seat of this instance, for a process with several seats.
    pub fn of_seat(&self, seat: u32) -> NodeHandle {
        NodeHandle { seat, ..self.clone() }
    }

    /// State of the node in this seat.
    pub fn state(&self) -> NodeState {
        let seat = self.registry.seat(self.seat);
        seat.and_then(|seat| NodeState::from_word(seat.state())).unwrap_or(NodeState::Empty)
    }

    /// Says in the seat what became of the node. An error is no way to leave: whoever looks must not take it for the end of
    /// the node's work.
    pub(crate) fn ended(&self, outcome: &Result<(), RunError>) {
        let exit = outcome.as_ref().map_or_else(RunError::exit, |()| Exit::Done);
        if let Some(seat) = self.registry.occupy(self.seat) {
            seat.set_exit(exit.to_word(outcome.as_ref().is_err_and(RunError::gives_up)));
        }
        self.set_state(if outcome.is_ok() { NodeState::Stopped } else { NodeState::Dead });
    }

    /// Leaves the seat while the process goes on with others, and tells master, who need not answer.
    pub fn leave(&self, state: NodeState, exit: Exit) {
        if let Some(seat) = self.registry.occupy(self.seat) {
            seat.set_exit(u64::from(exit.code()) + 1);
            seat.set_state(state.to_word());
        }
        if self.is_stopping() {
            // Master waits for the process as a whole.
            return;
        }
        if let Some(front) = &self.front {
            return front.left(self.seat);
        }
        let (socket, node) = (self.instance.socket(), self.registry.name(self.seat));
        let tell = move || {
            let told = UnixStream::connect(socket).map_err(ProtocolError::from).and_then(|stream| {
                protocol::send(&stream, &Request::Left { node })?;
                protocol::receive::<Reply>(&stream, None)
            });
            if let Err(error) = told {
                // Master looks at the seats by itself, a little later.
                log::debug!("master was not told: {error}");
            }
        };
        // Other strategies in this process do not wait for that.
        let _ = std::thread::Builder::new().name("leave".to_owned()).spawn(tell);
    }
}
