//! QuickFIX/J as the counterparty.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::client::{other, started};

#[test]
fn quickfix_j_trades_and_survives_a_kill_of_the_gateway() {
    let target = Path::new(env!("CARGO_BIN_EXE_colo-gateway")).ancestors().nth(2).unwrap();
    let jars = target.join("quickfixj");
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/quickfixj");
    let has_java = Command::new("java").arg("-version").output().is_ok_and(|done| done.status.success());
    if !jars.is_dir() || !has_java {
        println!(
            "skipped: there is no java, or no {}; `mvn dependency:copy-dependencies -DoutputDirectory={}` in {} makes it",
            jars.display(),
            jars.display(),
            here.display()
        );
        return;
    }
    for version in ["FIX.4.4", "FIXT.1.1"] {
        let name = if version == "FIX.4.4" { "fix-qf44" } else { "fix-qf50" };
        let Some((platform, port, token)) = started(name) else { return };
        let http = platform.token(&["http", "--role", "trader"]);
        let mut child = Command::new("java")
            .arg("-cp")
            .arg(format!("{}/*", jars.display()))
            .arg(here.join("Counterparty.java"))
            .args([version, &port.to_string(), &token])
            .arg(platform.path("quickfixj"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let pid = nix::unistd::Pid::from_raw(i32::try_from(child.id()).unwrap());
        let (done, is_done) = std::sync::mpsc::channel::<()>();
        let watchdog = std::thread::spawn(move || {
            if is_done.recv_timeout(Duration::from_secs(180)).is_err() {
                let _ = nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL);
            }
        });
        let mut last = String::new();
        for line in BufReader::new(child.stdout.take().unwrap()).lines() {
            let line = line.unwrap();
            println!("quickfixj: {line}");
            let answer = match line.split_once(' ').unwrap_or((&line, "")) {
                ("KILL", _) => {
                    platform.kill("gateway");
                    true
                }
                ("SELL", rest) => {
                    let words: Vec<&str> = rest.split(' ').collect();
                    other(&platform, &http, words[0], "sell", words[1].parse().unwrap(), words[2]);
                    true
                }
                _ => false,
            };
            if answer {
                writeln!(child.stdin.as_mut().unwrap(), "done").unwrap();
            }
            last = line;
        }
        let status = child.wait().unwrap();
        let _ = done.send(());
        watchdog.join().unwrap();
        assert!(status.success() && last == "GOOD", "{version}: {last}\n{}", platform.log("gateway"));
        let audit = platform.colo(&["audit", &platform.name]);
        assert!(audit.status.success(), "{}", String::from_utf8_lossy(&audit.stdout));
    }
}
