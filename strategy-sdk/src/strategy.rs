//! The trait that an author implements.

use node::Gap;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use wire::{
    Best, BookAction, BookEvent, Fill, Indicative, Instrument, InstrumentId, MarketPhase, OrderUpdate, Quote,
    TradePrint,
};

use crate::bars::Bar;
use crate::context::Context;
use crate::instruments::Interest;
use crate::timers::Timer;

/// A strategy. All its methods run on one thread: that of a process of its own, or of a host that it shares with others.
/// The strategy behaves the same in both.
///
/// ```text
/// create ─► (instruments and, from the ledger, positions and working orders arrive) ─► start ─► instrument*
///        ─► { quote | best | book_event | trade | order | fill | bar | timer | gap | instrument | parameters }* ─► stop
///
/// with `warm_up` in the platform file, after the first arrow:
///        ─► instrument* ─► { quote | best | book_event | trade | bar | timer | gap | instrument }* ─► start ─► … as above
/// ```
///
/// Only [`Strategy::create`] is required. A method that takes long delays the next event: no two run at the same time.
///
/// ```
/// use strategy_sdk::{Context, NoParameters, ParameterError, Quote, Side, Strategy};
///
/// /// Buys one lot at the first ask it sees.
/// struct BuyOnce {
///     done: bool,
/// }
///
/// impl Strategy for BuyOnce {
///     type Parameters = NoParameters;
///
///     fn create(_parameters: NoParameters) -> Result<BuyOnce, ParameterError> {
///         Ok(BuyOnce { done: false })
///     }
///
///     fn quote(&mut self, context: &mut Context, quote: &Quote) {
///         let (Some(ask), false) = (quote.best_ask(), self.done) else { return };
///         let Some(instrument) = context.instrument(quote.instrument) else { return };
///         match context.buy(instrument.id, ask.price, instrument.lot) {
///             Ok(_) => self.done = true,
///             Err(error) => context.log(error), // tried again at the next quote
///         }
///     }
/// }
/// ```
///
/// A binary of its own is one line more: `fn main() -> ExitCode { strategy_sdk::main::<BuyOnce>() }`.
pub trait Strategy: Sized + 'static {
    /// What `params` in the platform file and `--param` on the command line are read into. With
    /// `#[serde(default, deny_unknown_fields)]` every parameter has a default, and a misspelt one is an error.
    /// [`NoParameters`] for none.
    type Parameters: DeserializeOwned;

    /// Creates the strategy. The platform is not known yet.
    ///
    /// # Errors
    /// [`ParameterError`]: a parameter has an invalid value; the process ends with exit code 2.
    fn create(parameters: Self::Parameters) -> Result<Self, ParameterError>;

    /// The instruments that the strategy reads, if it overrides the platform file. `-n` on the command line overrides
    /// both. Asked once, after [`Strategy::create`].
    fn interest(&self) -> Option<Interest> {
        None
    }

    /// Called once, before any other but those of a warm-up: positions and working orders are those of the ledger, quotes the latest so far. Orders may be sent from here on.
    fn start(&mut self, _context: &mut Context) {}

    /// An instrument that it reads is listed. Called once for each: right after [`Strategy::start`] for those that
    /// are listed already, in the order of their ids, else when md lists it; always before its first quote.
    fn instrument(&mut self, _context: &mut Context, _instrument: &Instrument) {}

    /// The book of an instrument changed, in a group with `data = "depth"` (as it is if the platform file does not say
    /// otherwise). [`Context::last_quote`] is this one already.
    fn quote(&mut self, _context: &mut Context, _quote: &Quote) {}

    /// The best bid or ask of an instrument changed: what a strategy of a group with `data = "best"` hears instead of
    /// [`Strategy::quote`]. [`Context::last_best`] is this one already, [`Context::depth`] has the levels behind it.
    fn best(&mut self, _context: &mut Context, _instrument: InstrumentId, _best: &Best) {}

    /// An event of the order flow, in a group with `data = "flow"`: of a recorded day, or of an exchange of strategies.
    /// On a recorded day trades are among these events; an exchange tells them by [`Strategy::trade`] as well.
    ///
    /// As it is, it calls one of the five that follow, by what the event does; a strategy has either this one or those.
    fn book_event(&mut self, context: &mut Context, event: &BookEvent) {
        match event.action {
            BookAction::Add => self.flow_added(context, event),
            BookAction::Modify => self.flow_changed(context, event),
            BookAction::Reduce | BookAction::Delete => self.flow_cancelled(context, event),
            BookAction::Execute | BookAction::Trade => self.flow_traded(context, event),
            BookAction::Clear => self.flow_cleared(context, event),
        }
    }

    /// An order came into the book, behind all others at its price.
    fn flow_added(&mut self, _context: &mut Context, _event: &BookEvent) {}

    /// An order has another price or total quantity, and with [`BookEvent::LOSES_PRIORITY`] another place.
    fn flow_changed(&mut self, _context: &mut Context, _event: &BookEvent) {}

    /// Its owner took an order away ([`BookAction::Delete`]), or `quantity` of it ([`BookAction::Reduce`]).
    fn flow_cancelled(&mut self, _context: &mut Context, _event: &BookEvent) {}

    /// A trade of `quantity` at `price`: of a resting order, on whose `side` it was ([`BookAction::Execute`]), or of none that the book
    /// shows ([`BookAction::Trade`]). In a call auction ([`BookEvent::CALL_AUCTION`]) both orders of a trade rest, and each has its event.
    /// With [`BookEvent::NO_SIDE`] no side came in, as in a cross, and `side` means nothing. With [`BookEvent::UNPRINTED`] another event
    /// has the quantity: who adds up volume leaves it out.
    fn flow_traded(&mut self, _context: &mut Context, _event: &BookEvent) {}

    /// The book of the instrument is empty from here on. With [`BookEvent::SNAPSHOT`] the whole of it follows, order by order, for those
    /// that do not have it.
    fn flow_cleared(&mut self, _context: &mut Context, _event: &BookEvent) {}

    /// An instrument's phase changed: a halt, an auction, the end of its session. In every group beside a recorded day whose source has
    /// phases; on an exchange of strategies in a group with `data = "flow"`.
    fn phase(&mut self, _context: &mut Context, _phase: &MarketPhase) {}

    /// What an auction would trade if it ended now, in a group with `data = "flow"` on an exchange of strategies.
    fn indicative(&mut self, _context: &mut Context, _indicative: &Indicative) {}

    /// The market traded.
    fn trade(&mut self, _context: &mut Context, _trade: &TradePrint) {}

    /// One of its orders changed state, or a request about one was refused. [`Context::working_orders`] has it
    /// already: an order that has ended is no longer among them.
    fn order(&mut self, _context: &mut Context, _update: &OrderUpdate) {}

    /// Part of one of its orders traded. [`Context::position`] has it already. An [`Strategy::order`] about where
    /// the order stands follows.
    fn fill(&mut self, _context: &mut Context, _fill: &Fill) {}

    /// A person wants other parameters while the strategy runs (`colo strategy set`): all of them, the changed and the others.
    /// What is taken holds for later starts in this instance too.
    ///
    /// # Errors
    /// [`ParameterError`]: it does not take them, and goes on as before. A strategy that does not implement this takes none.
    fn parameters(
        &mut self,
        _context: &mut Context,
        _parameters: Self::Parameters,
    ) -> Result<(), ParameterError> {
        Err(ParameterError::fixed())
    }

    /// A bar that it asked for is full: [`Context::bars`] says when. Trades of before it are in it, also those of the warm-up.
    fn bar(&mut self, _context: &mut Context, _bar: &Bar) {}

    /// A timer that it set is due.
    fn timer(&mut self, _context: &mut Context, _timer: Timer) {}

    /// It was too slow for the market data and lost exactly [`Gap::bytes`] bytes of it. What it derived from earlier quotes
    /// may be out of date. Orders and fills are never lost.
    fn gap(&mut self, _context: &mut Context, _gap: Gap) {}

    /// True while it keeps events back to answer several at once: then [`Strategy::flush`] follows before the node sleeps, at
    /// the latest behind a round of frames. Only where [`Context::may_hold_back`].
    fn holds_back(&self) -> bool {
        false
    }

    /// Answers what it has kept back. Called only while [`Strategy::holds_back`].
    fn flush(&mut self, _context: &mut Context) {}

    /// Once, at the end: of the platform, or at [`Context::request_stop`]. Orders may still be sent; whatever works
    /// afterwards is cancelled.
    fn stop(&mut self, _context: &mut Context) {}
}

/// For a strategy without parameters: any that is given is an error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoParameters {}

/// A parameter has an invalid value.
///
/// ```
/// use strategy_sdk::ParameterError;
///
/// let error = ParameterError::new("quantity", "must be at least 1");
/// assert_eq!(error.to_string(), "`quantity` must be at least 1");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{problem}", if name.is_empty() { String::new() } else { format!("`{name}` ") })]
pub struct ParameterError {
    name: String,
    problem: String,
}

impl ParameterError {
    /// `name` is the parameter, `problem` what it must be, as in "must be at least 1".
    pub fn new(name: impl Into<String>, problem: impl Into<String>) -> ParameterError {
        ParameterError { name: name.into(), problem: problem.into() }
    }

    /// None of them can change.
    fn fixed() -> ParameterError {
        ParameterError::new("", "it does not take new parameters while it runs: use `colo strategy reload`")
    }
}
