//! What is said of a matching that is killed and whose books are not there again, and of a market that is closed for good.

mod home;

use journal::{Journal, JournalFiles};
use wire::{AnyMessage, OrderStatus, OrderUpdate, Reason};

use home::{Home, kill, number, stderr, stdout};

/// Makers whose orders rest, more of them than `matching.state` has room for, if that is small.
const CONFIG: &str = r#"
[platform]
instance = "without"

[md]
source = "sim"
instruments = 400
interval = "1ms"
count = 0
seed = 7
generator = "timed"

[td]
max_working_orders = 0

[matching]
restart = "RESTART"
restart_backoff = "0s"

[journal]
matching.capacity = "64MiB"
matching.state.capacity = "STATE"

[[strategies.group]]
name = "makers"
program = "builtin:market-maker"
count = 2
instruments = "all"
params = { max_age_ms = 60000, refresh_ms = 5 }
"#;

/// More than a ring of 64 KiB has images for.
const MANY: usize = 600;

struct Platform {
    home: Home,
}

impl Platform {
    fn up(restart: &str, state: &str) -> Platform {
        Platform::with(restart, state, &[])
    }

    /// The same, with parts of the file replaced.
    fn with(restart: &str, state: &str, replaced: &[(&str, &str)]) -> Platform {
        let home = Home::new();
        let file = home.state_path().join("without.toml");
        let mut text = CONFIG.replace("RESTART", restart).replace("STATE", state);
        for (old, new) in replaced {
            assert!(text.contains(old), "{old}");
            text = text.replace(old, new);
        }
        std::fs::write(&file, text).expect("written");
        let up = home.colo(&["up", &file.display().to_string(), "--stay"]);
        assert!(up.status.success(), "{}", stderr(&up));
        Platform { home }
    }

    /// What matching has said of orders so far.
    fn updates(&self) -> Vec<OrderUpdate> {
        let folder = self.home.root.path().join("without/journals");
        let files = JournalFiles::new(&folder, &folder, "matching.executions");
        let journal = Journal::open_read_only(files).expect("the journal");
        let mut reader = journal.loose_from_start().expect("nothing was overwritten");
        let mut updates = Vec::new();
        while let Some(frame) = reader.read().expect("its frames") {
            if let Ok(AnyMessage::OrderUpdate(update)) = AnyMessage::decode(frame.message_id, frame.payload) {
                updates.push(update);
            }
        }
        updates
    }

    fn count(&self, counts: impl Fn(&OrderUpdate) -> bool) -> usize {
        self.updates().iter().filter(|update| counts(update)).count()
    }

    fn kill_matching(&self) {
        let pid = || number(&self.home.node("without", "matching")["pid"]) as u32;
        let killed = pid();
        kill(killed, "KILL");
        self.home.wait_for("its successor", || {
            pid() != killed && self.home.node("without", "matching")["state"] == "running"
        });
    }

    /// The report of the stop, as people read it.
    fn down(&self) -> String {
        let down = self.home.colo(&["down", "without"]);
        assert!(down.status.success(), "{}", stderr(&down));
        stdout(&down)
    }

    /// What matching has counted.
    fn counted(&self, counter: &str) -> usize {
        number(&self.home.node("without", "matching")["counters"][counter]) as usize
    }
}

fn closed(status: OrderStatus) -> impl Fn(&OrderUpdate) -> bool {
    move |update| update.reason == Reason::MarketClosed && update.status == status
}

#[test]
fn orders_that_are_lost_with_matchings_books_are_cancelled_once_counted_and_said() {
    let platform = Platform::up("on-failure", "64KiB");
    platform
        .home
        .wait_for("many orders", || platform.count(|update| update.status == OrderStatus::Accepted) > MANY);
    platform.kill_matching();
    let lost = closed(OrderStatus::Cancelled);
    platform.home.wait_for("their ends", || platform.count(&lost) > 0);
    // The makers go on in the new books.
    let so_far = platform.updates().len();
    platform.home.wait_for("new orders", || {
        let updates = platform.updates();
        updates[so_far..].iter().any(|update| update.status == OrderStatus::Accepted)
    });
    let log = platform.home.logs();
    let cancelled: Vec<_> =
        platform.updates().into_iter().filter(&lost).map(|update| update.order_id).collect();
    let mut once = cancelled.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), cancelled.len(), "an order ends once");
    let count = cancelled.len();
    assert_eq!((platform.counted("orders_lost"), platform.counted("closed_rejects")), (count, 0));
    let text = platform.down();
    let said = "working orders, cancelled because matching's books were not found again";
    assert!(text.replace(',', "").contains(&format!("lost: {count} {}", said.replace(',', ""))), "{text}");
    assert!(!text.contains("the market was closed"), "{text}");
    // Why, and what of it: the successor's log.
    assert!(log.contains("`matching.state`"), "{log}");
    assert!(log.contains(&format!("{count} orders that worked are cancelled")), "{log}");
}

#[test]
fn requests_to_a_closed_market_are_refused_counted_and_said() {
    let platform = Platform::up("never", "8MiB");
    platform.home.wait_for("orders", || platform.count(|update| update.status == OrderStatus::Accepted) > 20);
    platform.kill_matching();
    platform.home.wait_for("refusals", || platform.count(closed(OrderStatus::Rejected)) > 20);
    // Nobody sends any more, so that what is counted is what is there.
    for strategy in ["makers-1", "makers-2"] {
        kill(number(&platform.home.node("without", strategy)["pid"]) as u32, "KILL");
    }
    let mut quiet = (0, 0);
    platform.home.wait_for("quiet", || {
        let updates = platform.updates().len();
        quiet = if updates == quiet.0 { (updates, quiet.1 + 1) } else { (updates, 0) };
        quiet.1 == 10
    });
    let refusals = [OrderStatus::Rejected, OrderStatus::CancelRejected, OrderStatus::ReplaceRejected];
    let refused: usize = refusals.into_iter().map(|status| platform.count(closed(status))).sum();
    let lost = platform.count(closed(OrderStatus::Cancelled));
    assert_eq!((platform.counted("orders_lost"), platform.counted("closed_rejects")), (lost, refused));
    let log = platform.home.logs();
    let text = platform.down();
    assert!(
        text.replace(',', "").contains(&format!("{refused} requests refused: the market was closed")),
        "{text}"
    );
    // Once, with the first order that was refused.
    assert_eq!(log.matches("requests come to a closed market").count(), 1, "{log}");
}

/// Each life is too short for a round over the books, and the ring goes round many times: what every successor writes of its
/// round counts. `COLO_KILLS` says how many.
#[test]
fn books_are_found_again_however_often_matching_is_killed() {
    let few = [
        ("instruments = 400", "instruments = 4"),
        ("max_age_ms = 60000", "max_age_ms = 20"),
        ("count = 2\ninstruments = \"all\"", "count = 3\ninstruments = \"all\""),
        ("restart_backoff = \"0s\"", "restart_backoff = \"0s\"\nrestart_max = 1000000"),
    ];
    let exchange = [
        ("source = \"sim\"", "source = \"exchange\""),
        ("interval = \"1ms\"\ncount = 0\nseed = 7\ngenerator = \"timed\"\n", ""),
        ("restart =", "fill = \"exchange\"\nrestart ="),
        ("builtin:market-maker", "builtin:noise"),
        ("params = { max_age_ms = 20, refresh_ms = 5 }", "params = { every_ms = 2 }"),
    ];
    for market in [&[][..], &exchange] {
        let replaced: Vec<_> = few.iter().chain(market).copied().collect();
        let platform = Platform::with("on-failure", "64KiB", &replaced);
        let state = || {
            let folder = platform.home.root.path().join("without/journals");
            let files = JournalFiles::new(&folder, &folder, "matching.state");
            Journal::open_read_only(files).expect("the journal").head()
        };
        let kills = std::env::var("COLO_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(25);
        let (begun, mut longest) = (state(), 0);
        for _ in 0..kills {
            let before = state();
            platform.home.wait_for("some orders", || state() > before + (6 << 10));
            platform.kill_matching();
            longest = longest.max(state() - before);
        }
        let rings = (state() - begun) >> 16;
        println!("{kills} kills, {rings} rings of matching.state, {longest} bytes at most in a life");
        assert!(rings > 1, "the ring did not go round");
        assert_eq!(platform.counted("orders_lost"), 0, "{}", platform.home.logs());
        assert!(!platform.home.logs().contains("cannot be found again"), "{}", platform.home.logs());
        platform.down();
    }
}
