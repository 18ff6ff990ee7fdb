//! One account.

use std::hint::black_box;

use wire::{AccountId, AccountKind, CostMethod, InstrumentId, StrategyId, Text};

use crate::contracts::Contracts;
use crate::currencies::Currencies;
use crate::limits::Watch;
use crate::positions::{LONG, SHORT, Slot};
use crate::purse::Purse;
use crate::state::{state, state_enum};

/// Whether an account takes orders, and gives money out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Frozen {
    #[default]
    No = 0,
    /// A person has frozen it.
    ByPerson = 1,
    /// Its positions are closed by force.
    ByForce = 2,
    Both = 3,
}
state_enum!(Frozen { No, ByPerson, ByForce, Both });

impl Frozen {
    pub(crate) fn is_by_person(self) -> bool {
        matches!(self, Frozen::ByPerson | Frozen::Both)
    }

    pub(crate) fn is_by_force(self) -> bool {
        matches!(self, Frozen::ByForce | Frozen::Both)
    }

    fn of(by_person: bool, by_force: bool) -> Frozen {
        match (by_person, by_force) {
            (false, false) => Frozen::No,
            (true, false) => Frozen::ByPerson,
            (false, true) => Frozen::ByForce,
            (true, true) => Frozen::Both,
        }
    }

    /// With one of the two changed; `None` where it is so already.
    pub(crate) fn with(self, by_force: bool, is_frozen: bool) -> Option<Frozen> {
        let changed = match by_force {
            true => Frozen::of(self.is_by_person(), is_frozen),
            false => Frozen::of(is_frozen, self.is_by_force()),
        };
        (changed != self).then_some(changed)
    }
}

/// "No group."
pub(crate) const NO_GROUP: u32 = u32::MAX;

/// An account, its purses and its positions. Checks read its first six lines of memory and whether there are other purses, and
/// [`Account::touch`] asks for all at once.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Account {
    pub(crate) watch: Watch,
    /// Unrealised gain when marks were last looked at, and the number of their changes then.
    pub(crate) seen: (u64, i128),
    pub(crate) id: AccountId,
    /// Place of its group.
    pub(crate) group: u32,
    /// Whose own account it is, of those that were not opened by an entry.
    pub(crate) owner: Option<StrategyId>,
    pub(crate) kind: AccountKind,
    pub(crate) method: CostMethod,
    pub(crate) frozen: Frozen,
    pub(crate) is_closed: bool,
    pub(crate) slots: Vec<Slot>,
    /// Instruments of the slots as far as they are few: see [`Account::place`].
    near: [u16; NEAR],
    /// In its own currency.
    pub(crate) home: Purse,
    /// Instruments of the slots, so that the way to a slot touches no slot but it.
    keys: Vec<u16>,
    pub(crate) others: Vec<Purse>,
    pub(crate) parent: AccountId,
    pub(crate) name: Text<32>,
}
const _: () = assert!(
    std::mem::offset_of!(Account, slots) == 256
        && std::mem::offset_of!(Account, home) + std::mem::offset_of!(Purse, gross) + size_of::<i128>()
            == 384
);
/// How many instruments an account may have before the way to a slot is a search.
const NEAR: usize = 12;

state!(Account {
    id,
    owner,
    kind,
    method,
    frozen,
    is_closed,
    group,
    watch,
    home,
    keys,
    near,
    slots,
    others,
    parent,
    name,
    seen
});

impl Account {
    /// Without money or positions.
    pub(crate) fn new(id: AccountId, kind: AccountKind, method: CostMethod, currency: u8) -> Account {
        Account {
            watch: Watch::default(),
            seen: (u64::MAX, 0),
            id,
            group: NO_GROUP,
            owner: None,
            kind,
            method,
            frozen: Frozen::default(),
            is_closed: false,
            slots: Vec::new(),
            near: [0; NEAR],
            home: Purse::new(currency),
            keys: Vec::new(),
            others: Vec::new(),
            parent: AccountId::OWN,
            name: Text::EMPTY,
        }
    }

    /// Reads a word of each line that the checks of an order will read, so that what is not in the caches comes all at once
    /// and not one after the other. The place of the slot, if there is one.
    #[inline]
    pub(crate) fn touch(&self, instrument: InstrumentId) -> Option<usize> {
        self.touch_own();
        self.touch_slot(instrument)
    }

    #[inline]
    pub(crate) fn touch_own(&self) {
        let Account { watch, home, group, others, .. } = self;
        black_box((watch.open, watch.quantity, watch.gross, *group, home.margin as u64, others.len()));
    }

    #[inline]
    pub(crate) fn touch_slot(&self, instrument: InstrumentId) -> Option<usize> {
        let place = self.place(instrument)?;
        let slot = self.slots.get(place)?;
        black_box((slot.schedule, slot.holdings[0].lots[0], slot.holdings[1].lots[0]));
        Some(place)
    }

    pub(crate) fn is_own(&self) -> bool {
        self.owner.is_some()
    }

    #[inline]
    pub(crate) fn place(&self, instrument: InstrumentId) -> Option<usize> {
        let key = instrument.0 as u16;
        if self.slots.len() <= NEAR {
            // Zero is no instrument's, and fills the places that are free.
            // The whole is compared at once: a walk that ends somewhere would be guessed wrongly by the processor.
            let found =
                self.near.iter().rev().fold(0_u32, |bits, known| bits << 1 | u32::from(*known == key));
            (found != 0 && key != 0).then(|| found.trailing_zeros() as usize)
        } else {
            self.keys.binary_search(&key).ok()
        }
    }

    pub(crate) fn slot(&self, instrument: InstrumentId) -> Option<&Slot> {
        self.slots.get(self.place(instrument)?)
    }

    pub(crate) fn slot_mut(&mut self, instrument: InstrumentId) -> Option<&mut Slot> {
        let place = self.place(instrument)?;
        self.slots.get_mut(place)
    }

    /// Adds a slot; by ascending instrument.
    pub(crate) fn insert(&mut self, slot: Slot) {
        let key = slot.instrument.0 as u16;
        let place = self.keys.partition_point(|known| *known < key);
        self.keys.insert(place, key);
        self.near = std::array::from_fn(|place| self.keys.get(place).copied().unwrap_or_default());
        // Doubling a few slots at a time would leave much of the memory unused.
        if self.slots.len() == self.slots.capacity() {
            self.slots.reserve_exact(if self.slots.len() < 16 { 4 } else { self.slots.len() / 2 });
        }
        self.slots.insert(place, slot);
    }

    pub(crate) fn purse(&mut self, currency: u8) -> &mut Purse {
        if self.home.currency == currency {
            return &mut self.home;
        }
        let place = match self.others.iter().position(|purse| purse.currency == currency) {
            Some(place) => place,
            None => {
                self.others.push(Purse::new(currency));
                self.others.len() - 1
            }
        };
        &mut self.others[place]
    }

    pub(crate) fn purses(&self) -> impl Iterator<Item = &Purse> {
        std::iter::once(&self.home).chain(&self.others)
    }

    /// Unrealised gain of the positions in one currency, since it was last paid.
    pub(crate) fn unrealised(&self, contracts: &Contracts, currency: u8) -> i128 {
        let slots = self.slots.iter().filter(|slot| !slot.is_flat());
        let ours = slots.filter_map(|slot| contracts.get(slot.instrument).map(|contract| (slot, contract)));
        ours.filter(|(_, contract)| contract.currency == currency)
            .map(|(slot, contract)| slot.unrealised(contract))
            .sum()
    }

    /// What settlements have paid for the positions in one currency that are still open.
    pub(crate) fn settled(&self, contracts: &Contracts, currency: u8) -> i128 {
        let ours = self.slots.iter().filter(|slot| {
            contracts.get(slot.instrument).is_some_and(|contract| contract.currency == currency)
        });
        ours.map(|slot| slot.holdings[LONG].settled() - slot.holdings[SHORT].settled()).sum()
    }

    /// Money that new orders and withdrawals may use, in its own currency. Losses at the latest marks count, gains do not.
    pub(crate) fn available(&self, contracts: &Contracts, currencies: &Currencies) -> i128 {
        let is_margined = self.kind != AccountKind::Cash && !self.slots.is_empty();
        let of = |purse: &Purse| {
            let losses = if !is_margined {
                0
            } else if self.others.is_empty() && self.seen.0 == contracts.marks {
                self.seen.1.min(0)
            } else {
                self.unrealised(contracts, purse.currency).min(0)
            };
            let free = purse.balance - purse.margin - purse.reserved + losses;
            currencies.convert(free, purse.currency, self.home.currency)
        };
        of(&self.home) + self.others.iter().map(of).sum::<i128>()
    }

    /// Notes the unrealised gain, so that it need not be summed again until a mark moves.
    pub(crate) fn look(&mut self, contracts: &Contracts) {
        if self.seen.0 != contracts.marks && self.others.is_empty() && self.kind != AccountKind::Cash {
            self.seen = (contracts.marks, self.unrealised(contracts, self.home.currency));
        }
    }

    /// What it is worth: money, and positions at their marks.
    pub(crate) fn equity(&self, contracts: &Contracts, currencies: &Currencies) -> i128 {
        let of = |purse: &Purse| {
            let positions = self.unrealised(contracts, purse.currency) + purse.totals.invested;
            currencies.convert(purse.balance + positions, purse.currency, self.home.currency)
        };
        self.purses().map(of).sum()
    }

    /// Profit and loss since the begin of the day, charges included.
    pub(crate) fn day_result(&self, contracts: &Contracts, currencies: &Currencies) -> i128 {
        let of = |purse: &Purse| {
            let (now, then) = (&purse.totals, &purse.opened);
            let sum = |totals: &crate::purse::Totals| {
                totals.realised + totals.variation - totals.fees - totals.taxes
            };
            let moved = self.unrealised(contracts, purse.currency) - purse.opened_unrealised;
            currencies.convert(sum(now) - sum(then) + moved, purse.currency, self.home.currency)
        };
        self.purses().map(of).sum()
    }

    pub(crate) fn margin(&self, currencies: &Currencies) -> i128 {
        // A need: rounded up.
        let of = |purse: &Purse| -currencies.convert(-purse.margin, purse.currency, self.home.currency);
        self.purses().map(of).sum()
    }
}
