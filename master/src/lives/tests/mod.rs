//! The hazards one by one, and then all of them in every order.

mod explore;
mod hazards;
mod lock_step;
mod world;

use std::time::Duration;

use topology::NodeKind;
use topology::config::RestartPolicy;

use super::{Limits, Rules};

const MD: usize = 0;
const TD: usize = 1;
const MATCHING: usize = 2;
const STRATEGY: usize = 3;
const HOST: usize = 4;
const MEMBER: usize = 5;

const LIMITS: Limits = Limits {
    ready_timeout: Duration::from_secs(10),
    stop_timeout: Duration::from_secs(5),
    in_lock_step: false,
};

fn rules(kind: NodeKind, policy: RestartPolicy) -> Rules {
    Rules {
        kind,
        host: None,
        needs: Vec::new(),
        stagger: Duration::ZERO,
        policy,
        max: 3,
        backoff: Duration::from_millis(200),
    }
}

/// One node of each kind with rules of its own; the strategies need td.
fn platform(policy: RestartPolicy) -> Vec<Rules> {
    let mut all: Vec<Rules> = [NodeKind::Md, NodeKind::Td, NodeKind::Matching, NodeKind::Strategy]
        .into_iter()
        .map(|kind| rules(kind, policy))
        .collect();
    all[STRATEGY].needs = vec![TD];
    all.push(rules(NodeKind::Host, RestartPolicy::Never));
    all.push(Rules { host: Some(HOST), needs: vec![TD], ..rules(NodeKind::Strategy, policy) });
    all
}
