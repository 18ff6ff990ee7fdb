//! `[pin]`: which node runs on which core, and how.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};

use crate::schema::{Absent, Kind, TableSchema, forms, section, words};
use crate::schema::{Described, Key, Section};
use crate::units::CpuList;

words! {
    /// What a plan is made for, when colo makes it.
    pub enum Auto ("automatic plan") {
        /// Fast nodes get cores of their own.
        Latency = "latency",
        /// As many nodes as possible share few cores.
        Density = "density",
    }
}

words! {
    /// What happens when the host has fewer cores than the plan names.
    pub enum OnSmallHost ("rule for small hosts") {
        /// Nothing starts.
        Refuse = "refuse",
        /// The plan is folded onto the cores that there are, and it is said so.
        Remap = "remap",
    }
}

words! {
    /// How the nodes of a rule share its `cpus`.
    pub enum Spread ("way to spread nodes") {
        /// One after the other, and over again: node n on core n.
        RoundRobin = "round-robin",
        /// A core is filled before the next is used.
        Pack = "pack",
        /// Each may run on any of them, as the kernel likes.
        Float = "float",
    }
}

section! {
    /// A relay: wakes, on their own core, the strategies that sleep there.
    pub struct RelayConfig {
        /// The core that it runs on.
        #[serde(deserialize_with = "required_cpu", serialize_with = "as_text")]
        cpu: u32 = 0 => Kind::Parsed(&forms::CPU), Absent::Required("write relay = { cpu = 3 }");
    }
}

section! {
    /// Where the nodes of one name, group or pattern run.
    pub struct PinRule {
        /// On this one core.
        #[serde(deserialize_with = "optional_cpu")]
        cpu: Option<u32> = None => Kind::Parsed(&forms::CPU);
        /// On these cores.
        cpus: Option<CpuList> = None;
        /// How the nodes share `cpus`.
        spread: Spread = Spread::RoundRobin;
        /// Nobody else of the instance on these cores.
        exclusive: bool = false;
        /// Nobody of the instance on the hardware threads beside them.
        no_smt_sibling: bool = false;
        /// Memory of this NUMA node.
        numa: Option<u32> = None => Kind::Integer { min: 0, max: 1_023 };
        /// Scheduling policy: "fifo:50", "rr:50", "nice:-5", "other", "batch" or "idle".
        policy: Option<String> = None => Kind::Parsed(&forms::POLICY);
        /// A relay for these nodes.
        relay: Option<RelayConfig> = None;
        /// Keep these cores from going idle.
        keep_awake: bool = false;
    }
}

impl PinRule {
    /// The cores that it names, `cpu` or `cpus`; empty when it names none.
    pub fn cores(&self) -> Vec<u32> {
        match (self.cpu, &self.cpus) {
            (Some(cpu), _) => vec![cpu],
            (None, Some(cpus)) => cpus.0.clone(),
            (None, None) => Vec::new(),
        }
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

fn as_text<S: serde::Serializer>(cpu: &u32, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(cpu)
}

/// `[pin]`: `[pin.md]`, `[pin.makers]`, `[pin."takers-*"]`. A node's own name goes before its group's, a group's
/// before a pattern, a longer pattern before a shorter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PinConfig {
    /// Makes a plan for whatever has no rule.
    pub auto: Option<Auto>,
    /// What happens when the host has fewer cores than the plan names.
    pub on_small_host: OnSmallHost,
    /// The rules by node, group or pattern.
    #[serde(flatten)]
    pub rules: BTreeMap<String, PinRule>,
}

impl Default for PinConfig {
    fn default() -> Self {
        PinConfig { auto: None, on_small_host: OnSmallHost::Refuse, rules: BTreeMap::new() }
    }
}

impl Section for PinConfig {
    const TABLE: &'static TableSchema = &TableSchema {
        doc: &["Which node runs on which core; without it, the kernel decides."],
        keys: &[
            Key {
                name: "auto",
                doc: &["Makes a plan for whatever has no rule: \"latency\" or \"density\"."],
                kind: <Auto as Described>::KIND,
                absent: Absent::Default,
                flatten: false,
            },
            Key {
                name: "on_small_host",
                doc: &["What happens when the host has fewer cores than the plan names."],
                kind: <OnSmallHost as Described>::KIND,
                absent: Absent::Default,
                flatten: false,
            },
        ],
        rest: Some((&forms::NODE_PATTERN, <PinRule as Section>::TABLE)),
        defaults: || serde_json::to_value(PinConfig::default()).unwrap_or_default(),
    };
}

impl PinConfig {
    /// The rule for the node `name` of the group `group`.
    pub fn rule_for(&self, name: &str, group: Option<&str>) -> Option<(&str, &PinRule)> {
        let rank = |pattern: &str| match pattern {
            _ if pattern == name => Some(usize::MAX),
            _ if Some(pattern) == group => Some(usize::MAX - 1),
            _ if pattern.contains('*') && matches(pattern, name) => Some(pattern.len()),
            _ => None,
        };
        let ranked = self.rules.iter().filter_map(|(pattern, rule)| Some((rank(pattern)?, pattern, rule)));
        ranked.max_by_key(|(rank, _, _)| *rank).map(|(_, pattern, rule)| (pattern.as_str(), rule))
    }
}

/// Whether `name` is `pattern`, in which each `*` stands for any text.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == name };
    let (middle, tail) = rest.rsplit_once('*').unwrap_or(("", rest));
    let Some(inner) = name.strip_prefix(head).and_then(|name| name.strip_suffix(tail)) else { return false };
    // The leftmost place of each part leaves the most room for the next.
    let mut left = inner;
    middle.split('*').all(|part| match left.find(part) {
        Some(at) => {
            left = &left[at + part.len()..];
            true
        }
        None => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_rule_counts() {
        let text = r#"{ "*": {}, "takers": {}, "takers-*": {}, "takers-1": {} }"#;
        let pin: PinConfig = serde_json::from_str(text).unwrap();
        let rule = |name, group| pin.rule_for(name, group).unwrap().0;
        assert_eq!(rule("takers-1", Some("takers")), "takers-1");
        assert_eq!(rule("takers-2", Some("takers")), "takers");
        assert_eq!(rule("takers-2", None), "takers-*");
        assert_eq!(rule("md", None), "*");
        assert!(matches("a*b*c", "axxbyyc") && matches("*", "x") && matches("a*", "a"));
        assert!(!matches("a*b", "axc") && !matches("ab*bc", "abc"));
    }
}
