//! The state that an audit comes to by the drop copy alone: accounts, orders at work, limits and switches, kept by code that
//! shares nothing with the accounts. The checks of the audit read it; nothing is checked here.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use wire::{
    AccountAction, AccountChange, AccountId, AccountKind, AccountLimit, AccountScope, AnyMessage, CostMethod,
    Currency, DROP_REFUSED, FeeRule, Fill, InstrumentId, LimitKind, MarginRule, NewOrder, Offset, OrderId,
    OrderStatus, OrderUpdate, Price, ReplaceOrder, Side, StrategyId, Symbol,
};

use super::charges::{self, Of, Traded};
use super::holdings::Lots;
use super::order::Order;
use crate::desk::Seen;

/// An account that an entry has opened, or a strategy's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Key {
    Opened(AccountId),
    Own(StrategyId),
}

/// What a limit, a switch or a sum is of.
pub(super) type Scope = (AccountScope, u32);

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Purse {
    pub(super) deposits: i128,
    pub(super) withdrawals: i128,
    /// Sold less bought.
    pub(super) flow: i128,
    pub(super) fees: i128,
    pub(super) taxes: i128,
    /// The profit up to the begin of the day.
    pub(super) opened: i128,
}

#[derive(Debug)]
pub(super) struct Account {
    pub(super) kind: AccountKind,
    pub(super) method: CostMethod,
    pub(super) parent: AccountId,
    /// Zero: none.
    pub(super) group: u32,
    /// `None`: of a strategy's own account.
    pub(super) home: Option<Currency>,
    /// By a person.
    pub(super) is_frozen: bool,
    /// By the ledger, while it closes positions by force.
    pub(super) is_closed_by_force: bool,
    pub(super) is_closed: bool,
    pub(super) purses: BTreeMap<Currency, Purse>,
    pub(super) positions: BTreeMap<InstrumentId, Lots>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Terms {
    pub(super) symbol: Symbol,
    pub(super) currency: Currency,
    pub(super) multiplier: u64,
    pub(super) flags: u32,
    pub(super) price_low: Price,
    pub(super) price_high: Price,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Books {
    pub(super) accounts: BTreeMap<Key, Account>,
    pub(super) orders: HashMap<OrderId, Order>,
    pub(super) terms: BTreeMap<InstrumentId, Terms>,
    pub(super) marks: BTreeMap<InstrumentId, Price>,
    prices: BTreeMap<InstrumentId, Price>,
    settled: u32,
    pub(super) fees: Vec<FeeRule>,
    pub(super) margins: Vec<MarginRule>,
    pub(super) rates: BTreeMap<Currency, u64>,
    /// Limits as they stand, by scope, kind and instrument.
    pub(super) limits: BTreeMap<(AccountScope, u32, LimitKind, InstrumentId), AccountLimit>,
    /// Checks that are not made.
    pub(super) disabled: BTreeSet<LimitKind>,
    /// Switches that have fallen.
    pub(super) killed: BTreeSet<Scope>,
    /// Net position, and what may yet be bought and sold.
    pub(super) sums: BTreeMap<(AccountScope, u32, InstrumentId), [i64; 3]>,
    /// How many orders work, and which.
    pub(super) open: BTreeMap<Scope, i64>,
    pub(super) working: BTreeSet<OrderId>,
    /// What strategies hold, whatever accounts it is in, at its average cost.
    pub(super) by_strategy: BTreeMap<(StrategyId, InstrumentId), Lots>,
    /// Accounts of which some closings are of a day that is not known from fills.
    pub(super) vague: HashSet<Key>,
    /// Executions of unknown orders, of other sides, or without price: what follows from them is not known.
    pub(super) unfit: u64,
    /// Fills that were booked to nobody, and where they stand.
    pub(super) unbooked: Vec<(u64, Fill)>,
}

pub(super) fn worth(price: Price, lots: i64, multiplier: u64) -> i128 {
    i128::from(price.0) * i128::from(lots) * i128::from(multiplier)
}

impl Books {
    /// The next frame of the drop copy.
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
                    method: open.method,
                    parent: open.parent,
                    group: open.group,
                    home: Some(open.currency),
                    is_frozen: false,
                    is_closed_by_force: false,
                    is_closed: false,
                    purses: BTreeMap::new(),
                    positions: BTreeMap::new(),
                };
                self.accounts.insert(Key::Opened(open.account), account);
            }
            AnyMessage::AccountChange(change) => self.change(&change),
            AnyMessage::AccountLimit(limit) => self.limit(&limit),
            AnyMessage::FeeRule(rule) => {
                let key = |rule: &FeeRule| (rule.account, rule.instrument, rule.prefix, rule.charge);
                self.fees.retain(|known| key(known) != key(&rule) || !charges::meet(known, &rule));
                self.fees.push(rule);
            }
            AnyMessage::MarginRule(rule) => {
                let key = |rule: &MarginRule| (rule.account, rule.instrument, rule.prefix);
                self.margins.retain(|known| key(known) != key(&rule));
                self.margins.push(rule);
            }
            AnyMessage::ContractTerms(terms) => {
                let known = Terms {
                    symbol: terms.symbol,
                    currency: terms.currency,
                    multiplier: terms.multiplier,
                    flags: terms.flags,
                    price_low: terms.price_low,
                    price_high: terms.price_high,
                };
                self.terms.insert(terms.instrument, known);
            }
            AnyMessage::CurrencyRate(rate) => {
                self.rates.insert(rate.currency, rate.rate);
            }
            AnyMessage::Mark(mark) => self.mark(mark.instrument, mark.price),
            // Prices that were entered and not executed are taken back.
            AnyMessage::SettlementPrice(price) if price.instrument == InstrumentId(0) => self.prices.clear(),
            AnyMessage::SettlementPrice(price) => {
                self.prices.insert(price.instrument, price.price);
            }
            AnyMessage::Settle(settle) if settle.day > self.settled => self.settle(settle.day),
            AnyMessage::NewOrder(order) => self.sent(&order),
            AnyMessage::ReplaceOrder(replace) => self.replace(&replace),
            AnyMessage::Fill(fill) => self.filled(seen.position, &fill),
            AnyMessage::OrderUpdate(update) => self.update(&update),
            _ => {}
        }
    }

    fn change(&mut self, change: &AccountChange) {
        let scope = (change.scope, change.subject);
        match change.action {
            AccountAction::Kill => drop(self.killed.insert(scope)),
            AccountAction::Revive => drop(self.killed.remove(&scope)),
            _ if change.scope != AccountScope::Account => {}
            action => {
                let Some(account) = self.accounts.get_mut(&Key::Opened(AccountId(change.subject))) else {
                    return;
                };
                let purse = account.purses.entry(change.currency);
                match action {
                    AccountAction::Deposit => purse.or_default().deposits += change.amount.wide(),
                    AccountAction::Withdraw => purse.or_default().withdrawals += change.amount.wide(),
                    AccountAction::Freeze | AccountAction::Unfreeze => {
                        let by_force = change.who.as_str() == "ledger";
                        let frozen =
                            if by_force { &mut account.is_closed_by_force } else { &mut account.is_frozen };
                        *frozen = action == AccountAction::Freeze;
                    }
                    AccountAction::Close => account.is_closed = true,
                    AccountAction::Kill | AccountAction::Revive => {}
                }
            }
        }
    }

    fn mark(&mut self, instrument: InstrumentId, price: Price) {
        if price.is_some() && self.terms.contains_key(&instrument) {
            self.marks.insert(instrument, price);
        }
    }

    fn settle(&mut self, day: u32) {
        self.settled = day;
        let prices = std::mem::take(&mut self.prices);
        for (instrument, price) in &prices {
            self.mark(*instrument, *price);
        }
        for account in self.accounts.values_mut() {
            let (kind, method) = (account.kind, account.method);
            for (instrument, lots) in &mut account.positions {
                let multiplier = self.terms.get(instrument).map_or(1, |terms| terms.multiplier);
                lots.settle(kind, method, prices.get(instrument).copied(), multiplier);
            }
        }
        let keys: Vec<Key> = self.accounts.keys().copied().collect();
        for key in keys {
            let Some(account) = self.accounts.get(&key) else { continue };
            let profits: Vec<_> =
                account.purses.keys().map(|currency| (*currency, self.profit(account, *currency))).collect();
            for (currency, profit) in profits {
                if let Some(account) = self.accounts.get_mut(&key) {
                    account.purses.entry(currency).or_default().opened = profit;
                }
            }
        }
    }

    fn sent(&mut self, order: &NewOrder) {
        let key = match order.account {
            AccountId::OWN => Key::Own(order.order_id.strategy()),
            account => Key::Opened(account),
        };
        let account = self.accounts.entry(key).or_insert_with(|| Account {
            kind: AccountKind::Margin,
            method: CostMethod::Average,
            parent: AccountId::OWN,
            group: 0,
            home: None,
            is_frozen: false,
            is_closed_by_force: false,
            is_closed: false,
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
            request: *order,
            account: key,
            rules: charges::rules(&self.fees, &of),
            traded: Traded::default(),
            trades: [0; 4],
            prices: terms.own_prices(order, order.price).unwrap_or((order.price.0, order.price.0)),
            price: order.price,
            total: order.quantity.0,
            ceiling: order.quantity.0,
            filled: 0,
            replaces: 0,
            has_ended: false,
        };
        // An id that comes again is a difference of another part.
        if let Some(before) = self.orders.remove(&order.order_id) {
            self.count(&before, -1);
        }
        self.count(&order_of, 1);
        self.orders.insert(order.order_id, order_of);
    }

    fn replace(&mut self, replace: &ReplaceOrder) {
        if let Some(order) = self.orders.remove(&replace.order_id) {
            self.changes(order, |order| {
                order.replaces += 1;
                order.ceiling = order.ceiling.max(replace.quantity.0);
                order.may_get(replace.price);
            });
        }
    }

    fn update(&mut self, update: &OrderUpdate) {
        // A refusal by td is about no order that went out, or changes nothing.
        if update.execution == 0 || update.status == OrderStatus::MassCancelled {
            return;
        }
        let Some(order) = self.orders.remove(&update.order_id) else {
            self.unfit += u64::from(!update.status.is_refusal());
            return;
        };
        if order.has_ended || order.request.instrument != update.instrument {
            self.orders.insert(update.order_id, order);
            return;
        }
        self.changes(order, |order| match update.status {
            OrderStatus::Filled | OrderStatus::Cancelled | OrderStatus::Rejected => order.has_ended = true,
            OrderStatus::Replaced => {
                order.total = update.quantity.0;
                order.ceiling = order.ceiling.max(order.total);
                if update.price.is_some() && order.request.order_type.has_price() {
                    order.price = update.price;
                    order.may_get(update.price);
                }
                order.replace_answered();
            }
            OrderStatus::ReplaceRejected => order.replace_answered(),
            OrderStatus::Reduced => {
                order.total = update.quantity.0;
                order.ceiling =
                    if order.replaces == 0 { order.total } else { order.ceiling.max(order.total) };
            }
            OrderStatus::Accepted
            | OrderStatus::PartiallyFilled
            | OrderStatus::Triggered
            | OrderStatus::CancelRejected
            | OrderStatus::MassCancelled => {}
        });
    }

    fn filled(&mut self, position: u64, fill: &Fill) {
        let Some(mut order) = self.orders.remove(&fill.order_id) else {
            self.unfit += 1;
            self.unbooked.push((position, *fill));
            return;
        };
        let fits = (order.request.instrument, order.request.side) == (fill.instrument, fill.side);
        let is_doubled = fill.trade_id != 0 && order.trades.contains(&fill.trade_id);
        let is_booked = fits && !is_doubled && fill.quantity.0 > 0 && fill.price.is_some();
        let terms = self.terms.get(&fill.instrument).copied();
        if let (true, Some(terms), Some(account)) = (is_booked, terms, self.accounts.get_mut(&order.account))
        {
            order.trades.rotate_right(1);
            order.trades[0] = fill.trade_id;
            book(account, &mut order, fill, &terms);
            let by_strategy = self.by_strategy.entry((order.strategy(), fill.instrument)).or_default();
            let rules = (AccountKind::Margin, CostMethod::Average, terms.multiplier);
            by_strategy.trade(rules, fill.side, Offset::Auto, (fill.quantity.0, fill.price));
            self.net(&order, fill.side.sign() * fill.quantity.0);
        } else if !is_doubled {
            self.unfit += 1;
            self.unbooked.push((position, *fill));
        }
        self.changes(order, |order| order.filled += if is_booked { fill.quantity.0 } else { 0 });
    }

    /// Changes an order, and the sums of its scopes. It is out of the table.
    fn changes(&mut self, mut order: Order, change: impl FnOnce(&mut Order)) {
        self.count(&order, -1);
        change(&mut order);
        self.count(&order, 1);
        self.orders.insert(order.request.order_id, order);
    }
}

/// Moves a fill's lots and money.
fn book(account: &mut Account, order: &mut Order, fill: &Fill, terms: &Terms) {
    let side = order.request.side;
    let before = charges::paid(&order.rules, side, &order.traded);
    let lots = account.positions.entry(fill.instrument).or_default();
    let offset = order.request.offset().unwrap_or(Offset::Auto);
    let rules = (account.kind, account.method, terms.multiplier);
    for (class, part) in lots.trade(rules, side, offset, (fill.quantity.0, fill.price)) {
        order.traded.add(class, fill.liquidity, part, worth(fill.price, part, terms.multiplier));
    }
    let after = charges::paid(&order.rules, side, &order.traded);
    let purse = account.purses.entry(terms.currency).or_default();
    let sign = if side == Side::Sell { 1 } else { -1 };
    purse.flow += sign * worth(fill.price, fill.quantity.0, terms.multiplier);
    purse.fees += after.0 - before.0;
    purse.taxes += after.1 - before.1;
}
