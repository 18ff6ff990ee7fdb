//! DIFF's HTTP: logins as tqsdk makes them, and the document of instruments.

use std::collections::HashMap;

use bytes::Bytes;
use gateway_tokens::now_s;
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, HeaderMap};
use hyper::{Method, Request, StatusCode};

use super::rows::{self, Name};
use crate::core::ask::Ask;
use crate::http::answer::{Answered, fixed, json, read};
use crate::http::auth::{Identity, Peer};
use crate::http::problem::{Kind, Problem};
use crate::http::route::pairs;
use crate::http::upgrade::upgrade_to;
use crate::http::{Here, Shared, ask};

/// A request below `/diff`.
pub(crate) async fn answer(here: &Here, peer: &Peer, request: Request<Incoming>, path: &[&str]) -> Answered {
    let shared: &Shared = here;
    let method = request.method().clone();
    match (&method, path) {
        (&Method::GET, [] | [""]) => {
            let identity = identify(shared, request.headers())?;
            upgrade_to(here, request, identity, Some(peer.clone()))
        }
        (&Method::POST, ["auth", "realms", _, "protocol", "openid-connect", "token"]) => {
            let body = read(shared, request).await?;
            login(shared, &body)
        }
        (&Method::GET, ["auth", "realms", _, "rest", "get-grant", "tq"]) => {
            let identity = identify(shared, request.headers())?;
            let ends = identity.token.expires.unwrap_or(4_102_329_600);
            let days = ends.saturating_sub(now_s()) / 86_400;
            json(StatusCode::OK, &serde_json::json!({"exp": ends, "daysleft": days, "account_type": "colo"}))
        }
        (&Method::PUT, ["auth", "realms", _, "rest", "update-grant-accounts", account]) => {
            let identity = identify(shared, request.headers())?;
            let number = super::asked::account(account)
                .ok_or_else(|| Problem::bad(format!("`{account}` is no account")))?;
            crate::http::account(shared, &identity, Some(number))?;
            json(StatusCode::OK, &serde_json::json!({}))
        }
        (&Method::GET, ["symbols.json"]) => {
            identify(shared, request.headers())?;
            symbols(shared).await
        }
        (_, [] | [""] | ["symbols.json"] | ["auth", ..]) => Err(Problem::new(
            Kind::MethodNotAllowed,
            "this route is there for other methods: see docs/diff.md",
        )),
        _ => Err(Problem::new(Kind::NotFound, "there is no such route: see docs/diff.md")),
    }
}

/// By a token of ours, or by an access token.
fn identify(shared: &Shared, headers: &HeaderMap) -> Result<Identity, Problem> {
    let value = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let text = value.strip_prefix("Bearer ").unwrap_or_default().trim();
    by_text(shared, text)
}

fn by_text(shared: &Shared, text: &str) -> Result<Identity, Problem> {
    match &shared.diff {
        Some(door) if text.contains('.') => door.access.identify(text, &shared.guard),
        _ => shared.guard.identify(text),
    }
}

/// The accounts that a client may log in for.
fn accounts(shared: &Shared, identity: &Identity) -> Vec<u32> {
    let listed = shared.config.accounts.listed().iter().copied();
    let own = shared.config.accounts.is_own().then_some(0);
    let known = listed.chain(own).chain(identity.token.accounts.iter().flatten().copied());
    let mut all: Vec<u32> =
        known.filter(|number| crate::http::account(shared, identity, Some(*number)).is_ok()).collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn login(shared: &Shared, body: &Bytes) -> Answered {
    let text = std::str::from_utf8(body).map_err(|_| Problem::bad("the body is no form"))?;
    let form: HashMap<String, String> = pairs(Some(text))?;
    let field = |name: &str| form.get(name).map(String::as_str).unwrap_or_default();
    let identity = match field("grant_type") {
        "password" => shared.guard.identify(field("password").trim())?,
        "refresh_token" => by_text(shared, field("refresh_token").trim())?,
        other => {
            return Err(Problem::bad(format!(
                "`grant_type` is `{other}`; it must be password, with a token as the password, or refresh_token"
            )));
        }
    };
    let door = shared.diff.as_ref().ok_or_else(|| Problem::new(Kind::NotFound, "see gateway.diff"))?;
    let (access, ends) = door.access.give(&identity, &accounts(shared, &identity));
    let life = ends.saturating_sub(now_s());
    let answer = serde_json::json!({
        "access_token": access,
        "refresh_token": access,
        "token_type": "bearer",
        "expires_in": life,
        "refresh_expires_in": life,
    });
    json(StatusCode::OK, &answer)
}

async fn symbols(shared: &Shared) -> Answered {
    let instruments = ask(shared, Ask::Instruments).await?;
    let contracts: HashMap<u32, u64> = if shared.keeps_accounts {
        let instance = shared.instance.clone();
        let read = move || {
            crate::desk::with(&instance, None, |desk| {
                desk.contracts().map(|(instrument, contract)| (instrument.0, contract.multiplier)).collect()
            })
        };
        crate::http::off_thread(read).await?.map_err(|error| Problem::new(Kind::Internal, error))?
    } else {
        HashMap::new()
    };
    let mut entries: Vec<String> = instruments
        .iter()
        .map(|view| {
            let name = Name::of(&view.symbol, &shared.config.diff_exchange);
            let multiplier = contracts.get(&view.instrument).copied().unwrap_or(1);
            rows::entry(&name.full(), &rows::instrument(&name, view, multiplier))
        })
        .collect();
    entries.push(rows::INDEX.to_owned());
    let text = super::json::object(entries.iter().map(String::as_str));
    Ok(fixed(Bytes::from(text), "application/json"))
}
