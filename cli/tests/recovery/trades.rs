//! Numbers of trades: each once, ascending over every restart of matching.

use wire::Fill;

/// The fills so far.
#[derive(Debug, Default)]
pub(crate) struct Trades {
    last: Option<Fill>,
    /// Both sides of the last one were there.
    is_whole: bool,
    pub(crate) trades: usize,
}

impl Trades {
    /// What is wrong with the next fill, if anything: a trade is new and has the next number, or is the other side of the
    /// last fill.
    pub(crate) fn take(&mut self, fill: &Fill) -> Option<String> {
        let last = self.last.replace(*fill);
        let number = last.map_or(0, |last| last.trade_id);
        if fill.trade_id > number {
            self.is_whole = false;
            self.trades += 1;
            return None;
        }
        let other = last.filter(|last| {
            let fits =
                (last.instrument, last.price, last.quantity) == (fill.instrument, fill.price, fill.quantity);
            fill.trade_id == number && fits && last.side != fill.side && last.order_id != fill.order_id
        });
        let is_other_side = other.is_some() && !self.is_whole;
        self.is_whole = true;
        (!is_other_side).then(|| format!("trade {} comes again behind {number}: {fill:?}", fill.trade_id))
    }
}
