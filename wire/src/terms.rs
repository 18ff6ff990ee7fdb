//! The terms of an order beside side, type, price and quantity: one table for every protocol that speaks of them.
//!
//! A protocol loops over [`TERMS`], and refuses by its name a term that it has no field for. A new term is a field or a bit of
//! [`NewOrder`] and a row here.
//!
//! ```
//! use wire::terms::{self, Value};
//! use wire::{NewOrder, Quantity};
//!
//! # let plain = NewOrder::plain(wire::OrderId(1), wire::InstrumentId(1), wire::Side::Buy, wire::OrderType::Limit, wire::TimeInForce::Day, wire::Price(1), Quantity(1_000));
//! let mut order = plain;
//! let display = terms::named("display").unwrap();
//! display.put(&mut order, Value::Quantity(Quantity(200)), Quantity(100))?;
//! assert_eq!(order.display_lots, 2);
//! assert_eq!(display.of(&order, Quantity(100)), Some(Value::Quantity(Quantity(200))));
//! # Ok::<(), wire::terms::TermError>(())
//! ```

use thiserror::Error;

use crate::{Nanos, NewOrder, Quantity, TimeInForce};

/// One term.
#[derive(Clone, Copy, Debug)]
pub struct Term {
    /// In JSON.
    pub name: &'static str,
    /// What it asks for.
    pub doc: &'static str,
    /// What it holds, and where an order has it.
    pub holds: Holds,
    /// Its tag in FIX.
    pub tag: u32,
    /// FIX 4.4 has this tag in a NewOrderSingle; otherwise a later version has.
    pub is_fix_44: bool,
}

impl PartialEq for Term {
    fn eq(&self, other: &Term) -> bool {
        self.name == other.name
    }
}

impl Eq for Term {}

/// What a term holds, and where an order has it.
#[derive(Clone, Copy, Debug)]
pub enum Holds {
    /// A quantity in whole lots, not more than the order's; zero lots: none.
    Lots(fn(&mut NewOrder) -> &mut u32),
    /// A time in whole seconds; zero: none.
    Seconds(fn(&mut NewOrder) -> &mut u32),
    /// Yes or no: a bit of the flags.
    Flag(Word),
    /// One of several words, each of which is bits of this part of the flags.
    Words(u8, &'static [Word]),
}

/// A word of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// In JSON.
    pub name: &'static str,
    /// The flags of an order that has it.
    pub bits: u8,
    /// In FIX; `None`: FIX has no word for it.
    pub fix: Option<&'static str>,
    /// What it asks for.
    pub doc: &'static str,
}

/// The value of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// Of a term in lots.
    Quantity(Quantity),
    /// Of a term in seconds.
    Time(Nanos),
    /// Of a term of words, or of yes and no.
    Word(&'static Word),
}

/// A term with the value that a client asks for.
pub type Asked = (&'static Term, Value);

/// A term that an order cannot have so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum TermError {
    /// Zero, negative, or more than the order.
    #[error("it must be greater than 0 and not more than the order's quantity")]
    Part,
    /// Not a multiple of the lot.
    #[error("it must be a multiple of the lot, {0}")]
    Lots(Quantity),
    /// No whole second, or one that does not fit.
    #[error("it must be a whole second from 1970 to 2106")]
    Seconds,
    /// The value is of another term.
    #[error("it holds something else")]
    Kind,
    /// A replace asks for another value than the order has.
    #[error("a replace cannot change it")]
    Fixed,
    /// A date without the time in force that goes with it.
    #[error("`ends_ns` goes with the time in force `gtd` only")]
    NotGoodTillDate,
    /// The time in force that needs a date, without it.
    #[error("the time in force `gtd` needs `ends_ns`")]
    NoDate,
}

const fn word(name: &'static str, bits: u8, fix: Option<&'static str>, doc: &'static str) -> Word {
    Word { name, bits, fix, doc }
}

/// Every term. FIX: the fields of NewOrderSingle in FIX 4.4, and SelfMatchPreventionInstruction, which FIX has since EP280.
pub const TERMS: &[Term] = &[
    Term {
        name: "display",
        doc: "How much of it the book shows at a time, in whole lots; without it, all.",
        holds: Holds::Lots(|order| &mut order.display_lots),
        tag: 111,
        is_fix_44: true,
    },
    Term {
        name: "minimum",
        doc: "It trades at least so much at once, or nothing; in whole lots.",
        holds: Holds::Lots(|order| &mut order.minimum_lots),
        tag: 110,
        is_fix_44: true,
    },
    Term {
        name: "ends_ns",
        doc: "With the time in force `gtd`: when it ends, a whole second of the market's time, in nanoseconds since the epoch.",
        holds: Holds::Seconds(|order| &mut order.ends_s),
        tag: 126,
        is_fix_44: true,
    },
    Term {
        name: "post_only",
        doc: "Rejected if any of it would trade at once.",
        holds: Holds::Flag(word(
            "post_only",
            NewOrder::POST_ONLY,
            Some("6"),
            "Rejected if any of it would trade at once.",
        )),
        tag: 18,
        is_fix_44: true,
    },
    Term {
        name: "self_trade",
        doc: "What happens where it would trade with an order of its owner.",
        holds: Holds::Words(
            NewOrder::CANCEL_NEWEST | NewOrder::CANCEL_OLDEST | NewOrder::DECREMENT,
            &[
                word("cancel-newest", NewOrder::CANCEL_NEWEST, Some("1"), "Its open quantity is cancelled."),
                word("cancel-oldest", NewOrder::CANCEL_OLDEST, Some("2"), "The other one is cancelled."),
                word(
                    "cancel-both",
                    NewOrder::CANCEL_NEWEST | NewOrder::CANCEL_OLDEST,
                    Some("3"),
                    "Both are cancelled.",
                ),
                word(
                    "decrement",
                    NewOrder::DECREMENT,
                    None,
                    "Both lose the smaller open quantity, without a trade.",
                ),
            ],
        ),
        tag: 2964,
        is_fix_44: false,
    },
    Term {
        name: "offset",
        doc: "What it does to the position of a futures account.",
        holds: Holds::Words(
            NewOrder::OFFSET_OPEN | NewOrder::OFFSET_CLOSE,
            &[
                word("auto", 0, None, "It closes what it can close whole, otherwise it opens."),
                word("open", NewOrder::OFFSET_OPEN, Some("O"), "It opens."),
                word(
                    "close",
                    NewOrder::OFFSET_CLOSE,
                    Some("C"),
                    "It closes; of which day is the exchange's choice.",
                ),
                word("close-today", NewOrder::OFFSET_CLOSE_TODAY, None, "It closes what was opened today."),
                word(
                    "close-yesterday",
                    NewOrder::OFFSET_CLOSE_YESTERDAY,
                    None,
                    "It closes what was opened on an earlier day.",
                ),
            ],
        ),
        tag: 77,
        is_fix_44: true,
    },
];

const SECOND_NS: u64 = 1_000_000_000;

/// The term of this name.
pub fn named(name: &str) -> Option<&'static Term> {
    TERMS.iter().find(|term| term.name == name)
}

/// Gives an order the terms that a client asks for, in an instrument with this lot.
///
/// # Errors
/// The first term that it cannot have so.
pub fn put(order: &mut NewOrder, asked: &[Asked], lot: Quantity) -> Result<(), (&'static Term, TermError)> {
    for (term, value) in asked {
        term.put(order, *value, lot).map_err(|error| (*term, error))?;
    }
    check(order).map_err(|error| (named("ends_ns").unwrap_or(&TERMS[0]), error))
}

/// The flags that terms stand for.
pub fn flags() -> u8 {
    TERMS.iter().fold(0, |all, term| match term.holds {
        Holds::Flag(word) => all | word.bits,
        Holds::Words(mask, _) => all | mask,
        Holds::Lots(_) | Holds::Seconds(_) => all,
    })
}

/// Whether the terms of an order go with each other.
///
/// # Errors
/// The first that do not.
pub fn check(order: &NewOrder) -> Result<(), TermError> {
    match (order.time_in_force == TimeInForce::GoodTillDate, order.ends_s) {
        (true, 0) => Err(TermError::NoDate),
        (false, 1..) => Err(TermError::NotGoodTillDate),
        _ => Ok(()),
    }
}

impl Term {
    /// What the order has of it, in an instrument with this lot; `None`: it does not have the term.
    pub fn of(&'static self, order: &NewOrder, lot: Quantity) -> Option<Value> {
        let mut order = *order;
        match &self.holds {
            Holds::Lots(field) => {
                let lots = i64::from(*field(&mut order));
                (lots > 0).then(|| Value::Quantity(Quantity(lots.saturating_mul(lot.0.max(1)))))
            }
            Holds::Seconds(field) => {
                let seconds = u64::from(*field(&mut order));
                (seconds > 0).then(|| Value::Time(Nanos(seconds * SECOND_NS)))
            }
            Holds::Flag(word) => (order.flags & word.bits != 0).then_some(Value::Word(word)),
            Holds::Words(mask, words) => {
                words.iter().find(|word| word.bits == order.flags & mask).map(Value::Word)
            }
        }
    }

    /// Gives the order this value of it. The order has its quantity already.
    ///
    /// # Errors
    /// What the term cannot hold; the order is as before.
    pub fn put(&'static self, order: &mut NewOrder, value: Value, lot: Quantity) -> Result<(), TermError> {
        match (&self.holds, value) {
            (Holds::Lots(field), Value::Quantity(part)) => {
                if part <= Quantity::ZERO || part > order.quantity {
                    return Err(TermError::Part);
                }
                let lots = part.lots(lot).ok().and_then(|lots| u32::try_from(lots).ok());
                *field(order) = lots.ok_or(TermError::Lots(lot))?;
            }
            (Holds::Seconds(field), Value::Time(time)) => {
                let seconds = u32::try_from(time.0 / SECOND_NS).ok();
                let whole = seconds.filter(|seconds| *seconds > 0 && time.0.is_multiple_of(SECOND_NS));
                *field(order) = whole.ok_or(TermError::Seconds)?;
            }
            (Holds::Flag(own), Value::Word(word)) if own == word => order.flags |= own.bits,
            (Holds::Words(mask, words), Value::Word(word)) if words.contains(word) => {
                order.flags = order.flags & !mask | word.bits;
            }
            _ => return Err(TermError::Kind),
        }
        Ok(())
    }

    /// Its words; none where it holds an amount or a time.
    pub fn words(&'static self) -> &'static [Word] {
        match &self.holds {
            Holds::Flag(word) => std::slice::from_ref(word),
            Holds::Words(_, words) => words,
            Holds::Lots(_) | Holds::Seconds(_) => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Described;
    use crate::{InstrumentId, OrderId, OrderType, Price, Side};

    const LOT: Quantity = Quantity(100);

    fn order() -> NewOrder {
        let (side, kind, life) = (Side::Buy, OrderType::Limit, TimeInForce::Day);
        NewOrder::plain(OrderId(1), InstrumentId(1), side, kind, life, Price(1), Quantity(1_000))
    }

    fn values(term: &'static Term) -> Vec<Value> {
        match term.holds {
            Holds::Lots(_) => vec![Value::Quantity(Quantity(300))],
            Holds::Seconds(_) => vec![Value::Time(Nanos(7 * SECOND_NS))],
            Holds::Flag(_) | Holds::Words(..) => term.words().iter().map(Value::Word).collect(),
        }
    }

    #[test]
    fn what_is_put_is_found_and_nothing_else_changes() {
        for term in TERMS {
            let before = term.of(&order(), LOT);
            for value in values(term) {
                let mut with = order();
                term.put(&mut with, value, LOT).unwrap();
                assert_eq!(term.of(&with, LOT), Some(value), "{}", term.name);
                for other in TERMS.iter().filter(|other| other.name != term.name) {
                    assert_eq!(
                        other.of(&with, LOT),
                        other.of(&order(), LOT),
                        "{} by {}",
                        other.name,
                        term.name
                    );
                }
                assert_eq!(
                    NewOrder { flags: 0, display_lots: 0, minimum_lots: 0, ends_s: 0, ..with },
                    order()
                );
            }
            assert_eq!(before, term.of(&order(), LOT));
        }
    }

    #[test]
    fn every_flag_of_an_order_is_a_term_but_that_of_the_ledger() {
        assert_eq!(flags(), !NewOrder::FORCED);
        // And every field that came as a condition; a stop's trigger belongs to its type.
        let fields = NewOrder::RECORD.fields.iter().filter(|field| field.since == 4).map(|field| field.name);
        assert_eq!(
            fields.collect::<Vec<_>>(),
            ["flags", "display_lots", "trigger", "minimum_lots", "ends_s"]
        );
        let names: std::collections::BTreeSet<&str> = TERMS.iter().map(|term| term.name).collect();
        let tags: std::collections::BTreeSet<u32> = TERMS.iter().map(|term| term.tag).collect();
        assert_eq!((names.len(), tags.len()), (TERMS.len(), TERMS.len()), "names and tags are unique");
    }

    #[test]
    fn what_no_order_can_have_is_refused_and_changes_nothing() {
        let term = |name| named(name).unwrap();
        for (name, value, error) in [
            ("display", Value::Quantity(Quantity(0)), TermError::Part),
            ("display", Value::Quantity(Quantity(-100)), TermError::Part),
            ("display", Value::Quantity(Quantity(1_100)), TermError::Part),
            ("minimum", Value::Quantity(Quantity(150)), TermError::Lots(LOT)),
            ("minimum", Value::Time(Nanos(1)), TermError::Kind),
            ("ends_ns", Value::Time(Nanos(0)), TermError::Seconds),
            ("ends_ns", Value::Time(Nanos(SECOND_NS + 1)), TermError::Seconds),
            ("ends_ns", Value::Time(Nanos((u64::from(u32::MAX) + 1) * SECOND_NS)), TermError::Seconds),
            ("self_trade", Value::Word(&term("offset").words()[1]), TermError::Kind),
        ] {
            let mut with = order();
            assert_eq!(term(name).put(&mut with, value, LOT), Err(error), "{name} {value:?}");
            assert_eq!(with, order());
        }
        let till = |time_in_force, ends_s| check(&NewOrder { time_in_force, ends_s, ..order() });
        assert_eq!(till(TimeInForce::GoodTillDate, 0), Err(TermError::NoDate));
        assert_eq!(till(TimeInForce::Day, 1), Err(TermError::NotGoodTillDate));
        assert_eq!((till(TimeInForce::GoodTillDate, 1), till(TimeInForce::Day, 0)), (Ok(()), Ok(())));
    }
}
