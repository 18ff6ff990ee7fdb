//! Small invented files for tests.
#![allow(dead_code, unreachable_pub, reason = "each test binary uses its own part of this")]

pub mod itch;

use std::io::Write;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

use dbn::encode::{DbnEncoder, DynWriter, EncodeRecord};
use dbn::{
    Compression, MappingInterval, MboMsg, Metadata, RecordHeader, SType, Schema, SymbolMapping, rtype,
};
use md::book::Books;
use md::source::{Counts, Files, Options, SourceError, SourceEvent, SourceKind, open};
use wire::{BookAction, Instrument, Quote, TradePrint, TradingPhase};

pub const SSE_ORDERS: &str = "\
DataStatus,OrderIndex,OrderChannel,SecurityID,OrderTime,OrderType,OrderNO,OrderPrice,Balance,OrderBSFlag,BizIndex,LocalTime,SeqNo
0,1,6,600519,09:15:00.020,A,1,10.009999999999999,300,B,1,09:15:01.000,1
0,2,6,600519,09:15:00.030,A,2,10,500,S,2,09:15:01.000,2
0,3,6,600519,09:30:00.000,A,3,9.9,200,B,4,09:30:01.000,3
0,4,6,600519,09:30:01.000,A,5,9.9,50,S,6,09:30:01.000,4
0,5,6,600519,09:30:02.000,D,2,10,200,S,7,09:30:02.000,5
";

/// An auction of orders 1 and 2, then order 5 takes all of order 3 and rests with what is left of it.
pub const SSE_TRADES: &str = "\
DataStatus,TradeIndex,TradeChan,SecurityID,TradTime,TradPrice,TradVolume,TradeMoney,TradeBuyNo,TradeSellNo,TradeBSFlag,BizIndex,LocalTime,SeqNo
0,1,6,600519,09:25:00.000,10,300,3000,1,2,N,3,09:25:00.000,1
0,2,6,600519,09:30:01.000,9.9,200,1980,3,5,S,5,09:30:01.000,2
";

pub const SSE2_ORDERS: &str = "\
MDTime,OrderType,OrderPrice,OrderQty,OrderBSFlag,ApplSeqNum,OrderNO,SecurityID
91500020,2,10.01,300,1,1,1,600519.SH
91500030,2,10.0,500,2,2,2,600519.SH
93000000,2,9.9,200,1,4,3,600519.SH
93001000,2,9.9,50,2,6,5,600519.SH
93002000,10,0,200,2,7,2,600519.SH
";

pub const SSE2_TRADES: &str = "\
MDTime,TradeBuyNo,TradeSellNo,TradeBSFlag,TradePrice,TradeQty,ApplSeqNum,SecurityID
92500000,1,2,0,10.0,300,3,600519.SH
93001000,3,5,2,9.9,200,5,600519.SH
";

pub const LOBSTER: &str = "\
34200.1,1,11,18,1000000,1
34200.2,1,12,50,1001000,-1
34200.3,4,12,20,1001000,-1
34200.4,5,0,30,1000500,1
34200.5,2,11,40,1000000,1
34200.6,4,7,10,999000,1
34200.7,7,0,0,-1,-1
34200.8,3,7,5,999000,1
34200.9,6,-1,500,1000000,-1
";

pub const PITCH: &str = "\
28800011AAK27GA0000DTS000100SH    0000619200Y
28800012ABK27GA00000KB001000SSO   0000763800Y
28800020EAK27GA0000DT00004000001AQ00001
28800030XAK27GA0000DT000020
28800040P4K27GA00003PB000100DXD   0000499600000N4AQ00003
28800050HSSO     T0XX
28800060sSSO
28800070XZZZZZZZZZZZZ000020
";

/// A folder with these files.
pub fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        write(&folder.path().join(name), text.as_bytes());
    }
    folder
}

/// Writes a file, packed if its name says so.
pub fn write(path: &Path, bytes: &[u8]) {
    let name = path.to_string_lossy();
    let bytes = if name.ends_with(".gz") {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    } else if name.ends_with(".zst") {
        zstd(bytes)
    } else {
        bytes.to_vec()
    };
    std::fs::write(path, bytes).unwrap();
}

pub fn zstd(bytes: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    let mut writer = DynWriter::new(&mut packed, Compression::Zstd).unwrap();
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap();
    drop(writer);
    packed
}

/// A record of market by order; `last` ends the event.
pub fn mbo(action: u8, side: u8, order: u64, price: i64, size: u32, last: bool) -> MboMsg {
    MboMsg {
        hd: RecordHeader::new::<MboMsg>(rtype::MBO, 1, 42, 1_703_545_200_000_000_000 + order),
        order_id: order,
        price,
        size,
        flags: dbn::FlagSet::new(if last { dbn::flags::LAST } else { 0 }),
        channel_id: 0,
        action: action as std::ffi::c_char,
        side: side as std::ffi::c_char,
        ts_recv: 1_703_545_200_000_000_000,
        ts_in_delta: 0,
        sequence: 1,
    }
}

/// A DBN file of these records about instrument 42, `ESH4`.
pub fn dbn_file(records: &[MboMsg], schema: Schema) -> Vec<u8> {
    dbn_file_of(records, schema, &[(42, "ESH4")])
}

/// A DBN file of these records, whose metadata names these instruments.
pub fn dbn_file_of(records: &[MboMsg], schema: Schema, names: &[(u32, &str)]) -> Vec<u8> {
    dbn_bytes(Some(schema), names, |encoder| {
        records.iter().for_each(|record| encoder.encode_record(record).unwrap());
    })
}

/// A DBN file of what is encoded, of one schema or of several.
pub fn dbn_bytes(
    schema: Option<Schema>,
    names: &[(u32, &str)],
    encode: impl FnOnce(&mut DbnEncoder<&mut Vec<u8>>),
) -> Vec<u8> {
    let start_date = mbo(b'A', b'B', 0, 1, 1, true).ts_recv().unwrap().date();
    let end_date = start_date.next_day().unwrap();
    let mapping = |&(id, name): &(u32, &str)| {
        let interval = MappingInterval { start_date, end_date, symbol: id.to_string() };
        SymbolMapping { raw_symbol: name.to_owned(), intervals: vec![interval] }
    };
    let metadata = Metadata::builder()
        .dataset("GLBX.MDP3")
        .schema(schema)
        .start(1_703_462_400_000_000_000)
        .end(NonZeroU64::new(1_703_548_800_000_000_000))
        .stype_in(Some(SType::RawSymbol))
        .stype_out(SType::InstrumentId)
        .symbols(names.iter().map(|(_, name)| (*name).to_owned()).collect())
        .mappings(names.iter().map(mapping).collect())
        .build();
    let mut bytes = Vec::new();
    let mut encoder = DbnEncoder::new(&mut bytes, &metadata).unwrap();
    encode(&mut encoder);
    bytes
}

/// The output of a replay.
pub struct Replayed {
    pub instruments: Vec<Instrument>,
    pub events: Vec<SourceEvent>,
    pub quotes: Vec<Quote>,
    pub counts: Counts,
    pub books: Books,
}

impl Replayed {
    /// Action, order and quantity of every part.
    pub fn parts(&self) -> Vec<(BookAction, u64, i64)> {
        let parts = self.events.iter().flat_map(|event| &event.book_events);
        parts.map(|part| (part.action, part.order_ref, part.quantity.0)).collect()
    }

    /// Phases with their instrument and time of day, in nanoseconds.
    pub fn phases(&self) -> Vec<(u32, TradingPhase, u64)> {
        let phases = self.events.iter().filter_map(SourceEvent::market_phase);
        phases.map(|one| (one.instrument.0, one.phase, one.event_time.0 % 86_400_000_000_000)).collect()
    }

    pub fn trades(&self) -> Vec<TradePrint> {
        self.events.iter().flat_map(|event| event.trades.iter().copied()).collect()
    }
}

/// Replays to the end, and checks the guarantees of every source.
pub fn replay(kind: SourceKind, files: &Files, options: &Options) -> Result<Replayed, SourceError> {
    let mut source = open(kind, files, options)?;
    let instruments = source.instruments().to_vec();
    let mut books = Books::new(&instruments);
    let (mut events, mut quotes) = (Vec::new(), Vec::new());
    let mut event = SourceEvent::default();
    while source.next(&mut event)? {
        assert!(!event.book_events.is_empty() || !event.trades.is_empty() || event.phase.is_some());
        for (index, part) in event.book_events.iter().enumerate() {
            let last = part.flags & wire::BookEvent::LAST != 0;
            assert_eq!(last, index + 1 == event.book_events.len());
            assert_eq!(part.instrument, event.instrument);
        }
        let rebuilt = books.apply(&event);
        if rebuilt.crossed {
            source.crossed(&event)?;
        }
        if rebuilt.quote.is_some() {
            source.quoted();
        }
        quotes.extend(rebuilt.quote.copied());
        events.push(event.clone());
    }
    let counts = *source.counts();
    assert!(counts.balanced(), "{counts:?}");
    assert_eq!(books.anomalies().total(), 0, "{:?}", books.anomalies());
    Ok(Replayed { instruments, events, quotes, counts, books })
}

pub fn path(folder: &tempfile::TempDir) -> Files {
    Files::Path(folder.path().to_owned())
}

pub fn file(path: impl Into<PathBuf>) -> Files {
    Files::named([("messages", path.into())])
}
