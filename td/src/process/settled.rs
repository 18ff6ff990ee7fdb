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
        self.unsettled.is_empty()
            || !self.unsettled.iter().any(|(waiting, wrote)| *waiting == input && !self.is_committed(*wrote))
    }

    /// Moves the cursors of those whose requests are committed now. At once: their traces in `td.orders` last only until
    /// the ring has gone round, and others may write there next.
    pub(super) fn settle(&mut self, context: &mut Context) {
        if self.unsettled.is_empty() {
            return;
        }
        let waiting = std::mem::take(&mut self.unsettled);
        for (input, wrote) in waiting {
            if self.is_committed(wrote) {
                context.finish(input);
            } else {
                self.unsettled.push((input, wrote));
            }
        }
    }
}
