//! The package for Python: its wheel in an environment of its own, its own tests, and its strategies on a platform, killed and
//! started again.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::panic, reason = "a test that cannot go on fails")]

mod home;
mod package;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;

use home::{Home, kill, number, stderr, stdout};
use package::{bindings, run, succeed};

/// An interpreter with the wheel installed, made once; the reason if this host cannot.
fn python() -> Result<&'static Path, &'static str> {
    static PYTHON: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    PYTHON.get_or_init(|| package::install("python")).as_deref().map_err(String::as_str)
}

/// The interpreter, or the reason printed.
fn interpreter() -> Option<&'static Path> {
    python().inspect_err(|reason| println!("skipped: {reason}")).ok()
}

#[test]
fn the_package_passes_its_own_tests() {
    let Some(python) = interpreter() else { return };
    let mut command = Command::new(python);
    command.args(["-m", "unittest", "discover", "-v", "-s"]).arg(bindings().join("tests"));
    let output = run(&mut command).unwrap();
    assert!(output.status.success(), "{}\n{}", stdout(&output), stderr(&output));
    for line in stderr(&output).lines().filter(|line| line.contains("skipped")) {
        println!("skipped: {line}");
    }
}

#[test]
fn the_package_its_example_and_its_tests_are_typed_strictly() {
    let Some(python) = interpreter() else { return };
    match run(Command::new("mypy").arg("--version")) {
        Ok(output) if output.status.success() => {}
        _ => return println!("skipped: mypy is missing: pip install mypy"),
    }
    for what in [
        &["-p", "colo"][..],
        &["examples/taker.py"],
        &["tests/test_colo.py"],
        &["tests/costs.py"],
        &["bench.py"],
    ] {
        let mut command = Command::new("mypy");
        command.args(["--strict", "--no-incremental", "--python-executable"]).arg(python);
        succeed(command.args(what).current_dir(bindings()));
    }
}

fn colo(home: &Home, python: &Path, arguments: &[&str]) -> Output {
    home.command(arguments).env("COLO_PYTHON", python).output().unwrap()
}

fn platform(home: &Home, head: &str, program: &str, more: &str) -> String {
    let file = home.state_path().join("python.toml");
    let text = format!(
        "{head}[strategies]\nprogram = '{program}'\ncount = 2\ninstruments = 'round-robin'\n{more}\n"
    );
    std::fs::write(&file, text).unwrap();
    file.display().to_string()
}

fn taker() -> String {
    bindings().join("examples/taker.py").display().to_string()
}

/// The frames of a recorded journal, but for the times that this run took.
fn recorded(home: &Home, folder: &Path, journal: &str) -> Vec<serde_json::Value> {
    let folder = folder.display().to_string();
    let dump = home.colo(&["journal", "dump", journal, "--recording", &folder, "--format", "json"]);
    assert!(dump.status.success(), "{journal}: {}", stderr(&dump));
    stdout(&dump).lines().map(|line| timeless(serde_json::from_str(line).unwrap())).collect()
}

fn timeless(mut value: serde_json::Value) -> serde_json::Value {
    let mut left = vec![&mut value];
    while let Some(value) = left.pop() {
        match value {
            serde_json::Value::Object(fields) => {
                fields.retain(|name, _| !["time_ns", "published_ns", "received_ns"].contains(&name.as_str()));
                left.extend(fields.values_mut());
            }
            serde_json::Value::Array(items) => left.extend(items.iter_mut()),
            _ => {}
        }
    }
    value
}

/// In lock-step the run repeats exactly, also in another language: frame by frame.
#[test]
fn in_lock_step_a_strategy_in_python_writes_the_orders_of_the_one_in_rust() {
    let Some(python) = interpreter() else { return };
    let home = Home::new();
    let of = |name: &str, program: &str| {
        let folder = home.state_path().join(name);
        let head = "[platform]\ninstance = 'steps'\ndeterministic = true\n[md]\ninstruments = 2\ncount = 300\ninterval = '1ms'\n\
                    readers = 'gated'\ngenerator = 'timed'\nseed = 3\n";
        let recorder = format!(
            "params = {{ max_position = 3 }}\n[[recorder]]\nname = 'recorder'\nloose = ['all']\npath = '{}'\n",
            folder.display()
        );
        let file = platform(&home, head, program, &recorder);
        let up = colo(&home, python, &["up", &file, "--format", "json"]);
        assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
        let report: serde_json::Value = serde_json::from_str(&stdout(&up)).unwrap();
        assert!(number(&report["orders"]) > 100 && number(&report["fills"]) > 100, "{report}");
        ["orders.strategy-1", "orders.strategy-2", "matching.executions"]
            .map(|journal| recorded(&home, &folder, journal))
    };
    let (ours, rust) = (of("python", &taker()), of("rust", "builtin:taker"));
    for (ours, rust) in ours.iter().zip(&rust) {
        assert!(ours.len() > 50);
        let same = ours.iter().zip(rust).take_while(|(this, that)| this == that).count();
        assert!(
            same == ours.len() && same == rust.len(),
            "frame {same} of {} and {}: {:?} in Python, {:?} in Rust",
            ours.len(),
            rust.len(),
            ours.get(same),
            rust.get(same)
        );
    }
}

/// A block of code of the README that begins so.
fn block(readme: &str, begins: &str) -> String {
    let fence = format!("```{begins}");
    let (_, rest) = readme.split_once(&fence).unwrap_or_else(|| panic!("the README has no {fence}"));
    rest.split_once("\n```").unwrap().0.to_owned() + "\n"
}

#[test]
fn the_readme_leads_to_a_first_order() {
    let Some(python) = interpreter() else { return };
    let home = Home::new();
    let readme = std::fs::read_to_string(bindings().join("README.md")).unwrap();
    let folder = home.state_path();
    std::fs::write(folder.join("first.py"), block(&readme, "python\n")).unwrap();
    std::fs::write(folder.join("test_first.py"), block(&readme, "python\n# test_first.py")).unwrap();
    let file = folder.join("first.toml");
    std::fs::write(&file, block(&readme, "toml\n")).unwrap();
    succeed(Command::new(python).args(["-m", "unittest", "test_first"]).current_dir(folder));
    let report = colo(&home, python, &["up", file.to_str().unwrap(), "--format", "json"]);
    assert!(report.status.success(), "{}\n{}", stderr(&report), home.logs());
    let report: serde_json::Value = serde_json::from_str(&stdout(&report)).unwrap();
    assert_eq!(report["strategies"].as_array().unwrap().len(), 2, "{report}");
    for strategy in report["strategies"].as_array().unwrap() {
        assert!(number(&strategy["orders"]) > 0 && number(&strategy["fills"]) > 0, "{strategy}");
    }
    assert!(home.logs().contains("BUY"), "{}", home.logs());
}

const DESK: &str = r#"
import os, colo

class Base(colo.Strategy):
    heard = 0

    def on_quote(self, ctx, quote):
        self.heard += 1
        if not ctx.working_orders() and ctx.position(quote.instrument).quantity == 0:
            lot = ctx.instrument(quote.instrument).lot
            ctx.order(self.side, quote.instrument, lot, time_in_force=colo.TimeInForce.IOC)

    def on_stop(self, ctx):
        ctx.log(f"in {os.getpid()} heard {self.heard}")

class Buyer(Base):
    side = colo.Side.BUY

class Seller(Base):
    side = colo.Side.SELL

    def __init__(self, raises_at=0):
        self.raises_at = raises_at

    def on_quote(self, ctx, quote):
        super().on_quote(ctx, quote)
        if self.heard == self.raises_at:
            raise ValueError("enough")

colo.run(Buyer, Seller)
"#;

const FORKS: &str = r#"
import colo, os, time

class Forks(colo.Strategy):
    def __init__(self):
        self.heard = 0

    def attempt(self, ctx, quote):
        sent, refusals = 0, set()
        for _ in range(50):
            try:
                ctx.order(colo.Side.BUY, quote.instrument, 100, quote.ask_price, time_in_force=colo.TimeInForce.IOC)
                sent += 1
            except Exception as error:
                refusals.add(str(error))
        return f"{sent} sent, {sorted(refusals)}"

    def on_quote(self, ctx, quote):
        self.heard += 1
        note = lambda name, text: (open(name + ".new", "w").write(text), os.rename(name + ".new", name))
        if self.heard == 20 and not os.path.exists("helper"):
            if os.fork() == 0:
                os.setsid()
                note("child", self.attempt(ctx, quote))
                note("helper", str(os.getpid()))
                time.sleep(600)
                os._exit(0)
            if os.fork() == 0:
                # As a script ends: through what Python, and the library below, do at an exit.
                raise SystemExit(0)
            if os.fork() == 0:
                # Back into the node's own loop.
                return
            note("parent", self.attempt(ctx, quote))

colo.run(Forks)
"#;

/// A child of a strategy's fork sends nothing, ends nothing, and keeps nothing when it outlives the strategy.
#[test]
fn a_child_that_a_strategy_forks_has_no_part_in_the_platform() {
    let Some(python) = interpreter() else { return };
    let home = Home::new();
    let program = home.state_path().join("forks.py");
    let here = home.state_path().display().to_string();
    std::fs::write(
        &program,
        FORKS.replace("import colo, os, time", &format!("import colo, os, time\nos.chdir({here:?})")),
    )
    .unwrap();
    let file = home.state_path().join("forked.toml");
    let text = format!(
        "[platform]\ninstance = 'forked'\n[md]\ninstruments = 1\ninterval = '10ms'\ncount = 0\n[[strategies.group]]\n\
         name = 'forks'\nprogram = '{}'\ncount = 1\nrestart = 'on-failure'\n",
        program.display()
    );
    std::fs::write(&file, text).unwrap();
    let up = colo(&home, python, &["up", file.to_str().unwrap(), "--stay"]);
    assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
    let note = |name: &str| std::fs::read_to_string(home.state_path().join(name)).unwrap_or_default();
    home.wait_for("both", || !note("parent").is_empty() && !note("helper").is_empty());
    assert_eq!(note("parent"), "50 sent, []");
    assert!(
        note("child").starts_with("0 sent, ") && note("child").contains("is a fork of it"),
        "{}",
        note("child")
    );
    home.wait_for("the child that returned", || home.logs().contains("is a fork of it"));
    let first = home.node("forked", "forks-1");
    assert_eq!(first["state"], "running", "{first}");
    kill(u32::try_from(number(&first["pid"])).unwrap(), "KILL");
    home.wait_for("its successor", || {
        let now = home.node("forked", "forks-1");
        now["state"] == "running" && now["pid"] != first["pid"]
    });
    let helper: u32 = note("helper").parse().unwrap();
    assert!(Path::new(&format!("/proc/{helper}")).exists(), "the helper has lived all the time");
    kill(helper, "KILL");
    assert!(colo(&home, python, &["down", "forked"]).status.success(), "{}", home.logs());
}

/// Four strategies of two classes in one process; one of them raises.
#[test]
fn many_strategies_share_one_process_and_what_one_raises_ends_that_one() {
    let Some(python) = interpreter() else { return };
    let home = Home::new();
    let program = home.state_path().join("desk.py");
    std::fs::write(&program, DESK).unwrap();
    let file = home.state_path().join("hosted.toml");
    let group = |name: &str, count: u32, params: &str| {
        format!("[[strategies.group]]\nname = '{name}'\ncount = {count}\nparams = {{ {params} }}\n")
    };
    let text = format!(
        "[platform]\ninstance = 'hosted'\n[md]\ninstruments = 2\ninterval = '1ms'\ncount = 2000\n\
         [strategies]\nprogram = '{}'\ninstruments = 'round-robin'\nhost = {{ mode = 'parked' }}\n{}{}{}",
        program.display(),
        group("buyer", 2, "strategy = 'Buyer'"),
        group("seller", 1, "strategy = 'Seller'"),
        group("raiser", 1, "strategy = 'Seller', raises_at = 20"),
    );
    std::fs::write(&file, &text).unwrap();
    let up = colo(&home, python, &["up", file.to_str().unwrap(), "--format", "json"]);
    let logs = home.logs();
    assert!(
        logs.contains("`on_quote` raised ValueError: enough") && logs.contains("desk.py\", line"),
        "{logs}"
    );
    let report: serde_json::Value = serde_json::from_str(&stdout(&up)).unwrap_or_default();
    for strategy in report["strategies"].as_array().unwrap_or_else(|| panic!("{}\n{logs}", stderr(&up))) {
        assert!(number(&strategy["fills"]) > 0, "{strategy}\n{logs}");
        let sign = if strategy["name"].as_str().unwrap().starts_with("buyer") { 1 } else { -1 };
        assert_eq!(strategy["position"].as_i64().map(i64::signum), Some(sign), "{strategy}");
    }
    let ends: Vec<_> =
        logs.lines().filter_map(|line| line.split_once(" in ")?.1.split_once(" heard ")).collect();
    assert_eq!(ends.len(), 3, "{logs}");
    assert!(
        ends.iter().all(|(pid, heard)| *pid == ends[0].0 && heard.trim().parse::<u64>().unwrap() > 100),
        "{ends:?}"
    );

    std::fs::write(&file, text.replace("strategy = 'Buyer'", "strategy = 'Byer'")).unwrap();
    assert!(!colo(&home, python, &["up", file.to_str().unwrap()]).status.success());
    assert!(home.logs().contains("must be one of Buyer, Seller, and is `Byer`"), "{}", home.logs());
}

#[test]
fn a_strategy_in_kungfus_shape_trades_and_knows_its_positions_after_its_death() {
    let Some(python) = interpreter() else { return };
    let home = Home::new();
    let program = bindings().join("examples/kungfu/on_colo.py").display().to_string();
    let head = "[platform]\ninstance = 'kungfu'\n[md]\ninstruments = 2\ninterval = '20ms'\ncount = 0\n[master]\nready_timeout = '60s'\n";
    let file = platform(&home, head, &program, "restart = 'on-failure'");
    let alone = std::fs::read_to_string(&file).unwrap().replace("count = 2\n", "count = 1\n");
    std::fs::write(&file, alone).unwrap();
    let up = colo(&home, python, &["up", &file, "--stay"]);
    assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
    let counted = |what: &str| number(&home.node("kungfu", "strategy-1")["counters"][what]);
    home.wait_for("fills", || home.logs().contains("[on_trade] 60000"));
    home.wait_for("a cancel", || counted("cancels") > 0);
    let first = home.node("kungfu", "strategy-1");
    kill(u32::try_from(number(&first["pid"])).unwrap(), "KILL");
    // The book that it logs when it starts again has what it bought before.
    home.wait_for("its positions", || {
        let logs = home.logs();
        let started: Vec<_> = logs.match_indices("warning: started at").collect();
        started.len() == 2 && logs[started[1].0..].contains(", yesterday 0")
    });
    let down = home.colo(&["down", "kungfu", "--format", "json"]);
    assert!(down.status.success(), "{}\n{}", stderr(&down), home.logs());
    assert!(home.logs().contains("the process ends"), "{}", home.logs());
}

#[test]
fn what_a_strategy_does_not_take_and_what_it_raises_end_it_with_the_reason_in_its_log() {
    let Some(python) = interpreter() else { return };
    let home = Home::new();
    let head = "[platform]\ninstance = 'foreign'\n[md]\ninstruments = 2\ninterval = '1ms'\ncount = 500\n";
    for (more, said) in
        [("params = { max_positon = 3 }", "max_positon"), ("params = { every = 0 }", "at least 1")]
    {
        let file = platform(&home, head, &taker(), more);
        assert!(!colo(&home, python, &["up", &file]).status.success());
        assert!(home.logs().contains(said), "{}", home.logs());
    }
    let program = home.state_path().join("raises.py");
    let text = "import colo\nclass Raises(colo.Strategy):\n    def on_quote(self, ctx, quote):\n        self.missing[quote.sequence]\n\
                colo.run(Raises)\n";
    std::fs::write(&program, text).unwrap();
    let file = platform(&home, head, program.to_str().unwrap(), "");
    let _ = colo(&home, python, &["up", &file]);
    let logs = home.logs();
    assert!(logs.contains("Traceback") && logs.contains("raises.py\", line 4"), "{logs}");
    assert!(logs.contains("`on_quote` raised AttributeError"), "{logs}");
}

#[test]
fn a_strategy_in_python_trades_is_killed_and_trades_on() {
    let Some(python) = interpreter() else { return };
    for data in ["depth", "best"] {
        trades_is_killed_and_trades_on(python, data);
    }
}

fn orders(home: &Home, node: &str) -> u64 {
    number(&home.node("foreign", node)["counters"]["orders"])
}

fn trades_is_killed_and_trades_on(python: &Path, data: &str) {
    let home = Home::new();
    let head = "[platform]\ninstance = 'foreign'\n[md]\ninstruments = 2\ninterval = '2ms'\ncount = 0\n[master]\nready_timeout = '60s'\n";
    let file = platform(&home, head, &taker(), &format!("data = '{data}'\nparams = {{ max_position = 3 }}"));
    let up = colo(&home, python, &["up", &file, "--stay"]);
    assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
    for node in ["strategy-1", "strategy-2"] {
        home.wait_for("orders", || orders(&home, node) > 50);
    }
    if data == "depth" {
        researches(&home, python);
    }
    let first = home.node("foreign", "strategy-1");
    kill(u32::try_from(number(&first["pid"])).unwrap(), "KILL");
    home.wait_for("its death", || {
        ["dead", "failed"].map(Into::into).contains(&home.node("foreign", "strategy-1")["state"])
    });
    let before = orders(&home, "strategy-1");
    let mut second = Second::start(&home, python, "strategy-1");
    home.wait_for("its successor", || home.node("foreign", "strategy-1")["state"] == "running");
    home.wait_for("orders of its successor", || orders(&home, "strategy-1") > before + 50);
    let down = home.colo(&["down", "foreign", "--format", "json"]);
    assert!(down.status.success(), "{}\n{}", stderr(&down), home.logs());
    assert_eq!(second.0.wait().unwrap().code(), Some(0), "it leaves in good order\n{}", home.logs());
    let report: serde_json::Value = serde_json::from_str(&stdout(&down)).unwrap();
    assert_eq!(number(&report["wait_timeouts_with_data"]), 0, "{report}");
    for strategy in report["strategies"].as_array().unwrap() {
        assert!(number(&strategy["orders"]) > 50 && number(&strategy["fills"]) > 10, "{strategy}");
        // Each fill was counted once, also by the successor.
        assert!(strategy["position"].as_i64().unwrap().abs() <= 4, "{strategy}");
    }
    println!("{data}: {} orders", report["orders"]);
}

/// Whoever looks on reads the quotes as arrays, each once and in order.
fn researches(home: &Home, python: &Path) {
    if run(Command::new(python).args(["-c", "import numpy"])).is_ok_and(|output| !output.status.success()) {
        return println!("skipped: arrays need numpy, which is missing");
    }
    let text = "import colo\nframes = colo.open('md.quotes', instance='foreign', message=colo.Quote)\n\
                arrays = list(frames.batches(64))\npositions = [int(p) for a in arrays for p in a['frame_position']]\n\
                assert len(positions) > 50 and positions == sorted(set(positions)), positions\n\
                assert all((a['asks']['price'][:, 0] > a['bids']['price'][:, 0]).all() for a in arrays)\nprint(len(positions))";
    let output = run(Command::new(python).args(["-c", text]).env("COLO_ROOT", home.root.path())).unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    println!("{} quotes in arrays", stdout(&output).trim());
    // One by one: a frame that is kept stays as it is, the others are used again.
    let text = "import colo, numpy\nfrom colo._colo import Journal\njournal = Journal.of_instance('foreign', 'md.quotes')\n\
                reader, kept, seen = journal.loose(journal.oldest()), [], set()\n\
                while len(kept) < 40 and (frame := reader.next()) is not None:\n    seen.add(id(frame))\n    kept.append(frame)\n\
                assert len(kept) == 40 and len(seen) == 40\n\
                assert [f.position for f in kept] == sorted({f.position for f in kept})\n\
                assert all(f.decode().sequence == f.number(24) for f in kept), [f.decode() for f in kept]\n\
                del kept\nseen = set()\n\
                for _ in range(30):\n    frame = reader.next()\n    seen.add(id(frame))\n\
                assert len(seen - {id(None)}) <= 3, seen\n\
                own = numpy.dtype({'names': ['instrument'], 'formats': ['<u4'], 'offsets': [0], 'itemsize': 368})\n\
                array = journal.loose(journal.oldest()).array(own, 10)\n\
                assert len(array) == 10 and set(array['instrument']) <= {1, 2}, array\n\
                numbers = [f.position for f in colo.open('md.quotes', instance='foreign')]\n\
                assert len(numbers) > 50 and numbers == sorted(set(numbers)), numbers";
    let output = run(Command::new(python).args(["-c", text]).env("COLO_ROOT", home.root.path())).unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
}

/// A strategy that was started by hand, through `colo run`. It ends with the test.
struct Second(Child);

impl Second {
    fn start(home: &Home, python: &Path, node: &str) -> Second {
        let log = std::fs::File::create(home.state_path().join("second.log")).unwrap();
        let mut command = home.command(&[
            "run",
            "strategy",
            "--program",
            &taker(),
            "--instance",
            "foreign",
            "--node",
            node,
        ]);
        command.env("COLO_PYTHON", python).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        Second(command.spawn().unwrap())
    }
}

impl Drop for Second {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

const LEAVES: &str = r#"
import sys, colo

class Leaves(colo.Strategy):
    def on_quote(self, ctx, quote):
        sys.exit(7)

colo.run(Leaves)
"#;

#[test]
fn a_strategy_that_leaves_in_a_call_ends_with_its_own_code() {
    let Some(python) = interpreter() else { return };
    let home = Home::new();
    let program = home.state_path().join("leaves.py");
    std::fs::write(&program, LEAVES).unwrap();
    let head = "[platform]\ninstance = 'leaves'\n[md]\ninstruments = 2\ninterval = '1ms'\ncount = 500\n";
    let file = platform(&home, head, program.to_str().unwrap(), "restart = 'never'");
    colo(&home, python, &["up", &file]);
    let logs = home.logs();
    assert!(logs.contains("ended with exit code 7"), "{logs}");
    assert!(logs.contains("`on_quote` raised SystemExit: 7") && logs.contains("leaves.py\", line"), "{logs}");
}
