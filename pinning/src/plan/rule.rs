//! Rules by node name, and their effect on one node.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Spread;
use crate::cpuset::CpuSet;
use crate::policy::Policy;
use crate::problem::PlanProblem;

/// The rule for the nodes that one name or pattern matches. Every key is optional.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NodeRule {
    /// The one CPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<usize>,
    /// Several CPUs: `"2-5,7"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpus: Option<CpuSet>,
    /// How the nodes of this rule share `cpus`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spread: Option<Spread>,
    /// No other node of the platform may be placed on its CPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exclusive: Option<bool>,
    /// One hardware thread per core is used, and the others of that core stay empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_smt_sibling: Option<bool>,
    /// CPUs of this NUMA node only, and memory from it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub numa: Option<usize>,
    /// Scheduling policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<Policy>,
}

/// A value and the key of the TOML that it was written under.
#[derive(Clone, Debug)]
pub(super) struct Sourced<T> {
    pub(super) value: T,
    pub(super) pattern: String,
    pub(super) origin: String,
}

/// The keys that apply to one node.
#[derive(Clone, Debug, Default)]
pub(super) struct Effective {
    pub(super) cpus: Option<Sourced<CpuSet>>,
    pub(super) spread: Option<Sourced<Spread>>,
    pub(super) exclusive: Option<Sourced<bool>>,
    pub(super) no_smt_sibling: Option<Sourced<bool>>,
    pub(super) numa: Option<Sourced<usize>>,
    pub(super) policy: Option<Sourced<Policy>>,
}

impl NodeRule {
    /// `cpu` and `cpus` as one set, with the key that was used.
    fn cpu_set(&self) -> Option<(CpuSet, &'static str)> {
        let single = self.cpu.map(|cpu| (CpuSet::single(cpu), "cpu"));
        single.or_else(|| self.cpus.clone().map(|cpus| (cpus, "cpus")))
    }

    /// Problems of the rule that do not depend on the host.
    pub(super) fn problems(&self, pattern: &str) -> Vec<PlanProblem> {
        let origin = |key| origin(pattern, key);
        let mut problems = Vec::new();
        if self.cpu.is_some() && self.cpus.is_some() {
            problems.push(PlanProblem::CpuAndCpus { origin: origin("cpu") });
        }
        if self.cpus.as_ref().is_some_and(CpuSet::is_empty) {
            problems.push(PlanProblem::NoCpu { origin: origin("cpus") });
        }
        if self.spread.is_some_and(|spread| spread != Spread::Float) && self.cpu.is_some() {
            problems.push(PlanProblem::SpreadOfOne { origin: origin("spread") });
        }
        problems
    }
}

/// `pin.nodes."strategy-*".cpus`
pub(super) fn origin(pattern: &str, key: &str) -> String {
    let is_bare = pattern.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    if is_bare { format!("pin.nodes.{pattern}.{key}") } else { format!("pin.nodes.\"{pattern}\".{key}") }
}

/// Whether `pattern` matches `name`: `*` stands for any text, `?` for any one character.
pub(super) fn fits(pattern: &str, name: &str) -> bool {
    let mut letters = pattern.chars();
    match letters.next() {
        None => name.is_empty(),
        Some('*') => {
            let rest = letters.as_str();
            name.char_indices().map(|(at, _)| at).chain([name.len()]).any(|at| fits(rest, &name[at..]))
        }
        Some(letter) => {
            let mut of_name = name.chars();
            of_name.next().is_some_and(|other| letter == '?' || letter == other)
                && fits(letters.as_str(), of_name.as_str())
        }
    }
}

/// How specific a matching pattern is: an exact name first, then the number of literal characters.
fn closeness(pattern: &str) -> (bool, usize) {
    let is_exact = !pattern.contains(['*', '?']);
    (is_exact, pattern.chars().filter(|letter| !['*', '?'].contains(letter)).count())
}

/// For each key the value of the most specific rule that matches `name` and has the key.
pub(super) fn effective(
    rules: &BTreeMap<String, NodeRule>,
    name: &str,
    problems: &mut Vec<PlanProblem>,
) -> Effective {
    let mut fitting: Vec<(&String, &NodeRule)> =
        rules.iter().filter(|(pattern, _)| fits(pattern, name)).collect();
    fitting.sort_by_key(|(pattern, _)| std::cmp::Reverse(closeness(pattern)));

    let mut pick = Pick { fitting: &fitting, name, problems };
    Effective {
        cpus: pick.key("cpus", NodeRule::cpu_set).map(|found| Sourced {
            origin: origin(&found.pattern, found.value.1),
            value: found.value.0,
            pattern: found.pattern,
        }),
        spread: pick.key("spread", |rule| rule.spread),
        exclusive: pick.key("exclusive", |rule| rule.exclusive),
        no_smt_sibling: pick.key("no_smt_sibling", |rule| rule.no_smt_sibling),
        numa: pick.key("numa", |rule| rule.numa),
        policy: pick.key("policy", |rule| rule.policy),
    }
}

struct Pick<'a> {
    fitting: &'a [(&'a String, &'a NodeRule)],
    name: &'a str,
    problems: &'a mut Vec<PlanProblem>,
}

impl Pick<'_> {
    fn key<T: PartialEq>(&mut self, key: &str, get: impl Fn(&NodeRule) -> Option<T>) -> Option<Sourced<T>> {
        let mut having = self.fitting.iter().filter_map(|(pattern, rule)| Some((*pattern, get(rule)?)));
        let (pattern, value) = having.next()?;
        if let Some((other, second)) = having.next()
            && closeness(other) == closeness(pattern)
            && second != value
        {
            self.problems.push(PlanProblem::Ambiguous {
                node: self.name.to_owned(),
                key: key.to_owned(),
                first: pattern.clone(),
                second: other.clone(),
            });
        }
        Some(Sourced { value, pattern: pattern.clone(), origin: origin(pattern, key) })
    }
}

#[cfg(test)]
mod tests {
    use super::{closeness, fits, origin};

    #[test]
    fn patterns_fit_as_in_a_shell() {
        for (pattern, name) in
            [("*", ""), ("*", "md"), ("strategy-*", "strategy-12"), ("m?", "md"), ("*-1", "a-1-1")]
        {
            assert!(fits(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in
            [("md", "md2"), ("strategy-*", "strategy"), ("?", ""), ("", "x"), ("*-1", "a-12")]
        {
            assert!(!fits(pattern, name), "{pattern} {name}");
        }
        assert!(closeness("md") > closeness("strategy-*"));
        assert!(closeness("strategy-*") > closeness("s*"));
        assert_eq!(origin("s-*", "cpus"), "pin.nodes.\"s-*\".cpus");
    }
}
