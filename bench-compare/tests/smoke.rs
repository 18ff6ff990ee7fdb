//! Runs the driver end to end with few messages: every rival takes part in everything that it claims to support.
//!
//! No figure is asserted, only that there is one.

use std::process::Command;

use serde_json::Value;

fn names(values: &Value, key: &str) -> Vec<String> {
    values.as_array().unwrap().iter().map(|value| value[key].as_str().unwrap().to_owned()).collect()
}

#[test]
fn every_rival_finishes_every_row_that_it_takes_part_in() {
    let out = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_compare"))
        .args(["--quick", "--rounds", "1", "--repeats", "0", "--trips", "300", "--millis", "40"])
        .args(["--sleepers", "5", "--kills", "1", "--note", "a test"])
        .arg("--out")
        .arg(out.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let text = std::fs::read_to_string(out.path().join("compare.json")).unwrap();
    let report: Value = serde_json::from_str(&text).unwrap();
    let rivals = names(&report["rivals"], "name");
    assert!(rivals.len() >= 5, "only {rivals:?} took part");
    let mut checked = 0;
    for row in report["rows"].as_array().unwrap() {
        for entry in row["entries"].as_array().unwrap() {
            let figure = row["ranked_by"].as_str().unwrap();
            let median = entry["figures"][figure]["median"].as_f64();
            assert!(median.is_some_and(|median| median > 0.0), "{}: {entry}\n{said}", row["id"]);
            checked += 1;
        }
    }
    println!("{checked} entries have figures");
    assert!(checked >= 30, "only {checked} entries were there to check");
    assert!(names(&report["writer_deaths"], "rival").contains(&"colo".to_owned()));
    for name in ["compare.md", "compare.svg"] {
        assert!(std::fs::metadata(out.path().join(name)).unwrap().len() > 1_000, "{name} is all but empty");
    }
}

#[test]
fn a_rival_that_is_not_there_is_named_with_those_that_are() {
    let output = Command::new(env!("CARGO_BIN_EXE_compare")).args(["--only", "nobody"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("`nobody`") && said.contains("pipe"), "{said}");
}

#[test]
fn every_matching_engine_has_figures_or_the_reason_why_not() {
    let out = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_compare"))
        .args(["matching", "--operations", "2000", "--turns", "1", "--levels", "10,1000", "--out"])
        .arg(out.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let text = std::fs::read_to_string(out.path().join("matching.json")).unwrap();
    let report: Value = serde_json::from_str(&text).unwrap();
    let (mut figures, mut reasons) = (0, Vec::new());
    for row in report["rows"].as_array().unwrap() {
        for entry in row["engines"].as_array().unwrap() {
            match entry["error"].as_str() {
                None => {
                    let rate = entry["figures"]["ops_per_s"].as_f64();
                    assert!(rate.is_some_and(|rate| rate > 0.0), "{entry}");
                    figures += 1;
                }
                Some(error) => reasons.push(error.to_owned()),
            }
        }
    }
    println!("{figures} figures, and reasons: {reasons:#?}");
    assert!(figures >= 32, "{reasons:#?}");
    assert!(reasons.iter().all(|reason| reason.contains("does not match as it should")), "{reasons:#?}");
}
