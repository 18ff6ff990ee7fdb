//! Stub.
use node::{Frame, Gap};
use wire::{Execution, NodeEvent};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Channel { Quotes, Trades }

#[derive(Clone, Debug, Default)]
pub(crate) struct Pushers;

#[derive(Debug, Default)]
pub(crate) struct Hub;

impl Hub {
    pub(crate) fn market<V: serde::Serialize>(&mut self, _c: Channel, _k: u32, _f: &Frame<'_>, _v: impl FnOnce() -> V) {}
    pub(crate) fn order(&mut self, _a: u32, _f: &Frame<'_>, _e: &Execution, _v: &crate::view::OrderView) {}
    pub(crate) fn platform(&mut self, _f: &Frame<'_>, _e: &NodeEvent, _n: &str) {}
    pub(crate) fn lost_orders(&mut self, _g: Gap) {}
    pub(crate) fn lost_market(&mut self, _g: Gap) {}
    pub(crate) fn flush(&mut self) {}
    pub(crate) fn close(&mut self) {}
}

impl Pushers { pub(crate) fn join(self) {} }
pub(crate) fn start(_c: &topology::config::GatewayConfig, _h: &node::NodeHandle, _g: &std::sync::Arc<crate::http::auth::Guard>) -> Result<(Hub, Pushers), String> { Ok((Hub, Pushers)) }
