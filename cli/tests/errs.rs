//! Strategies that err in each of their calls, in a process of their own and in a host: what becomes of the others, and
//! what is told. And hosts that come back: with what their strategies had, whatever the size of the ledger's ring.

mod home;

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use strategy_sdk::{
    Context, Deserialize, Instrument, Interest, Options, OrderRequest, OrderUpdate, ParameterError, Price,
    Quote, Side, Strategy, Timer,
};

use home::{Home, kill, number, stderr};

/// The platforms' own program: this test program, as [`be_a_strategy`] alone.
const CHILD: &str = "COLO_NODE";

/// Quotes before it errs, so that the platform is up.
const PATIENT: u64 = 20;

struct Errs {
    parameters: Parameters,
    quotes: u64,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(crate = "strategy_sdk::serde", default, deny_unknown_fields)]
struct Parameters {
    /// The call in which it errs.
    at: String,
    /// `panic`, `hang` or `exit`.
    how: String,
    /// If given, it errs only in a start that finds this file, and makes it and panics in its first.
    marker: PathBuf,
}

impl Parameters {
    /// Errs, if this is the call.
    fn reach(&self, call: &str) {
        if self.at != call || self.is_first_start() {
            return;
        }
        match self.how.as_str() {
            "hang" => loop {
                std::thread::sleep(Duration::from_millis(10));
            },
            "exit" => std::process::exit(7),
            _ => panic!("in {call}"),
        }
    }

    fn is_first_start(&self) -> bool {
        !self.marker.as_os_str().is_empty() && !self.marker.exists()
    }
}

impl Strategy for Errs {
    type Parameters = Parameters;

    fn create(parameters: Parameters) -> Result<Errs, ParameterError> {
        parameters.reach("create");
        Ok(Errs { parameters, quotes: 0 })
    }

    fn interest(&self) -> Option<Interest> {
        self.parameters.reach("interest");
        None
    }

    fn start(&mut self, context: &mut Context) {
        self.parameters.reach("start");
        context.set_timer(Duration::from_millis(50), 0);
    }

    fn instrument(&mut self, context: &mut Context, instrument: &Instrument) {
        self.parameters.reach("instrument");
        let price = Price(instrument.reference_price.0 / 100 * 95);
        let price = Price(price.0 - price.0 % instrument.tick.0);
        if let Err(error) =
            context.order(OrderRequest::limit(Side::Buy, instrument.id, price, instrument.lot))
        {
            context.log(error);
        }
    }

    fn quote(&mut self, context: &mut Context, _quote: &Quote) {
        self.quotes += 1;
        if self.quotes == PATIENT {
            if self.parameters.is_first_start() {
                std::fs::write(&self.parameters.marker, "").expect("a place to write");
                panic!("for the first time");
            }
            self.parameters.reach("quote");
            // Its update comes when the platform is up.
            let working: Vec<_> = context.working_orders().map(|order| order.id).collect();
            for order in working {
                if let Err(error) = context.cancel(order) {
                    context.log(error);
                }
            }
        }
    }

    fn order(&mut self, _context: &mut Context, _update: &OrderUpdate) {
        if self.quotes >= PATIENT {
            self.parameters.reach("order");
        }
    }

    fn timer(&mut self, context: &mut Context, _timer: Timer) {
        if self.quotes >= PATIENT {
            self.parameters.reach("timer");
        }
        context.set_timer(Duration::from_millis(50), 0);
    }

    fn stop(&mut self, _context: &mut Context) {
        self.parameters.reach("stop");
    }
}

/// No test: what the platforms of the tests below start.
#[test]
fn be_a_strategy() {
    if std::env::var_os(CHILD).is_some() {
        node::start_log();
        let exit = strategy_sdk::run::<Errs>(&Options::default());
        std::process::exit(exit.code().into());
    }
}

/// A program of one line that starts this one as a strategy.
fn program(folder: &Path) -> String {
    let path = folder.join("errs");
    let own = std::env::current_exe().expect("a path").display().to_string();
    std::fs::write(&path, format!("#!/bin/sh\nexec '{own}' be_a_strategy --exact --nocapture --quiet\n"))
        .expect("written");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("executable");
    path.display().to_string()
}

/// A platform file with a group for each call, one strategy each, and one that does not err.
struct File {
    folder: tempfile::TempDir,
    text: String,
}

impl File {
    fn new(hosted: bool) -> File {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let program = program(folder.path());
        let host = if hosted { "host = { mode = 'parked' }\n" } else { "" };
        let text = format!(
            "[platform]\ninstance = 'errs'\n[md]\ninstruments = 1\ninterval = '5ms'\n[strategies]\n\
             program = '{program}'\n{host}[[strategies.group]]\nname = 'good'\ncount = 1\n"
        );
        File { folder, text }
    }

    fn errs(mut self, at: &str, how: &str, keys: &str) -> File {
        let group =
            format!("[[strategies.group]]\nname = '{at}'\ncount = 1\nparams = {{ at = '{at}', how = '{how}'");
        self.text.push_str(&format!("{group} }}\n{keys}\n"));
        self
    }

    /// Errs in its second start.
    fn errs_again(mut self, at: &str) -> File {
        let marker = self.folder.path().join(format!("{at}.again"));
        self.text.push_str(&format!(
            "[[strategies.group]]\nname = '{at}'\ncount = 1\nrestart = 'on-failure'\nrestart_max = 1\n\
             params = {{ at = '{at}', how = 'panic', marker = '{}' }}\n",
            marker.display()
        ));
        self
    }

    fn path(&self) -> String {
        let path = self.folder.path().join("errs.toml");
        std::fs::write(&path, &self.text).expect("written");
        path.display().to_string()
    }
}

fn is_alive_and_well(home: &Home, name: &str) {
    let quotes = || number(&home.node("errs", name)["counters"]["quotes"]);
    let before = quotes();
    home.wait_for("quotes of the others", || quotes() > before + 5);
    assert_eq!(home.node("errs", name)["state"], "running");
}

#[test]
fn a_panic_in_any_call_ends_that_strategy_alone() {
    for hosted in [true, false] {
        let home = Home::new();
        let mut file = File::new(hosted);
        for at in ["create", "interest", "start", "instrument"] {
            file = file.errs_again(at);
        }
        for at in ["quote", "order", "timer", "stop"] {
            file = file.errs(at, "panic", "");
        }
        let up = home.colo(&["up", &file.path(), "--stay"]);
        assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
        let host = hosted.then(|| home.node("errs", "host")["pid"].clone());
        for at in ["create", "interest", "start", "instrument", "quote", "order", "timer"] {
            let name = format!("{at}-1");
            home.wait_for(&format!("the end of {name}"), || {
                let node = home.node("errs", &name);
                let starts = if ["quote", "order", "timer"].contains(&at) { 1 } else { 2 };
                node["state"] == "failed" && number(&node["starts"]) == starts
            });
            assert_eq!(home.node("errs", &name)["exit"], 1, "{name}");
            home.wait_for("its word", || home.logs().contains(&format!(": in {at}")));
        }
        for well in ["good-1", "stop-1"] {
            is_alive_and_well(&home, well);
        }
        if let Some(host) = host {
            assert_eq!(home.node("errs", "host")["pid"], host, "its process never went");
        }
        let down = home.colo(&["down", "errs", "--format", "json"]);
        assert!(down.status.success() || stderr(&down).contains("stop-1"), "{}", stderr(&down));
        home.wait_for("its word", || home.logs().contains("strategy `stop-1` panicked: in stop"));
        assert_eq!(home.left(), Vec::<PathBuf>::new());
    }
}

#[test]
fn one_that_ends_its_process_is_told_with_its_code() {
    for hosted in [true, false] {
        let home = Home::new();
        let file = File::new(hosted).errs("quote", "exit", "");
        let up = home.colo(&["up", &file.path(), "--stay"]);
        assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
        let process = if hosted { "host" } else { "quote-1" };
        home.wait_for("its end", || home.node("errs", process)["state"] == "failed");
        assert_eq!(home.node("errs", process)["exit"], 7);
        home.wait_for("the end of all that it took along", || {
            let dead = |name: &str| home.node("errs", name)["state"] == "failed";
            dead("quote-1") && dead("good-1") == hosted
        });
        if !hosted {
            is_alive_and_well(&home, "good-1");
        }
        assert_eq!(home.node("errs", "td")["state"], "running");
        home.colo(&["down", "errs"]);
        assert_eq!(home.left(), Vec::<PathBuf>::new());
    }
}

#[test]
fn one_that_hangs_is_named_and_the_platform_comes_down() {
    for at in ["quote", "order", "timer", "stop"] {
        let home = Home::new();
        let file = File::new(false).errs(at, "hang", "");
        let up = home.colo(&["up", &file.path(), "--stay", "--set", "master.stop_timeout=1s"]);
        assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
        let name = format!("{at}-1");
        if at != "stop" {
            home.wait_for("its name", || home.node("errs", &name)["in_callback_ms"].as_u64().is_some());
        }
        is_alive_and_well(&home, "good-1");
        home.colo(&["down", "errs"]);
        assert_eq!(home.left(), Vec::<PathBuf>::new(), "{at}");
    }
}

#[test]
fn one_that_is_never_made_does_not_hold_up_the_platform_for_ever() {
    for (hosted, at) in [(false, "create"), (false, "interest"), (true, "create")] {
        let home = Home::new();
        let file = File::new(hosted).errs(at, "hang", "");
        let sets = ["--set", "master.ready_timeout=3s", "--set", "master.stop_timeout=1s"];
        let up = home.colo(&[&["up", &file.path(), "--stay"], &sets[..]].concat());
        assert!(!up.status.success(), "it is up");
        assert!(stderr(&up).contains(&format!("{at}-1")), "who? {}", stderr(&up));
        assert_eq!(home.left(), Vec::<PathBuf>::new());
    }
}

#[test]
fn hosted_strategies_get_their_state_again_from_a_small_ring() {
    let home = Home::new();
    let sets = [
        "platform.instance=errs",
        "strategies.host.mode=parked",
        "strategies.restart=on-failure",
        "strategies.restart_backoff=1ms",
        "strategies.restart_max=100",
        "strategies.group.takers.count=30",
        "journal.ledger.capacity=64KiB",
        "md.instruments=8",
        "md.interval=2ms",
        "md.count=1000000",
    ];
    let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).collect();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../configs/demo.toml").display().to_string();
    let up = home.colo(&[&["up", &file, "--stay"], &sets[..]].concat());
    assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
    let last = "takers-30";
    for kills in 1..=8 {
        std::thread::sleep(Duration::from_millis(150));
        kill(number(&home.node("errs", "host")["pid"]) as u32, "KILL");
        home.wait_for("all of them again", || {
            let node = home.node("errs", last);
            number(&node["starts"]) == kills + 1 && node["state"] == "running"
        });
    }
    let logs = home.logs();
    let without = logs.matches("no state from the ledger").count();
    assert_eq!(without, 0, "of 8 times 30 and more\n{logs}");
    assert!(home.colo(&["down", "errs"]).status.success());
}

/// One after the other would take forty seconds, and more than anybody waits for.
#[test]
fn with_a_silent_ledger_all_of_a_host_wait_together() {
    let home = Home::new();
    let sets = [
        "platform.instance=errs",
        "strategies.host.mode=parked",
        "strategies.restart=on-failure",
        "strategies.restart_backoff=1ms",
        "strategies.group.takers.count=75",
        "md.interval=50ms",
        "md.count=1000000",
    ];
    let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).collect();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../configs/demo.toml").display().to_string();
    let up = home.colo(&[&["up", &file, "--stay"], &sets[..]].concat());
    assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
    let ledger = number(&home.node("errs", "ledger")["pid"]) as u32;
    kill(ledger, "STOP");
    kill(number(&home.node("errs", "host")["pid"]) as u32, "KILL");
    home.wait_for("all of them again", || {
        let node = home.node("errs", "takers-75");
        number(&node["starts"]) == 2 && node["state"] == "running"
    });
    assert!(home.logs().contains("no state from the ledger within 2 s"), "it was silent");
    kill(ledger, "CONT");
    assert!(home.colo(&["down", "errs"]).status.success());
}
