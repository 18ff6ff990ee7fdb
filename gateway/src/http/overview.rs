//! The platform for whoever watches over it: `/v1/overview` for people, `/metrics` for Prometheus.

use std::sync::Arc;

use hyper::header::{ACCEPT, CACHE_CONTROL, HeaderMap, HeaderValue};

use super::answer::{Answered, fixed};
use super::auth::Identity;
use super::cold::{for_all, off_thread};
use super::problem::{Kind, Problem};
use super::{Here, Shared};
use crate::metrics::{Form, print};
use crate::watch::OverviewView;

/// Is anything dead, stale or losing; who lags; what is held and at work.
#[utoipa::path(get, path = "/v1/overview", tag = "platform", security(("token" = [])),
    responses((status = 200, body = OverviewView), (status = "4XX", body = Problem), (status = "5XX", body = Problem)))]
pub(crate) async fn overview(shared: &Shared, identity: &Identity) -> Answered {
    for_all(identity)?;
    let (watch, instance, kept) = (Arc::clone(&shared.watch), shared.instance.clone(), shared.keeps_accounts);
    let read = off_thread(move || watch.overview(&instance, kept)).await?;
    let bytes = read.map_err(|error| Problem::new(Kind::Internal, error))?;
    let mut answer = fixed(bytes, "application/json");
    answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(answer)
}

/// Metrics for Prometheus: text, OpenMetrics, or protobuf with native histograms, as `Accept` says.
#[utoipa::path(get, path = "/metrics", tag = "platform", security(("token" = [])),
    responses((status = 200, description = "As Prometheus reads it"), (status = "4XX", body = Problem),
        (status = "5XX", body = Problem)))]
#[allow(dead_code, reason = "for the document")]
pub(crate) fn document() {}

pub(crate) async fn metrics(here: &Here, identity: &Identity, headers: &HeaderMap) -> Answered {
    for_all(identity)?;
    let form = Form::of(headers.get(ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default());
    let shared = Arc::clone(here);
    let printed = off_thread(move || print(&shared, form)).await?;
    let bytes = printed.map_err(|error| Problem::new(Kind::Internal, error))?;
    Ok(fixed(bytes, form.content_type()))
}
