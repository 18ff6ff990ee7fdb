//! The nodes' logs do not fill a disk.

mod home;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use home::Home;

const PLATFORM: &str = r#"
[platform]
instance = "chatty"

[master]
log_bytes = "1MiB"

[md]
source = "sim"
count = 0

[strategies]
program = "builtin:taker"
count = 0

[[service]]
name = "chatty"
program = "PROGRAM"
"#;

/// A program that prints 64 MB, a part at a time, and stays.
const PROGRAM: &str = "#!/bin/sh
for part in 1 2 3 4 5 6 7 8; do
    yes 'a line of a service that prints what it does, again and again' | head -c 8000000
    sleep 0.6
done
exec sleep 1000
";

#[test]
fn a_node_that_prints_without_end_has_a_log_with_a_bound() {
    let home = Home::new();
    let program = home.state_path().join("chatty.sh");
    fs::write(&program, PROGRAM).expect("written");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("a program");
    let file = home.state_path().join("chatty.toml");
    fs::write(&file, PLATFORM.replace("PROGRAM", &program.display().to_string())).expect("written");
    // It never registers: the platform does not come up, and looks at the logs all the same.
    let up = home.command(&["up", &file.display().to_string(), "--set", "master.ready_timeout=60s"]).spawn();
    let mut up = up.expect("colo starts");
    let log = home.state_path().join("colo/chatty/chatty.log");
    let length = |path: &std::path::Path| fs::metadata(path).map_or(0, |file| file.len());
    let kept = log.with_extension("log.1");
    home.wait_for("a log that began again", || kept.exists());
    home.wait_for("a log below its bound", || length(&log) <= 1 << 20);
    // Half of the bound, behind a line that says what it is.
    assert!(length(&kept) <= (512 << 10) + 128, "{} bytes", length(&kept));
    let text = fs::read_to_string(&kept).expect("text");
    let (head, rest) = text.split_once('\n').expect("lines");
    assert!(head.starts_with("--- bytes ") && head.ends_with(" of this log"), "{head}");
    assert!(rest.starts_with("a line of"), "it begins with a whole line");
    // Master logs it behind the cut.
    home.wait_for("a line of master about it", || {
        let master = fs::read_to_string(home.state_path().join("colo/chatty/master.log"));
        master.is_ok_and(|master| master.contains("the log of `chatty` had grown beyond 1048576 bytes"))
    });
    home::kill(up.id(), "INT");
    let ended = up.wait().expect("it ends");
    assert!(!ended.success());
}
