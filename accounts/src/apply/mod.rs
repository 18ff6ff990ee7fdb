//! Entries: each fits, or is refused and changes nothing.

mod accounts;
mod limits;
mod terms;

use wire::{AccountId, Currency, InstrumentId};

use crate::desk::Desk;
use crate::entry::Entry;
use crate::refusal::Refusal;
use crate::rules::Subject;
use crate::settlement::Settlement;

/// What an entry has done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Applied {
    /// What it says.
    Done,
    /// Nothing: it was so already (a day that is settled).
    Already,
    /// A day is settled.
    Settled(Settlement),
}

impl Desk {
    /// Takes an entry.
    ///
    /// # Errors
    /// [`Refusal`]; nothing has changed then.
    pub fn apply(&mut self, entry: &Entry) -> Result<Applied, Refusal> {
        match entry {
            Entry::Open(open) => self.open(open)?,
            Entry::Change(change) => self.change(change)?,
            Entry::Limit(limit) => self.limit(limit)?,
            Entry::Fee(rule) => {
                self.named(&rule.who, &rule.why)?;
                self.known(rule.account, rule.instrument)?;
                self.fees.set(rule)?;
                self.resolve_all();
            }
            Entry::Margin(rule) => {
                self.named(&rule.who, &rule.why)?;
                self.known(rule.account, rule.instrument)?;
                self.margins.set(rule)?;
                self.resolve_all();
            }
            Entry::Terms(terms) => self.terms(terms)?,
            Entry::Rate(rate) => self.currencies.set(rate)?,
            Entry::Price(price) => self.settlement_price(price)?,
            Entry::Settle(settle) => return self.settle(settle),
        }
        Ok(Applied::Done)
    }

    fn named<const A: usize, const B: usize>(
        &self,
        who: &wire::Text<A>,
        why: &wire::Text<B>,
    ) -> Result<(), Refusal> {
        if who.is_empty() || why.is_empty() { Err(Refusal::Nameless) } else { Ok(()) }
    }

    /// A rule's account and instrument exist, where they are given.
    fn known(&self, account: AccountId, instrument: InstrumentId) -> Result<(), Refusal> {
        if account != AccountId::OWN && self.find(account).is_none() {
            return Err(Refusal::UnknownSubject);
        }
        if instrument.0 != 0 && self.contracts.get(instrument).is_none() {
            return Err(Refusal::UnknownInstrument(instrument));
        }
        Ok(())
    }

    /// Rules have changed: each slot gets those that hold now, positions and orders take their margin anew. Orders at work
    /// keep their charges.
    fn resolve_all(&mut self) {
        let Desk { accounts, contracts, fees, margins, orders, .. } = self;
        for account in accounts.iter_mut() {
            let (id, parent, kind) = (account.id, account.parent, account.kind);
            for place in 0..account.slots.len() {
                let slot = &mut account.slots[place];
                let Some(contract) = contracts.get(slot.instrument) else { continue };
                let subject =
                    Subject { account: id, parent, instrument: slot.instrument, symbol: contract.symbol };
                (slot.schedule, slot.rates) = (fees.resolve(&subject), margins.resolve(&subject));
                let change = slot.remargin(kind, margins.rates(slot.rates));
                account.purse(contract.currency).margin += change;
            }
        }
        let open: Vec<u32> = orders.open().map(|(place, _)| place).collect();
        open.into_iter().for_each(|place| self.reserve(place));
    }

    /// The name of a currency by its number.
    pub(crate) fn currency(&self, currency: u8) -> Currency {
        self.currencies.name(currency)
    }
}
