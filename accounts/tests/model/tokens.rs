//! So many at once, then so many a second.

/// What is there now, in 1e-9 of a token.
#[derive(Clone, Debug)]
pub(crate) struct Tokens {
    number: u64,
    burst: u32,
    there: u128,
    at: u64,
}

impl Tokens {
    pub(crate) fn new(number: u64, burst: u32) -> Tokens {
        Tokens { number, burst, there: u128::from(burst) * 1_000_000_000, at: 0 }
    }

    /// Takes one; false where there is none. Time that goes back stands still.
    pub(crate) fn take(&mut self, now: u64) -> bool {
        let grown = u128::from(now.saturating_sub(self.at)) * u128::from(self.number);
        self.there = (self.there + grown).min(u128::from(self.burst) * 1_000_000_000);
        self.at = self.at.max(now);
        let is_there = self.there >= 1_000_000_000;
        self.there -= if is_there { 1_000_000_000 } else { 0 };
        is_there
    }
}
