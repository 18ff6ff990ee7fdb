//! A desk's accounts: money, positions, margin, fees, what orders at work reserve, the checks before an order goes out, the
//! kill switch, and settlement.
//!
//! Pure: no clock, no threads, no I/O, no floats. Times come as arguments.
//!
//! ```text
//! entries (AccountOpen, AccountChange, AccountLimit, FeeRule, …) ──► Desk::apply ──► done, or a Refusal
//! orders  (NewOrder, ReplaceOrder, CancelOrder) ──► Desk::new_order … ──► may go out, or a Reason
//! executions (Fill, OrderUpdate) ──► Desk::execution ──► booked, and an Anomaly where they do not fit
//! marks ──► Desk::mark       all accounts ──► Desk::survey ──► kills, margin calls, forced orders
//!
//! Desk ── accounts ── purses (money by currency) ── totals
//!   │        └─────── slots (an instrument each) ── holdings (long, short; today, yesterday; cost)
//!   ├─ orders ── reservations          ├─ scopes (groups, strategies, the platform): limits and sums
//!   └─ contracts, currencies, fees, margins, settlement prices
//! ```
//!
//! # What this crate guarantees
//!
//! - **Exact.** Money is a whole number of 1e-9, and in each purse
//!   `balance = deposits − withdrawals + realised + variation − invested − fees − taxes`, always.
//! - **Worst case.** What orders at work hold back is the sum over the orders of what each may cost at its worst price,
//!   charges and replaces on their way included, after every event.
//! - **All or nothing.** An entry that does not fit is refused and changes nothing.
//! - **What the market says is booked**, whatever was expected; what does not fit is counted ([`Anomaly`]).
//! - **Same input, same output**, to the byte ([`Desk::snapshot`]). No panic on any input.
//!
//! Rules, formulas and examples: `docs/accounts.md`.
//!
//! # Example
//!
//! ```
//! use accounts::{Desk, Entry, Options, Verdict};
//! use wire::*;
//!
//! let mut desk = Desk::new(Options::default());
//! let (who, why) = (Text::new("ann").unwrap(), Text::new("first day").unwrap());
//! let cny = Currency::new("CNY").unwrap();
//! desk.apply(&Entry::Rate(CurrencyRate { currency: cny, rate: 1_000_000_000 }))?;
//! desk.apply(&Entry::Terms(ContractTerms {
//!     instrument: InstrumentId(1),
//!     flags: ContractTerms::TRADABLE,
//!     symbol: Symbol::new("600519.SH").unwrap(),
//!     currency: cny,
//!     multiplier: 1,
//!     price_low: Price::NONE,
//!     price_high: Price::NONE,
//! }))?;
//! desk.apply(&Entry::Open(AccountOpen {
//!     account: AccountId(7),
//!     group: 0,
//!     parent: AccountId(0),
//!     kind: AccountKind::Cash,
//!     method: CostMethod::Average,
//!     reserved: 0,
//!     currency: cny,
//!     name: Text::EMPTY,
//!     who,
//!     why,
//! }))?;
//! desk.apply(&Entry::Change(AccountChange {
//!     subject: 7,
//!     scope: AccountScope::Account,
//!     action: AccountAction::Deposit,
//!     reserved: 0,
//!     amount: WideMoney::from_wide(1_000 * 1_000_000_000),
//!     currency: cny,
//!     who,
//!     why,
//! }))?;
//! let strategy = StrategyId(3);
//! let order = NewOrder {
//!     account: AccountId(7),
//!     ..NewOrder::plain(
//!         OrderId::new(strategy, 1, 1),
//!         InstrumentId(1),
//!         Side::Buy,
//!         OrderType::Limit,
//!         TimeInForce::Day,
//!         "10".parse().unwrap(),
//!         Quantity(60),
//!     )
//! };
//! assert_eq!(desk.new_order(strategy, &order, Nanos(0)), Verdict::Send(order));
//! assert_eq!(desk.account(AccountId(7)).unwrap().available, 400 * 1_000_000_000);
//! let second = NewOrder { order_id: OrderId::new(strategy, 1, 2), ..order };
//! assert_eq!(desk.new_order(strategy, &second, Nanos(0)), Verdict::Refused(Reason::InsufficientFunds));
//! # Ok::<(), accounts::Refusal>(())
//! ```
#![forbid(unsafe_code)]

mod account;
mod ahead;
mod amount;
mod anomaly;
mod apply;
mod audit;
mod buckets;
mod checks;
mod contracts;
mod currencies;
mod desk;
mod entry;
mod executions;
mod fees;
mod follow;
mod intake;
mod kill;
mod limits;
mod margin;
mod measure;
mod orders;
mod plausible;
mod positions;
mod purse;
mod rates;
mod refusal;
mod reservation;
mod risk;
mod rules;
mod scope;
mod settlement;
mod show;
mod snapshot;
mod state;
mod statement;
mod table;
mod tariff;
mod view;

pub use amount::{MOST, MOST_MULTIPLIER, MOST_RATE, ONE};
pub use anomaly::{Anomalies, Anomaly};
pub use apply::Applied;
pub use desk::{Desk, Options};
pub use entry::Entry;
pub use follow::{Contained, FollowError, Followed, Follower, Touched};
pub use intake::Verdict;
pub use kill::Kill;
pub use limits::KillCause;
pub use plausible::{DAYS_AHEAD, is_near};
pub use purse::Totals;
pub use rates::Rates;
pub use refusal::Refusal;
pub use risk::{BY_FORCE, ForcedOrder, MarginAction};
pub use settlement::Settlement;
pub use show::{ContractView, Opened, SetLimit, WorkingOrder};
pub use snapshot::RestoreError;
pub use statement::{PositionRow, Statement};
pub use tariff::Tariff;
pub use view::{AccountView, DayFlows, PurseView, ScopeView};
