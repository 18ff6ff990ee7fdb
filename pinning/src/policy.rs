//! Scheduling policies, as a plan writes them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// How the kernel shares a CPU's time with a node: `fifo:50`, `idle` or `nice:-5` in TOML.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Policy {
    /// SCHED_FIFO with this priority, 1 to 99: runs until it sleeps, before every thread without a real-time policy.
    Fifo(u8),
    /// SCHED_IDLE: runs when no other thread wants the CPU, and any waking thread preempts it at once.
    Idle,
    /// SCHED_OTHER with this nice value, -20 (most time) to 19 (least).
    Nice(i8),
}

/// Text that is not a policy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no scheduling policy: write fifo:1 to fifo:99, idle, or nice:-20 to nice:19")]
pub struct ParsePolicyError(String);

impl FromStr for Policy {
    type Err = ParsePolicyError;

    fn from_str(text: &str) -> Result<Policy, ParsePolicyError> {
        let policy = match text.split_once(':') {
            None if text == "idle" => Some(Policy::Idle),
            Some(("fifo", priority)) => {
                priority.parse().ok().filter(|p| (1..=99).contains(p)).map(Policy::Fifo)
            }
            Some(("nice", nice)) => nice.parse().ok().filter(|n| (-20..=19).contains(n)).map(Policy::Nice),
            _ => None,
        };
        policy.ok_or_else(|| ParsePolicyError(text.chars().take(40).collect()))
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Policy::Fifo(priority) => f.pad(&format!("fifo:{priority}")),
            Policy::Idle => f.pad("idle"),
            Policy::Nice(nice) => f.pad(&format!("nice:{nice}")),
        }
    }
}

impl Serialize for Policy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Policy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Policy, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::Policy;

    #[test]
    fn a_policy_reads_as_it_is_printed() {
        for text in ["fifo:1", "fifo:99", "idle", "nice:-20", "nice:19", "nice:0"] {
            assert_eq!(text.parse::<Policy>().unwrap().to_string(), text);
        }
        for text in ["fifo", "fifo:0", "fifo:100", "nice:20", "nice:-21", "rr:5", "idle:1", ""] {
            assert!(text.parse::<Policy>().unwrap_err().to_string().contains("write fifo:1"), "{text}");
        }
    }
}
