//! Colo with a relay: a process that polls on the sleepers' own cores when they are otherwise idle, and wakes in place
//! of the writer.

use std::path::Path;
use std::sync::Arc;

use journal::{Journal, Registry};
use journal::wait::Relay;
use pinning::{CpuSet, Placement, Policy};

use super::colo::{self, Colo, End, Reading};
use super::helper::Helper;
use crate::error::{CompareError, refused, system};
use crate::place;
use crate::rival::{Can, Facts, Link, Rival, Room};
use crate::task::Task;

const NAME: &str = "colo-relay";
/// Name of the helper.
pub(super) const RELAY: &str = "colo-relay";
/// First seat of the relays, behind those of the roles.
const FIRST_SEAT: u32 = 112;
/// Polls between two heartbeats.
const SIGN: u32 = 1 << 10;

/// Colo's journals, with sleepers woken by relays.
pub(crate) struct ColoRelay;

/// What one process has opened, and the process of the relays.
pub(crate) struct Hub {
    inner: colo::Hub,
    _relays: Option<Helper>,
}

impl<const N: usize> Rival<N> for ColoRelay {
    type Hub = Hub;
    type Sender = End;
    type Receiver = Reading;

    fn facts() -> Facts {
        Facts {
            name: NAME,
            version: "this checkout".to_owned(),
            settings: &[
                "as colo, with one relay a core of the readers, SCHED_IDLE, which polls the journal and wakes them there",
                "the writer makes no system call; the relays use what the readers leave of their cores",
            ],
            in_process: false,
            floor: false,
            naps: false,
            can: Can { ping: false, one_way: false, fan_out: false, die: false, ..Can::ALL },
        }
    }

    fn create(room: Room<'_>, links: &[Link]) -> Result<Hub, CompareError> {
        let inner = <Colo as Rival<N>>::create(room, links)?;
        let task = serde_json::to_string(room.task).map_err(|error| CompareError::Peer(error.to_string()))?;
        std::fs::write(room.directory.join("task"), task).map_err(system("leave word for the relays"))?;
        let relays = Helper::start(RELAY, room.directory)?;
        Ok(Hub { inner, _relays: Some(relays) })
    }

    fn open(room: Room<'_>, links: &[Link]) -> Result<Hub, CompareError> {
        Ok(Hub { inner: <Colo as Rival<N>>::open(room, links)?, _relays: None })
    }

    fn receiver(hub: &Hub, room: Room<'_>, link: Link, reader: usize) -> Result<Reading, CompareError> {
        <Colo as Rival<N>>::receiver(&hub.inner, room, link, reader)
    }

    fn sender(hub: &Hub, room: Room<'_>, link: Link) -> Result<End, CompareError> {
        <Colo as Rival<N>>::sender(&hub.inner, room, link)
    }
}

/// The process of the relays: a thread for each core that readers sleep on.
pub(super) fn relays(room: &Path) -> Result<(), CompareError> {
    place::follow_parent()?;
    let text = std::fs::read_to_string(room.join("task")).map_err(system("read what to relay"))?;
    let task: Task = serde_json::from_str(&text).map_err(|error| CompareError::Peer(error.to_string()))?;
    let roles = task.work.roles();
    std::thread::scope(|scope| {
        for (index, &cpu) in task.cpus.iter().enumerate() {
            let seats: Vec<u32> = (1..roles)
                .filter(|&role| place::cpu_of(role, &task.cpus) == cpu)
                .map(|role| role as u32)
                .collect();
            if !seats.is_empty() {
                scope.spawn(move || {
                    if let Err(error) = relay(room, FIRST_SEAT + index as u32, &seats, cpu) {
                        eprintln!("{error}");
                    }
                });
            }
        }
    });
    Ok(())
}

fn relay(room: &Path, own: u32, seats: &[u32], cpu: usize) -> Result<(), CompareError> {
    pinning::apply(&Placement {
        node: format!("relay on CPU {cpu}"),
        busy: true,
        platform: true,
        cpus: CpuSet::single(cpu),
        policy: Some(Policy::Idle),
        memory_node: None,
        exclusive: false,
        no_smt_sibling: false,
        reasons: Vec::new(),
    })
    .map_err(refused(NAME, "take the relay's place"))?;
    let path = room.join("registry");
    let registry = Arc::new(Registry::open(&path).map_err(refused(NAME, "open the registry"))?);
    let clock = registry.clock(&path).map_err(refused(NAME, "read the clock"))?;
    let relay = Relay::new(Arc::clone(&registry), own, seats);
    let mut relay = relay.ok_or_else(|| refused(NAME, "make a relay")("no such seat"))?;
    let journal = Journal::open(colo::files(room, 0)).map_err(refused(NAME, "open the journal"))?;
    relay.follow(&journal).map_err(refused(NAME, "follow the journal"))?;
    let mut turns = 0_u32;
    loop {
        if turns.is_multiple_of(SIGN) {
            // Also seats of readers that start later.
            relay.take_over();
            if let Some(seat) = registry.occupy(own) {
                seat.set_heartbeat(clock.now());
            }
        }
        relay.poll().map_err(refused(NAME, "poll"))?;
        std::hint::spin_loop();
        turns = turns.wrapping_add(1);
    }
}
