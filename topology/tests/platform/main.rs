//! What comes of files that are right.

mod documents;
mod gateway;
mod journals;
mod markets;
mod nodes;
mod recorders;
mod services;

use std::path::{Path, PathBuf};

use topology::Platform;
use topology::config::OnDeath;

fn configs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../configs")
}

fn parse(text: &str, sets: &[&str]) -> Platform {
    let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
    topology::parse("test.toml", text, &sets).unwrap_or_else(|wrong| panic!("{wrong}"))
}

fn demo(sets: &[&str]) -> Platform {
    parse(topology::DEMO, sets)
}

const MINIMAL: &str = "[md]\n[strategies]\n";

fn on_death(platform: &Platform, journal: &str, node: &str) -> OnDeath {
    let journal = platform.topology.journal(journal).unwrap();
    journal.readers.iter().find(|reader| reader.node == node).unwrap().on_death
}
