//! Hosts: the nodes whose process strategies share.

use super::{Builder, json};
use crate::config::{HostConfig, OnDeath, PinConfig, PlatformConfig, RunConfig, StrategyGroup, Wake};
use crate::services::NodeKind;
use crate::spec::{HostSection, HostedStrategy, NodeSpec, Program};

impl Builder<'_> {
    /// A node for each host that has strategies.
    pub(super) fn hosts(&mut self) {
        let config = self.config;
        for host in all(config) {
            let here = |node: &&NodeSpec| node.host.as_ref() == Some(&host.name);
            let strategies: Vec<HostedStrategy> = self
                .nodes
                .iter()
                .filter(here)
                .map(|node| HostedStrategy { name: node.name.clone(), seat: node.seat })
                .collect();
            let program = match self.nodes.iter().find(here).map(|node| &node.program) {
                Some(Program::Path(path)) => Program::Path(path.clone()),
                Some(Program::Builtin(_)) => Program::Builtin("host".to_owned()),
                None => continue,
            };
            // It is started whenever one of its strategies is to start.
            let wake = wake(&host.name, config);
            let run = RunConfig { mode: host.mode, wake, ..RunConfig::of(NodeKind::Host) };
            let node = self.node(&host.name, NodeKind::Host, &run, on_death(host, config), program);
            node.section = json(HostSection { strategies });
        }
    }

    /// `[pin]`, with the cores that hosts are given in their own tables.
    pub(super) fn pin(&self) -> PinConfig {
        let mut pin = self.config.pin.clone();
        for host in all(self.config) {
            if let Some(cpus) = &host.cpus {
                pin.nodes.entry(host.name.clone()).or_default().cpus = Some(cpus.clone());
            }
        }
        pin
    }
}

/// The hosts, in the order in which the groups name them.
fn all(config: &PlatformConfig) -> Vec<&HostConfig> {
    let mut hosts: Vec<&HostConfig> = Vec::new();
    for host in
        config.strategies.iter().filter(|group| group.count > 0).filter_map(|group| group.host.as_ref())
    {
        if hosts.iter().all(|known| known.name != host.name) {
            hosts.push(host);
        }
    }
    hosts
}

/// Who wakes a host that sleeps: as the first of its groups says.
fn wake(name: &str, config: &PlatformConfig) -> Option<Wake> {
    let here = |group: &&StrategyGroup| group.host.as_ref().is_some_and(|host| host.name == name);
    config.strategies.iter().find(here)?.run.wake
}

/// A host's cursors are held as soon as one of its strategies may come back to them.
fn on_death(host: &HostConfig, config: &PlatformConfig) -> OnDeath {
    let here = |group: &&StrategyGroup| group.host.as_ref().is_some_and(|other| other.name == host.name);
    let holds = config.strategies.iter().filter(here).any(|group| group.on_death == OnDeath::Hold);
    if holds { OnDeath::Hold } else { OnDeath::Drop }
}
