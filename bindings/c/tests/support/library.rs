//! The library that the programs of the tests are linked with. Tests do not link it, so it is built when it is asked for.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The static library, built as this test is, where this test was.
pub(crate) fn library() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let profile = test.ancestors().nth(2).unwrap();
    let mut command = Command::new(env!("CARGO"));
    command.args(["build", "--quiet", "-p", "colo-c", "--target-dir"]).arg(profile.parent().unwrap());
    if profile.ends_with("release") {
        command.arg("--release");
    }
    let built = command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR"))).status().unwrap();
    assert!(built.success(), "the library does not build");
    profile.join("libcolo_c.a")
}
