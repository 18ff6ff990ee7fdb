use super::*;
use crate::t2o::fixture;

/// A folder with one run of one cell, in which every answer took 10 µs.
fn folder() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    for name in ["runs", "raw"] {
        fs::create_dir(folder.path().join(name)).unwrap();
    }
    let store = Store { folder: folder.path().to_owned() };
    write(&store, 10_000);
    let cell = fixture::scenario_cell("A", 80.0);
    let cells = vec![store.cell(&cell, 5).unwrap().unwrap()];
    store.write_results(&fixture::results(cells, &[])).unwrap();
    (folder, store)
}

/// Stores the run with answers that took this long.
fn write(store: &Store, ns: u64) {
    let records = records(ns);
    let mut messages = Histograms::new().unwrap();
    records.iter().for_each(|record| messages.add(record));
    let mut run = fixture::cell("A", 1, 80.0, &[40.0]).runs.remove(0);
    run.take(&messages, &records).unwrap();
    (run.expected, run.lost) = (100, 0);
    store.keep(&run, &records).unwrap();
}

fn records(ns: u64) -> Vec<Stamps> {
    let stamps = |n: u64| {
        let (due, published) = (n * 1_000_000, n * 1_000_000 + 10);
        let (received, ordered) = (published + ns / 2, published + ns / 2 + 100);
        Stamps { order_id: n, due, published, received, ordered, taken: published + ns, durable: 0 }
    };
    (1..=100).map(stamps).collect()
}

#[test]
fn results_that_agree_with_their_raw_files_are_read() {
    let (folder, _) = folder();
    let checked = Store::results(folder.path()).unwrap();
    assert!(checked.from_raw);
    assert_eq!(checked.results.cells[0].samples, 100);
    fs::remove_dir_all(folder.path().join("raw")).unwrap();
    assert!(!Store::results(folder.path()).unwrap().from_raw);
}

#[test]
fn raw_files_that_say_something_else_are_an_error_that_names_the_figure() {
    let (folder, store) = folder();
    let path = folder.path().join("raw/A1-1.csv.gz");
    raw::write(&path, &records(20_000)).unwrap();
    let error = Store::results(folder.path()).unwrap_err().to_string();
    assert!(error.contains("runs/A1-1.json") && error.contains("raw/A1-1.csv.gz"), "{error}");
    assert!(error.contains("stages.") && error.contains("_us is "), "{error}");
    let error = store.cell(&fixture::scenario_cell("A", 80.0), 5).unwrap_err().to_string();
    assert!(error.contains("raw/A1-1.csv.gz"), "going on with --resume: {error}");
}

#[test]
fn a_run_that_was_measured_again_makes_the_old_results_an_error() {
    let (folder, store) = folder();
    write(&store, 20_000);
    let error = Store::results(folder.path()).unwrap_err().to_string();
    assert!(error.contains("t2o.json") && error.contains("cell A1"), "{error}");
    assert!(error.contains("_us"), "{error}");
}

#[test]
fn a_run_that_is_left_out_or_gone_is_an_error() {
    let (folder, _) = folder();
    let run = folder.path().join("runs/A1-1.json");
    fs::copy(&run, folder.path().join("runs/A1-2.json")).unwrap();
    assert!(Store::results(folder.path()).unwrap_err().to_string().contains("run 2"));
    fs::remove_file(folder.path().join("runs/A1-2.json")).unwrap();
    fs::remove_file(run).unwrap();
    assert!(Store::results(folder.path()).unwrap_err().to_string().contains("no run 1"));
}

#[test]
fn results_of_another_form_are_named_as_such() {
    let (folder, _) = folder();
    let path = folder.path().join("t2o.json");
    let text = fs::read_to_string(&path).unwrap().replacen("\"format\": 3", "\"format\": 1", 1);
    fs::write(&path, text).unwrap();
    let error = Store::results(folder.path()).unwrap_err();
    assert!(matches!(error, T2oError::OtherFormat { found: 1, .. }), "{error}");
}

#[test]
fn results_of_the_format_before_slices_are_read() {
    let kept = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../results/quick-2vcpu-2026-11-22");
    let results = Store::results(&kept).unwrap().results;
    assert_eq!((results.format, results.cells.len()), (2, 66));
    assert!(results.cells.iter().all(|cell| cell.slices.is_none()) && results.faults.is_empty());
    let verdicts = crate::t2o::judge(&results);
    assert!(verdicts.len() > 10 && verdicts.iter().all(|verdict| verdict.raw.is_empty()));
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(crate::t2o::report::write(&results, folder.path()).unwrap().len(), 4);
}
