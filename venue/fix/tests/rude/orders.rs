//! Executions: what is booked and what is not are always what the market has.

use std::time::Duration;

use venue::{How, Input, Settlement};
use wire::{Execution, OrderStatus, Reason, Side, TimeInForce};

use crate::support::{Floor, LOT};

fn floor() -> (tempfile::TempDir, Floor) {
    let folder = tempfile::tempdir().unwrap();
    let floor = Floor::open(folder.path(), serde_json::json!({}));
    (folder, floor)
}

fn trade(name: &str, id: &str, quantity: &str, filled: &str) -> String {
    format!("11={name}|37=O1|17={id}|150=F|39=1|55=SIM001|54=1|31=100|32={quantity}|14={filled}|")
}

#[test]
fn a_trade_that_is_cancelled_is_not_booked_and_stops_the_seat_until_it_is_settled() {
    let (_folder, mut floor) = floor();
    let (id, name) = floor.working(Side::Buy, TimeInForce::Day);
    floor.said("8", &trade(&name, "e1", "4", "4"));
    floor.hold(4, 0);
    let bust = format!("11={name}|37=O1|17=b1|19=e1|150=H|39=0|55=SIM001|54=1|31=100|32=4|14=0|151=10|");
    floor.said("8", &bust);
    floor.hold(4, -4);
    assert!(floor.alarms[0].contains("busted: -4 lots") && floor.alarms[0].contains("trade e1"));
    // The same report again, and as a possible duplicate of the session.
    floor.said("8", &format!("97=Y|{bust}"));
    floor.rude.say_as(3, "8", &format!("43=Y|122=20260101-00:00:00|{bust}"));
    floor.settle();
    floor.hold(4, -4);
    let (refused, _) = floor.order(Side::Buy, TimeInForce::Day);
    assert_eq!(floor.last(refused), Some((OrderStatus::Rejected, Reason::MarketClosed)));
    // Cancels go out.
    let cancel = floor.cancel(id);
    assert_eq!(floor.next("F").get(11), Some(cancel.as_str()));
    let settlement = Settlement { number: 1, how: How::Apart, by: "ann: agreed by phone".to_owned() };
    floor.take(&Input::Settle(settlement));
    floor.hold(4, 0);
    let sums = floor.driver.sums().next().unwrap().1;
    assert_eq!((sums.booked, sums.open, sums.apart), (4 * LOT, 0, -4 * LOT));
    floor.order(Side::Buy, TimeInForce::Day);
    floor.next("D");
}

#[test]
fn a_correction_is_not_booked_and_a_cancel_of_the_corrected_trade_counts_what_it_is_now() {
    let (_folder, mut floor) = floor();
    let (_, name) = floor.working(Side::Sell, TimeInForce::Day);
    floor.said("8", &trade(&name, "e1", "4", "4").replace("54=1|", "54=2|"));
    let correction = format!("11={name}|37=O1|17=e2|19=e1|150=G|39=1|55=SIM001|54=2|31=101|32=3|14=3|");
    floor.said("8", &correction);
    floor.said("8", &correction);
    floor.hold(-4, 1);
    let what = floor.driver.unbooked().next().unwrap();
    // Sold 4 at 100, in truth 3 at 101.
    assert_eq!(what.value, (400 - 303) * LOT);
    floor.said("8", &format!("11={name}|37=O1|17=b1|19=e1|150=H|39=0|55=SIM001|54=2|14=0|"));
    floor.hold(-4, 4);
}

#[test]
fn a_trade_behind_the_end_of_its_order_is_not_lost_and_can_be_booked_as_late() {
    let (_folder, mut floor) = floor();
    let (id, name) = floor.working(Side::Buy, TimeInForce::Day);
    // The market ends it by itself, under a name of its own.
    floor.said("8", "11=venue-7|37=O1|17=c1|150=4|39=4|55=SIM001|54=1|14=0|");
    assert_eq!(floor.last(id), Some((OrderStatus::Cancelled, Reason::None)));
    floor.said("8", &trade(&name, "e1", "4", "4"));
    floor.said("8", &trade(&name, "e1", "4", "4"));
    floor.hold(0, 4);
    let settlement = Settlement { number: 1, how: How::Book, by: "ann: confirmed".to_owned() };
    floor.take(&Input::Settle(settlement));
    floor.hold(4, 0);
    let Some(Execution::Fill(fill)) = floor.executions.last() else { panic!("no fill") };
    assert_eq!((fill.order_id, fill.remaining.0, fill.event_time.0 > 0), (id, 0, false));
}

#[test]
fn an_order_of_another_program_and_more_than_is_left_are_not_booked() {
    let (_folder, mut floor) = floor();
    let (id, name) = floor.working(Side::Buy, TimeInForce::Day);
    floor.said("8", &trade("some one else", "e1", "7", "7").replace("37=O1", "37=X9"));
    floor.hold(0, 7);
    floor.said("8", &trade(&name, "e2", "12", "12"));
    floor.hold(10, 9);
    assert_eq!(floor.last(id), Some((OrderStatus::Filled, Reason::None)));
}

#[test]
fn a_part_of_a_lot_is_never_rounded() {
    let (_folder, mut floor) = floor();
    let (_, name) = floor.working(Side::Buy, TimeInForce::Day);
    floor.said("8", &trade(&name, "e1", "2.5", "2.5"));
    assert_eq!((floor.booked(), floor.listed()), (0, 5 * LOT / 2));
    floor.said("8", &trade(&name, "e2", "3.000", "5.5"));
    assert_eq!((floor.booked(), floor.listed()), (3 * LOT, 5 * LOT / 2));
    floor.said("8", &format!("11={name}|37=O1|17=c1|150=4|39=4|55=SIM001|54=1|14=5.5|"));
    assert_eq!((floor.booked(), floor.listed()), (3 * LOT, 5 * LOT / 2));
}

#[test]
fn done_for_the_day_ends_a_day_order_and_no_order_that_outlives_the_day() {
    let (_folder, mut floor) = floor();
    let (day, of_day) = floor.working(Side::Buy, TimeInForce::Day);
    let (lasting, name) = floor.working(Side::Buy, TimeInForce::GoodTillCancel);
    for name in [&of_day, &name] {
        floor.said("8", &format!("11={name}|37=O1|17=d{name}|150=3|39=3|55=SIM001|54=1|14=0|151=0|"));
    }
    assert_eq!(floor.last(day), Some((OrderStatus::Cancelled, Reason::Expired)));
    assert_eq!(floor.last(lasting), Some((OrderStatus::Accepted, Reason::None)));
    // The next day.
    floor.said("8", &format!("11={name}|37=O1|17=r1|150=D|378=1|39=0|55=SIM001|54=1|38=10|44=100|14=0|"));
    floor.said("8", &trade(&name, "e1", "4", "4"));
    floor.hold(4, 0);
}

#[test]
fn a_rejection_behind_the_acceptance_ends_the_order() {
    let (_folder, mut floor) = floor();
    let (id, name) = floor.working(Side::Buy, TimeInForce::Day);
    floor.said("8", &trade(&name, "e1", "4", "4"));
    floor.said("8", &format!("11={name}|37=O1|17=r1|150=8|39=8|103=2|55=SIM001|54=1|14=4|"));
    assert_eq!(floor.last(id), Some((OrderStatus::Cancelled, Reason::MarketClosed)));
    floor.hold(4, 0);
}

#[test]
fn a_restatement_to_less_reduces_the_order() {
    let (_folder, mut floor) = floor();
    let (id, name) = floor.working(Side::Buy, TimeInForce::Day);
    floor.said("8", &format!("11={name}|37=O1|17=r1|150=D|378=5|39=0|55=SIM001|54=1|38=6|44=100|14=0|"));
    assert_eq!(floor.last(id), Some((OrderStatus::Reduced, Reason::None)));
    floor.said("8", &trade(&name, "e1", "6", "6"));
    assert_eq!(floor.last(id), Some((OrderStatus::Filled, Reason::None)));
    floor.hold(6, 0);
}

#[test]
fn rejects_of_business_and_of_the_session_answer_what_was_asked() {
    let (_folder, mut floor) = floor();
    let (refused, _) = floor.order(Side::Buy, TimeInForce::Day);
    let number = floor.next("D").sequence();
    floor.said("j", &format!("45={number}|372=D|380=4|58=not now|"));
    assert_eq!(floor.last(refused), Some((OrderStatus::Rejected, Reason::MarketClosed)));
    let (refused, _) = floor.order(Side::Buy, TimeInForce::Day);
    let number = floor.next("D").sequence();
    floor.said("3", &format!("45={number}|371=44|372=D|373=5|"));
    assert_eq!(floor.last(refused), Some((OrderStatus::Rejected, Reason::Malformed)));
    // A process that did not send it: the message names it.
    let (refused, name) = floor.order(Side::Buy, TimeInForce::Day);
    floor.next("D");
    floor.restart();
    floor.until("the line", |floor| floor.driver.is_up());
    floor.said("j", &format!("372=D|379={name}|380=0|"));
    assert_eq!(floor.last(refused), Some((OrderStatus::Rejected, Reason::Malformed)));
    // A refused cancel is answered when the order's status is known.
    let (id, name) = floor.working(Side::Buy, TimeInForce::Day);
    floor.rude.statuses.insert(name, "39=0|14=0|38=10|44=100|".to_owned());
    floor.cancel(id);
    let number = floor.next("F").sequence();
    floor.said("j", &format!("45={number}|372=F|380=0|"));
    let refusal = |execution: &Execution| matches!(execution, Execution::Update(update) if update.status == OrderStatus::CancelRejected);
    assert!(floor.executions.iter().any(refusal), "{:?}", floor.executions);
}

#[test]
fn a_cancel_that_is_refused_during_a_replace_is_sent_again_behind_it() {
    let (_folder, mut floor) = floor();
    let (id, name) = floor.working(Side::Buy, TimeInForce::Day);
    let replace = floor.replace(id, 101, 12);
    floor.next("G");
    floor.rude.statuses.insert(name.clone(), "39=E|14=0|38=10|44=100|".to_owned());
    let cancel = floor.cancel(id);
    floor.next("F");
    floor.said("9", &format!("11={cancel}|41={name}|37=O1|39=E|102=3|434=1|"));
    floor.said(
        "8",
        &format!("11={replace}|41={name}|37=O1|17=r1|150=5|39=0|55=SIM001|54=1|38=12|44=101|14=0|"),
    );
    let again = floor.next("F");
    assert_eq!(again.get(41), Some(replace.as_str()), "under the order's new name");
    let name = again.get(11).unwrap().to_owned();
    floor.said("8", &format!("11={name}|41={replace}|37=O1|17=c1|150=4|39=4|55=SIM001|54=1|14=0|"));
    assert_eq!(floor.last(id), Some((OrderStatus::Cancelled, Reason::Requested)));
    let refusal = |execution: &Execution| matches!(execution, Execution::Update(update) if update.status == OrderStatus::CancelRejected);
    assert!(!floor.executions.iter().any(refusal), "{:?}", floor.executions);
}

#[test]
fn an_order_that_ended_here_and_works_there_is_cancelled_there() {
    let (_folder, mut floor) = floor();
    let (id, name) = floor.working(Side::Buy, TimeInForce::Day);
    floor.said("8", &format!("11={name}|37=O1|17=e1|150=F|39=2|55=SIM001|54=1|31=100|32=10|14=10|"));
    assert_eq!(floor.last(id), Some((OrderStatus::Filled, Reason::None)));
    floor.rude.statuses.insert(name.clone(), "39=0|14=0|38=10|44=100|".to_owned());
    floor.said(
        "8",
        &format!("11={name}|37=O1|17=b1|19=e1|150=H|39=0|55=SIM001|54=1|31=100|32=10|14=0|151=10|"),
    );
    floor.hold(10, -10);
    let cancel = floor.next("F");
    assert_eq!(cancel.get(41), Some(name.as_str()));
    floor.rude.statuses.insert(name, "39=4|14=0|38=10|44=100|".to_owned());
    floor.overdue();
    floor.until("end at the market", |floor| floor.driver.waiting().is_empty());
}

#[test]
fn times_keep_their_fraction() {
    let (_folder, mut floor) = floor();
    let (_, name) = floor.working(Side::Buy, TimeInForce::Day);
    floor.said("8", &(trade(&name, "e1", "4", "4") + "60=20240229-15:59:59.123456|"));
    let fill = floor.executions.iter().find_map(|execution| match execution {
        Execution::Fill(fill) => Some(fill),
        Execution::Update(_) => None,
    });
    assert_eq!(fill.unwrap().event_time.0, 1_709_222_399_123_456_000);
}

#[test]
fn a_position_that_stays_another_is_not_booked() {
    let folder = tempfile::tempdir().unwrap();
    let mut floor = Floor::open(folder.path(), serde_json::json!({"positions": true}));
    let answer = |floor: &mut Floor, long: u32| {
        let id = floor.next("AN").get(710).unwrap().to_owned();
        floor.said("AO", &format!("721=1|710={id}|727=1|728=0|729=0|"));
        floor.said("AP", &format!("721=1|710={id}|727=1|728=0|55=SIM001|702=1|703=TQ|704={long}|705=1|"));
    };
    // What was there before the first order.
    answer(&mut floor, 6);
    floor.hold(0, 0);
    let (_, name) = floor.working(Side::Buy, TimeInForce::Day);
    floor.said("8", &trade(&name, "e1", "4", "4"));
    floor.rude.hang_up();
    floor.until("the end of the line", |floor| !floor.driver.is_up());
    floor.until("the line", |floor| floor.driver.is_up());
    // Five more, less four that are known.
    answer(&mut floor, 15);
    for _ in 0..2 {
        floor.hold(4, 0);
        floor.overdue();
        answer(&mut floor, 15);
    }
    floor.hold(4, 5);
    assert!(floor.alarms[0].contains("position: 5 lots"), "{:?}", floor.alarms);
}

#[test]
fn a_position_report_that_cannot_be_read_is_rejected_and_is_no_position() {
    let folder = tempfile::tempdir().unwrap();
    let mut floor = Floor::open(folder.path(), serde_json::json!({"positions": true}));
    let report = |floor: &mut Floor, lots: &str| {
        let id = floor.next("AN").get(710).unwrap().to_owned();
        floor.said("AP", &format!("721=1|710={id}|727=1|728=0|55=SIM001|702=1|703=TQ|{lots}"));
    };
    report(&mut floor, "704=0|");
    let (_, name) = floor.working(Side::Buy, TimeInForce::Day);
    floor.said("8", &trade(&name, "e1", "4", "4"));
    // Three in a row that say the same would be a difference.
    for (lots, reason) in [
        ("704=abc|", "6"),
        ("704=|", "4"),
        ("705=4,0|", "6"),
        ("704=1000000000000004|", "5"),
        ("704=4|704=4|", "13"),
        ("704=4|705=x|", "6"),
    ] {
        floor.take(&Input::News(venue::News::Gap));
        report(&mut floor, lots);
        let reject = floor.next("3");
        assert_eq!((reject.get(372), reject.get(373)), (Some("AP"), Some(reason)), "{lots}");
    }
    floor.hold(4, 0);
    assert_eq!(floor.alarms, Vec::<String>::new());
}

#[test]
fn a_difference_of_position_ends_with_reports_that_agree_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut floor = Floor::open(folder.path(), serde_json::json!({"positions": true}));
    let report = |floor: &mut Floor, lots: &str| {
        let id = floor.next("AN").get(710).unwrap().to_owned();
        floor.said("AP", &format!("721=1|710={id}|727=1|728=0|55=SIM001|702=1|703=TQ|704={lots}|"));
    };
    report(&mut floor, "0");
    let (_, name) = floor.working(Side::Buy, TimeInForce::Day);
    floor.said("8", &trade(&name, "e1", "4", "4"));
    for (lots, open) in [("1000000000004", 1_000_000_000_000), ("4", 0)] {
        floor.take(&Input::News(venue::News::Gap));
        report(&mut floor, lots);
        // Two more say the same, and one agrees with what is listed.
        for _ in 0..3 {
            floor.overdue();
            report(&mut floor, lots);
        }
        floor.hold(4, open);
        assert_eq!(floor.driver.is_stopped(), open != 0);
    }
}

#[test]
fn an_execution_counts_whatever_else_of_its_report_cannot_be_read() {
    let (_folder, mut floor) = floor();
    let (id, name) = floor.working(Side::Buy, TimeInForce::Day);
    floor.said("8", &trade(&name, "e1", "4", "four"));
    floor.hold(4, 0);
    assert_eq!(floor.next("3").get(371), Some("14"));
    floor.said("8", &trade(&name, "e2", "1000000000000", "1000000000004"));
    floor.hold(4, 1_000_000_000_000);
    assert_eq!(floor.driver.unbooked().next().unwrap().value, 100_000_000_000_000 * LOT);
    floor.said("8", &trade(&name, "e3", "many", "4"));
    assert!(floor.alarms[1].contains("many at 100"), "{:?}", floor.alarms);
    // An end with a number that cannot be read is none.
    floor.said("8", &format!("11={name}|37=O1|17=c1|150=4|39=4|55=SIM001|54=1|14=x|"));
    assert_eq!(floor.last(id), Some((OrderStatus::PartiallyFilled, Reason::None)));
}

#[test]
fn an_execution_of_which_a_field_stands_twice_counts_only_once_the_market_is_asked() {
    let (_folder, mut floor) = floor();
    let (_, name) = floor.working(Side::Buy, TimeInForce::Day);
    for (number, (tag, once, twice)) in [
        (32, "32=4|", "32=4|32=5|"),
        (32, "32=4|", "32=4|32=4|"),
        (31, "31=100|", "31=100|31=101|"),
        (54, "54=1|", "54=1|54=2|"),
        (55, "55=SIM001|", "55=SIM001|55=SIM002|"),
        (150, "150=F|", "150=F|150=0|"),
    ]
    .into_iter()
    .enumerate()
    {
        let report = trade(&name, &format!("e{number}"), "4", "4");
        assert!(report.contains(once), "{report}");
        floor.said("8", &report.replace(once, twice));
        let reject = floor.next("3");
        assert_eq!(
            (reject.get(371), reject.get(373)),
            (Some(tag.to_string().as_str()), Some("13")),
            "{twice}"
        );
        floor.hold(0, 0);
    }
    // The order is asked for, and the status counts once it has come twice. Requests without an answer are still open.
    floor.rude.statuses.insert(name, status("4", "100"));
    for _ in 0..1_000 {
        if floor.booked() != 0 {
            break;
        }
        floor.take(&Input::News(venue::News::Gap));
        floor.wait(Duration::from_millis(50));
    }
    floor.hold(4, 0);
}

#[test]
fn a_market_that_answers_only_for_all_orders_together_settles_their_fate() {
    let folder = tempfile::tempdir().unwrap();
    let more = serde_json::json!({"order_status": false, "mass_status": true});
    let mut floor = Floor::open(folder.path(), more);
    floor.rude.heard.clear();
    let (lost, _) = floor.order(Side::Buy, TimeInForce::Day);
    let (kept, name) = floor.order(Side::Buy, TimeInForce::Day);
    floor.settle();
    floor.rude.hang_up();
    floor.until("the end of the line", |floor| !floor.driver.is_up());
    floor.until("the line", |floor| floor.driver.is_up());
    let mut id = String::new();
    floor.settle();
    while let Some(place) = floor.rude.heard.iter().position(|message| message.kind() == "AF") {
        id = floor.rude.heard.remove(place).unwrap().get(584).unwrap().to_owned();
    }
    floor.said(
        "8",
        &format!("11={name}|37=O1|17=0|150=I|39=0|55=SIM001|54=1|38=10|44=100|14=0|584={id}|911=1|912=Y|"),
    );
    assert_eq!(floor.last(kept), Some((OrderStatus::Accepted, Reason::None)));
    let end = floor.last(lost);
    if end.is_none() {
        // It was asked for behind the first request.
        floor.settle();
        let id = floor.next("AF").get(584).unwrap().to_owned();
        floor.said(
            "8",
            &format!(
                "11={name}|37=O1|17=0|150=I|39=0|55=SIM001|54=1|38=10|44=100|14=0|584={id}|911=1|912=Y|"
            ),
        );
    }
    assert_eq!(floor.last(lost), Some((OrderStatus::Rejected, Reason::MarketClosed)));
}

/// The fields of a status of a working order of ten lots at 100.
fn status(filled: &str, average: &str) -> String {
    format!("39=1|14={filled}|6={average}|38=10|44=100|55=SIM001|54=1|")
}

fn at(name: &str, id: &str, (quantity, price): (&str, &str), filled: &str) -> String {
    trade(name, id, quantity, filled).replace("31=100|", &format!("31={price}|"))
}

/// The price and the quantity of each fill.
fn fills(floor: &Floor) -> Vec<(i64, i64)> {
    let fill = |execution: &Execution| match execution {
        Execution::Fill(fill) => Some((fill.price.0 / wire::Price::ONE, fill.quantity.0)),
        Execution::Update(_) => None,
    };
    floor.executions.iter().filter_map(fill).collect()
}

#[test]
fn a_trade_behind_one_that_was_lost_is_booked_at_its_own_price() {
    let (_folder, mut floor) = floor();
    let (id, name) = floor.working(Side::Buy, TimeInForce::Day);
    floor.said("8", &trade(&name, "e1", "2", "2"));
    // Three at 98 are lost with the line.
    floor.rude.statuses.insert(name.clone(), status("5", "98.8"));
    floor.rude.hang_up();
    floor.until("the end of the line", |floor| !floor.driver.is_up());
    floor.until("the lost trade", |floor| floor.booked() == 5 * LOT);
    floor.said("8", &at(&name, "e3", ("3", "97"), "8"));
    floor.said("8", &at(&name, "e4", ("1", "96"), "9"));
    assert_eq!(fills(&floor), [(100, 2), (98, 3), (97, 3), (96, 1)]);
    // The lost one comes after all.
    floor.rude.statuses.insert(name.clone(), status("9", "98.33333333"));
    floor.said("8", &at(&name, "e2", ("3", "98"), "5"));
    floor.hold(9, 0);
    floor.said("8", &at(&name, "e5", ("1", "95"), "10"));
    assert_eq!(floor.last(id), Some((OrderStatus::Filled, Reason::None)));
    assert_eq!(fills(&floor).last(), Some(&(95, 1)));
    assert_eq!(floor.alarms, Vec::<String>::new());
}

#[test]
fn a_lost_trade_that_comes_late_at_another_price_says_the_difference() {
    let (_folder, mut floor) = floor();
    let (_, name) = floor.working(Side::Buy, TimeInForce::Day);
    // No average: it is taken at the limit.
    floor.rude.statuses.insert(name.clone(), "39=1|14=3|38=10|44=100|".to_owned());
    floor.rude.hang_up();
    floor.until("the end of the line", |floor| !floor.driver.is_up());
    floor.until("the lost trade", |floor| floor.booked() == 3 * LOT);
    floor.said("8", &at(&name, "e1", ("3", "98"), "3"));
    floor.hold(3, 0);
    let what = floor.driver.unbooked().next().unwrap();
    assert_eq!((what.why.as_str(), what.value), ("corrected", -6 * LOT));
}

#[test]
fn what_a_report_counts_more_than_has_come_is_asked_for() {
    let (_folder, mut floor) = floor();
    let (_, name) = floor.working(Side::Buy, TimeInForce::Day);
    floor.said("8", &at(&name, "1", ("2", "100"), "2"));
    floor.rude.statuses.insert(name.clone(), status("5", "98.8"));
    // A report says that three more have traded, of which none came: its ExecID was used on an earlier day.
    floor.said("8", &at(&name, "1", ("3", "98"), "5"));
    floor.until("the trade", |floor| floor.booked() == 5 * LOT);
    // The same with another id: two were lost before it.
    floor.rude.statuses.insert(name.clone(), status("8", "98.5"));
    floor.said("8", &at(&name, "3", ("1", "99"), "8"));
    floor.until("the trade", |floor| floor.booked() == 8 * LOT);
    assert_eq!(fills(&floor), [(100, 2), (98, 3), (99, 1), (97, 2)], "788 = 8 × 98.5");
    assert_eq!(floor.alarms, Vec::<String>::new());
}

/// What a market's correction adds, where what it corrects came with others in a status.
#[test]
fn a_correction_of_a_trade_that_only_a_status_counted_is_listed() {
    let (_folder, mut floor) = floor();
    let (_, name) = floor.working(Side::Buy, TimeInForce::Day);
    floor.said("8", &at(&name, "1", ("2", "100"), "2"));
    // Two trades at 99 are lost, and counted together.
    floor.rude.statuses.insert(name.clone(), status("5", "99.2"));
    floor.said("8", &at(&name, "4", ("1", "98"), "5"));
    floor.until("the trades", |floor| floor.booked() == 5 * LOT);
    assert_eq!(fills(&floor), [(100, 2), (98, 1), (99, 2)]);
    // The one of them is corrected to 97.
    floor.rude.statuses.insert(name.clone(), status("5", "98.8"));
    let corrects = "150=G|39=1|55=SIM001|54=1|32=1|31=97|14=5|";
    floor.said("8", &format!("11={name}|37=O1|17=c1|19=2|{corrects}"));
    floor.until("the difference", |floor| floor.driver.unbooked().next().is_some());
    let listed = |floor: &Floor| -> Vec<(String, i128)> {
        floor.driver.unbooked().map(|what| (what.why.as_str().to_owned(), what.value)).collect()
    };
    assert_eq!(listed(&floor), [("corrected".to_owned(), -2 * LOT)]);
    // Cancelled, it takes what it is now. The report of the other one says nothing new.
    floor.rude.statuses.insert(name.clone(), status("4", "99.25"));
    let busts = "150=H|39=1|55=SIM001|54=1|32=1|31=97|14=4|";
    floor.said("8", &format!("11={name}|37=O1|17=b1|19=c1|{busts}"));
    floor.said("8", &at(&name, "3", ("1", "99"), "4"));
    floor.settle();
    assert_eq!(listed(&floor), [("corrected".to_owned(), -2 * LOT), ("busted".to_owned(), -97 * LOT)]);
}

/// The same where each of two lost trades came with a status of its own.
#[test]
fn a_correction_of_one_of_two_trades_that_statuses_counted_is_listed() {
    let (_folder, mut floor) = floor();
    let (_, name) = floor.working(Side::Buy, TimeInForce::Day);
    floor.rude.statuses.insert(name.clone(), status("2", "99.5"));
    floor.said("8", &at(&name, "2", ("1", "99"), "2"));
    floor.until("the first", |floor| floor.booked() == 2 * LOT);
    floor.rude.statuses.insert(name.clone(), status("4", "99"));
    floor.said("8", &at(&name, "4", ("1", "98"), "4"));
    floor.until("the second", |floor| floor.booked() == 4 * LOT);
    floor.said("8", &at(&name, "5", ("1", "98"), "5"));
    floor.rude.statuses.insert(name.clone(), status("5", "98.2"));
    let corrects = "150=G|39=1|55=SIM001|54=1|32=1|31=97|14=5|";
    floor.said("8", &format!("11={name}|37=O1|17=c1|19=1|{corrects}"));
    floor.until("the difference", |floor| floor.driver.unbooked().next().is_some());
    let open: i128 = floor.driver.unbooked().map(|what| what.value).sum();
    assert_eq!(open, -3 * LOT, "100 was corrected to 97");
}

/// The correction is lost, and the trade is cancelled under its new name.
#[test]
fn a_lost_correction_is_listed_once_its_trade_is_cancelled() {
    let (_folder, mut floor) = floor();
    let (_, name) = floor.working(Side::Buy, TimeInForce::Day);
    floor.said("8", &at(&name, "1", ("2", "100"), "2"));
    floor.said("8", &at(&name, "2", ("1", "99"), "3"));
    // It was corrected to 97, of which no report came.
    floor.rude.statuses.insert(name.clone(), status("2", "100"));
    let busts = "150=H|39=1|55=SIM001|54=1|32=1|31=97|14=2|";
    floor.said("8", &format!("11={name}|37=O1|17=b1|19=c1|{busts}"));
    floor.until("the difference", |floor| floor.driver.unbooked().count() == 2);
    let values: i128 = floor.driver.unbooked().map(|what| what.value).sum();
    assert_eq!(values, -99 * LOT, "299 were booked, 200 are left");
}

/// Less was counted by a status, and the trade that is cancelled afterwards was another one.
#[test]
fn a_cancelled_trade_that_a_status_seems_to_have_taken_back_is_asked_for() {
    let (_folder, mut floor) = floor();
    let (_, name) = floor.working(Side::Buy, TimeInForce::Day);
    // One lot is lost, and is counted by a status.
    floor.rude.statuses.insert(name.clone(), status("1", "100"));
    let lost = floor.rude.number;
    floor.rude.number += 2;
    floor.rude.say_as(lost, "4", &format!("43=Y|122=20260101-00:00:00|123=Y|36={}|", lost + 2));
    floor.until("the lost trade", |floor| floor.booked() == LOT);
    floor.said("8", &at(&name, "2", ("1", "99"), "2"));
    let ended = |traded: &str, average: &str| format!("39=4|14={traded}|6={average}|38=10|44=100|");
    floor.rude.statuses.insert(name.clone(), ended("2", "99.5"));
    floor.said("8", &format!("11={name}|37=O1|17=x1|150=4|39=4|55=SIM001|54=1|14=2|151=0|"));
    // Its report comes late, with what has traded by then: it looks like another one, and the market counts less.
    floor.said("8", &at(&name, "1", ("1", "100"), "2"));
    floor.until("what the market counts less", |floor| floor.driver.unbooked().count() == 2);
    floor.hold(2, 0);
    floor.rude.statuses.insert(name.clone(), ended("3", "99.666667"));
    floor.said("8", &at(&name, "3", ("1", "100"), "3"));
    floor.hold(2, 1);
    floor.rude.statuses.insert(name.clone(), ended("2", "99.5"));
    let busts = "150=H|39=4|55=SIM001|54=1|32=1|31=100|14=2|";
    floor.said("8", &format!("11={name}|37=O1|17=b1|19=1|{busts}"));
    floor.until("the cancelled trade", |floor| floor.listed() == 0);
}

#[test]
fn a_gap_fill_over_a_report_is_a_reason_to_ask() {
    for (flag, kind) in [("123=Y|", "gap fill"), ("", "reset")] {
        let (_folder, mut floor) = floor();
        let (_, name) = floor.working(Side::Buy, TimeInForce::Day);
        floor.rude.statuses.insert(name, status("5", "99"));
        // The report of five lots has this number, and it is not sent.
        let lost = floor.rude.number;
        floor.rude.number += 2;
        floor.rude.say_as(lost, "4", &format!("43=Y|122=20260101-00:00:00|{flag}36={}|", lost + 2));
        floor.until(kind, |floor| floor.booked() == 5 * LOT);
        floor.hold(5, 0);
    }
}

/// The number of a report is passed over by a gap fill: it is lost.
fn lost(floor: &mut Floor) {
    let number = floor.rude.number;
    floor.rude.number += 2;
    floor.rude.say_as(number, "4", &format!("43=Y|122=20260101-00:00:00|123=Y|36={}|", number + 2));
}

/// Why, how many lots and which value are not booked.
fn listed(floor: &Floor) -> Vec<(&'static str, i128, i128)> {
    floor.driver.unbooked().map(|what| (what.why.as_str(), what.lots / LOT, what.value / LOT)).collect()
}

/// The correction is in the gap, and nothing more comes of its order: working, filled, cancelled.
#[test]
fn a_correction_that_is_lost_in_a_gap_is_listed_also_of_an_order_that_has_ended() {
    for (quantity, ends) in [("4", None), ("10", Some("2")), ("4", Some("4"))] {
        for hangs_up in [false, true] {
            let (_folder, mut floor) = floor();
            let (id, name) = floor.working(Side::Buy, TimeInForce::Day);
            floor.said("8", &trade(&name, "e1", quantity, quantity));
            if ends == Some("4") {
                floor.said("8", &format!("11={name}|37=O1|17=x1|150=4|39=4|55=SIM001|54=1|14=4|151=0|"));
            }
            let has_ended = matches!(
                floor.last(id),
                Some((OrderStatus::Filled | OrderStatus::Cancelled, Reason::None | Reason::Requested))
            );
            assert_eq!(has_ended, ends.is_some(), "{:?}", floor.last(id));
            let state = ends.unwrap_or("1");
            let now = format!("39={state}|14={quantity}|6=99.75|38=10|44=100|");
            floor.rude.statuses.insert(name.clone(), now);
            if hangs_up {
                floor.rude.hang_up();
            } else {
                lost(&mut floor);
            }
            floor.until("the difference", |floor| floor.driver.unbooked().count() > 0);
            let value = if quantity == "4" { -1 } else { -2 };
            assert_eq!(listed(&floor), [("corrected", 0, value)], "{quantity}, {ends:?}, {hangs_up}");
            // It is said once.
            lost(&mut floor);
            floor.next("H");
            floor.settle();
            assert_eq!(listed(&floor).len(), 1);
        }
    }
}

#[test]
fn a_trade_and_a_cancelled_trade_of_ended_orders_that_are_lost_in_a_gap_are_listed() {
    let (_folder, mut floor) = floor();
    let (_, cancelled) = floor.working(Side::Buy, TimeInForce::Day);
    floor.said("8", &format!("11={cancelled}|37=O1|17=x1|150=4|39=4|55=SIM001|54=1|14=0|151=0|"));
    let (_, filled) = floor.working(Side::Buy, TimeInForce::Day);
    floor.said("8", &trade(&filled, "e1", "6", "6"));
    floor.said("8", &trade(&filled, "e2", "4", "10"));
    floor.rude.statuses.insert(cancelled, "39=4|14=3|6=98|38=10|44=100|".to_owned());
    floor.rude.statuses.insert(filled, "39=4|14=6|6=100|38=10|44=100|".to_owned());
    lost(&mut floor);
    floor.until("both", |floor| {
        // A quantity counts when the market repeats it.
        floor.driver.unbooked().count() == 2
    });
    let mut all = listed(&floor);
    all.sort_unstable();
    assert_eq!(all, [("after-end", 3, 294), ("less-traded", -4, -400)]);
    floor.hold(10, -1);
}

/// A market that gives average prices with two decimals, rounded or cut off, corrects nothing by that.
#[test]
fn a_rounded_average_price_is_no_correction() {
    for (average, is_one) in [("99.66", false), ("99.67", false), ("99.34", true), ("99.7", false)] {
        let (_folder, mut floor) = floor();
        let (_, name) = floor.working(Side::Buy, TimeInForce::Day);
        floor.said("8", &trade(&name, "e1", "2", "2"));
        floor.said("8", &at(&name, "e2", ("1", "99"), "3"));
        floor.rude.statuses.insert(name, status("3", average));
        lost(&mut floor);
        floor.next("H");
        floor.settle();
        assert_eq!(floor.driver.unbooked().count() == 1, is_one, "{average}: {:?}", floor.alarms);
    }
}

#[test]
fn a_trade_that_contradicts_its_order_is_not_booked() {
    let (_folder, mut floor) = floor();
    let (_, name) = floor.working(Side::Buy, TimeInForce::Day);
    // A sale, another instrument, one that is not listed, and a price above the limit.
    let sale = at(&name, "e1", ("2", "100"), "2").replace("54=1|", "54=2|");
    floor.said("8", &sale);
    floor.said("8", &sale);
    floor.hold(0, -2);
    floor.said("8", &at(&name, "e2", ("1", "100"), "3").replace("SIM001", "OTHER"));
    floor.hold(0, -1);
    floor.said("8", &at(&name, "e3", ("3", "1000"), "6"));
    floor.hold(0, 2);
    let why: Vec<_> = floor.driver.unbooked().map(|what| (what.why.as_str(), what.instrument)).collect();
    let ours = Some(wire::InstrumentId(1));
    assert_eq!(why, [("contradicts", ours), ("contradicts", None), ("beyond-limit", ours)]);
    // The cancelled sale is one of those.
    floor.said("8", &format!("11={name}|37=O1|17=b1|19=e1|150=H|39=1|55=SIM001|54=2|31=100|32=2|14=4|"));
    floor.hold(0, 4);
    // What does not contradict it is booked; it has six lots left at the market, and ten here.
    floor.said("8", &at(&name, "e4", ("4", "99"), "8"));
    floor.hold(4, 4);
}

#[test]
fn a_bust_that_says_that_the_order_works_again_has_it_cancelled() {
    let (_folder, mut floor) = floor();
    let (id, name) = floor.working(Side::Buy, TimeInForce::Day);
    floor.said("8", &trade(&name, "e1", "4", "4"));
    floor.said("8", &trade(&name, "e2", "6", "10").replace("39=1", "39=2"));
    assert_eq!(floor.last(id), Some((OrderStatus::Filled, Reason::None)));
    // The market is not consistent: asked, it says that the order is filled.
    floor.rude.statuses.insert(name.clone(), "39=2|14=6|6=100|38=10|44=100|".to_owned());
    floor.said("8", &format!("11={name}|37=O1|17=b1|19=e1|150=H|39=1|55=SIM001|54=1|31=100|32=4|14=6|"));
    assert_eq!(floor.next("F").get(41), Some(name.as_str()));
    floor.hold(10, -4);
}

#[test]
fn an_order_that_the_market_makes_smaller_than_what_has_traded_does_not_work_on_there() {
    let (_folder, mut floor) = floor();
    let (id, name) = floor.working(Side::Buy, TimeInForce::Day);
    floor.said("8", &trade(&name, "e1", "7", "7"));
    floor.rude.statuses.insert(name.clone(), "39=1|14=7|6=100|38=5|44=100|".to_owned());
    floor.said("8", &format!("11={name}|37=O1|17=r1|150=D|378=5|39=1|55=SIM001|54=1|38=5|44=100|14=7|"));
    assert_eq!(floor.last(id), Some((OrderStatus::Filled, Reason::None)));
    assert_eq!(floor.next("F").get(41), Some(name.as_str()));
}

#[test]
fn an_order_that_a_status_fills_here_and_that_works_there_is_cancelled_there() {
    let (_folder, mut floor) = floor();
    let (id, name) = floor.working(Side::Buy, TimeInForce::Day);
    floor.said("8", &trade(&name, "e1", "7", "7"));
    // A trade is cancelled that was never reported, and counts no less afterwards: three more have traded.
    floor.rude.statuses.insert(name.clone(), "39=1|14=7|6=100|38=10|44=100|".to_owned());
    floor.said("8", &format!("11={name}|37=O1|17=b1|19=e0|150=H|39=1|55=SIM001|54=1|31=100|32=3|14=7|"));
    floor.until("the trade", |floor| floor.booked() == 10 * LOT);
    floor.hold(10, -3);
    assert_eq!(floor.last(id), Some((OrderStatus::Filled, Reason::None)));
    assert_eq!(floor.next("F").get(41), Some(name.as_str()));
}
