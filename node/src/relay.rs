//! The relay process: wakes, on their own core, the nodes that sleep there.
//!
//! # What this module guarantees
//!
//! - Writers make no system call for the nodes that a relay serves, and no fence.
//! - It runs on the plan's core with the policy `idle`: whoever it wakes takes the core from it at once, and while
//!   nobody runs, the core does not go to sleep.
//! - When it ends, in whatever way, its nodes are woken by the writers again and nothing is lost: it gives them back
//!   itself, else master does; and a node that finds its relay silent leaves it.
//!
//! ```text
//!   writer ──commit──► journals ◄──polls── relay (core 3, idle) ──futex──► strategies (core 3, parked)
//! ```
//!
//! A relay without seats only keeps its core awake (`keep_awake = true` in the plan).

use journal::Frame;
use journal::wait::Relay;
use topology::{NodeKind, RelaySection};

use crate::error::RunError;
use crate::input::InputId;
use crate::node::Node;
use crate::run::{Component, Context};
use crate::service::Service;
use crate::state::Counter;

/// Looks between two of those at the seats that may have left.
const TAKE_OVER_EVERY: u32 = 1 << 16;

/// The relay.
pub const SERVICE: Service = Service {
    kind: NodeKind::Relay,
    about: "Wake the nodes that sleep on one core",
    flags: &[],
    run: |node, _| run(node),
    steps: None,
};

/// Runs the relay as this node until it is asked to stop: it wakes the nodes that its section names.
fn run(node: Node) -> Result<(), RunError> {
    let RelaySection { seats, journals, .. } = node.section()?;
    let handle = node.handle();
    let mut component = Waking { relay: None, looks: 0 };
    if !seats.is_empty() {
        let seats: Vec<u32> = seats.iter().copied().map(u32::from).collect();
        component.relay = Some(node.relay(&seats, journals.iter().map(String::as_str))?);
        log::info!("wakes {} nodes, follows {} journals", seats.len(), journals.len());
    }
    let outcome = node.run(&mut component);
    let seats = handle.give_back();
    log::info!("gave {seats} nodes back to the writers");
    outcome
}

struct Waking {
    relay: Option<Relay>,
    looks: u32,
}

impl Component for Waking {
    /// One look at every journal.
    fn turn(&mut self, context: &mut Context) -> Result<(), RunError> {
        let Some(relay) = &mut self.relay else { return Ok(()) };
        if self.looks.is_multiple_of(TAKE_OVER_EVERY) {
            relay.take_over();
        }
        self.looks = self.looks.wrapping_add(1);
        let woken = relay.poll().map_err(|error| RunError::failed(error.to_string()))?;
        if woken > 0 {
            context.add(Counter::Relayed, woken);
        }
        Ok(())
    }

    fn frame(&mut self, _: &mut Context, _: InputId, _: &Frame<'_>) -> Result<(), RunError> {
        Ok(())
    }
}
