//! Faults that are planted in frames of a drop copy, and the checks that find them.

use accounts::{Follower, Options};
use wire::{
    AccountAction, AccountChange, AccountId, AccountKind, AccountLimit, AccountOpen, AccountScope,
    AnyMessage, ContractTerms, CostMethod, Currency, CurrencyRate, DROP_REFUSED, Fill, InstrumentId,
    LimitChange, LimitKind, Liquidity, MarginRule, Mark, Nanos, NewOrder, OrderId, OrderStatus, OrderType,
    OrderUpdate, Price, Quantity, Reason, Settle, SettlementPrice, Side, StrategyId, Symbol, Text,
    TimeInForce, WideMoney,
};

use super::books::Books;
use super::evidence::Evidence;
use super::findings::Findings;
use super::given::Given;
use super::limits::{self, Limits};
use super::{Counted, finish, recount, scopes};
use crate::desk::Seen;

mod changes;
mod refusals;
mod replaced;
mod sums;

const ONE: i128 = 1_000_000_000;
const SECOND: u64 = 1_000_000_000;
const SIM: InstrumentId = InstrumentId(1);
const LEDGER: StrategyId = StrategyId(4);
const STRATEGY: StrategyId = StrategyId(5);

/// A drop copy that is written frame by frame.
#[derive(Clone, Default)]
struct Copy {
    frames: Vec<Seen>,
    time: u64,
    executions: u64,
    given: Given,
    evidence: Evidence,
}

fn price(whole: i64) -> Price {
    Price(whole * ONE as i64)
}

impl Copy {
    /// Account 7 of group 2 with 10,000, in an instrument of multiplier 1, at a margin of a tenth.
    fn new() -> Copy {
        let given = Given { ledger: Some(LEDGER), ..Given::default() };
        let mut copy = Copy { time: SECOND, given, ..Copy::default() };
        let (who, why) = (Text::cut("ann"), Text::cut("test"));
        let currency = Currency::cut("CNY");
        copy.add(AnyMessage::CurrencyRate(CurrencyRate { currency, rate: ONE as u64 }));
        copy.add(AnyMessage::ContractTerms(ContractTerms {
            instrument: SIM,
            flags: ContractTerms::TRADABLE | ContractTerms::SHORTABLE,
            symbol: Symbol::new("SIM001").unwrap(),
            currency,
            multiplier: 1,
            price_low: Price::NONE,
            price_high: Price::NONE,
        }));
        copy.add(AnyMessage::AccountOpen(AccountOpen {
            account: AccountId(7),
            group: 2,
            parent: AccountId(0),
            kind: AccountKind::Margin,
            method: CostMethod::Average,
            reserved: 0,
            currency,
            name: Text::EMPTY,
            who,
            why,
        }));
        copy.add(AnyMessage::MarginRule(MarginRule {
            account: AccountId(0),
            instrument: InstrumentId(0),
            prefix: Symbol::default(),
            long_rate: ONE as u64 / 10,
            short_rate: ONE as u64 / 10,
            long_per_lot: WideMoney::default(),
            short_per_lot: WideMoney::default(),
            who,
            why,
        }));
        copy.change(AccountAction::Deposit, (AccountScope::Account, 7), ("ann", "test"), 10_000);
        copy
    }

    fn add(&mut self, message: AnyMessage) -> &mut Copy {
        self.add_to(0, message)
    }

    fn add_to(&mut self, topic: u32, message: AnyMessage) -> &mut Copy {
        let position = 64 * (1 + self.frames.len() as u64);
        let (id, payload) = (message.id(), message.bytes().to_vec());
        self.frames.push(Seen { position, time: self.time, topic, id, payload });
        self.time += 1_000_000;
        self
    }

    fn later(&mut self, seconds: u64) -> &mut Copy {
        self.time += seconds * SECOND;
        self
    }

    fn change(
        &mut self,
        action: AccountAction,
        (scope, subject): (AccountScope, u32),
        (who, why): (&str, &str),
        amount: i128,
    ) -> &mut Copy {
        self.add(AnyMessage::AccountChange(AccountChange {
            subject,
            scope,
            action,
            reserved: 0,
            amount: WideMoney::from_wide(amount * ONE),
            currency: if amount == 0 { Currency::EMPTY } else { Currency::cut("CNY") },
            who: Text::cut(who),
            why: Text::cut(why),
        }))
    }

    fn kill(&mut self, who: &str, why: &str) -> &mut Copy {
        self.change(AccountAction::Kill, (AccountScope::Account, 7), (who, why), 0)
    }

    fn limit(
        &mut self,
        scope: (AccountScope, u32),
        limit: LimitKind,
        (number, burst): (u64, u32),
        amount: i128,
    ) -> &mut Copy {
        self.add(AnyMessage::AccountLimit(AccountLimit {
            subject: scope.1,
            scope: scope.0,
            limit,
            change: LimitChange::Set,
            reserved: 0,
            instrument: InstrumentId(0),
            burst,
            number,
            amount: WideMoney::from_wide(amount * ONE),
            who: Text::cut("ann"),
            why: Text::cut("test"),
        }))
    }

    fn mark(&mut self, whole: i64) -> &mut Copy {
        self.add(AnyMessage::Mark(Mark { instrument: SIM, reserved: 0, price: price(whole) }))
    }

    fn order(&mut self, number: u32, side: Side, quantity: i64, at: i64) -> &mut Copy {
        self.add(AnyMessage::NewOrder(order(STRATEGY, number, (side, quantity, at))))
    }

    fn refused(&mut self, number: u32, reason: Reason) -> &mut Copy {
        let order = order(STRATEGY, number, (Side::Buy, 1, 50));
        self.add_to(DROP_REFUSED, AnyMessage::NewOrder(order));
        self.add(AnyMessage::OrderUpdate(OrderUpdate::rejection(&order, reason)))
    }

    fn forced(&mut self, number: u32, quantity: i64) -> &mut Copy {
        let plain = order(LEDGER, number, (Side::Sell, quantity, 30));
        self.add(AnyMessage::NewOrder(NewOrder { flags: NewOrder::FORCED, ..plain }))
    }

    fn fill(&mut self, number: u32, side: Side, quantity: i64, at: i64) -> &mut Copy {
        self.executions += 64;
        self.add(AnyMessage::Fill(Fill {
            order_id: OrderId::new(STRATEGY, 1, number),
            trade_id: u64::from(number),
            instrument: SIM,
            side,
            liquidity: Liquidity::Taker,
            reserved: [0; 2],
            price: price(at),
            quantity: Quantity(quantity),
            remaining: Quantity(0),
            event_time: Nanos(0),
            execution: self.executions,
            answered_up_to: 0,
        }))
    }

    fn ends(&mut self, number: u32, status: OrderStatus) -> &mut Copy {
        self.executions += 64;
        let id = OrderId::new(STRATEGY, 1, number);
        let update = OrderUpdate::about(id, SIM, status, Reason::Requested);
        self.add(AnyMessage::OrderUpdate(OrderUpdate { execution: self.executions, ..update }))
    }

    /// 100 lots are bought at 50, and the mark is 50: 500 of margin.
    fn holds(&mut self) -> &mut Copy {
        self.order(1, Side::Buy, 100, 50).fill(1, Side::Buy, 100, 50);
        self.ends(1, OrderStatus::Filled).mark(50)
    }

    fn follower(&self) -> Follower {
        let mut follower = Follower::new(Options::default());
        for seen in &self.frames {
            // What td would have refused is a difference of another part.
            let _ = follower.frame((seen.position, seen.topic, Nanos(seen.time)), seen.id, &seen.payload);
        }
        follower
    }

    /// What the parts say that need the drop copy alone.
    fn parts(&self) -> Vec<Findings> {
        let mut counted =
            Counted::new(Limits::new(self.given.clone(), limits::part()), self.evidence.clone());
        self.frames.iter().for_each(|seen| counted.take(seen));
        finish(Some(counted), Some(&self.follower().desk))
    }

    fn rows(&self) -> Vec<String> {
        let parts = self.parts();
        let rows = parts.iter().flat_map(|part| &part.rows);
        rows.map(|row| format!("{}: {}; {}", row.part, row.found, row.expected)).collect()
    }

    fn is_sound(&self) {
        assert_eq!(self.rows(), Vec::<String>::new());
    }

    fn finds(&self, part: &str, words: &str) {
        let rows = self.rows();
        let is_it = |row: &&String| row.starts_with(&format!("{part}: ")) && row.contains(words);
        assert_eq!(rows.iter().filter(is_it).count(), 1, "{part}, {words}: {rows:#?}");
    }
}

fn order(strategy: StrategyId, number: u32, (side, quantity, at): (Side, i64, i64)) -> NewOrder {
    NewOrder {
        account: AccountId(7),
        ..NewOrder::plain(
            OrderId::new(strategy, 1, number),
            SIM,
            side,
            OrderType::Limit,
            TimeInForce::GoodTillCancel,
            price(at),
            Quantity(quantity),
        )
    }
}

const ACCOUNT: (AccountScope, u32) = (AccountScope::Account, 7);
const LOSS: &str = "the loss of the day passed its limit";
const REJECTS: &str = "too many refused orders a second";
const RUNAWAY: &str = "too many orders a second";

#[test]
fn a_loss_past_its_limit_kills_and_a_smaller_one_does_not() {
    let mut copy = Copy::new();
    copy.limit(ACCOUNT, LimitKind::Loss, (0, 0), 1_000).holds();
    copy.clone().mark(41).order(2, Side::Buy, 1, 41).is_sound();
    // At 39 it has lost 1,100. The ledger looks a moment later.
    let mut lost = copy.clone();
    lost.mark(39);
    lost.clone().kill("ledger", LOSS).later(60).mark(39).is_sound();
    lost.clone().later(60).mark(38).finds("switches", "the kill switch of account 7 has not fallen");
    lost.clone()
        .later(60)
        .order(2, Side::Buy, 1, 39)
        .finds("switches", "order 5-1-2 went out, after a result");
    copy.clone().kill("ledger", LOSS).finds("switches", "none was");
    copy.clone().mark(49).kill("td", "asked for").finds("switches", "none was");
    // What comes back before the ledger looks is no loss.
    lost.clone().mark(45).later(60).order(2, Side::Buy, 1, 45).is_sound();
    // A fill is looked at in the same step.
    copy.mark(39).mark(50).order(2, Side::Sell, 100, 38).fill(2, Side::Sell, 100, 38);
    copy.clone().kill("td", LOSS).ends(2, OrderStatus::Filled).is_sound();
    copy.ends(2, OrderStatus::Filled)
        .order(3, Side::Buy, 1, 39)
        .finds("switches", "order 5-1-3 went out, after a result");
}

#[test]
fn losses_of_groups_and_of_the_platform_kill_them() {
    for (scope, name) in
        [((AccountScope::Group, 2), "group 2"), ((AccountScope::Platform, 0), "the platform")]
    {
        let mut copy = Copy::new();
        copy.limit(scope, LimitKind::Loss, (0, 0), 1_000).holds().mark(39);
        copy.clone().change(AccountAction::Kill, scope, ("ledger", LOSS), 0).later(60).mark(38).is_sound();
        copy.later(60).mark(38).finds("switches", &format!("the kill switch of {name} has not fallen"));
    }
}

#[test]
fn rates_that_are_passed_kill_and_others_do_not() {
    let mut copy = Copy::new();
    copy.limit(ACCOUNT, LimitKind::RejectRate, (1, 3), 0);
    copy.clone().kill("td", REJECTS).finds("switches", "none was");
    let mut refused = copy.clone();
    for number in 1..=3 {
        refused.refused(number, Reason::Quantity);
    }
    refused.clone().order(9, Side::Buy, 1, 50).is_sound();
    for number in 4..=6 {
        refused.refused(number, Reason::Quantity);
    }
    refused.clone().kill("td", REJECTS).is_sound();
    refused.order(9, Side::Buy, 1, 50).finds("switches", "more refused orders of account 7");
    // What a switch or a rate refuses need not count.
    copy.limit(ACCOUNT, LimitKind::OrderRate, (1, 1), 0);
    for number in 1..=9 {
        copy.refused(number, Reason::OrderRate);
    }
    copy.order(10, Side::Buy, 1, 50).is_sound();

    let mut many = Copy::new();
    many.limit(ACCOUNT, LimitKind::RunawayRate, (1, 2), 0);
    for number in 1..=2 {
        many.order(number, Side::Buy, 1, 50);
    }
    many.is_sound();
    for number in 3..=5 {
        many.order(number, Side::Buy, 1, 50);
    }
    many.finds("switches", "order 5-1-5 went out, after more orders of account 7");
    let mut killed = Copy::new();
    killed
        .limit(ACCOUNT, LimitKind::RunawayRate, (1, 100), 0)
        .kill("td", RUNAWAY)
        .finds("switches", "none was");
}

#[test]
fn nothing_goes_out_under_a_switch_and_what_works_is_cancelled() {
    let mut copy = Copy::new();
    copy.order(1, Side::Buy, 1, 50).kill("ann", "test");
    copy.clone().order(2, Side::Buy, 1, 50).finds("switches", "under the fallen kill switch of account 7");
    let mut over = copy.clone();
    over.later(60).mark(50).finds("switches", "order 5-1-1 works on under the kill switch of account 7");
    copy.add(AnyMessage::CancelOrder(wire::CancelOrder::new(OrderId::new(STRATEGY, 1, 1), SIM)));
    copy.later(60).mark(50).is_sound();
    copy.change(AccountAction::Revive, ACCOUNT, ("ann", "test"), 0).order(2, Side::Buy, 1, 50).is_sound();
    copy.change(AccountAction::Freeze, ACCOUNT, ("ann", "test"), 0);
    copy.order(3, Side::Buy, 1, 50).finds("switches", "it is frozen");
}

#[test]
fn orders_by_force_are_due_and_none_that_is_due_is_left_out() {
    let mut copy = Copy::new();
    // 500 of margin are a twentieth of 10,000.
    copy.limit(ACCOUNT, LimitKind::ForcedLiquidation, (ONE as u64 / 10, 0), 0).holds();
    copy.clone().later(60).mark(49).is_sound();
    copy.clone().forced(1, 10).finds("forced", "none is due");
    // At -30, the equity is 2,000 and the bound 200.
    copy.mark(-30);
    copy.clone().later(60).forced(1, 10).is_sound();
    copy.clone().later(60).forced(1, 101).finds("forced", "at most the 100 that are held");
    copy.clone().later(60).mark(-31).finds("forced", "nothing is closed by force");
    let by_hand = NewOrder { flags: NewOrder::FORCED, ..order(STRATEGY, 8, (Side::Sell, 1, 30)) };
    copy.clone().add(AnyMessage::NewOrder(by_hand)).finds("forced", "orders of the ledger are");
}

#[test]
fn limits_of_every_scope_hold_each_order_that_goes_out() {
    let scopes = [
        (ACCOUNT, "account 7"),
        ((AccountScope::Group, 2), "group 2"),
        ((AccountScope::Strategy, 5), "strategy"),
        ((AccountScope::Platform, 0), "the platform"),
    ];
    for (scope, name) in scopes {
        let limited = |kind, number, amount| {
            let mut copy = Copy::new();
            copy.mark(50).limit(scope, kind, (number, 0), amount).order(1, Side::Buy, 2, 50);
            copy
        };
        limited(LimitKind::OrderQuantity, 2, 0).is_sound();
        limited(LimitKind::OrderQuantity, 1, 0).finds("limits", "order-quantity of");
        limited(LimitKind::OrderNotional, 0, 100).is_sound();
        limited(LimitKind::OrderNotional, 0, 99).finds("limits", "order-notional of");
        let mut open = limited(LimitKind::OpenOrders, 1, 0);
        open.is_sound();
        open.order(2, Side::Buy, 1, 50).finds("limits", &format!("1 orders of {name}"));
        let mut position = limited(LimitKind::Position, 3, 0);
        position.order(2, Side::Sell, 3, 60).is_sound();
        position.order(3, Side::Buy, 2, 50).finds("limits", "at most 3 if all fills: it could be 4");
    }
}

#[test]
fn sums_of_scopes_are_those_of_orders_and_fills() {
    let mut copy = Copy::new();
    copy.holds().order(2, Side::Sell, 30, 60).is_sound();
    let mut other = copy.clone();
    other.order(3, Side::Buy, 5, 40);
    let mut books = Books::default();
    other.frames.iter().for_each(|seen| books.take(seen));
    let findings = scopes::compare(&books, &copy.follower().desk);
    let rows: Vec<String> =
        findings.rows.iter().map(|row| format!("{} {}", row.found, row.expected)).collect();
    for name in ["group 2", "the platform", "strategy"] {
        let is_it =
            |row: &&String| row.contains(name) && row.contains("to buy 0") && row.contains("to buy 5");
        assert_eq!(rows.iter().filter(is_it).count(), 1, "{name}: {rows:#?}");
    }
}

#[test]
fn prices_of_a_settlement_that_was_refused_mark_nothing_in_the_next() {
    let mut copy = Copy::new();
    copy.mark(50);
    let entered = |instrument: u32, at: Price| {
        AnyMessage::SettlementPrice(SettlementPrice {
            day: 20_260_131,
            instrument: InstrumentId(instrument),
            price: at,
        })
    };
    // The first settlement was refused, and left no entry behind; the second begins by taking the prices back.
    copy.add(entered(1, price(103))).add(entered(0, Price::NONE));
    let settle = Settle { day: 20_260_131, flags: 0, who: Text::cut("ann") };
    copy.add(AnyMessage::Settle(settle)).is_sound();
    assert_eq!(copy.follower().desk.settled_day(), 20_260_131);
    let findings = {
        let mut books = Books::default();
        copy.frames.iter().for_each(|seen| books.take(seen));
        recount::compare(&books, &copy.follower().desk)
    };
    assert!(findings.differences == 0 && findings.checked > 0, "{:?}", findings.rows);
}
