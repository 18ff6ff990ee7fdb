//! An engine that is made of images goes on as the one that they were taken from.

use proptest::prelude::*;
use wire::*;

use super::fixture::*;
use super::garbled::{book_event, market_data, request};
use crate::engine::{CallAuctions, Engine, EngineOptions, FillModel, ImageError, OrderOwner, SelfTrade};

fn tracked(options: EngineOptions) -> Engine {
    let mut engine = Engine::new(options);
    engine.track();
    engine.on_instrument(&instrument(STOCK));
    engine.on_instrument(&instrument(OTHER));
    engine
}

/// All images, the used places of records only.
fn images(engine: &Engine) -> Vec<RecordImage> {
    let all = (0..engine.places() as u32).map(|place| engine.image_at(place));
    all.filter(|image| image.owner_kind != 0).collect()
}

/// Keeps images as a ring does: of the places that have changed, and no others.
fn note(engine: &mut Engine, kept: &mut std::collections::BTreeMap<u32, RecordImage>) {
    let mut places = Vec::new();
    engine.take_changed(usize::MAX, &mut places);
    for place in places {
        let image = engine.image_at(place);
        if image.owner_kind == 0 {
            kept.remove(&place)
        } else {
            kept.insert(place, image)
        };
    }
}

fn made_of(engine: &Engine, options: EngineOptions, records: &[RecordImage]) -> Engine {
    let mut again = tracked(options);
    for instrument in [STOCK, OTHER] {
        assert!(again.restore_book(&engine.book_state(instrument).unwrap()));
    }
    again.number_trades_after(engine.last_trade());
    for seat in 0..engine.used().seats() {
        if let Some(newest) = engine.used().newest(StrategyId(seat as u16)) {
            again.claim(newest);
        }
    }
    again.restore_orders(engine.places() as u32, records).unwrap();
    again
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn what_is_made_of_images_answers_as_the_original(
        fill in prop::sample::select(vec![FillModel::Book, FillModel::Quotes]),
        self_trade in prop::sample::select(vec![SelfTrade::CancelNewest, SelfTrade::Decrement, SelfTrade::Allow]),
        owner in prop::sample::select(vec![OrderOwner::Strategy, OrderOwner::Account]),
        call_auctions in prop::sample::select(vec![CallAuctions::Refuse, CallAuctions::Uncross]),
        inputs in prop::collection::vec(prop_oneof![3 => book_event(), 3 => request(), 2 => market_data()], 1..150),
        cut in 0..150_usize,
    ) {
        let options = EngineOptions { call_auctions, owner, ..options(fill, self_trade) };
        let mut engine = tracked(options);
        let mut kept = std::collections::BTreeMap::new();
        let (before, behind) = inputs.split_at(cut.min(inputs.len()));
        for input in before {
            feed(&mut engine, input);
            if cut % 2 == 0 {
                note(&mut engine, &mut kept);
            }
        }
        note(&mut engine, &mut kept);
        let kept: Vec<RecordImage> = kept.into_values().collect();
        prop_assert_eq!(&kept, &images(&engine));
        let mut again = made_of(&engine, options, &kept);
        for instrument in [STOCK, OTHER] {
            let levels = |engine: &Engine, side| {
                engine.book(instrument).unwrap().orders(side).collect::<Vec<_>>()
            };
            for side in [Side::Buy, Side::Sell] {
                prop_assert_eq!(levels(&engine, side), levels(&again, side));
            }
        }
        for input in behind {
            prop_assert_eq!(feed(&mut engine, input), feed(&mut again, input));
        }
    }
}

#[test]
fn an_engine_that_is_made_of_images_stays_in_the_halt_and_knows_which_orders_outlive_the_day() {
    for call_auctions in [CallAuctions::Refuse, CallAuctions::Uncross] {
        let options = EngineOptions { call_auctions, ..options(FillModel::Book, SelfTrade::CancelNewest) };
        let mut engine = tracked(options);
        feed(&mut engine, &Input::Event(add(1, Side::Sell, 105, 50)));
        feed(&mut engine, &Input::New(limit(id(1, 1), Side::Buy, 100, 10)));
        let kept = with(limit(id(1, 2), Side::Buy, 99, 10), TimeInForce::GoodTillCancel);
        feed(&mut engine, &Input::New(kept));
        feed(&mut engine, &phase_of(STOCK, TradingPhase::Halt));
        let mut again = made_of(&engine, options, &images(&engine));
        for engine in [&mut engine, &mut again] {
            let market = said(&feed(engine, &Input::New(market(id(1, 3), Side::Buy, 5))));
            assert_eq!(market, ["1-3: rejected not-tradable"]);
            assert!(feed(engine, &Input::Event(add(2, Side::Sell, 95, 10))).is_empty());
            let ended = said(&feed(engine, &phase_of(STOCK, TradingPhase::Closed)));
            assert_eq!(ended, ["1-1: cancelled expired"]);
            assert!(feed(engine, &phase_of(STOCK, TradingPhase::Continuous)).is_empty());
            let opened = said(&feed(engine, &Input::EndOfInstant));
            assert_eq!(opened.len(), 2, "what crosses the order that is kept trades: {opened:?}");
        }
    }
}

/// Between the message that announces continuous trading and the end of the instant, before and behind the cross.
#[test]
fn an_engine_that_is_made_of_images_goes_on_with_a_reopening() {
    let options = EngineOptions {
        call_auctions: CallAuctions::Uncross,
        ..options(FillModel::Book, SelfTrade::CancelNewest)
    };
    let mut engine = tracked(options);
    feed(&mut engine, &phase_of(STOCK, TradingPhase::Halt));
    feed(&mut engine, &Input::Event(add(1, Side::Buy, 102, 40)));
    feed(&mut engine, &Input::Event(add(2, Side::Sell, 98, 100)));
    feed(&mut engine, &Input::New(limit(id(1, 1), Side::Buy, 98, 70)));
    feed(&mut engine, &phase_of(STOCK, TradingPhase::Continuous));
    let announced = made_of(&engine, options, &images(&engine));
    let execute = |order_ref, side| {
        let event = event(BookAction::Execute, order_ref, side, 99, 40);
        BookEvent { flags: event.flags | BookEvent::NO_SIDE, ..event }
    };
    let cross = [Input::Event(execute(1, Side::Buy)), Input::Event(execute(2, Side::Sell))];
    let behind = |mut engine: Engine, inputs: &[Input]| {
        let inputs = inputs.iter().chain([&Input::EndOfInstant]);
        said(&inputs.flat_map(|input| feed(&mut engine, input)).collect::<Vec<_>>())
    };
    // The cross does not reach the order; what it leaves does.
    let expected = ["1-1: 60 @ 98 maker", "1-1: partially-filled"];
    assert_eq!(behind(announced, &cross), expected);
    cross.iter().for_each(|input| assert!(feed(&mut engine, input).is_empty()));
    let due = made_of(&engine, options, &images(&engine));
    assert_eq!(behind(due, &[]), expected);
    assert_eq!(behind(engine, &[]), expected);
}

#[test]
fn a_state_from_before_there_were_phases_is_continuous_and_one_with_an_unknown_phase_is_none() {
    let mut engine = tracked(options(FillModel::Book, SelfTrade::CancelNewest));
    feed(&mut engine, &phase_of(STOCK, TradingPhase::Halt));
    let mut state = engine.book_state(STOCK).unwrap();
    for (phase, is_taken) in [(0, true), (TradingPhase::Continuous as u32, true), (99, false)] {
        state.image.bits = phase << 8;
        assert_eq!(engine.restore_book(&state), is_taken);
    }
    let taken = said(&feed(&mut engine, &Input::New(limit(id(1, 1), Side::Buy, 100, 10))));
    assert_eq!(taken, ["1-1: accepted"]);
}

#[test]
fn images_that_no_engine_has_are_refused() {
    let options = options(FillModel::Book, SelfTrade::CancelNewest);
    let mut engine = tracked(options);
    feed(&mut engine, &Input::Event(add(1, Side::Sell, 101, 5)));
    feed(&mut engine, &Input::Event(add(2, Side::Sell, 101, 5)));
    feed(&mut engine, &Input::New(limit(id(7, 1), Side::Buy, 99, 5)));
    let good = images(&engine);
    let restored = |images: &[RecordImage]| tracked(options).restore_orders(3, images);
    assert_eq!(restored(&good), Ok(()));
    let changed = |place: usize, change: fn(&mut RecordImage)| {
        let mut images = good.clone();
        change(&mut images[place]);
        restored(&images)
    };
    assert_eq!(changed(0, |image| image.open = Quantity(0)), Err(ImageError::Invalid(0)));
    assert_eq!(changed(0, |image| image.instrument = InstrumentId(9)), Err(ImageError::Invalid(0)));
    assert_eq!(changed(1, |image| image.owner_kind = 4), Err(ImageError::Invalid(1)));
    assert_eq!(changed(1, |image| image.owner_kind = 5), Err(ImageError::Invalid(1)));
    assert_eq!(changed(1, |image| image.place = 0), Err(ImageError::Places));
    assert_eq!(changed(2, |image| image.place = 3), Err(ImageError::Places));
    for broken in [
        changed(0, |image| image.next = u32::MAX),
        changed(0, |image| image.next = 77),
        changed(0, |image| image.next = 0),
        changed(1, |image| image.previous = u32::MAX),
    ] {
        assert!(matches!(broken, Err(ImageError::Queues { .. })), "{broken:?}");
    }
    assert!(matches!(changed(2, |image| image.peer_next = 0), Err(ImageError::Peers { .. })));
}

/// Versions before wrote a third quote, of what the market had where own orders took something.
#[test]
fn a_state_with_another_number_of_quotes_is_refused() {
    let options = options(FillModel::Quotes, SelfTrade::CancelNewest);
    let mut engine = tracked(options);
    feed(&mut engine, &Input::Quote(quote(&[(98, 10)], &[(100, 10)])));
    let untouched = engine.book_state(STOCK).unwrap();
    assert!(tracked(options).restore_book(&untouched));
    feed(&mut engine, &Input::New(limit(id(1, 1), Side::Buy, 100, 4)));
    let mut state = engine.book_state(STOCK).unwrap();
    assert_eq!(state.quotes.len(), 2);
    assert!(tracked(options).restore_book(&state));
    state.quotes.push(quote(&[], &[(100, 10)]));
    assert!(!tracked(options).restore_book(&state));
    state.quotes.truncate(1);
    assert!(!tracked(options).restore_book(&state));
}
