//! Numbers in messages of the market: each is read exactly, or the message is rejected. None is taken for zero. Pure.

use fix_codec::codec::Message;
use venue::{Average, LOT};
use wire::Price;

/// So many digits before the point at most: lots of 1e-9 of all of an account's orders fit into 128 bits with room to spare.
const DIGITS: usize = 15;

/// A field that cannot be read, as a Reject (3) names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unreadable {
    pub(crate) tag: u32,
    /// SessionRejectReason (373).
    pub(crate) reason: u32,
    pub(crate) why: &'static str,
}

const EMPTY: (u32, &str) = (4, "a field without a value");
const TOO_LARGE: (u32, &str) = (5, "the number is too large");
const FORMAT: (u32, &str) = (6, "a decimal number is expected");
const REPEATED: (u32, &str) = (13, "the tag appears more than once");

const NEGATIVE: (u32, &str) = (5, "the number is below zero");
const NO_QUANTITY: (u32, &str) = (5, "no number of whole lots that an order can have");
const NO_PRICE: (u32, &str) = (5, "no price of at most nine decimals that an order can have");

/// Lots of one trade at most. More of them at a price of some size are worth more than an amount of money can say.
const MOST: i128 = i64::MAX as i128 / LOT;

/// What a number of a field is, and which of them can be read. `docs/adapters.md` has the table.
#[derive(Clone, Copy)]
enum Kind {
    /// Parts of a lot down to 1e-9.
    Lots,
    /// The same, and none below zero.
    Traded,
    /// Of an order: whole lots.
    Quantity,
    /// Of an order: in 1e-9.
    Price,
    /// Any decimal number.
    Decimal,
    Count,
}

/// The numbers that are read of each type of message.
fn numbers(kind: &str) -> &'static [(u32, Kind)] {
    use Kind::{Count, Decimal, Lots, Price, Quantity, Traded};
    match kind {
        "8" => &[
            (6, Decimal),
            (14, Traded),
            (31, Decimal),
            (32, Lots),
            (38, Quantity),
            (44, Price),
            (911, Count),
        ],
        "AP" => &[(704, Lots), (705, Lots), (727, Count)],
        "AO" => &[(727, Count)],
        _ => &[],
    }
}

/// What an execution is booked by: who, what, which side, how much and at which price.
const BOOKED_BY: &[u32] = &[11, 17, 19, 31, 32, 54, 55, 150];

/// Whether a field by which the execution is booked stands twice: none of its values is known to be the right one.
pub(crate) fn is_ambiguous(message: &Message) -> bool {
    BOOKED_BY.iter().any(|tag| is_twice(message, *tag))
}

fn is_twice(message: &Message, tag: u32) -> bool {
    message.fields.iter().filter(|(known, _)| *known == tag).count() > 1
}

/// The first number of a message that cannot be read, or field by which an execution is booked that stands twice.
pub(crate) fn unreadable(message: &Message) -> Option<Unreadable> {
    let its = numbers(message.kind());
    // An entry of the positions begins with its type (703): each has a number of its own.
    let begins_entry = |tag: u32| message.kind() == "AP" && tag == 703;
    let mut seen = Vec::new();
    for (tag, text) in &message.fields {
        if begins_entry(*tag) {
            seen.clear();
        }
        let Some((_, kind)) = its.iter().find(|(known, _)| known == tag) else { continue };
        let fault = if seen.contains(tag) { Some(REPEATED) } else { fault(text, *kind) };
        if let Some((reason, why)) = fault {
            return Some(Unreadable { tag: *tag, reason, why });
        }
        seen.push(*tag);
    }
    let twice = BOOKED_BY.iter().filter(|_| message.kind() == "8").find(|tag| is_twice(message, **tag));
    twice.map(|tag| Unreadable { tag: *tag, reason: REPEATED.0, why: REPEATED.1 })
}

fn fault(text: &str, kind: Kind) -> Option<(u32, &'static str)> {
    if text.is_empty() {
        return Some(EMPTY);
    }
    match kind {
        Kind::Lots => lots(text).err(),
        Kind::Traded => lots(text).map_or_else(Some, |lots| (lots < 0).then_some(NEGATIVE)),
        Kind::Quantity => lots(text).err().or_else(|| whole_lots(text).is_none().then_some(NO_QUANTITY)),
        Kind::Price => {
            fault(text, Kind::Decimal).or_else(|| text.parse::<Price>().is_err().then_some(NO_PRICE))
        }
        // A trade's price may have more decimals than a fill can carry, and is listed then in its own words.
        Kind::Decimal => decimal(text).map(|(_, whole, _)| whole).map_or(Some(FORMAT), |whole| {
            (whole.trim_start_matches('0').len() > DIGITS).then_some(TOO_LARGE)
        }),
        Kind::Count if text.bytes().all(|byte| byte.is_ascii_digit()) => {
            text.parse::<u64>().is_err().then_some(TOO_LARGE)
        }
        Kind::Count => Some(FORMAT),
    }
}

/// Sign, digits before the point, and behind it.
fn decimal(text: &str) -> Option<(i128, &str, &str)> {
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |digits| (-1, digits));
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    (whole.len() + part.len() > 0 && is_digits(whole) && is_digits(part)).then_some((sign, whole, part))
}

/// Lots of 1e-9; what lies below is cut off.
pub(crate) fn lots(text: &str) -> Result<i128, (u32, &'static str)> {
    let (sign, whole, part) = decimal(text).ok_or(FORMAT)?;
    let whole = whole.trim_start_matches('0');
    if whole.len() > DIGITS {
        return Err(TOO_LARGE);
    }
    let whole: i128 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| FORMAT)? };
    let part: i128 = format!("{:0<9}", part.get(..9).unwrap_or(part)).parse().map_err(|_| FORMAT)?;
    Ok(sign * (whole * LOT + part))
}

/// Whole lots, however many zeros stand behind the point; parts of a lot are none, and neither are more lots than a fill can carry.
pub(crate) fn whole_lots(text: &str) -> Option<i64> {
    let is_whole = text.split_once('.').is_none_or(|(_, part)| part.bytes().all(|byte| byte == b'0'));
    let lots = lots(text).ok().filter(|lots| is_whole && (0..=MOST * LOT).contains(lots))?;
    i64::try_from(lots / LOT).ok()
}

/// The price that is nearest to a decimal number.
pub(crate) fn nearest_price(text: &str) -> Option<Price> {
    let average: Average = text.parse().ok()?;
    i64::try_from(average.value(LOT)).ok().map(Price)
}

/// A price, where a fill can carry it.
pub(crate) fn price(message: &Message, tag: u32) -> Option<Price> {
    message.get(tag)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault_of(kind: &str, body: &str) -> Option<(u32, u32)> {
        let mut fields = vec![(35, kind.to_owned())];
        for field in body.split('|') {
            let (tag, value) = field.split_once('=').unwrap();
            fields.push((tag.parse().unwrap(), value.to_owned()));
        }
        unreadable(&Message { fields }).map(|fault| (fault.tag, fault.reason))
    }

    #[test]
    fn lots_are_read_exactly_or_not_at_all() {
        for (text, nano) in [
            ("4", 4 * LOT),
            ("-4.5", -4_500_000_000),
            ("0004.000000000", 4 * LOT),
            (".5", LOT / 2),
            ("1000000000004", 1_000_000_000_004 * LOT),
            ("999999999999999.9", 999_999_999_999_999_900_000_000),
            ("0.0000000019", 1),
        ] {
            assert_eq!(lots(text), Ok(nano), "{text}");
        }
        assert_eq!(lots("1000000000000000"), Err(TOO_LARGE));
        for text in ["", ".", "-", "abc", "1e3", "4,5", "+4", " 4", "1.2.3", "NaN", "\u{0664}"] {
            assert_eq!(lots(text), Err(FORMAT), "{text}");
        }
    }

    #[test]
    fn each_number_that_is_read_of_a_message_is_looked_at() {
        for kind in ["8", "AP", "AO"] {
            for (tag, _) in numbers(kind) {
                let of = |value: &str| fault_of(kind, &format!("703=TQ|{tag}={value}"));
                assert_eq!(of("7"), None);
                assert_eq!(of(""), Some((*tag, 4)));
                assert_eq!(of("99999999999999999999999"), Some((*tag, 5)));
                assert_eq!(of("abc"), Some((*tag, 6)));
                assert_eq!(of(&format!("7|{tag}=7")), Some((*tag, 13)));
            }
        }
        for tag in BOOKED_BY {
            assert_eq!(fault_of("8", &format!("{tag}=1|{tag}=2")), Some((*tag, 13)));
        }
        assert_eq!(fault_of("AP", "703=TQ|704=4|705=1|703=SOD|704=4|705=1"), None);
        assert_eq!(fault_of("8", "31=1.23456789012|32=2.5"), None);
        assert_eq!(fault_of("9", "14=abc"), None);
    }
}
