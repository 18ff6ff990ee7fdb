//! Money of replaces: what went out without it, and what was refused although it was there, by hand and against the accounts' own
//! code in random lives.

use wire::{ChargeKind, FeeEvent, FeeRule, FeeSide, ReplaceOrder};

use super::super::breaches::{Asked, breaches};
use super::*;

fn replace_of(number: u32, quantity: i64, at: i64) -> ReplaceOrder {
    let order_id = OrderId::new(STRATEGY, 1, number);
    ReplaceOrder { order_id, instrument: SIM, source: 0, price: price(at), quantity: Quantity(quantity) }
}

fn books(copy: &Copy) -> Books {
    let mut books = Books::default();
    copy.frames.iter().for_each(|seen| books.take(seen));
    books
}

/// Whether the money of a replace is missing for certain, and whether it may be.
fn lacks(books: &Books, given: &Given, replace: &ReplaceOrder) -> (bool, bool) {
    let order = &books.orders[&replace.order_id];
    let asked = Asked::replace(books, order, replace.price, replace.quantity.0);
    let all = breaches(given, books, &asked);
    let mut its = all.iter().filter(|breach| breach.reason == Reason::InsufficientFunds);
    let first = its.next();
    (first.is_some_and(|breach| breach.is_certain), first.is_some())
}

impl Copy {
    fn charges(&mut self, rate: u64) {
        self.add(AnyMessage::FeeRule(FeeRule {
            account: AccountId(0),
            instrument: InstrumentId(0),
            prefix: Symbol::default(),
            charge: 1,
            kind: ChargeKind::Fee,
            side: FeeSide::Both,
            event: FeeEvent::Any,
            flags: 0,
            reserved: [0; 2],
            unit: 10_000_000,
            rate,
            per_lot: WideMoney::default(),
            minimum: WideMoney::from_wide(ONE),
            who: Text::cut("ann"),
            why: Text::cut("test"),
        }));
    }

    fn account_of(kind: AccountKind) -> Copy {
        let mut copy = Copy::new();
        for seen in &mut copy.frames {
            if let Ok(AnyMessage::AccountOpen(open)) = AnyMessage::decode(seen.id, &seen.payload) {
                seen.payload = AnyMessage::AccountOpen(AccountOpen { kind, ..open }).bytes().to_vec();
            }
        }
        copy
    }

    /// A replace that went out without its money is found, and its refusal for money is not.
    fn may_not(&self, replace: ReplaceOrder) {
        let mut out = self.clone();
        out.add(AnyMessage::ReplaceOrder(replace)).finds("limits", "account 7 with");
        self.clone().refused_for_money(replace).is_sound();
    }

    /// The other way round.
    fn may(&self, replace: ReplaceOrder) {
        let mut out = self.clone();
        out.add(AnyMessage::ReplaceOrder(replace)).is_sound();
        self.clone().refused_for_money(replace).finds("refusals", "it keeps to that rule");
    }

    fn refused_for_money(self, replace: ReplaceOrder) -> Copy {
        let mut copy = self;
        copy.evidence.is_whole = true;
        copy.refused_as(wire::Request::Replace(replace), Reason::InsufficientFunds)
    }
}

#[test]
fn a_replace_needs_the_money_of_its_order_then_less_what_the_order_holds_back_now() {
    // Ten at 50 at a tenth of 10,000.
    let mut copy = Copy::new();
    copy.order(1, Side::Buy, 10, 50);
    copy.may(replace_of(1, 1_999, 50));
    copy.may_not(replace_of(1, 2_001, 50));
    copy.may(replace_of(1, 10, 9_990));
    copy.may_not(replace_of(1, 10, 10_010));
    // Another order holds back 5,000.
    copy.order(2, Side::Buy, 1_000, 50);
    copy.may(replace_of(1, 999, 50));
    copy.may_not(replace_of(1, 1_001, 50));
    // While a replace is on its way, its order counts at the larger quantity and the higher price.
    copy.add(AnyMessage::ReplaceOrder(replace_of(1, 10, 60)));
    copy.may(replace_of(1, 832, 50));
    copy.may_not(replace_of(1, 834, 50));
}

#[test]
fn a_replace_that_holds_back_no_more_or_only_closes_is_never_refused_for_money() {
    let mut copy = Copy::new();
    copy.holds().order(2, Side::Buy, 10, 50).order(3, Side::Sell, 50, 60);
    // The account has less than nothing left.
    copy.mark(-60);
    copy.may(replace_of(2, 5, 50));
    copy.may(replace_of(2, 10, 49));
    copy.may_not(replace_of(2, 11, 50));
    copy.may_not(replace_of(2, 10, 51));
    copy.may(replace_of(3, 100, 60));
    // One of these opens.
    copy.refused_for_money(replace_of(3, 101, 60)).is_sound();
}

#[test]
fn a_cash_account_pays_for_what_a_purchase_may_come_to() {
    let mut copy = Copy::account_of(AccountKind::Cash);
    copy.order(1, Side::Buy, 10, 50);
    copy.may(replace_of(1, 199, 50));
    copy.may_not(replace_of(1, 201, 50));
    copy.fill(1, Side::Buy, 4, 50);
    copy.may(replace_of(1, 199, 50));
    copy.may_not(replace_of(1, 201, 50));
}

/// Numbers from a seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn side(&mut self) -> Side {
        if self.below(2) == 0 { Side::Buy } else { Side::Sell }
    }
}

/// An order as the market has it.
#[derive(Clone, Copy)]
struct Works {
    number: u32,
    side: Side,
    total: i64,
    filled: i64,
    at: i64,
}

/// A random life of an account, as td lets it happen: the drop copy, and what works.
struct Life {
    copy: Copy,
    dice: Dice,
    works: Vec<Works>,
    count: u32,
    trades: u64,
}

impl Life {
    fn new(seed: u64) -> Life {
        let mut dice = Dice(seed);
        let kinds = [AccountKind::Cash, AccountKind::Margin, AccountKind::Futures];
        let mut copy = Copy::account_of(kinds[dice.below(3) as usize]);
        if dice.below(2) == 0 {
            copy.charges(2_500_000);
        }
        if dice.below(4) > 0 {
            copy.mark(50);
        }
        Life { copy, dice, works: Vec::new(), count: 0, trades: 0 }
    }

    fn execution(&mut self, of: Works, status: OrderStatus) {
        self.copy.executions += 64;
        let id = OrderId::new(STRATEGY, 1, of.number);
        self.copy.add(AnyMessage::OrderUpdate(OrderUpdate {
            side: of.side,
            price: price(of.at),
            quantity: Quantity(of.total),
            filled: Quantity(of.filled),
            execution: self.copy.executions,
            ..OrderUpdate::about(id, SIM, status, Reason::None)
        }));
    }

    fn orders(&mut self) {
        self.count += 1;
        let (side, quantity, at) =
            (self.dice.side(), 1 + self.dice.below(150) as i64, 30 + self.dice.below(40) as i64);
        let flags = [0, NewOrder::OFFSET_OPEN, NewOrder::OFFSET_CLOSE][self.dice.below(3) as usize];
        let mut order = NewOrder { flags, ..order(STRATEGY, self.count, (side, quantity, at)) };
        let mut desk = self.copy.follower().desk;
        if desk.admit(STRATEGY, &mut order, Nanos(self.copy.time)).is_err() {
            return;
        }
        let works = Works { number: self.count, side, total: quantity, filled: 0, at };
        self.copy.add(AnyMessage::NewOrder(order));
        self.execution(works, OrderStatus::Accepted);
        self.works.push(works);
    }

    fn trades(&mut self, place: usize) {
        let its = &mut self.works[place];
        let lots = 1 + self.dice.below((its.total - its.filled) as u64) as i64;
        its.filled += lots;
        let its = *its;
        let better = self.dice.below(5) as i64;
        let at = if its.side == Side::Buy { its.at - better } else { its.at + better };
        self.trades += 1;
        self.copy.executions += 64;
        self.copy.add(AnyMessage::Fill(Fill {
            order_id: OrderId::new(STRATEGY, 1, its.number),
            trade_id: self.trades,
            instrument: SIM,
            side: its.side,
            liquidity: Liquidity::Maker,
            reserved: [0; 2],
            price: price(at),
            quantity: Quantity(lots),
            remaining: Quantity(its.total - its.filled),
            event_time: Nanos(0),
            execution: self.copy.executions,
            answered_up_to: 0,
        }));
        if its.filled == its.total {
            self.execution(its, OrderStatus::Filled);
            self.works.swap_remove(place);
        } else {
            self.execution(its, OrderStatus::PartiallyFilled);
        }
    }

    /// A replace goes out, and the market answers it, at once or after something else has happened.
    fn replaces(&mut self, place: usize, replace: ReplaceOrder) {
        self.copy.add(AnyMessage::ReplaceOrder(replace));
        if self.dice.below(2) == 0 {
            self.orders();
        }
        if self.dice.below(2) == 0 {
            return self.execution(self.works[place], OrderStatus::ReplaceRejected);
        }
        let its = &mut self.works[place];
        (its.total, its.at) = (replace.quantity.0, replace.price.0 / ONE as i64);
        let its = *its;
        self.execution(its, OrderStatus::Replaced);
    }
}

/// What td lets out is never found, and what it refuses for money is never called wrong; and nearly every replace is decided.
#[test]
fn the_audit_agrees_with_the_accounts_on_the_money_of_every_replace() {
    let (mut tried, mut sure_to_pass, mut sure_to_fail) = ([0_u32; 2], 0, 0);
    for seed in 0..200 {
        let mut life = Life::new(seed);
        for _ in 0..40 {
            let place = life.dice.below(life.works.len().max(1) as u64) as usize;
            match (life.dice.below(10), life.works.get(place).copied()) {
                (0..3, _) | (_, None) => life.orders(),
                (3..5, Some(_)) => life.trades(place),
                (5, Some(its)) => {
                    life.execution(its, OrderStatus::Cancelled);
                    life.works.swap_remove(place);
                }
                (6, Some(_)) => {
                    let mark = 30 + life.dice.below(40) as i64;
                    life.copy.mark(mark);
                }
                (_, Some(its)) => {
                    let total = (its.total + life.dice.below(400) as i64 - 100).max(1);
                    let at = (its.at + life.dice.below(41) as i64 - 20).max(1);
                    let replace = replace_of(its.number, total, at);
                    let verdict = life.copy.follower().desk.accept_replace(&replace);
                    if !matches!(verdict, Ok(()) | Err(Reason::InsufficientFunds)) {
                        continue;
                    }
                    let (is_certain, is_possible) = lacks(&books(&life.copy), &life.copy.given, &replace);
                    let words = format!("seed {seed}: {replace:?}, {verdict:?}");
                    assert!(verdict.is_err() || !is_certain, "{words}");
                    assert!(verdict.is_ok() || is_possible, "{words}");
                    tried[usize::from(verdict.is_err())] += 1;
                    sure_to_pass += u32::from(!is_possible);
                    sure_to_fail += u32::from(is_certain);
                    if verdict.is_ok() && life.dice.below(3) == 0 {
                        life.replaces(place, replace);
                    }
                }
            }
        }
    }
    let [passed, failed] = tried;
    println!("{sure_to_pass} of {passed} that pass are decided, {sure_to_fail} of {failed} that fail");
    assert!(passed > 1_000 && failed > 200, "{tried:?}");
    assert!(sure_to_pass * 10 > passed * 8 && sure_to_fail * 10 > failed * 7);
}
