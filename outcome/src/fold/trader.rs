//! One strategy: what it asked, what it holds, how it did.

use std::collections::BTreeMap;

use ledger::{Book, Position};
use wire::{Fill, InstrumentId, StrategyId};

use super::moves::Moves;
use crate::sheet::Line;

/// Nanoseconds of the two grids that changes are taken on.
pub(crate) const SECOND: u64 = 1_000_000_000;
const MINUTE: u64 = 60 * SECOND;
/// With so many whole minutes, minutes are taken, else seconds.
const ENOUGH_MINUTES: u64 = 30;

/// What it has in one instrument, beside the ledger's position.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    /// Sum over what is open of the times since the run's begin at which it was opened.
    opened: i128,
    /// As it was written last.
    written: Option<(i64, i128)>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Trader {
    pub(crate) orders: u64,
    pub(crate) rejected: u64,
    pub(crate) cancels: u64,
    pub(crate) cancels_rejected: u64,
    pub(crate) replaces: u64,
    pub(crate) replaces_rejected: u64,
    pub(crate) ordered: i128,
    /// Orders that no frame of the run ends.
    pub(crate) open: u64,
    fills: u64,
    filled: i128,
    bought: i64,
    sold: i64,
    turnover: i128,
    /// Fees and taxes of all fills.
    pub(crate) fees: i128,
    held: BTreeMap<InstrumentId, Held>,
    /// Quantity that was closed, and the sum of the times that it was held.
    closed: i128,
    closed_ns: i128,
    peak: i128,
    max_drawdown: i128,
    seconds: Moves,
    minutes: Moves,
    /// Equity and position as they were written last.
    written: Option<(i128, i64)>,
}

/// What it is worth at the marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Worth {
    pub(crate) realised: i128,
    pub(crate) unrealised: i128,
    fees: i128,
    net: i128,
    gross: i128,
    position: i64,
}

/// What a fill is worth, without a sign.
pub(crate) fn worth(fill: &Fill, contract: u64) -> i128 {
    fill.quantity.wide(fill.price).saturating_mul(i128::from(contract))
}

impl Worth {
    pub(crate) fn equity(&self) -> i128 {
        self.realised.saturating_add(self.unrealised)
    }

    /// Behind fees and taxes.
    pub(crate) fn equity_net(&self) -> i128 {
        self.equity().saturating_sub(self.fees)
    }
}

/// What a fill did to a position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Done {
    pub(crate) closed: i64,
    pub(crate) realised: i128,
}

impl Trader {
    pub(crate) fn worth(&self, me: StrategyId, book: &Book) -> Worth {
        let mut worth = Worth { fees: self.fees, ..Worth::default() };
        for &instrument in self.held.keys() {
            let (position, mark) = (book.position(me, instrument), book.mark(instrument));
            worth.realised = worth.realised.saturating_add(position.realised());
            worth.unrealised = worth.unrealised.saturating_add(position.unrealised(mark));
            let per_price = || wire::Quantity(position.quantity()).wide(mark);
            let contract = i128::from(book.contract(instrument));
            let value = if mark.is_some() { per_price().saturating_mul(contract) } else { 0 };
            worth.net = worth.net.saturating_add(value);
            worth.gross = worth.gross.saturating_add(value.saturating_abs());
            worth.position = worth.position.saturating_add(position.quantity());
        }
        worth
    }

    /// Takes a fill that has moved a position from `before` to `after`.
    pub(crate) fn fill(
        &mut self,
        fill: &Fill,
        before: &Position,
        after: &Position,
        (since, contract): (u64, u64),
    ) -> Done {
        self.fills += 1;
        let quantity = fill.quantity.0;
        self.filled += i128::from(quantity);
        self.turnover = self.turnover.saturating_add(worth(fill, contract).saturating_abs());
        match fill.side {
            wire::Side::Buy => self.bought = self.bought.saturating_add(quantity),
            wire::Side::Sell => self.sold = self.sold.saturating_add(quantity),
        }
        let held = self.held.entry(fill.instrument).or_default();
        let (open, at) = (i128::from(before.quantity().unsigned_abs()), i128::from(since));
        let is_against = before.quantity().signum() * fill.side.sign() < 0;
        let closed = if is_against { open.min(i128::from(quantity)) } else { 0 };
        if closed > 0 {
            let leaves = if closed == open { held.opened } else { held.opened / open * closed };
            held.opened -= leaves;
            self.closed += closed;
            self.closed_ns = self.closed_ns.saturating_add(at.saturating_mul(closed) - leaves);
        }
        held.opened = held.opened.saturating_add((i128::from(quantity) - closed).saturating_mul(at));
        Done {
            closed: i64::try_from(closed).unwrap_or(i64::MAX),
            realised: after.realised().saturating_sub(before.realised()),
        }
    }

    /// Whether it has traded in one of these instruments.
    pub(crate) fn has_any(&self, instruments: &[InstrumentId]) -> bool {
        instruments.iter().any(|instrument| self.held.contains_key(instrument))
    }

    /// Its drawdown at this equity.
    pub(crate) fn drawdown(&mut self, equity: i128) -> i128 {
        self.peak = self.peak.max(equity);
        let drawdown = self.peak.saturating_sub(equity);
        self.max_drawdown = self.max_drawdown.max(drawdown);
        drawdown
    }

    pub(crate) fn second(&mut self, equity: i128, before: u64, now: u64) {
        let silence = now - before;
        self.seconds.ended(equity, now / SECOND - before / SECOND, silence);
        let minutes = now / MINUTE - before / MINUTE;
        if minutes > 0 {
            self.minutes.ended(equity, minutes, silence);
        }
    }

    /// The run has ended at this equity, within a second and a minute.
    pub(crate) fn end(&mut self, equity: i128) {
        self.seconds = self.seconds.with_last(equity);
        self.minutes = self.minutes.with_last(equity);
    }

    /// The row of its equity, unless it is what was written last.
    pub(crate) fn equity_row(&mut self, time: u64, name: &str, worth: &Worth, force: bool) -> Option<Line> {
        let state = Some((worth.equity_net(), worth.position));
        if self.written == state && !force {
            return None;
        }
        self.written = state;
        let drawdown = self.drawdown(worth.equity_net());
        let mut line = Line::default();
        line.number(time).text(name).decimal(worth.equity()).decimal(worth.realised);
        line.decimal(worth.unrealised).decimal(drawdown).decimal(worth.net).decimal(worth.gross);
        line.number(worth.position).decimal(worth.fees).decimal(worth.equity_net());
        Some(line)
    }

    /// Instruments whose position is another than was written last.
    pub(crate) fn moved(&mut self, me: StrategyId, book: &Book) -> Vec<(InstrumentId, Position)> {
        let mut moved = Vec::new();
        for (&instrument, held) in &mut self.held {
            let position = book.position(me, instrument);
            let state = Some((position.quantity(), position.realised()));
            if held.written != state {
                held.written = state;
                moved.push((instrument, position));
            }
        }
        moved
    }

    /// Its row of the table of strategies.
    pub(crate) fn row(&self, name: &str, worth: &Worth) -> Line {
        let ratio = (self.ordered > 0).then(|| self.filled as f64 / self.ordered as f64);
        let holding = (self.closed > 0).then(|| self.closed_ns as f64 / self.closed as f64 / 1e9);
        let (moves, length) = match self.minutes.n() >= ENOUGH_MINUTES {
            true => (self.minutes, MINUTE),
            false => (self.seconds, SECOND),
        };
        let mut line = Line::default();
        line.text(name).number(self.orders).number(self.rejected).number(self.cancels);
        line.number(self.cancels_rejected).number(self.replaces).number(self.replaces_rejected);
        line.number(self.fills).number(self.bought).number(self.sold).number(worth.position);
        line.decimal(self.turnover).decimal(worth.equity()).decimal(worth.realised);
        line.decimal(worth.unrealised).decimal(self.max_drawdown).float(ratio).float(holding);
        line.float(moves.sharpe()).number(moves.n()).number(length / SECOND);
        line.decimal(worth.fees).decimal(worth.equity_net()).number(self.open);
        line.decimal(moves.sum());
        for power in moves.powers() {
            line.float(Some(power));
        }
        line
    }
}
