//! `colo audit` looks at everything: a sound run with all that a platform does has no finding, each fault that is planted in it is
//! found by the check that is there for it, and each field that carries money, quantity, price, id or status is looked at.
//!
//! Faults are written over the rings of an instance whose processes are dead.

mod home;

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::FileExt;
use std::process::Output;

use journal::{Journal, JournalFiles};
use serde_json::Value;
use wire::schema::{Field, TABLE};
use wire::{
    AccountChange, AccountLimit, AnyMessage, DROP_REFUSED, DROP_TAKEN, Fill, LimitKind, Mark, Message,
    NewOrder, OrderId, OrderUpdate, PositionState, Price, Quantity, Reason,
};

use home::{Home, kill, number, stderr, stdout};

/// An opening auction; strategies with processes of their own and in a host; accounts of all kinds of limits, one of which may
/// hold next to nothing, so that what it buys is closed by force. Rings never go round.
const CONFIG: &str = r#"
[platform]
instance = "desk"
[md]
source = "exchange"
instruments = 2
[[matching.phases]]
after = "0s"
phase = "opening-auction"
[[matching.phases]]
after = "300ms"
phase = "continuous"
[journal]
capacity = "8MiB"
td.orders.capacity = "16MiB"
td.drops.capacity = "64MiB"
[desk]
mark_every = "20ms"
limits = { order_rate = "100000", gross_notional = 1000000000, reject_rate = "100000/100000" }
[[desk.contracts]]
multiplier = 10
[[desk.margins]]
long = "0.1"
short = "0.1"
[[desk.fees]]
rate = "0.0001"
minimum = "0.5"
unit = "0.01"
[[desk.groups]]
number = 1
limits = { loss = 1000000000 }
[[accounts]]
number = 7
group = 1
deposit = 10000000
[[accounts]]
number = 8
kind = "futures"
method = "settlement"
group = 1
deposit = 10000000
limits = { position = 200 }
[[accounts]]
number = 9
deposit = 10000000
limits = { margin_call = "0.000001", forced_liquidation = "0.000001" }
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
params = { every_ms = 4, depth_ticks = 2 }
[[strategies.group]]
name = "forced"
program = "builtin:noise"
count = 1
accounts = [9]
params = { every_ms = 20, depth_ticks = 2 }
[[strategies.group]]
name = "own"
program = "builtin:noise"
count = 2
host = { mode = "parked" }
params = { every_ms = 10, depth_ticks = 2 }
"#;

/// A frame as it stands in a journal.
#[derive(Clone, Debug)]
struct Frame {
    position: u64,
    topic: u32,
    id: u16,
    payload: Vec<u8>,
}

impl Frame {
    fn message(&self) -> AnyMessage {
        AnyMessage::decode(self.id, &self.payload).expect("a message")
    }
}

struct Platform {
    home: Home,
}

impl Platform {
    /// A run with all that a platform does, whose processes are dead.
    fn ran() -> Platform {
        let home = Home::new();
        let path = home.state_path().join("desk.toml");
        let recordings = home.state_path().join("recordings");
        let recorder = format!("[[recorder]]\npath = \"{}\"\njournals = [\"all\"]\n", recordings.display());
        std::fs::write(&path, CONFIG.to_owned() + &recorder).expect("the platform file");
        let up = home.colo(&["up", &path.display().to_string(), "--stay"]);
        assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
        let platform = Platform { home };
        platform.acts();
        platform
    }

    fn acts(&self) {
        let is_forced = |frame: &Frame| match frame.message() {
            AnyMessage::NewOrder(order) => order.flags & NewOrder::FORCED != 0,
            _ => false,
        };
        self.home.wait_for("an order by force that trades", || {
            let drops = self.frames("td.drops");
            let forced = drops.iter().filter(|frame| frame.id == NewOrder::ID && is_forced(frame)).count();
            forced > 3 && drops.iter().filter(|frame| frame.id == Fill::ID).count() > 60
        });
        self.takes("account deposit 8 12.5 --why more");
        assert_eq!(exit(&self.run("account withdraw 8 1000000000 --why error")), 1);
        self.takes("kill --strategy makers-1 --why test");
        self.takes("revive --strategy makers-1 --why tested");
        self.takes("account limit runaway-rate 1/1 --strategy own-2 --why test");
        self.takes("account limit loss 0 --account 8 --why test --force");
        let by = |who: &str| {
            self.frames("td.drops").iter().any(|frame| {
                frame.id == AccountChange::ID
                    && matches!(frame.message(), AnyMessage::AccountChange(change) if change.who.as_str() == who)
            })
        };
        self.home
            .wait_for("switches that fall by themselves", || by("td") && (by("ledger") || self.is_killed(8)));
        self.takes("kill --all --why close");
        self.home.wait_for("the day's end", || self.run("settle 20260131 --prices last").status.success());
        let status = self.json("status");
        // Strategies go on asking, and are refused. Master is the first to die: it starts nobody again.
        std::thread::sleep(std::time::Duration::from_millis(300));
        for node in status["nodes"].as_array().expect("nodes") {
            let pid = u32::try_from(number(&node["pid"])).expect("a pid");
            if node["kind"] == "strategy" || node["kind"] == "host" {
                kill(pid, "STOP");
            }
        }
        let head = || self.frames("td.drops").len();
        let mut last = 0;
        self.home.wait_for("quiet", || {
            std::thread::sleep(std::time::Duration::from_millis(400));
            std::mem::replace(&mut last, head()) == head()
        });
        for node in status["nodes"].as_array().expect("nodes") {
            kill(u32::try_from(number(&node["pid"])).expect("a pid"), "KILL");
        }
        self.home.wait_for("their end", || self.json("status")["phase"] == "dead");
    }

    fn is_killed(&self, account: u32) -> bool {
        let killed = self.json("status")["killed"].clone();
        killed.as_array().is_some_and(|all| all.iter().any(|one| one["subject"] == account))
    }

    fn run(&self, line: &str) -> Output {
        self.home.colo(&line.split(' ').collect::<Vec<_>>())
    }

    fn json(&self, line: &str) -> Value {
        self.home.json(&line.split(' ').chain(["--format", "json"]).collect::<Vec<_>>())
    }

    fn takes(&self, line: &str) {
        let output = self.run(line);
        assert!(output.status.success(), "{line}: {}", stderr(&output));
    }

    fn files(&self, journal: &str) -> JournalFiles {
        let folder = self.home.root.path().join("desk/journals");
        JournalFiles::new(&folder, &folder, journal)
    }

    fn frames(&self, journal: &str) -> Vec<Frame> {
        let journal = Journal::open_read_only(self.files(journal)).expect("the journal");
        let mut reader = journal.loose_from_start().expect("its begin");
        let mut frames = Vec::new();
        while let Ok(Some(frame)) = reader.read() {
            let (position, topic, id) = (frame.position, frame.topic, frame.message_id);
            frames.push(Frame { position, topic, id, payload: frame.payload.to_vec() });
        }
        frames
    }

    fn overwrite(&self, journal: &str, position: u64, payload: &[u8]) {
        let files = self.files(journal);
        let capacity = Journal::open_read_only(files.clone()).expect("the journal").shape().capacity;
        let ring = std::fs::OpenOptions::new().write(true).open(&files.ring).expect("the ring");
        let place = position % capacity + journal::layout::frame::HEADER_BYTES;
        ring.write_all_at(payload, place).expect("written");
    }

    /// Names of the journals of a family.
    fn journals(&self, family: &str) -> Vec<String> {
        let all = std::fs::read_dir(self.home.root.path().join("desk/journals")).expect("journals");
        let names = all.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
        let mut names: Vec<String> =
            names.filter_map(|name| name.strip_suffix(".ctl").map(str::to_owned)).collect();
        names.retain(|name| name.starts_with(family));
        names.sort();
        names
    }

    /// The report of an audit that ends with this exit code.
    fn audit(&self, code: i32) -> Value {
        let output = self.run("audit desk --format json");
        assert_eq!(exit(&output), code, "{}\n{}", stdout(&output), stderr(&output));
        serde_json::from_slice(&output.stdout).expect("JSON")
    }

    /// Writes other bytes over frames, audits, and puts them back.
    fn planted(&self, faults: &[(&str, &Frame, Vec<u8>)]) -> (i32, Value) {
        faults.iter().for_each(|(journal, frame, bytes)| self.overwrite(journal, frame.position, bytes));
        let output = self.run("audit desk --format json");
        for (journal, frame, _) in faults {
            self.overwrite(journal, frame.position, &frame.payload);
        }
        (exit(&output), serde_json::from_slice(&output.stdout).unwrap_or_default())
    }
}

fn exit(output: &Output) -> i32 {
    output.status.code().unwrap_or(-1)
}

/// Whether a part says something with these words.
fn says(report: &Value, part: &str, words: &str) -> bool {
    let rows = report["differences"].as_array().cloned().unwrap_or_default();
    rows.iter().any(|row| {
        let text = format!("{} {}", row["found"], row["expected"]);
        row["part"] == part && text.contains(words)
    })
}

fn assert_sound(report: &Value) {
    assert_eq!(report["verdict"], "same", "{report:#}");
    for part in report["parts"].as_array().expect("parts") {
        assert!(part["whole"] == true && number(&part["checked"]) > 0, "{part:#}");
    }
}

#[test]
fn each_fault_that_is_planted_in_a_sound_run_is_found_by_its_check() {
    let platform = Platform::ran();
    assert_sound(&platform.audit(0));
    let recording = platform.home.state_path().join("recordings");
    let output = platform.run(&format!("audit --recording {} --format json", recording.display()));
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(exit(&output), 0, "{report:#}");
    assert_sound(&report);

    let drops = platform.frames("td.drops");
    let find = |frames: &[Frame], is_it: &dyn Fn(&AnyMessage) -> bool| -> Frame {
        frames.iter().find(|frame| is_it(&frame.message())).cloned().expect("such a frame")
    };
    let expect = |faults: &[(&str, &Frame, Vec<u8>)], part: &str, words: &str| {
        let (code, report) = platform.planted(faults);
        assert!(code == 4 && says(&report, part, words), "{part}, {words}: {report:#}");
    };

    // A mark that no market has shown, as the ledger asked for it.
    let risk = platform.frames("ledger.risk");
    let marks = |frames: &[Frame]| {
        let all: Vec<&Frame> = frames.iter().filter(|frame| frame.id == Mark::ID).collect();
        all[all.len() / 2].clone()
    };
    let (asked, taken) = (marks(&risk), marks(&drops));
    let AnyMessage::Mark(mark) = taken.message() else { panic!("{taken:?}") };
    let wrong = Mark { price: Price(mark.price.0 * 2), ..mark }.bytes().to_vec();
    expect(
        &[("ledger.risk", &asked, wrong.clone()), ("td.drops", &taken, wrong.clone())],
        "marks",
        "which the market showed",
    );
    expect(&[("td.drops", &taken, wrong)], "marks", "a mark");

    // Reports: one twice in place of another, one of other bytes, a refusal that was never reported.
    let name = platform.journals("reports.makers").remove(0);
    let reports = platform.frames(&name);
    let passed: Vec<&Frame> = reports.iter().filter(|frame| !is_refusal(frame)).collect();
    let (one, next) =
        passed.windows(2).map(|pair| (pair[0], pair[1])).find(|(one, next)| one.id == next.id).expect("two");
    expect(&[(name.as_str(), next, one.payload.clone())], "reports", "passes over it");
    expect(&[(name.as_str(), next, one.payload.clone())], "reports", "no report twice");
    let refusal = reports.iter().find(|frame| is_refusal(frame)).expect("a refusal").clone();
    let AnyMessage::OrderUpdate(update) = refusal.message() else { panic!("{refusal:?}") };
    let other = OrderUpdate { refused_request: update.refused_request + 64, ..update };
    expect(&[(name.as_str(), &refusal, other.bytes().to_vec())], "requests", "did not go out");

    // Refused for what was not so, in the drop copy and in the report. The last one: its sender has run for long by then.
    let refusal = reports.iter().rfind(|frame| is_refusal(frame)).expect("a refusal").clone();
    let AnyMessage::OrderUpdate(update) = refusal.message() else { panic!("{refusal:?}") };
    let of_drops = OrderUpdate { reported_up_to: 0, ..update };
    let copy = find(&drops, &|message| *message == AnyMessage::OrderUpdate(of_drops));
    for (reason, words) in [
        (Reason::StrategyGone, "its sender ran"),
        (Reason::NotDurable, "its sender's reports need not be on disk"),
        (Reason::NotYours, "without a copy of the order"),
        (Reason::AccountClosed, "its account is open"),
    ] {
        let wrong = OrderUpdate { reason, ..update }.bytes().to_vec();
        let copied = OrderUpdate { reason, ..of_drops }.bytes().to_vec();
        expect(&[("td.drops", &copy, copied), (name.as_str(), &refusal, wrong)], "refusals", words);
    }

    // Requests: more than was asked for.
    let name = platform.journals("orders.makers").remove(0);
    let sent = find(&platform.frames(&name), &|message| matches!(message, AnyMessage::NewOrder(_)));
    let AnyMessage::NewOrder(order) = sent.message() else { panic!("{sent:?}") };
    let less = NewOrder { quantity: Quantity(order.quantity.0 - 1), ..order };
    expect(&[(name.as_str(), &sent, less.bytes().to_vec())], "requests", &name);

    // A price that the venue never made, wherever the fill stands.
    let executions = platform.frames("matching.executions");
    let fill_frame = find(&executions, &|message| matches!(message, AnyMessage::Fill(_)));
    let AnyMessage::Fill(fill) = fill_frame.message() else { panic!("{fill_frame:?}") };
    let copies = |journal: &str| {
        let frames = platform.frames(journal);
        let its = frames.into_iter().find(|frame| {
            frame.id == Fill::ID
                && matches!(frame.message(), AnyMessage::Fill(copy) if copy.execution == fill_frame.position)
        });
        its.map(|frame| (journal.to_owned(), frame))
    };
    let all: Vec<(String, Frame)> = platform
        .journals("reports.")
        .iter()
        .map(String::as_str)
        .chain(["td.drops"])
        .filter_map(copies)
        .collect();
    let price = Price(fill.price.0 + 1_000_000_000);
    let changed = |frame: &Frame| match frame.message() {
        AnyMessage::Fill(fill) => Fill { price, ..fill }.bytes().to_vec(),
        _ => frame.payload.clone(),
    };
    let mut faults: Vec<(&str, &Frame, Vec<u8>)> =
        all.iter().map(|(journal, frame)| (journal.as_str(), frame, changed(frame))).collect();
    faults.push(("matching.executions", &fill_frame, changed(&fill_frame)));
    assert_eq!(faults.len(), 3, "executions, drop copy and one journal of reports");
    expect(&faults, "venue", "the other side of");
    expect(&faults, "venue", "at ");

    // Positions that strategies are shown.
    let state = platform.frames("ledger.state");
    let shown =
        find(&state, &|message| matches!(message, AnyMessage::PositionState(state) if state.fills > 0));
    let AnyMessage::PositionState(position) = shown.message() else { panic!("{shown:?}") };
    let more = PositionState { bought: Quantity(position.bought.0 + 1), ..position };
    expect(&[("ledger.state", &shown, more.bytes().to_vec())], "venue", "bought");

    // A switch that names another cause, and limits under which nothing had to be done.
    let killed = find(
        &drops,
        &|message| matches!(message, AnyMessage::AccountChange(change) if change.who.as_str() == "td"),
    );
    let AnyMessage::AccountChange(change) = killed.message() else { panic!("{killed:?}") };
    let why = "too many refused orders a second";
    let other = AccountChange { why: wire::Text::cut(why), ..change };
    expect(&[("td.drops", &killed, other.bytes().to_vec())], "switches", "none was");
    let bound = find(
        &drops,
        &|message| matches!(message, AnyMessage::AccountLimit(limit) if limit.limit == LimitKind::ForcedLiquidation),
    );
    let AnyMessage::AccountLimit(limit) = bound.message() else { panic!("{bound:?}") };
    let wide = AccountLimit { number: 1 << 40, ..limit };
    expect(&[("td.drops", &bound, wide.bytes().to_vec())], "forced", "none is due");

    // An order by force that does not say so.
    let is_forced = |message: &AnyMessage| matches!(message, AnyMessage::NewOrder(order) if order.flags & NewOrder::FORCED != 0);
    let forced = find(&drops, &is_forced);
    let AnyMessage::NewOrder(order) = forced.message() else { panic!("{forced:?}") };
    let plain = NewOrder { flags: order.flags & !NewOrder::FORCED, ..order };
    expect(&[("td.drops", &forced, plain.bytes().to_vec())], "forced", "orders of the ledger are");

    // A limit price far off the market.
    let id_of = |message: &AnyMessage| match message {
        AnyMessage::NewOrder(order) if order.flags & NewOrder::FORCED == 0 && order.price.is_some() => {
            Some(order.order_id)
        }
        _ => None,
    };
    let copied = find(&drops, &|message| id_of(message).is_some());
    let id = id_of(&copied.message());
    let sent = find(&platform.frames("td.orders"), &|message| id_of(message) == id);
    let far = |frame: &Frame| {
        let AnyMessage::NewOrder(order) = frame.message() else { panic!("{frame:?}") };
        NewOrder { price: Price(order.price.0 * 100), ..order }.bytes().to_vec()
    };
    let both = [("td.drops", &copied, far(&copied)), ("td.orders", &sent, far(&sent))];
    expect(&both, "limits", "the band");

    limits_of_td(&platform);
}

/// Accounts beside a recorded day, which is replayed.
const REPLAYED: &str = r#"
[platform]
instance = "desk"
[md]
source = "lobster"
files = "day.csv"
speed = 20.0
readers = "gated"
[matching]
fill = "book"
[desk]
mark_every = "20ms"
limits = { order_rate = "1000000" }
[[desk.margins]]
long = "0.1"
short = "0.1"
[[accounts]]
number = 7
deposit = 1000000
limits = { position = 30 }
[strategies]
instruments = "all"
[[strategies.group]]
name = "makers"
program = "builtin:market-maker"
count = 2
accounts = [7]
params = { max_age_ms = 20, refresh_ms = 5 }
[[strategies.group]]
name = "takers"
program = "builtin:taker"
count = 2
accounts = [7]
params = { max_position = 1000 }
"#;

/// A book that moves, and trades.
fn day(moves: u32) -> String {
    let mut day = String::from("34200.000,1,1,100,999000,1\n34200.100,1,2,100,1001000,-1\n");
    let mut ask = 2;
    for number in 0..moves {
        let (second, id) = (34_201 + number, 3 * number + 3);
        day += &format!("{second}.0,3,{ask},100,1001000,-1\n{second}.1,1,{id},100,1003000,-1\n");
        day += &format!("{second}.2,1,{},100,1001000,1\n{second}.3,4,{},40,1001000,1\n", id + 1, id + 1);
        day += &format!("{second}.35,3,{},60,1001000,1\n", id + 1);
        ask = id + 2;
        day += &format!("{second}.4,1,{ask},100,1001000,-1\n{second}.5,3,{id},100,1003000,-1\n");
    }
    day
}

#[test]
fn a_recording_beside_a_replayed_market_is_sound() {
    let home = Home::new();
    let path = home.state_path().join("desk.toml");
    let recordings = home.state_path().join("recordings");
    let recorder = format!("[[recorder]]\npath = \"{}\"\njournals = [\"all\"]\n", recordings.display());
    std::fs::write(&path, REPLAYED.to_owned() + &recorder).expect("the platform file");
    std::fs::write(home.state_path().join("day.csv"), day(2_000)).expect("the day");
    let up = home.colo(&["up", &path.display().to_string(), "--stay"]);
    assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
    let platform = Platform { home };
    let count = |is_it: &dyn Fn(&Frame) -> bool| {
        platform.frames("td.drops").iter().filter(|frame| is_it(frame)).count()
    };
    platform.home.wait_for("fills and refusals", || {
        count(&|frame| frame.id == Fill::ID) > 20 && count(&is_refusal) > 20
    });
    let down = platform.run("down");
    assert!(down.status.success(), "{}{}", stdout(&down), stderr(&down));
    let output = platform.run(&format!("audit --recording {} --format json", recordings.display()));
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((exit(&output), &report["verdict"]), (0, &"same".into()), "{report:#}");
    let parts = report["parts"].as_array().expect("parts");
    let refusals = parts.iter().find(|part| part["part"] == "refusals").expect("refusals");
    assert!(number(&refusals["checked"]) > 20 && refusals["notes"] == serde_json::json!([]), "{refusals:#}");
}

/// A market with moving prices.
const MOVING: &str = r#"
[platform]
instance = "desk"
[md]
source = "sim"
instruments = 2
interval = "5ms"
count = 0
readers = "loose"
[desk]
mark_every = "20ms"
[[desk.margins]]
long = "0.1"
short = "0.1"
[[accounts]]
number = 7
deposit = 10000000
[strategies]
instruments = "all"
program = "builtin:noise"
count = 1
accounts = [7]
params = { every_ms = 20 }
"#;

/// td takes no mark that another one has replaced while it was away, and the audit holds each mark against the market of its own time.
#[test]
fn marks_that_td_takes_late_are_prices_of_the_market() {
    let home = Home::new();
    let path = home.state_path().join("desk.toml");
    std::fs::write(&path, MOVING).expect("the platform file");
    let up = home.colo(&["up", &path.display().to_string(), "--stay"]);
    assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
    let platform = Platform { home };
    let marks = |journal: &str| platform.frames(journal).iter().filter(|frame| frame.id == Mark::ID).count();
    platform.home.wait_for("marks", || marks("td.drops") > 10);
    let td = u32::try_from(number(&platform.home.node("desk", "td")["pid"])).expect("a pid");
    kill(td, "STOP");
    let before = marks("td.drops");
    // Longer than the audit allows a running node for its work.
    std::thread::sleep(std::time::Duration::from_secs(15));
    kill(td, "CONT");
    platform.home.wait_for("marks", || marks("td.drops") > before + 4);
    let report = platform.audit(0);
    assert_eq!(report["verdict"], "same", "{report:#}");
    let (sent, taken) = (marks("ledger.risk"), marks("td.drops"));
    assert!(sent > taken + 50, "{sent} marks were sent, and td has taken {taken}");
    assert!(platform.run("down").status.success());
}

/// The platform's file says less than td let out.
fn limits_of_td(platform: &Platform) {
    let path = platform.home.root.path().join("desk/topology.json");
    let before = std::fs::read_to_string(&path).expect("the topology");
    for (key, value, words) in [
        ("max_order_quantity", 1.into(), "max_order_quantity"),
        ("max_working_orders", 1.into(), "work at once"),
        ("max_position", 1.into(), "if all fills"),
    ] {
        let mut topology: Value = serde_json::from_str(&before).expect("JSON");
        let nodes = topology["nodes"].as_array_mut().expect("nodes");
        let td: &mut Value = nodes.iter_mut().find(|node| node["kind"] == "td").expect("td");
        for strategy in td["section"]["strategies"].as_array_mut().expect("strategies") {
            strategy[key] = Value::clone(&value);
        }
        std::fs::write(&path, topology.to_string()).expect("written");
        let report = platform.audit(4);
        assert!(says(&report, "limits", words), "{key}: {report:#}");
    }
    std::fs::write(&path, before).expect("written");
}

fn is_refusal(frame: &Frame) -> bool {
    frame.id == OrderUpdate::ID
        && matches!(frame.message(), AnyMessage::OrderUpdate(update) if update.execution == 0)
}

/// Journals, and where an audit finds no change of a field, with the reason. All other fields of their messages are looked at.
const JOURNALS: [&str; 8] = [
    "td.orders",
    "td.drops",
    "matching.executions",
    "desk.entries",
    "ledger.risk",
    "ledger.state",
    "reports.",
    "orders.",
];

/// Fields of which no finding is due: journal, message, field, why.
const UNSEEN: &[(&str, &str, &str, &str)] = &[
    (
        "reports.",
        "OrderUpdate refusal",
        "reported_up_to",
        "how far td had reported: it is in no other journal",
    ),
    ("td.drops", "OrderUpdate refusal", "reported_up_to", "zero there, and left out of the comparison"),
    ("orders.", "*", "source", "td writes it: in a strategy's own journal it means nothing"),
    ("orders.", "NewOrder", "account", "where a strategy names none, td chooses; a change of zero names one"),
    ("ledger.state", "SnapshotBegin", "*", "it names the snapshot and its reader; positions carry the money"),
    ("ledger.state", "SnapshotEnd", "*", "the same"),
    (
        "ledger.state",
        "OrderUpdate",
        "*",
        "orders at work are restated for who joins late; the accounts do not use them",
    ),
    ("ledger.state", "Quote", "*", "market data is restated for who joins late"),
    (
        "ledger.state",
        "PositionState",
        "average_price",
        "rounded for who reads it; cash and lots are looked at",
    ),
    (
        "ledger.state",
        "PositionState",
        "mark_price",
        "rounded away by one unit of a price; see realised and unrealised",
    ),
    ("ledger.state", "PositionState", "reserved", "spare"),
    ("ledger.risk", "CancelOrder", "*", "the guard's cancels: td's own look the same in its journal"),
    (
        "orders.",
        "ReplaceOrder",
        "*",
        "one that td refuses stands nowhere else; of those that it took see td.orders",
    ),
    ("ledger.state", "PositionState", "realised", "rounded: only a larger change than a unit differs"),
    ("ledger.state", "PositionState", "unrealised", "rounded: only a larger change than a unit differs"),
];

fn is_unseen(journal: &str, kind: &str, field: &str) -> bool {
    let fits = |pattern: &str, name: &str| pattern == "*" || pattern == name;
    UNSEEN.iter().any(|(family, message, name, _)| {
        *family == journal
            && (fits(message, kind) || kind.starts_with(&format!("{message} ")))
            && fits(name, field)
    })
}

/// The fields of a message that are not of one byte of a name or a reason: another byte of a text is one more of the same.
fn fields(id: u16) -> &'static [Field] {
    TABLE.iter().find(|known| known.id == id).map_or(&[], |known| known.record.fields)
}

/// The payload with one field changed by one unit, so that it can still be read; `None` where no other value can.
fn changed(frame: &Frame, field: &Field) -> Option<Vec<u8>> {
    [1_u8, 2, 3, 4, 8, 16].into_iter().find_map(|bits| {
        let mut payload = frame.payload.clone();
        *payload.get_mut(field.offset)? ^= bits;
        AnyMessage::decode(frame.id, &payload).is_ok().then_some(payload)
    })
}

/// The order that a request is about, or its own number.
fn order_of(frame: &Frame) -> Option<OrderId> {
    match frame.message() {
        AnyMessage::NewOrder(order) => Some(order.order_id),
        AnyMessage::CancelOrder(cancel) => Some(cancel.order_id),
        AnyMessage::CancelAll(cancel) => Some(cancel.order_id),
        AnyMessage::ReplaceOrder(replace) => Some(replace.order_id),
        _ => None,
    }
}

/// Every so manieth change is tried; `COLO_AUDIT_MUTATIONS=all` tries all of them.
const STRIDE: usize = 9;

#[test]
fn each_field_that_carries_money_price_id_or_status_is_looked_at() {
    let platform = Platform::ran();
    assert_sound(&platform.audit(0));
    let mut cases: Vec<(&str, String, String, Frame, &'static Field)> = Vec::new();
    let sent: BTreeSet<(u16, OrderId)> = platform
        .journals("td.orders")
        .into_iter()
        .flat_map(|journal| platform.frames(&journal))
        .filter_map(|frame| Some((frame.id, order_of(&frame)?)))
        .collect();
    let is_sent = |frame: &Frame| order_of(frame).is_some_and(|id| sent.contains(&(frame.id, id)));
    for family in JOURNALS {
        let mut kinds: BTreeMap<String, Vec<(String, Frame)>> = BTreeMap::new();
        for journal in platform.journals(family) {
            for frame in platform.frames(&journal) {
                let name = frame.message().name();
                let class = match frame.id {
                    _ if family == "td.drops" && frame.topic == DROP_REFUSED => format!("{name} refused"),
                    OrderUpdate::ID if is_refusal(&frame) && family != "matching.executions" => {
                        format!("{name} refusal")
                    }
                    _ => name.to_owned(),
                };
                assert!(family != "td.drops" || [DROP_TAKEN, DROP_REFUSED].contains(&frame.topic));
                kinds.entry(class).or_default().push((journal.clone(), frame));
            }
        }
        for (class, mut frames) in kinds {
            // What td refuses, or answers itself, stands nowhere else as it was asked.
            if family == "orders." && frames.iter().any(|(_, frame)| is_sent(frame)) {
                frames.retain(|(_, frame)| is_sent(frame));
            }
            // What stands at the very end may be on its way to another journal: the first refusals are older.
            let place = if class.contains("refus") { 0 } else { frames.len() / 2 };
            let (journal, frame) = frames[place].clone();
            let id = frame.id;
            let its = fields(id).iter().filter(|field| !is_unseen(family, &class, field.name));
            cases.extend(its.map(|field| (family, class.clone(), journal.clone(), frame.clone(), field)));
        }
    }
    let is_all = std::env::var("COLO_AUDIT_MUTATIONS").is_ok_and(|which| which == "all");
    let stride = if is_all { 1 } else { STRIDE };
    let (mut tried, mut missed) = (0, Vec::new());
    for (_, class, journal, frame, field) in cases.iter().step_by(stride) {
        let Some(bytes) = changed(frame, field) else { continue };
        tried += 1;
        let (code, report) = platform.planted(&[(journal.as_str(), frame, bytes)]);
        if code != 4 {
            missed.push(format!(
                "{journal}@{}: {class}.{}: exit {code}, {}",
                frame.position, field.name, report["verdict"]
            ));
        }
    }
    println!("{tried} of {} changes were tried", cases.len());
    assert!(missed.is_empty(), "{} of {tried} are not found:\n{}", missed.len(), missed.join("\n"));
    assert!(tried > 20, "{tried}");
}
