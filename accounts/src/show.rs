//! What stands in a desk, for whoever shows it: limits that are set, switches that have fallen, orders at work.

use wire::{
    AccountId, AccountScope, CostMethod, Currency, InstrumentId, LimitKind, NewOrder, OrderUpdate, Price,
    StrategyId, Symbol, Text,
};

use crate::account::{Account, NO_GROUP};
use crate::buckets::Bucket;
use crate::desk::Desk;
use crate::kill::Kill;
use crate::limits::{KillCause, Watch};
use crate::statement::PositionRow;

/// What an account was opened as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    /// Its name.
    pub name: Text<32>,
    /// Its group; zero: none.
    pub group: u32,
    /// Whose rules hold where it has none of its own.
    pub parent: AccountId,
    /// Which cost leaves at a close.
    pub method: CostMethod,
}

/// A limit that is set; as [`wire::AccountLimit`] has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetLimit {
    /// What is limited.
    pub limit: LimitKind,
    /// Only in this instrument; zero: in each.
    pub instrument: InstrumentId,
    /// How many may come at once, of rates.
    pub burst: u32,
    /// The limit, where it is no money.
    pub number: u64,
    /// The limit, where it is money.
    pub amount: i128,
}

/// An order at work.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkingOrder {
    /// For which account.
    pub account: AccountId,
    /// Whose own account that is, if it is one.
    pub owner: Option<StrategyId>,
    /// As it went out.
    pub request: NewOrder,
    /// How it stands.
    pub update: OrderUpdate,
    /// What it holds back, in its instrument's currency.
    pub reserved: i128,
}

/// What is known of an instrument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContractView {
    /// Its name.
    pub symbol: Symbol,
    /// In which money it is paid.
    pub currency: Currency,
    /// One lot is worth the price times this.
    pub multiplier: u64,
    /// The latest mark; [`Price::NONE`] before the first.
    pub mark: Price,
}

impl Desk {
    /// What an account that an entry has opened was opened as.
    pub fn opened(&self, account: AccountId) -> Option<Opened> {
        let account = self.accounts.get(self.find(account)?)?;
        let group = self.scopes.groups.get(account.group as usize).filter(|_| account.group != NO_GROUP);
        Some(Opened {
            name: account.name,
            group: group.map_or(0, |(number, _)| *number),
            parent: account.parent,
            method: account.method,
        })
    }

    /// Its positions, by instrument; also those that are closed and have brought something.
    pub fn positions(&self, strategy: StrategyId, account: AccountId) -> Vec<PositionRow> {
        let account = self.place_of(account, strategy).and_then(|place| self.accounts.get(place));
        account.map(|account| self.rows_of(account)).unwrap_or_default()
    }

    /// The positions of all accounts, by the order of opening, then by instrument.
    pub fn all_positions(&self) -> Vec<PositionRow> {
        self.accounts.iter().flat_map(|account| self.rows_of(account)).collect()
    }

    fn rows_of(&self, account: &Account) -> Vec<PositionRow> {
        let traded =
            account.slots.iter().filter(|slot| !slot.is_flat() || slot.realised != 0 || slot.charges != 0);
        let row = |slot: &crate::positions::Slot| {
            let contract = self.contracts.get(slot.instrument)?;
            Some(PositionRow::new(0, account.id, account.owner, slot, contract))
        };
        traded.filter_map(row).collect()
    }

    /// All orders at work, by ascending id.
    pub fn orders_at_work(&self) -> Vec<WorkingOrder> {
        let of = |(_, order): (u32, &crate::orders::Order)| {
            let account = self.accounts.get(order.account as usize)?;
            Some(WorkingOrder {
                account: account.id,
                owner: account.owner,
                request: order.request,
                update: order.update(),
                reserved: order.reserved.money,
            })
        };
        let mut orders: Vec<WorkingOrder> = self.orders.open().filter_map(of).collect();
        orders.sort_unstable_by_key(|order| order.request.order_id);
        orders
    }

    /// What is known of an instrument.
    pub fn contract(&self, instrument: InstrumentId) -> Option<ContractView> {
        self.contracts.get(instrument).map(|contract| ContractView {
            symbol: contract.symbol,
            currency: self.currency(contract.currency),
            multiplier: contract.multiplier,
            mark: contract.mark,
        })
    }

    /// All instruments that have terms.
    pub fn contracts(&self) -> impl Iterator<Item = (InstrumentId, ContractView)> {
        let all = (0..self.contracts.table.len() as u32).map(InstrumentId);
        all.filter_map(|instrument| Some((instrument, self.contract(instrument)?)))
    }

    /// The limits of a scope that are set.
    pub fn limits(&self, scope: AccountScope, subject: u32) -> Vec<SetLimit> {
        let (watch, own): (&Watch, Vec<(InstrumentId, Option<i64>)>) = match scope {
            AccountScope::Account => {
                let account = self.find(AccountId(subject)).and_then(|place| self.accounts.get(place));
                let Some(account) = account else { return Vec::new() };
                (
                    &account.watch,
                    account.slots.iter().map(|slot| (slot.instrument, slot.most.get())).collect(),
                )
            }
            _ => {
                let scope = match scope {
                    AccountScope::Group => {
                        let place = self.scopes.group(subject);
                        place.and_then(|place| self.scopes.groups.get(place as usize)).map(|(_, scope)| scope)
                    }
                    AccountScope::Strategy => {
                        self.scopes.strategies.get(subject as usize).and_then(Option::as_deref)
                    }
                    _ => Some(&self.scopes.platform),
                };
                let Some(scope) = scope else { return Vec::new() };
                let exposures = scope.exposures.iter().enumerate();
                let own = exposures.map(|(number, of)| (InstrumentId(number as u32), of.most.get()));
                (&scope.watch, own.collect())
            }
        };
        let mut limits = of_watch(watch);
        let position = |(instrument, most): (InstrumentId, Option<i64>)| {
            most.map(|most| SetLimit {
                instrument,
                number: most.unsigned_abs(),
                ..empty(LimitKind::Position)
            })
        };
        limits.extend(own.into_iter().filter_map(position));
        limits
    }

    /// The checks that are not made.
    pub fn disabled_checks(&self) -> Vec<LimitKind> {
        let switches = [LimitKind::Money, LimitKind::PriceBand, LimitKind::SelfTrade, LimitKind::ShortSale];
        switches.into_iter().filter(|check| self.disabled & 1 << *check as u32 != 0).collect()
    }

    /// All kill switches that have fallen and were not lifted: the platform's, groups', strategies', accounts'.
    pub fn fallen(&self) -> Vec<Kill> {
        let kill =
            |scope, subject, cause: Option<KillCause>| cause.map(|cause| Kill { scope, subject, cause });
        let platform = kill(AccountScope::Platform, 0, self.scopes.platform.watch.killed);
        let groups = self.scopes.groups.iter();
        let groups =
            groups.filter_map(|(number, scope)| kill(AccountScope::Group, *number, scope.watch.killed));
        let strategies = self.scopes.strategies.iter().enumerate();
        let strategies = strategies.filter_map(|(seat, scope)| {
            kill(AccountScope::Strategy, seat as u32, scope.as_deref()?.watch.killed)
        });
        let accounts = self.accounts.iter().filter(|account| !account.is_own());
        let accounts =
            accounts.filter_map(|account| kill(AccountScope::Account, account.id.0, account.watch.killed));
        platform.into_iter().chain(groups).chain(strategies).chain(accounts).collect()
    }

    /// The day whose settlement prices were entered and not executed; zero: none.
    pub fn day_of_prices(&self) -> u32 {
        self.prices.day
    }
}

fn empty(limit: LimitKind) -> SetLimit {
    SetLimit { limit, instrument: InstrumentId(0), burst: 0, number: 0, amount: 0 }
}

fn of_watch(watch: &Watch) -> Vec<SetLimit> {
    let number =
        |limit, most: Option<i64>| most.map(|most| SetLimit { number: most.unsigned_abs(), ..empty(limit) });
    let amount = |limit, most: Option<i128>| most.map(|amount| SetLimit { amount, ..empty(limit) });
    let rate = |limit, bucket: Option<Bucket>| {
        bucket.map(|bucket| {
            let (number, burst) = bucket.rate();
            SetLimit { number, burst, ..empty(limit) }
        })
    };
    let all = [
        number(LimitKind::Position, watch.position.get()),
        amount(LimitKind::GrossNotional, watch.gross.get()),
        number(LimitKind::OrderQuantity, watch.quantity.get()),
        amount(LimitKind::OrderNotional, watch.notional.get()),
        rate(LimitKind::OrderRate, watch.orders),
        rate(LimitKind::MessageRate, watch.messages),
        number(LimitKind::OpenOrders, watch.most_open.map(i64::from)),
        amount(LimitKind::Loss, watch.loss.get()),
        rate(LimitKind::RejectRate, watch.rejects),
        rate(LimitKind::RunawayRate, watch.runaway),
        number(LimitKind::MarginCall, watch.call.get()),
        number(LimitKind::ForcedLiquidation, watch.forced.get()),
    ];
    all.into_iter().flatten().collect()
}
