//! Text of fixed size.

use std::fmt;

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// An instrument's name in its market's own words (`600519.SH`, `AAPL`, `ESH4`): at most 24 bytes of UTF-8,
/// filled up with zeros.
#[derive(
    Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, FromBytes, IntoBytes, KnownLayout, Immutable,
)]
#[repr(transparent)]
pub struct Symbol([u8; Symbol::CAPACITY]);

impl Symbol {
    /// Longest name in bytes.
    pub const CAPACITY: usize = 24;

    /// `None` when `text` is empty, longer than [`Symbol::CAPACITY`] bytes, or holds a zero byte.
    pub fn new(text: &str) -> Option<Symbol> {
        let bytes = text.as_bytes();
        if bytes.is_empty() || bytes.len() > Self::CAPACITY || bytes.contains(&0) {
            return None;
        }
        let mut symbol = Symbol::default();
        symbol.0[..bytes.len()].copy_from_slice(bytes);
        Some(symbol)
    }

    /// The name; text from a garbled message that is no UTF-8 reads as `?`.
    pub fn as_str(&self) -> &str {
        let length = self.0.iter().position(|&byte| byte == 0).unwrap_or(Self::CAPACITY);
        std::str::from_utf8(&self.0[..length]).unwrap_or("?")
    }
}

impl fmt::Display for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::Symbol;

    #[test]
    fn a_symbol_keeps_what_fits_and_refuses_what_does_not() {
        assert_eq!(Symbol::new("600519.SH").unwrap().as_str(), "600519.SH");
        assert_eq!(Symbol::new(&"x".repeat(24)).unwrap().as_str().len(), 24);
        assert!(Symbol::new(&"x".repeat(25)).is_none());
        assert!(Symbol::new("").is_none());
    }
}
