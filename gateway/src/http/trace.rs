//! An order's way, for who may see the order.

use std::sync::Arc;

use hyper::StatusCode;
use wire::OrderId;

use super::Shared;
use super::answer::{Answered, ask, json};
use super::auth::Identity;
use super::cold::off_thread;
use super::orders::scope;
use super::problem::{Kind, Problem};
use crate::core::ask::{Ask, OrderName, Outcome};
use crate::watch::{TraceView, Untraced};

/// An order's way from the quote that it answers to its last report, as far as the journals still hold it. A token that is not
/// held to certain accounts may ask for the orders of strategies too.
#[utoipa::path(get, path = "/v1/orders/{order_id}/trace", tag = "orders", security(("token" = [])),
    params(("order_id" = String, Path, description = "As in 12-1-42")),
    responses((status = 200, body = TraceView), (status = "4XX", body = Problem), (status = "5XX", body = Problem)))]
pub(crate) async fn trace(shared: &Shared, identity: &Identity, text: &str) -> Answered {
    let order: OrderId = text.parse().map_err(|error| Problem::bad(format!("{error}")))?;
    let none = || Problem::new(Kind::NotFound, "there is no such order, or not for this token");
    if let Some(accounts) = scope(identity) {
        // What is another's is not to be told from what is not there.
        let (name, scope) = (OrderName::Id(order), Some(accounts));
        match ask(shared, |reply| Ask::Order { order: name, scope, reply }).await? {
            Outcome::Order(_) => {}
            _ => return Err(none()),
        }
    }
    let (watch, instance) = (Arc::clone(&shared.watch), shared.instance.clone());
    let traced = off_thread(move || watch.trace(&instance, order)).await?;
    let busy =
        || Problem::new(Kind::RateLimited, "another order's way is being looked for: one at a time").after(1);
    match traced.ok_or_else(busy)? {
        Ok(trace) => json(StatusCode::OK, &trace),
        Err(Untraced::NotFound(why)) if identity.token.accounts.is_none() => {
            Err(Problem::new(Kind::NotFound, why.to_string()))
        }
        Err(Untraced::NotFound(_)) => Err(none()),
        Err(Untraced::Failed(error)) => Err(Problem::new(Kind::Internal, error)),
    }
}
