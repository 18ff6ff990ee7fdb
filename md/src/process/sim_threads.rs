//! Simulated instruments, each on a thread of its own, like a feed handler per instrument.
//!
//! The threads sleep until their quote is due, or the node stops, whatever the node's wait mode; they share one
//! journal.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use node::{Component, Context, Frame, InputId, NodeHandle, NodeState, Phase, RunError, WriteError};
use topology::config::MdConfig;
use wire::Nanos;

use super::publisher::Publisher;
use super::recall::{Published, Sent};
use super::sim_timed::{generator, schedule, start};
use crate::sim::{Schedule, SimEvent, SimInstrument, instruments};
use crate::source::Counts;

/// Pause before a full journal is tried again.
const RETRY: Duration = Duration::from_micros(20);

/// One thread per instrument.
pub(super) struct SimThreads {
    config: MdConfig,
    publisher: Arc<Mutex<Publisher>>,
    published: Published,
    threads: Vec<JoinHandle<Result<(), WriteError>>>,
    /// Every running thread holds one.
    at_work: Arc<()>,
    ended: bool,
}

impl SimThreads {
    pub(super) fn new(config: &MdConfig, publisher: Publisher, published: Published) -> SimThreads {
        SimThreads {
            config: config.clone(),
            publisher: Arc::new(Mutex::new(publisher)),
            published,
            threads: Vec::new(),
            at_work: Arc::new(()),
            ended: false,
        }
    }

    fn begin(&mut self, now: u64) -> Result<(), RunError> {
        let mut schedule = schedule(&self.config, now);
        schedule.start = start(&schedule, now, &self.published);
        for index in 0..self.config.instruments {
            let (publisher, at_work) = (Arc::clone(&self.publisher), Arc::clone(&self.at_work));
            let handle = lock(&self.publisher).handle().clone();
            let generator = generator(&self.config, index, &self.published);
            let sent = self.published.of(u64::from(index));
            let name = generator.instrument().symbol.to_string();
            let thread = std::thread::Builder::new()
                .name(name)
                .stack_size(256 << 10)
                .spawn(move || {
                    let outcome = generate(generator, u64::from(index), sent, schedule, &publisher);
                    drop(at_work);
                    // The node's own loop sleeps: if this was the last thread, the loop has to end the run.
                    handle.wake();
                    outcome
                })
                .map_err(|error| RunError::failed(format!("cannot start a thread an instrument: {error}")))?;
            self.threads.push(thread);
        }
        Ok(())
    }

    /// Ends the run when all threads have ended.
    fn end(&mut self, context: &mut Context) -> Result<(), RunError> {
        for thread in self.threads.drain(..) {
            match thread.join() {
                Ok(Ok(())) => {}
                Ok(Err(source)) => return Err(lock(&self.publisher).failed(source)),
                Err(_) => return Err(RunError::failed("a generator thread panicked")),
            }
        }
        self.ended = lock(&self.publisher).end(&Counts::default()).is_ok();
        if self.ended {
            context.handle().set_state(NodeState::Finished);
        }
        Ok(())
    }
}

/// A thread that panicked while it held the lock left only whole messages: the journal is valid.
fn lock(publisher: &Mutex<Publisher>) -> MutexGuard<'_, Publisher> {
    publisher.lock().unwrap_or_else(PoisonError::into_inner)
}

fn generate(
    mut generator: SimInstrument,
    index: u64,
    sent: Sent,
    schedule: Schedule,
    publisher: &Mutex<Publisher>,
) -> Result<(), WriteError> {
    let handle = lock(publisher).handle().clone();
    for number in sent.quote.. {
        let Some(due) = schedule.due(index, number) else { break };
        if !sleep_until(due.0, &handle) {
            break;
        }
        let mut event = generator.next(Nanos(due.0));
        if number < sent.trade {
            event.trade = None;
        }
        if !publish(event, publisher, &handle)? {
            break;
        }
    }
    Ok(())
}

/// False when the node is asked to stop meanwhile; the thread that notices the stop must call `unpark`.
fn sleep_until(due: u64, handle: &NodeHandle) -> bool {
    loop {
        if handle.is_stopping() {
            return false;
        }
        let left = due.saturating_sub(handle.now());
        if left == 0 {
            return true;
        }
        std::thread::park_timeout(Duration::from_nanos(left));
    }
}

/// Writes one event; waits while a gated reader is behind. False when asked to stop meanwhile.
fn publish(
    mut event: SimEvent,
    publisher: &Mutex<Publisher>,
    handle: &NodeHandle,
) -> Result<bool, WriteError> {
    loop {
        let mut journals = lock(publisher);
        let written = match event.trade {
            Some(trade) => journals.trade(&trade).inspect(|()| event.trade = None),
            None => Ok(()),
        }
        .and_then(|()| journals.quote(&event.quote));
        drop(journals);
        match written {
            Ok(()) => return Ok(true),
            Err(WriteError::Full { .. }) if handle.is_stopping() => return Ok(false),
            Err(WriteError::Full { .. }) => std::thread::sleep(RETRY),
            Err(error) => return Err(error),
        }
    }
}

impl Component for SimThreads {
    fn start(&mut self, _context: &mut Context) -> Result<(), RunError> {
        lock(&self.publisher).list(&instruments(self.config.instruments))
    }

    fn turn(&mut self, context: &mut Context) -> Result<(), RunError> {
        if self.ended {
            return Ok(());
        }
        if context.handle().phase() == Phase::Starting {
            context.wake_at(context.now() + 1_000_000);
            return Ok(());
        }
        if self.threads.is_empty() {
            self.begin(context.now())?;
        }
        // A thread that panicked is noticed at the next time-out.
        if Arc::strong_count(&self.at_work) == 1 { self.end(context) } else { Ok(()) }
    }

    fn frame(&mut self, _context: &mut Context, _input: InputId, _frame: &Frame<'_>) -> Result<(), RunError> {
        Ok(())
    }

    fn stop(&mut self, _context: &mut Context) -> Result<(), RunError> {
        // They sleep until their next quotes, which may be due in an hour.
        self.threads.iter().for_each(|thread| thread.thread().unpark());
        for thread in self.threads.drain(..) {
            // Its own failure was the reason to stop, or no longer matters.
            let _ = thread.join();
        }
        Ok(())
    }
}
