//! Taking a platform down when something is in the way: others who do the same, files that somebody has damaged, nodes
//! that do not stop, a folder that is gone.

mod home;

use std::fs::{self, OpenOptions};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use journal::layout::registry::{KIND, RECORDS};
use journal::process::ProcessIdentity;

use home::{Home, kill, number, stderr, stdout};

const STAY: &[&str] = &["up", "--stay", "--set", "md.count=0", "--set", "strategies.count=2"];

fn up(home: &Home, more: &[&str]) {
    let up = home.colo(&[STAY, more].concat());
    assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
}

fn pid(home: &Home, name: &str) -> u32 {
    number(&home.node("demo", name)["pid"]) as u32
}

fn registry(home: &Home) -> PathBuf {
    home.root.path().join("demo/registry")
}

/// All processes of the platform, master first. Killed at the end of the test, should they live.
struct Processes(Vec<ProcessIdentity>);

impl Processes {
    fn of(home: &Home) -> Processes {
        let registry = journal::Registry::open_read_only(&registry(home)).expect("a registry");
        let seats = (0..registry.seats()).filter_map(|seat| Some(registry.seat(seat)?.process()));
        let living: Vec<_> = seats.filter(ProcessIdentity::is_alive).collect();
        assert!(living.len() >= 6, "{living:?}");
        Processes(living)
    }

    fn live(&self) -> usize {
        self.0.iter().filter(|process| process.is_alive()).count()
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        self.0.iter().filter(|process| process.is_alive()).for_each(|process| kill(process.pid, "KILL"));
    }
}

#[test]
fn a_platform_of_which_nothing_lives_is_dead_and_begins_anew() {
    let home = Home::new();
    let recordings = home.state_path().join("recordings");
    let record = format!("recorder=[{{path='{}'}}]", recordings.display());
    for set in [&[][..], &["--set", &record]] {
        up(&home, set);
        let processes = Processes::of(&home);
        kill(processes.0[0].pid, "KILL");
        home.wait_for("master's end", || !processes.0[0].is_alive());
        let shown = stdout(&home.colo(&["status", "demo"]));
        assert!(
            shown.contains("its master has ended: `colo up` with its platform file takes it over"),
            "{shown}"
        );
        processes.0.iter().filter(|process| process.is_alive()).for_each(|process| kill(process.pid, "KILL"));
        home.wait_for("their ends", || processes.live() == 0);
        // The kernel releases the locks of a killed process a moment after its end is seen.
        home.wait_for("a dead instance", || {
            home.json(&["status", "demo", "--format", "json"])["phase"] == "dead"
        });
        let status = home.json(&["status", "demo", "--format", "json"]);
        assert_eq!((&status["phase"], &status["master"]), (&"dead".into(), &false.into()));
        assert_eq!(home.json(&["top", "demo", "--once", "--format", "json"])["phase"], "dead");
        let shown = stdout(&home.colo(&["status", "demo"]));
        for words in
            ["instance demo: dead", "begins anew and replaces its journals", "`colo down demo` clears"]
        {
            assert!(shown.contains(words), "{words}: {shown}");
        }
        let recover = format!("`colo up --recover {}`", recordings.join("demo").display());
        assert_eq!(shown.contains(&recover), !set.is_empty(), "{shown}");
        let again = home.colo(&[STAY, set].concat());
        assert!(again.status.success(), "{}\n{}", stderr(&again), home.logs());
        assert!(stderr(&again).contains("that run's journals are replaced"), "{}", stderr(&again));
        // A dead one is cleared as a living one is taken down.
        let processes = Processes::of(&home);
        assert_eq!(home.json(&["status", "demo", "--format", "json"])["phase"], "running");
        processes.0.iter().for_each(|process| kill(process.pid, "KILL"));
        home.wait_for("their ends", || processes.live() == 0);
        let down = home.colo(&["down", "demo"]);
        assert!(stderr(&down).contains("is down"), "{}", stderr(&down));
        assert_eq!(home.left(), Vec::<PathBuf>::new());
        let first = home.colo(&[STAY, set].concat());
        assert!(!stderr(&first).contains("replaced"), "{}", stderr(&first));
        assert!(home.colo(&["down", "demo"]).status.success());
    }
}

#[test]
fn ten_who_take_it_down_at_once_all_hear_that_it_is_down() {
    let home = Home::new();
    for _ in 0..3 {
        up(&home, &[]);
        let downs: Vec<_> =
            (0..10).map(|_| home.command(&["down", "demo"]).spawn().expect("colo starts")).collect();
        let outputs: Vec<Output> =
            downs.into_iter().map(|down| down.wait_with_output().expect("its output")).collect();
        let reports = outputs.iter().filter(|output| stdout(output).contains("quotes")).count();
        assert_eq!(reports, 1, "{}", home.logs());
        for output in &outputs {
            let words = stderr(output);
            match output.status.code() {
                Some(0) => assert!(
                    words.contains("is down") || words.contains("was taken down by somebody else"),
                    "{words}"
                ),
                Some(69) => assert!(words.contains("no instance"), "{words}"),
                _ => panic!("{words}\n{}", home.logs()),
            }
            assert!(!words.contains("no order answered"), "no report of nothing: {words}");
        }
        assert_eq!(home.left(), Vec::<PathBuf>::new());
    }
}

#[test]
fn a_registry_that_was_truncated_is_told_and_taken_down_by_force() {
    let home = Home::new();
    up(&home, &[]);
    let processes = Processes::of(&home);
    let file = OpenOptions::new().write(true).open(registry(&home)).expect("the registry");
    file.set_len(0).expect("truncated");
    home.wait_for("the end of master", || !processes.0[0].is_alive());
    for verb in ["status", "down"] {
        let output = home.colo(&[verb, "demo"]);
        assert_eq!(output.status.code(), Some(1), "{verb}: {}", stderr(&output));
        assert!(stderr(&output).contains("registry is damaged"), "{verb}: {}", stderr(&output));
        assert!(stderr(&output).contains("it is empty"), "{verb}: {}", stderr(&output));
    }
    let down = home.colo(&["down", "demo"]);
    assert!(stderr(&down).contains("--force"), "{}", stderr(&down));
    let forced = home.colo(&["down", "demo", "--force"]);
    assert!(forced.status.success(), "{}", stderr(&forced));
    assert_eq!(processes.live(), 0);
    assert_eq!(home.left(), Vec::<PathBuf>::new());
}

/// Damages the file at a path.
type Damage<'a> = &'a dyn Fn(&Path);

#[test]
fn damaged_files_are_told_and_taken_down_by_force() {
    let home = Home::new();
    let wrecks: [(&str, Damage<'_>); 2] = [
        ("topology.json", &|path| fs::write(path, "{ this is no topology").expect("written")),
        ("registry", &|path| {
            let file = OpenOptions::new().write(true).open(path).expect("the registry");
            file.write_all_at(&[0x5a; 8], ((RECORDS + KIND) * 8) as u64).expect("written");
        }),
    ];
    for (name, wreck) in wrecks {
        up(&home, &[]);
        let processes = Processes::of(&home);
        wreck(&home.root.path().join("demo").join(name));
        let down = home.colo(&["down", "demo"]);
        assert_eq!(down.status.code(), Some(1), "{name}: {}", stderr(&down));
        for words in ["damaged", name, "--force"] {
            assert!(stderr(&down).contains(words), "{name}: {}", stderr(&down));
        }
        let status = home.colo(&["status", "demo"]);
        assert!(!stdout(&status).contains("master is gone"), "{name}: {}", stdout(&status));
        assert!(processes.0[0].is_alive(), "{name}: nothing was stopped");
        let forced = home.colo(&["down", "demo", "--force"]);
        assert!(forced.status.success(), "{name}: {}", stderr(&forced));
        // Master answers a moment before its own end.
        home.wait_for("the end of all", || processes.live() == 0);
        assert_eq!(home.left(), Vec::<PathBuf>::new(), "{name}");
    }
}

#[test]
fn nodes_without_master_end_when_their_folder_is_deleted() {
    let home = Home::new();
    up(&home, &[]);
    let processes = Processes::of(&home);
    kill(processes.0[0].pid, "KILL");
    home.wait_for("master's death", || !processes.0[0].is_alive());
    assert_eq!(processes.live(), processes.0.len() - 1);
    fs::remove_dir_all(home.root.path().join("demo")).expect("deleted");
    home.wait_for("the end of all", || processes.live() == 0);
    assert!(home.logs().contains("was deleted or replaced"), "{}", home.logs());
}

#[test]
fn a_node_that_does_not_stop_is_killed_after_stop_timeout_and_one_that_was_killed_is_told_so() {
    let home = Home::new();
    let row = |output: &Output| {
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a report");
        let nodes = report["nodes"].as_array().expect("nodes").clone();
        nodes.into_iter().find(|node| node["name"] == "takers-1").expect("its row")
    };
    let down = &["down", "demo", "--format", "json"];
    // By master, when it has waited as long as the platform file says.
    up(&home, &["--set", "master.stop_timeout=700ms"]);
    kill(pid(&home, "takers-1"), "STOP");
    let killed = home.colo(down);
    assert!(killed.status.success(), "{}", stderr(&killed));
    assert_eq!((&row(&killed)["overstayed"], &row(&killed)["exit"]), (&true.into(), &137.into()));
    assert!(home.logs().contains("node `takers-1` does not stop and is killed"), "{}", home.logs());
    // By somebody else meanwhile. A master that waited for less than a day would not be there any more.
    up(&home, &["--set", "master.stop_timeout=1d"]);
    let taker = pid(&home, "takers-1");
    kill(taker, "STOP");
    let stopping = home.command(down).spawn().expect("colo starts");
    home.wait_for("the order to stop", || {
        home.json(&["status", "demo", "--format", "json"])["phase"] == "stopping"
    });
    kill(taker, "KILL");
    let killed = stopping.wait_with_output().expect("its output");
    assert!(killed.status.success(), "{}", stderr(&killed));
    assert_eq!((&row(&killed)["overstayed"], &row(&killed)["exit"]), (&false.into(), &137.into()));
}

#[test]
fn a_system_call_that_a_filter_forbids_is_named_as_the_cause() {
    let home = Home::new();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (program, file) = (folder.path().join("forbidden"), folder.path().join("forbidden.toml"));
    fs::write(&program, "#!/bin/sh\nkill -SYS $$\n").expect("written");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("executable");
    let text = format!(
        "[platform]\ninstance = 'demo'\n[md]\ncount = 0\n[[strategies.group]]\nname = 'forbidden'\ncount = 1\n\
         program = '{}'\n",
        program.display()
    );
    fs::write(&file, text).expect("written");
    let up = home.colo(&["up", &file.display().to_string(), "--stay"]);
    assert_eq!(up.status.code(), Some(1), "{}", stderr(&up));
    assert!(stderr(&up).contains("SIGSYS") && stderr(&up).contains("seccomp"), "{}", stderr(&up));
}

#[test]
fn a_check_that_the_platform_requires_is_looked_at_before_it_starts() {
    let home = Home::new();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("required.toml");
    let write = |pin: &str| {
        fs::write(
            &file,
            format!(
                "[platform]\ninstance = 'demo'\n[md]\ncount = 0\n[strategies]\ncount = 0\n[pin]\n{pin}\n"
            ),
        )
        .expect("written")
    };
    let check = |more: &[&str]| {
        home.colo(&[&["check", &file.display().to_string(), "--format", "json"], more].concat())
    };
    // No host below this root, so that no check can hold.
    write("required = ['clock-source']");
    let root = folder.path().join("root");
    for (name, text) in [("online", "0-1\n"), ("possible", "0-1\n"), ("present", "0-1\n")] {
        let path = root.join("sys/devices/system/cpu").join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    }
    let source = root.join("sys/devices/system/clocksource/clocksource0");
    fs::create_dir_all(&source).expect("made");
    fs::write(source.join("current_clocksource"), "hpet\n").expect("written");
    fs::write(source.join("available_clocksource"), "hpet\n").expect("written");
    let unfit = check(&["--root", &root.display().to_string()]);
    assert_eq!(unfit.status.code(), Some(3), "{}{}", stdout(&unfit), stderr(&unfit));
    let answer: serde_json::Value = serde_json::from_slice(&unfit.stdout).expect("an answer");
    assert_eq!(answer["fit"]["fits"], false);
    let said = answer["fit"]["required_problems"][0].as_str().unwrap_or_default().to_owned();
    assert!(said.contains("clock-source") && said.contains("hpet"), "{answer}");
    write("");
    let fit = check(&[]);
    assert_eq!(fit.status.code(), Some(0), "{}{}", stdout(&fit), stderr(&fit));
}

#[test]
fn a_master_that_has_removed_its_instance_touches_nothing_afterwards() {
    let home = Home::new();
    let folder = home.root.path().join("demo");
    for _ in 0..5 {
        up(&home, &[]);
        let old = Processes::of(&home);
        let master = old.0[0].pid;
        let down = home.command(&["down", "demo"]).spawn().expect("colo starts");
        while folder.exists() {
            std::hint::spin_loop();
        }
        // Held before it answers or ends, if this is quick enough; the name is free in any case.
        kill(master, "STOP");
        up(&home, &[]);
        kill(master, "CONT");
        home.wait_for("the end of the first master", || !old.0[0].is_alive());
        let down = down.wait_with_output().expect("its output");
        assert!(down.status.success(), "{}", stderr(&down));
        let new = Processes::of(&home);
        assert_ne!(new.0[0].pid, master);
        assert_eq!(home.json(&["status", "demo", "--format", "json"])["phase"], "running");
        assert!(home.colo(&["down", "demo"]).status.success(), "{}", home.logs());
        home.wait_for("the end of all processes", || new.live() == 0);
    }
}

#[test]
fn the_command_that_the_status_of_a_dead_instance_names_is_not_refused() {
    let home = Home::new();
    let (file, recordings) = home.recorded_platform("");
    let recordings = Path::new(&recordings);
    let up = home.colo(&["up", &file, "--stay", "--set", "md.count=0"]);
    assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
    home.wait_for("orders that are recorded", || {
        let node = home.node("demo", "recorder");
        number(&node["counters"]["bytes_recorded"]) > 1 << 16
    });
    let processes = Processes::of(&home);
    processes.0.iter().for_each(|process| kill(process.pid, "KILL"));
    home.wait_for("their ends", || processes.live() == 0);
    // Another instance is recorded in the same place.
    let copied =
        Command::new("cp").arg("-r").arg(recordings.join("demo")).arg(recordings.join("other")).status();
    assert!(copied.expect("cp").success());
    let shown = stdout(&home.colo(&["status", "demo"]));
    let named = shown.split("`colo up --recover ").nth(1).and_then(|rest| rest.split('`').next());
    let named = named.unwrap_or_else(|| panic!("{shown}"));
    let again = home.colo(&["up", "--recover", named, "--stay"]);
    assert!(again.status.success(), "{}\n{}", stderr(&again), home.logs());
    let verified = home.colo(&["journal", "verify"]);
    assert!(verified.status.success(), "{}{}", stdout(&verified), stderr(&verified));
    assert!(home.colo(&["down", "demo"]).status.success());
}
