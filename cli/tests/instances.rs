//! Whose an instance is, who may take it over or remove it, and what is left alone.

mod home;

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use home::{Home, kill, number, stderr, stdout};

/// A user that owns nothing here.
const NOBODY: u32 = 61_234;
/// Runs until it is stopped.
const STAY: &[&str] = &["up", "--stay", "--set", "md.count=0", "--set", "strategies.count=1"];

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).expect("it is there").permissions().mode() & 0o7777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("the mode is set");
}

/// Only root can give a folder to somebody else.
fn is_root(test: &str) -> bool {
    let is_root = fs::metadata("/proc/self").is_ok_and(|this| this.uid() == 0);
    if !is_root {
        println!("skipped: {test}: needs root, to make what belongs to another user");
    }
    is_root
}

#[test]
fn clean_touches_nothing_that_bears_no_mark_of_ours() {
    let home = Home::new();
    let root = home.root.path();
    fs::create_dir_all(root.join("thesis/chapters")).unwrap();
    fs::write(root.join("thesis/chapters/one"), "years of work").unwrap();
    fs::write(root.join("thesis/lock"), "a lock of somebody else's program").unwrap();
    // Without any lock at all.
    fs::create_dir(root.join("papers")).unwrap();
    fs::write(root.join("papers/two"), "more years of work").unwrap();
    fs::create_dir(root.join("empty")).unwrap();
    fs::write(root.join("notes"), "").unwrap();
    for arguments in [&["journal", "clean"][..], &["journal", "clean", "--format", "json"]] {
        let cleaned = home.colo(arguments);
        assert!(cleaned.status.success(), "{}", stderr(&cleaned));
    }
    for name in ["thesis", "papers", "empty"] {
        assert_eq!(home.colo(&["journal", "clean", name]).status.code(), Some(69), "{name}");
        assert_eq!(home.colo(&["down", name]).status.code(), Some(69), "{name}");
        assert_eq!(home.colo(&["down", name, "--force"]).status.code(), Some(69), "{name}");
    }
    for name in ["thesis", "papers"] {
        let up = home.colo(&["up", "-i", name, "--set", "md.count=10"]);
        assert_eq!(up.status.code(), Some(73), "{name}: {}", stderr(&up));
        assert!(stderr(&up).contains("bears no mark of colo"), "{name}: {}", stderr(&up));
    }
    assert_eq!(fs::read_to_string(root.join("thesis/chapters/one")).unwrap(), "years of work");
    assert_eq!(fs::read_to_string(root.join("papers/two")).unwrap(), "more years of work");
    assert_eq!(fs::read_dir(root.join("papers")).unwrap().count(), 1);
    assert!(root.join("empty").is_dir() && root.join("notes").is_file());
    // The root itself was chosen by its user, and stays.
    fs::remove_dir_all(root.join("thesis")).unwrap();
    fs::remove_dir_all(root.join("papers")).unwrap();
    fs::remove_dir(root.join("empty")).unwrap();
    fs::remove_file(root.join("notes")).unwrap();
    let up = home.colo(&["up", "--set", "md.count=10"]);
    assert!(up.status.success() && root.is_dir(), "{}", stderr(&up));
}

/// Every verb that touches an instance, refused with exit code 77 and these words.
fn all_refuse(home: &Home, root: &Path, words: &str) {
    let verbs: [&[&str]; 7] = [
        &["up", "--set", "md.count=10"],
        &["down", "demo"],
        &["down", "demo", "--force"],
        &["status", "demo"],
        &["journal", "clean"],
        &["journal", "ls"],
        &["run", "td", "-i", "demo"],
    ];
    for verb in verbs {
        let output = home.command(verb).env("COLO_ROOT", root).output().expect("colo runs");
        assert_eq!(output.status.code(), Some(77), "{verb:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(words), "{verb:?}: {}", stderr(&output));
    }
}

#[test]
fn a_root_that_others_own_or_may_write_or_that_is_a_link_is_used_by_no_verb() {
    let home = Home::new();
    let outer = home.root.path();
    let root = outer.join("root");
    fs::create_dir_all(root.join("demo/journals")).unwrap();
    fs::write(root.join("demo/lock"), "colo-lock pid=1 start=1 pidns=1\n").unwrap();
    fs::write(root.join("demo/precious"), "").unwrap();
    set_mode(&root, 0o777);
    all_refuse(&home, &root, "can be written by group or others");
    set_mode(&root, 0o770);
    all_refuse(&home, &root, "can be written by group or others");
    set_mode(&root, 0o700);
    symlink(&root, outer.join("link")).unwrap();
    all_refuse(&home, &outer.join("link"), "is a link");
    all_refuse(&home, Path::new(&format!("{}/", outer.join("link").display())), "is a link");
    set_mode(&root.join("demo"), 0o770);
    for verb in [&["down", "demo"][..], &["journal", "clean", "demo"], &["up", "--set", "md.count=10"]] {
        let output = home.command(verb).env("COLO_ROOT", &root).output().expect("colo runs");
        assert!(!output.status.success(), "{verb:?}");
    }
    set_mode(&root.join("demo"), 0o750);
    if is_root("a root of another user") {
        chown(&root, Some(NOBODY), None).unwrap();
        all_refuse(&home, &root, &format!("belongs to user {NOBODY}"));
    }
    assert!(root.join("demo/precious").exists());
}

#[test]
fn what_is_planted_where_ours_will_be_is_neither_followed_nor_overwritten() {
    let home = Home::new();
    let victim = tempfile::tempdir().unwrap();
    fs::write(victim.path().join("precious"), "precious").unwrap();
    let demo = home.root.path().join("demo");
    let up = || home.colo(&["up", "--set", "md.count=10"]);
    symlink(victim.path(), &demo).unwrap();
    assert!(!up().status.success());
    fs::remove_file(&demo).unwrap();
    fs::create_dir(&demo).unwrap();
    let (precious, lock) = (victim.path().join("precious"), demo.join("lock"));
    for is_hard in [false, true] {
        // No hard link leads to another file system.
        if !is_hard || fs::hard_link(&precious, &lock).is_err() {
            symlink(&precious, &lock).unwrap();
        }
        let up = up();
        assert!(!up.status.success(), "{}", stderr(&up));
        assert!(stderr(&up).contains("lock"), "{}", stderr(&up));
        fs::remove_file(&lock).unwrap();
    }
    // Links among what a dead instance left lead nowhere.
    fs::write(demo.join("lock"), "colo-lock pid=1 start=1 pidns=1\n").unwrap();
    symlink(victim.path(), demo.join("journals")).unwrap();
    symlink(victim.path().join("precious"), demo.join("topology.json")).unwrap();
    let up = up();
    assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
    assert_eq!(fs::read_to_string(victim.path().join("precious")).unwrap(), "precious");
    assert_eq!(fs::read_dir(victim.path()).unwrap().count(), 1);
}

/// What below a folder the group or others may write.
fn written_by_others(folder: &Path) -> Vec<(PathBuf, u32)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if mode(&path) & 0o022 != 0 {
            found.push((path.clone(), mode(&path)));
        }
        if path.is_dir() {
            found.extend(written_by_others(&path));
        }
    }
    found
}

#[test]
fn modes_are_ours_whatever_the_umask() {
    // The last takes from the owner what folders need.
    for umask in ["000", "022", "077", "0177"] {
        let home = Home::new();
        let root = home.root.path().join("made");
        let colo = |arguments: &[&str]| -> Output {
            let line = format!("umask {umask}; exec \"$0\" \"$@\"");
            let mut command = Command::new("sh");
            command.args(["-c", &line, env!("CARGO_BIN_EXE_colo")]).args(arguments);
            let given = home.command(arguments);
            for (name, value) in given.get_envs() {
                command.env(name, value.unwrap_or_default());
            }
            command.env("COLO_ROOT", &root).output().expect("colo runs")
        };
        let up = colo(STAY);
        assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
        let demo = root.join("demo");
        let logs = home.state_path().join("colo/demo");
        let wanted = [
            (root.clone(), 0o750),
            (demo.clone(), 0o750),
            (demo.join("journals"), 0o750),
            (demo.join("lock"), 0o600),
            (demo.join("registry"), 0o640),
            (demo.join("topology.json"), 0o640),
            (demo.join("master.sock"), 0o600),
            (demo.join("journals/md.quotes.ctl"), 0o640),
            (demo.join("journals/md.quotes.ring"), 0o640),
            (demo.join("journals/md.quotes.lock"), 0o600),
            (logs.clone(), 0o700),
        ];
        let found: Vec<u32> = wanted.iter().map(|(path, _)| mode(path)).collect();
        let others = written_by_others(&root);
        let down = colo(&["down"]);
        assert!(down.status.success(), "{}", stderr(&down));
        for ((path, wanted), found) in wanted.iter().zip(found) {
            assert_eq!(found, *wanted, "{} with umask {umask}", path.display());
        }
        assert!(others.is_empty(), "{others:?} with umask {umask}");
    }
}

#[test]
fn without_a_home_of_its_own_logs_lie_below_the_root() {
    let home = Home::new();
    let elsewhere = tempfile::tempdir().unwrap();
    if !is_root("a home of another user") {
        return;
    }
    chown(elsewhere.path(), Some(NOBODY), None).unwrap();
    let root = home.root.path().join("root");
    fs::create_dir(&root).unwrap();
    chown(&root, Some(NOBODY), None).unwrap();
    set_mode(home.root.path(), 0o755);
    let colo = format!("{}", Path::new(env!("CARGO_BIN_EXE_colo")).display());
    let setpriv = |arguments: &[&str], home: Option<&str>| {
        let user = NOBODY.to_string();
        let mut command = Command::new("setpriv");
        command.args(["--reuid", &user, "--clear-groups", &colo]).args(arguments);
        command.env("COLO_ROOT", &root).env_remove("XDG_STATE_HOME").env_remove("HOME");
        command.env("TMPDIR", elsewhere.path());
        home.map(|home| command.env("HOME", home));
        command.output()
    };
    if !setpriv(&["--version"], None).is_ok_and(|output| output.status.success()) {
        println!("skipped: setpriv is not there, or the binary is out of another user's reach");
        return;
    }
    for named in [None, Some("/")] {
        let up = setpriv(&["up", "--set", "md.count=10"], named).expect("colo runs");
        assert!(up.status.success(), "{}", stderr(&up));
        assert!(root.join(".logs/demo/master.log").is_file());
        assert_eq!(mode(&root.join(".logs/demo")), 0o700);
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0, "nothing in the temporary folder");
        fs::remove_dir_all(root.join(".logs")).unwrap();
    }
    // Somebody else's instance is not "no instance".
    let other = home.colo(&["down", "demo"]);
    assert_eq!(other.status.code(), Some(69), "their own root has none: {}", stderr(&other));
    set_mode(home.root.path(), 0o700);
    let hidden = setpriv(&["down", "demo"], None).expect("colo runs");
    assert_eq!(hidden.status.code(), Some(77), "{}", stderr(&hidden));
}

/// Runs a program as process 1 of a pid namespace of its own; `None` where this user may make none.
fn elsewhere(home: &Home, arguments: &[&str]) -> Option<Output> {
    let probe = Command::new("unshare").args(["--pid", "--fork", "--mount-proc", "true"]).output();
    if !probe.is_ok_and(|output| output.status.success()) {
        println!("skipped: no pid namespace can be made here (unshare --pid --fork --mount-proc)");
        return None;
    }
    let given = home.command(arguments);
    let mut command = Command::new("unshare");
    command.args(["--pid", "--fork", "--mount-proc", env!("CARGO_BIN_EXE_colo")]).args(arguments);
    for (name, value) in given.get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    Some(command.output().expect("unshare runs"))
}

#[test]
fn another_pid_namespace_neither_takes_over_nor_takes_down_nor_cleans_what_lives() {
    let home = Home::new();
    let Some(_) = elsewhere(&home, &["--version"]) else { return };
    let up = home.colo(STAY);
    assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
    let td = home.node("demo", "td")["pid"].clone();
    let lives = |what: &str| {
        assert_eq!(home.node("demo", "td")["pid"], td, "{what}");
        assert_eq!(home.node("demo", "td")["state"], "running", "{what}");
    };
    // With its master alive.
    let again = elsewhere(&home, STAY).unwrap();
    assert_eq!(again.status.code(), Some(73), "{}", stderr(&again));
    assert!(stderr(&again).contains("another pid namespace"), "{}", stderr(&again));
    lives("after up");
    let run = elsewhere(&home, &["up", "--set", "md.count=0", "--set", "strategies.count=1"]).unwrap();
    assert_eq!(run.status.code(), Some(73), "{}", stderr(&run));
    lives("after up without --stay");
    let clean = elsewhere(&home, &["journal", "clean", "demo"]).unwrap();
    assert_eq!(clean.status.code(), Some(1), "{}", stderr(&clean));
    lives("after clean");
    let status = elsewhere(&home, &["status", "--format", "json"]).unwrap();
    let status: serde_json::Value = serde_json::from_slice(&status.stdout).expect("a status");
    assert_eq!((&status["master"], &status["foreign"]), (&true.into(), &true.into()), "{status}");
    let states: Vec<_> = status["nodes"].as_array().unwrap().iter().map(|node| &node["state"]).collect();
    assert!(states.iter().skip(1).all(|state| *state == "unknown"), "{states:?}");
    // A process of elsewhere cannot be a node: its id is another's here.
    let node = elsewhere(&home, &["run", "strategy", "taker", "-i", "demo", "--node", "takers-1"]).unwrap();
    assert!(!node.status.success() && stderr(&node).contains("pid namespace"), "{}", stderr(&node));
    // Without master.
    kill(number(&home.node("demo", "master")["pid"]) as u32, "KILL");
    home.wait_for("master's death", || home.json(&["status", "--format", "json"])["master"] == false);
    for verb in [STAY, &["down", "demo"], &["down", "demo", "--force"], &["journal", "clean", "demo"]] {
        let refused = elsewhere(&home, verb).unwrap();
        assert!(!refused.status.success(), "{verb:?}: {}", stdout(&refused));
        assert!(stderr(&refused).contains("another pid namespace"), "{verb:?}: {}", stderr(&refused));
        lives(verb[0]);
    }
    // Where they live they are taken over, and down.
    let again = home.colo(STAY);
    assert!(again.status.success(), "{}\n{}", stderr(&again), home.logs());
    lives("after the take-over");
    assert!(home.colo(&["down"]).status.success());
}

#[test]
fn what_died_with_another_pid_namespace_is_removed() {
    let home = Home::new();
    // Everything ends with process 1 of that namespace.
    let line = "exec 3>&1; \"$0\" \"$@\" >&2 && echo up >&3";
    let given = home.command(&[]);
    let mut command = Command::new("unshare");
    command.args([
        "--pid",
        "--fork",
        "--mount-proc",
        "--kill-child",
        "sh",
        "-c",
        line,
        env!("CARGO_BIN_EXE_colo"),
    ]);
    command.args(STAY);
    for (name, value) in given.get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    let Some(_) = elsewhere(&home, &["--version"]) else { return };
    let output = command.output().expect("unshare runs");
    assert_eq!(stdout(&output), "up\n", "{}", stderr(&output));
    let clean = home.colo(&["journal", "clean", "--dry-run"]);
    assert!(stdout(&clean).contains("would be removed"), "{}{}", stdout(&clean), stderr(&clean));
    let up = home.colo(&["up", "--set", "md.count=10"]);
    assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
}

#[test]
fn down_and_up_again_and_again_lose_no_instance() {
    let home = Home::new();
    for round in 0..8 {
        let up = home.colo(STAY);
        assert!(up.status.success(), "round {round}: {}\n{}", stderr(&up), home.logs());
        let down = home.colo(&["down"]);
        assert!(down.status.success(), "round {round}: {}", stderr(&down));
    }
    assert!(home.left().is_empty());
}

#[test]
fn a_socket_path_that_is_too_long_leaves_nothing_in_shared_memory() {
    let home = Home::new();
    let root = home.root.path().join("x".repeat(90));
    let up = home.command(&["up"]).env("COLO_ROOT", &root).output().expect("colo runs");
    assert!(!up.status.success());
    assert!(stderr(&up).contains("master.sock"), "{}", stderr(&up));
    assert!(stderr(&up).contains("the system allows 107"), "{}", stderr(&up));
    assert!(stderr(&up).contains("COLO_ROOT"), "{}", stderr(&up));
    assert!(fs::read_dir(&root).map_or(0, Iterator::count) == 0);
}

#[test]
fn a_platform_whose_folder_was_deleted_ends() {
    let home = Home::new();
    let up = home.colo(STAY);
    assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
    let registry = journal::Registry::open_read_only(&home.root.path().join("demo/registry")).unwrap();
    let seats = (0..registry.seats()).filter_map(|seat| Some(registry.seat(seat)?.process()));
    let processes: Vec<_> = seats.filter(journal::process::ProcessIdentity::is_alive).collect();
    assert!(processes.len() >= 6, "{processes:?}");
    fs::remove_dir_all(home.root.path().join("demo")).unwrap();
    home.wait_for("the end of all", || !processes.iter().any(journal::process::ProcessIdentity::is_alive));
    let again = home.colo(&["up", "--set", "md.count=10"]);
    assert!(again.status.success(), "{}\n{}", stderr(&again), home.logs());
}

#[test]
fn in_the_foreground_it_stays_after_its_end_until_it_is_asked_to_stop() {
    let home = Home::new();
    let up = home.command(&["up", "--foreground", "--set", "md.count=10"]).spawn().expect("colo starts");
    let md_is = |state: &str| {
        let status = home.colo(&["status", "--format", "json"]);
        let status: serde_json::Value = serde_json::from_slice(&status.stdout).unwrap_or_default();
        let nodes = status["nodes"].as_array().cloned().unwrap_or_default();
        nodes.iter().any(|node| node["node"] == "md" && node["state"] == state)
    };
    home.wait_for("the source's end", || md_is("finished"));
    std::thread::sleep(std::time::Duration::from_millis(500));
    assert!(md_is("finished"), "it stays");
    kill(up.id(), "TERM");
    let output = up.wait_with_output().expect("its end");
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).contains("orders"), "{}", stdout(&output));
    assert!(home.left().is_empty());
}

/// What `systemd` listens to.
struct Manager {
    socket: std::os::unix::net::UnixDatagram,
    heard: Vec<String>,
}

impl Manager {
    fn new(folder: &std::path::Path) -> (Manager, std::path::PathBuf) {
        let path = folder.join("notify");
        let socket = std::os::unix::net::UnixDatagram::bind(&path).unwrap();
        socket.set_nonblocking(true).unwrap();
        (Manager { socket, heard: Vec::new() }, path)
    }

    fn has_heard(&mut self, line: &str) -> bool {
        let mut bytes = [0; 4096];
        while let Ok(length) = self.socket.recv(&mut bytes) {
            self.heard.extend(String::from_utf8_lossy(&bytes[..length]).lines().map(str::to_owned));
        }
        self.heard.iter().any(|heard| heard.starts_with(line))
    }
}

#[test]
fn a_service_manager_hears_of_ready_life_and_stop_and_of_no_life_while_master_stands_still() {
    let home = Home::new();
    let (mut manager, socket) = Manager::new(home.root.path());
    let up = home
        .command(&["up", "--foreground", "--set", "md.count=0"])
        .env("NOTIFY_SOCKET", &socket)
        .env("WATCHDOG_USEC", "400000")
        .spawn()
        .expect("colo starts");
    home.wait_for("READY", || manager.has_heard("READY=1"));
    home.wait_for("signs of life", || manager.has_heard("WATCHDOG=1"));
    assert!(manager.has_heard("STATUS="), "{:?}", manager.heard);
    let status: serde_json::Value =
        serde_json::from_slice(&home.colo(&["status", "--format", "json"]).stdout).unwrap();
    let nodes = status["nodes"].as_array().unwrap();
    let master = nodes.iter().find(|node| node["node"] == "master").unwrap()["pid"].as_u64().unwrap() as u32;
    kill(master, "STOP");
    // Signs that were given before it stood still are heard first.
    std::thread::sleep(std::time::Duration::from_millis(500));
    manager.has_heard("-");
    manager.heard.clear();
    std::thread::sleep(std::time::Duration::from_secs(1));
    let is_alive = manager.has_heard("WATCHDOG=1");
    kill(master, "CONT");
    assert!(!is_alive, "signs of life of a master that stands still");
    home.wait_for("signs of life again", || manager.has_heard("WATCHDOG=1"));
    kill(up.id(), "TERM");
    home.wait_for("STOPPING", || manager.has_heard("STOPPING=1"));
    let output = up.wait_with_output().expect("its end");
    assert!(output.status.success(), "{}", stderr(&output));
}
