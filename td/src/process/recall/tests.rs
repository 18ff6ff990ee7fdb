use super::*;
use wire::{Fill, InstrumentId, Liquidity, Message, Nanos, OrderUpdate, Price, Quantity, ReplaceOrder, Side};

const OWNER: StrategyId = StrategyId(5);

fn order_id() -> OrderId {
    OrderId::new(OWNER, 1, 1)
}

fn frame<'a, M: Message>(position: u64, time: u64, message: &'a M) -> Frame<'a> {
    let payload = message.bytes();
    Frame { position, time, message_id: M::ID, flags: 0, topic: 0, epoch: 1, payload }
}

fn replace() -> ReplaceOrder {
    let (price, quantity) = (Price(10), Quantity(7));
    ReplaceOrder { order_id: order_id(), instrument: InstrumentId(1), source: 0, price, quantity }
}

fn refusal(status: OrderStatus, refused_request: u64, reported_up_to: u64) -> OrderUpdate {
    OrderUpdate { refused_request, reported_up_to, ..crate::answer::malformed(order_id(), status) }
}

fn fill(execution: u64) -> Fill {
    Fill {
        order_id: order_id(),
        trade_id: 1,
        instrument: InstrumentId(1),
        side: Side::Buy,
        liquidity: Liquidity::Maker,
        reserved: [0; 2],
        price: Price(10),
        quantity: Quantity(1),
        remaining: Quantity(1),
        event_time: Nanos(0),
        execution,
        answered_up_to: 0,
    }
}

/// The replace at 640 is refused at time 30, after the cancel at 704 was written at time 20. td is killed before it can
/// write the cancel to `td.orders`, which is full.
#[test]
fn an_order_that_has_ended_is_not_on_its_way_although_one_before_it_is() {
    let mut gateway = Gateway::new(crate::GatewayOptions::default()).unwrap();
    let instrument = wire::Instrument {
        id: InstrumentId(1),
        reserved: 0,
        symbol: wire::Symbol::new("A").unwrap(),
        tick: Price(1),
        lot: Quantity(1),
        price_low: Price::NONE,
        price_high: Price::NONE,
        reference_price: Price::NONE,
        max_quantity: Quantity(0),
        multiplier: 0,
        currency: wire::Currency::EMPTY,
    };
    gateway.on_instrument(&instrument).unwrap();
    gateway.strategy_started(OWNER, crate::Limits::NONE).unwrap();
    let order = |sequence, quantity| {
        let id = OrderId::new(OWNER, 1, sequence);
        let (kind, life) = (wire::OrderType::Limit, wire::TimeInForce::Day);
        let (price, quantity) = (Price(10), Quantity(quantity));
        Request::New(wire::NewOrder::plain(id, InstrumentId(1), Side::Buy, kind, life, price, quantity))
    };
    let recall = Recall {
        sent: vec![((64, 1), order(1, 3)), ((256, 2), order(2, 4)), ((448, 3), order(3, 5))],
        answered: 0,
        ended: BTreeSet::from([OrderId::new(OWNER, 1, 2)]),
        ..Recall::default()
    };
    recall.into_gateway(&mut gateway, None).unwrap();
    assert_eq!(gateway.exposure(OWNER, InstrumentId(1)).working_buys, 3 + 5);
    // Its number is used up all the same.
    let Request::New(again) = order(2, 4) else { panic!() };
    assert_eq!(gateway.on_new_order(OWNER, &again).unwrap_err().reason, Reason::DuplicateOrder);
}

#[test]
fn an_older_refusal_of_the_same_order_does_not_hide_a_request_that_was_not_answered() {
    let (replace, cancel) = (replace(), CancelOrder::new(order_id(), InstrumentId(1)));
    let refusal = refusal(OrderStatus::ReplaceRejected, 640, 0);
    let mut trace = Trace::default();
    trace.report(&frame(64, 30, &refusal));
    assert!(trace.shows(&frame(640, 10, &replace), false), "the refused one was answered");
    assert!(!trace.shows(&frame(704, 20, &cancel), false), "the cancel was not");
}

#[test]
fn a_refusal_of_malformed_bytes_shows_them() {
    let mut trace = Trace::default();
    let garbled = Frame { payload: b"what", ..frame(640, 10, &replace()) };
    assert!(!trace.shows(&garbled, false));
    trace.report(&frame(64, 30, &refusal(OrderStatus::ReplaceRejected, 640, 0)));
    assert!(trace.shows(&garbled, false));
}

/// A ring that has gone round since the last execution was passed on.
#[test]
fn refusals_alone_say_how_far_executions_were_reported() {
    let mut trace = Trace::default();
    for (position, request) in [(64, 640), (192, 704)] {
        trace.report(&frame(position, 1, &refusal(OrderStatus::CancelRejected, request, 4_096)));
    }
    assert_eq!((trace.reported_up_to, trace.refused_request), (4_096, 704));
    trace.report(&frame(320, 1, &fill(8_192)));
    assert_eq!(trace.reported_up_to, 8_192);
    trace.report(&frame(448, 1, &refusal(OrderStatus::CancelRejected, 768, 8_192)));
    assert_eq!(trace.reported_up_to, 8_192);
}

#[test]
fn a_request_that_was_sent_is_known_by_its_line() {
    let first = Request::Cancel(CancelOrder::new(order_id(), InstrumentId(1)));
    let mut recall = Recall::default();
    let sent = first.with_source(line(640));
    recall.request(&Frame {
        message_id: sent.message_id(),
        payload: sent.bytes(),
        ..frame(64, 5, &replace())
    });
    let trace = recall.traces[&OWNER];
    let cancel = CancelOrder::new(order_id(), InstrumentId(1));
    assert!(trace.shows(&frame(640, 1, &cancel), false));
    assert!(!trace.shows(&frame(704, 2, &cancel), false), "a second cancel of the same order");
}

/// td's own cancels of one order, refused again and again, look the same but for their numbers.
#[test]
fn of_many_cancels_of_tds_own_the_drop_copy_lacks_those_behind_its_last_one() {
    let cancel = |number: u32| {
        let source = CancelOrder::OF_TD | number;
        Request::Cancel(CancelOrder { source, ..CancelOrder::new(order_id(), InstrumentId(1)) })
    };
    for copied in 1..=5 {
        let mut recall = Recall::default();
        for number in 1..=5 {
            let sent = cancel(number);
            let position = u64::from(number) * 64;
            recall.request(&Frame {
                message_id: sent.message_id(),
                payload: sent.bytes(),
                ..frame(position, position, &replace())
            });
        }
        assert!(recall.traces.is_empty(), "none is a request of the strategy");
        let mut follower = accounts::Follower::new(accounts::Options::default());
        follower.contained.requests = u64::from(copied);
        (follower.contained.last_kind, follower.contained.last_order) = (CancelOrder::ID, order_id());
        follower.contained.last_source = CancelOrder::OF_TD | copied;
        let mut gateway = Gateway::new(crate::GatewayOptions::default()).unwrap();
        let resumed = recall.into_gateway(&mut gateway, Some(Gate::new(follower, 4))).unwrap();
        let missing: Vec<Request> = resumed
            .copies
            .iter()
            .map(|copy| match copy {
                Copied::Request(request) => *request,
                Copied::Execution(..) => panic!("no execution was taken"),
            })
            .collect();
        assert_eq!(missing, (copied + 1..=5).map(cancel).collect::<Vec<_>>(), "{copied} are copied");
        assert_eq!((resumed.own, resumed.ending.len()), (Some(CancelOrder::OF_TD | 5), 1));
    }
}

/// A market elsewhere has refused the second of two requests, and not answered the first. Whether the cancel behind
/// `answered` is on its way cannot be known from its place, but from the time of a refusal.
#[test]
fn a_cancel_that_may_have_been_refused_before_the_snapshot_is_sent_again() {
    let other = OrderId::new(OWNER, 1, 2);
    let cancel = |order| Request::Cancel(CancelOrder::new(order, InstrumentId(1)));
    let recall = Recall {
        sent: vec![
            ((64, 10), cancel(order_id())),
            ((128, 20), cancel(other)),
            ((192, 30), cancel(order_id())),
        ],
        answered: 64,
        refused: BTreeMap::from([(order_id(), 15), (other, 25)]),
        ..Recall::default()
    };
    assert_eq!(
        recall.unsure(),
        BTreeSet::from([other]),
        "of the first order only an earlier one was refused"
    );
}
