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

/// A block of code of a README.
fn block(readme: &str, language: &str) -> String {
    let (_, rest) = readme.split_once(&format!("```{language}\n")).unwrap();
    rest.split_once("\n```").unwrap().0.to_owned() + "\n"
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

/// Two strategies answer quotes within their limit, as the taker in Rust does, and refuse what they cannot do.
fn trades(home: &Home, program: &Path) {
    let file = platform(home, program, "params = { max_position = 3 }");
    let report = home.json(&["up", &file, "--format", "json"]);
    for strategy in report["strategies"].as_array().unwrap() {
        assert!(number(&strategy["orders"]) > 50 && number(&strategy["fills"]) > 10, "{strategy}");
        assert!(strategy["position"].as_i64().unwrap().abs() <= 3, "{strategy}");
    }
    // A name that the strategy never asked for is misspelt.
    let file = platform(home, program, "params = { max_positon = 3 }");
    let output = home.colo(&["up", &file]);
    assert!(!output.status.success());
    assert!(home.logs().contains("max_positon"), "{}", home.logs());
    let file = platform(home, program, "params = { max_position = 0 }");
    assert!(!home.colo(&["up", &file]).status.success());
    assert!(home.logs().contains("at least 1"), "{}", home.logs());
}

/// In lock-step the run repeats exactly, also in another language: orders, fills, position and result of each strategy.
fn lock_step(home: &Home, program: &Path) -> Vec<String> {
    let file = platform(home, program, "params = { max_position = 3 }");
    let steps = "platform.deterministic=true,md.readers=gated,md.generator=timed,md.count=300";
    let mut arguments = vec!["up", &file, "--format", "json"];
    steps.split(',').for_each(|set| arguments.extend(["--set", set]));
    let report = home.json(&arguments);
    assert!(number(&report["orders"]) > 100, "{report}");
    let line = |of: &serde_json::Value| {
        ["name", "orders", "fills", "position", "pnl"].map(|name| of[name].to_string()).join(" ")
    };
    report["strategies"].as_array().unwrap().iter().map(line).collect()
}

#[test]
fn a_strategy_in_c_trades() {
    let home = Home::new();
    match compile(&home, "cc", &["-std=c11"], "c/examples/taker.c") {
        Ok(program) => {
            trades(&home, &program);
            assert_eq!(lock_step(&home, &program), lock_step(&home, Path::new("builtin:taker")));
        }
        Err(reason) => println!("skipped: {reason}"),
    }
}

#[test]
fn a_strategy_in_cpp_trades() {
    let home = Home::new();
    match compile(&home, "c++", &["-std=c++17"], "cpp/examples/taker.cpp") {
        Ok(program) => {
            trades(&home, &program);
            assert_eq!(lock_step(&home, &program), lock_step(&home, Path::new("builtin:taker")));
        }
        Err(reason) => println!("skipped: {reason}"),
    }
}

#[test]
fn the_first_strategy_of_the_cpp_page_holds_what_it_was_told_and_no_more() {
    let home = Home::new();
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bindings/cpp/README.md");
    let readme = std::fs::read_to_string(page).unwrap();
    let folder = home.state_path();
    std::fs::write(folder.join("first.cpp"), block(&readme, "cpp")).unwrap();
    let source = folder.join("first.cpp");
    let program = match compile(&home, "c++", &["-std=c++17"], source.to_str().unwrap()) {
        Ok(program) => program,
        Err(reason) => return println!("skipped: {reason}"),
    };
    std::fs::rename(program, folder.join("first")).unwrap();
    let file = folder.join("first.toml");
    std::fs::write(&file, block(&readme, "toml")).unwrap();
    let report = home.json(&["up", file.to_str().unwrap(), "--format", "json"]);
    let strategies = report["strategies"].as_array().unwrap();
    assert_eq!(strategies.len(), 2, "{report}");
    for strategy in strategies {
        assert!(number(&strategy["fills"]) > 0, "{strategy}");
        let position = strategy["position"].as_i64().unwrap();
        // Both instruments of the page have lots of one.
        assert!((1..=2).contains(&position), "{strategy}");
    }
}
