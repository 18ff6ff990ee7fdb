//! The epochs of the strategies' journals of orders, and which of them are over.
//!
//! A strategy that is restarted writes its journal of orders under a newer epoch, which is in every frame and in every
//! order's id. It separates the requests of a dead process from those of its successor, also for a td that did not run at
//! the time of the restart.

use std::collections::BTreeMap;

use node::{Frame, InputId, Node, Quiescence, RunError, WriterState};
use wire::{NodeChange, NodeEvent, StrategyId};

#[derive(Debug)]
pub(super) struct Epochs {
    /// The journals of orders, for the states of their writers.
    orders: Quiescence,
    /// Index of its journal in `orders`, and its input.
    places: BTreeMap<StrategyId, (usize, InputId)>,
    /// By input: the first epoch that is not over.
    first: Vec<u32>,
    /// Process id of the last process of each strategy that left or died.
    ended: BTreeMap<StrategyId, u32>,
    /// Epochs of each strategy that are over and whose orders work on, since its last death or plain leave.
    kept: BTreeMap<StrategyId, u32>,
    /// Senders whose orders do not end with their process; their epochs are never over.
    lasting: Vec<StrategyId>,
}

impl Epochs {
    /// `lasting`: senders whose orders do not end with their process.
    pub(super) fn watch(node: &Node, inputs: &[InputId], lasting: &[StrategyId]) -> Result<Epochs, RunError> {
        let name_of =
            |input: &InputId| node.inputs().get(input.0).map(|input| (input.name(), input.peer_seat));
        let orders = Quiescence::watch(node.instance(), |name| {
            inputs.iter().filter_map(name_of).any(|(known, _)| known == name)
        })
        .map_err(|error| RunError::failed(format!("journals of orders: {error}")))?;
        let place = |input: &InputId| {
            let (name, seat) = name_of(input)?;
            let index = orders.journals().iter().position(|journal| journal.shape().name == name)?;
            Some((StrategyId(seat as u16), (index, *input)))
        };
        Ok(Epochs {
            places: inputs.iter().filter_map(place).collect(),
            lasting: lasting.to_vec(),
            orders,
            first: vec![0; node.inputs().len()],
            ended: BTreeMap::new(),
            kept: BTreeMap::new(),
        })
    }

    /// A strategy left or died.
    pub(super) fn end(&mut self, event: &NodeEvent) {
        self.ended.insert(StrategyId(event.seat), event.pid);
        match event.change {
            NodeChange::Paused => *self.kept.entry(StrategyId(event.seat)).or_default() += 1,
            _ => drop(self.kept.remove(&StrategyId(event.seat))),
        }
        self.update(StrategyId(event.seat));
    }

    /// How many of a strategy's epochs before the oldest that is not over have orders that work on.
    pub(super) fn kept(&self, strategy: StrategyId) -> u32 {
        self.kept.get(&strategy).copied().unwrap_or(0)
    }

    /// Reads the oldest epoch of a strategy that is not over; `None`: it has no journal here. The latest epoch is over too
    /// when master has reported the end of its process. A process that only looks dead may live in another pid namespace.
    pub(super) fn update(&mut self, strategy: StrategyId) -> Option<u32> {
        let (index, input) = self.places.get(&strategy).filter(|_| !self.lasting.contains(&strategy))?;
        let stat = self.orders.journals().get(*index)?.stat();
        let is_over = match stat.writer {
            WriterState::Closed => true,
            WriterState::Dead(process) => self.ended.get(&strategy) == Some(&process.pid),
            WriterState::Attached(_) | WriterState::Never => false,
        };
        let first = (stat.epoch as u32).wrapping_add(u32::from(is_over));
        *self.first.get_mut(input.0)? = first;
        Some(first)
    }

    /// A strategy's journal of orders, and its head.
    pub(super) fn written(&self, strategy: StrategyId) -> Option<(InputId, u64)> {
        let (index, input) = self.places.get(&strategy)?;
        Some((*input, self.orders.journals().get(*index)?.head()))
    }

    /// The strategies that have a journal of orders, but for lasting ones.
    pub(super) fn strategies(&self) -> Vec<StrategyId> {
        self.places.keys().filter(|strategy| !self.lasting.contains(strategy)).copied().collect()
    }

    /// True when the process that wrote this frame has ended.
    #[inline]
    pub(super) fn is_over(&self, input: InputId, frame: &Frame<'_>) -> bool {
        self.first.get(input.0).is_some_and(|first| (first.wrapping_sub(frame.epoch) as i32) > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_older_epochs_are_over_also_where_epochs_wrap() {
        let epochs = |first: u32| {
            let orders = Quiescence::none();
            Epochs {
                orders,
                places: BTreeMap::new(),
                first: vec![first],
                ended: BTreeMap::new(),
                kept: BTreeMap::new(),
                lasting: Vec::new(),
            }
        };
        let is_over = |first: u32, epoch: u32| {
            let frame =
                Frame { position: 64, time: 0, message_id: 10, flags: 0, topic: 0, epoch, payload: &[] };
            epochs(first).is_over(InputId(0), &frame)
        };
        assert!(is_over(7, 6) && !is_over(7, 7) && !is_over(7, 8));
        assert!(is_over(0, u32::MAX) && !is_over(u32::MAX, 0));
    }
}
