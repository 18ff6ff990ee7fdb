//! Kills that td was asked for and that the drop copy does not have yet.
//!
//! Each is asked for once: a second one would fall again where a person has lifted the first. Only td's own reading ends the wait
//! for one that never comes: td passes over the kill of a switch that has fallen already.
//!
//! | stage | written | td has read it | in the drop copy |
//! |---|---|---|---|
//! | `Waiting` | `Written` | – | forgotten |
//! | `Written` | – | `Read` | forgotten |
//! | `Read` | – | – | forgotten; if it is wanted still, it is asked for again |

use std::collections::BTreeMap;

use wire::AccountScope;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// It waits for room.
    Waiting,
    /// It stands at this position in `ledger.risk`.
    Written(u64),
    /// td has read it, and the drop copy contains what came of that.
    Read,
}

/// All of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kills(BTreeMap<(AccountScope, u32), Stage>);

impl Kills {
    /// This switch should fall. True: it is to be asked for now.
    pub(crate) fn ask(&mut self, scope: AccountScope, subject: u32) -> bool {
        let known = self.0.get(&(scope, subject));
        let is_asked = known.is_some_and(|stage| *stage != Stage::Read);
        if !is_asked {
            self.0.insert((scope, subject), Stage::Waiting);
        }
        !is_asked
    }

    /// td was asked, at this position.
    pub(crate) fn written(&mut self, scope: AccountScope, subject: u32, position: u64) {
        self.0.insert((scope, subject), Stage::Written(position));
    }

    /// td has read what stands before this position. Only between two looks at the drop copy, of which the second goes as far as
    /// td had written by now.
    pub(crate) fn read(&mut self, position: u64) {
        for stage in self.0.values_mut() {
            match *stage {
                Stage::Written(at) if at < position => *stage = Stage::Read,
                Stage::Written(_) | Stage::Waiting | Stage::Read => {}
            }
        }
    }

    /// The drop copy has it.
    pub(crate) fn arrived(&mut self, scope: AccountScope, subject: u32) {
        self.0.remove(&(scope, subject));
    }

    /// True when none is waited for.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: (AccountScope, u32) = (AccountScope::Account, 7);

    fn in_stage(stage: Stage) -> Kills {
        Kills(BTreeMap::from([(ONE, stage)]))
    }

    #[test]
    fn every_stage_has_an_outcome_for_every_event() {
        type Event = (&'static str, fn(&mut Kills));
        let events: [Event; 5] = [
            ("written", |kills| kills.written(ONE.0, ONE.1, 640)),
            ("td has read all before it", |kills| kills.read(640)),
            ("td has read it", |kills| kills.read(641)),
            ("in the drop copy", |kills| kills.arrived(ONE.0, ONE.1)),
            ("wanted", |kills| {
                kills.ask(ONE.0, ONE.1);
            }),
        ];
        let (waiting, written, read) = (Stage::Waiting, Stage::Written(640), Stage::Read);
        let table = [
            (waiting, [Some(written), Some(waiting), Some(waiting), None, Some(waiting)]),
            (written, [Some(written), Some(written), Some(read), None, Some(written)]),
            (read, [Some(written), Some(read), Some(read), None, Some(waiting)]),
        ];
        for (stage, outcomes) in table {
            for ((name, event), outcome) in events.iter().zip(outcomes) {
                let mut kills = in_stage(stage);
                event(&mut kills);
                assert_eq!(kills.0.get(&ONE).copied(), outcome, "{stage:?}, {name}");
            }
            assert_eq!(in_stage(stage).ask(ONE.0, ONE.1), stage == Stage::Read, "{stage:?}");
        }
        assert!(Kills::default().ask(ONE.0, ONE.1));
    }
}
