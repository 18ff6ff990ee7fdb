//! Nasdaq ITCH 5.0: small files made here, damaged ones, and the public sample (COLO_DATA, as in `real_data.rs`).
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot go on fails")]

mod support;

use std::path::{Path, PathBuf};

use md::source::{Files, OnBadRow, Options, SourceKind, Tolerance};
use md::verify::verify_itch;
use support::itch::{self, Day};
use support::{replay, write};
use wire::{Aggressor, BookAction, BookEvent};

fn path(path: &Path) -> Files {
    Files::Path(path.to_owned())
}

fn sample() -> Option<PathBuf> {
    let folder = std::env::var_os("COLO_DATA")
        .map(PathBuf::from)
        .unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/data"));
    let path = folder.join("itch-20101224");
    if !path.exists() {
        println!("skipped: no recorded data at {} (set COLO_DATA to its folder)", path.display());
        return None;
    }
    Some(path)
}

#[test]
fn the_public_sample_is_decoded_whole_and_loses_no_share() {
    let Some(folder) = sample() else { return };
    let replayed = replay(SourceKind::Itch, &path(&folder), &Options::default()).unwrap();
    let counts = replayed.counts;
    assert_eq!((counts.read, counts.rejected, counts.unended), (12_012, 0, 0), "{counts:?}");
    // It was thinned out: orders stay that have ended, and cross; others are not there. Nothing else contradicts anything.
    assert_eq!((counts.irregular(), counts.crossed, counts.unmatched), (6_252, 6_135, 117), "{counts:?}");
    assert_eq!(counts.skipped.unknown_order, 117, "{counts:?}");
    assert_eq!(replayed.instruments.len(), 3);
    let report = verify_itch(&folder.join("ex20101224.TEST_ITCH_50")).unwrap();
    println!("{report:?}");
    assert!(report.conserved && report.anomalies == 0, "{report:?}");
    assert_eq!((report.messages, report.symbols, report.unseen_trades), (12_012, 3, 5_000));
}

#[test]
fn each_kind_of_message_does_what_it_says() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("20230102.itch");
    write(&file, &Day::example().bytes(true));
    let replayed = replay(SourceKind::Itch, &path(&file), &Options::default()).unwrap();
    let counts = replayed.counts;
    assert!(counts.balanced(), "{counts:?}");
    assert_eq!((counts.irregular(), counts.unended, counts.skipped.unknown_order), (0, 0, 1), "{counts:?}");
    let names: Vec<&str> = replayed.instruments.iter().map(|instrument| instrument.symbol.as_str()).collect();
    assert_eq!(names, ["AAPL", "MSFT"]);
    let actions: Vec<BookAction> =
        replayed.events.iter().flat_map(|event| &event.book_events).map(|part| part.action).collect();
    use BookAction::{Add, Delete, Execute, Reduce, Trade};
    assert_eq!(actions, [Add, Add, Add, Reduce, Execute, Execute, Delete, Add, Delete, Trade, Trade]);
    let printed: Vec<(String, i64, Aggressor)> = replayed
        .events
        .iter()
        .flat_map(|event| &event.trades)
        .map(|trade| (trade.price.to_string(), trade.quantity.0, trade.aggressor))
        .collect();
    // The part of the cross is in the cross; the hidden trade's side says nothing where all are purchases.
    let expected =
        [("100", 10, Aggressor::Sell), ("100.5", 30, Aggressor::None), ("101", 500, Aggressor::None)];
    assert_eq!(printed, expected.map(|(price, quantity, side)| (price.to_owned(), quantity, side)));
    let shown = BookEvent::HIDDEN | BookEvent::NO_SIDE | BookEvent::UNPRINTED;
    let parts = replayed.events.iter().flat_map(|event| &event.book_events);
    let traded: Vec<(u16, String)> = parts
        .filter(|part| matches!(part.action, Execute | Trade))
        .map(|part| (part.flags & shown, part.price.to_string()))
        .collect();
    let expected = [
        (0, "100"),
        (BookEvent::NO_SIDE | BookEvent::UNPRINTED, "100.5"),
        (BookEvent::HIDDEN | BookEvent::NO_SIDE, "100.5"),
        (BookEvent::NO_SIDE, "101"),
    ];
    assert_eq!(traded, expected.map(|(flags, price)| (flags, price.to_owned())), "each at its own price");
    let date = replayed.events[0].event_time.0 / 86_400_000_000_000;
    assert_eq!(date, 19_359, "2023-01-02 is in the name");
}

#[test]
fn an_order_from_before_the_first_message_of_a_day_contradicts_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("day.itch");
    let mut day = Day::example();
    day.set_begin();
    write(&file, &day.bytes(true));
    let counts = replay(SourceKind::Itch, &path(&file), &Options::default()).unwrap().counts;
    assert_eq!((counts.irregular(), counts.unmatched, counts.skipped.unknown_order), (1, 1, 1), "{counts:?}");
    let report = verify_itch(&file).unwrap();
    assert!(report.contradictions[0].contains("order number: found 5"), "{:?}", report.contradictions);
}

#[test]
fn lengths_may_be_zero_and_files_packed() {
    let folder = tempfile::tempdir().unwrap();
    let mut seen = Vec::new();
    for (name, lengths) in [("a.itch", true), ("b.itch", false), ("c.itch.gz", true), ("d.itch.zst", false)] {
        let file = folder.path().join(name);
        write(&file, &Day::example().bytes(lengths));
        let replayed = replay(SourceKind::Itch, &path(&file), &Options::default()).unwrap();
        seen.push((replayed.events, replayed.quotes));
    }
    assert!(seen.windows(2).all(|pair| pair[0] == pair[1]));
    // Two zero bytes end a session.
    let file = folder.path().join("e.itch");
    write(&file, &[Day::example().bytes(true), vec![0, 0]].concat());
    assert_eq!(replay(SourceKind::Itch, &path(&file), &Options::default()).unwrap().events, seen[0].0);
}

#[test]
fn a_file_that_is_cut_anywhere_is_an_error_or_says_that_it_may_be_cut() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cut.itch");
    for lengths in [true, false] {
        let whole = Day::example().bytes(lengths);
        for end in 1..whole.len() {
            write(&file, &whole[..end]);
            match replay(SourceKind::Itch, &path(&file), &Options::default()) {
                Ok(replayed) => assert_eq!(replayed.counts.unended, 1, "cut at {end}"),
                Err(error) => {
                    let error = error.to_string();
                    assert!(error.contains("cut.itch") && error.contains("byte"), "cut at {end}: {error}");
                }
            }
        }
    }
}

#[test]
fn what_cannot_be_understood_is_named_by_message_and_byte() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bad.itch");
    // (which message, what becomes of it, what the error says)
    type Spoil = fn(&mut Vec<u8>);
    let cases: [(usize, Spoil, &str); 4] = [
        (3, |bytes| bytes[0] = b'Z', "message type"),
        (3, |bytes| bytes.push(0), "length of the message"),
        (3, |bytes| bytes[19] = b'Q', "side"),
        (3, |bytes| bytes[20..24].fill(0), "shares"),
    ];
    for (index, damage, column) in cases {
        let mut day = Day::example();
        let place: usize = day.messages[..index].iter().map(|message| message.len() + 2).sum::<usize>() + 2;
        damage(&mut day.messages[index]);
        write(&file, &day.bytes(true));
        let error = replay(SourceKind::Itch, &path(&file), &Options::default()).err().unwrap().to_string();
        for words in [format!("bad.itch, row {}", index + 1), format!("byte {place}"), column.to_owned()] {
            assert!(error.contains(&words), "{error}");
        }
        let skip = Options { on_bad_row: OnBadRow::Skip, ..Options::default() };
        let replayed = replay(SourceKind::Itch, &path(&file), &skip).unwrap();
        assert!(replayed.counts.rejected == 1 && replayed.counts.balanced(), "{:?}", replayed.counts);
    }
    // Without lengths there is no way past a type that is unknown.
    let mut day = Day::example();
    day.messages[3][0] = b'Z';
    write(&file, &day.bytes(false));
    let skip = Options { on_bad_row: OnBadRow::Skip, ..Options::default() };
    let error = replay(SourceKind::Itch, &path(&file), &skip).err().unwrap().to_string();
    assert!(error.contains("message type") && error.contains("length before it is zero"), "{error}");
}

#[test]
fn messages_that_contradict_others_are_counted_and_stop_a_strict_replay() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("odd.itch");
    let strict = Options { tolerate: Tolerance::share(0.0), ..Options::default() };
    write(&file, &Day::example().bytes(true));
    assert!(replay(SourceKind::Itch, &path(&file), &strict).is_ok());
    type Damage = fn(&mut Day);
    let cases: [(&str, Damage, &str); 7] = [
        (
            "doubled",
            |day| {
                let again = day.messages[4].clone();
                day.messages.insert(5, again);
            },
            "unmatched 1",
        ),
        ("back", |day| day.set_time(6, 1), "off_time 1"),
        ("beyond", |day| day.set_shares(7, 9_999), "excess 1"),
        (
            "far",
            |day| {
                let price = &mut day.messages[8][32..36];
                price.copy_from_slice(&90_000_000_u32.to_be_bytes());
            },
            "off_price",
        ),
        ("other stock", |day| day.messages[6][1..3].copy_from_slice(&2_u16.to_be_bytes()), "unmatched 1"),
        ("other name", |day| day.messages[5][24..32].copy_from_slice(b"MSFT    "), "unmatched"),
        (
            "number again",
            |day| {
                let number = day.messages[3][11..19].to_vec();
                day.messages[4][11..19].copy_from_slice(&number);
            },
            "displaced 1",
        ),
    ];
    for (name, damage, kind) in cases {
        let mut day = Day::example();
        damage(&mut day);
        write(&file, &day.bytes(true));
        let replayed = replay(SourceKind::Itch, &path(&file), &Options::default()).unwrap();
        assert!(replayed.counts.irregular_kinds().contains(kind), "{name}: {:?}", replayed.counts);
        assert!(replayed.counts.balanced(), "{name}");
        assert!(replay(SourceKind::Itch, &path(&file), &strict).is_err(), "{name}");
    }
}

#[test]
fn only_the_stocks_that_are_asked_for_are_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("two.itch");
    write(&file, &Day::example().bytes(true));
    let options = Options { symbols: vec!["MSFT".to_owned()], ..Options::default() };
    let replayed = replay(SourceKind::Itch, &path(&file), &options).unwrap();
    assert_eq!((replayed.instruments.len(), replayed.events.len()), (1, 1));
    assert!(replayed.counts.skipped.other_symbol > 0 && replayed.counts.balanced());
}

#[test]
fn folders_and_foreign_files_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("01022023.NASDAQ_ITCH50.gz"), &Day::example().bytes(true));
    assert!(replay(SourceKind::Itch, &path(folder.path()), &Options::default()).is_ok());
    let error = replay(
        SourceKind::Pitch,
        &path(&folder.path().join("01022023.NASDAQ_ITCH50.gz")),
        &Options::default(),
    );
    assert!(error.err().unwrap().to_string().contains("source = \"itch\""));
    let text = folder.path().join("x.itch");
    write(&text, support::PITCH.as_bytes());
    let error = replay(SourceKind::Itch, &path(&text), &Options::default()).err().unwrap().to_string();
    assert!(error.contains("source = \"pitch\""), "{error}");
    assert_eq!(itch::example_messages(), Day::example().messages.len());
}
