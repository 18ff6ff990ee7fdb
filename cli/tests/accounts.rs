//! The verbs of accounts, as a user runs them beside a platform that trades.

mod home;

use std::os::unix::fs::FileExt;
use std::process::Output;

use journal::{Journal, JournalFiles};
use serde_json::Value;
use wire::{EntryResult, Fill, Message};

use home::{Home, kill, number, stderr, stdout};

/// Rings that never go round, so that everything can be counted from its first frame on.
const CONFIG: &str = r#"
[platform]
instance = "desk"
[md]
source = "exchange"
instruments = 2
[td]
restart_backoff = "0s"
[journal]
capacity = "8MiB"
td.orders.capacity = "16MiB"
td.drops.capacity = "64MiB"
[desk]
mark_every = "20ms"
limits = { order_rate = "100000" }
[[desk.contracts]]
multiplier = 10
[[desk.margins]]
long = "0.1"
short = "0.1"
[[desk.fees]]
rate = "0.0001"
minimum = "0.5"
unit = "0.01"
[[desk.fees]]
charge = 2
kind = "tax"
side = "sell"
rate = "0.0005"
[[desk.groups]]
number = 1
limits = { gross_notional = 1000000000 }
[[accounts]]
number = 7
name = "house"
group = 1
deposit = 10000000
[[accounts]]
number = 8
kind = "futures"
method = "settlement"
group = 1
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
[[strategies.group]]
name = "own"
program = "builtin:noise"
count = 1
params = { every_ms = 5, depth_ticks = 2 }
"#;

/// A platform that runs, and its home.
struct Platform {
    home: Home,
}

impl Platform {
    fn up(more: &str) -> Platform {
        Platform::of(&(CONFIG.to_owned() + more))
    }

    fn of(config: &str) -> Platform {
        let home = Home::new();
        let path = home.state_path().join("desk.toml");
        std::fs::write(&path, config).expect("the platform file");
        let up = home.colo(&["up", &path.display().to_string(), "--stay"]);
        assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
        Platform { home }
    }

    /// Its platform file.
    fn file(&self) -> String {
        self.home.state_path().join("desk.toml").display().to_string()
    }

    fn run(&self, line: &str) -> Output {
        self.home.colo(&line.split(' ').collect::<Vec<_>>())
    }

    fn json(&self, line: &str) -> Value {
        self.home.json(&line.split(' ').chain(["--format", "json"]).collect::<Vec<_>>())
    }

    /// Sends a signal to all strategies.
    fn signal(&self, signal: &str) {
        let status = self.json("status");
        let strategies = status["nodes"].as_array().expect("nodes").clone().into_iter();
        for node in strategies.filter(|node| node["kind"] == "strategy") {
            kill(u32::try_from(number(&node["pid"])).expect("a pid"), signal);
        }
    }

    /// Strategies stand still, and nothing is written to the drop copy any more.
    fn settles(&self) {
        self.signal("STOP");
        let mut last = 0;
        self.home.wait_for("quiet", || {
            std::thread::sleep(std::time::Duration::from_millis(400));
            let head = Journal::open_read_only(self.journal("td.drops")).expect("the drop copy").head();
            std::mem::replace(&mut last, head) == head
        });
    }

    fn waits_for_fills(&self) {
        self.home.wait_for("fills", || {
            let matching = self.home.node("desk", "matching");
            matching["counters"]["fills"].as_u64().is_some_and(|fills| fills > 20)
        });
    }

    /// The first fill in a journal, and its position.
    fn first_fill(&self, name: &str) -> (u64, Fill) {
        let journal = Journal::open_read_only(self.journal(name)).expect("the journal");
        let mut reader = journal.loose_from_start().expect("its begin");
        loop {
            let frame = reader.read().expect("a frame").expect("a fill");
            if frame.message_id == Fill::ID {
                return (frame.position, Fill::decode(frame.payload).expect("a fill"));
            }
        }
    }

    /// Writes over the payload of a frame.
    fn overwrite(&self, name: &str, position: u64, payload: &[u8]) {
        let files = self.journal(name);
        let capacity = Journal::open_read_only(files.clone()).expect("the journal").shape().capacity;
        let ring = std::fs::OpenOptions::new().write(true).open(&files.ring).expect("the ring");
        let place = position % capacity + journal::layout::frame::HEADER_BYTES;
        ring.write_all_at(payload, place).expect("written");
    }

    /// The report of an audit that finds something.
    fn differs(&self) -> Value {
        let output = self.run("audit --format json");
        assert_eq!(exit(&output), 4, "{}", stdout(&output));
        serde_json::from_slice(&output.stdout).expect("JSON")
    }

    fn journal(&self, name: &str) -> JournalFiles {
        let folder = self.home.root.path().join("desk/journals");
        JournalFiles::new(&folder, &folder, name)
    }
}

fn exit(output: &Output) -> i32 {
    output.status.code().unwrap_or(-1)
}

#[test]
fn a_change_takes_effect_at_a_position_or_is_refused_with_its_reason() {
    let platform = Platform::up("");
    let opened = platform.json("account open 9 --kind cash --group 2 --name third --who ann --why mandate");
    assert_eq!((&opened["state"], &opened["who"]), (&"taken".into(), &"ann".into()), "{opened}");
    let deposit = platform.json("account deposit 9 0.000000001 --why dust");
    assert!(number(&deposit["position"]) > number(&opened["position"]), "{deposit}");
    assert!(!deposit["who"].as_str().unwrap_or_default().is_empty(), "the login name: {deposit}");
    let shown = platform.json("account show 9");
    assert_eq!(shown["money"][0]["balance"], "0.000000001", "{shown}");
    assert_eq!((&shown["kind"], &shown["group"]), (&"cash".into(), &2.into()), "{shown}");
    let refused = platform.run("account withdraw 9 1 --why error");
    assert_eq!(exit(&refused), 1, "{}", stdout(&refused));
    assert!(stderr(&refused).contains("there is not as much available"), "{}", stderr(&refused));
    let refused = platform.run("account open 9 --why again");
    assert!(stderr(&refused).contains("an account of this number exists"), "{}", stderr(&refused));
    // A limit is set, shown and lifted.
    platform.json("account limit position 5 --account 9 --instrument SIM002 --why mandate");
    platform.json("account limit order-rate 500/50 --account 9 --why mandate");
    let limits = platform.json("account show 9")["limits"].clone();
    let values: Vec<&str> =
        limits.as_array().into_iter().flatten().filter_map(|one| one["value"].as_str()).collect();
    assert_eq!(values, ["500/50", "5"], "{limits}");
    platform.json("account limit order-rate none --account 9 --why lifted");
    assert_eq!(platform.json("account show 9")["limits"].as_array().map(Vec::len), Some(1));
    // Rules of all instruments, as the help shows them.
    for line in [
        "account fee 1 --rate 0.0025 --minimum 5 --unit 0.01 --why tariff",
        "account margin --long 0.1 --short 0.12 --why exchange",
        "account margin --symbols SIM --long 0.1 --short 0.12 --why exchange",
    ] {
        assert_eq!(platform.json(line)["state"], "taken", "{line}");
    }
    // Nothing is accepted that would be kept cut.
    let long = platform.run(&format!("account freeze 9 --why {}", "x".repeat(65)));
    assert_eq!((exit(&long), stderr(&long).contains("longer than 64 bytes")), (2, true));
    for (line, word) in [
        ("account limit money 5 --all --why x", "`on` or `off`"),
        ("account limit loss on --all --why x", "a number or `none`"),
        ("account limit loss five --all --why x", "write a number"),
        ("kill --strategy nobody-1 --why x", "there is no strategy `nobody-1`"),
        ("account show 4711", "has no account 4711"),
        ("account show --strategy noise-1", "it trades for accounts 8, 7"),
        ("account limit loss 5 --account 8 --instrument SIM001 --why x", "leave --instrument out"),
        (
            "account margin --long 10 --why x",
            "a margin of 1000 % is more than 100 %: if it is meant, say --force",
        ),
        (
            "account fee 1 --rate 0.25 --why x",
            "a charge of 25 % is more than 10 %: if it is meant, say --force",
        ),
        ("account freeze 9 --why two\nlines", "control character"),
        ("account open 10 --name \x1b[2J --why x", "control character"),
    ] {
        let output = platform.run(line);
        assert_eq!(exit(&output), 2, "{line}: {}", stderr(&output));
        assert!(stderr(&output).contains(word), "{line}: {}", stderr(&output));
    }
    let csv = stdout(&platform.run("account list --format csv"));
    let rows: Vec<&str> = csv.lines().collect();
    assert!(rows[0].starts_with("account,strategy,kind,currency,balance"), "{csv}");
    assert!(rows.iter().any(|row| row.starts_with("9,,cash,CNY,0.000000001")), "{csv}");
}

#[test]
fn changes_at_the_same_time_all_take_effect_also_while_master_is_dead() {
    let platform = Platform::up("");
    platform.json("account open 9 --why mandate");
    let master = number(&platform.home.node("desk", "master")["pid"]);
    kill(u32::try_from(master).expect("a pid"), "KILL");
    let threads = 8;
    let positions: Vec<u64> = std::thread::scope(|scope| {
        let deposits: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(|| number(&platform.json("account deposit 9 1.5 --why together")["position"]))
            })
            .collect();
        deposits.into_iter().map(|one| one.join().expect("a deposit")).collect()
    });
    let mut apart = positions.clone();
    apart.sort_unstable();
    apart.dedup();
    assert_eq!(apart.len(), threads, "{positions:?}");
    assert_eq!(platform.json("account show 9")["money"][0]["deposits"], "12");
}

#[test]
fn a_kill_cancels_what_works_and_status_says_so_until_it_is_revived() {
    let platform = Platform::up("");
    platform.waits_for_fills();
    let killed = platform.json("kill --account 7 --why test");
    assert_eq!(killed["state"], "taken", "{killed}");
    assert!(number(&killed["cancels"]) > 0, "makers' orders rest: {killed}");
    assert_eq!((&killed["orders"], number(&killed["working"])), (&killed["ended"], 0), "{killed}");
    assert_eq!(platform.json("account show 7")["open_orders"], 0, "it says what has ended");
    let text = stdout(&platform.run("status"));
    assert!(text.contains("killed: account 7 (entry)"), "{text}");
    assert_eq!(platform.json("status")["killed"][0]["subject"], 7);
    assert_eq!(platform.json("account show 7")["is_killed"], true);
    let again = platform.json("kill --account 7 --why twice");
    assert_eq!((&again["state"], number(&again["working"])), (&Value::from("again"), 0), "{again}");
    assert_eq!(again["refusal"], Value::Null, "{again}");
    assert_eq!(platform.json("revive --account 7 --why tested")["state"], "taken");
    assert!(!stdout(&platform.run("status")).contains("killed:"));
    let strategy = platform.json("kill --strategy own-1 --why test");
    assert_eq!(strategy["what"], "kill strategy own-1", "{strategy}");
    assert_eq!(platform.json("status")["killed"][0]["name"], "own-1");
    for line in ["kill --group 1 --why test", "kill --all --why test"] {
        assert_eq!(platform.json(line)["state"], "taken", "{line}");
    }
    assert_eq!(platform.json("status")["killed"].as_array().map(Vec::len), Some(3));
}

#[test]
fn while_td_does_not_answer_an_entry_waits_for_it() {
    let platform = Platform::up("");
    let td = u32::try_from(number(&platform.home.node("desk", "td")["pid"])).expect("a pid");
    kill(td, "STOP");
    let output = platform.run("account deposit 7 5 --why late");
    assert_eq!(exit(&output), 5, "{}", stderr(&output));
    assert!(stdout(&output).contains("it takes effect when td runs"), "{}", stdout(&output));
    // What td has not read yet is missing nowhere.
    let audit = platform.run("audit");
    assert_eq!(exit(&audit), 0, "{}", stdout(&audit));
    assert!(stdout(&audit).contains("1 frame of desk.entries not in td.drops yet"), "{}", stdout(&audit));
    kill(td, "CONT");
    platform
        .home
        .wait_for("the deposit", || platform.json("account show 7")["money"][0]["deposits"] == "10000005");
}

#[test]
fn an_audit_agrees_with_a_run_and_notices_what_was_changed_in_it() {
    let platform = Platform::up("");
    platform.waits_for_fills();
    platform.json("account deposit 8 12.5 --why more");
    let refused = platform.run("account withdraw 8 1000000000 --why error");
    assert_eq!(exit(&refused), 1);
    // Beside the platform that trades, and when it is over.
    let during = platform.run("audit");
    assert_eq!(exit(&during), 0, "{}\n{}", stdout(&during), stderr(&during));
    platform.settles();
    let report = platform.json("audit");
    assert_eq!((&report["verdict"], &report["from_begin"]), (&"same".into(), &true.into()), "{report:#}");
    for part in report["parts"].as_array().expect("parts") {
        // No account has a bound beyond which positions are closed by force.
        let is_bare = part["part"] == "forced";
        assert!((number(&part["checked"]) > 0 || is_bare) && part["whole"] == true, "{part}");
    }
    let notes = report["parts"][1]["notes"].to_string();
    assert!(!notes.contains("not compared") && !notes.contains("\"0 snapshots"), "{notes}");
    // One lot more in one fill: it is no more what the market said, and its order has traded more than it says.
    let (position, fill) = platform.first_fill("td.drops");
    let changed = Fill { quantity: wire::Quantity(fill.quantity.0 + 1), ..fill };
    platform.overwrite("td.drops", position, changed.bytes());
    let report = platform.differs();
    let rows = report["differences"].as_array().expect("differences");
    for part in ["sequence", "orders"] {
        assert!(rows.iter().any(|row| row["part"] == part), "{part}: {report:#}");
    }
    assert!(rows.iter().any(|row| row["position"] == position), "{report:#}");
    // Another price in both journals: they agree, but not with the reports and the other side, and who follows them comes to other
    // money than the ledger.
    let (source, original) = platform.first_fill("matching.executions");
    let price = wire::Price(original.price.0 + 1_000_000_000);
    platform.overwrite("matching.executions", source, Fill { price, ..original }.bytes());
    platform.overwrite("td.drops", position, Fill { price, ..fill }.bytes());
    let report = platform.differs();
    let rows = report["differences"].as_array().expect("differences");
    let parts: std::collections::BTreeSet<&str> =
        rows.iter().filter_map(|row| row["part"].as_str()).collect();
    assert_eq!(parts.into_iter().collect::<Vec<_>>(), ["reports", "states", "venue"], "{report:#}");
}

#[test]
fn what_a_killed_td_left_to_its_successor_is_no_difference() {
    let platform = Platform::up("");
    platform.waits_for_fills();
    let pid = |node: &str| u32::try_from(number(&platform.home.node("desk", node)["pid"])).expect("a pid");
    let (master, td, matching) = (pid("master"), pid("td"), pid("matching"));
    // Without a master nobody is started again. td sends on, and is not answered; then matching answers, and is not heard.
    kill(master, "KILL");
    // The end of master orphans its process group, and the kernel continues what is stopped there: only then is matching stopped.
    platform.home.wait_for("the end of master", || {
        let stat = std::fs::read_to_string(format!("/proc/{master}/stat")).unwrap_or_default();
        stat.is_empty() || stat.contains(") Z ")
    });
    kill(matching, "STOP");
    let head = || Journal::open_read_only(platform.journal("td.orders")).expect("td's orders").head();
    let stopped = head();
    platform.home.wait_for("orders that are not answered", || head() > stopped + 4096);
    assert_eq!(exit(&platform.run("audit")), 0);
    kill(td, "KILL");
    let answers =
        || Journal::open_read_only(platform.journal("matching.executions")).expect("answers").head();
    let unanswered = answers();
    kill(matching, "CONT");
    assert_eq!(exit(&platform.run("account deposit 7 5 --why late")), 5);
    platform.home.wait_for("answers that td does not read", || answers() > unanswered);
    platform.settles();
    let report = platform.json("audit");
    assert_eq!(report["differences"], Value::Array(Vec::new()), "{report:#}");
    let notes = report["parts"][0]["notes"].to_string();
    for journal in ["matching.executions", "desk.entries"] {
        assert!(notes.contains(&format!("of {journal} not in td.drops yet")), "{notes}");
    }
    assert!(notes.contains("td does not run, and its successor writes it"), "{notes}");
    // The successor writes it.
    platform.signal("CONT");
    let up = platform.home.colo(&["up", &platform.file(), "--stay"]);
    assert!(up.status.success(), "{}\n{}", stderr(&up), platform.home.logs());
    let audit = platform.run("audit");
    assert_eq!(exit(&audit), 0, "{}", stdout(&audit));
    platform
        .home
        .wait_for("the deposit", || platform.json("account show 7")["money"][0]["deposits"] == "10000005");
    let audit = platform.run("audit");
    assert_eq!(exit(&audit), 0, "{}", stdout(&audit));
    assert!(!stdout(&audit).contains("of desk.entries not in"), "{}", stdout(&audit));
}

#[test]
fn a_ledger_that_is_behind_publishes_nothing_that_differs() {
    let platform = Platform::up("");
    platform.settles();
    let ledger = u32::try_from(number(&platform.home.node("desk", "ledger")["pid"])).expect("a pid");
    kill(ledger, "STOP");
    assert_eq!(exit(&platform.run("account deposit 7 5 --why early")), 0);
    let audit = platform.run("audit");
    assert_eq!(exit(&audit), 0, "{}", stdout(&audit));
    assert!(stdout(&audit).contains("the ledger has not got there"), "{}", stdout(&audit));
    kill(ledger, "CONT");
    platform.home.wait_for("the ledger", || !stdout(&platform.run("audit")).contains("not got there"));
}

#[test]
fn what_the_drop_copy_has_passed_over_is_a_difference() {
    let platform = Platform::up("");
    for amount in [1, 2, 3] {
        platform.json(&format!("account deposit 8 {amount} --why more"));
    }
    platform.settles();
    let journal = Journal::open_read_only(platform.journal("td.drops")).expect("the drop copy");
    let mut reader = journal.loose_from_start().expect("its begin");
    let mut results = Vec::new();
    while let Some(frame) = reader.read().expect("a frame") {
        if frame.message_id == EntryResult::ID {
            results.push((frame.position, EntryResult::decode(frame.payload).expect("a result")));
        }
    }
    let [.., (_, first), (position, second), (_, third)] = results[..] else { panic!("{results:?}") };
    // As if the second had never been answered, and the third twice.
    platform.overwrite("td.drops", position, third.bytes());
    let report = platform.differs();
    let rows = report["differences"].as_array().expect("differences");
    let missing =
        |entry: u64| rows.iter().any(|row| row["journal"] == "desk.entries" && row["position"] == entry);
    assert_eq!((missing(first.entry), missing(second.entry)), (false, true), "{report:#}");
}

#[test]
fn an_audit_of_rings_that_have_gone_round_looks_at_what_is_left() {
    let small = CONFIG.replace(r#"td.orders.capacity = "16MiB""#, r#"td.orders.capacity = "64KiB""#);
    let small = small.replace(
        r#"td.drops.capacity = "64MiB""#,
        "td.drops.capacity = \"128KiB\"\nmatching.capacity = \"64KiB\"",
    );
    let platform = Platform::of(&small);
    let mut report = Value::Null;
    platform.home.wait_for("a second round", || {
        report = platform.json("audit");
        report["from_begin"] == false
    });
    assert_eq!(
        (&report["verdict"], &report["differences"]),
        (&"inconclusive".into(), &Value::Array(Vec::new())),
        "{report:#}"
    );
    assert!(number(&report["parts"][1]["checked"]) > 100, "it followed from a snapshot: {report:#}");
    assert_eq!(report["parts"][2]["whole"], false, "{report:#}");
    assert_eq!(exit(&platform.run("audit")), 5);
    assert_eq!(platform.json("account show 7")["account"], 7);
}

#[test]
fn a_day_is_settled_once_and_again_gives_the_same_bytes() {
    let platform = Platform::up("");
    platform.waits_for_fills();
    assert_eq!(platform.json("kill --all --why close")["state"], "taken");
    platform.settles();
    let folder = platform.home.state_path().join("statements");
    let file = platform.home.state_path().join("prices.csv");
    std::fs::write(&file, "symbol,price\nSIM001,101.5\nSIM002,99\n").expect("prices");
    let (file, out) = (file.display(), folder.display());
    let line = format!("settle 20260131 --prices {file} --who ann --out {out}");
    let report = platform.json(&line);
    assert_eq!(report["state"], "settled", "{report}");
    let read = || {
        ["statements", "positions"].map(|name| {
            std::fs::read_to_string(folder.join(format!("{name}-20260131.csv"))).expect("a table")
        })
    };
    let first = read();
    assert!(first[0].lines().count() >= 3 && first[1].lines().count() >= 2, "{first:?}");
    let again = platform.json(&line);
    assert_eq!((&again["state"], read() == first), (&"already".into(), true), "{again}");
    assert_eq!(again["statements"], report["statements"]);
    // Statements add up.
    for row in report["statements"].as_array().expect("statements") {
        let amount = |name: &str| -> i128 {
            let amount: topology::config::Decimal =
                row[name].as_str().expect("text").parse().expect("an amount");
            amount.0
        };
        let came = amount("opening") + amount("deposits") - amount("withdrawals")
            + amount("realised")
            + amount("variation")
            - amount("invested")
            - amount("fees")
            - amount("taxes");
        assert_eq!(came, amount("closing"), "{row}");
    }
    let earlier = platform.run("settle 20260130 --prices last");
    assert!(exit(&earlier) == 1 && stderr(&earlier).contains("20260131"), "{}", stderr(&earlier));
    // The marks are the settlement prices now.
    let next = platform.json("settle 20260201 --prices last");
    assert_eq!((&next["state"], &next["prices"]), (&"settled".into(), &2.into()), "{next}");
    assert_eq!(platform.json("audit")["verdict"], "same");
}

#[test]
fn a_settlement_that_did_not_take_place_leaves_nothing_to_the_next() {
    let platform = Platform::up("");
    platform.waits_for_fills();
    let file = |name: &str, text: &str| {
        let path = platform.home.state_path().join(name);
        std::fs::write(&path, text).expect("prices");
        path.display().to_string()
    };
    let slip = file("slip.csv", "symbol,price\nSIM001,10300\nSIM002,99\n");
    for (name, text, says) in [
        ("slip.csv", "symbol,price\nSIM001,10300\nSIM002,99\n", "--force"),
        ("zero.csv", "symbol,price\nSIM001,0\n", "--force"),
        ("cut.csv", "symbol,price\nSIM001,10", "cut"),
    ] {
        let output = platform.run(&format!("settle 20260131 --prices {}", file(name, text)));
        assert!(exit(&output) == 2 && stderr(&output).contains(says), "{name}: {}", stderr(&output));
    }
    let busy = platform.run(&format!("settle 20360131 --prices {slip} --force"));
    assert!(exit(&busy) == 1 && stderr(&busy).contains("still work"), "{}", stderr(&busy));
    assert_eq!(platform.json("kill --all --why close")["state"], "taken");
    platform.settles();
    // A day that nobody can mean would be the last one for ever.
    let far = platform.run("settle 20360131 --prices last");
    assert!(exit(&far) == 1 && stderr(&far).contains("more than 14 days after"), "{}", stderr(&far));
    let second = file("second.csv", "symbol,price\nSIM002,99\n");
    let missing = platform.run(&format!("settle 20260131 --prices {second}"));
    assert!(exit(&missing) == 1 && stderr(&missing).contains("no settlement price"), "{}", stderr(&missing));
    assert_eq!(platform.json("settle 20260131 --prices last")["state"], "settled");

    // td sleeps: everything is entered, and takes effect when it runs.
    let td = u32::try_from(number(&platform.home.node("desk", "td")["pid"])).expect("a pid");
    kill(td, "STOP");
    let asleep = platform.run("settle 20260201 --prices last");
    kill(td, "CONT");
    assert_eq!(exit(&asleep), 5, "{}{}", stdout(&asleep), stderr(&asleep));
    platform
        .home
        .wait_for("the settlement", || platform.json("settle 20260201 --prices last")["state"] == "already");

    // Two at once: one settles, the other hears of it.
    let prices = ["100", "101"].map(|price| {
        file(&format!("{price}.csv"), &format!("symbol,price\nSIM001,{price}\nSIM002,{price}\n"))
    });
    let both = prices.map(|prices| {
        let line = format!("settle 20260202 --prices {prices} --format json");
        platform.home.command(&line.split(' ').collect::<Vec<_>>()).spawn().expect("it starts")
    });
    let both = both.map(std::process::Child::wait_with_output);
    let mut states: Vec<String> = both
        .into_iter()
        .map(|output| {
            let report: Value = serde_json::from_slice(&output.expect("its output").stdout).expect("JSON");
            report["state"].as_str().expect("text").to_owned()
        })
        .collect();
    states.sort();
    assert_eq!(states, ["already", "settled"]);
    assert_eq!(platform.json("audit")["verdict"], "same");
}

#[test]
fn a_switch_that_falls_by_itself_says_why() {
    let platform = Platform::up("");
    platform.waits_for_fills();
    assert_eq!(
        platform.json("account limit runaway-rate 1/1 --strategy makers-1 --why test")["state"],
        "taken"
    );
    platform.home.wait_for("the kill", || {
        let killed = platform.json("status")["killed"].clone();
        killed.as_array().is_some_and(|killed| killed.iter().any(|one| one["cause"] == "runaway-rate"))
    });
}

#[test]
fn a_recording_is_audited_like_the_instance() {
    let home = Home::new();
    let folder = home.state_path().join("recordings");
    drop(home);
    let platform = Platform::up(&format!("[[recorder]]\npath = \"{}\"\n", folder.display()));
    platform.waits_for_fills();
    platform.settles();
    platform.signal("CONT");
    let down = platform.run("down");
    assert!(down.status.success(), "{}", stderr(&down));
    let output = platform.run(&format!("audit --recording {} --format json", folder.display()));
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}\n{}", stdout(&output), stderr(&output)));
    let _ = std::fs::remove_dir_all(&folder);
    assert_eq!(exit(&output), 0, "{report:#}");
    assert!(number(&report["frames"]) > 100, "{report:#}");
}

#[test]
fn what_a_dead_platform_left_is_shown_and_audited_and_not_changed() {
    let platform = Platform::up("");
    platform.waits_for_fills();
    let status = platform.json("status");
    // Master is the first: it starts nobody again.
    for node in status["nodes"].as_array().expect("nodes") {
        kill(u32::try_from(number(&node["pid"])).expect("a pid"), "KILL");
    }
    platform.home.wait_for("their end", || platform.json("status")["phase"] == "dead");
    assert_eq!(platform.json("account show 7")["account"], 7);
    let audit = platform.run("audit");
    assert_eq!(exit(&audit), 0, "{}", stdout(&audit));
    let change = platform.run("account deposit 7 5 --why late");
    assert_eq!(exit(&change), 69, "{}", stderr(&change));
    assert!(stderr(&change).contains("`colo up` begins anew"), "{}", stderr(&change));
}

#[test]
fn a_platform_without_accounts_says_so() {
    let home = Home::new();
    let up = home.colo(&["up", "--stay", "--set", "md.count=0"]);
    assert!(up.status.success(), "{}", stderr(&up));
    for line in [
        "account list",
        "account deposit 7 5 --why x",
        "kill --all --why x",
        "audit",
        "settle 20260131 --prices last",
    ] {
        let output = home.colo(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(exit(&output), 2, "{line}: {}", stderr(&output));
        assert!(stderr(&output).contains("keeps no accounts"), "{line}: {}", stderr(&output));
    }
    assert!(home.json(&["status", "--format", "json"])["killed"].is_null());
    let checked = home.json(&["check", "--format", "json"]);
    assert!(checked["accounts"].is_null(), "{checked}");
}
