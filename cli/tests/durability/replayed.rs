//! One strategy alone with the recording of a run that was recovered, and crashed like the one before it.

use std::time::Duration;

use serde_json::Value;

use crate::platform::{Chance, Platform};
use crate::{crash, from_environment};

const STRATEGIES: [&str; 4] = ["takers-1", "takers-2", "makers-1", "makers-2"];
/// Crashes, each of a run that went on from the one before it; more by the environment.
const CRASHES: u64 = 3;

/// Exit code, and what is printed.
fn check(platform: &Platform, strategy: &str) -> (Option<i32>, Value) {
    let folder = platform.recordings().display().to_string();
    let (code, text) =
        platform.run(&["replay", &folder, "--strategy", strategy, "--check", "--format", "json"]);
    let mut printed = serde_json::Deserializer::from_str(&text).into_iter::<Value>();
    let printed = printed.next().and_then(Result::ok);
    (code, printed.unwrap_or_else(|| panic!("{strategy}: {text}\n{}", platform.logs())))
}

/// Crash upon crash, a replay of every strategy behind each; `judge` has the number of the crash.
fn crashed(replaced: &[(&str, &str)], mut judge: impl FnMut(u64, &str, Option<i32>, &Value)) {
    let (crashes, seed) = (from_environment("COLO_CRASHES", CRASHES), from_environment("COLO_SEED", 1));
    let mut platform = Platform::with("", replaced);
    platform.await_up(platform.start_up());
    let mut chance = Chance::new(seed);
    for crash in 0..crashes {
        std::thread::sleep(Duration::from_millis(200 + chance.below(200)));
        platform.kill_everything();
        crash::lose_what_was_not_synced(&platform, &mut chance);
        platform.forget();
        for strategy in STRATEGIES {
            let (code, printed) = check(&platform, strategy);
            println!(
                "crash {crash}, {strategy}: {code:?}, {}, {} sent, {} of {} the same, {} moved; {}",
                printed["verdict"],
                printed["requests"],
                printed["same_requests"],
                printed["live_requests"],
                printed["moved_frames"],
                printed["caveats"]
            );
            judge(crash, strategy, code, &printed);
        }
        platform.await_up(platform.start_again());
    }
    platform.down();
}

#[test]
fn strategies_of_a_recovered_run_in_lock_step_send_what_they_sent_up_to_the_crash() {
    let lock_step = [
        ("instance = \"durable\"\n", "instance = \"durable\"\ndeterministic = true\n"),
        ("generator = \"timed\"\n", "generator = \"timed\"\nreaders = \"gated\"\n"),
        ("reports.durability = \"sync\"\n", ""),
    ];
    let mut requests = 0;
    crashed(&lock_step, |crash, strategy, code, printed| {
        assert_eq!(
            (code, &printed["identical"]),
            (Some(0), &Value::Bool(true)),
            "{crash}, {strategy}: {printed:#}"
        );
        // It may go on where the crash ended it.
        assert!(printed["requests"].as_u64() >= printed["live_requests"].as_u64(), "{printed:#}");
        requests += printed["live_requests"].as_u64().expect("a number");
    });
    assert!(requests > 100, "{requests} requests");
}

/// What was read when is not known to the microsecond there. So it may say that it cannot tell, and never that another program sent
/// this.
#[test]
fn strategies_of_a_recovered_run_whose_reports_waited_for_the_disk_are_not_said_to_differ() {
    crashed(&[], |crash, strategy, code, printed| {
        let expected = match printed["verdict"].as_str() {
            Some("same") => 0,
            Some("inconclusive") => 5,
            verdict => panic!("crash {crash}, {strategy}: {verdict:?}: {printed:#}"),
        };
        assert_eq!(code, Some(expected), "{crash}, {strategy}: {printed:#}");
        // Those with timers are told why.
        let says_why = printed["caveats"].to_string().contains("reads the clock or sets timers");
        assert_eq!(
            says_why,
            expected == 5 && strategy.starts_with("makers"),
            "{crash}, {strategy}: {printed:#}"
        );
    });
}
