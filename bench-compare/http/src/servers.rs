//! Servers that answer `GET /health`, each as its own documentation shows, on as many threads as the gateway has.

use std::convert::Infallible;
use std::io::{self, Write};
use std::net::{Ipv4Addr, TcpListener};

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use axum::serve::ListenerExt;
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::HeaderValue;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use hyperlane::{Context, ServerConfig, ServerHook, Status, Stream};

const BODY: &str = "{\"status\":\"ok\"}\n";
const JSON: &str = "application/json";

/// A server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Server {
    /// hyper, and nothing else.
    Hyper,
    /// axum, with one route.
    Axum,
    /// hyperlane, with one route.
    Hyperlane,
}

impl Server {
    /// All of them.
    pub const ALL: [Server; 3] = [Server::Hyper, Server::Axum, Server::Hyperlane];

    /// As it is written in figures.
    pub fn name(self) -> &'static str {
        match self {
            Server::Hyper => "hyper",
            Server::Axum => "axum",
            Server::Hyperlane => "hyperlane",
        }
    }
}

/// Serves until standard input ends, on a free port, which it prints.
///
/// # Errors
/// The error of the system.
pub fn serve(server: Server, threads: usize) -> io::Result<()> {
    std::thread::spawn(|| {
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        // Who has asked has gone.
        std::process::exit(0);
    });
    let runtime = match threads {
        1 => tokio::runtime::Builder::new_current_thread().enable_all().build()?,
        _ => tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build()?,
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let port = listener.local_addr()?.port();
    runtime.block_on(async {
        match server {
            Server::Hyperlane => {
                // It takes an address, not a listener.
                drop(listener);
                let mut server = hyperlane::Server::default();
                let mut config = ServerConfig::default();
                config.set_address(format!("127.0.0.1:{port}")).set_nodelay(Some(true));
                server.server_config(config).route::<Health>("/health");
                let running = server.run().await.map_err(|error| io::Error::other(error.to_string()))?;
                say(port)?;
                running.wait().await;
                Ok(())
            }
            Server::Axum => {
                let route = Router::new().route("/health", get(|| async { ([(CONTENT_TYPE, JSON)], BODY) }));
                say(port)?;
                let listener = listen(listener)?.tap_io(|stream| {
                    let _ = stream.set_nodelay(true);
                });
                axum::serve(listener, route).await
            }
            Server::Hyper => {
                let listener = listen(listener)?;
                say(port)?;
                loop {
                    let (stream, _) = listener.accept().await?;
                    stream.set_nodelay(true)?;
                    tokio::spawn(async move {
                        let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(answer)).await;
                    });
                }
            }
        }
    })
}

async fn answer<T>(_: T) -> Result<hyper::Response<Full<Bytes>>, Infallible> {
    let mut answer = hyper::Response::new(Full::new(Bytes::from_static(BODY.as_bytes())));
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    Ok(answer)
}

fn say(port: u16) -> io::Result<()> {
    writeln!(io::stdout(), "{port}")
}

fn listen(listener: TcpListener) -> io::Result<tokio::net::TcpListener> {
    listener.set_nonblocking(true)?;
    tokio::net::TcpListener::from_std(listener)
}

struct Health;

impl ServerHook for Health {
    async fn new(_: &mut Stream, _: &mut Context) -> Self {
        Health
    }

    async fn handle(self, stream: &mut Stream, context: &mut Context) -> Status {
        let response = context.get_mut_response();
        response.set_status_code(200).set_header("Content-Type", JSON).set_body(BODY);
        let bytes = response.build();
        stream.send(bytes).await;
        Status::Continue
    }
}
