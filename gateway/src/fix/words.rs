//! Between the words of FIX and of the platform: orders in, reports out. Pure.

use wire::terms::{Asked, Holds, TERMS, Value};
use wire::{
    AccountId, Execution, Fill, InstrumentId, Nanos, NewOrder, OrderId, OrderType, Price, Quantity, Reason,
    Side, TimeInForce,
};

use super::codec::{Fields, Message};
use super::status::{Traded, UNKNOWN};
use crate::time::{read_utc_nanos, utc};
use crate::view::OrderView;

/// The tags that are acted upon and belong to no group. Other fields are passed over.
const SINGLE: [u32; 39] = [
    1, 7, 8, 9, 11, 16, 34, 35, 36, 38, 40, 41, 43, 44, 49, 52, 54, 55, 56, 59, 97, 98, 99, 108, 112, 122,
    123, 141, 262, 263, 264, 265, 530, 553, 554, 584, 585, 789, 1137,
];

/// Whether there may be one field of this tag at most in a message of this type.
pub(crate) fn is_single(kind: &str, tag: u32) -> bool {
    // A MarketDataRequest has a group of instruments.
    (SINGLE.contains(&tag) || NOT_KNOWN.contains(&tag) || TERMS.iter().any(|term| term.tag == tag))
        && (kind, tag) != ("V", 55)
}

/// A field that is missing or wrong, as in a Reject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wrong {
    pub(crate) tag: u32,
    /// SessionRejectReason: 1 missing, 5 a value that is none, 6 no number, 9 CompIDs, 10 SendingTime, 13 more than one of a tag.
    pub(crate) reason: u32,
    pub(crate) text: String,
}

impl Wrong {
    pub(crate) fn missing(tag: u32) -> Wrong {
        Wrong { tag, reason: 1, text: format!("tag {tag} is missing") }
    }

    fn value(tag: u32, value: &str, known: &str) -> Wrong {
        Wrong { tag, reason: 5, text: format!("tag {tag} is `{value}`; it must be one of {known}") }
    }

    pub(crate) fn format(tag: u32, value: &str) -> Wrong {
        Wrong { tag, reason: 6, text: format!("tag {tag} is `{value}`, which cannot be read") }
    }
}

/// A field that has to be there.
pub(crate) fn need(message: &Message, tag: u32) -> Result<&str, Wrong> {
    message.get(tag).filter(|value| !value.is_empty()).ok_or_else(|| Wrong::missing(tag))
}

pub(crate) fn parse<T: std::str::FromStr>(message: &Message, tag: u32) -> Result<Option<T>, Wrong> {
    let Some(value) = message.get(tag) else { return Ok(None) };
    value.parse().map(Some).map_err(|_| Wrong::format(tag, value))
}

/// Quantities are whole lots, however many zeros stand behind the point.
pub(crate) fn quantity(message: &Message, tag: u32) -> Result<i64, Wrong> {
    let value = need(message, tag)?;
    let whole = value.split_once('.').map_or(value, |(whole, places)| {
        match places.bytes().all(|byte| byte == b'0') {
            true => whole,
            false => "",
        }
    });
    whole.parse().ok().filter(|lots| *lots > 0).ok_or_else(|| Wrong::format(tag, value))
}

pub(crate) fn side(message: &Message) -> Result<Side, Wrong> {
    match need(message, 54)? {
        "1" => Ok(Side::Buy),
        "2" => Ok(Side::Sell),
        other => Err(Wrong::value(54, other, "1, 2")),
    }
}

/// Fields that change what an order means and that are not known here: better none than another one. MaxShow, DisplayQty,
/// ExpireDate, EffectiveTime, PegOffsetValue, DiscretionInst, DiscretionOffsetValue, TargetStrategy, SelfMatchPreventionID.
const NOT_KNOWN: [u32; 9] = [210, 1138, 432, 168, 211, 388, 389, 847, 2362];

/// A NewOrderSingle, without an id and without its terms.
pub(crate) fn order(
    message: &Message,
    instrument: InstrumentId,
    account: AccountId,
) -> Result<NewOrder, Wrong> {
    if let Some(tag) = NOT_KNOWN.into_iter().find(|tag| message.get(*tag).is_some()) {
        return Err(Wrong { tag, reason: 5, text: format!("tag {tag} is not supported") });
    }
    let (side, quantity) = (side(message)?, quantity(message, 38)?);
    let order_type = match need(message, 40)? {
        "1" => OrderType::Market,
        "2" => OrderType::Limit,
        "3" => OrderType::Stop,
        "4" => OrderType::StopLimit,
        other => return Err(Wrong::value(40, other, "1, 2, 3, 4")),
    };
    let time_in_force = match message.get(59).unwrap_or("0") {
        "0" => TimeInForce::Day,
        "1" => TimeInForce::GoodTillCancel,
        "2" => TimeInForce::AtTheOpen,
        "3" => TimeInForce::ImmediateOrCancel,
        "4" => TimeInForce::FillOrKill,
        "6" => TimeInForce::GoodTillDate,
        "7" => TimeInForce::AtTheClose,
        other => return Err(Wrong::value(59, other, "0, 1, 2, 3, 4, 6, 7")),
    };
    let price = |tag: u32, is_due: bool| -> Result<Price, Wrong> {
        match (is_due, parse::<Price>(message, tag)?) {
            (true, None) => Err(Wrong::missing(tag)),
            (true, Some(price)) => Ok(price),
            (false, None) => Ok(Price::ZERO),
            (false, Some(_)) => {
                Err(Wrong { tag, reason: 5, text: format!("tag {tag} means nothing for this OrdType") })
            }
        }
    };
    let limit = price(44, order_type.has_price())?;
    let trigger = price(99, matches!(order_type, OrderType::Stop | OrderType::StopLimit))?;
    Ok(NewOrder {
        account,
        trigger,
        ..NewOrder::plain(OrderId(0), instrument, side, order_type, time_in_force, limit, Quantity(quantity))
    })
}

/// The terms that a NewOrderSingle or an OrderCancelReplaceRequest asks for.
pub(crate) fn terms(message: &Message) -> Result<Vec<Asked>, Wrong> {
    let mut asked = Vec::new();
    for term in TERMS {
        let Some(text) = message.get(term.tag) else { continue };
        let value = match term.holds {
            Holds::Lots(_) => Value::Quantity(Quantity(quantity(message, term.tag)?)),
            Holds::Seconds(_) => {
                let time = read_utc_nanos(text).ok_or_else(|| Wrong::format(term.tag, text))?;
                Value::Time(Nanos(time))
            }
            Holds::Flag(_) | Holds::Words(..) => {
                let word = term.words().iter().find(|word| word.fix == Some(text));
                Value::Word(word.ok_or_else(|| {
                    let known: Vec<&str> = term.words().iter().filter_map(|word| word.fix).collect();
                    Wrong::value(term.tag, text, &known.join(", "))
                })?)
            }
        };
        asked.push((term, value));
    }
    Ok(asked)
}

/// The terms of an order as fields of an ExecutionReport of FIX 4.4.
fn shown(order: &OrderView, mut fields: Fields) -> Fields {
    for (term, value) in &order.terms.0 {
        let text = match value {
            _ if !term.is_fix_44 => None,
            Value::Quantity(quantity) => Some(quantity.0.to_string()),
            Value::Time(time) => Some(utc(time.0)[..17].to_owned()),
            Value::Word(word) => word.fix.map(str::to_owned),
        };
        fields = fields.may(term.tag, text);
    }
    fields
}

/// OrdRejReason of td's and the market's reasons.
fn order_reason(reason: Option<u8>) -> u32 {
    let is = |other: Reason| reason == Some(other as u8);
    if is(Reason::UnknownInstrument) {
        1
    } else if is(Reason::MarketClosed) || is(Reason::CallAuction) {
        2
    } else if [Reason::PositionLimit, Reason::NotionalLimit, Reason::OrderNotional, Reason::InsufficientFunds]
        .into_iter()
        .any(is)
    {
        3
    } else if is(Reason::UnknownOrder) {
        5
    } else if is(Reason::DuplicateOrder) {
        6
    } else if is(Reason::Unsupported) {
        11
    } else if is(Reason::Quantity) {
        13
    } else if is(Reason::UnknownAccount) {
        15
    } else {
        99
    }
}

/// OrdStatus as it stands.
pub(crate) fn status(order: &OrderView) -> char {
    match order.status {
        "sent" => 'A',
        "rejected" => '8',
        "cancelled" => '4',
        _ if order.remaining == 0 && order.filled > 0 && !order.working => '2',
        _ if order.filled > 0 => '1',
        _ => '0',
    }
}

/// What a report is made with beside the order.
#[derive(Clone, Debug)]
pub(crate) struct Names<'a> {
    /// ClOrdID of the request that it answers, else of the order.
    pub(crate) id: &'a str,
    /// The one before, where a change was asked for.
    pub(crate) before: Option<&'a str>,
    pub(crate) symbol: &'a str,
    pub(crate) exec_id: &'a str,
    /// By the reports that are passed on.
    pub(super) traded: Traded,
    pub(crate) time_ns: u64,
}

/// An ExecutionReport.
pub(crate) fn report(order: &OrderView, exec_type: char, names: &Names<'_>, fill: Option<&Fill>) -> Fields {
    let order_type = match order.order_type {
        "market" => '1',
        "stop" => '3',
        "stop-limit" => '4',
        _ => '2',
    };
    let time_in_force = match order.time_in_force {
        "gtc" => '1',
        "at-the-open" => '2',
        "ioc" => '3',
        "fok" => '4',
        "gtd" => '6',
        "at-the-close" => '7',
        _ => '0',
    };
    let leaves = if order.working || fill.is_some() { order.remaining } else { 0 };
    let Traded { value, quantity } = names.traded;
    let average = if quantity > 0 { Price((value / i128::from(quantity)) as i64) } else { Price::ZERO };
    let status = match fill {
        // What follows a fill says how the order stands.
        Some(fill) if fill.remaining.0 == 0 => '2',
        Some(_) => '1',
        None => status(order),
    };
    let mut fields = Fields::default()
        .with(37, &order.order_id)
        .with(11, names.id)
        .may(41, names.before)
        .with(17, names.exec_id)
        .with(150, exec_type)
        .with(39, status)
        .with(1, order.account)
        .with(55, names.symbol)
        .with(54, if order.side == "sell" { '2' } else { '1' })
        .with(38, order.quantity)
        .with(40, order_type)
        .may(44, order.price.as_ref().filter(|_| matches!(order_type, '2' | '4')))
        .with(59, time_in_force);
    fields = shown(order, fields);
    if let Some(fill) = fill {
        fields = fields.with(32, fill.quantity.0).with(31, fill.price);
    }
    fields = fields.with(151, leaves).with(14, order.filled).with(6, average).with(60, utc(names.time_ns));
    if exec_type == '8' {
        fields = fields.with(103, order_reason(order.reason_code));
    }
    let text = match (order.status, order.reason) {
        (_, Some(reason)) => Some(reason.to_owned()),
        _ if quantity != order.filled => Some(format!(
            "AvgPx (6) is of {quantity} of the {} that have traded: reports of the others were lost",
            order.filled
        )),
        _ => None,
    };
    fields.may(58, text)
}

/// A report about an order that never was.
pub(crate) fn refused(message: &Message, exec_id: &str, reason: u32, text: &str, time_ns: u64) -> Fields {
    Fields::default()
        .with(37, "NONE")
        .with(11, message.get(11).unwrap_or_default())
        .with(17, exec_id)
        .with(150, '8')
        .with(39, '8')
        .may(1, message.get(1))
        .may(55, message.get(55))
        .with(54, message.get(54).unwrap_or("1"))
        .may(38, message.get(38))
        .with(151, 0)
        .with(14, 0)
        .with(6, 0)
        .with(60, utc(time_ns))
        .with(103, reason)
        .with(58, text)
}

/// An OrderCancelReject.
pub(crate) fn cancel_refused(
    (id, before): (&str, &str),
    order: Option<&OrderView>,
    is_replace: bool,
    (reason, text): (u32, &str),
    time_ns: u64,
) -> Fields {
    Fields::default()
        .with(37, order.map_or("NONE", |order| order.order_id.as_str()))
        .with(11, id)
        .with(41, before)
        // Of an order whose end is not known as of one that is not known.
        .with(39, order.filter(|order| order.status != UNKNOWN).map_or('8', status))
        .with(434, if is_replace { '2' } else { '1' })
        .with(102, reason)
        .with(58, text)
        .with(60, utc(time_ns))
}

/// What a report of td is in FIX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Says {
    Report(char),
    /// A cancel, or a replace, is refused.
    Refused(bool),
    /// It is told with another one.
    Nothing,
}

pub(crate) fn says(execution: &Execution) -> Says {
    use wire::OrderStatus as Status;
    match execution {
        Execution::Fill(_) => Says::Report('F'),
        Execution::Update(update) => match update.status {
            Status::Accepted => Says::Report('0'),
            Status::Cancelled => Says::Report('4'),
            Status::Rejected => Says::Report('8'),
            Status::Replaced => Says::Report('5'),
            Status::Triggered => Says::Report('L'),
            Status::Reduced => Says::Report('D'),
            Status::CancelRejected => Says::Refused(false),
            Status::ReplaceRejected => Says::Refused(true),
            _ => Says::Nothing,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::super::codec::{Decoder, Step, message};
    use super::*;

    fn asked(body: &str) -> Result<NewOrder, Wrong> {
        let mut decoder = Decoder::default();
        let body = format!("35=D|{body}").replace('|', "\x01");
        decoder.add(&message("FIX.4.4", &body));
        let Step::Message(message) = decoder.next() else { panic!() };
        let mut order = order(&message, InstrumentId(3), AccountId(9))?;
        wire::terms::put(&mut order, &terms(&message)?, Quantity(1)).unwrap();
        Ok(order)
    }

    #[test]
    fn orders_are_as_they_are_said() {
        let order = asked("11=a|54=1|38=5|40=2|44=99.50|59=3|77=C|18=6|").unwrap();
        assert_eq!(
            (order.price, order.quantity, order.time_in_force),
            (Price(99_500_000_000), Quantity(5), TimeInForce::ImmediateOrCancel)
        );
        assert_eq!(
            (order.offset(), order.flags & NewOrder::POST_ONLY),
            (Some(wire::Offset::Close), NewOrder::POST_ONLY)
        );
        assert_eq!(asked("54=2|38=5.000|40=1|").unwrap().quantity, Quantity(5));
        for (body, tag, reason) in [
            ("54=1|38=5|40=2|", 44, 1),
            ("54=1|38=5|40=1|44=1|", 44, 5),
            ("54=1|38=0|40=1|", 38, 6),
            ("54=1|38=1.5|40=1|", 38, 6),
            ("54=9|38=1|40=1|", 54, 5),
            ("54=1|38=1|40=P|", 40, 5),
            ("54=1|38=1|40=2|44=x|", 44, 6),
            ("54=1|38=1|40=2|44=1|1138=1|", 1138, 5),
            ("54=1|38=1|40=2|44=1|210=1|", 210, 5),
            ("54=1|38=1|40=2|44=1|111=x|", 111, 6),
            ("54=1|38=1|40=2|44=1|110=0|", 110, 6),
            ("54=1|38=1|40=2|44=1|59=6|126=tomorrow|", 126, 6),
            ("54=1|38=1|40=2|44=1|2964=4|", 2964, 5),
            ("54=1|38=1|40=2|44=1|77=F|", 77, 5),
            ("54=1|38=1|40=2|44=1|18=G|", 18, 5),
            ("54=1|38=1|40=3|", 99, 1),
        ] {
            let wrong = asked(body).unwrap_err();
            assert_eq!((wrong.tag, wrong.reason), (tag, reason), "{body}");
        }
    }

    /// Each term that has a word in FIX goes in by it, and comes back in reports of FIX 4.4 where that version has it.
    #[test]
    fn every_term_is_taken_and_reported() {
        let order =
            asked("54=1|38=500|40=2|44=1|59=6|111=200|110=100|126=20261127-15:00:00.000|2964=3|18=6|77=O|")
                .unwrap();
        let has = |name: &str| wire::terms::named(name).unwrap().of(&order, Quantity(1));
        assert!(TERMS.iter().all(|term| has(term.name).is_some()), "{order:?}");
        assert_eq!(order.time_in_force, TimeInForce::GoodTillDate);
        assert_eq!(u64::from(order.ends_s), read_utc_nanos("20261127-15:00:00").unwrap() / 1_000_000_000);
        let terms = TERMS.iter().filter_map(|term| Some((term, has(term.name)?))).collect();
        let view = OrderView { terms: crate::terms::Terms(terms), ..OrderView::default() };
        let text = shown(&view, Fields::default()).0.replace('\x01', "|");
        assert_eq!(text, "111=200|110=100|126=20261127-15:00:00|18=6|77=O|");
    }

    /// What the parts of the acceptor read of a message: the numbers behind these words in their source.
    #[test]
    fn every_tag_that_is_read_may_be_there_once_only() {
        let sources = [
            include_str!("words.rs"),
            include_str!("trading.rs"),
            include_str!("status.rs"),
            include_str!("link.rs"),
            include_str!("logon.rs"),
            include_str!("market.rs"),
            include_str!("sessions.rs"),
            include_str!("../../fixcodec/src/sequence.rs"),
        ];
        let words = ["message.get(", "message.is(", "message.number(", "(message, ", ".is(", "price("];
        let mut read = std::collections::BTreeSet::new();
        for source in sources {
            let source = source.split("#[cfg(test)]").next().unwrap();
            for word in words {
                for (place, _) in source.match_indices(word) {
                    let digits: String =
                        source[place + word.len()..].chars().take_while(char::is_ascii_digit).collect();
                    read.extend(digits.parse::<u32>());
                }
            }
        }
        let doubled: Vec<&u32> = read.iter().filter(|tag| !is_single("D", **tag)).collect();
        assert!(doubled.is_empty(), "read and not in SINGLE: {doubled:?}");
        assert!(read.len() > 30, "{read:?}");
    }
}
