//! Why an entry is refused.

use wire::InstrumentId;

/// An entry that does not fit. Nothing has changed then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Not the id of an entry, or bytes that are none.
    #[error("these bytes are no entry of accounts: was the journal written by another version?")]
    Malformed,
    /// The account exists.
    #[error("an account of this number exists: give each account its own")]
    Exists,
    /// There is no such account, group or strategy.
    #[error("no such account, group or strategy: open the account first")]
    UnknownSubject,
    /// There is no such instrument.
    #[error("the instrument {0} has no terms: enter its ContractTerms first")]
    UnknownInstrument(InstrumentId),
    /// There is no such currency.
    #[error("the currency has no rate: enter its CurrencyRate first")]
    UnknownCurrency,
    /// A number is out of its range.
    #[error("a number of the entry is out of its range: see docs/accounts.md")]
    Number,
    /// No one, or no reason, is named.
    #[error("the entry does not say who does it and why: both are kept for ever")]
    Nameless,
    /// Such a change has no meaning for this scope.
    #[error("this is not done to such a scope: see docs/accounts.md for what each scope takes")]
    Scope,
    /// More is to go out than is available.
    #[error("there is not as much available: orders at work, margin and losses are taken from it")]
    Insufficient,
    /// The account is frozen.
    #[error("the account is frozen: unfreeze it first")]
    Frozen,
    /// The account is closed.
    #[error("the account is closed")]
    Closed,
    /// The account still has something.
    #[error("the account is not empty: it has money, a position or an order at work")]
    NotEmpty,
    /// It is so already.
    #[error("it is so already")]
    Already,
    /// Positions or orders depend on what would change.
    #[error(
        "positions or orders of the instrument exist: currency and multiplier stay until they are closed"
    )]
    InUse,
    /// Prices of another day were entered.
    #[error("settlement prices of day {0} were entered and not executed: settle it first")]
    OtherDay(u32),
    /// The day is over.
    #[error("the day is settled")]
    Settled,
    /// A held instrument has no settlement price.
    #[error("the instrument {0} is held and has no settlement price: enter it, then settle")]
    MissingPrice(InstrumentId),
    /// A settlement is of a day long after this one, the platform's, and is not marked as forced.
    #[error(
        "the day is more than 14 days after {0}, the platform's, and a settlement cannot be taken back: if it is meant, enter it as forced (`colo settle --force`)"
    )]
    ImplausibleDay(u32),
    /// A settlement price is not positive or far from the mark, and the settlement is not marked as forced.
    #[error(
        "the price of instrument {0} is not positive, or more than half away from its mark, and a settlement cannot be taken back: if it is meant, enter it as forced (`colo settle --force`)"
    )]
    ImplausiblePrice(InstrumentId),
    /// Orders that end with the day still work.
    #[error("orders of the day still work: let them end, or cancel them, then settle")]
    OrdersAtWork,
    /// An amount is too large to be kept exactly.
    #[error("the amount is too large to be kept exactly")]
    Overflow,
    /// No more of these can be kept.
    #[error("no more of these can be kept: see docs/accounts.md for the limits")]
    Full,
}

macro_rules! numbers {
    ($($number:literal $refusal:ident,)*) => {
        impl Refusal {
            /// Its number, as [`wire::EntryResult::refusal`] has it.
            pub fn number(&self) -> u32 {
                match self {
                    $(Refusal::$refusal => $number,)*
                    Refusal::UnknownInstrument(_) => 101,
                    Refusal::OtherDay(_) => 102,
                    Refusal::MissingPrice(_) => 103,
                    Refusal::ImplausibleDay(_) => 104,
                    Refusal::ImplausiblePrice(_) => 105,
                }
            }

            /// The instrument or the day that it is about; otherwise zero.
            pub fn about(&self) -> u32 {
                match self {
                    Refusal::UnknownInstrument(instrument)
                    | Refusal::MissingPrice(instrument)
                    | Refusal::ImplausiblePrice(instrument) => instrument.0,
                    Refusal::OtherDay(day) | Refusal::ImplausibleDay(day) => *day,
                    _ => 0,
                }
            }

            /// The refusal of a number; `None` where there is none such.
            pub fn of(number: u32, about: u32) -> Option<Refusal> {
                match number {
                    $($number => Some(Refusal::$refusal),)*
                    101 => Some(Refusal::UnknownInstrument(InstrumentId(about))),
                    102 => Some(Refusal::OtherDay(about)),
                    103 => Some(Refusal::MissingPrice(InstrumentId(about))),
                    104 => Some(Refusal::ImplausibleDay(about)),
                    105 => Some(Refusal::ImplausiblePrice(InstrumentId(about))),
                    _ => None,
                }
            }
        }
    };
}

// A number is never given out twice.
numbers! {
    1 Malformed,
    2 Exists,
    3 UnknownSubject,
    4 UnknownCurrency,
    5 Number,
    6 Nameless,
    7 Scope,
    8 Insufficient,
    9 Frozen,
    10 Closed,
    11 NotEmpty,
    12 Already,
    13 InUse,
    14 Settled,
    15 OrdersAtWork,
    16 Overflow,
    17 Full,
}
