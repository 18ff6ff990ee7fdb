//! What td may make of the offset of an order.

use wire::{AccountKind, ContractTerms, NewOrder, Request};

use super::books::Books;
use super::switches::account_of;

/// See the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Offsets {
    /// The account nets: what goes out has none.
    Dropped,
    /// The account tells opening from closing: td chooses where it was left open, and what was asked for stays.
    Chosen,
    /// As `Chosen`, and the exchange tells the lots of today apart: a close of whichever day closes those of earlier days.
    Apart,
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
            Some(AccountKind::Futures) => {
                let terms = books.and_then(|books| books.terms.get(&order.instrument));
                let is_apart = terms.is_some_and(|terms| terms.flags & ContractTerms::TODAY_APART != 0);
                if is_apart { Offsets::Apart } else { Offsets::Chosen }
            }
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
            Offsets::Apart if from == NewOrder::OFFSET_CLOSE => to == NewOrder::OFFSET_CLOSE_YESTERDAY,
            Offsets::Apart => to != 0 && to != NewOrder::OFFSET_CLOSE && (from == 0 || from == to),
            Offsets::Kept => from == to,
            Offsets::Unknown => {
                let is_apart = (from, to) == (NewOrder::OFFSET_CLOSE, NewOrder::OFFSET_CLOSE_YESTERDAY);
                from == 0 || to == 0 || from == to || is_apart
            }
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
        let yesterday = NewOrder::OFFSET_CLOSE_YESTERDAY;
        let table = [
            // asked, sent: dropped, chosen, apart, kept, unknown
            (0, 0, [true, false, false, true, true]),
            (open, 0, [true, false, false, false, true]),
            (0, open, [false, true, true, false, true]),
            (open, open, [false, true, true, true, true]),
            (open, close, [false, false, false, false, false]),
            (0, close, [false, true, false, false, true]),
            (close, close, [false, true, false, true, true]),
            // A close of whichever day is one of earlier days where the exchange tells them apart.
            (close, yesterday, [false, false, true, false, true]),
            (0, yesterday, [false, true, true, false, true]),
        ];
        for (asked, sent, may) in table {
            let all = [Offsets::Dropped, Offsets::Chosen, Offsets::Apart, Offsets::Kept, Offsets::Unknown];
            for (offsets, may) in all.into_iter().zip(may) {
                let flags = offsets.flags(asked, sent | forced);
                assert_eq!(flags, may.then_some(asked | forced), "{offsets:?}: {asked} to {sent}");
            }
        }
    }
}
