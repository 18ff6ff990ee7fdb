//! The instruments that md has listed, and which of them the strategy reads.

use std::collections::BTreeMap;

use wire::{Instrument, InstrumentId, MAX_INSTRUMENTS, Symbol};

/// The instruments that a strategy reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Interest {
    /// All that are listed.
    All,
    /// One: that of this number, counted from 0 through the listed ones, and from the first again after the last.
    RoundRobin {
        /// The number.
        index: u32,
    },
    /// These symbols. One that is not listed yet is read as soon as it is.
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
    selected: bool,
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

    /// Those that the strategy reads, by ascending id.
    pub fn selected(&self) -> impl Iterator<Item = &Instrument> {
        self.entries.iter().flatten().filter(|entry| entry.selected).map(|entry| &entry.instrument)
    }

    /// True when the strategy reads this one.
    #[inline]
    pub fn is_selected(&self, id: InstrumentId) -> bool {
        self.entry(id).is_some_and(|entry| entry.selected)
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

    /// Lists an instrument. `None` when its id is impossible; otherwise whether the strategy reads it from now on and did
    /// not before.
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
        let selected = self.selects(instrument);
        self.entries[index] = Some(Entry { instrument: *instrument, selected });
        Some(selected && !before.is_some_and(|before| before.selected))
    }

    fn selects(&self, instrument: &Instrument) -> bool {
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
                entry.selected = self.assigned == Some(entry.instrument.id);
            }
        }
    }

    /// Symbols of the interest that are not listed.
    pub(crate) fn missing(&self) -> impl Iterator<Item = &str> {
        let asked = match &self.interest {
            Interest::Symbols(symbols) => symbols.as_slice(),
            _ => &[],
        };
        asked.iter().map(String::as_str).filter(|symbol| self.by_symbol(symbol).is_none())
    }

    /// Topics of the quotes to read; `None`: all.
    pub(crate) fn topics(&self) -> Option<Vec<u32>> {
        match self.interest {
            Interest::All => None,
            _ => Some(self.selected().map(|instrument| instrument.id.0).collect()),
        }
    }
}
