//! One strategy is stopped, started, replaced, given other parameters, while the others trade.

mod home;

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Output;
use std::time::{Duration, Instant};

use serde_json::Value;
use strategy_sdk::{
    Context, Deserialize, Instrument, Options, OrderRequest, ParameterError, Price, Side, Strategy,
};

use home::{Home, kill, number, stderr, stdout};

/// The platforms' own program: this test program, as [`be_a_strategy`] alone.
const CHILD: &str = "COLO_NODE";

/// Rests an order for its instrument at a price that nobody trades at, unless one works already, and says what it has.
struct Rests {
    size: i64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(crate = "strategy_sdk::serde", default, deny_unknown_fields)]
struct Parameters {
    size: i64,
}

impl Default for Parameters {
    fn default() -> Parameters {
        Parameters { size: 1 }
    }
}

impl Strategy for Rests {
    type Parameters = Parameters;

    fn create(parameters: Parameters) -> Result<Rests, ParameterError> {
        match parameters.size {
            size if size > 0 => Ok(Rests { size }),
            _ => Err(ParameterError::new("size", "must be at least 1")),
        }
    }

    fn start(&mut self, context: &mut Context) {
        let working = context.working_orders().count();
        context.log(format_args!("starts with size {} and {working} working orders", self.size));
        match self.size {
            77 => panic!("no start with 77"),
            78 => std::process::exit(7),
            _ => {}
        }
    }

    fn instrument(&mut self, context: &mut Context, instrument: &Instrument) {
        if context.working_quantity(instrument.id, Side::Buy) > strategy_sdk::Quantity::ZERO {
            return;
        }
        let price = Price(instrument.reference_price.0 / 100 * 95);
        let price = Price(price.0 - price.0 % instrument.tick.0);
        let order = OrderRequest::limit(Side::Buy, instrument.id, price, instrument.lot);
        if let Err(error) = context.order(order) {
            context.log(error);
        }
    }

    fn parameters(&mut self, context: &mut Context, parameters: Parameters) -> Result<(), ParameterError> {
        match parameters.size {
            13 => Err(ParameterError::new("size", "13 brings bad luck")),
            66 => panic!("as it was told"),
            99 => {
                // As if for ever, but that a test that fails leaves nobody.
                std::thread::sleep(Duration::from_secs(20));
                Ok(())
            }
            size => {
                self.size = size;
                context.log(format_args!("has size {size} now"));
                Ok(())
            }
        }
    }
}

/// No test: what the platforms of the tests below start.
#[test]
fn be_a_strategy() {
    if std::env::var_os(CHILD).is_some() {
        node::start_log();
        let exit = strategy_sdk::run::<Rests>(&Options::default());
        std::process::exit(exit.code().into());
    }
}

/// A program of these lines, then this one as a strategy.
fn program(folder: &Path, name: &str, lines: &str) -> String {
    let path = folder.join(name);
    let own = std::env::current_exe().expect("a path").display().to_string();
    let text = format!("#!/bin/sh\n{lines}\nexec '{own}' be_a_strategy --exact --nocapture --quiet\n");
    std::fs::write(&path, text).expect("written");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("executable");
    path.display().to_string()
}

/// The answer to `--check-params` with these words, if that is what is asked.
fn answers(words: &str) -> String {
    format!("case \"$*\" in *--check-params*) echo 'colo parameters: {words}'; exit 0;; esac")
}

struct Platform {
    home: Home,
    folder: tempfile::TempDir,
    file: String,
}

impl Platform {
    /// Two strategies alone, two in a host, and one that takes no parameters.
    fn up() -> Platform {
        let (home, folder) = (Home::new(), tempfile::tempdir().expect("a temporary folder"));
        let rests = program(folder.path(), "rests", &answers(""));
        let file = folder.path().join("rests.toml");
        let text = format!(
            "[platform]\ninstance = 'rests'\n[md]\ninstruments = 2\ninterval = '5ms'\ncount = 0\n\
             [master]\nready_timeout = '3s'\nstop_timeout = '2s'\n\
             [strategies]\nprogram = '{rests}'\nrestart = 'always'\n\
             [[strategies.group]]\nname = 'rests'\ncount = 2\nparams = {{ size = 2 }}\n\
             [[strategies.group]]\nname = 'hosted'\ncount = 2\nhost = {{ mode = 'parked' }}\n\
             [[strategies.group]]\nname = 'fixed'\ncount = 1\nprogram = 'builtin:taker'\n"
        );
        std::fs::write(&file, text).expect("written");
        let file = file.display().to_string();
        let platform = Platform { home, folder, file };
        platform.start();
        platform
    }

    fn start(&self) {
        let up = self.home.colo(&["up", &self.file, "--stay"]);
        assert!(up.status.success(), "{}\n{}", stderr(&up), self.home.logs());
    }

    fn strategy(&self, words: &str) -> Output {
        let words: Vec<&str> = ["strategy"].into_iter().chain(words.split(' ')).collect();
        self.home.colo(&words)
    }

    fn does(&self, words: &str) {
        let output = self.strategy(words);
        assert!(output.status.success(), "{words}: {}\n{}", stderr(&output), self.home.logs());
    }

    /// What it says when it refuses.
    fn refuses(&self, words: &str, exit: i32) -> String {
        let output = self.strategy(words);
        assert_eq!(output.status.code(), Some(exit), "{words}: {}\n{}", stderr(&output), self.home.logs());
        stderr(&output)
    }

    fn node(&self, name: &str) -> Value {
        self.home.node("rests", name)
    }

    fn row(&self, name: &str) -> Value {
        let all = self.home.json(&["strategy", "ls", "--format", "json"]);
        let rows = all["strategies"].as_array().expect("strategies").clone();
        rows.into_iter().find(|row| row["node"] == name).expect("a row")
    }

    fn says(&self, name: &str, words: &str, times: usize) {
        let log = self.home.state_path().join(format!("colo/rests/{name}.log"));
        self.home.wait_for(&format!("{name}: {words} ({times})"), || {
            std::fs::read_to_string(&log).unwrap_or_default().matches(words).count() == times
        });
    }

    fn goes_on(&self, name: &str) {
        let quotes = || number(&self.node(name)["counters"]["quotes"]);
        let before = quotes();
        self.home.wait_for("quotes of the others", || quotes() > before);
        assert_eq!(self.node(name)["state"], "running");
    }

    fn down(self) -> Value {
        let report = self.home.json(&["down", "rests", "--format", "json"]);
        assert_eq!(self.home.left(), Vec::<std::path::PathBuf>::new());
        drop(self.folder);
        report
    }
}

#[test]
fn one_stops_and_starts_while_the_others_trade() {
    let platform = Platform::up();
    let pid = platform.node("rests-2")["pid"].clone();
    platform.says("rests-1", "starts with size 2 and 0 working orders", 1);
    platform.does("stop rests-1");
    let node = platform.node("rests-1");
    assert_eq!((&node["state"], number(&node["starts"])), (&"stopped by a person".into(), 1), "{node}");
    platform.goes_on("rests-2");
    assert_eq!(platform.node("rests-2")["pid"], pid);
    // Not started again, though it always would be.
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(number(&platform.node("rests-1")["starts"]), 1);
    let top = stdout(&platform.home.colo(&["top", "rests", "--once"]));
    assert!(top.contains("stopped by a person"), "{top}");
    platform.does("start rests-1");
    platform.says("rests-1", "starts with size 2 and 0 working orders", 2);
    assert!(platform.refuses("start rests-1", 1).contains("runs already"));
    // Kept orders are there again, for as many lives as it takes, also behind another td.
    for life in 1..=2 {
        platform.does("stop rests-1 --keep-orders");
        assert!(stdout(&platform.strategy("ls")).contains("stopped by a person; its orders work on"));
        platform.does("start rests-1");
        platform.says("rests-1", "starts with size 2 and 1 working orders", life);
    }
    let td = |name: &str| platform.node("td")[name].clone();
    kill(number(&td("pid")) as u32, "KILL");
    platform.home.wait_for("another td", || td("state") == "running" && number(&td("starts")) == 2);
    platform.does("stop rests-1 --keep-orders");
    platform.does("start rests-1");
    platform.says("rests-1", "starts with size 2 and 1 working orders", 3);
    // And while it is stopped.
    platform.does("stop rests-1 --keep-orders");
    kill(number(&td("pid")) as u32, "KILL");
    platform.home.wait_for("a third td", || td("state") == "running" && number(&td("starts")) == 3);
    platform.does("start rests-1");
    platform.says("rests-1", "starts with size 2 and 1 working orders", 4);
    // A second word: they go after all.
    platform.does("stop rests-1 --keep-orders");
    platform.does("stop rests-1");
    platform.does("start rests-1");
    platform.says("rests-1", "starts with size 2 and 0 working orders", 3);
    assert!(platform.refuses("stop rests-3", 2).contains("did you mean `rests-"), "a name that is near");
    platform.does("stop rests-2");
    assert!(platform.refuses("stop rests-2 --keep-orders", 1).contains("were cancelled when it ended"));
    let report = platform.down();
    // Each order ended once.
    let of = |name: &str| {
        let rows = report["strategies"].as_array().expect("strategies").clone();
        rows.into_iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("{report}"))
    };
    let rests = of("rests-1");
    assert_eq!(number(&rests["orders"]), 3, "one at each of three starts without any: {rests}");
    let nodes = report["nodes"].as_array().expect("nodes");
    let person: Vec<&Value> = nodes.iter().filter(|node| node["by_a_person"] == true).collect();
    assert!(person.len() == 1 && person[0]["name"] == "rests-2", "{report}");
}

#[test]
fn what_is_set_reaches_the_strategy_and_its_later_lives() {
    let platform = Platform::up();
    platform.does("set rests-1 size=5");
    platform.says("rests-1", "has size 5 now", 1);
    assert_eq!(platform.row("rests-1")["set"]["size"], 5);
    assert_eq!(platform.node("rests-1")["set"]["size"], 5);
    assert!(platform.refuses("set rests-1 size=13", 1).contains("`size` 13 brings bad luck"));
    let unknown = platform.refuses("set rests-1 width=1", 1);
    assert!(unknown.contains("unknown field `width`") && unknown.contains("size"), "{unknown}");
    assert!(platform.refuses("set fixed-1 pause=3", 2).contains("unknown field `pause`"));
    let fixed = platform.refuses("set fixed-1 quantity=2", 1);
    assert!(
        fixed.contains("does not take new parameters while it runs: use `colo strategy reload`"),
        "{fixed}"
    );
    assert_eq!(platform.row("rests-1")["params"]["size"], 5, "what was refused changes nothing");
    kill(number(&platform.node("rests-1")["pid"]) as u32, "KILL");
    platform.says("rests-1", "starts with size 5 and 0 working orders", 1);
    platform.does("stop rests-1");
    assert!(platform.refuses("set rests-1 size=6", 1).contains("does not run"));
    platform.does("start rests-1 size=7");
    platform.says("rests-1", "starts with size 7 and 0 working orders", 1);
    // A new master knows it too.
    let masters = || number(&platform.node("master")["pid"]) as u32;
    kill(masters(), "KILL");
    platform.home.wait_for("the end of master", || {
        platform.home.json(&["status", "rests", "--format", "json"])["master"] == false
    });
    let without = platform.refuses("set rests-1 size=8", 69);
    assert!(without.contains("its master is gone") && without.contains("`colo up`"), "{without}");
    platform.start();
    platform.does("set rests-1 size=8");
    kill(number(&platform.node("rests-1")["pid"]) as u32, "KILL");
    platform.says("rests-1", "starts with size 8 and 0 working orders", 1);
    // A member of a host, and one that does not answer.
    platform.does("set hosted-1 size=3");
    platform.says("host", "has size 3 now", 1);
    let silent = platform.refuses("set rests-2 size=99", 1);
    assert!(silent.contains("has not answered within 5 s"), "{silent}");
    platform.home.wait_for("its late answer", || platform.row("rests-2")["set"]["size"] == 99);
    assert!(platform.refuses("set rests-2 size=66", 1).contains("panicked"), "it ends, and says why");
    platform.home.wait_for("its next life", || number(&platform.node("rests-2")["starts"]) == 2);
    platform.down();
}

#[test]
fn one_of_a_host_stops_and_starts_while_the_host_goes_on() {
    let platform = Platform::up();
    let host = platform.node("host")["pid"].clone();
    platform.says("host", "starts with size 1 and 0 working orders", 2);
    platform.does("stop hosted-1 --keep-orders");
    assert_eq!(platform.node("hosted-1")["state"], "stopped by a person");
    platform.goes_on("hosted-2");
    platform.does("start hosted-1");
    platform.says("host", "starts with size 1 and 1 working orders", 1);
    platform.goes_on("hosted-1");
    platform.does("stop hosted-1");
    platform.does("stop hosted-2");
    platform.does("start hosted-2");
    platform.says("host", "starts with size 1 and 0 working orders", 3);
    assert_eq!(platform.node("host")["pid"], host, "the process went on");
    assert!(platform.refuses("reload hosted-2", 2).contains("runs in host `host`"));
    assert!(platform.refuses("stop host", 2).contains("has no strategy `host`"));
    platform.down();
}

#[test]
fn a_new_build_is_checked_before_the_old_one_stops() {
    let platform = Platform::up();
    let folder = platform.folder.path();
    let pid = || number(&platform.node("rests-1")["pid"]);
    let before = pid();
    let reload = |program: &str, more: &str| format!("reload rests-1 --program {program}{more}");
    assert!(platform.refuses(&reload("/nowhere", ""), 1).contains("cannot find the program /nowhere"));
    let picky = program(folder, "picky", &answers("`size` must be odd"));
    let refused = platform.refuses(&reload(&picky, ""), 2);
    assert!(refused.contains("`size` must be odd; nothing was changed"), "{refused}");
    assert_eq!(pid(), before, "nothing was stopped");
    // The same file, as it is now.
    platform.does("reload rests-1");
    assert_ne!(pid(), before);
    // Another program, which later starts keep.
    let other = program(folder, "other", &answers(""));
    platform.does(&reload(&other, " size=4 --keep-orders"));
    platform.says("rests-1", "starts with size 4 and 1 working orders", 1);
    assert_eq!(platform.row("rests-1")["program"], other);
    kill(pid() as u32, "KILL");
    platform.says("rests-1", "starts with size 4 and 0 working orders", 1);
    // One that does not get ready, and one that ends.
    let hangs = program(folder, "hangs", &format!("{}\nexec sleep 60", answers("")));
    let late = platform.refuses(&reload(&hangs, ""), 1);
    assert!(late.contains("is not ready within 3 s") && late.contains("stays stopped"), "{late}");
    let row = platform.row("rests-1");
    assert_eq!((&row["state"], &row["program"]), (&"stopped by a person".into(), &other.clone().into()));
    platform.does("start rests-1");
    let ends = program(folder, "ends", &format!("{}\necho no market today >&2; exit 3", answers("")));
    let ended = platform.refuses(&reload(&ends, " --fallback"), 1);
    assert!(ended.contains("exit code 3") && ended.contains("no market today"), "{ended}");
    assert!(ended.contains(&format!("runs again from {other}, as before")), "{ended}");
    assert_eq!(platform.node("rests-1")["state"], "running");
    assert!(platform.refuses(&reload(&other, " --fallback"), 2).contains("the build that ran is gone"));
    platform.goes_on("rests-2");
    platform.down();
}

#[test]
fn one_that_ends_in_its_start_has_not_started() {
    let platform = Platform::up();
    let before = platform.row("rests-1");
    let other = program(platform.folder.path(), "other", &answers(""));
    for (size, how) in [(77, "no start with 77"), (78, "exit code 7")] {
        let fell = platform.refuses(&format!("reload rests-1 --program {other} size={size} --fallback"), 1);
        assert!(fell.contains("`rests-1` does not start") && fell.contains(how), "{fell}");
        assert!(fell.contains("runs again from") && fell.contains("as before"), "{fell}");
        let row = platform.row("rests-1");
        assert_eq!(row["state"], "running", "{row}");
        assert_eq!((&row["program"], &row["params"]), (&before["program"], &before["params"]), "{row}");
        let stays = platform.refuses(&format!("reload rests-2 size={size}"), 1);
        assert!(stays.contains(how) && stays.contains("stays stopped"), "{stays}");
        assert_eq!(platform.row("rests-2")["state"], "stopped by a person");
        assert!(platform.refuses(&format!("start rests-2 size={size}"), 1).contains(how));
        platform.does("start rests-2");
        assert_eq!(platform.row("rests-2")["params"]["size"], 2);
        // A member of a host says so by its seat.
        platform.does("stop hosted-1");
        if size == 77 {
            assert!(platform.refuses("start hosted-1 size=77", 1).contains(how));
        }
        platform.does("start hosted-1");
    }
    platform.goes_on("hosted-2");
    platform.down();
}

#[test]
fn what_a_master_that_stands_still_is_asked_is_done_when_it_goes_on() {
    let platform = Platform::up();
    let master = number(&platform.node("master")["pid"]) as u32;
    kill(master, "STOP");
    let silent = platform.refuses("stop rests-1", 1);
    assert!(
        silent.contains("has not answered within 5 s") && silent.contains("as soon as it goes on"),
        "{silent}"
    );
    platform.goes_on("rests-1");
    kill(master, "CONT");
    platform.home.wait_for("the stop", || platform.node("rests-1")["state"] == "stopped by a person");
    for name in [platform.node("rests-1"), platform.row("rests-1")] {
        assert_eq!(number(&name["pid"]), 0, "it has no process: {name}");
    }
    assert!(platform.refuses("set rests-2 size=5 size=6", 2).contains("`size` is given twice"));
    platform.down();
}

#[test]
fn what_was_begun_under_a_master_that_was_killed_goes_on_under_the_next() {
    let platform = Platform::up();
    let pid = |name: &str| number(&platform.node(name)["pid"]) as u32;
    let gone = || platform.home.json(&["status", "rests", "--format", "json"])["master"] == false;
    // In the middle of a stop: the strategy cannot answer, and master dies over it.
    kill(pid("rests-1"), "STOP");
    let verb =
        platform.home.command(&["strategy", "stop", "rests-1", "--keep-orders"]).spawn().expect("starts");
    let wanted = platform.home.root.path().join("rests/journals/strategy.rests-1.json");
    platform.home.wait_for("what is wanted", || wanted.exists());
    kill(pid("master"), "KILL");
    let output = verb.wait_with_output().expect("its output");
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("went before it answered"), "{}", stderr(&output));
    platform.home.wait_for("the end of master", gone);
    platform.start();
    platform.home.wait_for("the stop", || platform.node("rests-1")["state"] == "stopped by a person");
    platform.goes_on("rests-2");
    platform.does("start rests-1");
    platform.says("rests-1", "starts with size 2 and 1 working orders", 1);
    // Stopped, and it dies under a master that is not there.
    kill(pid("master"), "KILL");
    platform.home.wait_for("the end of master", gone);
    kill(pid("rests-1"), "KILL");
    platform.start();
    platform.home.wait_for("its next life", || number(&platform.node("rests-1")["starts"]) == 3);
    platform.home.wait_for("it runs", || platform.node("rests-1")["state"] == "running");
    // In the middle of a start.
    platform.does("stop rests-1");
    let verb = platform.home.command(&["strategy", "start", "rests-1"]).spawn().expect("starts");
    std::thread::sleep(Duration::from_millis(5));
    kill(pid("master"), "KILL");
    let _ = verb.wait_with_output();
    platform.home.wait_for("the end of master", gone);
    platform.start();
    let until = Instant::now() + Duration::from_secs(30);
    while platform.node("rests-1")["state"] != "running" {
        assert!(Instant::now() < until, "{}", platform.home.logs());
        // Begun or not: the next command mends it.
        let _ = platform.strategy("start rests-1");
        std::thread::sleep(Duration::from_millis(50));
    }
    // Killed in the middle of a stop, it is stopped, and not started again.
    kill(pid("rests-2"), "STOP");
    let verb = platform.home.command(&["strategy", "stop", "rests-2"]).spawn().expect("starts");
    let wanted = platform.home.root.path().join("rests/journals/strategy.rests-2.json");
    platform.home.wait_for("what is wanted", || wanted.exists());
    kill(pid("rests-2"), "KILL");
    assert!(verb.wait_with_output().expect("its output").status.success());
    assert_eq!(platform.node("rests-2")["state"], "stopped by a person");
    platform.down();
}
