//! Who sits where, in words.

use node::NodeState;
use serde::Serialize;

use crate::view::SeatView;

/// A node that has not shown itself for this long, though its process lives, is stalled.
const STALLED_NS: u64 = 1_000_000_000;

/// The columns that every table of nodes begins with.
#[derive(Clone, Debug, Serialize)]
pub struct Seated {
    /// Name of the node.
    pub node: String,
    /// Its seat.
    pub seat: u32,
    /// What it is.
    pub kind: String,
    /// Its process; 0 where it has none any more.
    pub pid: u32,
    /// CPU at its last sign of life.
    pub cpu: Option<u64>,
    /// How it waits.
    pub mode: String,
    /// Where it stands; `unknown` where nobody can say, with `, stalled` behind it where its process lives and shows
    /// no sign of life.
    pub state: String,
    /// How long a callback of this strategy has not returned; `None` below a second.
    pub in_callback_ms: Option<u64>,
}

impl Seated {
    /// In the words of a table.
    pub fn of(seat: &SeatView) -> Seated {
        Seated {
            node: seat.name.clone(),
            seat: seat.seat,
            kind: seat.kind.to_string(),
            pid: if has_gone(seat) { 0 } else { seat.process.pid },
            cpu: seat.alive.then_some(seat.cpu),
            mode: seat.mode.to_owned(),
            state: state(seat),
            in_callback_ms: seat.in_callback_ns.map(|lasts| lasts / 1_000_000),
        }
    }
}

/// A process that has ended: its number may be another one's by now. From another pid namespace that cannot be told. A member
/// that has left its host has no process either, though the host's lives.
fn has_gone(seat: &SeatView) -> bool {
    let has_left = matches!(seat.state, NodeState::Stopped | NodeState::Failed | NodeState::Dead);
    has_left && (seat.by_a_person || (!seat.alive && !seat.is_foreign))
}

fn state(seat: &SeatView) -> String {
    if seat.is_foreign && !seat.alive && seat.state != NodeState::Dead {
        return "unknown".to_owned();
    }
    let runs = matches!(seat.state, NodeState::Running | NodeState::Finished);
    if runs && seat.silent_ns.is_some_and(|silent| silent > STALLED_NS) {
        return format!("{}, stalled", seat.state);
    }
    let has_ended = matches!(seat.state, NodeState::Stopped | NodeState::Failed | NodeState::Dead);
    if seat.by_a_person && has_ended {
        return "stopped by a person".to_owned();
    }
    seat.state.to_string()
}

/// Name of the node in a seat; its number where there is none.
pub fn seat_name(seats: &[SeatView], number: u32) -> String {
    let known = seats.iter().find(|seat| seat.seat == number);
    known.map_or_else(|| format!("seat {number}"), |seat| seat.name.clone())
}

#[cfg(test)]
mod tests {
    use topology::NodeKind;

    use super::*;
    use crate::fixture::seat;

    #[test]
    fn who_lives_and_shows_no_sign_of_life_is_stalled() {
        let mut td = seat(1, "td", NodeKind::Td);
        td.silent_ns = Some(STALLED_NS);
        assert_eq!(Seated::of(&td).state, "running");
        td.silent_ns = Some(STALLED_NS + 1);
        assert_eq!(Seated::of(&td).state, "running, stalled");
        td.state = NodeState::Stopped;
        assert_eq!(Seated::of(&td).state, "stopped", "who has left need not show itself");
    }

    #[test]
    fn what_cannot_be_told_from_here_is_unknown() {
        let mut td = seat(1, "td", NodeKind::Td);
        (td.is_foreign, td.alive) = (true, false);
        assert_eq!(Seated::of(&td).state, "unknown");
        assert_eq!(Seated::of(&td).cpu, None);
        td.state = NodeState::Dead;
        assert_eq!(Seated::of(&td).state, "dead", "that was noted when it could be told");
    }

    #[test]
    fn a_seat_without_a_node_goes_by_its_number() {
        let seats = [seat(3, "md", NodeKind::Md)];
        assert_eq!((seat_name(&seats, 3), seat_name(&seats, 4)), ("md".to_owned(), "seat 4".to_owned()));
    }
}
