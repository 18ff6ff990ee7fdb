//! The languages of this host read what the others write, and a binding that is wrong is found.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::panic, reason = "a test that cannot go on fails")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::ops::ControlFlow;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use bindings_conformance::{Driver, Found, Matrix, build, discover};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

fn bindings() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Each language with Rust, in both directions: `.ci/matrix` runs each with each.
#[test]
fn every_language_of_this_host_reads_what_rust_writes_and_the_other_way_round() {
    let builds = tempfile::tempdir().unwrap();
    let found = discover(&bindings(), builds.path(), &[]);
    let with_rust = |producer: &str, consumer: &str| producer == "rust" || consumer == "rust";
    let matrix = Matrix::run(found, &[], with_rust, |_| ControlFlow::Continue(()));
    println!("{}", matrix.text());
    for skipped in &matrix.skipped {
        println!("skipped: {}: {}", skipped.what, skipped.reason);
    }
    assert!(matrix.passed(), "{}", matrix.text());
    assert!(matrix.languages.contains(&"rust".to_owned()));
}

/// The driver of a folder that was copied; the reason if the host cannot.
fn copied(from: &str, to: &Path, change: impl Fn(&str, String) -> String) -> Result<Driver, String> {
    fs::create_dir_all(to).unwrap();
    copy(&bindings().join(from), to, &change);
    fs::set_permissions(to.join("driver"), fs::Permissions::from_mode(0o755)).unwrap();
    match build(to, &to.join("built")) {
        Some(Found::Ready(driver)) => Ok(driver),
        Some(Found::Missing(_, reason)) => Err(reason),
        other => panic!("{other:?}"),
    }
}

fn copy(from: &Path, to: &Path, change: &dyn Fn(&str, String) -> String) {
    for entry in fs::read_dir(from).unwrap().flatten() {
        let (path, name) = (entry.path(), entry.file_name().into_string().unwrap());
        if path.is_dir() {
            fs::create_dir_all(to.join(&name)).unwrap();
            copy(&path, &to.join(&name), change);
        } else if let Ok(text) = fs::read_to_string(&path) {
            fs::write(to.join(&name), change(&name, text)).unwrap();
        }
    }
}

/// Where the library is that the copy links with, whatever the folder that it is built from.
fn target() -> PathBuf {
    std::env::current_exe().unwrap().ancestors().nth(3).unwrap().to_owned()
}

fn rust(builds: &Path) -> Driver {
    match build(Path::new(env!("CARGO_MANIFEST_DIR")), builds) {
        Some(Found::Ready(driver)) => driver,
        other => panic!("{other:?}"),
    }
}

/// C takes the offsets that it uses itself from the header that is made for it. One that is wrong turns the matrix red.
#[test]
fn a_wrong_offset_turns_the_matrix_red() {
    let folder = tempfile::tempdir().unwrap();
    let rust = rust(folder.path());
    // The copy is no part of the workspace: the library is built from here, and named.
    let script = |name: &str, text: String| match name {
        "driver" => text
            .replace(
                "cargo build --quiet -p colo-c",
                &format!("(cd {} && cargo build --quiet -p colo-c)", bindings().display()),
            )
            .replace("${CARGO_TARGET_DIR:-../../target}", &target().display().to_string()),
        _ => text,
    };
    let wrong = [
        ("COLO_FRAME_TOPIC 24u", "COLO_FRAME_TOPIC 28u"),
        ("COLO_FRAME_PAYLOAD 32u", "COLO_FRAME_PAYLOAD 40u"),
        ("COLO_FRAME_RECORD 16383u", "COLO_FRAME_RECORD 32767u"),
        ("COLO_CONTROL_IDENTITY 208u", "COLO_CONTROL_IDENTITY 200u"),
    ];
    for (index, (right, wrong)) in [("", "")].into_iter().chain(wrong).enumerate() {
        let place = folder.path().join(format!("c{index}"));
        let driver = copied("c", &place, |name, text| {
            if name == "colo_layout.h" && !right.is_empty() {
                assert!(text.contains(right), "{right} is not in the header");
                return text.replace(right, wrong);
            }
            script(name, text)
        });
        let driver = match driver {
            Ok(driver) => driver,
            Err(reason) => return println!("skipped: {reason}"),
        };
        let other = driver.language.clone();
        let found = vec![Found::Ready(rust.clone()), Found::Ready(driver)];
        let cases = ["wrap", "records", "skip", "appended"].map(str::to_owned);
        let matrix = Matrix::run(
            found,
            &cases,
            |from, to| from == "rust" && to == other,
            |_| ControlFlow::Continue(()),
        );
        assert_eq!(matrix.passed(), right.is_empty(), "{wrong}: {}", matrix.text());
        let problem = matrix.cells.iter().find_map(|cell| cell.problem.clone());
        println!("`{wrong}`: {}", problem.as_deref().unwrap_or("as it is, all hold"));
    }
}

/// Two that agree on a mistake are found: the runner works out by itself what must be said.
#[test]
fn a_mistake_that_two_drivers_share_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let real = rust(folder.path());
    let place = folder.path().join("liar");
    fs::create_dir_all(&place).unwrap();
    // Both sides say every topic one too high.
    let script = format!(
        "#!/bin/sh\n[ \"$1\" = build ] && exit 0\ncd {} && exec ./driver | sed -u 's/^\\(frame [0-9]* [0-9]*\\) \\([0-9]\\) /\\1 1\\2 /'\n",
        real.folder.display()
    );
    fs::write(place.join("driver"), script).unwrap();
    fs::set_permissions(place.join("driver"), fs::Permissions::from_mode(0o755)).unwrap();
    let Some(Found::Ready(liar)) = build(&place, folder.path()) else {
        panic!("the liar speaks the protocol")
    };
    let matrix = Matrix::run(
        vec![Found::Ready(liar)],
        &["wrap".to_owned()],
        |_, _| true,
        |_| ControlFlow::Continue(()),
    );
    assert!(!matrix.passed(), "{}", matrix.text());
    println!("{}", matrix.text());
}

/// A driver that cannot be built is said, with its reason; one that breaks is no pass.
#[test]
fn what_is_skipped_is_said_and_what_is_broken_fails() {
    let folder = tempfile::tempdir().unwrap();
    for (name, script) in [
        ("missing", "#!/bin/sh\necho 'no compiler of that language' >&2\nexit 77\n"),
        ("broken", "#!/bin/sh\necho 'syntax error' >&2\nexit 1\n"),
        ("silent", "#!/bin/sh\nexit 0\n"),
    ] {
        let place = folder.path().join(name);
        fs::create_dir_all(&place).unwrap();
        fs::write(place.join("driver"), script).unwrap();
        fs::set_permissions(place.join("driver"), fs::Permissions::from_mode(0o755)).unwrap();
    }
    fs::create_dir_all(folder.path().join("no-driver")).unwrap();
    let builds = folder.path().join("builds");
    let matrix =
        Matrix::run(discover(folder.path(), &builds, &[]), &[], |_, _| true, |_| ControlFlow::Continue(()));
    assert_eq!(matrix.skipped.len(), 1, "{matrix:?}");
    assert_eq!(matrix.skipped[0].reason, "no compiler of that language");
    let broken: Vec<&str> = matrix.broken.iter().map(|(language, _)| language.as_str()).collect();
    assert_eq!(broken, ["broken", "silent"]);
    assert!(!matrix.passed());
    let json = matrix.json();
    assert!(json["cells"].as_array().is_some_and(Vec::is_empty) && json["languages"].as_array().is_some());
}

#[test]
fn a_run_that_is_stopped_leaves_no_files() {
    let builds = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_matrix"));
    command.args(["--only", "rust"]).arg("--bindings").arg(bindings()).arg("--builds").arg(builds.path());
    let mut run = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (pid, mut lines) = (run.id(), BufReader::new(run.stdout.take().unwrap()));
    lines.read_line(&mut String::new()).unwrap();
    kill(Pid::from_raw(pid as i32), Signal::SIGINT).unwrap();
    // Read on: else it would wait for its output to be read.
    let rest = lines.lines().map_while(Result::ok).collect::<Vec<_>>().join("\n");
    let output = run.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{rest}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("stopped"), "{rest}");
    let prefix = format!("colo-matrix-{pid}-");
    let folders = [PathBuf::from("/dev/shm"), std::env::temp_dir()];
    let left = folders.iter().flat_map(|folder| fs::read_dir(folder).into_iter().flatten().flatten());
    let left: Vec<_> =
        left.filter(|entry| entry.file_name().to_string_lossy().starts_with(&prefix)).collect();
    assert!(left.is_empty(), "{left:?}");
}
