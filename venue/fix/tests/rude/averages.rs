//! Prices that only an average tells, and prices that no fill can carry.

use venue::Input;
use wire::{Execution, InstrumentId, Price, Side, TimeInForce};

use crate::support::{Floor, LOT};

fn floor(tick: i64) -> (tempfile::TempDir, Floor) {
    let folder = tempfile::tempdir().unwrap();
    let mut floor = Floor::open(folder.path(), serde_json::json!({}));
    floor.take(&Input::Tick(InstrumentId(1), Price(tick)));
    (folder, floor)
}

/// Quantity, and price in 1e-9, of each fill.
fn fills(floor: &Floor) -> Vec<(i64, i64)> {
    let fill = |execution: &Execution| match execution {
        Execution::Fill(fill) => Some((fill.quantity.0, fill.price.0)),
        Execution::Update(_) => None,
    };
    floor.executions.iter().filter_map(fill).collect()
}

/// The price that is booked for seven lots of which no report came. Two more traded at 100, and this is the average of all nine.
fn lost_seven(tick: i64, average: &str) -> i64 {
    let (_folder, mut floor) = floor(tick);
    let (_, name) = floor.working(Side::Buy, TimeInForce::Day);
    let said = format!("39=1|14=9|6={average}|38=10|44=100|55=SIM001|54=1|");
    floor.rude.statuses.insert(name.clone(), said.clone());
    floor.said("8", &format!("11={name}|37=O1|17=e2|150=F|31=100|32=2|{said}"));
    floor.until("the lost trade", |floor| floor.booked() == 9 * LOT);
    let fills = fills(&floor);
    assert_eq!((fills.len(), fills[0], fills[1].0), (2, (2, 100 * Price::ONE), 7), "{average}");
    floor.hold(9, 0);
    fills[1].1
}

const CENT: i64 = 10_000_000;

#[test]
fn an_average_is_read_with_as_many_decimals_as_it_has() {
    let true_price = 99_980_000_000;
    for average in ["99.9844444444", "99.98444444444444", "99.984444444444444444444444", "99.984444444444450"]
    {
        assert_eq!(lost_seven(1, average), true_price, "{average}");
    }
}

#[test]
fn a_price_from_an_average_is_the_tick_within_what_the_average_leaves_open() {
    for average in ["99.984444", "99.9844", "99.9845", "99.984444444", "99.984"] {
        assert_eq!(lost_seven(CENT, average), 9_998 * CENT, "{average}");
    }
    // What is left open spans more than a tick: the next one is within it.
    let price = lost_seven(CENT, "99.98");
    assert!(price % CENT == 0 && (price - 9_998 * CENT).abs() <= CENT * 9 / 7, "{price}");
    // Three at 99.98 and four at 99.99 are no trade at a tick.
    let price = lost_seven(CENT, "99.988888888889");
    assert_eq!(price, 99_985_714_286);
    // A buyer does not pay more than the limit.
    assert_eq!(lost_seven(CENT, "100.01"), 100 * Price::ONE);
}

#[test]
fn a_price_that_no_fill_can_carry_is_listed_with_its_value_or_rejected() {
    let (_folder, mut floor) = floor(1);
    let (_, name) = floor.working(Side::Buy, TimeInForce::Day);
    let trade = |price: &str| {
        format!("11={name}|37=O1|17=e1|150=F|39=1|55=SIM001|54=1|31={price}|32=2|14=2|38=10|44=100|")
    };
    floor.said("8", &trade("99.9999999996"));
    floor.hold(0, 2);
    let what = floor.driver.unbooked().next().unwrap();
    assert_eq!((what.why.as_str(), what.value), ("inexact", 200 * LOT));
    assert!(what.text.contains("2 at 99.9999999996"), "{what}");
    // No report with terms that cannot be read is taken for one without terms.
    for (terms, tag) in [
        ("38=9|44=99.0000000001", "44"),
        ("38=9|44=99999999999", "44"),
        ("38=9.5|44=99", "38"),
        ("38=-9|44=99", "38"),
        ("38=9|44=99|14=-1", "14"),
    ] {
        let restated = format!("11={name}|37=O1|17=r1|150=D|39=0|55=SIM001|54=1|{terms}|");
        floor.said("8", &restated);
        let reject = floor.next("3");
        assert_eq!((reject.get(371), reject.get(373)), (Some(tag), Some("5")), "{terms}");
    }
}
