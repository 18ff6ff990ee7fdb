//! Quotes both sides of each of its instruments around the mid, and leans against the position that it gets.
//!
//! ```text
//!   fair = mid - skew_ticks × tick × (position / max_position)
//!   bid  = fair - half_spread_ticks × tick, ask = fair + half_spread_ticks × tick      (on tick, never crossing)
//! ```
//!
//! - A quote or a fill moves the orders when their price is off by `requote_ticks` or more; a timer looks after them
//!   when the market is still.
//! - One request at a time is on its way for an order. An order that has stood for `max_age_ms` is cancelled, and
//!   takes its place anew.
//! - A side that was refused rests until the next timer, so that a refusal is not asked for again at every quote.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

use strategy_sdk::{
    ArithmeticError, Best, Context, Deserialize, Gap, Instrument, InstrumentId, Level, Nanos, OrderId,
    OrderRequest, OrderStatus, OrderUpdate, ParameterError, Price, Quantity, Quote, Reason, Side, Strategy,
    Timer,
};

/// `params` in the platform file, or `--param` on the command line.
#[derive(Clone, Debug, Deserialize)]
#[serde(crate = "strategy_sdk::serde", default, deny_unknown_fields)]
pub(crate) struct Parameters {
    /// Lots of each order.
    quantity: i64,
    /// Ticks from the fair price to each side.
    half_spread_ticks: i64,
    /// Ticks that the fair price moves against a full position.
    skew_ticks: i64,
    /// Ticks that an order may be off its price before it is moved.
    requote_ticks: i64,
    /// Lots that it may be long or short in one instrument.
    max_position: i64,
    /// Milliseconds between two looks at orders that no event moves.
    refresh_ms: u64,
    /// Milliseconds after which an order is cancelled, to be placed anew.
    max_age_ms: u64,
    /// Rather rejected than trading as a taker.
    post_only: bool,
    /// Where nobody quotes, it begins at the price that the instrument starts from: somebody has to be the first in a
    /// market of strategies alone.
    opens: bool,
}

impl Default for Parameters {
    fn default() -> Parameters {
        Parameters {
            quantity: 1,
            half_spread_ticks: 1,
            skew_ticks: 2,
            requote_ticks: 1,
            max_position: 10,
            refresh_ms: 100,
            max_age_ms: 5_000,
            post_only: true,
            opens: false,
        }
    }
}

const CENT: Price = Price(Price::ONE / 100);

/// One side of one instrument.
#[derive(Clone, Copy, Debug, Default)]
struct Leg {
    order: Option<OrderId>,
    /// Was refused; nothing new is asked for before the next timer.
    resting: bool,
}

/// One instrument.
#[derive(Clone, Copy, Debug)]
struct Book {
    instrument: InstrumentId,
    tick: Price,
    lot: Quantity,
    buy: Leg,
    sell: Leg,
}

impl Book {
    fn leg(&mut self, side: Side) -> &mut Leg {
        match side {
            Side::Buy => &mut self.buy,
            Side::Sell => &mut self.sell,
        }
    }
}

/// Makes a market.
#[derive(Debug)]
pub(crate) struct MarketMaker {
    parameters: Parameters,
    books: BTreeMap<InstrumentId, Book>,
}

impl Strategy for MarketMaker {
    type Parameters = Parameters;

    fn create(parameters: Parameters) -> Result<MarketMaker, ParameterError> {
        let at_least_one = [
            ("quantity", parameters.quantity),
            ("half_spread_ticks", parameters.half_spread_ticks),
            ("requote_ticks", parameters.requote_ticks),
            ("max_position", parameters.max_position),
            ("refresh_ms", i64::try_from(parameters.refresh_ms).unwrap_or(i64::MAX)),
            ("max_age_ms", i64::try_from(parameters.max_age_ms).unwrap_or(i64::MAX)),
        ];
        if let Some((name, _)) = at_least_one.into_iter().find(|(_, value)| *value < 1) {
            return Err(ParameterError::new(name, "must be at least 1"));
        }
        if parameters.skew_ticks < 0 {
            return Err(ParameterError::new("skew_ticks", "must not be negative"));
        }
        Ok(MarketMaker { parameters, books: BTreeMap::new() })
    }

    fn start(&mut self, context: &mut Context) {
        // Whatever a predecessor left is not ours to manage.
        let left: Vec<OrderId> = context.working_orders().map(|order| order.id).collect();
        for order in left {
            if let Err(error) = context.cancel(order) {
                context.log(error);
            }
        }
        context.every(self.refresh(), 0);
    }

    fn instrument(&mut self, _context: &mut Context, instrument: &Instrument) {
        let book = Book {
            instrument: instrument.id,
            // Where any price is allowed, whole cents are.
            tick: if instrument.tick > Price::ZERO { instrument.tick } else { CENT },
            lot: instrument.lot,
            buy: Leg::default(),
            sell: Leg::default(),
        };
        self.books.insert(instrument.id, book);
    }

    fn quote(&mut self, context: &mut Context, quote: &Quote) {
        self.look_after(context, quote.instrument);
    }

    fn best(&mut self, context: &mut Context, instrument: InstrumentId, _best: &Best) {
        self.look_after(context, instrument);
    }

    fn order(&mut self, context: &mut Context, update: &OrderUpdate) {
        let Some(book) = self.books.get_mut(&update.instrument) else { return };
        let leg = book.leg(update.side);
        if leg.order == Some(update.order_id) {
            leg.resting |= match update.status {
                OrderStatus::Rejected | OrderStatus::ReplaceRejected => true,
                OrderStatus::Cancelled => update.reason != Reason::Requested,
                _ => false,
            };
            if context.working_order(update.order_id).is_none() {
                leg.order = None;
            }
        }
        // One follows every fill, so that the position is looked at here too.
        self.look_after(context, update.instrument);
    }

    fn timer(&mut self, context: &mut Context, _timer: Timer) {
        let instruments: Vec<InstrumentId> = self.books.keys().copied().collect();
        for instrument in instruments {
            if let Some(book) = self.books.get_mut(&instrument) {
                (book.buy.resting, book.sell.resting) = (false, false);
            }
            self.cancel_stale(context, instrument);
            self.look_after(context, instrument);
        }
    }

    fn gap(&mut self, context: &mut Context, gap: Gap) {
        context.log(format_args!("lost {} bytes of market data", gap.bytes()));
    }
}

impl MarketMaker {
    fn refresh(&self) -> Duration {
        Duration::from_millis(self.parameters.refresh_ms)
    }

    /// Brings both orders of an instrument to where they should be.
    fn look_after(&mut self, context: &mut Context, instrument: InstrumentId) {
        let Some(book) = self.books.get_mut(&instrument) else { return };
        let best = context.last_best(instrument);
        let listed = context.instrument(instrument).filter(|_| self.parameters.opens);
        let reference = listed.map(|instrument| instrument.reference_price);
        // Where one side is empty, the last trade counts, which the best does not hold: the depth does.
        let of_depth = || context.depth(instrument).ok()?.mid();
        let mid =
            best.and_then(|best| best.mid()).or_else(of_depth).or(reference.filter(|price| price.is_some()));
        let Some(mid) = mid else { return };
        let best_bid = best.and_then(|best| best.best_bid());
        let best_ask = best.and_then(|best| best.best_ask());
        let held = context.position(instrument).quantity.whole_lots(book.lot);
        match prices(&self.parameters, book.tick, mid, [best_bid, best_ask], held) {
            Ok(prices) => {
                for (side, price) in prices {
                    adjust(&self.parameters, book, context, side, price, held);
                }
            }
            Err(error) => context.log(error),
        }
    }

    fn cancel_stale(&mut self, context: &mut Context, instrument: InstrumentId) {
        let Some(book) = self.books.get(&instrument) else { return };
        let age = Nanos(self.parameters.max_age_ms.saturating_mul(1_000_000));
        for leg in [book.buy, book.sell] {
            let order = leg.order.and_then(|id| context.working_order(id));
            if let Some(order) = order
                && context.now() - order.sent >= age
                && let Err(error) = context.cancel(order.id)
            {
                context.log(error);
            }
        }
    }
}

/// Where both orders should be: on tick, and never crossing.
fn prices(
    parameters: &Parameters,
    tick: Price,
    mid: Price,
    [best_bid, best_ask]: [Option<Level>; 2],
    held: i64,
) -> Result<[(Side, Price); 2], ArithmeticError> {
    let Parameters { half_spread_ticks, skew_ticks, max_position, .. } = *parameters;
    let skew = Price(skew_ticks.saturating_mul(tick.0).saturating_mul(held) / max_position);
    let fair = mid.checked_sub(skew)?;
    let mut bid = fair.plus_ticks(-half_spread_ticks, tick)?.round_down(tick)?;
    let mut ask = fair.plus_ticks(half_spread_ticks, tick)?.round_up(tick)?;
    if let Some(best) = best_ask {
        bid = bid.min(best.price.plus_ticks(-1, tick)?);
    }
    if let Some(best) = best_bid {
        ask = ask.max(best.price.plus_ticks(1, tick)?);
    }
    Ok([(Side::Buy, bid), (Side::Sell, ask)])
}

/// Places, moves or takes away the order of one side.
fn adjust(
    parameters: &Parameters,
    book: &mut Book,
    context: &mut Context,
    side: Side,
    price: Price,
    held: i64,
) {
    let room = parameters.max_position - held * side.sign();
    let lots = parameters.quantity.min(room);
    let instrument = book.instrument;
    let (tick, lot) = (book.tick, book.lot);
    let leg = book.leg(side);
    let Ok(quantity) = Quantity::of_lots(lots, lot) else { return };
    let Some(id) = leg.order else {
        if lots < 1 || leg.resting {
            return;
        }
        let request = OrderRequest::limit(side, instrument, price, quantity);
        let request = if parameters.post_only { request.post_only() } else { request };
        match context.order(request) {
            Ok(id) => leg.order = Some(id),
            Err(error) => context.log(error),
        }
        return;
    };
    let Some(order) = context.working_order(id) else { return };
    // A replace before the market has the order would be refused.
    if !order.accepted || order.is_changing() {
        return;
    }
    let off = (order.price - price).0.abs() / tick.0;
    let done = if lots < 1 {
        context.cancel(id)
    } else if off >= parameters.requote_ticks && !leg.resting {
        context.replace(id, price, order.filled + quantity)
    } else {
        Ok(())
    };
    if let Err(error) = done {
        context.log(error);
    }
}

#[allow(dead_code, reason = "a program that includes this file as a module has a `main` of its own")]
fn main() -> ExitCode {
    strategy_sdk::main::<MarketMaker>()
}
