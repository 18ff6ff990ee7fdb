//! Text of a length that its field chooses.

use std::fmt;

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// At most `N` bytes of UTF-8, filled up with zeros. Empty text is all zeros.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(transparent)]
pub struct Text<const N: usize>([u8; N]);

/// A currency in its usual letters: `CNY`.
pub type Currency = Text<8>;

impl<const N: usize> Text<N> {
    /// No text.
    pub const EMPTY: Text<N> = Text([0; N]);

    /// `None` when `text` is longer than `N` bytes or holds a zero byte.
    pub fn new(text: &str) -> Option<Text<N>> {
        let bytes = text.as_bytes();
        if bytes.len() > N || bytes.contains(&0) {
            return None;
        }
        let mut made = Text::EMPTY;
        made.0[..bytes.len()].copy_from_slice(bytes);
        Some(made)
    }

    /// As much of `text` as has room, up to its first zero byte.
    pub fn cut(text: &str) -> Text<N> {
        let text = text.split('\0').next().unwrap_or_default();
        let end = (0..=N.min(text.len())).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
        Text::new(&text[..end]).unwrap_or_default()
    }

    /// The text; what is no UTF-8, from a garbled message, reads as `?`.
    pub fn as_str(&self) -> &str {
        until_zero(&self.0)
    }

    /// True where there is none.
    pub fn is_empty(&self) -> bool {
        self.0.first().is_none_or(|&byte| byte == 0)
    }
}

/// The text before the first zero byte.
pub(crate) fn until_zero(bytes: &[u8]) -> &str {
    let length = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    std::str::from_utf8(&bytes[..length]).unwrap_or("?")
}

impl<const N: usize> Default for Text<N> {
    fn default() -> Text<N> {
        Text::EMPTY
    }
}

impl<const N: usize> fmt::Display for Text<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl<const N: usize> fmt::Debug for Text<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::Text;

    #[test]
    fn text_keeps_what_fits_and_refuses_what_does_not() {
        assert_eq!(Text::<8>::new("CNY").unwrap().as_str(), "CNY");
        assert_eq!(Text::<3>::new("CNY").unwrap().as_str(), "CNY");
        assert!(Text::<2>::new("CNY").is_none() && Text::<8>::new("C\0").is_none());
        assert!(Text::<8>::new("").unwrap().is_empty());
    }
}
