//! A platform that keeps accounts: the drop copy holds everything once and in order, whoever is killed, and who follows it has what
//! the ledger has.

mod home;

use std::collections::BTreeMap;

use accounts::{Follower, Options};
use journal::{Journal, JournalFiles};
use wire::{
    AccountId, AnyMessage, DROP_REFUSED, DROP_TAKEN, DeskPart, Fill, Message, Nanos, NewOrder, OrderUpdate,
    Request, StrategyId,
};

use home::{Home, kill, number, stderr};

/// Rings that never go round, so that everything can be read from its first frame on.
const CONFIG: &str = r#"
[platform]
instance = "desk"
[md]
source = "exchange"
instruments = 2
restart = "on-failure"
restart_max = 1000000
restart_backoff = "0s"
[td]
restart_max = 1000000
restart_backoff = "0s"
[ledger]
restart_max = 1000000
restart_backoff = "0s"
snapshot = "100ms"
[matching]
restart_max = 1000000
restart_backoff = "0s"
[[matching.phases]]
after = "0s"
phase = "continuous"
[[matching.phases]]
after = "END"
phase = "closed"
[journal]
matching.capacity = "64MiB"
td.orders.capacity = "16MiB"
td.drops.capacity = "64MiB"
ledger.desk.capacity = "256MiB"
[desk]
mark_every = "20ms"
remembered = 256
limits = { order_rate = "100000", gross_notional = 1000000000 }
[[desk.contracts]]
multiplier = 10
[[desk.margins]]
long = "0.1"
short = "0.1"
[[desk.fees]]
rate = "0.0001"
minimum = "0.5"
[[accounts]]
number = 7
kind = "margin"
deposit = 10000000
[[accounts]]
number = 8
kind = "futures"
method = "settlement"
deposit = 10000000
limits = { position = 200 }
[strategies]
instruments = "all"
[[strategies.group]]
name = "makers"
program = "builtin:market-maker"
count = 2
accounts = [7]
params = { quantity = 10, half_spread_ticks = 2, max_position = 500, refresh_ms = 10, post_only = false, opens = true }
[[strategies.group]]
name = "noise"
program = "builtin:noise"
count = 2
accounts = [8, 7]
params = { every_ms = 2, depth_ticks = 2 }
restart = "on-failure"
restart_max = 1000000
restart_backoff = "0s"
[[strategies.group]]
name = "own"
program = "builtin:noise"
count = 1
params = { every_ms = 5, depth_ticks = 2 }
"#;

fn config(home: &Home, end_ms: u64) -> String {
    let path = home.root.path().with_extension("toml");
    std::fs::write(&path, CONFIG.replace("\"END\"", &format!("\"{end_ms}ms\""))).expect("the platform file");
    path.to_string_lossy().into_owned()
}

fn frames(home: &Home, name: &str, mut each: impl FnMut(u64, u32, u64, u16, &[u8])) {
    let folder = home.root.path().join("desk/journals");
    let journal = Journal::open_read_only(JournalFiles::new(&folder, &folder, name)).expect("the journal");
    let mut reader = journal.loose_from_start().expect("nothing was overwritten");
    while let Some(frame) = reader.read().unwrap_or_else(|error| panic!("{name}: {error}")) {
        each(frame.position, frame.topic, frame.time, frame.message_id, frame.payload);
    }
}

/// What the journals say.
#[derive(Debug, Default)]
struct Held {
    requests: u64,
    executions: u64,
    refused: u64,
    fills: u64,
    snapshots: u64,
    accounts: Vec<(AccountId, Option<StrategyId>, i128)>,
}

/// How each account stands in the drop copy before a position.
fn accounts_before(home: &Home, end: u64) -> Vec<accounts::AccountView> {
    let mut follower = Follower::new(Options { remembered: 256 });
    frames(home, "td.drops", |position, topic, time, id, payload| {
        if position < end {
            follower.frame((position, topic, Nanos(time)), id, payload).expect("it follows");
        }
    });
    follower.desk.accounts().collect()
}

/// Reads everything, and holds what must hold whoever was killed.
fn read(home: &Home) -> Held {
    let mut held = Held::default();
    let mut sent: Vec<Request> = Vec::new();
    frames(home, "td.orders", |_, _, _, id, payload| {
        sent.push(Request::decode(id, payload).expect("a request"))
    });
    let mut executed: Vec<(u64, u16)> = Vec::new();
    frames(home, "matching.executions", |position, _, _, id, _| executed.push((position, id)));
    // Snapshots of the ledger, by the position that they contain.
    let mut snapshots: BTreeMap<u64, Vec<u8>> = BTreeMap::new();
    let mut parts: Vec<u8> = Vec::new();
    frames(home, "ledger.desk", |_, _, _, id, payload| {
        assert_eq!(id, DeskPart::ID);
        let part = DeskPart::decode(payload).expect("a part");
        if part.part == 0 {
            parts.clear();
        }
        parts.extend_from_slice(&part.bytes[..part.length as usize]);
        if part.part + 1 == part.parts {
            snapshots.insert(part.drops, std::mem::take(&mut parts));
        }
    });
    let mut follower = Follower::new(Options { remembered: 256 });
    let mut copies: Vec<Request> = Vec::new();
    let mut booked: Vec<(u64, u16)> = Vec::new();
    let mut lots: BTreeMap<(u32, u32), i64> = BTreeMap::new();
    let mut accounts_of: BTreeMap<u64, AccountId> = BTreeMap::new();
    let (mut before, mut problems) = (0, Vec::new());
    let mut compared = 0_u64;
    frames(home, "td.drops", |position, topic, time, id, payload| {
        // A snapshot contains what lies before its position.
        for (_, bytes) in snapshots.range(before + 1..=position) {
            assert!(*bytes == follower.snapshot(), "the ledger's snapshot before {position} differs");
            compared += 1;
        }
        before = position;
        if let Err(error) = follower.frame((position, topic, Nanos(time)), id, payload) {
            problems.push(error.to_string());
        }
        if topic == DROP_REFUSED {
            held.refused += 1;
            return;
        }
        assert_eq!(topic, DROP_TAKEN);
        match AnyMessage::decode(id, payload).expect("a message") {
            AnyMessage::OrderUpdate(update) if update.execution == 0 => {}
            AnyMessage::OrderUpdate(update) => booked.push((update.execution, OrderUpdate::ID)),
            AnyMessage::Fill(fill) => {
                booked.push((fill.execution, Fill::ID));
                held.fills += 1;
                let account = accounts_of[&fill.order_id.0];
                *lots.entry((account.0, fill.instrument.0)).or_default() +=
                    fill.side.sign() * fill.quantity.0;
            }
            _ => {
                if let Ok(request) = Request::decode(id, payload) {
                    if let Request::New(NewOrder { order_id, account, .. }) = request {
                        accounts_of.insert(order_id.0, account);
                    }
                    copies.push(request);
                }
            }
        }
    });
    assert_eq!(problems, Vec::<String>::new(), "everything in the drop copy follows from what came before");
    let different = sent.iter().zip(&copies).position(|(sent, copy)| sent != copy);
    assert_eq!(
        (different, sent.len()),
        (None, copies.len()),
        "the requests of td.orders, each once, in order"
    );
    let different = executed.iter().zip(&booked).position(|(executed, booked)| executed != booked);
    assert_eq!((different, executed.len()), (None, booked.len()), "the executions, each once, in order");
    follower.desk.audit().expect("sums are what their parts come to");
    // Net positions, by fills alone.
    for ((account, instrument), net) in lots.iter().filter(|((account, _), _)| *account != 0) {
        let row = follower.desk.position(StrategyId(0), AccountId(*account), wire::InstrumentId(*instrument));
        let row = row.unwrap_or_else(|| panic!("account {account} has nothing in {instrument}"));
        let (long, short) = (row.long_today + row.long_yesterday, row.short_today + row.short_yesterday);
        assert_eq!(long - short, *net, "account {account}, instrument {instrument}");
    }
    held.snapshots = compared;
    (held.requests, held.executions) = (copies.len() as u64, booked.len() as u64);
    held.accounts =
        follower.desk.accounts().map(|account| (account.account, account.owner, account.equity)).collect();
    held
}

fn is_over(home: &Home) -> bool {
    home.node("desk", "md")["state"] == "finished"
}

fn pid(home: &Home, name: &str) -> u32 {
    u32::try_from(number(&home.node("desk", name)["pid"])).expect("a pid")
}

const STRATEGIES: [&str; 5] = ["makers-1", "makers-2", "noise-1", "noise-2", "own-1"];

fn finish(home: &Home, path: String) {
    STRATEGIES.iter().for_each(|name| kill(pid(home, name), "CONT"));
    let down = home.colo(&["down", "desk"]);
    std::fs::remove_file(path).expect("the platform file");
    assert!(down.status.success(), "{}", stderr(&down));
}

/// The strategies send no more, all executions have reached td, and the ledger what td says of them.
fn settle(home: &Home) {
    home.wait_for("the end of the day", || is_over(home));
    // They go on asking, and are refused.
    STRATEGIES.iter().for_each(|name| kill(pid(home, name), "STOP"));
    let mut last = (0, 0);
    home.wait_for("quiet", || {
        let (mut drops, mut desk) = (0, 0);
        frames(home, "td.drops", |position, _, _, _, _| drops = position);
        frames(home, "ledger.desk", |position, _, _, _, _| desk = position);
        std::thread::sleep(std::time::Duration::from_millis(300));
        std::mem::replace(&mut last, (drops, desk)) == (drops, desk)
    });
}

#[test]
fn the_drop_copy_holds_everything_once_and_the_ledger_has_what_it_says() {
    let home = Home::new();
    let path = config(&home, 3_000);
    let up = home.colo(&["up", &path, "--stay"]);
    assert!(up.status.success(), "{}", stderr(&up));
    settle(&home);
    let held = read(&home);
    finish(&home, path);
    assert!(held.requests > 200 && held.fills > 50 && held.snapshots > 3, "{held:?}");
    assert_eq!(held.accounts.len(), 3, "two that were opened, and the strategy's own: {held:?}");
}

/// Kills in a row; more by the environment.
fn kills() -> u64 {
    std::env::var("COLO_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(14)
}

/// What dies together.
const VICTIMS: [&[&str]; 7] = [
    &["td"],
    &["ledger"],
    &["td", "ledger"],
    &["td", "matching"],
    &["noise-1"],
    &["td", "ledger", "matching"],
    &["ledger", "noise-2"],
];

#[test]
fn accounts_are_the_same_to_the_last_unit_whoever_is_killed() {
    let home = Home::new();
    let day = 3_000 + kills() * 500;
    let path = config(&home, day);
    let started = std::time::Instant::now();
    let up = home.colo(&["up", &path, "--stay"]);
    assert!(up.status.success(), "{}", stderr(&up));
    let mut random = std::env::var("COLO_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(11_u64);
    for kill_number in 0..kills() {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(std::time::Duration::from_micros(20_000 + (random >> 33) % 200_000));
        if started.elapsed().as_millis() as u64 > day.saturating_sub(500) {
            break;
        }
        let victims = VICTIMS[kill_number as usize % VICTIMS.len()];
        let before: Vec<u32> = victims.iter().map(|name| pid(&home, name)).collect();
        before.iter().for_each(|pid| kill(*pid, "KILL"));
        for (name, before) in victims.iter().zip(before) {
            home.wait_for("its successor", || pid(&home, name) != before);
        }
    }
    settle(&home);
    let held = read(&home);
    finish(&home, path);
    println!("{held:?}");
    assert!(held.requests > 200 && held.fills > 20 && held.snapshots > 3, "{held:?}");
}

/// Everything dies at once and shared memory is gone; the recording has it all.
#[test]
fn a_desk_that_is_recovered_from_its_recording_has_the_same_money() {
    let home = Home::new();
    let path = config(&home, 600_000);
    let folder = home.state_path().join("recordings");
    let recorder = format!(
        "[[recorder]]\npath = {:?}\njournals = [\"all\"]\ncompress = 0\n",
        folder.display().to_string()
    );
    let text = std::fs::read_to_string(&path).expect("the platform file") + &recorder;
    std::fs::write(&path, text).expect("the platform file");
    let up = home.colo(&["up", &path, "--stay"]);
    assert!(up.status.success(), "{}", stderr(&up));
    std::thread::sleep(std::time::Duration::from_secs(2));
    STRATEGIES.iter().for_each(|name| kill(pid(&home, name), "STOP"));
    let mut last = 0;
    home.wait_for("quiet", || {
        let mut head = 0;
        frames(&home, "td.drops", |position, _, _, _, _| head = position);
        std::thread::sleep(std::time::Duration::from_millis(400));
        std::mem::replace(&mut last, head) == head
    });
    let before = accounts_before(&home, last + 1);
    assert!(before.len() == 3 && before.iter().any(|account| account.day_result != 0), "{before:?}");
    let status = home.json(&["status", "desk", "--format", "json"]);
    let nodes = status["nodes"].as_array().expect("nodes");
    let pids: Vec<u32> =
        nodes.iter().map(|node| u32::try_from(number(&node["pid"])).expect("a pid")).collect();
    pids.iter().for_each(|pid| kill(*pid, "KILL"));
    let is_gone = |pid: &u32| !std::path::Path::new(&format!("/proc/{pid}/exe")).exists();
    home.wait_for("their end", || pids.iter().all(|pid| is_gone(pid)));
    std::fs::remove_dir_all(home.root.path().join("desk")).expect("the instance's folder");
    let again = home.colo(&["up", "--recover", &folder.display().to_string(), "--stay"]);
    assert!(again.status.success(), "{}\n{}", stderr(&again), home.logs());
    assert_eq!(accounts_before(&home, last + 1), before, "to the last unit");
    // It goes on trading, and everything still fits.
    home.wait_for("more", || {
        let mut head = 0;
        frames(&home, "td.drops", |position, _, _, _, _| head = position);
        head > last + 20_000
    });
    let follows = accounts_before(&home, u64::MAX);
    assert_eq!(follows.len(), 3);
    finish(&home, path);
}
