//! Orders, and what becomes of them at a market that keeps to what was sent.

use accounts::Verdict;
use wire::*;

use super::Life;
use crate::model::Event;
use crate::support::*;

impl Life {
    pub(super) fn send(&mut self) {
        let account = 1 + self.random.below(9) as u32;
        let instrument = 1 + self.random.below(4) as u32;
        self.numbers += 1;
        let strategy = StrategyId(1 + self.random.below(2) as u16);
        let offsets = [Offset::Auto, Offset::Open, Offset::Close, Offset::CloseToday, Offset::CloseYesterday];
        let is_market = self.random.one_in(12);
        self.now += self.random.below(20_000_000);
        let order = NewOrder {
            order_id: OrderId::new(strategy, 1, self.numbers),
            account: AccountId(account),
            instrument: InstrumentId(instrument),
            side: if self.random.one_in(2) { Side::Buy } else { Side::Sell },
            order_type: if is_market { OrderType::Market } else { OrderType::Limit },
            time_in_force: TimeInForce::GoodTillCancel,
            flags: offsets[self.random.below(5).saturating_sub(self.random.below(3)) as usize].flags(),
            price: Price(self.random.below(40) as i64 * 250_000_001 + Price::ONE),
            quantity: Quantity(1 + self.random.below(if instrument == 3 { 12 } else { 400 }) as i64),
            ..order(0, CASH, STOCK, Side::Buy, 1, 1)
        };
        // Now and then an account or an instrument that is not there.
        let order = match self.random.below(60) {
            0 => NewOrder { account: AccountId(77), ..order },
            1 => NewOrder { instrument: InstrumentId(5), ..order },
            _ => order,
        };
        let now = Nanos(self.now);
        let decided = self.is_honest.then(|| self.model.decide(&order, now));
        let verdict = self.desk.new_order(strategy, &order, now);
        match decided {
            Some(Ok(sent)) => assert_eq!(verdict, Verdict::Send(sent), "{:?}", self.model.kind(account)),
            Some(Err(reason)) => assert_eq!(verdict, Verdict::Refused(reason), "{order:?}"),
            None => {}
        }
        match verdict {
            Verdict::Send(order) => {
                self.count("sent");
                self.note(Event::Sent(order));
                self.latest = Some(order.order_id);
                self.open.push(order);
            }
            Verdict::Refused(reason) => self.count(reason.as_str()),
            Verdict::Known(update) => panic!("{update:?} is not known"),
        }
    }

    fn pick(&mut self) -> Option<usize> {
        (!self.open.is_empty()).then(|| self.random.below(self.open.len() as u64) as usize)
    }

    fn state(&self, order: &NewOrder) -> OrderUpdate {
        self.desk.order(order.order_id).unwrap()
    }

    pub(super) fn trade(&mut self) {
        let Some(index) = self.pick() else { return };
        let order = self.open[index];
        let state = self.state(&order);
        let left = state.remaining.0;
        if left <= 0 {
            return self.finish(index, OrderStatus::Filled);
        }
        let lots = if self.random.one_in(2) { left } else { 1 + self.random.below(left as u64) as i64 };
        let at = self.price_of_fill(&order, &state);
        self.trades += 1;
        self.count("fills");
        let before = self.is_honest.then(|| self.before_fill(&order));
        assert_eq!(self.desk.execution(&fill(&order, self.trades, lots, at, left - lots)), None);
        if let Some(before) = before {
            self.holds_back_enough(&order, at, lots, &before);
        }
        self.note(Event::Fill(order.order_id, at, lots));
        if left == lots {
            self.finish(index, OrderStatus::Filled);
        }
    }

    /// Any price at which the order may trade, its own and the other end more often than those between.
    fn price_of_fill(&mut self, order: &NewOrder, state: &OrderUpdate) -> Price {
        if !self.is_honest {
            return Price((1 + self.random.below(20) as i64) * Price::ONE);
        }
        let prices = self.model.may_trade_at(self.model.find(order.order_id));
        let (low, high) = (*prices.iter().min().unwrap(), *prices.iter().max().unwrap());
        match self.random.below(4) {
            0 if order.order_type.has_price() => state.price,
            0 | 1 => Price(low),
            2 => Price(high),
            _ => Price(low + self.random.below((high - low) as u64 + 1) as i64),
        }
    }

    fn finish(&mut self, index: usize, status: OrderStatus) {
        let order = self.open.swap_remove(index);
        let state = self.state(&order);
        let ends = update(&order, status, state.quantity.0, state.filled.0);
        let anomaly = self.desk.execution(&ends);
        assert!(anomaly.is_none() || !self.is_honest, "{anomaly:?} of {ends:?}");
        self.note(Event::End(order.order_id));
        if self.is_honest && status == OrderStatus::Rejected {
            let refused = (Reason::Requested, None);
            self.model.refused(Some(order.account.0), order.order_id.strategy(), Nanos(0), refused);
        }
    }

    pub(super) fn end(&mut self) {
        let Some(index) = self.pick() else { return };
        let state = self.state(&self.open[index]);
        // A rejection is for orders that the market has not answered.
        let is_new = self.latest == Some(state.order_id) && state.filled == Quantity(0);
        let status =
            if is_new && self.random.one_in(4) { OrderStatus::Rejected } else { OrderStatus::Cancelled };
        self.count("ends");
        self.finish(index, status);
    }

    pub(super) fn replace(&mut self) {
        let Some(index) = self.pick() else { return };
        let order = self.open[index];
        let state = self.state(&order);
        let total = state.filled.0 + 1 + self.random.below(2 * state.quantity.0.unsigned_abs() + 1) as i64;
        let price = Price((state.price.0 + (self.random.below(5) as i64 - 2) * 250_000_000).max(Price::ONE));
        let replace = ReplaceOrder {
            order_id: order.order_id,
            instrument: order.instrument,
            source: 0,
            price,
            quantity: Quantity(total),
        };
        let now = Nanos(self.now);
        let decided = self.is_honest.then(|| self.model.decide_replace(&replace, now));
        let verdict = self.desk.replace(order.order_id.strategy(), &replace, now);
        assert!(
            decided.is_none_or(|decided| decided == verdict),
            "{verdict:?}, not {decided:?}: {replace:?}"
        );
        if verdict.is_err() {
            return self.count("replaces refused");
        }
        self.count("replaces");
        self.latest = None;
        self.note(Event::Asked(order.order_id, price, total));
        self.desk.audit().unwrap();
        if self.random.one_in(3) {
            let denied = update(&order, OrderStatus::ReplaceRejected, state.quantity.0, state.filled.0);
            assert_eq!(self.desk.execution(&denied), None);
            self.note(Event::Denied(order.order_id));
        } else {
            let replaced = NewOrder { price, ..order };
            let done = update(&replaced, OrderStatus::Replaced, total, state.filled.0);
            assert_eq!(self.desk.execution(&done), None);
            self.note(Event::Total(order.order_id, price, total));
        }
    }
}
