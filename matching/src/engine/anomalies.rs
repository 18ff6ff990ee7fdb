//! Invalid input, counted by kind.

macro_rules! anomalies {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// Counts of invalid or incomplete input, by kind. None of it stops the engine; each field documents how it is
        /// handled.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Anomalies { $($(#[$doc])* pub $name: u64,)* }

        impl Anomalies {
            /// Every kind by name, in the order of the fields.
            pub(crate) fn by_name(&self) -> impl Iterator<Item = (&'static str, u64)> {
                [$((stringify!($name), self.$name),)*].into_iter()
            }

            /// Sum of all kinds.
            pub(crate) fn total(&self) -> u64 {
                self.by_name().fold(0, |sum, (_, count)| sum.saturating_add(count))
            }
        }
    };
}

anomalies! {
    /// Instruments with an id that none can have: not listed.
    invalid_instrument,
    /// Market data of an instrument that was not listed: ignored.
    unknown_instrument,
    /// `Execute` of an order that is not in the book (it rested before the first message): treated as a trade
    /// against unseen volume.
    unknown_executed,
    /// `Reduce` of an order that is not in the book: ignored.
    unknown_reduced,
    /// `Delete` of an order that is not in the book: ignored.
    unknown_deleted,
    /// `Modify` of an order that is not in the book: added as new, for now all about it is known.
    unknown_modified,
    /// `Add` with the reference of an order that is in the book: ignored.
    duplicate_reference,
    /// An event without the price that it needs: ignored.
    invalid_price,
    /// An event whose quantity is negative, or zero where it may not be: ignored.
    invalid_quantity,
    /// More traded or taken away than the order had left: all that was left.
    excess_quantity,
    /// An event with another side than its order has: the order's own side counts.
    side_mismatch,
    /// Levels of a quote that are out of order, or of negative quantity: cut off from there.
    garbled_quote,
    /// Quotes whose best bid is not below their best ask: used as they are.
    crossed_quote,
    /// Orders that found no room (2^32 - 1 rest already): not put into the book.
    no_room,
}

/// Adds one, saturating.
pub(crate) fn count(counter: &mut u64) {
    *counter = counter.saturating_add(1);
}
