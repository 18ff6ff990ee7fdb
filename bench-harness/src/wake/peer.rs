//! The peers' side of the measurement.

use std::io::{BufRead, Write};
use std::sync::Arc;

use journal::wait::Relay;
use pinning::{CpuSet, Placement, Policy as Scheduling};
use serde::{Deserialize, Serialize};

use super::host::Hosting;
use super::process::Setup;
use super::reader::{Interest, Reader};
use super::share::{Share, seat, word};
use super::{doorbell, handoff};
use crate::ipc::{IpcError, pin, system};

/// The role of a process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Part {
    /// Sleeps until its topic has news.
    Reader { number: usize, cpu: usize },
    /// Wakes the readers when asked to take part.
    Relay { cpu: usize, readers: usize },
    /// Polls for all readers when asked to take part.
    Host { cpu: usize, readers: usize },
    /// The other side of the hand-over.
    Pong { cpu: usize },
    /// Reads many journals.
    Many { cpu: usize },
}

/// Takes part as the first line of `input` says, until the input ends.
///
/// # Errors
/// [`IpcError`].
pub fn run_peer(input: impl BufRead, mut output: impl Write) -> Result<(), IpcError> {
    let mut lines = input.lines();
    let Some(first) = lines.next() else { return Ok(()) };
    let setup: Setup = understand(&first.map_err(system("read what to do"))?)?;
    let share = Share::open(&setup.directory)?;
    let mut answer = |text: String| -> Result<(), IpcError> {
        writeln!(output, "{text}").and_then(|()| output.flush()).map_err(system("answer"))
    };
    match setup.part {
        Part::Pong { cpu } => {
            pin(cpu)?;
            let rounds: (usize, usize) = match lines.next() {
                Some(line) => understand(&line.map_err(system("read what to do"))?)?,
                None => return Ok(()),
            };
            handoff::answer(rounds, &share)
        }
        Part::Many { cpu } => {
            pin(cpu)?;
            doorbell::answer(&share)
        }
        Part::Reader { number, cpu } => {
            pin(cpu)?;
            let reader = Reader::new(&share, number)?;
            for line in lines {
                let interest: Interest = understand(&line.map_err(system("read what to do"))?)?;
                let mut ready = reader.prepare(interest)?;
                answer("true".to_owned())?;
                let heard = ready.listen()?;
                answer(say(&heard)?)?;
            }
            Ok(())
        }
        Part::Host { cpu, readers } => {
            pin(cpu)?;
            for line in lines {
                let _: bool = understand(&line.map_err(system("read what to do"))?)?;
                let hosting = Hosting::new(&share, readers)?;
                answer("true".to_owned())?;
                answer(say(&hosting.listen()?)?)?;
            }
            Ok(())
        }
        Part::Relay { cpu, readers } => {
            idle_on(cpu)?;
            for line in lines {
                let _: bool = understand(&line.map_err(system("read what to do"))?)?;
                let woken = relay(&share, readers, || answer("true".to_owned()))?;
                answer(say(&woken)?)?;
            }
            Ok(())
        }
    }
}

fn understand<T: serde::de::DeserializeOwned>(line: &str) -> Result<T, IpcError> {
    serde_json::from_str(line).map_err(|error| system("understand what to do")(error.into()))
}

fn say(what: &impl Serialize) -> Result<String, IpcError> {
    serde_json::to_string(what).map_err(|error| system("answer")(error.into()))
}

/// The relay's place: the readers' core, whenever it is idle.
fn idle_on(cpu: usize) -> Result<(), IpcError> {
    pinning::apply(&Placement {
        node: format!("relay on CPU {cpu}"),
        busy: true,
        platform: true,
        cpus: CpuSet::single(cpu),
        policy: Some(Scheduling::Idle),
        memory_node: None,
        exclusive: false,
        no_smt_sibling: false,
        reasons: Vec::new(),
    })?;
    Ok(())
}

/// One cell of a relay; returns how many sleepers it woke.
fn relay(
    share: &Share,
    readers: usize,
    mut ready: impl FnMut() -> Result<(), IpcError>,
) -> Result<u64, IpcError> {
    let seats: Vec<u32> = (0..readers as u32).map(|number| seat::READERS + number).collect();
    let no_seat = || IpcError::Peer("has no seat".to_owned());
    let mut relay = Relay::new(Arc::clone(&share.registry), seat::RELAY, &seats).ok_or_else(no_seat)?;
    relay.follow(&share.journal("news")?)?;
    relay.take_over();
    ready()?;
    let mut woken = 0;
    let parent = std::os::unix::process::parent_id();
    let mut turns = 0_u32;
    while share.floor.get(word::RELAY_STOP) == 0 {
        woken += relay.poll().map_err(|error| IpcError::Peer(error.to_string()))?;
        std::hint::spin_loop();
        turns = turns.wrapping_add(1);
        if turns.is_multiple_of(1 << 16) && std::os::unix::process::parent_id() != parent {
            return Ok(woken);
        }
    }
    Relay::give_back(&share.registry, seat::RELAY);
    Ok(woken)
}
