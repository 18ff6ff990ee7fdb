//! What is said to a market, and what it says.

use wire::{Instrument, Nanos, NewOrder, Price, Quantity, Reason};

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
    },
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
    /// It was not accepted.
    Rejected(Reason),
    /// Some of it traded.
    Trade {
        /// The market's name for that: two trades of an order never share one, and a trade that is told of again has the same.
        id: String,
        /// At which price.
        price: Price,
        /// How much.
        quantity: Quantity,
    },
    /// It has ended before it was filled.
    Ended {
        /// Why; [`Reason::Requested`] by a cancel.
        reason: Reason,
        /// How much of it has traded altogether, where that is said.
        filled: Option<Quantity>,
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
        /// How much of it has traded altogether.
        filled: Quantity,
        /// At which price on average, where that is said.
        average: Option<Price>,
        /// Its price and total quantity, where they are said.
        terms: Option<(Price, Quantity)>,
    },
}

/// A piece of news about an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The name of the order or request: one that a [`Command`] gave. Of a status, what the market calls the order now.
    pub name: String,
    /// When, by the market's clock; zero: not said.
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
    /// About an order.
    Report(Report),
}

/// A line to a market. Nothing here blocks.
///
/// What it brings may come late, twice and, between different orders, in any order; and what a market says of the ends and the
/// status of orders must be true. A report that is lost while the line is up is found out when the order is asked for, which is
/// done when something about it stays unanswered.
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
