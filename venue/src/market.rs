//! What is said to a market, and what it says.

use wire::{Instrument, InstrumentId, Nanos, NewOrder, Price, Quantity, Reason, Side};

use crate::average::Average;
use crate::unbooked::LOT;

/// How much has traded, in lots of 1e-9: a market may trade parts of a lot, which no fill can carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lots(pub i128);

impl From<Quantity> for Lots {
    fn from(quantity: Quantity) -> Lots {
        Lots(i128::from(quantity.0) * LOT)
    }
}

/// An order as the market knows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// What it is called now: as it was sent, or as the last replace that was carried out.
    pub name: String,
    /// As it was sent.
    pub order: NewOrder,
    /// Its total quantity now.
    pub quantity: Quantity,
    /// Its limit price now.
    pub price: Price,
}

/// A message to the market. Names are made of printable characters without spaces, and are never used twice.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// A new order.
    New {
        /// What it is called from now on.
        name: String,
        /// The order.
        order: NewOrder,
    },
    /// Takes what is left of an order out of the market.
    Cancel {
        /// Of this request.
        name: String,
        /// Which order.
        of: Target,
    },
    /// Changes price and total quantity of an order.
    Replace {
        /// Of this request, and if it is carried out, of the order.
        name: String,
        /// Which order.
        of: Target,
        /// Its new price.
        price: Price,
        /// Its new quantity, what has traded included.
        quantity: Quantity,
    },
    /// Asks how an order stands. It is answered with [`Says::Status`].
    Ask {
        /// Which order.
        of: Target,
        /// Nothing waits for the answer. After a gap there may be as many of these as orders have ended in a day: a market that limits
        /// messages is asked for them bit by bit. They need not be asked any more once the line is another one.
        can_wait: bool,
    },
    /// Asks for all that the market has of this account. It is sent when a line is up, and while a position differs. Where the market
    /// can, it is answered with [`Says::Status`] for every order that works, also under names that are not known here, and with
    /// [`News::Position`] for every instrument: of a moment after the question, and after the report before. A market that cannot say either gives no answer.
    Reconcile,
}

/// How an order stands, as the market says when it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderState {
    /// The market never had it, and what was sent of it so far will not reach it any more; or it does not know it any more.
    None,
    /// The market has it, and has not decided about it.
    Pending,
    /// It works.
    Working,
    /// It trades no more today. An order that lives longer than a day works again on the next.
    DoneForDay,
    /// It has ended: cancelled, expired. What of it has traded has.
    Ended(Reason),
    /// It was not accepted.
    Rejected(Reason),
    /// All of it has traded.
    Filled,
}

/// What the market says of an order, or of a request about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Says {
    /// It works.
    Accepted,
    /// It was not accepted, and nothing of it has traded. One that is rejected after it traded has ended.
    Rejected(Reason),
    /// Some of it traded.
    Trade {
        /// The market's name for that: two trades of an order never share one, and a trade that is told of again has the same.
        id: String,
        /// At which price.
        price: Price,
        /// How much.
        quantity: Quantity,
        /// How much of the order has traded altogether with it, where that is given.
        filled: Option<Lots>,
    },
    /// Some of it traded, in amounts that no fill can carry: a part of a lot, or a price that is no number of 1e-9.
    Inexact {
        /// As in [`Says::Trade`].
        id: String,
        /// Lots in 1e-9. What lies below is cut off, and stands in `text`.
        lots: i128,
        /// The price to the nearest 1e-9, where it can be read.
        price: Option<Price>,
        /// Price and quantity in the market's own words.
        text: String,
    },
    /// A trade is cancelled: it counts as if it had never been.
    Busted {
        /// Of which trade.
        id: String,
        /// The trade's price, where it is given.
        price: Option<Price>,
        /// The trade's quantity, where it is given.
        quantity: Option<Quantity>,
        /// How much of the order has traded altogether without it, where that is given.
        filled: Option<Lots>,
        /// Whether the order works after it.
        works: bool,
    },
    /// A trade is corrected: it counts as if it had always been so.
    Corrected {
        /// Which trade.
        id: String,
        /// The trade's name from now on. A report that comes again has the same.
        new_id: String,
        /// The trade's price now.
        price: Price,
        /// The trade's quantity now.
        quantity: Quantity,
        /// Whether the order works after it.
        works: bool,
    },
    /// The market changed the order by itself.
    Restated {
        /// Its price now, where it is given.
        price: Option<Price>,
        /// Its total quantity now, where it is given.
        quantity: Option<Quantity>,
        /// How much of it has traded altogether, where that is given.
        filled: Option<Lots>,
    },
    /// It trades no more today: see [`OrderState::DoneForDay`].
    DoneForDay {
        /// How much of it has traded altogether, where that is given.
        filled: Option<Lots>,
        /// At which price on average, where that is given.
        average: Option<Average>,
    },
    /// It is there, and nothing follows from the report: a request about it is being looked at, it is suspended, it is stopped at a price.
    Standing {
        /// How much of it has traded altogether, where that is given.
        filled: Option<Lots>,
    },
    /// It has ended before it was filled.
    Ended {
        /// Why; [`Reason::Requested`] by a cancel.
        reason: Reason,
        /// How much of it has traded altogether, where that is said.
        filled: Option<Lots>,
        /// At which price on average, where that is given.
        average: Option<Average>,
    },
    /// A replace was carried out.
    Replaced {
        /// Its price now.
        price: Price,
        /// Its total quantity now.
        quantity: Quantity,
    },
    /// A cancel or a replace was refused.
    Refused(Reason),
    /// A stop was triggered.
    Triggered,
    /// How it stands, when asked.
    Status {
        /// What it is doing.
        state: OrderState,
        /// How much of it has traded altogether, where that is given.
        filled: Option<Lots>,
        /// At which price on average, where that is said.
        average: Option<Average>,
        /// Its price and total quantity, where they are said.
        terms: Option<(Price, Quantity)>,
    },
}

/// A piece of news about an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The name of the order or request: one that a [`Command`] gave. Of a status, what the market calls the order now.
    pub name: String,
    /// Another name of the same order, where the report gives one: it counts where the first is not known here, as when the market itself
    /// cancels or replaces.
    pub original: Option<String>,
    /// The instrument and the side of the order, where the report gives them: an order that is not known here has no others.
    /// [`InstrumentId`] zero: an instrument that is not listed.
    pub of: Option<(InstrumentId, Side)>,
    /// When, by the market's clock; zero: not given.
    pub time: Nanos,
    /// What became of it.
    pub says: Says,
}

/// What a line brings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    /// The market can be talked to. What was sent before on another line has reached it by now, or never will.
    Up,
    /// It cannot: what was sent last may be lost.
    Down,
    /// The line stands, and reports on it may have been lost.
    Gap,
    /// About an order.
    Report(Report),
    /// The position of the account, long less short, in lots of 1e-9.
    Position {
        /// In which instrument.
        instrument: InstrumentId,
        /// How much.
        lots: i128,
    },
}

/// A line to a market. Nothing here blocks.
///
/// What it brings may come late, twice and, between different orders, in any order; and what a market says of the ends and the
/// status of orders must be true. A report that is lost while the line is up is found out when the order is asked for, which is
/// done when something about it stays unanswered.
///
/// Every execution must reach the driver, in every state of its order: a trade of an order that has ended or that is not known, a trade
/// that is cancelled or corrected, and a part of a lot are reports like others ([`Says`]). A line that leaves one out, or rounds it, does not conform.
pub trait Venue {
    /// An instrument that orders may name; all are told before the first order.
    fn list(&mut self, instrument: &Instrument);

    /// Sends it, or keeps it until it can be. What is sent while the line is down may be dropped: it comes again.
    fn send(&mut self, command: &Command);

    /// Looks what there is, and puts it behind what is in `news`. Connects when there is no line. When it is called again, all that it gave
    /// the time before is written down: only then may a session count it as received.
    ///
    /// # Errors
    /// Why it cannot go on at all: the process ends. A line that is down is no error.
    fn poll(&mut self, now: Nanos, news: &mut Vec<News>) -> Result<(), String>;

    /// The platform stops: says goodbye.
    fn stop(&mut self) {}
}
