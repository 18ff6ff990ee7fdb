//! Measures the way of an order: sends orders that cannot trade, and times each until its end is reported. `colo bench
//! orders` runs it, alone and in numbers.
//!
//! It waits for a file `go` in its folder, which says when each stage begins: all strategies of a platform keep to the same
//! times. At the end it writes `NAME.trips` there, where NAME is its own.
//!
//! ```text
//!   go:     warm ──────► alone ─────────────► together ──────────────► end         (nanoseconds on the platform's clock)
//!                        one order at a time    `pending` orders on their way
//! ```

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use strategy_sdk::{
    AccountId, Context, Deserialize, Instrument, Nanos, OrderRequest, OrderStatus, OrderUpdate,
    ParameterError, Side, Strategy, Timer,
};

/// `params` in the platform file, or `--param` on the command line.
#[derive(Clone, Debug, Deserialize)]
#[serde(crate = "strategy_sdk::serde", default, deny_unknown_fields)]
pub(crate) struct Parameters {
    /// Where `go` is looked for and the result is written.
    folder: PathBuf,
    /// Orders on their way at once in the last stage.
    pending: u32,
    /// Accounts, from number 1 on, that take turns; 0: its own.
    accounts: u32,
}

impl Default for Parameters {
    fn default() -> Parameters {
        Parameters { folder: PathBuf::from("."), pending: 64, accounts: 0 }
    }
}

/// Time between two looks for `go`.
const LOOK: Duration = Duration::from_millis(5);
/// Keys of its timers.
const LOOKS: u64 = 0;
const BEGINS: u64 = 1;
/// As many orders on their way have their times kept; a power of two.
const MOST_PENDING: usize = 4_096;

/// When the stages begin.
#[derive(Clone, Copy, Debug)]
struct Stages {
    warm: Nanos,
    alone: Nanos,
    together: Nanos,
    end: Nanos,
}

impl Stages {
    /// Four times in one line.
    fn parse(text: &str) -> Option<Stages> {
        let times: Vec<u64> = text.split_whitespace().map(str::parse).collect::<Result<_, _>>().ok()?;
        let [warm, alone, together, end] = times[..] else { return None };
        Some(Stages { warm: Nanos(warm), alone: Nanos(alone), together: Nanos(together), end: Nanos(end) })
    }
}

/// Sends orders and times them.
#[derive(Debug)]
pub(crate) struct RoundTrips {
    parameters: Parameters,
    instrument: Option<Instrument>,
    /// `None`: before `go`.
    stages: Option<Stages>,
    /// When each order on its way was sent, by the last bits of its number.
    sent: Vec<u64>,
    pending: u32,
    /// Which account comes next.
    turn: u64,
    alone: Times,
    together: Times,
    /// Orders that were refused: then no time means anything.
    refused: u64,
    written: bool,
}

impl Strategy for RoundTrips {
    type Parameters = Parameters;

    fn create(parameters: Parameters) -> Result<RoundTrips, ParameterError> {
        if !(1..=MOST_PENDING as u32).contains(&parameters.pending) {
            return Err(ParameterError::new("pending", format!("must be from 1 to {MOST_PENDING}")));
        }
        Ok(RoundTrips {
            parameters,
            instrument: None,
            stages: None,
            sent: vec![0; MOST_PENDING],
            pending: 0,
            turn: 0,
            alone: Times::new(),
            together: Times::new(),
            refused: 0,
            written: false,
        })
    }

    fn start(&mut self, context: &mut Context) {
        context.set_timer(LOOK, LOOKS);
    }

    fn instrument(&mut self, _context: &mut Context, instrument: &Instrument) {
        self.instrument.get_or_insert(*instrument);
    }

    fn timer(&mut self, context: &mut Context, timer: Timer) {
        if timer.key == BEGINS {
            return self.send(context);
        }
        let text = std::fs::read_to_string(self.parameters.folder.join("go")).unwrap_or_default();
        self.stages = Stages::parse(&text);
        match self.stages {
            // No timer is left while it measures.
            Some(stages) => context.set_timer(stages.warm, BEGINS),
            None => context.set_timer(LOOK, LOOKS),
        };
    }

    fn order(&mut self, context: &mut Context, update: &OrderUpdate) {
        let is_over =
            matches!(update.status, OrderStatus::Cancelled | OrderStatus::Rejected | OrderStatus::Filled);
        let Some(stages) = self.stages.filter(|_| is_over) else { return };
        let now = context.now();
        let sent = self.sent[update.order_id.sequence() as usize % MOST_PENDING];
        self.pending = self.pending.saturating_sub(1);
        self.refused += u64::from(update.status == OrderStatus::Rejected);
        if now < stages.end {
            if now >= stages.together {
                self.together.add(now.0.saturating_sub(sent));
            } else if now >= stages.alone {
                self.alone.add(now.0.saturating_sub(sent));
            }
            let wanted = if now >= stages.together { self.parameters.pending } else { 1 };
            while self.pending < wanted && self.send_one(context, now) {}
        } else if self.pending == 0 && !self.written {
            self.written = true;
            self.write(context);
        }
    }
}

impl RoundTrips {
    fn send(&mut self, context: &mut Context) {
        let now = context.now();
        self.send_one(context, now);
    }

    /// An order that cannot trade, where nobody else's rests: what is not filled at once is cancelled.
    fn send_one(&mut self, context: &mut Context, now: Nanos) -> bool {
        let Some(instrument) = &self.instrument else { return false };
        let request =
            OrderRequest::limit(Side::Buy, instrument.id, instrument.reference_price, instrument.lot).ioc();
        let request = match self.parameters.accounts {
            0 => request,
            accounts => {
                // In no order that a processor could guess.
                self.turn = self.turn.wrapping_add(0x9E37_79B9_7F4A_7C15);
                request.account(AccountId((self.turn >> 32) as u32 % accounts + 1))
            }
        };
        // When td is behind, the next report sends more.
        let Ok(id) = context.order(request) else { return false };
        self.sent[id.sequence() as usize % MOST_PENDING] = now.0;
        self.pending += 1;
        true
    }

    /// Complete or not there: whoever waits for the file reads it at once.
    fn write(&self, context: &Context) {
        let mut text = format!("refused {}\n", self.refused);
        for (stage, times) in [("alone", &self.alone), ("together", &self.together)] {
            for (nanos, count) in times.iter() {
                text += &format!("{stage} {nanos} {count}\n");
            }
        }
        let folder = &self.parameters.folder;
        let (part, whole) = (
            folder.join(format!("{}.part", context.name())),
            folder.join(format!("{}.trips", context.name())),
        );
        if let Err(error) = std::fs::write(&part, text).and_then(|()| std::fs::rename(&part, &whole)) {
            context.log(format_args!("{}: {error}", whole.display()));
        }
    }
}

/// Powers of two are divided into this many parts: times are exact to less than one per cent.
const PARTS: u64 = 128;

/// How often each time was met. Its memory is there from the start: a measurement allocates nothing.
#[derive(Debug)]
struct Times(Vec<u64>);

impl Times {
    fn new() -> Times {
        Times(vec![0; place(u64::MAX) + 1])
    }

    fn add(&mut self, nanos: u64) {
        self.0[place(nanos)] += 1;
    }

    /// The times that were met, ascending, and how often.
    fn iter(&self) -> impl Iterator<Item = (u64, u64)> {
        let met = self.0.iter().enumerate().filter(|(_, count)| **count > 0);
        met.map(|(place, count)| (middle(place as u64), *count))
    }
}

fn place(nanos: u64) -> usize {
    let power = nanos.max(PARTS).ilog2() - PARTS.ilog2();
    (u64::from(power) * PARTS + (nanos >> power)) as usize
}

/// The middle of all times that have this place.
fn middle(place: u64) -> u64 {
    let power = (place / PARTS).saturating_sub(1);
    let part = place - power * PARTS;
    (part << power) + (1 << power) / 2
}

#[allow(dead_code, reason = "a program that includes this file as a module has a `main` of its own")]
fn main() -> ExitCode {
    strategy_sdk::main::<RoundTrips>()
}
