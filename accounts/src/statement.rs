//! Rows of statements, as CSV and for tables.

use std::fmt;

use wire::{AccountId, Currency, InstrumentId, Price, StrategyId, WideMoney};

use crate::contracts::Contract;
use crate::positions::{LONG, SHORT, Slot, TODAY, YESTERDAY};
use crate::purse::{Purse, Totals};

/// An account's day in one currency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The day, as 20260131.
    pub day: u32,
    /// Which account.
    pub account: AccountId,
    /// Whose own account it is, if it is one.
    pub owner: Option<StrategyId>,
    /// The currency of all amounts.
    pub currency: Currency,
    /// The balance at the begin of the day.
    pub opening: i128,
    /// What came and went that day. `invested` is what holdings cost more than at the begin.
    pub day_totals: Totals,
    /// The balance at its end: `opening` and the day's totals add up to it.
    pub closing: i128,
    /// Margin that positions take.
    pub margin: i128,
    /// What orders at work hold back.
    pub reserved: i128,
    /// Gain of what is open and not paid.
    pub unrealised: i128,
}

impl Statement {
    /// The columns.
    pub const HEADER: &str = "day,account,strategy,currency,opening,deposits,withdrawals,realised,variation,invested,\
                              fees,taxes,closing,margin,reserved,unrealised";

    pub(crate) fn new(
        day: u32,
        account: AccountId,
        owner: Option<StrategyId>,
        currency: Currency,
        purse: &Purse,
        unrealised: i128,
    ) -> Statement {
        let (now, then) = (&purse.totals, &purse.opened);
        Statement {
            day,
            account,
            owner,
            currency,
            opening: then.balance(),
            day_totals: Totals {
                deposits: now.deposits - then.deposits,
                withdrawals: now.withdrawals - then.withdrawals,
                realised: now.realised - then.realised,
                variation: now.variation - then.variation,
                invested: now.invested - then.invested,
                fees: now.fees - then.fees,
                taxes: now.taxes - then.taxes,
            },
            closing: purse.balance,
            margin: purse.margin,
            reserved: purse.reserved,
            unrealised,
        }
    }
}

/// An exact amount, printed.
fn money(amount: i128) -> WideMoney {
    WideMoney::from_wide(amount)
}

fn owner(owner: Option<StrategyId>) -> String {
    owner.map_or_else(String::new, |strategy| strategy.0.to_string())
}

impl fmt::Display for Statement {
    /// A line of CSV.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let totals = &self.day_totals;
        write!(f, "{},{},{},{}", self.day, self.account.0, owner(self.owner), self.currency)?;
        for amount in [
            self.opening,
            totals.deposits,
            totals.withdrawals,
            totals.realised,
            totals.variation,
            totals.invested,
            totals.fees,
            totals.taxes,
            self.closing,
            self.margin,
            self.reserved,
            self.unrealised,
        ] {
            write!(f, ",{}", money(amount))?;
        }
        Ok(())
    }
}

/// A position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PositionRow {
    /// The day that was settled; zero: now.
    pub day: u32,
    /// Which account.
    pub account: AccountId,
    /// Whose own account it is, if it is one.
    pub owner: Option<StrategyId>,
    /// In what.
    pub instrument: InstrumentId,
    /// Long lots of today.
    pub long_today: i64,
    /// Long lots of earlier days.
    pub long_yesterday: i64,
    /// Short lots of today.
    pub short_today: i64,
    /// Short lots of earlier days.
    pub short_yesterday: i64,
    /// Long lots that orders at work may close.
    pub long_frozen: i64,
    /// Short lots that orders at work may close.
    pub short_frozen: i64,
    /// What the long lots cost, by the account's method.
    pub long_cost: i128,
    /// What the short lots were sold for.
    pub short_cost: i128,
    /// What the value of the long lots had moved from their cost at the last settlement, where settlements pay that.
    pub long_settled: i128,
    /// The same of the short lots.
    pub short_settled: i128,
    /// Profit and loss of what was closed.
    pub realised: i128,
    /// Of what is open, at the mark, since it was last paid.
    pub unrealised: i128,
    /// Fees and taxes.
    pub charges: i128,
    /// Margin.
    pub margin: i128,
    /// The latest mark; [`Price::NONE`] before the first.
    pub mark: Price,
}

impl PositionRow {
    /// The columns.
    pub const HEADER: &str = "day,account,strategy,instrument,long_today,long_yesterday,short_today,short_yesterday,\
                              long_frozen,short_frozen,long_cost,short_cost,realised,unrealised,charges,margin,mark";

    pub(crate) fn new(
        day: u32,
        account: AccountId,
        owner: Option<StrategyId>,
        slot: &Slot,
        contract: &Contract,
    ) -> PositionRow {
        let [long, short] = [&slot.holdings[LONG], &slot.holdings[SHORT]];
        PositionRow {
            day,
            account,
            owner,
            instrument: slot.instrument,
            long_today: long.lots[TODAY],
            long_yesterday: long.lots[YESTERDAY],
            short_today: short.lots[TODAY],
            short_yesterday: short.lots[YESTERDAY],
            long_frozen: long.frozen_total(),
            short_frozen: short.frozen_total(),
            long_cost: long.cost(),
            short_cost: short.cost(),
            long_settled: long.settled(),
            short_settled: short.settled(),
            realised: slot.realised,
            unrealised: slot.unrealised(contract),
            charges: slot.charges,
            margin: long.margin + short.margin,
            mark: contract.mark,
        }
    }
}

impl fmt::Display for PositionRow {
    /// A line of CSV.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{},{},{}", self.day, self.account.0, owner(self.owner), self.instrument)?;
        for lots in [
            self.long_today,
            self.long_yesterday,
            self.short_today,
            self.short_yesterday,
            self.long_frozen,
            self.short_frozen,
        ] {
            write!(f, ",{lots}")?;
        }
        for amount in
            [self.long_cost, self.short_cost, self.realised, self.unrealised, self.charges, self.margin]
        {
            write!(f, ",{}", money(amount))?;
        }
        write!(f, ",{}", self.mark)
    }
}
