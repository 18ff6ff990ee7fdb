//! Looking at an instance again and again.

use crate::rates::Rates;
use crate::samples::Samples;
use crate::state::State;
use crate::view::{InstanceView, ViewError};

/// An instance between two looks.
#[derive(Debug)]
pub struct Watch {
    view: InstanceView,
    samples: Samples,
    before: State,
}

impl Watch {
    /// Takes the first look.
    ///
    /// # Errors
    /// As [`State::read`].
    pub fn new(view: InstanceView) -> Result<Watch, ViewError> {
        Ok(Watch { samples: Samples::from_now_on(&view), before: State::read(&view)?, view })
    }

    /// The instance.
    pub fn view(&self) -> &InstanceView {
        &self.view
    }

    /// Looks again; answers what has happened since the last look.
    ///
    /// # Errors
    /// As [`State::read`].
    pub fn look(&mut self) -> Result<Rates, ViewError> {
        let now = State::read(&self.view)?;
        let rates = Rates::between(&self.before, &now, &self.samples.take());
        self.before = now;
        Ok(rates)
    }
}
