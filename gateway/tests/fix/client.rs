//! A FIX client of our own: it writes and reads the fields itself.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::{Duration, Instant, SystemTime};

use serde_json::json;

use crate::support::{self, Platform, WATCHDOG, platform_with};

/// A connection, whatever it goes through.
pub(crate) trait Both: Read + Write {}
impl<T: Read + Write> Both for T {}

/// A client's end: numbers as it has them, which outlive a connection.
pub(crate) struct Client {
    pub(crate) port: u16,
    pub(crate) begin: &'static str,
    pub(crate) token: String,
    pub(crate) stream: Option<Box<dyn Both>>,
    pub(crate) tls: Option<std::sync::Arc<rustls::ClientConfig>>,
    pub(crate) buffer: Vec<u8>,
    pub(crate) next_out: u64,
    pub(crate) next_in: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Message(pub(crate) Vec<(u32, String)>);

impl Message {
    pub(crate) fn get(&self, tag: u32) -> &str {
        self.0.iter().find(|(known, _)| *known == tag).map_or("", |(_, value)| value)
    }

    /// These tags have these values.
    pub(crate) fn is(&self, values: &[(u32, &str)]) -> bool {
        values.iter().all(|(tag, value)| self.get(*tag) == *value)
    }
}

pub(crate) fn now() -> String {
    before(0)
}

/// So many seconds ago.
pub(crate) fn before(seconds: u64) -> String {
    let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs() - seconds;
    let date =
        Command::new("date").args(["-u", "-d", &format!("@{time}"), "+%Y%m%d-%H:%M:%S"]).output().unwrap();
    String::from_utf8(date.stdout).unwrap().trim().to_owned()
}

pub(crate) fn bytes(begin: &str, body: &str) -> Vec<u8> {
    let mut text = format!("8={begin}\x019={}\x01{body}", body.len());
    let sum = text.bytes().fold(0_u8, |sum, byte| sum.wrapping_add(byte));
    text.push_str(&format!("10={sum:03}\x01"));
    text.into_bytes()
}

impl Client {
    pub(crate) fn new(port: u16, token: &str) -> Client {
        Client {
            port,
            begin: "FIX.4.4",
            token: token.to_owned(),
            stream: None,
            tls: None,
            buffer: Vec::new(),
            next_out: 1,
            next_in: 1,
        }
    }

    pub(crate) fn connect(&mut self) {
        let end = Instant::now() + WATCHDOG;
        self.buffer.clear();
        loop {
            match TcpStream::connect(("127.0.0.1", self.port)) {
                Ok(stream) => {
                    stream.set_read_timeout(Some(WATCHDOG)).unwrap();
                    self.stream = Some(match &self.tls {
                        None => Box::new(stream),
                        Some(config) => {
                            let name = "localhost".try_into().unwrap();
                            let made =
                                rustls::ClientConnection::new(std::sync::Arc::clone(config), name).unwrap();
                            Box::new(rustls::StreamOwned::new(made, stream))
                        }
                    });
                    return;
                }
                Err(error) => assert!(Instant::now() < end, "no connection: {error}"),
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub(crate) fn write(&mut self, body: &str) {
        let all = bytes(self.begin, &body.replace('|', "\x01"));
        self.stream.as_mut().unwrap().write_all(&all).unwrap();
    }

    /// A message with any number.
    pub(crate) fn send_as(&mut self, sequence: u64, kind: &str, more: &str) {
        let header = format!("35={kind}|49=DESK|56=COLO|34={sequence}|52={}|", now());
        self.write(&format!("{header}{more}"));
    }

    pub(crate) fn send(&mut self, kind: &str, more: &str) {
        let sequence = self.next_out;
        self.next_out += 1;
        self.send_as(sequence, kind, more);
    }

    /// Any message; `None`: the connection is closed.
    pub(crate) fn read(&mut self) -> Option<Message> {
        loop {
            if let Some(end) = self.buffer.windows(4).position(|bytes| bytes == b"\x0110=")
                && self.buffer.len() >= end + 8
            {
                let all: Vec<u8> = self.buffer.drain(..end + 8).collect();
                let sum = all[..=end].iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
                let text = String::from_utf8(all).unwrap();
                assert!(text.ends_with(&format!("10={sum:03}\x01")), "{text}");
                let fields = text.split('\x01').filter(|field| !field.is_empty());
                let pairs = fields.map(|field| field.split_once('=').unwrap());
                return Some(Message(
                    pairs.map(|(tag, value)| (tag.parse().unwrap(), value.to_owned())).collect(),
                ));
            }
            let mut bytes = [0; 4_096];
            match self.stream.as_mut().unwrap().read(&mut bytes) {
                Ok(0) => return None,
                Ok(count) => self.buffer.extend_from_slice(&bytes[..count]),
                Err(error)
                    if matches!(
                        error.kind(),
                        std::io::ErrorKind::ConnectionReset | std::io::ErrorKind::UnexpectedEof
                    ) =>
                {
                    return None;
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => panic!("{error}"),
            }
        }
    }

    /// The next message that is no heartbeat; numbers go up by one.
    pub(crate) fn next(&mut self) -> Option<Message> {
        let message = self.read()?;
        if message.get(43) != "Y" {
            assert_eq!(message.get(34), self.next_in.to_string(), "{message:?}");
            self.next_in += 1;
        }
        match message.get(35) {
            "1" => {
                let id = message.get(112).to_owned();
                self.send("0", &format!("112={id}|"));
                self.next()
            }
            "0" if message.get(112).is_empty() => self.next(),
            _ => Some(message),
        }
    }

    pub(crate) fn expect(&mut self, values: &[(u32, &str)]) -> Message {
        let message = self.next().unwrap_or_else(|| panic!("closed while waiting for {values:?}"));
        assert!(message.is(values), "{values:?}: {message:?}");
        message
    }

    pub(crate) fn logon(&mut self, more: &str) -> Message {
        self.connect();
        let token = self.token.clone();
        self.send("A", &format!("98=0|108=30|554={token}|{more}"));
        self.expect(&[(35, "A")])
    }

    pub(crate) fn order(&mut self, id: &str, side: u8, quantity: u32, price: &str) {
        self.send(
            "D",
            &format!("11={id}|1=9|55=SIM001|54={side}|38={quantity}|40=2|44={price}|59=0|60={}|", now()),
        );
    }
}

/// A platform that speaks FIX, and a session of a token.
pub(crate) fn started(test: &str) -> Option<(Platform, u16, String)> {
    started_with(test, "")
}

/// The same, with more at the end of its file.
pub(crate) fn started_with(test: &str, more: &str) -> Option<(Platform, u16, String)> {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let gateway = format!(
        "fix = {{ listen = \"127.0.0.1:{port}\", sessions = \"fix.json\" }}\nlimits = {{ max_working_orders = 10000 }}"
    );
    let count = "[strategies]\ncount = 0\n";
    let platform = platform_with(test, &gateway, &[(count, &format!("{count}{more}"))])?;
    let token = platform.token(&["fix", "--role", "trader"]);
    let number = token.split('_').nth(1).unwrap();
    let sessions =
        json!({"sessions": [{"client": "DESK", "gateway": "COLO", "token": number, "account": 9}]});
    std::fs::write(platform.path("fix.json"), sessions.to_string()).unwrap();
    Some((platform, port, token))
}

/// An order of the other account, over HTTP.
pub(crate) fn other(platform: &Platform, token: &str, name: &str, side: &str, quantity: u32, price: &str) {
    let body = support::order(name, side, quantity, price).replace("\"account\":9", "\"account\":8");
    let answer = platform.ask(token, "POST", "/v1/orders", &body);
    assert!(matches!(answer.status, 200 | 201), "{answer:?}");
}
