//! The steps from rules to placements.

use std::collections::{BTreeMap, BTreeSet};

use super::rule::{self, Effective};
use super::{NodeRequest, OnSmallHost, Plan, auto, check, remap, spread};
use crate::cpuset::CpuSet;
use crate::doctor::check_ids;
use crate::host::Host;
use crate::placement::{Placement, Reason, ResolvedPlan};
use crate::problem::{PlanProblem, PlanWarning};

/// A node that is being placed.
pub(super) struct Draft<'a> {
    pub(super) request: &'a NodeRequest,
    pub(super) rule: Effective,
    /// CPUs that its rule gives it on this host; `None` when no rule does.
    pub(super) candidates: Option<CpuSet>,
    /// The CPUs chosen so far.
    pub(super) cpus: CpuSet,
    pub(super) memory_node: Option<usize>,
    pub(super) reasons: Vec<Reason>,
}

impl Draft<'_> {
    pub(super) fn is_exclusive(&self) -> bool {
        self.rule.exclusive.as_ref().is_some_and(|exclusive| exclusive.value)
    }

    pub(super) fn keeps_siblings_empty(&self) -> bool {
        self.rule.no_smt_sibling.as_ref().is_some_and(|empty| empty.value)
    }

    pub(super) fn place(&mut self, cpus: CpuSet, origin: &str, why: String) {
        self.reasons.push(Reason {
            key: "cpus".to_owned(),
            value: cpus.to_string(),
            origin: origin.to_owned(),
            why,
        });
        self.cpus = cpus;
    }
}

impl Plan {
    /// Places every node of `requests` on `host`.
    ///
    /// Returns all problems at once; doubtful choices are in [`ResolvedPlan::warnings`]. The same plan, host and
    /// requests give the same result.
    ///
    /// ```
    /// use pinning::{Host, NodeRequest, Plan};
    ///
    /// let host = Host::read("/".as_ref())?;
    /// let plan: Plan = toml::from_str("nodes.md.cpu = 9000")?;
    /// let md = NodeRequest { name: "md".into(), busy: true, platform: true };
    /// let problems = plan.resolve(&host, &[md]).unwrap_err();
    /// assert!(problems[0].to_string().starts_with("pin.nodes.md.cpu names CPU 9000"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn resolve(&self, host: &Host, requests: &[NodeRequest]) -> Result<ResolvedPlan, Vec<PlanProblem>> {
        let mut problems = self.problems_without_host();
        let mut warnings = self.unused_rules(requests);
        let mut seen = BTreeSet::new();
        for request in requests {
            if !seen.insert(&request.name) {
                problems.push(PlanProblem::SameName { node: request.name.clone() });
            }
        }
        let mut drafts: Vec<Draft<'_>> = requests
            .iter()
            .map(|request| Draft {
                request,
                rule: rule::effective(&self.nodes, &request.name, &mut problems),
                candidates: None,
                cpus: CpuSet::new(),
                memory_node: None,
                reasons: Vec::new(),
            })
            .collect();
        problems = unique(problems);

        let remapped = match self.on_small_host {
            OnSmallHost::Remap => remap::table(host, &drafts),
            OnSmallHost::Refuse => {
                problems.extend(missing_cpus(host, &drafts));
                BTreeMap::new()
            }
        };
        let may_bend = self.on_small_host == OnSmallHost::Remap;
        for draft in &mut drafts {
            choose_memory(host, draft, may_bend, &mut problems, &mut warnings);
            choose_candidates(host, draft, &remapped, &mut problems);
        }
        // Later steps would only repeat the errors of the input.
        if !problems.is_empty() {
            return Err(unique(problems));
        }

        spread::deal(host, &mut drafts);
        let is_short = match self.auto {
            Some(kind) => auto::place(kind, host, &mut drafts, may_bend, &mut problems),
            None => false,
        };
        spread::float_the_rest(host, &mut drafts);

        let placements: Vec<Placement> = drafts.into_iter().map(finish).collect();
        let found = check::run(host, &placements);
        warnings.extend(
            remapped
                .iter()
                .filter(|(planned, used)| planned != used)
                .map(|(&planned, &used)| PlanWarning::Remapped { planned, used }),
        );
        if !remapped.is_empty() || is_short {
            let broken = found
                .problems
                .iter()
                .map(|problem| PlanWarning::PromiseBroken { promise: problem.to_string() });
            warnings.extend(broken);
        } else {
            problems.extend(found.problems);
        }
        warnings.extend(found.warnings);
        if !problems.is_empty() {
            return Err(unique(problems));
        }
        Ok(ResolvedPlan { placements, warnings: unique(warnings), remapped, required: self.required.clone() })
    }

    fn problems_without_host(&self) -> Vec<PlanProblem> {
        let known = check_ids();
        let unknown = self.required.iter().filter(|id| !known.contains(&id.as_str()));
        let unknown = unknown.map(|id| PlanProblem::UnknownCheck { id: id.clone() });
        unknown.chain(self.nodes.iter().flat_map(|(pattern, rule)| rule.problems(pattern))).collect()
    }

    /// A rule that fits no node is not an error: one plan serves several platforms.
    fn unused_rules(&self, requests: &[NodeRequest]) -> Vec<PlanWarning> {
        let is_unused =
            |pattern: &&String| !requests.iter().any(|request| rule::fits(pattern, &request.name));
        let hint = |pattern: &String| {
            requests.iter().map(|request| &request.name).find_map(|name| {
                let rest = name.strip_prefix(pattern.trim_end_matches(['*', '?']))?;
                let is_family = rest.starts_with('-') && !pattern.is_empty();
                is_family.then(|| format!("{}-*", pattern.trim_end_matches(['*', '?'])))
            })
        };
        let warning =
            |pattern: &String| PlanWarning::UnusedRule { pattern: pattern.clone(), hint: hint(pattern) };
        self.nodes.keys().filter(is_unused).map(warning).collect()
    }
}

/// CPUs that the rules name and the host lacks, one problem per rule and cause.
fn missing_cpus(host: &Host, drafts: &[Draft<'_>]) -> Vec<PlanProblem> {
    let mut problems = Vec::new();
    for cpus in drafts.iter().filter_map(|draft| draft.rule.cpus.as_ref()) {
        let origin = cpus.origin.clone();
        let known = host.online.union(&host.offline);
        let missing = cpus.value.difference(&known);
        if !missing.is_empty() {
            let online = host.online.clone();
            problems.push(PlanProblem::CpuMissing { origin: origin.clone(), cpus: missing, online });
        }
        let offline = cpus.value.intersection(&host.offline);
        if !offline.is_empty() {
            problems.push(PlanProblem::CpuOffline { origin: origin.clone(), cpus: offline });
        }
        let forbidden = cpus.value.intersection(&host.online).difference(&host.allowed);
        if !forbidden.is_empty() {
            problems.push(PlanProblem::CpuNotAllowed {
                origin,
                cpus: forbidden,
                allowed: host.allowed.clone(),
            });
        }
    }
    problems
}

fn choose_memory(
    host: &Host,
    draft: &mut Draft<'_>,
    may_bend: bool,
    problems: &mut Vec<PlanProblem>,
    warnings: &mut Vec<PlanWarning>,
) {
    let Some(numa) = &draft.rule.numa else { return };
    let (origin, id) = (numa.origin.clone(), numa.value);
    match host.node(id) {
        Some(node) if node.has_memory() => {
            draft.memory_node = Some(id);
            let why = "memory of that node only; the rule says so".to_owned();
            draft.reasons.push(Reason { key: "numa".to_owned(), value: id.to_string(), origin, why });
        }
        _ if may_bend => {
            warnings.push(PlanWarning::NumaDropped { origin, numa: id });
            draft.rule.numa = None;
        }
        Some(_) => problems.push(PlanProblem::NumaWithoutMemory { origin, numa: id }),
        None => {
            let nodes = host.nodes.iter().map(|node| node.id).collect();
            problems.push(PlanProblem::NumaMissing { origin, numa: id, nodes });
        }
    }
}

/// The CPUs of the rule, mapped to this host, on the NUMA node of the rule, one thread per core if the rule says so.
fn choose_candidates(
    host: &Host,
    draft: &mut Draft<'_>,
    remapped: &BTreeMap<usize, usize>,
    problems: &mut Vec<PlanProblem>,
) {
    let mapped =
        |cpus: &CpuSet| cpus.iter().map(|cpu| remapped.get(&cpu).copied().unwrap_or(cpu)).collect::<CpuSet>();
    let of_rule = draft.rule.cpus.as_ref().map(|cpus| mapped(&cpus.value));
    let of_numa = draft.rule.numa.as_ref().and_then(|numa| {
        let cpus = host.node(numa.value)?.cpus.intersection(&host.allowed);
        Some((numa, cpus))
    });
    let mut candidates = match (of_rule, of_numa) {
        (None, None) => return,
        (Some(cpus), None) => cpus,
        (cpus, Some((numa, numa_cpus))) => {
            let cpus = cpus.unwrap_or_else(|| host.allowed.clone());
            let both = cpus.intersection(&numa_cpus);
            if both.is_empty() && remapped.is_empty() {
                problems.push(PlanProblem::NumaWithoutCpu {
                    origin: numa.origin.clone(),
                    node: draft.request.name.clone(),
                    numa: numa.value,
                    cpus: cpus.clone(),
                    numa_cpus,
                });
            }
            if both.is_empty() { cpus } else { both }
        }
    };
    if draft.keeps_siblings_empty() {
        let is_first = |cpu: &usize| {
            let below = host.siblings(*cpu).intersection(&candidates).first();
            below.is_none_or(|sibling| sibling > *cpu)
        };
        candidates = candidates.iter().filter(is_first).collect();
    }
    draft.candidates = Some(candidates);
}

fn finish(draft: Draft<'_>) -> Placement {
    let exclusive = draft.is_exclusive();
    let no_smt_sibling = draft.keeps_siblings_empty();
    let mut reasons = draft.reasons;
    let mut written = |key: &str, value: String, origin: &str| {
        let why = "the rule says so".to_owned();
        reasons.push(Reason { key: key.to_owned(), value, origin: origin.to_owned(), why });
    };
    if let Some(policy) = &draft.rule.policy {
        written("policy", policy.value.to_string(), &policy.origin);
    }
    if let Some(exclusive) = &draft.rule.exclusive {
        written("exclusive", exclusive.value.to_string(), &exclusive.origin);
    }
    if let Some(empty) = &draft.rule.no_smt_sibling {
        written("no_smt_sibling", empty.value.to_string(), &empty.origin);
    }
    Placement {
        node: draft.request.name.clone(),
        busy: draft.request.busy,
        platform: draft.request.platform,
        cpus: draft.cpus,
        policy: draft.rule.policy.map(|policy| policy.value),
        memory_node: draft.memory_node,
        exclusive,
        no_smt_sibling,
        reasons,
    }
}

/// Keeps the first of each, in order: otherwise eighty nodes of one rule would repeat the same message eighty times.
fn unique<T: PartialEq>(all: Vec<T>) -> Vec<T> {
    let mut kept: Vec<T> = Vec::new();
    for one in all {
        if !kept.contains(&one) {
            kept.push(one);
        }
    }
    kept
}
