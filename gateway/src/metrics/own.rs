//! The gateway's metrics of itself.

use prometheus_client::registry::Unit;

use super::families::Family;
use crate::diff::{ANSWERS, KEPT};
use crate::http::Shared;

pub(super) fn families(shared: &Shared) -> Vec<Family> {
    let meter = &shared.meter;
    let help = "Requests, by class of route and of answer";
    let mut requests = Family::counter("colo_gateway_requests", help, None);
    for (route, status, count) in meter.requests() {
        requests.add(vec![("route", route.to_owned()), ("status", status.to_owned())], count as f64);
    }
    let help = "Requests that were answered with a problem, by its kind";
    let mut problems = Family::counter("colo_gateway_problems", help, None);
    for (problem, count) in meter.problems() {
        problems.add(vec![("problem", problem.to_owned())], count as f64);
    }
    let help = "Requests about orders that td or the market has refused, by reason";
    let mut refusals = Family::counter("colo_gateway_order_refusals", help, None);
    for (reason, count) in meter.refusals() {
        refusals.add(vec![("reason", reason.to_owned())], count as f64);
    }
    let (accepted, refused) = meter.connections();
    let most = u64::from(shared.config.connections);
    let open = most.saturating_sub(shared.permits.available_permits() as u64);
    let pushed = meter.all_pushed();
    let counts = pushed.counts;
    let gauge = |name, help, value| Family::gauge(name, help, None).with(value);
    let counter = |name, help, value| Family::counter(name, help, None).with(value);
    let bytes = |name, help, value| Family::gauge(name, help, Some(Unit::Bytes)).with(value);
    let diff = meter.of_diff();
    let queued = "Messages that wait for WebSockets: published is delivered, conflated, dropped and queued";
    vec![
        requests,
        problems,
        refusals,
        gauge("colo_gateway_connections", "Connections that are open, WebSockets included", open),
        gauge("colo_gateway_connections_most", "Connections that may be open", most),
        counter("colo_gateway_connections_accepted", "Connections that were accepted", accepted),
        counter("colo_gateway_connections_refused", "Connections beyond the most, closed at once", refused),
        gauge("colo_gateway_websockets", "WebSockets that are open", pushed.clients),
        counter(
            "colo_gateway_push_published",
            "Messages that WebSockets have subscribed to",
            counts.published,
        ),
        counter("colo_gateway_push_delivered", "Of those, given to the system whole", counts.delivered),
        counter("colo_gateway_push_conflated", "Of those, replaced by a later one", counts.conflated),
        counter(
            "colo_gateway_push_dropped",
            "Of those, left out and announced, or gone with their client",
            counts.dropped,
        ),
        gauge("colo_gateway_push_queued", queued, counts.queued),
        Family::gauge("colo_gateway_push_queue_limit", "What may wait for one WebSocket", Some(Unit::Bytes))
            .with(shared.config.queue.0),
        gauge("colo_gateway_diff_sessions", "WebSockets of DIFF that are open", diff.sessions),
        bytes("colo_gateway_diff_kept", "Data kept for all sessions of DIFF", diff.kept),
        bytes("colo_gateway_diff_kept_limit", "Data kept for all sessions of DIFF, at most", KEPT as u64),
        bytes(
            "colo_gateway_diff_answers",
            "Answers to sessions of DIFF that are being written",
            diff.answers,
        ),
        bytes("colo_gateway_diff_answers_limit", "Beyond it, further answers wait", ANSWERS as u64),
    ]
}
