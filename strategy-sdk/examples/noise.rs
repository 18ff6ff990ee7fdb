//! Trades without a reason, so that a market of strategies moves: at random times it takes, rests, hides, stops and changes
//! its mind. One seed always gives the same choices.
//!
//! | of 100 | it |
//! |---|---|
//! | 45 | takes: an immediate-or-cancel order through the best price of the other side |
//! | 30 | rests: an order up to `depth_ticks` behind its own side's best price |
//! | 5 | hides: a large order of which one part is shown |
//! | 5 | stops: an order that waits for the price to run `depth_ticks` |
//! | 14 | cancels its oldest order |
//! | 1 | cancels all its orders of one side of an instrument |

use std::process::ExitCode;
use std::time::Duration;

use strategy_sdk::{
    CancelRequest, Context, Deserialize, Instrument, OrderId, OrderRequest, ParameterError, Price, Quantity,
    Side, Strategy, Timer,
};

/// `params` in the platform file, or `--param` on the command line.
#[derive(Clone, Debug, Deserialize)]
#[serde(crate = "strategy_sdk::serde", default, deny_unknown_fields)]
pub(crate) struct Parameters {
    /// Lots of one order, at most.
    quantity: i64,
    /// Milliseconds between two choices.
    every_ms: u64,
    /// How far from the best price it rests, at most.
    depth_ticks: i64,
    /// Orders that it leaves in the book, at most.
    max_working: usize,
    /// Lots that it may be long or short in one instrument.
    max_position: i64,
    /// Orders that markets beside a recording do not know, too: icebergs and stops.
    all_kinds: bool,
    /// Start of its random numbers; each strategy adds its own number.
    seed: u64,
}

impl Default for Parameters {
    fn default() -> Parameters {
        Parameters {
            quantity: 5,
            every_ms: 5,
            depth_ticks: 5,
            max_working: 20,
            max_position: 100,
            all_kinds: true,
            seed: 1,
        }
    }
}

/// Trades at random.
#[derive(Debug)]
pub(crate) struct Noise {
    parameters: Parameters,
    random: u64,
    instruments: Vec<Instrument>,
}

impl Strategy for Noise {
    type Parameters = Parameters;

    fn create(parameters: Parameters) -> Result<Noise, ParameterError> {
        let at_least_one = [
            ("quantity", parameters.quantity),
            ("every_ms", i64::try_from(parameters.every_ms).unwrap_or(i64::MAX)),
            ("depth_ticks", parameters.depth_ticks),
            ("max_position", parameters.max_position),
        ];
        if let Some((name, _)) = at_least_one.into_iter().find(|(_, value)| *value < 1) {
            return Err(ParameterError::new(name, "must be at least 1"));
        }
        Ok(Noise { parameters, random: 0, instruments: Vec::new() })
    }

    fn start(&mut self, context: &mut Context) {
        // Never zero: a shift of zero stays zero.
        let own = u64::from(context.strategy().0) + 1;
        self.random = (self.parameters.seed ^ own.wrapping_mul(0x9E37_79B9_7F4A_7C15)) | 1;
        self.wait(context);
    }

    fn instrument(&mut self, _context: &mut Context, instrument: &Instrument) {
        self.instruments.push(*instrument);
    }

    fn timer(&mut self, context: &mut Context, _timer: Timer) {
        self.wait(context);
        if self.instruments.is_empty() {
            return;
        }
        let chosen = self.below(self.instruments.len() as u64) as usize;
        let instrument = self.instruments[chosen];
        let done = match self.below(100) {
            0..45 => self.take(context, &instrument),
            45..75 => self.rest(context, &instrument),
            75..80 if self.parameters.all_kinds => self.hide(context, &instrument),
            80..85 if self.parameters.all_kinds => self.stop(context, &instrument),
            75..85 => self.rest(context, &instrument),
            85..99 => return cancel_oldest(context),
            _ => return self.cancel_side(context, &instrument),
        };
        if let Some(request) = done
            && let Err(error) = context.order(request)
        {
            context.log(error);
        }
    }
}

impl Noise {
    fn wait(&self, context: &mut Context) {
        context.set_timer(Duration::from_millis(self.parameters.every_ms), 0);
    }

    /// A random number below `end`.
    fn below(&mut self, end: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 11) % end.max(1)
    }

    fn side(&mut self) -> Side {
        if self.below(2) == 0 { Side::Buy } else { Side::Sell }
    }

    /// A quantity that its position has room for; `None` if it has none.
    fn quantity(
        &mut self,
        context: &Context,
        instrument: &Instrument,
        side: Side,
        times: i64,
    ) -> Option<Quantity> {
        let lot = instrument.lot.0.max(1);
        let held = context.position(instrument.id).quantity.0.saturating_mul(side.sign());
        let worst = held.saturating_add(context.working_quantity(instrument.id, side).0) / lot;
        let room = self.parameters.max_position.saturating_sub(worst);
        let wanted = 1 + self.below(self.parameters.quantity as u64) as i64;
        let lots = wanted.saturating_mul(times).min(room);
        (lots > 0).then(|| Quantity(lots * lot))
    }

    /// The best price of a side; where it is empty, the middle or what the instrument starts from.
    fn best(context: &Context, instrument: &Instrument, side: Side) -> Option<i64> {
        let best = context.last_best(instrument.id);
        let best = best.and_then(|best| match side {
            Side::Buy => best.best_bid(),
            Side::Sell => best.best_ask(),
        });
        // The last trade is known from the depth alone.
        let mid = || context.depth(instrument.id).ok()?.mid();
        let price = best.map(|level| level.price).or_else(mid).unwrap_or(instrument.reference_price);
        price.is_some().then(|| price.0 - price.0 % instrument.tick.0.max(1))
    }

    fn cancel_side(&mut self, context: &mut Context, instrument: &Instrument) {
        let request = CancelRequest::all().instrument(instrument.id).side(self.side());
        if let Err(error) = context.cancel_all(request) {
            context.log(error);
        }
    }

    fn take(&mut self, context: &Context, instrument: &Instrument) -> Option<OrderRequest> {
        let side = self.side();
        let through = self.below(3) as i64 * instrument.tick.0.max(1) * side.sign();
        let price = Noise::best(context, instrument, side.opposite())? + through;
        let quantity = self.quantity(context, instrument, side, 1)?;
        Some(OrderRequest::limit(side, instrument.id, Price(price), quantity).ioc())
    }

    fn rest(&mut self, context: &Context, instrument: &Instrument) -> Option<OrderRequest> {
        if context.working_orders().count() >= self.parameters.max_working {
            return None;
        }
        let side = self.side();
        let behind = self.below(self.parameters.depth_ticks as u64) as i64 * instrument.tick.0.max(1);
        let price = Noise::best(context, instrument, side)? - behind * side.sign();
        let quantity = self.quantity(context, instrument, side, 1)?;
        Some(OrderRequest::limit(side, instrument.id, Price(price), quantity))
    }

    fn hide(&mut self, context: &Context, instrument: &Instrument) -> Option<OrderRequest> {
        let request = self.rest(context, instrument)?;
        let quantity = self.quantity(context, instrument, request.side, 4)?;
        let lot = instrument.lot.0.max(1);
        Some(OrderRequest { quantity, ..request }.iceberg(Quantity(lot)))
    }

    fn stop(&mut self, context: &Context, instrument: &Instrument) -> Option<OrderRequest> {
        let request = self.rest(context, instrument)?;
        let away = self.parameters.depth_ticks * instrument.tick.0.max(1) * request.side.sign();
        let trigger = Noise::best(context, instrument, request.side.opposite())? + away;
        let limit = OrderRequest { price: Price(trigger + away), ..request };
        Some(limit.stop(Price(trigger)))
    }
}

fn cancel_oldest(context: &mut Context) {
    let oldest: Option<OrderId> = context
        .working_orders()
        .filter(|order| order.accepted && !order.is_changing())
        .min_by_key(|order| order.sent)
        .map(|order| order.id);
    if let Some(oldest) = oldest
        && let Err(error) = context.cancel(oldest)
    {
        context.log(error);
    }
}

#[allow(dead_code, reason = "a program that includes this file as a module has a `main` of its own")]
fn main() -> ExitCode {
    strategy_sdk::main::<Noise>()
}
