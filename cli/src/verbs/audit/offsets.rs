//! What td may make of the offset of an order.

use wire::{AccountKind, NewOrder, Request};

use super::books::Books;
use super::switches::account_of;

/// See the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Offsets {
    /// The account nets: what goes out has none.
    Dropped,
    /// The account tells opening from closing: td chooses where it was left open, and what was asked for stays.
    Chosen,
    /// As it came: it was refused.
    Kept,
    /// The kind of its account is not known.
    Unknown,
}

impl Offsets {
    /// Of a request that went out.
    pub(super) fn of(books: Option<&Books>, sent: &Request) -> Offsets {
        let Request::New(order) = sent else { return Offsets::Kept };
        let account = books.and_then(|books| books.accounts.get(&account_of(order)));
        match account.map(|account| account.kind) {
            Some(AccountKind::Cash | AccountKind::Margin) => Offsets::Dropped,
            Some(AccountKind::Futures) => Offsets::Chosen,
            None => Offsets::Unknown,
        }
    }

    /// The flags of what went out with the offset that was asked for; `None` where td may not have made the one of the other.
    pub(super) fn flags(self, asked: u8, sent: u8) -> Option<u8> {
        let chosen = NewOrder::OFFSET_OPEN | NewOrder::OFFSET_CLOSE;
        let (from, to) = (asked & chosen, sent & chosen);
        let may = match self {
            Offsets::Dropped => to == 0,
            Offsets::Chosen => to != 0 && (from == 0 || from == to),
            Offsets::Kept => from == to,
            Offsets::Unknown => from == 0 || to == 0 || from == to,
        };
        may.then_some(sent & !chosen | from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offset_is_dropped_where_the_account_nets_and_chosen_where_it_was_left_open() {
        let (open, close, forced) = (NewOrder::OFFSET_OPEN, NewOrder::OFFSET_CLOSE, NewOrder::FORCED);
        let table = [
            // asked, sent: dropped, chosen, kept, unknown
            (0, 0, [true, false, true, true]),
            (open, 0, [true, false, false, true]),
            (0, open, [false, true, false, true]),
            (open, open, [false, true, true, true]),
            (open, close, [false, false, false, false]),
        ];
        for (asked, sent, may) in table {
            let all = [Offsets::Dropped, Offsets::Chosen, Offsets::Kept, Offsets::Unknown];
            for (offsets, may) in all.into_iter().zip(may) {
                let flags = offsets.flags(asked, sent | forced);
                assert_eq!(flags, may.then_some(asked | forced), "{offsets:?}: {asked} to {sent}");
            }
        }
    }
}
