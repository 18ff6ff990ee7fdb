//! `colo doctor` and `colo tune`, as a user runs them, on recorded hosts.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

#[allow(dead_code)] // The other tests of recorded hosts use the rest.
#[path = "../../pinning/tests/support/mod.rs"]
mod support;

fn colo(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_colo")).args(arguments).output().expect("colo runs")
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!("{error}: {output:?}");
    })
}

/// A recorded host, unpacked.
fn host(name: &str) -> tempfile::TempDir {
    let tree = Path::new(env!("CARGO_MANIFEST_DIR")).join("../pinning/tests/topologies").join(name);
    let root = tempfile::tempdir().expect("a folder");
    support::unpack(&fs::read_to_string(tree.join("tree.txt")).expect("a tree"), root.path());
    root
}

/// A platform file with this `[pin]`.
fn platform(folder: &Path, pin: &str) -> PathBuf {
    let file = folder.join("platform.toml");
    fs::write(&file, format!("[md]\n[strategies]\ncount = 2\n[pin]\n{pin}\n")).expect("written");
    file
}

#[test]
fn the_doctor_answers_every_check_of_the_running_host() {
    let output = colo(&["doctor", "--format", "json"]);
    assert_eq!(output.status.code(), Some(0));
    let answer = json(&output);
    let checks = answer["checks"].as_array().expect("checks");
    assert!(checks.len() >= 30);
    for check in checks {
        for key in ["id", "group", "status", "found", "wanted", "cost", "fix"] {
            assert!(check[key].is_string(), "{check}");
        }
        let status = check["status"].as_str().expect("a status");
        assert!(["ok", "warn", "fail", "skip"].contains(&status), "{check}");
    }
    assert!(answer["host"]["cpus"].as_u64().is_some_and(|cpus| cpus > 0));
    let text = String::from_utf8(colo(&["doctor"]).stdout).expect("text");
    assert!(text.contains(&format!("{} checks:", checks.len())), "{text}");
}

#[test]
fn a_required_check_that_fails_is_exit_3() {
    let host = host("container-v1");
    let root = host.path().to_str().expect("a path");
    let with = |pin: &str| {
        let file = platform(host.path(), pin);
        colo(&["doctor", file.to_str().expect("a path"), "--root", root, "--format", "json"])
    };
    let pin =
        |required: &str| format!("required = [{required}]\nnodes.md = {{ cpu = 2, policy = \"fifo:50\" }}");
    let failed = with(&pin("\"limit-rtprio\", \"cpu-governor\""));
    assert_eq!(failed.status.code(), Some(3), "{failed:?}");
    assert_eq!(json(&failed)["unmet"], serde_json::json!(["limit-rtprio"]));
    let warned = with(&pin("\"limit-memlock\""));
    assert_eq!(warned.status.code(), Some(3), "who requires a check wants what it wants: {warned:?}");
    let held = with(&pin("\"cpu-governor\", \"cpu-offline\""));
    assert_eq!(held.status.code(), Some(0), "the host has no such thing: {held:?}");
    // A plan that does not fit is no fit host either, required checks or not.
    let far = with("nodes.md.cpu = 900");
    assert_eq!(far.status.code(), Some(3), "{far:?}");
    assert!(json(&far)["plan"]["plan_problems"][0].as_str().is_some_and(|text| text.contains("CPU 900")));
}

#[test]
fn the_topology_of_a_recorded_host_is_that_host() {
    let host = host("xeon-2s-smt");
    let root = host.path().to_str().expect("a path");
    let output = colo(&["doctor", "--topology", "--root", root, "--format", "json"]);
    let answer = json(&output);
    assert_eq!(answer["packages"].as_array().map(Vec::len), Some(2));
    let text = String::from_utf8(colo(&["doctor", "--topology", "--root", root]).stdout).expect("text");
    assert!(text.contains("2 sockets") && text.contains("core: CPUs"), "{text}");
    let empty = tempfile::tempdir().expect("a folder");
    let output = colo(&["doctor", "--topology", "--root", empty.path().to_str().expect("a path")]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no CPU found below"));
}

#[test]
fn tune_prints_makes_and_undoes_the_same_changes() {
    let host = host("isolcpus");
    let root = host.path().to_str().expect("a path");
    let interval = host.path().join("proc/sys/vm/stat_interval");
    fs::create_dir_all(interval.parent().expect("a folder")).expect("made");
    fs::write(&interval, "1\n").expect("written");
    let value = || fs::read_to_string(&interval).expect("a value").trim().to_owned();
    let before = value();
    let dry = json(&colo(&["tune", "--dry-run", "--root", root, "--format", "json"]));
    assert_eq!(value(), before, "a dry run writes nothing");
    let changes = dry["changes"].as_array().expect("changes").len();
    assert!(changes > 0);
    let made = json(&colo(&["tune", "--apply", "--root", root, "--format", "json"]));
    assert_eq!(made["outcomes"].as_array().map(Vec::len), Some(changes));
    assert_eq!(value(), "120");
    let undone = json(&colo(&["tune", "--undo", "--root", root, "--format", "json"]));
    assert_eq!(undone["outcomes"].as_array().map(Vec::len), Some(changes));
    assert_eq!(value(), before);
    let nothing = colo(&["tune", "--undo", "--root", root]);
    assert_eq!(nothing.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&nothing.stderr).contains("nothing was applied"), "{nothing:?}");
    assert_eq!(colo(&["tune", "--root", root]).status.code(), Some(2), "an action must be named");
}

#[test]
fn a_plan_for_twelve_cores_fits_is_refused_or_is_folded_as_asked() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../configs/report-12-cores.toml");
    let on = |host: &tempfile::TempDir, verb: &str, sets: &[&str]| {
        let root = host.path().to_str().expect("a path");
        let mut arguments = vec![verb, file.to_str().expect("a path"), "--root", root, "--format", "json"];
        sets.iter().for_each(|set| arguments.extend(["--set", set]));
        colo(&arguments)
    };
    let (twelve, four) = (host("workstation-12-cores"), host("cloud-vm-4-cores"));
    let fits = on(&twelve, "explain", &[]);
    assert_eq!(fits.status.code(), Some(0), "{}", String::from_utf8_lossy(&fits.stderr));
    let answer = json(&fits);
    let on_cpu = |cpu: usize| answer["cpu_map"][cpu]["pinned"].to_string();
    assert_eq!(
        (on_cpu(0).as_str(), on_cpu(6).as_str(), on_cpu(8).as_str()),
        (r#"["master"]"#, r#"["md"]"#, r#"["td"]"#)
    );
    for placement in answer["plan"]["placements"].as_array().expect("placements") {
        assert!(placement["reasons"][0]["why"].is_string(), "each choice is explained: {placement}");
    }
    let refused = on(&four, "check", &[]);
    assert_eq!(refused.status.code(), Some(3));
    assert_eq!(json(&refused)["fit"]["fits"], false);
    assert!(json(&refused)["fit"]["plan_problems"].to_string().contains("names CPU 6"));
    let folded = on(&four, "check", &["pin.on_small_host=remap"]);
    assert_eq!(folded.status.code(), Some(0), "{}", String::from_utf8_lossy(&folded.stdout));
    assert!(json(&folded)["fit"]["plan_warnings"].to_string().contains("for a bigger host"));
    let auto = on(&twelve, "explain", &["pin.nodes={}", "pin.auto=latency"]);
    assert_eq!(auto.status.code(), Some(0), "{}", String::from_utf8_lossy(&auto.stderr));
    assert!(json(&auto)["plan"].to_string().contains("a core of its own"));
}
