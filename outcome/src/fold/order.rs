//! The life of one order, from the request to its end.

use wire::{AccountId, Fill, InstrumentId, NewOrder, OrderId, OrderStatus, OrderUpdate, Price, Reason, Side};

use super::names::Names;
use super::trader::worth;
use crate::sheet::Line;

/// What has become of an order so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Life {
    /// As it was asked for; `None` where its request was not seen.
    asked: Option<NewOrder>,
    pub(crate) account: AccountId,
    instrument: InstrumentId,
    side: Option<Side>,
    last_price: Option<Price>,
    last_quantity: Option<i64>,
    /// The largest quantity that it has had, as far as is known.
    ordered: i64,
    sent: Option<u64>,
    accepted: Option<u64>,
    first_fill: Option<u64>,
    filled: i64,
    value: i128,
    fees: i128,
    fills: u64,
    pub(crate) cancels: u64,
    pub(crate) replaces: u64,
    refused: u64,
    refused_reason: Option<Reason>,
}

impl Life {
    pub(crate) fn sent(order: &NewOrder, now: Option<u64>) -> Life {
        Life {
            asked: Some(*order),
            account: order.account,
            instrument: order.instrument,
            side: Some(order.side),
            sent: now,
            ..Life::default()
        }
    }

    /// One that was never seen being sent: the ledger's, or its request was overwritten.
    pub(crate) fn found(instrument: InstrumentId, side: Side) -> Life {
        Life { instrument, side: Some(side), ..Life::default() }
    }

    /// It has, or has had, this quantity in all: how much more that is than was known.
    pub(crate) fn has(&mut self, quantity: i64) -> i128 {
        let more = i128::from(quantity) - i128::from(self.ordered);
        self.ordered = self.ordered.max(quantity);
        more.max(0)
    }

    /// What has traded and what still works, before a fill and after it.
    pub(crate) fn total_of(&self, fill: &Fill) -> i64 {
        self.filled.saturating_add(fill.quantity.0).saturating_add(fill.remaining.0)
    }

    pub(crate) fn fill(&mut self, fill: &Fill, (now, contract): (Option<u64>, u64), fees: i128) {
        self.first_fill = self.first_fill.or(now);
        self.filled = self.filled.saturating_add(fill.quantity.0);
        self.value = self.value.saturating_add(worth(fill, contract));
        self.fees = self.fees.saturating_add(fees);
        self.fills += 1;
    }

    pub(crate) fn update(&mut self, update: &OrderUpdate, now: Option<u64>) {
        match update.status {
            OrderStatus::Accepted => {
                self.accepted = self.accepted.or(now);
                (self.last_price, self.last_quantity) = (Some(update.price), Some(update.quantity.0));
            }
            OrderStatus::Replaced | OrderStatus::Reduced => {
                (self.last_price, self.last_quantity) = (Some(update.price), Some(update.quantity.0));
            }
            status if status.is_refusal() => {
                self.refused += 1;
                self.refused_reason = Some(update.reason);
            }
            _ => {}
        }
    }

    /// Its row. `end` is how it ended; `None`: it has not, as far as is known: `is_whole` says whether all of it was read.
    pub(crate) fn row(
        &self,
        id: OrderId,
        names: &Names,
        end: Option<(&OrderUpdate, Option<u64>)>,
        is_whole: bool,
    ) -> Line {
        let mut line = Line::default();
        line.order(id).text(names.seat(id.strategy().0)).number(self.account.0);
        line.number(self.instrument.0).text(names.symbol(self.instrument));
        line.text(self.side.map_or("", Side::as_str));
        match &self.asked {
            Some(asked) => {
                line.text(asked.order_type.as_str()).text(asked.time_in_force.as_str());
                let price = if asked.order_type.has_price() { asked.price } else { Price::NONE };
                line.price(price).number(asked.quantity.0);
            }
            None => {
                line.empty().empty().empty().empty();
            }
        }
        let has_price = self.asked.is_none_or(|asked| asked.order_type.has_price());
        line.price(self.last_price.filter(|_| has_price).unwrap_or(Price::NONE)).maybe(self.last_quantity);
        line.maybe(self.sent).maybe(self.accepted).maybe(self.first_fill);
        match end {
            Some((update, at)) => {
                line.maybe(at).text(update.status.as_str());
                line.text(if update.reason == Reason::None { "" } else { update.reason.as_str() });
            }
            None => {
                let status = match (is_whole, self.accepted) {
                    // Its end may have been overwritten.
                    (false, _) => "unknown",
                    (true, Some(_)) => "working",
                    (true, None) => "unanswered",
                };
                line.empty().text(status).empty();
            }
        }
        line.number(self.filled).decimal(self.value).decimal(self.fees).number(self.fills);
        line.number(self.cancels).number(self.replaces).number(self.refused);
        line.text(self.refused_reason.map_or("", Reason::as_str));
        line
    }
}
