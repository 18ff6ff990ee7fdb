//! Servers to compare with, in processes of their own: each does the least that its measurement asks for.

use std::convert::Infallible;
use std::io::{self, BufRead, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use nix::time::{ClockId, clock_gettime};

use crate::http::{accept_key, listen};
use crate::push::{Decoder, Incoming, Kind, close, frame};

/// Which one.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum PeerKind {
    /// hyper, and one answer.
    Hyper,
    /// Bytes back as they came.
    Echo,
    /// One write for each of many sockets.
    Write,
    /// The gateway's own frames of WebSockets, back as they came: what the Autobahn suite talks to.
    Websocket,
}

/// Serves until standard input ends.
///
/// # Errors
/// The error of the system.
pub fn serve(kind: PeerKind) -> io::Result<()> {
    let listener = listen(SocketAddr::from(([127, 0, 0, 1], 0)))?;
    let port = listener.local_addr()?.port();
    writeln!(io::stdout(), "{port}")?;
    if let PeerKind::Write = kind {
        return write(&listener);
    }
    std::thread::spawn(|| {
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        // Who has asked has gone.
        std::process::exit(0);
    });
    match kind {
        PeerKind::Hyper => hyper(listener),
        _ => {
            listener.set_nonblocking(false)?;
            for stream in listener.incoming() {
                let stream = stream?;
                stream.set_nodelay(true)?;
                std::thread::spawn(move || match kind {
                    PeerKind::Echo => echo(stream),
                    _ => websocket(stream),
                });
            }
            Ok(())
        }
    }
}

/// The loop that the gateway is compared with: one runtime of one thread, and nothing but hyper.
fn hyper(listener: TcpListener) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let local = tokio::task::LocalSet::new();
    local.block_on(&runtime, async move {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            tokio::task::spawn_local(async move {
                let service = service_fn(|_| async {
                    let mut answer =
                        hyper::Response::new(Full::new(Bytes::from_static(b"{\"status\":\"ok\"}\n")));
                    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
                    Ok::<_, Infallible>(answer)
                });
                let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
            });
        }
    })
}

fn echo(mut stream: TcpStream) -> io::Result<()> {
    let mut chunk = [0; 64 << 10];
    loop {
        match stream.read(&mut chunk)? {
            0 => return Ok(()),
            count => stream.write_all(&chunk[..count])?,
        }
    }
}

/// `accept N`: takes as many connections. `write LENGTH`: a message with the time before the loop to each of them.
fn write(listener: &TcpListener) -> io::Result<()> {
    listener.set_nonblocking(false)?;
    let mut streams: Vec<TcpStream> = Vec::new();
    for line in io::stdin().lock().lines() {
        let line = line?;
        let (what, number) = line.split_once(' ').unwrap_or((&line, "0"));
        let number: usize = number.parse().unwrap_or(0);
        match what {
            "accept" => {
                for _ in 0..number {
                    let (stream, _) = listener.accept()?;
                    stream.set_nodelay(true)?;
                    streams.push(stream);
                }
            }
            _ => {
                let mut payload = vec![0; number.max(8)];
                payload[..8].copy_from_slice(&monotonic_ns().to_le_bytes());
                let message = frame(Kind::Binary, &payload);
                for stream in &mut streams {
                    stream.write_all(&message)?;
                }
            }
        }
        writeln!(io::stdout(), "done")?;
    }
    Ok(())
}

/// For those who have no platform's clock.
pub(super) fn monotonic_ns() -> u64 {
    clock_gettime(ClockId::CLOCK_MONOTONIC)
        .map_or(0, |time| time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64)
}

fn websocket(mut stream: TcpStream) -> io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let key = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("sec-websocket-key").then(|| value.trim().to_owned())
    });
    write!(
        stream,
        "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-accept: {}\r\n\r\n",
        accept_key(&key.unwrap_or_default())
    )?;
    let mut decoder = Decoder::new(16 << 20);
    let mut chunk = vec![0; 64 << 10];
    loop {
        let count = stream.read(&mut chunk)?;
        if count == 0 {
            return Ok(());
        }
        decoder.add(&chunk[..count]);
        loop {
            let (answer, is_last) = match decoder.next() {
                Ok(None) => break,
                Ok(Some(Incoming::Text(text))) => (frame(Kind::Text, text.as_bytes()), false),
                Ok(Some(Incoming::Binary(bytes))) => (frame(Kind::Binary, &bytes), false),
                Ok(Some(Incoming::Ping(payload))) => (frame(Kind::Pong, &payload), false),
                Ok(Some(Incoming::Pong)) => continue,
                Ok(Some(Incoming::Close(code))) => (close(code.unwrap_or(1000), ""), true),
                Err(broken) => (close(broken.0, broken.1), true),
            };
            stream.write_all(&answer)?;
            if is_last {
                return Ok(());
            }
        }
    }
}
