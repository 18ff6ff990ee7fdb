//! The whole: all accounts of a desk.

use std::collections::{BTreeMap, BTreeSet};

use wire::{AccountId, AccountKind, CostMethod, InstrumentId, OrderId, Price, Reason, StrategyId};

use crate::account::Account;
use crate::anomaly::Anomalies;
use crate::contracts::{Contracts, NO_EDGE};
use crate::currencies::Currencies;
use crate::fees::Fees;
use crate::intake::widen;
use crate::kill::Kill;
use crate::margin::Margins;
use crate::orders::{Orders, Reservation};
use crate::positions::{NOTHING, Slot, index};
use crate::reservation::{self, Claim, Terms};
use crate::rules::Subject;
use crate::scope::Scopes;
use crate::settlement::Prices;
use crate::table::reach;

/// What holds for the whole desk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How many orders that have ended are remembered: for requests that come twice and fills that come late.
    pub remembered: u32,
}

impl Default for Options {
    fn default() -> Options {
        Options { remembered: 16_384 }
    }
}

/// The accounts of a desk: see the crate's page.
///
/// Feed it entries, orders and executions, each as they come; it says what may go out, and what everything is worth.
#[derive(Clone, Debug)]
pub struct Desk {
    pub(crate) currencies: Currencies,
    pub(crate) contracts: Contracts,
    pub(crate) fees: Fees,
    pub(crate) margins: Margins,
    pub(crate) accounts: Vec<Account>,
    /// Place of an account by its number, one more than it is; zero: none.
    pub(crate) places: Vec<u32>,
    /// The same of the strategies' own accounts.
    pub(crate) own: Vec<u32>,
    pub(crate) scopes: Scopes,
    pub(crate) orders: Orders,
    /// Checks that are not made, a bit each.
    pub(crate) disabled: u32,
    pub(crate) prices: Prices,
    pub(crate) kills: Vec<Kill>,
    /// Orders at work that a kill switch has fallen over.
    pub(crate) must_end: BTreeSet<OrderId>,
    /// Orders at work that td has cancelled by itself, and why: the market may have refused that for now.
    pub(crate) recalled: BTreeMap<OrderId, Reason>,
    pub(crate) anomalies: Anomalies,
}

impl Desk {
    /// The largest number of an account.
    pub const MOST_ACCOUNTS: u32 = 1 << 20;

    /// Without accounts.
    pub fn new(options: Options) -> Desk {
        Desk {
            currencies: Currencies::default(),
            contracts: Contracts::default(),
            fees: Fees::default(),
            margins: Margins::default(),
            accounts: Vec::new(),
            places: Vec::new(),
            own: Vec::new(),
            scopes: Scopes::default(),
            orders: Orders::new(options.remembered),
            disabled: 0,
            prices: Prices::default(),
            kills: Vec::new(),
            must_end: BTreeSet::new(),
            recalled: BTreeMap::new(),
            anomalies: Anomalies::default(),
        }
    }

    /// The latest price of an instrument: losses count at it. [`Price::NONE`] changes nothing.
    /// Orders at work that might trade at a loss against it hold that back. False: it was that before.
    pub fn mark(&mut self, instrument: InstrumentId, price: Price) -> bool {
        let before = self.contracts.mark(instrument, price);
        if let Some(before) = before {
            self.measure_passed(instrument, [before, price]);
        }
        before.is_some()
    }

    /// Place of an account that an entry has opened.
    pub(crate) fn find(&self, account: AccountId) -> Option<usize> {
        let place = *self.places.get(account.0 as usize)?;
        place.checked_sub(1).map(|place| place as usize)
    }

    /// Place of the account that an order of this strategy names.
    pub(crate) fn place_of(&self, account: AccountId, strategy: StrategyId) -> Option<usize> {
        if account != AccountId::OWN {
            return self.find(account);
        }
        let place = *self.own.get(usize::from(strategy.0))?;
        place.checked_sub(1).map(|place| place as usize)
    }

    /// The same; a strategy's own account is made when it is first named.
    pub(crate) fn place_or_own(&mut self, account: AccountId, strategy: StrategyId) -> Option<usize> {
        if let Some(place) = self.place_of(account, strategy) {
            return Some(place);
        }
        if account != AccountId::OWN {
            return None;
        }
        let mut own = Account::new(AccountId::OWN, AccountKind::Margin, CostMethod::Average, 0);
        own.owner = Some(strategy);
        self.accounts.push(own);
        *reach(&mut self.own, usize::from(strategy.0)) = self.accounts.len() as u32;
        Some(self.accounts.len() - 1)
    }

    /// The place of an account's slot in an instrument that has terms; it is made if there is none.
    pub(crate) fn make_slot(&mut self, place: usize, instrument: InstrumentId) -> Option<usize> {
        let account = self.accounts.get_mut(place)?;
        if account.place(instrument).is_none() {
            let symbol = self.contracts.get(instrument)?.symbol;
            let subject = Subject { account: account.id, parent: account.parent, instrument, symbol };
            let (schedule, rates) = (self.fees.resolve(&subject), self.margins.resolve(&subject));
            account.insert(Slot::new(instrument, schedule, rates));
        }
        account.place(instrument)
    }

    /// Computes anew what an order holds back.
    pub(crate) fn reserve(&mut self, place: u32) {
        if let Some(reserved) = self.reservation_of(place) {
            self.hold(place, reserved);
        }
    }

    /// What an order has to hold back as it stands.
    pub(crate) fn reservation_of(&self, place: u32) -> Option<Reservation> {
        let order = self.orders.get(place)?;
        let account = self.accounts.get(order.account as usize)?;
        let slot = account.slot(order.instrument())?;
        let contract = self.contracts.get(order.instrument())?;
        let terms = Terms {
            kind: account.kind,
            contract,
            rates: self.margins.rates(slot.rates),
            fees: &self.fees,
            schedule: order.schedule,
        };
        Some(reservation::of(
            &terms,
            &Claim {
                side: order.side(),
                prices: (order.low, order.high),
                open: order.open(),
                closing: order.closing.min(order.open()),
                closes: order.closes,
                is_closing: order.is_closing,
                traded: &order.traded,
            },
        ))
    }

    /// Sets what an order holds back, in every sum that it is part of.
    pub(crate) fn hold(&mut self, place: u32, new: Reservation) {
        let Desk { orders, accounts, contracts, scopes, .. } = self;
        let Some(order) = orders.get_mut(place) else { return };
        let old = std::mem::replace(&mut order.reserved, new);
        order.closing = new.closing;
        if old == new {
            return;
        }
        let (instrument, side, closes) = (order.instrument(), index(order.side()), order.closes as usize);
        let Some(currency) = contracts.get(instrument).map(|contract| contract.currency) else { return };
        let Some(account) = accounts.get_mut(order.account as usize) else { return };
        let (open, gross) = (new.open - old.open, new.gross - old.gross);
        let purse = account.purse(currency);
        purse.reserved += new.money - old.money;
        purse.gross += gross;
        if let Some(slot) = account.slot_mut(instrument) {
            slot.working[side] = slot.working[side].saturating_add(open);
            // Purchases close what is short, sales what is long.
            slot.holdings[1 - side].frozen[closes] += new.closing - old.closing;
        }
        for scope in scopes.of(account.group, order.strategy()).into_iter().flatten() {
            let working = &mut scope.exposure(instrument).working[side];
            *working = working.saturating_add(open);
            scope.add_gross(currency, gross);
        }
    }

    /// Takes in an order that has passed: it stands on top of its slot's list and holds back what it may cost.
    pub(crate) fn take_in(&mut self, place: u32, slot: usize) {
        let Desk { orders, accounts, contracts, scopes, .. } = self;
        let Some(order) = orders.get_mut(place) else { return };
        let (instrument, side, low, high) = (order.instrument(), index(order.side()), order.low, order.high);
        let (strategy, held, closes) = (order.strategy(), order.reserved, order.closes as usize);
        let Some(contract) = contracts.get_mut(instrument) else { return };
        contract.widen(side, low, high);
        let currency = contract.currency;
        let Some(account) = accounts.get_mut(order.account as usize) else { return };
        account.watch.open += 1;
        let purse = account.purse(currency);
        purse.reserved += held.money;
        purse.gross += held.gross;
        let group = account.group;
        let Some(slot) = account.slots.get_mut(slot) else { return };
        if !std::mem::replace(&mut slot.is_listed, true) {
            contract.traders.push(order.account);
        }
        let next = std::mem::replace(&mut slot.first[side], place);
        widen(&mut slot.edge, side, low, high);
        slot.working[side] = slot.working[side].saturating_add(held.open);
        // Purchases close what is short, sales what is long.
        slot.holdings[1 - side].frozen[closes] += held.closing;
        (order.next, order.previous) = (next, NOTHING);
        if let Some(next) = orders.get_mut(next) {
            next.previous = place;
        }
        for scope in scopes.of(group, strategy).into_iter().flatten() {
            scope.watch.open += 1;
            let working = &mut scope.exposure(instrument).working[side];
            *working = working.saturating_add(held.open);
            scope.add_gross(currency, held.gross);
        }
    }

    /// Takes an order out of its slot's list.
    pub(crate) fn unlink(&mut self, place: u32) {
        let Desk { orders, accounts, scopes, .. } = self;
        let Some(order) = orders.get(place) else { return };
        let (next, previous, side) = (order.next, order.previous, index(order.side()));
        let (instrument, strategy, account) = (order.instrument(), order.strategy(), order.account);
        if let Some(next) = orders.get_mut(next) {
            next.previous = previous;
        }
        if let Some(previous) = orders.get_mut(previous) {
            previous.next = next;
        }
        let Some(account) = accounts.get_mut(account as usize) else { return };
        account.watch.open = account.watch.open.saturating_sub(1);
        let group = account.group;
        if let Some(slot) = account.slot_mut(instrument) {
            if slot.first[side] == place {
                slot.first[side] = next;
            }
            if slot.first[side] == NOTHING {
                slot.edge[side] = NO_EDGE[side];
            }
        }
        let scopes = scopes.of(group, strategy).into_iter().flatten();
        scopes.for_each(|scope| scope.watch.open = scope.watch.open.saturating_sub(1));
    }
}
