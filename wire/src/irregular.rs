//! How the rows of a recorded day contradict each other: the kinds that md counts, and what they mean.

/// What a kind says about the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Rows contradict each other: counts against `md.tolerate`.
    Contradiction,
    /// Perhaps damage; no row contradicts another.
    Suspicion,
    /// Sound files may have it too.
    Sound,
}

macro_rules! irregularities {
    ($($(#[$doc:meta])* $kind:ident = $name:literal, $verdict:ident, $words:literal;)*) => {
        /// A kind of irregularity of a recorded day.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Irregularity { $($(#[$doc])* $kind,)* }

        impl Irregularity {
            /// All of them.
            pub const ALL: &[Irregularity] = &[$(Irregularity::$kind,)*];

            /// The name, as JSON and messages have it.
            pub fn as_str(self) -> &'static str {
                match self { $(Irregularity::$kind => $name,)* }
            }

            /// What is counted, in words that follow a number.
            pub fn words(self) -> &'static str {
                match self { $(Irregularity::$kind => $words,)* }
            }

            /// What it says about the file.
            pub fn verdict(self) -> Verdict {
                match self { $(Irregularity::$kind => Verdict::$verdict,)* }
            }
        }
    };
}

irregularities! {
    /// Orders dropped because their number was given out again while they rested.
    Displaced = "displaced", Contradiction, "order numbers given out twice";
    /// Rows that took more from an order than was left of it.
    Excess = "excess", Contradiction, "rows that take more than is left of an order";
    /// Orders that rest from before the first row.
    Prior = "prior", Sound, "orders from before the first row";
    /// Quotes whose best bid or ask holds such an order, which only later rows name.
    PriorQuotes = "prior_quotes", Sound, "quotes whose best bid or ask only later rows prove";
    /// Orders dropped because a later row proves them gone.
    Stale = "stale", Sound, "orders proved gone by a later row";
    /// Of those displaced: where a file of several sessions begins anew.
    AtSeams = "at_seams", Sound, "orders ended by the start of another session";
    /// Rows whose time is out of order.
    OffTime = "off_time", Contradiction, "rows out of the order of time";
    /// Rows off the price or side of the order that they name, or whose price is far off the market.
    OffPrice = "off_price", Contradiction, "rows off a price or side";
    /// Rows off the quantity of the order that they end, or off their own money.
    OffQuantity = "off_quantity", Contradiction, "rows off a quantity or sum of money";
    /// Rows about an order that is not there, and rows that come again.
    Unmatched = "unmatched", Contradiction, "rows about an order that is not there";
    /// Orders with the number of one that is gone.
    Reused = "reused", Contradiction, "orders with the number of one that is gone";
    /// Files whose last row has no line end, or that lack the message that says that no other follows.
    Unended = "unended", Suspicion, "files without their end: perhaps cut off";
    /// Records that the vendor marks as of a book that may be bad.
    Doubted = "doubted", Suspicion, "records of a book that may be bad, as the vendor marks them";
    /// Continuous contracts of which one contract follows another.
    Rolled = "rolled", Sound, "continuous contracts that roll: each contract is an instrument of its own";
    /// Of the rows left out: about an order that the source never added.
    Unknown = "unknown", Sound, "rows about orders that no row adds, left out";
    /// Where rows are missing: orders that a row of continuous trading proves gone, and quotes held back because the
    /// book was crossed outside of an auction.
    Crossed = "crossed", Contradiction, "times a crossed book: rows are missing or wrong";
}

impl Irregularity {
    /// How many kinds there are.
    pub const COUNT: usize = Irregularity::ALL.len();

    /// The kinds with one of these verdicts that were seen, each with its count. Orders displaced at seams are counted
    /// there alone.
    pub fn seen(
        verdicts: &[Verdict],
        count: impl Fn(Irregularity) -> u64,
    ) -> impl Iterator<Item = (Irregularity, u64)> {
        let wanted = Irregularity::ALL.iter().copied().filter(|kind| verdicts.contains(&kind.verdict()));
        let counted = wanted.map(move |kind| match kind {
            Irregularity::Displaced => (kind, count(kind).saturating_sub(count(Irregularity::AtSeams))),
            _ => (kind, count(kind)),
        });
        counted.filter(|(_, count)| *count > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_a_name_and_words_of_its_own() {
        for (index, kind) in Irregularity::ALL.iter().enumerate() {
            assert_eq!(*kind as usize, index, "a count is found by the number of its kind");
            for other in &Irregularity::ALL[..index] {
                assert!(
                    kind.as_str() != other.as_str() && kind.words() != other.words(),
                    "{kind:?} {other:?}"
                );
            }
        }
    }

    #[test]
    fn what_was_displaced_at_seams_is_seen_there_alone() {
        let seen = |displaced: u64, verdict: Verdict| -> Vec<(&str, u64)> {
            let count = |kind| match kind {
                Irregularity::Displaced => displaced,
                Irregularity::AtSeams => 7,
                _ => 0,
            };
            Irregularity::seen(&[verdict], count).map(|(kind, count)| (kind.as_str(), count)).collect()
        };
        assert_eq!(seen(7, Verdict::Contradiction), []);
        assert_eq!(seen(9, Verdict::Contradiction), [("displaced", 2)]);
        assert_eq!(seen(9, Verdict::Sound), [("at_seams", 7)]);
        assert_eq!(seen(0, Verdict::Suspicion), []);
    }
}
