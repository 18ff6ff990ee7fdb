//! Wrong input: each case is an error that names the place.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot go on fails")]

mod support;

use std::path::{Path, PathBuf};

use md::source::{Files, Options, SourceKind};
use support::*;

fn message(kind: SourceKind, files: &Files) -> String {
    match replay(kind, files, &Options::default()) {
        Ok(_) => panic!("{kind:?} took {files:?}"),
        Err(error) => error.to_string(),
    }
}

/// The message must hold every one of these words.
fn expect(kind: SourceKind, files: &Files, words: &[&str]) {
    let message = message(kind, files);
    for word in words {
        assert!(message.contains(word), "`{word}` is not in: {message}");
    }
}

const KINDS: [SourceKind; 4] = [SourceKind::Sse, SourceKind::Lobster, SourceKind::Pitch, SourceKind::Dbn];

#[test]
fn what_is_not_there_is_named() {
    let folder = folder(&[]);
    for kind in KINDS {
        expect(kind, &Files::Path(PathBuf::from("/no/such/folder")), &["/no/such/folder", "no such file"]);
        expect(kind, &path(&folder), &[&folder.path().display().to_string()]);
    }
    let gone = folder.path().join("gone.csv");
    expect(SourceKind::Lobster, &file(&gone), &["gone.csv", "LOBSTER message file"]);
    let named = Files::named([("orders", gone.clone()), ("trades", gone)]);
    expect(SourceKind::Sse, &named, &["gone.csv", "Shanghai"]);
    let half = Files::named([("orders", PathBuf::from("x"))]);
    expect(SourceKind::Sse, &half, &["files.trades"]);
    expect(SourceKind::Pitch, &Files::named([("massages", PathBuf::from("x"))]), &["files.massages"]);
}

#[test]
fn a_folder_with_neither_or_both_layouts_says_what_it_holds() {
    let empty = folder(&[("readme.csv", "a,b,c\n1,2,3\n")]);
    expect(SourceKind::Sse, &path(&empty), &["no orders file and no trades file"]);
    let half = folder(&[("entrust.csv", SSE_ORDERS)]);
    expect(SourceKind::Sse, &path(&half), &["entrust.csv", "trades files: none"]);
    let both = folder(&[
        ("entrust.csv", SSE_ORDERS),
        ("trade.csv", SSE_TRADES),
        ("order.csv", SSE2_ORDERS),
        ("trades.csv.gz", SSE2_TRADES),
    ]);
    expect(
        SourceKind::Sse,
        &path(&both),
        &["entrust.csv, order.csv", "trade.csv, trades.csv.gz", "files.orders"],
    );
}

#[test]
fn empty_files_are_empty() {
    let folder = folder(&[("message.csv", ""), ("pitch.txt", ""), ("x.dbn", ""), ("header.csv", "")]);
    for (kind, name) in
        [(SourceKind::Lobster, "message.csv"), (SourceKind::Pitch, "pitch.txt"), (SourceKind::Dbn, "x.dbn")]
    {
        expect(kind, &file(folder.path().join(name)), &[name, "holds no data"]);
    }
    let header = SSE_ORDERS.lines().next().unwrap();
    let only_headers = support::folder(&[("o.csv", header), ("t.csv", SSE_TRADES.lines().next().unwrap())]);
    expect(SourceKind::Sse, &path(&only_headers), &["o.csv", "holds no data"]);
    let records = support::folder(&[]);
    write(&records.path().join("x.dbn"), &dbn_file(&[], dbn::Schema::Mbo));
    expect(SourceKind::Dbn, &path(&records), &["x.dbn", "holds no data"]);
    let blank = support::folder(&[("message.csv", "\n\n\n"), ("pitch.txt", " \n\n")]);
    expect(SourceKind::Lobster, &file(blank.path().join("message.csv")), &["there is no row in it"]);
    expect(SourceKind::Pitch, &file(blank.path().join("pitch.txt")), &["there is no row in it"]);
}

#[test]
fn files_given_to_the_wrong_source_are_recognised() {
    let folder = folder(&[
        ("lobster", LOBSTER),
        ("pitch", PITCH),
        ("sse", SSE_ORDERS),
        ("trades", SSE_TRADES),
        ("book", "1,2,3,4,5,6,7,8\n"),
        ("words", "hello\n"),
        ("binary", "\u{0}\u{1}\u{2}"),
    ]);
    write(&folder.path().join("dbn"), &dbn_file(&[mbo(b'A', b'A', 7, 1, 5, true)], dbn::Schema::Mbo));
    let wrong = [
        ("lobster", SourceKind::Lobster, "LOBSTER message file (source"),
        ("pitch", SourceKind::Pitch, "source = \"pitch\""),
        ("sse", SourceKind::Sse, "Shanghai orders or trades"),
        ("dbn", SourceKind::Dbn, "source = \"dbn\""),
    ];
    for (name, own, words) in wrong {
        let path = folder.path().join(name);
        for kind in KINDS.into_iter().filter(|&kind| kind != own && kind != SourceKind::Sse) {
            expect(kind, &file(&path), &[name, words]);
        }
        if own != SourceKind::Sse {
            let named = Files::named([("orders", path.clone()), ("trades", folder.path().join("trades"))]);
            expect(SourceKind::Sse, &named, &[name, words, "with the columns"]);
        }
    }
    expect(SourceKind::Lobster, &file(folder.path().join("book")), &["orderbook file of 2 levels"]);
    for kind in [SourceKind::Pitch, SourceKind::Lobster] {
        expect(kind, &file(folder.path().join("words")), &["words", "hello"]);
        expect(kind, &file(folder.path().join("binary")), &["this is no text"]);
    }
    let swapped =
        Files::named([("orders", folder.path().join("trades")), ("trades", folder.path().join("sse"))]);
    expect(SourceKind::Sse, &swapped, &["this is the trades file"]);
    let other = support::folder(&[]);
    write(&other.path().join("x.dbn"), &dbn_file(&[mbo(b'A', b'A', 7, 1, 5, true)], dbn::Schema::Mbp10));
    expect(SourceKind::Dbn, &path(&other), &["schema mbp-10", "schema mbo"]);
    expect(SourceKind::Sse, &Files::Path(folder.path().join("sse")), &["this is one file", "orders = "]);
}

/// Source, files, and words of the message.
type Case = (SourceKind, Vec<(&'static str, String)>, &'static [&'static str]);

#[test]
fn a_garbled_or_truncated_row_is_named_in_each_source() {
    let cut = |text: &str, bytes: usize| text[..text.len() - bytes].to_owned();
    let cases: [Case; 8] = [
        (
            SourceKind::Sse,
            vec![("o.csv", SSE_ORDERS.replace("9.9,200", "10.0x,200")), ("t.csv", SSE_TRADES.to_owned())],
            &["o.csv, row 4, OrderPrice", "`10.0x`", "a price above zero"],
        ),
        (
            SourceKind::Sse,
            vec![("o.csv", SSE_ORDERS.to_owned()), ("t.csv", cut(SSE_TRADES, 22))],
            &["t.csv, row 3, the row", "9 columns", "14 columns"],
        ),
        (
            SourceKind::Sse,
            vec![("o.csv", SSE2_ORDERS.replace(",10,0,", ",7,0,")), ("t.csv", SSE2_TRADES.to_owned())],
            &["o.csv, row 6, OrderType", "`7`", "D or 10"],
        ),
        (
            SourceKind::Sse,
            vec![("o.csv", SSE_ORDERS.replace(",S,6,", ",S,4,")), ("t.csv", SSE_TRADES.to_owned())],
            &["joint sequence", "found 4", "above"],
        ),
        (
            SourceKind::Lobster,
            vec![("message.csv", LOBSTER.replace("34200.3,4,12,20", "34200.3,4,12,zz"))],
            &["message.csv, row 3, size (column 4)", "`zz`", "whole number above zero"],
        ),
        (SourceKind::Lobster, vec![("message.csv", cut(LOBSTER, 12))], &["row 9, the row", "6 columns"]),
        (SourceKind::Pitch, vec![("pitch.txt", cut(PITCH, 5))], &["pitch.txt, row 8, length", "27"]),
        (
            SourceKind::Pitch,
            vec![("pitch.txt", PITCH.replace("28800050H", "28800050Z"))],
            &["row 6, message type", "`Z`", "A d E X P r"],
        ),
    ];
    for (kind, files, words) in cases {
        let files: Vec<_> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
        expect(kind, &path(&folder(&files)), words);
    }
    let records = folder(&[]);
    let bad = [mbo(b'A', b'A', 7, 1, 5, true), mbo(b'A', b'Q', 8, 1, 5, true)];
    write(&records.path().join("x.dbn"), &dbn_file(&bad, dbn::Schema::Mbo));
    expect(SourceKind::Dbn, &path(&records), &["x.dbn, row 2, side", "found Q", "A, B or N"]);
}

/// Writes the first part of a file's bytes.
fn cut_file(path: &Path, bytes: &[u8], keep: usize) {
    std::fs::write(path, &bytes[..keep]).unwrap();
}

#[test]
fn files_that_are_cut_off_say_where() {
    let folder = folder(&[]);
    let rows: String =
        (0..20_000).map(|row| format!("34200.{row:09},1,{row},{},1000000,1\n", row % 97 + 1)).collect();
    for name in ["message.csv.gz", "message.csv.zst"] {
        let path = folder.path().join(name);
        write(&path, rows.as_bytes());
        let bytes = std::fs::read(&path).unwrap();
        for keep in [bytes.len() / 2, bytes.len() - 1] {
            cut_file(&path, &bytes, keep);
            expect(SourceKind::Lobster, &file(&path), &[name, "after row", "cut off"]);
        }
        let mut broken = bytes.clone();
        broken[bytes.len() / 2..bytes.len() / 2 + 40].fill(0xff);
        std::fs::write(&path, broken).unwrap();
        expect(SourceKind::Lobster, &file(&path), &[name]);
    }
    let records: Vec<_> = (1..2_000).map(|order| mbo(b'A', b'B', order, 1_000, 5, true)).collect();
    let plain = dbn_file(&records, dbn::Schema::Mbo);
    let path = folder.path().join("x.dbn");
    for keep in [plain.len() - 1, plain.len() - 57, plain.len() / 2 + 3] {
        cut_file(&path, &plain, keep);
        expect(SourceKind::Dbn, &file(&path), &["x.dbn, after row", "ends inside of a record"]);
    }
    for keep in [4, 7, 60, 120] {
        cut_file(&path, &plain, keep);
        expect(SourceKind::Dbn, &file(&path), &["x.dbn"]);
    }
    let packed = zstd(&plain);
    cut_file(&path, &packed, packed.len() / 2);
    expect(SourceKind::Dbn, &file(&path), &["x.dbn, after row", "cut off"]);
}

#[test]
fn symbols_that_are_not_in_the_files_are_an_error_with_some_that_are() {
    let folder = folder(&[("pitch.txt", PITCH)]);
    let options = Options { symbols: vec!["IBM".to_owned()], ..Options::default() };
    let error = replay(SourceKind::Pitch, &path(&folder), &options).err().unwrap().to_string();
    assert!(error.contains("`IBM`") && error.contains("SSO"), "{error}");
    let folder = support::folder(&[("AAPL_2012-06-21_34200000_57600000_message_1.csv", LOBSTER)]);
    let error = replay(SourceKind::Lobster, &path(&folder), &options).err().unwrap().to_string();
    assert!(error.contains("`IBM`") && error.contains("`AAPL`"), "{error}");
}
