//! What no compiler checks: who may use whom, where `unsafe` may stand, which door atomics go through.
//!
//! Each test says how much it looked at, and fails when that was nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use cargo_metadata::{DependencyKind, MetadataCommand};

/// Who may use whom, of our own crates. The table in ARCHITECTURE.md says why.
const EDGES: &[(&str, &[&str])] = &[
    ("wire-derive", &[]),
    ("wire", &["wire-derive"]),
    ("accounts", &["wire"]),
    ("journal", &[]),
    ("pinning", &[]),
    ("settings", &[]),
    ("topology", &["pinning", "settings", "wire"]),
    ("node", &["journal", "pinning", "topology", "wire"]),
    ("master", &["journal", "node", "pinning", "topology", "wire"]),
    ("builtin-strategies", &["node", "strategy-sdk"]),
    ("backtest", &["journal", "master", "node", "observe", "plugin", "topology", "wire"]),
    ("plugin", &["journal", "node", "wire"]),
    ("plugged", &["strategy-sdk"]),
    ("scripted", &["strategy-sdk"]),
    ("md", &["node", "recorder", "settings", "topology", "wire"]),
    ("td", &["accounts", "node", "topology", "wire"]),
    ("matching", &["node", "pinning", "topology", "wire"]),
    ("venue", &["matching", "node", "wire"]),
    ("venue-fix", &["fix-codec", "venue", "wire"]),
    ("matching-c", &["matching", "wire"]),
    ("golden", &[]),
    ("xtask", &["golden", "journal", "node", "topology", "wire"]),
    ("colo-c", &["journal", "node", "strategy-sdk", "wire"]),
    ("colo-python", &["journal", "node", "strategy-sdk", "wire"]),
    ("bindings-conformance", &["journal", "node"]),
    ("ledger", &["accounts", "node", "topology", "wire"]),
    ("recorder", &["journal", "node", "topology", "wire"]),
    ("replay", &["journal", "ledger", "node", "recorder", "topology", "wire"]),
    ("outcome", &["accounts", "journal", "ledger", "node", "observe", "topology", "wire"]),
    ("sweep", &["node", "outcome", "settings", "topology"]),
    ("strategy-sdk", &["node", "plugin", "recorder", "topology", "wire"]),
    ("strategy-testing", &["matching", "md", "recorder", "strategy-sdk", "wire"]),
    (
        "cuts",
        &[
            "accounts", "gateway", "journal", "ledger", "master", "matching", "md", "node", "td", "topology",
            "venue", "wire",
        ],
    ),
    ("gateway-tokens", &[]),
    ("fix-codec", &[]),
    (
        "gateway",
        &[
            "accounts",
            "bench-kit",
            "fix-codec",
            "gateway-tokens",
            "journal",
            "node",
            "observe",
            "topology",
            "wire",
        ],
    ),
    ("observe", &["journal", "node", "pinning", "topology", "wire"]),
    ("master-client", &["journal", "node", "observe", "topology", "wire"]),
    ("bench-kit", &[]),
    (
        "bench-harness",
        &[
            "accounts",
            "bench-kit",
            "journal",
            "master-client",
            "matching",
            "node",
            "observe",
            "pinning",
            "recorder",
            "settings",
            "td",
            "topology",
            "wire",
        ],
    ),
    (
        "colo",
        &[
            "accounts",
            "backtest",
            "builtin-strategies",
            "bench-harness",
            "bench-kit",
            "gateway-tokens",
            "journal",
            "ledger",
            "master",
            "master-client",
            "matching",
            "md",
            "node",
            "observe",
            "pinning",
            "recorder",
            "replay",
            "outcome",
            "settings",
            "strategy-sdk",
            "sweep",
            "td",
            "topology",
            "venue",
            "wire",
        ],
    ),
];

/// Crates that may hold `unsafe`.
/// `plugged` and `scripted` have none but the attribute of the symbol that a plug-in exports.
const UNSAFE: &[&str] =
    &["colo-c", "colo-python", "journal", "matching-c", "pinning", "plugged", "plugin", "scripted"];

/// Crates of which no two modules need each other.
const WITHOUT_CIRCLES: &[&str] = &["master-client", "node", "observe"];

/// Where a crate lies.
fn folder(name: &str) -> PathBuf {
    root().join(match name {
        "colo" => "cli",
        "wire-derive" => "wire/derive",
        "bench-kit" => "bench-harness/kit",
        "master-client" => "master/client",
        "builtin-strategies" => "strategy-sdk/builtin",
        "plugged" => "strategy-sdk/examples/plugged",
        "scripted" => "strategy-sdk/examples/scripted",
        "strategy-testing" => "strategy-sdk/testing",
        "matching-c" => "bindings/matching-c",
        "colo-c" => "bindings/c",
        "colo-python" => "bindings/python",
        "bindings-conformance" => "bindings/conformance",
        "gateway-tokens" => "gateway/tokens",
        "fix-codec" => "gateway/fixcodec",
        "venue-fix" => "venue/fix",
        name => name,
    })
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace's root").to_owned()
}

/// All Rust files below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

#[test]
fn crates_use_only_those_that_they_may() {
    let metadata = MetadataCommand::new()
        .manifest_path(root().join("Cargo.toml"))
        .no_deps()
        .exec()
        .expect("cargo metadata");
    let allowed: BTreeMap<&str, &[&str]> = EDGES.iter().copied().collect();
    let mut looked_at = 0;
    for package in &metadata.packages {
        let name = package.name.as_str();
        let may_use =
            allowed.get(name).unwrap_or_else(|| panic!("crate `{name}` is not in the table of edges"));
        let ours = package
            .dependencies
            .iter()
            .filter(|dependency| dependency.kind == DependencyKind::Normal && dependency.path.is_some());
        for dependency in ours {
            looked_at += 1;
            assert!(
                may_use.contains(&dependency.name.as_str()),
                "`{name}` may not use `{}`: if it needs its data, that is a journal in the topology",
                dependency.name
            );
        }
    }
    assert_eq!(metadata.packages.len(), EDGES.len(), "the table of edges lists crates that are not there");
    println!("{looked_at} edges between {} crates", metadata.packages.len());
    assert!(looked_at > 0);
}

/// The modules of a crate, each with those that it names in its code.
fn modules(source: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let mut modules: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for path in sources(source) {
        let inside = path.strip_prefix(source).expect("below the crate");
        let name = inside.iter().next().expect("a file").to_string_lossy();
        let name = name.trim_end_matches(".rs");
        if matches!(name, "lib" | "main") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("readable");
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let named = code.split("crate::").skip(1).map(|rest| {
            rest.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect::<String>()
        });
        modules.entry(name.to_owned()).or_default().extend(named.filter(|other| other != name));
    }
    modules
}

#[test]
fn no_two_modules_of_these_crates_need_each_other() {
    for name in WITHOUT_CIRCLES {
        let mut left = modules(&folder(name).join("src"));
        let all = left.len();
        assert!(all > 1, "`{name}` has no modules");
        // Who needs nobody that is left goes; who is in a circle, or needs one that is, stays.
        loop {
            let names: BTreeSet<String> = left.keys().cloned().collect();
            let before = left.len();
            left.retain(|_, needs| needs.iter().any(|other| names.contains(other)));
            if left.len() == before {
                break;
            }
        }
        assert!(left.is_empty(), "modules of `{name}` need each other: {left:?}");
        println!("{all} modules of `{name}`");
    }
}

#[test]
fn only_the_crates_that_must_may_hold_unsafe_code() {
    let mut looked_at = 0;
    for (name, _) in EDGES.iter().filter(|(name, _)| !UNSAFE.contains(name)) {
        let source = folder(name).join("src");
        let top = ["lib.rs", "main.rs"].iter().map(|file| source.join(file)).find(|path| path.exists());
        let text = fs::read_to_string(top.expect("a crate has a lib.rs or main.rs")).expect("readable");
        assert!(text.contains("#![forbid(unsafe_code)]"), "`{name}` does not forbid unsafe code");
        looked_at += 1;
    }
    println!("{looked_at} crates forbid unsafe code");
    assert!(looked_at > 0);
}

#[test]
fn every_unsafe_block_says_why_it_is_sound() {
    let mut looked_at = 0;
    for name in UNSAFE {
        for path in sources(&folder(name).join("src")) {
            let text = fs::read_to_string(&path).expect("readable");
            let lines: Vec<&str> = text.lines().collect();
            for (index, line) in lines.iter().enumerate() {
                let code = line.trim_start();
                if code.starts_with("//") || !(code.contains("unsafe {") || code.starts_with("unsafe impl")) {
                    continue;
                }
                looked_at += 1;
                let before = &lines[index.saturating_sub(12)..index];
                assert!(
                    before.iter().any(|line| line.contains("SAFETY")),
                    "{}:{} has no SAFETY comment",
                    path.display(),
                    index + 1
                );
            }
        }
    }
    println!("{looked_at} unsafe blocks");
    assert!(looked_at > 0);
}

#[test]
fn atomics_of_the_journal_go_through_one_door() {
    let mut looked_at = 0;
    for path in sources(&root().join("journal/src")) {
        looked_at += 1;
        if path.ends_with("src/sync.rs") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("readable");
        let named = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        assert!(
            !named
                .clone()
                .any(|line| line.contains("std::sync::atomic") || line.contains("core::sync::atomic")),
            "{} names std's atomics: use crate::sync",
            path.display()
        );
    }
    println!("{looked_at} files");
    assert!(looked_at > 0);
}

#[test]
fn orderings_are_named_at_both_ends() {
    // Every name in the table of `sync` is used by at least one other file, and no file uses a name that is not there.
    let door = fs::read_to_string(root().join("journal/src/sync.rs")).expect("readable");
    let known: Vec<&str> =
        door.lines().filter_map(|line| line.strip_prefix("//! | `SYNC: ")?.split('`').next()).collect();
    let mut used: BTreeMap<String, usize> = BTreeMap::new();
    for path in sources(&root().join("journal/src")) {
        if path.ends_with("src/sync.rs") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("readable");
        for (index, _) in text.match_indices("SYNC: ") {
            let name: String = text[index + 6..]
                .chars()
                .take_while(|letter| letter.is_alphanumeric() || *letter == '-')
                .collect();
            assert!(known.contains(&name.as_str()), "{} names an unknown pair `{name}`", path.display());
            *used.entry(name).or_default() += 1;
        }
    }
    for name in &known {
        assert!(used.contains_key(*name), "the pair `{name}` is used nowhere");
    }
    println!("{} pairs", known.len());
    assert!(!known.is_empty());
}
