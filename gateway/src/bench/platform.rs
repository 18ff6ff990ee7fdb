//! The platform that is measured, and processes beside it that know nothing of it.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use bench_kit::OwnedChild;
use journal::{Clock, Registry};
use node::{InstanceDir, StopFlag};
use serde_json::Value;

use super::BenchError;
use super::http::{Http, request};

/// Until everybody runs.
const PATIENCE: Duration = Duration::from_secs(20);

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
max_working_orders = 0
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
deposit = 1000000000000
[[accounts]]
number = 9
kind = "margin"
deposit = 1000000000000
[gateway]
listen = "127.0.0.1:PORT"
accounts = [8, 9]
connections = 100000
queue = "4MiB"
# Nobody is let go while he is measured.
idle = "1h"
head = "1h"
ping = "1h"
write_deadline = "1h"
answer = "10s"
limits = { max_working_orders = 0 }
[strategies]
count = 0
"#;

/// A platform in a folder of its own; it is taken down when this goes.
#[derive(Debug)]
pub(super) struct Platform {
    folder: tempfile::TempDir,
    colo: PathBuf,
    name: String,
    pub(super) port: u16,
    pub(super) token: String,
    pub(super) instance: InstanceDir,
    pub(super) clock: Clock,
    stop: StopFlag,
}

impl Platform {
    /// Starts it, by this `colo`.
    pub(super) fn start(colo: &Path) -> Result<Platform, BenchError> {
        let folder = tempfile::tempdir()?;
        let name = format!("bench-gateway-{}", std::process::id());
        let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        std::fs::write(
            folder.path().join("bench.toml"),
            CONFIG.replace("NAME", &name).replace("PORT", &port.to_string()),
        )?;
        let instance = InstanceDir::new(&name)
            .ok_or_else(|| BenchError::Failed(format!("`{name}` is no name of an instance")))?;
        let stop = StopFlag::install().map_err(|error| BenchError::Failed(error.to_string()))?;
        let mut platform = Platform {
            folder,
            colo: colo.to_owned(),
            name,
            port,
            token: String::new(),
            instance,
            clock: Clock::monotonic(),
            stop,
        };
        platform.token = platform.colo(&["token", "create", "bench", "--role", "admin"])?.trim().to_owned();
        platform.up()?;
        Ok(platform)
    }

    /// Down, and up again.
    pub(super) fn again(&mut self) -> Result<(), BenchError> {
        self.colo(&["down", &self.name])?;
        self.up()
    }

    /// Down, and up again with a gateway that speaks DIFF too: a thread more, which the other parts do without.
    pub(super) fn again_with_diff(&mut self) -> Result<(), BenchError> {
        let path = self.folder.path().join("bench.toml");
        let text = std::fs::read_to_string(&path)?;
        std::fs::write(&path, text.replace("[gateway]\n", "[gateway]\ndiff = true\n"))?;
        self.again()
    }

    fn up(&mut self) -> Result<(), BenchError> {
        self.colo(&["up", "bench.toml", "--stay"])?;
        let path = self.instance.registry();
        let failed = |error: &dyn std::fmt::Display| BenchError::Failed(format!("the registry: {error}"));
        let registry = Registry::open(&path).map_err(|error| failed(&error))?;
        self.clock = registry.clock(&path).map_err(|error| failed(&error))?;
        let end = Instant::now() + PATIENCE;
        while let Err(error) = self.check() {
            if Instant::now() > end {
                return Err(error);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// Not when somebody has ended the measurement.
    pub(super) fn goes_on(&self) -> Result<(), BenchError> {
        match self.stop.is_set() {
            true => Err(BenchError::Failed("it was stopped".to_owned())),
            false => Ok(()),
        }
    }

    fn colo(&self, arguments: &[&str]) -> Result<String, BenchError> {
        let output = Command::new(&self.colo)
            .args(arguments)
            .current_dir(self.folder.path())
            .env("XDG_STATE_HOME", self.folder.path())
            .stdin(Stdio::null())
            .output()
            .map_err(|error| BenchError::Failed(format!("`{}`: {error}", self.colo.display())))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Err(BenchError::Failed(format!("colo {}: {said}", arguments.join(" "))))
    }

    /// Does it take orders?
    fn check(&self) -> Result<(), BenchError> {
        let body = order(9, "ioc", "");
        let status = Http::connect(self.port)?.ask(&self.request("POST", "/v1/orders", &body))?;
        match status {
            201 => Ok(()),
            _ => Err(BenchError::Failed(format!("the gateway answers an order with {status}"))),
        }
    }

    pub(super) fn request(&self, method: &str, path: &str, body: &str) -> Vec<u8> {
        request(method, path, &self.token, body)
    }

    /// Bytes of memory of the gateway's own, as the kernel counts them: its journals are not among them.
    pub(super) fn memory(&self) -> Result<u64, BenchError> {
        let status: Value = serde_json::from_str(&self.colo(&["status", &self.name, "--format", "json"])?)
            .map_err(|error| BenchError::Failed(format!("colo status: {error}")))?;
        let nodes = status["nodes"].as_array().map(Vec::as_slice).unwrap_or_default();
        let pid = nodes.iter().find(|node| node["node"] == "gateway").and_then(|node| node["pid"].as_i64());
        let pid = pid.ok_or_else(|| BenchError::Failed("the gateway has gone".to_owned()))?;
        let text = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
        let line = text.lines().find_map(|line| line.strip_prefix("RssAnon:"));
        let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
        kib.map(|kib| kib << 10)
            .ok_or_else(|| BenchError::Failed(format!("/proc/{pid}/status says nothing of RssAnon")))
    }
}

impl Drop for Platform {
    fn drop(&mut self) {
        let _ = self.colo(&["down", &self.name]);
    }
}

/// An order that cannot trade; `more` are further fields, each behind a comma.
pub(super) fn order(account: u32, time_in_force: &str, more: &str) -> String {
    format!(
        r#"{{"account":{account},"symbol":"SIM001","side":"buy","quantity":1,"price":"99","time_in_force":"{time_in_force}"{more}}}"#
    )
}

/// A server to compare with, in a process of its own.
#[derive(Debug)]
pub(super) struct Peer {
    _child: OwnedChild,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    pub(super) port: u16,
}

impl Peer {
    pub(super) fn start(kind: &str) -> Result<Peer, BenchError> {
        // The link of a running program works even when its file was replaced meanwhile.
        let mut command = Command::new("/proc/self/exe");
        command.args(["peer", kind]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = OwnedChild::spawn(&mut command)?;
        let gone = || BenchError::Failed(format!("the {kind} server does not start"));
        let input = child.stdin.take().ok_or_else(gone)?;
        let mut output = BufReader::new(child.stdout.take().ok_or_else(gone)?);
        let mut line = String::new();
        output.read_line(&mut line)?;
        let port = line.trim().parse().map_err(|_| gone())?;
        Ok(Peer { _child: child, input, output, port })
    }

    /// Asks it to do something; it answers with a line when it is done.
    pub(super) fn tell(&mut self, what: &str) -> Result<(), BenchError> {
        writeln!(self.input, "{what}")?;
        Ok(())
    }

    pub(super) fn hear(&mut self) -> Result<(), BenchError> {
        let mut line = String::new();
        match self.output.read_line(&mut line)? {
            0 => Err(BenchError::Failed("a server to compare with has ended".to_owned())),
            _ => Ok(()),
        }
    }
}
