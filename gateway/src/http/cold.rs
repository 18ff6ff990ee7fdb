//! Routes that are asked for now and then: accounts, positions, the platform's state, the kill switch.

use std::collections::HashMap;

use accounts::PositionRow;
use bytes::Bytes;
use hyper::StatusCode;
use observe::{InstanceView, Status};
use serde::Serialize;
use topology::Topology;
use utoipa::ToSchema;
use wire::{AccountAction, AccountChange, AccountScope, AccountState, Currency, Price, Text, WideMoney};

use super::Shared;
use super::answer::{Answered, fixed, json, parse};
use super::auth::Identity;
use super::body::KillBody;
use super::orders::{demand, number};
use super::problem::{Kind, Problem};
use crate::desk::{EntryError, enter};
use crate::view::{AccountView, PositionView};

/// How the accounts stand.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AccountsView {
    /// By the order of opening.
    accounts: Vec<AccountView>,
}

/// Positions.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PositionsView {
    /// `drop-copy`: up to this moment. `ledger`: as of the ledger's last snapshot, of the gateway's own orders.
    source: &'static str,
    /// By account, then instrument.
    positions: Vec<PositionView>,
}

/// A switch has fallen, or is lifted.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct KilledView {
    /// `account`, `group`, `strategy` or `platform`.
    scope: String,
    /// The number of what is meant in it.
    subject: u32,
    /// `kill` or `revive`.
    action: String,
}

fn kept(shared: &Shared) -> Result<(), Problem> {
    match shared.keeps_accounts {
        true => Ok(()),
        false => Err(Problem::new(Kind::AccountsNotKept, "its file has no [[accounts]] and no [desk]")),
    }
}

/// An account, for clients.
pub(crate) fn view(state: &AccountState) -> AccountView {
    let money = |amount: WideMoney| amount.to_string();
    AccountView {
        account: state.account.0,
        owner: (state.owner != AccountState::NOBODY).then_some(state.owner.0),
        kind: state.kind.as_str(),
        currency: state.currency.to_string(),
        balance: money(state.balance),
        equity: money(state.equity),
        available: money(state.available),
        frozen: money(state.frozen),
        margin: money(state.margin),
        day_result: money(state.day_result),
        open_orders: state.open_orders,
    }
}

fn states(shared: &Shared, identity: &Identity) -> Result<Vec<AccountView>, Problem> {
    kept(shared)?;
    let unreadable =
        |error: &dyn std::fmt::Display| Problem::new(Kind::Internal, format!("ledger.accounts: {error}"));
    let accounts = node::Accounts::of(&shared.instance).map_err(|error| unreadable(&error))?;
    let own = shared.node_seat();
    let is_shown = |state: &AccountState| {
        let is_others = state.owner != AccountState::NOBODY && state.owner.0 != own;
        match &identity.token.accounts {
            // A strategy's own account is no client's.
            Some(_) => !is_others && identity.token.covers(state.account.0),
            None => true,
        }
    };
    let all = accounts.iter().flat_map(node::Accounts::all).map(|(_, state)| state);
    Ok(all.filter(is_shown).map(|state| view(&state)).collect())
}

/// How the accounts stand that this token is for.
#[utoipa::path(get, path = "/v1/accounts", tag = "accounts", security(("token" = [])),
    responses((status = 200, body = AccountsView), (status = "4XX", body = Problem)))]
pub(crate) async fn accounts(shared: &Shared, identity: &Identity) -> Answered {
    json(StatusCode::OK, &AccountsView { accounts: states(shared, identity)? })
}

/// How one account stands.
#[utoipa::path(get, path = "/v1/accounts/{account}", tag = "accounts", security(("token" = [])),
    params(("account" = u32, Path, description = "Its number")),
    responses((status = 200, body = AccountView), (status = "4XX", body = Problem)))]
pub(crate) async fn account(shared: &Shared, identity: &Identity, text: &str) -> Answered {
    let number: u32 = text.parse().map_err(|_| Problem::bad(format!("`{text}` is no account")))?;
    // An account that is not this token's is not to be told from one that is not there.
    let found = states(shared, identity)?
        .into_iter()
        .find(|view| view.account == number && (number != 0 || view.owner == Some(shared.node_seat())));
    match found {
        Some(view) => json(StatusCode::OK, &view),
        None => {
            Err(Problem::new(Kind::NotFound, format!("there is no account {number}, or not for this token")))
        }
    }
}

/// Positions of the accounts that this token is for.
#[utoipa::path(get, path = "/v1/positions", tag = "accounts", security(("token" = [])),
    params(("account" = Option<u32>, Query, description = "Only of this account")),
    responses((status = 200, body = PositionsView), (status = "4XX", body = Problem), (status = "5XX", body = Problem)))]
pub(crate) async fn positions(
    shared: &Shared,
    identity: &Identity,
    query: &HashMap<String, String>,
) -> Answered {
    let asked = number::<u32>(query, "account")?;
    if asked.is_some_and(|account| !identity.token.covers(account)) {
        return Err(Problem::new(Kind::Forbidden, "not for this account"));
    }
    let is_meant =
        |account: u32| asked.map_or_else(|| identity.token.covers(account), |asked| asked == account);
    let (instance, own) = (shared.instance.clone(), shared.node_seat());
    let failed = |error: String| Problem::new(Kind::Internal, error);
    if !shared.keeps_accounts {
        let snapshot =
            off_thread(move || node::last_snapshot(&instance).map_err(|error| error.to_string())).await?;
        let rows = snapshot.map_err(failed)?.map(|snapshot| snapshot.positions).unwrap_or_default();
        let own = rows.iter().filter(|row| row.strategy.0 == own && is_meant(0));
        let positions = own.map(|row| PositionView {
            account: 0,
            instrument: row.instrument.0,
            side: "net",
            quantity: row.position.0,
            average_price: crate::view::price(row.average_price).filter(|_| row.position.0 != 0),
            realised: row.realised.to_string(),
            unrealised: row.unrealised.to_string(),
        });
        return json(StatusCode::OK, &PositionsView { source: "ledger", positions: positions.collect() });
    }
    let read = move || {
        crate::desk::with(&instance, None, |desk| {
            let multiplier =
                |row: &PositionRow| desk.contract(row.instrument).map_or(1, |known| known.multiplier);
            let rows = desk.all_positions().into_iter();
            rows.map(|row| (multiplier(&row), row)).collect::<Vec<(u64, PositionRow)>>()
        })
    };
    let rows = off_thread(read).await?.map_err(failed)?;
    let own = |(_, row): &&(u64, PositionRow)| {
        is_meant(row.account.0) && (row.account.0 != 0 || row.owner.is_some_and(|owner| owner.0 == own))
    };
    let positions = rows.iter().filter(own).flat_map(|(multiplier, row)| sides(row, *multiplier)).collect();
    json(StatusCode::OK, &PositionsView { source: "drop-copy", positions })
}

/// Long and short, as far as there are any. Costs are of lots, prices of what a lot has of.
fn sides(row: &PositionRow, multiplier: u64) -> Vec<PositionView> {
    let (long, short) = (row.long_today + row.long_yesterday, row.short_today + row.short_yesterday);
    let is_flat = long == 0 && short == 0;
    let one = |side, lots: i64, cost: i128, result: bool| PositionView {
        account: row.account.0,
        instrument: row.instrument.0,
        side,
        quantity: lots,
        average_price: (lots != 0)
            .then(|| Price((cost / (i128::from(lots) * i128::from(multiplier.max(1)))) as i64).to_string()),
        // Of the whole instrument: said once.
        realised: WideMoney::from_wide(if result { row.realised } else { 0 }).to_string(),
        unrealised: WideMoney::from_wide(if result { row.unrealised } else { 0 }).to_string(),
    };
    let mut shown = Vec::new();
    if long != 0 || is_flat {
        shown.push(one("long", long, row.long_cost, true));
    }
    if short != 0 {
        shown.push(one("short", short, row.short_cost, long == 0));
    }
    shown
}

pub(crate) async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Problem> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| Problem::new(Kind::Internal, format!("it was given up: {error}")))
}

/// The state of the whole is for tokens of all accounts.
pub(super) fn for_all(identity: &Identity) -> Result<(), Problem> {
    match identity.token.accounts {
        None => Ok(()),
        Some(_) => {
            Err(Problem::new(Kind::Forbidden, "the platform's state is not for tokens of certain accounts"))
        }
    }
}

/// What runs: nodes, journals, lags, losses; as `colo status --format json`.
#[utoipa::path(get, path = "/v1/status", tag = "platform", security(("token" = [])),
    responses((status = 200, body = Object, description = "As documented in docs/cli-json.md"),
        (status = "4XX", body = Problem), (status = "5XX", body = Problem)))]
pub(crate) async fn status(shared: &Shared, identity: &Identity) -> Answered {
    for_all(identity)?;
    let instance = shared.instance.clone();
    let read = move || -> Result<Vec<u8>, String> {
        let view = InstanceView::open(instance).map_err(|error| error.to_string())?;
        let status = Status::read(&view).map_err(|error| error.to_string())?;
        serde_json::to_vec(&status).map_err(|error| error.to_string())
    };
    let bytes = off_thread(read).await?.map_err(|error| Problem::new(Kind::Internal, error))?;
    Ok(fixed(Bytes::from(bytes), "application/json"))
}

/// Let a kill switch fall: no new orders, and what works is cancelled.
#[utoipa::path(post, path = "/v1/kill", tag = "risk", request_body = KillBody, security(("token" = [])),
    responses((status = 200, body = KilledView), (status = "4XX", body = Problem), (status = "5XX", body = Problem)))]
pub(crate) async fn kill(shared: &Shared, identity: &Identity, body: &Bytes) -> Answered {
    switch(shared, identity, body, AccountAction::Kill).await
}

/// Lift a kill switch.
#[utoipa::path(post, path = "/v1/revive", tag = "risk", request_body = KillBody, security(("token" = [])),
    responses((status = 200, body = KilledView), (status = "4XX", body = Problem), (status = "5XX", body = Problem)))]
pub(crate) async fn revive(shared: &Shared, identity: &Identity, body: &Bytes) -> Answered {
    switch(shared, identity, body, AccountAction::Revive).await
}

async fn switch(shared: &Shared, identity: &Identity, body: &Bytes, action: AccountAction) -> Answered {
    demand(identity.token.role.kills(), "use the kill switch", identity)?;
    kept(shared)?;
    let body: KillBody = parse(body)?;
    let (scope, subject) = meant(shared, &body)?;
    let is_wide = scope != AccountScope::Account;
    if identity.token.accounts.is_some() && (is_wide || !identity.token.covers(subject)) {
        return Err(Problem::new(
            Kind::Forbidden,
            "this token is for certain accounts, and this is more than those",
        ));
    }
    let is_plain = !body.why.is_empty() && !body.why.chars().any(char::is_control);
    let why = Text::new(&body.why).filter(|_| is_plain).ok_or_else(|| {
        Problem::bad("`why` must have 1 to 64 bytes in one line: who reads it later must know")
    })?;
    let change = AccountChange {
        subject,
        scope,
        action,
        reserved: 0,
        amount: WideMoney::default(),
        currency: Currency::EMPTY,
        // A person can be found by the token's number.
        who: Text::cut(&format!("gateway:{}", identity.token.id)),
        why,
    };
    let instance = shared.instance.clone();
    match off_thread(move || enter(&instance, &change)).await? {
        Ok(()) => {
            log::warn!("{action} {scope} {subject} by token {}", identity.token.id);
            json(
                StatusCode::OK,
                &KilledView { scope: scope.to_string(), subject, action: action.to_string() },
            )
        }
        Err(EntryError::Refused(why)) => Err(Problem::new(Kind::EntryRefused, why)),
        Err(error @ EntryError::Waiting) => Err(Problem::new(Kind::UnknownOutcome, error.to_string())),
        Err(error @ EntryError::Failed(_)) => Err(Problem::new(Kind::NotSent, error.to_string())),
    }
}

fn meant(shared: &Shared, body: &KillBody) -> Result<(AccountScope, u32), Problem> {
    match (body.account, body.group, &body.strategy, body.all) {
        (Some(account), None, None, false) => Ok((AccountScope::Account, account)),
        (None, Some(group), None, false) => Ok((AccountScope::Group, group)),
        (None, None, Some(name), false) => {
            let topology = InstanceView::open(shared.instance.clone())
                .map_err(|error| error.to_string())
                .and_then(|view| view.topology().map_err(|error| error.to_string()))
                .map_err(|error| Problem::new(Kind::Internal, error))?;
            seat_of(&topology, name).map(|seat| (AccountScope::Strategy, u32::from(seat)))
        }
        (None, None, None, true) => Ok((AccountScope::Platform, 0)),
        _ => Err(Problem::bad("exactly one of `account`, `group`, `strategy` and `all` is to be given")),
    }
}

fn seat_of(topology: &Topology, name: &str) -> Result<u16, Problem> {
    let found = topology.nodes.iter().find(|node| node.kind.sends() && node.name == name);
    found.map(|node| node.seat).ok_or_else(|| Problem::bad(format!("there is no strategy `{name}`")))
}
