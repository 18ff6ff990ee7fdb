//! Maps a plan for a bigger host to a small one.
//!
//! If the host has as many CPUs as the plan names, each CPU keeps one of its own. If it has fewer, the CPUs of the
//! platform's busy-pollers come first and get the highest numbers one each, the platform's other nodes share the lowest
//! CPU, and the strategies share what lies between:
//!
//! ```text
//! plan for 12   master 0   ledger 1   md 6   td 8   strategies 2-5,7,9-11
//! host with 4   master 0   ledger 0   md 2   td 3   strategies 1
//! host with 2   master 0   ledger 0   md 1   td 1   strategies 0
//! ```

use std::collections::BTreeMap;

use super::resolve::Draft;
use crate::cpuset::CpuSet;
use crate::host::Host;

/// Planned CPU → CPU of this host, for every CPU that the plan names. Empty when the plan fits as it is.
pub(super) fn table(host: &Host, drafts: &[Draft<'_>]) -> BTreeMap<usize, usize> {
    let named = drafts
        .iter()
        .filter_map(|draft| draft.rule.cpus.as_ref())
        .fold(CpuSet::new(), |all, cpus| all.union(&cpus.value));
    if named.is_subset(&host.allowed) {
        return BTreeMap::new();
    }
    if named.len() <= host.allowed.len() {
        return one_each(&named, &host.allowed);
    }
    let mut roles = Roles::default();
    for draft in drafts {
        let Some(cpus) = &draft.rule.cpus else { continue };
        let role = match (draft.request.platform, draft.request.busy && cpus.value.len() == 1) {
            (true, true) => &mut roles.busy,
            (true, false) => &mut roles.platform,
            (false, _) => &mut roles.strategies,
        };
        *role = role.union(&cpus.value);
    }
    roles.share(&host.allowed)
}

/// CPUs that exist here keep their number; the others take the lowest remaining numbers.
fn one_each(named: &CpuSet, allowed: &CpuSet) -> BTreeMap<usize, usize> {
    let staying = named.intersection(allowed);
    let left = allowed.difference(&staying);
    let moving = named.difference(allowed);
    staying.iter().map(|cpu| (cpu, cpu)).chain(moving.iter().zip(left.iter())).collect()
}

/// The roles of the planned CPUs. A CPU of several roles counts to the first.
#[derive(Default)]
struct Roles {
    busy: CpuSet,
    platform: CpuSet,
    strategies: CpuSet,
}

impl Roles {
    fn share(mut self, allowed: &CpuSet) -> BTreeMap<usize, usize> {
        self.platform = self.platform.difference(&self.busy);
        self.strategies = self.strategies.difference(&self.busy).difference(&self.platform);
        let mut free: Vec<usize> = allowed.iter().collect();

        let others = usize::from(!self.platform.is_empty()) + usize::from(!self.strategies.is_empty());
        let kept = others.min(free.len().saturating_sub(1));
        let for_busy = if self.busy.is_empty() { 0 } else { self.busy.len().min(free.len() - kept) };
        let top = free.split_off(free.len() - for_busy);
        // Nothing is left below when the host has one CPU: all nodes share it.
        let rest = if free.is_empty() { top.clone() } else { free };
        let (low, middle) = match (self.platform.is_empty(), rest.len()) {
            (true, _) | (false, 1) => (&rest[..], &rest[..]),
            (false, _) => rest.split_at(1),
        };

        let mut table = BTreeMap::new();
        for (planned, used) in [(&self.busy, &top[..]), (&self.platform, low), (&self.strategies, middle)] {
            table.extend(planned.iter().zip(used.iter().copied().cycle()));
        }
        table
    }
}
