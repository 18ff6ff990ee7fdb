//! Sums, each by one function, added up from lots and orders at work on every question.

use wire::*;

use super::{Model, Working, World};

pub(crate) fn ceil(amount: i128, by: i128) -> i128 {
    if amount % by == 0 { amount / by } else { amount / by + 1 }
}

/// An amount that is worth `from` a unit in units that are worth `to`, rounded down.
pub(crate) fn convert(amount: i128, from: u64, to: u64) -> i128 {
    if from == to { amount } else { (amount * i128::from(from)).div_euclid(i128::from(to)) }
}

/// What an order pays for what it has traded.
pub(crate) fn charges(world: &World, order: &NewOrder, traded: &[(i64, i128); 3]) -> i128 {
    charges_with(world, order, traded, None)
}

/// The same, and for what it may yet trade: classes, lots and value, of which each rule takes all that may be its own.
fn charges_with(
    world: &World,
    order: &NewOrder,
    traded: &[(i64, i128); 3],
    to_come: Option<(&[usize], i64, i128)>,
) -> i128 {
    let mut sum = 0;
    for rule in &world.fees {
        if !rule.side.covers(order.side) {
            continue;
        }
        let class = |index: usize| match rule.event {
            FeeEvent::Any => true,
            FeeEvent::Open => index == 0,
            FeeEvent::Close => index == 1,
            FeeEvent::CloseToday => index == 2,
        };
        let parts: Vec<_> = traded.iter().enumerate().filter(|(index, _)| class(*index)).collect();
        let mut lots: i64 = parts.iter().map(|(_, part)| part.0).sum();
        let mut value: i128 = parts.iter().map(|(_, part)| part.1.abs()).sum();
        if let Some((classes, more, worth)) = to_come
            && classes.iter().any(|index| class(*index))
        {
            (lots, value) = (lots + more, value + worth.abs());
        }
        if lots > 0 {
            let exact =
                i128::from(lots) * rule.per_lot.wide() + ceil(value * i128::from(rule.rate), 1_000_000_000);
            let unit = i128::from(rule.unit.max(1));
            sum += (ceil(exact, unit) * unit).max(rule.minimum.wide());
        }
    }
    sum
}

/// What an order at work holds back: money, and what it opens is worth.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Held {
    pub(crate) money: i128,
    pub(crate) gross: i128,
}

impl Model {
    /// What an order at work holds back.
    pub(crate) fn held(&self, working: &Working) -> Held {
        let (order, open) = (&working.order, working.open());
        let (account, instrument) = (order.account.0, order.instrument.0);
        let (kind, terms) = (self.world.accounts[&account].0, &self.world.terms[&instrument]);
        if open <= 0 {
            return Held::default();
        }
        let prices = self.may_trade_at(working);
        let worth =
            |price: i64, lots: i64| i128::from(price) * i128::from(lots) * i128::from(terms.multiplier);
        let dearest = |lots: i64| prices.iter().map(|price| worth(*price, lots).abs()).max().unwrap();
        let position = self.positions.get(&(account, instrument));
        let traded =
            position.and_then(|position| position.traded.get(&order.order_id)).copied().unwrap_or_default();
        let classes: &[usize] = match (kind, order.side, working.closes(kind)) {
            (AccountKind::Cash, Side::Buy, _) => &[0],
            (AccountKind::Cash, Side::Sell, _) => &[1, 2],
            (AccountKind::Margin, ..) => &[0, 1, 2],
            (AccountKind::Futures, _, None) => &[0],
            (AccountKind::Futures, _, Some(0)) => &[2],
            (AccountKind::Futures, _, Some(1)) => &[1],
            (AccountKind::Futures, _, Some(_)) => &[1, 2],
        };
        let all = charges_with(&self.world, order, &traded, Some((classes, open, dearest(open))));
        let charge = (all - charges(&self.world, order, &traded)).max(0);
        // What the account is asked for at once if the lots that open trade at a price: initial margin, and the loss.
        let opening = open - working.closing;
        let asked_for = |price: &i64| {
            let value = worth(*price, opening);
            let margin = ceil(value.abs() * i128::from(self.world.margin[&instrument]), 1_000_000_000);
            let at_mark = self.marks.get(&instrument).map_or(value, |mark| worth(mark.0, opening));
            margin + if order.side == Side::Buy { value - at_mark } else { at_mark - value }.max(0)
        };
        let values = prices.iter().map(|price| worth(*price, open));
        let money = match (kind, order.side) {
            (AccountKind::Cash, Side::Buy) => values.max().unwrap().max(0) + charge,
            (AccountKind::Cash, Side::Sell) => (charge - values.min().unwrap()).max(0),
            _ => prices.iter().map(asked_for).max().unwrap() + charge,
        };
        Held { money, gross: dearest(opening) }
    }

    /// Prices at which an order may trade: its own, all that are better for it up to the end of the band, and those between.
    /// Without a band a sale may trade at the mark.
    pub(crate) fn may_trade_at(&self, working: &Working) -> Vec<i64> {
        let terms = &self.world.terms[&working.order.instrument.0];
        let (low, high) = (working.low(terms), working.high(terms));
        let mark = self.marks.get(&working.order.instrument.0).map(|mark| mark.0);
        let end = |price: Price| price.is_some().then_some(price.0);
        let (from, to) = match working.order.side {
            Side::Buy => (end(terms.price_low).unwrap_or(low).min(low), high),
            Side::Sell => (low, [end(terms.price_high), mark].into_iter().flatten().fold(high, i64::max)),
        };
        let between = mark.into_iter().chain([from + (to - from) / 3, from + (to - from) / 2]);
        let mut prices: Vec<i64> = between.chain([low, high, from, to]).collect();
        prices.retain(|price| (from..=to).contains(price));
        prices
    }

    fn working_in(&self, account: u32, currency: Currency) -> impl Iterator<Item = &Working> {
        let ours = self.working.iter().filter(move |working| working.order.account.0 == account);
        ours.filter(move |working| self.world.terms[&working.order.instrument.0].currency == currency)
    }

    /// What orders at work hold back of a currency.
    pub(crate) fn reserved(&self, account: u32, currency: Currency) -> i128 {
        self.working_in(account, currency).map(|working| self.held(working).money).sum()
    }

    /// What positions and orders at work are worth.
    pub(crate) fn gross(&self, account: u32, currency: Currency) -> i128 {
        let orders: i128 = self.working_in(account, currency).map(|working| self.held(working).gross).sum();
        let positions = self.positions_in(account, currency).map(|(_, position)| position);
        orders + positions.map(|position| position.basis(0).abs() + position.basis(1).abs()).sum::<i128>()
    }

    /// The same of a strategy over all its accounts: its net positions at their moving average.
    pub(crate) fn gross_of_strategy(&self, strategy: StrategyId, currency: Currency) -> i128 {
        let is_ours = |instrument: u32| self.world.terms[&instrument].currency == currency;
        let orders = self.working.iter().filter(|working| {
            working.order.order_id.strategy() == strategy && is_ours(working.order.instrument.0)
        });
        let positions =
            self.strategies.iter().filter(|((of, instrument), _)| *of == strategy.0 && is_ours(*instrument));
        orders.map(|working| self.held(working).gross).sum::<i128>()
            + positions.map(|(_, (_, cost))| cost.abs()).sum::<i128>()
    }

    fn positions_in(
        &self,
        account: u32,
        currency: Currency,
    ) -> impl Iterator<Item = (u32, &super::Position)> {
        let ours = self.positions.iter().filter(move |((of, _), _)| *of == account);
        let ours = ours.map(|((_, instrument), position)| (*instrument, position));
        ours.filter(move |(instrument, _)| self.world.terms[instrument].currency == currency)
    }

    /// Balance, realised, variation, invested, charges, margin.
    pub(crate) fn money(&self, account: u32, currency: Currency) -> [i128; 6] {
        let kind = self.world.accounts[&account].0;
        let (mut realised, mut variation, mut invested, mut charged, mut margin) = (0, 0, 0, 0, 0);
        for (instrument, position) in self.positions_in(account, currency) {
            realised += position.realised;
            variation += position.variation;
            invested += if kind == AccountKind::Cash { position.invested } else { 0 };
            let paid =
                position.traded.iter().map(|(id, traded)| charges(&self.world, &self.sent[id], traded));
            charged += paid.sum::<i128>();
            if kind != AccountKind::Cash {
                let rate = i128::from(self.world.margin[&instrument]);
                let of = |side| ceil(position.basis(side).abs() * rate, 1_000_000_000);
                margin += of(0) + of(1);
            }
        }
        let paid = self.paid.get(&(account, currency)).copied().unwrap_or_default();
        [paid + realised + variation - invested - charged, realised, variation, invested, charged, margin]
    }

    /// Gain of what is open since it was last paid, at the latest marks.
    fn unrealised(&self, account: u32, currency: Currency) -> i128 {
        let mut gain = 0;
        for (instrument, position) in self.positions_in(account, currency) {
            let Some(mark) = self.marks.get(&instrument) else { continue };
            let multiplier = i128::from(self.world.terms[&instrument].multiplier);
            for (side, sign) in [(0, 1), (1, -1)] {
                let worth = i128::from(mark.0) * i128::from(position.total(side)) * multiplier;
                gain += sign * (worth - position.basis(side));
            }
        }
        gain
    }

    /// Money that new orders and withdrawals may use, in the account's currency.
    pub(crate) fn available(&self, account: u32) -> i128 {
        let is_cash = self.world.accounts[&account].0 == AccountKind::Cash;
        let of = |(currency, rate): (&Currency, &u64)| {
            let [balance, _, _, _, _, margin] = self.money(account, *currency);
            let losses = if is_cash { 0 } else { self.unrealised(account, *currency).min(0) };
            let free = balance - margin - self.reserved(account, *currency) + losses;
            convert(free, *rate, World::HOME)
        };
        self.world.rates.iter().map(of).sum()
    }

    /// By currency: what realised and unrealised gains less charges come to.
    pub(crate) fn results(&self, account: u32) -> Vec<i128> {
        let of = |currency: &Currency| {
            let [_, realised, variation, _, charged, _] = self.money(account, *currency);
            realised + variation - charged + self.unrealised(account, *currency)
        };
        self.world.rates.keys().map(of).collect()
    }

    /// Profit and loss since the begin of the day.
    pub(crate) fn day_result(&self, account: u32) -> i128 {
        let then = self.opened.get(&account).cloned().unwrap_or_else(|| vec![0; self.world.rates.len()]);
        let moved = self.results(account).into_iter().zip(then).map(|(now, then)| now - then);
        moved.zip(self.world.rates.values()).map(|(moved, rate)| convert(moved, *rate, World::HOME)).sum()
    }
}
