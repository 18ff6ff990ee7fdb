//! Names of instrument ids. A mapping of the metadata holds from one date to another: venues give an id to another instrument, some
//! number theirs anew each day, and a continuous contract (`ES.c.0`) stands for one contract after another.

use std::collections::BTreeMap;

use dbn::{Metadata, SType};
use wire::Symbol;

use crate::source::error::Fault;
use crate::source::fields::DAY;

/// Julian day of 1970-01-01.
const EPOCH: i32 = 2_440_588;

/// A name, from one day to another, in days since 1970-01-01; the last is not included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    from: i64,
    to: i64,
    name: Symbol,
}

/// What the metadata says of ids.
#[derive(Debug, Default)]
pub(super) struct Names {
    by_id: BTreeMap<u32, Vec<Span>>,
    /// Names that stand for several contracts, each with the ids of these in the order of their days.
    pub(super) rolls: Vec<(String, Vec<u32>)>,
    /// Names that end before others do, each with its first day without a mapping: contracts that were rolled, that gave their id away,
    /// or that expired. By day.
    pub(super) ends: Vec<(i64, Symbol)>,
}

impl Names {
    /// The mappings go from a name to ids, or from an id to names. The first contract of a continuous one has its name, later ones
    /// have their id behind it: `ES.c.0`, `ES.c.0@202`.
    pub(super) fn of(metadata: &Metadata) -> Names {
        let to_id = metadata.stype_out == SType::InstrumentId;
        let is_continuous = to_id && metadata.stype_in == Some(SType::Continuous);
        let mut names = Names::default();
        for mapping in &metadata.mappings {
            let mut contracts: Vec<u32> = Vec::new();
            let mut intervals: Vec<_> = mapping.intervals.iter().collect();
            intervals.sort_by_key(|interval| interval.start_date);
            for interval in intervals {
                let (id, name) = if to_id {
                    (interval.symbol.parse().ok(), &mapping.raw_symbol)
                } else {
                    (mapping.raw_symbol.parse().ok(), &interval.symbol)
                };
                let Some(id) = id else { continue };
                if !contracts.contains(&id) {
                    contracts.push(id);
                }
                let is_first = !is_continuous || contracts.first() == Some(&id);
                let name = if is_first { Symbol::new(name) } else { Symbol::new(&format!("{name}@{id}")) };
                let day = |date: i32| i64::from(date - EPOCH);
                let from = day(interval.start_date.to_julian_day());
                let to = day(interval.end_date.to_julian_day());
                if let Some(name) = name {
                    names.by_id.entry(id).or_default().push(Span { from, to, name });
                }
            }
            if is_continuous && contracts.len() > 1 {
                names.rolls.push((mapping.raw_symbol.clone(), contracts));
            }
        }
        names.ends = names.ends();
        names
    }

    fn ends(&self) -> Vec<(i64, Symbol)> {
        let mut last: BTreeMap<Symbol, i64> = BTreeMap::new();
        for span in self.by_id.values().flatten() {
            let to = last.entry(span.name).or_insert(span.to);
            *to = span.to.max(*to);
        }
        let end = last.values().copied().max().unwrap_or(0);
        let mut ends: Vec<_> =
            last.into_iter().filter(|(_, to)| *to < end).map(|(name, to)| (to, name)).collect();
        ends.sort_unstable();
        ends
    }

    /// The name of an id at a time, in nanoseconds since 1970. If the metadata names any id, it names all: another one is damaged. An
    /// id that has one name has it on other days too, unless the name ends before others do.
    pub(super) fn name(&self, id: u32, time: u64) -> Result<Symbol, Fault> {
        if self.by_id.is_empty() {
            return Symbol::new(&format!("#{id}")).ok_or_else(|| Fault::new("instrument id", id, "a number"));
        }
        let Some(spans) = self.by_id.get(&id) else {
            let expected = format!("one of the {} that the file's metadata names", self.by_id.len());
            return Err(Fault::new("instrument id", id, expected));
        };
        let day = (time / DAY) as i64;
        if let Some(span) = spans.iter().find(|span| (span.from..span.to).contains(&day)) {
            return Ok(span.name);
        }
        let has_ended = |name: Symbol| self.ends.iter().any(|(to, ended)| *ended == name && day >= *to);
        match spans.first() {
            Some(first) if spans.iter().all(|span| span.name == first.name) && !has_ended(first.name) => {
                Ok(first.name)
            }
            _ => {
                let expected = "an id that the file's metadata names on the day of the record";
                Err(Fault::new("instrument id", id, expected))
            }
        }
    }
}
