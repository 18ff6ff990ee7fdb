//! What the platform is that is killed: its file, and what its strategies are like.

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
}

impl Load {
    pub(crate) fn file(self) -> String {
        let is_relayed = matches!(self, Load::Relayed | Load::Mixed);
        format!("{CONFIG}{}", if is_relayed { RELAY } else { "" })
    }

    /// Overrides of the platform's file.
    pub(crate) fn settings(self) -> &'static [&'static str] {
        match self {
            Load::Steady | Load::Relayed => &[],
            Load::Flood => &[
                "strategies.group.takers.params={ max_position = 1000000 }",
                "strategies.group.takers.instruments=all",
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
        JOURNALS + reports
    }
}
