//! A strategy whose methods are Python's.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};

use node::Exit;
use pyo3::exceptions::{PyRuntimeError, PySystemExit, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use serde_json::{Map, Value};
use strategy_sdk::testing::Harness;
use strategy_sdk::{
    Context, Gap, InstrumentId, Interest, Options, ParameterError, Rest, Strategy, Timer, run_resting,
};
use wire::schema::{Described, Record};
use wire::{
    Best, BookEvent, Cause, Fill, Indicative, Instrument, MarketPhase, Message, OrderUpdate, Quote,
    TradePrint,
};

use crate::arrays::Batch;
use crate::context::{self, Context as Seen};
use crate::messages::{blank, references, show};

thread_local! {
    /// The classes of this thread's strategies: the SDK makes them by type, and there is one type for all of Python's.
    static CLASSES: RefCell<Vec<Py<PyAny>>> = const { RefCell::new(Vec::new()) };
    /// True while a test drives a strategy: what it raises is raised there, and is not shown here.
    static IS_TESTED: Cell<bool> = const { Cell::new(false) };
    /// What a strategy has raised meanwhile.
    static RAISED: Cell<Option<PyErr>> = const { Cell::new(None) };
    /// What `sys.exit` said in a strategy.
    static LEAVES_WITH: Cell<Option<u8>> = const { Cell::new(None) };
}

/// The parameter by which a platform file tells the strategies of a program apart.
const CHOICE: &str = "strategy";

/// The class that the parameters ask for; with a single one they need not.
fn class_of<'py>(py: Python<'py>, table: &mut Map<String, Value>) -> PyResult<Bound<'py, PyAny>> {
    CLASSES.with_borrow(|classes| {
        if let [only] = &classes[..] {
            return Ok(only.bind(py).clone());
        }
        let names = classes
            .iter()
            .map(|class| class.bind(py).getattr("__name__")?.extract())
            .collect::<PyResult<Vec<String>>>()?;
        let chosen = table.remove(CHOICE);
        let chosen = chosen.as_ref().and_then(Value::as_str).unwrap_or_default();
        let found = names.iter().position(|name| name == chosen).and_then(|index| classes.get(index));
        found.map(|class| class.bind(py).clone()).ok_or_else(|| {
            let names = names.join(", ");
            PyValueError::new_err(format!("`{CHOICE}` must be one of {names}, and is `{chosen}`"))
        })
    })
}

/// Sets the classes that strategies are made of.
pub(crate) fn set_classes(classes: Vec<Py<PyAny>>) {
    CLASSES.replace(classes);
}

/// What a strategy's `__init__` has raised under a test, else what refused its parameters.
pub(crate) fn take_raised(error: ParameterError) -> PyErr {
    RAISED.take().unwrap_or_else(|| PyRuntimeError::new_err(error.to_string()))
}

/// Calls a strategy on behalf of a test; what it raises is the answer.
pub(crate) fn tested<T>(call: impl FnOnce() -> T) -> PyResult<T> {
    let outer = IS_TESTED.replace(true);
    let done = catch_unwind(AssertUnwindSafe(call));
    IS_TESTED.set(outer);
    done.map_err(|panic| {
        let raised = RAISED.take();
        raised.unwrap_or_else(|| {
            let text = panic.downcast_ref::<String>().cloned().unwrap_or_default();
            PyRuntimeError::new_err(format!("the strategy's session panicked: {text}"))
        })
    })
}

/// A method that the author has written, looked up once.
struct Method {
    name: &'static str,
    function: Py<PyAny>,
}

impl Method {
    /// `None` where the strategy leaves it as it is in `colo.Strategy`.
    fn of(
        instance: &Bound<'_, PyAny>,
        base: &Bound<'_, PyAny>,
        name: &'static str,
    ) -> PyResult<Option<Method>> {
        let class = instance.get_type();
        if class.getattr(name)?.is(&base.getattr(name)?) {
            return Ok(None);
        }
        Ok(Some(Method { name, function: instance.getattr(name)?.unbind() }))
    }

    /// Calls it. What it raises ends the strategy as a panic does, with the traceback in the log.
    #[inline]
    fn call(&self, py: Python<'_>, seen: &Py<Seen>, context: &mut Context, arguments: &Py<PyTuple>) {
        let place = seen.get();
        place.show(std::ptr::from_mut(context));
        // SAFETY: a callable, a tuple, no keywords; the interpreter's lock is held.
        let result =
            unsafe { ffi::PyObject_Call(self.function.as_ptr(), arguments.as_ptr(), std::ptr::null_mut()) };
        place.show(std::ptr::null_mut());
        if result.is_null() {
            give_up(py, self.name);
        }
        // SAFETY: ours, as the call gave it.
        unsafe { ffi::Py_DecRef(result) };
    }
}

#[cold]
fn give_up(py: Python<'_>, name: &str) -> ! {
    let error = PyErr::take(py).unwrap_or_else(|| PyRuntimeError::new_err("it says no reason"));
    let raised = describe(py, &error);
    if IS_TESTED.get() {
        RAISED.set(Some(error));
    } else {
        tell(py, error);
    }
    std::panic::resume_unwind(Box::new(format!(
        "its method `{name}` raised {raised}; the traceback is above"
    )))
}

/// Shows what a strategy has raised, with its place; what it left with is kept, for the end of the process.
fn tell(py: Python<'_>, error: PyErr) {
    if error.is_instance_of::<PySystemExit>(py) {
        LEAVES_WITH.set(Some(exit_code(py, &error)));
    }
    // `PyErr::display` would end the process in the middle of the call.
    let shown = py.import("traceback").and_then(|traceback| {
        let words = (error.get_type(py), error.value(py), error.traceback(py));
        traceback.call_method1("print_exception", words).map(drop)
    });
    // Nobody hears it any more.
    let _ = shown;
}

/// As the interpreter itself ends: nothing is 0, a number is itself, anything else is 1.
fn exit_code(py: Python<'_>, error: &PyErr) -> u8 {
    let Ok(code) = error.value(py).getattr("code") else { return 1 };
    if code.is_none() {
        return 0;
    }
    code.extract::<i64>().map_or(1, |code| (code & 0xff) as u8)
}

/// The function of the author's in which it was raised; `None` where it was raised by none, as for a parameter that `__init__` does not take.
fn raised_by(py: Python<'_>, error: &PyErr) -> Option<String> {
    let mut place = error.traceback(py).map(Bound::into_any);
    while let Some(at) = place {
        let frame = at.getattr("tb_frame").ok()?;
        let module = frame.getattr("f_globals").and_then(|globals| globals.get_item("__name__"));
        let module: String = module.and_then(|name| name.extract()).unwrap_or_default();
        if module != "colo" && !module.starts_with("colo.") {
            return frame.getattr("f_code").and_then(|code| code.getattr("co_name")?.extract()).ok();
        }
        place = at.getattr("tb_next").ok().filter(|next| !next.is_none());
    }
    None
}

/// `ValueError: text`.
fn describe(py: Python<'_>, error: &PyErr) -> String {
    let name = error.get_type(py).name().map_or_else(|_| "an exception".to_owned(), |name| name.to_string());
    format!("{name}: {}", error.value(py))
}

/// A method that hears a kind of message, with the one view that it is shown.
struct Hearing {
    method: Option<Method>,
    record: &'static Record,
    /// The view, and the tuple that holds it and the context.
    view: Py<PyAny>,
    arguments: Py<PyTuple>,
}

impl Hearing {
    fn of<M: Described>(py: Python<'_>, seen: &Py<Seen>, method: Option<Method>) -> PyResult<Hearing> {
        let (view, arguments) = Hearing::view(py, seen, M::RECORD)?;
        Ok(Hearing { method, record: M::RECORD, view, arguments })
    }

    fn view(py: Python<'_>, seen: &Py<Seen>, record: &'static Record) -> PyResult<(Py<PyAny>, Py<PyTuple>)> {
        let view = blank(py, record)?;
        let arguments = PyTuple::new(py, [seen.clone_ref(py).into_any(), view.clone_ref(py)])?.unbind();
        Ok((view, arguments))
    }

    /// Shows it a message for the length of a call.
    #[inline]
    fn hear<M: Message>(&mut self, py: Python<'_>, seen: &Py<Seen>, context: &mut Context, message: &M) {
        let Some(method) = &self.method else { return };
        show(&self.view, message.bytes().as_ptr());
        let ended = Ended(&self.view);
        method.call(py, seen, context, &self.arguments);
        drop(ended);
        // Somebody keeps the view: it must never show another message.
        if references(self.view.bind(py)) > 2
            && let Ok((view, arguments)) = Hearing::view(py, seen, self.record)
        {
            (self.view, self.arguments) = (view, arguments);
        }
    }
}

/// The call is over, also where it is left by a panic: the view shows nothing any more.
struct Ended<'a>(&'a Py<PyAny>);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        show(self.0, std::ptr::null());
    }
}

/// A strategy of Python's.
pub(crate) struct Foreign {
    instance: Py<PyAny>,
    seen: Py<Seen>,
    symbols: Option<Vec<String>>,
    quote: Hearing,
    best: Option<Method>,
    best_view: Hearing,
    /// By instrument: the context, its id, and the view.
    best_arguments: Vec<Option<Py<PyTuple>>>,
    quotes: Option<(Method, Batch)>,
    /// What the last quote that is kept back is: orders answer it.
    cause: Cause,
    book_event: Hearing,
    phase: Hearing,
    indicative: Hearing,
    trade: Hearing,
    order: Hearing,
    fill: Hearing,
    instrument: Hearing,
    start: Option<Method>,
    timer: Option<Method>,
    gap: Option<Method>,
    stop: Option<Method>,
    /// The context alone.
    alone: Py<PyTuple>,
}

impl Foreign {
    fn make(py: Python<'_>, mut table: Map<String, Value>) -> PyResult<Foreign> {
        let class = class_of(py, &mut table)?;
        let text = Value::Object(table).to_string();
        let parameters = py.import("json")?.call_method1("loads", (text,))?;
        let instance = class.call((), Some(parameters.cast::<PyDict>()?))?;
        let base = py.import("colo")?.getattr("Strategy")?;
        if !instance.is_instance(&base)? {
            return Err(PyRuntimeError::new_err("a strategy is a subclass of colo.Strategy"));
        }
        let symbols = instance.call_method0("instruments")?.extract::<Option<Vec<String>>>()?;
        let method = |name| Method::of(&instance, &base, name);
        let seen = Py::new(py, Seen::default())?;
        let quotes = match method("on_quotes")? {
            Some(method) => Some((method, Batch::new(py)?)),
            None => None,
        };
        Ok(Foreign {
            symbols,
            quotes,
            cause: Cause::NONE,
            quote: Hearing::of::<Quote>(py, &seen, method("on_quote")?)?,
            best: method("on_best")?,
            best_view: Hearing::of::<Best>(py, &seen, None)?,
            best_arguments: Vec::new(),
            book_event: Hearing::of::<BookEvent>(py, &seen, method("on_book_event")?)?,
            phase: Hearing::of::<MarketPhase>(py, &seen, method("on_phase")?)?,
            indicative: Hearing::of::<Indicative>(py, &seen, method("on_indicative")?)?,
            trade: Hearing::of::<TradePrint>(py, &seen, method("on_trade")?)?,
            order: Hearing::of::<OrderUpdate>(py, &seen, method("on_order")?)?,
            fill: Hearing::of::<Fill>(py, &seen, method("on_fill")?)?,
            instrument: Hearing::of::<Instrument>(py, &seen, method("on_instrument")?)?,
            start: method("on_start")?,
            timer: method("on_timer")?,
            gap: method("on_gap")?,
            stop: method("on_stop")?,
            alone: PyTuple::new(py, [seen.clone_ref(py)])?.unbind(),
            seen,
            instance: instance.unbind(),
        })
    }

    /// The strategy as its author knows it.
    pub(crate) fn instance(&self, py: Python<'_>) -> Py<PyAny> {
        self.instance.clone_ref(py)
    }

    /// Hands over the quotes that were kept back, in one call.
    fn hand_over(&mut self, py: Python<'_>, context: &mut Context) {
        let Some((method, batch)) = &mut self.quotes else { return };
        match batch.len() {
            0 => return,
            1 if self.quote.method.is_some() => {
                if let Some(quote) = batch.first() {
                    self.quote.hear(py, &self.seen, context, &quote);
                }
            }
            _ => match batch.arguments(py, &self.seen) {
                Ok(arguments) => method.call(py, &self.seen, context, &arguments),
                Err(error) => {
                    error.restore(py);
                    give_up(py, method.name);
                }
            },
        }
        if let Err(error) = batch.reuse(py) {
            error.restore(py);
            give_up(py, "on_quotes");
        }
    }

    /// Before anything else is heard, what came before it is.
    #[inline]
    fn settle(&mut self, py: Python<'_>, context: &mut Context) {
        if self.holds_back() {
            let now = context.cause();
            context.answers(self.cause);
            self.hand_over(py, context);
            context.answers(now);
        }
    }
}

/// The interpreter, whose lock this thread holds whenever the SDK calls a strategy.
#[inline]
fn attached<'a>() -> Python<'a> {
    // SAFETY: `run` and `drive` are called with the lock, and `BEFORE` gives it up only around sleeps, in which no strategy is called.
    unsafe { Python::assume_attached() }
}

macro_rules! hear {
    ($self:ident, $context:ident, $field:ident, $message:ident) => {{
        let py = attached();
        $self.settle(py, $context);
        $self.$field.hear(py, &$self.seen, $context, $message);
    }};
}

macro_rules! call {
    ($self:ident, $context:ident, $field:ident $(, $argument:expr)*) => {{
        let py = attached();
        $self.settle(py, $context);
        if let Some(method) = &$self.$field {
            let arguments = PyTuple::new(py, [$self.seen.clone_ref(py).into_any() $(, $argument(py))*]);
            match arguments {
                Ok(arguments) => method.call(py, &$self.seen, $context, &arguments.unbind()),
                Err(error) => {
                    error.restore(py);
                    give_up(py, method.name);
                }
            }
        }
    }};
}

fn number(py: Python<'_>, number: u64) -> Py<PyAny> {
    let Ok(number) = number.into_pyobject(py);
    number.into_any().unbind()
}

impl Strategy for Foreign {
    type Parameters = Map<String, Value>;

    fn create(table: Map<String, Value>) -> Result<Foreign, ParameterError> {
        let py = attached();
        Foreign::make(py, table).map_err(|error| {
            let raised = describe(py, &error);
            let refused = match raised_by(py, &error) {
                Some(function) => ParameterError::new(function, format!("raised {raised}")),
                None => ParameterError::new("params", format!("are not what the strategy takes: {raised}")),
            };
            if IS_TESTED.get() {
                RAISED.set(Some(error));
            } else {
                // What is wrong with the program itself needs its place.
                tell(py, error);
            }
            refused
        })
    }

    fn interest(&self) -> Option<Interest> {
        self.symbols.clone().map(Interest::Symbols)
    }

    fn start(&mut self, context: &mut Context) {
        if let Some(method) = &self.start {
            method.call(attached(), &self.seen, context, &self.alone);
        }
    }

    fn instrument(&mut self, context: &mut Context, instrument: &Instrument) {
        hear!(self, context, instrument, instrument);
    }

    #[inline]
    fn quote(&mut self, context: &mut Context, quote: &Quote) {
        let py = attached();
        let Some((_, batch)) = &mut self.quotes else {
            return self.quote.hear(py, &self.seen, context, quote);
        };
        self.cause = context.cause();
        if batch.push(quote) || !context.may_hold_back() {
            self.hand_over(py, context);
        }
    }

    fn best(&mut self, context: &mut Context, instrument: InstrumentId, best: &Best) {
        let Some(method) = &self.best else { return };
        let py = attached();
        let index = instrument.0 as usize;
        if self.best_arguments.len() <= index {
            self.best_arguments.resize_with(index + 1, || None);
        }
        let place = &mut self.best_arguments[index];
        let arguments = match place {
            Some(known) => known,
            None => {
                let words = [
                    self.seen.clone_ref(py).into_any(),
                    number(py, instrument.0.into()),
                    self.best_view.view.clone_ref(py),
                ];
                match PyTuple::new(py, words) {
                    Ok(made) => place.insert(made.unbind()),
                    Err(error) => {
                        error.restore(py);
                        give_up(py, method.name)
                    }
                }
            }
        };
        show(&self.best_view.view, best.bytes().as_ptr());
        let ended = Ended(&self.best_view.view);
        method.call(py, &self.seen, context, arguments);
        drop(ended);
        // Ours, that of the pair of context and view, and one for each instrument.
        let known = 2 + self.best_arguments.iter().flatten().count();
        if references(self.best_view.view.bind(py)) > known as isize
            && let Ok((view, arguments)) = Hearing::view(py, &self.seen, self.best_view.record)
        {
            (self.best_view.view, self.best_view.arguments) = (view, arguments);
            self.best_arguments.clear();
        }
    }

    fn book_event(&mut self, context: &mut Context, event: &BookEvent) {
        hear!(self, context, book_event, event);
    }

    fn phase(&mut self, context: &mut Context, phase: &MarketPhase) {
        hear!(self, context, phase, phase);
    }

    fn indicative(&mut self, context: &mut Context, indicative: &Indicative) {
        hear!(self, context, indicative, indicative);
    }

    fn trade(&mut self, context: &mut Context, trade: &TradePrint) {
        hear!(self, context, trade, trade);
    }

    fn order(&mut self, context: &mut Context, update: &OrderUpdate) {
        hear!(self, context, order, update);
    }

    fn fill(&mut self, context: &mut Context, fill: &Fill) {
        hear!(self, context, fill, fill);
    }

    fn timer(&mut self, context: &mut Context, timer: Timer) {
        let object = |py| {
            let made = Py::new(py, context::Timer::of(timer));
            made.map_or_else(|_| py.None(), Py::into_any)
        };
        call!(self, context, timer, object);
    }

    fn gap(&mut self, context: &mut Context, gap: Gap) {
        call!(self, context, gap, |py| number(py, gap.bytes()));
    }

    fn holds_back(&self) -> bool {
        self.quotes.as_ref().is_some_and(|(_, batch)| batch.len() > 0)
    }

    fn flush(&mut self, context: &mut Context) {
        self.settle(attached(), context);
    }

    fn stop(&mut self, context: &mut Context) {
        if let Some(method) = &self.stop {
            method.call(attached(), &self.seen, context, &self.alone);
        }
    }
}

thread_local! {
    /// This thread's state in the interpreter, while it sleeps.
    static GIVEN_UP: Cell<*mut ffi::PyThreadState> = const { Cell::new(std::ptr::null_mut()) };
}

/// Other threads of the program run while the node sleeps, and at no other time.
const REST: Rest = Rest {
    before: || {
        // SAFETY: the lock is held: the node calls this between two calls of strategies.
        GIVEN_UP.set(unsafe { ffi::PyEval_SaveThread() });
    },
    after: || {
        let state = GIVEN_UP.replace(std::ptr::null_mut());
        // SAFETY: what `before` was given, once; no other code of this thread has run in the interpreter since.
        unsafe { ffi::PyEval_RestoreThread(state) };
    },
};

/// Joins the platform as the node that the command line or the environment names, and runs to the end; the process's exit code.
#[pyfunction]
pub(crate) fn run(py: Python<'_>, classes: Vec<Py<PyAny>>, words: Vec<String>) -> PyResult<u8> {
    set_classes(classes);
    // Asked to stop, the node ends in good order: an exception in the middle of a call would be another end.
    let signal = py.import("signal")?;
    let main = py.import("threading")?.call_method0("main_thread")?;
    if py.import("threading")?.call_method0("current_thread")?.is(&main) {
        signal.call_method1("signal", (signal.getattr("SIGINT")?, signal.getattr("SIG_DFL")?))?;
    }
    node::start_log();
    Ok(match Options::from_words(words) {
        Ok(options) => {
            let exit = run_resting::<Foreign>(&options, REST);
            // In a host the others have gone on, and the process ends as they do.
            LEAVES_WITH.take().filter(|_| exit != Exit::Done).unwrap_or(exit.code())
        }
        Err(error) => {
            // A closed terminal is no reason to fail.
            let _ = error.print();
            u8::try_from(error.exit_code()).unwrap_or(Exit::Usage.code())
        }
    })
}

/// Feeds a strategy `count` quotes without a platform, `together` at a time; nanoseconds a quote, the SDK's share included.
#[pyfunction]
pub(crate) fn drive(class: Py<PyAny>, count: u64, together: u64) -> PyResult<f64> {
    set_classes(vec![class]);
    let refused = |error: ParameterError| PyRuntimeError::new_err(error.to_string());
    let mut harness = Harness::<Foreign>::new(Map::new()).map_err(refused)?;
    let instrument = harness.list("SIM001", "0.01", 1);
    harness.start();
    harness.quote(instrument, "10.00", "10.01", 100);
    let Some(mut quote) = harness.context().last_quote(instrument).copied() else {
        return Err(PyRuntimeError::new_err("the harness shows no quote"));
    };
    let began = std::time::Instant::now();
    for sequence in 0..count {
        quote.sequence = sequence;
        harness.publish(&quote);
        if sequence % together.max(1) == together.max(1) - 1 {
            harness.turn();
        }
    }
    harness.turn();
    Ok(began.elapsed().as_nanos() as f64 / count.max(1) as f64)
}
