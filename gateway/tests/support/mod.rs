//! A running platform with a gateway, and clients that nobody else wrote: raw sockets.
#![allow(dead_code, reason = "each test uses a part of it")]

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use serde_json::Value;

/// Nothing here may take longer.
pub(crate) const WATCHDOG: Duration = Duration::from_secs(30);

const CONFIG: &str = r#"
[platform]
instance = "NAME"
[md]
source = "exchange"
instruments = 2
readers = "loose"
mode = "parked"
[td]
mode = "parked"
restart_max = 1000
restart_backoff = "0s"
[matching]
mode = "parked"
fill = "exchange"
self_trade = "allow"
[[matching.phases]]
after = "0s"
phase = "continuous"
[ledger]
mode = "parked"
[[accounts]]
number = 8
kind = "margin"
deposit = 1000000000
[[accounts]]
number = 9
kind = "margin"
deposit = 1000000000
[gateway]
listen = "127.0.0.1:PORT"
unix = "gateway.sock"
accounts = [8, 9]
restart_max = 1000
restart_backoff = "0s"
MORE
[strategies]
count = 0
"#;

/// A platform in a folder of its own; it is taken down when this goes.
pub(crate) struct Platform {
    folder: tempfile::TempDir,
    colo: PathBuf,
    pub(crate) name: String,
    pub(crate) port: u16,
}

/// An answer over HTTP.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Value,
}

fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// `None`, with the reason printed: `colo` has not been built.
pub(crate) fn platform(test: &str, more: &str) -> Option<Platform> {
    platform_with(test, more, &[])
}

/// In place of the exchange: a market that is simulated, and quoted.
pub(crate) const QUOTED: &[(&str, &str)] = &[
    ("source = \"exchange\"", "source = \"sim\"\ncount = 0\ninterval = \"5ms\""),
    ("fill = \"exchange\"\nself_trade = \"allow\"", ""),
    ("[[matching.phases]]\nafter = \"0s\"\nphase = \"continuous\"", ""),
];

/// The same with parts of the platform file replaced.
pub(crate) fn platform_with(test: &str, more: &str, changes: &[(&str, &str)]) -> Option<Platform> {
    let colo = Path::new(env!("CARGO_BIN_EXE_colo-gateway")).with_file_name("colo");
    if !colo.exists() {
        println!("skipped: there is no {}; `cargo build -p colo` makes it", colo.display());
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let (name, port) = (format!("gw-{test}-{}", std::process::id()), free_port());
    let changed = changes.iter().fold(CONFIG.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    });
    let config = changed.replace("NAME", &name).replace("PORT", &port.to_string()).replace("MORE", more);
    std::fs::write(folder.path().join("g.toml"), config).unwrap();
    let platform = Platform { folder, colo, name, port };
    let up = platform.colo(&["up", "g.toml", "--stay"]);
    assert!(up.status.success(), "{}\n{}", String::from_utf8_lossy(&up.stderr), platform.log("gateway"));
    Some(platform)
}

impl Platform {
    pub(crate) fn colo(&self, arguments: &[&str]) -> Output {
        Command::new(&self.colo)
            .args(arguments)
            .current_dir(self.folder.path())
            .env("XDG_STATE_HOME", self.folder.path())
            .env("COLO_LOG", "debug")
            .output()
            .unwrap()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The instance's folder in shared memory.
    pub(crate) fn shared(&self) -> PathBuf {
        self.instance().path().to_owned()
    }

    pub(crate) fn instance(&self) -> node::InstanceDir {
        node::InstanceDir::new(&self.name).unwrap()
    }

    pub(crate) fn log(&self, node: &str) -> String {
        std::fs::read_to_string(self.path(&format!("colo/{}/{node}.log", self.name))).unwrap_or_default()
    }

    /// A token with these arguments of `colo token create`.
    pub(crate) fn token(&self, arguments: &[&str]) -> String {
        let made = self.colo(&[&["token", "create"][..], arguments].concat());
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        String::from_utf8(made.stdout).unwrap().trim().to_owned()
    }

    /// Process id of a node.
    pub(crate) fn pid(&self, node: &str) -> i32 {
        let status = self.status();
        let nodes = status["nodes"].as_array().unwrap();
        let found = nodes.iter().find(|one| one["node"] == node).unwrap();
        i32::try_from(found["pid"].as_i64().unwrap()).unwrap()
    }

    fn status(&self) -> Value {
        let status = self.colo(&["status", &self.name, "--format", "json"]);
        serde_json::from_slice(&status.stdout).unwrap()
    }

    pub(crate) fn signal(&self, node: &str, signal: nix::sys::signal::Signal) {
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(self.pid(node)), signal).unwrap();
    }

    /// Stops a node as SIGSTOP does. Back when each of its threads stands still.
    pub(crate) fn stop(&self, node: &str) {
        let (pid, end) = (self.pid(node), Instant::now() + WATCHDOG);
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), nix::sys::signal::Signal::SIGSTOP).unwrap();
        let stands = |task: std::io::Result<std::fs::DirEntry>| {
            let stat = std::fs::read_to_string(task.unwrap().path().join("stat")).unwrap_or_default();
            stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('T'))
        };
        while !std::fs::read_dir(format!("/proc/{pid}/task")).unwrap().all(stands) {
            assert!(Instant::now() < end, "{node} does not stop");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Until the recorder has all of td's reports to the gateway.
    pub(crate) fn until_recorded(&self) {
        let end = Instant::now() + WATCHDOG;
        loop {
            let journal = journal::Journal::open_read_only(self.instance().find_journal("reports.gateway"));
            let stat = journal.unwrap().stat();
            if stat.readers.iter().any(|reader| reader.gated && reader.holds == Some(stat.head)) {
                return;
            }
            assert!(Instant::now() < end, "{stat:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// A power cut: all processes at once, and the memory that they share.
    pub(crate) fn cut(&self) {
        let status = self.status();
        let mut nodes: Vec<&Value> = status["nodes"].as_array().unwrap().iter().collect();
        // Master would start others again. Its death continues stopped nodes, because their process groups are orphaned then.
        self.stop("master");
        nodes.sort_by_key(|node| node["node"] == "master");
        for node in nodes {
            if let Some(pid) = node["pid"].as_i64().filter(|pid| *pid > 1) {
                let pid = nix::unistd::Pid::from_raw(i32::try_from(pid).unwrap());
                let _ = nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL);
            }
        }
        std::fs::remove_dir_all(self.shared()).unwrap();
    }

    /// Kills a node as nothing can be caught.
    pub(crate) fn kill(&self, node: &str) {
        let end = Instant::now() + WATCHDOG;
        loop {
            let pid = nix::unistd::Pid::from_raw(self.pid(node));
            match nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL) {
                Ok(()) => return,
                // It has just died, and its successor is on its way.
                Err(error) => assert!(Instant::now() < end, "{node} cannot be killed: {error}"),
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// One request; while a killed gateway is away, it is tried again.
    pub(crate) fn ask(&self, token: &str, method: &str, path: &str, body: &str) -> Answer {
        let end = Instant::now() + WATCHDOG;
        loop {
            match self.try_ask(token, method, path, body) {
                Ok(answer) => return answer,
                Err(error) => {
                    assert!(Instant::now() < end, "{method} {path}: {error}\n{}", self.log("gateway"))
                }
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// What a route answers, once this holds of it.
    pub(crate) fn until(&self, token: &str, path: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        let end = Instant::now() + WATCHDOG;
        loop {
            let answer = self.ask(token, "GET", path, "");
            if is_it(&answer.body) {
                return answer.body;
            }
            assert!(Instant::now() < end, "{path}: {answer:?}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    pub(crate) fn try_ask(
        &self,
        token: &str,
        method: &str,
        path: &str,
        body: &str,
    ) -> std::io::Result<Answer> {
        let mut stream = self.connect()?;
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {token}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        )?;
        let mut text = String::new();
        stream.read_to_string(&mut text)?;
        let (head, body) = text.split_once("\r\n\r\n").ok_or(ErrorKind::UnexpectedEof)?;
        let status =
            head.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or(ErrorKind::InvalidData)?;
        let body = serde_json::from_str(body).unwrap_or(Value::String(body.to_owned()));
        Ok(Answer { status, head: head.to_owned(), body })
    }

    pub(crate) fn connect(&self) -> std::io::Result<TcpStream> {
        let stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(WATCHDOG))?;
        Ok(stream)
    }

    /// A WebSocket.
    pub(crate) fn socket(&self, token: &str) -> Socket {
        let end = Instant::now() + WATCHDOG;
        loop {
            match self.try_socket(token, "") {
                Ok(socket) => return socket,
                Err(error) => assert!(Instant::now() < end, "no WebSocket: {error}"),
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub(crate) fn try_socket(&self, token: &str, more: &str) -> Result<Socket, String> {
        let mut stream = self.connect().map_err(|error| error.to_string())?;
        let request = format!(
            "GET /v1/ws HTTP/1.1\r\nhost: 127.0.0.1:{}\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-version: 13\r\n\
             sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nauthorization: Bearer {token}\r\n{more}\r\n",
            self.port
        );
        stream.write_all(request.as_bytes()).map_err(|error| error.to_string())?;
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).map_err(|error| error.to_string())?;
            head.push(byte[0]);
        }
        let head = String::from_utf8_lossy(&head).into_owned();
        match head.starts_with("HTTP/1.1 101") {
            true => Ok(Socket { stream }),
            false => Err(head),
        }
    }
}

impl Drop for Platform {
    fn drop(&mut self) {
        let _ = self.colo(&["down", &self.name]);
    }
}

/// A client's end of a WebSocket.
#[derive(Debug)]
pub(crate) struct Socket {
    pub(crate) stream: TcpStream,
}

impl Socket {
    pub(crate) fn say(&mut self, text: &str) {
        self.send(0x81, text.as_bytes());
    }

    pub(crate) fn send(&mut self, first: u8, payload: &[u8]) {
        let mut bytes = vec![first];
        match payload.len() {
            length @ 0..=125 => bytes.push(0x80 | length as u8),
            length @ 126..=65_535 => {
                bytes.push(0x80 | 126);
                bytes.extend_from_slice(&(length as u16).to_be_bytes());
            }
            length => {
                bytes.push(0x80 | 127);
                bytes.extend_from_slice(&(length as u64).to_be_bytes());
            }
        }
        // A mask of zeros is one too.
        bytes.extend_from_slice(&[0; 4]);
        bytes.extend_from_slice(payload);
        self.stream.write_all(&bytes).unwrap();
    }

    /// The next frame: its kind, its payload.
    pub(crate) fn frame(&mut self) -> (u8, Vec<u8>) {
        let mut header = [0; 2];
        self.stream.read_exact(&mut header).unwrap();
        let length = match header[1] {
            126 => {
                let mut length = [0; 2];
                self.stream.read_exact(&mut length).unwrap();
                u64::from(u16::from_be_bytes(length))
            }
            127 => {
                let mut length = [0; 8];
                self.stream.read_exact(&mut length).unwrap();
                u64::from_be_bytes(length)
            }
            length => u64::from(length),
        };
        let mut payload = vec![0; length as usize];
        self.stream.read_exact(&mut payload).unwrap();
        (header[0] & 15, payload)
    }

    /// The next message for which this holds; others are passed over.
    pub(crate) fn until(&mut self, what: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        let end = Instant::now() + WATCHDOG;
        loop {
            let (kind, payload) = self.frame();
            assert!(kind != 8, "closed while waiting for {what}: {}", String::from_utf8_lossy(&payload));
            if kind == 1 {
                let message: Value = serde_json::from_slice(&payload).unwrap();
                if is_it(&message) {
                    return message;
                }
            }
            assert!(Instant::now() < end, "{what} did not come");
        }
    }
}

/// The body of an order of account 9.
pub(crate) fn order(name: &str, side: &str, quantity: u32, price: &str) -> String {
    format!(
        r#"{{"client_order_id":"{name}","account":9,"symbol":"SIM001","side":"{side}","quantity":{quantity},"price":"{price}"}}"#
    )
}

/// Keys and certificates in a folder: an authority, and what it has signed for these. False: there is no openssl.
pub(crate) fn certificates(folder: &Path, names: &[&str]) -> bool {
    let openssl = |arguments: &str| {
        let done = Command::new("openssl").args(arguments.split(' ')).current_dir(folder).output();
        done.is_ok_and(|done| done.status.success())
    };
    std::fs::write(folder.join("ext"), "basicConstraints=CA:FALSE\nsubjectAltName=DNS:localhost\n").unwrap();
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    openssl(&format!("req -x509 {key} -keyout ca.key -out ca.pem -subj /CN=ca -days 2"))
        && names.iter().all(|name| {
            openssl(&format!("req {key} -keyout {name}.key -out {name}.csr -subj /CN={name}"))
                && openssl(&format!(
                    "x509 -req -in {name}.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out {name}.pem -days 2 -extfile ext"
                ))
        })
}
