//! A strategy whose functions are C's.

use std::ffi::{CStr, c_char, c_void};
use std::sync::OnceLock;

use node::Exit;
use serde_json::{Map, Value};
use strategy_sdk::{Context, Gap, InstrumentId, Options, ParameterError, Strategy, Timer};
use wire::{Best, BookEvent, Fill, Indicative, Instrument, MarketPhase, OrderUpdate, Quote, TradePrint};

use crate::context::{colo_context, given};
use crate::fault::{guarded, sized};
use crate::parameters::colo_parameters;

/// A strategy: clear it, set `struct_size`, then the functions that it has. Those that are null are not called. All of one process are
/// called on one thread, one after the other.
///
/// `create` returns the strategy's own state, which the others get; in a host it is called for each strategy. Each other function returns
/// 0, or anything else to give up: then the strategy ends as failed, td cancels its orders, and in a host the others go on. No exception
/// and no longjmp may leave a function.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct colo_strategy {
    /// Size of this structure: set it first.
    pub struct_size: u32,
    /// Zero.
    pub reserved: u32,
    /// Passed to `create`.
    pub program: *mut c_void,
    /// Creates the state; the platform is not known yet. A parameter that it does not ask for and that is given is an error. To refuse
    /// it returns null and sets `problem` to a text that stays; null without one is a state like any other.
    pub create: Option<
        unsafe extern "C" fn(
            program: *mut c_void,
            parameters: *mut colo_parameters,
            problem: *mut *const c_char,
        ) -> *mut c_void,
    >,
    /// Frees the state.
    pub destroy: Option<unsafe extern "C" fn(state: *mut c_void)>,
    /// Once, first: positions and working orders are those of the ledger. Orders may be sent from here on.
    pub start: Option<unsafe extern "C" fn(state: *mut c_void, context: *mut colo_context) -> i32>,
    /// An instrument that it reads is listed.
    pub instrument: Option<
        unsafe extern "C" fn(
            state: *mut c_void,
            context: *mut colo_context,
            instrument: *const Instrument,
        ) -> i32,
    >,
    /// The book of an instrument changed, with `data = "depth"`.
    pub quote: Option<
        unsafe extern "C" fn(state: *mut c_void, context: *mut colo_context, quote: *const Quote) -> i32,
    >,
    /// The best bid or ask changed, with `data = "best"`.
    pub best: Option<
        unsafe extern "C" fn(
            state: *mut c_void,
            context: *mut colo_context,
            instrument: u32,
            best: *const Best,
        ) -> i32,
    >,
    /// An event of the order flow, with `data = "flow"`.
    pub book_event: Option<
        unsafe extern "C" fn(state: *mut c_void, context: *mut colo_context, event: *const BookEvent) -> i32,
    >,
    /// An instrument's phase changed, with `data = "flow"` on an exchange.
    pub phase: Option<
        unsafe extern "C" fn(
            state: *mut c_void,
            context: *mut colo_context,
            phase: *const MarketPhase,
        ) -> i32,
    >,
    /// What an auction would trade if it ended now.
    pub indicative: Option<
        unsafe extern "C" fn(
            state: *mut c_void,
            context: *mut colo_context,
            indicative: *const Indicative,
        ) -> i32,
    >,
    /// The market traded.
    pub trade: Option<
        unsafe extern "C" fn(state: *mut c_void, context: *mut colo_context, trade: *const TradePrint) -> i32,
    >,
    /// One of its orders changed state, or a request about one was refused.
    pub order: Option<
        unsafe extern "C" fn(
            state: *mut c_void,
            context: *mut colo_context,
            update: *const OrderUpdate,
        ) -> i32,
    >,
    /// Part of one of its orders traded.
    pub fill: Option<
        unsafe extern "C" fn(state: *mut c_void, context: *mut colo_context, fill: *const Fill) -> i32,
    >,
    /// A timer is due.
    pub timer: Option<
        unsafe extern "C" fn(
            state: *mut c_void,
            context: *mut colo_context,
            timer: u64,
            key: u64,
            due_ns: u64,
        ) -> i32,
    >,
    /// It was too slow for the market data and lost this many bytes of it.
    pub gap: Option<unsafe extern "C" fn(state: *mut c_void, context: *mut colo_context, bytes: u64) -> i32>,
    /// Once, at the end.
    pub stop: Option<unsafe extern "C" fn(state: *mut c_void, context: *mut colo_context) -> i32>,
}

// SAFETY: the functions are called on the one thread of the node; `program` is the caller's, and only passed on.
unsafe impl Send for colo_strategy {}
// SAFETY: as above; the table is never changed.
unsafe impl Sync for colo_strategy {}

/// The functions of this process's strategies: the SDK makes them by type, and there is one.
static TABLE: OnceLock<colo_strategy> = OnceLock::new();

/// One strategy of C's.
struct Foreign {
    table: colo_strategy,
    state: *mut c_void,
}

impl Drop for Foreign {
    fn drop(&mut self) {
        if let Some(destroy) = self.table.destroy {
            // SAFETY: its own state, given up here.
            unsafe { destroy(self.state) };
        }
    }
}

/// Calls one of the functions, if it is there. What it gives up with ends the strategy as a panic does, without a panic's message.
macro_rules! call {
    ($self:ident, $context:ident, $function:ident $(, $argument:expr)*) => {
        if let Some(function) = $self.table.$function {
            // SAFETY: what the header asks of strategies: the function takes these, and does not keep the pointers.
            let code = unsafe { function($self.state, given($context) $(, $argument)*) };
            if code != 0 {
                give_up(stringify!($function), code);
            }
        }
    };
}

#[cold]
fn give_up(function: &str, code: i32) -> ! {
    std::panic::resume_unwind(Box::new(format!("its function `{function}` returned {code}")))
}

impl Strategy for Foreign {
    type Parameters = Map<String, Value>;

    fn create(table: Map<String, Value>) -> Result<Foreign, ParameterError> {
        let Some(functions) = TABLE.get().copied() else {
            return Err(ParameterError::new("program", "has no strategy: call colo_run"));
        };
        let mut parameters = colo_parameters { table, known: Vec::new() };
        let mut problem: *const c_char = std::ptr::null();
        let mut state = std::ptr::null_mut();
        if let Some(create) = functions.create {
            // SAFETY: what the header asks of strategies; all pointers are good for the call.
            state = unsafe { create(functions.program, &raw mut parameters, &raw mut problem) };
        }
        if !problem.is_null() {
            // SAFETY: what the header asks of strategies: a text that stays.
            let text = unsafe { CStr::from_ptr(problem) }.to_string_lossy().into_owned();
            return Err(ParameterError::new("params", text));
        }
        let made = Foreign { table: functions, state };
        match parameters.unknown() {
            Some(name) => Err(ParameterError::new(name, "is no parameter of this strategy")),
            None => Ok(made),
        }
    }

    fn start(&mut self, context: &mut Context) {
        call!(self, context, start);
    }

    fn instrument(&mut self, context: &mut Context, instrument: &Instrument) {
        call!(self, context, instrument, instrument);
    }

    fn quote(&mut self, context: &mut Context, quote: &Quote) {
        call!(self, context, quote, quote);
    }

    fn best(&mut self, context: &mut Context, instrument: InstrumentId, best: &Best) {
        call!(self, context, best, instrument.0, best);
    }

    fn book_event(&mut self, context: &mut Context, event: &BookEvent) {
        call!(self, context, book_event, event);
    }

    fn phase(&mut self, context: &mut Context, phase: &MarketPhase) {
        call!(self, context, phase, phase);
    }

    fn indicative(&mut self, context: &mut Context, indicative: &Indicative) {
        call!(self, context, indicative, indicative);
    }

    fn trade(&mut self, context: &mut Context, trade: &TradePrint) {
        call!(self, context, trade, trade);
    }

    fn order(&mut self, context: &mut Context, update: &OrderUpdate) {
        call!(self, context, order, update);
    }

    fn fill(&mut self, context: &mut Context, fill: &Fill) {
        call!(self, context, fill, fill);
    }

    fn timer(&mut self, context: &mut Context, timer: Timer) {
        call!(self, context, timer, timer.id.number(), timer.key, timer.due.0);
    }

    fn gap(&mut self, context: &mut Context, gap: Gap) {
        call!(self, context, gap, gap.bytes());
    }

    fn stop(&mut self, context: &mut Context) {
        call!(self, context, stop);
    }
}

/// The rest of a strategy's `main`: reads the command line, joins the platform as the node that it or the environment names, and runs to
/// the end. Returns the exit code of the process: 0 done, 1 failed, 2 usage, 69 no master, 77 not permitted; or a negative code of this
/// library. Once a process.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_run(strategy: *const colo_strategy) -> i32 {
    guarded(|| {
        let table = *sized!(strategy);
        TABLE
            .set(table)
            .map_err(|_| crate::fault::Fault::argument("colo_run was called before in this process"))?;
        node::start_log();
        let exit = match Options::from_arguments() {
            Ok(options) => strategy_sdk::run::<Foreign>(&options).code().into(),
            Err(error) => {
                // A closed terminal is no reason to fail.
                let _ = error.print();
                u8::try_from(error.exit_code()).unwrap_or(Exit::Usage.code()).into()
            }
        };
        Ok(exit)
    })
}
