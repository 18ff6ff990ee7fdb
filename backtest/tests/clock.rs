//! In lock-step the market's time is a strategy's clock: it never lags behind what the strategy is called with.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod scripted;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::time::Duration;

use serde::Deserialize;
use strategy_sdk::{
    Bar, BarRequest, Best, BookEvent, Context, Fill, Instrument, InstrumentId, MarketData, MarketPhase,
    Nanos, OrderRequest, OrderUpdate, ParameterError, Quantity, Quote, Side, Strategy, Timer, TradePrint,
};

const SECOND: u64 = 1_000_000_000;

thread_local! {
    /// The callbacks of this thread's strategy: name, clock, and the time of what it was called with.
    static CALLS: RefCell<Vec<(&'static str, Nanos, Nanos)>> = const { RefCell::new(Vec::new()) };
}

#[derive(Debug, Deserialize)]
struct Parameters {}

struct Clocked {
    has_begun: bool,
}

impl Clocked {
    fn called(&mut self, name: &'static str, context: &mut Context, time: Nanos) {
        CALLS.with_borrow_mut(|calls| calls.push((name, context.now(), time)));
    }

    /// With the first message of the market it rests a buyer, and asks for what is refused.
    fn begin(&mut self, context: &mut Context) {
        if !std::mem::replace(&mut self.has_begun, true) {
            let limit = |price: &str| {
                OrderRequest::limit(Side::Buy, InstrumentId(1), price.parse().unwrap(), Quantity(50))
            };
            context.order(limit("99.95")).unwrap();
            context.order(limit("99.90").post_only()).unwrap();
            context.every(Duration::from_secs(7), 7);
        }
    }
}

impl Strategy for Clocked {
    type Parameters = Parameters;

    fn create(_parameters: Parameters) -> Result<Clocked, ParameterError> {
        Ok(Clocked { has_begun: false })
    }

    fn instrument(&mut self, context: &mut Context, instrument: &Instrument) {
        let by_time = BarRequest::time(instrument.id, Duration::from_secs(9)).with_flat();
        let has_mids = context.data() != MarketData::Flow;
        context.bars(if has_mids { by_time.of_mids() } else { by_time }).unwrap();
        context.bars(BarRequest::count(instrument.id, 1)).unwrap();
    }

    fn quote(&mut self, context: &mut Context, quote: &Quote) {
        self.called("quote", context, quote.event_time);
        self.begin(context);
    }

    fn best(&mut self, context: &mut Context, instrument: InstrumentId, _best: &Best) {
        let depth = context.depth(instrument).unwrap();
        self.called("best", context, depth.event_time);
        self.begin(context);
    }

    fn book_event(&mut self, context: &mut Context, event: &BookEvent) {
        self.called("event", context, event.event_time);
        self.begin(context);
    }

    fn trade(&mut self, context: &mut Context, trade: &TradePrint) {
        self.called("trade", context, trade.event_time);
    }

    fn phase(&mut self, context: &mut Context, phase: &MarketPhase) {
        self.called("phase", context, phase.event_time);
    }

    fn bar(&mut self, context: &mut Context, bar: &Bar) {
        self.called("bar", context, bar.end);
    }

    fn timer(&mut self, context: &mut Context, timer: Timer) {
        self.called(if timer.key == 1 { "timer of the fill" } else { "timer" }, context, timer.due);
    }

    fn order(&mut self, context: &mut Context, update: &OrderUpdate) {
        self.called("order", context, update.event_time);
    }

    fn fill(&mut self, context: &mut Context, fill: &Fill) {
        self.called("fill", context, fill.event_time);
        // From here it is due as long after the fill as the clock says.
        context.set_timer(Duration::from_secs(1), 1);
    }
}

/// The buyer at 99.95 trades with the execution at 99.90; a quote of it follows. The rows before it are behind the best.
const ROWS: &str = "\
34200.000000000,1,1,140,999000,1
34200.000000000,1,2,500,1001000,-1
34201.000000000,1,3,300,998000,1
34260.000000000,1,7,100,998000,1
34300.000000000,4,1,50,999000,1
34320.000000000,1,8,100,998000,1
34330.000000000,1,9,100,998000,1
34340.000000000,7,0,0,-1,-1
34350.000000000,7,0,0,1,-1
34360.000000000,5,0,20,1000000,1
34400.000000000,1,10,100,998000,1
";

/// What a strategy is called with. `delay`: of reports, in seconds.
fn calls(data: &str, fill: &str, delay: u64) -> Vec<(&'static str, Nanos, Nanos)> {
    let latency = if delay == 0 { String::new() } else { format!("report_latency = \"{delay}s\"\n") };
    let sections = format!(
        "[matching]\nfill = \"{fill}\"\n{latency}[[strategies.group]]\nname = \"clocked\"\nprogram = \"clocked.so\"\ncount = 1\n\
         data = \"{data}\"\nparams = {{}}\n"
    );
    CALLS.take();
    let more = "prior = \"none\"\nsymbols = [\"XYZ\"]";
    scripted::run_strategy::<Clocked>("lobster", more, &[("message.csv", ROWS)], &sections);
    CALLS.take()
}

#[test]
fn the_clock_is_the_time_of_what_a_strategy_is_called_with() {
    let mut seen = BTreeSet::new();
    for (fill, data) in
        [("book", "flow"), ("book", "depth"), ("book", "best"), ("quotes", "depth"), ("quotes", "best")]
    {
        // With the second delay a report comes at the time of a row, with the third after it.
        for delay in [0, 20, 25] {
            let calls = calls(data, fill, delay);
            let fills = calls.iter().filter(|(name, ..)| *name == "fill").count();
            assert_eq!(fills, 1, "{fill}, {data}, {delay}: {calls:?}");
            let mut last = Nanos(0);
            for (name, now, time) in calls {
                let case = format!("{name} of {time:?} at {now:?}: {fill}, {data}, {delay}");
                assert!(now >= last, "{case}");
                last = now;
                match name {
                    "fill" | "order" => assert_eq!(now.0, time.0 + delay * SECOND, "{case}"),
                    _ => assert_eq!(now, time, "{case}"),
                }
                seen.insert(name);
            }
        }
    }
    let all =
        ["bar", "best", "event", "fill", "order", "phase", "quote", "timer", "timer of the fill", "trade"];
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), all);
}

#[test]
fn a_timer_that_a_fill_sets_is_due_as_long_after_the_fill() {
    for data in ["flow", "depth", "best"] {
        for delay in [0, 20, 25] {
            let calls = calls(data, "book", delay);
            let of_fill = calls.iter().filter(|(name, ..)| *name == "timer of the fill");
            let due: Vec<u64> = of_fill.map(|(.., due)| due.0).collect();
            assert_eq!(due, [(34_301 + delay) * SECOND], "{data}, {delay}");
        }
    }
}
