//! An account's money in one currency.

use crate::state::state;

/// Sums since the account was opened; at the begin of a day they are copied, so that a day is the difference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Money that came in.
    pub deposits: i128,
    /// Money that went out.
    pub withdrawals: i128,
    /// Profit and loss of what was closed, by the account's cost method.
    pub realised: i128,
    /// Paid at settlements for what is still open.
    pub variation: i128,
    /// What open positions cost, where they are paid for (cash accounts).
    pub invested: i128,
    /// Fees.
    pub fees: i128,
    /// Taxes.
    pub taxes: i128,
}
state!(Totals { deposits, withdrawals, realised, variation, invested, fees, taxes });

impl Totals {
    /// The balance that these sums come to.
    pub fn balance(&self) -> i128 {
        self.deposits - self.withdrawals + self.realised + self.variation
            - self.invested
            - self.fees
            - self.taxes
    }
}

/// One currency. What checks read comes first.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(crate) struct Purse {
    pub(crate) currency: u8,
    pub(crate) balance: i128,
    /// Of positions.
    pub(crate) margin: i128,
    /// Of orders at work.
    pub(crate) reserved: i128,
    /// What positions and working orders are worth.
    pub(crate) gross: i128,
    pub(crate) totals: Totals,
    /// Totals, balance and unrealised gain at the begin of the day.
    pub(crate) opened: Totals,
    pub(crate) opened_unrealised: i128,
}
state!(Purse { currency, balance, margin, reserved, gross, totals, opened, opened_unrealised });

impl Purse {
    pub(crate) fn new(currency: u8) -> Purse {
        Purse { currency, ..Purse::default() }
    }

    /// True where one more booking keeps every sum exact.
    pub(crate) fn has_room(&self) -> bool {
        use crate::amount::FULL;
        let totals = &self.totals;
        [
            self.balance,
            totals.realised,
            totals.variation,
            totals.invested,
            totals.deposits,
            totals.withdrawals,
            totals.fees,
        ]
        .into_iter()
        .chain([totals.taxes, self.gross, self.margin, self.reserved])
        .all(|sum| sum.abs() < FULL)
    }
}
