//! The peers as seen by the measuring process: it starts them, exchanges lines with them, and measures their cost.

use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};

use bench_kit::OwnedChild;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::peer::Part;
use super::share::Share;
use crate::ipc::{IpcError, system};

/// The first line to a peer.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Setup {
    pub(super) directory: std::path::PathBuf,
    pub(super) part: Part,
}

/// A process that ends when this is dropped.
#[derive(Debug)]
pub(super) struct Peer {
    child: OwnedChild,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

/// Resources that a process has used so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usage {
    pub(super) cpu_ns: u64,
    pub(super) switches: u64,
}

impl Peer {
    pub(super) fn start(program: &impl Fn() -> Command, share: &Share, part: Part) -> Result<Peer, IpcError> {
        let mut child = OwnedChild::spawn(program().stdin(Stdio::piped()).stdout(Stdio::piped()))
            .map_err(system("start another process"))?;
        let gone = || IpcError::Peer("has no streams".to_owned());
        let input = child.stdin.take().ok_or_else(gone)?;
        let output = BufReader::new(child.stdout.take().ok_or_else(gone)?);
        let mut peer = Peer { child, input, output };
        peer.tell(&Setup { directory: share.path.clone(), part })?;
        Ok(peer)
    }

    /// Sends one line.
    pub(super) fn tell(&mut self, what: &impl Serialize) -> Result<(), IpcError> {
        let mut line = serde_json::to_vec(what).map_err(|error| system("say what to do")(error.into()))?;
        line.push(b'\n');
        self.input.write_all(&line).map_err(system("speak to another process"))
    }

    /// Receives one answer.
    pub(super) fn hear<T: DeserializeOwned>(&mut self) -> Result<T, IpcError> {
        let mut line = String::new();
        self.output.read_line(&mut line).map_err(system("hear another process"))?;
        if line.is_empty() {
            // It has reported the reason on standard error.
            let how = self
                .child
                .try_wait()
                .ok()
                .flatten()
                .map_or(String::new(), |status| format!(" with {status}"));
            return Err(IpcError::Peer(format!("ended{how}")));
        }
        serde_json::from_str(&line).map_err(|error| system("understand another process")(error.into()))
    }

    /// Time on a CPU and switches so far, as the kernel counts them.
    pub(super) fn usage(&self) -> Usage {
        let read = |file: &str| {
            std::fs::read_to_string(format!("/proc/{}/{file}", self.child.id())).unwrap_or_default()
        };
        let number = |text: &str| text.split_whitespace().next().and_then(|word| word.parse().ok());
        let status = read("status");
        let switches = status.lines().filter_map(|line| {
            let (name, count) = line.split_once(':')?;
            name.ends_with("ctxt_switches").then(|| number(count)).flatten()
        });
        Usage { cpu_ns: number(&read("schedstat")).unwrap_or(0), switches: switches.sum() }
    }
}
