//! What predecessors have sent, read back from the gateway's own journal.

use journal::Journal;
use node::{InstanceDir, JoinError, read_held};
use wire::{ClientOrder, Message, NewOrder};

use super::orders::Orders;

/// Reads the journal of orders from its oldest frame on.
pub(super) fn read(instance: &InstanceDir, journal: &str, orders: &mut Orders) -> Result<(), JoinError> {
    let mut count = 0_u64;
    read_held(instance, journal, None, |frame| match frame.message_id {
        ClientOrder::ID => {
            if let Ok(client) = ClientOrder::decode(frame.payload) {
                orders.announce(&client);
            }
        }
        NewOrder::ID => {
            if let Ok(order) = NewOrder::decode(frame.payload) {
                orders.sent(&order, frame.time);
                count += 1;
            }
        }
        _ => {}
    })?;
    orders.has_forgotten |= is_cut(instance, journal);
    if count > 0 {
        log::info!("{count} orders of clients are read back from `{journal}`");
    }
    Ok(())
}

/// Has this journal wrapped, so that its oldest frames are gone?
pub(super) fn is_cut(instance: &InstanceDir, journal: &str) -> bool {
    let Ok(journal) = Journal::open_read_only(instance.find_journal(journal)) else { return true };
    journal.stat().oldest > journal.first_position()
}
