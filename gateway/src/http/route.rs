//! From a request to its route.

use std::collections::HashMap;
use std::time::Instant;

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::header::{CONTENT_SECURITY_POLICY, HOST, HeaderValue, X_CONTENT_TYPE_OPTIONS};
use hyper::{Method, Request, Version};

use super::answer::{Answer, Answered, fixed, read};
use super::auth::Peer;
use super::problem::{Kind, Problem};
use super::{Here, Shared, cold, document, market, orders, overview, page, trace, upgrade};
use crate::meter::Class;

/// The answer of the hot path, made once.
const HEALTHY: Bytes = Bytes::from_static(b"{\"status\":\"ok\"}\n");

/// The answer that needs nothing but itself, if that was asked for.
pub(crate) fn health(here: &Here, request: &Request<Incoming>) -> Option<Answer> {
    if request.uri().path() != "/health" || !is_read(request.method()) {
        return None;
    }
    here.meter.answered(Class::Health, 200);
    Some(fixed(HEALTHY, "application/json"))
}

/// Answers a request, whatever else it is.
pub(crate) async fn route(here: Here, peer: &Peer, request: Request<Incoming>) -> Answer {
    let (class, begin) = (Class::of(request.uri().path()), Instant::now());
    let mut answer = match dispatch(&here, peer, request).await {
        Ok(answer) => answer,
        Err(problem) => {
            here.meter.problem(problem.kind());
            problem.respond()
        }
    };
    here.meter.answered(class, answer.status().as_u16());
    here.meter.took(class, begin.elapsed());
    let headers = answer.headers_mut();
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'self'"));
    answer
}

/// The answer to HEAD is that to GET; hyper keeps its body back.
fn is_read(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

fn no_such() -> Problem {
    Problem::new(Kind::NotFound, "there is no such route: /openapi.json has them all")
}

fn not_so(allowed: &'static str) -> Problem {
    let detail = format!("this route is there for {allowed}: see /openapi.json");
    Problem::new(Kind::MethodNotAllowed, detail).allowing(allowed)
}

/// The methods of a route that needs a token; `None`: there is no such route.
fn methods(parts: &[&str]) -> Option<&'static str> {
    Some(match parts {
        ["metrics"]
        | ["v1", "instruments" | "accounts" | "positions" | "status" | "overview" | "ws"]
        | ["v1", "instruments" | "accounts" | "quotes" | "book" | "trades" | "bars", _]
        | ["v1", "orders", _, "trace"] => "GET, HEAD",
        ["v1", "orders"] => "DELETE, GET, HEAD, POST",
        ["v1", "orders", "batch"] | ["v1", "kill" | "revive"] => "POST",
        ["v1", "orders", _] | ["v1", "clients", _, _] => "DELETE, GET, HEAD, PATCH",
        _ => return None,
    })
}

/// Why a route does not answer this method.
fn refused(parts: &[&str]) -> Problem {
    methods(parts).map_or_else(no_such, not_so)
}

/// The pairs of a query string or a form.
pub(crate) fn pairs(query: Option<&str>) -> Result<HashMap<String, String>, Problem> {
    let decoded = |text: &str| decode(&text.replace('+', " "));
    let parts = query.unwrap_or_default().split('&').filter(|part| !part.is_empty());
    let mut pairs = HashMap::new();
    for part in parts {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        let name = decoded(name)?;
        if pairs.contains_key(&name) {
            return Err(Problem::bad(format!("`{name}` is there twice")));
        }
        pairs.insert(name, decoded(value)?);
    }
    Ok(pairs)
}

/// The pairs of a query, if all of them are meant for this route: a filter that was passed over would widen what is done.
fn query_of(query: Option<&str>, names: &[&str]) -> Result<HashMap<String, String>, Problem> {
    let pairs = pairs(query)?;
    let Some(other) = pairs.keys().find(|name| !names.contains(&name.as_str())) else { return Ok(pairs) };
    let known = match names {
        [] => "this route takes none".to_owned(),
        names => format!("there are {}", names.join(", ")),
    };
    Err(Problem::bad(format!("there is no parameter `{other}`: {known}")))
}

/// What may be in the query of a route.
fn parameters(method: &str, parts: &[&str]) -> &'static [&'static str] {
    match (method, parts) {
        ("GET", ["v1", "book", _]) => &["levels"],
        ("GET", ["v1", "trades", _]) => &["limit"],
        ("GET", ["v1", "bars", _]) => &["span", "limit"],
        ("GET", ["v1", "positions"]) => &["account"],
        ("GET", ["v1", "orders"]) => &["account", "symbol", "working", "limit"],
        ("DELETE", ["v1", "orders"]) => &["account", "symbol", "side"],
        _ => &[],
    }
}

/// Percent signs taken out.
fn decode(text: &str) -> Result<String, Problem> {
    let bad =
        || Problem::bad("a percent sign in the URL is not followed by two digits, or its bytes are no UTF-8");
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || rest.next().and_then(|digit| char::from(digit).to_digit(16)).ok_or_else(bad);
        bytes.push((digit()? << 4 | digit()?) as u8);
    }
    String::from_utf8(bytes).map_err(|_| bad())
}

async fn dispatch(here: &Here, peer: &Peer, request: Request<Incoming>) -> Answered {
    let shared: &Shared = here;
    let method = if is_read(request.method()) { Method::GET } else { request.method().clone() };
    // RFC 9112, 3.2.
    if request.version() == Version::HTTP_11 && request.headers().get_all(HOST).iter().count() != 1 {
        return Err(Problem::bad("a request of HTTP/1.1 has one Host"));
    }
    // Each part by itself: a slash that is written as %2F is a part of a name, and no border.
    let parts: Vec<String> = request.uri().path().split('/').skip(1).map(decode).collect::<Result<_, _>>()?;
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let open = match parts.as_slice() {
        ["health"] => return Err(not_so("GET, HEAD")),
        ["openapi.json"] => Some(fixed(shared.document.clone(), "application/json")),
        ["docs"] => Some(fixed(Bytes::from_static(document::PAGE), "text/html; charset=utf-8")),
        ["docs.css"] => Some(fixed(Bytes::from_static(document::STYLE), "text/css")),
        ["docs.js"] => Some(fixed(Bytes::from_static(document::SCRIPT), "text/javascript")),
        ["v1", ..] | ["metrics"] => None,
        ["diff", rest @ ..] if shared.diff.is_some() => {
            let peer = peer.of_request(request.headers());
            return crate::diff::answer(here, &peer, request, rest).await;
        }
        [""] => page::asset("index.html"),
        ["page", name] => Some(page::asset(name).ok_or_else(no_such)?),
        _ => return Err(no_such()),
    };
    if let Some(answer) = open {
        return if method == Method::GET { Ok(answer) } else { Err(not_so("GET, HEAD")) };
    }
    if let ["v1", "ws"] = parts.as_slice()
        && method == Method::GET
    {
        return upgrade::upgrade(here, request);
    }
    let identity = shared.guard.of_headers(request.headers())?;
    let query = query_of(request.uri().query(), parameters(method.as_str(), &parts))?;
    let full_path = request.uri().path_and_query().map_or_else(String::new, |path| path.as_str().to_owned());
    if method == Method::GET {
        return match parts.as_slice() {
            ["v1", "instruments"] => market::instruments(shared).await,
            ["v1", "instruments", symbol] => market::one(shared, symbol).await,
            ["v1", "quotes", symbol] => market::quote(shared, symbol).await,
            ["v1", "book", symbol] => market::book(shared, symbol, &query).await,
            ["v1", "trades", symbol] => market::trades(shared, symbol, &query).await,
            ["v1", "bars", symbol] => market::bars(shared, symbol, &query).await,
            ["v1", "accounts"] => cold::accounts(shared, &identity).await,
            ["v1", "accounts", account] => cold::account(shared, &identity, account).await,
            ["v1", "positions"] => cold::positions(shared, &identity, &query).await,
            ["v1", "status"] => cold::status(shared, &identity).await,
            ["v1", "overview"] => overview::overview(shared, &identity).await,
            ["metrics"] => overview::metrics(here, &identity, request.headers()).await,
            ["v1", "orders"] => orders::list(shared, &identity, &query).await,
            ["v1", "orders", "batch"] => Err(refused(&parts)),
            ["v1", "orders", order] => orders::get(shared, &identity, orders::named(order)?).await,
            ["v1", "orders", order, "trace"] => trace::trace(shared, &identity, order).await,
            ["v1", "clients", account, name] => {
                orders::get(shared, &identity, orders::called(account, name)?).await
            }
            _ => Err(refused(&parts)),
        };
    }
    let headers = request.headers().clone();
    let (body, peer) = (read(shared, request).await?, peer.of_request(&headers));
    let peer: &Peer = &peer;
    let enters = || shared.guard.enters(&identity, peer, &headers, (method.as_str(), &full_path), &body);
    match (method.as_str(), parts.as_slice()) {
        ("POST", ["v1", "orders"]) => {
            enters()?;
            orders::post(shared, &identity, peer, &body).await
        }
        ("POST", ["v1", "orders", "batch"]) => {
            enters()?;
            orders::batch(shared, &identity, peer, &body).await
        }
        ("DELETE", ["v1", "orders"]) => {
            enters()?;
            orders::cancel_all(shared, &identity, &query).await
        }
        ("DELETE", ["v1", "orders", order]) => {
            enters()?;
            orders::cancel(shared, &identity, orders::named(order)?).await
        }
        ("PATCH", ["v1", "orders", order]) => {
            enters()?;
            orders::replace(shared, &identity, orders::named(order)?, &body).await
        }
        ("DELETE", ["v1", "clients", account, name]) => {
            enters()?;
            orders::cancel(shared, &identity, orders::called(account, name)?).await
        }
        ("PATCH", ["v1", "clients", account, name]) => {
            enters()?;
            orders::replace(shared, &identity, orders::called(account, name)?, &body).await
        }
        ("POST", ["v1", "kill"]) => {
            enters()?;
            cold::kill(shared, &identity, &body).await
        }
        ("POST", ["v1", "revive"]) => {
            enters()?;
            cold::revive(shared, &identity, &body).await
        }
        _ => Err(refused(&parts)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_and_paths_are_decoded_and_bad_ones_refused() {
        let query = pairs(Some("symbol=A%2FB&x=1+2&flag")).unwrap();
        assert_eq!(
            (query["symbol"].as_str(), query["x"].as_str(), query["flag"].as_str()),
            ("A/B", "1 2", "")
        );
        for bad in ["a=%", "a=%2", "a=%zz", "a=%ff"] {
            assert!(pairs(Some(bad)).is_err(), "{bad}");
        }
    }

    #[test]
    fn every_route_of_the_document_names_the_methods_that_it_is_there_for() {
        let document: serde_json::Value = serde_json::from_str(&document::document()).unwrap();
        let mut routes = 0;
        for (path, operations) in document["paths"].as_object().unwrap() {
            let parts: Vec<&str> = path.split('/').skip(1).collect();
            let Some(methods) = methods(&parts) else {
                assert!(!path.starts_with("/v1") && path != "/metrics", "{path}");
                continue;
            };
            let mut documented: Vec<String> =
                operations.as_object().unwrap().keys().map(|method| method.to_uppercase()).collect();
            if documented.iter().any(|method| method == "GET") {
                documented.push("HEAD".to_owned());
            }
            documented.sort();
            assert_eq!(methods.split(", ").collect::<Vec<_>>(), documented, "{path}");
            let problem = refused(&parts).respond();
            assert_eq!(problem.status(), 405, "{path}");
            assert_eq!(problem.headers()["allow"], methods, "{path}");
            routes += 1;
        }
        assert!(routes > 15, "{routes}");
        assert_eq!(refused(&["v1", "nothing"]).status(), 404);
    }
}
