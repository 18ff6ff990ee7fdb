//! Connections to master's socket. Master never waits for a client.
//!
//! Every connection is read and written as far as possible without blocking, has a time limit for its request and for
//! reading the answer, and the number of connections is bounded. So a client that connects and sends nothing, or a byte
//! now and then, cannot delay a restart or a stop.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::time::{Duration, Instant};

use journal::process::ProcessIdentity;
use nix::poll::{PollFd, PollFlags};
use nix::sys::socket::{AddressFamily, Backlog, SockFlag, SockType, UnixAddr, bind, listen, socket};
use node::protocol::{Reply, Request};

use crate::peer::Peer;

/// Limit of connections. The oldest without a request makes room for a new one.
const MOST: usize = 64;
/// Time limit of a whole request, from the connection on.
const ASK_WITHIN: Duration = Duration::from_secs(1);
/// Time limit for reading the answer.
const TAKE_WITHIN: Duration = Duration::from_secs(10);
/// Greatest length of a request in bytes.
const LONGEST_QUESTION: usize = 64 << 10;

/// Names one connection.
pub(crate) type ClientId = u64;

/// Master's socket, and all connections to it.
#[derive(Debug)]
pub(crate) struct Clients {
    listener: UnixListener,
    clients: Vec<Client>,
    next: ClientId,
}

#[derive(Debug)]
struct Client {
    id: ClientId,
    stream: UnixStream,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    /// Its request is being read.
    Asks { text: Vec<u8>, until: Instant },
    /// It waits for its answer.
    Waits,
    /// Its answer is being written.
    Answered { text: Vec<u8>, written: usize, until: Instant },
}

impl Clients {
    /// Listens at `path`.
    ///
    /// # Errors
    /// The error of the system.
    pub(crate) fn listen(path: &Path) -> io::Result<Clients> {
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        let bound = socket(AddressFamily::Unix, SockType::Stream, flags, None)?;
        bind(bound.as_raw_fd(), &UnixAddr::new(path)?)?;
        // Write access here allows stopping the platform; until `listen`, connections are refused whatever the umask.
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
        listen(&bound, Backlog::MAXCONN)?;
        Ok(Clients { listener: UnixListener::from(bound), clients: Vec::new(), next: 0 })
    }

    /// The descriptors to poll.
    pub(crate) fn descriptors(&self) -> impl Iterator<Item = PollFd<'_>> {
        let of_clients = self.clients.iter().filter_map(|client| {
            let flags = match client.stage {
                Stage::Asks { .. } => PollFlags::POLLIN,
                // A client that hung up would be reported again and again.
                Stage::Waits => return None,
                Stage::Answered { .. } => PollFlags::POLLOUT,
            };
            Some(PollFd::new(client.stream.as_fd(), flags))
        });
        [PollFd::new(self.listener.as_fd(), PollFlags::POLLIN)].into_iter().chain(of_clients)
    }

    /// Accepts connections, reads and writes as far as possible, and returns the complete requests. Each of them must
    /// be answered with [`Clients::answer`], now or later.
    pub(crate) fn look(&mut self, now: Instant) -> Vec<(ClientId, Request)> {
        self.accept(now);
        let mut asked = Vec::new();
        for index in 0..self.clients.len() {
            let client = &mut self.clients[index];
            match client.read() {
                Heard::Question(request) => {
                    client.stage = Stage::Waits;
                    asked.push((client.id, request));
                }
                Heard::Garbled(reason) => client.answer(&Reply::Refused { reason }, now),
                Heard::Nothing => {}
            }
        }
        self.clients.retain_mut(|client| client.goes_on(now));
        asked
    }

    /// The process at the other end, which says that it is process `claimed`; else the reason for a refusal.
    pub(crate) fn process(&self, id: ClientId, claimed: u32) -> Result<ProcessIdentity, String> {
        let client = self.clients.iter().find(|client| client.id == id);
        let peer = client.map(|client| Peer::of(&client.stream)).ok_or("it has disconnected")?;
        peer.map_err(|error| format!("the system does not say who it is: {error}"))?.identity(claimed)
    }

    /// Answers a request. Has no effect if the client has disconnected.
    pub(crate) fn answer(&mut self, id: ClientId, reply: &Reply, now: Instant) {
        if let Some(client) = self.clients.iter_mut().find(|client| client.id == id) {
            client.answer(reply, now);
            self.clients.retain_mut(|client| client.goes_on(now));
        }
    }

    /// Accepts at most the limit of connections in one call, so that master continues whatever arrives.
    fn accept(&mut self, now: Instant) {
        for _ in 0..MOST {
            let stream = match self.listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) => {
                    log::warn!("a connection failed: {error}");
                    return;
                }
            };
            if stream.set_nonblocking(true).is_err() {
                continue;
            }
            if self.clients.len() >= MOST {
                let silent =
                    self.clients.iter().position(|client| matches!(client.stage, Stage::Asks { .. }));
                // Dropped: the client can connect again.
                let Some(silent) = silent else { continue };
                self.clients.remove(silent);
            }
            self.next += 1;
            let stage = Stage::Asks { text: Vec::new(), until: now + ASK_WITHIN };
            self.clients.push(Client { id: self.next, stream, stage });
        }
    }
}

/// The result of reading a connection.
enum Heard {
    Nothing,
    Question(Request),
    Garbled(String),
}

impl Client {
    fn read(&mut self) -> Heard {
        let Stage::Asks { text, .. } = &mut self.stage else { return Heard::Nothing };
        let mut bytes = [0; 4096];
        while text.len() <= LONGEST_QUESTION && !text.contains(&b'\n') {
            match self.stream.read(&mut bytes) {
                Ok(0) if text.is_empty() => return Heard::Garbled("nothing was asked".to_owned()),
                // Equivalent to the end of the line.
                Ok(0) => text.push(b'\n'),
                Ok(count) => text.extend_from_slice(&bytes[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Heard::Nothing,
                Err(error) => return Heard::Garbled(error.to_string()),
            }
        }
        let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
        match serde_json::from_slice(line) {
            Ok(request) => Heard::Question(request),
            Err(error) => {
                let line: String = String::from_utf8_lossy(line).chars().take(80).collect();
                Heard::Garbled(format!("`{line}` is not understood: {error}"))
            }
        }
    }

    fn answer(&mut self, reply: &Reply, now: Instant) {
        let text = serde_json::to_vec(reply).map(|mut text| {
            text.push(b'\n');
            text
        });
        match text {
            Ok(text) => self.stage = Stage::Answered { text, written: 0, until: now + TAKE_WITHIN },
            Err(error) => log::error!("an answer cannot be written: {error}"),
        }
    }

    /// Writes as far as possible. False once the connection is finished.
    fn goes_on(&mut self, now: Instant) -> bool {
        match &mut self.stage {
            Stage::Asks { until, .. } => now < *until,
            Stage::Waits => true,
            Stage::Answered { text, written, until } => {
                while *written < text.len() {
                    match self.stream.write(&text[*written..]) {
                        Ok(count) if count > 0 => *written += count,
                        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                        Err(error) if error.kind() == io::ErrorKind::WouldBlock => return now < *until,
                        other => {
                            log::debug!("an answer did not arrive: {other:?}");
                            return false;
                        }
                    }
                }
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listening() -> (tempfile::TempDir, Clients, impl Fn() -> UnixStream) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("master.sock");
        let clients = Clients::listen(&path).unwrap();
        (folder, clients, move || UnixStream::connect(&path).unwrap())
    }

    fn ask(stream: &UnixStream, request: &Request) {
        node::protocol::send(stream, request).unwrap();
    }

    #[test]
    fn a_question_among_many_who_say_nothing_is_heard_at_once() {
        let (_folder, mut clients, connect) = listening();
        let now = Instant::now();
        let mut silent = Vec::new();
        for _ in 0..4 {
            silent.extend((0..50).map(|_| connect()));
            assert_eq!(clients.look(now), []);
            assert!(clients.clients.len() <= MOST);
        }
        let asks = connect();
        ask(&asks, &Request::StopNodes);
        let asked = clients.look(now);
        assert_eq!(asked.len(), 1);
        assert_eq!(asked[0].1, Request::StopNodes);
        // It waits as long as necessary, whoever else connects.
        silent.extend((0..100).map(|_| connect()));
        assert_eq!(clients.look(now + ASK_WITHIN * 3), []);
        clients.answer(asked[0].0, &Reply::Done, now + ASK_WITHIN * 3);
        assert_eq!(node::protocol::receive::<Reply>(&asks, None).unwrap(), Reply::Done);
    }

    #[test]
    fn nobody_registers_as_another_process() {
        let (_folder, mut clients, connect) = listening();
        let now = Instant::now();
        let asks = connect();
        let this = std::process::id();
        ask(&asks, &Request::Register { version: 1, node: "td".to_owned(), pid: this });
        let [(id, _)] = clients.look(now)[..] else { panic!("one request") };
        assert_eq!(clients.process(id, this), Ok(ProcessIdentity::current()));
        for other in [0, 1, this + 1] {
            assert!(clients.process(id, other).is_err(), "process {other}");
        }
        assert!(clients.process(id + 1, this).is_err(), "no such connection");
    }

    #[test]
    fn a_question_in_pieces_is_put_together_and_one_without_an_end_is_dropped() {
        let (_folder, mut clients, connect) = listening();
        let now = Instant::now();
        let (whole, endless) = (connect(), connect());
        (&whole).write_all(b"\"shut").unwrap();
        (&endless).write_all(b"\"").unwrap();
        assert_eq!(clients.look(now), []);
        (&whole).write_all(b"down\"\n").unwrap();
        let asked: Vec<Request> = clients.look(now).into_iter().map(|(_, request)| request).collect();
        assert_eq!(asked, [Request::Shutdown]);
        assert_eq!(clients.clients.len(), 2);
        (&endless).write_all(b"x").unwrap();
        assert_eq!(clients.look(now + ASK_WITHIN), []);
        assert_eq!(clients.clients.len(), 1, "only who waits for an answer");
        let long = connect();
        (&long).write_all(&vec![b'x'; LONGEST_QUESTION / 2]).unwrap();
        assert_eq!(clients.look(now), []);
        (&long).write_all(&vec![b'x'; LONGEST_QUESTION / 2 + 1]).unwrap();
        assert_eq!(clients.look(now), []);
        let refused = node::protocol::receive::<Reply>(&long, None).unwrap();
        assert!(matches!(refused, Reply::Refused { .. }), "{refused:?}");
    }
}
