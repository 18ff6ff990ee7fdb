//! Connections take what they may, and give it back: descriptors, places, the rates of accounts.

mod support;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use support::{Platform, WATCHDOG, certificates, order, platform};

fn descriptors(pid: i32) -> usize {
    std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count()
}

/// Waits until this holds.
fn until(what: &str, is_it: impl Fn() -> bool) {
    let end = Instant::now() + WATCHDOG;
    while !is_it() {
        assert!(Instant::now() < end, "{what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

type Secure = rustls::StreamOwned<rustls::ClientConnection, TcpStream>;

/// A WebSocket through TLS.
fn secure_socket(
    platform: &Platform,
    config: &Arc<rustls::ClientConfig>,
    token: &str,
) -> std::io::Result<Secure> {
    let made = rustls::ClientConnection::new(Arc::clone(config), "localhost".try_into().unwrap()).unwrap();
    let mut stream = rustls::StreamOwned::new(made, platform.connect()?);
    write!(
        stream,
        "GET /v1/ws HTTP/1.1\r\nhost: localhost\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-version: 13\r\n\
         sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nauthorization: Bearer {token}\r\n\r\n"
    )?;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    match head.starts_with(b"HTTP/1.1 101") {
        true => Ok(stream),
        false => Err(std::io::Error::other(String::from_utf8_lossy(&head).into_owned())),
    }
}

/// The gateway lets them go, and they neither read nor close.
#[test]
fn websockets_through_tls_that_were_let_go_hold_no_descriptors() {
    use rustls::pki_types::CertificateDer;
    use rustls::pki_types::pem::PemObject;
    const MOST: usize = 20;
    let folder = tempfile::tempdir().unwrap();
    if !certificates(folder.path(), &["server"]) {
        println!("skipped: there is no openssl, which makes the certificates");
        return;
    }
    let at = |name: &str| folder.path().join(name);
    let more = format!(
        "ping = \"200ms\"\nconnections = {MOST}\ntls = {{ cert = {:?}, key = {:?} }}",
        at("server.pem"),
        at("server.key")
    );
    let Some(platform) = platform("tls-leak", &more) else { return };
    let token = platform.token(&["v"]);
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(at("ca.pem")).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config =
        rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = Arc::new(config.with_root_certificates(roots).with_no_client_auth());
    let pid = platform.pid("gateway");
    let before = descriptors(pid);
    let mut kept = Vec::new();
    for _ in 0..5 {
        let mut round = 0;
        let end = Instant::now() + WATCHDOG;
        while round < MOST / 2 {
            match secure_socket(&platform, &config, &token) {
                Ok(socket) => {
                    kept.push(socket);
                    round += 1;
                }
                // There is no place yet.
                Err(error) => {
                    assert!(Instant::now() < end, "{error}");
                    std::thread::sleep(Duration::from_millis(20));
                }
            }
            // A WebSocket through TLS takes three: its socket, and a pair between two threads.
            let open = descriptors(pid);
            assert!(open <= before + 3 * MOST + 10, "{open} descriptors, {before} before");
        }
    }
    // None of them answers a ping.
    until("descriptors come back", || descriptors(pid) <= before + 3);
    assert_eq!(kept.len(), 5 * MOST / 2);
    assert!(!platform.log("gateway").contains("panicked"));
}

/// A frame of HTTP/2.
fn second(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    bytes.extend([kind, flags]);
    bytes.extend(stream.to_be_bytes());
    bytes.extend(payload);
    bytes
}

/// td stands still, so that the requests are in work when their streams are reset.
#[test]
fn a_stream_that_is_reset_is_no_request_in_work_and_its_connection_idles_out() {
    use nix::sys::signal::{Signal, kill};
    const RESET: u8 = 3;
    const END_STREAM: u8 = 1;
    const END_HEADERS: u8 = 4;
    let more = "head = \"400ms\"\nidle = \"800ms\"\nanswer = \"20s\"";
    let Some(platform) = platform("second", more) else { return };
    let token = platform.token(&["t", "--role", "trader"]);
    let td = nix::unistd::Pid::from_raw(platform.pid("td"));
    for streams in [0_u32, 1, 5] {
        let mut stream = platform.connect().unwrap();
        kill(td, Signal::SIGSTOP).unwrap();
        let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
        bytes.extend(second(4, 0, 0, &[]));
        for number in 0..streams {
            // POST, http, the path, the host, the token.
            let value = format!("Bearer {token}");
            let mut head = vec![0x83, 0x86, 0x04, 10];
            head.extend(b"/v1/orders");
            head.extend([0x01, 1, b'a', 0x0f, 0x08, u8::try_from(value.len()).unwrap()]);
            head.extend(value.as_bytes());
            bytes.extend(second(1, END_HEADERS, 2 * number + 1, &head));
            let body = order(&format!("{streams}-{number}"), "buy", 1, "95");
            bytes.extend(second(0, END_STREAM, 2 * number + 1, body.as_bytes()));
        }
        stream.write_all(&bytes).unwrap();
        std::thread::sleep(Duration::from_millis(200));
        for number in 0..streams {
            stream.write_all(&second(RESET, 0, 2 * number + 1, &8_u32.to_be_bytes())).unwrap();
        }
        std::thread::sleep(Duration::from_millis(100));
        kill(td, Signal::SIGCONT).unwrap();
        let mut rest = Vec::new();
        if let Err(error) = stream.read_to_end(&mut rest) {
            let is_reset = error.kind() == std::io::ErrorKind::ConnectionReset;
            assert!(is_reset, "{streams} streams: the connection stays open: {error}");
        }
    }
    assert!(!platform.log("gateway").contains("panicked"));
}

/// The system asks peers that are silent whether they are still there.
#[test]
fn every_connection_over_tcp_is_kept_alive() {
    let fix = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let more = format!("diff = true\nfix = {{ listen = \"127.0.0.1:{fix}\", sessions = \"fix.json\" }}");
    let Some(platform) = platform("alive", &more) else { return };
    let token = platform.token(&["t"]);
    let http = platform.connect().unwrap();
    let socket = platform.socket(&token);
    let session = TcpStream::connect(("127.0.0.1", fix)).unwrap();
    for (what, stream) in [("HTTP", &http), ("WebSocket", &socket.stream), ("FIX", &session)] {
        let (here, there) = (stream.local_addr().unwrap().port(), stream.peer_addr().unwrap().port());
        let is_kept = || {
            let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
            table.lines().any(|line| {
                let fields: Vec<&str> = line.split_whitespace().collect();
                let ends = |field: usize, port: u16| {
                    fields.get(field).is_some_and(|field| field.ends_with(&format!(":{port:04X}")))
                };
                // Timer 2 is that of keepalive.
                ends(1, there) && ends(2, here) && fields.get(5).is_some_and(|timer| timer.starts_with("02:"))
            })
        };
        until(&format!("{what} has no keepalive"), is_kept);
    }
}

#[test]
fn the_rate_of_an_account_cannot_be_used_up_by_a_token_of_another_account() {
    let Some(platform) = platform("rates", "order_rate = 5") else { return };
    let owner = platform.token(&["o", "--role", "trader", "--accounts", "9"]);
    let other = platform.token(&["x", "--role", "trader", "--accounts", "8"]);
    let made = platform.ask(&owner, "POST", "/v1/orders", &order("a", "buy", 1, "95"));
    let id = made.body["order_id"].as_str().unwrap().to_owned();
    std::thread::sleep(Duration::from_millis(1_100));
    for (method, path, body) in [
        ("DELETE", "/v1/clients/9/a".to_owned(), ""),
        ("PATCH", "/v1/clients/9/a".to_owned(), r#"{"price":"94"}"#),
        ("DELETE", format!("/v1/orders/{id}"), ""),
        ("PATCH", format!("/v1/orders/{id}"), r#"{"price":"94"}"#),
        ("DELETE", "/v1/orders?account=9".to_owned(), ""),
        ("POST", "/v1/orders".to_owned(), &order("b", "buy", 1, "95")),
        ("DELETE", "/v1/clients/9/never".to_owned(), ""),
    ] {
        for _ in 0..6 {
            let status = platform.ask(&other, method, &path, body).status;
            assert!(matches!(status, 403 | 404), "{method} {path}: {status}");
        }
        // A request of the owner's, which the rate has room for.
        let answer = platform.ask(&owner, "PATCH", "/v1/clients/9/a", r#"{"price":"94.5"}"#);
        assert_eq!(answer.status, 200, "after {method} {path}: {answer:?}");
        std::thread::sleep(Duration::from_millis(250));
    }
}
