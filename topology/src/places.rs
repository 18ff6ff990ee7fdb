//! Where the nodes of a topology run on a given host.

use pinning::{Host, NodeRequest, Placement, Plan, PlanProblem, ResolvedPlan, WaitMode};

use crate::config::Mode;
use crate::services::{Place, Service};
use crate::spec::{NodeSpec, Topology};

impl Topology {
    /// A place for every node, in the order of the seats; `None` when `[pin]` says nothing, and the kernel decides.
    ///
    /// # Errors
    /// All that does not fit this host.
    pub fn place(&self, host: &Host) -> Result<Option<ResolvedPlan>, Vec<PlanProblem>> {
        if self.pin.auto.is_none() && self.pin.nodes.is_empty() {
            return Ok(None);
        }
        // Who runs in another's process stands where that one does.
        let with_process = self.nodes.iter().filter(|node| node.host.is_none());
        let requests: Vec<NodeRequest> = with_process.map(request).collect();
        let mut plan = Plan::from(&self.pin).resolve(host, &requests)?;
        let place = |node: &NodeSpec| {
            let process = node.host.as_ref().unwrap_or(&node.name);
            let found = plan.placements.iter().find(|placement| placement.node == *process)?;
            Some(Placement { node: node.name.clone(), ..found.clone() })
        };
        plan.placements = self.nodes.iter().filter_map(place).collect();
        Ok(Some(plan))
    }

    /// What is wrong where nothing is planned: more nodes that poll without a pause than CPUs. The kernel then lets each
    /// stand still while another polls. `None` with a plan, whose own warnings say it.
    pub fn crowding(&self, host: &Host) -> Option<String> {
        let planned = self.pin.auto.is_some() || !self.pin.nodes.is_empty();
        let polls = |node: &&NodeSpec| node.host.is_none() && node.takes_a_core();
        let polling: Vec<&str> = self.nodes.iter().filter(polls).map(|node| node.name.as_str()).collect();
        if planned || polling.len() <= host.allowed.len() {
            return None;
        }
        let shown = polling.iter().take(4).copied().collect::<Vec<_>>().join(", ");
        let more = match polling.len().saturating_sub(4) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        Some(format!(
            "{} nodes poll without a pause ({shown}{more}) on CPUs {}, and no plan says who runs where: each stands still \
             while another polls; use mode = \"parked\" or adaptive for some, or a host with more CPUs",
            polling.len(),
            host.allowed
        ))
    }
}

fn request(node: &NodeSpec) -> NodeRequest {
    NodeRequest {
        name: node.name.clone(),
        mode: match node.mode {
            Mode::Fast if !node.takes_a_core() => WaitMode::Parked,
            Mode::Fast => WaitMode::Fast,
            Mode::Parked | Mode::Napping { .. } => WaitMode::Parked,
            Mode::Adaptive { .. } => WaitMode::Adaptive,
        },
        platform: Service::of(node.kind).place == Place::Platform,
    }
}

#[cfg(test)]
mod tests {
    use pinning::Host;

    #[test]
    fn more_nodes_that_poll_than_cpus_are_said_where_nothing_is_planned() {
        let host = Host::read("/".as_ref()).unwrap();
        let cpus = host.allowed.len();
        let crowd = |more: &str, strategies: usize| {
            let text = format!("[md]\n[strategies]\nmode = \"fast\"\ncount = {strategies}\n{more}");
            crate::parse("t.toml", &text, &[]).unwrap().topology.crowding(&host)
        };
        assert_eq!(crowd("", cpus), None);
        let said = crowd("", cpus + 1).unwrap();
        assert!(said.starts_with(&format!("{} nodes poll", cpus + 1)), "{said}");
        assert_eq!(crowd("host.name = \"h\"\nhost.mode = \"fast\"\n", cpus + 1), None, "one process polls");
        assert_eq!(
            crowd("[pin.nodes.md]\npolicy = \"nice:-5\"\n", cpus + 1),
            None,
            "the plan's own warnings say it"
        );
    }

    #[test]
    fn a_plan_places_every_node_and_no_plan_places_none() {
        let host = Host::read("/".as_ref()).unwrap();
        let first = host.allowed.first().unwrap();
        let base = "[md]\n[strategies]\ncount = 2\n";
        let free = crate::parse("t.toml", base, &[]).unwrap().topology;
        assert!(free.place(&host).unwrap().is_none());
        let text = format!("{base}[pin.nodes.\"strategy-*\"]\ncpu = {first}\nkeep_awake = true\n");
        let pinned = crate::parse("t.toml", &text, &[]).unwrap().topology.place(&host).unwrap().unwrap();
        // One more keeps the core awake.
        assert_eq!(pinned.placements.len(), 8);
        assert_eq!(pinned.placements[5].node, "strategy-1");
        assert_eq!(pinned.placements[5].pinned_cpu(), Some(first));
        let far = format!("{base}[pin.nodes.md]\ncpu = 8000\n");
        assert!(crate::parse("t.toml", &far, &[]).unwrap().topology.place(&host).is_err());
    }
}
