//! Where nodes run and where journals lie, as the kernel says it of the running platform.

mod home;

use std::process::Command;

use home::{Home, number, stderr};
use pinning::Host;
use serde_json::Value;

/// A platform that runs until it is taken down, with its nodes pinned: td to one CPU, all others to another.
fn platform(home: &Home, td: usize, others: usize) -> String {
    let file = home.root.path().join("platform.toml");
    let text = format!(
        "[platform]\ninstance = \"placed\"\n[md]\ncount = 0\ninstruments = 2\ninterval = \"20ms\"\n\
         [strategies]\ncount = 1\n[pin.nodes]\n\"*\" = {{ cpu = {others} }}\ntd = {{ cpu = {td} }}\n"
    );
    std::fs::write(&file, text).expect("written");
    file.to_str().expect("a path").to_owned()
}

fn node<'a>(status: &'a Value, name: &str) -> &'a Value {
    let nodes = status["nodes"].as_array().expect("nodes");
    nodes.iter().find(|node| node["node"] == name).expect("the node")
}

#[test]
fn huge_pages_that_are_required_and_missing_stop_everything_before_it_starts() {
    let home = Home::new();
    // 64 GiB on pages of 1 GiB: no host of the tests has that.
    let mut arguments = vec!["up", "--stay"];
    let keys =
        ["huge_pages=require", "page=1GiB", "capacity=64GiB"].map(|key| format!("journal.md.quotes.{key}"));
    keys.iter().for_each(|key| arguments.extend(["--set", key]));
    let output = home.colo(&arguments);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("need 64 huge pages of 1 GiB") && said.contains("nr_hugepages"), "{said}");
    assert_eq!(home.left(), Vec::<std::path::PathBuf>::new());
    assert!(!home.logs().contains("started as process"), "no node was started");
}

#[test]
fn status_and_report_say_where_nodes_run_and_where_journals_lie() {
    let allowed = Host::read("/".as_ref()).expect("a host").allowed;
    let (td, others) = (allowed.last().expect("a CPU"), allowed.first().expect("a CPU"));
    let home = Home::new();
    let file = platform(&home, td, others);
    let up = home.colo(&["up", &file, "--stay", "--set", "journal.huge_pages=transparent"]);
    assert_eq!(up.status.code(), Some(0), "{}", stderr(&up));
    let status = || home.json(&["status", "placed", "--format", "json"]);
    let first = status();
    for journal in first["journals"].as_array().expect("journals") {
        // Whether the kernel had huge pages to give is its affair; that it was asked is ours.
        let kind = journal["pages"]["kind"].as_str().unwrap_or_else(|| panic!("{journal}"));
        assert!(["small", "transparent"].contains(&kind), "{journal}");
        assert_eq!(number(&journal["capacity_bytes"]) % (2 << 20), 0, "{journal}");
    }
    assert_eq!(node(&first, "td")["planned_cpus"], td.to_string());
    assert_eq!(node(&first, "md")["planned_cpus"], others.to_string());
    home.wait_for("a look at every node", || {
        status()["nodes"]
            .as_array()
            .is_some_and(|nodes| nodes.iter().all(|n| number(&n["place_samples"]) > 0))
    });
    let looked = status();
    for node in looked["nodes"].as_array().expect("nodes") {
        assert_eq!(number(&node["off_plan"]), 0, "{node}");
        let status = std::fs::read_to_string(format!("/proc/{}/status", node["pid"])).expect("it lives");
        let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).expect("a list");
        assert_eq!(line.trim(), node["planned_cpus"], "{node}");
    }
    let moved = td != others && {
        let pid = node(&looked, "td")["pid"].to_string();
        let moved = Command::new("taskset").args(["-pc", &others.to_string(), &pid]).output();
        moved.is_ok_and(|output| output.status.success())
    };
    if moved {
        home.wait_for("td off its plan", || number(&node(&status(), "td")["off_plan"]) > 0);
    } else {
        eprintln!("one CPU, or no taskset: nobody is moved off the plan");
    }
    let report = home.json(&["down", "placed", "--format", "json"]);
    let memory = report["memory"].as_array().expect("memory");
    assert_eq!(memory.len(), first["journals"].as_array().map_or(0, Vec::len));
    assert!(memory.iter().all(|row| row["pages"]["kind"].is_string()), "{memory:?}");
    let caveats = report["caveats"].to_string();
    assert_eq!(caveats.contains("threads of td were off the pin plan"), moved, "{caveats}");
    assert!(!caveats.contains("threads of md"), "{caveats}");
}

/// A line of a process's `/proc/PID/status`.
fn of_process(pid: &str, name: &str) -> String {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("it lives");
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.unwrap_or_else(|| panic!("no `{name}` in {status}")).trim().to_owned()
}

/// Why this process may not lock all its memory; `None` when it may.
fn cannot_lock() -> Option<String> {
    const CAP_IPC_LOCK: u64 = 1 << 14;
    let limits = std::fs::read_to_string("/proc/self/limits").expect("limits");
    let limit = limits.lines().find_map(|line| line.strip_prefix("Max locked memory")).expect("the limit");
    let limit = limit.split_whitespace().next().expect("a number");
    let rights = u64::from_str_radix(&of_process("self", "CapEff"), 16).expect("hexadecimal");
    (limit != "unlimited" && rights & CAP_IPC_LOCK == 0)
        .then(|| format!("RLIMIT_MEMLOCK is {limit} bytes, and there is no CAP_IPC_LOCK"))
}

#[test]
fn a_platform_that_asks_for_it_has_its_nodes_memory_locked() {
    if let Some(reason) = cannot_lock() {
        return println!("skipped: {reason}");
    }
    for (lock, is_locked) in [("platform.lock_memory=true", true), ("platform.lock_memory=false", false)] {
        let home = Home::new();
        let small = ["--set", "md.count=0", "--set", "md.instruments=2", "--set", lock];
        let up = home.colo(&[&["up", "--stay"], &small[..]].concat());
        if home.logs().contains("this kernel does not lock memory") {
            return println!("skipped: mlockall locks nothing on this kernel");
        }
        assert_eq!(up.status.code(), Some(0), "{}\n{}", stderr(&up), home.logs());
        for name in ["md", "td", "matching", "ledger", "takers-1"] {
            let locked = of_process(&home.node("demo", name)["pid"].to_string(), "VmLck");
            let kib: u64 = locked.split(' ').next().and_then(|kib| kib.parse().ok()).expect("a number");
            assert_eq!(kib > 0, is_locked, "{name}: {lock}, VmLck {locked}");
        }
        assert!(home.colo(&["down"]).status.success());
    }
}
