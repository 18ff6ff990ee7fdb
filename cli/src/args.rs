//! The command line.

mod host;
mod matching;
mod recover;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub(crate) use host::{Doctor, PlanArguments, Tune};
pub(crate) use matching::{MatchingVerb, MatchingVerify, OrderSource};
pub(crate) use recover::{Recover, Until, until};

use crate::output::Format;
use crate::services::Run;
use crate::verbs::account::args::{AccountVerb, Kill, Revive};
use crate::verbs::audit::args::Audit;
use crate::verbs::bench::Bench;
use crate::verbs::book::args::Book;
use crate::verbs::journal::args::JournalVerb;
use crate::verbs::replay::args::Replay;
use crate::verbs::runs::args::RunsVerb;
use crate::verbs::settle::Settle;
use crate::verbs::strategy::args::StrategyVerb;
use crate::verbs::sweep::args::Sweep;
use crate::verbs::t2o::args::T2oVerb;
use crate::verbs::token::TokenVerb;
use crate::verbs::top::args::Top;
use crate::verbs::trace::args::TraceVerb;
use crate::verbs::venue::VenueVerb;

/// Runs trading strategies next to the processes that feed them, over journals in shared memory.
#[derive(Debug, Parser)]
#[command(
    name = "colo",
    version,
    propagate_version = true,
    after_help = "\
Examples:
  colo up                                   run the built-in demo to its end
  colo up configs/demo.toml --stay          bring a platform up and leave it running
  colo status                               what runs
  colo top                                  watch rates, lag and tick-to-order times
  colo down                                 stop it, and say what came of it
  colo journal tail md.quotes --follow      watch a journal
  colo doctor                               is this host fit for latency figures?

Environment: COLO_ROOT, the folder of all instances (by default /dev/shm/colo-UID); COLO_RUNS, the folder of the folders of
runs (by default runs in the current folder; empty: none is made);
COLO_LOG, the level of the nodes' logs (error, warn, info, debug).

Exit codes: 0 done, 1 failed, 2 usage or platform file, 3 host not fit, 4 a check did not hold,
5 inconclusive, 69 no master, 73 cannot create, 77 permission, 130 a sweep or a backtest was interrupted."
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Bring a platform up; run it to its end, or leave it running.
    Up(Up),
    /// Run a recording again: the whole platform, or one strategy alone.
    Replay(Replay),
    /// Take a platform down, and say what came of it.
    Down(Down),
    /// What runs left behind: list their folders, show, compare, clean them, make a page of one.
    #[command(subcommand)]
    Runs(RunsVerb),
    /// Run a backtest with many parameters, on many days, and say which are good and how much of that may be luck.
    Sweep(Sweep),
    /// Show what would come back from a recording, without starting anything.
    Recover(Recover),
    /// Show what runs: nodes, journals, lag, losses.
    Status(Status),
    /// Watch what runs: rates, lag, wake-ups, t2o.
    Top(Top),
    /// Show an instrument's book as a ladder.
    Book(Book),
    /// Strategies: start a project of one's own; stop, start, replace, set one while the others trade.
    #[command(subcommand)]
    Strategy(StrategyVerb),
    /// Accounts: open them, move money, set limits, show what they have.
    #[command(subcommand)]
    Account(AccountVerb),
    /// Let a kill switch fall: no new orders, and what works is cancelled.
    Kill(Kill),
    /// Lift a kill switch.
    Revive(Revive),
    /// Tokens of the gateway's clients: make, list, revoke.
    #[command(subcommand)]
    Token(TokenVerb),
    /// Settle a day: prices in, then execute; statements out.
    Settle(Settle),
    /// Executions of a market outside that are not booked: list them, settle them.
    #[command(subcommand)]
    Venue(VenueVerb),
    /// Compute the accounts again from what the journals hold, and say what differs.
    Audit(Audit),
    /// Run one process of a platform.
    #[command(subcommand)]
    Run(Run),
    /// Look into journals, of live instances and dead ones.
    #[command(subcommand)]
    Journal(JournalVerb),
    /// Make a trace of the platform that ui.perfetto.dev opens.
    #[command(subcommand)]
    Trace(TraceVerb),
    /// Compare market data with what its vendor says; send a day to a multicast group.
    #[command(subcommand)]
    Md(MdVerb),
    /// Compare the exchange with a real one.
    #[command(subcommand)]
    Matching(MatchingVerb),
    /// Measure how fast the parts are on this host.
    #[command(subcommand)]
    Bench(Bench),
    /// Measure the tick-to-order matrix, and say what came of it.
    #[command(subcommand)]
    T2o(T2oVerb),
    /// Check a platform file, a scenario or a sweep without starting anything.
    Check(Check),
    /// Show what a platform file means: every value with its origin, the nodes, the memory.
    Explain(Check),
    /// Say what of this host costs latency, and what mends it.
    Doctor(Doctor),
    /// Change what can be changed on a running host, and put it back.
    Tune(Tune),
    /// Print the format of platform files as JSON Schema.
    Schema,
    /// Print a completion script for a shell.
    #[command(after_help = "\
Examples:
  colo completions bash > ~/.local/share/bash-completion/completions/colo
  colo completions zsh > ~/.zfunc/_colo")]
    Completions {
        /// Which shell.
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Write the man pages of all verbs to a folder
    #[command(after_help = "\
Examples:
  colo man ~/.local/share/man/man1
  man colo-up")]
    Man {
        /// The folder; it is made if it is not there.
        folder: PathBuf,
    },
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  colo check configs/demo.toml
  colo check configs/scenarios/matrix-quick.toml
  colo check configs/sweeps/maker.toml
  colo explain configs/replay.toml --set md.source=sse --set md.files=DIR --format json")]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) platform: PlatformArguments,
    /// Ask the host whose `sys` and `proc` folders lie here, such as a recorded tree.
    #[arg(long, value_name = "DIR", default_value = "/")]
    pub(crate) root: PathBuf,
    /// Text for people, or one JSON object.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

#[derive(Debug, Subcommand)]
pub(crate) enum MdVerb {
    /// Rebuild the books from a recorded day and compare them with the vendor's own.
    #[command(after_help = "\
Examples:
  colo md verify --source lobster --messages message.csv --orderbook orderbook_10.csv --levels 10
  colo md verify --source pitch --messages pitch.txt.gz --format json
  colo md verify --source sse --messages DAY --orderbook DAY/snapshot.csv.gz --symbol 600519
  colo md verify --source dbn --messages mbo.dbn.zst
  colo md verify --source itch --messages 01302019.NASDAQ_ITCH50.gz

Exit code 4 when they differ by more than --tolerance allows.")]
    Verify(MdVerify),
    /// Send an ITCH file to a multicast group, with a server that sends again what was lost.
    #[command(after_help = "\
Examples:
  colo md send day.itch                                    # to 239.192.64.1:26400 on loopback, requests at 127.0.0.1:26401
  colo md send day.itch --loss 0.01 --reorder 0.01 --seed 7
  colo md send day.itch --rate 20000 --linger 1m

In another terminal:
  colo up configs/multicast.toml

It ends when nobody has asked for anything for --linger, and says what it sent, lost on purpose and sent again.")]
    Send(MdSend),
}

#[derive(Debug, Args)]
pub(crate) struct MdSend {
    /// The ITCH 5.0 file, plain, .gz or .zst.
    pub(crate) file: PathBuf,
    /// The group.
    #[arg(long, default_value = "239.192.64.1", value_name = "ADDRESS")]
    pub(crate) group: std::net::Ipv4Addr,
    /// Its port.
    #[arg(long, default_value_t = 26_400)]
    pub(crate) port: u16,
    /// The address of the interface that it leaves by.
    #[arg(long, default_value = "127.0.0.1", value_name = "ADDRESS")]
    pub(crate) interface: std::net::Ipv4Addr,
    /// Where requests are answered.
    #[arg(long, default_value = "127.0.0.1:26401", value_name = "ADDRESS:PORT")]
    pub(crate) server: std::net::SocketAddrV4,
    /// The session's name, up to ten characters; unless given, the date in the file's name, or `colo`.
    #[arg(long, value_name = "NAME")]
    pub(crate) session: Option<String>,
    /// Messages a second; 0: as fast as it goes.
    #[arg(long, default_value_t = 10_000)]
    pub(crate) rate: u64,
    /// Most messages in a packet.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=1_000))]
    pub(crate) per_packet: u16,
    /// Part of the packets that is lost on purpose, 0 to 1.
    #[arg(long, default_value_t = 0.0)]
    pub(crate) loss: f64,
    /// Part of the packets that is sent behind the next, 0 to 1.
    #[arg(long, default_value_t = 0.0)]
    pub(crate) reorder: f64,
    /// Which packets: the same seed loses the same.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// How long requests are answered behind the last message and the last request.
    #[arg(long, default_value = "5s", value_parser = humantime::parse_duration)]
    pub(crate) linger: std::time::Duration,
}

/// A source that can be compared with something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum VerifySource {
    /// LOBSTER: the message file against the order-book file, row by row.
    Lobster,
    /// BATS PITCH: adds = cancels + executions + resting, for each symbol.
    Pitch,
    /// Shanghai Level 2: the exchange's own ten-level snapshots in continuous trading.
    Sse,
    /// Databento, market by order: fills of resting orders against the book that the other records make.
    Dbn,
    /// Nasdaq TotalView-ITCH 5.0: adds = cancels + executions + resting, for each stock.
    Itch,
}

#[derive(Debug, Args)]
pub(crate) struct MdVerify {
    /// Which format.
    #[arg(long, value_enum)]
    pub(crate) source: VerifySource,
    /// The message file, plain or .gz; for sse the folder with the day's orders and trades.
    #[arg(long)]
    pub(crate) messages: PathBuf,
    /// The vendor's order-book file (lobster), or the exchange's snapshots (sse).
    #[arg(long, required_if_eq_any([("source", "lobster"), ("source", "sse")]))]
    pub(crate) orderbook: Option<PathBuf>,
    /// Only this stock, such as 600519; may be given many times (sse). Else all that have snapshots.
    #[arg(long = "symbol", value_name = "NAME")]
    pub(crate) symbols: Vec<String>,
    /// How many levels to compare (lobster).
    #[arg(long, default_value_t = 1)]
    pub(crate) levels: usize,
    /// Share of rows that may differ before the exit code says so (lobster, sse, dbn): 0.001 unless given.
    #[arg(long)]
    pub(crate) tolerance: Option<f64>,
    /// Text for people, or one JSON object.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

/// Which platform file, and what is changed in it.
#[derive(Debug, Args)]
pub(crate) struct PlatformArguments {
    /// The platform file; the built-in demo when left out.
    pub(crate) file: Option<PathBuf>,
    /// Change one key: `--set md.interval=1ms`. May be given many times.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) sets: Vec<String>,
    #[command(flatten)]
    pub(crate) instance: NewInstance,
}

/// What an instance is to be called.
#[derive(Debug, Args)]
pub(crate) struct NewInstance {
    /// Name of the instance, instead of the file's.
    #[arg(value_name = "INSTANCE", conflicts_with = "instance")]
    positional: Option<String>,
    /// The same, also without a file.
    #[arg(short, long, value_name = "NAME")]
    instance: Option<String>,
}

impl NewInstance {
    pub(crate) fn name(&self) -> Option<&str> {
        self.positional.as_deref().or(self.instance.as_deref())
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  colo up
  colo up configs/demo.toml --set md.instruments=4 --format json
  colo up configs/demo.toml --stay
  colo up configs/replay.toml --set md.source=sse --set md.files=DIR --set md.speed=max

Without --stay the platform runs until its source has given all it had (or Ctrl-C), is taken down, and the
report is printed. An instance whose master died is taken over: its running nodes run on.
With --foreground it stays until SIGTERM or Ctrl-C, is taken down then, and the report is printed: for containers, where
everything ends with process 1, and for service managers. As process 1, --stay does that by itself.")]
pub(crate) struct Up {
    #[command(flatten)]
    pub(crate) platform: PlatformArguments,
    /// Go on with what a recorder has of an earlier run, after a crash of the host: a recording, or the folder with them, of
    /// which the latest is taken; once for each recorder. The platform is that of the recording.
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["file", "sets", "positional", "instance"])]
    pub(crate) recover: Vec<PathBuf>,
    /// As of this time: nanoseconds since the epoch, or as in 2026-11-22T21:55:00.5Z; or JOURNAL@POSITION: as of the last cut
    /// that holds no frame of that journal behind the position.
    #[arg(long, value_name = "TIME|JOURNAL@POSITION", requires = "recover", value_parser = until)]
    pub(crate) until: Option<Until>,
    /// Leave the platform running once all its nodes are ready; `colo down` stops it.
    #[arg(long)]
    pub(crate) stay: bool,
    /// Stay in the foreground, also after the source's end, until SIGTERM or Ctrl-C; then take the platform down.
    #[arg(long)]
    pub(crate) foreground: bool,
    #[command(flatten)]
    pub(crate) out: OutArguments,
    /// Text for people, or one JSON object.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

/// Where the run's folder goes.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct OutArguments {
    /// The folder for what comes of the run: orders, fills, equity, times, logs. By default runs/INSTANCE-TIME in the current
    /// folder, or as platform.runs or COLO_RUNS say; of a platform that stays only where one of these says so. See `colo runs`.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// No such folder.
    #[arg(long, conflicts_with = "out")]
    pub(crate) no_out: bool,
}

/// Which instance.
#[derive(Debug, Args)]
pub(crate) struct InstanceArgument {
    /// Name of the instance; may be left out when there is only one.
    #[arg(value_name = "INSTANCE", conflicts_with = "instance")]
    positional: Option<String>,
    /// The same as an option.
    #[arg(short, long, value_name = "NAME")]
    instance: Option<String>,
}

impl InstanceArgument {
    pub(crate) fn name(&self) -> Option<&str> {
        self.positional.as_deref().or(self.instance.as_deref())
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  colo down
  colo down demo --format json
  colo down demo --force                    when its files are damaged, or master answers nobody

Works without a master too: the nodes are stopped directly, in the same order. With --force nothing is reported of the run:
whatever holds, maps or was started for the instance is asked to end, and killed after five seconds.")]
pub(crate) struct Down {
    #[command(flatten)]
    pub(crate) instance: InstanceArgument,
    /// The last resort: end its processes by what the kernel says of them, and remove it.
    #[arg(long)]
    pub(crate) force: bool,
    /// The folder for what came of the run, as far as its rings still hold it; by default what `colo up` was told.
    #[arg(long, value_name = "DIR", conflicts_with = "force")]
    pub(crate) out: Option<PathBuf>,
    /// Text for people, or one JSON object.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  colo status
  colo status demo --format json")]
pub(crate) struct Status {
    #[command(flatten)]
    pub(crate) instance: InstanceArgument,
    /// Text for people, or one JSON object.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

/// Master starts these; by hand they are for trying and for debuggers.
/// The built-in services beside them are in [`crate::services`].
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  colo run master configs/demo.toml         master in the foreground; it starts all other nodes
  colo run strategy taker --instance demo --node takers-1")]
pub(crate) enum RunOther {
    /// Own an instance: make its journals, start its nodes, look after them.
    Master(RunMaster),
    /// One of the built-in example strategies.
    Strategy(RunStrategy),
    /// Many of them in one process, as the platform file says.
    Host(RunHost),
    /// The way in for clients from outside: the program colo-gateway.
    Gateway(Place),
}

#[derive(Debug, Args)]
pub(crate) struct RunMaster {
    #[command(flatten)]
    pub(crate) platform: PlatformArguments,
    /// Read an already checked topology (JSON) from standard input: `--topology -`.
    #[arg(long, hide = true, conflicts_with_all = ["file", "sets", "positional", "instance"])]
    pub(crate) topology: Option<String>,
    /// Recordings to go on with.
    #[arg(long, hide = true, value_name = "FOLDER")]
    pub(crate) recover: Vec<PathBuf>,
    /// As of when, in nanoseconds since the epoch.
    #[arg(long, hide = true)]
    pub(crate) until_ns: Option<u64>,
}

/// Where a process belongs.
#[derive(Debug, Args)]
pub(crate) struct Place {
    /// Name of the instance.
    #[arg(value_name = "INSTANCE", required_unless_present = "instance")]
    positional: Option<String>,
    /// The same as an option.
    #[arg(short, long, value_name = "NAME", env = node::INSTANCE_VARIABLE)]
    instance: Option<String>,
    /// Name of the node; by default that of its kind.
    #[arg(short, long, env = node::NODE_VARIABLE)]
    pub(crate) node: Option<String>,
}

impl Place {
    /// The instance; the one that stands by itself if there are two, as one may be the environment's.
    pub(crate) fn instance(&self) -> &str {
        self.positional.as_deref().or(self.instance.as_deref()).unwrap_or_default()
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  colo run strategy taker --instance demo --node takers-1
  colo run strategy market-maker --instance demo --node makers-1 -n SIM003 --param quantity=5
  colo run strategy --program taker.py --instance demo --node takers-1")]
pub(crate) struct RunStrategy {
    /// Which one.
    #[arg(value_enum, required_unless_present = "program", conflicts_with = "program")]
    pub(crate) strategy: Option<builtin_strategies::Builtin>,
    /// A program of your own instead; a file that ends in .py is started with python3, or what COLO_PYTHON says
    #[arg(long, value_name = "PATH")]
    pub(crate) program: Option<PathBuf>,
    #[command(flatten)]
    joins: Joins,
}

impl RunStrategy {
    pub(crate) fn options(&self) -> strategy_sdk::Options {
        self.joins.options()
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  colo run host --instance demo --node desk")]
pub(crate) struct RunHost {
    #[command(flatten)]
    joins: Joins,
}

impl RunHost {
    pub(crate) fn options(&self) -> strategy_sdk::Options {
        self.joins.options()
    }
}

/// What every strategy takes, and the instance by itself.
#[derive(Debug, Args)]
struct Joins {
    /// Name of the instance to join.
    #[arg(value_name = "INSTANCE", conflicts_with = "instance")]
    positional: Option<String>,
    #[command(flatten)]
    options: strategy_sdk::Options,
}

impl Joins {
    fn options(&self) -> strategy_sdk::Options {
        let instance = self.positional.clone().or_else(|| self.options.instance.clone());
        strategy_sdk::Options { instance, ..self.options.clone() }
    }
}

/// A time as nanoseconds since the epoch, or in words.
pub(crate) fn point_in_time(text: &str) -> Result<u64, String> {
    if let Ok(nanoseconds) = text.parse() {
        return Ok(nanoseconds);
    }
    let time = humantime::parse_rfc3339_weak(text).map_err(|error| {
        format!("{error}; write nanoseconds since the epoch, or a time as in 2026-11-22T21:55:00Z")
    })?;
    let since =
        time.duration_since(std::time::SystemTime::UNIX_EPOCH).map_err(|_| "before 1970".to_owned())?;
    u64::try_from(since.as_nanos()).map_err(|_| "too late".to_owned())
}
