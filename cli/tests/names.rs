//! Names that a platform file may use are names that the program takes: what `colo check` lets through, `colo up` does
//! not refuse.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot go on fails")]

use journal::JournalShape;
use node::InstanceDir;

/// Each printable character at the start, inside and at the end, and each length.
fn names() -> Vec<String> {
    let around =
        (' '..='~').flat_map(|c| [format!("{c}"), format!("{c}a"), format!("a{c}b"), format!("a{c}")]);
    around.chain((1..=70).map(|length| "x".repeat(length))).collect()
}

fn topology(set: String) -> Option<topology::Topology> {
    let text = "[md]\nsource = \"sim\"\n[strategies]\ncount = 1\n[[service]]\nname = \"extra\"\nprogram = \"x\"\n\
                [[service.writes]]\njournal = \"extra.out\"\n";
    topology::parse("names.toml", text, &[set]).ok().map(|platform| platform.topology)
}

/// TOML's own quotes, so that no character of a name is taken for syntax.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
}

#[test]
fn an_instance_that_passes_the_check_can_be_made_and_no_other() {
    let mut good = 0;
    for name in names() {
        let checked = topology(format!("platform.instance={}", quoted(&name)));
        let taken = InstanceDir::new(&name).is_some();
        // A folder may start with a dash; a name that looks like an option is refused earlier.
        let is_option = name.starts_with(['-', '_']);
        assert_eq!(checked.is_some(), taken && !is_option, "{name:?}");
        good += usize::from(taken);
    }
    println!("{good} names of instances are good");
    assert!(good > 60);
}

#[test]
fn every_journal_of_a_checked_platform_can_be_made() {
    let mut journals = 0;
    for name in names() {
        for key in ["strategies.name", "strategies.host.name", "service.extra.name"] {
            let Some(topology) = topology(format!("{key}={}", quoted(&name))) else { continue };
            for spec in &topology.journals {
                let shape = JournalShape {
                    id: spec.id,
                    name: spec.name.clone(),
                    capacity: spec.capacity_bytes,
                    seats: 64,
                    topics: spec.topics,
                    page: 4096,
                };
                assert_eq!(shape.problem(), None, "{key} = {name:?}: {}", spec.name);
                journals += 1;
            }
        }
    }
    println!("{journals} journals can be made");
    assert!(journals > 1_000);
}
