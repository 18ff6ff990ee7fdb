//! `colo md verify` on files whose rows contradict each other.

mod home;

use std::path::Path;

use serde_json::Value;

use home::{Home, stdout};

const MESSAGES: [&str; 4] = [
    "34200.1,1,11,18,1000000,1",
    "34200.2,1,12,50,1001000,-1",
    "34200.3,4,12,20,1001000,-1",
    "34200.4,2,11,8,1000000,1",
];
const ORDERBOOK: [&str; 4] =
    ["9999999999,0,1000000,18", "1001000,50,1000000,18", "1001000,30,1000000,18", "1001000,30,1000000,10"];

fn verify(home: &Home, folder: &Path, rows: &[String], format: &str) -> (Option<i32>, String) {
    let (messages, orderbook) = (folder.join("message.csv"), folder.join("orderbook.csv"));
    std::fs::write(&messages, rows.join("\n") + "\n").expect("written");
    std::fs::write(&orderbook, ORDERBOOK.join("\n") + "\n").expect("written");
    let paths = [messages.display().to_string(), orderbook.display().to_string()];
    let output = home.colo(&[
        "md",
        "verify",
        "--source",
        "lobster",
        "--messages",
        &paths[0],
        "--orderbook",
        &paths[1],
        "--format",
        format,
    ]);
    (output.status.code(), stdout(&output))
}

#[test]
fn contradicting_rows_are_said_with_their_place_and_fail_the_check() {
    let home = Home::new();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let sound: Vec<String> = MESSAGES.map(str::to_owned).to_vec();
    let (code, text) = verify(&home, folder.path(), &sound, "text");
    assert_eq!(code, Some(0), "{text}");
    assert!(!text.contains("contradict"), "{text}");

    // The clock goes back; the book is the same.
    let mut late = sound;
    late[3] = late[3].replace("34200.4", "34100.4");
    let (code, text) = verify(&home, folder.path(), &late, "text");
    assert_eq!(code, Some(4), "{text}");
    for words in
        ["4 of 4 rows identical", "1 of 4 rows contradict others (off_time 1)", "message.csv, row 4, time"]
    {
        assert!(text.contains(words), "`{words}` is not in: {text}");
    }
    let (code, text) = verify(&home, folder.path(), &late, "json");
    let report: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!((code, &report["counts"]["off_time"]), (Some(4), &1.into()));
    assert!(report["contradictions"][0].as_str().is_some_and(|row| row.contains("row 4")), "{report}");
}
