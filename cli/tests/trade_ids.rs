//! `colo journal verify` on the numbers of trades.

mod home;

use journal::{Clock, Journal, JournalFiles, JournalShape};
use serde_json::Value;
use wire::{Fill, InstrumentId, Liquidity, Message, Nanos, OrderId, Price, Quantity, Side, StrategyId};

use home::{Home, number, stderr, stdout};

/// Trade, order, side.
type Written = (u64, u32, Side);

/// A journal of these fills, in a ring of 64 KiB; the positions of their frames.
fn journal(name: &str, fills: impl IntoIterator<Item = Written>) -> (tempfile::TempDir, String, Vec<u64>) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let files = JournalFiles::new(folder.path(), folder.path(), name);
    let shape =
        JournalShape { id: 7, name: name.into(), capacity: 1 << 16, seats: 64, topics: 8, page: 4096 };
    let journal = Journal::create(files, shape, 1).expect("a journal");
    let mut writer = journal.writer(0, Clock::monotonic()).expect("a writer");
    let mut write = |(trade_id, order, side): Written| {
        let fill = Fill {
            order_id: OrderId::new(StrategyId(3), 1, order),
            trade_id,
            instrument: InstrumentId(1),
            side,
            liquidity: Liquidity::Maker,
            reserved: [0; 2],
            price: Price(10_000_000_000),
            quantity: Quantity(100),
            remaining: Quantity(0),
            event_time: Nanos(0),
            execution: 0,
            answered_up_to: 0,
        };
        writer.write(Fill::ID, 3, fill.bytes()).expect("nobody gates").position
    };
    let positions = fills.into_iter().map(&mut write).collect();
    let path = folder.path().join(format!("{name}.ctl")).display().to_string();
    (folder, path, positions)
}

fn verified(home: &Home, path: &str) -> (Option<i32>, Value) {
    let output = home.colo(&["journal", "verify", path, "--format", "json"]);
    assert!(!stderr(&output).contains("panicked"), "{}", stderr(&output));
    (output.status.code(), serde_json::from_str(&stdout(&output)).expect("JSON"))
}

#[test]
fn trade_ids_that_ascend_are_clean_also_in_a_ring_that_went_round() {
    let home = Home::new();
    let few = vec![(1, 1, Side::Buy), (2, 2, Side::Buy), (2, 3, Side::Sell), (9, 4, Side::Sell)];
    // The ring's oldest frame may be the second side of its trade.
    let many = |sides: u32| {
        (1..3_000_u64).flat_map(move |trade| {
            let order = trade as u32 * 2;
            [(trade, order, Side::Buy), (trade, order + 1, Side::Sell)].into_iter().take(sides as usize)
        })
    };
    for (name, fills) in [
        ("matching.executions", few.clone()),
        ("reports.one", few),
        ("matching.executions", many(2).collect()),
        ("reports.one", many(2).skip(1).collect()),
        ("matching.executions", many(1).collect()),
    ] {
        let (_folder, path, positions) = journal(name, fills);
        let (code, report) = verified(&home, &path);
        assert_eq!((code, &report["clean"]), (Some(0), &true.into()), "{report}");
        let checks = report["journals"][0]["checks"].as_array().expect("checks");
        let trades = checks.iter().find(|check| check["name"] == "trades").expect("the check");
        let count = number(&trades["count"]) as usize;
        assert!(count > 0 && count <= positions.len(), "{trades}");
        assert_eq!(count as u64, number(&report["frames"]));
    }
}

#[test]
fn a_trade_id_that_comes_again_is_found_where_it_stands() {
    let home = Home::new();
    let (buy, sell) = (Side::Buy, Side::Sell);
    for (what, fills, bad, words) in [
        ("numbering begins again", vec![(7, 1, buy), (8, 2, buy), (1, 3, buy)], 2, "trade 1 behind trade 8"),
        ("descending", vec![(7, 1, buy), (6, 2, buy)], 1, "trade 6 behind trade 7"),
        ("repeated on the same side", vec![(7, 1, buy), (7, 2, buy)], 1, "not the other side"),
        ("an order with itself", vec![(7, 1, buy), (7, 1, sell)], 1, "not the other side"),
        ("three sides", vec![(7, 1, buy), (7, 2, sell), (7, 3, buy)], 2, "a third time"),
    ] {
        for name in ["matching.executions", "reports.one"] {
            let (_folder, path, positions) = journal(name, fills.clone());
            let (code, report) = verified(&home, &path);
            assert_eq!(code, Some(4), "{what}: {report}");
            let findings = report["findings"].as_array().expect("findings");
            assert_eq!(findings.len(), 1, "{what}: {report}");
            assert_eq!(
                (&findings[0]["check"], &findings[0]["position"]),
                (&"trades".into(), &positions[bad].into()),
                "{what}: {report}"
            );
            assert!(
                findings[0]["found"].as_str().is_some_and(|text| text.contains(words)),
                "{what}: {report}"
            );
            let text = stdout(&home.colo(&["journal", "verify", &path]));
            assert!(text.contains(words) && text.contains(&positions[bad].to_string()), "{what}: {text}");
        }
    }
    // Other journals have fills of their own kind, or none.
    let (_folder, path, _) = journal("test", [(7, 1, buy), (1, 2, buy)]);
    assert_eq!(verified(&home, &path).0, Some(0));
}
