//! Situations from public bug reports of other projects, as scripts that print PASS or FAIL. They are looked for in the folder `host` of the
//! one that COLO_CASES names, otherwise of `../shared/cases`. Those in Python run with the Python that COLO_PY names, or with one that
//! the package is built for here, where maturin is.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::panic, reason = "a test that cannot go on fails")]

mod package;

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Nothing here takes a tenth of it.
const WATCHDOG: Duration = Duration::from_secs(180);

/// Cases at the same time.
const AT_ONCE: usize = 2;

/// The folders of the cases, in their order.
fn cases() -> Option<Vec<PathBuf>> {
    let given = std::env::var_os("COLO_CASES").map(PathBuf::from);
    let root = given.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/cases"));
    let folder = root.join("host/cases");
    let mut cases: Vec<PathBuf> =
        std::fs::read_dir(&folder).ok()?.flatten().map(|entry| entry.path()).collect();
    cases.sort();
    Some(cases)
}

/// Why a case cannot be tried here.
fn missing<'a>(name: &str, programs: &Path, python: &'a Result<PathBuf, String>) -> Option<&'a str> {
    let has = |program: &str| {
        let tried =
            Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        tried.is_ok_and(|status| status.success())
    };
    // A process that `nohup` starts does not get the signal of a closed terminal.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default();
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|this| this.uid() == 0);
    let wants = |words: &[&str]| words.iter().any(|word| name.contains(word));
    if wants(&["python"])
        && let Err(reason) = python
    {
        return Some(reason);
    }
    let gateway = ["fix", "clock-put-right"];
    match () {
        () if wants(&["time-namespace", "umask"]) && !is_root => Some("it wants root"),
        () if wants(&["terminal-closed"]) && ignored & 1 != 0 => {
            Some("SIGHUP is ignored here, as under nohup")
        }
        () if wants(&["clock-put-right"]) && !has("gcc") => Some("it wants gcc"),
        () if wants(&gateway) && !has("python3") => Some("it wants python3"),
        () if wants(&gateway) && !programs.join("colo-gateway").exists() => {
            Some("colo-gateway is not built: `cargo build -p gateway --bins`")
        }
        () => None,
    }
}

/// What a case prints, under the watchdog.
fn output(case: &Path, programs: &Path, python: Option<&Path>) -> String {
    let scratch = tempfile::NamedTempFile::new().expect("a file");
    let printed = scratch.reopen().expect("the file");
    let mut command = Command::new("bash");
    if let Some(python) = python {
        command.env("COLO_PY", python);
    }
    let mut child = command
        .arg(case.join("cmd.sh"))
        .env("COLO_BIN", programs)
        .stdin(Stdio::null())
        .stdout(printed.try_clone().expect("the file"))
        .stderr(printed)
        .spawn()
        .expect("bash");
    let end = Instant::now() + WATCHDOG;
    while child.try_wait().expect("a child").is_none() {
        if Instant::now() > end {
            let _ = child.kill();
            let _ = child.wait();
            return format!(
                "FAIL: it hangs\n{}",
                std::fs::read_to_string(scratch.path()).unwrap_or_default()
            );
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    String::from_utf8_lossy(&std::fs::read(scratch.path()).expect("what it printed")).into_owned()
}

#[test]
fn cases_of_other_projects_hold_here() {
    let Some(cases) = cases() else {
        println!("skipped: no cases (COLO_CASES names their folder)");
        return;
    };
    let programs = Path::new(env!("CARGO_BIN_EXE_colo")).parent().expect("a folder").to_owned();
    let name = |case: &Path| case.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let given = std::env::var_os("COLO_PY").map(PathBuf::from);
    let python = given.map_or_else(|| package::install("python-cases"), Ok);
    let wanted: Vec<&PathBuf> = cases
        .iter()
        .filter(|case| match missing(&name(case), &programs, &python) {
            Some(why) => {
                println!("skipped: {}: {why}", name(case));
                false
            }
            None => true,
        })
        .collect();
    // They wait more than they work, and each has ports and folders of its own.
    let next = Mutex::new(wanted.iter().enumerate());
    let outputs: Mutex<Vec<(usize, String)>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                let one = || next.lock().expect("no panic").next();
                while let Some((place, case)) = one() {
                    let said = output(case, &programs, python.as_deref().ok());
                    outputs.lock().expect("no panic").push((place, said));
                }
            });
        }
    });
    let mut outputs = outputs.into_inner().expect("no panic");
    outputs.sort();
    let (tried, mut faults) = (outputs.len(), Vec::new());
    for (place, said) in outputs {
        let name = name(wanted[place]);
        let count = |word: &str| said.lines().filter(|line| line.starts_with(word)).count();
        let (passed, failed) = (count("PASS"), count("FAIL"));
        println!("{name}: {passed} PASS, {failed} FAIL");
        if passed == 0 || failed > 0 {
            faults.push(format!("{name}:\n{said}"));
        }
    }
    println!("{tried} of {} cases tried", cases.len());
    assert!(tried > 0, "nothing was tried");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
