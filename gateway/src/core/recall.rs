//! What predecessors have sent, read back from the gateway's own journal; and what the market has said so far.

use std::collections::HashMap;

use journal::Journal;
use node::{Frame, Input, InstanceDir, JoinError, read_held};
use wire::{
    Best, CancelAll, ClientOrder, Instrument, InstrumentId, KeptOrder, Message, NewOrder, Quote, TradePrint,
};

use super::Role;
use super::market::Market;
use super::orders::Orders;
use crate::push::{Channel, Hub, Positions};

/// Reads the journal of orders from its oldest frame on.
pub(super) fn read(instance: &InstanceDir, journal: &str, orders: &mut Orders) -> Result<(), JoinError> {
    let mut count = 0_u64;
    read_held(instance, journal, None, |frame| match frame.message_id {
        ClientOrder::ID => {
            if let Ok(client) = ClientOrder::decode(frame.payload) {
                orders.announce(&client);
                if client.flags & ClientOrder::ENDS_WITH_SESSION != 0 {
                    // Its connection ended with that process.
                    orders.session_ended(client.order_id);
                }
            }
        }
        NewOrder::ID => {
            if let Ok(order) = NewOrder::decode(frame.payload) {
                orders.sent(&order, frame.time, frame.position);
                count += 1;
            }
        }
        KeptOrder::ID => {
            if let Ok(kept) = KeptOrder::decode(frame.payload) {
                orders.read_kept(&kept, frame.position);
            }
        }
        CancelAll::ID => {
            if let Ok(request) = CancelAll::decode(frame.payload) {
                orders.mass_cancelled(&request);
            }
        }
        _ => {}
    })?;
    orders.sort();
    orders.has_forgotten |= kept(instance, journal)?.1;
    if count > 0 {
        log::info!("{count} orders of clients are read back from `{journal}`");
    }
    Ok(())
}

/// The last quote of each instrument, and the bars, as far as the journals go back: clients that come again to a gateway that
/// was killed wait for both, and a quiet market says nothing.
pub(super) fn market(
    instance: &InstanceDir,
    inputs: &[Input],
    market: &mut Market,
    hub: &mut Hub,
) -> Result<(), JoinError> {
    let of = |roles: &[Role]| -> Vec<&Input> {
        let is_one = |input: &&Input| Role::of(&input.role).is_some_and(|role| roles.contains(&role));
        inputs.iter().filter(is_one).collect()
    };
    for input in of(&[Role::Instruments]) {
        read_held(instance, input.name(), None, |frame| {
            if let Some(instrument) = read_as::<Instrument>(frame) {
                market.list(&instrument);
            }
        })?;
    }
    for input in of(&[Role::Quotes, Role::Best]) {
        // What comes from here on is heard.
        let end = input.position();
        let mut last: HashMap<u32, u64> = HashMap::new();
        read_held(instance, input.name(), None, |frame| {
            if frame.position >= end {
                return;
            }
            if let Some(quote) = read_as::<Quote>(frame) {
                last.insert(quote.instrument.0, frame.position);
            } else if frame.message_id == Best::ID {
                last.insert(frame.topic, frame.position);
            } else if let Some(print) = read_as::<TradePrint>(frame) {
                market.trade(&print, frame.time);
            }
        })?;
        read_held(instance, input.name(), None, |frame| {
            let instrument = match read_as::<Quote>(frame) {
                Some(quote) => quote.instrument.0,
                None => frame.topic,
            };
            if last.get(&instrument) != Some(&frame.position) {
                return;
            }
            let symbol = match (read_as::<Quote>(frame), read_as::<Best>(frame)) {
                (Some(quote), _) => market.quote(&quote, frame.time),
                (None, Some(best)) => market.best(InstrumentId(instrument), &best, frame.time),
                (None, None) => None,
            };
            if let Some(symbol) = symbol {
                hub.market(Channel::Quotes, instrument, frame, symbol);
            }
        })?;
    }
    Ok(())
}

fn read_as<M: Message>(frame: &Frame<'_>) -> Option<M> {
    (frame.message_id == M::ID).then(|| M::decode(frame.payload).ok()).flatten()
}

/// Whose positions a journal has, and whether its oldest frames are overwritten.
pub(super) fn kept(instance: &InstanceDir, journal: &str) -> Result<(Positions, bool), JoinError> {
    let stat = Journal::open_read_only(instance.find_journal(journal))?.stat();
    let positions = Positions { created: stat.created, incarnation: stat.incarnation };
    Ok((positions, stat.oldest > stat.first_position))
}
