//! What a platform has of its caller, and what becomes of it when its caller's terminal is closed.

mod home;

use std::process::{Child, Command};
use std::time::{Duration, Instant};

use home::{Home, kill, number, stderr};

/// `colo` with these arguments behind `script`, a line for the shell.
fn behind(home: &Home, script: &str, arguments: &[&str]) -> Command {
    let colo = home.command(arguments);
    // Whoever runs the tests may ignore the signal, and so would we.
    let mut shell = Command::new("env");
    shell
        .args(["--default-signal=HUP", "sh", "-c", &format!("{script}; exec \"$@\""), "sh"])
        .arg(colo.get_program())
        .args(arguments);
    for (name, value) in colo.get_envs() {
        shell.env(name, value.expect("a value"));
    }
    shell.stdin(std::process::Stdio::null());
    shell
}

fn pids(home: &Home) -> Vec<u64> {
    let status = home.json(&["status", "demo", "--format", "json"]);
    status["nodes"].as_array().expect("nodes").iter().map(|node| number(&node["pid"])).collect()
}

#[test]
fn no_process_of_a_platform_has_a_descriptor_of_the_caller() {
    let home = Home::new();
    let lock = home.state_path().join("caller.lock");
    let script = format!("exec 9>'{}'", lock.display());
    let up = behind(&home, &script, &["up", "--stay"]).output().expect("a shell");
    assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
    let pids = pids(&home);
    assert!(pids.len() > 4, "{pids:?}");
    for pid in pids {
        let open = std::fs::read_dir(format!("/proc/{pid}/fd")).expect("its descriptors");
        let has = open.flatten().any(|entry| std::fs::read_link(entry.path()).is_ok_and(|to| to == lock));
        assert!(!has, "process {pid} holds the caller's lock");
    }
    let down = home.colo(&["down"]);
    assert!(down.status.success(), "{}", stderr(&down));
}

/// A platform in the foreground, once its nodes run.
fn in_the_foreground(home: &Home, script: &str) -> Child {
    let child = behind(home, script, &["up", "--set", "md.count=0"]).spawn().expect("a shell");
    home.wait_for("the platform", || {
        let status = home.colo(&["status", "demo", "--format", "json"]);
        let status: serde_json::Value = serde_json::from_slice(&status.stdout).unwrap_or_default();
        let nodes = status["nodes"].as_array().cloned().unwrap_or_default();
        nodes.len() > 4 && nodes.iter().all(|node| node["state"] == "running")
    });
    child
}

fn end_of(mut child: Child, home: &Home) -> Option<i32> {
    let patience = Instant::now() + Duration::from_secs(60);
    loop {
        if let Some(status) = child.try_wait().expect("a child") {
            return status.code();
        }
        assert!(Instant::now() < patience, "it does not end\n{}", home.logs());
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn the_end_of_the_terminal_takes_a_platform_in_the_foreground_down() {
    let home = Home::new();
    let child = in_the_foreground(&home, ":");
    // The shell and the kernel may both send it.
    kill(child.id(), "HUP");
    kill(child.id(), "HUP");
    assert_eq!(end_of(child, &home), Some(0), "{}", home.logs());
    assert_eq!(home.left(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn a_caller_that_ignores_the_end_of_the_terminal_keeps_its_platform() {
    let home = Home::new();
    let child = in_the_foreground(&home, "trap '' HUP");
    kill(child.id(), "HUP");
    std::thread::sleep(Duration::from_millis(300));
    assert!(pids(&home).len() > 4);
    kill(child.id(), "INT");
    assert_eq!(end_of(child, &home), Some(0), "{}", home.logs());
    assert_eq!(home.left(), Vec::<std::path::PathBuf>::new());
}
