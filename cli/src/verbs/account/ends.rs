//! What became of the orders under a kill.

use node::Exit;
use serde::Serialize;
use wire::Reason;

/// As in `colo up`.
const INTERRUPTED: u8 = 130;

/// How many orders have ended, and why others have not.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Ends {
    /// Orders that worked when it fell; `None`: nobody knows.
    pub(crate) orders: Option<u64>,
    /// Of these: have ended.
    pub(crate) ended: u64,
    /// Have not.
    pub(crate) working: u64,
    /// Of those that have ended: because all of them traded.
    pub(crate) filled: u64,
    /// Cancels that td has sent for them since.
    pub(crate) cancels: u64,
    pub(crate) waits: Vec<Waiting>,
    /// The wait for them was interrupted.
    #[serde(skip)]
    pub(crate) is_interrupted: bool,
}

/// Orders that still work, by the market's last answer.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Waiting {
    /// Why the market refused the last cancel; `unanswered`: it has refused none.
    reason: &'static str,
    orders: u64,
    #[serde(skip)]
    known: Option<Reason>,
}

impl Waiting {
    pub(crate) fn new(known: Option<Reason>, orders: u64) -> Waiting {
        Waiting { reason: known.map_or("unanswered", Reason::as_str), orders, known }
    }

    fn text(&self) -> String {
        let orders = self.orders;
        match self.known {
            None => format!("{orders} wait: the market has not answered their cancels"),
            Some(Reason::MarketClosed | Reason::CallAuction) => format!(
                "{orders} wait: the market takes no cancels in this phase, and they trade if it trades before it does; td \
                 sends the cancels again"
            ),
            Some(reason) => {
                format!("{orders} wait: the market refuses their cancels ({reason}); td sends them again")
            }
        }
    }
}

impl Ends {
    /// The exit code of the verb.
    pub(super) fn code(&self) -> u8 {
        match (self.working, self.is_interrupted) {
            (0, _) => Exit::Done.code(),
            (_, true) => INTERRUPTED,
            (_, false) => Exit::CheckFailed.code(),
        }
    }

    pub(super) fn text(&self) -> String {
        let of = self.orders.map_or(String::new(), |orders| format!(" of {orders}"));
        let filled = match self.filled {
            0 => String::new(),
            filled => format!(", {filled} of them filled"),
        };
        let ended = match (self.orders, self.ended) {
            (Some(0), _) => "no order worked".to_owned(),
            (_, ended) => format!("{ended}{of} orders have ended{filled}"),
        };
        let waits: Vec<String> = self.waits.iter().map(Waiting::text).collect();
        std::iter::once(ended).chain(waits).collect::<Vec<_>>().join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(orders: Option<u64>, ended: u64, filled: u64, waits: Vec<Waiting>) -> Ends {
        let working = waits.iter().map(|waiting| waiting.orders).sum();
        Ends { orders, ended, working, filled, cancels: 5, waits, is_interrupted: false }
    }

    #[test]
    fn a_kill_says_what_has_ended_and_why_the_rest_has_not() {
        let all = ends(Some(5), 5, 0, Vec::new());
        assert_eq!((all.text().as_str(), all.code()), ("5 of 5 orders have ended", 0));
        let traded = ends(Some(2), 2, 1, Vec::new());
        assert_eq!(traded.text(), "2 of 2 orders have ended, 1 of them filled");
        let none = ends(Some(0), 0, 0, Vec::new());
        assert_eq!((none.text().as_str(), none.code()), ("no order worked", 0));
        let waiting = ends(Some(5), 3, 0, vec![Waiting::new(Some(Reason::MarketClosed), 2)]);
        let text = waiting.text();
        assert!(text.starts_with("3 of 5 orders have ended; 2 wait: the market takes no cancels"), "{text}");
        assert_eq!(waiting.code(), 4);
        let unknown =
            ends(None, 3, 0, vec![Waiting::new(None, 1), Waiting::new(Some(Reason::UnknownOrder), 1)]);
        let text = unknown.text();
        assert!(text.starts_with("3 orders have ended; 1 wait: the market has not answered"), "{text}");
        assert!(
            text.ends_with("; 1 wait: the market refuses their cancels (unknown-order); td sends them again")
        );
        assert_eq!(Ends { is_interrupted: true, ..waiting }.code(), 130);
    }
}
