//! The session: the market's new day, its resets, its refusals.

use wire::{OrderStatus, Reason, Side, TimeInForce};

use crate::support::Floor;

fn cut(floor: &mut Floor) {
    floor.rude.hang_up();
    floor.until("the end of the line", |floor| !floor.driver.is_up());
}

#[test]
fn a_market_that_begins_its_numbers_again_is_followed_and_orders_are_asked_for() {
    for logon in ["", "141=Y|"] {
        let folder = tempfile::tempdir().unwrap();
        let mut floor = Floor::open(folder.path(), serde_json::json!({}));
        let (id, name) = floor.working(Side::Buy, TimeInForce::GoodTillCancel);
        cut(&mut floor);
        // Its new day: 1 where more was expected.
        floor.rude.logon = Some((1, logon));
        let before = floor.rude.logons;
        floor.rude.statuses.insert(name, "39=1|14=4|6=100|38=10|44=100|".to_owned());
        floor.until("the line", |floor| floor.driver.is_up());
        assert_eq!(floor.rude.logons, before + 2, "the second begins both sides again");
        // What traded meanwhile is found.
        floor.settle();
        floor.hold(4, 0);
        assert_eq!(floor.last(id), Some((OrderStatus::PartiallyFilled, Reason::None)));
    }
}

#[test]
fn a_reset_on_a_line_that_is_there_is_answered() {
    let folder = tempfile::tempdir().unwrap();
    let mut floor = Floor::open(folder.path(), serde_json::json!({}));
    floor.settle();
    floor.rude.heard.clear();
    floor.rude.number = 1;
    floor.rude.say("A", "98=0|108=10|141=Y|");
    // Our answer is no Logon that is to be answered.
    floor.rude.logon = None;
    floor.until("our Logon", |floor| floor.rude.heard.iter().any(|message| message.kind() == "A"));
    let ours = floor.next("A");
    assert_eq!((ours.sequence(), ours.get(141)), (1, Some("Y")));
    // A market that answers our answer gets none to that, and the line goes on.
    floor.rude.heard.clear();
    floor.rude.has_logged_on = false;
    floor.rude.number = 1;
    floor.rude.say("A", "98=0|108=10|141=Y|");
    floor.until("our Logon", |floor| floor.rude.has_logged_on);
    floor.rude.say("1", "112=still there|");
    floor.until("a Heartbeat", |floor| {
        floor.rude.heard.iter().any(|message| message.get(112) == Some("still there"))
    });
    let answers = floor.rude.heard.iter().filter(|message| message.kind() == "A").count();
    assert_eq!((answers, floor.driver.is_up()), (1, true));
    floor.rude.heard.clear();
    // After that it may begin them once more.
    floor.rude.number = 1;
    floor.rude.say("A", "98=0|108=10|141=Y|");
    floor.until("our Logon", |floor| floor.rude.heard.iter().any(|message| message.kind() == "A"));
}

#[test]
fn a_person_decides_where_the_file_says_so_and_the_market_is_not_stormed() {
    let folder = tempfile::tempdir().unwrap();
    let mut floor = Floor::open(folder.path(), serde_json::json!({"reset": "never"}));
    floor.working(Side::Buy, TimeInForce::Day);
    cut(&mut floor);
    let before = floor.rude.logons;
    let end = std::time::Instant::now() + std::time::Duration::from_secs(4);
    while std::time::Instant::now() < end {
        if floor.rude.logon.is_none() {
            floor.rude.logon = Some((1, ""));
        }
        floor.turn();
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let tries = floor.rude.logons - before;
    assert!(!floor.driver.is_up() && tries <= 4, "{tries} in four seconds");
}

#[test]
fn numbers_of_ours_that_are_behind_go_where_the_market_expects_them() {
    let folder = tempfile::tempdir().unwrap();
    let mut floor = Floor::open(folder.path(), serde_json::json!({}));
    cut(&mut floor);
    let before = floor.rude.logons;
    floor.rude.refuse = Some("MsgSeqNum too low, expecting 900 but received 5");
    floor.until("the line", |floor| floor.driver.is_up());
    assert_eq!(floor.rude.logons, before + 2);
    floor.rude.heard.clear();
    floor.settle();
    floor.order(Side::Buy, TimeInForce::Day);
    assert!(floor.next("D").sequence() > 900);
}
