//! One line of BATS PITCH.
//!
//! Fixed columns, after "US Equities TCP PITCH Specification" (BATS Global Markets, versions 1.12 to 1.14), counted from 0 behind the
//! optional `S` that recorded files put before every message:
//!
//! ```text
//! all   0..8 milliseconds after midnight   8 type
//! A d   9..21 order  21 side B/S  22..28 shares  then symbol (A: 6, d: 8), price (10, last four decimal), display
//! E     9..21 order  21..27 shares executed  27..39 execution
//! X     9..21 order  21..27 shares cancelled
//! P r   9..21 order (hidden)  21 side of it  22..28 shares  symbol (P: 6, r: 8), price (10), execution (12)
//! s     9..17 symbol, of which every order is gone
//! H     9..17 symbol  17 status  then Reg SHO action, reserved
//! B I J R   trade break, auction update, auction summary, retail interest: no effect here
//! ```
//!
//! Order and execution numbers are in base 36.

use wire::{Price, Side, Symbol, TradingPhase};

use crate::source::error::Fault;
use crate::source::fields::digits;

/// A message and its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    /// Nanoseconds after midnight.
    pub(crate) time: u64,
    pub(crate) body: Body,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    Add { order: u64, side: Side, quantity: i64, symbol: Symbol, price: Price },
    Execute { order: u64, quantity: i64, execution: u64 },
    Cancel { order: u64, quantity: i64 },
    HiddenTrade { side: Side, quantity: i64, symbol: Symbol, price: Price, execution: u64 },
    Clear { symbol: Symbol },
    Status { symbol: Symbol, phase: TradingPhase },
    NoEffect,
}

/// Reads one line.
pub(crate) fn parse(line: &[u8]) -> Result<Message, Fault> {
    let line = line.strip_prefix(b"S").unwrap_or(line);
    let columns = Columns(line);
    let millis = columns.number("timestamp", 0, 8, "milliseconds after midnight")?;
    if millis >= 86_400_000 {
        return Err(Fault::text("timestamp", &line[..8], "milliseconds after midnight"));
    }
    let kind =
        *line.get(8).ok_or_else(|| Fault::text("message type", b"", "a letter behind the timestamp"))?;
    let body = match kind {
        b'A' => {
            columns.length(45..=45)?;
            columns.add(6)?
        }
        b'd' => {
            columns.length(47..=52)?;
            columns.add(8)?
        }
        b'E' => {
            columns.length(39..=39)?;
            Body::Execute {
                order: columns.base36("order id", 9)?,
                quantity: columns.shares(21)?,
                execution: columns.base36("execution id", 27)?,
            }
        }
        b'X' => {
            columns.length(27..=27)?;
            Body::Cancel { order: columns.base36("order id", 9)?, quantity: columns.shares(21)? }
        }
        b'P' => {
            columns.length(56..=56)?;
            columns.trade(6)?
        }
        b'r' => {
            columns.length(58..=59)?;
            columns.trade(8)?
        }
        b's' => {
            columns.length(10..=17)?;
            Body::Clear { symbol: columns.symbol(9, line.len() - 9)? }
        }
        b'H' => {
            columns.length(19..=21)?;
            // Traded; halted, or suspended by this market alone; orders queued or quoted for the auction that ends it.
            let phase = match columns.slice(17, 1) {
                b"T" => TradingPhase::Continuous,
                b"H" | b"S" => TradingPhase::Halt,
                b"A" | b"Q" => TradingPhase::VolatilityAuction,
                other => return Err(Fault::text("trading status", other, "one of A H Q S T")),
            };
            Body::Status { symbol: columns.symbol(9, 8)?, phase }
        }
        b'B' | b'I' | b'J' | b'R' => Body::NoEffect,
        other => return Err(Fault::text("message type", &[other], "one of A d E X P r s B H I J R")),
    };
    Ok(Message { time: millis * 1_000_000, body })
}

struct Columns<'a>(&'a [u8]);

impl<'a> Columns<'a> {
    fn length(&self, allowed: std::ops::RangeInclusive<usize>) -> Result<(), Fault> {
        if allowed.contains(&self.0.len()) {
            return Ok(());
        }
        let expected = format!("{} to {} bytes for this message type", allowed.start(), allowed.end());
        Err(Fault::new("length of the row", format!("{} bytes", self.0.len()), expected))
    }

    fn slice(&self, start: usize, length: usize) -> &'a [u8] {
        let end = (start + length).min(self.0.len());
        self.0.get(start..end).unwrap_or(b"")
    }

    fn number(
        &self,
        column: &'static str,
        start: usize,
        length: usize,
        expected: &'static str,
    ) -> Result<u64, Fault> {
        let text = self.slice(start, length);
        digits(text).filter(|_| text.len() == length).ok_or_else(|| Fault::text(column, text, expected))
    }

    fn shares(&self, start: usize) -> Result<i64, Fault> {
        match self.number("shares", start, 6, "six digits, above zero")? {
            0 => Err(Fault::text("shares", b"000000", "six digits, above zero")),
            shares => Ok(shares as i64),
        }
    }

    fn base36(&self, column: &'static str, start: usize) -> Result<u64, Fault> {
        let text = self.slice(start, 12);
        let fault = || Fault::text(column, text, "twelve digits or capital letters (base 36)");
        if text.len() != 12 {
            return Err(fault());
        }
        text.iter().try_fold(0_u64, |value, byte| {
            let digit = match byte {
                b'0'..=b'9' => byte - b'0',
                b'A'..=b'Z' => byte - b'A' + 10,
                _ => return Err(fault()),
            };
            Ok(value * 36 + u64::from(digit))
        })
    }

    fn side(&self) -> Result<Side, Fault> {
        match self.slice(21, 1) {
            b"B" => Ok(Side::Buy),
            b"S" => Ok(Side::Sell),
            other => Err(Fault::text("side", other, "B or S")),
        }
    }

    fn symbol(&self, start: usize, length: usize) -> Result<Symbol, Fault> {
        let text = self.slice(start, length);
        std::str::from_utf8(text.trim_ascii_end())
            .ok()
            .filter(|name| name.bytes().all(|byte| byte.is_ascii_graphic()))
            .and_then(Symbol::new)
            .ok_or_else(|| Fault::text("symbol", text, "a stock symbol, filled up with blanks"))
    }

    fn price(&self, start: usize) -> Result<Price, Fault> {
        match self.number("price", start, 10, "ten digits, the last four decimal, above zero")? {
            0 => Err(Fault::text("price", b"0000000000", "ten digits, the last four decimal, above zero")),
            price => Ok(Price(price as i64 * 100_000)),
        }
    }

    fn add(&self, symbol_length: usize) -> Result<Body, Fault> {
        Ok(Body::Add {
            order: self.base36("order id", 9)?,
            side: self.side()?,
            quantity: self.shares(22)?,
            symbol: self.symbol(28, symbol_length)?,
            price: self.price(28 + symbol_length)?,
        })
    }

    fn trade(&self, symbol_length: usize) -> Result<Body, Fault> {
        self.base36("order id", 9)?;
        Ok(Body::HiddenTrade {
            side: self.side()?,
            quantity: self.shares(22)?,
            symbol: self.symbol(28, symbol_length)?,
            price: self.price(28 + symbol_length)?,
            execution: self.base36("execution id", 38 + symbol_length)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_message_reads_with_and_without_the_leading_letter() {
        let symbol = Symbol::new("DXD").unwrap();
        let price = Price(49_960_000_000);
        let cases: [(&[u8], Body); 6] = [
            (
                b"28800011A0000000000Z0B000100DXD   0000499600Y",
                Body::Add { order: 35 * 36, side: Side::Buy, quantity: 100, symbol, price },
            ),
            (
                b"28800011d0000000000Z0S000100DXD     0000499600YBATS",
                Body::Add { order: 35 * 36, side: Side::Sell, quantity: 100, symbol, price },
            ),
            (
                b"28800318E0000000000Z0000100000000000011",
                Body::Execute { order: 35 * 36, quantity: 100, execution: 37 },
            ),
            (b"28800168X0000000000Z0000100", Body::Cancel { order: 35 * 36, quantity: 100 }),
            (
                b"28803240P0000000000Z0B000100DXD   0000499600000000000011",
                Body::HiddenTrade { side: Side::Buy, quantity: 100, symbol, price, execution: 37 },
            ),
            (b"28803240sDXD", Body::Clear { symbol }),
        ];
        for (line, body) in cases {
            assert_eq!(parse(line).unwrap().body, body);
            assert_eq!(parse(&[b"S", line].concat()).unwrap().body, body);
        }
        for (status, phase) in [
            ("T", TradingPhase::Continuous),
            ("H", TradingPhase::Halt),
            ("S", TradingPhase::Halt),
            ("Q", TradingPhase::VolatilityAuction),
            ("A", TradingPhase::VolatilityAuction),
        ] {
            let line = format!("28800011HDXD     {status}0XX");
            assert_eq!(parse(line.as_bytes()).unwrap().body, Body::Status { symbol, phase });
        }
        assert_eq!(parse(b"28800011I").unwrap().body, Body::NoEffect);
        assert_eq!(parse(b"28800011HDXD     T0XX").unwrap().time, 28_800_011_000_000);
    }

    #[test]
    fn each_bad_column_is_named() {
        for (line, column) in [
            (&b"28800011A0000000000Z0B000100DXD   0000499600"[..], "length"),
            (b"2880x011A0000000000Z0B000100DXD   0000499600Y", "timestamp"),
            (b"98800011A0000000000Z0B000100DXD   0000499600Y", "timestamp"),
            (b"28800011A0000000000z0B000100DXD   0000499600Y", "order id"),
            (b"28800011A0000000000Z0Q000100DXD   0000499600Y", "side"),
            (b"28800011A0000000000Z0B00 100DXD   0000499600Y", "shares"),
            (b"28800011A0000000000Z0B000100      0000499600Y", "symbol"),
            (b"28800011A0000000000Z0B000100DXD   00x0499600Y", "price"),
            (b"28800011A0000000000Z0B000100DXD   0000000000Y", "price"),
            (b"28800011HDXD     X0XX", "trading status"),
            (b"28800011HDXD     T", "length"),
            (b"28800011Q", "message type"),
            (b"28800011", "message type"),
            (b"", "timestamp"),
        ] {
            let fault = parse(line).unwrap_err();
            assert!(fault.column.contains(column), "{fault:?}");
        }
    }
}
