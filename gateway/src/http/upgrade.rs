//! From HTTP to a WebSocket: the handshake here, the socket to a thread that pushes.

use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::header::{
    CONNECTION, HOST, HeaderMap, HeaderValue, ORIGIN, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY,
    SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION, UPGRADE,
};
use hyper::{Method, Request, Response, StatusCode, Version};
use hyper_util::rt::TokioIo;

use super::Here;
use super::answer::{Answer, Answered};
use super::auth::{Identity, Peer};
use super::problem::{Kind, Problem};
use super::socket::Stream;
use crate::diff::Arrival;
use crate::push::{NewSocket, Permit, Socket};

/// The subprotocol that we speak; a browser, which cannot send headers of its own, shows its token as another one.
const PROTOCOL: &str = "colo.v1";
const TOKEN: &str = "colo.token.";
/// A client of a WebSocket that was let go has so long to take the last bytes through TLS.
const LINGER: Duration = Duration::from_secs(1);
const GUID: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

pub(crate) fn upgrade(here: &Here, request: Request<Incoming>) -> Answered {
    let headers = request.headers();
    let offered = headers.get_all(SEC_WEBSOCKET_PROTOCOL).iter().filter_map(|value| value.to_str().ok());
    let mut offered = offered.flat_map(|value| value.split(',')).map(str::trim);
    let identity: Identity = match offered.find_map(|protocol| protocol.strip_prefix(TOKEN)) {
        Some(token) => here.guard.identify(token)?,
        None => here.guard.of_headers(headers)?,
    };
    upgrade_to(here, request, identity, None)
}

/// With a peer, the socket is for DIFF.
pub(crate) fn upgrade_to(
    here: &Here,
    mut request: Request<Incoming>,
    identity: Identity,
    diff: Option<Peer>,
) -> Answered {
    let headers = request.headers();
    if request.method() != Method::GET {
        return Err(Problem::new(Kind::MethodNotAllowed, "a WebSocket begins with GET"));
    }
    let is_asked = |name, word: &str| {
        let values = headers.get_all(&name).iter().filter_map(|value| value.to_str().ok());
        let mut words = values.flat_map(|value| value.split(','));
        words.any(|found: &str| found.trim().eq_ignore_ascii_case(word))
    };
    let key = headers.get(SEC_WEBSOCKET_KEY).and_then(|key| key.to_str().ok()).unwrap_or_default();
    let is_right = request.version() == Version::HTTP_11
        && is_asked(UPGRADE, "websocket")
        && is_asked(CONNECTION, "upgrade")
        && is_asked(SEC_WEBSOCKET_VERSION, "13")
        && key.len() == 24;
    if !is_right {
        return Err(Problem::bad(
            "this is no handshake of a WebSocket (RFC 6455, version 13, over HTTP/1.1)",
        ));
    }
    let is_secure = here.config.tls.is_some();
    if !is_from_here(headers, is_secure, &here.config.origins) {
        return Err(Problem::new(Kind::Forbidden, "no page of this origin may do so: see gateway.origins"));
    }
    let protocols: Vec<&str> = headers
        .get_all(SEC_WEBSOCKET_PROTOCOL)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(str::trim)
        .collect();
    let permit = Arc::clone(&here.permits)
        .try_acquire_owned()
        .map_err(|_| Problem::new(Kind::NotSent, "there are too many connections").after(1))?;
    let accept = accept(key);
    let speaks = protocols.contains(&PROTOCOL);
    let upgraded = hyper::upgrade::on(&mut request);
    let (pushers, shared) = (here.pushers.clone(), Arc::clone(here));
    tokio::task::spawn_local(async move {
        let Ok(upgraded) = upgraded.await else { return };
        let Ok(parts) = upgraded.downcast::<TokioIo<Stream>>() else { return };
        let (early, token) = (parts.read_buf.to_vec(), identity.token);
        let permit = Permit::new(permit);
        let hand = |socket, permit| {
            let socket = NewSocket { socket, early, token, permit };
            match (diff, &shared.diff) {
                (Some(peer), Some(door)) => door.take(Arrival { socket, peer }),
                _ => pushers.take(socket),
            }
        };
        match parts.io.into_inner() {
            Stream::Tcp(stream) => {
                if let Ok(stream) = stream.into_std() {
                    hand(Socket::Tcp(stream), permit);
                }
            }
            Stream::Unix(stream) => {
                if let Ok(stream) = stream.into_std() {
                    hand(Socket::Unix(stream), permit);
                }
            }
            // The thread that pushes knows no TLS: this one stands between.
            Stream::Tls(mut stream) => {
                let Ok((mine, theirs)) = std::os::unix::net::UnixStream::pair() else { return };
                if mine.set_nonblocking(true).is_err() || theirs.set_nonblocking(true).is_err() {
                    return;
                }
                let Ok(mut mine) = tokio::net::UnixStream::from_std(mine) else { return };
                let (theirs_permit, ended) = permit.share();
                hand(Socket::Unix(theirs), theirs_permit);
                let both = tokio::io::copy_bidirectional(&mut stream, &mut mine);
                tokio::pin!(both);
                tokio::select! {
                    _ = &mut both => {}
                    // The thread has let go: a client that does not read, or does not close, is not waited for.
                    _ = ended => drop(tokio::time::timeout(LINGER, both).await),
                }
                drop(permit);
            }
        }
    });
    let mut answer: Answer = Response::default();
    *answer.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = answer.headers_mut();
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    if let Ok(accept) = HeaderValue::from_str(&accept) {
        headers.insert(SEC_WEBSOCKET_ACCEPT, accept);
    }
    if speaks {
        headers.insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(PROTOCOL));
    }
    Ok(answer)
}

/// A program says no origin. A page must come from here, or from where the file says.
fn is_from_here(headers: &HeaderMap, is_secure: bool, allowed: &[String]) -> bool {
    let Some(origin) = headers.get(ORIGIN) else { return true };
    let Ok(origin) = origin.to_str() else { return false };
    let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let own = format!("{}://{host}", if is_secure { "https" } else { "http" });
    // A name that points here only now (DNS rebinding) is the page's own origin too: plain HTTP is for this host's names.
    let is_local = is_secure || is_local_name(host);
    (origin == own && is_local) || allowed.iter().any(|one| one == origin)
}

fn is_local_name(host: &str) -> bool {
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    matches!(name, "localhost" | "127.0.0.1" | "[::1]")
}

/// What the server answers to a client's key.
pub(crate) fn accept(key: &str) -> String {
    let digest =
        ring::digest::digest(&ring::digest::SHA1_FOR_LEGACY_USE_ONLY, format!("{key}{GUID}").as_bytes());
    base64(digest.as_ref())
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let group =
            three.iter().fold(0_u32, |group, byte| group << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
        for place in 0..4 {
            let digit = group >> (18 - 6 * place) & 63;
            text.push(if place <= three.len() { char::from(DIGITS[digit as usize]) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_handshake_answers_as_the_standard_s_example() {
        assert_eq!(accept("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
        assert_eq!(
            (base64(b"f"), base64(b"fo"), base64(b"foo")),
            ("Zg==".into(), "Zm8=".into(), "Zm9v".into())
        );
    }

    #[test]
    fn pages_from_elsewhere_are_kept_out() {
        let headers = |origin: &str, host: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(ORIGIN, origin.parse().unwrap());
            headers.insert(HOST, host.parse().unwrap());
            headers
        };
        let allowed = ["https://desk.example".to_owned()];
        let is = |origin, host| is_from_here(&headers(origin, host), false, &allowed);
        assert!(is_from_here(&HeaderMap::new(), false, &[]), "no page");
        assert!(
            is("http://127.0.0.1:8080", "127.0.0.1:8080") && is("https://desk.example", "127.0.0.1:8080")
        );
        assert!(!is("http://evil.example", "127.0.0.1:8080"));
        assert!(!is("http://evil.example:8080", "evil.example:8080"), "a name that points here");
        assert!(!is("null", "127.0.0.1:8080"));
    }
}
