//! The OpenAPI document, made from the code, and a page to read it.

use utoipa::OpenApi;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};

use super::problem::Problem;
use super::words;
use super::{body, cold, market, orders, overview, trace};
use crate::view;

pub(super) const PAGE: &[u8] = include_bytes!("page/docs.html");
pub(super) const STYLE: &[u8] = include_bytes!("page/docs.css");
pub(super) const SCRIPT: &[u8] = include_bytes!("page/docs.js");

#[derive(OpenApi)]
#[openapi(
    info(
        title = "colo gateway",
        description = "Orders, accounts and market data of a running platform. Errors are problem documents (RFC 9457). \
                       Every path may differ in `/v1/clients/{account}/{client_order_id}`, which stands for the order that a \
                       client calls so."
    ),
    paths(
        health, by_name, cancel_by_name, replace_by_name, websocket,
        orders::post, orders::batch, orders::get, orders::list, orders::cancel, orders::replace, orders::cancel_all, trace::trace,
        market::instruments, market::one, market::quote, market::book, market::trades, market::bars,
        cold::accounts, cold::account, cold::positions, cold::status, overview::overview, overview::document, cold::kill, cold::revive
    ),
    components(schemas(
        Problem, body::OrderBody, body::Decimal, body::ReplaceBody, body::BatchBody, body::KillBody, orders::BatchView,
        orders::BatchResult, orders::CancelsView, orders::OrdersView, market::InstrumentsView, market::TradesView,
        market::BarsView, cold::AccountsView, cold::PositionsView, cold::KilledView, view::InstrumentView, view::LevelView,
        view::QuoteView, view::TradeView, view::Bar, view::OrderView, view::AccountView, view::PositionView
    )),
    modifiers(&Tokens)
)]
struct Document;

struct Tokens;

impl utoipa::Modify for Tokens {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        if let Some(components) = document.components.as_mut() {
            components.add_security_scheme("token", SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer)));
        }
    }
}

/// Is it there?
#[utoipa::path(get, path = "/health", tag = "platform", responses((status = 200, description = "It is")))]
#[allow(dead_code, reason = "for the document")]
fn health() {}

/// One order, by the client's own name for it.
#[utoipa::path(get, path = "/v1/clients/{account}/{client_order_id}", tag = "orders", security(("token" = [])),
    params(("account" = u32, Path, description = "For which account"), ("client_order_id" = String, Path, description = "The client's name")),
    responses((status = 200, body = view::OrderView), (status = "4XX", body = Problem), (status = "5XX", body = Problem)))]
#[allow(dead_code, reason = "for the document")]
fn by_name() {}

/// Cancel an order, by the client's own name for it.
#[utoipa::path(delete, path = "/v1/clients/{account}/{client_order_id}", tag = "orders", security(("token" = [])),
    params(("account" = u32, Path, description = "For which account"), ("client_order_id" = String, Path, description = "The client's name")),
    responses((status = 200, body = view::OrderView), (status = "4XX", body = Problem), (status = "5XX", body = Problem)))]
#[allow(dead_code, reason = "for the document")]
fn cancel_by_name() {}

/// Change an order, by the client's own name for it.
#[utoipa::path(patch, path = "/v1/clients/{account}/{client_order_id}", tag = "orders", request_body = body::ReplaceBody, security(("token" = [])),
    params(("account" = u32, Path, description = "For which account"), ("client_order_id" = String, Path, description = "The client's name")),
    responses((status = 200, body = view::OrderView), (status = "4XX", body = Problem), (status = "5XX", body = Problem)))]
#[allow(dead_code, reason = "for the document")]
fn replace_by_name() {}

/// A WebSocket: docs/gateway.md has its protocol.
#[utoipa::path(get, path = "/v1/ws", tag = "push", security(("token" = [])),
    responses((status = 101, description = "From here on it is a WebSocket"), (status = "4XX", body = Problem)))]
#[allow(dead_code, reason = "for the document")]
fn websocket() {}

/// The document, as JSON.
pub fn document() -> String {
    let mut document = serde_json::to_value(Document::openapi()).unwrap_or_default();
    let paths = document["paths"].as_object_mut().into_iter().flat_map(|paths| paths.values_mut());
    let routes = paths.filter_map(serde_json::Value::as_object_mut).flat_map(|path| path.values_mut());
    let answers = routes.filter_map(|route| route["responses"].as_object_mut());
    for (_, answer) in answers.flatten().filter(|(status, _)| status.starts_with(['4', '5'])) {
        // A problem has a type of its own.
        if let Some(content) = answer.get_mut("content").and_then(serde_json::Value::as_object_mut)
            && let Some(problem) = content.remove("application/json")
        {
            content.insert("application/problem+json".to_owned(), problem);
        }
    }
    words::complete(&mut document);
    serde_json::to_string_pretty(&document).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::problem::Kind;

    #[test]
    fn the_document_has_every_route_and_the_page_every_problem() {
        let document: serde_json::Value = serde_json::from_str(&super::document()).unwrap();
        let paths: BTreeSet<&str> =
            document["paths"].as_object().unwrap().keys().map(String::as_str).collect();
        for path in ["/v1/orders", "/v1/orders/{order_id}", "/v1/kill", "/v1/status", "/v1/ws", "/health"] {
            assert!(paths.contains(path), "{path} of {paths:?}");
        }
        assert!(paths.len() >= 18, "{}", paths.len());
        let refused = &document["paths"]["/v1/orders"]["post"]["responses"]["4XX"]["content"];
        assert!(refused["application/problem+json"].is_object(), "{refused}");
        let page = std::str::from_utf8(super::PAGE).unwrap();
        for kind in Kind::ALL {
            let (name, ..) = kind.parts();
            assert!(page.contains(&format!("id=\"{name}\"")), "{name}");
        }
    }
}
