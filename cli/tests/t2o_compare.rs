//! `colo t2o compare` on figures that nobody measured: what it says, and how it ends.

mod home;

use std::collections::BTreeMap;
use std::path::Path;

use bench_harness::t2o::{CellResult, DoctorWords, FORMAT, Observed, Pages, Results, RunRecord, RunStage};
use serde_json::Value;

use home::{Home, stderr, stdout};

const SCENARIO: &str = "[scenario]\nname = \"made-up\"\ntitle = \"made up\"\n[[load]]\nrate = 80\n\
                        [[group]]\nname = \"A\"\ntitle = \"made up\"\n[[group]]\nname = \"D\"\ntitle = \"too\"\n";

/// A cell whose runs have these medians of t2o, in µs.
fn cell(group: &str, medians: &[f64]) -> CellResult {
    let name = format!("{group}1");
    let run = |(index, p50_us): (usize, &f64)| RunRecord {
        cell: name.clone(),
        repeat: index as u32 + 1,
        started_unix: 1_795_247_410,
        seconds: 3.0,
        samples: 1_000,
        disordered: 0,
        achieved_rate: 80.0,
        expected: 1_000,
        lost: 0,
        unpublished: 0,
        outstanding: 0,
        open_from_us: None,
        on_disk: 0,
        slices: Vec::new(),
        kept: Vec::new(),
        lateness_p99_us: 60.0,
        stages: BTreeMap::from([("t2o".to_owned(), RunStage { p50_us: *p50_us, ..RunStage::default() })]),
        observed: Observed::default(),
        pages: Pages::default(),
        huge_wanted: false,
        doctor_fail: Vec::new(),
        doctor_warn: Vec::new(),
        failed: None,
    };
    CellResult {
        name: name.clone(),
        group: group.to_owned(),
        load: 1,
        rate: 80.0,
        repeats: medians.len(),
        samples: 1_000 * medians.len() as u64,
        achieved_rate: 80.0,
        expected: 1_000 * medians.len() as u64,
        lost: 0,
        unpublished: 0,
        marked: Vec::new(),
        stages: BTreeMap::new(),
        wakeups: 0.0,
        context_switches: 0.0,
        migrations: None,
        page_faults: 0,
        run_queue_wait_ms: None,
        off_plan: 0,
        steal_percent: 0.0,
        cpus_used: None,
        cpus_others: None,
        slices: None,
        pages: "4 KiB".to_owned(),
        lateness_p99_us: 60.0,
        runs: medians.iter().enumerate().map(run).collect(),
    }
}

fn results(cells: Vec<CellResult>) -> Results {
    Results {
        format: FORMAT,
        host: pinning::Host::read("/".as_ref()).expect("this host").summary(),
        scenario: "made-up".to_owned(),
        colo: "0".to_owned(),
        started_unix: 1_795_247_410,
        last_unix: 1_795_249_410,
        doctor: DoctorWords::default(),
        faults: Vec::new(),
        cells,
        missing: Vec::new(),
        left_out: Vec::new(),
        settings: bench_harness::t2o::scenario::parse("made-up.toml", SCENARIO, &[])
            .expect("a scenario")
            .config,
    }
}

/// Compares, and answers exit code, what is said in JSON, and the text.
fn compare(before: &Results, after: &Results, more: &[&str]) -> (Option<i32>, Value, String) {
    let home = Home::new();
    let folder = tempfile::tempdir().expect("a temporary folder");
    // Both ways to name results: a folder, and the file itself.
    let paths = [folder.path().to_owned(), folder.path().join("after.json")];
    for (path, results) in [(paths[0].join("t2o.json"), before), (paths[1].clone(), after)] {
        std::fs::write(path, serde_json::to_vec(results).expect("JSON")).expect("written");
    }
    let path = |path: &Path| path.display().to_string();
    let (before, after) = (path(&paths[0]), path(&paths[1]));
    let arguments = [&["t2o", "compare", &before, &after][..], more].concat();
    let text = home.colo(&arguments);
    let json = home.colo(&[&arguments[..], &["--format", "json"]].concat());
    assert_eq!(text.status.code(), json.status.code(), "{}", stderr(&text));
    let said = serde_json::from_str(&stdout(&json)).unwrap_or_default();
    (text.status.code(), said, stdout(&text) + &stderr(&text))
}

#[test]
fn a_cell_that_became_worse_is_exit_4_whatever_became_of_the_others() {
    let before =
        results(vec![cell("A", &[40.0, 41.0, 39.0, 40.5, 39.5]), cell("D", &[60.0, 61.0, 59.0, 60.5, 59.5])]);
    let after =
        results(vec![cell("A", &[60.0, 61.0, 59.0, 60.5, 59.5]), cell("D", &[40.0, 41.0, 39.0, 40.5, 39.5])]);
    let (exit, said, text) = compare(&before, &after, &[]);
    assert_eq!(exit, Some(4), "{text}");
    assert_eq!(
        (&said["cells"][0]["change"], &said["cells"][1]["change"]),
        (&"worse".into(), &"improved".into())
    );
    assert!(text.contains("1 improved, 1 worse, 0 no change, 0 inconclusive"), "{text}");
    assert!(text.contains("+50.0 %"), "{text}");
    // What the user does not mind is no change.
    let (exit, said, text) = compare(&before, &after, &["--tolerance", "2"]);
    assert_eq!((exit, &said["cells"][0]["change"]), (Some(0), &"no-change".into()), "{text}");
}

#[test]
fn runs_that_do_not_tell_are_exit_5_until_one_cell_tells() {
    let torn = [40.0, 80.0, 39.0, 50.0, 70.0];
    let before = results(vec![cell("A", &torn), cell("D", &[40.0])]);
    let after = results(vec![cell("A", &[60.0, 41.0, 90.0, 55.0, 45.0]), cell("D", &[400.0])]);
    let (exit, said, text) = compare(&before, &after, &[]);
    assert_eq!(exit, Some(5), "{text}");
    assert!(text.contains("2 inconclusive"), "{text}");
    assert!(said["cells"][1]["interval"].is_null(), "one run has no spread: {said}");
    assert!(text.contains("D1: inconclusive: 1 and 1 runs: 5 each are needed"), "{text}");
    assert!(text.contains("no raw files lie beside it"), "{text}");

    let told = results(vec![cell("A", &torn), cell("D", &[40.0, 40.1, 40.2, 40.0, 40.1])]);
    let (exit, _, text) = compare(
        &told,
        &results(vec![
            cell("A", &[60.0, 41.0, 90.0, 55.0, 45.0]),
            cell("D", &[40.0, 40.1, 40.2, 40.0, 40.1]),
        ]),
        &[],
    );
    assert_eq!(exit, Some(0), "{text}");

    // Nothing in common is nothing to say.
    let (exit, said, text) = compare(&results(vec![cell("A", &torn)]), &results(vec![cell("D", &torn)]), &[]);
    assert_eq!((exit, said["unmatched"].as_array().map(Vec::len)), (Some(5), Some(2)), "{text}");
}

#[test]
fn figures_of_another_host_are_exit_3_unless_asked_for() {
    let before = results(vec![cell("A", &[40.0, 40.1, 40.2, 40.0, 40.1])]);
    let mut after = before.clone();
    after.host.cpu_model = "another".to_owned();
    let (exit, _, text) = compare(&before, &after, &[]);
    assert_eq!(exit, Some(3), "{text}");
    assert!(text.contains("--any-host") && text.contains("another"), "{text}");
    let (exit, _, text) = compare(&before, &after, &["--any-host"]);
    assert_eq!(exit, Some(0), "{text}");
}

#[test]
fn a_disturbed_cell_and_one_under_another_load_are_inconclusive_with_the_reason() {
    let before = results(vec![cell("A", &[40.0, 40.1, 40.2, 40.0, 40.1])]);
    let mut after = before.clone();
    after.cells[0].marked.push("steal: 9.9 % of the time was the hypervisor's".to_owned());
    let (exit, said, text) = compare(&before, &after, &[]);
    assert_eq!((exit, &said["cells"][0]["change"]), (Some(5), &"inconclusive".into()), "{text}");
    assert!(text.contains("the second is marked steal"), "{text}");
    let mut after = before.clone();
    after.settings.run.think = std::time::Duration::from_millis(3);
    let (exit, _, text) = compare(&before, &after, &[]);
    assert!(exit == Some(5) && text.contains("think differs"), "{text}");
}
