//! Orders: their ids, what they name as their cause, what is refused at once, how they are followed to their end.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::collections::HashSet;
use std::time::Duration;

use node::Counter;
use strategy_sdk::testing::{QUOTES_JOURNAL, REPORTS_JOURNAL};
use strategy_sdk::testing::{Role, Setup};
use strategy_sdk::*;
use support::*;

#[test]
fn ids_are_never_given_out_twice_over_restarts_and_by_two_strategies() {
    let mut seen = HashSet::new();
    for (seat, epoch) in [(7, 1), (7, 2), (7, 65_535), (7, 65_536), (8, 1)] {
        let identity = Setup { strategy: StrategyId(seat), epoch, ..setup() };
        let mut harness = probe(identity, buy_at_quotes);
        let instrument = harness.list("A", "0.01", 1);
        harness.start();
        for _ in 0..100 {
            harness.quote(instrument, "1", "2", 5);
        }
        let orders = harness.orders();
        assert_eq!(orders.len(), 100);
        for order in &orders {
            assert_eq!((order.order_id.strategy().0, order.order_id.epoch()), (seat, epoch as u16));
            assert!(seen.insert(order.order_id), "{} was given out before", order.order_id);
        }
        // td refuses an id that is not newer than the one before it.
        assert!(orders.windows(2).all(|pair| pair[0].order_id < pair[1].order_id));
    }
    assert_eq!(seen.len(), 500);
}

#[test]
fn an_order_names_the_quote_that_it_answers() {
    let (mut harness, instrument) = started(buy_at_quotes);
    harness.advance(Duration::from_millis(3));
    let mut quote = Quote::empty(instrument);
    (quote.due, quote.asks[0]) = (Nanos(77), Level { price: Price(5), quantity: Quantity(1) });
    harness.send(Role::Quotes, instrument.0, &quote);
    let now = harness.now();
    let order = harness.orders()[0];
    let expected = Cause {
        // The listing was the first frame.
        position: 128,
        due: Nanos(77),
        published: Nanos(now.0 - 100),
        received: now,
        journal: QUOTES_JOURNAL,
        reserved: 0,
    };
    assert_eq!(order.cause, expected);
    assert_eq!((order.instrument, order.side, order.price), (instrument, Side::Buy, Price(5)));
    assert_eq!((order.order_type, order.time_in_force), (OrderType::Limit, TimeInForce::Day));
}

#[test]
fn trades_and_reports_are_causes_too_and_timers_start_and_stop_are_none() {
    let (mut harness, instrument) = started(|context, event| {
        if let Event::Start = event {
            context.set_timer(Duration::from_millis(1), 1);
        }
        if !matches!(event, Event::Instrument(_)) {
            context.buy(InstrumentId(1), Price(1), Quantity(1)).unwrap();
        }
    });
    assert_eq!(harness.orders()[0].cause, Cause::NONE);

    harness.send(Role::Quotes, instrument.0, &trade_print(instrument, 55, 0));
    let by_trade = harness.orders()[0];
    assert_eq!((by_trade.cause.journal, by_trade.cause.due), (QUOTES_JOURNAL, Nanos(55)));

    harness.accept(&by_trade);
    let by_report = harness.orders()[0];
    assert_eq!((by_report.cause.journal, by_report.cause.due), (REPORTS_JOURNAL, Nanos(0)));
    assert_eq!(by_report.cause.received, harness.now());
    assert!(by_report.cause.position > by_trade.cause.position);

    harness.advance(Duration::from_millis(1));
    assert_eq!(harness.orders()[0].cause, Cause::NONE);
    harness.gap(Role::Quotes, Gap { from: 64, resumed_at: 128 });
    assert_eq!(harness.orders()[0].cause, Cause::NONE);
    harness.stop();
    assert_eq!(harness.orders()[0].cause, Cause::NONE);
}

#[test]
fn what_cannot_be_sent_comes_back_with_the_reason() {
    let (mut harness, instrument) = started(|context, event| {
        let Event::Quote(quote) = event else { return };
        let good = OrderRequest::limit(Side::Sell, quote.instrument, Price(7), Quantity(1));
        let market = OrderRequest::market(Side::Sell, quote.instrument, Quantity(1));
        for (request, refusal) in [
            (OrderRequest { instrument: InstrumentId(9), ..good }, Refusal::UnknownInstrument),
            (OrderRequest { quantity: Quantity(0), ..good }, Refusal::Quantity),
            (OrderRequest { quantity: Quantity(-1), ..good }, Refusal::Quantity),
            (OrderRequest { price: Price::NONE, ..good }, Refusal::NoPrice),
            (market.post_only(), Refusal::MarketCannotRest),
        ] {
            assert_eq!(context.order(request), Err(OrderError { request, refusal }));
        }
        let nobodys = OrderId::new(StrategyId(7), 1, 99);
        let unknown = Err(ChangeError { order: nobodys, refusal: Refusal::UnknownOrder });
        assert_eq!(context.cancel(nobodys), unknown);
        assert_eq!(context.replace(nobodys, Price(1), Quantity(1)), unknown);
        let id = context.order(good.fok()).unwrap();
        let refused = |refusal| Err(ChangeError { order: id, refusal });
        assert_eq!(context.replace(id, Price(1), Quantity(0)), refused(Refusal::Quantity));
        assert_eq!(context.replace(id, Price::NONE, Quantity(1)), refused(Refusal::NoPrice));
    });
    harness.quote(instrument, "1", "2", 5);
    assert_eq!(harness.orders().len(), 1);
    assert_eq!(harness.counter(Counter::Orders), 1);
}

#[test]
fn before_the_start_and_after_the_stop_nothing_is_sent() {
    let mut harness = probe(Setup { ledger: true, ..setup() }, buy_at_quotes);
    let instrument = harness.list("A", "0.01", 1);
    harness.start();
    harness.quote(instrument, "1", "2", 5);
    assert!(harness.sent().is_empty());
    SNAPSHOT.give(&mut harness);
    harness.start();
    harness.quote(instrument, "1", "2", 5);
    assert_eq!(harness.sent().len(), 1);
    harness.stop();
    assert!(matches!(harness.sent()[..], [Request::Cancel(_)]));
    harness.quote(instrument, "1", "2", 5);
    assert!(harness.sent().is_empty());
}

#[test]
fn a_full_journal_is_told_and_costs_no_id() {
    let (mut harness, instrument) = started(|context, event| {
        if let Event::Quote(quote) = event {
            let request = OrderRequest::limit(Side::Buy, quote.instrument, Price(3), Quantity(1));
            if let Err(error) = context.order(request) {
                assert_eq!(error, OrderError { request, refusal: Refusal::Full });
                assert_eq!(context.working_orders().count(), 1, "only the one that was sent");
                let id = OrderId::new(StrategyId(7), 1, 1);
                let full = Err(ChangeError { order: id, refusal: Refusal::Full });
                assert_eq!(context.cancel(id), full);
                assert_eq!(context.replace(id, Price(1), Quantity(1)), full);
                assert!(!context.working_order(id).unwrap().is_changing());
            }
        }
    });
    harness.quote(instrument, "1", "2", 5);
    harness.set_full(true);
    harness.quote(instrument, "1", "2", 5);
    harness.set_full(false);
    harness.quote(instrument, "1", "2", 5);
    let sequences: Vec<u32> = harness.orders().iter().map(|order| order.order_id.sequence()).collect();
    assert_eq!(sequences, [1, 2]);
    assert_eq!((harness.counter(Counter::Full), harness.counter(Counter::Orders)), (3, 2));
}

#[test]
fn an_order_is_followed_from_its_sending_to_its_end() {
    let (mut harness, instrument) = started(buy_at_quotes);
    harness.quote(instrument, "1", "2", 5);
    let order = harness.orders()[0];
    let known = |harness: &testing::Harness<Probe>| harness.context().working_order(order.order_id);
    let sent = known(&harness).unwrap();
    assert_eq!((sent.accepted, sent.remaining(), sent.sent), (false, Quantity(10), harness.now()));
    assert_eq!(harness.context().working_quantity(instrument, Side::Buy), Quantity(10));
    assert_eq!(harness.context().working_quantity(instrument, Side::Sell), Quantity(0));

    harness.accept(&order);
    assert!(known(&harness).unwrap().accepted);
    harness.fill(&order, Price(Price::ONE), 4);
    assert_eq!(known(&harness).unwrap().remaining(), Quantity(6));
    let position = harness.context().position(instrument);
    assert_eq!((position.quantity, position.bought, position.sold), (Quantity(4), Quantity(4), Quantity(0)));
    assert_eq!(position.cash(), Money(-4 * Money::ONE));
    assert_eq!(position.profit("1.5".parse().unwrap()), Money(2 * Money::ONE));

    harness.fill(&order, Price(Price::ONE), 6);
    assert_eq!(known(&harness), None);
    assert_eq!(harness.context().position(instrument).quantity, Quantity(10));
    assert_eq!(harness.counter(Counter::Fills), 2);
    let events = harness.strategy().events();
    let after = &events[events.len() - 5..];
    assert!(
        matches!(
            after,
            [Event::Order(_), Event::Fill(_), Event::Order(_), Event::Fill(_), Event::Order(last)]
                if last.status == OrderStatus::Filled
        ),
        "{after:?}"
    );
}

#[test]
fn cancels_and_replaces_are_followed_and_refusals_leave_the_order() {
    let (mut harness, instrument) = started(|context, event| match event {
        Event::Quote(quote) => {
            context.buy(quote.instrument, Price(3), Quantity(10)).unwrap();
        }
        Event::Order(update) if update.status == OrderStatus::Accepted => {
            context.replace(update.order_id, Price(4), Quantity(12)).unwrap();
            context.cancel(update.order_id).unwrap();
            context.cancel(update.order_id).unwrap();
        }
        _ => {}
    });
    harness.quote(instrument, "1", "2", 5);
    let order = harness.orders()[0];
    harness.accept(&order);
    let sent = harness.sent();
    assert!(matches!(sent[..], [Request::Replace(_), Request::Cancel(_)]), "one cancel: {sent:?}");
    assert_eq!((harness.counter(Counter::Replaces), harness.counter(Counter::Cancels)), (1, 1));
    let known = |harness: &testing::Harness<Probe>| harness.context().working_order(order.order_id).unwrap();
    assert_eq!((known(&harness).replacing, known(&harness).cancelling), (1, true));

    let mut replaced = update(order.order_id, instrument, OrderStatus::Replaced, 500);
    (replaced.price, replaced.quantity) = (Price(4), Quantity(12));
    harness.send(Role::Reports, 0, &replaced);
    assert_eq!((known(&harness).price, known(&harness).quantity), (Price(4), Quantity(12)));
    assert_eq!((known(&harness).replacing, known(&harness).cancelling), (0, true));
    harness.update(&order, OrderStatus::CancelRejected, Reason::Overload);
    assert!(!known(&harness).is_changing());
    assert_eq!((harness.counter(Counter::Rejects), harness.counter(Counter::CancelRejects)), (0, 1));

    // Nobody knows it: it does not stay for ever.
    harness.update(&order, OrderStatus::CancelRejected, Reason::UnknownOrder);
    assert_eq!(harness.context().working_orders().count(), 0);
}

#[test]
fn a_rejected_order_is_gone_and_counted() {
    let (mut harness, instrument) = started(buy_at_quotes);
    harness.quote(instrument, "1", "2", 5);
    let order = harness.orders()[0];
    harness.update(&order, OrderStatus::Rejected, Reason::PriceBand);
    assert_eq!(harness.context().working_orders().count(), 0);
    assert_eq!(harness.counter(Counter::Rejects), 1);
    assert!(matches!(harness.strategy().events().last(), Some(Event::Order(_))));
}

#[test]
fn on_stop_the_strategy_speaks_first_and_then_what_works_is_cancelled() {
    let (mut harness, instrument) = started(|context, event| match event {
        Event::Stop => {
            context.sell(InstrumentId(1), Price(9), Quantity(1)).unwrap();
        }
        event => buy_at_quotes(context, event),
    });
    harness.quote(instrument, "1", "2", 5);
    harness.quote(instrument, "1", "2", 5);
    let ids: Vec<OrderId> = harness.orders().iter().map(|order| order.order_id).collect();
    harness.stop();
    let sent = harness.sent();
    let [Request::New(last), Request::Cancel(a), Request::Cancel(b), Request::Cancel(c)] = sent[..] else {
        panic!("{sent:?}")
    };
    assert_eq!([a.order_id, b.order_id, c.order_id], [ids[0], ids[1], last.order_id]);
    assert_eq!(harness.strategy().events().last(), Some(&Event::Stop));
    harness.stop();
    assert!(harness.sent().is_empty(), "a second stop does nothing");
}

#[test]
fn a_mass_cancel_is_one_message_and_its_answer_no_order() {
    let (mut harness, instrument) = started(|context, event| {
        if let Event::Quote(quote) = event {
            context.buy(quote.instrument, Price(3), Quantity(10)).unwrap();
            context.sell(quote.instrument, Price(9), Quantity(10)).unwrap();
            let request = CancelRequest::all().instrument(quote.instrument).side(Side::Buy);
            let id = context.cancel_all(request).unwrap();
            assert_eq!(id.sequence(), 3, "its number comes from the same sequence");
            let unlisted = CancelRequest::all().instrument(InstrumentId(77));
            let error = context.cancel_all(unlisted).unwrap_err();
            assert_eq!((error.request, error.refusal), (unlisted, Refusal::UnknownInstrument));
        }
    });
    harness.quote(instrument, "1", "2", 5);
    let sent = harness.sent();
    let [Request::New(bid), Request::New(_), Request::CancelAll(cancel)] = sent[..] else {
        panic!("{sent:?}")
    };
    assert_eq!(
        (cancel.of_instrument(), cancel.of_side(), cancel.of_account()),
        (Some(instrument), Some(Side::Buy), None)
    );
    harness.accept(&bid);
    harness.update(&bid, OrderStatus::Cancelled, Reason::Requested);
    let done = OrderUpdate {
        quantity: Quantity(1),
        execution: 100_000,
        ..OrderUpdate::about(cancel.order_id, instrument, OrderStatus::MassCancelled, Reason::Requested)
    };
    harness.send(Role::Reports, 0, &done);
    let working: Vec<_> = harness.context().working_orders().map(|order| order.side).collect();
    assert_eq!(working, [Side::Sell], "the answer is about a request, and no order works under its number");
}

#[test]
fn a_stop_that_triggers_and_an_order_that_is_reduced_work_on() {
    let (mut harness, instrument) = started(|context, event| {
        if let Event::Quote(quote) = event {
            let request = OrderRequest::limit(Side::Buy, quote.instrument, Price(5), Quantity(10));
            context.order(request.stop(Price(4)).decrement()).unwrap();
        }
    });
    harness.quote(instrument, "1", "2", 5);
    let order = harness.orders()[0];
    assert_eq!(order.flags, wire::NewOrder::DECREMENT);
    harness.accept(&order);
    harness.update(&order, OrderStatus::Triggered, Reason::None);
    let mut reduced = update(order.order_id, instrument, OrderStatus::Reduced, 500);
    (reduced.price, reduced.quantity) = (Price(5), Quantity(7));
    harness.send(Role::Reports, 0, &reduced);
    let known = harness.context().working_order(order.order_id).unwrap();
    assert_eq!((known.remaining(), known.accepted), (Quantity(7), true));
}
