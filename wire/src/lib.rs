//! Every message that moves through a colo journal, and the units its fields are in.
//!
//! # What this crate guarantees
//!
//! - A message is `repr(C)`, of fixed size, without padding and without pointers: its bytes in memory are its
//!   bytes on the wire. Integers are little-endian because the hosts are; [`message`] refuses to compile
//!   elsewhere.
//! - Size and field offsets are asserted at compile time beside each type, so that a change to one is a
//!   change someone made on purpose.
//! - Decoding checks: a byte that is no member of its enumeration makes [`Message::decode`] answer an error.
//!   Nothing here panics on foreign bytes.
//!
//! ```text
//! units      Price 1e-9 · Quantity 1 · Money 1e-6 · Nanos since the Unix epoch
//! ticks      a price in ticks, a quantity in lots: checked
//! ids        InstrumentId (= topic) · OrderId (seat, writer epoch, sequence) · StrategyId (= seat) · AccountId
//! message    market (md →)   order (strategy →)   execution (matching →, td →)   ledger   control   account
//! Request    what strategies write        Execution   what matching writes, and td passes on
//! schema     the table of fields: all of the above as data
//! terms      what an order may ask for beside side, type, price and quantity, as data
//! fold       the state that the ledger's snapshot and the executions behind it lead to
//! stages     where the time of an order goes
//! ```
//!
//! # Example
//!
//! ```
//! use wire::{CancelOrder, InstrumentId, Message, OrderId, StrategyId};
//!
//! let cancel = CancelOrder::new(OrderId::new(StrategyId(7), 1, 42), InstrumentId(3));
//! let bytes = cancel.bytes();
//! assert_eq!(bytes.len(), CancelOrder::SIZE);
//! assert_eq!(CancelOrder::decode(bytes)?, cancel);
//! # Ok::<(), wire::WireError>(())
//! ```
#![forbid(unsafe_code)]

// The derives name this crate as others do.
extern crate self as wire;

mod enums;
pub mod fold;
mod ids;
mod irregular;
pub mod message;
mod order_map;
pub mod schema;
pub mod stages;
mod symbol;
pub mod terms;
mod text;
mod ticks;
mod units;

pub use enums::{
    Aggressor, BookAction, Liquidity, NodeChange, NodeRole, OrderStatus, OrderType, Reason, Side,
    TimeInForce, TradingPhase,
};
pub use ids::{AccountId, InstrumentId, MAX_INSTRUMENTS, OrderId, StrategyId};
pub use irregular::{Irregularity, Verdict};
pub use message::account::{
    AccountAction, AccountChange, AccountKind, AccountLimit, AccountOpen, AccountScope, ChargeKind,
    ContractTerms, CostMethod, CurrencyRate, FeeEvent, FeeRule, FeeSide, LimitChange, LimitKind, MarginRule,
    Settle, SettlementPrice,
};
pub use message::best::Best;
pub use message::control::{EndOfStream, NodeEvent};
pub use message::desk::{AccountState, DROP_REFUSED, DROP_TAKEN, DeskPart, EntryResult, Mark};
pub use message::execution::{Execution, Fill, OrderUpdate};
pub use message::image::{
    BookImage, DueTime, MarketImage, MarketRead, NewestOrder, OrderImage, RecordImage, StateBegin, StateEnd,
    TakenImage,
};
pub use message::ledger::{PositionState, SnapshotBegin, SnapshotEnd, WideMoney};
pub use message::market::{
    BookEvent, Indicative, Instrument, LEVELS, Level, MarketPhase, MarketTime, Quote, Statistics, TradePrint,
};
pub use message::order::{
    CancelAll, CancelOrder, Cause, ClientOrder, KeptOrder, LatencySample, NewOrder, Offset, ReplaceOrder,
};
pub use message::request::Request;
pub use message::{AnyMessage, FIRST_FREE_ID, Message, WireError};
pub use order_map::{OrderIndex, OrderMap};
pub use symbol::Symbol;
pub use text::{Currency, Text};
pub use ticks::ArithmeticError;
pub use units::{Money, Nanos, Price, Quantity};
