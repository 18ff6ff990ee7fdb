//! `[platform]`, `[master]`, `[td]`, `[matching]`, `[ledger]`.

use std::time::Duration;

use settings::schema::{Absent, DAY_NS, Kind};
use settings::{ByteSize, duration, section};

use super::RunConfig;
use super::run::LONGEST_NAP_NS;
use crate::forms;
use crate::services::NodeKind;

section! {
    /// The instance as a whole.
    pub struct PlatformSection {
        /// Its name: a folder under /dev/shm/colo-UID, so that several may run side by side.
        instance: String = "demo".to_owned() => Kind::Parsed(&forms::INSTANCE);
        /// Lock-step: every market event is answered in full before the next; the same input gives the same fills.
        deterministic: Option<bool> = None, Absent::Derived("a replay as fast as its readers take it, where they are gated");
        /// A replay whose strategies race each other and the market, as in live trading: each run gives other fills.
        live: bool = false;
        /// Lock-step only: all nodes in one process and on one thread, which gives the same fills much sooner. Not set: where
        /// that is possible, and unless the platform is to stay (`colo up --stay`).
        one_process: Option<bool> = None;
        /// Lock-step only: most requests (orders, cancels and replaces of all strategies) that may follow from one market
        /// event. Strategies that answer each other's trades without end would never let the next event come: beyond this
        /// td names them, and the run ends with an error; 0: no limit.
        lock_step_limit: u64 = 100_000;
        /// Keeps the memory of every node but master in RAM (mlockall), each page from its first touch on; a node that may
        /// not does not start.
        lock_memory: bool = false;
        /// The folder in which each run gets a folder with what came of it (relative to the file); "": none. `--out` and
        /// `--no-out` come before it. Platforms that stay (`--stay`, `--foreground`) have one only where this or `--out` says so.
        runs: Option<String> = None => Kind::Parsed(&forms::RUNS), Absent::Derived("$COLO_RUNS, or \"runs\" where `colo up` is called");
        /// Folders of runs there that are older are removed when a run ends, but those with a file `keep` in them; 0s: none.
        #[serde(with = "duration")]
        runs_keep_for: Duration = RUNS_KEEP_FOR => Kind::Duration { min_ns: 0, max_ns: 3_650 * DAY_NS };
        /// Beyond so many bytes of all folders of runs there, the oldest are removed when a run ends; 0B: none.
        runs_keep_bytes: ByteSize = ByteSize::mib(4_096);
    }
}

/// How long folders of runs are kept.
const RUNS_KEEP_FOR: Duration = Duration::from_secs(90 * 86_400);

section! {
    /// The master.
    pub struct MasterConfig {
        /// At the start: a node that has not registered by then has failed, and a strategy that is not ready as long after.
        #[serde(with = "duration")]
        ready_timeout: Duration = Duration::from_secs(10) => Kind::Duration { min_ns: 1_000_000, max_ns: DAY_NS };
        /// A node that was asked to stop and has not by then is killed.
        #[serde(with = "duration")]
        stop_timeout: Duration = Duration::from_secs(5) => Kind::Duration { min_ns: 1_000_000, max_ns: DAY_NS };
        /// The log of a node that grows beyond this begins again; its last half of that is kept beside it, as NODE.log.1; 0B: no bound.
        log_bytes: ByteSize = ByteSize::mib(64);
        /// How it waits, and whether it is started again.
        #[serde(flatten)]
        run: RunConfig = RunConfig::of(NodeKind::Master);
    }
}

section! {
    /// The trade gateway. Limits count for each strategy on its own; a group may set its own (`limits`).
    pub struct TdConfig {
        /// How far a limit price may lie from the reference price, as a fraction of it, and at least ten ticks; 0: anywhere.
        price_band: f64 = 0.1 => Kind::Number { min: 0.0, max: 1.0 };
        /// Largest quantity of one order; 0: no limit.
        max_order_quantity: i64 = 1_000_000;
        /// Orders that a strategy may have working at once; 0: no limit.
        max_working_orders: u32 = 1_000;
        /// Largest position, long or short, in one instrument; 0: no limit.
        max_position: i64 = 0;
        /// How it waits, and whether it is started again.
        #[serde(flatten)]
        run: RunConfig = RunConfig::of(NodeKind::Td);
    }
}

section! {
    /// The books that are kept.
    pub struct LedgerConfig {
        /// Time between two snapshots of everything; 0s: only when someone joins.
        #[serde(with = "duration")]
        snapshot: Duration = Duration::from_secs(1);
        /// While messages come, it is not woken for each, but looks by itself within this time, as in "500us"; only when it is quiet, it
        /// sleeps until it is woken. Nobody waits for what it books. Not in lock-step. 0s: woken for each message.
        #[serde(with = "duration")]
        wake_within: Duration = Duration::ZERO => Kind::Duration { min_ns: 0, max_ns: LONGEST_NAP_NS };
        /// How it waits, and whether it is started again.
        #[serde(flatten)]
        run: RunConfig = RunConfig::of(NodeKind::Ledger);
    }
}
