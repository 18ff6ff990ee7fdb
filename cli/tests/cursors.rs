//! No awaited successor, no cursor: a node that has ended for good holds nobody up.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::panic, reason = "a test that cannot go on fails")]

mod home;

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use home::{Home, kill, number, stderr};
use journal::{Journal, JournalFiles};

/// Small rings, which go round within a second or two.
const PLATFORM: &str = r#"
[platform]
instance = "held"
[md]
instruments = 2
interval = "1ms"
count = 0
readers = "gated"
[journal]
capacity = "64KiB"
[[strategies.group]]
name = "takers"
program = "builtin:taker"
count = 1
restart = "never"
[[strategies.group]]
name = "makers"
program = "builtin:market-maker"
count = 1
"#;

const RING: u64 = 64 << 10;

fn up(home: &Home, more: &str) {
    let file = home.state_path().join("held.toml");
    std::fs::write(&file, format!("{PLATFORM}{more}")).unwrap();
    let up = home.colo(&["up", file.to_str().unwrap(), "--stay"]);
    assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
}

fn pid(home: &Home, node: &str) -> u32 {
    u32::try_from(number(&home.node("held", node)["pid"])).unwrap()
}

fn head(home: &Home, journal: &str) -> u64 {
    let folder = home.root.path().join("held/journals");
    Journal::open_read_only(JournalFiles::new(&folder, &folder, journal)).unwrap().head()
}

/// Three rings more are written.
fn goes_on(home: &Home, journal: &str) {
    let end = head(home, journal) + 3 * RING;
    home.wait_for(&format!("position {end} of {journal}"), || head(home, journal) >= end);
}

#[test]
fn a_recorder_or_ledger_that_ends_well_holds_nobody_up() {
    for node in ["recorder", "ledger"] {
        let home = Home::new();
        up(&home, &format!("[[recorder]]\npath = '{}'\n", home.state_path().join("recordings").display()));
        kill(pid(&home, node), "TERM");
        home.wait_for("its end", || home.node("held", node)["state"] == "stopped");
        for journal in ["md.quotes", "matching.executions", "td.orders", "orders.makers-1"] {
            goes_on(&home, journal);
        }
        let down = home.colo(&["down", "held"]);
        // Its exit code reports the end that is not recorded, or not booked.
        assert!(home.left().is_empty(), "{}\n{}", stderr(&down), home.logs());
    }
}

/// Gets copies of a process's descriptors of lock files, as a child of it would have them, and holds them.
const HOLDER: &str = r#"
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
pid = int(sys.argv[1])
process = os.pidfd_open(pid)
held = []
for name in os.listdir(f"/proc/{pid}/fd"):
    if os.readlink(f"/proc/{pid}/fd/{name}").endswith(".lock"):
        held.append(libc.syscall(438, process, int(name), 0))  # pidfd_getfd
print("held" if held and min(held) >= 0 else "refused", flush=True)
sys.stdin.read()
"#;

/// Ends with this.
struct Holder(Child);

impl Drop for Holder {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_helper_that_is_killed_long_after_its_node_holds_nobody_up_from_then_on() {
    let home = Home::new();
    up(&home, "");
    let strategy = pid(&home, "takers-1");
    let mut command = Command::new("python3");
    command.args(["-c", HOLDER, &strategy.to_string()]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let Ok(mut holder) = command.spawn().map(Holder) else {
        println!("skipped: python3 is missing");
        return;
    };
    let mut said = String::new();
    BufReader::new(holder.0.stdout.take().unwrap()).read_line(&mut said).unwrap();
    if said != "held\n" {
        println!("skipped: this user may not copy descriptors of its processes (pidfd_getfd)");
        return;
    }
    kill(strategy, "KILL");
    home.wait_for("its end", || home.node("held", "takers-1")["state"] == "failed");
    // Its cursor cannot be released while its lock is held, and md waits.
    let mut before = head(&home, "md.quotes");
    home.wait_for("a full ring", || {
        std::thread::sleep(std::time::Duration::from_millis(300));
        before == std::mem::replace(&mut before, head(&home, "md.quotes"))
    });
    drop(holder);
    goes_on(&home, "md.quotes");
    assert!(home.colo(&["down", "held"]).status.success(), "{}", home.logs());
}
