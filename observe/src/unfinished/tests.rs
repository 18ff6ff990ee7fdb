use node::NodeState;
use wire::Message;
use wire::{
    AccountId, CancelOrder, Fill, InstrumentId, NewOrder, OrderId, OrderStatus, OrderType, OrderUpdate,
    Price, Quantity, Side, SnapshotBegin, SnapshotEnd, TimeInForce,
};

use super::*;
use crate::fixture::{Instance, blank, seat, update_of};

type Written = (u16, Vec<u8>);

fn order(id: OrderId) -> Written {
    let (price, quantity) = (Price(10), Quantity(1));
    let order =
        NewOrder::plain(id, InstrumentId(1), Side::Buy, OrderType::Limit, TimeInForce::Day, price, quantity);
    (NewOrder::ID, NewOrder { account: AccountId(0), ..order }.bytes().to_vec())
}

fn cancel(id: OrderId, source: u32) -> Written {
    (CancelOrder::ID, CancelOrder { source, ..CancelOrder::new(id, InstrumentId(1)) }.bytes().to_vec())
}

fn fill(id: OrderId, execution: u64, answered_up_to: u64) -> Written {
    let fill = Fill { order_id: id, execution, answered_up_to, ..Fill::decode(&[1; Fill::SIZE]).unwrap() };
    (Fill::ID, fill.bytes().to_vec())
}

fn answer(id: OrderId, answered_up_to: u64) -> Written {
    let (_, bytes) = update_of(id, OrderStatus::Accepted, 0);
    let update = OrderUpdate { answered_up_to, ..OrderUpdate::decode(&bytes).unwrap() };
    (OrderUpdate::ID, update.bytes().to_vec())
}

fn refusal(id: OrderId, refused_request: u64, reported_up_to: u64) -> Written {
    let (_, bytes) = update_of(id, OrderStatus::Rejected, 0);
    let update = OrderUpdate { refused_request, reported_up_to, ..OrderUpdate::decode(&bytes).unwrap() };
    (OrderUpdate::ID, update.bytes().to_vec())
}

/// The ledger's last snapshot, of the executions before this position.
fn snapshot(execution: u64) -> [Written; 2] {
    let begin = SnapshotBegin::decode(&[0; SnapshotBegin::SIZE]).unwrap();
    let end = SnapshotEnd::decode(&[0; SnapshotEnd::SIZE]).unwrap();
    let begin = SnapshotBegin { strategy: SnapshotBegin::EVERYBODY, execution, ..begin };
    let end = SnapshotEnd { strategy: SnapshotBegin::EVERYBODY, ..end };
    [(SnapshotBegin::ID, begin.bytes().to_vec()), (SnapshotEnd::ID, end.bytes().to_vec())]
}

/// What is not finished, as words: work, journal, messages, orders, fills.
fn found(made: &Instance) -> Vec<(Work, String, u64, u64, u64)> {
    let view = made.view();
    let rows = Unfinished::read(&view, &made.topology, &view.seats());
    assert!(rows.iter().all(|row| !row.is_partial), "{rows:?}");
    rows.into_iter().map(|row| (row.work, row.journal, row.count, row.orders, row.fills)).collect()
}

/// td has read so many frames of a journal, and then died.
fn read_by_td(made: &Instance, journal: &str, frames: usize) {
    let td = made.topology.nodes.iter().find(|node| node.kind == NodeKind::Td).unwrap();
    let opened = made.open(journal);
    let mut reader = opened.gated(u32::from(td.seat)).unwrap();
    for _ in 0..frames {
        assert!(reader.read().unwrap().is_some());
    }
    reader.publish();
}

/// All gated readers of the requests begin at their first frame.
fn admitted(made: &Instance) {
    let td = made.topology.nodes.iter().find(|node| node.kind == NodeKind::Td).unwrap();
    for spec in made.topology.carrying(Stream::Requests) {
        made.open(&spec.name).admit_gated(u32::from(td.seat)).unwrap();
    }
}

#[test]
fn of_a_platform_that_did_nothing_nothing_is_unfinished() {
    let made = Instance::new("unfinished-none");
    admitted(&made);
    assert_eq!(found(&made), []);
}

#[test]
fn a_request_is_unfinished_until_it_is_sent_on_or_refused_wherever_its_reader_stands() {
    let made = Instance::new("unfinished-send");
    admitted(&made);
    let [first, _] = made.strategies();
    let name = made.name(first).to_owned();
    let id = |number| OrderId::new(StrategyId(first as u16), 1, number);
    let orders = format!("orders.{name}");
    let asked: Vec<Written> = (1..=4).map(|number| order(id(number))).chain([cancel(id(1), 0)]).collect();
    let at = made.write(&orders, &asked);
    read_by_td(&made, &orders, 1);
    // Of the four behind its cursor, one was sent on, and one refused.
    let sent = made.write("td.orders", &[order(id(1)), order(id(2))]);
    made.write(&format!("reports.{name}"), &[refusal(id(3), at[2], 0)]);
    let executions = made.write("matching.executions", &[answer(id(1), sent[0]), answer(id(2), sent[1])]);
    let reported = executions
        .iter()
        .zip(1..)
        .map(|(position, number)| update_of(id(number), OrderStatus::Accepted, *position));
    made.write(&format!("reports.{name}"), &reported.collect::<Vec<_>>());
    made.write("ledger.state", &snapshot(executions[1] + 1));
    assert_eq!(found(&made), [(Work::Send, orders.clone(), 2, 1, 0)]);
    // The cancel was sent on, too: td notes its line.
    made.write("td.orders", &[cancel(id(1), (at[4] / 64) as u32)]);
    let rows = found(&made);
    assert_eq!(rows[0], (Work::Send, orders, 1, 1, 0));
    assert_eq!(rows[1], (Work::Answer, "td.orders".to_owned(), 1, 0, 0));
}

#[test]
fn executions_that_were_not_reported_or_booked_are_counted_with_their_fills() {
    let made = Instance::new("unfinished-report");
    admitted(&made);
    let [first, second] = made.strategies();
    let id = |seat: u32| OrderId::new(StrategyId(seat as u16), 1, 1);
    let sent = made.write("td.orders", &[order(id(first)), order(id(second))]);
    let executions = made.write(
        "matching.executions",
        &[answer(id(first), sent[0]), answer(id(second), sent[1]), fill(id(first), 0, sent[1])],
    );
    made.write(
        &format!("reports.{}", made.name(first)),
        &[update_of(id(first), OrderStatus::Accepted, executions[0])],
    );
    made.write("ledger.state", &snapshot(executions[1]));
    let journal = || "matching.executions".to_owned();
    assert_eq!(
        found(&made),
        [
            (Work::Report, journal(), 1, 0, 1),
            (Work::Report, journal(), 1, 0, 0),
            (Work::Book, journal(), 2, 0, 1),
        ]
    );
    // A refusal says how far its reports went.
    made.write(&format!("reports.{}", made.name(second)), &[refusal(id(second), 64, executions[1])]);
    made.write(&format!("reports.{}", made.name(first)), &[fill(id(first), executions[2], 0)]);
    made.write("ledger.state", &snapshot(executions[2] + 1));
    assert_eq!(found(&made), []);
}

const OUTSIDE: &str = "[md]\n[matching]\nfill = \"external\"\nprogram = \"true\"\n[strategies]\ncount = 2\n";

#[test]
fn orders_without_an_end_may_still_work_at_a_market_outside() {
    let made = Instance::with("unfinished-outside", OUTSIDE);
    admitted(&made);
    let [first, second] = made.strategies();
    let id = |seat: u32, number| OrderId::new(StrategyId(seat as u16), 1, number);
    let ids = [id(first, 1), id(first, 2), id(first, 3), id(second, 1)];
    let sent = made.write("td.orders", &ids.map(order));
    let end = |id| update_of(id, OrderStatus::Cancelled, 0);
    // The second has no answer, the last one has ended. A late fill behind its end does not revive it.
    let known = [answer(ids[0], sent[0]), answer(ids[2], sent[0]), answer(ids[3], sent[0]), end(ids[3])];
    made.write("matching.executions", &[&known[..], &[fill(ids[3], 0, sent[0])]].concat());
    let rows = || {
        let view = made.view();
        let rows = Unfinished::read(&view, &made.topology, &view.seats()).into_iter();
        rows.filter(|row| row.work == Work::End).collect::<Vec<_>>()
    };
    let found = rows();
    assert_eq!(found.len(), 1, "{found:?}");
    let name = made.name(first);
    assert_eq!((found[0].of.as_deref(), found[0].count, found[0].orders), (Some(name), 3, 1));
    assert_eq!(
        found[0].to_string(),
        format!(
            "3 orders of {name} (1 without an answer) may still work at the market outside: matching has reported no end. \
             Look there, and cancel them there"
        )
    );
    made.write("matching.executions", &[end(ids[0]), end(ids[1]), end(ids[2])]);
    assert_eq!(rows(), []);
}

/// The ring of executions has gone round since the order was accepted: the ledger's snapshot has it.
#[test]
fn an_old_order_at_a_market_outside_is_in_the_last_snapshot() {
    let made = Instance::with("unfinished-kept", OUTSIDE);
    admitted(&made);
    let [first, _] = made.strategies();
    let id = |number| OrderId::new(StrategyId(first as u16), 1, number);
    let [begin, _] = snapshot(0);
    let end = SnapshotEnd { frames: 1, ..SnapshotEnd::decode(&[0; SnapshotEnd::SIZE]).unwrap() };
    let end = SnapshotEnd { strategy: SnapshotBegin::EVERYBODY, ..end };
    let kept = update_of(id(1), OrderStatus::Accepted, 0);
    let topic = SnapshotBegin::topic_of(SnapshotBegin::EVERYBODY);
    assert_eq!(topic, 0, "the fixture writes this topic");
    made.write("ledger.state", &[begin, kept, (SnapshotEnd::ID, end.bytes().to_vec())]);
    let view = made.view();
    let rows = Unfinished::read(&view, &made.topology, &view.seats());
    let rows: Vec<_> = rows.iter().filter(|row| row.work == Work::End).collect();
    assert_eq!(rows.iter().map(|row| (row.count, row.is_partial)).collect::<Vec<_>>(), [(1, false)]);
}

#[test]
fn orders_of_a_gateway_that_leaves_them_at_the_market_are_intended() {
    let file = format!("{OUTSIDE}[gateway]\ncancel_on_stop = false\n");
    let made = Instance::with("unfinished-intended", &file);
    let node = made.topology.nodes.iter().find(|node| node.kind == NodeKind::Gateway).unwrap();
    let row = Unfinished { count: 1, ..row(Work::End, "matching", "matching.executions", Some(&node.name)) };
    let ended = |exit| SeatView { exit, ..seat(u32::from(node.seat), &node.name, node.kind) };
    let is_intended = |row: &Unfinished, exit| row.is_intended(&made.topology, &[ended(exit)]);
    assert!(is_intended(&row, Some(0)));
    assert!(!is_intended(&row, Some(137)) && !is_intended(&row, None));
    assert!(!is_intended(&Unfinished { orders: 1, ..row.clone() }, Some(0)), "one has no answer");
    assert!(!is_intended(&Unfinished { work: Work::Read, ..row }, Some(0)));
}

#[test]
fn only_a_service_that_died_leaves_messages_unread() {
    let file = "[md]\n[strategies]\ncount = 2\n[[service]]\nname = \"looks\"\nprogram = \"true\"\nreads = [{ journal = \"td.orders\", kind = \"gated\" }]\n";
    let made = Instance::with("unfinished-read", file);
    admitted(&made);
    let node = made.topology.nodes.iter().find(|node| node.name == "looks").unwrap();
    made.open("td.orders").admit_gated(u32::from(node.seat)).unwrap();
    let sent = made.write("td.orders", &[blank::<NewOrder>()]);
    let executions = made.write("matching.executions", &[answer(OrderId(0), sent[0])]);
    made.write("ledger.state", &snapshot(executions[0] + 1));
    let ended = |exit: Option<u8>| SeatView {
        state: NodeState::Stopped,
        exit,
        ..seat(u32::from(node.seat), "looks", node.kind)
    };
    let count = |exit| Unfinished::read(&made.view(), &made.topology, &[ended(exit)]).len();
    assert_eq!((count(Some(0)), count(Some(137)), count(None)), (0, 1, 1));
}
