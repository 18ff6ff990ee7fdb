//! The platform as a strategy sees it.

use std::cell::Cell;
use std::fmt::Display;
use std::time::{Duration, SystemTime};

use node::{AccountError, AccountFinder, Counter, DepthError};
use topology::config::MarketData;
use wire::{
    AccountId, AccountState, Best, CancelOrder, Cause, Instrument, InstrumentId, MAX_INSTRUMENTS, Nanos,
    NewOrder, OrderId, Price, Quantity, Quote, ReplaceOrder, Request, Side, StrategyId, TimeInForce,
};

use crate::bars::{BarRequest, BarSource, Bars, BarsError, BarsId};
use crate::instruments::{Instruments, Interest};
use crate::orders::{WorkingOrder, WorkingOrders};
use crate::port::Port;
use crate::position::{Position, Positions};
use crate::request::{CancelError, CancelRequest, ChangeError, OrderError, OrderRequest, Refusal};
use crate::timers::{TimerId, Timers, When, not_before};

/// Of a recurring timer.
const SHORTEST_INTERVAL: Duration = Duration::from_micros(1);

/// The strategy's access to the platform, passed to each of its methods.
///
/// No method blocks, and in steady state none allocates.
pub struct Context {
    name: String,
    strategy: StrategyId,
    epoch: u16,
    /// The accounts that it may trade for, its default first.
    accounts: Vec<AccountId>,
    /// Where accounts are found that were asked for.
    finders: Cell<Vec<AccountFinder>>,
    /// Orders and mass cancels sent since the start.
    sent: u32,
    pub(crate) stage: Stage,
    /// The message that is being handled.
    pub(crate) cause: Cause,
    /// `None`: the platform's clock is the strategy's.
    pub(crate) event_clock: Option<EventClock>,
    /// How often the strategy depended on a clock that goes by recorded frames, since that was last counted.
    pub(crate) clock_reads: Cell<u64>,
    pub(crate) port: Box<dyn Port>,
    pub(crate) instruments: Instruments,
    pub(crate) positions: Positions,
    pub(crate) orders: WorkingOrders,
    pub(crate) timers: Timers,
    pub(crate) bars: Bars,
    /// The latest quote of each instrument, by id.
    quotes: Vec<Option<Quote>>,
    /// The latest best of each instrument, by id.
    bests: Vec<Option<Best>>,
    pub(crate) data: MarketData,
    pub(crate) stop_requested: bool,
    /// Requests sent to td.
    pub(crate) requests: u64,
}

/// The stage of the strategy's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Waits for the instruments or the ledger's state.
    Joining,
    /// Hears the market, and may not send orders yet.
    WarmingUp,
    /// Between its start and its stop.
    Open,
    /// Stopped.
    Left,
}

impl Stage {
    /// True while events are handed over.
    #[inline]
    pub(crate) fn hears(self) -> bool {
        matches!(self, Stage::WarmingUp | Stage::Open)
    }

    /// Why no request is sent.
    fn refuses(self) -> Result<(), Refusal> {
        match self {
            Stage::Open => Ok(()),
            Stage::WarmingUp => Err(Refusal::WarmingUp),
            Stage::Joining | Stage::Left => Err(Refusal::NotReady),
        }
    }
}

/// The clock of deterministic mode: the market's own time. In a replay of what was recorded in another mode: the time
/// of the frame that is handled.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EventClock {
    pub(crate) now: Nanos,
    /// False before the first event.
    pub(crate) begun: bool,
    /// The events are frames, and their times those at which they were published.
    pub(crate) recorded: bool,
}

impl EventClock {
    /// The market's time as logs have it; `None` before the first event.
    fn stamp(&self) -> Option<String> {
        let now = SystemTime::UNIX_EPOCH + Duration::from_nanos(self.now.0);
        (self.now > Nanos(0)).then(|| humantime::format_rfc3339_nanos(now).to_string())
    }
}

impl Context {
    #[allow(clippy::too_many_arguments, reason = "made in one place, from a struct")]
    pub(crate) fn new(
        name: String,
        strategy: StrategyId,
        epoch: u64,
        mut accounts: Vec<AccountId>,
        interest: Interest,
        data: MarketData,
        event_clock: Option<EventClock>,
        port: Box<dyn Port>,
    ) -> Context {
        if accounts.is_empty() {
            accounts.push(AccountId::OWN);
        }
        Context {
            name,
            strategy,
            finders: Cell::new(
                accounts.iter().map(|account| AccountFinder::new(*account, strategy)).collect(),
            ),
            accounts,
            // The id holds the low bits; td knows that they wrap.
            epoch: epoch as u16,
            sent: 0,
            stage: Stage::Joining,
            cause: Cause::NONE,
            event_clock,
            clock_reads: Cell::new(0),
            port,
            instruments: Instruments::new(interest),
            positions: Positions::default(),
            orders: WorkingOrders::new(),
            timers: Timers::new(),
            bars: Bars::default(),
            quotes: Vec::new(),
            bests: Vec::new(),
            data,
            stop_requested: false,
            requests: 0,
        }
    }

    /// Name of the node, as in the platform file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of the strategy: its seat.
    pub fn strategy(&self) -> StrategyId {
        self.strategy
    }

    /// Low 16 bits of the order journal's epoch: what its own orders carry, and a predecessor's do not.
    pub(crate) fn epoch(&self) -> u16 {
        self.epoch
    }

    /// The time, in nanoseconds since the epoch.
    ///
    /// It is the platform's clock. On a deterministic platform it is the market's: the greatest `event_time` of the
    /// quotes and trades handed over so far, or in [`Strategy::timer`](crate::Strategy::timer) the time at which the
    /// timer was due; zero before the first event.
    pub fn now(&self) -> Nanos {
        self.note_clock_read();
        self.time()
    }

    /// The same, for the session itself.
    pub(crate) fn time(&self) -> Nanos {
        match &self.event_clock {
            Some(clock) => clock.now,
            None => self.port.now(),
        }
    }

    /// Live it was another time by a little, with frames that are recorded: whoever replays them has to know that it counted.
    fn note_clock_read(&self) {
        if self.event_clock.is_some_and(|clock| clock.recorded) {
            self.clock_reads.set(self.clock_reads.get() + 1);
        }
    }

    /// False where each event must be answered before the next one: in lock-step, and in a replay.
    pub fn may_hold_back(&self) -> bool {
        self.event_clock.is_none()
    }

    /// True before [`Strategy::start`](crate::Strategy::start), while it hears market data of before, and orders are refused. Only
    /// where the platform file says `warm_up`.
    pub fn is_warming_up(&self) -> bool {
        self.stage == Stage::WarmingUp
    }

    /// The message that is being handled: what an order of this moment answers.
    pub fn cause(&self) -> Cause {
        self.cause
    }

    /// Names the message that orders answer up to the end of this call: for [`Strategy::flush`](crate::Strategy::flush).
    pub fn answers(&mut self, cause: Cause) {
        self.cause = cause;
    }

    /// One line in the node's log, with the time at which it was written; in lock-step with the market's time too.
    pub fn log(&self, message: impl Display) {
        match self.event_clock.as_ref().and_then(EventClock::stamp) {
            Some(market) => log::info!("{} at {market}: {message}", self.name),
            None => log::info!("{}: {message}", self.name),
        }
    }

    /// Ends the strategy in good order, as if it had been asked to stop from outside.
    pub fn request_stop(&mut self) {
        self.stop_requested = true;
    }

    /// The listed instruments.
    pub fn instruments(&self) -> &Instruments {
        &self.instruments
    }

    /// One listed instrument, copied: short for `instruments().get(id)`.
    pub fn instrument(&self, id: InstrumentId) -> Option<Instrument> {
        self.instruments.get(id).copied()
    }

    /// What the strategy hears of the market, as its group says.
    pub fn data(&self) -> MarketData {
        self.data
    }

    /// The latest best bid and ask of an instrument that it reads, also from before the start. With `data = "depth"` it
    /// is that of the latest quote; with `data = "flow"` there is none.
    pub fn last_best(&self, instrument: InstrumentId) -> Option<Best> {
        match self.data {
            MarketData::Depth => self.last_quote(instrument).map(Best::of),
            _ => self.bests.get(instrument.0 as usize).copied().flatten(),
        }
    }

    /// The ten best levels of an instrument, whole: with `data = "best"` those behind the best that was heard last, or
    /// later ones; never earlier ones. They are read from shared memory, where md keeps them; md does not notice, and
    /// nothing waits. With `data = "depth"` it is the latest quote.
    ///
    /// # Errors
    /// [`DepthError`]: nothing was published yet, or a strategy with `data = "flow"` asked, for which none is kept.
    pub fn depth(&self, instrument: InstrumentId) -> Result<Quote, DepthError> {
        match self.data {
            MarketData::Depth => self.last_quote(instrument).copied().ok_or(DepthError::Nothing(instrument)),
            MarketData::Best => self.port.depth(instrument),
            MarketData::Flow => Err(DepthError::NotKept),
        }
    }

    /// The latest quote of an instrument that it reads, also from before the start. Only with `data = "depth"`.
    pub fn last_quote(&self, instrument: InstrumentId) -> Option<&Quote> {
        self.quotes.get(instrument.0 as usize)?.as_ref()
    }

    /// The accounts that the platform file lists for the strategy, its default first. Where it lists none, its own alone: with
    /// `accounts = "all"` orders may name any other.
    pub fn accounts(&self) -> &[AccountId] {
        &self.accounts
    }

    /// For which account its orders are that name none.
    pub fn default_account(&self) -> AccountId {
        self.accounts.first().copied().unwrap_or(AccountId::OWN)
    }

    /// How its default account stands: see [`Context::account_of`].
    ///
    /// # Errors
    /// As [`Context::account_of`].
    pub fn account(&self) -> Result<AccountState, AccountError> {
        self.account_of(self.default_account())
    }

    /// How an account stands: money, margin, open orders, whether it is frozen or killed. It is read from shared memory, where
    /// the ledger keeps it, without a message and without waiting; nobody notices.
    ///
    /// The ledger comes after td: what the strategy was just told of an order may not be in it yet, and other strategies'
    /// orders may be that it was not told of. [`AccountState::drops`] says up to where it goes. It decides nothing: td checks
    /// each order by what the account has then.
    ///
    /// # Errors
    /// [`AccountError`]: no accounts are kept (nor in a replay of a recording), or this one is not open. The strategy's own is
    /// there from its first order on.
    pub fn account_of(&self, account: AccountId) -> Result<AccountState, AccountError> {
        let mut finders = self.finders.take();
        let known = finders.iter().position(|finder| finder.account() == account);
        let place = known.unwrap_or(finders.len());
        if known.is_none() {
            finders.push(AccountFinder::new(account, self.strategy));
        }
        let state = match finders.get_mut(place) {
            Some(finder) => self.port.account(finder),
            None => Err(AccountError::Unknown(account)),
        };
        self.finders.set(finders);
        state
    }

    /// The strategy's position in an instrument.
    pub fn position(&self, instrument: InstrumentId) -> Position {
        self.positions.get(instrument)
    }

    /// Orders that have not ended, by ascending id.
    pub fn working_orders(&self) -> impl Iterator<Item = &WorkingOrder> {
        self.orders.iter()
    }

    /// One order, if it has not ended.
    pub fn working_order(&self, id: OrderId) -> Option<WorkingOrder> {
        self.orders.get(id).copied()
    }

    /// How much of the orders on this side may still trade.
    pub fn working_quantity(&self, instrument: InstrumentId, side: Side) -> Quantity {
        self.orders.quantity(instrument, side)
    }

    /// Sends a limit order to buy, which rests if need be. See [`Context::order`].
    ///
    /// # Errors
    /// As [`Context::order`].
    pub fn buy(
        &mut self,
        instrument: InstrumentId,
        price: Price,
        quantity: Quantity,
    ) -> Result<OrderId, OrderError> {
        self.order(OrderRequest::limit(Side::Buy, instrument, price, quantity))
    }

    /// Sends a limit order to sell, which rests if need be. See [`Context::order`].
    ///
    /// # Errors
    /// As [`Context::order`].
    pub fn sell(
        &mut self,
        instrument: InstrumentId,
        price: Price,
        quantity: Quantity,
    ) -> Result<OrderId, OrderError> {
        self.order(OrderRequest::limit(Side::Sell, instrument, price, quantity))
    }

    /// Sends an order, and returns its id at once: it is on its way to td. Its reports come through
    /// [`Strategy::order`](crate::Strategy::order) and [`Strategy::fill`](crate::Strategy::fill).
    ///
    /// # Errors
    /// [`OrderError`]: nothing was sent, and the request comes back.
    pub fn order(&mut self, request: OrderRequest) -> Result<OrderId, OrderError> {
        self.send_order(&request).map_err(|refusal| OrderError { request, refusal })
    }

    fn send_order(&mut self, request: &OrderRequest) -> Result<OrderId, Refusal> {
        let is_limit = request.order_type.has_price();
        self.stage.refuses()?;
        let Some(instrument) = self.instruments.get(request.instrument) else {
            return Err(Refusal::UnknownInstrument);
        };
        let lot = instrument.lot;
        check_amounts(request.quantity, request.price, is_limit)?;
        let (display_lots, minimum_lots) =
            (lots(request, request.display, lot)?, lots(request, request.minimum, lot)?);
        let (trigger, ends_s) = (trigger(request)?, ends(request)?);
        if !is_limit && request.time_in_force == TimeInForce::PostOnly {
            return Err(Refusal::MarketCannotRest);
        }
        let sequence = self.sent.checked_add(1).ok_or(Refusal::Exhausted)?;
        let order = NewOrder {
            order_id: OrderId::new(self.strategy, self.epoch, sequence),
            instrument: request.instrument,
            side: request.side,
            order_type: request.order_type,
            time_in_force: request.time_in_force,
            flags: request.flags,
            price: request.price,
            quantity: request.quantity,
            cause: self.cause,
            account: request.account.unwrap_or(self.default_account()),
            display_lots,
            trigger,
            minimum_lots,
            ends_s,
        };
        self.send(&Request::New(order))?;
        self.sent = sequence;
        self.port.count(Counter::Orders, 1);
        self.orders.insert(WorkingOrder {
            id: order.order_id,
            instrument: order.instrument,
            side: order.side,
            price: order.price,
            quantity: order.quantity,
            filled: Quantity::ZERO,
            sent: self.time(),
            accepted: false,
            cancelling: false,
            replacing: 0,
        });
        Ok(order.order_id)
    }

    /// Asks for the rest of an order to be taken out of the book. While one cancel of it is on its way, another
    /// sends nothing and is fine.
    ///
    /// # Errors
    /// [`ChangeError`]: nothing was sent.
    pub fn cancel(&mut self, order: OrderId) -> Result<(), ChangeError> {
        self.send_cancel(order).map_err(|refusal| ChangeError { order, refusal })
    }

    fn send_cancel(&mut self, id: OrderId) -> Result<(), Refusal> {
        let order = self.changeable(id)?;
        if order.cancelling {
            return Ok(());
        }
        self.send(&Request::Cancel(CancelOrder::new(id, order.instrument)))?;
        self.port.count(Counter::Cancels, 1);
        self.orders.change(id, |order| order.cancelling = true);
        Ok(())
    }

    /// Asks for all of its orders that match the request to be cancelled, with one message, in every market. Each that is
    /// cancelled is reported as if it had been cancelled alone; then the request is answered under the id that is
    /// returned, as an update with [`OrderStatus::MassCancelled`](wire::OrderStatus::MassCancelled) and the number of orders in `quantity`, or as a refused cancel.
    ///
    /// # Errors
    /// [`CancelError`]: nothing was sent.
    pub fn cancel_all(&mut self, request: CancelRequest) -> Result<OrderId, CancelError> {
        self.send_cancel_all(&request).map_err(|refusal| CancelError { request, refusal })
    }

    fn send_cancel_all(&mut self, request: &CancelRequest) -> Result<OrderId, Refusal> {
        self.stage.refuses()?;
        let is_listed = |id: InstrumentId| self.instruments.get(id).is_some();
        if !request.instrument.is_none_or(is_listed) {
            return Err(Refusal::UnknownInstrument);
        }
        let sequence = self.sent.checked_add(1).ok_or(Refusal::Exhausted)?;
        let id = OrderId::new(self.strategy, self.epoch, sequence);
        self.send(&Request::CancelAll(request.message(id)))?;
        self.sent = sequence;
        self.port.count(Counter::Cancels, 1);
        Ok(id)
    }

    /// Asks for a new price and a new total quantity, what has traded included. The order keeps its place in the
    /// queue only if the price stays and the quantity does not grow.
    ///
    /// # Errors
    /// [`ChangeError`]: nothing was sent.
    pub fn replace(&mut self, order: OrderId, price: Price, quantity: Quantity) -> Result<(), ChangeError> {
        self.send_replace(order, price, quantity).map_err(|refusal| ChangeError { order, refusal })
    }

    fn send_replace(&mut self, id: OrderId, price: Price, quantity: Quantity) -> Result<(), Refusal> {
        let order = self.changeable(id)?;
        check_amounts(quantity, price, true)?;
        let replace = ReplaceOrder { order_id: id, instrument: order.instrument, source: 0, price, quantity };
        self.send(&Request::Replace(replace))?;
        self.port.count(Counter::Replaces, 1);
        self.orders.change(id, |order| order.replacing += 1);
        Ok(())
    }

    fn changeable(&self, id: OrderId) -> Result<WorkingOrder, Refusal> {
        self.stage.refuses()?;
        self.working_order(id).ok_or(Refusal::UnknownOrder)
    }

    fn send(&mut self, message: &Request) -> Result<(), Refusal> {
        self.port.send(message).map_err(|error| {
            let refusal = Refusal::from(error);
            if refusal == Refusal::Full {
                self.port.count(Counter::Full, 1);
            }
            refusal
        })?;
        self.requests += 1;
        Ok(())
    }

    /// Calls [`Strategy::timer`](crate::Strategy::timer) with `key` after a [`Duration`], or at a time ([`Nanos`]). Once:
    /// [`Context::every`] sets one that comes again.
    ///
    /// On a deterministic platform timers go by the market's time, see [`Context::now`]: one fires before the event
    /// that passes it is handed over, and never when no event follows. What is set to fire "after" something before
    /// the first event counts from that event.
    pub fn set_timer(&mut self, when: impl Into<When>, key: u64) -> TimerId {
        self.set_timers(when.into(), 0, key)
    }

    /// Calls [`Strategy::timer`](crate::Strategy::timer) with `key` again and again, first after one interval, until it is
    /// cancelled. All its times are whole intervals from the first one, however long its calls take: nothing adds up.
    /// An interval of less than a microsecond is one of a microsecond.
    ///
    /// On the platform's clock, times that have passed when it fires are passed over, and [`Timer::missed`](crate::Timer::missed)
    /// says how many. By the market's time each of them comes, at its own time: a strategy that looks once a second does so in
    /// a pause of the market too.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use strategy_sdk::{Context, Timer, TimerId};
    ///
    /// fn begin(context: &mut Context) -> TimerId {
    ///     context.every(Duration::from_secs(1), 7)
    /// }
    ///
    /// fn timer(context: &mut Context, timer: Timer) {
    ///     if timer.key == 7 && context.working_orders().count() == 0 {
    ///         context.cancel_timer(timer.id);
    ///     }
    /// }
    /// ```
    pub fn every(&mut self, interval: Duration, key: u64) -> TimerId {
        let interval = interval.max(SHORTEST_INTERVAL);
        self.every_from(interval, interval, key)
    }

    /// As [`Context::every`], with the first time as said. By the market's time a first time that has passed only says from
    /// where the intervals count: `every_from(Nanos(0), minute, key)` is each full minute.
    pub fn every_from(&mut self, first: impl Into<When>, interval: Duration, key: u64) -> TimerId {
        let interval = interval.max(SHORTEST_INTERVAL).as_nanos();
        self.set_timers(first.into(), u64::try_from(interval).unwrap_or(u64::MAX), key)
    }

    /// `every`: nanoseconds from one time to the next, or zero.
    fn set_timers(&mut self, when: When, every: u64, key: u64) -> TimerId {
        self.note_clock_read();
        let now = self.time();
        let (due, counts_from_now) = match when {
            When::At(time) => (time, false),
            When::After(delay) => (now + Nanos(u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX)), true),
        };
        match self.event_clock {
            None => self.timers.set(due, every, key, false),
            Some(EventClock { begun: false, .. }) => self.timers.set(due, every, key, counts_from_now),
            // Time must pass from one timer to the next, or the event behind them is never reached.
            Some(_) => {
                let next = now + Nanos(1);
                self.timers.set(not_before(due, every, next).max(next), every, key, false)
            }
        }
    }

    /// True when the timer was still set. A recurring one does not come again.
    pub fn cancel_timer(&mut self, timer: TimerId) -> bool {
        self.timers.cancel(timer)
    }

    /// Asks for bars of an instrument: each is handed to [`Strategy::bar`](crate::Strategy::bar) when it is full, from what comes
    /// from now on. They go by the market's time, live too.
    ///
    /// - **By time** a bar is full once any instrument that the strategy reads has reached its end, and comes before the event that
    ///   did: so it may be late in a still market, and nothing that it should hold is missing. The first one begins in the middle of
    ///   its interval, and the one at the end of the data is not handed over.
    /// - **Empty intervals** give no bar, and the next one simply begins later; with [`BarRequest::with_flat`] each gives a bar
    ///   whose prices are all the close of the one before and whose `count` is zero, once there was a first.
    /// - **By count or volume** a bar comes behind the call of the event that filled it.
    ///
    /// Events that are late go into the open bar. What was lost ([`Strategy::gap`](crate::Strategy::gap)) is missing in the bars too.
    ///
    /// # Errors
    /// [`BarsError`].
    pub fn bars(&mut self, request: BarRequest) -> Result<BarsId, BarsError> {
        if !self.instruments.is_selected(request.instrument) {
            return Err(BarsError::UnknownInstrument);
        }
        if request.source == BarSource::Mids && self.data == MarketData::Flow {
            return Err(BarsError::NoMids);
        }
        self.bars.add(&request)
    }

    /// True when there was such a series: no more of its bars come, and the open one is dropped.
    pub fn cancel_bars(&mut self, series: BarsId) -> bool {
        self.bars.remove(series)
    }

    /// Makes room for an instrument, so that its first quote and fill find it.
    pub(crate) fn reach(&mut self, instrument: InstrumentId) {
        let length = instrument.0 as usize + 1;
        if instrument.0 < MAX_INSTRUMENTS && self.quotes.len() < length {
            self.quotes.resize(length, None);
            self.bests.resize(length, None);
        }
        self.positions.reach(instrument);
        self.orders.reach(instrument);
    }

    pub(crate) fn set_best(&mut self, instrument: InstrumentId, best: &Best) {
        if let Some(slot) = self.bests.get_mut(instrument.0 as usize) {
            *slot = Some(*best);
        }
    }

    pub(crate) fn set_quote(&mut self, quote: &Quote) {
        if let Some(slot) = self.quotes.get_mut(quote.instrument.0 as usize) {
            *slot = Some(*quote);
        }
    }
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context")
            .field("name", &self.name)
            .field("stage", &self.stage)
            .finish_non_exhaustive()
    }
}

/// A part of an order's quantity, in lots.
fn lots(request: &OrderRequest, part: Quantity, lot: Quantity) -> Result<u32, Refusal> {
    let lot = lot.0.max(1);
    let fits = part.0 >= 0 && part.0 <= request.quantity.0 && part.0 % lot == 0;
    u32::try_from(part.0 / lot).ok().filter(|_| fits).ok_or(Refusal::Part)
}

/// The price that it waits for; zero if it does not wait.
fn trigger(request: &OrderRequest) -> Result<Price, Refusal> {
    if !request.order_type.has_trigger() {
        return Ok(Price::ZERO);
    }
    if request.trigger.is_some() { Ok(request.trigger) } else { Err(Refusal::NoTrigger) }
}

/// When it ends, in seconds; zero if by no date.
fn ends(request: &OrderRequest) -> Result<u32, Refusal> {
    if request.time_in_force != TimeInForce::GoodTillDate {
        return Ok(0);
    }
    let whole = request.ends.0 > 0 && request.ends.0.is_multiple_of(1_000_000_000);
    u32::try_from(request.ends.0 / 1_000_000_000).ok().filter(|_| whole).ok_or(Refusal::Date)
}

fn check_amounts(quantity: Quantity, price: Price, is_limit: bool) -> Result<(), Refusal> {
    if quantity <= Quantity::ZERO {
        return Err(Refusal::Quantity);
    }
    if is_limit && !price.is_some() { Err(Refusal::NoPrice) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_have_the_markets_time_from_the_first_event_on() {
        assert_eq!(EventClock::default().stamp(), None);
        let clock = EventClock { now: Nanos(1_340_285_400_123_456_789), ..EventClock::default() };
        assert_eq!(clock.stamp().as_deref(), Some("2012-06-21T13:30:00.123456789Z"));
    }
}
