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
        }
    }
}

fn state(seat: &SeatView) -> String {
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
