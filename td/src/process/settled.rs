//! When a strategy's cursor may pass its last request: once the order or refusal that it led to is committed.

use node::{Context, InputId};

use super::Td;

/// The message that a request led to: it is committed once its journal has this many messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pending {
    /// To `td.orders`.
    Order(u64),
    /// To these reports.
    Report(usize, u64),
    /// To the drop copy: committed with all that waits there.
    Copy,
}

/// Requests whose order or refusal waits for room.
#[derive(Debug, Default)]
pub(super) struct Unsettled(Vec<(InputId, Pending)>);

impl Unsettled {
    pub(super) fn add(&mut self, input: InputId, pending: Pending) {
        self.0.push((input, pending));
    }

    fn is_settled(&self, input: InputId, is_committed: impl Fn(Pending) -> bool) -> bool {
        !self.0.iter().any(|(waiting, pending)| *waiting == input && !is_committed(*pending))
    }

    /// Calls `finish` with the inputs whose last request is committed now.
    fn settle(&mut self, is_committed: impl Fn(Pending) -> bool, mut finish: impl FnMut(InputId)) {
        self.0.retain(|(input, pending)| {
            let is_done = is_committed(*pending);
            if is_done {
                finish(*input);
            }
            !is_done
        });
    }
}

impl Td {
    fn is_committed(&self, pending: Pending) -> bool {
        match pending {
            Pending::Order(count) => self.orders.counts().0 >= count,
            Pending::Copy => self.is_copied(),
            Pending::Report(index, count) => {
                self.reports.get(index).is_none_or(|reports| reports.counts().0 >= count)
            }
        }
    }

    /// True when the order or refusal of this input's last request is committed.
    pub(super) fn has_settled(&self, input: InputId) -> bool {
        self.unsettled.is_settled(input, |pending| self.is_committed(pending))
    }

    /// Moves the cursors past the requests that are committed now. At once: a trace in `td.orders` lasts only until the ring
    /// has gone round.
    pub(super) fn settle(&mut self, context: &mut Context) {
        let mut unsettled = std::mem::take(&mut self.unsettled);
        unsettled.settle(|pending| self.is_committed(pending), |input| context.finish(input));
        self.unsettled = unsettled;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUYER: InputId = InputId(3);
    const SELLER: InputId = InputId(4);

    /// The order of one strategy and the refusal of another wait for room. Executions that wait are not in here: a successor
    /// reads them again.
    fn waiting() -> Unsettled {
        let mut unsettled = Unsettled::default();
        unsettled.add(BUYER, Pending::Order(7));
        unsettled.add(SELLER, Pending::Report(1, 20));
        unsettled
    }

    /// How many messages are committed: to `td.orders`, and to the reports of the one and the other.
    fn committed(orders: u64, reports: [u64; 2]) -> impl Fn(Pending) -> bool {
        move |pending| match pending {
            Pending::Order(count) => orders >= count,
            Pending::Report(index, count) => reports[index] >= count,
            Pending::Copy => true,
        }
    }

    #[test]
    fn a_cursor_stays_before_a_request_until_its_order_or_refusal_is_committed() {
        let mut unsettled = waiting();
        let none = committed(6, [100, 19]);
        assert!(!unsettled.is_settled(BUYER, &none) && !unsettled.is_settled(SELLER, &none));
        unsettled.settle(&none, |input| panic!("{input:?} passes a request that a successor would not know"));
    }

    /// If a cursor waited for others' messages too, the order's trace in `td.orders` could be overwritten before it moves, and
    /// a successor would send the order again.
    #[test]
    fn a_cursor_passes_a_request_at_once_however_long_others_wait() {
        let mut unsettled = waiting();
        let mut passed = Vec::new();
        let order = committed(7, [0, 0]);
        assert!(unsettled.is_settled(BUYER, &order) && !unsettled.is_settled(SELLER, &order));
        unsettled.settle(&order, |input| passed.push(input));
        assert_eq!(passed, [BUYER]);
        unsettled.settle(committed(7, [0, 20]), |input| passed.push(input));
        assert_eq!(passed, [BUYER, SELLER]);
        unsettled.settle(committed(9, [9, 99]), |input| passed.push(input));
        assert_eq!(passed, [BUYER, SELLER], "once each");
    }
}
