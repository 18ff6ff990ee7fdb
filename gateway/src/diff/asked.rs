//! What a DIFF client says: read, and made into the wire's orders. Pure.

use std::collections::HashMap;

use serde::Deserialize;
use wire::{
    AccountId, InstrumentId, NewOrder, Offset, OrderId, OrderType, Price, Quantity, Side, TimeInForce,
};

/// Which rows of a chart may be asked for at most.
pub(crate) const WIDEST: u64 = 10_000;

/// A message.
#[derive(Debug, Deserialize)]
#[serde(tag = "aid", rename_all = "snake_case")]
pub(crate) enum Asked {
    /// Whatever is new, once there is something.
    PeekMessage,
    /// These quotes, and no others any more.
    SubscribeQuote {
        ins_list: String,
    },
    /// Bars; without instruments, the chart ends.
    SetChart(SetChart),
    /// Trade for an account.
    ReqLogin(ReqLogin),
    /// There are no settlements to confirm: it is taken as said.
    ConfirmSettlement,
    InsertOrder(Box<InsertOrder>),
    CancelOrder {
        #[serde(default)]
        user_id: String,
        order_id: String,
    },
    #[serde(other)]
    Other,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct SetChart {
    pub(crate) chart_id: String,
    pub(crate) ins_list: String,
    /// In nanoseconds; zero: ticks.
    pub(crate) duration: u64,
    #[serde(default)]
    pub(crate) view_width: u64,
    #[serde(default)]
    pub(crate) left_kline_id: Option<i64>,
}

#[derive(Deserialize)]
pub(crate) struct ReqLogin {
    /// The account's number.
    pub(crate) user_name: String,
    /// A token of ours.
    pub(crate) password: String,
}

impl std::fmt::Debug for ReqLogin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReqLogin").field("user_name", &self.user_name).finish_non_exhaustive()
    }
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct InsertOrder {
    #[serde(default)]
    pub(crate) user_id: String,
    pub(crate) order_id: String,
    pub(crate) exchange_id: String,
    pub(crate) instrument_id: String,
    pub(crate) direction: String,
    #[serde(default)]
    pub(crate) offset: String,
    pub(crate) volume: i64,
    pub(crate) price_type: String,
    #[serde(default)]
    pub(crate) limit_price: Option<serde_json::Value>,
    #[serde(default)]
    pub(crate) time_condition: String,
    #[serde(default)]
    pub(crate) volume_condition: String,
    /// What else there is.
    #[serde(flatten)]
    pub(crate) rest: HashMap<String, serde::de::IgnoredAny>,
}

impl Asked {
    pub(crate) fn read(text: &str) -> Result<Asked, String> {
        serde_json::from_str(text).map_err(|error| format!("this is no message: {error}"))
    }
}

/// The number of an account, which DIFF has as text: as JSON writes numbers, without leading zeros and signs.
pub(crate) fn account(text: &str) -> Option<u32> {
    let number = text.trim();
    let is_number = number == "0" || !number.starts_with(['0', '+']);
    number.parse().ok().filter(|_| is_number)
}

/// A price that a client has computed: what floats add beyond nine places is no part of it.
fn price(text: &str) -> Result<Price, String> {
    text.parse::<Price>().or_else(|_| {
        let number: f64 =
            text.parse().map_err(|_| format!("`limit_price` is `{text}`, which is no number"))?;
        format!("{number:.9}").parse::<Price>().map_err(|error| format!("`limit_price`: {error}"))
    })
}

fn one_of<T: Copy>(field: &str, text: &str, known: &[(&str, T)]) -> Result<T, String> {
    known.iter().find(|(word, _)| *word == text).map(|(_, value)| *value).ok_or_else(|| {
        let words: Vec<&str> = known.iter().map(|(word, _)| *word).collect();
        format!("`{field}` is `{text}`; it must be one of {}", words.join(", "))
    })
}

impl InsertOrder {
    /// The order, without an id.
    pub(crate) fn order(&self, instrument: InstrumentId, account: AccountId) -> Result<NewOrder, String> {
        let side = one_of("direction", &self.direction, &[("BUY", Side::Buy), ("SELL", Side::Sell)])?;
        let offset = one_of(
            "offset",
            &self.offset,
            &[
                ("OPEN", Offset::Open),
                ("CLOSE", Offset::Close),
                ("CLOSETODAY", Offset::CloseToday),
                ("", Offset::Auto),
            ],
        )?;
        let order_type = one_of(
            "price_type",
            &self.price_type,
            &[("LIMIT", OrderType::Limit), ("ANY", OrderType::Market)],
        )?;
        let is_whole = one_of(
            "volume_condition",
            &self.volume_condition,
            &[("ANY", false), ("ALL", true), ("", false)],
        )?;
        let time = one_of(
            "time_condition",
            &self.time_condition,
            &[
                ("GFD", TimeInForce::Day),
                ("IOC", TimeInForce::ImmediateOrCancel),
                ("GTC", TimeInForce::GoodTillCancel),
                ("", TimeInForce::Day),
            ],
        )?;
        let time_in_force = match (is_whole, time) {
            (false, time) => time,
            (true, TimeInForce::ImmediateOrCancel) => TimeInForce::FillOrKill,
            (true, _) => return Err("`volume_condition` ALL goes with `time_condition` IOC only".to_owned()),
        };
        // The protocol has fields for no other terms: better no order than another one.
        if let Some(term) = wire::terms::TERMS.iter().find(|term| self.rest.contains_key(term.name)) {
            return Err(format!("`{}` is not taken here: DIFF has no word for it", term.name));
        }
        if self.volume <= 0 {
            return Err("`volume` must be greater than 0".to_owned());
        }
        let limit = match (order_type, &self.limit_price) {
            (OrderType::Limit, Some(limit)) => price(&limit.to_string())?,
            (OrderType::Limit, None) => return Err("`limit_price` is missing".to_owned()),
            _ => Price::ZERO,
        };
        Ok(NewOrder {
            flags: offset.flags(),
            account,
            ..NewOrder::plain(
                OrderId(0),
                instrument,
                side,
                order_type,
                time_in_force,
                limit,
                Quantity(self.volume),
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(more: &str) -> Result<NewOrder, String> {
        let text = format!(
            r#"{{"aid":"insert_order","user_id":"9","order_id":"a","exchange_id":"SHFE","instrument_id":"A","direction":"BUY","offset":"OPEN","volume":2{more}}}"#
        );
        match Asked::read(&text)? {
            Asked::InsertOrder(asked) => asked.order(InstrumentId(3), AccountId(9)),
            other => Err(format!("{other:?}")),
        }
    }

    #[test]
    fn orders_are_as_tqsdk_writes_them() {
        let limit = order(
            r#","price_type":"LIMIT","limit_price":99.5,"time_condition":"GFD","volume_condition":"ANY""#,
        )
        .unwrap();
        assert_eq!(
            (limit.price, limit.time_in_force, limit.offset()),
            (Price(99_500_000_000), TimeInForce::Day, Some(Offset::Open))
        );
        let sum = order(r#","price_type":"LIMIT","limit_price":99.30000000000001,"time_condition":"IOC","volume_condition":"ALL""#).unwrap();
        assert_eq!((sum.price, sum.time_in_force), (Price(99_300_000_000), TimeInForce::FillOrKill));
        let any = order(r#","price_type":"ANY","time_condition":"IOC","volume_condition":"ANY""#).unwrap();
        assert_eq!((any.order_type, any.time_in_force), (OrderType::Market, TimeInForce::ImmediateOrCancel));
        for wrong in [
            r#","price_type":"BEST""#,
            r#","price_type":"LIMIT""#,
            r#","price_type":"LIMIT","limit_price":"-""#,
            r#","price_type":"LIMIT","limit_price":1e300"#,
            r#","price_type":"LIMIT","limit_price":09"#,
            r#","price_type":"LIMIT","limit_price":"09""#,
            r#","price_type":"ANY","volume_condition":"ALL","time_condition":"GFD""#,
        ] {
            assert!(order(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn numbers_are_written_as_json_writes_them() {
        for (text, number) in
            [("9", Some(9)), (" 9 ", Some(9)), ("0", Some(0)), ("4294967295", Some(u32::MAX))]
        {
            assert_eq!(account(text), number, "{text}");
        }
        for wrong in ["09", "00", "+9", "-9", "9.0", "0x9", "", "4294967296"] {
            assert_eq!(account(wrong), None, "{wrong}");
        }
        let error =
            Asked::read(r#"{"aid":"set_chart","chart_id":"a","ins_list":"A","duration":09}"#).unwrap_err();
        assert!(error.contains("invalid number"), "{error}");
    }

    #[test]
    fn messages_that_are_not_known_are_told_from_those_that_cannot_be_read() {
        assert!(matches!(Asked::read(r#"{"aid":"peek_message"}"#), Ok(Asked::PeekMessage)));
        assert!(matches!(Asked::read(r#"{"aid":"ins_query","query":"x"}"#), Ok(Asked::Other)));
        for wrong in ["", "[]", "{}", r#"{"aid":7}"#, r#"{"aid":"set_chart"}"#, r#"{"aid":"insert_order"}"#] {
            assert!(Asked::read(wrong).is_err(), "{wrong}");
        }
        let login = Asked::read(r#"{"aid":"req_login","user_name":"9","password":"secret"}"#).unwrap();
        assert!(!format!("{login:?}").contains("secret"));
    }
}
