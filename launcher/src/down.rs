//! Taking a platform down, with its master or without.

use std::collections::HashSet;
use std::fs;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use journal::PidFd;
use nix::sys::signal::Signal;
use node::protocol::{self, Reply, Request};
use node::{InstanceDir, InstanceView, NodeKind, SeatView};
use topology::Topology;

use crate::collect::Collector;
use crate::error::LaunchError;
use crate::running::Running;
use crate::start::system;

/// Stopping takes at most five groups of five seconds, and some for settling.
const LONGEST_STOP: Duration = Duration::from_secs(60);
/// A node that has not stopped by then is killed, when there is no master to do it.
const PATIENCE: Duration = Duration::from_secs(5);
/// The same order as master's: who writes first stops first.
const ORDER: [&[NodeKind]; 5] = [
    &[NodeKind::Strategy, NodeKind::Host, NodeKind::Custom, NodeKind::Observer, NodeKind::Relay],
    &[NodeKind::Md],
    &[NodeKind::Td],
    &[NodeKind::Matching],
    &[NodeKind::Ledger, NodeKind::Master],
];

/// An instance that somebody else brought up, to watch it or to take it down.
///
/// # Errors
/// [`LaunchError::NotRunning`] when there is none; others when it cannot be looked at.
pub fn attach(name: &str) -> Result<Running, LaunchError> {
    let instance = InstanceDir::new(name).ok_or_else(|| LaunchError::BadInstance(name.to_owned()))?;
    if !instance.registry().exists() {
        let others = InstanceDir::all().unwrap_or_default();
        let names: Vec<&str> = others.iter().map(InstanceDir::name).filter(|other| *other != name).collect();
        let others =
            if names.is_empty() { String::new() } else { format!("; there are: {}", names.join(", ")) };
        return Err(LaunchError::NotRunning { instance: name.to_owned(), others });
    }
    let view = InstanceView::open(instance.clone())?;
    let path = instance.topology();
    let text = fs::read(&path).map_err(system(&format!("read {}", path.display())))?;
    let topology: Topology = serde_json::from_slice(&text)
        .map_err(|error| system(&format!("understand {}", path.display()))(error.into()))?;
    let collector = Collector::open(&view, false).ok();
    Ok(Running::new(view, topology, collector, None).since_it_was_made())
}

/// The two steps of taking a platform down.
#[derive(Debug)]
pub struct Down {
    instance: InstanceDir,
}

impl Down {
    /// Of this instance.
    ///
    /// # Errors
    /// None yet; master is asked when needed.
    pub fn of(instance: &InstanceDir) -> Result<Down, LaunchError> {
        Ok(Down { instance: instance.clone() })
    }

    /// Stops all nodes in good order. Their journals stay.
    ///
    /// # Errors
    /// [`LaunchError`] when master refuses or the connection breaks.
    pub fn stop_nodes(&self) -> Result<(), LaunchError> {
        match UnixStream::connect(self.instance.socket()) {
            Ok(stream) => self.ask(&stream, &Request::StopNodes),
            Err(error) => {
                log::info!("no master answers ({error}): the nodes are stopped directly");
                self.stop_without_master()
            }
        }
    }

    /// Ends master and removes the instance.
    ///
    /// # Errors
    /// As [`Down::stop_nodes`], or the directory cannot be removed.
    pub fn shutdown(&self) -> Result<(), LaunchError> {
        match UnixStream::connect(self.instance.socket()) {
            Ok(stream) => self.ask(&stream, &Request::Shutdown),
            Err(_) => {
                self.instance.remove().map_err(system(&format!("remove {}", self.instance.path().display())))
            }
        }
    }

    fn ask(&self, stream: &UnixStream, request: &Request) -> Result<(), LaunchError> {
        let failed = |source| LaunchError::Protocol { instance: self.instance.name().to_owned(), source };
        protocol::send(stream, request).map_err(failed)?;
        match protocol::receive(stream, Some(LONGEST_STOP)).map_err(failed)? {
            Reply::Done | Reply::Assigned(_) => Ok(()),
            Reply::Refused { reason } => Err(LaunchError::Refused(reason)),
        }
    }

    fn stop_without_master(&self) -> Result<(), LaunchError> {
        let view = InstanceView::open(self.instance.clone())?;
        for kinds in ORDER {
            let group: Vec<SeatView> =
                view.seats().into_iter().filter(|seat| seat.alive && kinds.contains(&seat.kind)).collect();
            signal(&group, Signal::SIGTERM);
            let patience = Instant::now() + PATIENCE;
            while group.iter().any(|seat| seat.process.is_alive()) {
                if Instant::now() > patience {
                    signal(&group, Signal::SIGKILL);
                }
                std::thread::sleep(Duration::from_millis(2));
            }
        }
        Ok(())
    }
}

/// Once each process, however many seats it has: a second signal would end it at once.
fn signal(seats: &[SeatView], signal: Signal) {
    let mut told = HashSet::new();
    for seat in seats.iter().filter(|seat| told.insert(seat.process)) {
        if let Ok(handle) = PidFd::open(seat.process) {
            let _ = handle.signal(signal as i32);
        }
    }
}
