//! An order's way through the platform: each hop that the journals still hold.

use node::InstanceDir;
use observe::{Hop, InstanceView, NotFound, OrderSearch, Trace};
use serde::Serialize;
use topology::Stream;
use utoipa::ToSchema;
use wire::OrderId;

/// One hop.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct HopView {
    /// `due`, `published`, `received`, `ordered`, `taken`, `routed`, `executed`, `reported`, or `other`.
    hop: &'static str,
    /// `frame`; `noted`: another frame names its time; `overwritten`; `missing`: under way, or a process died over it.
    #[schema(value_type = String)]
    evidence: observe::Evidence,
    /// The node that made it.
    node: Option<String>,
    /// The journal of its frame.
    journal: Option<String>,
    /// Where it lies there.
    position: Option<u64>,
    /// When, in nanoseconds since the epoch.
    time_ns: Option<u64>,
    /// Since the cause was published, or since the first hop whose time is known.
    since_start_ns: Option<i64>,
    /// What it says, in one word.
    message: Option<&'static str>,
}

/// An order's way.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TraceView {
    /// The order.
    order_id: String,
    /// Who sent it.
    strategy: Option<String>,
    /// Its last known status; `unknown` where nothing says it.
    status: &'static str,
    /// Its quantity.
    quantity: Option<i64>,
    /// How much of it is traded.
    filled: Option<i64>,
    /// In order of time, also those whose frames are gone.
    hops: Vec<HopView>,
}

/// Why there is none.
pub(crate) enum Untraced {
    NotFound(NotFound),
    Failed(String),
}

/// Looks through all journals: for a thread that serves nobody else.
pub(crate) fn trace(instance: &InstanceDir, order: OrderId) -> Result<TraceView, Untraced> {
    let failed = |error: &dyn std::fmt::Display| Untraced::Failed(error.to_string());
    let view = InstanceView::open(instance.clone()).map_err(|error| failed(&error))?;
    let search = OrderSearch::of(&view, order).map_err(|error| failed(&error))?;
    search.trace().map(TraceView::of).map_err(Untraced::NotFound)
}

/// The drop copy and images of books say again what other journals have said.
fn is_copy(hop: &Hop) -> bool {
    let stream = hop.journal.as_deref().and_then(Stream::of);
    matches!(stream, Some(Stream::Drops | Stream::Books | Stream::State | Stream::Desk))
}

impl TraceView {
    fn of(trace: Trace) -> TraceView {
        let hops = trace.hops.iter().filter(|hop| !is_copy(hop)).map(|hop| HopView {
            hop: hop.hop.as_str(),
            evidence: hop.evidence,
            node: hop.node.clone(),
            journal: hop.journal.clone(),
            position: hop.position,
            time_ns: hop.time_ns,
            since_start_ns: hop.since_start_ns,
            message: hop.message.as_ref().map(wire::AnyMessage::name),
        });
        TraceView {
            order_id: trace.order.to_string(),
            strategy: trace.strategy.clone(),
            status: trace.status,
            quantity: trace.quantity,
            filled: trace.filled,
            hops: hops.collect(),
        }
    }
}
