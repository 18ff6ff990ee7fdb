//! Go and Java, which know the platform by its documents alone: their own tests, and their strategies on a platform, killed and
//! started again.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::panic, reason = "a test that cannot go on fails")]

mod home;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::time::Duration;

use home::{Home, kill, number, stderr, stdout};

/// A compiler or a test that takes longer hangs.
const WATCHDOG: Duration = Duration::from_secs(540);
/// What ends with it could not be done on this host, and the last line on standard error says why.
const SKIPPED: i32 = 77;

/// Two tests of one language build in the same folder.
static BUILDS: Mutex<()> = Mutex::new(());

fn bindings(language: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../bindings").join(language).canonicalize().unwrap()
}

/// Where a language builds.
fn built(language: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(language);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Runs a tool of a language to its end, under the watchdog.
fn tool(language: &str, words: &[&str]) -> Result<Output, String> {
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).current_dir(bindings(language)).env("COLO_BUILD", built(language));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().map_err(|error| format!("{}: {error}", words[0]))?;
    let (pid, (sender, receiver)) = (child.id(), channel());
    std::thread::spawn(move || sender.send(child.wait_with_output()));
    receiver.recv_timeout(WATCHDOG).map(|output| output.unwrap()).map_err(|_| {
        kill(pid, "KILL");
        panic!("`{}` hangs", words.join(" "));
    })
}

/// True when the tool did it; false, with the reason printed, where this host cannot.
fn does(language: &str, words: &[&str]) -> bool {
    let output = match tool(language, words) {
        Ok(output) => output,
        Err(reason) => {
            println!("skipped: {reason}");
            return false;
        }
    };
    let (out, error) = (stdout(&output), stderr(&output));
    if output.status.code() == Some(SKIPPED) {
        println!("skipped: {}", error.lines().last().unwrap_or("no reason is given"));
        return false;
    }
    assert!(output.status.success(), "`{}` in bindings/{language}:\n{out}\n{error}", words.join(" "));
    println!("`{}`\n{out}", words.join(" "));
    true
}

#[test]
fn go_passes_its_own_tests() {
    let _alone = BUILDS.lock();
    if !does("go", &["go", "version"]) {
        return;
    }
    assert!(does("go", &["go", "vet", "./..."]));
    let formatted = tool("go", &["gofmt", "-l", "."]).map(|output| stdout(&output));
    assert_eq!(formatted.as_deref(), Ok(""), "gofmt would change these");
    assert!(does("go", &["go", "test", "-count=1", "./..."]));
    assert!(does("go", &["go", "test", "-count=1", "-gcflags=all=-d=checkptr", "./..."]));
    // The race detector is C.
    let has_c = tool("go", &["go", "env", "CGO_ENABLED"]).is_ok_and(|output| stdout(&output).trim() == "1")
        && Command::new("cc").arg("--version").output().is_ok();
    match has_c {
        true => assert!(does("go", &["go", "test", "-count=1", "-race", "./journal", "./strategy"])),
        false => println!("skipped: the race detector needs a C compiler"),
    }
}

#[test]
fn java_passes_its_own_tests() {
    let _alone = BUILDS.lock();
    does("java", &["./test"]);
}

#[test]
fn a_strategy_in_go_trades_is_killed_and_trades_on() {
    let program = built("go").join("taker");
    let is_built = {
        let _alone = BUILDS.lock();
        does("go", &["go", "build", "-o", program.to_str().unwrap(), "./examples/taker"])
    };
    if is_built {
        trades_is_killed_and_trades_on(&program, "depth");
        trades_is_killed_and_trades_on(&program, "best");
    }
}

#[test]
fn a_strategy_in_java_trades_is_killed_and_trades_on() {
    let is_built = {
        let _alone = BUILDS.lock();
        does("java", &["./build"])
    };
    if is_built {
        let program = bindings("java").join("src/examples/taker/taker");
        trades_is_killed_and_trades_on(&program, "depth");
        trades_is_killed_and_trades_on(&program, "best");
    }
}

/// In lock-step the run repeats exactly, also in another language.
#[test]
fn in_lock_step_a_strategy_in_go_and_in_java_does_what_the_one_in_rust_does() {
    let home = Home::new();
    let wanted = lock_step(&home, "builtin:taker");
    let go = built("go").join("taker");
    let mut compared = 0;
    let _alone = BUILDS.lock();
    if does("go", &["go", "build", "-o", go.to_str().unwrap(), "./examples/taker"]) {
        assert_eq!(lock_step(&home, go.to_str().unwrap()), wanted, "Go");
        compared += 1;
    }
    if does("java", &["./build"]) {
        let program = bindings("java").join("src/examples/taker/taker");
        assert_eq!(lock_step(&home, program.to_str().unwrap()), wanted, "Java");
        compared += 1;
    }
    println!("{compared} languages compared with {wanted:?}");
}

/// Orders, fills, position and result of each strategy.
fn lock_step(home: &Home, program: &str) -> Vec<String> {
    let more = "[platform]\ninstance = 'steps'\ndeterministic = true\n[md]\ninstruments = 2\ncount = 300\ninterval = '1ms'\nreaders = 'gated'\ngenerator = 'timed'\n";
    let file = platform(home, more, program, "depth");
    let up = colo(home, &["up", &file, "--format", "json"]);
    assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
    let report: serde_json::Value = serde_json::from_str(&stdout(&up)).unwrap();
    let strategies = report["strategies"].as_array().unwrap();
    let line = |of: &serde_json::Value| {
        ["name", "orders", "fills", "position", "pnl"].map(|name| of[name].to_string()).join(" ")
    };
    assert!(number(&report["orders"]) > 100, "{report}");
    strategies.iter().map(line).collect()
}

/// As [`Home::colo`], with what the programs that it starts need to be found.
fn colo(home: &Home, arguments: &[&str]) -> Output {
    let language = if arguments.iter().any(|word| word.contains("java")) { "java" } else { "go" };
    home.command(arguments).env("COLO_BUILD", built(language)).output().unwrap()
}

fn platform(home: &Home, head: &str, program: &str, data: &str) -> String {
    let name = if program.contains("java") { "java.toml" } else { "go.toml" };
    let file = home.state_path().join(name);
    let text = format!(
        "{head}[strategies]\nprogram = '{program}'\ncount = 2\ninstruments = 'round-robin'\ndata = '{data}'\n\
         params = {{ max_position = 3 }}\n"
    );
    std::fs::write(&file, text).unwrap();
    file.display().to_string()
}

fn orders(home: &Home, node: &str) -> u64 {
    counter(home, node, "orders")
}

fn counter(home: &Home, node: &str, name: &str) -> u64 {
    number(&home.node("foreign", node)["counters"][name])
}

fn trades_is_killed_and_trades_on(program: &Path, data: &str) {
    let home = Home::new();
    let head = "[platform]\ninstance = 'foreign'\n[md]\ninstruments = 2\ninterval = '2ms'\ncount = 0\n[master]\nready_timeout = '60s'\n\
                [pin.nodes.strategy-1]\ncpus = '0'\n";
    let file = platform(&home, head, program.to_str().unwrap(), data);
    let up = colo(&home, &["up", &file, "--stay"]);
    assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
    for node in ["strategy-1", "strategy-2"] {
        home.wait_for("orders", || orders(&home, node) > 50);
    }
    // Runtimes have threads of their own, which master finds on the planned CPU too.
    home.wait_for("a look at its threads", || counter(&home, "strategy-1", "place_samples") > 0);
    assert_eq!(counter(&home, "strategy-1", "off_plan"), 0, "{}", home.logs());
    let first = home.node("foreign", "strategy-1");
    kill(u32::try_from(number(&first["pid"])).unwrap(), "KILL");
    home.wait_for("its death", || {
        ["dead", "failed"].map(Into::into).contains(&home.node("foreign", "strategy-1")["state"])
    });
    let before = orders(&home, "strategy-1");
    let mut second = Second::start(&home, program, "strategy-1");
    home.wait_for("its successor", || home.node("foreign", "strategy-1")["state"] == "running");
    home.wait_for("orders of its successor", || orders(&home, "strategy-1") > before + 50);
    let after = home.node("foreign", "strategy-1");
    assert_eq!(number(&after["starts"]), number(&first["starts"]) + 1, "{after}");
    let down = home.colo(&["down", "foreign", "--format", "json"]);
    assert!(down.status.success(), "{}\n{}", stderr(&down), home.logs());
    assert_eq!(
        second.0.wait().unwrap().code(),
        Some(0),
        "asked to stop, it leaves in good order\n{}",
        home.logs()
    );
    let report: serde_json::Value = serde_json::from_str(&stdout(&down)).unwrap();
    assert_eq!(number(&report["wait_timeouts_with_data"]), 0, "{report}");
    for strategy in report["strategies"].as_array().unwrap() {
        assert!(number(&strategy["orders"]) > 50 && number(&strategy["fills"]) > 10, "{strategy}");
        // Each fill was counted once, also by the successor: it stays within its limit, but for an order that was on its way.
        assert!(strategy["position"].as_i64().unwrap().abs() <= 4, "{strategy}");
    }
    println!("{data}: {} orders of {}", report["orders"], program.display());
}

/// A strategy that was started by hand. It ends with the test.
struct Second(Child);

impl Second {
    fn start(home: &Home, program: &Path, node: &str) -> Second {
        let language = if program.to_string_lossy().contains("java") { "java" } else { "go" };
        let log = std::fs::File::create(home.state_path().join("second.log")).unwrap();
        let child = Command::new(program)
            .args(["--instance", "foreign", "--node", node])
            .env("COLO_ROOT", home.root.path())
            .env("COLO_BUILD", built(language))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        Second(child)
    }
}

impl Drop for Second {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
