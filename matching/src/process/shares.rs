//! Which trades have an order of a strategy on both sides.

use wire::Fill;

/// Recognises them in the fills, in the order in which these are written: the two sides of a trade bear one number, and
/// one follows the other ([`crate::TradeIds`]).
#[derive(Debug, Default)]
pub(super) struct OwnTrades {
    last: u64,
}

impl OwnTrades {
    /// 1 when this fill is the second side of a trade, else 0.
    pub(super) fn completed_by(&mut self, fill: &Fill) -> u64 {
        let last = std::mem::replace(&mut self.last, fill.trade_id);
        u64::from(last == fill.trade_id)
    }
}
