//! Entries of a desk's accounts: who has which, with how much money, under which limits, fees and margins.
//!
//! They are written by people and by feeds of reference data, and read by whoever keeps accounts. Nothing is changed in
//! place: each change is an entry, and what a person does names the person and the reason.

use wire_derive::{Described, Enumeration};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, TryFromBytes};

use crate::schema::flags;
use crate::text::{Currency, Text};
use crate::{AccountId, InstrumentId, Price, Side, Symbol, WideMoney};

macro_rules! enumeration {
    ($(#[$doc:meta])* $name:ident { $($(#[$member:meta])* $variant:ident = $value:tt,)* }) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, TryFromBytes, IntoBytes, KnownLayout,
            Immutable, Enumeration,
        )]
        #[repr(u8)]
        pub enum $name { $($(#[$member])* $variant = $value,)* }
    };
}

enumeration! {
    /// By which rules an account trades.
    AccountKind {
        /// Pays for what it buys, and sells only what it holds.
        Cash = 1,
        /// Long or short in an instrument; margin is frozen, profit and loss is paid when a position is closed.
        Margin = 2,
        /// Long and short apart, today's and yesterday's apart; margin is frozen, variation is paid at settlement.
        Futures = 3,
    }
}

enumeration! {
    /// Which cost leaves when part of a position is closed.
    CostMethod {
        /// The average of what is open on that side.
        Average = 1,
        /// That of the oldest.
        Fifo = 2,
        /// The average of that day; settlement sets it to the settlement price.
        Settlement = 3,
    }
}

enumeration! {
    /// What a change or a limit is of.
    AccountScope {
        /// One account.
        Account = 1,
        /// All accounts of a group.
        Group = 2,
        /// All orders of a strategy, for whichever account.
        Strategy = 3,
        /// Everything.
        Platform = 4,
    }
}

enumeration! {
    /// What happens to an account.
    AccountAction {
        /// Money comes in.
        Deposit = 1,
        /// Money goes out.
        Withdraw = 2,
        /// No new orders and no withdrawals.
        Freeze = 3,
        /// Ends a freeze.
        Unfreeze = 4,
        /// The end of an account that is empty.
        Close = 5,
        /// No new orders, and everything that works is cancelled.
        Kill = 6,
        /// Ends a kill.
        Revive = 7,
    }
}

enumeration! {
    /// What is limited.
    LimitKind {
        /// The position in an instrument if everything that works on one side fills: `number`.
        Position = 1,
        /// What all positions and working orders are worth together: `amount`.
        GrossNotional = 2,
        /// The quantity of one order: `number`.
        OrderQuantity = 3,
        /// What one order is worth: `amount`.
        OrderNotional = 4,
        /// New orders a second: `number`, of which `burst` may come at once.
        OrderRate = 5,
        /// Requests of all kinds a second: `number`, of which `burst` may come at once.
        MessageRate = 6,
        /// Orders that work at once: `number`.
        OpenOrders = 7,
        /// What may be lost in a day: `amount`. Past it, the kill switch falls.
        Loss = 8,
        /// Refused orders a second: `number`, of which `burst` may come at once. Past it, the kill switch falls.
        RejectRate = 9,
        /// New orders a second: `number`, of which `burst` may come at once. Past it, the kill switch falls.
        RunawayRate = 10,
        /// Margin as a part of equity, in 1e-9, from which on more money is asked for: `number`.
        MarginCall = 11,
        /// Margin as a part of equity, in 1e-9, from which on positions are closed by force: `number`.
        ForcedLiquidation = 12,
        /// No limit of its own: the check of money and margin.
        Money = 13,
        /// No limit of its own: the check of the price band.
        PriceBand = 14,
        /// No limit of its own: the check of self-trades.
        SelfTrade = 15,
        /// No limit of its own: the check of short sales.
        ShortSale = 16,
    }
}

enumeration! {
    /// What an [`AccountLimit`] does.
    LimitChange {
        /// Sets the limit.
        Set = 1,
        /// There is no such limit any more.
        Lift = 2,
        /// The check as a whole is made; only of the whole platform.
        Enable = 3,
        /// The check as a whole is not made; only of the whole platform.
        Disable = 4,
    }
}

enumeration! {
    /// Which fills a charge is made for.
    FeeSide {
        /// All.
        Both = 1,
        /// Purchases.
        Buy = 2,
        /// Sales.
        Sell = 3,
    }
}

impl FeeSide {
    /// True where a fill of this side is charged.
    pub fn covers(self, side: Side) -> bool {
        match self {
            FeeSide::Both => true,
            FeeSide::Buy => side == Side::Buy,
            FeeSide::Sell => side == Side::Sell,
        }
    }
}

enumeration! {
    /// Which fills a charge is made for, by what they do to the position.
    FeeEvent {
        /// All.
        Any = 1,
        /// What opens.
        Open = 2,
        /// What closes a position of an earlier day.
        Close = 3,
        /// What closes a position of today.
        CloseToday = 4,
    }
}

enumeration! {
    /// Who gets a charge.
    ChargeKind {
        /// Broker or exchange.
        Fee = 1,
        /// The state.
        Tax = 2,
    }
}

/// An account begins.
#[derive(Clone, Copy, Debug, PartialEq, TryFromBytes, IntoBytes, KnownLayout, Immutable, Described)]
#[repr(C)]
pub struct AccountOpen {
    /// Its number; never given out twice.
    #[field(since = 6)]
    pub account: AccountId,
    /// Its group; zero: none.
    #[field(none = 0, since = 6)]
    pub group: u32,
    /// The account whose rules of fees and margin hold where there are none of its own; zero: none.
    #[field(since = 6)]
    pub parent: AccountId,
    /// By which rules it trades.
    #[field(column = "account_kind", since = 6)]
    pub kind: AccountKind,
    /// Which cost leaves at a close.
    #[field(since = 6)]
    pub method: CostMethod,
    /// Zero.
    pub reserved: u16,
    /// In which money its limits and its equity are counted.
    #[field(since = 6)]
    pub currency: Currency,
    /// Its name.
    #[field(column = "account_name", since = 6)]
    pub name: Text<32>,
    /// Who opens it.
    #[field(since = 6)]
    pub who: Text<32>,
    /// For which reason.
    #[field(since = 6)]
    pub why: Text<64>,
}

/// Something happens to accounts.
#[derive(Clone, Copy, Debug, PartialEq, TryFromBytes, IntoBytes, KnownLayout, Immutable, Described)]
#[repr(C)]
pub struct AccountChange {
    /// Number of the account, group or strategy; zero for the platform.
    #[field(since = 6)]
    pub subject: u32,
    /// What the number is of.
    #[field(since = 6)]
    pub scope: AccountScope,
    /// What happens.
    #[field(column = "account_action", since = 6)]
    pub action: AccountAction,
    /// Zero.
    pub reserved: u16,
    /// How much; of money that comes in or goes out, otherwise zero.
    #[field(since = 6)]
    pub amount: WideMoney,
    /// In which currency; otherwise empty.
    #[field(since = 6)]
    pub currency: Currency,
    /// Who does it.
    #[field(since = 6)]
    pub who: Text<32>,
    /// For which reason.
    #[field(since = 6)]
    pub why: Text<64>,
}

/// A limit is set or lifted, or a check switched.
#[derive(Clone, Copy, Debug, PartialEq, TryFromBytes, IntoBytes, KnownLayout, Immutable, Described)]
#[repr(C)]
pub struct AccountLimit {
    /// Number of the account, group or strategy; zero for the platform.
    #[field(since = 6)]
    pub subject: u32,
    /// What the number is of.
    #[field(since = 6)]
    pub scope: AccountScope,
    /// What is limited.
    #[field(since = 6)]
    pub limit: LimitKind,
    /// What is done.
    #[field(column = "limit_change", since = 6)]
    pub change: LimitChange,
    /// Zero.
    pub reserved: u8,
    /// Only in this instrument, of position limits; zero: in each.
    #[field(since = 6)]
    pub instrument: InstrumentId,
    /// How many may come at once, of rates.
    #[field(since = 6)]
    pub burst: u32,
    /// The limit, where it is no money.
    #[field(since = 6)]
    pub number: u64,
    /// The limit, where it is money.
    #[field(since = 6)]
    pub amount: WideMoney,
    /// Who does it.
    #[field(since = 6)]
    pub who: Text<32>,
    /// For which reason.
    #[field(since = 6)]
    pub why: Text<64>,
}

/// A charge on fills. For a fill the most specific rule of a number holds among those that are for such fills: of the account,
/// its parent, everybody; among these of the instrument, the longest prefix, everything. A rule takes the place of those of the
/// same number, account and instruments that are for some of the same fills.
#[derive(Clone, Copy, Debug, PartialEq, TryFromBytes, IntoBytes, KnownLayout, Immutable, Described)]
#[repr(C)]
pub struct FeeRule {
    /// For which account; zero: everybody.
    #[field(since = 6)]
    pub account: AccountId,
    /// In which instrument; zero: as `prefix` says.
    #[field(since = 6)]
    pub instrument: InstrumentId,
    /// In instruments whose names begin like this; empty: all.
    #[field(since = 6)]
    pub prefix: Symbol,
    /// Which charge: of its rules one holds for a fill.
    #[field(column = "charge_number", since = 6)]
    pub charge: u16,
    /// Who gets it.
    #[field(column = "charge_kind", since = 6)]
    pub kind: ChargeKind,
    /// For purchases, sales, or both.
    #[field(column = "charge_side", since = 6)]
    pub side: FeeSide,
    /// For opening, closing, or all.
    #[field(column = "charge_event", since = 6)]
    pub event: FeeEvent,
    /// For orders that rested, or that came in; none of the two: for both.
    #[field(flags, since = 9)]
    pub flags: u8,
    /// Zero.
    pub reserved: [u8; 2],
    /// What it is rounded up to, in 1e-9 of the currency; zero: 1e-9.
    #[field(column = "rounding_unit", since = 6)]
    pub unit: u64,
    /// Part of what the fills are worth, in 1e-9.
    #[field(column = "charge_rate", since = 6)]
    pub rate: u64,
    /// For each share, lot or contract.
    #[field(since = 6)]
    pub per_lot: WideMoney,
    /// Least that an order pays once it has traded so.
    #[field(since = 6)]
    pub minimum: WideMoney,
    /// Who does it.
    #[field(since = 6)]
    pub who: Text<32>,
    /// For which reason.
    #[field(since = 6)]
    pub why: Text<64>,
}

flags! {
    FeeRule: u8 {
        /// Only while the order rested.
        MAKER = 1 => "maker",
        /// Only while the order came in.
        TAKER = 2 => "taker",
    }
}

/// How much margin a position takes. The most specific rule holds, as with [`FeeRule`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Described)]
#[repr(C)]
pub struct MarginRule {
    /// For which account; zero: everybody.
    #[field(since = 6)]
    pub account: AccountId,
    /// In which instrument; zero: as `prefix` says.
    #[field(since = 6)]
    pub instrument: InstrumentId,
    /// In instruments whose names begin like this; empty: all.
    #[field(since = 6)]
    pub prefix: Symbol,
    /// Of a long position, part of what it is worth, in 1e-9.
    #[field(since = 6)]
    pub long_rate: u64,
    /// Of a short one.
    #[field(since = 6)]
    pub short_rate: u64,
    /// Of a long position, for each lot.
    #[field(since = 6)]
    pub long_per_lot: WideMoney,
    /// Of a short one.
    #[field(since = 6)]
    pub short_per_lot: WideMoney,
    /// Who does it.
    #[field(since = 6)]
    pub who: Text<32>,
    /// For which reason.
    #[field(since = 6)]
    pub why: Text<64>,
}

/// What the accounts need to know of an instrument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Described)]
#[repr(C)]
pub struct ContractTerms {
    /// Which one.
    #[field(since = 6)]
    pub instrument: InstrumentId,
    /// What is true of it.
    #[field(flags, since = 6)]
    pub flags: u32,
    /// Its name.
    #[field(since = 6)]
    pub symbol: Symbol,
    /// In which money it is paid.
    #[field(since = 6)]
    pub currency: Currency,
    /// One lot is worth the price times this; at least 1.
    #[field(since = 6)]
    pub multiplier: u64,
    /// Lowest price an order may have, or [`Price::NONE`].
    #[field(since = 6)]
    pub price_low: Price,
    /// Highest price an order may have, or [`Price::NONE`].
    #[field(since = 6)]
    pub price_high: Price,
}

flags! {
    ContractTerms: u32 {
        /// Orders are taken now.
        TRADABLE = 1 => "tradable",
        /// It may be sold short.
        SHORTABLE = 2 => "shortable",
        /// The exchange tells closing today's position from closing an earlier day's; a plain close is of earlier days.
        TODAY_APART = 4 => "today_apart",
    }
}

/// What a currency is worth in the currency that the platform counts in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Described)]
#[repr(C)]
pub struct CurrencyRate {
    /// Which currency.
    #[field(since = 6)]
    pub currency: Currency,
    /// In 1e-9; positive.
    #[field(column = "currency_rate", since = 6)]
    pub rate: u64,
}

/// First step of a settlement: the price at which an instrument's positions are settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Described)]
#[repr(C)]
pub struct SettlementPrice {
    /// The day, as 20260131.
    #[field(since = 6)]
    pub day: u32,
    /// Of which instrument; zero: prices that were entered and not executed are taken back.
    #[field(since = 6)]
    pub instrument: InstrumentId,
    /// The price.
    #[field(since = 6)]
    pub price: Price,
}

/// Second step of a settlement: all prices are there, execute it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Described)]
#[repr(C)]
pub struct Settle {
    /// The day, as 20260131.
    #[field(since = 6)]
    pub day: u32,
    /// How it is meant.
    #[field(flags, since = 10)]
    pub flags: u32,
    /// Who does it.
    #[field(since = 6)]
    pub who: Text<32>,
}

flags! {
    Settle: u32 {
        /// A person confirms a day or prices that look like a slip: without it td refuses them.
        FORCED = 1 => "forced_settlement",
    }
}
