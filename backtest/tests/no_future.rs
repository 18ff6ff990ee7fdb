//! What a strategy sees or does at a time does not depend on what the recorded day holds after it.
//!
//! A day is cut at a time, and run beside the whole day: every message, order, answer and value up to there must be equal. A cut
//! is a file that ends there, so the readers' first passes see no more than the strategy may know.
//!
//! `COLO_NO_FUTURE=N` cuts each day at N times (3 otherwise), and takes N thousand times of the recorded days (1 otherwise).
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot go on fails")]
#![allow(unreachable_pub, reason = "the modules are this test's own")]

#[path = "no_future/days.rs"]
mod days;
#[path = "no_future/observer.rs"]
mod observer;
#[path = "../../md/tests/support/mod.rs"]
mod support;

use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use backtest::{Plugins, Witness};
use journal::{Journal, LooseReader};
use node::{Exit, InstanceDir, Node, Service, Steps};
use observe::InstanceView;
use observer::{LOG, Observer};
use plugin::Export;
use topology::{NodeKind, NodeSpec, Program};
use wire::{AnyMessage, Cause, Execution, Message};

use days::Day;

/// Longest that all of it may take.
const WATCHDOG: Duration = Duration::from_secs(3_000);

/// How a platform is set up.
#[derive(Clone, Copy, Debug)]
struct Way {
    fill: &'static str,
    /// More of `[matching]`.
    matching: &'static str,
    data: &'static [&'static str],
}

const WAYS: &[Way] = &[
    Way { fill: "book", matching: "", data: &["depth", "best", "flow"] },
    Way {
        fill: "book",
        matching: "call_auctions = \"uncross\"\norder_latency = \"3ms\"\nreport_latency = { uniform = { min = \"1ms\", max = \"9ms\" } }\n",
        data: &["flow", "depth", "best"],
    },
    Way { fill: "quotes", matching: "call_auctions = \"uncross\"\n", data: &["best", "depth"] },
    Way { fill: "quotes", matching: "order_latency = \"40us\"\n", data: &["depth"] },
];

fn platform(day: &Day, way: &Way, files: &Path, instance: &str) -> String {
    let groups = way.data.iter().enumerate().map(|(number, data)| {
        format!(
            "[[strategies.group]]\nname = \"{data}\"\nprogram = \"observer.so\"\ncount = 1\ndata = \"{data}\"\nparams = {{ seed = {}, pace_ms = {} }}\n",
            number + 5,
            day.pace_ms
        )
    });
    format!(
        "[platform]\ninstance = \"{instance}\"\ndeterministic = true\nlock_step_limit = 0\n[md]\nsource = \"{}\"\nfiles = \"{}\"\nreaders = \"gated\"\ntolerate = 1.0\n{}\n\
         [matching]\nfill = \"{}\"\n{}[journal]\ncapacity = \"512KiB\"\n[strategies]\ninstruments = \"all\"\n{}",
        day.source,
        files.display(),
        day.more,
        way.fill,
        way.matching,
        groups.collect::<String>()
    )
}

/// Reads all that is written, in one order.
#[derive(Default)]
struct Reader {
    journals: Vec<(String, LooseReader)>,
    lines: Vec<String>,
    /// Lines before the end of the market's data, and before the latest look.
    until_end: Option<usize>,
    looked: usize,
    ledger: Option<ledger::Book>,
    counted: [usize; 4],
}

impl Reader {
    fn line(&mut self, name: &str, topic: u32, position: u64, id: u16, payload: &[u8]) {
        let message = AnyMessage::decode(id, payload).unwrap();
        let message = match message {
            // Its times are those of this host.
            AnyMessage::NewOrder(order) => {
                AnyMessage::NewOrder(wire::NewOrder { cause: Cause::NONE, ..order })
            }
            other => other,
        };
        if matches!(message, AnyMessage::EndOfStream(_)) && name != "md.instruments" {
            self.until_end.get_or_insert(self.looked);
        }
        self.counted[0] += usize::from(matches!(message, AnyMessage::NewOrder(_)) && name == "td.orders");
        self.counted[1] +=
            usize::from(matches!(message, AnyMessage::Fill(_)) && name == "matching.executions");
        if let AnyMessage::OrderUpdate(update) = &message {
            self.counted[2] +=
                usize::from(update.status == wire::OrderStatus::Rejected && name.starts_with("reports"));
        }
        self.counted[3] += usize::from(matches!(message, AnyMessage::MarketPhase(_)));
        self.lines.push(format!("{name} {topic} {position} {message:?}"));
        if name == "md.quotes" || name == "md.best" || name == "matching.executions" {
            self.equity(name, topic, position, id, payload);
        }
    }

    /// What the ledger makes of it.
    fn equity(&mut self, name: &str, topic: u32, position: u64, id: u16, payload: &[u8]) {
        let book = self.ledger.get_or_insert_with(ledger::Book::new);
        if name == "matching.executions" {
            if Execution::decode(id, payload).is_ok() {
                book.on_execution(position, id, payload);
            }
        } else {
            book.on_market(topic, id, payload);
        }
        for strategy in book.strategies() {
            self.lines.push(format!("equity {strategy:?} {:?}", book.totals(strategy)));
        }
    }
}

impl Witness for Reader {
    fn begins(&mut self, view: &InstanceView) {
        let directory = view.instance();
        let mut names = directory.journal_names().unwrap();
        names.sort();
        let is_compared = |name: &String| {
            ["md.", "orders.", "td.orders", "matching.executions", "reports."]
                .iter()
                .any(|begin| name.starts_with(begin))
        };
        for name in names.into_iter().filter(is_compared) {
            let journal = Journal::open_read_only(directory.find_journal(&name)).unwrap();
            let from = journal.first_position();
            self.journals.push((name, journal.observe(from).unwrap()));
        }
    }

    fn turned(&mut self) {
        // What the end causes may stand in a journal that is read before md's.
        self.looked = self.lines.len();
        let mut journals = std::mem::take(&mut self.journals);
        for (name, reader) in &mut journals {
            while reader.has_news() {
                if let Some(frame) = reader.read().unwrap() {
                    let (topic, position, id) = (frame.topic, frame.position, frame.message_id);
                    let payload = frame.payload.to_vec();
                    if name == "md.instruments" && id == wire::Instrument::ID {
                        let listed = wire::Instrument::decode(&payload).unwrap();
                        self.ledger.get_or_insert_with(ledger::Book::new).list(&listed);
                    }
                    self.line(name, topic, position, id, &payload);
                }
            }
        }
        self.journals = journals;
        LOG.with_borrow_mut(|log| self.lines.append(log));
    }
}

const SERVICES: &[Service] = &[md::SERVICE, td::SERVICE, matching::SERVICE, ledger::SERVICE];

fn program(spec: &NodeSpec, node: Node) -> Result<Box<dyn Steps>, (String, Exit)> {
    let failed = |error: node::RunError| (error.to_string(), error.exit());
    if spec.kind == NodeKind::Strategy {
        return <strategy_sdk::Exported<Observer> as Export>::steps(node).map_err(failed);
    }
    let service = SERVICES.iter().find(|service| service.kind == spec.kind).unwrap();
    service.steps.unwrap()(node).map_err(failed)
}

fn next(number: &Mutex<u32>) -> u32 {
    let mut number = number.lock().unwrap();
    *number += 1;
    *number
}

/// All lines of a run, those before the end of its data, and what it counted.
fn run(day: &Day, way: &Way, end: u64) -> Reader {
    let folder = tempfile::tempdir().unwrap();
    day.write(folder.path(), end);
    // Tests of one process run side by side.
    static NEXT: Mutex<u32> = Mutex::new(0);
    let number = next(&NEXT);
    let instance = format!("no-future-{}-{number}", std::process::id());
    let text = platform(day, way, &day.files(folder.path()), &instance);
    let platform = topology::parse("no-future.toml", &text, &[]).unwrap_or_else(|error| panic!("{error}"));
    let mut topology = platform.topology;
    for node in &mut topology.nodes {
        if matches!(node.program, Program::Path(_)) {
            node.program = Program::Builtin("observer".to_owned());
        }
    }
    LOG.take();
    let mut reader = Reader::default();
    let outcome = backtest::run(topology, &Plugins::default(), &program, &mut reader, |_| true);
    let outcome = outcome.unwrap_or_else(|error| panic!("{}: {error}", day.name));
    assert!(!outcome.is_interrupted);
    let left = InstanceDir::new(&instance).is_some_and(|directory| directory.path().exists());
    assert!(!left, "the instance is removed");
    reader
}

/// Whether the cut day's lines begin the whole day's; what differs first.
fn difference(cut: &Reader, whole: &Reader) -> Option<String> {
    let until = cut.until_end.unwrap();
    let at = (0..until).find(|at| whole.lines.get(*at) != Some(&cut.lines[*at]))?;
    let from = at.saturating_sub(3);
    Some(format!(
        "line {at} of {until}\n  before: {:#?}\n  cut:   {}\n  whole: {}",
        &cut.lines[from..at],
        cut.lines[at],
        whole.lines.get(at).map_or("nothing", String::as_str)
    ))
}

fn number(variable: &str) -> Option<usize> {
    std::env::var(variable).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{variable}: a number")))
}

fn check(days: &[Day]) {
    let begin = Instant::now();
    let cuts = number("COLO_NO_FUTURE").unwrap_or(3);
    let mut random = days::Random(0x5eed);
    let (mut compared, mut found) = (0, Vec::new());
    for day in days {
        let times = day.times();
        for way in WAYS {
            let whole = run(day, way, u64::MAX);
            let [orders, fills, rejects, phases] = whole.counted;
            assert!(phases > 0 || !day.has_phases, "{}, {way:?}: no halt", day.name);
            assert!(orders > 0 && fills > 0, "{}, {way:?}: {orders} orders, {fills} fills", day.name);
            let mut worst: Option<String> = None;
            for cut in 0..cuts {
                assert!(begin.elapsed() < WATCHDOG, "hangs");
                // Spread over the day, one of them early.
                let (from, size) = (times.len() * cut / cuts, times.len() / cuts);
                let at = times[(from + random.below(size as u64) as usize).clamp(20, times.len() - 1)];
                let part = run(day, way, at);
                let Some(until) = part.until_end else {
                    panic!("{}, cut at {at}: md has not ended", day.name)
                };
                compared += until;
                if let Some(found) = difference(&part, &whole).filter(|_| worst.is_none()) {
                    worst = Some(format!("{}, {way:?}, cut at {at}: {found}", day.name));
                }
            }
            found.extend(worst);
            println!(
                "{}: {}, {orders} orders, {fills} fills, {rejects} rejected, {phases} phases, {:?}",
                day.name,
                way.fill,
                begin.elapsed()
            );
        }
    }
    assert!(found.is_empty(), "{} of {}:\n{}", found.len(), days.len() * WAYS.len(), found.join("\n"));
    println!("{compared} lines compared");
    assert!(compared > 0);
}

#[test]
fn what_happens_before_a_cut_of_a_made_up_day_is_what_happens_on_the_whole_day() {
    check(&days::made_up());
}

#[test]
fn what_happens_before_a_cut_of_a_recorded_day_is_what_happens_on_the_whole_day() {
    let days = days::recorded(number("COLO_NO_FUTURE").unwrap_or(1) * 1_000);
    if !days.is_empty() {
        check(&days);
    }
}
