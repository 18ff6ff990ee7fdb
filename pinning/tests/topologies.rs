//! Every host in `tests/topologies`: the facts that must be read from it are in its `expected.toml`.
//!
//! A new host is a new folder with a `tree.txt` (see `support`) or with the `sys` and `proc` folders themselves.
//! Without an `expected.toml` the test fails and prints one, to be checked against the tree by hand.
#![allow(clippy::unwrap_used)] // The helpers are tests too.

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use pinning::{Check, CpuSet, Doctor, Host, Status, check_ids};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use support::Recorded;

/// The compared facts of a host.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    /// Start of the error, when the host cannot be read; nothing else is compared then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    host: Option<Digest>,
    /// Verdicts of the doctor that the tree was made for.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    doctor: BTreeMap<String, Status>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Digest {
    cpu_model: String,
    architecture: String,
    kernel: String,
    virtualised: String,
    container: String,
    clocksource: String,
    online: CpuSet,
    offline: CpuSet,
    allowed: CpuSet,
    isolated: CpuSet,
    nohz_full: CpuSet,
    rcu_nocbs: CpuSet,
    cores: Vec<CpuSet>,
    slow_cpus: CpuSet,
    packages: BTreeMap<String, CpuSet>,
    nodes: Vec<String>,
    caches: Vec<String>,
    huge_pages: Vec<String>,
    limits: String,
    memory_mib: u64,
    /// Number of facts that could not be read.
    notes: usize,
}

fn digest(host: &Host) -> Digest {
    let text = |option: &Option<String>| option.clone().unwrap_or_default();
    let pools = |pools: &[pinning::HugePages]| {
        let pool =
            |pool: &pinning::HugePages| format!("{} KiB: {}/{}", pool.size_kib, pool.available(), pool.total);
        pools.iter().map(pool).collect::<Vec<_>>()
    };
    let limits = &host.limits;
    let set = |set: &Option<CpuSet>| set.as_ref().map_or("-".to_owned(), CpuSet::to_string);
    Digest {
        cpu_model: host.cpu_model.clone(),
        architecture: host.architecture.clone(),
        kernel: host.kernel.as_ref().map(|kernel| kernel.to_string()).unwrap_or_default(),
        virtualised: text(&host.virtualised),
        container: text(&host.container),
        clocksource: text(&host.clocksource),
        online: host.online.clone(),
        offline: host.offline.clone(),
        allowed: host.allowed.clone(),
        isolated: host.isolated.clone(),
        nohz_full: host.nohz_full.clone(),
        rcu_nocbs: host.rcu_nocbs.clone(),
        cores: host.cores.iter().map(|core| core.cpus.clone()).collect(),
        slow_cpus: host
            .cpus
            .iter()
            .filter(|cpu| cpu.kind == pinning::CoreKind::Efficient)
            .map(|cpu| cpu.id)
            .collect(),
        packages: host
            .packages
            .iter()
            .map(|package| (package.id.to_string(), package.cpus.clone()))
            .collect(),
        nodes: host
            .nodes
            .iter()
            .map(|node| {
                let memory = node.memory_bytes.map_or("?".to_owned(), |bytes| (bytes >> 20).to_string());
                let distances: Vec<String> = node.distances.values().map(u32::to_string).collect();
                let huge = pools(&node.huge_pages);
                format!(
                    "{}: CPUs {}, {memory} MiB, distances {}, {}",
                    node.id,
                    node.cpus,
                    distances.join(" "),
                    huge.join(", ")
                )
            })
            .collect(),
        caches: host
            .caches
            .iter()
            .map(|cache| format!("L{} {} {}", cache.level, cache.size_kib.unwrap_or(0), cache.cpus))
            .collect(),
        huge_pages: pools(&host.huge_pages),
        limits: format!(
            "v{}, cpus {}, memory nodes {}, quota {}, throttled {}, memory {}, tasks {}",
            limits.version,
            set(&limits.cpus),
            set(&limits.memory_nodes),
            limits.cpu_quota.map_or("-".to_owned(), |quota| format!("{quota:.2}")),
            limits.throttled.map_or("-".to_owned(), |times| times.to_string()),
            limits.memory_bytes.map_or("-".to_owned(), |bytes| bytes.to_string()),
            limits.tasks.map_or("-".to_owned(), |tasks| tasks.to_string()),
        ),
        memory_mib: host.memory.total_bytes.unwrap_or(0) >> 20,
        notes: host.notes.len(),
    }
}

#[test]
fn every_recorded_host_reads_as_it_should() {
    let hosts = Recorded::all();
    assert!(hosts.len() >= 20, "only {} hosts in tests/topologies", hosts.len());
    let mut wrong = Vec::new();
    for recorded in &hosts {
        let read = Host::read(recorded.root.path());
        let checks = Doctor::run(recorded.root.path());
        sound(&recorded.name, &read, &checks);
        let found = Expected {
            error: read.as_ref().err().map(|error| error.to_string()),
            host: read.as_ref().ok().map(digest),
            doctor: checks.iter().map(|check| (check.id.clone(), check.status)).collect(),
        };
        let Ok(text) = fs::read_to_string(recorded.folder.join("expected.toml")) else {
            wrong.push(format!(
                "{}: no expected.toml; found\n{}",
                recorded.name,
                toml::to_string(&found).unwrap()
            ));
            continue;
        };
        let expected: Expected =
            toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", recorded.name));
        compare(&recorded.name, &expected, &found, &mut wrong);
        if let Ok(host) = &read
            && expected.host.as_ref().map(|digest| digest.notes) != Some(host.notes.len())
        {
            wrong.push(format!("{}: notes are {:#?}", recorded.name, host.notes));
        }
    }
    println!("{} hosts compared", hosts.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn compare(name: &str, expected: &Expected, found: &Expected, wrong: &mut Vec<String>) {
    match (&expected.error, &found.error) {
        (Some(start), Some(error)) if error.starts_with(start.as_str()) => {}
        (None, None) => {}
        (expected, found) => wrong.push(format!("{name}: error {expected:?}, found {found:?}")),
    }
    if expected.host != found.host {
        wrong.push(format!(
            "{name}: expected {:#?}\nfound {}",
            expected.host,
            toml::to_string(found).unwrap()
        ));
    }
    for (id, status) in &expected.doctor {
        if found.doctor.get(id) != Some(status) {
            wrong.push(format!("{name}: check {id} should be {status:?}, is {:?}", found.doctor.get(id)));
        }
    }
}

/// Properties that hold for every host, whatever its files contain.
fn sound(name: &str, read: &Result<Host, pinning::HostError>, checks: &[Check]) {
    let ids: Vec<&str> = checks.iter().map(|check| check.id.as_str()).collect();
    assert_eq!(ids, check_ids(), "{name}");
    for check in checks {
        assert!(!check.found.is_empty(), "{name}: {check:?}");
        assert!(check.found.len() < 2_000, "{name}: {check:?}");
        let is_bad = matches!(check.status, Status::Warn | Status::Fail);
        assert_eq!(
            is_bad,
            !check.fix.is_empty(),
            "{name}: a fix when, and only when, something is wrong: {check:?}"
        );
    }
    let Ok(host) = read else { return };
    assert!(!host.online.is_empty() && !host.allowed.is_empty(), "{name}");
    assert!(host.allowed.is_subset(&host.online) && !host.offline.overlaps(&host.online), "{name}");
    assert!(host.isolated.is_subset(&host.online) && host.nohz_full.is_subset(&host.online), "{name}");
    is_partition(name, "cores", host.cores.iter().map(|core| &core.cpus), &host.online);
    is_partition(name, "nodes", host.nodes.iter().map(|node| &node.cpus), &host.online);
    assert!(host.packages.iter().all(|package| package.cpus.is_subset(&host.online)), "{name}");
    for cpu in host.online.iter() {
        assert!(
            host.cpu(cpu).unwrap().node.is_some() && host.cache_neighbours(cpu).contains(cpu),
            "{name} {cpu}"
        );
        assert!(!host.siblings(cpu).contains(cpu), "{name} {cpu}");
    }
    let json = serde_json::to_value(host).unwrap();
    assert_eq!(json["online"], host.online.to_string());
    let summary = serde_json::to_string(&host.summary()).unwrap();
    assert_eq!(serde_json::from_str::<pinning::HostSummary>(&summary).unwrap(), host.summary());
}

fn is_partition<'a>(name: &str, what: &str, parts: impl Iterator<Item = &'a CpuSet>, whole: &CpuSet) {
    let mut seen = CpuSet::new();
    for part in parts {
        assert!(!part.overlaps(&seen), "{name}: {what} overlap at {part}");
        seen = seen.union(part);
    }
    assert_eq!(&seen, whole, "{name}: {what}");
}

/// Files of a tree, in a fixed order.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries.into_iter().flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn no_damage_to_a_tree_makes_anything_panic() {
    const PIECES: [&[u8]; 12] = [
        b"",
        b"-1\n",
        b"0-8191\n",
        b"99999999999999999999\n",
        b"9223372036854775807\n",
        b"18446744073709551615 18446744073709551615 18446744073709551615 18446744073709551615 1 1 1 1 1\n",
        b"max 0\n",
        b"5-2,,x:/\n",
        b"\xff\xfe\x00\x01",
        b"(null)\n",
        b"[always\n:::\n",
        "Größe: ∞\n".as_bytes(),
    ];
    let mut damaged = 0;
    for recorded in Recorded::all() {
        let root = recorded.root.path();
        let all = files(root);
        if all.is_empty() {
            continue;
        }
        let mut rng = ChaCha8Rng::seed_from_u64(damaged as u64);
        for round in 0..5 {
            let before: Vec<(usize, Option<Vec<u8>>)> = (0..1 + round * 6)
                .map(|_| rng.random_range(0..all.len()))
                .map(|file| (file, fs::read(&all[file]).ok()))
                .collect();
            for (file, content) in &before {
                match (rng.random_range(0..4), content) {
                    (0, _) => drop(fs::remove_file(&all[*file])),
                    (1, Some(content)) => {
                        fs::write(&all[*file], &content[..rng.random_range(0..=content.len())]).unwrap();
                    }
                    (2, Some(content)) if !content.is_empty() => {
                        let mut content = content.clone();
                        let at = rng.random_range(0..content.len());
                        content[at] = rng.random();
                        fs::write(&all[*file], content).unwrap();
                    }
                    _ => fs::write(&all[*file], PIECES[rng.random_range(0..PIECES.len())]).unwrap(),
                }
            }
            let name = format!("{} damaged, round {round}", recorded.name);
            sound(&name, &Host::read(root), &Doctor::run(root));
            damaged += before.len();
            // In reverse, so that a file that was damaged twice is restored fully.
            for (file, content) in before.into_iter().rev() {
                match content {
                    Some(content) => fs::write(&all[file], content).unwrap(),
                    None => drop(fs::remove_file(&all[file])),
                }
            }
        }
    }
    println!("{damaged} files damaged");
    assert!(damaged > 1_000);
}
