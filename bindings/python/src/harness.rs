//! A strategy without a platform, for tests of its author: `colo.testing`.

use std::time::Duration;

use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde_json::{Map, Value};
use strategy_sdk::testing::{Harness as Inner, Role};
use strategy_sdk::{InstrumentId, MarketData, OrderStatus, Price, Quantity, Quote, Reason, Request};
use wire::schema::Described;
use wire::{Aggressor, Level, Message, Nanos, NewOrder, TradePrint};

use crate::context::{Position, WorkingOrder, named, order};
use crate::messages::{decoded, message};
use crate::strategy::{Foreign, set_classes, tested};

/// A strategy in a session of its own, with a clock that stands still unless it is moved. What the strategy raises, the call raises
/// that it was made in; then it has ended.
#[pyclass(unsendable, subclass, module = "colo.testing")]
pub(crate) struct Harness {
    inner: Inner<Foreign>,
    has_raised: bool,
    sequence: u64,
}

fn price(text: &Bound<'_, PyAny>) -> PyResult<Option<Price>> {
    if text.is_none() {
        return Ok(None);
    }
    if let Ok(whole) = text.extract::<i64>() {
        return Ok(Some(Price(whole)));
    }
    let text: String = text.str()?.extract()?;
    text.parse().map(Some).map_err(|_| PyValueError::new_err(format!("`{text}` is no price")))
}

impl Harness {
    fn call<T>(&mut self, call: impl FnOnce(&mut Inner<Foreign>) -> T) -> PyResult<T> {
        if self.has_raised {
            return Err(PyRuntimeError::new_err("the strategy has ended: it has raised"));
        }
        let inner = &mut self.inner;
        let done = tested(|| call(inner));
        self.has_raised = done.is_err();
        done
    }

    fn levels(levels: Vec<(Bound<'_, PyAny>, i64)>) -> PyResult<[Level; 10]> {
        let mut all = [Level::EMPTY; 10];
        if levels.len() > all.len() {
            return Err(PyValueError::new_err(format!("{} levels: a quote has ten", levels.len())));
        }
        for (place, (at, quantity)) in all.iter_mut().zip(levels) {
            let Some(price) = price(&at)? else {
                return Err(PyValueError::new_err("a level needs a price"));
            };
            *place = Level { price, quantity: Quantity(quantity) };
        }
        Ok(all)
    }
}

#[pymethods]
impl Harness {
    #[new]
    #[pyo3(signature = (strategy, parameters = None, *, data = "depth", deterministic = false))]
    fn new(
        py: Python<'_>,
        strategy: Py<PyAny>,
        parameters: Option<&Bound<'_, PyDict>>,
        data: &str,
        deterministic: bool,
    ) -> PyResult<Harness> {
        let parameters: Map<String, Value> = match parameters {
            Some(given) => {
                let text: String = py.import("json")?.call_method1("dumps", (given,))?.extract()?;
                serde_json::from_str(&text).map_err(|error| PyValueError::new_err(error.to_string()))?
            }
            None => Map::new(),
        };
        let data = match data {
            "depth" => MarketData::Depth,
            "best" => MarketData::Best,
            "flow" => MarketData::Flow,
            other => return Err(PyValueError::new_err(format!("`{other}` is none of depth, best, flow"))),
        };
        set_classes(vec![strategy]);
        let setup = strategy_sdk::testing::Setup { data, deterministic, ..Inner::<Foreign>::setup() };
        let made = tested(|| Inner::<Foreign>::with(parameters, setup))?;
        let inner = match made {
            Ok(inner) => inner,
            // What its `__init__` raises is raised as it is.
            Err(error) => return Err(crate::strategy::take_raised(error)),
        };
        Ok(Harness { inner, has_raised: false, sequence: 0 })
    }

    /// Lists an instrument and returns its id; ids count from 1.
    #[pyo3(signature = (symbol, tick = "0.01", lot = 1))]
    fn list(&mut self, symbol: &str, tick: &str, lot: i64) -> PyResult<u32> {
        self.call(|inner| inner.list(symbol, tick, lot)).map(|id| id.0)
    }

    /// The list of instruments is whole: starts the strategy.
    fn start(&mut self) -> PyResult<()> {
        self.call(Inner::start)
    }

    /// A quote of one level a side, both of `quantity`; None: no such side.
    #[pyo3(signature = (instrument, bid, ask, quantity))]
    fn quote(
        &mut self,
        instrument: u32,
        bid: &Bound<'_, PyAny>,
        ask: &Bound<'_, PyAny>,
        quantity: i64,
    ) -> PyResult<()> {
        let side = |at: Option<Price>| match at {
            Some(price) => Level { price, quantity: Quantity(quantity) },
            None => Level::EMPTY,
        };
        let (mut bids, mut asks) = ([Level::EMPTY; 10], [Level::EMPTY; 10]);
        (bids[0], asks[0]) = (side(price(bid)?), side(price(ask)?));
        self.shown(instrument, bids, asks)
    }

    /// A quote with these levels, pairs of a price and a quantity, the best first; ten a side at most.
    fn book(
        &mut self,
        instrument: u32,
        bids: Vec<(Bound<'_, PyAny>, i64)>,
        asks: Vec<(Bound<'_, PyAny>, i64)>,
    ) -> PyResult<()> {
        let (bids, asks) = (Harness::levels(bids)?, Harness::levels(asks)?);
        self.shown(instrument, bids, asks)
    }

    /// A recorded quote: a `colo.Quote`, or its bytes. False where the strategy does not hear it.
    fn publish(&mut self, quote: &Bound<'_, PyAny>) -> PyResult<bool> {
        let quote = match quote.cast::<PyBytes>() {
            Ok(bytes) => {
                Quote::decode(bytes.as_bytes()).map_err(|error| PyValueError::new_err(error.to_string()))?
            }
            Err(_) => decoded::<Quote>(quote)?,
        };
        self.call(|inner| inner.publish(&quote))
    }

    /// The market traded.
    fn trade(&mut self, instrument: u32, at: &Bound<'_, PyAny>, quantity: i64) -> PyResult<()> {
        let Some(price) = price(at)? else { return Err(PyValueError::new_err("a trade needs a price")) };
        self.sequence += 1;
        let now = self.inner.now();
        let trade = TradePrint {
            instrument: InstrumentId(instrument),
            aggressor: Aggressor::None,
            reserved: [0; 3],
            due: Nanos::default(),
            event_time: now,
            sequence: self.sequence,
            price,
            quantity: Quantity(quantity),
            trade_id: self.sequence,
        };
        self.call(|inner| inner.send(Role::Quotes, instrument, &trade)).map(drop)
    }

    /// The market has accepted an order.
    fn accept(&mut self, order: &Bound<'_, PyAny>) -> PyResult<()> {
        let order = decoded::<NewOrder>(order)?;
        self.call(|inner| inner.accept(&order))
    }

    /// An update of an order, by an `OrderStatus` and a `Reason`.
    #[pyo3(signature = (order, status, reason = Reason::None as u8))]
    fn update(&mut self, order: &Bound<'_, PyAny>, status: u8, reason: u8) -> PyResult<()> {
        let order = decoded::<NewOrder>(order)?;
        let (status, reason) = (named::<OrderStatus>(status, "status")?, named::<Reason>(reason, "reason")?);
        self.call(|inner| inner.update(&order, status, reason))
    }

    /// Part of an order has traded, by default all of it at its price; the update that says where it stands follows.
    #[pyo3(signature = (order, price = None, quantity = None))]
    fn fill(
        &mut self,
        order: &Bound<'_, PyAny>,
        price: Option<&Bound<'_, PyAny>>,
        quantity: Option<i64>,
    ) -> PyResult<()> {
        let order = decoded::<NewOrder>(order)?;
        let at = price.map(self::price).transpose()?.flatten().unwrap_or(order.price);
        let known = self.inner.context().working_order(order.order_id).map(|known| known.remaining());
        let quantity = quantity.unwrap_or(known.unwrap_or(order.quantity).0);
        self.call(|inner| inner.fill(&order, at, quantity))
    }

    /// What was sent since the last call.
    fn sent(&mut self, py: Python<'_>) -> PyResult<Vec<Py<PyAny>>> {
        fn one<M: Message + Described>(py: Python<'_>, sent: &M) -> PyResult<Py<PyAny>> {
            message(py, sent)
        }
        let sent = self.inner.sent();
        sent.iter()
            .map(|request| match request {
                Request::New(order) => one(py, order),
                Request::Cancel(cancel) => one(py, cancel),
                Request::Replace(replace) => one(py, replace),
                Request::CancelAll(cancel) => one(py, cancel),
            })
            .collect()
    }

    /// From now on every request finds td behind, or not.
    fn set_full(&mut self, full: bool) {
        self.inner.set_full(full);
    }

    /// Moves the clock by so many nanoseconds, and gives timers their turn.
    fn advance(&mut self, nanoseconds: u64) -> PyResult<()> {
        self.call(|inner| inner.advance(Duration::from_nanos(nanoseconds)))
    }

    /// A round without messages: what was kept back for `on_quotes` is handed over.
    fn turn(&mut self) -> PyResult<()> {
        self.call(Inner::turn)
    }

    /// Stops the strategy.
    fn stop(&mut self) -> PyResult<()> {
        self.call(Inner::stop)
    }

    /// The clock, in nanoseconds.
    #[getter]
    fn now(&self) -> u64 {
        self.inner.now().0
    }

    /// The strategy itself.
    #[getter]
    fn strategy(&self, py: Python<'_>) -> Py<PyAny> {
        self.inner.strategy().instance(py)
    }

    /// The strategy's position in an instrument.
    fn position(&self, instrument: u32) -> Position {
        Position::of(self.inner.context().position(InstrumentId(instrument)))
    }

    /// The orders that have not ended, by ascending id.
    fn working_orders(&self, py: Python<'_>) -> PyResult<Vec<WorkingOrder>> {
        self.inner.context().working_orders().map(|found| order(py, found)).collect()
    }
}

impl Harness {
    fn shown(&mut self, instrument: u32, bids: [Level; 10], asks: [Level; 10]) -> PyResult<()> {
        self.sequence += 1;
        let mut quote = Quote::empty(InstrumentId(instrument));
        quote.event_time = self.inner.now();
        quote.sequence = self.sequence;
        (quote.bids, quote.asks) = (bids, asks);
        if self.call(|inner| inner.publish(&quote))? {
            return Ok(());
        }
        Err(PyTypeError::new_err("with data = \"flow\" it hears no quotes"))
    }
}
