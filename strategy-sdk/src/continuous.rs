//! Continuous contracts: one future after another, as one series.

use std::collections::VecDeque;
use std::time::Duration;

use wire::{Best, InstrumentId, Nanos, Price, Quantity, Side, TradePrint};

use crate::{Bar, Context, OrderError, OrderRequest};

const DAY: u64 = 86_400_000_000_000;
/// Bars that are kept unless [`Continuous::keeping`] says otherwise.
const BARS: usize = 1_000;

/// When a continuous contract goes from one contract to the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RollRule {
    /// At these times of the market, ascending, one for each contract but the last.
    At(Vec<Nanos>),
    /// When a day begins before which the next contract has traded more than the front one since the day before began. Days
    /// begin so long after midnight UTC, less than 24 hours. It counts the trades given to [`Continuous::trade`].
    Volume {
        /// 22 hours for a session that begins at 17:00 in Chicago in winter.
        day_begins: Duration,
    },
}

/// What is done to the prices of a series at a roll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Adjustment {
    /// Nothing: each price is the one at which its contract traded, and the series jumps at a roll.
    None,
    /// Prices before a roll are moved by its [`Roll::gap`], so that the series goes through the roll without a jump and its
    /// differences are those of a position that rolled. Levels of the past are no prices that anything traded at.
    Back,
}

/// A roll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Roll {
    /// The contract that was the front one.
    pub from: InstrumentId,
    /// The contract that is the front one now.
    pub to: InstrumentId,
    /// The strategy's clock.
    pub time: Nanos,
    /// The mid of `to` less the mid of `from` at that time.
    pub gap: Price,
}

/// Why a continuous contract cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ContinuousError {
    /// Fewer than two contracts, or one that comes twice.
    #[error("a continuous contract needs two or more contracts, each once")]
    Contracts,
    /// [`RollRule::At`] with another number of times, or not ascending.
    #[error("give one time for each contract but the last, {expected} of them, ascending")]
    Times {
        /// How many.
        expected: usize,
    },
    /// [`RollRule::Volume`] with a day that begins after itself.
    #[error("a day begins less than 24 hours after midnight")]
    DayBegins,
}

/// Contracts, of which one is the front contract at each time.
///
/// It knows no more than the strategy has received: a roll depends on nothing that comes later. A position stays in its
/// contract: the gap between two contracts is neither profit nor loss. [`Continuous::reopen`] moves it.
///
/// ```
/// use strategy_sdk::{Adjustment, Context, Continuous, NoParameters, ParameterError, Quote, RollRule, Strategy, TradePrint};
///
/// #[derive(Default)]
/// struct Trend {
///     future: Option<Continuous>,
/// }
///
/// impl Strategy for Trend {
///     type Parameters = NoParameters;
///
///     fn create(_parameters: NoParameters) -> Result<Trend, ParameterError> {
///         Ok(Trend::default())
///     }
///
///     fn start(&mut self, context: &mut Context) {
///         let id = |symbol| context.instruments().by_symbol(symbol).map(|instrument| instrument.id);
///         let contracts: Vec<_> = ["ESH4", "ESM4"].into_iter().filter_map(id).collect();
///         let rule = RollRule::Volume { day_begins: std::time::Duration::from_secs(22 * 3600) };
///         match Continuous::new(&contracts, rule) {
///             Ok(future) => self.future = Some(future),
///             Err(error) => context.log(error),
///         }
///     }
///
///     fn trade(&mut self, _context: &mut Context, trade: &TradePrint) {
///         if let Some(future) = &mut self.future {
///             future.trade(trade);
///         }
///     }
///
///     fn quote(&mut self, context: &mut Context, _quote: &Quote) {
///         let Some(future) = &mut self.future else { return };
///         if let Some(roll) = future.roll(context) {
///             context.log(format_args!("the front contract is {} now", roll.to.0));
///             if let Err(error) = future.reopen(context, &roll) {
///                 context.log(error);
///             }
///         }
///         // Trades in `future.front()`, and looks at `future.bars(Adjustment::Back)`.
///     }
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Continuous {
    contracts: Vec<InstrumentId>,
    rule: RollRule,
    front: usize,
    rolls: Vec<Roll>,
    /// Of [`RollRule::Volume`]: the day that lasts, and what the front contract and the next one traded in it.
    day: Option<u64>,
    traded: [Quantity; 2],
    /// The rule says that it rolls, and a price is missing yet.
    is_due: bool,
    /// With the number of each bar's contract.
    bars: VecDeque<(usize, Bar)>,
    most_bars: usize,
}

impl Continuous {
    /// Begins with the first of `contracts`, which are in the order in which they follow each other.
    ///
    /// # Errors
    /// [`ContinuousError`].
    pub fn new(contracts: &[InstrumentId], rule: RollRule) -> Result<Continuous, ContinuousError> {
        let is_twice = contracts.iter().enumerate().any(|(index, id)| contracts[..index].contains(id));
        if contracts.len() < 2 || is_twice {
            return Err(ContinuousError::Contracts);
        }
        match &rule {
            RollRule::At(times) => {
                let expected = contracts.len() - 1;
                if times.len() != expected || !times.is_sorted_by(|one, other| one < other) {
                    return Err(ContinuousError::Times { expected });
                }
            }
            RollRule::Volume { day_begins } if day_begins.as_nanos() >= u128::from(DAY) => {
                return Err(ContinuousError::DayBegins);
            }
            RollRule::Volume { .. } => {}
        }
        Ok(Continuous {
            contracts: contracts.to_vec(),
            rule,
            front: 0,
            rolls: Vec::new(),
            day: None,
            traded: [Quantity::ZERO; 2],
            is_due: false,
            bars: VecDeque::new(),
            most_bars: BARS,
        })
    }

    /// Keeps so many of the latest bars; 1,000 unless it is called.
    pub fn keeping(self, bars: usize) -> Continuous {
        Continuous { most_bars: bars, ..self }
    }

    /// The contract that is traded now.
    pub fn front(&self) -> InstrumentId {
        self.contracts[self.front]
    }

    /// The rolls so far.
    pub fn rolls(&self) -> &[Roll] {
        &self.rolls
    }

    /// Counts a trade, for [`RollRule::Volume`]. Call it in [`Strategy::trade`](crate::Strategy::trade).
    pub fn trade(&mut self, trade: &TradePrint) {
        let contracts = self.contracts[self.front..].iter().take(2);
        if let Some((_, sum)) = contracts.zip(&mut self.traded).find(|(id, _)| **id == trade.instrument) {
            *sum += trade.quantity;
        }
    }

    /// Whether it rolls now. Call it in [`Strategy::quote`](crate::Strategy::quote) or [`Strategy::best`](crate::Strategy::best), or
    /// with a timer. Where both contracts do not have a bid and an ask yet, the roll waits for them, so the strategy must read
    /// both, and not with `data = "flow"`.
    pub fn roll(&mut self, context: &Context) -> Option<Roll> {
        let (from, to) = (self.front(), *self.contracts.get(self.front + 1)?);
        let time = context.now();
        self.is_due = self.is_due || self.comes_due(time);
        if !self.is_due {
            return None;
        }
        let gap = gap(context.last_best(from)?, context.last_best(to)?)?;
        let roll = Roll { from, to, time, gap };
        self.front += 1;
        self.is_due = false;
        self.traded = [self.traded[1], Quantity::ZERO];
        self.rolls.push(roll);
        Some(roll)
    }

    fn comes_due(&mut self, now: Nanos) -> bool {
        match &self.rule {
            RollRule::At(times) => times.get(self.front).is_some_and(|time| now >= *time),
            RollRule::Volume { day_begins } => {
                let begins = u64::try_from(day_begins.as_nanos()).unwrap_or(0);
                let day = now.0.saturating_sub(begins) / DAY;
                let before = self.day.replace(day);
                if before.is_none_or(|before| before == day) {
                    return false;
                }
                let [front, next] = std::mem::replace(&mut self.traded, [Quantity::ZERO; 2]);
                next > front
            }
        }
    }

    /// Keeps a bar of the front contract; one of another contract is not part of the series, and false. Call it in
    /// [`Strategy::bar`](crate::Strategy::bar).
    pub fn bar(&mut self, bar: &Bar) -> bool {
        let is_front = bar.instrument == self.front();
        if is_front && self.most_bars > 0 {
            if self.bars.len() >= self.most_bars {
                self.bars.pop_front();
            }
            self.bars.push_back((self.front, *bar));
        }
        is_front
    }

    /// The bars that are kept, the oldest first.
    pub fn bars(&self, adjustment: Adjustment) -> impl Iterator<Item = Bar> + '_ {
        self.bars.iter().map(move |(contract, bar)| {
            let moved = match adjustment {
                Adjustment::None => Price(0),
                Adjustment::Back => self.gaps_behind(*contract),
            };
            Bar {
                open: bar.open + moved,
                high: bar.high + moved,
                low: bar.low + moved,
                close: bar.close + moved,
                ..*bar
            }
        })
    }

    /// A price of one of the contracts as the series has it with [`Adjustment::Back`]. None: it is none of its contracts, or one
    /// that is to come.
    pub fn back_adjusted(&self, contract: InstrumentId, price: Price) -> Option<Price> {
        let number = self.contracts[..=self.front].iter().position(|id| *id == contract)?;
        Some(price + self.gaps_behind(number))
    }

    fn gaps_behind(&self, contract: usize) -> Price {
        self.rolls[contract.min(self.rolls.len())..].iter().fold(Price(0), |sum, roll| sum + roll.gap)
    }

    /// Closes the strategy's position in the contract before the roll and opens the same one in the contract behind it, by two
    /// market orders: two trades, at the market's prices and with their charges. Orders that still work in the contract before
    /// stay: [`Context::cancel_all`] ends them.
    ///
    /// # Errors
    /// [`OrderError`] of the first order that was not sent. If it is the second one's, the position is closed and not opened.
    pub fn reopen(&self, context: &mut Context, roll: &Roll) -> Result<(), OrderError> {
        let position = context.position(roll.from).quantity;
        let (close, open) = match position.0.signum() {
            0 => return Ok(()),
            1 => (Side::Sell, Side::Buy),
            _ => (Side::Buy, Side::Sell),
        };
        let quantity = Quantity(position.0.saturating_abs());
        context.order(OrderRequest::market(close, roll.from, quantity).ioc())?;
        context.order(OrderRequest::market(open, roll.to, quantity).ioc()).map(drop)
    }
}

/// What the mid of `to` is above that of `from`; None where one has no bid or no ask.
fn gap(from: Best, to: Best) -> Option<Price> {
    let sum = |best: Best| {
        let is_whole = best.bid.is_some() && best.ask.is_some();
        is_whole.then(|| i128::from(best.bid.0) + i128::from(best.ask.0))
    };
    i64::try_from((sum(to)? - sum(from)?).div_euclid(2)).ok().map(Price)
}
