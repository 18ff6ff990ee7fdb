//! Sums that limits count: what positions and orders are worth, and what is available, at least and at most.

use super::*;
use crate::verbs::audit::works::Span;

const CASH: AccountId = AccountId(7);

fn books(copy: &Copy) -> Books {
    let mut books = Books::default();
    copy.frames.iter().for_each(|seen| books.take(seen));
    books
}

fn span(least: i128, most: i128) -> Option<Span> {
    Some(Span { least: least * ONE, most: most * ONE })
}

#[test]
fn gross_is_what_positions_cost_and_what_orders_open_at_their_worst_price() {
    let scopes =
        [ACCOUNT, (AccountScope::Group, 2), (AccountScope::Strategy, 5), (AccountScope::Platform, 0)];
    let is = |copy: &Copy, gross: Option<Span>| {
        for scope in scopes {
            assert_eq!(books(copy).gross(scope), gross, "{scope:?}");
        }
    };
    let mut copy = Copy::new();
    is(&copy, span(0, 0));
    copy.holds();
    is(&copy, span(5_000, 5_000));
    copy.order(2, Side::Buy, 10, 40);
    is(&copy, span(5_400, 5_400));
    // A sale may close all that it sells, or nothing of it where something else closes it first.
    copy.order(3, Side::Sell, 60, 55);
    is(&copy, span(5_400, 5_400 + 60 * 55));
    // Of 130 sold, 30 open: those at the least price at least.
    copy.order(4, Side::Sell, 70, 60);
    is(&copy, span(5_400 + 30 * 55, 5_400 + 60 * 55 + 70 * 60));
    // A mark above them is what they may trade at, too.
    copy.mark(80);
    is(&copy, span(5_400 + 30 * 80, 5_400 + 130 * 80));
    assert_eq!(books(&copy).gross((AccountScope::Strategy, 6)), span(0, 0));
}

#[test]
fn a_replace_counts_at_its_worst_until_it_is_answered() {
    let mut copy = Copy::new();
    copy.mark(50).order(1, Side::Buy, 10, 40);
    copy.ends(1, OrderStatus::Accepted);
    let replace = wire::ReplaceOrder {
        order_id: OrderId::new(STRATEGY, 1, 1),
        instrument: SIM,
        source: 0,
        price: price(30),
        quantity: Quantity(20),
    };
    let gross = |copy: &Copy| books(copy).gross(ACCOUNT);
    copy.add(AnyMessage::ReplaceOrder(replace));
    assert_eq!(gross(&copy), span(800, 800), "20 at 40");
    let mut refused = copy.clone();
    refused.ends(1, OrderStatus::ReplaceRejected);
    assert_eq!(gross(&refused), span(400, 400));
    copy.executions += 64;
    let update = OrderUpdate {
        price: price(30),
        quantity: Quantity(20),
        execution: copy.executions,
        ..OrderUpdate::about(replace.order_id, SIM, OrderStatus::Replaced, Reason::None)
    };
    copy.add(AnyMessage::OrderUpdate(update));
    assert_eq!(gross(&copy), span(600, 600), "20 at 30");
}

#[test]
fn what_is_available_is_what_is_not_held_back() {
    let available = |copy: &Copy| books(copy).available(CASH, None);
    let mut copy = Copy::new();
    assert_eq!(available(&copy), span(10_000, 10_000));
    copy.holds();
    assert_eq!(available(&copy), span(9_500, 9_500), "a tenth of 5,000");
    copy.mark(60);
    assert_eq!(available(&copy), span(9_500, 9_500), "what is gained is not there yet");
    copy.mark(40);
    assert_eq!(available(&copy), span(8_500, 8_500), "what is lost is");
    // 100 at 45: a tenth, and what it loses against the mark at once.
    copy.order(2, Side::Buy, 100, 45);
    assert_eq!(available(&copy), span(8_500 - 450 - 500, 8_500 - 450 - 500));
    // What may close may also open, at most.
    copy.order(3, Side::Sell, 100, 45);
    assert_eq!(available(&copy), span(7_550 - 450, 7_550));
}

#[test]
fn gross_and_money_hold_at_their_edges() {
    for (scope, name) in [
        (ACCOUNT, "account 7"),
        ((AccountScope::Group, 2), "group 2"),
        ((AccountScope::Strategy, 5), "strategy"),
        ((AccountScope::Platform, 0), "the platform"),
    ] {
        let mut copy = Copy::new();
        copy.holds().limit(scope, LimitKind::GrossNotional, (0, 0), 5_400);
        copy.clone().order(2, Side::Buy, 8, 50).is_sound();
        copy.clone().order(2, Side::Sell, 100, 50).is_sound();
        copy.clone().order(2, Side::Buy, 9, 50).finds("limits", &format!("a gross of {name}"));
        copy.order(2, Side::Sell, 209, 50).finds("limits", "of at most 5400");
    }
    // 10,000 are worth 100,000 at a tenth.
    let mut copy = Copy::new();
    copy.mark(50);
    copy.clone().order(1, Side::Buy, 2_000, 50).is_sound();
    copy.order(1, Side::Buy, 2_001, 50)
        .finds("limits", "account 7 with 10005 at least: it has 10000 at most");
}
