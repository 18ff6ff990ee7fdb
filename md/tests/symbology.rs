//! Which instrument an id of a DBN file means: Databento's symbology maps names to ids for intervals of dates
//! (databento.com/docs/standards-and-conventions/symbology), the start included and the end not.

mod support;

use dbn::encode::{DbnEncoder, EncodeRecord};
use dbn::{MappingInterval, MboMsg, Metadata, SType, Schema, SymbolMapping};
use md::source::{Options, SourceKind};
use support::*;
use wire::Price;

/// 2024-03-14, 10:00 in New York, in nanoseconds.
const FIRST_DAY: u64 = 1_710_424_800_000_000_000;
const DAY: u64 = 86_400_000_000_000;

/// An order of an id, on the first day or days later.
fn order(id: u32, days: u64, number: u64, side: u8, price: i64) -> MboMsg {
    let mut record = mbo(b'A', side, number, price, 1, true);
    record.hd.instrument_id = id;
    record.hd.ts_event = FIRST_DAY + days * DAY + number * 1_000_000;
    record.ts_recv = record.hd.ts_event + 1_000;
    record
}

/// A name, with ids from one day to another.
type Mapping<'a> = (&'a str, &'a [(u8, u8, u32)]);

fn file(stype: SType, mappings: &[Mapping<'_>], records: &[MboMsg]) -> tempfile::TempDir {
    let date = |day: u8| order(0, 0, 0, b'B', 1).ts_recv().unwrap().date().replace_day(14 + day).unwrap();
    let mapping = |&(name, intervals): &Mapping<'_>| SymbolMapping {
        raw_symbol: name.to_owned(),
        intervals: intervals
            .iter()
            .map(|&(from, to, id)| MappingInterval {
                start_date: date(from),
                end_date: date(to),
                symbol: id.to_string(),
            })
            .collect(),
    };
    let metadata = Metadata::builder()
        .dataset("GLBX.MDP3")
        .schema(Some(Schema::Mbo))
        .start(FIRST_DAY)
        .stype_in(Some(stype))
        .stype_out(SType::InstrumentId)
        .symbols(mappings.iter().map(|(name, _)| (*name).to_owned()).collect())
        .mappings(mappings.iter().map(mapping).collect())
        .build();
    let mut bytes = Vec::new();
    let mut encoder = DbnEncoder::new(&mut bytes, &metadata).unwrap();
    records.iter().for_each(|record| encoder.encode_record(record).unwrap());
    let folder = folder(&[]);
    write(&folder.path().join("x.dbn"), &bytes);
    folder
}

/// The bids of each instrument, in the order of the file.
fn bids(folder: &tempfile::TempDir, options: &Options) -> Vec<(String, Vec<Price>)> {
    let replayed = replay(SourceKind::Dbn, &path(folder), options).unwrap();
    let of = |instrument: &wire::Instrument| {
        let parts = replayed.events.iter().flat_map(|event| &event.book_events);
        let prices = parts.filter(|part| part.instrument == instrument.id).map(|part| part.price).collect();
        (instrument.symbol.as_str().to_owned(), prices)
    };
    replayed.instruments.iter().map(of).collect()
}

fn named(all: &[(&str, &[i64])]) -> Vec<(String, Vec<Price>)> {
    all.iter()
        .map(|(name, prices)| ((*name).to_owned(), prices.iter().map(|&price| Price(price)).collect()))
        .collect()
}

/// Venues that number their instruments anew each day.
#[test]
fn ids_that_change_places_overnight_stay_in_their_books() {
    let days = file(
        SType::RawSymbol,
        &[("AAPL", &[(0, 1, 32), (1, 2, 33)]), ("MSFT", &[(0, 1, 33), (1, 2, 32)])],
        &[
            order(32, 0, 1, b'B', 170),
            order(33, 0, 2, b'B', 410),
            order(33, 1, 3, b'B', 171),
            order(32, 1, 4, b'B', 411),
        ],
    );
    let expected = named(&[("AAPL", &[170, 171]), ("MSFT", &[410, 411])]);
    assert_eq!(bids(&days, &Options::default()), expected);
}

#[test]
fn an_id_that_is_given_out_again_is_another_instrument() {
    let days = file(
        SType::RawSymbol,
        &[("AAAH4", &[(0, 1, 500)]), ("BBBM4", &[(1, 2, 500)])],
        &[order(500, 0, 1, b'B', 100), order(500, 1, 2, b'B', 5_000)],
    );
    assert_eq!(bids(&days, &Options::default()), named(&[("AAAH4", &[100]), ("BBBM4", &[5_000])]));
}

#[test]
fn each_contract_of_a_continuous_one_is_an_instrument_of_its_own() {
    let days = file(
        SType::Continuous,
        &[("ES.c.0", &[(0, 1, 101), (1, 2, 202)])],
        &[order(101, 0, 1, b'B', 4_000), order(202, 1, 2, b'B', 4_050)],
    );
    let expected = named(&[("ES.c.0", &[4_000]), ("ES.c.0@202", &[4_050])]);
    assert_eq!(bids(&days, &Options::default()), expected);
    let rolled = replay(SourceKind::Dbn, &path(&days), &Options::default()).unwrap().counts.rolled;
    assert_eq!(rolled, 1, "it is said");
    let one = Options { symbols: vec!["ES.c.0".to_owned()], ..Options::default() };
    assert_eq!(bids(&days, &one), expected, "the name asks for all of them");
}

/// Phases of each instrument, with the day since the first at whose beginning they begin.
fn phases(folder: &tempfile::TempDir) -> Vec<(String, wire::TradingPhase, u64)> {
    let replayed = replay(SourceKind::Dbn, &path(folder), &Options::default()).unwrap();
    let entered = replayed.events.iter().filter_map(|event| event.market_phase());
    let name = |id: wire::InstrumentId| {
        let listed = replayed.instruments.iter().find(|instrument| instrument.id == id).unwrap();
        listed.symbol.as_str().to_owned()
    };
    let day = |time: u64| {
        assert_eq!(time % DAY, 0, "a name ends at midnight");
        time / DAY - FIRST_DAY / DAY
    };
    entered.map(|phase| (name(phase.instrument), phase.phase, day(phase.event_time.0))).collect()
}

/// What the market of such a contract showed last is stale: no order may trade with it.
#[test]
fn the_market_of_a_name_that_ends_is_closed_from_then_on() {
    let closed = |name: &str, day| (name.to_owned(), wire::TradingPhase::Closed, day);
    let rolls = file(
        SType::Continuous,
        &[("ES.c.0", &[(0, 1, 101), (1, 3, 202), (3, 4, 303)])],
        &[
            order(101, 0, 1, b'B', 4_000),
            order(202, 1, 2, b'B', 4_050),
            order(202, 2, 3, b'B', 4_051),
            order(303, 3, 4, b'B', 4_100),
        ],
    );
    assert_eq!(phases(&rolls), [closed("ES.c.0", 1), closed("ES.c.0@202", 3)]);
    let passed_on = file(
        SType::RawSymbol,
        &[("AAAZ3", &[(0, 1, 500)]), ("BBBZ3", &[(1, 2, 500)])],
        &[order(500, 0, 1, b'B', 100), order(500, 1, 2, b'B', 5_000)],
    );
    assert_eq!(phases(&passed_on), [closed("AAAZ3", 1)]);
    let expired = file(
        SType::RawSymbol,
        &[("OLD", &[(0, 1, 7)]), ("NEW", &[(0, 3, 8)])],
        &[order(7, 0, 1, b'B', 100), order(8, 0, 2, b'B', 5), order(8, 2, 3, b'B', 6)],
    );
    assert_eq!(phases(&expired), [closed("OLD", 1)]);
    let swapped = file(
        SType::RawSymbol,
        &[("AAPL", &[(0, 1, 32), (1, 2, 33)]), ("MSFT", &[(0, 1, 33), (1, 2, 32)])],
        &[order(32, 0, 1, b'B', 170), order(33, 1, 3, b'B', 171)],
    );
    assert_eq!(phases(&swapped), []);
    // A record behind the end of its name is damaged.
    let late = file(
        SType::RawSymbol,
        &[("OLD", &[(0, 1, 7)]), ("NEW", &[(0, 3, 8)])],
        &[order(7, 0, 1, b'B', 100), order(7, 2, 2, b'B', 5)],
    );
    let error = replay(SourceKind::Dbn, &path(&late), &Options::default()).err().unwrap().to_string();
    assert!(error.contains("row 2, instrument id"), "{error}");
}

#[test]
fn an_id_with_several_names_on_a_day_of_none_is_a_bad_row() {
    let days = file(
        SType::RawSymbol,
        &[("A", &[(0, 1, 500)]), ("B", &[(2, 3, 500)]), ("C", &[(0, 1, 7)])],
        &[order(500, 0, 1, b'B', 100), order(500, 1, 2, b'B', 100)],
    );
    let error = replay(SourceKind::Dbn, &path(&days), &Options::default()).err().unwrap().to_string();
    assert!(error.contains("row 2, instrument id") && error.contains("on the day"), "{error}");
    // One name is meant on any day.
    let days = file(SType::RawSymbol, &[("C", &[(0, 1, 7)])], &[order(7, 3, 1, b'B', 100)]);
    assert_eq!(bids(&days, &Options::default()), named(&[("C", &[100])]));
}
