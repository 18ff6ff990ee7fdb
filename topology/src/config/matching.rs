//! `[matching]`.

use std::time::Duration;

use settings::schema::{Absent, DAY_NS, Kind, Section};
use settings::{duration, section, words};

use super::RunConfig;
use super::recorded::{CallAuctionRule, SelfTradeOwner, SelfTradeRule};
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
    }
}

words! {
    /// A ready set of the rules that differ between markets.
    pub enum RuleSet ("set of rules") {
        /// Everything in every phase; auctions by least imbalance, then nearest to the reference.
        Plain = "plain",
        /// As on the Shanghai Stock Exchange.
        Shanghai = "shanghai",
        /// As on the Shenzhen Stock Exchange.
        Shenzhen = "shenzhen",
        /// As on a futures market of CME's kind.
        Cme = "cme",
    }
}

words! {
    /// A phase of the day.
    pub enum PhaseName ("phase") {
        /// Nothing is taken; orders for the day end.
        Closed = "closed",
        /// Orders are collected for the opening auction; no price is indicated yet.
        PreOpen = "pre-open",
        /// Orders are collected for the opening auction.
        OpeningAuction = "opening-auction",
        /// The last part of the opening auction.
        OpeningFreeze = "opening-freeze",
        /// Nothing trades.
        Pause = "pause",
        /// Incoming orders trade with resting ones.
        Continuous = "continuous",
        /// Trading is interrupted.
        Halt = "halt",
        /// Orders are collected for the closing auction.
        ClosingAuction = "closing-auction",
        /// The last part of the closing auction.
        ClosingFreeze = "closing-freeze",
    }
}

section! {
    /// A phase and its beginning.
    pub struct PhaseStart {
        /// When it begins: time since md listed the instruments.
        #[serde(with = "duration")]
        after: Duration = Duration::ZERO => Kind::Duration { min_ns: 0, max_ns: DAY_NS }, Absent::Required("write after = \"5s\"");
        /// Which one.
        phase: PhaseName = PhaseName::Continuous, Absent::Required("write phase = \"continuous\"");
    }
}

section! {
    /// Where orders meet. `rules` to `snapshot` are the exchange's (`fill = "exchange"`).
    pub struct MatchingConfig {
        /// What strategies' orders trade with.
        fill: Fill = Fill::Quotes, Absent::Derived("quotes for md.source = \"sim\", book for recorded days, exchange for md.source = \"exchange\"");
        /// What happens when an order would trade with one of its owner, and does not say itself.
        self_trade: SelfTradeRule = SelfTradeRule::AsRules;
        /// Whose orders that holds for, beside a recorded or quoted market.
        self_trade_owner: SelfTradeOwner = SelfTradeOwner::Strategy;
        /// At one price, displayed orders trade before hidden ones (`fill = "book"`): as on Nasdaq and BATS. false: at the
        /// price of a hidden order's trade nobody is filled.
        displayed_first: bool = false;
        /// What strategies' orders do in a call auction of the recorded market.
        call_auctions: CallAuctionRule = CallAuctionRule::Refuse;
        /// The rules that differ between markets.
        rules: RuleSet = RuleSet::Plain;
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
        /// The books' own memory lies on huge pages of the default size, if enough are free when matching starts (up to 8
        /// MiB); else on ordinary pages, and matching's log says so.
        huge_pages: bool = false;
        /// How it waits, and whether it is started again.
        #[serde(flatten)]
        run: RunConfig = RunConfig::of(NodeKind::Matching);
    }
}
