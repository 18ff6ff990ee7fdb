//! `[matching]`.

use std::time::Duration;

use serde_json::{Map, Value as Json};
use settings::schema::{Absent, DAY_NS, Kind, Section};
use settings::{duration, section, words};

use super::RunConfig;
use super::exchange::{PhaseStart, RuleSet, SelfTradeRule, TickRow, UtcOffset};
use super::latency::{Latency, Queue};
use super::recorded::{CallAuctionRule, SelfTradeOwner};
use crate::services::NodeKind;

words! {
    /// What strategies' orders trade with.
    pub enum Fill ("way to fill orders") {
        /// The order book that the recorded market's orders rest in too.
        Book = "book",
        /// The latest quote.
        Quotes = "quotes",
        /// Each other, by the rules of an exchange with phases and auctions.
        Exchange = "exchange",
        /// Whoever a market outside matches them with: `program` carries them there, and brings back what became of them.
        External = "external",
    }
}

words! {
    /// What happens to new orders while an execution of the market outside is not booked.
    pub enum OnUnbooked ("thing to do while an execution is not booked") {
        /// New orders and replaces are refused until an operator settles it; cancels go out.
        Stop = "stop",
        /// Orders go on.
        GoOn = "go-on",
    }
}

section! {
    /// Where orders meet. `rules` to `statistics` are the exchange's (`fill = "exchange"`).
    pub struct MatchingConfig {
        /// What strategies' orders trade with.
        fill: Fill = Fill::Quotes, Absent::Derived("quotes for md.source = \"sim\", book for recorded days, exchange for md.source = \"exchange\"");
        /// The path of the program that takes the orders out (relative to the file). It has matching's seat, journals and name
        /// (`fill = "external"`).
        program: String = String::new(), Absent::Derived("matching itself");
        /// Handed to that program as they are.
        params: Json = Json::Object(Map::new());
        /// What happens to new orders while that market has an execution that is not booked: a cancelled or corrected trade, a trade of an order that
        /// had ended, a part of a lot, a position that differs (`fill = "external"`). `colo venue` lists and settles it.
        on_unbooked: OnUnbooked = OnUnbooked::Stop;
        /// What happens when an order would trade with one of its owner, and does not say itself.
        self_trade: SelfTradeRule = SelfTradeRule::AsRules;
        /// Whose orders that holds for. An exchange knows strategies and accounts.
        self_trade_owner: SelfTradeOwner = SelfTradeOwner::AsRules;
        /// At one price, displayed orders trade before hidden ones (`fill = "book"`): as on Nasdaq and BATS. false: at the
        /// price of a hidden order's trade nobody is filled.
        displayed_first: bool = false;
        /// What strategies' orders do in a call auction or a halt of the recorded market.
        call_auctions: CallAuctionRule = CallAuctionRule::Refuse;
        /// Where a strategy's resting order stands among those of the recorded or quoted market at its price.
        queue: Queue = Queue::Through, Absent::Derived("position for fill = \"book\", through for fill = \"quotes\"");
        /// Lock-step only: market time from when a strategy sends a request until the market has it. It counts from the latest
        /// market event, so the market data's way is part of it. A duration, or a table that says how it is drawn.
        order_latency: Latency = Latency::NONE;
        /// Lock-step only: market time from when something happens to an order until td, the ledger and its strategy know.
        report_latency: Latency = Latency::NONE;
        /// Seed of delays that are drawn.
        latency_seed: u64 = 1;
        /// The rules that differ between markets.
        rules: RuleSet = RuleSet::Plain;
        /// Tables of ticks by price; none: the instruments' own ticks.
        ticks: Vec<TickRow> = Vec::new() => Kind::Tables(<TickRow as Section>::TABLE);
        /// How far the market's clock is ahead of UTC, for phases that begin at a time of day.
        utc_offset: UtcOffset = UtcOffset::default();
        /// The day, by ascending times; none: continuous trading from the start.
        phases: Vec<PhaseStart> = Vec::new() => Kind::Tables(<PhaseStart as Section>::TABLE);
        /// How far a trade may lie from the last price, as a fraction of it; what would go further begins a volatility
        /// auction. 0: anywhere.
        band: f64 = 0.0 => Kind::Number { min: 0.0, max: 1.0 };
        /// How long a volatility auction lasts.
        #[serde(with = "duration")]
        band_auction: Duration = Duration::from_secs(5) => Kind::Duration { min_ns: 1_000_000, max_ns: DAY_NS };
        /// Time between two snapshots of a book in `matching.market`, from which late readers take it up.
        #[serde(with = "duration")]
        snapshot: Duration = Duration::from_secs(1) => Kind::Duration { min_ns: 10_000_000, max_ns: DAY_NS };
        /// Least time between two messages of an instrument's statistics: open, high, low, last, volume, turnover.
        #[serde(with = "duration")]
        statistics: Duration = Duration::from_millis(100) => Kind::Duration { min_ns: 1_000_000, max_ns: DAY_NS };
        /// The books' own memory lies on huge pages of the default size, if enough are free when matching starts (up to 8
        /// MiB); else on ordinary pages, and matching's log says so.
        huge_pages: bool = false;
        /// How it waits, and whether it is started again.
        #[serde(flatten)]
        run: RunConfig = RunConfig::of(NodeKind::Matching);
    }
}

impl MatchingConfig {
    /// Whether requests or reports are ever under way.
    pub fn has_latency(&self) -> bool {
        self.order_latency != Latency::NONE || self.report_latency != Latency::NONE
    }
}
