//! A client's side of HTTP/1.1, as small as it can be: what is measured is the server.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};

use super::BenchError;

/// Nobody waits longer for anything.
pub(super) const WATCHDOG: Duration = Duration::from_secs(20);

/// A request with a token.
pub(super) fn request(method: &str, path: &str, token: &str, body: &str) -> Vec<u8> {
    format!(
        "{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {token}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// A GET without anything.
pub(super) fn plain(path: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n").into_bytes()
}

/// Status and whole length of the answer that these bytes begin with; `None`: it is not whole.
fn answer(bytes: &[u8]) -> Option<(u16, usize)> {
    let head = bytes.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let status = std::str::from_utf8(bytes.get(9..12)?).ok()?.parse().ok()?;
    let length = bytes[..head].split(|byte| *byte == b'\n').find_map(|line| {
        let value = line.strip_prefix(b"content-length: ")?;
        std::str::from_utf8(value).ok()?.trim().parse::<usize>().ok()
    });
    let whole = head + length.unwrap_or(0);
    (bytes.len() >= whole).then_some((status, whole))
}

/// One connection that waits for its answers.
#[derive(Debug)]
pub(super) struct Http {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Http {
    pub(super) fn connect(port: u16) -> io::Result<Http> {
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(WATCHDOG))?;
        Ok(Http { stream, buffer: Vec::new() })
    }

    pub(super) fn send(&mut self, request: &[u8]) -> io::Result<()> {
        self.stream.write_all(request)
    }

    /// The next answer's status.
    pub(super) fn hear(&mut self) -> io::Result<u16> {
        let mut chunk = [0; 16 << 10];
        loop {
            if let Some((status, length)) = answer(&self.buffer) {
                self.buffer.drain(..length);
                return Ok(status);
            }
            match self.stream.read(&mut chunk)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                count => self.buffer.extend_from_slice(&chunk[..count]),
            }
        }
    }

    pub(super) fn ask(&mut self, request: &[u8]) -> io::Result<u16> {
        self.send(request)?;
        self.hear()
    }
}

/// What a load came to.
#[derive(Clone, Debug, Default)]
pub(super) struct Loaded {
    pub(super) per_s: f64,
    pub(super) refused: u64,
    /// In microseconds, in order.
    pub(super) times: Vec<f64>,
}

struct One {
    stream: TcpStream,
    buffer: Vec<u8>,
    sent: Instant,
}

/// So many connections, each of which asks again when it has its answer, for so long after a beginning that does not count.
pub(super) fn load(
    port: u16,
    connections: usize,
    request: &[u8],
    warm: Duration,
    span: Duration,
) -> Result<Loaded, BenchError> {
    let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC).map_err(io::Error::from)?;
    let mut all = Vec::with_capacity(connections);
    for number in 0..connections {
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        epoll.add(&stream, EpollEvent::new(EpollFlags::EPOLLIN, number as u64)).map_err(io::Error::from)?;
        all.push(One { stream, buffer: Vec::new(), sent: Instant::now() });
    }
    let begin = Instant::now() + warm;
    let end = begin + span;
    for one in &mut all {
        one.sent = Instant::now();
        one.stream.write_all(request)?;
    }
    let mut loaded = Loaded::default();
    let mut ready = vec![EpollEvent::empty(); 512];
    let mut chunk = vec![0; 64 << 10];
    let mut answers = 0_u64;
    loop {
        let count = epoll.wait(&mut ready, EpollTimeout::from(100_u8)).map_err(io::Error::from)?;
        let mut now = Instant::now();
        for event in ready.iter().take(count) {
            let Some(one) = all.get_mut(event.data() as usize) else { continue };
            let read = match one.stream.read(&mut chunk) {
                Ok(0) => return Err(BenchError::Failed("a connection was closed under load".to_owned())),
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
                Err(error) => return Err(error.into()),
            };
            // Most answers come whole.
            let status = if one.buffer.is_empty()
                && let Some((status, length)) = answer(&chunk[..read])
                && length == read
            {
                status
            } else {
                one.buffer.extend_from_slice(&chunk[..read]);
                let Some((status, length)) = answer(&one.buffer) else { continue };
                one.buffer.drain(..length);
                status
            };
            now = Instant::now();
            if now >= begin && now < end {
                answers += 1;
                loaded.refused += u64::from(!(200..300).contains(&status));
                loaded.times.push(now.duration_since(one.sent).as_secs_f64() * 1e6);
            }
            one.sent = now;
            one.stream.write_all(request)?;
        }
        if now >= end {
            break;
        }
    }
    loaded.per_s = answers as f64 / span.as_secs_f64();
    loaded.times.sort_by(f64::total_cmp);
    Ok(loaded)
}

#[cfg(test)]
mod tests {
    use super::answer;

    #[test]
    fn an_answer_is_whole_when_its_body_is() {
        let text = b"HTTP/1.1 202 Accepted\r\ncontent-length: 3\r\n\r\nabcHTTP";
        assert_eq!(answer(text), Some((202, text.len() - 4)));
        assert_eq!((answer(&text[..text.len() - 5]), answer(&text[..20])), (None, None));
    }
}
