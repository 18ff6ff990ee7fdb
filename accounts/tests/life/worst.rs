//! No fill takes more from what is available than its order has held back.

use wire::*;

use super::Life;

/// Rounding: a few of the smallest units of money, in the dearest currency.
const ROUNDING: i128 = 100;

/// What stands before a fill.
pub(super) struct Before {
    available: i128,
    /// Realised and paid gains of the instrument's currency, before charges.
    gains: i128,
    lots: [i64; 2],
    /// What the account's other orders hold back.
    others: Vec<(OrderId, i128)>,
}

impl Life {
    pub(super) fn before_fill(&self, order: &NewOrder) -> Before {
        let others = self
            .open
            .iter()
            .filter(|other| other.account == order.account && other.order_id != order.order_id);
        Before {
            available: self.desk.account(order.account).unwrap().available,
            gains: self.gains(order),
            lots: self.lots(order),
            others: others
                .map(|other| (other.order_id, self.desk.reserved(other.order_id).unwrap()))
                .collect(),
        }
    }

    fn gains(&self, order: &NewOrder) -> i128 {
        let currency = self.model.world.terms[&order.instrument.0].currency;
        let purses = self.desk.purses(order.order_id.strategy(), order.account);
        let ours = purses.iter().filter(|purse| purse.currency == currency);
        ours.map(|purse| purse.totals.realised + purse.totals.variation).sum()
    }

    fn lots(&self, order: &NewOrder) -> [i64; 2] {
        let row = self.desk.position(order.order_id.strategy(), order.account, order.instrument);
        row.map_or([0; 2], |row| [row.long_today + row.long_yesterday, row.short_today + row.short_yesterday])
    }

    /// The order's reservation has paid for what the fill takes. Two things are no matter of it: what lots lose that are closed,
    /// since closing is never refused, and what other orders hold back from now on because they open what they would have closed.
    pub(super) fn holds_back_enough(&mut self, order: &NewOrder, at: Price, lots: i64, before: &Before) {
        let view = self.desk.account(order.account).unwrap();
        let terms = &self.model.world.terms[&order.instrument.0];
        let side = if order.side == Side::Buy { 1 } else { 0 };
        let closed = before.lots[side] - self.lots(order)[side];
        let mut lost = 0;
        if view.kind != AccountKind::Cash && closed > 0 {
            let mark = self.model.mark(order.instrument).unwrap_or(at);
            let a_lot = (at.0 - mark.0) * order.side.sign();
            let to_mark = i128::from(a_lot) * i128::from(closed) * i128::from(terms.multiplier);
            lost = to_mark.max(before.gains - self.gains(order)).max(0);
            lost = -crate::model::convert(
                -lost,
                self.model.world.rates[&terms.currency],
                crate::model::World::HOME,
            );
        }
        let mut turned = 0;
        for (other, held) in &before.others {
            let more = self.desk.reserved(*other).unwrap() - held;
            if more > 0 {
                let known = self.open.iter().find(|known| known.order_id == *other).unwrap();
                assert_eq!(
                    (view.kind, known.instrument, known.side),
                    (AccountKind::Margin, order.instrument, order.side),
                    "a fill of {order:?} has made {known:?} hold back more"
                );
                turned -= crate::model::convert(
                    -more,
                    self.model.world.rates[&terms.currency],
                    crate::model::World::HOME,
                );
            }
        }
        if turned > 0 {
            self.count("orders turned");
        }
        if closed < lots {
            self.count("opening fills");
        }
        let least = before.available - lost - turned - ROUNDING;
        assert!(
            view.available >= least,
            "{} {lots} at {at} of {order:?}, {closed} closed: available {} after {}, lost {lost}, turned {turned}",
            view.kind,
            view.available,
            before.available
        );
    }
}
