//! Is the registry of an instance what master and its nodes leave behind? Nothing is changed by looking.

use std::collections::BTreeSet;

use journal::tools::{CheckKind, Finding};
use journal::{OpenError, Registry};
use node::{InstanceDir, NodeState, Phase, read_kind_word};

use crate::view::ViewError;

const REGISTRY: CheckKind =
    CheckKind::Other { name: "registry", what: "seats hold states, kinds and names that nodes write" };

/// What [`verify_registry`] looked at, and what did not fit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegistryReport {
    /// How many single checks were made.
    pub checked: u64,
    /// What does not fit.
    pub findings: Vec<Finding>,
}

impl RegistryReport {
    fn expect(&mut self, holds: bool, found: impl FnOnce() -> String, expected: impl FnOnce() -> String) {
        self.checked += 1;
        if !holds {
            let (found, expected) = (found(), expected());
            self.findings.push(Finding { check: REGISTRY, position: None, found, expected });
        }
    }
}

/// Checks header, clock and phase of the registry, and each seat's kind, state, name, process and counters.
///
/// # Errors
/// [`ViewError::Open`] when the file is there but may not be read: then nothing was looked at. A file that is missing,
/// foreign or damaged is a finding.
pub fn verify_registry(instance: &InstanceDir) -> Result<RegistryReport, ViewError> {
    let mut report = RegistryReport::default();
    let path = instance.registry();
    let registry = match Registry::open_read_only(&path) {
        Ok(registry) => registry,
        Err(error @ OpenError::Io { .. }) if path.exists() => return Err(error.into()),
        Err(error) => {
            report.expect(false, || error.to_string(), || "the registry of this instance".to_owned());
            return Ok(report);
        }
    };
    // Opening it has compared magic, version, layout and size.
    report.checked += 4;
    let clock = registry.clock(&path);
    report.expect(clock.is_ok(), || "no clock".to_owned(), || "a clock of kind 1 or 2".to_owned());
    let phase = registry.phase();
    report.expect(
        Phase::from_word(phase).is_some(),
        || format!("phase {phase}"),
        || "0 starting, 1 running or 2 stopping".to_owned(),
    );
    let mut names = BTreeSet::new();
    for number in 0..registry.seats() {
        let Some(seat) = registry.seat(number) else { break };
        let (kind, state) = (seat.kind(), NodeState::from_word(seat.state()));
        report.expect(
            state.is_some(),
            || format!("state {} in seat {number}", seat.state()),
            || "a state from 0 to 7".to_owned(),
        );
        if kind == 0 {
            continue;
        }
        report.expect(
            read_kind_word(kind).is_some(),
            || format!("{kind:#x} as kind and wait mode of seat {number}"),
            || "a kind and a wait mode of this version".to_owned(),
        );
        let name = registry.name(number);
        report.expect(
            !name.is_empty() && names.insert(name.clone()),
            || format!("the name `{name}` in seat {number}"),
            || "a name that no other seat has".to_owned(),
        );
        let sat = !matches!(state, None | Some(NodeState::Empty | NodeState::Starting));
        report.expect(
            !sat || seat.process().pid != 0,
            || format!("no process in seat {number}, though its node has run"),
            || "a process id".to_owned(),
        );
    }
    Ok(report)
}
