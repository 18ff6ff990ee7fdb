//! Markets with answers that cause the next question: they are asked a few times, and the difference is listed.

use std::time::Duration;

use serde_json::json;
use wire::{Side, TimeInForce};

use crate::support::Floor;

/// A trade of four is reported and taken back, and the report of that is lost with the line.
fn lost_cancel(params: serde_json::Value, clock: fn(u64) -> u64) -> (tempfile::TempDir, Floor) {
    let folder = tempfile::tempdir().unwrap();
    let mut floor = Floor::open(folder.path(), params);
    floor.rude.clock = clock;
    let (_, name) = floor.working(Side::Buy, TimeInForce::GoodTillCancel);
    floor.said("8", &format!("11={name}|37=O1|17=e1|150=F|39=1|55=SIM001|54=1|31=100|32=4|14=4|6=100|"));
    floor.hold(4, 0);
    floor.rude.statuses.insert(name, "39=0|55=SIM001|54=1|38=10|44=100|14=0|6=0|".to_owned());
    floor.rude.hang_up();
    floor.until("end of the line", |floor| !floor.driver.is_up());
    floor.rude.heard.clear();
    floor.until("line", |floor| floor.driver.is_up());
    (folder, floor)
}

/// The next answers change nothing, and nothing more is asked.
fn hold_few(floor: &mut Floor, kind: &str) {
    floor.until("difference", |floor| floor.listed() != 0);
    floor.wait(Duration::from_millis(500));
    floor.hold(4, -4);
    let asked = floor.count(kind);
    assert!((2..=9).contains(&asked), "{asked} questions ({kind})");
}

#[test]
fn a_lost_cancel_of_a_trade_is_listed_after_a_few_questions_whatever_clock_the_market_has() {
    let clocks: [fn(u64) -> u64; 3] =
        [|now| now, |now| now - now % 1_000_000_000, |_| 1_800_000_000_000_000_000];
    for clock in clocks {
        let (_folder, mut floor) = lost_cancel(json!({}), clock);
        hold_few(&mut floor, "H");
    }
}

#[test]
fn a_market_that_answers_for_all_orders_together_is_asked_a_few_times_too() {
    let params = json!({ "order_status": false, "mass_status": true });
    let (_folder, mut floor) = lost_cancel(params, |_| 1_800_000_000_000_000_000);
    hold_few(&mut floor, "AF");
}

#[test]
fn a_market_that_rejects_questions_and_names_none_is_asked_seldom() {
    for (params, kind) in [(json!({}), "H"), (json!({ "order_status": false, "mass_status": true }), "AF")] {
        let folder = tempfile::tempdir().unwrap();
        let mut floor = Floor::open(folder.path(), params);
        let (id, _) = floor.working(Side::Buy, TimeInForce::GoodTillCancel);
        // A cancel that is not answered is sent again with each question for all that is open.
        floor.cancel(id);
        floor.rude.rejects_questions = true;
        floor.rude.heard.clear();
        floor.rude.say("3", "58=something|");
        floor.wait(Duration::from_millis(1_500));
        let (asked, cancels) = (floor.count(kind), floor.count("F"));
        assert!((1..=12).contains(&asked) && (1..=12).contains(&cancels), "{asked} {kind}, {cancels} F");
    }
}

#[test]
fn a_market_that_leaves_out_messages_again_and_again_is_asked_seldom() {
    let folder = tempfile::tempdir().unwrap();
    let params = json!({ "mass_status": true, "positions": true });
    let mut floor = Floor::open(folder.path(), params);
    let (_, name) = floor.working(Side::Buy, TimeInForce::GoodTillCancel);
    floor.rude.statuses.insert(name, "39=0|55=SIM001|54=1|38=10|44=100|14=0|6=0|".to_owned());
    // A question for positions that is not answered holds back the next one.
    let id = floor.next("AN").get(710).unwrap().to_owned();
    floor.said("AP", &format!("721=1|710={id}|727=1|728=0|55=SIM001|702=1|703=TQ|704=0|"));
    floor.rude.heard.clear();
    for _ in 0..200 {
        let next = floor.rude.number + 2;
        floor.rude.say("4", &format!("36={next}|"));
        floor.rude.number = next;
        floor.settle();
    }
    floor.wait(Duration::from_millis(500));
    for kind in ["H", "AF", "AN"] {
        let asked = floor.count(kind);
        assert!((1..=20).contains(&asked), "{asked} questions ({kind})");
    }
}
