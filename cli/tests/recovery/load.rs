//! What the platform is that is killed: its file, and what its strategies are like.

use crate::platform::Chance;

/// Small rings, so that they go round many times; restarts without end; snapshots often.
const CONFIG: &str = r#"
[platform]
instance = "recovery"

[md]
source = "sim"
instruments = 4
interval = "1ms"
count = 0
seed = 7
generator = "timed"
restart = "on-failure"
restart_max = 1000000
restart_backoff = "0s"

[td]
max_working_orders = 0
restart_max = 1000000
restart_backoff = "0s"

[matching]
restart_max = 1000000
restart_backoff = "0s"

[ledger]
snapshot = "20ms"
restart_max = 1000000
restart_backoff = "0s"

[journal]
td.orders.capacity = "64KiB"
matching.capacity = "64KiB"
matching.state.capacity = "8MiB"
orders.capacity = "64KiB"
reports.capacity = "64KiB"
ledger.capacity = "256KiB"

[strategies]
restart = "on-failure"
restart_max = 1000000
restart_backoff = "0s"

[[strategies.group]]
name = "takers"
program = "builtin:taker"
count = 2
params = { max_position = 50 }

[[strategies.group]]
name = "makers"
program = "builtin:market-maker"
count = 2
instruments = "all"
params = { max_age_ms = 20, refresh_ms = 5 }
"#;

/// The takers sleep on one core, and a relay wakes them.
const RELAY: &str = r#"
[pin]
on_small_host = "remap"

[pin.nodes."takers-*"]
cpu = 1
relay = { cpu = 1 }
"#;

/// Accounts, and a recorder of all that is about orders.
const DESK: &str = r#"
[desk]
mark_every = "20ms"
limits = { order_rate = "1000000", gross_notional = 1000000000 }

[[desk.margins]]
long = "0.1"
short = "0.1"

[[desk.fees]]
rate = "0.0001"
minimum = "0.5"

[[accounts]]
number = 7
kind = "margin"
deposit = 1000000000

[[recorder]]
path = "RECORDINGS"
segment = "8MiB"
restart_max = 1000000
restart_backoff = "0s"
"#;

/// The market of the platform's file, and the same beside a recorded day.
const SIMULATED: &str = r#"source = "sim"
instruments = 4
interval = "1ms"
count = 0
seed = 7
generator = "timed"
"#;
const RECORDED: &str = r#"source = "lobster"
files = "day.csv"
speed = 1.0
readers = "gated"
"#;
/// The file's name.
const DAY: &str = "day.csv";
/// Its rows, one a millisecond: more than the short form needs. Behind its end the market stands still.
const ROWS: u64 = 120_000;

/// A day of LOBSTER's in which nothing ever crosses: orders come within ten cents of 100, and are taken back, or traded from
/// the front of the best price.
fn day() -> String {
    let mut chance = Chance::new(7);
    // By side, those to buy first: price in 1e-4, number, size.
    let mut books: [Vec<(i64, u64, u64)>; 2] = Default::default();
    let mut text = String::new();
    for number in 1..=ROWS {
        let side = chance.below(2) as usize;
        let (book, sign) = (&mut books[side], 1 - 2 * side as i64);
        let kind = if book.len() < 20 { 0 } else { chance.below(10) };
        let (kind, (price, order, size)) = match kind {
            0..5 => {
                let order =
                    (1_000_000 - sign * 100 * (1 + chance.below(10) as i64), number, 1 + chance.below(300));
                book.push(order);
                (1, order)
            }
            5..8 => {
                let place = chance.below(book.len() as u64) as usize;
                (3, book.remove(place))
            }
            _ => {
                // Oldest first, so the first of the best price has traded longest ago.
                let best = book.iter().map(|order| sign * order.0).max().unwrap_or_default();
                let place = book.iter().position(|order| sign * order.0 == best).unwrap_or_default();
                let (price, order, size) = book[place];
                let traded = 1 + chance.below(size);
                book[place].2 -= traded;
                if traded == size {
                    book.remove(place);
                }
                (4, (price, order, traded))
            }
        };
        let (second, nanos) = (34_200 + number / 1_000, number % 1_000 * 1_000_000);
        text += &format!("{second}.{nanos:09},{kind},{order},{size},{price},{sign}\n");
    }
    text
}

/// Eight of the platform's own, one of orders a strategy; those of reports are beside them.
const JOURNALS: usize = 8 + 4;

/// What the strategies are like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Load {
    /// They wait for answers: nothing is ever full.
    Steady,
    /// Some ask at every quote, answered or not: what a stopped reader does not take soon fills its journal.
    Flood,
    /// The same, with a matching process that is not started again.
    Closing,
    /// As steady, all in one process.
    Hosted,
    /// As steady, some woken by a relay.
    Relayed,
    /// The makers in one process, the takers in processes of their own and woken by a relay.
    Mixed,
    /// As steady, and md waits for them.
    Gated,
    /// As flood, for accounts, and recorded.
    Desk,
    /// The same, with td and a ledger that are not started again, and with rings from which nothing is overwritten.
    Never,
    /// As steady, beside the order flow of a recorded day, which plays at its own pace.
    Book,
}

impl Load {
    pub(crate) fn file(self) -> String {
        let is_relayed = matches!(self, Load::Relayed | Load::Mixed);
        let more = if is_relayed { RELAY } else { "" };
        match self {
            Load::Book => CONFIG.replace(SIMULATED, RECORDED),
            Load::Desk | Load::Never => format!("{CONFIG}{DESK}"),
            _ => format!("{CONFIG}{more}"),
        }
    }

    /// The recorded day, beside the platform's file.
    pub(crate) fn day(self) -> Option<(&'static str, String)> {
        (self == Load::Book).then(|| (DAY, day()))
    }

    /// Overrides of the platform's file.
    pub(crate) fn settings(self) -> &'static [&'static str] {
        match self {
            Load::Steady | Load::Relayed | Load::Book => &[],
            Load::Flood => &[
                "strategies.group.takers.params={ max_position = 1000000 }",
                "strategies.group.takers.instruments=all",
            ],
            Load::Desk => &[
                "strategies.group.takers.params={ max_position = 1000000 }",
                "strategies.group.takers.instruments=all",
                "strategies.group.takers.accounts=[7]",
                "strategies.group.makers.accounts=[7]",
                "journal.ledger.desk.capacity=8MiB",
            ],
            Load::Never => &[
                "strategies.group.takers.params={ max_position = 1000000 }",
                "strategies.group.takers.instruments=all",
                "strategies.group.takers.accounts=[7]",
                "strategies.group.makers.accounts=[7]",
                "journal.ledger.desk.capacity=8MiB",
                "journal.orders.capacity=4MiB",
                "journal.td.orders.capacity=4MiB",
                "journal.reports.capacity=4MiB",
                "journal.matching.capacity=16MiB",
                "td.restart=never",
                "ledger.restart=never",
            ],
            Load::Closing => &[
                "strategies.group.takers.params={ max_position = 1000000 }",
                "strategies.group.takers.instruments=all",
                "matching.restart=never",
            ],
            Load::Hosted => &["strategies.host.mode=parked"],
            Load::Mixed => &["strategies.group.makers.host.mode=parked"],
            Load::Gated => &["md.readers=gated"],
        }
    }

    /// Whether the strategy of this name runs in a host.
    pub(crate) fn hosts(self, strategy: &str) -> bool {
        self == Load::Hosted || (self == Load::Mixed && strategy.starts_with("makers-"))
    }

    /// How many journals there are.
    pub(crate) fn journals(self) -> usize {
        // Those who share a host share their reports.
        let reports = match self {
            Load::Hosted => 1,
            Load::Mixed => 3,
            _ => 4,
        };
        // A recorded day's order flow has a journal of its own; accounts have four.
        let desk = if matches!(self, Load::Desk | Load::Never) { 4 } else { 0 };
        JOURNALS + reports + desk + usize::from(self == Load::Book)
    }
}
