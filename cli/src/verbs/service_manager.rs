//! What a service manager is told: that the platform is up, that it lives, that it stops. systemd's protocol, which others
//! speak too (`NOTIFY_SOCKET`); without one nothing is said.

use std::time::{Duration, Instant};

use node::NodeState;
use observe::{InstanceView, SeatView};
use sd_notify::NotifyState;
use topology::NodeKind;

/// Between two looks at the states of the nodes.
const EVERY: Duration = Duration::from_secs(1);

/// Tells the manager that started this process, if there is one.
#[derive(Debug)]
pub(super) struct ServiceManager {
    /// How long it waits for a sign of life; `None`: it does not.
    watchdog: Option<Duration>,
    looked: Option<Instant>,
    status: String,
}

impl ServiceManager {
    pub(super) fn new() -> ServiceManager {
        ServiceManager { watchdog: sd_notify::watchdog_enabled(), looked: None, status: String::new() }
    }

    /// All nodes are ready.
    pub(super) fn ready(&mut self) {
        tell(&[NotifyState::Ready]);
    }

    /// Called over and over while the platform runs. A sign of life is given only while master gives one: a master that is stopped
    /// or hangs is to be noticed.
    pub(super) fn look(&mut self, view: &InstanceView) {
        let every = self.watchdog.map_or(EVERY, |watchdog| (watchdog / 4).min(EVERY));
        if self.looked.is_some_and(|looked| looked.elapsed() < every) {
            return;
        }
        self.looked = Some(Instant::now());
        let seats = view.seats();
        let status = status(&seats);
        if status != self.status {
            tell(&[NotifyState::Status(&status)]);
            self.status = status;
        }
        if let Some(watchdog) = self.watchdog
            && master_lives(&seats, watchdog)
        {
            tell(&[NotifyState::Watchdog]);
        }
    }

    /// It is taken down, which may take as long as the platform file allows.
    pub(super) fn stopping(&mut self) {
        tell(&[NotifyState::Stopping]);
    }
}

fn tell(state: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(state) {
        log::warn!("the service manager cannot be told: {error}");
    }
}

fn master_lives(seats: &[SeatView], watchdog: Duration) -> bool {
    let master = seats.iter().find(|seat| seat.kind == NodeKind::Master);
    let silent = master.filter(|master| master.alive).and_then(|master| master.silent_ns);
    silent.is_some_and(|silent| Duration::from_nanos(silent) < watchdog / 2)
}

/// In a line, as `systemctl status` shows it.
fn status(seats: &[SeatView]) -> String {
    let dead: Vec<&str> = seats
        .iter()
        .filter(|seat| matches!(seat.state, NodeState::Dead | NodeState::Failed))
        .map(|seat| &*seat.name)
        .collect();
    let live = seats.len() - dead.len();
    match dead.as_slice() {
        [] => format!("{live} nodes"),
        [one] => format!("{live} nodes; dead: {one}"),
        [one, others @ ..] => format!("{live} nodes; dead: {one} and {} more", others.len()),
    }
}
