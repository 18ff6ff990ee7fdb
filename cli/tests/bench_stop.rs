//! Long measurements that are stopped: nothing of them stays, and nothing of them is shown as a result.

mod home;

use std::path::PathBuf;
use std::process::Child;

use home::{Home, kill, stderr, stdout};

/// The benchmark's folder in shared memory, from what its process has mapped.
fn folder_of(pid: u32) -> Option<PathBuf> {
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).ok()?;
    let file = maps.lines().find_map(|line| line.find("/dev/shm/colo-bench-").map(|at| &line[at..]))?;
    PathBuf::from(file.split_whitespace().next()?).parent().map(PathBuf::from)
}

fn children_of(pid: u32) -> Vec<u32> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

/// Ends with its test.
struct Running(Option<Child>);

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn stopped(arguments: &[&str], signal: &str) {
    let home = Home::new();
    if pinning::Host::read("/".as_ref()).expect("this host").allowed.len() < 2 {
        eprintln!("skipped: two CPUs are needed");
        return;
    }
    let mut running = Running(Some(home.command(arguments).spawn().expect("colo starts")));
    let pid = running.0.as_ref().expect("it runs").id();
    home.wait_for("a folder and other processes", || {
        folder_of(pid).is_some() && !children_of(pid).is_empty()
    });
    let (folder, children) = (folder_of(pid).expect("a folder"), children_of(pid));
    kill(pid, signal);
    let output = running.0.take().expect("it runs").wait_with_output().expect("its output");
    assert_eq!(output.status.code(), Some(1), "{arguments:?} {signal}: {}", stderr(&output));
    assert!(stderr(&output).contains("stopped"), "{}", stderr(&output));
    assert_eq!(stdout(&output), "", "what was not measured to its end is no result");
    assert!(!folder.exists(), "{} is left", folder.display());
    for child in children {
        assert!(!PathBuf::from(format!("/proc/{child}")).exists(), "process {child} is left");
    }
}

#[test]
fn bench_ipc_leaves_nothing_when_it_is_stopped() {
    stopped(&["bench", "ipc", "--quick", "--format", "json"], "INT");
    stopped(&["bench", "ipc"], "TERM");
}

#[test]
fn bench_wake_leaves_nothing_when_it_is_stopped() {
    stopped(&["bench", "wake", "--quick", "--readers", "4", "--format", "json"], "INT");
    stopped(&["bench", "wake", "--readers", "4"], "TERM");
}

#[test]
fn bench_matching_leaves_nothing_when_it_is_stopped() {
    stopped(&["bench", "matching", "--quick", "--format", "json"], "INT");
    stopped(&["bench", "matching"], "TERM");
}

#[test]
fn bench_orders_leaves_nothing_when_it_is_stopped() {
    let home = Home::new();
    for (arguments, signal) in
        [(&["bench", "orders", "--quick", "--format", "json"][..], "INT"), (&["bench", "orders"], "TERM")]
    {
        let mut running = Running(Some(home.command(arguments).spawn().expect("colo starts")));
        home.wait_for("a platform", || !home.left().is_empty());
        kill(running.0.as_ref().expect("it runs").id(), signal);
        let output = running.0.take().expect("it runs").wait_with_output().expect("its output");
        assert_eq!((output.status.code(), stdout(&output)), (Some(1), String::new()), "{}", stderr(&output));
        assert!(stderr(&output).contains("stopped"), "{}", stderr(&output));
        assert!(home.left().is_empty(), "instances are left: {:?}", home.left());
    }
}

#[test]
fn what_a_killed_benchmark_leaves_is_found_by_journal_clean() {
    let home = Home::new();
    if pinning::Host::read("/".as_ref()).expect("this host").allowed.len() < 2 {
        eprintln!("skipped: two CPUs are needed");
        return;
    }
    let mut running = Running(Some(home.command(&["bench", "ipc"]).spawn().expect("colo starts")));
    let pid = running.0.as_ref().expect("it runs").id();
    home.wait_for("a folder and other processes", || {
        folder_of(pid).is_some() && !children_of(pid).is_empty()
    });
    let (folder, children) = (folder_of(pid).expect("a folder"), children_of(pid));
    let outcome = || {
        let found = home.json(&["journal", "clean", "--dry-run", "--format", "json"]);
        let benches = found["benches"].as_array().expect("benches").clone();
        let path = folder.display().to_string();
        let row = benches.into_iter().find(|bench| bench["path"] == path);
        row.map(|row| row["outcome"].as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(outcome().as_deref(), Some("alive"));
    for pid in std::iter::once(pid).chain(children) {
        kill(pid, "KILL");
    }
    drop(running.0.take().expect("it runs").wait_with_output());
    home.wait_for("its end", || outcome().as_deref() == Some("would-remove"));
    assert!(folder.exists(), "nothing was removed by looking");
    // Others may measure at this moment: only this folder is the test's to remove.
    std::fs::remove_dir_all(&folder).expect("removed");
}

#[test]
fn a_search_for_the_capacity_that_is_stopped_says_nothing() {
    let home = Home::new();
    let arguments =
        ["t2o", "capacity", "--rate", "50", "--target-p99", "10s", "--seconds", "30s", "--format", "json"];
    let mut running = Running(Some(home.command(&arguments).spawn().expect("colo starts")));
    home.wait_for("a platform", || !home.left().is_empty());
    kill(running.0.as_ref().expect("it runs").id(), "INT");
    let output = running.0.take().expect("it runs").wait_with_output().expect("its output");
    assert_eq!((output.status.code(), stdout(&output)), (Some(1), String::new()), "{}", stderr(&output));
    assert!(home.left().is_empty(), "instances are left: {:?}", home.left());
}
