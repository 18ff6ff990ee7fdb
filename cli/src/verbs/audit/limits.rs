//! Limits of single orders: td's own, and those of accounts, groups, strategies and the platform that need no money counted.

use std::collections::BTreeMap;

use topology::{StrategyLimits, TdSection};
use wire::{
    AccountId, AccountScope, Instrument, InstrumentId, LimitKind, Message, NewOrder, Price, Request, Side,
};

use super::Stop;
use super::books::{Books, Key, Scope, worth};
use super::findings::Findings;
use super::rules::{ROUNDING, least_price};
use crate::desk::{DROPS, Seen, Source, scope_name};

const INSTRUMENTS: &str = "md.instruments";
const ONE: i128 = 1_000_000_000;

pub(super) struct Limits {
    pub(super) findings: Findings,
    /// By seat.
    strategies: BTreeMap<u16, StrategyLimits>,
    /// All that was ever listed under a number: which of it held when td decided is not written down.
    listed: BTreeMap<InstrumentId, Vec<Instrument>>,
    /// Width of the band of prices either way, in 1e-9.
    band: i128,
    /// Ticks depend on the price.
    has_tables: bool,
}

/// What an order or a replace asks for.
struct Asked<'a> {
    order: &'a NewOrder,
    account: Key,
    price: Price,
    quantity: i64,
    /// How much more may trade then.
    added: i64,
    is_new: bool,
}

pub(super) fn part() -> Findings {
    Findings::new(
        "limits",
        "each request that went out is within td's limits, its instrument's rules, and those of its scopes",
    )
}

impl Limits {
    /// Without td's limits and without instruments.
    fn of_scopes() -> Limits {
        Limits {
            findings: part(),
            strategies: BTreeMap::new(),
            listed: BTreeMap::new(),
            band: 0,
            has_tables: false,
        }
    }

    pub(super) fn new(source: &Source, section: Option<&TdSection>) -> Result<Limits, Stop> {
        let mut limits = Limits::of_scopes();
        match section {
            Some(section) => {
                let its = section.strategies.iter().map(|strategy| (strategy.seat, strategy.clone()));
                limits.strategies = its.collect();
                limits.band = (section.config.price_band * ONE as f64).round() as i128;
                limits.has_tables = !section.ticks.is_empty();
            }
            None => {
                limits.findings.lacks("the platform's td is not understood: its limits are not looked at")
            }
        }
        match source.stream(INSTRUMENTS, 0)? {
            Some(mut stream) => {
                while let Some(seen) = stream.next()? {
                    if seen.id == Instrument::ID
                        && let Ok(instrument) = Instrument::decode(&seen.payload)
                    {
                        limits.listed.entry(instrument.id).or_default().push(instrument);
                    }
                }
            }
            None => limits
                .findings
                .lacks(format!("there is no {INSTRUMENTS}: lots, ticks and bands are not looked at")),
        }
        if limits.has_tables {
            limits.findings.notes.push("ticks depend on the price here, and are not looked at".to_owned());
        }
        Ok(limits)
    }

    /// A frame of the drop copy, before the books have it.
    pub(super) fn before(&mut self, seen: &Seen, books: &Books) {
        if seen.topic != wire::DROP_TAKEN {
            return;
        }
        match Request::decode(seen.id, &seen.payload) {
            Ok(Request::New(order)) => {
                let account = match order.account {
                    AccountId::OWN => Key::Own(order.order_id.strategy()),
                    account => Key::Opened(account),
                };
                let (price, quantity) = (order.price, order.quantity.0);
                let asked = Asked { order: &order, account, price, quantity, added: quantity, is_new: true };
                self.request(seen, books, &asked);
            }
            Ok(Request::Replace(replace)) => {
                let Some(order) = books.orders.get(&replace.order_id) else { return };
                let asked = Asked {
                    order: &order.request,
                    account: order.account,
                    price: replace.price,
                    quantity: replace.quantity.0,
                    added: order.added_by(replace.quantity.0),
                    is_new: false,
                };
                self.request(seen, books, &asked);
            }
            Ok(Request::Cancel(_) | Request::CancelAll(_)) | Err(_) => {}
        }
    }

    fn request(&mut self, seen: &Seen, books: &Books, asked: &Asked<'_>) {
        self.findings.checked += 1;
        let is_forced = asked.order.flags & NewOrder::FORCED != 0;
        let mut wrong = self.against_instrument(asked, is_forced);
        if !is_forced {
            wrong = wrong
                .or_else(|| self.against_strategy(books, asked))
                .or_else(|| against_scopes(books, asked));
        }
        if let Some(expected) = wrong {
            let kind = if asked.is_new { "order" } else { "a replace of" };
            let found = format!(
                "{kind} {} went out: {} {} of instrument {} at {}",
                asked.order.order_id, asked.order.side, asked.quantity, asked.order.instrument, asked.price
            );
            self.findings.differs(DROPS, seen.position, found, expected);
        }
    }

    /// The first rule of the instrument that is broken, whichever of its definitions held.
    fn against_instrument(&self, asked: &Asked<'_>, is_forced: bool) -> Option<String> {
        let id = asked.order.instrument;
        let Some(all) = self.listed.get(&id) else {
            return (!self.listed.is_empty()).then(|| format!("instrument {id} is listed"));
        };
        let mut broken = all.iter().map(|instrument| self.breaks(instrument, asked, is_forced));
        let last = self.breaks(all.last()?, asked, is_forced);
        if broken.all(|broken| broken.is_some()) { last } else { None }
    }

    fn breaks(&self, instrument: &Instrument, asked: &Asked<'_>, is_forced: bool) -> Option<String> {
        let (quantity, lot) = (asked.quantity, instrument.lot.0.max(1));
        if quantity <= 0 || quantity % lot != 0 {
            return Some(format!("a positive quantity of whole lots of {lot}"));
        }
        let most = instrument.max_quantity.0;
        if most > 0 && quantity > most {
            return Some(format!("at most {most}, the instrument's largest order"));
        }
        let order = asked.order;
        let limit = order.order_type.has_price().then_some(asked.price);
        let trigger = (order.order_type.has_trigger() && asked.is_new).then_some(order.trigger);
        for price in limit.into_iter().chain(trigger) {
            if !price.is_some() {
                return Some("a price".to_owned());
            }
            if !self.has_tables && !price.is_on_tick(instrument.tick) {
                return Some(format!("a whole number of ticks of {}", instrument.tick));
            }
            let (low, high) = self.band_of(instrument);
            if !is_forced && !(low..=high).contains(&i128::from(price.0)) {
                return Some(format!(
                    "a price within the band of td and the instrument, around {}",
                    instrument.reference_price
                ));
            }
        }
        None
    }

    fn band_of(&self, instrument: &Instrument) -> (i128, i128) {
        let end = |price: Price, open: i64| i128::from(if price.is_some() { price.0 } else { open });
        let fixed = (end(instrument.price_low, i64::MIN), end(instrument.price_high, i64::MAX));
        let reference = instrument.reference_price;
        if self.band == 0 || !reference.is_some() {
            return fixed;
        }
        let middle = i128::from(reference.0);
        let half = middle.abs() * self.band / ONE;
        ((middle - half).clamp(fixed.0, fixed.1), (middle + half).clamp(fixed.0, fixed.1))
    }

    /// td's own limits.
    fn against_strategy(&self, books: &Books, asked: &Asked<'_>) -> Option<String> {
        let order = asked.order;
        let seat = order.order_id.strategy().0;
        let limits = self.strategies.get(&seat)?;
        let name = &limits.name;
        if limits.max_order_quantity > 0 && asked.quantity > limits.max_order_quantity {
            return Some(format!("at most {}, max_order_quantity of {name}", limits.max_order_quantity));
        }
        let scope = (AccountScope::Strategy, u32::from(seat));
        let working = books.orders_at_work(scope);
        let most = i64::from(limits.max_working_orders);
        if asked.is_new && most > 0 && working >= most {
            return Some(format!("no more than {most} orders of {name} work at once: {working} do already"));
        }
        let worst = worst_position(books, scope, asked);
        if limits.max_position > 0 && asked.added > 0 && worst > limits.max_position {
            let most = limits.max_position;
            return Some(format!("a position of at most {most} of {name} if all fills: it could be {worst}"));
        }
        None
    }
}

/// The position in the direction of a request if all that works on its side fills.
fn worst_position(books: &Books, scope: Scope, asked: &Asked<'_>) -> i64 {
    let [net, buy, sell] = books.sums(scope, asked.order.instrument);
    let now = match asked.order.side {
        Side::Buy => net.saturating_add(buy),
        Side::Sell => sell.saturating_sub(net),
    };
    now.saturating_add(asked.added)
}

/// Limits of accounts, groups, strategies and the platform.
fn against_scopes(books: &Books, asked: &Asked<'_>) -> Option<String> {
    let order = asked.order;
    let instrument = order.instrument;
    for scope in books.scopes_of(asked.account, order.order_id.strategy()) {
        let of = scope_name(scope.0, scope.1, None);
        let number = |kind| {
            let limit = books.limit_of(scope, kind, instrument)?;
            Some(i64::try_from(limit.number).unwrap_or(i64::MAX))
        };
        if let Some(most) = number(LimitKind::OrderQuantity).filter(|most| asked.quantity > *most) {
            return Some(format!("at most {most}, the order-quantity of {of}"));
        }
        let working = books.orders_at_work(scope);
        if let Some(most) = number(LimitKind::OpenOrders).filter(|most| asked.is_new && working >= *most) {
            return Some(format!("no more than {most} orders of {of} work at once"));
        }
        let worst = worst_position(books, scope, asked);
        if let Some(most) = number(LimitKind::Position).filter(|most| asked.added > 0 && worst > *most) {
            return Some(format!("a position of {of} of at most {most} if all fills: it could be {worst}"));
        }
        let limit = books.limit_of(scope, LimitKind::OrderNotional, InstrumentId(0));
        let price = least_price(&NewOrder { price: asked.price, ..*order });
        if let (Some(limit), Some(price)) = (limit, price)
            && let Some(value) =
                books.value_in(scope, instrument, |multiplier| worth(price, asked.quantity, multiplier))
            && value > limit.amount.wide() + ROUNDING
        {
            return Some(format!("an order worth at most {}, the order-notional of {of}", limit.amount));
        }
    }
    None
}

#[cfg(test)]
impl Limits {
    pub(super) fn plain() -> Limits {
        Limits::of_scopes()
    }
}
