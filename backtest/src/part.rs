//! One node of the platform, as its turns go.

use std::panic::{AssertUnwindSafe, catch_unwind};

use node::{Exit, Node, RunError, Steps};
use topology::{NodeKind, NodeSpec};

/// Sets up the program of a node: its error, and the exit code of that.
pub type Maker<'a> = dyn Fn(&NodeSpec, Node) -> Result<Box<dyn Steps>, (String, Exit)> + 'a;

pub(crate) struct Part {
    pub(crate) seat: u16,
    pub(crate) kind: NodeKind,
    name: String,
    steps: Box<dyn Steps>,
    pub(crate) stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Runs,
    Drains,
    Ended,
}

impl Part {
    pub(crate) fn new(spec: &NodeSpec, steps: Box<dyn Steps>) -> Part {
        Part { seat: spec.seat, kind: spec.kind, name: spec.name.clone(), steps, stage: Stage::Runs }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.stage == Stage::Ended
    }

    pub(crate) fn start(&mut self) -> Result<(), RunError> {
        guarded(|| self.steps.start())
    }

    /// Whether anything was done.
    #[inline]
    pub(crate) fn step(&mut self) -> Result<bool, RunError> {
        match self.stage {
            Stage::Runs => {
                let worked = guarded(|| self.steps.step())?;
                if self.steps.wants_to_stop() {
                    self.begin_stop();
                    return Ok(true);
                }
                Ok(worked)
            }
            Stage::Drains => {
                if !guarded(|| self.steps.drain())? {
                    return Ok(false);
                }
                let outcome = guarded(|| self.steps.stop());
                self.steps.ended(&outcome);
                self.stage = Stage::Ended;
                outcome.map(|()| true)
            }
            Stage::Ended => Ok(false),
        }
    }

    /// Whether somebody has written to it.
    #[inline]
    pub(crate) fn has_news(&self) -> bool {
        match self.stage {
            Stage::Runs => self.steps.has_news(),
            Stage::Drains => true,
            Stage::Ended => false,
        }
    }

    pub(crate) fn holds_back(&self) -> bool {
        match self.stage {
            Stage::Runs => self.steps.holds_back(),
            Stage::Drains => true,
            Stage::Ended => false,
        }
    }

    /// When it wants another turn, in nanoseconds of the platform's clock.
    pub(crate) fn deadline(&self) -> Option<u64> {
        self.steps.deadline()
    }

    pub(crate) fn begin_stop(&mut self) {
        if self.stage == Stage::Runs {
            self.steps.begin_stop();
            self.stage = Stage::Drains;
        }
    }

    /// It has failed: its seat says so.
    pub(crate) fn fail(&mut self, error: RunError) {
        self.steps.ended(&Err(error));
        self.stage = Stage::Ended;
    }

    /// Lets go of its journals, as the end of a process does.
    pub(crate) fn vanish(&mut self) {
        let steps = std::mem::replace(&mut self.steps, Box::new(Gone));
        if catch_unwind(AssertUnwindSafe(|| drop(steps))).is_err() {
            log::error!("node `{}` panicked as it was dropped", self.name);
        }
    }
}

/// In the place of a node that has ended. Nobody turns it.
struct Gone;

impl Steps for Gone {
    fn name(&self) -> &str {
        ""
    }

    fn start(&mut self) -> Result<(), RunError> {
        Ok(())
    }

    fn step(&mut self) -> Result<bool, RunError> {
        Ok(false)
    }

    fn has_news(&self) -> bool {
        false
    }

    fn deadline(&self) -> Option<u64> {
        None
    }

    fn holds_back(&self) -> bool {
        false
    }

    fn wants_to_stop(&self) -> bool {
        false
    }

    fn begin_stop(&mut self) {}

    fn drain(&mut self) -> Result<bool, RunError> {
        Ok(true)
    }

    fn stop(&mut self) -> Result<(), RunError> {
        Ok(())
    }

    fn ended(&self, _: &Result<(), RunError>) {}
}

/// A panic is the end of its node, not of the others.
fn guarded<T>(call: impl FnOnce() -> Result<T, RunError>) -> Result<T, RunError> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic| {
        let words = panic.downcast_ref::<&str>().map(|words| (*words).to_owned());
        let words = words.or_else(|| panic.downcast_ref::<String>().cloned());
        Err(RunError::failed(format!("panicked: {}", words.unwrap_or_default())))
    })
}
