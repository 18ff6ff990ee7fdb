//! The process: records what the platform file names, cut after cut.

mod cursors;
mod setup;

use std::time::Duration;

use journal::ReadError;
use node::{
    Component, Context, Counter, Frame, InputId, Node, OwnLock, RunError, Runner, Service, Stepwise, ToItsEnd,
};
use topology::NodeKind;
use topology::config::RecorderConfig;

use self::cursors::Cursors;
use crate::gather::{GatherError, Gatherer};
use crate::write::Recorder;

/// After the disk refused to write, it is tried again this much later.
const RETRY: Duration = Duration::from_millis(100);

/// While the disk refuses to write and nobody is to wait for it, journals are passed over this often.
const PASS_OVER: Duration = Duration::from_millis(2);

/// After so long without news a cut without frames is written: it says when the one before it was on disk.
const SAY_AFTER: Duration = Duration::from_millis(100);

/// Where there are several recorders, it is repeated after this time without news: a recovery goes back to the earliest end
/// of their recordings.
const IDLE: Duration = Duration::from_secs(1);

/// The recorder.
pub const SERVICE: Service = Service {
    kind: NodeKind::Recorder,
    about: "Write journals to disk",
    flags: &[],
    run: |node, _| run(node, ToItsEnd),
    steps: Some(|node| run(node, Stepwise)),
};

/// Runs the recorder as this node until it is asked to stop.
fn run<R: Runner>(mut node: Node, runner: R) -> Result<R::Outcome, RunError> {
    let config: RecorderConfig = node.section()?;
    let mut recording = setup::open(&mut node, &config)?;
    log::info!(
        "records {} journals in {}",
        recording.gatherer.inputs().len(),
        recording.recorder.folder().display()
    );
    runner.run(node, recording)
}

/// A recording of an instance.
struct Recording {
    gatherer: Gatherer,
    recorder: Recorder,
    cursors: Cursors,
    roll: u64,
    /// When the segment was begun.
    begun: u64,
    /// Since when the disk refuses to write, and when it is tried again.
    refused: Option<(u64, u64)>,
    /// By input: whether its writer must not wait for a disk that refuses to write. Empty: they all wait.
    may_pass: Vec<bool>,
    /// There are other recorders.
    is_one_of_several: bool,
    /// When a cut without frames was last tried.
    idle: u64,
    /// Held as long as we live: no other instance of this name records in the same folder.
    _lock: OwnLock,
}

impl Component for Recording {
    fn turn(&mut self, context: &mut Context) -> Result<(), RunError> {
        if let Some((_, again)) = self.refused
            && context.now() < again
        {
            self.pass_over(context)?;
            context.wake_at(again.min(self.next_look(context.now())));
            return Ok(());
        }
        if self.cut(context)? {
            context.worked();
        } else if self.refused.is_none() {
            self.look_idle(context);
        }
        Ok(())
    }

    fn is_wanted(&self) -> bool {
        self.refused.is_none() && self.gatherer.has_news()
    }

    fn frame(&mut self, _: &mut Context, _: InputId, _: &Frame<'_>) -> Result<(), RunError> {
        Ok(())
    }

    /// The others have stopped: what they wrote last is recorded.
    fn stop(&mut self, context: &mut Context) -> Result<(), RunError> {
        while self.cut(context)? {}
        match self.refused {
            None => {
                let time = context.now();
                if !self.gatherer.has_news() {
                    self.recorder.write_idle(time);
                }
                Ok(())
            }
            // Nobody is left to wait for us: the cursors show what is not on disk.
            Some(_) => {
                self.gatherer.owe();
                let lacks = self.gatherer.unrecorded().into_iter();
                let lacks: Vec<String> = lacks
                    .map(|(index, from)| format!("{} from {from} on", self.cursors.journal(index)))
                    .collect();
                Err(RunError::failed(format!(
                    "the disk takes nothing more: the end of the run is not recorded: {}",
                    lacks.join(", ")
                )))
            }
        }
    }
}

impl Recording {
    /// Nothing is new: writes that, when it is time.
    fn look_idle(&mut self, context: &mut Context) {
        let (since, wait) = match (self.recorder.unsaid_since(), self.is_one_of_several) {
            (Some(since), _) => (since, SAY_AFTER),
            (None, true) => (self.recorder.whole_until(), IDLE),
            (None, false) => return,
        };
        let due = since.max(self.idle) + wait.as_nanos() as u64;
        let now = context.now();
        if now < due {
            context.wake_at(due);
        } else if !self.gatherer.has_news() {
            // Looked after the time was taken, as in any cut.
            self.idle = now;
            self.recorder.write_idle(now);
        }
    }

    /// When a disk that refuses to write is looked after next.
    fn next_look(&self, now: u64) -> u64 {
        let pause = if self.may_pass.is_empty() { RETRY } else { PASS_OVER };
        now + pause.as_nanos() as u64
    }

    /// The disk refuses to write: what need not be there is passed over, so that its writers go on.
    fn pass_over(&mut self, context: &Context) -> Result<(), RunError> {
        if !self.may_pass.is_empty() {
            let bytes = self.gatherer.pass_over(context.now(), &self.may_pass).map_err(damaged)?;
            context.add(Counter::BytesLost, bytes);
            if bytes > 0 {
                self.cursors.demand();
            }
        }
        Ok(())
    }

    /// Records what is new. True if there was anything.
    fn cut(&mut self, context: &mut Context) -> Result<bool, RunError> {
        if !self.gatherer.has_news() {
            return Ok(false);
        }
        // Before the time of the cut: what a reader has passed has caused all that it ever will.
        self.cursors.look(context.now());
        let time = context.now();
        let cursors = &self.cursors;
        let done = self.gatherer.cut(&mut self.recorder, time, |batch, counts| cursors.append(batch, counts));
        match done {
            Ok(done) => {
                if let Some((since, _)) = self.refused.take() {
                    let took = Duration::from_nanos(time.saturating_sub(since));
                    log::warn!("the disk takes data again, after {}", humantime::format_duration(took));
                    context.handle().set(Counter::DiskRefusesSince, 0);
                }
                if done.frames > 0 || done.lost > 0 {
                    self.cursors.are_written();
                }
                context.add(Counter::FramesRead, done.frames);
                context.add(Counter::BytesRecorded, done.bytes);
                context.handle().set(Counter::Syncs, self.recorder.syncs());
                if done.lost > 0 {
                    context.add(Counter::Gaps, 1);
                    context.add(Counter::BytesLost, done.lost);
                }
                self.roll(time)?;
                Ok(done.frames > 0)
            }
            Err(GatherError::Read(source)) => Err(damaged(source)),
            Err(GatherError::Write(error)) => {
                if self.refused.is_none() {
                    let what = if error.is_full() { "it is full" } else { "it does not write" };
                    let who = match self.may_pass.is_empty() {
                        true => "the recorded journals fill up, and their writers wait",
                        false => "what is not \"sync\" goes on, and is missing in the recording",
                    };
                    let retry = humantime::format_duration(RETRY);
                    log::error!("{error}: {what}; {who}; tried again every {retry}");
                    context.handle().set(Counter::DiskRefusesSince, time);
                }
                let since = self.refused.map_or(time, |(since, _)| since);
                let again = context.now() + RETRY.as_nanos() as u64;
                self.refused = Some((since, again));
                self.pass_over(context)?;
                context.wake_at(again.min(self.next_look(context.now())));
                Ok(false)
            }
        }
    }

    /// Begins a new segment when this one is old.
    fn roll(&mut self, now: u64) -> Result<(), RunError> {
        if self.roll > 0 && now.saturating_sub(self.begun) >= self.roll {
            self.begun = now;
            if let Err(error) = self.recorder.begin_segment(now) {
                log::warn!("no new segment was begun: {error}");
            }
        }
        Ok(())
    }
}

fn damaged(source: ReadError) -> RunError {
    RunError::failed(format!("a recorded journal is damaged: {source}"))
}
