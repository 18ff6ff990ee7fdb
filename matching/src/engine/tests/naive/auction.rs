//! Crosses and call auctions of the recorded market, and the auction with which trading resumes.

use wire::*;

use super::{CallAuctions, FillModel, Naive, Resting, priority};

/// Quantities of the cross that has traded.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::engine::tests) struct Cross {
    time: Nanos,
    price: i64,
    volume: i64,
    paired: [i64; 2],
    executed: [i64; 2],
}

const SIDES: [Side; 2] = [Side::Buy, Side::Sell];

fn is_better(order: &Resting, price: i64) -> bool {
    priority(order.side, order.price) < priority(order.side, price)
}

impl Naive {
    pub(super) fn collects(&self) -> bool {
        self.options.call_auctions == CallAuctions::Uncross && self.cross.is_none()
    }

    /// Of the next message. Says whether continuous trading begins with it.
    pub(super) fn phase(&mut self, auction: bool) -> bool {
        if auction && !self.auction {
            self.cross = None;
        }
        std::mem::replace(&mut self.auction, auction) && !auction
    }

    /// At the price at which most trades; of several, at one at which no better order is left.
    pub(super) fn reopen(&mut self) {
        self.cross = None;
        let [buys, sells] = SIDES.map(|side| self.all(side));
        if !self.orders.iter().any(|order| order.own) {
            return;
        }
        let sum = |orders: &[Resting], which: &dyn Fn(i64) -> bool| -> i64 {
            orders.iter().filter(|order| which(order.price)).map(|order| order.open - order.taken).sum()
        };
        let volume = |price: i64| sum(&buys, &|at| at >= price).min(sum(&sells, &|at| at <= price));
        let mut prices: Vec<i64> = buys.iter().chain(&sells).map(|order| order.price).collect();
        prices.sort_unstable();
        let most = prices.iter().map(|price| volume(*price)).max().unwrap_or(0);
        prices.retain(|&price| {
            let better = sum(&buys, &|at| at > price).max(sum(&sells, &|at| at < price));
            volume(price) == most && better <= most
        });
        let (Some(&low), Some(&high), true) = (prices.first(), prices.last(), most > 0) else { return };
        let best = |side| {
            let of_market = self.of_market(side).into_iter();
            of_market.map(|order| order.price).min_by_key(|price| priority(side, *price))
        };
        let (bid, ask) = (best(Side::Buy), best(Side::Sell));
        let price = match (bid.or(ask), ask.or(bid)) {
            (Some(bid), Some(ask)) if (2 * high - bid - ask).abs() < (2 * low - bid - ask).abs() => high,
            _ => low,
        };
        self.pair(price, |_| true);
    }

    fn begin_cross(&mut self, price: i64) {
        let time = self.time;
        let goes_on = |cross: Cross| self.auction || cross.time == time && cross.price == price;
        if self.cross.is_some_and(goes_on) {
            return;
        }
        let has_own = self.orders.iter().any(|order| order.own);
        let paired = match self.auction {
            true if has_own => self.pair(price, |_| true),
            true => i64::MAX,
            false => 0,
        };
        if self.auction || has_own {
            self.cross = Some(Cross { time, price, paired: [paired; 2], ..Cross::default() });
        }
    }

    pub(super) fn execute_in_cross(&mut self, reference: u64, price: i64, quantity: i64) {
        self.begin_cross(price);
        let order = self.market(reference).unwrap();
        let (side, quantity) = (usize::from(order.side == Side::Sell), quantity.min(order.open));
        if let Some(mut cross) = self.cross {
            let before = cross.executed[side].max(cross.paired[side]);
            cross.executed[side] += quantity;
            let more = cross.executed[side] - before;
            if more > 0 {
                cross.paired[side] += self.serve(order.side, more, Some(price), |own| {
                    let is_first = (priority(own.side, own.price), own.arrival)
                        < (priority(order.side, order.price), order.arrival);
                    is_first && priority(own.side, own.price) <= priority(own.side, price)
                });
            }
            self.cross = Some(cross);
        }
    }

    pub(super) fn trade_in_cross(&mut self, event: &BookEvent) {
        let (price, quantity) = (event.price.0, event.quantity.0);
        if quantity <= 0 {
            return;
        }
        self.begin_cross(price);
        let Some(mut cross) = self.cross else { return };
        match (event.flags & BookEvent::UNPRINTED != 0, event.action) {
            (true, BookAction::Execute) => return,
            (true, _) => cross.volume = cross.volume.max(quantity),
            (false, _) => cross.volume += quantity,
        }
        for (side, paired) in SIDES.into_iter().zip(&mut cross.paired) {
            let left = cross.volume.saturating_sub(*paired);
            if left > 0 {
                *paired += self.serve(side, left, Some(price), |own| is_better(own, price));
            }
        }
        self.cross = Some(cross);
    }

    pub(super) fn print_of_cross(&mut self, price: i64, quantity: i64) {
        if quantity > 0 {
            self.pair(price, |order| order.own && is_better(order, price));
            for side in SIDES {
                self.serve(side, quantity, Some(price), |own| is_better(own, price));
            }
        }
    }

    /// The market's orders of a side, or what the latest quote shows of it.
    fn of_market(&self, side: Side) -> Vec<Resting> {
        if self.options.fill == FillModel::Book {
            return self.sorted(side).into_iter().filter(|order| !order.own).collect();
        }
        let level = |&(price, open): &(i64, i64)| Resting {
            own: false,
            id: 0,
            side,
            price,
            open,
            quantity: 0,
            taken: 0,
            arrival: 0,
            post_only: false,
            account: AccountId::OWN,
        };
        let levels = &self.quoted[usize::from(side == Side::Sell)];
        levels.iter().filter(|level| level.1 > 0).map(level).collect()
    }

    /// All that a side has, those first that trade first.
    fn all(&self, side: Side) -> Vec<Resting> {
        let mut orders = self.of_market(side);
        orders.extend(self.sorted(side).into_iter().filter(|order| order.own));
        orders.sort_by_key(|order| (priority(side, order.price), order.arrival));
        orders
    }

    /// One share after the other: the first buyer that has a share left with the first such seller, at `price`. What two orders
    /// of the market trade with each other is not written down. Shares that the same two trade in a row are one trade.
    fn pair(&mut self, price: i64, takes_part: impl Fn(&Resting) -> bool) -> i64 {
        let [buys, sells] = SIDES.map(|side| {
            let all = self.all(side).into_iter();
            let part =
                all.filter(|order| takes_part(order) && (order.price == price || is_better(order, price)));
            let shares = part.flat_map(|order| {
                std::iter::repeat_n(order, usize::try_from(order.open - order.taken).unwrap())
            });
            shares.collect::<Vec<Resting>>()
        });
        let key = |order: &Resting| (order.own, order.id, order.price);
        let mut trades: Vec<(Resting, Resting, i64)> = Vec::new();
        for (buy, sell) in buys.into_iter().zip(sells) {
            let is_same = |trade: &&mut (Resting, Resting, i64)| {
                (key(&trade.0), key(&trade.1)) == (key(&buy), key(&sell))
            };
            match trades.last_mut().filter(is_same) {
                Some(trade) => trade.2 += 1,
                None => trades.push((buy, sell, 1)),
            }
        }
        let paired = trades.iter().map(|trade| trade.2).sum();
        for (buy, sell, quantity) in trades {
            let is_own = buy.own || sell.own;
            self.trades += u64::from(is_own);
            for order in [buy, sell] {
                if order.own {
                    let mut order = self.get(true, order.id).unwrap();
                    self.traded(&mut order, price, quantity, Liquidity::Maker);
                } else if self.options.fill == FillModel::Quotes {
                    self.use_quoted(order.side, order.price, quantity, is_own);
                } else if is_own || !self.auction {
                    let order = self.market(order.id).unwrap();
                    self.store(Resting { taken: order.taken + quantity, ..order });
                }
            }
        }
        paired
    }

    /// Quantity of the latest quote trades, with own orders or with its other side.
    fn use_quoted(&mut self, side: Side, price: i64, quantity: i64, is_taken: bool) {
        let side = usize::from(side == Side::Sell);
        if is_taken {
            return self.take_quoted(side, price, quantity);
        }
        self.quoted[side].iter_mut().find(|level| level.0 == price).unwrap().1 -= quantity;
    }
}
