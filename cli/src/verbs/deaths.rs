//! A line for each node that dies while somebody watches the platform.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use node::{Intent, NodeState};
use observe::{InstanceView, SeatView};

/// Between two looks.
const EVERY: Duration = Duration::from_millis(200);

/// What is known of each seat.
#[derive(Debug, Default)]
pub(super) struct Deaths {
    /// By seat: whose life it is, and whether its end was said.
    known: BTreeMap<u32, (u64, bool)>,
    looked: Option<Instant>,
}

impl Deaths {
    /// Says who has died since the last look.
    pub(super) fn look(&mut self, view: &InstanceView) {
        if self.looked.is_some_and(|looked| looked.elapsed() < EVERY) {
            return;
        }
        self.looked = Some(Instant::now());
        let wanted = |seat: &SeatView| {
            let intent = Intent::read(view.instance(), &seat.name);
            intent.is_ok_and(|intent| intent.started == seat.generation)
        };
        for line in view.seats().iter().filter_map(|seat| self.of(seat, wanted)) {
            talk!("{line}");
        }
    }

    /// `wanted`: a person asked for this life.
    fn of(&mut self, seat: &SeatView, wanted: impl Fn(&SeatView) -> bool) -> Option<String> {
        let (life, is_said) = self.known.insert(seat.seat, (seat.generation, false)).unwrap_or((0, false));
        if life != 0 && seat.generation > life && !is_said && !wanted(seat) {
            return Some(format!("node {} died, and was started again", seat.name));
        }
        let has_died = !seat.by_a_person && matches!(seat.state, NodeState::Dead | NodeState::Failed);
        self.known.insert(seat.seat, (seat.generation, has_died));
        if !has_died || (is_said && life == seat.generation) {
            return None;
        }
        let how = match seat.exit {
            Some(code) if code != 0 => format!(": it {}", node::how_it_ended(code)),
            _ => String::new(),
        };
        Some(format!("node {} died{how}", seat.name))
    }
}

#[cfg(test)]
mod tests {
    use journal::process::ProcessIdentity;
    use topology::NodeKind;

    use super::*;

    fn seat(state: NodeState, generation: u64, exit: Option<u8>) -> SeatView {
        SeatView {
            seat: 7,
            name: "takers-2".to_owned(),
            kind: NodeKind::Strategy,
            mode: "parked",
            state,
            process: ProcessIdentity::current(),
            alive: true,
            is_foreign: false,
            generation,
            cpu: 0,
            silent_ns: None,
            exit,
            overstayed: false,
            by_a_person: false,
            undelivered_to: 0,
            in_callback_ns: None,
            counters: Vec::new(),
        }
    }

    #[test]
    fn each_death_is_said_once_also_when_nobody_looked_in_time() {
        use NodeState::{Dead, Failed, Running, Starting, Stopped};
        let mut deaths = Deaths::default();
        let mut say =
            |state, generation, exit| deaths.of(&seat(state, generation, exit), |seat| seat.generation == 6);
        assert_eq!(say(Starting, 0, None), None);
        assert_eq!(say(Running, 1, None), None);
        let killed = say(Dead, 1, Some(137)).expect("a line");
        assert!(killed.starts_with("node takers-2 died: it was killed by signal 9"), "{killed}");
        assert_eq!(say(Dead, 1, Some(137)), None);
        assert_eq!(say(Running, 2, None), None);
        assert_eq!(say(Running, 3, None).as_deref(), Some("node takers-2 died, and was started again"));
        assert_eq!(say(Failed, 3, Some(1)).as_deref(), Some("node takers-2 died: it ended with exit code 1"));
        assert_eq!(say(Failed, 3, Some(1)), None);
        assert_eq!(say(Stopped, 4, Some(0)), None);
        assert!(say(Running, 5, None).is_some(), "nobody asked for that");
        assert_eq!(say(Running, 6, None), None, "a person did");
    }
}
