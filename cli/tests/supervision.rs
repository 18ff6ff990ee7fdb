//! Master under conditions that are not its own making: clients that say nothing, programs that are not there, deaths
//! that it has not seen, strategies that never get ready.

mod home;

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use strategy_sdk::{
    Context, Deserialize, Instrument, Options, OrderRequest, ParameterError, Price, Quote, Side, Strategy,
};

use home::{Home, kill, number, stderr};

/// The platforms' own program: this test program, as [`be_a_strategy`] alone.
const CHILD: &str = "COLO_NODE";

/// Rests an order at a price that nobody trades at.
struct Rests {
    errs: PathBuf,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(crate = "strategy_sdk::serde", default, deny_unknown_fields)]
struct Parameters {
    /// It is not made while this file is there.
    hangs: PathBuf,
    /// It panics at a quote while this file is there.
    errs: PathBuf,
}

impl Strategy for Rests {
    type Parameters = Parameters;

    fn create(parameters: Parameters) -> Result<Rests, ParameterError> {
        // As if for ever, but that a test that fails leaves nobody.
        let watchdog = Instant::now() + Duration::from_secs(60);
        while parameters.hangs.exists() && Instant::now() < watchdog {
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(Rests { errs: parameters.errs })
    }

    fn quote(&mut self, _context: &mut Context, _quote: &Quote) {
        assert!(!self.errs.exists(), "told to err");
    }

    fn instrument(&mut self, context: &mut Context, instrument: &Instrument) {
        let price = Price(instrument.reference_price.0 / 100 * 95);
        let price = Price(price.0 - price.0 % instrument.tick.0);
        let order = OrderRequest::limit(Side::Buy, instrument.id, price, instrument.lot);
        if let Err(error) = context.order(order) {
            context.log(error);
        }
    }
}

/// No test: what the platforms of the tests below start.
#[test]
fn be_a_strategy() {
    if std::env::var_os(CHILD).is_some() {
        node::start_log();
        let exit = strategy_sdk::run::<Rests>(&Options::default());
        std::process::exit(exit.code().into());
    }
}

/// A program of one line.
fn program(path: &Path, line: &str) {
    std::fs::write(path, format!("#!/bin/sh\n{line}\n")).expect("written");
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("executable");
}

/// A platform of two strategies that are this program, its file, and the path of their program.
fn platform(folder: &Path, more: &str) -> (String, PathBuf) {
    let path = folder.join("rests");
    let own = std::env::current_exe().expect("a path").display().to_string();
    program(&path, &format!("exec '{own}' be_a_strategy --exact --nocapture --quiet"));
    let file = folder.join("rests.toml");
    let text = format!(
        "[platform]\ninstance = 'rests'\n[md]\ninstruments = 2\ninterval = '5ms'\ncount = 0\n{more}\n\
         [[strategies.group]]\nname = 'rests'\ncount = 2\nprogram = '{}'\nparams = {{ hangs = '{}', errs = '{}' }}\n",
        path.display(),
        folder.join("hangs").display(),
        folder.join("errs").display()
    );
    std::fs::write(&file, text).expect("written");
    (file.display().to_string(), path)
}

fn pid(home: &Home, name: &str) -> u32 {
    number(&home.node("rests", name)["pid"]) as u32
}

fn has_master(home: &Home) -> bool {
    home.json(&["status", "rests", "--format", "json"])["master"] == true
}

#[test]
fn silent_and_slow_clients_hold_up_neither_a_restart_nor_the_stop() {
    let home = Home::new();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (file, _) = platform(folder.path(), "");
    let up = home.colo(&["up", &file, "--stay"]);
    assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
    let socket = home.root.path().join("rests/master.sock");
    let connect = || UnixStream::connect(&socket).expect("master listens");
    let silent: Vec<UnixStream> = (0..100).map(|_| connect()).collect();
    let slow = connect();
    let drips = std::thread::spawn(move || {
        while (&slow).write_all(b" ").is_ok() {
            std::thread::sleep(Duration::from_millis(300));
        }
    });
    kill(pid(&home, "td"), "KILL");
    home.wait_for("td's second start", || {
        let td = home.node("rests", "td");
        td["state"] == "running" && number(&td["starts"]) == 2
    });
    let more: Vec<UnixStream> = (0..100).map(|_| connect()).collect();
    let down = home.colo(&["down", "rests"]);
    assert!(down.status.success(), "{}\n{}", stderr(&down), home.logs());
    assert_eq!(home.left(), Vec::<PathBuf>::new());
    drop((silent, more));
    drips.join().expect("it ends with master, or before");
}

#[test]
fn a_node_whose_program_is_being_replaced_takes_nobody_down() {
    let home = Home::new();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let more = "[strategies]\nrestart = 'on-failure'\nrestart_max = 50";
    let (file, program) = platform(folder.path(), more);
    let up = home.colo(&["up", &file, "--stay"]);
    assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
    let td = pid(&home, "td");
    std::fs::rename(&program, folder.path().join("away")).expect("moved away");
    kill(pid(&home, "rests-1"), "KILL");
    home.wait_for("a start that is refused", || home.logs().contains("node `rests-1` could not be started"));
    assert_eq!(home.node("rests", "rests-2")["state"], "running");
    std::fs::rename(folder.path().join("away"), &program).expect("moved back");
    home.wait_for("its second start", || {
        let node = home.node("rests", "rests-1");
        node["state"] == "running" && number(&node["starts"]) == 2
    });
    assert_eq!(pid(&home, "td"), td);
    assert!(home.colo(&["down", "rests"]).status.success());
}

#[test]
fn a_death_that_nobody_announced_is_announced_by_the_next_master() {
    let home = Home::new();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (file, _) = platform(folder.path(), "");
    let up = || {
        let up = home.colo(&["up", &file, "--stay"]);
        assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
    };
    up();
    home.wait_for("orders", || number(&home.node("rests", "td")["counters"]["orders"]) == 2);
    let first = pid(&home, "rests-1");
    kill(pid(&home, "master"), "KILL");
    kill(first, "KILL");
    home.wait_for("both deaths", || !has_master(&home) && home.node("rests", "rests-1")["state"] == "dead");
    up();
    home.wait_for("the end of its orders", || home.logs().contains("has ended: 1 orders are cancelled"));
    assert_eq!(home.node("rests", "rests-1")["state"], "failed");
    let ended = format!("node `rests-1` (process {first}) ended");
    assert!(home.logs().contains(&ended), "{ended}: {}", home.logs());
    assert_eq!(home.node("rests", "rests-2")["state"], "running");
    // The one after that has nothing to say again.
    kill(pid(&home, "master"), "KILL");
    home.wait_for("master's death", || !has_master(&home));
    up();
    assert!(home.colo(&["down", "rests"]).status.success());
    assert_eq!(home.logs().matches("orders are cancelled").count(), 1, "{}", home.logs());
}

#[test]
fn a_stopped_node_outlives_master_and_is_taken_over() {
    let home = Home::new();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (file, _) = platform(folder.path(), "");
    let up = || {
        let up = home.colo(&["up", &file, "--stay"]);
        assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
    };
    up();
    let td = pid(&home, "td");
    let identity = journal::process::ProcessIdentity::of(td).expect("td runs");
    kill(td, "STOP");
    home.wait_for("td's stop", || identity.is_stopped());
    kill(pid(&home, "master"), "KILL");
    // The kernel sends SIGHUP and SIGCONT to a stopped process group when nobody is left to continue it.
    home.wait_for("master's death", || !has_master(&home) && !identity.is_stopped());
    std::thread::sleep(Duration::from_millis(200));
    assert!(identity.is_alive(), "{}", home.logs());
    up();
    assert_eq!(pid(&home, "td"), td);
    assert_eq!(number(&home.node("rests", "td")["starts"]), 1);
    let down = home.colo(&["down", "rests"]);
    assert!(down.status.success(), "{}\n{}", stderr(&down), home.logs());
}

#[test]
fn what_a_script_has_started_ends_with_its_node() {
    let home = Home::new();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let more = "[strategies]\nrestart = 'on-failure'\nrestart_max = 50\n[master]\nstop_timeout = '2s'";
    let (file, path) = platform(folder.path(), more);
    let own = std::env::current_exe().expect("a path").display().to_string();
    let kept = folder.path().join("kept");
    // One child that any signal ends, one that ignores SIGTERM, and a script that stays behind them all.
    let script = format!(
        "sleep 1000 & echo $! >> '{0}'\n(trap '' TERM; exec sleep 1000) & echo $! >> '{0}'\n\
         '{own}' be_a_strategy --exact --nocapture --quiet\n",
        kept.display()
    );
    program(&path, &script);
    let children = || -> Vec<journal::process::ProcessIdentity> {
        let text = std::fs::read_to_string(&kept).unwrap_or_default();
        let pids = text.lines().map(|line| line.parse().expect("a pid"));
        pids.filter_map(journal::process::ProcessIdentity::of).collect()
    };
    let up = || {
        let up = home.colo(&["up", &file, "--stay"]);
        assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
    };
    let _rest = Rest(children);
    up();
    assert_eq!(children().len(), 4);
    let first = children();
    kill(pid(&home, "rests-1"), "KILL");
    home.wait_for("its second start", || {
        let node = home.node("rests", "rests-1");
        node["state"] == "running" && number(&node["starts"]) == 2
    });
    home.wait_for("the end of what the first had started", || {
        first.iter().filter(|child| child.is_alive()).count() == 2 && children().len() == 4
    });
    // Likewise behind a master that did not start them.
    kill(pid(&home, "master"), "KILL");
    home.wait_for("master's death", || !has_master(&home));
    up();
    let second = children();
    kill(pid(&home, "rests-2"), "KILL");
    home.wait_for("the end of what it had started", || {
        second.iter().filter(|child| child.is_alive()).count() == 2
    });
    home.wait_for("its second start", || home.node("rests", "rests-2")["state"] == "running");
    let down = home.colo(&["down", "rests"]);
    assert!(down.status.success(), "{}\n{}", stderr(&down), home.logs());
    assert_eq!(children(), []);
    // And without any master.
    up();
    kill(pid(&home, "master"), "KILL");
    home.wait_for("master's death", || !has_master(&home));
    assert_eq!(children().len(), 4);
    let down = home.colo(&["down", "rests"]);
    assert!(down.status.success(), "{}\n{}", stderr(&down), home.logs());
    assert_eq!(children(), []);
}

#[test]
fn a_node_that_errs_after_it_was_taken_over_is_started_again() {
    let home = Home::new();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let more = "[strategies]\nrestart = 'on-failure'\nrestart_max = 50";
    let (file, _) = platform(folder.path(), more);
    let up = || {
        let up = home.colo(&["up", &file, "--stay"]);
        assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
    };
    up();
    let strategies = [pid(&home, "rests-1"), pid(&home, "rests-2")];
    kill(pid(&home, "master"), "KILL");
    home.wait_for("master's death", || !has_master(&home));
    up();
    assert_eq!([pid(&home, "rests-1"), pid(&home, "rests-2")], strategies, "they were taken over");
    let errs = folder.path().join("errs");
    std::fs::write(&errs, "").expect("written");
    home.wait_for("their ends", || {
        let ended =
            |name: &str, pid: u32| home.logs().contains(&format!("node `{name}` (process {pid}) ended"));
        ended("rests-1", strategies[0]) && ended("rests-2", strategies[1])
    });
    std::fs::remove_file(&errs).expect("removed");
    for name in ["rests-1", "rests-2"] {
        home.wait_for("their next starts", || {
            let node = home.node("rests", name);
            node["state"] == "running" && number(&node["starts"]) > 1
        });
    }
    assert!(home.colo(&["down", "rests"]).status.success());
}

/// Kills what a failed test has left.
struct Rest<F: Fn() -> Vec<journal::process::ProcessIdentity>>(F);

impl<F: Fn() -> Vec<journal::process::ProcessIdentity>> Drop for Rest<F> {
    fn drop(&mut self) {
        (self.0)().iter().for_each(|child| kill(child.pid, "KILL"));
    }
}

#[test]
fn a_strategy_that_is_never_made_fails_the_start_and_a_rival_hears_nothing_of_it() {
    let home = Home::new();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (file, _) = platform(folder.path(), "[master]\nready_timeout = '3s'");
    std::fs::write(folder.path().join("hangs"), "").expect("written");
    let first = home.command(&["up", &file, "--stay"]).spawn().expect("colo starts");
    home.wait_for("a strategy", || home.root.path().join("rests/registry").exists());
    let rival = home.colo(&["up", &file, "--stay"]);
    let first = first.wait_with_output().expect("its output");
    assert_eq!(rival.status.code(), Some(73), "{}", stderr(&rival));
    assert!(stderr(&rival).contains("is held by master"), "{}", stderr(&rival));
    assert!(!stderr(&rival).contains("not ready"), "{}", stderr(&rival));
    assert_eq!(first.status.code(), Some(1), "{}", stderr(&first));
    assert!(stderr(&first).contains("was not ready within 3 s"), "{}", stderr(&first));
    assert_eq!(home.left(), Vec::<PathBuf>::new());
}

#[test]
fn a_failed_start_is_told_in_its_own_words_and_with_our_own_exit_code() {
    let home = Home::new();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (file, path) = platform(folder.path(), "");
    program(&path, "echo 'the words of yesterday' >&2; exit 3");
    let failed = home.colo(&["up", &file, "--stay"]);
    assert_eq!(failed.status.code(), Some(1), "{}", stderr(&failed));
    assert!(stderr(&failed).contains("ended with exit code 3"), "{}", stderr(&failed));
    assert!(stderr(&failed).contains("the words of yesterday"), "{}", stderr(&failed));
    program(&path, "exit 4");
    let failed = home.colo(&["up", &file, "--stay"]);
    assert_eq!(failed.status.code(), Some(1), "{}", stderr(&failed));
    assert!(stderr(&failed).contains("ended with exit code 4"), "{}", stderr(&failed));
    assert!(!stderr(&failed).contains("yesterday"), "{}", stderr(&failed));
}

#[test]
fn a_run_whose_md_stays_down_ends_and_tells_how_it_ended() {
    let home = Home::new();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (file, _) = platform(folder.path(), "restart = 'on-failure'\nrestart_max = 1");
    let up = home.command(&["up", &file]).spawn().expect("colo starts");
    let md = |starts: u64| {
        home.wait_for("md", || {
            home.root.path().join("rests/registry").exists()
                && home.colo(&["status", "rests"]).status.success()
                && home.json(&["status", "rests", "--format", "json"])["phase"] == "running"
                && home.node("rests", "md")["state"] == "running"
                && number(&home.node("rests", "md")["starts"]) == starts
        });
        kill(pid(&home, "md"), "KILL");
    };
    md(1);
    // The pause before it comes again is no end of the run.
    md(2);
    let watchdog = up.id();
    let ended = std::thread::spawn(move || up.wait_with_output());
    let patience = Instant::now() + Duration::from_secs(60);
    while !ended.is_finished() && Instant::now() < patience {
        std::thread::sleep(Duration::from_millis(20));
    }
    if !ended.is_finished() {
        kill(watchdog, "KILL");
        panic!("`colo up` waits for an md that does not come\n{}", home.logs());
    }
    let output = ended.join().expect("joined").expect("its output");
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("md is gone"), "{}", stderr(&output));
    let report = home::stdout(&output);
    assert!(report.contains("node md failed: it was killed by signal 9 (SIGKILL)"), "{report}");
    assert!(report.contains("node md was started 2 times"), "{report}");
}
