//! `[pin]`: which node runs on which core, and how.

use std::collections::BTreeMap;

use pinning::{Auto, NodeRule, OnSmallHost, Plan, Policy, Spread};
use serde::{Deserialize, Deserializer};
use settings::schema::{Absent, Kind, Section, Words};
use settings::{CpuList, section};

use crate::forms;

const AUTO: Words = Words {
    what: "automatic plan",
    words: &[
        ("latency", "Fast nodes get cores of their own."),
        ("density", "As many nodes as possible share few cores."),
    ],
};

const ON_SMALL_HOST: Words = Words {
    what: "rule for small hosts",
    words: &[
        ("refuse", "Nothing starts."),
        ("remap", "The plan is folded onto the cores that there are, and it is said so."),
    ],
};

const SPREAD: Words = Words {
    what: "way to spread nodes",
    words: &[
        ("round-robin", "One core each, in turn."),
        ("pack", "As few cores as the wait modes allow: one each for fast nodes, one for all others."),
        ("float", "Any of them, as the kernel likes."),
    ],
};

section! {
    /// A relay: wakes, on their own core, the strategies that sleep there.
    pub struct RelayConfig {
        /// The core that it runs on.
        #[serde(deserialize_with = "required_cpu")]
        cpu: u32 = 0 => Kind::Parsed(&forms::CPU), Absent::Required("write relay = { cpu = 3 }");
    }
}

section! {
    /// Where the nodes of one name or pattern run. Every key may be left out.
    pub struct PinRule {
        /// On this one core.
        #[serde(deserialize_with = "optional_cpu", skip_serializing_if = "Option::is_none")]
        cpu: Option<u32> = None => Kind::Parsed(&forms::CPU);
        /// On these cores.
        #[serde(skip_serializing_if = "Option::is_none")]
        cpus: Option<CpuList> = None;
        /// How the nodes share `cpus`; "float" where nothing is said.
        #[serde(skip_serializing_if = "Option::is_none")]
        spread: Option<Spread> = None => Kind::Words(&SPREAD);
        /// Nobody else of the instance on these cores.
        #[serde(skip_serializing_if = "Option::is_none")]
        exclusive: Option<bool> = None;
        /// Nobody of the instance on the hardware threads beside them.
        #[serde(skip_serializing_if = "Option::is_none")]
        no_smt_sibling: Option<bool> = None;
        /// Cores and memory of this NUMA node.
        #[serde(skip_serializing_if = "Option::is_none")]
        numa: Option<u32> = None => Kind::Integer { min: 0, max: 1_023 };
        /// Scheduling policy: "fifo:50", "nice:-5" or "idle".
        #[serde(skip_serializing_if = "Option::is_none")]
        policy: Option<Policy> = None => Kind::Parsed(&forms::POLICY);
        /// A relay for these nodes.
        #[serde(skip_serializing_if = "Option::is_none")]
        relay: Option<RelayConfig> = None;
        /// Keep these cores from going idle.
        #[serde(skip_serializing_if = "Option::is_none")]
        keep_awake: Option<bool> = None;
    }
}

section! {
    /// Which node runs on which core; without it, the kernel decides.
    pub struct PinConfig {
        /// Makes a plan for whatever has no rule: "latency" or "density".
        #[serde(skip_serializing_if = "Option::is_none")]
        auto: Option<Auto> = None => Kind::Words(&AUTO);
        /// What happens when the host has fewer cores than the plan names.
        on_small_host: OnSmallHost = OnSmallHost::Refuse => Kind::Words(&ON_SMALL_HOST);
        /// The doctor's checks that must be as wanted (`ok`, or `skip` where the host has no such thing), by id.
        required: Vec<String> = Vec::new() => Kind::List(&Kind::Parsed(&forms::CHECK));
        /// The rules, by a node's name or by a pattern with `*` and `?`: `[pin.nodes.md]`, `[pin.nodes."takers-*"]`.
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        nodes: BTreeMap<String, PinRule> = BTreeMap::new()
            => Kind::Named(&forms::NODE_PATTERN, <PinRule as Section>::TABLE);
    }
}

fn optional_cpu<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Form {
        Number(u32),
        Text(String),
    }
    match Option::<Form>::deserialize(deserializer)? {
        None => Ok(None),
        Some(Form::Number(cpu)) => Ok(Some(cpu)),
        Some(Form::Text(text)) => text.parse().map(Some).map_err(serde::de::Error::custom),
    }
}

fn required_cpu<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    Ok(optional_cpu(deserializer)?.unwrap_or_default())
}

/// Where one node runs: key by key from the rule that fits its name best.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Placing {
    /// The cores that it may run on.
    pub(crate) cores: Vec<u32>,
    /// The rule that names them.
    pub(crate) pattern: String,
    /// `cpu` or `cpus`.
    pub(crate) key: &'static str,
}

/// Each key is named, so that a new one does not compile until it has a place in the plan.
impl From<&PinConfig> for Plan {
    fn from(config: &PinConfig) -> Plan {
        let PinConfig { auto, on_small_host, required, nodes } = config;
        Plan {
            auto: *auto,
            on_small_host: *on_small_host,
            required: required.clone(),
            nodes: nodes.iter().map(|(pattern, rule)| (pattern.clone(), NodeRule::from(rule))).collect(),
        }
    }
}

impl From<&PinRule> for NodeRule {
    fn from(rule: &PinRule) -> NodeRule {
        let index = |number: u32| number as usize;
        // The last two start processes of their own, with rules of their own.
        let PinRule { cpu, cpus, spread, exclusive, no_smt_sibling, numa, policy, relay: _, keep_awake: _ } =
            rule;
        NodeRule {
            cpu: cpu.map(index),
            cpus: cpus.as_ref().map(|list| list.0.iter().copied().map(index).collect()),
            spread: *spread,
            exclusive: *exclusive,
            no_smt_sibling: *no_smt_sibling,
            numa: numa.map(index),
            policy: *policy,
        }
    }
}

impl PinConfig {
    /// The rules that fit `name`, the best first: an exact name, then the pattern with most letters of its own.
    fn fitting(&self, name: &str) -> Vec<(&String, &PinRule)> {
        let letters = |pattern: &str| pattern.chars().filter(|letter| !['*', '?'].contains(letter)).count();
        let mut fitting: Vec<_> = self.nodes.iter().filter(|(pattern, _)| fits(pattern, name)).collect();
        fitting
            .sort_by_key(|(pattern, _)| std::cmp::Reverse((!pattern.contains(['*', '?']), letters(pattern))));
        fitting
    }

    /// What holds for the node `name`, key by key; `None` when no rule fits it.
    pub fn rule_for(&self, name: &str) -> Option<PinRule> {
        let fitting = self.fitting(name);
        let first = fitting.first()?;
        let mut rule = first.1.clone();
        for (_, other) in &fitting[1..] {
            if rule.cpu.is_none() && rule.cpus.is_none() {
                (rule.cpu, rule.cpus) = (other.cpu, other.cpus.clone());
            }
            rule.spread = rule.spread.or(other.spread);
            rule.exclusive = rule.exclusive.or(other.exclusive);
            rule.no_smt_sibling = rule.no_smt_sibling.or(other.no_smt_sibling);
            rule.numa = rule.numa.or(other.numa);
            rule.policy = rule.policy.or(other.policy);
            rule.relay = rule.relay.or_else(|| other.relay.clone());
            rule.keep_awake = rule.keep_awake.or(other.keep_awake);
        }
        Some(rule)
    }

    /// Which cores the node `name` may run on, if a rule names any.
    pub(crate) fn placing(&self, name: &str) -> Option<Placing> {
        self.fitting(name).into_iter().find_map(|(pattern, rule)| {
            let (cores, key) = match (rule.cpu, &rule.cpus) {
                (Some(cpu), _) => (vec![cpu], "cpu"),
                (None, Some(cpus)) => (cpus.0.clone(), "cpus"),
                (None, None) => return None,
            };
            Some(Placing { cores, pattern: pattern.clone(), key })
        })
    }
}

/// Whether `*` (any text) and `?` (any one character) make `pattern` fit `name`.
pub(crate) fn fits(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut at, mut letter) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while letter < name.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, letter));
                at += 1;
            }
            Some(c) if *c == '?' || *c == name[letter] => (at, letter) = (at + 1, letter + 1),
            // The last star takes one letter more.
            _ => match star {
                Some((place, taken)) => {
                    star = Some((place, taken + 1));
                    (at, letter) = (place + 1, taken + 1);
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_comes_from_the_rule_that_fits_best() {
        let text = r#"{ "nodes": { "*": { "policy": "idle", "cpu": 0 }, "takers-*": { "cpus": "2-3" },
            "takers-1": { "cpu": 7 } } }"#;
        let pin: PinConfig = serde_json::from_str(text).unwrap();
        let rule = |name| pin.rule_for(name).unwrap();
        assert_eq!((rule("takers-1").cpu, rule("takers-1").policy), (Some(7), Some(Policy::Idle)));
        assert_eq!((rule("takers-2").cpu, rule("takers-2").cpus), (None, Some(CpuList(vec![2, 3]))));
        assert_eq!(rule("md").cpu, Some(0));
        assert_eq!(pin.placing("takers-2").unwrap().pattern, "takers-*");
    }

    #[test]
    fn every_key_of_a_rule_reaches_the_plan() {
        let rule = r#"{ "cpu": 1, "cpus": "2-3", "spread": "pack", "exclusive": true, "no_smt_sibling": false,
            "numa": 1, "policy": "fifo:50" }"#;
        let text = format!(
            r#"{{ "auto": "density", "on_small_host": "remap", "required": ["thp"], "nodes": {{ "md": {rule} }} }}"#
        );
        let config: PinConfig = serde_json::from_str(&text).unwrap();
        let plan: Plan = serde_json::from_str(&text).unwrap();
        assert_eq!(Plan::from(&config), plan);
    }

    #[test]
    fn a_plan_that_cannot_be_kept_is_not_read_as_an_empty_one() {
        let text = r#"{ "nodes": { "md": { "cpu": 1, "policy": "fifo:500" } } }"#;
        let error = serde_json::from_str::<PinConfig>(text).unwrap_err().to_string();
        assert!(error.contains("fifo:500"), "{error}");
    }

    #[test]
    fn the_words_of_the_file_are_those_of_the_plan() {
        fn known<T: serde::de::DeserializeOwned>(words: &Words) -> usize {
            let read = |word: &str| serde_json::from_value::<T>(word.into());
            words.words.iter().filter(|(word, _)| read(word).is_ok()).count()
        }
        assert_eq!((known::<Auto>(&AUTO), known::<OnSmallHost>(&ON_SMALL_HOST)), (2, 2));
        assert_eq!(known::<Spread>(&SPREAD), 3);
    }

    #[test]
    fn patterns_fit_as_in_a_shell() {
        for (pattern, name) in [("*", ""), ("a*b*c", "axxbyyc"), ("m?", "md"), ("*-1", "a-1-1"), ("a*", "a")]
        {
            assert!(fits(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("md", "md2"), ("a*b", "axc"), ("ab*bc", "abc"), ("?", ""), ("*-1", "a-12")] {
            assert!(!fits(pattern, name), "{pattern} {name}");
        }
    }
}
