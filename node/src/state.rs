//! The numbers in a seat's record, with their meaning.

use serde::{Deserialize, Serialize};
use topology::NodeKind;
use topology::config::Mode;
use wire::{Irregularity, OrderStatus};

macro_rules! numbered {
    ($(#[$doc:meta])* $name:ident { $($(#[$member_doc:meta])* $member:ident = $value:literal => $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum $name { $($(#[$member_doc])* $member = $value,)* }

        impl $name {
            /// The number that stands in shared memory.
            pub fn to_word(self) -> u64 {
                self as u64
            }

            /// `None` for a number that no version of ours writes.
            pub fn from_word(word: u64) -> Option<$name> {
                match word { $($value => Some($name::$member),)* _ => None }
            }

            /// As it is printed.
            pub fn as_str(self) -> &'static str {
                match self { $($name::$member => $text,)* }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

numbered! {
    /// Where a node stands.
    ///
    /// ```text
    ///            start        register         ready           source at its end
    ///   Empty ──────► Starting ──────► Joined ──────► Running ─────► Finished
    ///     ▲              │                │              │  stop          │ stop
    ///     │              └─────────┬──────┴──────────────┤◄───────────────┘
    ///     │  started again         ▼ killed, error       ▼
    ///     │   Starting ◄────────  Dead  ◄─────────── Stopping ──────► Stopped
    ///     │                        │ master gives up
    ///     └──────── Failed ◄───────┘
    /// ```
    NodeState {
        /// Nobody has sat here.
        Empty = 0 => "empty",
        /// Its process was started and has not registered yet.
        Starting = 1 => "starting",
        /// Registered; sets itself up.
        Joined = 2 => "joined",
        /// Polls, and does what it is there for.
        Running = 3 => "running",
        /// Runs, but its source has no more to give.
        Finished = 4 => "finished",
        /// Was asked to stop and is at it.
        Stopping = 5 => "stopping",
        /// Left in good order.
        Stopped = 6 => "stopped",
        /// Its process ended without leaving, or left with an error.
        Dead = 7 => "dead",
        /// The same, and master does not start it again.
        Failed = 8 => "failed",
    }
}

numbered! {
    /// Where the whole platform stands.
    Phase {
        /// Nodes are still joining. md holds its first quote back.
        Starting = 0 => "starting",
        /// Everybody is there.
        Running = 1 => "running",
        /// On the way down.
        Stopping = 2 => "stopping",
    }
}

/// Kind and wait mode, as they share a word of the seat's record.
pub fn kind_word(kind: NodeKind, mode: Mode) -> u64 {
    let number: u64 = match mode {
        Mode::Fast => 1,
        Mode::Parked => 2,
        Mode::Adaptive { .. } => 3,
        Mode::Napping { .. } => 4,
    };
    kind.to_word() | number << 16
}

/// Kind and the printed name of the wait mode; `None` for words that no version of ours writes.
pub fn read_kind_word(word: u64) -> Option<(NodeKind, &'static str)> {
    let mode = match word >> 16 & 0xffff {
        1 => "fast",
        2 => "parked",
        3 => "adaptive",
        4 => "napping",
        _ => return None,
    };
    Some((NodeKind::from_word(word & 0xffff)?, mode))
}

macro_rules! counters {
    ($($(#[doc = $doc:literal])+ $member:ident = $value:literal => $text:literal,)*) => {
        /// A node's counters: each written by one process alone, read by everybody. They belong to the seat: a process
        /// that is started again goes on from where its predecessor stood. Of what a killed one did last, at most one
        /// message is missing; what it had read and not passed is counted again.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(usize)]
        pub enum Counter { $($(#[doc = $doc])+ $member = $value,)* }

        impl Counter {
            /// All of them with the names that they have in JSON.
            pub const ALL: &[(Counter, &'static str)] = &[$((Counter::$member, $text),)*];

            /// What it counts, in words.
            pub fn help(self) -> &'static str {
                match self { $(Counter::$member => concat!($($doc),+).trim_start(),)* }
            }
        }
    };
}

counters! {
    /// Frames read.
    FramesRead = 0 => "frames_read",
    /// Writes that found their journal full.
    Full = 2 => "full",
    /// Times that a loose reader was overtaken.
    Gaps = 3 => "gaps",
    /// Bytes lost that way.
    BytesLost = 4 => "bytes_lost",
    /// Sleeps.
    Parks = 5 => "parks",
    /// Short sleeps by the clock, from which nobody has to wake it, or only for what may not wait.
    Naps = 45 => "naps",
    /// Sleeps that somebody ended.
    Wakes = 6 => "wakes",
    /// Sleeps that the safety time-out ended.
    WaitTimeouts = 7 => "wait_timeouts",
    /// Of those: with news that should have ended them. Must stay zero.
    WaitTimeoutsWithData = 8 => "wait_timeouts_with_data",
    /// Frames that were no message: counted and passed over.
    Malformed = 9 => "malformed",
    /// Quotes published (md) or handled (others).
    Quotes = 10 => "quotes",
    /// Trade prints published or handled.
    Trades = 11 => "trades",
    /// Order-flow events published or handled.
    BookEvents = 12 => "book_events",
    /// Orders sent (strategy) or taken (td, matching).
    Orders = 13 => "orders",
    /// Cancels sent or taken.
    Cancels = 14 => "cancels",
    /// Orders refused.
    Rejects = 15 => "rejects",
    /// Fills made (matching), passed on (td), booked (ledger), received (strategy).
    Fills = 16 => "fills",
    /// Of the trades that matching made: those with an order of this instance on both sides, which are two fills each.
    OwnTrades = 46 => "own_trades",
    /// Orders that worked and were cancelled because a killed matching's books could not be found again.
    OrdersLost = 58 => "orders_lost",
    /// Requests refused because the market was closed.
    ClosedRejects = 59 => "closed_rejects",
    /// In a replay of a run that was not in lock-step: times that a strategy read the clock or set a timer.
    ClockReads = 60 => "clock_reads",
    /// Messages that could not be delivered and were given up.
    Undelivered = 17 => "undelivered",
    /// Rows or records read from a source.
    SourceMessages = 18 => "source_messages",
    /// Of those: left out on purpose.
    SourceSkipped = 19 => "source_skipped",
    /// Of those: not understood.
    SourceRejected = 20 => "source_rejected",
    /// Events that contradict the state that they meet.
    Anomalies = 21 => "anomalies",
    /// Largest lateness of a scheduled publication so far, in nanoseconds.
    LatenessMax = 22 => "lateness_max_ns",
    /// Nodes that a relay woke.
    Relayed = 23 => "relayed",
    /// Calls of a strategy that took longer than its time budget.
    Overruns = 24 => "overruns",
    /// Longest of them, in nanoseconds.
    OverrunMax = 25 => "overrun_max_ns",
    /// Replaces sent or taken.
    Replaces = 27 => "replaces",
    /// Cancels refused.
    CancelRejects = 28 => "cancel_rejects",
    /// Replaces refused.
    ReplaceRejects = 29 => "replace_rejects",
    /// Times that the host's clock source changed under the platform. Master counts this and the next in its own seat.
    ClockChanges = 56 => "clock_changes",
    /// Times that the file system of rings on huge pages was gone.
    RingsHidden = 57 => "rings_hidden",
    /// Looks at one of the node's threads, to see whether it is where the plan says. Master counts these two.
    PlaceSamples = 30 => "place_samples",
    /// Of those: it was not.
    OffPlan = 31 => "off_plan",
    /// Orders of a source dropped because their number was given out again.
    SourceDisplaced = 32 => "source_displaced",
    /// Rows that took more from an order than was left of it.
    SourceExcess = 33 => "source_excess",
    /// Orders that rest from before a source's first row.
    SourcePrior = 34 => "source_prior",
    /// Orders of a source dropped because a later row proves them gone.
    SourceStale = 35 => "source_stale",
    /// Of those displaced: where a file of several sessions begins anew.
    SourceAtSeams = 36 => "source_at_seams",
    /// Rows whose time is out of order.
    SourceOffTime = 37 => "source_off_time",
    /// Rows off the price or side of the order that they name, or whose price is far off the market.
    SourceOffPrice = 38 => "source_off_price",
    /// Rows off the quantity of the order that they end, or off their own money.
    SourceOffQuantity = 39 => "source_off_quantity",
    /// Rows about an order that is not there, and rows that come again.
    SourceUnmatched = 40 => "source_unmatched",
    /// Orders with the number of one that is gone.
    SourceReused = 41 => "source_reused",
    /// Files whose last row has no line end.
    SourceUnended = 42 => "source_unended",
    /// Of the rows left out: about an order that the source never added.
    SourceUnknown = 43 => "source_unknown",
    /// Orders that a later row of continuous trading proves gone, and quotes held back because the book was crossed
    /// outside of a call auction.
    SourceCrossed = 44 => "source_crossed",
    /// Writes to disk that were synced.
    Syncs = 49 => "syncs",
    /// Bytes of journals on disk.
    BytesRecorded = 50 => "bytes_recorded",
    /// No counter: since when the disk refuses to write, in nanoseconds since the epoch; 0 while it does not.
    DiskRefusesSince = 51 => "disk_refuses_since",
    /// Of the orders that td took: they answer a quote of before a recovery, and are not timed.
    OrdersOfOldQuotes = 52 => "orders_of_old_quotes",
    /// No counter: 1 while a strategy hears the market of before its start; 0 from then on.
    WarmingUp = 61 => "warming_up",
    /// No counter: in lock-step, when by the market's time the node has something to do of its own, in nanoseconds since the
    /// epoch; 0: nothing. In md's seat the time of a message that is not in all its journals yet.
    MarketDue = 48 => "market_due_ns",
    /// Times at which md announced the market's time to its readers in lock-step.
    MarketTimes = 47 => "market_times",
    /// Accounts that were asked for more money; each once, until it has enough.
    MarginCalls = 62 => "margin_calls",
    /// Orders that close positions by force.
    ForcedOrders = 63 => "forced_orders",
    /// Times that the book of an instrument became too wide for its mid to be the mark.
    WideBooks = 53 => "wide_books",
    /// No counter: executions of a market outside that are not booked, until an operator settles them. Must be zero.
    Unbooked = 64 => "unbooked",
    /// No counter: number of the recording's first block that is not on disk; 0 before a segment was begun.
    BlocksOnDisk = 65 => "blocks_on_disk",
    /// Records that the vendor marks as of a book that may be bad.
    SourceDoubted = 66 => "source_doubted",
    /// Continuous contracts of which one contract follows another.
    SourceRolled = 67 => "source_rolled",
    /// Quotes whose best bid or ask holds an order from before a source's first row, which only later rows name.
    SourcePriorQuotes = 68 => "source_prior_quotes",
    /// No counter: bytes that the ring of the node's state (`ledger.state`, `matching.state`) needs, where it is too small for
    /// what it has to hold. Must be zero.
    StateNeeds = 69 => "state_needs",
    /// No counter: the same of the ring for snapshots of the accounts, `ledger.desk`.
    DeskNeeds = 70 => "desk_needs",
    /// No counter: orders that td has to end and that have not ended. Before a successor of td knows its orders: 1.
    MustEnd = 71 => "must_end",
}

impl Counter {
    /// Where a refusal is counted; `None` for what is none.
    #[inline]
    pub fn of_refusal(status: OrderStatus) -> Option<Counter> {
        match status {
            OrderStatus::Rejected => Some(Counter::Rejects),
            OrderStatus::CancelRejected => Some(Counter::CancelRejects),
            OrderStatus::ReplaceRejected => Some(Counter::ReplaceRejects),
            _ => None,
        }
    }

    /// Where md counts an irregularity of its source.
    pub fn of_irregularity(kind: Irregularity) -> Counter {
        match kind {
            Irregularity::Displaced => Counter::SourceDisplaced,
            Irregularity::Excess => Counter::SourceExcess,
            Irregularity::Prior => Counter::SourcePrior,
            Irregularity::PriorQuotes => Counter::SourcePriorQuotes,
            Irregularity::Stale => Counter::SourceStale,
            Irregularity::AtSeams => Counter::SourceAtSeams,
            Irregularity::OffTime => Counter::SourceOffTime,
            Irregularity::OffPrice => Counter::SourceOffPrice,
            Irregularity::OffQuantity => Counter::SourceOffQuantity,
            Irregularity::Unmatched => Counter::SourceUnmatched,
            Irregularity::Reused => Counter::SourceReused,
            Irregularity::Unended => Counter::SourceUnended,
            Irregularity::Doubted => Counter::SourceDoubted,
            Irregularity::Rolled => Counter::SourceRolled,
            Irregularity::Unknown => Counter::SourceUnknown,
            Irregularity::Crossed => Counter::SourceCrossed,
        }
    }
}

/// A word among the counters that is none: see [`crate::held`].
pub(crate) const CALL_WORD: usize = 26;

/// Two more: the latest ask for new parameters, and the answer to it plus one. See [`crate::intent`].
pub const ASK_WORD: usize = 54;
/// 0: the process in the seat does not listen.
pub const ANSWER_WORD: usize = 55;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_irregularity_has_the_counter_of_its_name() {
        for &kind in Irregularity::ALL {
            let counter = Counter::of_irregularity(kind);
            let name = Counter::ALL.iter().find(|(known, _)| *known == counter).map(|(_, name)| *name);
            assert_eq!(name, Some(format!("source_{}", kind.as_str()).as_str()));
        }
    }

    #[test]
    fn words_keep_their_meaning() {
        let word = kind_word(NodeKind::Td, Mode::Adaptive { spin: std::time::Duration::from_nanos(5) });
        assert_eq!(read_kind_word(word), Some((NodeKind::Td, "adaptive")));
        assert_eq!(read_kind_word(0), None);
        assert_eq!(NodeState::from_word(NodeState::Finished.to_word()), Some(NodeState::Finished));
        assert_eq!(NodeState::from_word(99), None);
    }

    #[test]
    fn counters_fit_the_record_and_have_names_of_their_own() {
        let mut names: Vec<&str> = Counter::ALL.iter().map(|(_, name)| *name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Counter::ALL.len());
        let others = [CALL_WORD, ASK_WORD, ANSWER_WORD];
        assert!(Counter::ALL.iter().all(|(counter, _)| !others.contains(&(*counter as usize))));
        let last = Counter::ALL.iter().map(|(counter, _)| *counter as usize).max();
        use journal::layout::registry;
        let count = registry::ALL_COUNTER_COUNT + registry::LATER_COUNTER_COUNT;
        assert!(last.is_some_and(|last| last < count));
    }
}
