//! What a strategy hears with `data = "best"` and `data = "flow"`, and the depth that it asks for.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use strategy_sdk::testing::{BEST_JOURNAL, FLOW_JOURNAL, Harness, Role, Setup};
use strategy_sdk::*;
use wire::EndOfStream;

/// Notes what it hears, and buys at each best ask.
#[derive(Debug, Default)]
struct Ear {
    bests: Vec<(InstrumentId, Best, u64)>,
    events: Vec<BookEvent>,
    quotes: u64,
    gaps: u64,
    other: Vec<&'static str>,
}

impl Strategy for Ear {
    type Parameters = NoParameters;

    fn create(_parameters: NoParameters) -> Result<Ear, ParameterError> {
        Ok(Ear::default())
    }

    fn quote(&mut self, _context: &mut Context, _quote: &Quote) {
        self.quotes += 1;
    }

    fn best(&mut self, context: &mut Context, instrument: InstrumentId, best: &Best) {
        assert_eq!(context.last_best(instrument), Some(*best));
        assert_eq!(context.depth(instrument).map(|quote| Best::of(&quote)), Ok(*best));
        self.bests.push((instrument, *best, context.now().0));
        if let Some(ask) = best.best_ask() {
            context.buy(instrument, ask.price, Quantity(1)).unwrap();
        }
    }

    fn book_event(&mut self, context: &mut Context, event: &BookEvent) {
        self.events.push(*event);
        context.buy(event.instrument, event.price, Quantity(1)).unwrap();
    }

    fn phase(&mut self, _context: &mut Context, _phase: &MarketPhase) {
        self.other.push("phase");
    }

    fn indicative(&mut self, _context: &mut Context, _indicative: &Indicative) {
        self.other.push("indicative");
    }

    fn trade(&mut self, _context: &mut Context, _trade: &TradePrint) {
        self.other.push("trade");
    }

    fn gap(&mut self, _context: &mut Context, _gap: Gap) {
        self.gaps += 1;
    }
}

fn ear(data: MarketData) -> Harness<Ear> {
    Harness::with(NoParameters {}, Setup { data, ..Harness::<Ear>::setup() }).unwrap()
}

fn quote(instrument: InstrumentId, sequence: u64, bid: i64, ask: i64) -> Quote {
    let level = |price| Level { price: Price(price), quantity: Quantity(5) };
    let mut quote = Quote::empty(instrument);
    (quote.sequence, quote.due, quote.event_time) = (sequence, Nanos(sequence + 7), Nanos(sequence * 100));
    (quote.bids[0], quote.bids[1], quote.asks[0]) = (level(bid), level(bid - 1), level(ask));
    quote
}

#[test]
fn a_best_is_heard_with_its_instrument_and_an_order_names_its_frame() {
    let mut harness = ear(MarketData::Best);
    let [one, two] = ["A", "B"].map(|symbol| harness.list(symbol, "0", 1));
    harness.start();
    assert!(harness.publish(&quote(two, 1, 10, 12)) && harness.publish(&quote(one, 1, 20, 21)));
    let bests = &harness.strategy().bests;
    assert_eq!(bests.iter().map(|best| best.0).collect::<Vec<_>>(), [two, one]);
    assert_eq!(bests[0].1.best_ask().unwrap().price, Price(12));
    assert_eq!((harness.strategy().quotes, harness.counter(Counter::Quotes)), (0, 2));
    let orders = harness.orders();
    assert_eq!(orders.iter().map(|order| order.price.0).collect::<Vec<_>>(), [12, 21]);
    for order in &orders {
        assert_eq!((order.cause.journal, order.cause.due), (BEST_JOURNAL, Nanos(8)));
        assert!(order.cause.is_some() && order.cause.position > 0 && order.cause.published > Nanos(0));
    }
}

#[test]
fn the_depth_is_that_behind_the_best_and_an_unknown_one_is_an_error() {
    let mut harness = ear(MarketData::Best);
    let one = harness.list("A", "0", 1);
    harness.start();
    assert_eq!(harness.context().depth(one), Err(DepthError::Nothing(one)));
    assert_eq!(harness.context().last_best(one), None);
    harness.publish(&quote(one, 1, 10, 12));
    let depth = harness.context().depth(one).unwrap();
    assert_eq!(depth.bids[1].price, Price(9), "levels that no best holds");
    assert_eq!(harness.context().last_quote(one), None, "it hears none");
}

#[test]
fn who_hears_the_depth_asks_for_best_and_depth_alike() {
    let mut harness = ear(MarketData::Depth);
    let one = harness.list("A", "0", 1);
    harness.start();
    assert_eq!(harness.context().depth(one), Err(DepthError::Nothing(one)));
    let quote = quote(one, 1, 10, 12);
    harness.publish(&quote);
    assert_eq!(harness.context().depth(one), Ok(quote));
    assert_eq!(harness.context().last_best(one), Some(Best::of(&quote)));
    assert_eq!((harness.strategy().quotes, harness.strategy().bests.len()), (1, 0));
}

#[test]
fn a_strategy_that_starts_late_knows_the_best_of_before() {
    let mut harness = ear(MarketData::Best);
    let one = harness.list("A", "0", 1);
    // Published, but not taken: it has not started.
    assert!(!harness.publish(&quote(one, 1, 10, 12)));
    harness.start();
    assert_eq!(harness.context().last_best(one).and_then(|best| best.mid()), Some(Price(11)));
}

#[test]
fn in_lock_step_the_clock_goes_by_the_quote_behind_the_best() {
    let setup = Setup { deterministic: true, data: MarketData::Best, ..Harness::<Ear>::setup() };
    let mut harness = Harness::<Ear>::with(NoParameters {}, setup).unwrap();
    let one = harness.list("A", "0", 1);
    harness.start();
    for sequence in [3, 5] {
        harness.publish(&quote(one, sequence, 10, 12));
    }
    assert_eq!(harness.strategy().bests.iter().map(|best| best.2).collect::<Vec<_>>(), [300, 500]);
}

#[test]
fn a_lapped_reader_is_told_of_what_it_hears_alone() {
    for (data, role) in
        [(MarketData::Depth, Role::Quotes), (MarketData::Best, Role::Best), (MarketData::Flow, Role::Flow)]
    {
        let mut harness = ear(data);
        harness.list("A", "0", 1);
        harness.start();
        for lapped in [Role::Quotes, Role::Best, Role::Flow] {
            harness.gap(lapped, Gap { from: 0, resumed_at: 64 });
            assert_eq!(harness.strategy().gaps, u64::from(lapped == role), "{data}: {lapped:?}");
            if lapped == role {
                break;
            }
        }
    }
}

#[test]
fn the_flow_is_heard_event_by_event_and_has_no_depth() {
    let mut harness = ear(MarketData::Flow);
    let one = harness.list("A", "0", 1);
    harness.start();
    let event = BookEvent {
        instrument: one,
        action: BookAction::Add,
        side: Side::Sell,
        flags: BookEvent::LAST,
        order_ref: 3,
        price: Price(11),
        quantity: Quantity(2),
        event_time: Nanos(5),
        sequence: 1,
        reserved: 0,
    };
    assert!(harness.send(Role::Flow, one.0, &event));
    let phase = MarketPhase {
        instrument: one,
        phase: TradingPhase::Continuous,
        reserved: [0; 3],
        event_time: Nanos(6),
        sequence: 2,
    };
    harness.send(Role::Flow, one.0, &phase);
    harness.send_bytes(Role::Flow, 0, <EndOfStream as wire::Message>::ID, &[0; 48]);
    assert_eq!(
        (harness.strategy().events.as_slice(), harness.strategy().other.as_slice()),
        (&[event][..], &["phase"][..])
    );
    assert_eq!(harness.orders()[0].cause.journal, FLOW_JOURNAL);
    assert_eq!(harness.context().depth(one), Err(DepthError::NotKept));
    assert_eq!(harness.counter(Counter::Malformed), 0);
}
