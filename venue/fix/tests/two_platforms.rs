//! A desk whose orders go out over FIX, and the exchange of another platform that they trade at.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use node::{InstanceDir, read_held};
use venue::conform::{Audit, Draw};
use wire::{Execution, Message, NewOrder, OrderId, Request, Side};

/// Nothing here may take longer.
const WATCHDOG: Duration = Duration::from_secs(90);

const EXCHANGE: &str = r#"
[platform]
instance = "NAME"
[md]
source = "exchange"
instruments = 2
readers = "loose"
mode = "parked"
[td]
mode = "parked"
[matching]
mode = "parked"
fill = "exchange"
self_trade = "allow"
[ledger]
mode = "parked"
[journal.matching.executions]
capacity = "64MiB"
[[accounts]]
number = 7
kind = "margin"
deposit = 1000000000
[[accounts]]
number = 9
kind = "margin"
deposit = 1000000000
[gateway]
listen = "127.0.0.1:HTTP"
accounts = [9]
restart_max = 1000
restart_backoff = "0s"
fix = { listen = "127.0.0.1:PORT", sessions = "fix.json" }
limits = { max_working_orders = 10000 }
[strategies]
instruments = "all"
mode = "parked"
[[strategies.group]]
name = "makers"
program = "builtin:market-maker"
count = 2
accounts = [7]
params = { quantity = 10, half_spread_ticks = 2, max_position = 100000, refresh_ms = 20, post_only = false, opens = true }
"#;

const DESK: &str = r#"
[platform]
instance = "NAME"
[md]
source = "sim"
instruments = 2
interval = "20ms"
readers = "loose"
mode = "parked"
[td]
mode = "parked"
restart_max = 1000
restart_backoff = "0s"
[matching]
mode = "parked"
fill = "external"
program = "PROGRAM"
params = { connect = "127.0.0.1:PORT", sender = "DESK", target = "COLO", account = "9", state = "STATE", heartbeat = 2 }
restart_max = 1000
restart_backoff = "0s"
[ledger]
mode = "parked"
[journal.matching.executions]
capacity = "64MiB"
[journal.td.orders]
capacity = "64MiB"
[[accounts]]
number = 1
kind = "margin"
deposit = 1000000000
[strategies]
instruments = "all"
mode = "parked"
accounts = [1]
[[strategies.group]]
name = "noise"
program = "builtin:noise"
count = 2
params = { every_ms = 20, max_position = 1000 }
[[strategies.group]]
name = "makers"
program = "builtin:market-maker"
count = 1
params = { quantity = 3, half_spread_ticks = 1, max_position = 1000, refresh_ms = 50, post_only = false, opens = true }
"#;

struct Platform {
    colo: PathBuf,
    folder: PathBuf,
    name: String,
}

impl Platform {
    fn colo(&self, arguments: &[&str]) -> Output {
        self.with(arguments, "")
    }

    fn with(&self, arguments: &[&str], password: &str) -> Output {
        let mut command = Command::new(&self.colo);
        command.args(arguments).current_dir(&self.folder).env("XDG_STATE_HOME", &self.folder);
        command.env("COLO_FIX_PASSWORD", password).output().unwrap()
    }

    fn up(&self, config: &str, password: &str) {
        let file = format!("{}.toml", self.name);
        std::fs::write(self.folder.join(&file), config.replace("NAME", &self.name)).unwrap();
        let up = self.with(&["up", &file, "--stay"], password);
        assert!(up.status.success(), "{}\n{}", String::from_utf8_lossy(&up.stderr), self.log("matching"));
    }

    fn log(&self, node: &str) -> String {
        let path = self.folder.join(format!("colo/{}/{node}.log", self.name));
        std::fs::read_to_string(path).unwrap_or_default()
    }

    fn instance(&self) -> InstanceDir {
        InstanceDir::new(&self.name).unwrap()
    }

    fn pid(&self, node: &str) -> String {
        let status = self.colo(&["status", &self.name, "--format", "json"]);
        let status: serde_json::Value = serde_json::from_slice(&status.stdout).unwrap_or_default();
        let nodes = status["nodes"].as_array().cloned().unwrap_or_default();
        let node = nodes.iter().find(|found| found["node"] == node);
        node.and_then(|node| node["pid"].as_u64()).unwrap_or_default().to_string()
    }

    /// As nothing can be caught.
    fn kill(&self, node: &str) {
        let end = Instant::now() + WATCHDOG;
        loop {
            let pid = self.pid(node);
            if pid != "0" && Command::new("kill").args(["-9", &pid]).output().unwrap().status.success() {
                return;
            }
            assert!(Instant::now() < end, "{node} of {} cannot be killed", self.name);
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn executions(&self) -> Vec<Execution> {
        let mut all = Vec::new();
        read_held(&self.instance(), "matching.executions", None, |frame| {
            all.push(Execution::decode(frame.message_id, frame.payload).unwrap());
        })
        .unwrap();
        all
    }

    fn requests(&self) -> Vec<(u64, Request)> {
        let mut all = Vec::new();
        read_held(&self.instance(), "td.orders", None, |frame| {
            all.push((frame.position, Request::decode(frame.message_id, frame.payload).unwrap()));
        })
        .unwrap();
        all
    }
}

impl Drop for Platform {
    fn drop(&mut self) {
        let _ = self.colo(&["down", &self.name]);
    }
}

fn port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Fills of these orders: instrument, side, price, quantity, and how often.
fn fills(executions: &[Execution], is_one: impl Fn(OrderId) -> bool) -> BTreeMap<(u32, bool, i64, i64), u64> {
    let mut all = BTreeMap::new();
    for execution in executions {
        if let Execution::Fill(fill) = execution
            && is_one(fill.order_id)
        {
            let what = (fill.instrument.0, fill.side == Side::Buy, fill.price.0, fill.quantity.0);
            *all.entry(what).or_default() += 1;
        }
    }
    all
}

/// What the audit of the desk says of all that is there.
fn audit(desk: &Platform) -> Result<Audit, String> {
    let mut audit = Audit::default();
    // Executions first: what is asked for meanwhile is not answered in them.
    let executions = desk.executions();
    for (position, request) in desk.requests() {
        audit.request(position, &request);
    }
    executions.iter().try_for_each(|execution| audit.execution(execution))?;
    audit.batch()?;
    Ok(audit)
}

#[test]
fn orders_go_out_and_trade_and_no_kill_loses_or_doubles_a_fill() {
    let program = Path::new(env!("CARGO_BIN_EXE_colo-fix-out"));
    let colo = program.with_file_name("colo");
    for needed in [&colo, &program.with_file_name("colo-gateway")] {
        if !needed.exists() {
            println!("skipped: there is no {}; `cargo build -p colo -p gateway` makes it", needed.display());
            return;
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let platform = |name: &str| Platform {
        colo: colo.clone(),
        folder: folder.path().to_owned(),
        name: format!("{name}-{}", std::process::id()),
    };
    let (exchange, desk) = (platform("venue-exchange"), platform("venue-desk"));
    let fix = port().to_string();
    let made = exchange.colo(&["token", "create", "desk", "--role", "trader"]);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let token = String::from_utf8(made.stdout).unwrap().trim().to_owned();
    let number = token.split('_').nth(1).unwrap();
    let sessions = serde_json::json!({
        "sessions": [{"client": "DESK", "gateway": "COLO", "token": number, "account": 9}]
    });
    std::fs::write(folder.path().join("fix.json"), sessions.to_string()).unwrap();
    exchange.up(&EXCHANGE.replace("PORT", &fix).replace("HTTP", &port().to_string()), "");
    let state = folder.path().join("desk.fix");
    let config = DESK
        .replace("PORT", &fix)
        .replace("PROGRAM", &program.display().to_string())
        .replace("STATE", &state.display().to_string());
    desk.up(&config, &token);

    let kills = std::env::var("COLO_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(8);
    let mut draw = Draw::new(u64::from(std::process::id()));
    let traded = |desk: &Platform| fills(&desk.executions(), |_| true).values().sum::<u64>();
    let end = Instant::now() + WATCHDOG;
    while traded(&desk) == 0 {
        assert!(Instant::now() < end, "nothing trades\n{}", desk.log("matching"));
        std::thread::sleep(Duration::from_millis(50));
    }
    for kill in 0..kills {
        std::thread::sleep(Duration::from_millis(300 + draw.below(1_500)));
        match kill % 5 {
            2 => exchange.kill("gateway"),
            4 => desk.kill("td"),
            _ => desk.kill("matching"),
        }
    }
    let end = Instant::now() + WATCHDOG;
    let before = traded(&desk);
    while traded(&desk) == before {
        assert!(Instant::now() < end, "nothing trades after the last kill\n{}", desk.log("matching"));
        std::thread::sleep(Duration::from_millis(50));
    }

    // td cancels what strategies leave behind.
    for strategy in ["noise-1", "noise-2", "makers-1"] {
        let stop = desk.colo(&["strategy", "stop", strategy, "--instance", &desk.name]);
        assert!(stop.status.success(), "{}", String::from_utf8_lossy(&stop.stderr));
    }
    let end = Instant::now() + WATCHDOG;
    let audit = loop {
        match audit(&desk).and_then(|audit| audit.end().map(|()| audit)) {
            Ok(audit) => break audit,
            Err(wrong) => {
                assert!(Instant::now() < end, "{wrong}\n{}", desk.log("matching"));
            }
        }
        std::thread::sleep(Duration::from_millis(200));
    };
    let (ours, theirs) = (desk.executions(), exchange.executions());
    // At the exchange they are those of the gateway's clients.
    let clients: BTreeSet<OrderId> = {
        let mut all = BTreeSet::new();
        read_held(&exchange.instance(), "orders.gateway", None, |frame| {
            if frame.message_id == NewOrder::ID
                && let Ok(order) = NewOrder::decode(frame.payload)
            {
                all.insert(order.order_id);
            }
        })
        .unwrap();
        all
    };
    let (here, there) = (fills(&ours, |_| true), fills(&theirs, |order| clients.contains(&order)));
    let mut said: BTreeMap<String, u64> = BTreeMap::new();
    for execution in &ours {
        if let Execution::Update(update) = execution {
            *said.entry(format!("{} {}", update.status, update.reason)).or_default() += 1;
        }
    }
    println!("{said:?}");
    println!(
        "{} requests, {} executions, {} orders, {} fills here, {} there, {kills} kills",
        desk.requests().len(),
        ours.len(),
        audit.filled().len(),
        here.values().sum::<u64>(),
        there.values().sum::<u64>()
    );
    assert_eq!(here, there, "{}", desk.log("matching"));
    let checked = desk.colo(&["audit", &desk.name]);
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));

    // Without what was heard and sent nobody can go on.
    std::fs::remove_file(desk.instance().venue()).unwrap();
    desk.kill("matching");
    let end = Instant::now() + WATCHDOG;
    while !desk.log("matching").contains("what works at the market is not known here") {
        assert!(Instant::now() < end, "{}", desk.log("matching"));
        std::thread::sleep(Duration::from_millis(50));
    }
}
