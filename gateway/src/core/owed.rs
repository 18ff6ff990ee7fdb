//! Orders that must end: orders of a session that has ended, and orders that a mass cancel covers. Pure.
//!
//! A cancel that is sent is not yet done: the market may refuse it for now, or may not carry out the mass cancel. So each of these
//! orders is owed a cancel until its end is read.
//!
//! | stage | cancel sent | cancel refused | mass cancel answered | reports lost | not committed | order ended |
//! |---|---|---|---|---|---|---|
//! | `Due` | `Sent` | – | – | – | – | removed |
//! | `Sent` | – | `Paused` | – | `Paused` | `Due` | removed |
//! | `InMass` | – | – | `Due`, if it is this mass cancel | `Paused` | – | removed |
//! | `Paused` | `Sent`, when its time has come | – | – | – | – | removed |
//!
//! Each refusal doubles the pause, up to [`LONGEST_PAUSE`].

use std::collections::HashMap;

use wire::{AccountId, CancelAll, InstrumentId, OrderId, Side};

/// Nanoseconds between the first refusal and the next cancel.
const PAUSE: u64 = 50_000_000;
/// Nanoseconds between a refusal and the next cancel, at most.
const LONGEST_PAUSE: u64 = 2_000_000_000;

/// Which orders a mass cancel covers; `None`: all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Scope {
    pub(crate) account: Option<AccountId>,
    pub(crate) instrument: Option<InstrumentId>,
    pub(crate) side: Option<Side>,
}

impl Scope {
    pub(crate) fn of(request: &CancelAll) -> Scope {
        Scope { account: request.of_account(), instrument: request.of_instrument(), side: request.of_side() }
    }

    /// The request to the market.
    pub(crate) fn request(self, id: OrderId) -> CancelAll {
        let mut request = CancelAll::new(id);
        request.instrument = self.instrument.unwrap_or_default();
        if let Some(account) = self.account {
            request.account = account;
            request.flags |= CancelAll::OF_ACCOUNT;
        }
        if let Some(side) = self.side {
            request.side = side;
            request.flags |= CancelAll::OF_SIDE;
        }
        request
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// A cancel is to be sent.
    Due,
    /// A cancel of this order alone is on its way.
    Sent,
    /// The mass cancel of this number is on its way.
    InMass(OrderId),
    /// The last cancel was refused or its answer is lost: the next one is sent at this time.
    Paused(u64),
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    stage: Stage,
    /// Cancels sent and refused.
    refused: u32,
}

/// All of them.
#[derive(Debug)]
pub(super) struct Owed {
    orders: HashMap<OrderId, Entry>,
    /// No cancel is due before this time.
    next: u64,
}

impl Default for Owed {
    fn default() -> Owed {
        Owed { orders: HashMap::new(), next: u64::MAX }
    }
}

fn pause(refused: u32) -> u64 {
    PAUSE.saturating_mul(1 << refused.min(16)).min(LONGEST_PAUSE)
}

impl Owed {
    pub(super) fn is_empty(&self) -> bool {
        self.orders.is_empty()
    }

    /// Must this order end?
    pub(super) fn has(&self, id: OrderId) -> bool {
        self.orders.contains_key(&id)
    }

    /// This order must end.
    pub(super) fn owe(&mut self, id: OrderId) {
        let entry = self.orders.entry(id).or_insert(Entry { stage: Stage::Due, refused: 0 });
        match entry.stage {
            Stage::Due | Stage::Sent | Stage::InMass(_) => {}
            // A new request does not wait for the pause of an earlier one.
            Stage::Paused(_) => *entry = Entry { stage: Stage::Due, refused: 0 },
        }
        if entry.stage == Stage::Due {
            self.next = 0;
        }
    }

    /// This order must end, and this mass cancel, which covers it, is on its way.
    pub(super) fn owe_in_mass(&mut self, id: OrderId, request: OrderId) {
        self.orders.insert(id, Entry { stage: Stage::InMass(request), refused: 0 });
    }

    /// A cancel of this order is refused.
    pub(super) fn refused(&mut self, id: OrderId, now: u64) {
        let Some(entry) = self.orders.get_mut(&id) else { return };
        match entry.stage {
            Stage::Sent => {
                let until = now.saturating_add(pause(entry.refused));
                *entry = Entry { stage: Stage::Paused(until), refused: entry.refused.saturating_add(1) };
                self.next = self.next.min(until);
            }
            // The refusal is of a client's own cancel; the owed one has an answer of its own.
            Stage::Due | Stage::InMass(_) | Stage::Paused(_) => {}
        }
    }

    /// This mass cancel is answered or refused: what it has left needs cancels of its own.
    pub(super) fn mass_answered(&mut self, request: OrderId) {
        for entry in self.orders.values_mut().filter(|entry| entry.stage == Stage::InMass(request)) {
            entry.stage = Stage::Due;
            self.next = 0;
        }
    }

    /// Reports are lost, among them perhaps the answers to what is on its way.
    pub(super) fn lost(&mut self, now: u64) {
        let until = now.saturating_add(PAUSE);
        for entry in self.orders.values_mut() {
            match entry.stage {
                Stage::Sent | Stage::InMass(_) => {
                    entry.stage = Stage::Paused(until);
                    self.next = self.next.min(until);
                }
                Stage::Due | Stage::Paused(_) => {}
            }
        }
    }

    /// The order has ended.
    pub(super) fn ended(&mut self, id: OrderId) {
        self.orders.remove(&id);
    }

    /// When [`Owed::take`] has something; `None`: not before a report comes.
    pub(super) fn due(&self) -> Option<u64> {
        Some(self.next).filter(|next| *next != u64::MAX)
    }

    /// The orders whose cancels are due, oldest first. They count as sent.
    pub(super) fn take(&mut self, now: u64) -> Vec<OrderId> {
        if now < self.next {
            return Vec::new();
        }
        self.next = u64::MAX;
        let mut taken = Vec::new();
        for (id, entry) in &mut self.orders {
            match entry.stage {
                Stage::Due => {}
                Stage::Paused(until) if until <= now => {}
                Stage::Paused(until) => {
                    self.next = self.next.min(until);
                    continue;
                }
                Stage::Sent | Stage::InMass(_) => continue,
            }
            entry.stage = Stage::Sent;
            taken.push(*id);
        }
        taken.sort_unstable();
        taken
    }

    /// The cancel of this order found no room.
    pub(super) fn not_sent(&mut self, id: OrderId) {
        let Some(entry) = self.orders.get_mut(&id) else { return };
        match entry.stage {
            Stage::Sent => {
                entry.stage = Stage::Due;
                self.next = 0;
            }
            Stage::Due | Stage::InMass(_) | Stage::Paused(_) => {}
        }
    }

    /// All that have not ended, oldest first.
    pub(super) fn all(&self) -> Vec<OrderId> {
        let mut all: Vec<OrderId> = self.orders.keys().copied().collect();
        all.sort_unstable();
        all
    }
}

#[cfg(test)]
mod tests {
    use wire::StrategyId;

    use super::*;

    fn id(number: u32) -> OrderId {
        OrderId::new(StrategyId(9), 1, number)
    }

    const MASS: u32 = 100;
    const NOW: u64 = 1_000_000_000;

    /// An order in this stage.
    fn in_stage(stage: Stage) -> Owed {
        let mut owed = Owed::default();
        match stage {
            Stage::Due => owed.owe(id(1)),
            Stage::Sent => {
                owed.owe(id(1));
                owed.take(NOW);
            }
            Stage::InMass(request) => owed.owe_in_mass(id(1), request),
            Stage::Paused(_) => {
                owed.owe(id(1));
                owed.take(NOW);
                owed.refused(id(1), NOW);
            }
        }
        assert_eq!(owed.orders[&id(1)].stage, stage);
        owed
    }

    #[test]
    fn every_stage_has_an_outcome_for_every_event() {
        let (due, sent, mass) = (Stage::Due, Stage::Sent, Stage::InMass(id(MASS)));
        let (paused, other) = (Stage::Paused(NOW + PAUSE), Stage::InMass(id(MASS + 1)));
        type Event = (&'static str, fn(&mut Owed));
        let events: [Event; 8] = [
            ("owe", |owed| owed.owe(id(1))),
            ("owe in another mass cancel", |owed| owed.owe_in_mass(id(1), id(MASS + 1))),
            ("take", |owed| drop(owed.take(NOW))),
            ("take after the pause", |owed| drop(owed.take(NOW + PAUSE))),
            ("refused", |owed| owed.refused(id(1), NOW)),
            ("mass answered", |owed| owed.mass_answered(id(MASS))),
            ("lost", |owed| owed.lost(NOW)),
            ("not sent", |owed| owed.not_sent(id(1))),
        ];
        let table = [
            (due, [due, other, sent, sent, due, due, due, due]),
            (sent, [sent, other, sent, sent, paused, sent, paused, due]),
            (mass, [mass, other, mass, mass, mass, due, paused, mass]),
            (paused, [due, other, paused, sent, paused, paused, paused, paused]),
        ];
        for (stage, outcomes) in table {
            for ((name, event), outcome) in events.iter().zip(outcomes) {
                let mut owed = in_stage(stage);
                event(&mut owed);
                assert_eq!(owed.orders[&id(1)].stage, outcome, "{stage:?}, {name}");
                // Due cancels are found, and in time.
                let due = match outcome {
                    Stage::Due => Some(0),
                    Stage::Paused(until) => Some(until),
                    Stage::Sent | Stage::InMass(_) => None,
                };
                if let Some(due) = due {
                    assert!(owed.due().is_some_and(|next| next <= due), "{stage:?}, {name}");
                    assert_eq!(owed.take(due.max(NOW)), [id(1)], "{stage:?}, {name}");
                }
            }
            let mut owed = in_stage(stage);
            owed.ended(id(1));
            assert!(owed.is_empty() && owed.take(u64::MAX - 1).is_empty(), "{stage:?}");
        }
    }

    #[test]
    fn a_market_that_refuses_for_long_is_asked_less_often_and_never_forgotten() {
        let mut owed = Owed::default();
        owed.owe(id(1));
        let (mut now, mut sent) = (NOW, 0);
        while now < NOW + 60_000_000_000 {
            assert_eq!(owed.take(now), [id(1)]);
            owed.refused(id(1), now);
            (now, sent) = (owed.due().unwrap(), sent + 1);
        }
        assert!((30..60).contains(&sent), "{sent} cancels in a minute");
    }

    #[test]
    fn a_scope_is_the_same_in_the_request_and_back() {
        for account in [None, Some(AccountId(0)), Some(AccountId(9))] {
            for instrument in [None, Some(InstrumentId(3))] {
                for side in [None, Some(Side::Buy), Some(Side::Sell)] {
                    let scope = Scope { account, instrument, side };
                    assert_eq!(Scope::of(&scope.request(id(7))), scope);
                }
            }
        }
    }
}
