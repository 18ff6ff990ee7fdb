//! What a restarted td has to know before it takes the next order.

use node::{InputId, Node, RunError};
use wire::AnyMessage;

use crate::Gateway;

/// The ledger's last snapshot, and the executions since then that the td before this one had read.
#[derive(Debug)]
pub(super) struct Recall {
    snapshot: Vec<AnyMessage>,
    executions: Vec<(u64, u16, Vec<u8>)>,
}

impl Recall {
    pub(super) fn read(node: &Node, executions: InputId) -> Result<Recall, RunError> {
        let failed =
            |error: &dyn std::fmt::Display| RunError::failed(format!("cannot take up where td was: {error}"));
        let snapshot = node::last_snapshot(node.instance()).map_err(|error| failed(&error))?;
        let mut recall = Recall { snapshot, executions: Vec::new() };
        let Some(input) = node.inputs().get(executions.0) else { return Ok(recall) };
        let from = match recall.snapshot.first() {
            Some(AnyMessage::SnapshotBegin(begin)) if begin.execution != 0 => begin.execution,
            _ => input.first_position(),
        };
        let kept = &mut recall.executions;
        let whole = input
            .read_again(from, |frame| kept.push((frame.position, frame.message_id, frame.payload.to_vec())))
            .map_err(|error| failed(&error))?;
        if !whole {
            log::error!(
                "executions since the ledger's last snapshot are overwritten: limits count less than there is"
            );
        }
        Ok(recall)
    }

    /// Into a gateway whose instruments are listed. Nothing is delivered again.
    pub(super) fn into_gateway(self, gateway: &mut Gateway) -> Result<(), RunError> {
        let messages = self.snapshot.len();
        if messages > 0 {
            gateway.restore(self.snapshot).map_err(|error| RunError::failed(error.to_string()))?;
        }
        for (position, message_id, payload) in &self.executions {
            let _ = gateway.execution(*position, *message_id, payload);
        }
        log::info!(
            "taken up where td was: {messages} messages of the ledger's snapshot, {} executions read again",
            self.executions.len()
        );
        Ok(())
    }
}
