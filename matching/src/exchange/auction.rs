//! Auctions: the price at which the most trades, and its trades.

use wire::{Aggressor, Price, Quantity, Side};

use super::book::{Book, rank};
use super::core::Core;
use super::event::{Equilibrium, Event, Sink};
use super::grid::Grid;
use super::phase::Auction;
use super::rules::TieBreak;

/// What both sides want at one price.
#[derive(Clone, Copy, Debug)]
struct Wanted {
    tick: i64,
    buy: i128,
    sell: i128,
}

/// Neighbouring prices at which both sides want the same.
#[derive(Clone, Copy, Debug)]
struct Range {
    low: i64,
    high: i64,
    /// Sum of the buyers at these prices and above, and of the sellers at these and below.
    demand: i128,
    supply: i128,
    /// Those of them whose limit is better than the price.
    better_demand: i128,
    better_supply: i128,
}

impl Range {
    fn volume(&self) -> i128 {
        self.demand.min(self.supply)
    }

    fn imbalance(&self) -> i128 {
        self.demand - self.supply
    }

    fn better_trade_in_whole(&self) -> bool {
        self.better_demand.max(self.better_supply) <= self.volume()
    }
}

/// The outcome of an auction.
#[derive(Clone, Copy, Debug)]
struct Outcome {
    price: Price,
    tick: i64,
    volume: i128,
    imbalance: i128,
}

impl Core {
    /// What an auction would trade now.
    pub(crate) fn equilibrium(&self, book: &Book) -> Equilibrium {
        equilibrium(self.outcome(book))
    }

    fn outcome(&self, book: &Book) -> Option<Outcome> {
        let queue = |side| book.queue(side).map_or(0, |queue| self.levels[queue].quantity());
        let (market_buy, market_sell) = (queue(Side::Buy), queue(Side::Sell));
        let wanted = self.wanted(book, market_buy > 0, market_sell > 0);
        if wanted.is_empty() {
            // Only market orders trade: at the reference.
            let volume = market_buy.min(market_sell);
            let reference = book.reference();
            if volume == 0 || !reference.is_some() {
                return None;
            }
            let tick = nearest(&book.grid, reference, i64::MIN, i64::MAX)?;
            let price = book.grid.price(tick);
            return Some(Outcome { price, tick, volume, imbalance: market_buy - market_sell });
        }
        let ranges = ranges(&book.grid, &wanted, market_buy, market_sell);
        let chosen = choose(book, ranges)?;
        Some(Outcome {
            price: book.grid.price(chosen.high),
            tick: chosen.high,
            volume: chosen.volume(),
            imbalance: chosen.imbalance(),
        })
    }

    /// What limit orders want that could trade, by ascending price.
    fn wanted(&self, book: &Book, any_buy: bool, any_sell: bool) -> Vec<Wanted> {
        let best = |side| book.side(side).first().map(|(rank_of, _)| rank(side, rank_of));
        let (best_bid, best_ask) = (best(Side::Buy), best(Side::Sell));
        let mut wanted: Vec<Wanted> = Vec::new();
        for side in [Side::Buy, Side::Sell] {
            // The worst tick that still could trade: with a market order any.
            let (other, any) = match side {
                Side::Buy => (best_ask, any_sell),
                Side::Sell => (best_bid, any_buy),
            };
            let worst = match (any, other) {
                (true, _) => i64::MIN,
                (false, Some(other)) => rank(side, other),
                (false, None) => continue,
            };
            let ladder = book.side(side);
            let mut next = ladder.first();
            while let Some((at, level)) = next
                && at >= worst
            {
                let quantity = self.levels[level].quantity();
                let (buy, sell) = if side == Side::Buy { (quantity, 0) } else { (0, quantity) };
                wanted.push(Wanted { tick: rank(side, at), buy, sell });
                next = ladder.next(&self.levels, level);
            }
        }
        wanted.sort_unstable_by_key(|wanted| wanted.tick);
        wanted.dedup_by(|next, kept| {
            let same = next.tick == kept.tick;
            if same {
                kept.buy += next.buy;
                kept.sell += next.sell;
            }
            same
        });
        wanted
    }

    /// Trades what the auction trades, and reports it.
    pub(crate) fn uncross<S: Sink>(&mut self, book: &mut Book, auction: Option<Auction>, sink: &mut S) {
        let outcome = self.outcome(book);
        let equilibrium = equilibrium(outcome);
        sink.event(Event::Uncrossed { instrument: book.id, auction, equilibrium });
        let Some(outcome) = outcome else { return };
        let mut left = outcome.volume;
        while left > 0
            && let Some(buy) = book.front(&self.levels, Side::Buy)
            && let Some(sell) = book.front(&self.levels, Side::Sell)
        {
            let shown = |place| self.records.shown(&self.records[place]);
            let most = left.min(i128::from(i64::MAX)) as i64;
            let quantity = shown(buy).min(shown(sell)).min(most);
            left -= i128::from(quantity);
            let (buyer, buyer_shown) = self.fill(buy, quantity);
            let (seller, seller_shown) = self.fill(sell, quantity);
            book.note_trade(outcome.price, outcome.tick);
            let trade = self.trade(
                outcome.price,
                quantity,
                Aggressor::None,
                buyer.state(book.id, buyer_shown),
                seller.state(book.id, seller_shown),
            );
            sink.event(Event::Traded(trade));
            self.settle(book, buy, &buyer, buyer_shown, sink);
            self.settle(book, sell, &seller, seller_shown, sink);
        }
    }
}

fn equilibrium(outcome: Option<Outcome>) -> Equilibrium {
    let Some(outcome) = outcome else {
        return Equilibrium { price: Price::NONE, volume: Quantity::ZERO, imbalance: 0 };
    };
    let clamp = |wide: i128| wide.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64;
    Equilibrium {
        price: outcome.price,
        volume: Quantity(clamp(outcome.volume)),
        imbalance: clamp(outcome.imbalance),
    }
}

/// All allowed prices from the lowest to the highest wanted one, in ranges of equal volumes.
fn ranges(grid: &Grid, wanted: &[Wanted], market_buy: i128, market_sell: i128) -> Vec<Range> {
    let mut demand = market_buy + wanted.iter().map(|wanted| wanted.buy).sum::<i128>();
    let mut supply = market_sell;
    let mut ranges = Vec::with_capacity(wanted.len() * 2);
    for (index, at) in wanted.iter().enumerate() {
        let (better_demand, better_supply) = (demand - at.buy, supply);
        supply += at.sell;
        ranges.push(Range { low: at.tick, high: at.tick, demand, supply, better_demand, better_supply });
        demand -= at.buy;
        let Some(next) = wanted.get(index + 1) else { continue };
        let between = grid.up(at.tick.saturating_add(1)).zip(grid.down(next.tick.saturating_sub(1)));
        if let Some((low, high)) = between
            && low <= high
            && low > at.tick
        {
            let (better_demand, better_supply) = (demand, supply);
            ranges.push(Range { low, high, demand, supply, better_demand, better_supply });
        }
    }
    ranges
}

/// The price that the rules choose, as a range of one price; `None` if nothing trades.
fn choose(book: &Book, mut ranges: Vec<Range>) -> Option<Range> {
    let volume = ranges.iter().map(Range::volume).max().filter(|volume| *volume > 0)?;
    ranges.retain(|range| range.volume() == volume);
    for tie_break in &book.market.tie_breaks {
        let (low, high) = (ranges.first()?.low, ranges.last()?.high);
        let one = match tie_break {
            TieBreak::BetterInWhole => {
                // Of the prices that trade the most there is one; an earlier tie-break may have chosen another.
                if ranges.iter().any(Range::better_trade_in_whole) {
                    ranges.retain(Range::better_trade_in_whole);
                }
                continue;
            }
            TieBreak::LeastImbalance => {
                let least = ranges.iter().map(|range| range.imbalance().abs()).min()?;
                ranges.retain(|range| range.imbalance().abs() == least);
                continue;
            }
            TieBreak::Pressure => {
                if ranges.iter().all(|range| range.imbalance() > 0) {
                    high
                } else if ranges.iter().all(|range| range.imbalance() < 0) {
                    low
                } else {
                    continue;
                }
            }
            TieBreak::NearestReference => {
                let reference = book.reference();
                if !reference.is_some() {
                    continue;
                }
                nearest(&book.grid, reference, low, high)?
            }
            TieBreak::Middle => {
                let middle = (i128::from(low) + i128::from(high) + 1).div_euclid(2) as i64;
                book.grid.up(middle)?.min(high)
            }
        };
        ranges.retain(|range| range.low <= one && one <= range.high);
        let range = ranges.first_mut()?;
        (range.low, range.high) = (one, one);
    }
    ranges.pop()
}

/// The allowed price nearest to `price` between two allowed ones; of two equally near, the higher.
fn nearest(grid: &Grid, price: Price, low: i64, high: i64) -> Option<i64> {
    let (below, above) = (grid.down(grid.floor(price)), grid.up(grid.ceil(price)));
    let distance = |tick: i64| (i128::from(grid.price(tick).0) - i128::from(price.0)).abs();
    let found = match (below, above) {
        (Some(below), Some(above)) if distance(below) < distance(above) => below,
        (_, Some(above)) => above,
        (Some(below), None) => below,
        (None, None) => return None,
    };
    Some(found.clamp(low, high))
}
