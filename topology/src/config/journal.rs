//! `[journal]`.

use settings::schema::{Absent, Kind};
use settings::{ByteSize, section, words};

use super::Durability;
use crate::forms;

words! {
    /// Whether rings lie on huge pages.
    pub enum HugePages ("rule for huge pages") {
        /// 4 KiB pages.
        Off = "off",
        /// Where the host has enough of them; else transparent ones, else 4 KiB pages, and it is said so.
        Prefer = "prefer",
        /// Or nothing starts.
        Require = "require",
        /// 4 KiB pages that the kernel is asked to join into transparent huge ones: needs nothing reserved, and may be
        /// taken back when memory gets short.
        Transparent = "transparent",
    }
}

words! {
    /// Size of a huge page.
    pub enum PageSize ("size of a huge page") {
        /// 2 MiB.
        TwoMib = "2MiB",
        /// 1 GiB.
        OneGib = "1GiB",
    }
}

impl PageSize {
    /// In bytes.
    pub(crate) fn bytes(self) -> u64 {
        match self {
            PageSize::TwoMib => 2 << 20,
            PageSize::OneGib => 1 << 30,
        }
    }
}

section! {
    /// The ring of a journal. What a table does not say, the one above it says.
    pub struct RingConfig {
        /// Bytes of the ring: a power of two from 64KiB to 64GiB.
        capacity: Option<ByteSize> = None => Kind::Parsed(&forms::CAPACITY),
            Absent::Derived("of the section above, or else the journal's own, 64KiB to 64MiB");
        /// Whether the ring lies on huge pages.
        huge_pages: Option<HugePages> = None,
            Absent::Derived("of the section above, or else off");
        /// Size of those pages.
        page: Option<PageSize> = None,
            Absent::Derived("of the section above, or else 2MiB");
        /// What is said of its frames, where a recorder is there.
        durability: Option<Durability> = None,
            Absent::Derived("of the section above, or else async; of what no recorder names, none");
    }
}

section! {
    /// `[journal.md]`: all that md writes, and each of it.
    pub struct MdJournals {
        /// For all journals that md writes.
        #[serde(flatten)]
        ring: RingConfig = RingConfig::default();
        /// `md.instruments`: one message an instrument, never lapped.
        instruments: RingConfig = RingConfig::default();
        /// `md.quotes`: quotes and trade prints.
        quotes: RingConfig = RingConfig::default();
        /// `md.best`: best bids and asks, and trade prints.
        best: RingConfig = RingConfig::default();
        /// `md.flow`: the recorded market's order flow, for matching and strategies.
        flow: RingConfig = RingConfig::default();
    }
}

section! {
    /// `[journal.td]`: all that td writes but the reports, and each of it.
    pub struct TdJournals {
        /// For all journals that td writes, but the reports.
        #[serde(flatten)]
        ring: RingConfig = RingConfig::default();
        /// `td.orders`: checked orders, for matching.
        orders: RingConfig = RingConfig::default();
        /// `td.samples`: latency samples, for observers.
        samples: RingConfig = RingConfig::default();
        /// `td.drops`: the drop copy, from which accounts are made.
        drops: RingConfig = RingConfig::default();
    }
}

section! {
    /// `[journal.matching]`: all that matching writes, and each of it.
    pub struct MatchingJournals {
        /// For all journals that matching writes.
        #[serde(flatten)]
        ring: RingConfig = RingConfig::default();
        /// `matching.executions`: order states and fills, for td and ledger.
        executions: RingConfig = RingConfig::default();
        /// `matching.market`: an exchange's own book, trades and phases, for md and whoever follows.
        market: RingConfig = RingConfig::default();
        /// `matching.state`: images of the books, from which a killed matching finds them again. Room for five times
        /// the orders, those of a recorded market too, 128 bytes each; recorded only if its `durability` is said here.
        state: RingConfig = RingConfig::default();
    }
}

section! {
    /// `[journal.ledger]`: all that the ledger writes, and each of it.
    pub struct LedgerJournals {
        /// For all journals that the ledger writes.
        #[serde(flatten)]
        ring: RingConfig = RingConfig::default();
        /// `ledger.state`: snapshots, for strategies that join late.
        state: RingConfig = RingConfig::default();
        /// `ledger.desk`: snapshots of the accounts. Room for four of them.
        desk: RingConfig = RingConfig::default();
        /// `ledger.risk`: marks, and what the ledger asks td to do.
        risk: RingConfig = RingConfig::default();
    }
}

section! {
    /// The rings in shared memory. `[journal]` speaks of all of them, `[journal.md]` of those that md writes,
    /// `[journal.md.quotes]` of that one; the nearest word counts.
    pub struct JournalConfig {
        /// For all journals.
        #[serde(flatten)]
        ring: RingConfig = RingConfig::default();
        /// `master.events`: nodes that come and go.
        master: RingConfig = RingConfig::default();
        /// What md writes.
        md: MdJournals = MdJournals::default();
        /// `orders.STRATEGY`: each strategy's orders, for td.
        orders: RingConfig = RingConfig::default();
        /// What td writes, but the reports.
        td: TdJournals = TdJournals::default();
        /// What matching writes.
        matching: MatchingJournals = MatchingJournals::default();
        /// `reports.STRATEGY`: td's answers to each strategy.
        reports: RingConfig = RingConfig::default();
        /// What the ledger writes.
        ledger: LedgerJournals = LedgerJournals::default();
        /// `desk.entries`: what people and programs change about accounts.
        desk: RingConfig = RingConfig::default();
    }
}
