//! Orders: in, out, changed.

use std::collections::HashMap;

use bytes::Bytes;
use hyper::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;
use wire::{AccountId, InstrumentId, Text};

use super::Shared;
use super::answer::{Answered, ask, json, parse};
use super::auth::{Identity, Peer};
use super::body::{BatchBody, MOST_ORDERS, OrderBody, ReplaceBody, client_id, side};
use super::problem::{Kind, Problem};
use crate::core::ask::{Ask, Client, OrderFilter, OrderName, Outcome, Scope, Submission, too_many};
use crate::view::OrderView;

/// What a batch led to: for each order, in their sequence.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BatchView {
    /// An order, or the problem with it.
    results: Vec<BatchResult>,
}

/// One order of a batch.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BatchResult {
    /// The status that the order alone would have had.
    status: u16,
    /// The order.
    #[serde(skip_serializing_if = "Option::is_none")]
    order: Option<OrderView>,
    /// What is wrong with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<Problem>,
}

/// A mass cancel.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CancelsView {
    /// Orders that worked when it was sent; each is cancelled until it has ended, and has a report of its own.
    orders: u64,
}

/// The orders that were asked for.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct OrdersView {
    /// The newest first.
    orders: Vec<OrderView>,
}

/// The accounts that a client is held to; `None`: none.
pub(crate) fn scope(identity: &Identity) -> Option<Vec<u32>> {
    identity.token.accounts.clone()
}

pub(crate) fn demand(may: bool, what: &str, identity: &Identity) -> Result<(), Problem> {
    if may {
        return Ok(());
    }
    let role = identity.token.role.as_str();
    Err(Problem::new(Kind::Forbidden, format!("a token of role {role} may not {what}")))
}

/// The account that is meant, if the client may trade for it.
pub(crate) fn account(
    shared: &Shared,
    identity: &Identity,
    asked: Option<u32>,
) -> Result<AccountId, Problem> {
    let (accounts, token) = (&shared.config.accounts, &identity.token);
    let listed = accounts.listed();
    let only = match (token.accounts.as_deref(), listed) {
        (Some([only]), _) => Some(*only),
        _ if !shared.keeps_accounts => Some(0),
        // The gateway may trade for fewer accounts than the token is good for.
        _ => {
            let mut covered = listed.iter().filter(|account| token.covers(**account));
            covered.next().filter(|_| covered.next().is_none()).copied()
        }
    };
    let account = asked.or(only).ok_or_else(|| {
        let covered: Vec<String> =
            listed.iter().filter(|account| token.covers(**account)).map(u32::to_string).collect();
        let which =
            if covered.is_empty() { String::new() } else { format!(": one of {}", covered.join(", ")) };
        Problem::bad(format!("`account` is missing{which}"))
    })?;
    if !is_for(shared, identity, account) {
        return Err(Problem::new(Kind::Forbidden, format!("not for account {account}")));
    }
    Ok(AccountId(account))
}

/// Whether both the token and the gateway are for this account.
fn is_for(shared: &Shared, identity: &Identity, account: u32) -> bool {
    let accounts = &shared.config.accounts;
    let is_open =
        accounts.is_all() || accounts.listed().contains(&account) || (account == 0 && accounts.is_own());
    identity.token.covers(account) && is_open
}

/// One order on its way.
pub(crate) async fn submit(
    shared: &Shared,
    identity: &Identity,
    peer: &Peer,
    body: &OrderBody,
) -> Result<(StatusCode, OrderView), Problem> {
    let account = account(shared, identity, body.account)?;
    let client_id = body.name()?;
    let instrument = match shared.door.instrument(&body.symbol) {
        Some(instrument) => instrument,
        None => {
            let found = ask(shared, |reply| Ask::Find(body.symbol.clone(), reply)).await?;
            let found =
                found.ok_or_else(|| Problem::bad(format!("there is no instrument `{}`", body.symbol)))?;
            InstrumentId(found.instrument)
        }
    };
    let order = body.order(instrument, account)?;
    let session = body.session()?;
    shared.guard.rate_of(account.0)?;
    let submission = Submission {
        client: Client { token: identity.number, address: Text::cut(&peer.address) },
        client_id,
        order,
        terms: body.terms.0.clone(),
        is_retry: body.retry,
        at_once: body.at_once()?,
    };
    let submission = Box::new(submission);
    let outcome = match session {
        Some(session) => ask(shared, |reply| Ask::SubmitIn(session, submission, reply)).await?,
        None => ask(shared, |reply| Ask::Submit(submission, reply)).await?,
    };
    done(outcome, StatusCode::CREATED)
}

/// An outcome as status and order, or as a problem.
fn done(outcome: Outcome, good: StatusCode) -> Result<(StatusCode, OrderView), Problem> {
    Err(match outcome {
        Outcome::Term(term, error) => Problem::bad(format!("`{}`: {error}", term.name)),
        Outcome::Order(order) if order.status == "unknown" => {
            Problem::new(Kind::UnknownOutcome, "how this order ended is not known: its reports were lost")
                .of(order)
        }
        Outcome::Order(order) => {
            let status = if order.status == "sent" { StatusCode::ACCEPTED } else { good };
            return Ok((status, order));
        }
        Outcome::Again(order) if order.status == "unknown" => {
            Problem::new(Kind::UnknownOutcome, "this order was sent before; how it ended is not known")
                .of(order)
        }
        Outcome::Again(order) => return Ok((StatusCode::OK, order)),
        Outcome::Differs(order) => {
            let detail =
                "the same client_order_id was used for the order below, which differs; choose another one";
            Problem::new(Kind::ClientIdUsed, detail).of(order)
        }
        Outcome::Refused(order, reason) => {
            Problem::new(Kind::OrderRefused, format!("refused: {reason}")).because(reason).of(order)
        }
        Outcome::NoSuchOrder => Problem::new(Kind::NotFound, "there is no such order, or not for this token"),
        Outcome::Forgotten => Problem::new(
            Kind::UnknownOutcome,
            "no order of this name is remembered, but the oldest are forgotten: whether there was one is not known",
        ),
        Outcome::Full => Problem::new(Kind::NotSent, "td is behind: nothing was sent, try again").after(1),
        Outcome::TooMany(most) => Problem::new(Kind::NotSent, too_many(most)),
        Outcome::NoSession => Problem::new(
            Kind::SessionEnded,
            "the session's WebSocket has ended, or is another token's: nothing was sent",
        ),
        Outcome::Ended(order) => Problem::new(Kind::OrderEnded, "the order has ended").of(order),
        Outcome::CancelsAll(_) => Problem::new(Kind::Internal, "a mass cancel is no order"),
    })
}

/// Submit an order.
#[utoipa::path(post, path = "/v1/orders", tag = "orders", request_body = OrderBody, security(("token" = [])),
    responses((status = 201, body = OrderView, description = "td has answered"),
        (status = 200, body = OrderView, description = "Known by its client_order_id: nothing was sent again"),
        (status = 202, body = OrderView, description = "On its way (`wait` is `none`)"),
        (status = "4XX", body = Problem), (status = "5XX", body = Problem)))]
pub(crate) async fn post(shared: &Shared, identity: &Identity, peer: &Peer, body: &Bytes) -> Answered {
    demand(identity.token.role.trades(), "send orders", identity)?;
    let body: OrderBody = parse(body)?;
    let (status, order) = submit(shared, identity, peer, &body).await?;
    json(status, &order)
}

/// Submit up to 100 orders together; each has an answer of its own.
#[utoipa::path(post, path = "/v1/orders/batch", tag = "orders", request_body = BatchBody, security(("token" = [])),
    responses((status = 200, body = BatchView), (status = "4XX", body = Problem), (status = "5XX", body = Problem)))]
pub(crate) async fn batch(shared: &Shared, identity: &Identity, peer: &Peer, body: &Bytes) -> Answered {
    demand(identity.token.role.trades(), "send orders", identity)?;
    let batch: BatchBody = parse(body)?;
    if batch.orders.len() > MOST_ORDERS {
        return Err(Problem::bad(format!("a batch has up to {MOST_ORDERS} orders")));
    }
    let sent = futures(batch.orders.iter().map(|order| submit(shared, identity, peer, order))).await;
    let results = sent.into_iter().map(|one| match one {
        Ok((status, order)) => BatchResult { status: status.as_u16(), order: Some(order), problem: None },
        Err(problem) => {
            shared.meter.problem(problem.kind());
            BatchResult { status: problem.status(), order: None, problem: Some(problem) }
        }
    });
    json(StatusCode::OK, &BatchView { results: results.collect() })
}

/// All of them at the same time, on this thread; the answers in their sequence.
async fn futures<T>(all: impl Iterator<Item = impl Future<Output = T>>) -> Vec<T> {
    let mut waiting: Vec<_> = all.map(|one| (Box::pin(one), None)).collect();
    std::future::poll_fn(|context| {
        let mut is_done = true;
        for (future, answer) in waiting.iter_mut().filter(|(_, answer)| answer.is_none()) {
            match future.as_mut().poll(context) {
                std::task::Poll::Ready(value) => *answer = Some(value),
                std::task::Poll::Pending => is_done = false,
            }
        }
        if is_done { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    waiting.into_iter().filter_map(|(_, answer)| answer).collect()
}

/// The name of an order in a path.
pub(crate) fn named(text: &str) -> Result<OrderName, Problem> {
    let id = text.parse().map_err(|error| Problem::bad(format!("{error}")))?;
    Ok(OrderName::Id(id))
}

/// The client's name of an order in a path.
pub(crate) fn called(account: &str, name: &str) -> Result<OrderName, Problem> {
    let account = account.parse().map_err(|_| Problem::bad(format!("`{account}` is no account")))?;
    let name = client_id(name)?;
    Ok(OrderName::Client(AccountId(account), name))
}

/// One order.
#[utoipa::path(get, path = "/v1/orders/{order_id}", tag = "orders", security(("token" = [])),
    params(("order_id" = String, Path, description = "As in 12-1-42")),
    responses((status = 200, body = OrderView), (status = "4XX", body = Problem), (status = "5XX", body = Problem)))]
pub(crate) async fn get(shared: &Shared, identity: &Identity, order: OrderName) -> Answered {
    let scope = scope(identity);
    let outcome = ask(shared, |reply| Ask::Order { order, scope, reply }).await?;
    match outcome {
        // Asked for, it is shown as it is.
        Outcome::Order(order) => json(StatusCode::OK, &order),
        other => done(other, StatusCode::OK).and_then(|(status, order)| json(status, &order)),
    }
}

/// Orders, the newest first.
#[utoipa::path(get, path = "/v1/orders", tag = "orders", security(("token" = [])),
    params(("account" = Option<u32>, Query, description = "Only of this account"),
        ("symbol" = Option<String>, Query, description = "Only of this instrument"),
        ("working" = Option<bool>, Query, description = "Only those that may still trade"),
        ("limit" = Option<u32>, Query, description = "As many at most, up to 1,000; 100")),
    responses((status = 200, body = OrdersView), (status = "4XX", body = Problem), (status = "5XX", body = Problem)))]
pub(crate) async fn list(shared: &Shared, identity: &Identity, query: &HashMap<String, String>) -> Answered {
    let mut accounts = scope(identity);
    if let Some(account) = number::<u32>(query, "account")? {
        if !identity.token.covers(account) {
            return Err(Problem::new(Kind::Forbidden, format!("not for account {account}")));
        }
        accounts = Some(vec![account]);
    }
    let instrument = instrument(shared, query).await?;
    let working = number::<bool>(query, "working")?.unwrap_or(false);
    let limit = number::<usize>(query, "limit")?.unwrap_or(100);
    if limit > 1_000 {
        return Err(Problem::bad(
            "`limit` is over 1000, and there is no next page: ask by account or symbol",
        ));
    }
    let filter = OrderFilter { accounts, instrument, working, limit };
    let orders = ask(shared, |reply| Ask::Orders(filter, reply)).await?;
    json(StatusCode::OK, &OrdersView { orders })
}

/// A request about an order that is there is held to the rate of its account.
async fn limited(shared: &Shared, identity: &Identity, order: &OrderName) -> Result<(), Problem> {
    match order {
        _ if !shared.guard.has_account_rate() => Ok(()),
        // The rate of an account is for those who may trade for it. To others the order is not there.
        OrderName::Client(account, _) if !is_for(shared, identity, account.0) => Ok(()),
        OrderName::Client(account, _) => shared.guard.rate_of(account.0),
        OrderName::Id(_) => {
            let (order, scope) = (order.clone(), scope(identity));
            match ask(shared, |reply| Ask::Order { order, scope, reply }).await? {
                Outcome::Order(order) => shared.guard.rate_of(order.account),
                _ => Ok(()),
            }
        }
    }
}

/// Cancel an order.
#[utoipa::path(delete, path = "/v1/orders/{order_id}", tag = "orders", security(("token" = [])),
    params(("order_id" = String, Path, description = "As in 12-1-42")),
    responses((status = 200, body = OrderView), (status = "4XX", body = Problem), (status = "5XX", body = Problem)))]
pub(crate) async fn cancel(shared: &Shared, identity: &Identity, order: OrderName) -> Answered {
    demand(identity.token.role.cancels(), "cancel orders", identity)?;
    limited(shared, identity, &order).await?;
    let scope = scope(identity);
    let outcome = ask(shared, |reply| Ask::Cancel { order, scope, reply }).await?;
    let (status, order) = done(outcome, StatusCode::OK)?;
    json(status, &order)
}

/// Change price or quantity of an order.
#[utoipa::path(patch, path = "/v1/orders/{order_id}", tag = "orders", request_body = ReplaceBody, security(("token" = [])),
    params(("order_id" = String, Path, description = "As in 12-1-42")),
    responses((status = 200, body = OrderView), (status = "4XX", body = Problem), (status = "5XX", body = Problem)))]
pub(crate) async fn replace(
    shared: &Shared,
    identity: &Identity,
    order: OrderName,
    body: &Bytes,
) -> Answered {
    demand(identity.token.role.trades(), "change orders", identity)?;
    let (price, quantity) = parse::<ReplaceBody>(body)?.parts()?;
    limited(shared, identity, &order).await?;
    let scope = scope(identity);
    let outcome =
        ask(shared, |reply| Ask::Replace { order, scope, price, quantity, terms: Vec::new(), reply }).await?;
    let (status, order) = done(outcome, StatusCode::OK)?;
    json(status, &order)
}

/// Cancel all orders of the gateway's clients that match what is given.
#[utoipa::path(delete, path = "/v1/orders", tag = "orders", security(("token" = [])),
    params(("account" = Option<u32>, Query, description = "Only for this account; a token for certain accounts must say one"),
        ("symbol" = Option<String>, Query, description = "Only of this instrument"),
        ("side" = Option<String>, Query, description = "Only `buy`, or only `sell`")),
    responses((status = 202, body = CancelsView), (status = "4XX", body = Problem), (status = "5XX", body = Problem)))]
pub(crate) async fn cancel_all(
    shared: &Shared,
    identity: &Identity,
    query: &HashMap<String, String>,
) -> Answered {
    demand(identity.token.role.cancels(), "cancel orders", identity)?;
    let account = match (number::<u32>(query, "account")?, identity.token.accounts.as_deref()) {
        (Some(account), _) if !identity.token.covers(account) => {
            return Err(Problem::new(Kind::Forbidden, format!("not for account {account}")));
        }
        (Some(account), _) => Some(AccountId(account)),
        (None, None) => None,
        (None, Some([only])) => Some(AccountId(*only)),
        (None, Some(_)) => return Err(Problem::bad("`account` is missing: this token is for several")),
    };
    if let Some(account) = account {
        shared.guard.rate_of(account.0)?;
    }
    let instrument = instrument(shared, query).await?;
    let side = query.get("side").map(|text| side(text)).transpose()?;
    let scope = Scope { account, instrument, side };
    let outcome = ask(shared, |reply| Ask::CancelAll { scope, reply }).await?;
    match outcome {
        Outcome::CancelsAll(orders) => json(StatusCode::ACCEPTED, &CancelsView { orders }),
        other => done(other, StatusCode::ACCEPTED).and_then(|(status, order)| json(status, &order)),
    }
}

/// A number, or a word, of a query.
pub(crate) fn number<T: std::str::FromStr>(
    query: &HashMap<String, String>,
    name: &str,
) -> Result<Option<T>, Problem> {
    let Some(text) = query.get(name) else { return Ok(None) };
    text.parse().map(Some).map_err(|_| Problem::bad(format!("`{name}` is `{text}`, which cannot be read")))
}

async fn instrument(
    shared: &Shared,
    query: &HashMap<String, String>,
) -> Result<Option<InstrumentId>, Problem> {
    match query.get("symbol") {
        None => Ok(None),
        Some(symbol) => super::market::instrument(shared, symbol).await.map(Some),
    }
}
