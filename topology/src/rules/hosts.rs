//! Groups that share a process must agree about it.

use super::Rules;
use crate::config::{HostConfig, StrategyGroup};
use crate::paths;

/// Notes what does not hold between the groups of each host, and between a host and `[pin]`.
pub(super) fn check(rules: &mut Rules<'_>) {
    let config = rules.config;
    let mut first: Vec<(&HostConfig, &StrategyGroup)> = Vec::new();
    for group in &config.strategies {
        let Some(host) = &group.host else { continue };
        rules.mode_of_its_own(group, host);
        match first.iter().find(|(known, _)| known.name == host.name) {
            Some((known, other)) => rules.shared(group, host, other, known),
            None => {
                rules.pinned_twice(group, host);
                first.push((host, group));
            }
        }
    }
}

impl Rules<'_> {
    fn shared(
        &mut self,
        group: &StrategyGroup,
        host: &HostConfig,
        other: &StrategyGroup,
        known: &HostConfig,
    ) {
        let path = paths::group(self.rows, &group.name);
        let name = &host.name;
        let help = format!(
            "groups that share a host agree about it; or name another: host.name = \"{}-host\"",
            group.name
        );
        let (one, two) = (&other.name, &group.name);
        let differing = [
            ("host.cpus", host.cpus != known.cpus),
            ("host.mode", host.mode != known.mode),
            // The host reads the reports of all of them in one journal.
            ("wake_within", group.wake_within != other.wake_within),
        ];
        for (key, differs) in differing {
            if differs {
                let short = key.trim_start_matches("host.");
                let whose = if short == key { "their" } else { "its" };
                let message =
                    format!("`{one}` and `{two}` run in host `{name}`, but differ in {whose} `{short}`");
                self.error(&format!("{path}.{key}"), message, help.clone());
            }
        }
        let builtin = |group: &StrategyGroup| group.program.starts_with("builtin:");
        if !(builtin(group) && builtin(other)) && group.program != other.program {
            let message = format!(
                "host `{name}` is one process and cannot run two programs: those of `{one}` and `{two}`"
            );
            self.error(&format!("{path}.program"), message, help);
        }
    }

    /// How a hosted strategy waits is its host's business.
    fn mode_of_its_own(&mut self, group: &StrategyGroup, host: &HostConfig) {
        let path = format!("{}.mode", paths::group(self.rows, &group.name));
        if self.rows.is_written(&path) && group.run.mode != host.mode {
            let (own, name, hosts) = (group.run.mode, &host.name, host.mode);
            let message = format!(
                "`{}` says mode \"{own}\", but runs in host `{name}`, which is \"{hosts}\"",
                group.name
            );
            self.warning(&path, message, "the host's counts: set host.mode, and leave `mode` out");
        }
    }

    fn pinned_twice(&mut self, group: &StrategyGroup, host: &HostConfig) {
        let Some(rule) = self.config.pin.nodes.get(&host.name) else { return };
        if host.cpus.is_some() && (rule.cpu.is_some() || rule.cpus.is_some()) {
            let path = format!("{}.host.cpus", paths::group(self.rows, &group.name));
            let message = format!("the cores of host `{}` are named here and in [pin.nodes]", host.name);
            self.error(&path, message, "keep one");
        }
    }
}
