//! Folders on disk that colo writes: no link of another user leads there, locks are of one user, and a held lock tells that a run
//! goes on.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::panic, reason = "a test that cannot go on fails")]

mod home;

use std::fs;
use std::os::unix::fs::{PermissionsExt, lchown, symlink};
use std::path::{Path, PathBuf};

use home::{Home, kill, stderr};
use journal::process::ProcessIdentity;

const OTHER: u32 = 61_234;

/// Files of this name in a folder and those below it.
fn named(name: &str, folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries
        .flat_map(|path| match path.is_dir() {
            true => named(name, &path),
            false => Vec::from_iter(path.ends_with(name).then_some(path)),
        })
        .collect()
}

#[test]
fn nothing_is_written_through_a_link_that_another_user_has_made() {
    let home = Home::new();
    let (shared, victim) = (home.state_path().join("shared"), home.state_path().join("victim"));
    fs::create_dir(&shared).unwrap();
    fs::create_dir(&victim).unwrap();
    fs::set_permissions(&shared, fs::Permissions::from_mode(0o1777)).unwrap();
    symlink(&victim, shared.join("theirs")).unwrap();
    if lchown(shared.join("theirs"), Some(OTHER), Some(OTHER)).is_err() {
        println!("skipped: a link of another user: needs root");
        return;
    }
    let there = |name: &str| shared.join("theirs").join(name).display().to_string();
    let (file, _) = home.recorded_platform("");
    let plain = fs::read_to_string(&file).unwrap();
    let recorded = home.state_path().join("planted.toml");
    let folder = home.state_path().join("recordings").display().to_string();
    fs::write(&recorded, plain.replace(&folder, &there("recordings"))).unwrap();
    let recorded = recorded.display().to_string();
    let sweep = home.state_path().join("sweep.toml");
    let text =
        "platform = \"recorded.toml\"\nstrategy = \"makers\"\n[parameters]\n\"md.instruments\" = [2]\n";
    fs::write(&sweep, text).unwrap();
    let sweep = sweep.display().to_string();
    let short = ["--set", "md.count=50", "--set", "md.interval=1ms"];
    for command in [
        [&["up", &recorded, "--stay"][..], &short].concat(),
        [&["up", &file, "--out", &there("run")][..], &short].concat(),
        vec!["sweep", &sweep, "--out", &there("sweep")],
    ] {
        let refused = home.colo(&command);
        let words = stderr(&refused) + &home.logs();
        assert!(!refused.status.success(), "{command:?}");
        assert!(words.contains(&format!("is a link of user {OTHER}")), "{command:?}: {words}");
    }
    assert_eq!(fs::read_dir(&victim).unwrap().count(), 0, "the victim's folder is as it was");
}

#[test]
fn locks_on_disk_are_of_this_user_alone_and_tell_that_a_run_goes_on() {
    let home = Home::new();
    let (file, recordings) = home.recorded_platform("");
    let run = home.state_path().join("run");
    let out = run.display().to_string();
    let endless = ["--set", "md.count=0", "--set", "md.interval=10ms"];
    let mut up = home
        .command(&[&["up", &file, "--foreground", "--out", &out][..], &endless].concat())
        .spawn()
        .unwrap();
    let below = |folder: &Path| named("lock", folder);
    home.wait_for("a segment", || !named("00000001.seg", Path::new(&recordings)).is_empty());
    let locks = [below(Path::new(&recordings)), below(&run)].concat();
    assert_eq!(locks.len(), 3, "of the runs, of the recording, of the folder of the run: {locks:?}");
    for lock in &locks {
        assert_eq!(fs::metadata(lock).unwrap().permissions().mode() & 0o7777, 0o600, "{}", lock.display());
        assert!(node::OwnLock::is_held(lock), "{}", lock.display());
    }
    // What the manifest notes of its process decides nothing: neither another start time nor a process that lives.
    let manifest = run.join("run.json");
    let note = |process: ProcessIdentity| {
        let mut text: serde_json::Value = serde_json::from_slice(&fs::read(&manifest).unwrap()).unwrap();
        text["writer"] = serde_json::json!({ "pid": process.pid, "start": process.start });
        fs::write(&manifest, text.to_string()).unwrap();
    };
    let state = || home.json(&["runs", "show", &out, "--format", "json"])["state"].clone();
    note(ProcessIdentity { pid: up.id(), start: 1 });
    assert_eq!(state(), "running");
    kill(up.id(), "KILL");
    up.wait().unwrap();
    note(ProcessIdentity::current());
    assert_eq!(state(), "unfinished");
}
