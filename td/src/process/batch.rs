//! Lock-step: in which order requests are taken.
//!
//! Strategies write concurrently, so the order of their requests across journals is random. In lock-step td waits until
//! all other nodes are idle, notes how far each strategy has written, and takes exactly these requests, journal by journal
//! in the order of seats, before it reads anything else. What is taken then depends on what was published only. What the
//! ledger asks for is taken so too: it writes while matching does.
//!
//! md writes a message to several journals one after the other. Until it is in all of them td takes no batch and reads no execution:
//! a strategy hears a report behind the market's message that caused it, whichever journal it reads.
//!
//! md waits until all requests are answered, so strategies that answer each other without end would block it for ever:
//! requests between two of its messages are counted, and bounded.

use node::{InputId, MarketDues, Node, Quiescence, RunError};
use topology::Stream;

use super::extent::Extent;

/// The batch that is being taken, or the wait for the next.
#[derive(Debug)]
pub(super) struct Batches {
    /// Every journal but those of orders, and of what the ledger asks for.
    others: Quiescence,
    /// Those of orders.
    orders: Quiescence,
    /// The input of each watched journal of orders.
    inputs: Vec<InputId>,
    extent: Extent,
    /// md's journals.
    market: Quiescence,
    /// A message that md has not written to all of them yet.
    half_written: MarketDues,
    /// At the begin of this turn there was such a message.
    waits: bool,
    /// In this turn an execution was not read because of one.
    refused: bool,
    /// Position of md's journals when the first batch of this event was opened.
    event: u64,
    requests: Requests,
}

/// The requests at one market event.
#[derive(Debug)]
struct Requests {
    /// 0: no limit.
    limit: u64,
    total: u64,
    /// By input: its writer.
    names: Vec<String>,
    /// By input.
    counts: Vec<u64>,
}

/// Most strategies that an error names.
const NAMED: usize = 10;

impl Batches {
    pub(super) fn watch(node: &Node, inputs: &[InputId], limit: u64) -> Result<Batches, RunError> {
        let failed = |error: &dyn std::fmt::Display| RunError::failed(format!("lock-step: {error}"));
        let is_requests = |name: &str| matches!(Stream::of(name), Some(Stream::Requests | Stream::Risk));
        let others =
            Quiescence::watch(node.instance(), |name| !is_requests(name)).map_err(|error| failed(&error))?;
        let orders = Quiescence::watch(node.instance(), is_requests).map_err(|error| failed(&error))?;
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
        let names = node.inputs().iter().map(|input| input.peer.clone()).collect();
        let is_market = |name: &str| Stream::of(name).is_some_and(Stream::is_market_data);
        let market = Quiescence::watch(node.instance(), is_market).map_err(|error| failed(&error))?;
        let half_written = MarketDues::of_md(node).map_err(|error| failed(&error))?;
        Ok(Batches {
            half_written,
            waits: false,
            refused: false,
            market,
            event: 0,
            requests: Requests::new(limit, names),
            others,
            orders,
            inputs,
            extent: Extent::new(positions),
        })
    }

    /// True while a batch is being taken.
    pub(super) fn is_open(&self) -> bool {
        self.extent.is_open()
    }

    /// A turn begins. True when md is writing a message: td looks again soon.
    pub(super) fn begin_turn(&mut self) -> bool {
        self.refused = false;
        self.waits = self.half_written.earliest().is_some();
        self.waits
    }

    /// True when an execution waits for a message that md began to write after the turn had begun: nobody wakes td for it.
    pub(super) fn is_wanted(&self) -> bool {
        self.refused && !self.waits
    }

    /// Where md's journals were when the latest batch was opened: it grows from event to event.
    pub(super) fn event(&self) -> u64 {
        self.event
    }

    /// Opens the next batch if there is one and all other nodes are idle. True when requests wait for that.
    pub(super) fn advance(&mut self) -> bool {
        if self.is_open() || !self.has_orders() {
            return false;
        }
        // A request that answers half a message was written behind md's word that there is more: that word is looked for last.
        if !self.others.is_quiet() || self.half_written.earliest().is_some() {
            return true;
        }
        let event = self.market.journals().iter().map(|journal| journal.head()).sum();
        if event != self.event {
            self.event = event;
            self.requests.start();
        }
        // Only now: no strategy writes before the next market event.
        let heads = self.orders.journals().iter().map(|journal| journal.head());
        self.extent.open(self.inputs.iter().copied().zip(heads));
        false
    }

    fn has_orders(&self) -> bool {
        self.orders
            .journals()
            .iter()
            .zip(&self.inputs)
            .any(|(journal, input)| journal.head() > self.extent.taken(*input))
    }

    /// Whether the frame at `position` of this input is the next of the batch.
    pub(super) fn takes(&mut self, input: InputId, position: u64) -> bool {
        self.extent.takes(input, position)
    }

    /// Whether executions are read, given whether requests wait for room.
    pub(super) fn reads_executions(&mut self, requests_wait: bool) -> bool {
        if self.half_written.earliest().is_some() {
            self.refused = true;
            return false;
        }
        self.extent.reads_executions(requests_wait)
    }

    /// Counts a request of the batch.
    ///
    /// # Errors
    /// [`RunError::GivesUp`] when there were too many requests at this market event.
    pub(super) fn count(&mut self, input: InputId) -> Result<(), RunError> {
        self.requests.count(input.0).map_err(RunError::GivesUp)
    }
}

impl Requests {
    fn new(limit: u64, names: Vec<String>) -> Requests {
        Requests { limit, total: 0, counts: vec![0; names.len()], names }
    }

    /// The next market event.
    fn start(&mut self) {
        self.total = 0;
        self.counts.fill(0);
    }

    fn count(&mut self, input: usize) -> Result<(), String> {
        self.total += 1;
        self.counts[input] += 1;
        if self.limit > 0 && self.total > self.limit { Err(self.excess()) } else { Ok(()) }
    }

    /// The strategies by their number of requests, most first.
    #[cold]
    fn excess(&self) -> String {
        let mut asked: Vec<(&String, u64)> = self.names.iter().zip(self.counts.iter().copied()).collect();
        asked.retain(|(_, count)| *count > 0);
        asked.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let mut named: Vec<String> =
            asked.iter().take(NAMED).map(|(name, count)| format!("{name} {count}")).collect();
        if asked.len() > NAMED {
            let rest = &asked[NAMED..];
            named.push(format!("{} others {}", rest.len(), rest.iter().map(|(_, count)| count).sum::<u64>()));
        }
        format!(
            "lock-step: more than {} requests at one market event ({}); strategies that answer each other without end \
             never let the next event come: change them, or raise platform.lock_step_limit",
            self.limit,
            named.join(", ")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requests(limit: u64, strategies: usize) -> Requests {
        Requests::new(limit, (0..strategies).map(|number| format!("makers-{number}")).collect())
    }

    #[test]
    fn one_request_too_many_at_one_event_names_the_strategies() {
        let mut requests = requests(5, 3);
        for _ in 0..2 {
            requests.start();
            assert!([0, 2, 2, 0, 2].into_iter().all(|input| requests.count(input).is_ok()));
        }
        let error = requests.count(0).unwrap_err();
        assert!(
            error.contains("more than 5 requests") && error.contains("(makers-0 3, makers-2 3)"),
            "{error}"
        );
    }

    #[test]
    fn of_many_strategies_those_with_the_most_requests_are_named() {
        let mut requests = requests(1_000, 60);
        let error = (0..=1_000).find_map(|count| requests.count(count * count % 50).err()).unwrap();
        let named = error.matches("makers-").count();
        assert_eq!(named, NAMED, "{error}");
        let counts: u64 = error
            .split(&['(', ')'][..])
            .nth(1)
            .unwrap()
            .split(", ")
            .map(|part| part.rsplit(' ').next().unwrap().parse::<u64>().unwrap())
            .sum();
        assert_eq!(counts, 1_001, "{error}");
    }

    #[test]
    fn without_a_limit_any_number_of_requests_is_taken() {
        let mut requests = requests(0, 1);
        assert!((0..1_000_000).all(|_| requests.count(0).is_ok()));
    }
}
