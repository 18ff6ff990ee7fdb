//! Whether a [`Venue`] and the driver together owe nothing: orders at random, kills, cut lines, and an audit of all that is
//! written.
//!
//! An author gives a [`Rig`]: how a line of his [`Venue`] to a market under his control is made, cut and given time. [`conform`]
//! plays the platform's part, and [`Audit`] holds the executions against the requests:
//!
//! ```
//! use venue::conform::{Faults, MadeUp, conform};
//!
//! // The market that the driver itself is held against: late, twice, out of order, and not at all.
//! let summary = conform(&mut MadeUp::new(7, Faults::ALL), 7, 500)?;
//! assert!(summary.fills > 0);
//! # Ok::<(), String>(())
//! ```

mod audit;
mod draw;
mod made_up;

use std::collections::BTreeMap;

use wire::{
    CancelAll, CancelOrder, Execution, InstrumentId, Nanos, NewOrder, OrderId, OrderType, Price, Quantity,
    ReplaceOrder, Request, Side, StrategyId, TimeInForce,
};

pub use audit::Audit;
pub use draw::Draw;
pub use made_up::{Faults, Line, MadeUp};

use crate::driver::{Driver, Effects, Input};
use crate::market::{Command, News, Venue};
use crate::memory;
use crate::unbooked::{LOT, Why, decimal};

/// A market under an author's control.
pub trait Rig {
    /// The venue that is tried.
    type Line: Venue;

    /// A new one, as after a start of the process. The one before was dropped without a word.
    fn line(&mut self) -> Self::Line;

    /// Some time passes at the market.
    fn pass(&mut self);

    /// The market hangs up.
    fn cut(&mut self);

    /// From now on nothing is lost any more, and lines stay.
    fn calm(&mut self);

    /// How much has traded in lots of 1e-9, by the name that each order was sent with, without trades that were cancelled. `None`: not
    /// known.
    fn traded(&self) -> Option<BTreeMap<String, i128>>;

    /// The sum of price × lots of what has traded, in 1e-9, by the name that each order was sent with, without trades that were cancelled.
    /// `None`: not known.
    fn values(&self) -> Option<BTreeMap<String, i128>> {
        None
    }

    /// What others have traded for the account in lots of 1e-9, purchases less sales, as far as it was reported to this line. `None`: not
    /// known.
    fn foreign(&self) -> Option<i128> {
        None
    }

    /// Whether this market executes what no fill can say: cancelled trades, trades behind an end. Where it does not, nothing may be listed as not
    /// booked but a position, which may differ while a report is lost.
    fn is_rude(&self) -> bool {
        true
    }

    /// The orders that work, by the names that they were sent with. `None`: not known.
    fn working(&self) -> Option<Vec<String>> {
        None
    }
}

/// What was tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Requests.
    pub requests: u64,
    /// Executions that answer them, or tell what became of orders.
    pub executions: u64,
    /// Fills among them.
    pub fills: u64,
    /// Executions that are not booked.
    pub unbooked: u64,
    /// Orders that were not accepted.
    pub rejected: u64,
    /// How often the process was killed.
    pub kills: u64,
    /// How often the line was cut.
    pub cuts: u64,
}

/// Rounds after the last request in which everything has to come to an end.
const ROUNDS: u32 = 20_000;
/// Rounds on the last line, in which the market says all that it has.
const SETTLING: u32 = 200;

/// The platform's side.
struct Desk<'a, R: Rig> {
    rig: &'a mut R,
    line: R::Line,
    draw: Draw,
    driver: Driver,
    /// The file.
    lines: Vec<String>,
    /// The journal.
    written: Vec<Execution>,
    audit: Audit,
    position: u64,
    sequence: u32,
    now: u64,
    /// By order: the name that it was sent with, and those of its changes.
    names: BTreeMap<OrderId, Vec<String>>,
    summary: Summary,
}

/// Sends `steps` requests or so, drawn from `seed`, with kills and cut lines between them, and holds what comes of them.
///
/// # Errors
/// What does not hold.
pub fn conform<R: Rig>(rig: &mut R, seed: u64, steps: u32) -> Result<Summary, String> {
    let line = rig.line();
    let mut desk = Desk {
        rig,
        line,
        draw: Draw::new(seed),
        driver: Driver::new(PREFIX),
        lines: Vec::new(),
        written: Vec::new(),
        audit: Audit::default(),
        position: 0,
        sequence: 0,
        now: 1,
        names: BTreeMap::new(),
        summary: Summary::default(),
    };
    desk.run(steps).map_err(|wrong| format!("seed {seed}: {wrong}"))
}

const PREFIX: &str = "conform";
const INSTRUMENT: InstrumentId = InstrumentId(1);
const STRATEGIES: u64 = 3;

impl<R: Rig> Desk<'_, R> {
    fn run(&mut self, steps: u32) -> Result<Summary, String> {
        self.begin()?;
        for _ in 0..steps {
            match self.draw.below(100) {
                0..45 => self.request()?,
                45 => self.kill()?,
                46 => {
                    self.summary.cuts += 1;
                    self.rig.cut();
                }
                47..50 => self.overdue()?,
                _ => self.rig.pass(),
            }
            self.listen()?;
        }
        self.rig.calm();
        self.until("answers", |driver| driver.is_up() && driver.waiting().is_empty())?;
        // Orders that are still at work.
        for strategy in 0..STRATEGIES {
            let id = self.next_id(strategy);
            self.hear_request(Request::CancelAll(CancelAll::new(id)))?;
        }
        self.until("ends", |driver| driver.is_up() && driver.waiting().is_empty())?;
        for order in self.audit.working() {
            self.hear_request(Request::Cancel(CancelOrder::new(order, INSTRUMENT)))?;
        }
        self.until("ends", |driver| driver.is_up() && driver.waiting().is_empty() && driver.orders() == 0)?;
        self.audit.end()?;
        // Once more all that the market has, on a line of its own.
        self.rig.cut();
        for _ in 0..SETTLING {
            self.rig.pass();
            self.listen()?;
        }
        self.until("agreement", |driver| driver.is_up() && driver.waiting().is_empty())?;
        self.audit.end()?;
        self.hold_sums()?;
        if let Some(name) = self.rig.working().and_then(|names| names.into_iter().next()) {
            return Err(format!("order {name} works at the market, and has ended here"));
        }
        self.summary.unbooked = self.driver.unbooked_so_far();
        Ok(self.summary)
    }

    /// What is booked and what is not are what the market has: of each order, and of all others.
    fn hold_sums(&self) -> Result<(), String> {
        let mut listed = self.driver.unbooked().filter(|what| what.why != Why::Position);
        if let Some(what) = listed.next().filter(|_| !self.rig.is_rude()) {
            let heard = what.order.map(|order| self.heard_of(order).join("\n")).unwrap_or_default();
            return Err(format!(
                "the market did nothing of the kind, and it is not booked: {what}; heard:\n{heard}"
            ));
        }
        let mut open: BTreeMap<Option<OrderId>, (i128, i128)> = BTreeMap::new();
        for what in self.driver.unbooked() {
            let (lots, value) = open.entry(what.order).or_default();
            (*lots, *value) = (*lots + what.lots, *value + what.value);
        }
        if let Some(traded) = self.rig.traded() {
            let values = self.rig.values();
            for (order, side, filled, value) in self.audit.filled() {
                let name =
                    self.names.get(&order).and_then(|names| names.first()).cloned().unwrap_or_default();
                let there = traded.get(&name).copied().unwrap_or(0);
                let (lots, money) = open.get(&Some(order)).copied().unwrap_or_default();
                let not_booked = lots * i128::from(side.sign());
                if let Some(values) = &values {
                    let value = value + money * i128::from(side.sign());
                    let there_value = values.get(&name).copied().unwrap_or(0);
                    // A trade at an average price is rounded by less than 1e-9 for each lot, each time.
                    if (value - there_value).abs() > 8 * (there / LOT + 1) {
                        return Err(format!(
                            "order {order}, {name}: price × lots is {value} here, and the market says {there_value}; heard:\n{}",
                            self.heard_of(order).join("\n")
                        ));
                    }
                }
                if there != i128::from(filled) * LOT + not_booked {
                    return Err(format!(
                        "order {order}, {name}, has {filled} filled and {} not booked, and the market says {}; heard:\n{}",
                        decimal(not_booked),
                        decimal(there),
                        self.heard_of(order).join("\n")
                    ));
                }
            }
        }
        if let Some(foreign) = self.rig.foreign() {
            let listed = open.get(&None).copied().unwrap_or_default().0;
            if listed != foreign {
                let others = self.driver.unbooked().filter(|what| what.order.is_none());
                let positions = self.lines.iter().filter(|line| !line.contains(PREFIX));
                return Err(format!(
                    "{} lots of others are listed, and the market says {}: {:?}; heard:\n{}",
                    decimal(listed),
                    decimal(foreign),
                    others.map(ToString::to_string).collect::<Vec<_>>(),
                    positions.cloned().collect::<Vec<_>>().join("\n")
                ));
            }
        }
        Ok(())
    }

    /// The lines of one order's names, and what was decided for all.
    fn heard_of(&self, order: OrderId) -> Vec<&str> {
        let names = self.names.get(&order).cloned().unwrap_or_default();
        let is_named = |line: &str| names.iter().any(|name| line.contains(&format!(" {name}@")));
        let is_about =
            |line: &&String| is_named(line) || !line.contains(PREFIX) && !line.starts_with("request");
        self.lines.iter().filter(is_about).map(String::as_str).collect()
    }

    /// Notes what orders and their changes are called.
    fn note_names(&mut self, commands: &[Command]) {
        for command in commands {
            let (order, name) = match command {
                Command::New { name, order } => (order.order_id, name),
                Command::Cancel { name, of } | Command::Replace { name, of, .. } => (of.order.order_id, name),
                Command::Ask { .. } | Command::Reconcile => continue,
            };
            let names = self.names.entry(order).or_default();
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
    }

    fn begin(&mut self) -> Result<(), String> {
        let instrument = instrument();
        self.line.list(&instrument);
        self.hear(Input::Tick(instrument.id, instrument.tick))?;
        // An execution that is not booked stops nothing here: what follows it is held too.
        self.hear(Input::Stop(false))?;
        self.until("a line", Driver::is_up)?;
        // The position before the first order.
        for _ in 0..SETTLING {
            self.rig.pass();
            self.listen()?;
        }
        Ok(())
    }

    fn until(&mut self, what: &str, is_there: impl Fn(&Driver) -> bool) -> Result<(), String> {
        for round in 0..ROUNDS {
            if is_there(&self.driver) {
                return Ok(());
            }
            self.rig.pass();
            self.listen()?;
            if round % 50 == 49 {
                self.overdue()?;
            }
        }
        let last: Vec<String> = self.lines.iter().rev().take(30).cloned().collect();
        Err(format!(
            "no {what} after {ROUNDS} rounds: {:?} wait; heard last, the last first:\n{}",
            self.driver.waiting(),
            last.join("\n")
        ))
    }

    fn next_id(&mut self, strategy: u64) -> OrderId {
        self.sequence += 1;
        OrderId::new(StrategyId(strategy as u16), 1, self.sequence)
    }

    fn request(&mut self) -> Result<(), String> {
        let strategy = self.draw.below(STRATEGIES);
        let known = self.audit.working();
        let any =
            |draw: &mut Draw| (!known.is_empty()).then(|| known[draw.below(known.len() as u64) as usize]);
        let (price, quantity) =
            (Price((90 + self.draw.below(20) as i64) * 1_000_000), Quantity(1 + self.draw.below(20) as i64));
        let request = match self.draw.below(20) {
            0..12 => {
                let side = if self.draw.below(2) == 0 { Side::Buy } else { Side::Sell };
                let id = self.next_id(strategy);
                let (kind, life) = (OrderType::Limit, TimeInForce::Day);
                Request::New(NewOrder::plain(id, INSTRUMENT, side, kind, life, price, quantity))
            }
            12..15 => match any(&mut self.draw) {
                Some(order) => Request::Cancel(CancelOrder::new(order, INSTRUMENT)),
                None => return Ok(()),
            },
            15..19 => match any(&mut self.draw) {
                Some(order_id) => Request::Replace(ReplaceOrder {
                    order_id,
                    instrument: INSTRUMENT,
                    source: 0,
                    price,
                    quantity,
                }),
                None => return Ok(()),
            },
            _ => Request::CancelAll(CancelAll::new(self.next_id(strategy))),
        };
        self.hear_request(request)
    }

    fn hear_request(&mut self, request: Request) -> Result<(), String> {
        self.position += 64 * (1 + self.draw.below(3));
        self.summary.requests += 1;
        self.audit.request(self.position, &request);
        self.hear(Input::Request(self.position, request))
    }

    fn overdue(&mut self) -> Result<(), String> {
        let kills = self.summary.kills;
        for overdue in self.driver.waiting() {
            if self.summary.kills != kills {
                break;
            }
            self.hear(Input::Overdue(overdue))?;
        }
        Ok(())
    }

    fn listen(&mut self) -> Result<(), String> {
        self.now += 1_000;
        let mut news = Vec::new();
        self.line.poll(Nanos(self.now), &mut news)?;
        let kills = self.summary.kills;
        for piece in news {
            if self.summary.kills != kills {
                // The rest was lost with the process.
                break;
            }
            if piece != News::Down || self.driver.is_up() {
                self.hear(Input::News(piece))?;
            }
        }
        Ok(())
    }

    /// As the process does it; it may be killed at two places.
    fn hear(&mut self, input: Input) -> Result<(), String> {
        self.lines.push(memory::write(&input));
        if self.draw.below(1_000) == 0 {
            return self.kill();
        }
        let mut effects = Effects::default();
        self.driver.take(&input, &mut effects);
        self.note_names(&effects.commands);
        effects.commands.iter().for_each(|command| self.line.send(command));
        if self.draw.below(1_000) == 0 {
            return self.kill();
        }
        self.write(&effects.executions)
    }

    fn write(&mut self, executions: &[Execution]) -> Result<(), String> {
        for execution in executions {
            self.summary.executions += 1;
            match execution {
                Execution::Fill(_) => self.summary.fills += 1,
                Execution::Update(update) => {
                    self.summary.rejected += u64::from(update.status == wire::OrderStatus::Rejected);
                }
            }
            self.audit.execution(execution).map_err(|wrong| {
                let last: Vec<String> = self.lines.iter().rev().take(30).cloned().collect();
                format!("{wrong}; heard last, the last first:\n{}", last.join("\n"))
            })?;
        }
        self.written.extend_from_slice(executions);
        self.audit.batch()
    }

    /// The process dies, and another one reads what it had noted.
    fn kill(&mut self) -> Result<(), String> {
        self.summary.kills += 1;
        self.line = self.rig.line();
        let instrument = instrument();
        self.line.list(&instrument);
        self.hear(Input::Tick(instrument.id, instrument.tick))?;
        let mut driver = Driver::new(PREFIX);
        let mut effects = Effects::default();
        for line in &self.lines {
            let input = memory::read(line).ok_or_else(|| format!("`{line}` cannot be read again"))?;
            driver.take(&input, &mut effects);
        }
        let known = effects.executions.get(..self.written.len());
        if known != Some(&self.written) {
            return Err("the same input did not give the same executions again".to_owned());
        }
        self.driver = driver;
        self.note_names(&effects.commands);
        let missing = effects.executions.split_off(self.written.len());
        self.write(&missing)?;
        if self.driver.is_up() {
            self.hear(Input::News(News::Down))?;
        }
        Ok(())
    }
}

fn instrument() -> wire::Instrument {
    wire::Instrument {
        id: INSTRUMENT,
        reserved: 0,
        symbol: wire::Symbol::new("SIM001").unwrap_or_default(),
        tick: Price(1),
        lot: Quantity(1),
        price_low: Price::NONE,
        price_high: Price::NONE,
        reference_price: Price::NONE,
        max_quantity: Quantity(0),
        multiplier: 0,
        currency: wire::Currency::EMPTY,
    }
}
