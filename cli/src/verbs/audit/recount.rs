//! Money, positions and charges, counted a second time in a simpler way than the accounts do: from deposits, fills and prices
//! alone, without costs, reservations or settlements.
//!
//! Whatever the cost method and whatever settlements have paid, in each currency
//!
//! ```text
//! cash:             balance              = deposits − withdrawals + sold − bought − charges
//! margin, futures:  balance + unrealised = deposits − withdrawals + sold − bought + positions at the mark − charges
//! ```

use std::collections::{BTreeMap, HashMap, HashSet};

use accounts::{Desk, PositionRow};
use wire::{
    AccountAction, AccountId, AccountKind, AccountScope, AnyMessage, Currency, DROP_REFUSED, FeeRule, Fill,
    InstrumentId, NewOrder, Offset, OrderId, Price, Side, StrategyId, Symbol, WideMoney,
};

use super::charges::{self, Class, Of, Traded};
use super::findings::Findings;
use crate::desk::{DROPS, Seen};

/// An account that an entry has opened, or a strategy's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Key {
    Opened(AccountId),
    Own(StrategyId),
}

#[derive(Clone, Copy, Debug, Default)]
struct Purse {
    deposits: i128,
    withdrawals: i128,
    /// Sold less bought.
    flow: i128,
    fees: i128,
    taxes: i128,
}

/// Lots by side (long, short) and day (today, earlier).
#[derive(Clone, Copy, Debug, Default)]
struct Lots {
    lots: [[i64; 2]; 2],
    /// Orders closed of one day, and orders closed of whichever: which day a fill of the latter closes is no matter of fills
    /// alone.
    by_day: bool,
    by_any: bool,
}

#[derive(Debug)]
struct Account {
    kind: AccountKind,
    parent: AccountId,
    purses: BTreeMap<Currency, Purse>,
    positions: BTreeMap<InstrumentId, Lots>,
}

#[derive(Debug)]
struct Order {
    account: Key,
    instrument: InstrumentId,
    side: Side,
    offset: Offset,
    rules: Vec<FeeRule>,
    traded: Traded,
    trades: [u64; 4],
}

#[derive(Clone, Copy, Debug)]
struct Terms {
    symbol: Symbol,
    currency: Currency,
    multiplier: u64,
}

/// The second count.
pub(super) struct Recount {
    pub(super) findings: Findings,
    accounts: BTreeMap<Key, Account>,
    orders: HashMap<OrderId, Order>,
    terms: BTreeMap<InstrumentId, Terms>,
    marks: BTreeMap<InstrumentId, Price>,
    prices: BTreeMap<InstrumentId, Price>,
    settled: u32,
    rules: Vec<FeeRule>,
    /// Accounts of which some closings are of a day that is not known from fills.
    vague: HashSet<Key>,
}

fn worth(price: Price, lots: i64, multiplier: u64) -> i128 {
    i128::from(price.0) * i128::from(lots) * i128::from(multiplier)
}

fn money(amount: i128) -> WideMoney {
    WideMoney::from_wide(amount)
}

const LONG: usize = 0;
const SHORT: usize = 1;
const TODAY: usize = 0;
const EARLIER: usize = 1;

impl Recount {
    pub(super) fn new() -> Recount {
        Recount {
            findings: Findings::new(
                "recount",
                "money, positions and charges are what deposits, fills, rules and prices alone come to",
            ),
            accounts: BTreeMap::new(),
            orders: HashMap::new(),
            terms: BTreeMap::new(),
            marks: BTreeMap::new(),
            prices: BTreeMap::new(),
            settled: 0,
            rules: Vec::new(),
            vague: HashSet::new(),
        }
    }

    pub(super) fn take(&mut self, seen: &Seen) {
        if seen.topic == DROP_REFUSED {
            return;
        }
        // What cannot be read is a difference of another part.
        let Ok(message) = AnyMessage::decode(seen.id, &seen.payload) else { return };
        match message {
            AnyMessage::AccountOpen(open) => {
                let account = Account {
                    kind: open.kind,
                    parent: open.parent,
                    purses: BTreeMap::new(),
                    positions: BTreeMap::new(),
                };
                self.accounts.insert(Key::Opened(open.account), account);
            }
            AnyMessage::AccountChange(change) if change.scope == AccountScope::Account => {
                let account = self.accounts.get_mut(&Key::Opened(AccountId(change.subject)));
                let Some(account) = account else { return };
                let purse = account.purses.entry(change.currency);
                match change.action {
                    AccountAction::Deposit => purse.or_default().deposits += change.amount.wide(),
                    AccountAction::Withdraw => purse.or_default().withdrawals += change.amount.wide(),
                    _ => {}
                }
            }
            AnyMessage::FeeRule(rule) => {
                let key = |rule: &FeeRule| (rule.account, rule.instrument, rule.prefix, rule.charge);
                self.rules.retain(|known| key(known) != key(&rule) || !charges::meet(known, &rule));
                self.rules.push(rule);
            }
            AnyMessage::ContractTerms(terms) => {
                let (symbol, currency) = (terms.symbol, terms.currency);
                let known = Terms { symbol, currency, multiplier: terms.multiplier };
                self.terms.insert(terms.instrument, known);
            }
            AnyMessage::Mark(mark) => self.mark(mark.instrument, mark.price),
            AnyMessage::SettlementPrice(price) => {
                self.prices.insert(price.instrument, price.price);
            }
            AnyMessage::Settle(settle) if settle.day > self.settled => {
                self.settled = settle.day;
                for (instrument, price) in std::mem::take(&mut self.prices) {
                    self.mark(instrument, price);
                }
                let positions = self.accounts.values_mut().flat_map(|account| account.positions.values_mut());
                for lots in positions {
                    lots.lots.iter_mut().for_each(|side| *side = [0, side[TODAY] + side[EARLIER]]);
                }
            }
            AnyMessage::NewOrder(order) => self.sent(&order),
            AnyMessage::Fill(fill) => self.filled(&fill),
            _ => {}
        }
    }

    fn mark(&mut self, instrument: InstrumentId, price: Price) {
        if price.is_some() && self.terms.contains_key(&instrument) {
            self.marks.insert(instrument, price);
        }
    }

    fn sent(&mut self, order: &NewOrder) {
        let key = match order.account {
            AccountId::OWN => Key::Own(order.order_id.strategy()),
            account => Key::Opened(account),
        };
        let account = self.accounts.entry(key).or_insert_with(|| Account {
            kind: AccountKind::Margin,
            parent: AccountId::OWN,
            purses: BTreeMap::new(),
            positions: BTreeMap::new(),
        });
        let Some(terms) = self.terms.get(&order.instrument) else { return };
        let of = Of {
            account: order.account,
            parent: account.parent,
            instrument: order.instrument,
            symbol: terms.symbol,
        };
        let offset = order.offset().unwrap_or(Offset::Auto);
        if account.kind == AccountKind::Futures {
            let lots = account.positions.entry(order.instrument).or_default();
            lots.by_day |= matches!(offset, Offset::CloseToday | Offset::CloseYesterday);
            lots.by_any |= matches!(offset, Offset::Close | Offset::Auto);
            if lots.by_day && lots.by_any {
                self.vague.insert(key);
            }
        }
        let order_of = Order {
            account: key,
            instrument: order.instrument,
            side: order.side,
            offset,
            rules: charges::rules(&self.rules, &of),
            traded: Traded::default(),
            trades: [0; 4],
        };
        self.orders.insert(order.order_id, order_of);
    }

    fn filled(&mut self, fill: &Fill) {
        let Some(order) = self.orders.get_mut(&fill.order_id) else { return };
        let fits = (order.instrument, order.side) == (fill.instrument, fill.side);
        let is_doubled = fill.trade_id != 0 && order.trades.contains(&fill.trade_id);
        if !fits || is_doubled || fill.quantity.0 <= 0 || !fill.price.is_some() {
            return;
        }
        order.trades.rotate_right(1);
        order.trades[0] = fill.trade_id;
        let (Some(terms), Some(account)) =
            (self.terms.get(&fill.instrument), self.accounts.get_mut(&order.account))
        else {
            return;
        };
        let before = charges::paid(&order.rules, order.side, &order.traded);
        let lots = account.positions.entry(fill.instrument).or_default();
        for (class, part) in lots.trade(account.kind, order.side, order.offset, fill.quantity.0) {
            order.traded.add(class, fill.liquidity, part, worth(fill.price, part, terms.multiplier));
        }
        let after = charges::paid(&order.rules, order.side, &order.traded);
        let purse = account.purses.entry(terms.currency).or_default();
        let sign = if order.side == Side::Sell { 1 } else { -1 };
        purse.flow += sign * worth(fill.price, fill.quantity.0, terms.multiplier);
        purse.fees += after.0 - before.0;
        purse.taxes += after.1 - before.1;
    }

    /// Compares with the accounts.
    pub(super) fn finish(mut self, desk: &Desk) -> Findings {
        for (key, account) in &self.accounts {
            let (id, strategy, name) = match *key {
                Key::Opened(id) => (id, StrategyId(0), format!("account {}", id.0)),
                Key::Own(strategy) => {
                    (AccountId::OWN, strategy, format!("own account of seat {}", strategy.0))
                }
            };
            let rows = desk.positions(strategy, id);
            let is_vague = self.vague.contains(key);
            let findings = &mut self.findings;
            positions(findings, &name, account, &rows, is_vague);
            let purses = desk.purses(strategy, id);
            for (currency, counted) in &account.purses {
                let Some(kept) = purses.iter().find(|purse| purse.currency == *currency) else {
                    findings.differs(DROPS, None, format!("{name} has no money in {currency}"), "a purse");
                    continue;
                };
                let mut same = |what: &str, kept: i128, counted: i128| {
                    let what = format!("{name}, {currency}, {what}");
                    findings.same(DROPS, None, &what, money(kept), money(counted));
                };
                same("deposits", kept.totals.deposits, counted.deposits);
                same("withdrawals", kept.totals.withdrawals, counted.withdrawals);
                // Whose closings are vague pays by day what cannot be counted here; the identity below holds with what it paid.
                if !is_vague {
                    same("fees", kept.totals.fees, counted.fees);
                    same("taxes", kept.totals.taxes, counted.taxes);
                }
                let charges = kept.totals.fees + kept.totals.taxes;
                let came = counted.deposits - counted.withdrawals + counted.flow - charges;
                let (kept, counted) = match account.kind {
                    AccountKind::Cash => (kept.balance, came),
                    AccountKind::Margin | AccountKind::Futures => {
                        let its = rows.iter().filter(|row| {
                            self.terms.get(&row.instrument).is_some_and(|terms| terms.currency == *currency)
                        });
                        let (gain, value) = its.fold((0, 0), |(gain, value), row| {
                            let (more, worth) = open(row, account, &self.marks, &self.terms);
                            (gain + more, value + worth)
                        });
                        (kept.balance + gain, came + value)
                    }
                };
                same("balance with what is open", kept, counted);
            }
        }
        for (instrument, contract) in desk.contracts() {
            let mark = self.marks.get(&instrument).copied().unwrap_or(Price::NONE);
            self.findings.same(DROPS, None, &format!("mark of instrument {instrument}"), contract.mark, mark);
        }
        if !self.vague.is_empty() {
            let count = self.vague.len();
            self.findings.notes.push(format!(
                "{count} accounts close lots of one day and of whichever day: charges and days were not counted there"
            ));
        }
        self.findings.notes.push(format!("{} accounts", self.accounts.len()));
        self.findings
    }
}

/// What the accounts say an open position has gained, and what it is worth at the mark. Without a mark the accounts see no gain: it
/// then counts what it cost, by the accounts.
fn open(
    row: &PositionRow,
    account: &Account,
    marks: &BTreeMap<InstrumentId, Price>,
    terms: &BTreeMap<InstrumentId, Terms>,
) -> (i128, i128) {
    let multiplier = terms.get(&row.instrument).map_or(1, |terms| terms.multiplier);
    let net = account.positions.get(&row.instrument).map_or(0, Lots::net);
    match marks.get(&row.instrument) {
        Some(mark) => (row.unrealised, worth(*mark, net, multiplier)),
        None => (0, row.long_cost - row.short_cost),
    }
}

fn positions(findings: &mut Findings, name: &str, account: &Account, rows: &[PositionRow], is_vague: bool) {
    for (instrument, counted) in &account.positions {
        let kept = rows.iter().find(|row| row.instrument == *instrument);
        let kept = kept.map_or([[0; 2]; 2], |row| {
            [[row.long_today, row.long_yesterday], [row.short_today, row.short_yesterday]]
        });
        for (side, word) in [(LONG, "long"), (SHORT, "short")] {
            let what = format!("{name}, instrument {instrument}, {word}");
            if is_vague {
                let all = |of: &[[i64; 2]; 2]| of[side][TODAY] + of[side][EARLIER];
                findings.same(DROPS, None, &what, all(&kept), all(&counted.lots));
            } else {
                let by_day =
                    |of: &[[i64; 2]; 2]| format!("{} today, {} earlier", of[side][TODAY], of[side][EARLIER]);
                findings.same(DROPS, None, &what, by_day(&kept), by_day(&counted.lots));
            }
        }
    }
    for row in rows.iter().filter(|row| !account.positions.contains_key(&row.instrument)) {
        let what = format!("{name} has a position in instrument {}", row.instrument);
        findings.differs(DROPS, None, what, "no fill says so");
    }
}

impl Lots {
    fn net(&self) -> i64 {
        let total = |side: usize| self.lots[side][TODAY] + self.lots[side][EARLIER];
        total(LONG) - total(SHORT)
    }

    /// Moves a fill's lots; what each part was.
    fn trade(&mut self, kind: AccountKind, side: Side, offset: Offset, lots: i64) -> Vec<(Class, i64)> {
        let (mine, other) = if side == Side::Buy { (LONG, SHORT) } else { (SHORT, LONG) };
        let days: &[usize] = match (kind, offset) {
            (AccountKind::Futures, Offset::Open) => &[],
            (AccountKind::Futures, Offset::CloseToday) => &[TODAY],
            (AccountKind::Futures, Offset::CloseYesterday) => &[EARLIER],
            _ => &[EARLIER, TODAY],
        };
        let (mut left, mut parts) = (lots, Vec::new());
        for &day in days {
            let closed = self.lots[other][day].min(left);
            if closed > 0 {
                self.lots[other][day] -= closed;
                left -= closed;
                parts.push((if day == TODAY { Class::CloseToday } else { Class::Close }, closed));
            }
        }
        if left > 0 {
            self.lots[mine][TODAY] += left;
            parts.push((Class::Open, left));
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn earlier_days_close_first_and_the_rest_opens() {
        let mut lots = Lots { lots: [[3, 2], [0, 0]], ..Lots::default() };
        let parts = lots.trade(AccountKind::Margin, Side::Sell, Offset::Auto, 7);
        assert_eq!(parts, [(Class::Close, 2), (Class::CloseToday, 3), (Class::Open, 2)]);
        assert_eq!((lots.lots, lots.net()), ([[0, 0], [2, 0]], -2));
        let mut futures = Lots { lots: [[3, 2], [0, 0]], ..Lots::default() };
        futures.trade(AccountKind::Futures, Side::Sell, Offset::Open, 1);
        futures.trade(AccountKind::Futures, Side::Sell, Offset::CloseToday, 2);
        assert_eq!(futures.lots, [[1, 2], [1, 0]]);
    }

    fn seen(message: &AnyMessage, position: u64) -> Seen {
        Seen { position, time: position, topic: 0, id: message.id(), payload: message.bytes().to_vec() }
    }

    /// An account that bought 10 of multiplier 5 at 100, paid a charge, and sold 4 at 110.
    fn stream() -> Vec<AnyMessage> {
        let (who, why) = (wire::Text::cut("ann"), wire::Text::cut("test"));
        let cny = Currency::cut("CNY");
        let (account, instrument) = (AccountId(7), InstrumentId(1));
        let amount = |whole: i128| WideMoney::from_wide(whole * 1_000_000_000);
        let change = wire::AccountChange {
            subject: 7,
            scope: AccountScope::Account,
            action: AccountAction::Deposit,
            reserved: 0,
            amount: amount(10_000),
            currency: cny,
            who,
            why,
        };
        let price = |whole: i64| Price(whole * 1_000_000_000);
        let order = |number, side| NewOrder {
            account,
            ..NewOrder::plain(
                OrderId::new(StrategyId(5), 1, number),
                instrument,
                side,
                wire::OrderType::Limit,
                wire::TimeInForce::GoodTillCancel,
                price(if side == Side::Buy { 100 } else { 110 }),
                wire::Quantity(10),
            )
        };
        let fill = |number, side, lots, remaining, at: i64, execution| Fill {
            order_id: OrderId::new(StrategyId(5), 1, number),
            trade_id: u64::from(number),
            instrument,
            side,
            liquidity: wire::Liquidity::Taker,
            reserved: [0; 2],
            price: price(at),
            quantity: wire::Quantity(lots),
            remaining: wire::Quantity(remaining),
            event_time: wire::Nanos(0),
            execution,
            answered_up_to: 0,
        };
        vec![
            AnyMessage::CurrencyRate(wire::CurrencyRate { currency: cny, rate: 1_000_000_000 }),
            AnyMessage::ContractTerms(wire::ContractTerms {
                instrument,
                flags: wire::ContractTerms::TRADABLE,
                symbol: Symbol::new("SIM001").unwrap(),
                currency: cny,
                multiplier: 5,
                price_low: Price::NONE,
                price_high: Price::NONE,
            }),
            AnyMessage::AccountOpen(wire::AccountOpen {
                account,
                group: 0,
                parent: AccountId(0),
                kind: AccountKind::Margin,
                method: wire::CostMethod::Average,
                reserved: 0,
                currency: cny,
                name: wire::Text::EMPTY,
                who,
                why,
            }),
            AnyMessage::FeeRule(FeeRule {
                account: AccountId(0),
                instrument: InstrumentId(0),
                prefix: Symbol::default(),
                charge: 1,
                kind: wire::ChargeKind::Fee,
                side: wire::FeeSide::Both,
                event: wire::FeeEvent::Any,
                flags: 0,
                reserved: [0; 2],
                unit: 0,
                rate: 1_000_000,
                per_lot: WideMoney::default(),
                minimum: amount(1),
                who,
                why,
            }),
            AnyMessage::AccountChange(change),
            AnyMessage::NewOrder(order(1, Side::Buy)),
            AnyMessage::Fill(fill(1, Side::Buy, 10, 0, 100, 64)),
            AnyMessage::NewOrder(order(2, Side::Sell)),
            AnyMessage::Fill(fill(2, Side::Sell, 4, 6, 110, 128)),
            AnyMessage::Mark(wire::Mark { instrument, reserved: 0, price: price(120) }),
        ]
    }

    /// What a recount of `counted` says of the accounts that `kept` leads to.
    fn findings(kept: &[AnyMessage], counted: &[AnyMessage]) -> Findings {
        let mut follower = accounts::Follower::new(accounts::Options::default());
        for (message, position) in kept.iter().zip((64_u64..).step_by(64)) {
            let at = (position, 0, wire::Nanos(position));
            follower.frame(at, message.id(), message.bytes()).unwrap();
        }
        let mut recount = Recount::new();
        for (message, position) in counted.iter().zip((64_u64..).step_by(64)) {
            recount.take(&seen(message, position));
        }
        recount.finish(&follower.desk)
    }

    #[test]
    fn accounts_that_follow_the_same_frames_agree_and_each_other_frame_is_noticed() {
        let all = stream();
        let same = findings(&all, &all);
        assert_eq!((same.differences, same.checked > 6), (0, true), "{:?}", same.rows);
        // One frame less on one side: a deposit, a fill, a rule, a mark.
        for left_out in [3, 4, 6, 8, 9] {
            let mut less = all.clone();
            less.remove(left_out);
            assert!(findings(&all, &less).differences > 0, "without frame {left_out}");
        }
    }
}
