//! When a strategy's cursor may pass its last request: once what came of that request is committed, whatever else waits.

use node::{Context, InputId};

use super::Td;

/// What a request made td write, and how many messages the journal must have for it to be committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wrote {
    /// To `td.orders`.
    Order(u64),
    /// To these reports.
    Report(usize, u64),
}

/// Requests of which something waits for room.
#[derive(Debug, Default)]
pub(super) struct Unsettled(Vec<(InputId, Wrote)>);

impl Unsettled {
    pub(super) fn waits(&mut self, input: InputId, wrote: Wrote) {
        self.0.push((input, wrote));
    }

    fn is_settled(&self, input: InputId, is_committed: impl Fn(Wrote) -> bool) -> bool {
        !self.0.iter().any(|(waiting, wrote)| *waiting == input && !is_committed(*wrote))
    }

    /// Calls `finish` with the inputs whose last request is committed now.
    fn settle(&mut self, is_committed: impl Fn(Wrote) -> bool, mut finish: impl FnMut(InputId)) {
        self.0.retain(|(input, wrote)| {
            let is_done = is_committed(*wrote);
            if is_done {
                finish(*input);
            }
            !is_done
        });
    }
}

impl Td {
    fn is_committed(&self, wrote: Wrote) -> bool {
        match wrote {
            Wrote::Order(count) => self.orders.counts().0 >= count,
            Wrote::Report(index, count) => {
                self.reports.get(index).is_none_or(|reports| reports.counts().0 >= count)
            }
        }
    }

    /// True when all that came of the last request of this input is committed.
    pub(super) fn has_settled(&self, input: InputId) -> bool {
        self.unsettled.is_settled(input, |wrote| self.is_committed(wrote))
    }

    /// Moves the cursors of those whose requests are committed now. At once: their traces in `td.orders` last only until
    /// the ring has gone round, and others may write there next.
    pub(super) fn settle(&mut self, context: &mut Context) {
        let mut unsettled = std::mem::take(&mut self.unsettled);
        unsettled.settle(|wrote| self.is_committed(wrote), |input| context.finish(input));
        self.unsettled = unsettled;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUYER: InputId = InputId(3);
    const SELLER: InputId = InputId(4);

    /// The order of one strategy and the refusal of another wait for room; so do executions that both are to be told of, and
    /// which nothing here knows: they come again by themselves.
    fn waiting() -> Unsettled {
        let mut unsettled = Unsettled::default();
        unsettled.waits(BUYER, Wrote::Order(7));
        unsettled.waits(SELLER, Wrote::Report(1, 20));
        unsettled
    }

    /// How many messages are committed: to `td.orders`, and to the reports of the one and the other.
    fn committed(orders: u64, reports: [u64; 2]) -> impl Fn(Wrote) -> bool {
        move |wrote| match wrote {
            Wrote::Order(count) => orders >= count,
            Wrote::Report(index, count) => reports[index] >= count,
        }
    }

    #[test]
    fn a_cursor_stays_before_a_request_until_what_came_of_it_is_committed() {
        let mut unsettled = waiting();
        let none = committed(6, [100, 19]);
        assert!(!unsettled.is_settled(BUYER, &none) && !unsettled.is_settled(SELLER, &none));
        unsettled.settle(&none, |input| panic!("{input:?} passes a request that nobody would know again"));
    }

    /// A cursor that waited for others' messages too would stay until the order's trace in `td.orders` is overwritten, and
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
