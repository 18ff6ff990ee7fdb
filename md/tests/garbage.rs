//! Random damage: every source returns an error or continues, and never panics.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use std::path::Path;

use md::source::{Files, OnBadRow, Options, SourceKind};
use md::verify::{verify_dbn, verify_lobster, verify_pitch, verify_sse};
use proptest::prelude::*;
use support::*;

/// Reads a damaged file with every source and comparison.
fn feed(folder: &Path, bytes: &[u8]) {
    let damaged = folder.join("damaged.csv");
    std::fs::write(&damaged, bytes).unwrap();
    for on_bad_row in [OnBadRow::Stop, OnBadRow::Skip] {
        let options = Options { on_bad_row, ..Options::default() };
        for kind in [SourceKind::Lobster, SourceKind::Pitch, SourceKind::Dbn] {
            let _ = replay(kind, &file(&damaged), &options);
        }
        for (orders, trades) in [("damaged.csv", "trades.csv"), ("orders.csv", "damaged.csv")] {
            let files = Files::named([("orders", folder.join(orders)), ("trades", folder.join(trades))]);
            let _ = replay(SourceKind::Sse, &files, &options);
        }
        let _ = replay(SourceKind::Sse, &Files::Path(folder.to_owned()), &options);
    }
    let _ = verify_pitch(&damaged);
    let _ = verify_dbn(&damaged);
    let _ = verify_lobster(&damaged, &damaged, 1);
    let _ = verify_lobster(&folder.join("message.csv"), &damaged, 1);
    let named = Files::named([("orders", folder.join("orders.csv")), ("trades", folder.join("trades.csv"))]);
    let _ = verify_sse(&named, &damaged, &[]);
}

fn sound() -> tempfile::TempDir {
    folder(&[("orders.csv", SSE_ORDERS), ("trades.csv", SSE_TRADES), ("message.csv", LOBSTER)])
}

fn seeds() -> Vec<Vec<u8>> {
    let price = 4_800_250_000_000;
    let records = [
        mbo(b'R', b'N', 0, dbn::UNDEF_PRICE, 0, true),
        mbo(b'A', b'A', 7, price, 5, true),
        mbo(b'T', b'B', 9, price, 3, false),
        mbo(b'F', b'A', 7, price, 3, false),
        mbo(b'M', b'A', 7, price, 2, true),
        mbo(b'C', b'A', 7, price, 2, true),
    ];
    let dbn = dbn_file(&records, dbn::Schema::Mbo);
    let mut seeds: Vec<Vec<u8>> =
        [SSE_ORDERS, SSE_TRADES, SSE2_ORDERS, SSE2_TRADES, LOBSTER, PITCH, "5859400,200,5853300,18\n"]
            .iter()
            .map(|text| text.as_bytes().to_vec())
            .collect();
    seeds.push(zstd(&dbn));
    seeds.push(dbn);
    seeds
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn damaged_files_never_panic(
        seed in 0..9_usize,
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4_u8), 1..8),
        keep in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut bytes = seeds().swap_remove(seed);
        for (at, byte, kind) in damage {
            let at = at.index(bytes.len());
            match kind {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                // Digits pass the first checks.
                2 => bytes[at] = b'0' + byte % 10,
                _ => {
                    let text = bytes[at..bytes.len().min(at + usize::from(byte))].to_vec();
                    bytes.extend(text);
                }
            }
        }
        if let Some(keep) = keep {
            bytes.truncate(keep.index(bytes.len()));
        }
        feed(sound().path(), &bytes);
    }

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..600), magic in 0..5_usize) {
        let magic: &[u8] = [&b""[..], b"DBN\x01", b"DBN\x03", &[0x1f, 0x8b, 8, 0], &[0x28, 0xb5, 0x2f, 0xfd]][magic];
        feed(sound().path(), &[magic, &bytes].concat());
    }

    #[test]
    fn random_rows_of_the_right_shape_never_panic(
        rows in prop::collection::vec((1..8_u8, 0..6_u64, -1..200_i64, -1..8_i64, any::<bool>()), 1..120)
    ) {
        let mut lobster = String::new();
        let mut orderbook = String::new();
        let mut pitch = String::new();
        let mut orders = SSE_ORDERS.lines().next().unwrap().to_owned() + "\n";
        let mut trades = SSE_TRADES.lines().next().unwrap().to_owned() + "\n";
        for (index, (kind, order, quantity, price, buys)) in rows.into_iter().enumerate() {
            let direction = if buys { 1 } else { -1 };
            lobster += &format!("34200.{index:03},{kind},{order},{quantity},{price},{direction}\n");
            orderbook += &format!("{},{},{price},{}\n", price + 2, quantity.abs(), quantity.abs());
            let (shares, ticks) = (quantity.abs(), price.abs());
            let side = if buys { 'B' } else { 'S' };
            pitch += &match kind {
                1..4 => format!("{:08}A{order:012}{side}{shares:06}SYM{kind}  {ticks:010}Y\n", kind as usize * 900_000 - index),
                4 => format!("{index:08}E{order:012}{shares:06}{order:012}\n"),
                5 => format!("{index:08}P{order:012}{side}{shares:06}SYM1  {ticks:010}{order:012}\n"),
                6 => format!("{index:08}sSYM{order}\n"),
                _ => format!("{index:08}X{order:012}{shares:06}\n"),
            };
            let letter = if kind < 5 { 'A' } else { 'D' };
            orders += &format!("0,1,6,60051{kind},09:30:00.{index:03},{letter},{order},{price},{quantity},{side},{},x,1\n", index * 2);
            trades += &format!("0,1,6,60051{kind},09:30:00.{index:03},{price},{quantity},1,{order},{},{side},{},x,1\n", order + 1, index * 2 + 1);
        }
        let folder = folder(&[("orders.csv", &orders), ("trades.csv", &trades), ("message.csv", &lobster)]);
        let skip = Options { on_bad_row: OnBadRow::Skip, ..Options::default() };
        let _ = replay(SourceKind::Sse, &Files::Path(folder.path().to_owned()), &skip);
        feed(folder.path(), lobster.as_bytes());
        feed(folder.path(), pitch.as_bytes());
        feed(folder.path(), orderbook.as_bytes());
        let pitch_file = folder.path().join("pitch.txt");
        std::fs::write(&pitch_file, &pitch).unwrap();
        if let Ok(report) = verify_pitch(&pitch_file) {
            prop_assert!(report.anomalies == 0);
            // More taken than there was, or from reused numbers: reported, never hidden.
            prop_assert!(report.conserved || report.counts.excess + report.counts.displaced > 0
                || report.counts.skipped.unknown_order > 0, "{:?}", report);
        }
    }
}
