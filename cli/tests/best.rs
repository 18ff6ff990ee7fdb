//! The best in one line, on whole platforms: it is the depth's first level in every kind of market, when md is killed, and
//! in lock-step.

mod home;

use std::collections::BTreeMap;

use journal::{Journal, JournalFiles};
use wire::{AnyMessage, Best, Fill};

use home::{Home, kill, number, stderr};

/// Rings that never go round. Two groups, so that md publishes both.
const BOTH: &str = r#"
[platform]
instance = "best"

[journal]
capacity = "16MiB"

[td]
price_band = 0

[strategies]
instruments = "all"

[[strategies.group]]
name = "lines"
count = 1
data = "best"
program = "builtin:PROGRAM"

[[strategies.group]]
name = "depths"
count = 1
data = "depth"
program = "builtin:PROGRAM"
"#;

/// What a journal of market data holds.
#[derive(Debug, Default)]
struct Held {
    /// By instrument: the best of each message, in order.
    bests: BTreeMap<u32, Vec<Best>>,
    trades: Vec<(u32, u64)>,
    ends: u64,
}

impl Held {
    fn read(home: &Home, name: &str) -> Held {
        let folder = home.root.path().join("best/journals");
        let journal =
            Journal::open_read_only(JournalFiles::new(&folder, &folder, name)).expect("the journal");
        let mut reader = journal.loose_from_start().expect("nothing was overwritten");
        let mut held = Held::default();
        while let Some(frame) = reader.read().unwrap_or_else(|error| panic!("{name}: {error}")) {
            let topic = frame.topic;
            match AnyMessage::decode(frame.message_id, frame.payload).expect("a message") {
                AnyMessage::Quote(quote) => {
                    assert_eq!(quote.instrument.0, topic);
                    held.bests.entry(topic).or_default().push(Best::of(&quote));
                }
                AnyMessage::Best(best) => {
                    assert_eq!(node::frame_bytes(frame.payload.len() as u64), 64, "one line");
                    held.bests.entry(topic).or_default().push(best);
                }
                AnyMessage::TradePrint(trade) => held.trades.push((topic, trade.sequence)),
                AnyMessage::EndOfStream(_) => held.ends += 1,
                // When a request of lock-step is due.
                AnyMessage::MarketTime(_) => {}
                other => panic!("{other:?}"),
            }
        }
        held
    }

    /// Without those that repeat the one before.
    fn changes(&self) -> BTreeMap<u32, Vec<Best>> {
        let changes = |bests: &Vec<Best>| {
            let mut bests = bests.clone();
            bests.dedup_by(|next, before| next.is_same_level(before));
            bests
        };
        self.bests.iter().map(|(instrument, bests)| (*instrument, changes(bests))).collect()
    }

    fn count(&self) -> usize {
        self.bests.values().map(Vec::len).sum()
    }
}

fn written(home: &Home, name: &str, text: &str) -> String {
    let path = home.state_path().join(name);
    std::fs::write(&path, text).expect("a file");
    path.display().to_string()
}

/// Runs a platform to its end, and reads both journals before it is taken down.
fn run(home: &Home, text: &str, meanwhile: impl FnOnce()) -> (Held, Held) {
    let path = written(home, "best.toml", text);
    let up = home.colo(&["up", &path, "--stay"]);
    assert!(up.status.success(), "{}", stderr(&up));
    meanwhile();
    home.wait_for("the end", || home.node("best", "md")["state"] == "finished");
    // md may be far ahead of the strategies.
    home.wait_for("an answer to a best", || number(&home.node("best", "lines-1")["counters"]["orders"]) > 0);
    let held = (Held::read(home, "md.quotes"), Held::read(home, "md.best"));
    let down = home.colo(&["down", "best"]);
    assert!(down.status.success(), "{}", stderr(&down));
    held
}

fn assert_same(quotes: &Held, bests: &Held) {
    assert_eq!(bests.changes(), quotes.changes(), "best and depth differ");
    assert_eq!((&bests.trades, bests.ends), (&quotes.trades, quotes.ends));
    println!("{} quotes, {} bests, {} trades", quotes.count(), bests.count(), bests.trades.len());
}

fn lobster(moves: u32) -> String {
    let mut day = String::from("34200.000,1,1,100,999000,1\n34200.100,1,2,100,1001000,-1\n");
    let mut ask = 2;
    for number in 0..moves {
        let (second, id) = (34_201 + number, 4 * number + 3);
        // The second level moves, then the first; then a part of the first trades.
        day += &format!("{second}.0,1,{id},100,990000,1\n{second}.1,1,{},300,1000000,-1\n", id + 1);
        day += &format!("{second}.2,4,{},50,1000000,-1\n{second}.3,3,{},250,1000000,-1\n", id + 1, id + 1);
        day += &format!("{second}.4,3,{ask},100,1001000,-1\n{second}.5,1,{},100,1001000,-1\n", id + 2);
        ask = id + 2;
        day += &format!("{second}.6,3,{id},100,990000,1\n");
    }
    day
}

#[test]
fn simulated_recorded_and_exchange_markets_publish_the_first_level_of_their_depth() {
    let home = Home::new();
    let both = BOTH.replace("PROGRAM", "taker");
    let sim = "[md]\ninstruments = 3\ncount = 400\ninterval = \"1ms\"\n";
    let (quotes, bests) = run(&home, &format!("{sim}{both}"), || {});
    assert_same(&quotes, &bests);
    assert_eq!((bests.count(), quotes.count()), (1_200, 1_200), "each has its place in the schedule");
    assert_eq!(bests.bests, quotes.bests, "with when it was due");

    let day = written(&home, "message.csv", &lobster(200));
    let recorded = format!("[md]\nsource = \"lobster\"\nfiles = \"{day}\"\nreaders = \"gated\"\n");
    let (quotes, bests) = run(&home, &format!("{recorded}{both}"), || {});
    assert_same(&quotes, &bests);
    assert!(bests.count() > 300, "{}", bests.count());
    assert!(bests.count() < quotes.count(), "a change behind the best is none: {}", quotes.count());
    assert_eq!(bests.count(), bests.changes().values().map(Vec::len).sum::<usize>());

    let exchange = r#"
        [md]
        source = "exchange"
        instruments = 2
        [[matching.phases]]
        after = "0s"
        phase = "continuous"
        [[matching.phases]]
        after = "2s"
        phase = "closed"
    "#;
    let makers = both.replace(
        "taker\"",
        "market-maker\"\nparams = { opens = true, post_only = false, max_position = 100000 }",
    );
    let (quotes, bests) = run(&home, &format!("{exchange}{makers}"), || {});
    assert_same(&quotes, &bests);
    assert!(bests.count() > 2, "{}", bests.count());
}

#[test]
fn a_killed_md_repeats_no_best_and_leaves_none_out() {
    let home = Home::new();
    for generator in ["threads", "timed"] {
        let md = format!(
            "[md]\ninstruments = 4\ncount = 2500\ninterval = \"1ms\"\ngenerator = \"{generator}\"\nrestart = \"on-failure\"\nrestart_max = 100\nrestart_backoff = \"0s\"\n"
        );
        let text = format!("{md}{}", BOTH.replace("PROGRAM", "taker"));
        let (quotes, bests) = run(&home, &text, || {
            let pid = || u32::try_from(number(&home.node("best", "md")["pid"])).expect("a pid");
            for _ in 0..4 {
                std::thread::sleep(std::time::Duration::from_millis(350));
                let before = pid();
                kill(before, "KILL");
                home.wait_for("its successor", || pid() != before);
            }
        });
        assert_same(&quotes, &bests);
        assert_eq!(bests.bests, quotes.bests, "message for message");
        assert_eq!(bests.count(), 10_000, "{generator}: each once");
    }
}

#[test]
fn where_nobody_wants_the_depth_it_is_kept_and_shown_and_the_ledger_values_by_the_best() {
    let home = Home::new();
    let day = written(&home, "message.csv", &lobster(60));
    let text = format!(
        "[platform]\ninstance = \"best\"\n[md]\nsource = \"lobster\"\nfiles = \"{day}\"\nreaders = \"gated\"\n[td]\nprice_band = 0\n[strategies]\ncount = 2\ninstruments = \"all\"\ndata = \"best\"\n"
    );
    let path = written(&home, "best.toml", &text);
    let up = home.colo(&["up", &path, "--stay"]);
    assert!(up.status.success(), "{}", stderr(&up));
    home.wait_for("the end", || home.node("best", "md")["state"] == "finished");
    let folder = home.root.path().join("best/journals");
    assert!(folder.join("md.best.ctl").exists() && !folder.join("md.quotes.ctl").exists());
    let book = home.json(&["book", "1", "-i", "best", "--format", "json"]);
    let bids = book["bids"].as_array().expect("bids");
    assert!(!bids.is_empty() && book["sequence"].as_u64() > Some(1), "{book}");
    let report = home.json(&["down", "best", "--format", "json"]);
    assert!(number(&report["fills"]) > 0 && number(&report["quotes"]) > 0, "{report}");
    assert!(number(&report["stages"]["t2o"]["n"]) > 0, "an answer to a best is timed: {report}");
    let worth = report["strategies"].as_array().expect("strategies");
    assert!(worth.iter().any(|strategy| strategy["pnl"].as_f64().is_some_and(|pnl| pnl != 0.0)), "{report}");
    assert_eq!(home.left(), Vec::<std::path::PathBuf>::new(), "the depths went with the journals");
}

/// The fills of a run in lock-step.
fn fills(home: &Home, text: &str) -> Vec<Fill> {
    let path = written(home, "best.toml", text);
    let up = home.colo(&["up", &path, "--stay"]);
    assert!(up.status.success(), "{}", stderr(&up));
    home.wait_for("the end", || home.node("best", "md")["state"] == "finished");
    let stop = home.colo(&["status", "best", "--format", "json"]);
    assert!(stop.status.success());
    let folder = home.root.path().join("best/journals");
    let journal = Journal::open_read_only(JournalFiles::new(&folder, &folder, "matching.executions"))
        .expect("the journal");
    let mut reader = journal.loose_from_start().expect("nothing was overwritten");
    let mut fills = Vec::new();
    while let Some(frame) = reader.read().expect("sound") {
        if let Ok(AnyMessage::Fill(fill)) = AnyMessage::decode(frame.message_id, frame.payload) {
            fills.push(fill);
        }
    }
    let down = home.colo(&["down", "best"]);
    assert!(down.status.success(), "{}", stderr(&down));
    fills
}

#[test]
fn in_lock_step_takers_trade_on_the_best_as_they_do_on_the_depth() {
    let home = Home::new();
    let text = |data: &str| {
        format!(
            "[platform]\ninstance = \"best\"\ndeterministic = true\n[journal]\ncapacity = \"16MiB\"\n[md]\ninstruments = 3\ncount = 300\ngenerator = \"timed\"\nreaders = \"gated\"\n[td]\nprice_band = 0\n[strategies]\ncount = 3\ndata = \"{data}\"\n"
        )
    };
    let (best, again, depth) =
        (fills(&home, &text("best")), fills(&home, &text("best")), fills(&home, &text("depth")));
    assert!(best.len() > 100, "{}", best.len());
    assert_eq!(best, again, "two runs differ");
    assert_eq!(best, depth, "best and depth differ");
}
