//! `colo bench`: how fast the parts are on this host.

mod durable;
mod gateway;
mod ipc;
mod languages;
mod matching;
mod orders;
mod wake;

use std::os::unix::process::CommandExt;
use std::process::Command;

use bench_harness::ipc::IpcError;
use clap::{Args, Subcommand};
use node::StopFlag;
use serde::Serialize;

use crate::failure::Failure;
use crate::output::{self, Format};

/// What to measure.
#[derive(Debug, Subcommand)]
pub(crate) enum Bench {
    /// A journal between two processes: latency against the bare cache line, throughput, cost of readers.
    #[command(after_help = "\
Examples:
  colo bench ipc
  colo bench ipc --quick --format json
  colo bench ipc --cpus 2,3 --rounds 201

One-way times are half of a round trip. `floor` is a bare word bounced between the same two cores, in blocks between
those of the journal, over two cache lines, one each way; `near` and `far` say where the host had put the cores. A round
trip of the floor has one reading of the clock in it, as one of the journal has; `bare` is the floor without. Look at the
ratios first. Stopped before its end (Ctrl-C), it says nothing: exit code 1.")]
    Ipc(Ipc),
    /// Sleepers and who wakes them: what a writer pays, how long it takes, how many are woken.
    #[command(after_help = "\
Examples:
  colo bench wake
  colo bench wake --quick --format json
  colo bench wake --cpus 1,3 --policies targeted,relay --rates 8000

Latency counts from when a message was due. Compare policies of one rate within one run: on a shared or virtual host the
same wake-up takes 5 µs now and 40 µs a minute later.")]
    Wake(wake::Wake),
    /// The exchange against a bare ladder: operations a second, percentiles, events to another process, memory.
    #[command(after_help = "\
Examples:
  colo bench matching
  colo bench matching --quick --format json
  colo bench matching --mixes mixed --levels 1000 --turns 31
  colo bench matching --scattered-ids --cpus 2,3

Levels are price levels of both sides together. Mixes: `mixed` (48 % add, 42 % cancel, 10 % take, 10,000 living orders),
`calm` (short queues near the best price), `volatile` (the middle walks), `crash` (sweeps through many levels, then
rebuilding). `ladder` is a bare array of ticks with a bitmap, which is given each order's place: the floor. `ratio` is the
exchange's time by the ladder's: look at it first. `simulator` is the engine that plays recorded markets. All
go through the same operations and must trade the same, or there are no figures. p50, p99, p99.9: every operation timed,
the clock's own cost taken off. Memory is read by processes of their own: resident and mapped as the kernel counts them,
and by the exchange's own account. Stopped before its end (Ctrl-C), it says nothing: exit code 1.")]
    Matching(matching::Matching),
    /// Records on disk against a bare loop of the same bytes and system calls: rates, latency, syncs.
    #[command(after_help = "\
Examples:
  colo bench durable
  colo bench durable --quick --format json
  colo bench durable --dir /mnt/nvme --files 1 --batches 1,1000,0

Modes: `none` (not recorded), `async` (recorded, nobody waits), `sync` (a batch is written when the one before it is on
disk; `gathers`: single records, of which up to 16,384 are on their way). `bare` is a prepared file written with O_DSYNC, as
many bytes at once as the recorder had on average, in the same turn on the same disk: look at `ratio` first. Latency counts
from before a batch was written. In memory (tmpfs) the ratio is what all but the disk costs. Stopped before its end
(Ctrl-C), it says nothing: exit code 1.")]
    Durable(durable::Durable),
    /// Journals brought back from a recording: records a second, and whether every byte is what it was.
    #[command(after_help = "\
Examples:
  colo bench recover
  colo bench recover --quick --format json
  colo bench recover --records 5000000 --dir /mnt/nvme

Time counts from the recording's folder to a journal in shared memory that readers and a writer can open. Exit code 4 when
anything differs.")]
    Recover(durable::Recover),
    /// The way of an order, strategy to td to exchange and back: orders a second, round trips, what td's checks take.
    #[command(after_help = "\
Examples:
  colo bench orders
  colo bench orders --quick --format json
  colo bench orders --strategies 1 --waiting fast --rounds 15

Each row starts a platform of real processes: strategies, td with all of its limits set, an exchange with empty books, a
ledger. Orders cannot trade, so each has its acknowledgement and its end and the books stay as they are. `p50`, `p99`, `p99.9`:
from before an order is sent until its end is handled, one order of each strategy at a time. `orders/s`, `saturated` and
`CPU`: as many on their way as keep all nodes busy; CPU is that of all nodes, for one order. Fast strategies that do not
have a CPU each share one process, and it says so. The checks are timed in this process. Stopped before its end (Ctrl-C), it
says nothing: exit code 1.")]
    Orders(orders::Orders),
    /// Other languages beside Rust: reading, writing, waking up, and an order by the same strategy.
    #[command(after_help = "\
Examples:
  colo bench languages
  colo bench languages --quick --format json
  colo bench languages --only c,go --bindings ../colo/bindings

Run it in a source tree, or name its folder `bindings`: each language's program and taker are built from there, into
target/languages. What this host has no toolchain for is skipped, and it says why. All programs live for the whole
measurement and are asked in turns; look at the ratios first. t2o: from a quote's publication to td's hand, by the same
taker in each language, on a platform of real processes. Stopped before its end (Ctrl-C), it says nothing: exit code 1.")]
    Languages(languages::Languages),
    /// The gateway: requests, orders over HTTP, messages to many WebSockets, beside the least that could do the same.
    #[command(after_help = "\
Examples:
  colo bench gateway
  colo bench gateway --quick --format json
  colo bench gateway --only broadcast --subscribers 2000

It needs `colo-gateway`, which makes all requests in a process of its own, and starts a platform of real processes. `bare
hyper` is a server of the same threads with nothing but hyper in it, `echo` a socket that gives the same bytes back, `write` a
loop with one write for each socket: each in a process of its own, in turns with the gateway. Look at the ratios first. Stopped
before its end (Ctrl-C), it says nothing: exit code 1.")]
    Gateway(gateway::Gateway),
    /// The other process of a measurement.
    #[command(hide = true)]
    Peer(Peer),
}

#[derive(Debug, Args)]
pub(crate) struct Ipc {
    /// Fewer rounds: ends within 20 seconds.
    #[arg(long)]
    pub(crate) quick: bool,
    /// CPUs: the measuring process first, then up to three others. By default the last cores of the host.
    #[arg(long, value_delimiter = ',', value_name = "CPU,CPU")]
    pub(crate) cpus: Vec<usize>,
    /// Size of each ring in KiB.
    #[arg(long, value_name = "KIB", value_parser = clap::value_parser!(u64).range(64..=1 << 20))]
    pub(crate) ring: Option<u64>,
    /// Interleaved rounds of the ping-pong.
    #[arg(long, value_parser = clap::value_parser!(u32).range(9..))]
    pub(crate) rounds: Option<u32>,
    /// Text for people, or one JSON object.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

/// Which measurement; how it goes comes over standard input.
#[derive(Debug, Subcommand)]
pub(crate) enum PeerOf {
    /// `bench ipc`.
    Ipc,
    /// `bench wake`.
    Wake,
    /// `bench matching`.
    Matching,
    /// `bench languages`: Rust's program.
    Languages,
}

#[derive(Debug, Args)]
pub(crate) struct Peer {
    #[command(subcommand)]
    of: PeerOf,
}

pub(crate) fn bench(what: &Bench) -> Result<u8, Failure> {
    match what {
        Bench::Ipc(arguments) => ipc::ipc(arguments),
        Bench::Wake(arguments) => wake::wake(arguments),
        Bench::Matching(arguments) => matching::matching(arguments),
        Bench::Durable(arguments) => durable::durable(arguments),
        Bench::Recover(arguments) => durable::recover(arguments),
        Bench::Orders(arguments) => orders::orders(arguments),
        Bench::Languages(arguments) => languages::languages(arguments),
        Bench::Gateway(arguments) => gateway::gateway(arguments),
        Bench::Peer(Peer { of: PeerOf::Languages }) => {
            bench_harness::languages::run_peer(std::io::stdin().lock(), std::io::stdout())?;
            Ok(node::Exit::Done.code())
        }
        Bench::Peer(Peer { of: PeerOf::Matching }) => {
            bench_harness::matching::run_peer(std::io::stdin(), std::io::stdout())?;
            Ok(node::Exit::Done.code())
        }
        Bench::Peer(Peer { of: PeerOf::Wake }) => {
            bench_harness::wake::run_peer(std::io::stdin().lock(), std::io::stdout())?;
            Ok(node::Exit::Done.code())
        }
        Bench::Peer(Peer { of: PeerOf::Ipc }) => {
            bench_harness::ipc::run_peer(std::io::stdin())?;
            Ok(node::Exit::Done.code())
        }
    }
}

/// Measures with a progress bar, which says `first` to begin with, and prints the report.
fn measured<R: Serialize>(
    first: &str,
    format: Format,
    text: impl FnOnce(&R) -> String,
    measure: impl FnOnce(&dyn Fn(&str, f64) -> bool) -> Result<R, IpcError>,
) -> Result<u8, Failure> {
    let stop = StopFlag::install()?.with_hang_up()?;
    let bar = output::progress(first);
    let report = measure(&|what, done| {
        bar.set_message(what.to_owned());
        bar.set_position((done * 100.0) as u64);
        !stop.is_set()
    });
    bar.finish_and_clear();
    let report = report?;
    match format {
        Format::Json => output::print_json(&report)?,
        Format::Text => output::print(&text(&report))?,
    }
    Ok(node::Exit::Done.code())
}

/// This very program, as the other process of `measurement`.
fn peer(measurement: &str) -> Command {
    // Not in our group: Ctrl-C ends the measurement, and that ends its peers, in this order.
    // The link of a running program works even when its file was replaced meanwhile.
    let mut command = Command::new("/proc/self/exe");
    command.args(["bench", "peer", measurement]).process_group(0);
    command
}
