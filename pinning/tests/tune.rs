//! Tuning invented hosts: what is proposed, made, and undone.
#![allow(clippy::unwrap_used)] // The helpers are tests too.

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use pinning::{Change, Outcome, Proposal, TuneError, TuneOptions, undo};
use support::{Recorded, unpack};

fn files(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            found.extend(files(&entry));
        } else {
            let text = fs::read_to_string(&entry).unwrap();
            found.push((entry, text));
        }
    }
    found.sort();
    found
}

fn propose(root: &Path, huge_pages: u64) -> Proposal {
    Proposal::new(root, TuneOptions { plan: None, huge_pages: &[(2048, huge_pages)] }).unwrap()
}

fn done(outcomes: &[Outcome]) -> Vec<&Change> {
    outcomes
        .iter()
        .map(|outcome| match outcome {
            Outcome::Done { change } => change,
            other => panic!("{other:?}"),
        })
        .collect()
}

/// A host whose files read the same after a value was changed and restored.
fn small_host() -> (tempfile::TempDir, PathBuf) {
    let root = tempfile::tempdir().unwrap();
    let text = "\
sys/devices/system/cpu/online = 0-3
sys/devices/system/cpu/isolated = 2-3
sys/devices/system/cpu/cpu[0-3]/topology/core_cpus_list = {n}
sys/devices/system/cpu/cpu[0-3]/cpufreq/scaling_governor = powersave
sys/devices/system/cpu/cpu[0-3]/cpuidle/state0/latency = 2
sys/devices/system/cpu/cpu[0-3]/cpuidle/state0/disable = 0
sys/devices/system/cpu/cpu[0-3]/cpuidle/state1/latency = 90
sys/devices/system/cpu/cpu[0-3]/cpuidle/state1/disable = 0
sys/devices/virtual/workqueue/cpumask = 0000000f
sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages = 16
sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages = 4
sys/kernel/mm/ksm/run = 1
proc/irq/default_smp_affinity = 3
proc/irq/24/smp_affinity_list = 0-3
proc/irq/25/smp_affinity_list = 0-1
proc/sys/vm/stat_interval = 1
proc/sys/kernel/watchdog = 1
";
    unpack(text, root.path());
    let record = root.path().join("record/tune.jsonl");
    (root, record)
}

#[test]
fn a_proposal_changes_nothing_and_names_each_change() {
    let (root, _) = small_host();
    let before = files(root.path());
    let proposal = propose(root.path(), 64);
    assert_eq!(files(root.path()), before);
    let mut lines: Vec<String> = proposal
        .changes
        .iter()
        .map(|c| format!("{} {}: {} -> {}", c.check, c.file, c.before, c.after))
        .collect();
    lines.sort();
    let expected = [
        "cpu-governor sys/devices/system/cpu/cpu2/cpufreq/scaling_governor: powersave -> performance",
        "cpu-governor sys/devices/system/cpu/cpu3/cpufreq/scaling_governor: powersave -> performance",
        "cpu-idle-states sys/devices/system/cpu/cpu2/cpuidle/state1/disable: 0 -> 1",
        "cpu-idle-states sys/devices/system/cpu/cpu3/cpuidle/state1/disable: 0 -> 1",
        "irq-affinity proc/irq/24/smp_affinity_list: 0-3 -> 0-1",
        "irq-workqueue sys/devices/virtual/workqueue/cpumask: 0000000f -> 3",
        "kernel-stat-interval proc/sys/vm/stat_interval: 1 -> 120",
        "memory-huge-2m sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages: 16 -> 76",
        "memory-ksm sys/kernel/mm/ksm/run: 1 -> 0",
    ];
    assert_eq!(lines, expected);
    // The watchdog is a safety net: a person must decide about it.
    assert!(
        proposal.hints.iter().any(|hint| hint.starts_with("kernel-watchdog: sudo sysctl")),
        "{:?}",
        proposal.hints
    );
    assert!(!proposal.hints.iter().any(|hint| hint.starts_with("memory-ksm")));
}

#[test]
fn undo_leaves_every_file_as_it_was() {
    let (root, record) = small_host();
    let before = files(root.path());
    let proposal = propose(root.path(), 64);
    assert_eq!(done(&proposal.apply(&record).unwrap()).len(), proposal.changes.len());
    // The kernel counts the new pages as free.
    let free = root.path().join("sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages");
    fs::write(&free, "64\n").unwrap();
    assert_eq!(propose(root.path(), 64).changes, [], "nothing is left to do");
    fs::write(&free, "4\n").unwrap();
    let back = undo(root.path(), &record).unwrap();
    assert_eq!(done(&back).len(), proposal.changes.len());
    assert!(!record.exists());
    assert_eq!(files(root.path()), before);
    assert!(matches!(undo(root.path(), &record), Err(TuneError::Nothing { .. })));
}

#[test]
fn every_recorded_host_can_be_tuned_and_put_back() {
    let mut changes = 0;
    for recorded in Recorded::all() {
        let root = recorded.root.path();
        let Ok(first) = Proposal::new(root, TuneOptions::default()) else { continue };
        let record = tempfile::tempdir().unwrap();
        let record = record.path().join("tune.jsonl");
        first.apply(&record).unwrap();
        assert_eq!(record.exists(), !first.changes.is_empty(), "{}", recorded.name);
        if record.exists() {
            undo(root, &record).unwrap();
        }
        let again = propose(root, 0);
        let values = |proposal: &Proposal| -> Vec<(String, String)> {
            proposal.changes.iter().map(|change| (change.file.clone(), change.before.clone())).collect()
        };
        assert_eq!(values(&again), values(&first), "{}", recorded.name);
        changes += first.changes.len();
    }
    assert!(changes > 50, "only {changes} changes");
}

#[test]
fn what_somebody_else_changed_is_left() {
    let (root, record) = small_host();
    propose(root.path(), 0).apply(&record).unwrap();
    fs::write(root.path().join("proc/sys/vm/stat_interval"), "30\n").unwrap();
    let outcomes = undo(root.path(), &record).unwrap();
    let left: Vec<&Outcome> =
        outcomes.iter().filter(|outcome| matches!(outcome, Outcome::Left { .. })).collect();
    assert!(matches!(left[..], [Outcome::Left { found, .. }] if found == "30"), "{left:?}");
    assert_eq!(fs::read_to_string(root.path().join("proc/sys/vm/stat_interval")).unwrap(), "30\n");
    assert!(!record.exists());
}

#[test]
fn a_second_tune_adds_to_the_record() {
    let (root, record) = small_host();
    let before = files(root.path());
    propose(root.path(), 0).apply(&record).unwrap();
    assert_eq!(done(&propose(root.path(), 32).apply(&record).unwrap()).len(), 1);
    assert_eq!(done(&propose(root.path(), 64).apply(&record).unwrap()).len(), 1);
    done(&undo(root.path(), &record).unwrap());
    assert_eq!(files(root.path()), before);
}

#[test]
fn a_death_at_any_point_can_be_undone() {
    let (root, record) = small_host();
    let before = files(root.path());
    let proposal = propose(root.path(), 64);
    for made in 0..proposal.changes.len() {
        // `made` changes were made; the next one is recorded and may, or may not, be made; the line after it was cut
        // short.
        for is_made in [false, true] {
            let mut part = proposal.clone();
            part.changes.truncate(made + usize::from(is_made));
            part.apply(&record).unwrap();
            let mut text = fs::read_to_string(&record).unwrap_or_default();
            if !is_made {
                text.push_str(&format!("{}\n", serde_json::to_string(&proposal.changes[made]).unwrap()));
            }
            fs::write(&record, format!("{text}{{\"check\":\"cut sh")).unwrap();
            done(&undo(root.path(), &record).unwrap());
            assert_eq!(files(root.path()), before, "{made} {is_made}");
        }
    }
}

#[test]
fn nothing_is_changed_that_could_not_be_undone() {
    let (root, record) = small_host();
    let before = files(root.path());
    let proposal = propose(root.path(), 64);
    // A folder where the record should be.
    fs::create_dir_all(&record).unwrap();
    assert!(matches!(proposal.apply(&record), Err(TuneError::Record { .. })));
    fs::remove_dir(&record).unwrap();
    // A record of something else.
    fs::write(&record, "not ours\n").unwrap();
    assert!(matches!(proposal.apply(&record), Err(TuneError::Garbled { line: 1, .. })));
    assert!(matches!(undo(root.path(), &record), Err(TuneError::Garbled { line: 1, .. })));
    fs::remove_file(&record).unwrap();
    // Another process holds it.
    fs::write(&record, "").unwrap();
    let held = nix::fcntl::Flock::lock(fs::File::open(&record).unwrap(), nix::fcntl::FlockArg::LockExclusive)
        .unwrap();
    assert!(matches!(proposal.apply(&record), Err(TuneError::Busy { .. })));
    drop(held);
    fs::remove_file(&record).unwrap();
    assert_eq!(files(root.path()), before);
}

#[test]
fn a_change_that_is_no_longer_possible_is_reported_and_the_others_go_on() {
    let (root, record) = small_host();
    let proposal = propose(root.path(), 0);
    fs::write(root.path().join("sys/kernel/mm/ksm/run"), "2\n").unwrap();
    fs::remove_file(root.path().join("proc/irq/24/smp_affinity_list")).unwrap();
    let outcomes = proposal.apply(&record).unwrap();
    let failed: Vec<&String> = outcomes
        .iter()
        .filter_map(|outcome| match outcome {
            Outcome::Failed { reason, .. } => Some(reason),
            _ => None,
        })
        .collect();
    assert_eq!(failed.len(), 2);
    assert_eq!(failed[0], "it was 1, and is 2 now");
    assert!(failed[1].contains("is not there"), "{failed:?}");
    assert_eq!(done(&undo(root.path(), &record).unwrap()).len(), proposal.changes.len() - 2);
    assert!(!root.path().join("proc/irq/24/smp_affinity_list").exists());
}
