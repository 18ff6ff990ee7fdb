//! The package for Python: its wheel, built here and installed in an environment of its own.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

/// A compiler or a test that takes longer hangs.
const WATCHDOG: Duration = Duration::from_secs(1200);

/// Runs a tool to its end, under the watchdog; why it could not be started.
pub(crate) fn run(command: &mut Command) -> Result<Output, String> {
    let words = format!("{command:?}");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().map_err(|error| format!("{words}: {error}"))?;
    let (pid, (sender, receiver)) = (child.id(), channel());
    std::thread::spawn(move || sender.send(child.wait_with_output()));
    receiver.recv_timeout(WATCHDOG).map(|output| output.unwrap()).map_err(|_| {
        let _ = Command::new("kill").args(["-KILL", &pid.to_string()]).status();
        panic!("{words} hangs");
    })
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

pub(crate) fn bindings() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../bindings/python").canonicalize().unwrap()
}

pub(crate) fn succeed(command: &mut Command) -> String {
    let output = run(command).unwrap();
    assert!(output.status.success(), "{command:?}\n{}\n{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

/// An interpreter with the wheel installed, in a folder of this name; the reason if this host cannot.
pub(crate) fn install(name: &str) -> Result<PathBuf, String> {
    let new = "import sys, venv; sys.exit(sys.version_info < (3, 11))";
    match run(Command::new("python3").args(["-c", new])) {
        Ok(output) if output.status.success() => {}
        Ok(_) => return Err("Python 3.11 or newer with venv is missing".to_owned()),
        Err(reason) => return Err(reason),
    }
    match run(Command::new("maturin").arg("--version")) {
        Ok(output) if output.status.success() => {}
        _ => return Err("maturin is missing: pip install maturin".to_owned()),
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    // Where this test's own binaries were built, so that nothing is built twice.
    let target = Path::new(env!("CARGO_BIN_EXE_colo")).ancestors().nth(2).unwrap();
    succeed(
        Command::new("maturin")
            .args(["build", "--quiet", "--profile", "dev", "--out"])
            .arg(&folder)
            .env("CARGO_TARGET_DIR", target)
            .current_dir(bindings()),
    );
    let wheel = std::fs::read_dir(&folder).unwrap().flatten().map(|entry| entry.path());
    let wheel = wheel.into_iter().find(|path| path.extension().is_some_and(|end| end == "whl")).unwrap();
    let environment = folder.join("environment");
    succeed(Command::new("python3").args(["-m", "venv"]).arg(&environment));
    let python = environment.join("bin/python3");
    succeed(
        Command::new(&python).args(["-m", "pip", "install", "--quiet", "--no-index", "--no-deps"]).arg(wheel),
    );
    // numpy from where it is, if it is anywhere: nothing is fetched here.
    let numpy = "import numpy, pathlib; print(pathlib.Path(numpy.__file__).parent.parent)";
    match run(Command::new("python3").args(["-c", numpy])) {
        Ok(output) if output.status.success() => {
            let site = "import sysconfig; print(sysconfig.get_path('purelib'))";
            let site = succeed(Command::new(&python).args(["-c", site]));
            std::fs::write(Path::new(site.trim()).join("numpy.pth"), text(&output.stdout)).unwrap();
        }
        _ => println!("skipped: what needs numpy, which is missing"),
    }
    Ok(python)
}
