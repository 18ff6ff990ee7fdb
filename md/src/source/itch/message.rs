//! One message of Nasdaq TotalView-ITCH 5.0.
//!
//! Big-endian, fixed columns, after "Nasdaq TotalView-ITCH 5.0" (Nasdaq, the versions of 2014 to 2023), counted from 0 at the type:
//!
//! ```text
//! all  0 type  1..3 stock locate  3..5 tracking  5..11 ns after midnight
//! A F  11..19 order  19 side B/S  20..24 shares  24..32 stock  32..36 price (four decimal)  F: 36..40 attribution
//! E    11..19 order  19..23 shares  23..31 match
//! C    as E, then 31 printable Y/N  32..36 price
//! X    11..19 order  19..23 shares      D  11..19 order
//! U    11..19 old order  19..27 new order  27..31 shares  31..35 price
//! P    11..19 order (zero)  19 side (B since 2014)  20..24 shares  24..32 stock  32..36 price  36..44 match
//! Q    11..19 shares  19..27 stock  27..31 price  31..39 match  39 kind of cross
//! S    11 event      R  11..19 stock …      H  11..19 stock  19 state
//! h    11..19 stock  19 market Q/B/X  20 H/T
//! B I J K L N O V W Y   no effect here
//! ```

use wire::{Price, Side, Symbol, TradingPhase};

use crate::source::error::Fault;
use crate::source::fields::DAY;

/// Bytes of a message of this type; `None` for a type that the format does not have.
pub(crate) const fn length(kind: u8) -> Option<usize> {
    Some(match kind {
        b'S' | b'W' => 12,
        b'D' | b'B' => 19,
        b'Y' | b'N' => 20,
        b'h' => 21,
        b'X' => 23,
        b'H' => 25,
        b'L' => 26,
        b'K' => 28,
        b'E' => 31,
        b'V' | b'J' | b'U' => 35,
        b'A' | b'C' => 36,
        b'R' => 39,
        b'F' | b'Q' => 40,
        b'P' => 44,
        b'O' => 48,
        b'I' => 50,
        _ => return None,
    })
}

/// A message, its time, and the number that the market gives its stock today.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) locate: u16,
    /// Nanoseconds after midnight.
    pub(crate) time: u64,
    pub(crate) body: Body,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    Add {
        order: u64,
        side: Side,
        quantity: i64,
        stock: Symbol,
        price: Price,
    },
    /// `price`: where it differs from the order's. `prints`: the trade is not part of another report.
    Execute {
        order: u64,
        quantity: i64,
        price: Option<Price>,
        prints: bool,
        match_number: u64,
    },
    Cancel {
        order: u64,
        quantity: i64,
    },
    Delete {
        order: u64,
    },
    Replace {
        order: u64,
        new: u64,
        quantity: i64,
        price: Price,
    },
    HiddenTrade {
        side: Side,
        quantity: i64,
        stock: Symbol,
        price: Price,
        match_number: u64,
    },
    /// Zero shares: nothing traded in it.
    Cross {
        quantity: i64,
        stock: Symbol,
        price: Price,
        match_number: u64,
    },
    Directory {
        stock: Symbol,
    },
    /// Trading action of a stock, on all markets.
    State {
        stock: Symbol,
        phase: TradingPhase,
    },
    /// Whether this market itself halts a stock.
    Operation {
        stock: Symbol,
        halts: bool,
    },
    /// `C`: no message follows.
    System {
        event: u8,
    },
    NoEffect,
}

/// Reads one message; its length is that of its type.
pub(crate) fn parse(bytes: &[u8]) -> Result<Message, Fault> {
    let columns = Columns(bytes);
    let kind = bytes.first().copied().unwrap_or(0);
    match length(kind) {
        None => {
            return Err(Fault::text(
                "message type",
                &bytes[..bytes.len().min(1)],
                "one of A B C D E F H I J K L N O P Q R S U V W X Y h",
            ));
        }
        Some(length) if bytes.len() != length => {
            let expected = format!("{length} bytes for type {}", char::from(kind));
            return Err(Fault::new("length of the message", format!("{} bytes", bytes.len()), expected));
        }
        Some(_) => {}
    }
    let time = columns.number(5, 6);
    if time >= DAY {
        return Err(Fault::new("timestamp", time, "nanoseconds after midnight, below 86,400,000,000,000"));
    }
    let body = match kind {
        b'A' | b'F' => Body::Add {
            order: columns.number(11, 8),
            side: columns.side(19)?,
            quantity: columns.shares(20)?,
            stock: columns.stock(24)?,
            price: columns.price(32)?,
        },
        b'E' => Body::Execute {
            order: columns.number(11, 8),
            quantity: columns.shares(19)?,
            price: None,
            prints: true,
            match_number: columns.number(23, 8),
        },
        b'C' => Body::Execute {
            order: columns.number(11, 8),
            quantity: columns.shares(19)?,
            price: Some(columns.price(32)?),
            prints: match bytes[31] {
                b'Y' => true,
                b'N' => false,
                other => return Err(Fault::text("printable", &[other], "Y or N")),
            },
            match_number: columns.number(23, 8),
        },
        b'X' => Body::Cancel { order: columns.number(11, 8), quantity: columns.shares(19)? },
        b'D' => Body::Delete { order: columns.number(11, 8) },
        b'U' => Body::Replace {
            order: columns.number(11, 8),
            new: columns.number(19, 8),
            quantity: columns.shares(27)?,
            price: columns.price(31)?,
        },
        b'P' => Body::HiddenTrade {
            side: columns.side(19)?,
            quantity: columns.shares(20)?,
            stock: columns.stock(24)?,
            price: columns.price(32)?,
            match_number: columns.number(36, 8),
        },
        b'Q' => {
            let quantity = i64::try_from(columns.number(11, 8))
                .ok()
                .filter(|&shares| shares <= i64::from(u32::MAX) * 1_000)
                .ok_or_else(|| Fault::new("shares", columns.number(11, 8), "the shares of one cross"))?;
            let price = if quantity == 0 { Price::NONE } else { columns.price(27)? };
            Body::Cross { quantity, stock: columns.stock(19)?, price, match_number: columns.number(31, 8) }
        }
        b'R' => Body::Directory { stock: columns.stock(11)? },
        b'H' => Body::State {
            stock: columns.stock(11)?,
            // Halted, paused by a price band, quoted before the cross that ends it, traded.
            phase: match bytes[19] {
                b'T' => TradingPhase::Continuous,
                b'H' | b'P' => TradingPhase::Halt,
                b'Q' => TradingPhase::VolatilityAuction,
                other => return Err(Fault::text("trading state", &[other], "one of H P Q T")),
            },
        },
        b'h' => {
            let halts = match bytes[20] {
                b'H' => true,
                b'T' => false,
                other => return Err(Fault::text("operational halt", &[other], "H or T")),
            };
            match bytes[19] {
                b'Q' => Body::Operation { stock: columns.stock(11)?, halts },
                // Of another market of the same company.
                b'B' | b'X' => Body::NoEffect,
                other => return Err(Fault::text("market code", &[other], "one of Q B X")),
            }
        }
        b'S' => match bytes[11] {
            event @ (b'O' | b'S' | b'Q' | b'M' | b'E' | b'C') => Body::System { event },
            other => return Err(Fault::text("event code", &[other], "one of O S Q M E C")),
        },
        _ => Body::NoEffect,
    };
    Ok(Message { locate: columns.number(1, 2) as u16, time, body })
}

struct Columns<'a>(&'a [u8]);

impl Columns<'_> {
    /// The caller has checked the length of the message.
    fn number(&self, start: usize, length: usize) -> u64 {
        let bytes = self.0.get(start..start + length).unwrap_or_default();
        bytes.iter().fold(0, |value, byte| value << 8 | u64::from(*byte))
    }

    fn shares(&self, start: usize) -> Result<i64, Fault> {
        match self.number(start, 4) {
            0 => Err(Fault::new("shares", 0, "a number above zero")),
            shares => Ok(shares as i64),
        }
    }

    fn side(&self, at: usize) -> Result<Side, Fault> {
        match self.0.get(at) {
            Some(b'B') => Ok(Side::Buy),
            Some(b'S') => Ok(Side::Sell),
            other => Err(Fault::text("side", &other.copied().map_or([0], |byte| [byte]), "B or S")),
        }
    }

    fn stock(&self, start: usize) -> Result<Symbol, Fault> {
        let text = self.0.get(start..start + 8).unwrap_or_default();
        let blanks = text.iter().rev().take_while(|byte| **byte == b' ').count();
        std::str::from_utf8(&text[..text.len() - blanks])
            .ok()
            .filter(|name| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic()))
            .and_then(Symbol::new)
            .ok_or_else(|| Fault::text("stock", text, "a stock's name, filled up with blanks"))
    }

    fn price(&self, start: usize) -> Result<Price, Fault> {
        let price = self.number(start, 4) as u32;
        // The format names 200,000.0000 as its highest. In 2021 the feeds carried a stock at more than twice that, up to what the
        // column holds.
        if price == 0 {
            return Err(Fault::new("price", 0, "a price above zero"));
        }
        Ok(Price(i64::from(price) * 100_000))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A message: type, locate, time in ns, then the rest.
    pub(crate) fn message(kind: u8, locate: u16, time: u64, rest: &[&[u8]]) -> Vec<u8> {
        let mut bytes = vec![kind];
        bytes.extend(locate.to_be_bytes());
        bytes.extend([0, 0]);
        bytes.extend(&time.to_be_bytes()[2..]);
        rest.iter().for_each(|part| bytes.extend_from_slice(part));
        bytes
    }

    pub(crate) fn stock(name: &str) -> [u8; 8] {
        let mut text = [b' '; 8];
        text[..name.len()].copy_from_slice(name.as_bytes());
        text
    }

    pub(crate) fn add(order: u64, side: u8, shares: u32, name: &str, price: u32) -> Vec<u8> {
        let parts: [&[u8]; 5] =
            [&order.to_be_bytes(), &[side], &shares.to_be_bytes(), &stock(name), &price.to_be_bytes()];
        message(b'A', 1, 34_200_000_000_000, &parts)
    }

    #[test]
    fn each_type_has_its_length_and_others_have_none() {
        let known: Vec<u8> = (0..=255).filter(|kind| length(*kind).is_some()).collect();
        assert_eq!(known, b"ABCDEFHIJKLNOPQRSUVWXYh");
        for kind in known {
            let bytes = vec![kind; length(kind).unwrap() + 1];
            assert!(parse(&bytes).unwrap_err().column.contains("length"), "{}", char::from(kind));
        }
        assert!(parse(b"Z").unwrap_err().column.contains("type") && parse(b"").is_err());
    }

    #[test]
    fn each_message_reads() {
        let (id, new, shares, price) =
            (7_u64.to_be_bytes(), 9_u64.to_be_bytes(), 100_u32.to_be_bytes(), 5_853_300_u32.to_be_bytes());
        let name = stock("AAPL");
        let (symbol, paid) = (Symbol::new("AAPL").unwrap(), Price(585_330_000_000));
        let execute =
            |price, prints| Body::Execute { order: 7, quantity: 100, price, prints, match_number: 9 };
        let cases: [(Vec<u8>, Body); 13] = [
            (
                add(7, b'B', 100, "AAPL", 5_853_300),
                Body::Add { order: 7, side: Side::Buy, quantity: 100, stock: symbol, price: paid },
            ),
            (message(b'E', 1, 5, &[&id, &shares, &new]), execute(None, true)),
            (message(b'C', 1, 5, &[&id, &shares, &new, b"N", &price]), execute(Some(paid), false)),
            (message(b'X', 1, 5, &[&id, &shares]), Body::Cancel { order: 7, quantity: 100 }),
            (message(b'D', 1, 5, &[&id]), Body::Delete { order: 7 }),
            (
                message(b'U', 1, 5, &[&id, &new, &shares, &price]),
                Body::Replace { order: 7, new: 9, quantity: 100, price: paid },
            ),
            (
                message(b'P', 1, 5, &[&id, b"S", &shares, &name, &price, &new]),
                Body::HiddenTrade {
                    side: Side::Sell,
                    quantity: 100,
                    stock: symbol,
                    price: paid,
                    match_number: 9,
                },
            ),
            (
                message(b'Q', 1, 5, &[&0_u64.to_be_bytes(), &name, &[0; 4], &new, b"O"]),
                Body::Cross { quantity: 0, stock: symbol, price: Price::NONE, match_number: 9 },
            ),
            (message(b'R', 1, 5, &[&name, &[b'N'; 20]]), Body::Directory { stock: symbol }),
            (
                message(b'H', 1, 5, &[&name, b"H     "]),
                Body::State { stock: symbol, phase: TradingPhase::Halt },
            ),
            (message(b'h', 1, 5, &[&name, b"QH"]), Body::Operation { stock: symbol, halts: true }),
            (message(b'h', 1, 5, &[&name, b"BH"]), Body::NoEffect),
            (
                message(b'S', 0, 5, b"C".chunks(1).collect::<Vec<_>>().as_slice()),
                Body::System { event: b'C' },
            ),
        ];
        for (bytes, body) in cases {
            assert_eq!(parse(&bytes).unwrap().body, body);
        }
        let named = parse(&add(7, b'B', 1, "A", 1)).unwrap();
        assert_eq!((named.locate, named.time), (1, 34_200_000_000_000));
    }

    #[test]
    fn each_bad_column_is_named() {
        let late = message(b'D', 1, 86_400_000_000_000, &[&[0; 8]]);
        let rest = [&[0; 8][..], &1_u32.to_be_bytes(), &[0; 8], b"?", &1_u32.to_be_bytes()];
        for (bytes, column) in [
            (add(7, b'Q', 100, "A", 1), "side"),
            (add(7, b'B', 0, "A", 1), "shares"),
            (add(7, b'B', 1, "", 1), "stock"),
            (add(7, b'B', 1, "A\n", 1), "stock"),
            (add(7, b'B', 1, "A", 0), "price"),
            (add(7, b'B', 1, "A", 0), "price"),
            (late, "timestamp"),
            (message(b'C', 1, 5, &rest), "printable"),
            (message(b'H', 1, 5, &[&stock("A"), b"X     "]), "state"),
            (message(b'h', 1, 5, &[&stock("A"), b"QX"]), "operational halt"),
            (message(b'h', 1, 5, &[&stock("A"), b"ZH"]), "market code"),
            (message(b'S', 0, 5, &[b"X"]), "event"),
        ] {
            let fault = parse(&bytes).unwrap_err();
            assert!(fault.column.contains(column), "{fault:?}");
        }
    }
}
