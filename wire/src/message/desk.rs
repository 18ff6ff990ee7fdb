//! A desk's accounts at work: what became of entries, marks, and the state that others read.
//!
//! The drop copy (`td.drops`) is the sequence from which accounts are made: entries that took effect
//! ([`AccountOpen`](crate::AccountOpen) and the others), requests as they went out, executions, [`Mark`]s. A frame of topic
//! [`DROP_REFUSED`] is a request that was refused; the refusal follows it.

use wire_derive::Described;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, TryFromBytes};

use crate::text::Currency;
use crate::{AccountId, AccountKind, InstrumentId, Price, StrategyId, WideMoney};

/// Topic in the drop copy of what took effect.
pub const DROP_TAKEN: u32 = 0;
/// Topic in the drop copy of a request that was refused.
pub const DROP_REFUSED: u32 = 1;

/// What became of an entry of `desk.entries`. If it was taken, its copy is the frame before this one: there it took effect.
/// Without a position: those that the platform file begins with are all taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Described)]
#[repr(C)]
pub struct EntryResult {
    /// Position of the entry in `desk.entries`.
    #[field(position, column = "entry_position", since = 7)]
    pub entry: u64,
    /// Why it was refused, by the numbers of `docs/accounts.md`; zero: it was taken.
    #[field(none = 0, since = 7)]
    pub refusal: u32,
    /// The instrument or the day that the refusal is about; otherwise zero.
    #[field(none = 0, since = 7)]
    pub about: u32,
}

/// The price at which positions count from here on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Described)]
#[repr(C)]
pub struct Mark {
    /// Of which instrument.
    #[field(since = 7)]
    pub instrument: InstrumentId,
    /// Zero.
    pub reserved: u32,
    /// The price.
    #[field(since = 7)]
    pub price: Price,
}

/// How an account stands, in its own currency. One slot of `ledger.accounts`, by the order of opening.
#[derive(Clone, Copy, Debug, PartialEq, TryFromBytes, IntoBytes, KnownLayout, Immutable, Described)]
#[repr(C)]
pub struct AccountState {
    /// Which account.
    #[field(since = 7)]
    pub account: AccountId,
    /// Orders at work.
    #[field(column = "open_orders", since = 7)]
    pub open_orders: u32,
    /// Whose own account it is; `u16::MAX`: nobody's.
    #[field(none = AccountState::NOBODY.0 as i64, since = 7)]
    pub owner: StrategyId,
    /// By which rules it trades.
    #[field(column = "account_kind", since = 7)]
    pub kind: AccountKind,
    /// What is true of it.
    #[field(flags, since = 7)]
    pub flags: u8,
    /// Zero.
    pub reserved: u32,
    /// Its currency.
    #[field(since = 7)]
    pub currency: Currency,
    /// Position in the drop copy before which everything is contained.
    #[field(position, column = "drops_position", since = 7)]
    pub drops: u64,
    /// Margin as a part of equity, in 1e-9; the largest number where there is margin and no equity.
    #[field(since = 7)]
    pub risk_ratio: u64,
    /// The money that is there, of all currencies.
    #[field(since = 7)]
    pub balance: WideMoney,
    /// What it is worth.
    #[field(since = 7)]
    pub equity: WideMoney,
    /// What new orders and withdrawals may use.
    #[field(since = 7)]
    pub available: WideMoney,
    /// What orders at work hold back.
    #[field(column = "frozen_money", since = 7)]
    pub frozen: WideMoney,
    /// Margin of its positions.
    #[field(since = 7)]
    pub margin: WideMoney,
    /// Profit and loss since the begin of the day.
    #[field(since = 7)]
    pub day_result: WideMoney,
}

impl AccountState {
    /// Stands in `owner` of an account that an entry has opened.
    pub const NOBODY: StrategyId = StrategyId(u16::MAX);

    /// No new orders, no withdrawals.
    pub fn is_frozen(&self) -> bool {
        self.flags & AccountState::FROZEN != 0
    }

    /// It has ended.
    pub fn is_closed(&self) -> bool {
        self.flags & AccountState::CLOSED != 0
    }

    /// A kill switch has fallen: its own, its owner's, its group's or the platform's. Nothing new goes out.
    pub fn is_killed(&self) -> bool {
        self.flags & AccountState::KILLED != 0
    }
}

crate::schema::flags! {
    AccountState: u8 {
        /// No new orders, no withdrawals.
        FROZEN = 1 => "frozen",
        /// It has ended.
        CLOSED = 2 => "closed",
        /// A kill switch has fallen: its own, its group's or the platform's.
        KILLED = 4 => "killed",
    }
}

/// Part of a snapshot of all accounts, in `ledger.desk`: the bytes of all parts in a row are the snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Described)]
#[repr(C)]
pub struct DeskPart {
    /// Position in the drop copy before which everything is contained.
    #[field(position, column = "drops_position", since = 7)]
    pub drops: u64,
    /// Number of this part, from zero.
    #[field(since = 7)]
    pub part: u32,
    /// How many parts there are.
    #[field(since = 7)]
    pub parts: u32,
    /// How many of its bytes count.
    #[field(column = "byte_count", since = 7)]
    pub length: u32,
    /// Zero.
    pub reserved: u32,
    /// The bytes, as the accounts' crate writes them; zeros behind them.
    #[field(opaque)]
    pub bytes: [u8; DeskPart::MOST],
}

impl DeskPart {
    /// Bytes of a part at most: with its header a frame is 4 KiB.
    pub const MOST: usize = 4_040;
}
