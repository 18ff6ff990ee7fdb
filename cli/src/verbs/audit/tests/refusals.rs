//! Refusals with and without the cause that they name.

use topology::TdSection;
use wire::{Instrument, Message};

use super::*;

/// An order that is refused, with what makes its refusal right.
struct Case {
    copy: Copy,
    order: NewOrder,
}

/// Each byte that stands for one.
pub(super) fn all_reasons() -> Vec<Reason> {
    let mut payload = OrderUpdate::rejection(&plain(), Reason::None).bytes().to_vec();
    let decoded = (0..=u8::MAX).filter_map(|byte| {
        payload[std::mem::offset_of!(OrderUpdate, reason)] = byte;
        OrderUpdate::decode(&payload).ok().map(|update| update.reason)
    });
    decoded.collect()
}

fn plain() -> NewOrder {
    order(STRATEGY, 50, (Side::Buy, 1, 50))
}

fn sale() -> NewOrder {
    order(STRATEGY, 50, (Side::Sell, 1, 50))
}

impl Copy {
    /// The instrument is listed with a tick of one and a band from 10 to 90.
    pub(super) fn listed(mut self) -> Copy {
        self.given.listed.insert(
            SIM,
            vec![Instrument {
                id: SIM,
                reserved: 0,
                symbol: Symbol::new("SIM001").unwrap(),
                tick: price(1),
                lot: Quantity(1),
                price_low: price(10),
                price_high: price(90),
                reference_price: price(50),
                max_quantity: Quantity(10_000),
                multiplier: 1,
                currency: Currency::cut("CNY"),
            }],
        );
        self
    }

    pub(super) fn terms(mut self, change: impl FnOnce(ContractTerms) -> ContractTerms) -> Copy {
        let terms = ContractTerms {
            instrument: SIM,
            flags: ContractTerms::TRADABLE | ContractTerms::SHORTABLE,
            symbol: Symbol::new("SIM001").unwrap(),
            currency: Currency::cut("CNY"),
            multiplier: 1,
            price_low: Price::NONE,
            price_high: Price::NONE,
        };
        self.add(AnyMessage::ContractTerms(change(terms)));
        self
    }

    fn refuses(mut self, order: &NewOrder, reason: Reason) -> Copy {
        self.add_to(DROP_REFUSED, AnyMessage::NewOrder(*order));
        self.add(AnyMessage::OrderUpdate(OrderUpdate::rejection(order, reason)));
        self
    }

    fn account_is(mut self, action: AccountAction, who: &str) -> Copy {
        self.change(action, ACCOUNT, (who, "test"), 0);
        self
    }

    /// Account 9 tells opening from closing.
    fn with_futures(mut self) -> Copy {
        self.add(AnyMessage::AccountOpen(AccountOpen {
            account: AccountId(9),
            group: 0,
            parent: AccountId(0),
            kind: AccountKind::Futures,
            method: CostMethod::Average,
            reserved: 0,
            currency: Currency::cut("CNY"),
            name: Text::EMPTY,
            who: Text::cut("ann"),
            why: Text::cut("test"),
        }));
        self
    }

    fn limited(mut self, kind: LimitKind, number: u64, amount: i128) -> Copy {
        self.limit(ACCOUNT, kind, (number, 1), amount);
        self
    }
}

/// What makes a refusal for this reason right; `None`: nothing that the drop copy could have, or no refusal of td is such.
fn caused(reason: Reason) -> Option<Case> {
    let copy = Copy::new().listed();
    let with = |copy: Copy, order: NewOrder| Some(Case { copy, order });
    match reason {
        Reason::Killed => with(copy.account_is(AccountAction::Kill, "ann"), plain()),
        Reason::AccountFrozen => with(copy.account_is(AccountAction::Freeze, "ann"), plain()),
        Reason::ForcedLiquidation => with(copy.account_is(AccountAction::Freeze, "ledger"), plain()),
        Reason::AccountClosed => with(copy.account_is(AccountAction::Close, "ann"), plain()),
        Reason::UnknownAccount => with(copy, NewOrder { account: AccountId(8), ..plain() }),
        Reason::UnknownInstrument => with(copy, NewOrder { instrument: InstrumentId(2), ..plain() }),
        Reason::OffTick => with(copy, NewOrder { price: Price(price(50).0 + 1), ..plain() }),
        Reason::PriceBand => with(copy, NewOrder { price: price(91), ..plain() }),
        Reason::Quantity => with(copy, NewOrder { quantity: Quantity(0), ..plain() }),
        Reason::Malformed => with(copy, NewOrder { price: Price::NONE, ..plain() }),
        Reason::WorkingOrders => with(copy.limited(LimitKind::OpenOrders, 0, 0), plain()),
        Reason::PositionLimit => with(copy.limited(LimitKind::Position, 0, 0), plain()),
        Reason::OrderNotional => with(copy.limited(LimitKind::OrderNotional, 0, 49), plain()),
        Reason::NotionalLimit => with(copy.limited(LimitKind::GrossNotional, 0, 49), plain()),
        Reason::OrderRate => with(copy.limited(LimitKind::OrderRate, 1, 0), plain()),
        Reason::MessageRate => with(copy.limited(LimitKind::MessageRate, 1, 0), plain()),
        Reason::NotTradable => with(copy.terms(|terms| ContractTerms { flags: 0, ..terms }), plain()),
        Reason::NoWorstPrice => with(copy, NewOrder { order_type: OrderType::Market, ..plain() }),
        Reason::ShortSale => {
            let flags = ContractTerms::TRADABLE;
            let mut copy = copy.terms(|terms| ContractTerms { flags, ..terms });
            copy.mark(50);
            with(copy, sale())
        }
        Reason::SelfTrade => {
            let mut copy = copy;
            let other = order(StrategyId(6), 1, (Side::Sell, 1, 50));
            copy.mark(50).add(AnyMessage::NewOrder(other));
            with(copy, plain())
        }
        // 10,000 are there, and 2,001 at 50 take a tenth of what they are worth.
        Reason::InsufficientFunds => with(copy, NewOrder { quantity: Quantity(2_001), ..plain() }),
        Reason::NotClosable => {
            let copy = copy.with_futures();
            with(copy, NewOrder { account: AccountId(9), flags: NewOrder::OFFSET_CLOSE, ..sale() })
        }
        Reason::NotDurable | Reason::StrategyGone | Reason::Overload => None,
        Reason::NotYours | Reason::DuplicateOrder => None,
        Reason::None
        | Reason::Requested
        | Reason::NoLiquidity
        | Reason::NotFillable
        | Reason::WouldTrade
        | Reason::UnknownOrder
        | Reason::MarketClosed
        | Reason::CallAuction
        | Reason::Expired
        | Reason::Unsupported => None,
    }
}

#[test]
fn each_refusal_without_its_cause_is_found_and_none_with_it() {
    let (mut found, mut sound) = (0, 0);
    for reason in all_reasons() {
        let is_unknown = matches!(reason, Reason::NotDurable | Reason::StrategyGone | Reason::Overload);
        let without = Copy::new().listed().refuses(&plain(), reason);
        if is_unknown {
            without.is_sound();
            continue;
        }
        without.finds("refusals", &format!("order 5-1-50 is refused: {reason}"));
        found += 1;
        if let Some(Case { copy, order }) = caused(reason) {
            copy.refuses(&order, reason).is_sound();
            sound += 1;
        }
    }
    assert_eq!((found, sound), (all_reasons().len() - 3, 22));
}

/// td splits no order of an account that tells opening from closing. An offset that is left open becomes a close where all of the order
/// fits into what is held, and an opening of all of it elsewhere.
#[test]
fn an_order_with_its_offset_left_open_closes_whole_or_opens_whole() {
    let of = |number, side, quantity, flags| NewOrder {
        account: AccountId(9),
        flags,
        ..order(STRATEGY, number, (side, quantity, 50))
    };
    let holding = |short: i64, deposit: i128, flags: u32| {
        let all = ContractTerms::TRADABLE | ContractTerms::SHORTABLE | flags;
        let mut copy =
            Copy::new().listed().terms(|terms| ContractTerms { flags: all, ..terms }).with_futures();
        copy.change(AccountAction::Deposit, (AccountScope::Account, 9), ("ann", "test"), deposit);
        copy.mark(50).add(AnyMessage::NewOrder(of(1, Side::Sell, short, NewOrder::OFFSET_OPEN)));
        copy.fill(1, Side::Sell, short, 50).ends(1, OrderStatus::Filled);
        copy
    };
    for apart in [0, ContractTerms::TODAY_APART] {
        // 17 lots at 50 take 85 of margin at a tenth, which leaves 100. 15 lots would take 75, and 32 take 160.
        let copy = holding(17, 185, apart);
        let refused = |lots| of(50, Side::Buy, lots, 0);
        copy.clone().refuses(&refused(32), Reason::InsufficientFunds).is_sound();
        // 17 close whole, and 19 that open take 95.
        copy.clone()
            .refuses(&refused(17), Reason::InsufficientFunds)
            .finds("refusals", "it keeps to that rule");
        copy.clone()
            .refuses(&refused(19), Reason::InsufficientFunds)
            .finds("refusals", "it keeps to that rule");
        // Another order closes 10 of them. 17 do not fit into what is left, open whole, and take 85 where 80 are there.
        let mut closing = holding(17, 165, apart);
        closing.add(AnyMessage::NewOrder(of(2, Side::Buy, 10, NewOrder::OFFSET_CLOSE_TODAY)));
        closing.clone().refuses(&refused(17), Reason::InsufficientFunds).is_sound();
        closing.refuses(&refused(7), Reason::InsufficientFunds).finds("refusals", "it keeps to that rule");
    }
}

/// The very order that is refused would break the rule if it went out, and is found there, too.
#[test]
fn what_breaks_a_rule_is_found_where_it_went_out() {
    let mut tried = 0;
    for reason in all_reasons() {
        let Some(Case { mut copy, order }) = caused(reason) else { continue };
        let part = match reason {
            Reason::Killed | Reason::AccountFrozen | Reason::AccountClosed | Reason::ForcedLiquidation => {
                "switches"
            }
            // Who may trade for which account is not in the drop copy, and one order passes no rate.
            Reason::UnknownAccount | Reason::OrderRate | Reason::MessageRate => continue,
            _ => "limits",
        };
        copy.add(AnyMessage::NewOrder(order));
        copy.finds(part, "order 5-1-50 went out");
        tried += 1;
    }
    assert_eq!(tried, 19);
}

#[test]
fn an_id_that_was_used_is_refused_and_a_new_one_is_not() {
    let mut copy = Copy::new().listed();
    copy.order(50, Side::Buy, 1, 50);
    let again = |mut copy: Copy, number: u32| {
        let order = order(STRATEGY, number, (Side::Buy, 1, 50));
        copy.add(AnyMessage::OrderUpdate(OrderUpdate::rejection(&order, Reason::DuplicateOrder)));
        copy
    };
    again(copy.clone(), 50).is_sound();
    again(copy.clone(), 49).is_sound();
    again(copy.clone(), 51).finds("refusals", "its id is new");
    let refused = copy.refuses(&order(STRATEGY, 60, (Side::Buy, 0, 50)), Reason::Quantity);
    again(refused, 60).is_sound();
}

#[test]
fn checks_that_are_switched_off_refuse_nothing_and_let_everything_out() {
    for (check, reason) in [
        (LimitKind::Money, Reason::InsufficientFunds),
        (LimitKind::SelfTrade, Reason::SelfTrade),
        (LimitKind::ShortSale, Reason::ShortSale),
    ] {
        let Some(Case { mut copy, order }) = caused(reason) else { panic!("{reason}") };
        copy.add(AnyMessage::AccountLimit(AccountLimit {
            subject: 0,
            scope: AccountScope::Platform,
            limit: check,
            change: LimitChange::Disable,
            reserved: 0,
            instrument: InstrumentId(0),
            burst: 0,
            number: 0,
            amount: WideMoney::default(),
            who: Text::cut("ann"),
            why: Text::cut("test"),
        }));
        let mut out = copy.clone();
        out.add(AnyMessage::NewOrder(order)).is_sound();
        copy.refuses(&order, reason).finds("refusals", "it keeps to that rule");
    }
}

#[test]
fn a_strategy_trades_for_the_accounts_that_it_is_given() {
    let section: TdSection = serde_json::from_value(serde_json::json!({
        "strategies": [
            { "name": "mine", "seat": 5, "max_order_quantity": 0, "max_working_orders": 0, "max_position": 0,
              "accounts": [7], "reports": "reports.mine", "reports_topic": 0 }
        ]
    }))
    .unwrap();
    let mut copy = Copy::new().listed();
    copy.given.strategies = section.strategies.into_iter().map(|its| (its.seat, its)).collect();
    copy.change(AccountAction::Deposit, ACCOUNT, ("ann", "test"), 1);
    let refuses = |account: u32| {
        copy.clone().refuses(&NewOrder { account: AccountId(account), ..plain() }, Reason::UnknownAccount)
    };
    refuses(7).finds("refusals", "there is such an account");
    refuses(0).finds("refusals", "there is such an account");
    refuses(8).is_sound();
}

/// Ticks by price, and what td rounds.
#[test]
fn the_tick_that_holds_at_a_price_is_that_of_the_table() {
    let mut copy = Copy::new().listed();
    let row = |from: i64, tick: i64, instruments: &[&str]| serde_json::json!({ "from": from.to_string(), "tick": tick.to_string(), "instruments": instruments });
    let rows = serde_json::json!([row(0, 7, &[]), row(20, 2, &["SIM001"]), row(60, 5, &["SIM001"])]);
    copy.given.ticks = serde_json::from_value(rows).unwrap();
    let at = |number: u32, whole: i64| {
        let mut copy = copy.clone();
        copy.order(number, Side::Buy, 1, whole);
        copy
    };
    for (whole, is_on) in
        [(12, true), (13, false), (58, true), (59, false), (60, true), (62, false), (65, true)]
    {
        let copy = at(1, whole);
        if is_on { copy.is_sound() } else { copy.finds("limits", "a whole number of ticks of") }
    }
    let refused =
        |whole: i64| copy.clone().refuses(&NewOrder { price: price(whole), ..plain() }, Reason::OffTick);
    refused(62).is_sound();
    refused(65).finds("refusals", "it keeps to that rule");
    assert!(copy.given.rounds(SIM, price(62), price(60)) && copy.given.rounds(SIM, price(62), price(65)));
    assert!(!copy.given.rounds(SIM, price(60), price(65)) && !copy.given.rounds(SIM, price(62), price(70)));
}
