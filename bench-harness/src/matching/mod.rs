//! The speed of the exchange, compared with a bare ladder.
//!
//! Each row is a flow ([`bench_kit::flow`]): a mix of operations over so many price levels, made before the clock
//! starts. In each turn the ladder, the exchange and the engine that plays recorded markets go through the same
//! operations on the same core, each once for the throughput and once with every operation timed; who begins changes from turn to
//! turn ([`bench_kit::measure`]). The exchange's events are thrown away, but for counting what was traded.
//!
//! ```text
//!  row:  make the flow │ ladder  exchange  simulator │ exchange  simulator  ladder │ simulator  ladder  exchange │ …
//! ```
//!
//! All must trade and cancel what the flow's own book says; otherwise there is an error instead of figures. Then the
//! exchange goes through the flow again and writes every event, 64 bytes each, into a journal that another process on
//! another core reads. Last, the memory of many resting orders is read in processes of their own.

mod memory;
mod peer;
mod record;
mod report;
mod share;
mod simulator;
mod stream;
mod venue;

use std::process::Command;

use bench_kit::book::Ladder;
use bench_kit::flow::{Flow, Ids, Mix, Plan};
use bench_kit::measure::{Contestant, Figures, Named, clock_cost, in_turns};
use journal::Clock;
use matching::exchange::ExchangeOptions;
use pinning::Host;
use serde::{Deserialize, Serialize};

use crate::ipc::watch::Watch;
use crate::ipc::{IpcError, choose, pin, system};
use crate::scratch::Scratch;

pub use memory::MemoryRow;
pub use peer::run_peer;
pub use report::{Growth, MatchingReport, MatchingRow, Worst};

use share::{Share, state, word};
use simulator::Simulator;
use stream::Stream;
use venue::Venue;

/// What to measure.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MatchingSettings {
    /// Kinds of flow.
    pub mixes: Vec<Mix>,
    /// Price levels of both sides together, row by row.
    pub levels: Vec<u32>,
    /// Operations of each flow.
    pub operations: usize,
    /// Turns of each row.
    pub turns: usize,
    /// Seed of the flows.
    pub seed: u64,
    /// How orders are numbered.
    pub ids: Ids,
    /// Room for orders that the exchange sets aside.
    pub expected_orders: usize,
    /// Resting orders whose memory is read; zero: none.
    pub memory_orders: usize,
    /// Bytes of the events' ring.
    pub capacity: u64,
    /// CPUs: of the engines, then of the process that reads events. Chosen when empty.
    pub cpus: Vec<usize>,
}

impl MatchingSettings {
    /// Some two minutes.
    pub fn full() -> MatchingSettings {
        MatchingSettings {
            mixes: Mix::ALL.to_vec(),
            levels: vec![10, 100, 1_000, 10_000],
            operations: 400_000,
            turns: 11,
            seed: 1,
            ids: Ids::Ascending,
            expected_orders: 1 << 16,
            memory_orders: 1_000_000,
            capacity: 1 << 20,
            cpus: Vec::new(),
        }
    }

    /// Within half a minute.
    pub fn quick() -> MatchingSettings {
        MatchingSettings { operations: 100_000, turns: 5, ..MatchingSettings::full() }
    }

    fn plans(&self) -> Vec<Plan> {
        let plan =
            |mix, levels| Plan { mix, levels, operations: self.operations, seed: self.seed, ids: self.ids };
        self.mixes.iter().flat_map(|&mix| self.levels.iter().map(move |&levels| plan(mix, levels))).collect()
    }

    fn options(&self) -> ExchangeOptions {
        ExchangeOptions { expected_orders: self.expected_orders, huge_pages: false }
    }
}

/// Measures. `program` starts this program as a peer, which must call [`run_peer`] with its standard streams; `progress`
/// receives what is being measured, and how much is done (0 to 1). When it returns false, the measurement ends with
/// [`IpcError::Stopped`], and leaves nothing behind.
///
/// # Errors
/// [`IpcError`].
pub fn measure(
    settings: &MatchingSettings,
    program: impl Fn() -> Command,
    progress: impl Fn(&str, f64) -> bool,
) -> Result<MatchingReport, IpcError> {
    let host = Host::read("/".as_ref())?;
    let mut cpus = choose(&host, &settings.cpus)?;
    cpus.truncate(2);
    let scratch = Scratch::create().map_err(system("make a folder in /dev/shm"))?;
    pin(cpus[0])?;
    let clock = Clock::calibrate();
    let share = Share::create(scratch.path(), settings.capacity, clock)?;
    let (directory, parent) = (scratch.path().to_owned(), std::process::id());
    let mut reader = peer::start(&program, &peer::Part::Reader { directory, cpu: cpus[1], parent })?;
    let bench = Bench { settings, program, progress, clock };
    let memory = bench.memory()?;
    let mut rows = bench.rows()?;
    let streamed = bench.streams(&share, &mut rows);
    share.tell(state::END);
    // A reader that failed has reported it on standard error; its silence is only the consequence.
    if matches!(streamed, Err(IpcError::Peer(_)))
        && let Ok(Some(status)) = reader.try_wait()
    {
        return Err(IpcError::Peer(format!("ended with {status}")));
    }
    streamed?;
    Ok(MatchingReport {
        host: host.summary(),
        cpus,
        clock: clock.source().as_str().to_owned(),
        clock_cost_ns: clock_cost(|| clock.now()),
        operations: settings.operations,
        seed: settings.seed,
        ids: settings.ids,
        event_bytes: record::BYTES,
        ring_bytes: settings.capacity,
        growth: report::growth(&rows),
        worst: report::worst(&rows),
        rows,
        memory,
    })
}

struct Bench<'s, C, P> {
    settings: &'s MatchingSettings,
    program: C,
    progress: P,
    clock: Clock,
}

impl<C: Fn() -> Command, P: Fn(&str, f64) -> bool> Bench<'_, C, P> {
    fn go_on(&self, what: &str, done: f64) -> Result<(), IpcError> {
        if (self.progress)(what, done) { Ok(()) } else { Err(IpcError::Stopped) }
    }

    /// Room set aside exactly, none, and exactly on huge pages.
    fn memory(&self) -> Result<Vec<MemoryRow>, IpcError> {
        let orders = self.settings.memory_orders;
        let mut rows = Vec::new();
        for (expected_orders, huge_pages) in [(orders, false), (0, false), (orders, true)] {
            self.go_on("memory of resting orders", 0.0)?;
            if orders > 0 {
                let options = ExchangeOptions { expected_orders, huge_pages };
                rows.push(peer::memory(&self.program, orders, options)?);
            }
        }
        Ok(rows)
    }

    fn rows(&self) -> Result<Vec<MatchingRow>, IpcError> {
        let plans = self.settings.plans();
        let mut rows = Vec::with_capacity(plans.len());
        for (number, plan) in plans.iter().enumerate() {
            let what = format!("{} over {} levels", plan.mix, plan.levels);
            let flow = Flow::generate(plan);
            let mut turn = 0;
            let figures = self.in_turns(&flow, || {
                turn += 1;
                let part = f64::from(turn) / (self.settings.turns + 1) as f64;
                (self.progress)(&what, (number as f64 + part) / plans.len() as f64 * 0.8)
            })?;
            rows.push(MatchingRow::new(&flow, figures.ok_or(IpcError::Stopped)?).ok_or(IpcError::Stopped)?);
        }
        Ok(rows)
    }

    /// The ladder, the exchange and, if ids ascend, the simulator.
    fn in_turns(&self, flow: &Flow, go_on: impl FnMut() -> bool) -> Result<Option<Vec<Figures>>, IpcError> {
        let clock = self.clock;
        let now = || clock.now();
        let mut ladder = Named::new("the bare ladder", Ladder::new(flow));
        let mut venue = Named::new("the exchange", Venue::new(self.settings.options())?);
        let mut simulator = Named::new("the simulator", Simulator::new(self.settings.expected_orders));
        let mut books: Vec<&mut dyn Contestant<_>> = vec![&mut ladder, &mut venue];
        if self.settings.ids == Ids::Ascending {
            books.push(&mut simulator);
        }
        Ok(in_turns(flow, &mut books, self.settings.turns, now, go_on)?)
    }

    /// Adds to the rows what another process can read of the exchange's events.
    fn streams(&self, share: &Share, rows: &mut [MatchingRow]) -> Result<(), IpcError> {
        share.tell(state::READ);
        let mut watch = Watch::default();
        while share.words.get(word::READY) == 0 {
            watch.idle()?;
        }
        let mut stream = Stream::new(share, self.clock)?;
        let count = rows.len();
        for ((number, row), plan) in rows.iter_mut().enumerate().zip(self.settings.plans()) {
            let what = format!("events of {} over {} levels", plan.mix, plan.levels);
            let go_on = || self.go_on(&what, 0.8 + number as f64 / count as f64 * 0.2);
            let flow = Flow::generate(&plan);
            let mut venue = Venue::new(self.settings.options())?;
            let streamed = stream.measure(&flow, &mut venue, self.settings.turns, go_on)?;
            row.add(streamed.ok_or(IpcError::Stopped)?);
        }
        Ok(())
    }
}
