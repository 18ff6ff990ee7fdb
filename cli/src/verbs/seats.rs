//! Who sits where, as several verbs print it.

use node::{NodeState, SeatView};
use serde::Serialize;

/// A node that has not shown itself for this long, though its process lives, is stalled.
const STALLED_NS: u64 = 1_000_000_000;

/// The columns that every table of nodes begins with.
#[derive(Debug, Serialize)]
pub(super) struct Seated {
    pub(super) node: String,
    pub(super) seat: u32,
    pub(super) kind: String,
    pub(super) pid: u32,
    /// At its last sign of life.
    pub(super) cpu: Option<u64>,
    pub(super) mode: String,
    pub(super) state: String,
    /// How long a callback of this strategy has not returned; null below a second.
    pub(super) in_callback_ms: Option<u64>,
}

impl Seated {
    pub(super) fn of(seat: &SeatView) -> Seated {
        Seated {
            node: seat.name.clone(),
            seat: seat.seat,
            kind: seat.kind.to_string(),
            pid: seat.process.pid,
            cpu: seat.alive.then_some(seat.cpu),
            mode: seat.mode.to_owned(),
            state: state(seat),
            in_callback_ms: seat.in_callback_ns.map(|lasts| lasts / 1_000_000),
        }
    }
}

/// Strategies that hold the process that they run in, for people; empty where there is none.
pub(super) fn held_text<'a>(seats: impl Iterator<Item = &'a Seated> + Clone) -> String {
    let said = seats.clone().filter_map(|seat| {
        let seconds = seat.in_callback_ms? as f64 / 1_000.0;
        let host = seats.clone().find(|host| host.kind == "host" && host.pid == seat.pid);
        let others = host.map(|host| format!(": nobody in {} gets anything", host.node)).unwrap_or_default();
        Some(format!("does not return: {} is in one callback for {seconds:.1} s{others}\n", seat.node))
    });
    said.collect()
}

fn state(seat: &SeatView) -> String {
    if seat.is_foreign && !seat.alive && seat.state != NodeState::Dead {
        return "unknown".to_owned();
    }
    let runs = matches!(seat.state, NodeState::Running | NodeState::Finished);
    if runs && seat.silent_ns.is_some_and(|silent| silent > STALLED_NS) {
        return format!("{}, stalled", seat.state);
    }
    seat.state.to_string()
}

/// Name of the node in a seat; its number where there is none.
pub(super) fn name(seats: &[SeatView], number: u32) -> String {
    let known = seats.iter().find(|seat| seat.seat == number);
    known.map_or_else(|| format!("seat {number}"), |seat| seat.name.clone())
}
