//! The instruments that md has listed, and which of them the strategy hears.

use std::collections::BTreeMap;

use wire::{Instrument, InstrumentId, MAX_INSTRUMENTS, Symbol};

/// Which instruments a strategy wants to hear.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Interest {
    /// All that are listed.
    All,
    /// One: that of this number, counted from 0 through the listed ones, and from the first again after the last.
    RoundRobin {
        /// The number.
        index: u32,
    },
    /// These. One that is not listed yet is heard as soon as it is.
    Symbols(Vec<String>),
}

/// The listed instruments, by id and by symbol.
#[derive(Clone, Debug)]
pub struct Instruments {
    interest: Interest,
    /// With [`Interest::RoundRobin`]: the one, once the list is known.
    assigned: Option<InstrumentId>,
    /// By id.
    entries: Vec<Option<Entry>>,
    by_symbol: BTreeMap<Symbol, InstrumentId>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    instrument: Instrument,
    heard: bool,
}

impl Instruments {
    pub(crate) fn new(interest: Interest) -> Instruments {
        Instruments { interest, assigned: None, entries: Vec::new(), by_symbol: BTreeMap::new() }
    }

    /// The instrument with this id, if it is listed.
    #[inline]
    pub fn get(&self, id: InstrumentId) -> Option<&Instrument> {
        self.entry(id).map(|entry| &entry.instrument)
    }

    /// The instrument with this symbol, if it is listed.
    pub fn by_symbol(&self, symbol: &str) -> Option<&Instrument> {
        self.by_symbol.get(&Symbol::new(symbol)?).and_then(|id| self.get(*id))
    }

    /// All that are listed, by ascending id.
    pub fn iter(&self) -> impl Iterator<Item = &Instrument> {
        self.entries.iter().flatten().map(|entry| &entry.instrument)
    }

    /// Those that the strategy hears, by ascending id.
    pub fn heard(&self) -> impl Iterator<Item = &Instrument> {
        self.entries.iter().flatten().filter(|entry| entry.heard).map(|entry| &entry.instrument)
    }

    /// True when the strategy hears this one.
    #[inline]
    pub fn hears(&self, id: InstrumentId) -> bool {
        self.entry(id).is_some_and(|entry| entry.heard)
    }

    /// How many are listed.
    pub fn len(&self) -> usize {
        self.by_symbol.len()
    }

    /// True when none is listed yet.
    pub fn is_empty(&self) -> bool {
        self.by_symbol.is_empty()
    }

    #[inline]
    fn entry(&self, id: InstrumentId) -> Option<&Entry> {
        self.entries.get(id.0 as usize)?.as_ref()
    }

    /// Takes what md says about an instrument. `None` when it cannot be; else whether it is heard from now on and
    /// was not before.
    pub(crate) fn list(&mut self, instrument: &Instrument) -> Option<bool> {
        let id = instrument.id;
        if id.0 == 0 || id.0 >= MAX_INSTRUMENTS {
            return None;
        }
        let index = id.0 as usize;
        if self.entries.len() <= index {
            self.entries.resize(index + 1, None);
        }
        let before = self.entries[index];
        if let Some(before) = before {
            self.by_symbol.remove(&before.instrument.symbol);
        }
        self.by_symbol.insert(instrument.symbol, id);
        let heard = self.wants(instrument);
        self.entries[index] = Some(Entry { instrument: *instrument, heard });
        Some(heard && !before.is_some_and(|before| before.heard))
    }

    fn wants(&self, instrument: &Instrument) -> bool {
        match &self.interest {
            Interest::All => true,
            Interest::RoundRobin { .. } => self.assigned == Some(instrument.id),
            Interest::Symbols(symbols) => symbols.iter().any(|symbol| symbol == instrument.symbol.as_str()),
        }
    }

    /// With [`Interest::RoundRobin`]: picks the one, now that the list is whole. It stays the same when md lists
    /// more later.
    pub(crate) fn assign(&mut self) {
        if let Interest::RoundRobin { index } = self.interest
            && self.assigned.is_none()
            && !self.is_empty()
        {
            let ids: Vec<InstrumentId> = self.iter().map(|instrument| instrument.id).collect();
            self.assigned = Some(ids[index as usize % ids.len()]);
            for entry in self.entries.iter_mut().flatten() {
                entry.heard = self.assigned == Some(entry.instrument.id);
            }
        }
    }

    /// Symbols that were asked for and are not listed.
    pub(crate) fn missing(&self) -> impl Iterator<Item = &str> {
        let asked = match &self.interest {
            Interest::Symbols(symbols) => symbols.as_slice(),
            _ => &[],
        };
        asked.iter().map(String::as_str).filter(|symbol| self.by_symbol(symbol).is_none())
    }

    /// Topics of the quotes to hear; `None`: all.
    pub(crate) fn topics(&self) -> Option<Vec<u32>> {
        match self.interest {
            Interest::All => None,
            _ => Some(self.heard().map(|instrument| instrument.id.0).collect()),
        }
    }
}
