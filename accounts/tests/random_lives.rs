//! Random lives over all kinds, methods and entries, against the naive model and against the sums' own parts.
//!
//! `COLO_ACCOUNT_EVENTS=10000000` makes the long form.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test may panic and print")]

mod model;
mod support;

use std::collections::BTreeMap;

use accounts::{Anomaly, Applied, Desk, Entry, Options, Refusal, Verdict};
use model::{Event, Model, World};
use support::*;
use wire::*;

/// Xorshift: the same on every host.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    fn below(&mut self, most: u64) -> u64 {
        self.next() % most
    }

    fn one_in(&mut self, chance: u64) -> bool {
        self.below(chance) == 0
    }
}

const KINDS: [(AccountKind, CostMethod); 9] = [
    (AccountKind::Cash, CostMethod::Average),
    (AccountKind::Cash, CostMethod::Fifo),
    (AccountKind::Cash, CostMethod::Settlement),
    (AccountKind::Margin, CostMethod::Average),
    (AccountKind::Margin, CostMethod::Fifo),
    (AccountKind::Margin, CostMethod::Settlement),
    (AccountKind::Futures, CostMethod::Average),
    (AccountKind::Futures, CostMethod::Fifo),
    (AccountKind::Futures, CostMethod::Settlement),
];

struct Life {
    random: Random,
    desk: Desk,
    model: Model,
    open: Vec<NewOrder>,
    numbers: u32,
    /// The order that was sent in the step before, if there was one.
    latest: Option<OrderId>,
    trades: u64,
    day: u32,
    now: u64,
    /// The market keeps to what was sent.
    is_honest: bool,
    /// How often: sent, refused, fills, settlements, answers of the model.
    counts: BTreeMap<&'static str, u64>,
}

impl Life {
    fn new(seed: u64, is_honest: bool) -> Life {
        let mut random = Random(seed | 1);
        (0..8).for_each(|_| _ = random.next());
        let mut desk = Desk::new(Options { remembered: 64 });
        let mut apply = |entry: Entry| assert_eq!(desk.apply(&entry), Ok(Applied::Done), "{entry:?}");
        let mut terms = BTreeMap::new();
        for entry in reference() {
            let Entry::Terms(mut of) = entry else {
                apply(entry);
                continue;
            };
            // Not everything may be traded, or sold short, or at any price.
            of.flags &= !if random.one_in(6) { ContractTerms::SHORTABLE } else { 0 };
            of.flags &= !if random.one_in(16) { ContractTerms::TRADABLE } else { 0 };
            match random.below(8) {
                0 => (of.price_low, of.price_high) = (price(2), price(9)),
                1 => of.price_high = Price::NONE,
                _ => {}
            }
            terms.insert(of.instrument.0, of);
            apply(Entry::Terms(of));
        }
        let mut fees = Vec::new();
        for charge in 1..=random.below(4) as u16 {
            let rule = FeeRule {
                side: [FeeSide::Both, FeeSide::Buy, FeeSide::Sell][random.below(3) as usize],
                event: [FeeEvent::Any, FeeEvent::Open, FeeEvent::Close, FeeEvent::CloseToday]
                    [random.below(4) as usize],
                kind: if random.one_in(2) { ChargeKind::Fee } else { ChargeKind::Tax },
                unit: [0, 7, 10_000_000][random.below(3) as usize],
                ..fee(
                    charge,
                    random.below(3) * 333_333,
                    i128::from(random.below(2)) * 1_000_000_007,
                    i128::from(random.below(2)) * 5 * ONE,
                )
            };
            fees.push(rule);
            apply(Entry::Fee(rule));
        }
        let mut margins = BTreeMap::new();
        for instrument in 1..=4 {
            let rate = 50_000_001 + random.below(100_000_000);
            margins.insert(instrument, rate);
            apply(Entry::Margin(margin(instrument, rate)));
        }
        let mut paid = Vec::new();
        let mut accounts = BTreeMap::new();
        for (index, (kind, method)) in KINDS.into_iter().enumerate() {
            let account = index as u32 + 1;
            accounts.insert(account, (kind, method));
            apply(open(account, kind, method));
            let amount = 20_000 + i128::from(random.below(200_000));
            apply(deposit(account, amount));
            paid.push(Event::Money(account, currency("CNY"), amount * ONE));
        }
        let rates = BTreeMap::from([(currency("CNY"), 1_000_000_000), (currency("USD"), 7_100_000_000)]);
        let mut model = Model::new(World { accounts, terms, fees, margin: margins, rates });
        paid.into_iter().for_each(|event| model.on(event));
        Life {
            random,
            desk,
            model,
            open: Vec::new(),
            numbers: 0,
            latest: None,
            trades: 0,
            day: 20_260_101,
            now: 0,
            is_honest,
            counts: BTreeMap::new(),
        }
    }

    /// Tells the model, which holds for a market that keeps to what was sent.
    fn note(&mut self, event: Event) {
        if self.is_honest {
            self.model.on(event);
        }
    }

    fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    fn step(&mut self) {
        if !self.is_honest && self.random.one_in(8) {
            self.lie();
        }
        match self.random.below(100) {
            0..40 => self.send(),
            40..75 => self.trade(),
            75..82 => self.end(),
            82..90 => self.replace(),
            90..94 => self.mark(),
            94..96 => self.transfer(),
            96..98 => self.limit(),
            98 => self.settle(),
            _ => self.switch(),
        }
    }

    fn send(&mut self) {
        let account = 1 + self.random.below(9) as u32;
        let instrument = 1 + self.random.below(4) as u32;
        self.numbers += 1;
        let strategy = StrategyId(1 + self.random.below(2) as u16);
        let offsets = [Offset::Auto, Offset::Open, Offset::Close, Offset::CloseToday, Offset::CloseYesterday];
        let is_market = self.random.one_in(12);
        self.now += self.random.below(20_000_000);
        let order = NewOrder {
            order_id: OrderId::new(strategy, 1, self.numbers),
            account: AccountId(account),
            instrument: InstrumentId(instrument),
            side: if self.random.one_in(2) { Side::Buy } else { Side::Sell },
            order_type: if is_market { OrderType::Market } else { OrderType::Limit },
            time_in_force: TimeInForce::GoodTillCancel,
            flags: offsets[self.random.below(5).saturating_sub(self.random.below(3)) as usize].flags(),
            price: Price(self.random.below(40) as i64 * 250_000_001 + Price::ONE),
            quantity: Quantity(1 + self.random.below(if instrument == 3 { 12 } else { 400 }) as i64),
            ..order(0, CASH, STOCK, Side::Buy, 1, 1)
        };
        // Now and then an account or an instrument that is not there.
        let order = match self.random.below(60) {
            0 => NewOrder { account: AccountId(77), ..order },
            1 => NewOrder { instrument: InstrumentId(5), ..order },
            _ => order,
        };
        let now = Nanos(self.now);
        let decided = self.is_honest.then(|| self.model.decide(&order, now));
        let verdict = self.desk.new_order(strategy, &order, now);
        match decided {
            Some(Ok(sent)) => assert_eq!(verdict, Verdict::Send(sent), "{:?}", self.model.kind(account)),
            Some(Err(reason)) => assert_eq!(verdict, Verdict::Refused(reason), "{order:?}"),
            None => {}
        }
        match verdict {
            Verdict::Send(order) => {
                self.count("sent");
                self.note(Event::Sent(order));
                self.latest = Some(order.order_id);
                self.open.push(order);
            }
            Verdict::Refused(reason) => self.count(reason.as_str()),
            Verdict::Known(update) => panic!("{update:?} is not known"),
        }
    }

    fn pick(&mut self) -> Option<usize> {
        (!self.open.is_empty()).then(|| self.random.below(self.open.len() as u64) as usize)
    }

    fn state(&self, order: &NewOrder) -> OrderUpdate {
        self.desk.order(order.order_id).unwrap()
    }

    fn trade(&mut self) {
        let Some(index) = self.pick() else { return };
        let order = self.open[index];
        let state = self.state(&order);
        let left = state.remaining.0;
        if left <= 0 {
            return self.finish(index, OrderStatus::Filled);
        }
        let lots = if self.random.one_in(2) { left } else { 1 + self.random.below(left as u64) as i64 };
        let at = match order.order_type.has_price() {
            false => Price((1 + self.random.below(20) as i64) * Price::ONE),
            // Its own price, or a better one.
            true if order.side == Side::Buy => {
                Price(state.price.0 - self.random.below(2) as i64 * 100_000_000)
            }
            true => Price(state.price.0 + self.random.below(2) as i64 * 100_000_000),
        };
        self.trades += 1;
        self.note(Event::Fill(order.order_id, at, lots));
        self.count("fills");
        assert_eq!(self.desk.execution(&fill(&order, self.trades, lots, at, left - lots)), None);
        if left == lots {
            self.finish(index, OrderStatus::Filled);
        }
    }

    fn finish(&mut self, index: usize, status: OrderStatus) {
        let order = self.open.swap_remove(index);
        let state = self.state(&order);
        let ends = update(&order, status, state.quantity.0, state.filled.0);
        let anomaly = self.desk.execution(&ends);
        assert!(anomaly.is_none() || !self.is_honest, "{anomaly:?} of {ends:?}");
        self.note(Event::End(order.order_id));
        if self.is_honest && status == OrderStatus::Rejected {
            self.model.refused(Some(order.account.0), order.order_id.strategy(), Nanos(0));
        }
    }

    fn end(&mut self) {
        let Some(index) = self.pick() else { return };
        let state = self.state(&self.open[index]);
        // A rejection is for orders that the market has not answered.
        let is_new = self.latest == Some(state.order_id) && state.filled == Quantity(0);
        let status =
            if is_new && self.random.one_in(4) { OrderStatus::Rejected } else { OrderStatus::Cancelled };
        self.count("ends");
        self.finish(index, status);
    }

    fn replace(&mut self) {
        let Some(index) = self.pick() else { return };
        let order = self.open[index];
        let state = self.state(&order);
        let total = state.filled.0 + 1 + self.random.below(2 * state.quantity.0.unsigned_abs() + 1) as i64;
        let price = Price((state.price.0 + (self.random.below(5) as i64 - 2) * 250_000_000).max(Price::ONE));
        let replace = ReplaceOrder {
            order_id: order.order_id,
            instrument: order.instrument,
            source: 0,
            price,
            quantity: Quantity(total),
        };
        let now = Nanos(self.now);
        let decided = self.is_honest.then(|| self.model.decide_replace(&replace, now));
        let verdict = self.desk.replace(order.order_id.strategy(), &replace, now);
        assert!(
            decided.is_none_or(|decided| decided == verdict),
            "{verdict:?}, not {decided:?}: {replace:?}"
        );
        if verdict.is_err() {
            return self.count("replaces refused");
        }
        self.count("replaces");
        self.latest = None;
        self.note(Event::Asked(order.order_id, price, total));
        self.desk.audit().unwrap();
        if self.random.one_in(3) {
            let denied = update(&order, OrderStatus::ReplaceRejected, state.quantity.0, state.filled.0);
            assert_eq!(self.desk.execution(&denied), None);
            self.note(Event::Denied(order.order_id));
        } else {
            let replaced = NewOrder { price, ..order };
            let done = update(&replaced, OrderStatus::Replaced, total, state.filled.0);
            assert_eq!(self.desk.execution(&done), None);
            self.note(Event::Total(order.order_id, price, total));
        }
    }

    fn mark(&mut self) {
        let instrument = InstrumentId(1 + self.random.below(4) as u32);
        let price = Price((1 + self.random.below(15) as i64) * Price::ONE);
        self.desk.mark(instrument, price);
        self.note(Event::Mark(instrument, price));
    }

    fn transfer(&mut self) {
        let account = 1 + self.random.below(9) as u32;
        let amount = 1 + i128::from(self.random.below(3_000)) * ONE;
        let currency = currency(if self.random.one_in(2) { "CNY" } else { "USD" });
        let action = if self.random.one_in(2) { AccountAction::Deposit } else { AccountAction::Withdraw };
        let Entry::Change(change) = change(AccountScope::Account, account, action, amount) else { return };
        let before = self.desk.snapshot();
        let signed = if action == AccountAction::Deposit { amount } else { -amount };
        let may = signed > 0 || self.may_withdraw(account, currency, amount);
        let applied = self.desk.apply(&Entry::Change(AccountChange { currency, ..change }));
        assert!(!self.is_honest || applied.is_ok() == may, "{applied:?} for {signed} {currency}");
        match applied {
            Ok(_) => self.note(Event::Money(account, currency, signed)),
            Err(refusal) => {
                assert_eq!(refusal, Refusal::Insufficient);
                assert!(self.desk.snapshot() == before, "a refused entry changed something");
                self.count("withdrawals refused");
            }
        }
    }

    fn may_withdraw(&self, account: u32, currency: Currency, amount: i128) -> bool {
        let needed = -model::convert(-amount, self.model.world.rates[&currency], World::HOME);
        self.model.money(account, currency)[0] >= amount && self.model.available(account) >= needed
    }

    fn settle(&mut self) {
        self.day += 1;
        let mut prices = BTreeMap::new();
        for instrument in 1..=4 {
            let at = 1 + self.random.below(15) as i64;
            prices.insert(instrument, price(at));
        }
        let rows: Vec<(InstrumentId, i64)> =
            prices.iter().map(|(id, price)| (InstrumentId(*id), price.0 / Price::ONE)).collect();
        let applied = settle(&mut self.desk, self.day, &rows).unwrap();
        let Applied::Settled(settlement) = applied else { panic!("not settled") };
        for row in &settlement.statements {
            assert_eq!(row.opening + row.day_totals.balance(), row.closing, "{row}");
        }
        let again = self.desk.snapshot();
        assert_eq!(settle(&mut self.desk, self.day, &[]), Ok(Applied::Already));
        assert!(again == self.desk.snapshot(), "a day that is settled twice");
        self.note(Event::Settle(prices));
        self.count("settlements");
    }

    /// A limit of any scope is set or lifted, or a check switched.
    fn limit(&mut self) {
        if !self.is_honest {
            return;
        }
        let (scope, number) = [
            (AccountScope::Account, 1 + self.random.below(9) as u32),
            (AccountScope::Group, 1),
            (AccountScope::Strategy, 1 + self.random.below(2) as u32),
            (AccountScope::Platform, 0),
        ][self.random.below(4) as usize];
        let wide = if scope == AccountScope::Account { 1 } else { 4 };
        let (kind, most) = [
            (LimitKind::Position, self.random.below(500) * wide),
            (LimitKind::GrossNotional, self.random.below(20_000) * wide),
            (LimitKind::OrderQuantity, self.random.below(600)),
            (LimitKind::OrderNotional, self.random.below(20_000)),
            (LimitKind::OpenOrders, self.random.below(6) * wide),
            (LimitKind::OrderRate, self.random.below(100)),
            (LimitKind::MessageRate, self.random.below(150)),
            (LimitKind::RunawayRate, self.random.below(150)),
            (LimitKind::RejectRate, self.random.below(50)),
            (LimitKind::Loss, self.random.below(20_000)),
            (LimitKind::PriceBand, 0),
            (LimitKind::SelfTrade, 0),
            (LimitKind::Money, 0),
        ][self.random.below(13) as usize];
        let is_switch = matches!(kind, LimitKind::PriceBand | LimitKind::SelfTrade | LimitKind::Money);
        let is_off = self.random.one_in(2);
        let (scope, number) = match kind {
            // The desk adds losses of groups up at surveys only.
            LimitKind::Loss => (AccountScope::Account, 1 + self.random.below(9) as u32),
            _ if is_switch => (AccountScope::Platform, 0),
            _ => (scope, number),
        };
        let of_one = kind == LimitKind::Position && self.random.one_in(2);
        let entry = AccountLimit {
            change: match (is_switch, is_off) {
                (true, true) => LimitChange::Disable,
                (true, false) => LimitChange::Enable,
                (false, true) => LimitChange::Lift,
                (false, false) => LimitChange::Set,
            },
            burst: 1 + self.random.below(20) as u32,
            instrument: InstrumentId(if of_one { 1 + self.random.below(4) as u32 } else { 0 }),
            ..limit(scope, number, kind, most)
        };
        assert_eq!(self.desk.apply(&Entry::Limit(entry)), Ok(Applied::Done), "{entry:?}");
        self.count("limits");
        self.note(Event::Limit(entry));
    }

    /// Kills and revives, freezes and unfreezes; what has fallen by itself is lifted now and then.
    fn switch(&mut self) {
        let account = 1 + self.random.below(9) as u32;
        let killed = model::subject(AccountScope::Account, account);
        if !self.model.killed.contains(&killed) {
            self.desk.apply(&change(AccountScope::Account, account, AccountAction::Kill, 0)).unwrap();
            self.note(Event::Kill(killed, true));
            self.send();
            self.desk.apply(&change(AccountScope::Account, account, AccountAction::Revive, 0)).unwrap();
            self.note(Event::Kill(killed, false));
        }
        self.desk.apply(&change(AccountScope::Account, account, AccountAction::Freeze, 0)).unwrap();
        self.note(Event::Freeze(account, true));
        self.send();
        self.desk.apply(&change(AccountScope::Account, account, AccountAction::Unfreeze, 0)).unwrap();
        self.note(Event::Freeze(account, false));
    }

    /// The kill switches that have fallen are those of the model. Most are lifted soon: what is killed decides nothing else.
    fn kills(&mut self) {
        let fallen: Vec<_> =
            self.desk.take_kills().into_iter().map(|kill| model::subject(kill.scope, kill.subject)).collect();
        if !self.is_honest {
            return;
        }
        assert_eq!(fallen, std::mem::take(&mut self.model.fallen));
        fallen.iter().for_each(|_| self.count("kills"));
        for (scope, subject) in self.model.killed.clone() {
            if self.random.one_in(4) {
                let of = [
                    AccountScope::Account,
                    AccountScope::Group,
                    AccountScope::Strategy,
                    AccountScope::Platform,
                ][usize::from(scope) - 1];
                self.desk.apply(&change(of, subject, AccountAction::Revive, 0)).unwrap();
                self.note(Event::Kill((scope, subject), false));
            }
        }
    }

    /// The market says what it should not.
    fn lie(&mut self) {
        let sequence = 1 + self.random.below(u64::from(self.numbers.max(1))) as u32;
        let id = OrderId::new(StrategyId(1 + self.random.below(2) as u16), 1, sequence);
        let Some(state) = self.desk.order(id) else { return };
        let order = NewOrder {
            order_id: id,
            instrument: state.instrument,
            side: state.side,
            price: price(3),
            ..order(0, CASH, STOCK, Side::Buy, 1, 1)
        };
        let lots = 1 + self.random.below(500) as i64;
        let statuses = [
            OrderStatus::Accepted,
            OrderStatus::PartiallyFilled,
            OrderStatus::Replaced,
            OrderStatus::ReplaceRejected,
            OrderStatus::CancelRejected,
            OrderStatus::Reduced,
            OrderStatus::Triggered,
            OrderStatus::MassCancelled,
        ];
        let execution = match self.random.below(4) {
            0 => fill(&order, self.trades, lots, price(3), 0),
            1 => fill(&order, 1_000_000_000 + self.trades, -lots, price(3), 0),
            2 => fill(&order, 2_000_000_000 + u64::from(self.numbers), lots, price(3), 0),
            _ => update(&order, statuses[self.random.below(8) as usize], lots, state.filled.0),
        };
        let before = self.desk.snapshot();
        match self.desk.execution(&execution) {
            Some(Anomaly::Doubled | Anomaly::Garbled | Anomaly::UnknownOrder) => {
                // Nothing but the count of anomalies has changed: the checksum's row and one counter.
                assert_eq!(before.len(), self.desk.snapshot().len());
            }
            _ => self.count("lies"),
        }
        // Whatever now differs from what the market of this test thinks is cancelled.
        self.open.retain(|order| {
            let state = self.desk.order(order.order_id).unwrap();
            if order.order_id == id {
                let _ = self.desk.execution(&update(order, OrderStatus::Cancelled, 1, state.filled.0));
                return false;
            }
            true
        });
    }

    /// The whole against the model.
    fn compare(&mut self) {
        self.desk.audit().unwrap();
        let restored = Desk::restore(&self.desk.snapshot()).unwrap();
        assert!(restored.snapshot() == self.desk.snapshot(), "restored, it is another");
        self.desk = restored;
        if !self.is_honest {
            return;
        }
        let model = &self.model;
        for (account, (kind, method)) in &model.world.accounts {
            let name = format!("{kind} {method}");
            for view in self.desk.purses(StrategyId(1), AccountId(*account)) {
                let totals = view.totals;
                let kept = [
                    view.balance,
                    totals.realised,
                    totals.variation,
                    totals.invested,
                    totals.fees + totals.taxes,
                    view.margin,
                ];
                assert_eq!(kept, model.money(*account, view.currency), "{name}");
                assert_eq!(view.frozen, model.reserved(*account, view.currency), "reservations of {name}");
                assert_eq!(view.gross, model.gross(*account, view.currency), "gross of {name}");
            }
            let view = self.desk.account(AccountId(*account)).unwrap();
            assert_eq!(view.available, model.available(*account), "available of {name}");
            assert_eq!(view.day_result, model.day_result(*account), "the day of {name}");
            for instrument in model.world.terms.keys() {
                let Some(row) =
                    self.desk.position(StrategyId(1), AccountId(*account), InstrumentId(*instrument))
                else {
                    continue;
                };
                let position = model.position(*account, *instrument);
                let lots = [row.long_today, row.long_yesterday, row.short_today, row.short_yesterday];
                let wanted = [(0, false), (0, true), (1, false), (1, true)]
                    .map(|(side, old)| position.lots(side, old));
                assert_eq!(lots, wanted, "lots of {name} in {instrument}");
                assert_eq!((row.long_cost, row.short_cost), (position.cost(0), position.cost(1)), "{name}");
            }
        }
        self.count("comparisons");
    }
}

const REFUSALS: [Reason; 18] = [
    Reason::UnknownAccount,
    Reason::Killed,
    Reason::AccountFrozen,
    Reason::MessageRate,
    Reason::OrderRate,
    Reason::UnknownInstrument,
    Reason::NotTradable,
    Reason::Quantity,
    Reason::NoWorstPrice,
    Reason::PriceBand,
    Reason::OrderNotional,
    Reason::WorkingOrders,
    Reason::SelfTrade,
    Reason::NotClosable,
    Reason::ShortSale,
    Reason::PositionLimit,
    Reason::NotionalLimit,
    Reason::InsufficientFunds,
];

fn events() -> u64 {
    std::env::var("COLO_ACCOUNT_EVENTS").ok().and_then(|text| text.parse().ok()).unwrap_or(200_000)
}

fn live(is_honest: bool, length: u64) {
    let (mut done, mut counts) = (0, BTreeMap::new());
    for seed in 1.. {
        let mut life = Life::new(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed), is_honest);
        for step in 1..=length {
            life.step();
            life.kills();
            if step % 16 == 0 {
                life.desk.audit().unwrap_or_else(|what| panic!("life {seed}, step {step}: {what}"));
            }
            if step == length / 2 || step == length {
                life.compare();
            }
        }
        for (what, count) in life.counts {
            *counts.entry(what).or_insert(0) += count;
        }
        done += length;
        if done >= events() {
            println!("{done} events in {seed} lives: {counts:?}");
            break;
        }
    }
    assert!(counts["fills"] > 100 && counts["settlements"] > 5, "{counts:?}");
    if is_honest {
        // A check that never refuses is not tested.
        for reason in REFUSALS {
            assert!(counts.contains_key(reason.as_str()), "no order was refused for {reason:?}: {counts:?}");
        }
        assert!(counts["kills"] > 10 && counts["withdrawals refused"] > 10, "{counts:?}");
    }
}

#[test]
fn a_random_life_is_what_the_naive_model_says() {
    live(true, 250);
}

#[test]
fn sums_hold_whatever_the_market_says() {
    live(false, 500);
}
