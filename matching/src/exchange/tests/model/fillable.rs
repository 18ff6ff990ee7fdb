//! What fill-or-kill and a minimum count on.

use super::Model;
use super::band::is_beyond;
use super::order::Working;
use crate::exchange::SelfTrade;

impl Model {
    /// How much the incoming order could trade at once.
    pub(super) fn fillable(&self, incoming: &Working) -> i128 {
        let band = self.band(incoming.order.instrument);
        let within = |resting: &&Working| {
            let price = resting.price.expect("market orders do not rest in continuous trading");
            incoming.allows(price) && !is_beyond(band, price)
        };
        let queue = self.queue(incoming.order.instrument, incoming.order.side.opposite());
        let queue: Vec<&Working> = queue.into_iter().take_while(within).collect();
        let of_others = queue.iter().filter(|resting| !self.is_prevented(incoming, resting));
        if self.policy(incoming) == SelfTrade::CancelOldest {
            return of_others.map(|resting| i128::from(resting.open)).sum();
        }
        let Some(stop) = queue.iter().position(|resting| self.is_prevented(incoming, resting)) else {
            return of_others.map(|resting| i128::from(resting.open)).sum();
        };
        let counts = |resting: &&Working| {
            let with_hidden = resting.price != queue[stop].price;
            i128::from(if with_hidden { resting.open } else { resting.shown })
        };
        queue[..stop].iter().map(counts).sum()
    }
}
