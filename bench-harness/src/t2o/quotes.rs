//! The quotes that md published, read as any tool may read them, to complement td's samples.

use journal::{LooseReader, OpenError, ReadError};
use observe::InstanceView;
use topology::config::{InstrumentChoice, InstrumentRule};
use topology::{NodeKind, StrategySection, Stream, Topology};
use wire::{Best, Instrument, Message, Quote};

/// One quote, as md published it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Quoted {
    /// Its time in the schedule.
    pub(crate) due: u64,
    /// When md committed it.
    pub(crate) published: u64,
    /// Number of the instrument.
    pub(crate) instrument: u32,
}

/// Reads from its first frame on the journal of quotes, or of bests where the strategies hear those; unseen by md.
#[derive(Debug)]
pub(crate) struct QuoteReader {
    reader: LooseReader,
    quotes: Vec<Quoted>,
}

impl QuoteReader {
    pub(crate) fn open(view: &InstanceView, topology: &Topology) -> Result<QuoteReader, OpenError> {
        let files = view.instance().find_journal(of(topology, heard(topology)));
        let journal = journal::Journal::open_read_only(files)?;
        Ok(QuoteReader { reader: journal.loose_from_start()?, quotes: Vec::new() })
    }

    /// Reads what has arrived since the last call. A quote that is overwritten before it is read is missing here, and
    /// is found by its place in the schedule: see [`super::answers`].
    pub(crate) fn take(&mut self) {
        loop {
            match self.reader.read() {
                Ok(Some(frame)) => {
                    let due = match frame.message_id {
                        Quote::ID => Quote::decode(frame.payload).map(|quote| quote.due),
                        Best::ID => Best::decode(frame.payload).map(|best| best.due),
                        _ => continue,
                    };
                    if let Ok(due) = due {
                        let instrument = frame.topic;
                        self.quotes.push(Quoted { due: due.0, published: frame.time, instrument });
                    }
                }
                Err(ReadError::Lapped(_)) => {}
                Ok(None) | Err(_) => return,
            }
        }
    }

    pub(crate) fn quotes(&self) -> &[Quoted] {
        &self.quotes
    }
}

/// How many strategies answer a quote of each instrument.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Listeners {
    /// By the instrument's number, ascending. Empty when md's list could not be read: then one strategy each is
    /// assumed.
    by_instrument: Vec<(u32, u32)>,
}

impl Listeners {
    /// From the strategies in the topology and the instruments that md has listed.
    pub(crate) fn of(view: &InstanceView, topology: &Topology) -> Listeners {
        let mut listed = listed(view, topology);
        listed.sort_by_key(|(id, _)| *id);
        listed.dedup_by_key(|(id, _)| *id);
        let strategies = topology.nodes.iter().filter(|node| node.kind == NodeKind::Strategy);
        let sections = strategies
            .filter_map(|node| serde_json::from_value::<StrategySection>(node.section.clone()).ok());
        Listeners::count(&listed, sections)
    }

    fn count(listed: &[(u32, String)], strategies: impl Iterator<Item = StrategySection>) -> Listeners {
        let mut by_instrument: Vec<(u32, u32)> = listed.iter().map(|(id, _)| (*id, 0)).collect();
        for strategy in strategies {
            for (place, (_, symbol)) in listed.iter().enumerate() {
                let hears = match &strategy.instruments {
                    InstrumentChoice::Rule(InstrumentRule::All) => true,
                    InstrumentChoice::Rule(InstrumentRule::RoundRobin) => {
                        strategy.index as usize % listed.len() == place
                    }
                    InstrumentChoice::Listed(symbols) => symbols.contains(symbol),
                };
                by_instrument[place].1 += u32::from(hears);
            }
        }
        Listeners { by_instrument }
    }

    /// Number of strategies that read this instrument.
    pub(crate) fn hear(&self, instrument: u32) -> u64 {
        if self.by_instrument.is_empty() {
            return 1;
        }
        let place = self.by_instrument.binary_search_by_key(&instrument, |(id, _)| *id);
        place.map_or(0, |place| u64::from(self.by_instrument[place].1))
    }

    /// Average number of answers to a quote, for one whose instrument is unknown.
    pub(crate) fn average(&self) -> f64 {
        if self.by_instrument.is_empty() {
            return 1.0;
        }
        let all: u64 = self.by_instrument.iter().map(|(_, count)| u64::from(*count)).sum();
        all as f64 / self.by_instrument.len().max(1) as f64
    }

    #[cfg(test)]
    pub(crate) fn each(instruments: u32, strategies: u32) -> Listeners {
        Listeners { by_instrument: (1..=instruments).map(|id| (id, strategies)).collect() }
    }
}

/// What the strategies of a scenario hear.
fn heard(topology: &Topology) -> Stream {
    let reads_best = topology
        .carrying(Stream::Best)
        .flat_map(|journal| &journal.readers)
        .any(|reader| topology.node(&reader.node).is_some_and(|node| node.kind.trades()));
    if reads_best { Stream::Best } else { Stream::Quotes }
}

/// The journal that carries this; empty when there is none.
fn of(topology: &Topology, stream: Stream) -> &str {
    topology.carrying(stream).next().map_or("", |journal| &journal.name)
}

/// Number and symbol of every instrument; `md.instruments` never laps.
fn listed(view: &InstanceView, topology: &Topology) -> Vec<(u32, String)> {
    let files = view.instance().find_journal(of(topology, Stream::Instruments));
    let reader = journal::Journal::open_read_only(files).and_then(|journal| journal.loose_from_start());
    let Ok(mut reader) = reader else { return Vec::new() };
    let mut listed = Vec::new();
    while let Ok(Some(frame)) = reader.read() {
        if frame.message_id == Instrument::ID
            && let Ok(instrument) = Instrument::decode(frame.payload)
        {
            listed.push((instrument.id.0, instrument.symbol.as_str().to_owned()));
        }
    }
    listed
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use topology::config::MarketData;

    use super::*;

    #[test]
    fn every_strategy_listens_to_what_its_section_says() {
        let listed = [(1, "AAA".to_owned()), (2, "BBB".to_owned()), (3, "CCC".to_owned())];
        let section = |index, instruments| StrategySection {
            group: "strategy".to_owned(),
            index,
            index_in_group: index,
            instruments,
            data: MarketData::Depth,
            builtin: None,
            accounts: Vec::new(),
            budget: Duration::ZERO,
            warm_up: Duration::ZERO,
            history: None,
        };
        let robin = |index| section(index, InstrumentChoice::Rule(InstrumentRule::RoundRobin));
        let sections = [
            robin(0),
            robin(1),
            robin(3),
            section(4, InstrumentChoice::Rule(InstrumentRule::All)),
            section(5, InstrumentChoice::Listed(vec!["CCC".to_owned()])),
        ];
        let listeners = Listeners::count(&listed, sections.into_iter());
        assert_eq!([1, 2, 3, 4].map(|id| listeners.hear(id)), [3, 2, 2, 0]);
        assert!((listeners.average() - 7.0 / 3.0).abs() < 1e-9);
    }
}
