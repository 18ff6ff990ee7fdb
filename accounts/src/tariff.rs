//! What fills cost, for whoever follows executions alone: the same charges that the accounts make, without the accounts.

use std::collections::BTreeMap;

use wire::{AccountId, AccountOpen, FeeRule, Fill, Instrument, InstrumentId, OrderId, StrategyId, Symbol};

use crate::amount::value;
use crate::fees::{Class, Fees, Traded};
use crate::refusal::Refusal;
use crate::rules::Subject;

/// Charges on the fills of all accounts, and of strategies' own.
///
/// Which part of a fill opens and which closes goes by the net position, all of today: as in cash accounts and margin accounts
/// between two settlements. Where a rule is for opening or closing alone, a futures account, which has long and short
/// apart, may be charged otherwise.
#[derive(Clone, Debug, Default)]
pub struct Tariff {
    fees: Fees,
    parents: BTreeMap<AccountId, AccountId>,
    contracts: BTreeMap<InstrumentId, (Symbol, u64)>,
    /// Net, of an account, or of a strategy for its own.
    positions: BTreeMap<(AccountId, StrategyId, InstrumentId), i64>,
    orders: BTreeMap<OrderId, (u32, Traded)>,
}

impl Tariff {
    /// A rule holds from now on, for orders that have not traded yet.
    ///
    /// # Errors
    /// [`Refusal`], as of the accounts.
    pub fn rule(&mut self, rule: &FeeRule) -> Result<(), Refusal> {
        self.fees.set(rule)
    }

    /// An account was opened, perhaps below another, whose rules then hold.
    pub fn open(&mut self, open: &AccountOpen) {
        self.parents.insert(open.account, open.parent);
    }

    /// An instrument was listed.
    pub fn list(&mut self, instrument: &Instrument) {
        self.contracts.insert(instrument.id, (instrument.symbol, instrument.contract()));
    }

    /// An order has ended: it pays no more.
    pub fn ended(&mut self, order: OrderId) {
        self.orders.remove(&order);
    }

    /// What this fill costs, fees and taxes together, in 1e-9. Zero for an impossible one.
    pub fn fill(&mut self, account: AccountId, fill: &Fill) -> i128 {
        if self.fees.rules.is_empty() {
            return 0;
        }
        self.charge(account, fill).unwrap_or(0)
    }

    fn charge(&mut self, account: AccountId, fill: &Fill) -> Option<i128> {
        let (symbol, contract) = *self.contracts.get(&fill.instrument)?;
        let strategy = fill.order_id.strategy();
        let owner = if account == AccountId::OWN { strategy } else { StrategyId(0) };
        let held = self.positions.entry((account, owner, fill.instrument)).or_default();
        let (lots, sign) = (fill.quantity.0, fill.side.sign());
        let against = held.signum() * sign < 0;
        let closing = if against { held.checked_abs()?.min(lots) } else { 0 };
        *held = held.checked_add(sign.checked_mul(lots)?)?;
        let parent = self.parents.get(&account).copied().unwrap_or_default();
        let Tariff { fees, orders, .. } = self;
        let (schedule, traded) = orders.entry(fill.order_id).or_insert_with(|| {
            let subject = Subject { account, parent, instrument: fill.instrument, symbol };
            (fees.resolve(&subject), Traded::default())
        });
        let paid = |traded: &Traded| {
            let charged = fees.charged(*schedule, fill.side, traded);
            charged.fees + charged.taxes
        };
        let before = paid(traded);
        for (class, lots) in [(Class::Open, lots - closing), (Class::CloseToday, closing)] {
            if lots > 0 {
                traded.add(class, fill.liquidity, lots, value(fill.price, lots, contract)?);
            }
        }
        Some(paid(traded) - before)
    }
}
