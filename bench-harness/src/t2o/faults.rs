//! The doctor's findings, dearest first.

use std::collections::BTreeMap;

use pinning::{Check, Status};

use super::result::Fault;

/// The checks that failed or warn, each once.
pub(crate) fn of<'a>(checks: impl Iterator<Item = &'a Check>) -> Vec<Fault> {
    checks.filter_map(fault).collect()
}

fn fault(check: &Check) -> Option<Fault> {
    matches!(check.status, Status::Fail | Status::Warn).then(|| Fault {
        id: check.id.clone(),
        fail: check.status == Status::Fail,
        found: check.found.clone(),
        cost: check.cost.clone(),
        fix: check.fix.clone(),
    })
}

/// Those of several groups' plans, and of an earlier session: each once, as a failure where any is one, failures first and
/// then the dearest.
pub(crate) fn ranked(all: impl Iterator<Item = Fault>) -> Vec<Fault> {
    let mut first: BTreeMap<String, (usize, Fault)> = BTreeMap::new();
    for (place, fault) in all.enumerate() {
        let known = first.entry(fault.id.clone()).or_insert_with(|| (place, fault.clone()));
        if fault.fail && !known.1.fail {
            known.1 = fault;
        }
    }
    let mut ranked: Vec<(usize, Fault)> = first.into_values().collect();
    ranked.sort_by_key(|(place, fault)| (!fault.fail, pinning::rank(&fault.id), *place));
    ranked.into_iter().map(|(_, fault)| fault).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_come_first_and_then_the_dearest() {
        let fault = |id: &str, fail| Fault {
            id: id.to_owned(),
            fail,
            found: String::new(),
            cost: String::new(),
            fix: String::new(),
        };
        let all = [
            fault("limit-nice", false),
            fault("cpu-mitigations", false),
            fault("cpu-load", false),
            fault("memory-huge-2m", true),
            fault("limit-nice", false),
            fault("cpu-mitigations", true),
        ];
        let ids: Vec<String> = ranked(all.into_iter()).into_iter().map(|fault| fault.id).collect();
        assert_eq!(ids, ["cpu-mitigations", "memory-huge-2m", "cpu-load", "limit-nice"]);
    }
}
