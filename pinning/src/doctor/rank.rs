//! Which finding matters most: checks by what a message may lose to them at once.

use serde::{Deserialize, Serialize};

use super::{Check, Status};

/// What one message may lose to a fault, as an order of magnitude.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Scale {
    /// Up to a tenth of a second.
    #[serde(rename = "100ms")]
    Stop,
    /// Milliseconds.
    #[serde(rename = "1ms")]
    Millisecond,
    /// Hundreds of microseconds.
    #[serde(rename = "100us")]
    Hundreds,
    /// Tens of microseconds.
    #[serde(rename = "10us")]
    Tens,
    /// Less than that, or nothing while it runs: what a check costs then is in its words.
    #[serde(rename = "less")]
    Less,
}

impl Scale {
    /// As a person says it.
    pub fn words(self) -> &'static str {
        match self {
            Scale::Stop => "up to 100 ms",
            Scale::Millisecond => "milliseconds",
            Scale::Hundreds => "100s of µs",
            Scale::Tens => "10s of µs",
            Scale::Less => "less",
        }
    }
}

/// Checks whose faults delay messages, the most expensive first. Others follow in the doctor's own order.
const RANKED: [(Scale, &[&str]); 4] = [
    (Scale::Stop, &["container-throttled", "container-quota", "kernel-rt-runtime"]),
    (
        Scale::Millisecond,
        &[
            "clock-steal",
            "cpu-load",
            "cpu-allowed",
            "cpu-isolated",
            "memory-pressure",
            "memory-available",
            "memory-swap",
            "kernel-fair-server",
            "kernel-preempt",
            "kernel-io-pressure",
            "memory-thp-defrag",
            "cpu-throttled",
        ],
    ),
    (
        Scale::Hundreds,
        &[
            "clock-virtualised",
            "cpu-idle-states",
            "memory-thp",
            "memory-compaction",
            "cpu-governor",
            "irq-workqueue",
            "cpu-rcu-nocbs",
        ],
    ),
    (
        Scale::Tens,
        &[
            "cpu-guest-halt",
            "irq-network",
            "irq-affinity",
            "cpu-smt",
            "cpu-mitigations",
            "memory-numa-balancing",
            "cpu-nohz-full",
            "clock-source",
        ],
    ),
];

/// What a message may lose to a fault that this check finds.
pub fn scale(id: &str) -> Scale {
    RANKED.iter().find(|(_, ids)| ids.contains(&id)).map_or(Scale::Less, |(scale, _)| *scale)
}

/// The place of a check among all: the lower, the more its faults cost. Equal for those that are not ranked.
pub fn rank(id: &str) -> usize {
    let mut all = RANKED.iter().flat_map(|(_, ids)| ids.iter());
    all.position(|known| *known == id).unwrap_or(usize::MAX)
}

/// Whether latency figures of this host count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fitness {
    /// No finding delays a message by tens of microseconds or more.
    Fit,
    /// Figures count with their caveats: some findings delay messages.
    Usable,
    /// A check failed: figures mislead, or the platform will not run.
    Unfit,
}

/// What all checks come to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// In a word.
    pub fitness: Fitness,
    /// In a sentence.
    pub sentence: String,
    /// Ids of all findings, failures first and then the most expensive.
    pub ranked: Vec<String>,
}

impl Verdict {
    /// What these checks come to.
    pub fn of(checks: &[Check]) -> Verdict {
        let is_finding = |check: &&Check| matches!(check.status, Status::Fail | Status::Warn);
        let mut findings: Vec<&Check> = checks.iter().filter(is_finding).collect();
        findings.sort_by_key(|check| (check.status != Status::Fail, rank(&check.id)));
        let failed = findings.iter().filter(|check| check.status == Status::Fail).count();
        let worst = findings.iter().map(|check| check.scale).min().unwrap_or(Scale::Less);
        let delaying = findings.iter().filter(|check| check.scale < Scale::Less).count();
        let (fitness, sentence) = if failed > 0 {
            let what = if failed == 1 { "1 check".to_owned() } else { format!("{failed} checks") };
            (Fitness::Unfit, format!("not fit: {what} failed, figures from this host mislead"))
        } else if delaying > 0 {
            let what = if delaying == 1 {
                "1 finding delays".to_owned()
            } else {
                format!("{delaying} findings delay")
            };
            let sentence = format!("usable, with caveats: {what} messages, the worst by {}", worst.words());
            (Fitness::Usable, sentence)
        } else if checks.iter().all(|check| check.status == Status::Skip) {
            (Fitness::Unfit, "not known: no check could be made here".to_owned())
        } else {
            (Fitness::Fit, "fit: nothing found that delays messages noticeably".to_owned())
        };
        Verdict { fitness, sentence, ranked: findings.iter().map(|check| check.id.clone()).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::{Group, check_ids};

    fn check(id: &str, status: Status) -> Check {
        let text = String::new;
        Check {
            id: id.to_owned(),
            group: Group::Cpu,
            status,
            scale: scale(id),
            found: text(),
            wanted: text(),
            cost: text(),
            fix: text(),
        }
    }

    #[test]
    fn every_ranked_check_is_one_of_the_doctor() {
        let known = check_ids();
        let ranked = RANKED.iter().flat_map(|(_, ids)| ids.iter());
        let unknown: Vec<&&str> = ranked.filter(|id| !known.contains(id)).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }

    #[test]
    fn findings_are_ranked_failures_first_and_then_the_most_expensive() {
        let checks = [
            check("limit-nice", Status::Warn),
            check("cpu-mitigations", Status::Warn),
            check("cpu-load", Status::Warn),
            check("memory-huge-2m", Status::Fail),
            check("container-quota", Status::Ok),
        ];
        let verdict = Verdict::of(&checks);
        assert_eq!(verdict.ranked, ["memory-huge-2m", "cpu-load", "cpu-mitigations", "limit-nice"]);
        assert_eq!(verdict.fitness, Fitness::Unfit);
        assert!(verdict.sentence.contains("1 check failed"), "{}", verdict.sentence);
    }

    #[test]
    fn the_verdict_is_as_good_as_the_worst_finding() {
        let usable = Verdict::of(&[check("cpu-load", Status::Warn), check("cpu-smt", Status::Warn)]);
        assert_eq!(usable.fitness, Fitness::Usable);
        assert!(
            usable.sentence.ends_with("2 findings delay messages, the worst by milliseconds"),
            "{usable:?}"
        );
        // What delays nothing is no reason against figures.
        assert_eq!(Verdict::of(&[check("limit-nice", Status::Warn)]).fitness, Fitness::Fit);
        assert_eq!(Verdict::of(&[check("cpu-load", Status::Ok)]).fitness, Fitness::Fit);
        // A host that cannot be looked at is not called fit.
        assert_eq!(Verdict::of(&[check("cpu-load", Status::Skip)]).fitness, Fitness::Unfit);
    }
}
