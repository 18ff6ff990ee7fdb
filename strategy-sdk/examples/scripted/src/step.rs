//! One step: when, and what to do.
//!
//! ```text
//! WHEN new LABEL SYMBOL buy|sell QUANTITY PRICE|mkt [ioc] [fok] [post] [open] [close] [oldest] [newest]
//! WHEN cancel LABEL
//! WHEN replace LABEL PRICE QUANTITY
//! ```
//!
//! `WHEN` is seconds after midnight of the market's clock, with a fraction if wanted (`34200.5`), or `#N`: the strategy's
//! N-th event.

use strategy_sdk::{InstrumentId, OrderRequest, Price, Quantity, Side};

const DAY_NS: u64 = 86_400_000_000_000;

/// When a step is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    /// Nanoseconds after midnight.
    Time(u64),
    /// That many events have come.
    Event(u64),
}

/// What a step does.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// Sends an order.
    New { label: String, symbol: String, order: Order },
    /// Cancels an order.
    Cancel { label: String },
    /// Replaces an order's price and total quantity.
    Replace { label: String, price: Price, quantity: Quantity },
}

/// An order, but for its instrument.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    side: Side,
    quantity: Quantity,
    /// None: at the market.
    price: Option<Price>,
    conditions: Vec<fn(OrderRequest) -> OrderRequest>,
}

impl Order {
    /// The request for an instrument.
    pub(crate) fn request(&self, instrument: InstrumentId) -> OrderRequest {
        let request = match self.price {
            Some(price) => OrderRequest::limit(self.side, instrument, price, self.quantity),
            None => OrderRequest::market(self.side, instrument, self.quantity),
        };
        self.conditions.iter().fold(request, |request, condition| condition(request))
    }
}

/// A step.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    when: When,
    pub(crate) action: Action,
    /// As it is written.
    pub(crate) text: String,
}

impl Step {
    /// Reads a line.
    ///
    /// # Errors
    /// Says which part cannot be understood.
    pub(crate) fn parse(text: &str) -> Result<Step, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let (when, action) = match words[..] {
            [when, "new", label, symbol, side, quantity, price, ref conditions @ ..] => {
                let order = Order {
                    side: side_of(side)?,
                    quantity: Quantity(number("QUANTITY", quantity)?),
                    price: if price == "mkt" { None } else { Some(price_of(price)?) },
                    conditions: conditions.iter().map(|word| condition(word)).collect::<Result<_, _>>()?,
                };
                (when, Action::New { label: label.to_owned(), symbol: symbol.to_owned(), order })
            }
            [when, "cancel", label] => (when, Action::Cancel { label: label.to_owned() }),
            [when, "replace", label, price, quantity] => {
                let (price, quantity) = (price_of(price)?, Quantity(number("QUANTITY", quantity)?));
                (when, Action::Replace { label: label.to_owned(), price, quantity })
            }
            _ => {
                let forms = "`WHEN new LABEL SYMBOL buy|sell QUANTITY PRICE|mkt`, `WHEN cancel LABEL`, \
                             `WHEN replace LABEL PRICE QUANTITY`";
                return Err(format!("step `{text}`: write {forms}"));
            }
        };
        Ok(Step { when: when_of(when)?, action, text: text.to_owned() })
    }

    /// Whether it is due at this time of the market, with so many events seen.
    pub(crate) fn is_due(&self, now_ns: u64, events: u64) -> bool {
        match self.when {
            When::Time(time) => now_ns % DAY_NS >= time,
            When::Event(event) => events >= event,
        }
    }
}

fn number<T: std::str::FromStr>(name: &str, text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("{name} `{text}`: write a whole number"))
}

fn price_of(text: &str) -> Result<Price, String> {
    text.parse().map_err(|error| format!("PRICE `{text}`: {error}"))
}

fn side_of(text: &str) -> Result<Side, String> {
    match text {
        "buy" => Ok(Side::Buy),
        "sell" => Ok(Side::Sell),
        _ => Err(format!("side `{text}`: write `buy` or `sell`")),
    }
}

fn condition(text: &str) -> Result<fn(OrderRequest) -> OrderRequest, String> {
    Ok(match text {
        "ioc" => OrderRequest::ioc,
        "fok" => OrderRequest::fok,
        "post" => OrderRequest::post_only,
        "gtc" => OrderRequest::good_till_cancel,
        "open" => OrderRequest::at_the_open,
        "close" => OrderRequest::at_the_close,
        "oldest" => OrderRequest::cancel_oldest,
        "newest" => OrderRequest::cancel_newest,
        _ => {
            return Err(format!(
                "condition `{text}`: write ioc, fok, post, gtc, open, close, oldest or newest"
            ));
        }
    })
}

fn when_of(text: &str) -> Result<When, String> {
    if let Some(event) = text.strip_prefix('#') {
        return number("event", event).map(When::Event);
    }
    let (seconds, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_fraction = fraction.len() <= 9 && fraction.bytes().all(|byte| byte.is_ascii_digit());
    let seconds: Option<u64> = seconds.parse().ok().filter(|seconds| *seconds < DAY_NS / 1_000_000_000);
    let fraction: Option<u64> = is_fraction.then(|| format!("{fraction:0<9}").parse().ok()).flatten();
    match (seconds, fraction) {
        (Some(seconds), Some(fraction)) => Ok(When::Time(seconds * 1_000_000_000 + fraction)),
        _ => {
            Err(format!("time `{text}`: write seconds after midnight, below 86400, or #N for the N-th event"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_seconds_after_midnight_and_an_event_is_a_number() {
        assert_eq!(when_of("34200.5"), Ok(When::Time(34_200_500_000_000)));
        assert_eq!(when_of("34200.000000001"), Ok(When::Time(34_200_000_000_001)));
        assert_eq!(when_of("#7"), Ok(When::Event(7)));
        for wrong in ["", "86400", "-1", "1.0000000001", "1.x", "#", "#x"] {
            assert!(when_of(wrong).is_err(), "{wrong}");
        }
        let step = Step::parse("10 cancel a").unwrap();
        assert!(!step.is_due(9_999_999_999, 0) && step.is_due(10_000_000_000, 0));
        assert!(step.is_due(3 * DAY_NS + 10_000_000_000, 0), "of each day");
    }

    #[test]
    fn a_step_that_cannot_be_understood_says_which_part() {
        let error = |text| Step::parse(text).unwrap_err();
        for (text, part) in [
            ("10 new a XYZ buy 100 10.00 foc", "condition `foc`"),
            ("10 new a XYZ bye 100 10.00", "side `bye`"),
            ("10 new a XYZ buy ten 10.00", "QUANTITY `ten`"),
            ("10 new a XYZ buy 100 dear", "PRICE `dear`"),
            ("ten cancel a", "time `ten`"),
            ("10 cancel", "step `10 cancel`"),
        ] {
            assert!(error(text).contains(part), "{}", error(text));
        }
    }
}
