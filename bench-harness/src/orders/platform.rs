//! One platform, from its start to its end.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use master_client::{Launch, LaunchError, Running};
use topology::{NodeKind, Topology};

use super::row::Row;
use super::trips::{self, Trips};
use super::{OrdersSettings, Waiting};
use crate::ipc::{IpcError, system};

/// Between two looks.
const TICK: Duration = Duration::from_millis(10);
/// From the files' being read to the first orders.
const LEAD: Duration = Duration::from_millis(50);
/// Orders before the first that count.
const WARM: Duration = Duration::from_millis(200);
/// From the last order to its end, however busy the host is.
const PATIENCE: Duration = Duration::from_secs(20);
/// Instruments, which the strategies share in turn.
const INSTRUMENTS: u32 = 8;

/// What one turn had.
#[derive(Debug, Default)]
pub(super) struct Turn {
    pub(super) alone: Trips,
    pub(super) together: Trips,
    /// Bytes of td.
    pub(super) memory: u64,
    /// CPU time of all nodes while the rate was measured.
    pub(super) cpu_ns: u64,
}

/// Starts it, measures, stops it.
pub(super) fn turn(
    row: &Row,
    settings: &OrdersSettings,
    scratch: &Path,
    tick: &dyn Fn(f64) -> bool,
) -> Result<Turn, IpcError> {
    let folder = scratch.join("strategies");
    std::fs::create_dir_all(&folder).map_err(system("make a folder for the strategies"))?;
    let outcome = measured(row, settings, &folder, tick);
    std::fs::remove_dir_all(&folder).map_err(system("remove the strategies' folder"))?;
    outcome
}

fn measured(
    row: &Row,
    settings: &OrdersSettings,
    folder: &Path,
    tick: &dyn Fn(f64) -> bool,
) -> Result<Turn, IpcError> {
    let accounts = folder.join("accounts.csv");
    if row.accounts > 0 {
        std::fs::write(&accounts, csv(row.accounts)).map_err(system("write the accounts"))?;
    }
    let platform = topology::parse("bench orders", &text(row, &settings.cpus, folder), &[])
        .map_err(|error| IpcError::Platform(error.to_string()))?;
    let topology = platform.topology;
    let strategies = names(&topology);
    let launch = Launch { topology, colo: settings.colo.clone(), keep_raw: false, recover: None };
    let mut running = match launch.start(|_, _| tick(0.0)) {
        Ok(running) => running,
        Err(_) if !tick(0.0) => return Err(IpcError::Stopped),
        Err(error) => return Err(failed(&error)),
    };
    let outcome = stages(&mut running, &strategies, settings, folder, tick);
    let finished = running.finish();
    let turn = outcome?;
    finished.map_err(|error| failed(&error))?;
    Ok(turn)
}

fn failed(error: &LaunchError) -> IpcError {
    IpcError::Platform(error.to_string())
}

fn names(topology: &Topology) -> Vec<String> {
    let strategies = topology.nodes.iter().filter(|node| node.kind == NodeKind::Strategy);
    strategies.map(|strategy| strategy.name.clone()).collect()
}

/// Says when, waits until all have written what they measured, and reads it.
fn stages(
    running: &mut Running,
    strategies: &[String],
    settings: &OrdersSettings,
    folder: &Path,
    tick: &dyn Fn(f64) -> bool,
) -> Result<Turn, IpcError> {
    let now = running.view().clock().now();
    let after = |duration: Duration| duration.as_nanos() as u64;
    let warm = now + after(LEAD);
    let alone = warm + after(WARM);
    let (together, end) = (alone + after(settings.turn), alone + 2 * after(settings.turn));
    let (part, go) = (folder.join("go.part"), folder.join("go"));
    std::fs::write(&part, format!("{warm} {alone} {together} {end}\n"))
        .and_then(|()| std::fs::rename(&part, &go))
        .map_err(system("say when to begin"))?;
    let mut cpu = None;
    let mut turn = Turn::default();
    let mut missing: Vec<PathBuf> =
        strategies.iter().map(|name| folder.join(format!("{name}.trips"))).collect();
    let deadline = Instant::now() + LEAD + WARM + 2 * settings.turn + PATIENCE;
    while !missing.is_empty() {
        let time = running.view().clock().now();
        let share = time.saturating_sub(now) as f64 / (end - now) as f64;
        if !tick(share.min(1.0)) {
            return Err(IpcError::Stopped);
        }
        if !running.look() {
            return Err(IpcError::Platform("master ended while it was measured".to_owned()));
        }
        match cpu {
            None if time >= together => cpu = Some((time, cpu_ns(running))),
            Some((from, before)) if time >= end && turn.memory == 0 => {
                // As if it had been looked at exactly at both ends.
                let ran = cpu_ns(running).saturating_sub(before) as f64;
                let part = (end - together) as f64 / time.saturating_sub(from).max(1) as f64;
                turn.cpu_ns = (ran * part) as u64;
                turn.memory = memory(running);
            }
            _ => {}
        }
        missing.retain(|path| !path.exists());
        if Instant::now() >= deadline {
            let names: Vec<_> = missing.iter().filter_map(|path| path.file_stem()?.to_str()).collect();
            return Err(IpcError::Peer(format!("(strategies {}) did not end", names.join(", "))));
        }
        std::thread::sleep(TICK);
    }
    for name in strategies {
        let text = std::fs::read_to_string(folder.join(format!("{name}.trips")))
            .map_err(system("read what a strategy measured"))?;
        trips::read(&text, &mut turn.alone, &mut turn.together)?;
    }
    Ok(turn)
}

/// CPU time so far of all processes.
fn cpu_ns(running: &Running) -> u64 {
    let mut pids: Vec<u32> =
        running.view().seats().iter().filter(|seat| seat.alive).map(|seat| seat.process.pid).collect();
    // Strategies of a host share a process.
    pids.sort_unstable();
    pids.dedup();
    let threads = pids.into_iter().flat_map(|pid| pinning::observe(pid).unwrap_or_default());
    threads.filter_map(|thread| thread.run_ns).sum()
}

/// Bytes of td that no other process sees, zero where the kernel does not say.
fn memory(running: &Running) -> u64 {
    let bytes = running.view().seats_of(NodeKind::Td).filter_map(|seat| {
        let text = std::fs::read_to_string(format!("/proc/{}/smaps_rollup", seat.process.pid)).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix("Anonymous:"))?;
        Some(line.split_whitespace().next()?.parse::<u64>().ok()? << 10)
    });
    bytes.sum()
}

/// The accounts: money and limits for all that is sent.
fn csv(accounts: u32) -> String {
    let mut text = String::from(
        "number,deposit,position,gross_notional,order_quantity,order_notional,order_rate,message_rate,open_orders,loss\n",
    );
    for number in 1..=accounts {
        text += &format!(
            "{number},1000000000,1000000000,1000000000000,1000000,1000000000000,1000000000,1000000000,1000000,1000000000\n"
        );
    }
    text
}

/// All of td's limits are set, and none is met. The ledger, whom nobody waits for, naps.
fn text(row: &Row, cpus: &[usize], folder: &Path) -> String {
    let Row { strategies, pending, .. } = row;
    let waiting = row.waiting.as_str();
    let instruments = INSTRUMENTS.min(*strategies);
    let host = if row.hosted { format!("host = {{ mode = \"{waiting}\" }}\n") } else { String::new() };
    let (desk, own) = match row.accounts {
        0 => (String::new(), String::new()),
        accounts => {
            let desk = format!(
                "[desk]\nfile = {:?}\nmost_accounts = {accounts}\n[[desk.margins]]\nlong = \"0.1\"\nshort = \"0.1\"\n",
                folder.join("accounts.csv").display().to_string(),
            );
            (desk, "accounts = \"all\"\n".to_owned())
        }
    };
    let nap = if row.waiting == Waiting::Parked { "wake_within = \"500us\"\n" } else { "" };
    let (passed, pin) = match cpus {
        [first, second, ..] if row.shares_cpus => {
            let strategies = if row.hosted { "host" } else { "round-trips-*" };
            let pin = format!(
                "[pin.nodes]\n\"{strategies}\" = {{ cpu = {first} }}\n\"*\" = {{ cpu = {second} }}\n"
            );
            ("parked", pin)
        }
        _ => (waiting, String::new()),
    };
    format!(
        r#"
[platform]
instance = "bench-orders-{process}"
[md]
source = "exchange"
instruments = {instruments}
mode = "parked"
[td]
mode = "{passed}"
price_band = 0.1
max_order_quantity = 1000000
max_working_orders = {limit}
max_position = 1000000000
[matching]
mode = "{passed}"
fill = "exchange"
rules = "plain"
[ledger]
mode = "parked"
wake_within = "1ms"
[master]
mode = "parked"
[strategies]
mode = "{waiting}"
data = "best"
instruments = "round-robin"
{host}
[[strategies.group]]
name = "round-trips"
program = "builtin:round-trips"
count = {strategies}
{nap}{own}params = {{ folder = {folder:?}, pending = {pending}, accounts = {accounts} }}
{desk}{pin}"#,
        process = std::process::id(),
        accounts = row.accounts,
        limit = 2 * pending,
        folder = folder.display().to_string(),
    )
}

#[cfg(test)]
mod tests {
    use super::super::row::all;
    use super::*;

    #[test]
    fn every_row_is_a_platform_that_may_start() {
        let settings = OrdersSettings::full(PathBuf::new());
        for cpus in [2, 100] {
            let cpus: Vec<usize> = (0..cpus).collect();
            for row in all(&settings, cpus.len()) {
                let text = text(&row, &cpus, "/dev/shm/a folder".as_ref());
                let platform = topology::parse("bench orders", &text, &[])
                    .unwrap_or_else(|error| panic!("{}: {error}", row.name()));
                assert_eq!(names(&platform.topology).len(), row.strategies as usize);
            }
        }
    }
}
