//! Lock-step: which orders are taken when.
//!
//! Strategies write at the same time, so the order of their messages across journals is chance. In lock-step td waits
//! until everybody else has nothing to do, notes how far each strategy has written, and takes exactly that much, journal
//! by journal in the order of seats, before it looks at anything else. What is taken is then a function of what was
//! published, and of nothing else.

use node::{InputId, Node, Quiescence, RunError};

/// The batch that is being taken, or the wait for the next.
#[derive(Debug)]
pub(super) struct Batches {
    /// Every journal but those of orders.
    others: Quiescence,
    /// Those of orders.
    orders: Quiescence,
    /// By watched journal of orders: its input.
    inputs: Vec<InputId>,
    /// By input: taken up to here.
    taken: Vec<u64>,
    /// By input: end of the batch.
    ends: Vec<u64>,
}

const PREFIX: &str = "orders.";

impl Batches {
    pub(super) fn watch(node: &Node, inputs: &[InputId]) -> Result<Batches, RunError> {
        let failed = |error: &dyn std::fmt::Display| RunError::failed(format!("lock-step: {error}"));
        let others = Quiescence::watch(node.instance(), |name| !name.starts_with(PREFIX))
            .map_err(|error| failed(&error))?;
        let orders = Quiescence::watch(node.instance(), |name| name.starts_with(PREFIX))
            .map_err(|error| failed(&error))?;
        let input_of = |name: &str| {
            inputs
                .iter()
                .copied()
                .find(|input| node.inputs().get(input.0).is_some_and(|input| input.name() == name))
        };
        let watched: Option<Vec<InputId>> =
            orders.journals().iter().map(|journal| input_of(&journal.shape().name)).collect();
        let inputs = watched.ok_or_else(|| failed(&"a journal of orders is not read by td"))?;
        let positions: Vec<u64> = node.inputs().iter().map(|input| input.position()).collect();
        Ok(Batches { others, orders, inputs, ends: positions.clone(), taken: positions })
    }

    /// True while a batch is being taken.
    pub(super) fn is_open(&self) -> bool {
        self.taken.iter().zip(&self.ends).any(|(taken, end)| taken < end)
    }

    /// Opens the next batch if there is one and everybody else is quiet. True when orders wait for that.
    pub(super) fn advance(&mut self) -> bool {
        if self.is_open() || !self.has_orders() {
            return false;
        }
        if !self.others.is_quiet() {
            return true;
        }
        // Only now: what was written before the quiet is all there will be.
        for (journal, input) in self.orders.journals().iter().zip(&self.inputs) {
            self.ends[input.0] = journal.head();
        }
        false
    }

    fn has_orders(&self) -> bool {
        self.orders
            .journals()
            .iter()
            .zip(&self.inputs)
            .any(|(journal, input)| journal.head() > self.taken[input.0])
    }

    /// Whether the frame at `position` of this input belongs to the batch.
    pub(super) fn takes(&mut self, input: InputId, position: u64) -> bool {
        self.taken[input.0] = position;
        position < self.ends[input.0]
    }
}
