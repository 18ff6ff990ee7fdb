//! `colo run gateway`: the program colo-gateway in place of this one.
//!
//! It is a program of its own, so that what it needs for HTTP and TLS is not built with every colo.

use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use node::Exit;

use crate::failure::Failure;

const PROGRAM: &str = "colo-gateway";

/// Becomes the gateway: returns only if there is none.
pub(super) fn run(instance: &str, node: &str) -> Result<(), Failure> {
    let program = find();
    // By its environment: an instance may be called as one of its verbs.
    let error =
        Command::new(&program).env(node::INSTANCE_VARIABLE, instance).env(node::NODE_VARIABLE, node).exec();
    let message = match error.kind() {
        std::io::ErrorKind::NotFound => format!(
            "there is no `{PROGRAM}` beside `colo` nor in PATH: build it with `cargo build --release -p gateway`, or take \
             [gateway] out of the platform file"
        ),
        _ => format!("`{}` does not start: {error}", program.display()),
    };
    Err(Failure::new(Exit::Failed, message))
}

/// Beside this program, or wherever PATH has it.
pub(super) fn find() -> PathBuf {
    let beside = std::env::current_exe().ok().and_then(|colo| Some(colo.parent()?.join(PROGRAM)));
    beside.filter(|program| program.exists()).unwrap_or_else(|| PathBuf::from(PROGRAM))
}
