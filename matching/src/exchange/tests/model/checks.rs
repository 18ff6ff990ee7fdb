//! What a new order must pass, in the order of the table.

use wire::{Price, Quantity, Reason, Side};

use super::Model;
use super::ticks::is_on_tick;
use crate::exchange::{Auction, InstrumentRules, Kind, Lifetime, Order, Phase, auction_of};

impl Model {
    /// Why a new order is rejected, if it is.
    pub(super) fn refuse(&self, order: &Order) -> Option<Reason> {
        if !self.is_listed(order.instrument) {
            return Some(Reason::UnknownInstrument);
        }
        if self.working(order.id).is_some() {
            return Some(Reason::DuplicateOrder);
        }
        let market = self.market(order.instrument);
        let rules = &market.rules;
        if !rules.market.permission(market.phase).enter
            || market.phase != Phase::Continuous && needs_continuous(order)
            || takes_part_as_market_order(order, market.phase) && !rules.market.market_in_auctions
            || order.lifetime == Lifetime::AtTheOpen && auction_of(market.phase) != Some(Auction::Opening)
        {
            return Some(Reason::MarketClosed);
        }
        if matches!(order.lifetime, Lifetime::GoodTillDate(date) if date.0 <= self.now) {
            return Some(Reason::Expired);
        }
        if !quantity(rules, order.quantity)
            || !part(rules, order, order.display)
            || !part(rules, order, order.minimum)
            || !parts(order.quantity, order.display)
        {
            return Some(Reason::Quantity);
        }
        if !sound(order) {
            return Some(Reason::Malformed);
        }
        if let Some(reason) = prices(rules, &[order.kind.price(), order.kind.trigger()]) {
            return Some(reason);
        }
        self.would_trade(order, order.kind.price()).then_some(Reason::WouldTrade)
    }

    /// Whether a post-only order would trade at once with this limit.
    pub(super) fn would_trade(&self, order: &Order, limit: Option<Price>) -> bool {
        let continuous = self.market(order.instrument).phase == Phase::Continuous;
        let waits = order.lifetime == Lifetime::AtTheClose;
        let best = self.first(order.instrument, order.side.opposite()).and_then(|resting| resting.price);
        let crosses = match (best, limit, order.side) {
            (Some(ask), Some(limit), Side::Buy) => limit.0 >= ask,
            (Some(bid), Some(limit), Side::Sell) => limit.0 <= bid,
            _ => false,
        };
        order.post_only && continuous && !waits && crosses
    }
}

/// Outside of continuous trading these make no sense.
fn needs_continuous(order: &Order) -> bool {
    matches!(order.lifetime, Lifetime::ImmediateOrCancel | Lifetime::FillOrKill)
        || order.minimum != Quantity::ZERO
}

/// In an auction, now or at the close.
fn takes_part_as_market_order(order: &Order, phase: Phase) -> bool {
    order.kind == Kind::Market && (phase != Phase::Continuous || order.lifetime == Lifetime::AtTheClose)
}

pub(super) fn quantity(rules: &InstrumentRules, quantity: Quantity) -> bool {
    quantity.0 > 0
        && quantity.0 % rules.lot.0 == 0
        && (rules.max_quantity.0 == 0 || quantity.0 <= rules.max_quantity.0)
}

/// Display, or minimum.
fn part(rules: &InstrumentRules, order: &Order, part: Quantity) -> bool {
    part.0 >= 0 && part.0 <= order.quantity.0 && part.0 % rules.lot.0 == 0
}

/// A display of at least a ten-thousandth of the quantity (rounded down), if it has one.
pub(super) fn parts(quantity: Quantity, display: Quantity) -> bool {
    display.0 == 0 || display.0 >= quantity.0 / 10_000
}

/// Whether its conditions go together.
fn sound(order: &Order) -> bool {
    let stop = order.kind.trigger().is_some();
    let minimum = order.minimum.0 > 0;
    let at_once = matches!(order.lifetime, Lifetime::ImmediateOrCancel | Lifetime::FillOrKill);
    let auction_only = matches!(order.lifetime, Lifetime::AtTheOpen | Lifetime::AtTheClose);
    let post_only = matches!(order.kind, Kind::Limit(_)) && !at_once && !minimum;
    let display = matches!(order.kind, Kind::Limit(_) | Kind::StopLimit { .. });
    (!order.post_only || post_only)
        && (order.display.0 == 0 || display)
        && (!auction_only || !stop && !minimum)
        && (!stop || !at_once && !minimum)
}

/// All that are there must be present, then on their ticks, then within the limits.
pub(super) fn prices(rules: &InstrumentRules, prices: &[Option<Price>]) -> Option<Reason> {
    let prices: Vec<Price> = prices.iter().copied().flatten().collect();
    if prices.iter().any(|price| !price.is_some()) {
        return Some(Reason::Malformed);
    }
    if prices.iter().any(|price| !is_on_tick(&rules.ticks, price.0)) {
        return Some(Reason::OffTick);
    }
    let beyond = |price: &Price| {
        rules.price_low.is_some() && *price < rules.price_low
            || rules.price_high.is_some() && *price > rules.price_high
    };
    prices.iter().any(beyond).then_some(Reason::PriceBand)
}
