//! What `verify` reads: everything that is there, and files whose names do not match their content.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot go on fails")]

mod support;

use md::source::{Files, Options, SourceKind};
use md::verify::{verify_dbn, verify_sse};
use support::*;

/// A snapshot file of continuous trading; each row: stock, trades of the day, best ask, best bid.
fn snapshots(rows: &[(&str, u64, &str, &str)]) -> String {
    let levels = |side: &str| {
        (1..=10).map(|level| format!("{side}Price{level},{side}Volume{level}")).collect::<Vec<_>>()
    };
    let mut text = format!(
        "SecurityID,InstruStatus,TradNumber,{},{}\n",
        levels("Ask").join(","),
        levels("Bid").join(",")
    );
    for (symbol, trades, ask, bid) in rows {
        let side = |best: &str| [best, &",".repeat(18)].concat();
        text.push_str(&format!("{symbol},TRADE,{trades},{},{}\n", side(ask), side(bid)));
    }
    text
}

/// One order each in two stocks; the second stock's snapshot is of another price.
fn two_stocks() -> tempfile::TempDir {
    let head = SSE2_ORDERS.lines().next().unwrap();
    let orders = format!(
        "{head}\n93000000,2,9.9,200,1,1,3,600519.SH\n93000000,2,19.9,300,2,2,4,600000.SH\n93001000,2,9.8,100,1,3,5,600519.SH\n"
    );
    let trades = format!("{}\n", SSE2_TRADES.lines().next().unwrap());
    folder(&[
        ("o.csv", &orders),
        ("t.csv", &trades),
        ("snapshot.txt", &snapshots(&[("600519", 0, "0,0", "9.9,200"), ("600000", 0, "19.8,300", "0,0")])),
    ])
}

#[test]
fn every_stock_with_snapshots_is_compared_or_the_one_asked_for() {
    let folder = two_stocks();
    let files =
        Files::named([("orders", folder.path().join("o.csv")), ("trades", folder.path().join("t.csv"))]);
    let snapshots = folder.path().join("snapshot.txt");
    let all = verify_sse(&files, &snapshots, &[]).unwrap();
    assert_eq!((all.symbols, all.snapshots, all.identical), (2, 2, 1));
    let difference = all.first_difference.unwrap();
    assert!(difference.place.starts_with("600000.SH, ask of level 1"), "{difference:?}");
    let one = verify_sse(&files, &snapshots, &["600519".to_owned()]).unwrap();
    assert_eq!((one.symbols, one.snapshots, one.identical), (1, 1, 1));
    let error = verify_sse(&files, &snapshots, &["600001".to_owned()]).unwrap_err().to_string();
    assert!(error.contains("no snapshot of 600001"), "{error}");
}

#[test]
fn packed_and_empty_files_are_called_what_they_are() {
    let xz = b"\xfd7zXZ\x00\x00\x04";
    for (bytes, words) in
        [(&b"PK\x03\x04\x14\x00"[..], "a zip archive"), (&xz[..], "an xz file"), (&b""[..], "holds no data")]
    {
        let folder = folder(&[("t.csv", SSE_TRADES), ("o.csv", SSE_ORDERS)]);
        let path = folder.path().join("file");
        std::fs::write(&path, bytes).unwrap();
        for kind in [SourceKind::Lobster, SourceKind::Pitch, SourceKind::Dbn] {
            let error = replay(kind, &file(&path), &Options::default()).err().unwrap().to_string();
            assert!(error.contains(words), "{kind:?}: {error}");
        }
        let named = Files::named([("orders", path.clone()), ("trades", folder.path().join("t.csv"))]);
        let error = replay(SourceKind::Sse, &named, &Options::default()).err().unwrap().to_string();
        assert!(error.contains(words), "{error}");
        let sound =
            Files::named([("orders", folder.path().join("o.csv")), ("trades", folder.path().join("t.csv"))]);
        let error = verify_sse(&sound, &path, &[]).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
        // In a folder it is one of several, and still named.
        std::fs::remove_file(folder.path().join("o.csv")).unwrap();
        let error = replay(SourceKind::Sse, &Files::Path(folder.path().to_owned()), &Options::default());
        let error = error.err().unwrap().to_string();
        assert!(
            error.contains("; file") && error.contains(if bytes.is_empty() { "is empty" } else { words }),
            "{error}"
        );
    }
}

#[test]
fn fills_of_dbn_must_be_at_the_best_price() {
    const PRICE: i64 = 4_800_250_000_000;
    let day = |better: i64| {
        let records = [
            mbo(b'A', b'A', 7, PRICE, 5, true),
            mbo(b'A', b'A', 8, better, 5, true),
            mbo(b'T', b'B', 9, PRICE, 3, false),
            mbo(b'F', b'A', 7, PRICE, 3, false),
            mbo(b'M', b'A', 7, PRICE, 2, true),
        ];
        let folder = folder(&[]);
        write(&folder.path().join("x.dbn"), &dbn_file(&records, dbn::Schema::Mbo));
        verify_dbn(&folder.path().join("x.dbn")).unwrap()
    };
    let sound = day(PRICE + 250_000_000);
    assert_eq!((sound.trades, sound.fills, sound.identical, sound.crossed), (1, 1, 1, 0));
    let through = day(PRICE - 250_000_000);
    assert_eq!((through.fills, through.identical), (1, 0));
    assert!(through.first_difference.unwrap().place.contains("order 7"));
}
