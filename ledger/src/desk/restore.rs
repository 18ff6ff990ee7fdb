//! The accounts of this ledger's predecessor.

use accounts::{Follower, Options};
use node::{InputId, Node, RunError};
use wire::{AccountAction, AnyMessage, Nanos};

use super::guard::{Guard, Wanted};
use super::pacer::Pacer;

fn failed(error: &dyn std::fmt::Display) -> RunError {
    RunError::failed(format!("cannot take up the accounts where the ledger was: {error}"))
}

/// The last whole snapshot, and the drop copy behind it, up to where the predecessor has read.
pub(super) fn follower(node: &Node, drops: InputId, options: Options) -> Result<Follower, RunError> {
    let mut follower = match node::last_desk(node.instance()).map_err(|error| failed(&error))? {
        Some(bytes) => Follower::restore(&bytes).map_err(|error| failed(&error))?,
        None => Follower::new(options),
    };
    let Some(input) = node.inputs().get(drops.0) else { return Ok(follower) };
    let (end, contained) = (input.position(), follower.contained.drops);
    let mut again = 0_u64;
    let whole =
        node::read_whole(node.instance(), input.name(), (contained > 0).then_some(contained), |frame| {
            if frame.position < contained || frame.position >= end {
                return;
            }
            again += 1;
            let at = (frame.position, frame.topic, Nanos(frame.time));
            if let Err(error) = follower.frame(at, frame.message_id, frame.payload) {
                log::error!("drop copy: {error}");
            }
        })
        .map_err(|error| failed(&error))?;
    if !whole {
        return Err(RunError::failed(format!(
            "accounts are lost: `{}` goes back neither to the last whole snapshot in `ledger.desk` nor to its begin; \
             `colo up --recover` finds them in a recording; set `capacity` of [journal.ledger.desk] and [journal.td.drops] \
             higher",
            input.name()
        )));
    }
    log::info!(
        "accounts taken up where the ledger before was: {again} frames of the drop copy read again, {} accounts",
        follower.desk.count()
    );
    Ok(follower)
}

/// What the predecessor has sent: the last mark of each instrument, and what td has not taken of the rest. td has read what stands
/// before `read`.
pub(super) fn sent(
    node: &Node,
    (risk, read): (&str, u64),
    guard: &mut Guard,
    pacer: &mut Pacer,
    follower: &Follower,
) -> Result<(), RunError> {
    let mut sent = Vec::new();
    // What td has not read is there; what is overwritten it has read, and written to the drop copy.
    node::read_held(node.instance(), risk, None, |frame| {
        let wanted = match AnyMessage::decode(frame.message_id, frame.payload) {
            Ok(AnyMessage::Mark(mark)) => return pacer.was_sent(&mark),
            Ok(AnyMessage::NewOrder(order)) => Wanted::Close(order),
            Ok(AnyMessage::CancelOrder(cancel)) => Wanted::Cancel(cancel),
            Ok(AnyMessage::AccountChange(change)) if change.action == AccountAction::Kill => {
                Wanted::Kill(change)
            }
            Ok(AnyMessage::AccountChange(change)) => Wanted::Freeze(change),
            Ok(other) => return log::error!("`{risk}` at position {}: {}", frame.position, other.name()),
            Err(error) => return log::error!("`{risk}` at position {}: {error}", frame.position),
        };
        sent.push((frame.position, wanted));
    })
    .map_err(|error| failed(&error))?;
    guard.restore(sent, read, &follower.desk);
    Ok(())
}
