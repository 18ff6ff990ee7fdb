//! The platform as a strategy in Python sees it.

use std::cell::Cell;
use std::time::Duration;

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use strategy_sdk::{
    AccountId, CancelRequest, Context as Platform, InstrumentId, OrderId, OrderRequest, Refusal, TimerId,
};
use wire::{Nanos, OrderType, Price, Quantity, Side, TimeInForce};
use zerocopy::TryFromBytes;

use crate::messages::{member, message};
use crate::{ColoError, OrderError};

/// The strategy's access to the platform: valid during its calls.
#[pyclass(frozen, module = "colo")]
pub(crate) struct Context {
    /// Null between two calls.
    platform: Cell<*mut Platform>,
}

// SAFETY: the cell is accessed under the interpreter's lock only, and what it points to as well: it is set for the length of a call, at
// whose end the same lock is held. No access calls the interpreter while it holds a reference.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Default for Context {
    fn default() -> Context {
        Context { platform: Cell::new(std::ptr::null_mut()) }
    }
}

impl Context {
    pub(crate) fn show(&self, platform: *mut Platform) {
        self.platform.set(platform);
    }

    #[allow(clippy::mut_from_ref, reason = "one at a time: see the impl of Sync")]
    fn platform(&self) -> PyResult<&mut Platform> {
        // SAFETY: see the impl of Sync.
        unsafe { self.platform.get().as_mut() }.ok_or_else(|| {
            PyRuntimeError::new_err(
                "the context is valid during the strategy's calls only: keep what it says, not the context",
            )
        })
    }
}

/// A position in one instrument.
#[pyclass(frozen, get_all, module = "colo")]
pub(crate) struct Position {
    quantity: i64,
    bought: i64,
    sold: i64,
    cash: i64,
}

/// An order that has not ended.
#[pyclass(frozen, get_all, module = "colo")]
pub(crate) struct WorkingOrder {
    id: u64,
    instrument: u32,
    side: Py<PyAny>,
    price: i64,
    quantity: i64,
    filled: i64,
    sent: u64,
    accepted: bool,
    cancelling: bool,
    replacing: u32,
}

/// A timer that is due.
#[pyclass(frozen, get_all, module = "colo")]
pub(crate) struct Timer {
    id: u64,
    key: u64,
    due: u64,
}

impl Position {
    pub(crate) fn of(position: strategy_sdk::Position) -> Position {
        Position {
            quantity: position.quantity.0,
            bought: position.bought.0,
            sold: position.sold.0,
            cash: position.cash().0,
        }
    }
}

impl Timer {
    pub(crate) fn of(timer: strategy_sdk::Timer) -> Timer {
        Timer { id: timer.id.number(), key: timer.key, due: timer.due.0 }
    }
}

pub(crate) fn named<T: TryFromBytes + Copy>(byte: u8, what: &str) -> PyResult<T> {
    T::try_read_from_bytes(&[byte]).map_err(|_| PyValueError::new_err(format!("{byte} is no {what}")))
}

/// `UnknownOrder` → `unknown_order`.
fn reason(refusal: Refusal) -> String {
    let name = format!("{refusal:?}");
    let name = name.split(['(', ' ']).next().unwrap_or_default();
    let mut text = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.push(letter.to_ascii_lowercase());
    }
    text
}

fn refused(py: Python<'_>, error: impl std::fmt::Display, refusal: Refusal) -> PyErr {
    let made = OrderError::new_err(error.to_string());
    match made.value(py).setattr("refusal", reason(refusal)) {
        Ok(()) => made,
        Err(other) => other,
    }
}

fn other(error: impl std::fmt::Display) -> PyErr {
    ColoError::new_err(error.to_string())
}

pub(crate) fn order(py: Python<'_>, order: &strategy_sdk::WorkingOrder) -> PyResult<WorkingOrder> {
    Ok(WorkingOrder {
        id: order.id.0,
        instrument: order.instrument.0,
        side: side(py, order.side)?,
        price: order.price.0,
        quantity: order.quantity.0,
        filled: order.filled.0,
        sent: order.sent.0,
        accepted: order.accepted,
        cancelling: order.cancelling,
        replacing: order.replacing,
    })
}

fn side(py: Python<'_>, side: Side) -> PyResult<Py<PyAny>> {
    member(py, "Side", side as u8).ok_or_else(|| PyValueError::new_err("no such side"))
}

#[pymethods]
impl Context {
    /// Name of the node, as in the platform file.
    #[getter]
    fn name(&self) -> PyResult<String> {
        Ok(self.platform()?.name().to_owned())
    }

    /// Number of the strategy: its seat.
    #[getter]
    fn strategy(&self) -> PyResult<u16> {
        Ok(self.platform()?.strategy().0)
    }

    /// What it hears of the market, as its group says: `depth`, `best` or `flow`.
    #[getter]
    fn data(&self) -> PyResult<String> {
        Ok(format!("{:?}", self.platform()?.data()).to_lowercase())
    }

    /// The time in nanoseconds since the epoch; in lock-step the market's.
    fn now(&self) -> PyResult<u64> {
        Ok(self.platform()?.now().0)
    }

    /// One line in the node's log.
    fn log(&self, message: &Bound<'_, PyAny>) -> PyResult<()> {
        let text = message.str()?.to_string();
        self.platform()?.log(text);
        Ok(())
    }

    /// Ends the strategy in good order.
    fn request_stop(&self) -> PyResult<()> {
        self.platform()?.request_stop();
        Ok(())
    }

    /// A listed instrument by its id, a copy.
    fn instrument(&self, py: Python<'_>, id: u32) -> PyResult<Option<Py<PyAny>>> {
        let found = self.platform()?.instrument(InstrumentId(id));
        found.map(|found| message(py, &found)).transpose()
    }

    /// A listed instrument by its symbol, a copy.
    fn by_symbol(&self, py: Python<'_>, symbol: &str) -> PyResult<Option<Py<PyAny>>> {
        let found = self.platform()?.instruments().by_symbol(symbol).copied();
        found.map(|found| message(py, &found)).transpose()
    }

    /// The instruments that the strategy reads.
    fn instruments(&self, py: Python<'_>) -> PyResult<Vec<Py<PyAny>>> {
        let all: Vec<_> = self.platform()?.instruments().selected().copied().collect();
        all.iter().map(|found| message(py, found)).collect()
    }

    /// The latest quote of an instrument, a copy; with `data = "depth"`.
    fn last_quote(&self, py: Python<'_>, instrument: u32) -> PyResult<Option<Py<PyAny>>> {
        let found = self.platform()?.last_quote(InstrumentId(instrument)).copied();
        found.map(|found| message(py, &found)).transpose()
    }

    /// The latest best bid and ask of an instrument, a copy.
    fn last_best(&self, py: Python<'_>, instrument: u32) -> PyResult<Option<Py<PyAny>>> {
        let found = self.platform()?.last_best(InstrumentId(instrument));
        found.map(|found| message(py, &found)).transpose()
    }

    /// Ten levels of an instrument, behind the best that was heard last or a later one.
    fn depth(&self, py: Python<'_>, instrument: u32) -> PyResult<Py<PyAny>> {
        let found = self.platform()?.depth(InstrumentId(instrument)).map_err(other)?;
        message(py, &found)
    }

    /// The strategy's position in an instrument.
    fn position(&self, instrument: u32) -> PyResult<Position> {
        Ok(Position::of(self.platform()?.position(InstrumentId(instrument))))
    }

    /// Profit and loss if what is open were closed at `mark`, in millionths of the currency.
    fn profit(&self, instrument: u32, mark: i64) -> PyResult<i64> {
        Ok(self.platform()?.position(InstrumentId(instrument)).profit(Price(mark)).0)
    }

    /// The accounts that the strategy may trade for, its default first.
    #[getter]
    fn accounts(&self) -> PyResult<Vec<u32>> {
        Ok(self.platform()?.accounts().iter().map(|account| account.0).collect())
    }

    /// How an account stands, by default the strategy's own; where accounts are kept.
    #[pyo3(signature = (account = None))]
    fn account(&self, py: Python<'_>, account: Option<u32>) -> PyResult<Py<PyAny>> {
        let platform = self.platform()?;
        let account = account.map_or(platform.default_account(), AccountId);
        let state = platform.account_of(account).map_err(other)?;
        message(py, &state)
    }

    /// The orders that have not ended, by ascending id.
    fn working_orders(&self, py: Python<'_>) -> PyResult<Vec<WorkingOrder>> {
        let all: Vec<_> = self.platform()?.working_orders().copied().collect();
        all.iter().map(|found| order(py, found)).collect()
    }

    /// One order, if it has not ended.
    fn working_order(&self, py: Python<'_>, id: u64) -> PyResult<Option<WorkingOrder>> {
        let found = self.platform()?.working_order(OrderId(id));
        found.map(|found| order(py, &found)).transpose()
    }

    /// How much of the orders on this side may still trade.
    fn working_quantity(&self, instrument: u32, side: u8) -> PyResult<i64> {
        let side = named(side, "side")?;
        Ok(self.platform()?.working_quantity(InstrumentId(instrument), side).0)
    }

    /// Sends an order and returns its id at once; without a price a market order. What becomes of it comes through `on_order` and
    /// `on_fill`.
    #[pyo3(signature = (side, instrument, quantity, price = None, *, time_in_force = None, account = None, display = 0, minimum = 0,
                        trigger = None, ends = 0, flags = 0))]
    #[allow(clippy::too_many_arguments, reason = "all by name, and all but three may be left out")]
    fn order(
        &self,
        py: Python<'_>,
        side: u8,
        instrument: u32,
        quantity: i64,
        price: Option<i64>,
        time_in_force: Option<u8>,
        account: Option<u32>,
        display: i64,
        minimum: i64,
        trigger: Option<i64>,
        ends: u64,
        flags: u8,
    ) -> PyResult<u64> {
        let (side, instrument) = (named(side, "side")?, InstrumentId(instrument));
        let mut request = match price {
            Some(price) => OrderRequest::limit(side, instrument, Price(price), Quantity(quantity)),
            None => OrderRequest::market(side, instrument, Quantity(quantity)),
        };
        if let Some(trigger) = trigger {
            request = request.stop(Price(trigger));
            debug_assert!(matches!(request.order_type, OrderType::Stop | OrderType::StopLimit));
        }
        if let Some(time_in_force) = time_in_force {
            request.time_in_force = named::<TimeInForce>(time_in_force, "time in force")?;
        }
        request = OrderRequest {
            account: account.map(AccountId),
            display: Quantity(display),
            minimum: Quantity(minimum),
            ends: Nanos(ends),
            flags,
            ..request
        };
        let sent = self.platform()?.order(request).map_err(|error| refused(py, error, error.refusal))?;
        Ok(sent.0)
    }

    /// Asks for the rest of an order to be taken out of the book.
    fn cancel(&self, py: Python<'_>, id: u64) -> PyResult<()> {
        let done = self.platform()?.cancel(OrderId(id));
        done.map(drop).map_err(|error| refused(py, error, error.refusal))
    }

    /// Asks for a new price and a new whole quantity, what has traded included.
    fn replace(&self, py: Python<'_>, id: u64, price: i64, quantity: i64) -> PyResult<()> {
        let done = self.platform()?.replace(OrderId(id), Price(price), Quantity(quantity));
        done.map(drop).map_err(|error| refused(py, error, error.refusal))
    }

    /// Asks for all orders that match to be cancelled, with one message; the number under which it is answered.
    #[pyo3(signature = (instrument = None, side = None, account = None))]
    fn cancel_all(
        &self,
        py: Python<'_>,
        instrument: Option<u32>,
        side: Option<u8>,
        account: Option<u32>,
    ) -> PyResult<u64> {
        let request = CancelRequest {
            instrument: instrument.map(InstrumentId),
            side: side.map(|side| named(side, "side")).transpose()?,
            account: account.map(AccountId),
        };
        let sent = self.platform()?.cancel_all(request).map_err(|error| refused(py, error, error.refusal))?;
        Ok(sent.0)
    }

    /// Calls `on_timer` once: `after` nanoseconds from now, or `at` a time of the strategy's clock. Returns the timer's number.
    #[pyo3(signature = (*, after = None, at = None, key = 0))]
    fn set_timer(&self, after: Option<u64>, at: Option<u64>, key: u64) -> PyResult<u64> {
        let platform = self.platform()?;
        let timer = match (after, at) {
            (Some(after), None) => platform.set_timer(Duration::from_nanos(after), key),
            (None, Some(at)) => platform.set_timer(Nanos(at), key),
            _ => return Err(PyValueError::new_err("give one of `after` and `at`, in nanoseconds")),
        };
        Ok(timer.number())
    }

    /// True when the timer was still set.
    fn cancel_timer(&self, timer: u64) -> PyResult<bool> {
        Ok(self.platform()?.cancel_timer(TimerId::of_number(timer)))
    }
}
