//! The rules that differ between markets, as data, and ready sets of them.

use wire::{InstrumentId, Nanos, Price, Quantity};

use super::phase::{PHASES, Permission, Phase};
use super::request::SelfTrade;

/// How an auction chooses among the prices that remain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TieBreak {
    /// Those at which all buyers above the price and all sellers below it trade in whole.
    BetterInWhole,
    /// Those that leave the least quantity of one side without a partner.
    LeastImbalance,
    /// If buyers are left over at each of them, the highest; if sellers are, the lowest.
    Pressure,
    /// The one nearest to the reference, of two equally near the higher. The reference is the last trade's price, before the
    /// first trade the instrument's reference price.
    NearestReference,
    /// The middle between the lowest and the highest, rounded up to the tick.
    Middle,
}

/// Where the part of an iceberg order goes that is shown next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IcebergRefresh {
    /// Behind all others at its price.
    Behind,
    /// It keeps its place.
    Keep,
}

/// What becomes of the rest of a market order that is for the day or longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MarketRemainder {
    /// It is cancelled.
    Cancel,
    /// It rests as a limit order at the price of its last trade; without a trade it is cancelled.
    RestAtLastPrice,
}

/// Whose orders must not trade with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Owner {
    /// Those of one strategy.
    Strategy,
    /// Those of one account. [`wire::AccountId::OWN`] is one account for each strategy.
    Account,
}

/// The rules of a market.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarketRules {
    /// Tie-breaks of an auction after the maximum of volume, applied in this order. If several prices remain, the highest.
    pub tie_breaks: Vec<TieBreak>,
    /// Where an iceberg order's next part goes.
    pub iceberg: IcebergRefresh,
    /// What an order does when it would trade with one of the same owner and does not say itself.
    pub self_trade: SelfTrade,
    /// What the same owner means.
    pub owner: Owner,
    /// What becomes of the rest of a market order.
    pub market_remainder: MarketRemainder,
    /// Whether market orders take part in auctions; otherwise they are rejected there.
    pub market_in_auctions: bool,
    /// Whether a replace that keeps the price and does not raise the quantity keeps the order's place.
    pub replace_keeps_place: bool,
    /// By [`Phase`].
    pub permissions: [Permission; PHASES],
}

impl MarketRules {
    /// Least imbalance, then nearest to the reference. Everything is allowed in every phase but the closed one and, in
    /// a halt, new orders.
    pub fn plain() -> MarketRules {
        let mut permissions = [Permission::ALL; PHASES];
        permissions[Phase::Closed.index()] = Permission::CANCEL;
        permissions[Phase::Halt.index()] = Permission::CANCEL;
        MarketRules {
            tie_breaks: vec![TieBreak::LeastImbalance, TieBreak::NearestReference],
            iceberg: IcebergRefresh::Behind,
            self_trade: SelfTrade::CancelNewest,
            owner: Owner::Strategy,
            market_remainder: MarketRemainder::Cancel,
            market_in_auctions: true,
            replace_keeps_place: true,
            permissions,
        }
    }

    /// Shanghai Stock Exchange, shares: no cancels in the last five minutes of the opening auction and in the closing
    /// auction. The price of an auction trades the most; all buyers above it and all sellers below it trade in whole, and at
    /// the price one side does, which follows; then the least is left over, then it is the middle. Source: Trading Rules of
    /// the exchange (2023), 3.3.2, 3.5.2, 3.6.2.
    pub fn shanghai() -> MarketRules {
        let mut rules = MarketRules::plain();
        rules.tie_breaks = vec![TieBreak::BetterInWhole, TieBreak::LeastImbalance, TieBreak::Middle];
        rules.market_in_auctions = false;
        rules.self_trade = SelfTrade::Allow;
        rules.owner = Owner::Account;
        rules.permissions[Phase::OpeningFreeze.index()] = Permission::ENTER;
        rules.permissions[Phase::ClosingAuction.index()] = Permission::ENTER;
        rules.permissions[Phase::ClosingFreeze.index()] = Permission::ENTER;
        rules.permissions[Phase::Pause.index()] = Permission::NONE;
        rules
    }

    /// Shenzhen Stock Exchange, shares: as Shanghai, but nearest to the reference, the rest of a market order may rest at
    /// its last price, and a pause takes orders and cancels. Source: Trading Rules of the exchange (2023), 3.3.4, 3.5.2.
    pub fn shenzhen() -> MarketRules {
        let mut rules = MarketRules::shanghai();
        rules.tie_breaks =
            vec![TieBreak::BetterInWhole, TieBreak::LeastImbalance, TieBreak::NearestReference];
        rules.market_remainder = MarketRemainder::RestAtLastPrice;
        rules.permissions[Phase::Pause.index()] = Permission::ALL;
        rules
    }

    /// A futures market of CME's kind: pressure before reference, no cancels in the last part of the opening auction,
    /// self-trade prevention that cancels the resting order. Source: the exchange's public descriptions of its
    /// indicative opening price, self-match prevention and market states.
    pub fn cme() -> MarketRules {
        let mut rules = MarketRules::plain();
        rules.tie_breaks = vec![TieBreak::LeastImbalance, TieBreak::Pressure, TieBreak::NearestReference];
        rules.self_trade = SelfTrade::CancelOldest;
        rules.owner = Owner::Account;
        rules.market_remainder = MarketRemainder::RestAtLastPrice;
        rules.permissions[Phase::OpeningFreeze.index()] = Permission::ENTER;
        rules.permissions[Phase::Pause.index()] = Permission::CANCEL;
        rules
    }

    /// What may be done in `phase`.
    pub fn permission(&self, phase: Phase) -> Permission {
        self.permissions[phase.index()]
    }
}

impl Default for MarketRules {
    fn default() -> MarketRules {
        MarketRules::plain()
    }
}

/// The distance that a trade's price may have from the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Width {
    /// An amount.
    Price(Price),
    /// Parts in ten thousand of the reference, rounded towards it.
    BasisPoints(u32),
}

/// What keeps continuous trading near its last price.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DynamicBand {
    /// How far from the reference, which is the last trade's price before the request; before the first trade the
    /// instrument's reference price.
    pub width: Width,
    /// How long the volatility auction lasts that begins when a trade beyond the band would follow.
    pub auction: Nanos,
}

/// An instrument and its limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstrumentRules {
    /// Its number.
    pub id: InstrumentId,
    /// Ticks by price: from this price on, this tick. Ascending; the first holds for lower prices too.
    pub ticks: Vec<(Price, Price)>,
    /// Quantities are multiples of this; at least 1.
    pub lot: Quantity,
    /// Largest quantity of one order; zero: no limit of its own.
    pub max_quantity: Quantity,
    /// What auctions and bands start from, or [`Price::NONE`].
    pub reference_price: Price,
    /// Lowest price of an order, or [`Price::NONE`].
    pub price_low: Price,
    /// Highest price of an order, or [`Price::NONE`].
    pub price_high: Price,
    /// Interrupts trading that moves too fast.
    pub dynamic_band: Option<DynamicBand>,
    /// The rules of its market.
    pub market: MarketRules,
}

impl InstrumentRules {
    /// An instrument with one tick, a lot of 1, no limits and plain rules.
    pub fn new(id: InstrumentId, tick: Price) -> InstrumentRules {
        InstrumentRules {
            id,
            ticks: vec![(Price(0), tick)],
            lot: Quantity(1),
            max_quantity: Quantity::ZERO,
            reference_price: Price::NONE,
            price_low: Price::NONE,
            price_high: Price::NONE,
            dynamic_band: None,
            market: MarketRules::plain(),
        }
    }
}
