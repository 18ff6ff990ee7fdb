//! Seats without a master: a thread that answers who registers.

use std::io;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;

use journal::Registry;
use journal::process::ProcessIdentity;
use node::NodeState;
use node::protocol::{self, Assignment, PROTOCOL_VERSION, Reply, Request};

/// Answers as master does, for these seats alone. See `docs/registration.md`.
#[derive(Debug)]
pub(crate) struct Reception {
    socket: std::path::PathBuf,
    thread: Option<JoinHandle<()>>,
}

impl Reception {
    /// Listens at `socket`.
    pub(crate) fn open(
        socket: &Path,
        registry: Arc<Registry>,
        seats: Vec<Assignment>,
    ) -> io::Result<Reception> {
        let listener = UnixListener::bind(socket)?;
        let answer = move || {
            for stream in listener.incoming() {
                let Ok(stream) = stream else { continue };
                match protocol::receive::<Request>(&stream, None) {
                    Ok(Request::Shutdown) => {
                        let _ = protocol::send(&stream, &Reply::Done);
                        return;
                    }
                    Ok(request) => {
                        // Who does not wait for the answer does not want it.
                        let _ = protocol::send(&stream, &reply(&registry, &seats, &request));
                    }
                    Err(error) => log::debug!("{error}"),
                }
            }
        };
        let thread = std::thread::Builder::new().name("reception".to_owned()).spawn(answer)?;
        Ok(Reception { socket: socket.to_owned(), thread: Some(thread) })
    }

    /// Ends the thread.
    pub(crate) fn close(&mut self) {
        let Some(thread) = self.thread.take() else { return };
        if let Ok(stream) = UnixStream::connect(&self.socket)
            && protocol::send(&stream, &Request::Shutdown).is_ok()
        {
            let _ = thread.join();
        }
    }
}

fn reply(registry: &Registry, seats: &[Assignment], request: &Request) -> Reply {
    let refused = |reason: String| Reply::Refused { reason };
    match request {
        Request::Register { version, node, pid } => {
            if *version != PROTOCOL_VERSION {
                return refused(format!(
                    "it speaks protocol {version}, this replay speaks {PROTOCOL_VERSION}: build both from one version of colo"
                ));
            }
            let Some(assignment) = seats.iter().find(|assignment| assignment.node == *node) else {
                return refused("this replay runs another strategy".to_owned());
            };
            let Some(seat) = registry.occupy(assignment.seat) else {
                return refused("it has no seat".to_owned());
            };
            let Some(process) = ProcessIdentity::of(*pid) else {
                return refused(format!("there is no process {pid}"));
            };
            seat.set_generation(assignment.generation);
            seat.set_process(process);
            seat.set_exit(0);
            seat.set_asked(0);
            seat.set_state(NodeState::Joined.to_word());
            Reply::Assigned(Box::new(assignment.clone()))
        }
        Request::Left { .. } => Reply::Done,
        Request::StopNodes | Request::Shutdown => refused("a replay ends by itself".to_owned()),
        Request::Strategy { .. } => {
            refused("a replay gives what was recorded: nothing is changed in it".to_owned())
        }
    }
}
