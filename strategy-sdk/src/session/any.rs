//! A session of any strategy.

use node::{Frame, Gap};
use serde_json::Value;
use wire::Nanos;

use super::{Needs, Role, Session};
use crate::strategy::Strategy;

/// A session whose strategy's type is not known. Each call returns what the session needs afterwards.
pub(crate) trait AnySession {
    /// See [`Session::frame`].
    fn frame(&mut self, role: Role, journal: u32, frame: &Frame<'_>, received: Nanos) -> Needs;
    /// See [`Session::gap`].
    fn gap(&mut self, role: Role, gap: Gap) -> Needs;
    /// See [`Session::turn`].
    fn turn(&mut self) -> Needs;
    /// See [`Session::complete_list`].
    fn complete_list(&mut self) -> Needs;
    /// See [`Session::set`].
    fn set(&mut self, parameters: Value) -> Result<Needs, String>;
    /// See [`Session::stop`].
    fn stop(&mut self, keeps_orders: bool);
    /// See [`Session::take_topics`].
    fn take_topics(&mut self) -> Option<Option<Vec<u32>>>;
}

impl<S: Strategy> AnySession for Session<S> {
    #[inline]
    fn frame(&mut self, role: Role, journal: u32, frame: &Frame<'_>, received: Nanos) -> Needs {
        Session::frame(self, role, journal, frame, received);
        self.needs()
    }

    fn gap(&mut self, role: Role, gap: Gap) -> Needs {
        Session::gap(self, role, gap);
        self.needs()
    }

    fn turn(&mut self) -> Needs {
        Session::turn(self);
        self.needs()
    }

    fn complete_list(&mut self) -> Needs {
        Session::complete_list(self);
        self.needs()
    }

    fn set(&mut self, parameters: Value) -> Result<Needs, String> {
        Session::set(self, parameters)?;
        Ok(self.needs())
    }

    fn stop(&mut self, keeps_orders: bool) {
        Session::stop(self, keeps_orders);
    }

    fn take_topics(&mut self) -> Option<Option<Vec<u32>>> {
        Session::take_topics(self)
    }
}
