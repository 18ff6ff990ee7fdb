//! Strategies that share a process, as a user runs them: what they do, and what becomes of the others when one panics,
//! takes too long, or takes the whole process along.

mod home;

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use strategy_sdk::{
    Context, Deserialize, Instrument, Options, OrderRequest, ParameterError, Price, Quote, Side, Strategy,
    Timer,
};

use home::{Home, kill, number, stderr};

/// The platforms' own program: this test program, as [`be_a_strategy`] alone.
const CHILD: &str = "COLO_NODE";

const TICK: Duration = Duration::from_millis(50);

/// Rests an order at a price that nobody trades at, counts quotes, and errs as its name says.
struct Errs {
    parameters: Parameters,
    quotes: u64,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(crate = "strategy_sdk::serde", default, deny_unknown_fields)]
struct Parameters {
    /// `again` panics unless a file of this name is there, which it makes; `holds` does not return while it is there.
    marker: PathBuf,
}

impl Strategy for Errs {
    type Parameters = Parameters;

    fn create(parameters: Parameters) -> Result<Errs, ParameterError> {
        Ok(Errs { parameters, quotes: 0 })
    }

    fn instrument(&mut self, context: &mut Context, instrument: &Instrument) {
        let price = Price(instrument.reference_price.0 / 100 * 95);
        let price = Price(price.0 - price.0 % instrument.tick.0);
        let order = OrderRequest::limit(Side::Buy, instrument.id, price, instrument.lot);
        if let Err(error) = context.order(order) {
            context.log(error);
        }
    }

    fn start(&mut self, context: &mut Context) {
        self.tick(context);
    }

    fn timer(&mut self, context: &mut Context, _timer: Timer) {
        self.tick(context);
    }

    fn quote(&mut self, context: &mut Context, _quote: &Quote) {
        self.quotes += 1;
        if context.name() == "errs-2" && self.quotes == 20 {
            panic!("as it was told");
        }
        if context.name() == "errs-3" && self.quotes.is_multiple_of(10) {
            std::thread::sleep(Duration::from_millis(3));
        }
        if context.name() == "again-1" && self.quotes == 20 && !self.parameters.marker.exists() {
            std::fs::write(&self.parameters.marker, "").expect("a place to write");
            panic!("once");
        }
        if context.name() == "holds-2" && self.quotes == 20 {
            // As if for ever, but that the test may end it.
            let watchdog = std::time::Instant::now() + Duration::from_secs(60);
            while self.parameters.marker.exists() && std::time::Instant::now() < watchdog {
                std::hint::spin_loop();
            }
        }
    }
}

impl Errs {
    /// Idle between two timers, if that is what it is for.
    fn tick(&self, context: &mut Context) {
        if context.name().starts_with("ticks") {
            context.set_timer(TICK, 0);
        }
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

fn config(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../configs").join(name).display().to_string()
}

fn counter(node: &Value, name: &str) -> u64 {
    number(&node["counters"][name])
}

#[test]
fn the_demo_runs_hosted_as_it_runs_alone() {
    let home = Home::new();
    let sets = ["strategies.host.mode=parked", "md.count=300", "strategies.budget=10s"];
    let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).collect();
    let report = home.json(&[&["up", "--format", "json"], &sets[..]].concat());
    assert_eq!(number(&report["quotes"]), 8 * 300, "{report}");
    assert_eq!(number(&report["lost"]), 0, "{report}");
    assert_eq!(number(&report["wait_timeouts_with_data"]), 0, "{report}");
    let strategies = report["strategies"].as_array().expect("strategies");
    assert_eq!(strategies.len(), 8, "each has its own account");
    let orders: Vec<u64> = strategies.iter().map(|strategy| number(&strategy["orders"])).collect();
    assert!(orders.iter().all(|orders| *orders > 0), "{report}\n{}", home.logs());
    assert_eq!(orders.iter().sum::<u64>(), number(&report["orders"]));
    assert!(number(&report["fills"]) > 0, "{report}");
    assert!(number(&report["stages"]["t2o"]["n"]) > 0, "{report}");
    assert_eq!(home.left(), Vec::<PathBuf>::new());
}

#[test]
fn in_lock_step_hosted_strategies_trade_as_those_with_a_process_each() {
    let home = Home::new();
    let file = config("deterministic.toml");
    let outcome = |sets: &[&str]| {
        let fixed = ["up", &file, "--format", "json", "--set", "md.count=60"];
        let report = home.json(&[&fixed[..], sets].concat());
        assert!(number(&report["fills"]) > 0, "{report}\n{}", home.logs());
        let mut strategies = report["strategies"].clone();
        for strategy in strategies.as_array_mut().expect("strategies") {
            // A strategy that stops cancels what works, and td cancels what is left by one that has gone. Which of the two
            // comes first is no matter of lock-step, which ends with the market.
            strategy.as_object_mut().expect("an object").remove("cancels_rejected");
        }
        (report["orders"].clone(), report["fills"].clone(), strategies)
    };
    let alone = outcome(&[]);
    assert_eq!(outcome(&["--set", "strategies.host.mode=parked"]), alone);
}

#[test]
fn one_that_errs_errs_alone() {
    let home = Home::new();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (program, marker) = (program(folder.path()), folder.path().join("marker"));
    let file = folder.path().join("errs.toml");
    let text = format!(
        "[platform]\ninstance = 'errs'\n[md]\ninstruments = 4\ninterval = '5ms'\n\
         [strategies]\nprogram = '{program}'\n[[strategies.group]]\nname = 'errs'\ncount = 3\n\
         host = {{ mode = 'parked' }}\nbudget = '1ms'\n[[strategies.group]]\nname = 'again'\ncount = 1\n\
         host = {{ name = 'second', mode = 'parked' }}\nrestart = 'on-failure'\nparams = {{ marker = '{}' }}\n",
        marker.display()
    );
    std::fs::write(&file, text).expect("written");
    let up = home.colo(&["up", &file.display().to_string(), "--stay"]);
    assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
    let node = |name: &str| home.node("errs", name);
    let host = node("host")["pid"].clone();
    assert_eq!(node("errs-1")["pid"], host, "one process for all");

    // The panic: told in status and log, its order cancelled, the others go on.
    home.wait_for("the panic", || node("errs-2")["state"] == "failed");
    assert_eq!(node("errs-2")["exit"], 1);
    let said = |what: &str| home.wait_for(what, || home.logs().contains(what));
    said("strategy `errs-2` panicked: as it was told; it is stopped, the others go on");
    said("strategy in seat 6 has ended: 1 orders are cancelled");
    for name in ["errs-1", "errs-3"] {
        let before = counter(&node(name), "quotes");
        home.wait_for("quotes of the others", || counter(&node(name), "quotes") > before);
        assert_eq!(node(name)["state"], "running");
    }

    // Too slow: counted and named. Who shares the process is not blamed.
    home.wait_for("an overrun", || counter(&node("errs-3"), "overruns") > 0);
    assert!(counter(&node("errs-3"), "overrun_max_ns") >= 3_000_000);
    said("strategy `errs-3` took");
    let text = home.colo(&["status", "errs"]);
    assert!(
        home::stdout(&text).contains("over its time budget of 1.000 ms: errs-3"),
        "{}",
        home::stdout(&text)
    );

    // One that may start again does, in the host that it was in.
    home.wait_for("the second start", || {
        let again = node("again-1");
        again["state"] == "running" && number(&again["starts"]) == 2
    });
    assert_eq!(number(&node("second")["starts"]), 1, "its host never went");
    home.wait_for("quotes after it", || counter(&node("again-1"), "quotes") > 30);

    // The process: all that is in it goes, and comes again where it may.
    kill(number(&host) as u32, "KILL");
    home.wait_for("the end of all", || {
        ["host", "errs-1", "errs-3"].iter().all(|name| node(name)["state"] == "failed")
    });
    kill(number(&node("second")["pid"]) as u32, "KILL");
    home.wait_for("the third start", || {
        let again = node("again-1");
        again["state"] == "running" && number(&again["starts"]) == 3
    });
    assert_eq!(number(&node("second")["starts"]), 2);
    let before = counter(&node("again-1"), "quotes");
    home.wait_for("quotes in the new host", || counter(&node("again-1"), "quotes") > before);
    let down = home.colo(&["down", "errs", "--format", "json"]);
    assert!(down.status.success(), "{}", stderr(&down));
    assert_eq!(home.left(), Vec::<PathBuf>::new());
}

#[test]
fn one_that_does_not_return_is_named_with_how_long_it_holds_its_host() {
    let home = Home::new();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (program, marker) = (program(folder.path()), folder.path().join("marker"));
    std::fs::write(&marker, "").expect("written");
    let file = folder.path().join("holds.toml");
    let text = format!(
        "[platform]\ninstance = 'holds'\n[md]\ninstruments = 4\ninterval = '5ms'\n\
         [strategies]\nprogram = '{program}'\n[[strategies.group]]\nname = 'holds'\ncount = 3\n\
         host = {{ mode = 'parked' }}\nparams = {{ marker = '{}' }}\n",
        marker.display()
    );
    std::fs::write(&file, text).expect("written");
    let up = home.colo(&["up", &file.display().to_string(), "--stay"]);
    assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
    let held = |name: &str| home.node("holds", name)["in_callback_ms"].as_u64();
    home.wait_for("the one that holds all", || held("holds-2").is_some_and(|lasts| lasts >= 1_500));
    for innocent in ["host", "holds-1", "holds-3", "td", "md"] {
        assert_eq!(held(innocent), None, "{innocent}");
    }
    assert_eq!(home.node("holds", "holds-1")["state"], "running, stalled", "it suffers, and is not to blame");
    let top = home.json(&["top", "holds", "--interval", "50ms", "--format", "json"]);
    let named: Vec<&Value> = top["nodes"]
        .as_array()
        .expect("nodes")
        .iter()
        .filter(|node| !node["in_callback_ms"].is_null())
        .collect();
    assert!(named.len() == 1 && named[0]["node"] == "holds-2", "{top}");
    for verb in [["status", "holds"].as_slice(), &["top", "holds", "--interval", "50ms"]] {
        let text = home::stdout(&home.colo(verb));
        assert!(text.contains("does not return: holds-2 is in one callback for "), "{text}");
        assert!(text.contains(": nobody in host gets anything"), "{text}");
    }
    home.wait_for("master's word", || {
        home.logs().contains("strategy `holds-2` has not returned from a callback for ")
    });

    // Stopped from outside, it is not the strategy that holds.
    let pid = number(&home.node("holds", "host")["pid"]) as u32;
    kill(pid, "STOP");
    home.wait_for("nobody to blame", || held("holds-2").is_none());
    kill(pid, "CONT");
    home.wait_for("the same again", || held("holds-2").is_some());

    std::fs::remove_file(&marker).expect("removed");
    home.wait_for("its return", || held("holds-2").is_none());
    home.wait_for("the end of it in the log", || {
        home.logs().contains("strategy `holds-2` has returned from its callback")
    });
    let before = counter(&home.node("holds", "holds-3"), "quotes");
    home.wait_for("quotes of the others", || counter(&home.node("holds", "holds-3"), "quotes") > before);
    let down = home.colo(&["down", "holds", "--format", "json"]);
    assert!(down.status.success(), "{}", stderr(&down));
    assert_eq!(home.left(), Vec::<PathBuf>::new());
}

#[test]
fn sleep_between_two_timers_is_no_time_of_a_strategy() {
    let home = Home::new();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let program = program(folder.path());
    let file = folder.path().join("ticks.toml");
    let text = format!(
        "[platform]\ninstance = 'ticks'\n[md]\ninstruments = 1\ninterval = '1h'\n\
         [strategies]\nprogram = '{program}'\nbudget = '20ms'\n[[strategies.group]]\nname = 'ticks'\ncount = 1\n\
         host = {{ mode = 'parked' }}\n[[strategies.group]]\nname = 'ticks-alone'\ncount = 1\n"
    );
    std::fs::write(&file, text).expect("written");
    let up = home.colo(&["up", &file.display().to_string(), "--stay"]);
    assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
    // Thirty timers, and as many sleeps that are longer than the budget.
    for (name, sleeper) in [("ticks-1", "host"), ("ticks-alone-1", "ticks-alone-1")] {
        let parks = counter(&home.node("ticks", sleeper), "parks");
        home.wait_for("sleeps", || counter(&home.node("ticks", sleeper), "parks") > parks + 30);
        let node = home.node("ticks", name);
        // The host may take its CPU away in the midst of one now and then.
        assert!(counter(&node, "overruns") < 10, "{node}");
    }
    assert!(home.colo(&["down", "ticks"]).status.success());
}
