//! Strategies in other languages, on a platform: `program =` in the platform file takes what their compilers make.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::panic, reason = "a test that cannot go on fails")]

mod home;

use std::path::{Path, PathBuf};
use std::process::Command;

use home::{Home, number, stderr};

/// Compiles an example of the bindings; the reason if this host cannot.
fn compile(home: &Home, compiler: &str, arguments: &[&str], source: &str) -> Result<PathBuf, String> {
    let bindings = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bindings");
    if let Err(error) = Command::new(compiler).arg("--version").output() {
        return Err(format!("no {compiler}: {error}"));
    }
    // Where this test's own binaries were built, so that nothing is built twice.
    let target = Path::new(env!("CARGO_BIN_EXE_colo")).ancestors().nth(2).unwrap();
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "-p", "colo-c", "--target-dir"])
        .arg(target)
        .current_dir(&bindings)
        .status()
        .unwrap();
    assert!(built.success(), "the library does not build");
    let program = home.state_path().join(Path::new(source).file_name().unwrap()).with_extension("bin");
    let output = Command::new(compiler)
        .args(arguments)
        .args(["-Wall", "-Wextra", "-Werror", "-O1", "-I"])
        .arg(bindings.join("c/include"))
        .arg("-I")
        .arg(bindings.join("cpp/include"))
        .arg(bindings.join(source))
        .arg(target.join("debug/libcolo_c.a"))
        .args(["-lpthread", "-ldl", "-lm", "-o"])
        .arg(&program)
        .output()
        .unwrap();
    assert!(output.status.success(), "{source} does not compile: {}", stderr(&output));
    Ok(program)
}

fn platform(home: &Home, program: &Path, more: &str) -> String {
    let file = home.state_path().join("foreign.toml");
    let text = format!(
        "[platform]\ninstance = 'foreign'\n[md]\ninstruments = 2\ninterval = '1ms'\ncount = 3000\n\
         [strategies]\nprogram = '{}'\ncount = 2\ninstruments = 'round-robin'\n{more}\n",
        program.display()
    );
    std::fs::write(&file, text).unwrap();
    file.display().to_string()
}

/// Each of two strategies buys up to its limit, and says so; the books agree.
fn trades(home: &Home, program: &Path) {
    let file = platform(home, program, "params = { max_position = 3 }");
    let report = home.json(&["up", &file, "--format", "json"]);
    let fills = number(&report["fills"]);
    assert!((2..=6).contains(&fills), "{fills} fills of two strategies that buy three lots each: {report}");
    let logs = home.logs();
    assert!(logs.contains("bought "), "{logs}");
    assert_eq!(logs.matches(": bought ").count() as u64, fills, "{logs}");
    // A name that the strategy never asked for is misspelt.
    let file = platform(home, program, "params = { max_positon = 3 }");
    let output = home.colo(&["up", &file]);
    assert!(!output.status.success());
    assert!(home.logs().contains("max_positon"), "{}", home.logs());
    let file = platform(home, program, "params = { max_position = 0 }");
    assert!(!home.colo(&["up", &file]).status.success());
    assert!(home.logs().contains("at least 1"), "{}", home.logs());
}

#[test]
fn a_strategy_in_c_trades() {
    let home = Home::new();
    match compile(&home, "cc", &["-std=c11"], "c/examples/taker.c") {
        Ok(program) => trades(&home, &program),
        Err(reason) => println!("skipped: {reason}"),
    }
}

#[test]
fn a_strategy_in_cpp_trades() {
    let home = Home::new();
    match compile(&home, "c++", &["-std=c++17"], "cpp/examples/taker.cpp") {
        Ok(program) => trades(&home, &program),
        Err(reason) => println!("skipped: {reason}"),
    }
}
