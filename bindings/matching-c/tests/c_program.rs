//! A C program is compiled against the header, linked with the library, and run.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The static library that this test's own build made.
fn library() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let deps = test.parent().unwrap();
    // Beside the tests' folder after a build of the library, in it after a build of the tests alone.
    let candidates = [deps.join("libcolo_matching.a"), deps.parent().unwrap().join("libcolo_matching.a")];
    candidates.into_iter().find(|path| path.exists()).expect("cargo builds the static library with the tests")
}

#[test]
fn a_c_program_trades_through_the_interface() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("program");
    let status = Command::new("cc")
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", "-I"])
        .arg(here.join("include"))
        .arg(here.join("tests/program.c"))
        .arg(library())
        .args(["-lpthread", "-ldl", "-lm", "-o"])
        .arg(&program)
        .status()
        .unwrap();
    assert!(status.success(), "the C program does not compile");
    let output = Command::new(&program).output().unwrap();
    let (said, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && said == "held\n", "{said}{errors}");
}
