//! What an account has, for whoever asks.

use std::collections::BTreeSet;

use wire::{
    AccountId, AccountKind, AccountScope, Currency, InstrumentId, NewOrder, OrderId, OrderStatus,
    OrderUpdate, StrategyId,
};

use crate::account::{Account, Frozen};
use crate::anomaly::Anomalies;
use crate::desk::Desk;
use crate::limits::KillCause;
use crate::purse::{Purse, Totals};
use crate::risk;
use crate::scope::Exposure;
use crate::statement::PositionRow;

/// An account as a whole, in its own currency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountView {
    /// Its number.
    pub account: AccountId,
    /// Whose own account it is, if it is one.
    pub owner: Option<StrategyId>,
    /// By which rules it trades.
    pub kind: AccountKind,
    /// Its currency.
    pub currency: Currency,
    /// No new orders, no withdrawals.
    pub is_frozen: bool,
    /// It has ended.
    pub is_closed: bool,
    /// Why its own kill switch has fallen, if it has.
    pub killed: Option<KillCause>,
    /// Orders at work.
    pub open_orders: u32,
    /// What it is worth.
    pub equity: i128,
    /// What new orders and withdrawals may use.
    pub available: i128,
    /// Margin of its positions.
    pub margin: i128,
    /// Profit and loss since the begin of the day.
    pub day_result: i128,
    /// Margin as a part of equity, in 1e-9.
    pub risk_ratio: u64,
}

/// An account's money in one currency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PurseView {
    /// The currency.
    pub currency: Currency,
    /// What is there.
    pub balance: i128,
    /// What orders at work hold back.
    pub frozen: i128,
    /// Margin of positions.
    pub margin: i128,
    /// What positions and working orders are worth.
    pub gross: i128,
    /// All that has come and gone.
    pub totals: Totals,
}

/// What has moved an account's money since the begin of the day, in its own currency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DayFlows {
    /// Money that came in.
    pub deposits: i128,
    /// Money that went out.
    pub withdrawals: i128,
    /// Fees and taxes.
    pub charges: i128,
    /// What settlements have paid for positions that are still open.
    pub settled: i128,
    /// Gain of open positions at their marks, since it was last paid.
    pub unrealised: i128,
}

/// Sums over what a group, a strategy or the platform contains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScopeView {
    /// Why its kill switch has fallen, if it has.
    pub killed: Option<KillCause>,
    /// Orders at work.
    pub open_orders: u32,
    /// By instrument: bought less sold, and what orders at work may yet buy and sell. Those of which one is not zero.
    pub exposures: Vec<(InstrumentId, [i64; 3])>,
    /// By currency: what positions and working orders are worth.
    pub gross: Vec<(Currency, i128)>,
}

impl Desk {
    /// An account that an entry has opened.
    pub fn account(&self, account: AccountId) -> Option<AccountView> {
        self.view(self.accounts.get(self.find(account)?)?)
    }

    /// The account that orders of a strategy with this number are for: with zero its own.
    pub fn account_of(&self, strategy: StrategyId, account: AccountId) -> Option<AccountView> {
        self.view(self.accounts.get(self.place_of(account, strategy)?)?)
    }

    /// What has moved that account's money since the begin of the day.
    pub fn day_flows(&self, strategy: StrategyId, account: AccountId) -> Option<DayFlows> {
        let account = self.accounts.get(self.place_of(account, strategy)?)?;
        let mut flows = DayFlows::default();
        for purse in account.purses() {
            let home = |amount| self.currencies.convert(amount, purse.currency, account.home.currency);
            let (now, then) = (&purse.totals, &purse.opened);
            flows.deposits += home(now.deposits - then.deposits);
            flows.withdrawals += home(now.withdrawals - then.withdrawals);
            flows.charges += home(now.fees + now.taxes - then.fees - then.taxes);
            flows.unrealised += home(account.unrealised(&self.contracts, purse.currency));
            flows.settled += home(account.settled(&self.contracts, purse.currency));
        }
        Some(flows)
    }

    /// All accounts, in the order in which they were opened.
    pub fn accounts(&self) -> impl Iterator<Item = AccountView> {
        self.accounts.iter().filter_map(|account| self.view(account))
    }

    pub(crate) fn view(&self, account: &Account) -> Option<AccountView> {
        let equity = account.equity(&self.contracts, &self.currencies);
        let margin = account.margin(&self.currencies);
        Some(AccountView {
            account: account.id,
            owner: account.owner,
            kind: account.kind,
            currency: self.currency(account.home.currency),
            is_frozen: account.frozen != Frozen::No,
            is_closed: account.is_closed,
            killed: account.watch.killed,
            open_orders: account.watch.open,
            equity,
            available: account.available(&self.contracts, &self.currencies),
            margin,
            day_result: account.day_result(&self.contracts, &self.currencies),
            risk_ratio: risk::ratio(margin, equity),
        })
    }

    /// Its money, its own currency first.
    pub fn purses(&self, strategy: StrategyId, account: AccountId) -> Vec<PurseView> {
        let account = self.place_of(account, strategy).and_then(|place| self.accounts.get(place));
        let view = |purse: &Purse| PurseView {
            currency: self.currency(purse.currency),
            balance: purse.balance,
            frozen: purse.reserved,
            margin: purse.margin,
            gross: purse.gross,
            totals: purse.totals,
        };
        account.into_iter().flat_map(|account| account.purses()).map(view).collect()
    }

    /// Its position in an instrument, as it stands now.
    pub fn position(
        &self,
        strategy: StrategyId,
        account: AccountId,
        instrument: InstrumentId,
    ) -> Option<PositionRow> {
        let account = self.accounts.get(self.place_of(account, strategy)?)?;
        let contract = self.contracts.get(instrument)?;
        Some(PositionRow::new(0, account.id, account.owner, account.slot(instrument)?, contract))
    }

    /// What has become of an order, as long as it is remembered.
    pub fn order(&self, id: OrderId) -> Option<OrderUpdate> {
        self.orders.get(self.orders.find(id)?).map(|order| order.update())
    }

    /// An order that was refused, as it is remembered.
    pub fn refused_order(&self, id: OrderId) -> Option<NewOrder> {
        let order = self.orders.get(self.orders.find(id)?)?;
        (order.status == OrderStatus::Rejected).then_some(order.request)
    }

    /// What an order at work holds back, in its instrument's currency.
    pub fn reserved(&self, id: OrderId) -> Option<i128> {
        self.orders.get(self.orders.find(id)?).map(|order| order.reserved.money)
    }

    /// Whether an instrument has terms.
    pub fn has_terms(&self, instrument: InstrumentId) -> bool {
        self.contracts.get(instrument).is_some()
    }

    /// A strategy's orders at work, by id: each as it went out, and how much of it may yet trade.
    pub fn orders_of(&self, strategy: StrategyId) -> Vec<(NewOrder, i64)> {
        let its = self.orders.open().filter(|(_, order)| order.strategy() == strategy);
        let mut its: Vec<_> = its.map(|(_, order)| (order.request, order.open())).collect();
        its.sort_unstable_by_key(|(order, _)| order.order_id);
        its
    }

    /// An account's orders at work, by id: each as it went out, and how much of it may yet trade. It looks at no other account's.
    pub fn orders_of_account(&self, account: AccountId) -> Vec<(NewOrder, i64)> {
        let slots =
            self.find(account).and_then(|place| self.accounts.get(place)).map(|account| &account.slots);
        let firsts = slots.into_iter().flatten().flat_map(|slot| slot.first);
        let mut its = Vec::new();
        for mut next in firsts {
            while let Some(order) = self.orders.get(next) {
                its.push((order.request, order.open()));
                next = order.next;
            }
        }
        its.sort_unstable_by_key(|(order, _)| order.order_id);
        its
    }

    /// The accounts that take no orders because their positions are closed by force.
    pub fn closed_by_force(&self) -> impl Iterator<Item = AccountId> {
        self.accounts.iter().filter(|account| account.frozen.is_by_force()).map(|account| account.id)
    }

    /// The newest id of a strategy's orders, refused ones among them.
    pub fn newest_order(&self, strategy: StrategyId) -> Option<OrderId> {
        self.orders.newest(strategy)
    }

    /// The instruments that accounts have traded or tried to.
    pub fn instruments(&self) -> BTreeSet<InstrumentId> {
        self.accounts.iter().flat_map(|account| &account.slots).map(|slot| slot.instrument).collect()
    }

    /// What a currency is worth, in 1e-9; `None` where it has no rate.
    pub fn currency_rate(&self, currency: Currency) -> Option<u64> {
        self.currencies.find(currency).map(|known| self.currencies.rate(known))
    }

    /// Limits, switch and sums of a group, a strategy or the platform; `None` where there is none such, or it is an account.
    pub fn scope(&self, scope: AccountScope, subject: u32) -> Option<ScopeView> {
        let found = match scope {
            AccountScope::Account => return None,
            AccountScope::Group => &self.scopes.groups.iter().find(|(number, _)| *number == subject)?.1,
            AccountScope::Strategy => {
                self.scopes.strategies.get(usize::try_from(subject).ok()?)?.as_deref()?
            }
            AccountScope::Platform => &self.scopes.platform,
        };
        let sums = |exposure: &Exposure| [exposure.net, exposure.working[0], exposure.working[1]];
        let exposures =
            (0_u32..).zip(&found.exposures).map(|(id, exposure)| (InstrumentId(id), sums(exposure)));
        Some(ScopeView {
            killed: found.watch.killed,
            open_orders: found.watch.open,
            exposures: exposures.filter(|(_, sums)| *sums != [0; 3]).collect(),
            gross: (0_u8..).zip(&found.gross).map(|(id, gross)| (self.currency(id), *gross)).collect(),
        })
    }

    /// How many orders work.
    pub fn open_orders(&self) -> u32 {
        self.scopes.platform.watch.open
    }

    /// Executions that did not fit.
    pub fn anomalies(&self) -> &Anomalies {
        &self.anomalies
    }

    /// The last day that was settled; zero: none.
    pub fn settled_day(&self) -> u32 {
        self.prices.settled
    }

    /// Whether every sum is what its parts come to; the first that is not, in words. For tests and audits: it looks at
    /// everything.
    ///
    /// # Errors
    /// Which sum differs.
    pub fn audit(&self) -> Result<(), String> {
        crate::audit::audit(self)
    }
}
