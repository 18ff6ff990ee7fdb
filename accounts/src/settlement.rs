//! Settlement, in two steps: prices in, then execute.

use wire::{AccountKind, InstrumentId, Price, Settle, SettlementPrice, TimeInForce};

use crate::amount::value;
use crate::apply::Applied;
use crate::desk::Desk;
use crate::orders::Closes;
use crate::refusal::Refusal;
use crate::risk::MarginAction;
use crate::state::state;
use crate::statement::{PositionRow, Statement};
use crate::table::reach;

/// Prices of the day that is to be settled.
#[derive(Clone, Debug, Default)]
pub(crate) struct Prices {
    /// The last day that was settled.
    pub(crate) settled: u32,
    /// The day of the prices; zero: there are none yet.
    pub(crate) day: u32,
    /// By instrument.
    pub(crate) prices: Vec<Option<Price>>,
}
state!(Prices { settled, day, prices });

/// What a settlement has come to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settlement {
    /// A row for each account and currency, in the order in which the accounts were opened.
    pub statements: Vec<Statement>,
    /// A row for each position that is still open.
    pub positions: Vec<PositionRow>,
    /// Who has to pay in, and what is to be closed by force.
    pub actions: Vec<MarginAction>,
}

impl Desk {
    /// First step.
    pub(crate) fn settlement_price(&mut self, entry: &SettlementPrice) -> Result<(), Refusal> {
        if entry.instrument == InstrumentId(0) {
            if entry.day <= self.prices.settled {
                return Err(Refusal::Settled);
            }
            // Prices that were entered and not executed are taken back.
            (self.prices.day, self.prices.prices) = (0, Vec::new());
            return Ok(());
        }
        self.contracts.get(entry.instrument).ok_or(Refusal::UnknownInstrument(entry.instrument))?;
        if entry.day == 0 || !entry.price.is_some() {
            return Err(Refusal::Number);
        }
        if entry.day <= self.prices.settled {
            return Err(Refusal::Settled);
        }
        if self.prices.day != 0 && self.prices.day != entry.day {
            return Err(Refusal::OtherDay(self.prices.day));
        }
        self.prices.day = entry.day;
        *reach(&mut self.prices.prices, entry.instrument.0 as usize) = Some(entry.price);
        Ok(())
    }

    /// Second step. A day that is settled already is left as it is.
    pub(crate) fn settle(&mut self, entry: &Settle) -> Result<Applied, Refusal> {
        if entry.who.is_empty() {
            return Err(Refusal::Nameless);
        }
        if entry.day == 0 {
            return Err(Refusal::Number);
        }
        if entry.day == self.prices.settled {
            return Ok(Applied::Already);
        }
        if entry.day < self.prices.settled {
            return Err(Refusal::Settled);
        }
        if self.prices.day != 0 && self.prices.day != entry.day {
            return Err(Refusal::OtherDay(self.prices.day));
        }
        self.check_settlement()?;
        for index in 0..self.prices.prices.len() {
            if let Some(price) = self.prices.prices[index] {
                self.mark(InstrumentId(index as u32), price);
            }
        }
        let mut settlement = Settlement::default();
        for place in 0..self.accounts.len() {
            self.settle_account(place, entry.day, &mut settlement);
        }
        self.roll_orders();
        self.prices.settled = entry.day;
        self.prices.day = 0;
        self.prices.prices.fill(None);
        settlement.actions = self.survey();
        Ok(Applied::Settled(settlement))
    }

    /// Whether all that is held has a price, and nothing works that ends with the day.
    fn check_settlement(&self) -> Result<(), Refusal> {
        for account in &self.accounts {
            if !account.purses().all(crate::purse::Purse::has_room) {
                return Err(Refusal::Overflow);
            }
            for slot in account.slots.iter().filter(|slot| !slot.is_flat()) {
                let price = self.prices.prices.get(slot.instrument.0 as usize).copied().flatten();
                let price = price.ok_or(Refusal::MissingPrice(slot.instrument))?;
                let multiplier =
                    self.contracts.get(slot.instrument).map_or(1, |contract| contract.multiplier);
                let fits = |lots: i64| value(price, lots, multiplier).is_some();
                if !slot.holdings.iter().all(|side| fits(side.total())) {
                    return Err(Refusal::Overflow);
                }
            }
        }
        let stays = |kind| matches!(kind, TimeInForce::GoodTillCancel | TimeInForce::GoodTillDate);
        if self.orders.open().any(|(_, order)| !stays(order.request.time_in_force)) {
            return Err(Refusal::OrdersAtWork);
        }
        Ok(())
    }

    fn settle_account(&mut self, place: usize, day: u32, settlement: &mut Settlement) {
        let Desk { accounts, contracts, scopes, prices, currencies, margins, .. } = self;
        let Some(account) = accounts.get_mut(place) else { return };
        let (kind, method, group) = (account.kind, account.method, account.group);
        for index in 0..account.slots.len() {
            let slot = &mut account.slots[index];
            let Some(contract) = contracts.get(slot.instrument) else { continue };
            let price = prices.prices.get(slot.instrument.0 as usize).copied().flatten();
            let gross = slot.gross();
            let (mut gain, mut paid) = (0, 0);
            if let Some(price) = price {
                for (side, sign) in [(0, 1), (1, -1)] {
                    let holding = &mut slot.holdings[side];
                    if holding.total() == 0 {
                        continue;
                    }
                    let is_paid = kind == AccountKind::Futures;
                    let moved = sign * holding.settle(method, price, contract.multiplier, is_paid);
                    match method {
                        wire::CostMethod::Settlement => gain += moved,
                        _ => paid += moved,
                    }
                }
            }
            slot.holdings.iter_mut().for_each(|holding| holding.roll(method));
            slot.realised += gain;
            let margin = slot.remargin(kind, margins.rates(slot.rates));
            let gross = slot.gross() - gross;
            if !slot.is_flat() {
                settlement.positions.push(PositionRow::new(day, account.id, account.owner, slot, contract));
            }
            let currency = contract.currency;
            let purse = account.purse(currency);
            purse.totals.realised += gain;
            purse.totals.variation += paid;
            if kind == AccountKind::Cash {
                // What is held is paid for already: its cost grows by what is realised.
                purse.totals.invested += gain;
            } else {
                purse.balance += gain + paid;
            }
            purse.margin += margin;
            purse.gross += gross;
            let strategy = account.owner.unwrap_or(wire::StrategyId(u16::MAX));
            let [of_group, _, platform] = scopes.of(group, strategy);
            for scope in [of_group, platform].into_iter().flatten() {
                scope.add_gross(currency, gross);
            }
        }
        account.seen = (u64::MAX, 0);
        for index in 0..=account.others.len() {
            let currency =
                index.checked_sub(1).map_or(account.home.currency, |other| account.others[other].currency);
            let unrealised = account.unrealised(contracts, currency);
            let (id, owner) = (account.id, account.owner);
            let purse = account.purse(currency);
            let name = currencies.name(currency);
            settlement.statements.push(Statement::new(day, id, owner, name, purse, unrealised));
            purse.opened = purse.totals;
            purse.opened_unrealised = unrealised;
        }
    }

    /// Orders that stay over the end of the day and close today's lots close those of an earlier day from now on.
    fn roll_orders(&mut self) {
        let open: Vec<u32> = self.orders.open().map(|(place, _)| place).collect();
        for place in open {
            if let Some(order) = self.orders.get_mut(place)
                && order.closes == Closes::Today
            {
                order.closes = Closes::Yesterday;
            }
            self.reserve(place);
        }
    }
}
