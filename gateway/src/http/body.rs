//! Bodies of requests about orders: read, checked, and made into the wire's orders.

use serde::Deserialize;
use utoipa::ToSchema;
use wire::{AccountId, InstrumentId, NewOrder, OrderId, OrderType, Price, Quantity, Side, Text, TimeInForce};

use super::problem::Problem;
use crate::terms::Terms;

/// A decimal number, as a JSON number or, which is always exact, as text.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum Decimal {
    /// As text: "10.25".
    Text(String),
    /// As a number: 10.25.
    #[schema(value_type = f64)]
    Number(serde_json::Number),
}

impl Decimal {
    fn price(&self, field: &str) -> Result<Price, Problem> {
        let text = match self {
            Decimal::Text(text) => text.clone(),
            Decimal::Number(number) => number.to_string(),
        };
        text.parse().map_err(|error| Problem::bad(format!("`{field}`: {error}")))
    }
}

/// A new order.
#[derive(Clone, Debug, Deserialize, ToSchema)]
pub(crate) struct OrderBody {
    /// What the client calls it, up to 48 bytes: with the same name again, the same order is answered and none is sent.
    #[schema(max_length = 48)]
    pub client_order_id: Option<String>,
    /// For which account; may be left out where only one can be meant.
    pub account: Option<u32>,
    /// The instrument: its symbol, or its number as text.
    pub symbol: String,
    /// `buy` or `sell`.
    pub side: String,
    /// How much.
    #[schema(minimum = 1)]
    pub quantity: i64,
    /// `limit` (as long as nothing else is said), `market`, `stop`, `stop-limit`.
    #[serde(rename = "type")]
    #[schema(rename = "type")]
    pub order_type: Option<String>,
    /// The limit price.
    pub price: Option<Decimal>,
    /// The price that a stop waits for.
    pub trigger: Option<Decimal>,
    /// `day` (as long as nothing else is said), `ioc`, `fok`, `post-only`, `gtc`, `gtd`, `at-the-open`, `at-the-close`.
    pub time_in_force: Option<String>,
    /// This is the same request again: if the name is not known and something has been forgotten, nothing is sent.
    #[serde(default)]
    pub retry: bool,
    /// The order is cancelled when the WebSocket ends that has this session.
    pub session: Option<String>,
    /// `report` (as long as nothing else is said): answer with td's first word. `none`: when it is on its way.
    pub wait: Option<String>,
    /// Each of its terms.
    #[serde(flatten)]
    #[schema(ignore)]
    pub terms: Terms,
}

/// What of an order changes.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReplaceBody {
    /// New limit price.
    pub price: Option<Decimal>,
    /// New total quantity, what has traded included.
    #[schema(minimum = 1)]
    pub quantity: Option<i64>,
}

/// Several new orders.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BatchBody {
    /// In this order, together.
    pub orders: Vec<OrderBody>,
}

/// A kill switch.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct KillBody {
    /// One account.
    pub account: Option<u32>,
    /// All accounts of a group.
    pub group: Option<u32>,
    /// A strategy, by its node's name.
    pub strategy: Option<String>,
    /// Everything.
    #[serde(default)]
    pub all: bool,
    /// For which reason, up to 64 bytes.
    pub why: String,
}

/// Orders in a batch at most.
pub(crate) const MOST_ORDERS: usize = 100;

/// The words of an order, and what they stand for. The OpenAPI document lists them.
pub(super) const SIDES: [(&str, Side); 2] = [("buy", Side::Buy), ("sell", Side::Sell)];
pub(super) const ORDER_TYPES: [(&str, OrderType); 4] = [
    ("limit", OrderType::Limit),
    ("market", OrderType::Market),
    ("stop", OrderType::Stop),
    ("stop-limit", OrderType::StopLimit),
];
pub(super) const TIMES_IN_FORCE: [(&str, TimeInForce); 8] = [
    ("day", TimeInForce::Day),
    ("ioc", TimeInForce::ImmediateOrCancel),
    ("fok", TimeInForce::FillOrKill),
    ("post-only", TimeInForce::PostOnly),
    ("gtc", TimeInForce::GoodTillCancel),
    ("gtd", TimeInForce::GoodTillDate),
    ("at-the-open", TimeInForce::AtTheOpen),
    ("at-the-close", TimeInForce::AtTheClose),
];
/// Whether it is answered at once.
pub(super) const WAITS: [(&str, bool); 2] = [("report", false), ("none", true)];

fn one_of<T: Copy>(field: &str, text: &str, known: &[(&str, T)]) -> Result<T, Problem> {
    known.iter().find(|(word, _)| *word == text).map(|(_, value)| *value).ok_or_else(|| {
        let words: Vec<&str> = known.iter().map(|(word, _)| *word).collect();
        Problem::bad(format!("`{field}` is `{text}`; it must be one of {}", words.join(", ")))
    })
}

impl OrderBody {
    /// The client's own name for it; empty where it has none.
    pub(crate) fn name(&self) -> Result<Text<48>, Problem> {
        match self.client_order_id.as_deref() {
            // Who means to give one, and gives none, would think that a second try sends no second order.
            Some("") => Err(Problem::bad("`client_order_id` is empty: give one, or leave it out")),
            name => client_id(name.unwrap_or_default()),
        }
    }

    /// The order, without an id and without its terms.
    pub(crate) fn order(&self, instrument: InstrumentId, account: AccountId) -> Result<NewOrder, Problem> {
        let side = side(&self.side)?;
        let order_type = one_of("type", self.order_type.as_deref().unwrap_or("limit"), &ORDER_TYPES)?;
        let time_in_force =
            one_of("time_in_force", self.time_in_force.as_deref().unwrap_or("day"), &TIMES_IN_FORCE)?;
        if self.quantity <= 0 {
            return Err(Problem::bad("`quantity` must be greater than 0"));
        }
        let price = match (&self.price, order_type.has_price()) {
            (Some(price), true) => price.price("price")?,
            (None, true) => return Err(Problem::bad("`price` is missing: this type of order has one")),
            (Some(_), false) => return Err(Problem::bad("`price` means nothing for this type of order")),
            (None, false) => Price::ZERO,
        };
        let is_stop = matches!(order_type, OrderType::Stop | OrderType::StopLimit);
        let trigger = match (&self.trigger, is_stop) {
            (Some(trigger), true) => trigger.price("trigger")?,
            (None, true) => return Err(Problem::bad("`trigger` is missing: a stop waits for a price")),
            (Some(_), false) => return Err(Problem::bad("`trigger` is for stops")),
            (None, false) => Price::ZERO,
        };
        Ok(NewOrder {
            account,
            trigger,
            ..NewOrder::plain(
                OrderId(0),
                instrument,
                side,
                order_type,
                time_in_force,
                price,
                Quantity(self.quantity),
            )
        })
    }

    /// The session that it belongs to.
    pub(crate) fn session(&self) -> Result<Option<u64>, Problem> {
        let number = |text: &String| {
            u64::from_str_radix(text, 16)
                .map_err(|_| Problem::bad("`session` is none that a WebSocket was told"))
        };
        self.session.as_ref().map(number).transpose()
    }

    /// Answer at once?
    pub(crate) fn at_once(&self) -> Result<bool, Problem> {
        one_of("wait", self.wait.as_deref().unwrap_or("report"), &WAITS)
    }
}

impl ReplaceBody {
    pub(crate) fn parts(&self) -> Result<(Option<Price>, Option<Quantity>), Problem> {
        let price = self.price.as_ref().map(|price| price.price("price")).transpose()?;
        if price.is_none() && self.quantity.is_none() {
            return Err(Problem::bad("neither `price` nor `quantity` is given: nothing would change"));
        }
        if self.quantity.is_some_and(|quantity| quantity <= 0) {
            return Err(Problem::bad("`quantity` must be greater than 0"));
        }
        Ok((price, self.quantity.map(Quantity)))
    }
}

pub(crate) fn side(text: &str) -> Result<Side, Problem> {
    one_of("side", text, &SIDES)
}

/// A client's name for an order: printable, so that it can stand in a path and a log.
pub(crate) fn client_id(text: &str) -> Result<Text<48>, Problem> {
    if text.is_empty() {
        return Ok(Text::EMPTY);
    }
    let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'/' && byte != b'%');
    Text::new(text).filter(|_| is_plain).ok_or_else(|| {
        Problem::bad("`client_order_id` has up to 48 printable ASCII characters, without spaces, / and %")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(json: &str) -> Result<NewOrder, String> {
        let body: OrderBody = serde_json::from_str(json).map_err(|error| error.to_string())?;
        body.order(InstrumentId(3), AccountId(7)).map_err(|problem| format!("{problem:?}"))
    }

    #[test]
    fn prices_are_exact_as_text_and_as_numbers() {
        for price in ["\"10.25\"", "10.25"] {
            let json = format!(r#"{{"symbol":"A","side":"buy","quantity":2,"price":{price}}}"#);
            assert_eq!(body(&json).unwrap().price, Price(10_250_000_000));
        }
    }

    #[test]
    fn what_contradicts_itself_is_refused_before_anything_is_sent() {
        let refused = |rest: &str| {
            let json = format!(r#"{{"symbol":"A","side":"buy","quantity":2{rest}}}"#);
            body(&json).expect_err(rest)
        };
        assert!(refused("").contains("`price` is missing"));
        assert!(refused(r#","type":"market","price":1"#).contains("means nothing"));
        assert!(refused(r#","price":1,"side":"buy""#).contains("duplicate"));
        assert!(refused(r#","price":1,"time_in_force":"never""#).contains("one of"));
        assert!(refused(r#","price":1,"qty":3"#).contains("unknown field"));
        assert!(refused(r#","price":1.0000000001"#).contains("nine places"));
        assert!(refused(r#","type":"stop""#).contains("trigger"));
    }

    #[test]
    fn client_ids_are_short_and_printable() {
        assert!(client_id(&"x".repeat(48)).is_ok() && client_id("a-1_b.2").is_ok());
        for bad in [&"x".repeat(49)[..], "a b", "a/b", "é", "a\n"] {
            assert!(client_id(bad).is_err(), "{bad:?}");
        }
    }
}
