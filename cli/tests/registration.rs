//! What is said over master's socket, byte by byte, and a service in another language that says it.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::panic, reason = "a test that cannot go on fails")]

mod home;

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use home::{Home, number, stderr};

/// An answer that takes longer does not come.
const WATCHDOG: Duration = Duration::from_secs(60);

fn vectors() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../node/tests/vectors")
}

/// Requests with their answers.
fn exchanges() -> Vec<(String, String)> {
    let text = std::fs::read_to_string(vectors().join("registration.txt")).unwrap();
    let said = |mark| text.lines().filter_map(move |line| Some(line.strip_prefix(mark)?.to_owned()));
    said("> ").zip(said("< ")).collect()
}

/// False, with the reason printed, where the service cannot run.
fn has_python() -> bool {
    let needs = "import ctypes, sys; ctypes.CDLL('libatomic.so.1'); sys.exit(sys.version_info < (3, 9))";
    match Command::new("python3").args(["-c", needs]).output() {
        Ok(output) if output.status.success() => true,
        other => {
            println!("skipped: no python3 with libatomic.so.1 ({other:?})");
            false
        }
    }
}

/// All that comes back for these bytes, up to the end of the connection.
fn answer(socket: &Path, request: &[u8], ends: bool) -> String {
    let mut stream = UnixStream::connect(socket).unwrap();
    stream.set_read_timeout(Some(WATCHDOG)).unwrap();
    stream.write_all(request).unwrap();
    if ends {
        stream.shutdown(Shutdown::Write).unwrap();
    }
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn log(home: &Home, node: &str) -> String {
    std::fs::read_to_string(home.state_path().join(format!("colo/seats/{node}.log"))).unwrap_or_default()
}

/// What the service in this seat said and heard, with its id replaced.
fn transcript(home: &Home, node: &str) -> Vec<String> {
    let log = log(home, node);
    let pid = log.split("\"pid\":").nth(1).and_then(|rest| rest.split('}').next()).unwrap();
    let lines = log.lines().filter(|line| line.starts_with("> ") || line.starts_with("< "));
    lines.map(|line| line.replace(&format!("\"pid\":{pid}"), "\"pid\":PID")).collect()
}

#[test]
fn a_service_in_python_sits_reads_sleeps_and_leaves_and_master_says_what_the_vectors_say() {
    if !has_python() {
        return;
    }
    let home = Home::new();
    let file = vectors().join("registration.toml");
    let up = home.colo(&["up", file.to_str().unwrap(), "--stay"]);
    assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
    let socket = home.root.path().join("seats/master.sock");

    // One leaves by itself, after so many frames.
    home.wait_for("the end of `seat`", || home.node("seats", "seat")["state"] == "stopped");
    let desk = home.node("seats", "desk");
    assert_eq!((&desk["state"], &desk["kind"]), (&"running".into(), &"service".into()), "{desk}");
    home.wait_for("that `desk` reads", || {
        number(&home.node("seats", "desk")["counters"]["frames_read"]) > 100
    });
    let desk = home.node("seats", "desk");
    assert!(number(&desk["counters"]["wakes"]) > 0, "it sleeps, and writers wake it: {desk}");
    assert_eq!(
        number(&home.node("seats", "seat")["starts"]),
        1,
        "who leaves in good order is not started again"
    );
    for node in ["seat", "desk"] {
        let said = transcript(&home, node);
        let wanted = exchanges();
        let of_node = format!("\"node\":\"{node}\",\"pid\":PID");
        let wanted = wanted.iter().find(|(asked, _)| asked.contains(&of_node)).unwrap();
        assert_eq!(said, [format!("> {}", wanted.0), format!("< {}", wanted.1)]);
    }
    let summary: Value =
        log(&home, "seat").lines().rev().find_map(|line| serde_json::from_str(line).ok()).unwrap();
    assert_eq!(number(&summary["lost"]), 0, "{summary}");
    assert!(number(&summary["read"]["md.quotes"]) > 0, "{summary}");
    assert!(number(&summary["read"]["md.instruments"]) >= 2, "from the first on: {summary}");
    let quotes = home.json(&["journal", "stat", "md.quotes", "seats", "--no-rate", "--format", "json"]);
    let readers = quotes["readers"].as_array().unwrap();
    assert!(readers.iter().all(|reader| reader["node"] != "seat"), "md waits for one who left: {quotes}");
    assert!(readers.iter().any(|reader| reader["node"] == "matching"), "{quotes}");

    let (mut played, this) = (0, std::process::id().to_string());
    let md = number(&home.node("seats", "md")["pid"]).to_string();
    for (asked, answered) in exchanges().iter().filter(|(_, answered)| !answered.contains("assigned")) {
        let asked = asked.replace("PID", &this);
        let wanted = answered.replace("PID", &this).replace("SEATED", &md);
        let ends = played % 2 == 1;
        let line = format!("{asked}{}", if ends { "" } else { "\n" });
        assert_eq!(answer(&socket, line.as_bytes(), ends), format!("{wanted}\n"), "{asked}\n{}", home.logs());
        played += 1;
    }
    println!("{played} exchanges, and two of services");
    // The last of them was to end.
    home.wait_for("the end", || home.left().is_empty());
    let summary = log(&home, "desk");
    assert!(summary.contains("\"woken\""), "asked to stop, it leaves in good order: {summary}");
}

/// Master as process 1 of a pid namespace of its own, asked from outside: the kernel has no id for the client there.
#[test]
fn a_process_that_master_cannot_see_gets_no_seat() {
    let unshare = |arguments: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(["--pid", "--fork", "--mount-proc", "--kill-child"]).args(arguments);
        command
    };
    if !unshare(&["true"]).output().is_ok_and(|output| output.status.success()) {
        println!("skipped: no pid namespace can be made here (unshare --pid --fork --mount-proc)");
        return;
    }
    let home = Home::new();
    let arguments = ["up", "--foreground", "--set", "md.count=0", "--set", "strategies.count=1"];
    let mut command = unshare(&[env!("CARGO_BIN_EXE_colo")]);
    command.args(arguments);
    for (name, value) in home.command(&[]).get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    let mut namespace = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let socket = home.root.path().join("demo/master.sock");
    home.wait_for("master", || UnixStream::connect(&socket).is_ok());
    for pid in [0, 1, std::process::id()] {
        let request = format!("{{\"register\":{{\"version\":2,\"node\":\"td\",\"pid\":{pid}}}}}\n");
        let refused = answer(&socket, request.as_bytes(), false);
        assert!(refused.contains("master cannot see its process"), "{refused}");
    }
    // Everything in it ends with it.
    namespace.kill().unwrap();
    namespace.wait().unwrap();
}
