//! Many WebSockets of one client process.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};

use super::BenchError;
use super::http::WATCHDOG;

/// Handshakes at a time.
const AT_A_TIME: usize = 128;

/// The head of a frame that a server has sent: its code, the length of its head, that of its payload.
fn head(bytes: &[u8]) -> Option<(u8, usize, usize)> {
    let code = bytes.first()? & 15;
    Some(match *bytes.get(1)? {
        126 => (code, 4, usize::from(u16::from_be_bytes(bytes.get(2..4)?.try_into().ok()?))),
        127 => (code, 10, u64::from_be_bytes(bytes.get(2..10)?.try_into().ok()?) as usize),
        length => (code, 2, usize::from(length)),
    })
}

/// A text as a client sends it: a mask of zeros is one too.
pub(super) fn said(text: &str) -> Vec<u8> {
    let mut bytes = vec![0x81];
    match text.len() {
        length @ 0..=125 => bytes.push(0x80 | length as u8),
        length => {
            bytes.push(0x80 | 126);
            bytes.extend_from_slice(&(length as u16).to_be_bytes());
        }
    }
    bytes.extend_from_slice(&[0; 4]);
    bytes.extend_from_slice(text.as_bytes());
    bytes
}

/// One of them.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) stream: TcpStream,
    /// What has come and is no whole frame.
    rest: Vec<u8>,
}

impl Member {
    pub(super) fn new(stream: TcpStream) -> Member {
        Member { stream, rest: Vec::new() }
    }

    pub(super) fn say(&mut self, text: &str) -> io::Result<()> {
        self.stream.write_all(&said(text))
    }

    /// Reads once, and gives every whole frame to `take`.
    pub(super) fn read(&mut self, chunk: &mut [u8], mut take: impl FnMut(u8, &[u8])) -> io::Result<()> {
        let count = match self.stream.read(chunk) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
            Err(error) => return Err(error),
        };
        let mut bytes = &chunk[..count];
        let joined;
        if !self.rest.is_empty() {
            self.rest.extend_from_slice(bytes);
            joined = std::mem::take(&mut self.rest);
            bytes = &joined;
        }
        while let Some((code, begin, length)) = head(bytes)
            && let Some(payload) = bytes.get(begin..begin + length)
        {
            take(code, payload);
            bytes = &bytes[begin + length..];
        }
        self.rest.extend_from_slice(bytes);
        Ok(())
    }

    /// The next frame for which this is something; the socket blocks.
    pub(super) fn until<T>(&mut self, mut is_it: impl FnMut(u8, &[u8]) -> Option<T>) -> io::Result<T> {
        let mut chunk = [0; 16 << 10];
        loop {
            let mut found = None;
            self.read(&mut chunk, |code, payload| {
                if found.is_none() {
                    found = is_it(code, payload);
                }
            })?;
            if let Some(found) = found {
                return Ok(found);
            }
        }
    }
}

/// Opens connections; `request` is what each says first, and whether an answer's head is waited for.
pub(super) fn connect(port: u16, count: usize, request: Option<&[u8]>) -> Result<Vec<Member>, BenchError> {
    let mut all = Vec::with_capacity(count);
    while all.len() < count {
        let mut some = Vec::new();
        for _ in 0..AT_A_TIME.min(count - all.len()) {
            let mut stream = TcpStream::connect(("127.0.0.1", port))?;
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(WATCHDOG))?;
            if let Some(request) = request {
                stream.write_all(request)?;
            }
            some.push(stream);
        }
        for mut stream in some {
            if request.is_some() {
                handshake(&mut stream)?;
            }
            all.push(Member::new(stream));
        }
    }
    Ok(all)
}

/// Reads the head of an answer. Nothing comes behind it before the client has said what it wants.
fn handshake(stream: &mut TcpStream) -> Result<(), BenchError> {
    let mut head = Vec::new();
    let mut chunk = [0; 1_024];
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read(&mut chunk)? {
            0 => {
                let said = String::from_utf8_lossy(&head).into_owned();
                return Err(BenchError::Failed(format!("a connection was closed: {said}")));
            }
            count => head.extend_from_slice(&chunk[..count]),
        }
    }
    match head.starts_with(b"HTTP/1.1 101") {
        true => Ok(()),
        false => Err(BenchError::Failed(format!("no WebSocket: {}", String::from_utf8_lossy(&head)))),
    }
}

/// The request for a WebSocket.
pub(super) fn upgrade(token: &str) -> Vec<u8> {
    upgrade_to("/v1/ws", token)
}

/// The same at another place.
pub(super) fn upgrade_to(path: &str, token: &str) -> Vec<u8> {
    format!(
        "GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-version: 13\r\n\
         sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nauthorization: Bearer {token}\r\n\r\n"
    )
    .into_bytes()
}

/// All of them, watched.
pub(super) struct Crowd {
    pub(super) members: Vec<Member>,
    epoll: Epoll,
    ready: Vec<EpollEvent>,
    chunk: Vec<u8>,
}

impl Crowd {
    pub(super) fn new(members: Vec<Member>) -> Result<Crowd, BenchError> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC).map_err(io::Error::from)?;
        for (number, member) in members.iter().enumerate() {
            member.stream.set_nonblocking(true)?;
            let event = EpollEvent::new(EpollFlags::EPOLLIN, number as u64);
            epoll.add(&member.stream, event).map_err(io::Error::from)?;
        }
        Ok(Crowd { members, epoll, ready: vec![EpollEvent::empty(); 1_024], chunk: vec![0; 256 << 10] })
    }

    /// Every member says the same, and has an answer.
    pub(super) fn tell(&mut self, text: &str) -> Result<(), BenchError> {
        let bytes = said(text);
        for member in &mut self.members {
            member.stream.write_all(&bytes)?;
        }
        let mut left = self.members.len();
        let mut has = vec![false; left];
        self.hear(WATCHDOG, |number, code, _| {
            if code == 1 && !std::mem::replace(&mut has[number], true) {
                left -= 1;
            }
            left > 0
        })
    }

    /// Gives every frame with its member's number to `take`, until that wants no more.
    pub(super) fn hear(
        &mut self,
        patience: Duration,
        mut take: impl FnMut(usize, u8, &[u8]) -> bool,
    ) -> Result<(), BenchError> {
        let end = Instant::now() + patience;
        let mut goes_on = true;
        while goes_on {
            let count =
                self.epoll.wait(&mut self.ready, EpollTimeout::from(100_u8)).map_err(io::Error::from)?;
            if count == 0 && Instant::now() > end {
                return Err(BenchError::Failed("not every message came to every WebSocket".to_owned()));
            }
            for event in self.ready.iter().take(count) {
                let number = event.data() as usize;
                let Some(member) = self.members.get_mut(number) else { continue };
                let mut closed = None;
                member.read(&mut self.chunk, |code, payload| {
                    if code == 8 {
                        closed =
                            Some(String::from_utf8_lossy(payload.get(2..).unwrap_or_default()).into_owned());
                    }
                    goes_on &= take(number, code, payload);
                })?;
                if let Some(why) = closed {
                    return Err(BenchError::Failed(format!("a WebSocket was closed: {why}")));
                }
            }
        }
        Ok(())
    }

    /// What has come too late for whoever waited for it.
    pub(super) fn drain(&mut self) -> Result<(), BenchError> {
        self.hear_until_quiet(|_, _| {})
    }

    /// Gives what comes to `take`, until nothing has come for a moment.
    pub(super) fn hear_until_quiet(&mut self, mut take: impl FnMut(usize, u8)) -> Result<(), BenchError> {
        loop {
            let count =
                self.epoll.wait(&mut self.ready, EpollTimeout::from(50_u8)).map_err(io::Error::from)?;
            if count == 0 {
                return Ok(());
            }
            for event in self.ready.iter().take(count) {
                let number = event.data() as usize;
                if let Some(member) = self.members.get_mut(number) {
                    member.read(&mut self.chunk, |code, _| take(number, code))?;
                }
            }
        }
    }
}
