//! Random input: the engine answers what the naive model answers, and keeps its books.

use std::collections::BTreeMap;

use proptest::prelude::*;
use wire::*;

use super::fixture::*;
use super::naive::{Naive, Resting};
use crate::engine::{CallAuctions, Engine, EngineOptions, FillModel, OrderOwner, Owner, SelfTrade};

const PRICES: std::ops::RangeInclusive<i64> = 95..=105;
const QUANTITIES: std::ops::RangeInclusive<i64> = 1..=20;

fn side() -> impl Strategy<Value = Side> {
    prop_oneof![Just(Side::Buy), Just(Side::Sell)]
}

fn order_id() -> impl Strategy<Value = OrderId> {
    (1..4_u16, 0..60_u32).prop_map(|(strategy, sequence)| id(strategy, sequence))
}

fn request() -> impl Strategy<Value = Step> {
    let time_in_force = prop_oneof![
        6 => Just(TimeInForce::Day),
        1 => Just(TimeInForce::ImmediateOrCancel),
        1 => Just(TimeInForce::FillOrKill),
        1 => Just(TimeInForce::PostOnly),
    ];
    let order_type = prop_oneof![8 => Just(OrderType::Limit), 1 => Just(OrderType::Market)];
    let new = (order_id(), side(), PRICES, QUANTITIES, time_in_force, order_type, 0..3_u32).prop_map(
        |(order_id, side, price, quantity, time_in_force, order_type, account)| {
            let order = with(limit(order_id, side, price, quantity), time_in_force);
            let account = AccountId(account);
            Step::As(Input::New(NewOrder { order_type, account, ..order }))
        },
    );
    let cancel = order_id().prop_map(|order_id| Input::Cancel(CancelOrder::new(order_id, STOCK)));
    let change = (order_id(), PRICES, 0..=25_i64)
        .prop_map(|(order_id, price, quantity)| Input::Replace(replace(order_id, price, quantity)));
    let about_one = prop_oneof![2 => cancel, 5 => change];
    let about_one = (about_one, any::<prop::sample::Index>(), prop::bool::weighted(0.9));
    prop_oneof![
        8 => new,
        4 => about_one.prop_map(|(input, which, fits)| Step::AboutOwn(input, which, fits)),
    ]
}

/// What a run of random input is made of.
#[derive(Clone, Copy, Debug)]
enum Step {
    As(Input),
    /// With `true`, it gets the price and side of the market order that it is about, if there is one.
    AboutMarket(BookEvent, bool),
    /// With `true`, it is about one of the own orders that rest, if there is one.
    AboutOwn(Input, prop::sample::Index, bool),
    /// From here on the market is, or is not, in a call auction.
    Auction(bool),
}

impl Step {
    /// Made to fit what rests.
    fn fitted(self, naive: &Naive, auction: &mut bool) -> Option<Input> {
        let mut input = match self {
            Step::Auction(begins) => {
                *auction = begins;
                return None;
            }
            // Most orders have an id of their own.
            Step::As(Input::New(order)) if order.order_id.sequence() % 8 != 0 => {
                Input::New(NewOrder { order_id: naive.next_id(order.order_id.strategy()), ..order })
            }
            Step::As(input) => input,
            // Most of what follows a clear is a snapshot.
            Step::AboutMarket(event, true) if !naive.swept.is_empty() && event.order_ref % 8 != 0 => {
                let order = naive.swept.values().nth(event.order_ref as usize % naive.swept.len())?;
                let is_as_it_was = event.quantity.0 % 2 == 0;
                let quantity = if is_as_it_was { Quantity(order.open) } else { event.quantity };
                Input::Event(BookEvent {
                    action: BookAction::Add,
                    order_ref: order.id,
                    side: order.side,
                    price: Price(order.price),
                    quantity,
                    ..event
                })
            }
            Step::AboutMarket(mut event, fits) => {
                if let Some(order) = naive.market(event.order_ref).filter(|_| fits) {
                    (event.price, event.side) = (Price(order.price), order.side);
                }
                Input::Event(event)
            }
            Step::AboutOwn(mut input, which, fits) => {
                let own: Vec<&Resting> = naive.orders.iter().filter(|order| order.own).collect();
                if fits && !own.is_empty() {
                    let order_id = OrderId(which.get(&own).id);
                    match &mut input {
                        Input::Cancel(request) => request.order_id = order_id,
                        Input::Replace(request) => request.order_id = order_id,
                        _ => {}
                    }
                }
                input
            }
        };
        match &mut input {
            Input::Event(event) if *auction => event.flags |= BookEvent::CALL_AUCTION,
            Input::Quote(quote) if *auction => quote.flags |= Quote::CALL_AUCTION,
            _ => {}
        }
        Some(input)
    }
}

fn flags() -> impl Strategy<Value = u16> {
    let more = [BookEvent::HIDDEN, BookEvent::NO_SIDE, BookEvent::NO_SIDE | BookEvent::UNPRINTED];
    (0..4_u16, prop::option::of(prop::sample::select(more.to_vec())))
        .prop_map(|(flags, more)| flags | more.unwrap_or(0))
}

fn with_history() -> impl Strategy<Value = Step> {
    let action = prop_oneof![
        10 => Just(BookAction::Add),
        2 => Just(BookAction::Reduce),
        2 => Just(BookAction::Delete),
        6 => Just(BookAction::Execute),
        3 => Just(BookAction::Modify),
        1 => Just(BookAction::Trade),
    ];
    let any_event = (action, 1..30_u64, side(), PRICES, 0..=20_i64, flags(), prop::bool::weighted(0.8))
        .prop_map(|(action, order_ref, side, price, quantity, flags, fits)| {
            Step::AboutMarket(BookEvent { flags, ..event(action, order_ref, side, price, quantity) }, fits)
        });
    prop_oneof![
        40 => any_event,
        40 => request(),
        1 => cancels(),
        2 => any::<bool>().prop_map(Step::Auction),
        1 => Just(Step::As(Input::Event(event(BookAction::Clear, 0, Side::Buy, 0, 0)))),
    ]
}

fn cancels() -> impl Strategy<Value = Step> {
    let some = side().prop_map(|side| cancel_some(2, STOCK, side));
    prop_oneof![Just(cancel_all(2)), some].prop_map(|request| Step::As(Input::CancelAll(request)))
}

fn with_quotes() -> impl Strategy<Value = Step> {
    let levels = |side: Side| {
        (90..=105_i64, prop::collection::vec((1..3_i64, QUANTITIES), 0..6)).prop_map(move |(start, steps)| {
            let mut distance = 0;
            let mut level = |(step, quantity)| {
                distance += step;
                let price = if side == Side::Buy { start - distance } else { start + 3 + distance };
                (price, quantity)
            };
            steps.into_iter().map(&mut level).collect::<Vec<_>>()
        })
    };
    let quotes =
        (levels(Side::Buy), levels(Side::Sell)).prop_map(|(bids, asks)| Input::Quote(quote(&bids, &asks)));
    let aggressor = prop_oneof![Just(Aggressor::Buy), Just(Aggressor::Sell), Just(Aggressor::None)];
    let prints = (aggressor, PRICES, 0..=20_i64)
        .prop_map(|(aggressor, price, quantity)| Input::Print(print(aggressor, price, quantity)));
    prop_oneof![
        4 => quotes.prop_map(Step::As),
        1 => prints.prop_map(Step::As),
        12 => request(),
        1 => any::<bool>().prop_map(Step::Auction),
        1 => cancels(),
    ]
}

/// Feeds both, compares every answer and every queue, and gives back all answers.
fn compare(options: EngineOptions, steps: &[Step]) -> Vec<Execution> {
    let mut engine = Engine::new(options);
    engine.on_instrument(&instrument(STOCK));
    let mut naive = Naive::new(options);
    let (mut inputs, mut all, mut auction) = (Vec::new(), Vec::new(), false);
    for (number, step) in steps.iter().enumerate() {
        let Some(mut input) = step.fitted(&naive, &mut auction) else { continue };
        if let Input::Event(event) = &mut input {
            // A few events each instant.
            event.event_time = Nanos(number as u64 / 4);
        }
        let expected = naive.feed(&input);
        let answers = feed(&mut engine, &input);
        assert_eq!(said(&answers), said(&expected), "step {number}: {input:?}");
        assert_eq!(answers, expected, "step {number}: {input:?}");
        for side in [Side::Buy, Side::Sell] {
            let orders = engine.book(STOCK).unwrap().orders(side);
            let found: Vec<_> = orders.map(|order| (order.owner, order.open.0, order.available.0)).collect();
            let sorted = naive.sorted(side);
            let expected: Vec<_> =
                sorted.iter().map(|order| (owner(order), order.open, order.open - order.taken)).collect();
            assert_eq!(found, expected, "step {number}: {input:?}");
        }
        inputs.push(input);
        all.extend(answers);
    }
    let mut again = Engine::new(EngineOptions { expected_orders: 1_000, ..options });
    again.on_instrument(&instrument(STOCK));
    let again: Vec<Execution> = inputs.iter().flat_map(|input| feed(&mut again, input)).collect();
    assert_eq!(bytes(&again), bytes(&all), "the same input, the same bytes");
    all
}

fn owner(order: &Resting) -> Owner {
    if order.own { Owner::Own(OrderId(order.id)) } else { Owner::Market(order.id) }
}

fn bytes(answers: &[Execution]) -> Vec<u8> {
    let bytes = answers.iter().map(|answer| match answer {
        Execution::Fill(fill) => fill.bytes().to_vec(),
        Execution::Update(update) => update.bytes().to_vec(),
    });
    bytes.flatten().collect()
}

/// Of each order: what traded is what its updates say, and all of its quantity is somewhere. Of each trade: its two
/// sides agree.
fn check_conservation(answers: &[Execution], own_only: bool) {
    let mut filled: BTreeMap<OrderId, i64> = BTreeMap::new();
    let mut trades: BTreeMap<u64, Vec<Fill>> = BTreeMap::new();
    let mut last: Option<Fill> = None;
    for answer in answers {
        match answer {
            Execution::Fill(fill) => {
                assert!(last.is_none(), "two fills without an update between them");
                assert!(fill.quantity > Quantity::ZERO && fill.remaining >= Quantity::ZERO);
                *filled.entry(fill.order_id).or_default() += fill.quantity.0;
                trades.entry(fill.trade_id).or_default().push(*fill);
                last = Some(*fill);
            }
            // It says how many orders it cancelled, and nothing of an order.
            Execution::Update(update) if update.status == OrderStatus::MassCancelled => {}
            Execution::Update(update) => {
                if let Some(fill) = last.take() {
                    assert_eq!((update.order_id, update.remaining), (fill.order_id, fill.remaining));
                }
                if matches!(update.reason, Reason::DuplicateOrder | Reason::UnknownOrder) {
                    continue;
                }
                assert_eq!(update.filled.0, filled.get(&update.order_id).copied().unwrap_or(0));
                let gone = update.quantity.0 - update.filled.0 - update.remaining.0;
                assert!(gone == 0 || update.status.is_final() && gone > 0, "{update:?}");
            }
        }
    }
    for (number, (id, fills)) in trades.iter().enumerate() {
        assert_eq!(*id, number as u64 + 1, "trades are numbered without a gap");
        match fills[..] {
            [_] => assert!(!own_only),
            [maker, taker] => {
                assert_eq!(maker.liquidity, Liquidity::Maker);
                // In an auction, nobody takes, and the buyer comes first.
                assert!(taker.liquidity == Liquidity::Taker || maker.side == Side::Buy);
                assert_eq!((maker.price, maker.quantity), (taker.price, taker.quantity));
                assert_eq!(maker.side, taker.side.opposite());
            }
            _ => panic!("trade {id} has {} sides", fills.len()),
        }
    }
}

/// By the rules that hold unless others are chosen, in a third of the runs.
fn rules(fill: FillModel) -> impl Strategy<Value = EngineOptions> {
    let self_trade = prop::sample::select(vec![
        SelfTrade::CancelNewest,
        SelfTrade::CancelOldest,
        SelfTrade::CancelBoth,
        SelfTrade::Decrement,
        SelfTrade::Allow,
    ]);
    let owner = prop::sample::select(vec![OrderOwner::Strategy, OrderOwner::Account, OrderOwner::Firm]);
    let plain = options(fill, SelfTrade::CancelNewest);
    let chosen = (self_trade, owner, any::<bool>(), any::<bool>()).prop_map(
        move |(self_trade, owner, displayed_first, uncross)| {
            let call_auctions = if uncross { CallAuctions::Uncross } else { CallAuctions::Refuse };
            EngineOptions { self_trade, owner, displayed_first, call_auctions, ..plain }
        },
    );
    prop_oneof![1 => Just(plain), 2 => chosen]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn among_own_orders(rules in rules(FillModel::Book), steps in prop::collection::vec(request(), 1..150)) {
        check_conservation(&compare(rules, &steps), true);
    }

    #[test]
    fn beside_a_recorded_market(
        rules in rules(FillModel::Book),
        steps in prop::collection::vec(with_history(), 1..150),
    ) {
        check_conservation(&compare(rules, &steps), false);
    }

    #[test]
    fn beside_a_quoted_market(
        rules in rules(FillModel::Quotes),
        steps in prop::collection::vec(with_quotes(), 1..150),
    ) {
        check_conservation(&compare(rules, &steps), false);
    }
}

/// The comparison would be worth little if the random input met few of the cases.
#[test]
fn random_input_meets_every_case() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut kinds: BTreeMap<String, u64> = BTreeMap::new();
    let mut run = |rules: EngineOptions, steps: BoxedStrategy<Step>| {
        for _ in 0..30 {
            let steps = prop::collection::vec(steps.clone(), 150).new_tree(&mut runner).unwrap().current();
            for answer in compare(rules, &steps) {
                let kind = match answer {
                    Execution::Fill(fill) => format!("fill {}", fill.liquidity),
                    Execution::Update(update) => format!("{} {}", update.status, update.reason),
                };
                *kinds.entry(kind).or_default() += 1;
            }
        }
    };
    let plain = |fill| options(fill, SelfTrade::CancelNewest);
    run(plain(FillModel::Book), with_history().boxed());
    run(plain(FillModel::Quotes), with_quotes().boxed());
    let chosen = EngineOptions {
        owner: OrderOwner::Firm,
        displayed_first: true,
        call_auctions: CallAuctions::Uncross,
        ..plain(FillModel::Book)
    };
    run(EngineOptions { self_trade: SelfTrade::Decrement, ..chosen }, with_history().boxed());
    run(EngineOptions { self_trade: SelfTrade::CancelOldest, ..chosen }, with_history().boxed());
    for kind in [
        "fill maker",
        "fill taker",
        "accepted none",
        "partially-filled none",
        "filled none",
        "replaced none",
        "cancelled requested",
        "mass-cancelled requested",
        "cancelled no-liquidity",
        "cancelled not-fillable",
        "cancelled would-trade",
        "cancelled self-trade",
        "reduced self-trade",
        "rejected call-auction",
        "replace-rejected call-auction",
        "rejected duplicate-order",
        "rejected would-trade",
        "rejected malformed",
        "cancel-rejected unknown-order",
        "replace-rejected unknown-order",
        "replace-rejected would-trade",
        "replace-rejected quantity",
    ] {
        assert!(kinds.get(kind).is_some_and(|&count| count >= 5), "`{kind}` is rare among {kinds:?}");
    }
}
