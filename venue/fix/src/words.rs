//! Between the words of the driver and of FIX 4.4. Pure.

use fix_codec::codec::{Fields, Message};
use fix_codec::time::{read_utc, utc};
use venue::{Command, News, OrderState, Report, Says, Target};
use wire::{Nanos, NewOrder, Offset, OrderType, Price, Quantity, Reason, Side, TimeInForce};
use zerocopy::TryFromBytes;

/// Where instruments are found by their number.
pub(crate) trait Symbols {
    fn symbol(&self, instrument: wire::InstrumentId) -> Option<&str>;
}

/// The type and the fields of a command; or the reason for which this market is not asked.
pub(crate) fn say(
    command: &Command,
    symbols: &impl Symbols,
    account: Option<&str>,
    now_ns: u64,
) -> Result<(&'static str, Fields), Reason> {
    let time = &utc(now_ns)[..21];
    let head = |of: &Target, name: Option<&str>| {
        let symbol = symbols.symbol(of.order.instrument).ok_or(Reason::UnknownInstrument)?;
        let fields = match name {
            Some(name) => Fields::default().with(11, name).with(41, &of.name),
            None => Fields::default().with(11, &of.name),
        };
        Ok(fields.may(1, account).with(55, symbol).with(54, side(of.order.side)))
    };
    Ok(match command {
        Command::New { name, order } => {
            let symbol = symbols.symbol(order.instrument).ok_or(Reason::UnknownInstrument)?;
            ("D", new_order(name, order, symbol, account, time)?)
        }
        Command::Cancel { name, of } => ("F", head(of, Some(name))?.with(38, of.quantity.0).with(60, time)),
        Command::Replace { name, of, price, quantity } => {
            let fields = head(of, Some(name))?.with(38, quantity.0).with(40, order_type(&of.order));
            let price = of.order.order_type.has_price().then_some(price);
            ("G", fields.may(44, price).with(60, time))
        }
        Command::Ask { of } => ("H", head(of, None)?),
    })
}

fn side(side: Side) -> char {
    if side == Side::Buy { '1' } else { '2' }
}

fn order_type(order: &NewOrder) -> char {
    match order.order_type {
        OrderType::Market => '1',
        OrderType::Limit => '2',
        OrderType::Stop => '3',
        OrderType::StopLimit => '4',
    }
}

/// What is not in the words below is refused: an order without it would be another one.
fn new_order(
    name: &str,
    order: &NewOrder,
    symbol: &str,
    account: Option<&str>,
    time: &str,
) -> Result<Fields, Reason> {
    let offset = match order.offset() {
        Some(Offset::Auto) => None,
        Some(Offset::Open) => Some('O'),
        Some(_) => Some('C'),
        None => return Err(Reason::Malformed),
    };
    let known = NewOrder::POST_ONLY | NewOrder::OFFSET_OPEN | NewOrder::OFFSET_CLOSE | NewOrder::FORCED;
    if order.flags & !known != 0 || order.display_lots != 0 || order.minimum_lots != 0 {
        return Err(Reason::Unsupported);
    }
    let life = match order.time_in_force {
        TimeInForce::Day | TimeInForce::PostOnly => '0',
        TimeInForce::GoodTillCancel => '1',
        TimeInForce::AtTheOpen => '2',
        TimeInForce::ImmediateOrCancel => '3',
        TimeInForce::FillOrKill => '4',
        TimeInForce::AtTheClose => '7',
        TimeInForce::GoodTillDate => return Err(Reason::Unsupported),
    };
    let is_post_only = order.time_in_force == TimeInForce::PostOnly || order.flags & NewOrder::POST_ONLY != 0;
    Ok(Fields::default()
        .with(11, name)
        .may(1, account)
        .may(18, is_post_only.then_some('6'))
        .with(55, symbol)
        .with(54, side(order.side))
        .with(60, time)
        .with(38, order.quantity.0)
        .with(40, order_type(order))
        .may(44, order.order_type.has_price().then_some(order.price))
        .may(99, order.order_type.has_trigger().then_some(order.trigger))
        .with(59, life)
        .may(77, offset))
}

/// What a message of the market is news of.
pub(crate) fn hear(message: &Message, news: &mut Vec<News>) {
    // Of an answer it counts when it was given, and not when something last happened to the order.
    let is_answer = message.kind() == "9" || message.get(150) == Some("I");
    let time = message.get(if is_answer { 52 } else { 60 }).and_then(read_utc);
    let time = time.map_or(Nanos(0), |seconds| Nanos(seconds * 1_000_000_000));
    let name = message.get(11).unwrap_or_default().to_owned();
    let mut tell = |says| news.push(News::Report(Report { name: name.clone(), time, says }));
    match message.kind() {
        "8" => {
            for says in report(message) {
                tell(says);
            }
        }
        "9" => tell(Says::Refused(reason(message, Reason::UnknownOrder))),
        _ => {}
    }
}

fn report(message: &Message) -> Vec<Says> {
    let filled = Quantity(whole(message, 14).unwrap_or_default());
    let terms = || decimal(message, 44).zip(whole(message, 38).map(Quantity));
    match message.get(150).unwrap_or_default() {
        "0" => vec![Says::Accepted],
        // 4.4 says F; older words are 1 and 2.
        "F" | "1" | "2" => {
            let (Some(price), Some(quantity)) = (decimal(message, 31), whole(message, 32)) else {
                return vec![status(message, filled, terms())];
            };
            let id = message.get(17).unwrap_or_default().to_owned();
            let trade = Says::Trade { id, price, quantity: Quantity(quantity) };
            match message.get(39) {
                // Nothing is left of it, whatever was asked for.
                Some("2") => vec![trade, status(message, filled, None)],
                _ => vec![trade],
            }
        }
        "4" => vec![Says::Ended { reason: reason(message, Reason::Requested), filled: Some(filled) }],
        "C" | "3" => vec![Says::Ended { reason: Reason::Expired, filled: Some(filled) }],
        "5" => terms()
            .map(|(price, quantity)| vec![Says::Replaced { price, quantity }])
            .unwrap_or_else(|| vec![status(message, filled, None)]),
        "8" => vec![Says::Rejected(reason(message, Reason::Malformed))],
        "L" => vec![Says::Triggered],
        "I" => vec![status(message, filled, terms())],
        // Pending, restated: what follows from it is told when it has come.
        _ => Vec::new(),
    }
}

fn status(message: &Message, filled: Quantity, terms: Option<(Price, Quantity)>) -> Says {
    let state = match message.get(39).unwrap_or_default() {
        "0" | "1" | "5" | "6" | "E" => OrderState::Working,
        "2" => OrderState::Filled,
        "3" | "C" => OrderState::Ended(Reason::Expired),
        "4" => OrderState::Ended(reason(message, Reason::Requested)),
        "8" if message.get(37) == Some("NONE") || message.get(103) == Some("5") => OrderState::None,
        "8" => OrderState::Rejected(reason(message, Reason::Malformed)),
        _ => OrderState::Pending,
    };
    let average = decimal(message, 6).filter(|average| average.0 > 0);
    Says::Status { state, filled, average, terms }
}

/// The reason in words, as another colo says it; else by number.
fn reason(message: &Message, otherwise: Reason) -> Reason {
    let text = message.get(58).unwrap_or_default();
    let named = (1..=u8::MAX)
        .map_while(|number| Reason::try_read_from_bytes(&[number]).ok())
        .find(|reason| reason.as_str() == text);
    named.unwrap_or_else(|| match (message.kind(), message.get(103)) {
        ("8", Some("1")) => Reason::UnknownInstrument,
        ("8", Some("2")) => Reason::MarketClosed,
        ("8", Some("3")) => Reason::NotionalLimit,
        ("8", Some("6")) => Reason::DuplicateOrder,
        ("8", Some("11")) => Reason::Unsupported,
        ("8", Some("13")) => Reason::Quantity,
        ("8", Some("15")) => Reason::UnknownAccount,
        _ => otherwise,
    })
}

fn decimal(message: &Message, tag: u32) -> Option<Price> {
    message.get(tag)?.parse().ok()
}

/// Quantities are whole, however many zeros stand behind the point.
fn whole(message: &Message, tag: u32) -> Option<i64> {
    let value = message.get(tag)?;
    let whole = value.split_once('.').map_or(value, |(whole, _)| whole);
    whole.parse().ok()
}

#[cfg(test)]
mod tests {
    use fix_codec::codec::{Decoder, Step, message};
    use wire::{InstrumentId, OrderId, StrategyId};

    use super::*;

    struct One;

    impl Symbols for One {
        fn symbol(&self, instrument: InstrumentId) -> Option<&str> {
            (instrument.0 == 1).then_some("SIM001")
        }
    }

    fn order(instrument: u32, life: TimeInForce) -> NewOrder {
        let id = OrderId::new(StrategyId(5), 1, 2);
        let (kind, price) = (OrderType::Limit, Price(99_500_000_000));
        NewOrder::plain(id, InstrumentId(instrument), Side::Sell, kind, life, price, Quantity(3))
    }

    fn said(command: &Command) -> Result<String, Reason> {
        let (kind, fields) = say(command, &One, Some("9"), 0)?;
        Ok(format!("{kind}|{}", fields.0.replace('\x01', "|")))
    }

    fn heard(kind: &str, body: &str) -> Vec<Says> {
        let mut decoder = Decoder::default();
        decoder.add(&message("FIX.4.4", &format!("35={kind}|{body}").replace('|', "\x01")));
        let Step::Message(message) = decoder.next() else { panic!("{body}") };
        let mut news = Vec::new();
        hear(&message, &mut news);
        let says = news.into_iter().map(|piece| match piece {
            News::Report(report) => {
                assert_eq!(report.name, "p-1");
                report.says
            }
            other => panic!("{other:?}"),
        });
        says.collect()
    }

    #[test]
    fn commands_are_said_as_they_are_or_not_at_all() {
        let new = |order| said(&Command::New { name: "p-1".to_owned(), order });
        let head = "D|11=p-1|1=9|";
        let tail = "55=SIM001|54=2|60=19700101-00:00:00.000|38=3|40=2|44=99.5|";
        assert_eq!(new(order(1, TimeInForce::Day)), Ok(format!("{head}{tail}59=0|")));
        assert_eq!(new(order(1, TimeInForce::PostOnly)), Ok(format!("{head}18=6|{tail}59=0|")));
        let close = NewOrder { flags: Offset::Close.flags(), ..order(1, TimeInForce::FillOrKill) };
        assert_eq!(new(close), Ok(format!("{head}{tail}59=4|77=C|")));
        assert_eq!(new(order(2, TimeInForce::Day)), Err(Reason::UnknownInstrument));
        assert_eq!(new(order(1, TimeInForce::GoodTillDate)), Err(Reason::Unsupported));
        let hidden = NewOrder { display_lots: 1, ..order(1, TimeInForce::Day) };
        assert_eq!(new(hidden), Err(Reason::Unsupported));
        let of = Target {
            name: "p-1".to_owned(),
            order: order(1, TimeInForce::Day),
            quantity: Quantity(3),
            price: Price(1),
        };
        let cancel = said(&Command::Cancel { name: "p-2".to_owned(), of: of.clone() }).unwrap();
        assert!(cancel.starts_with("F|11=p-2|41=p-1|1=9|55=SIM001|54=2|38=3|"), "{cancel}");
        let (price, quantity) = (Price(1_500_000_000), Quantity(7));
        let replace =
            said(&Command::Replace { name: "p-3".to_owned(), of: of.clone(), price, quantity }).unwrap();
        assert!(replace.starts_with("G|11=p-3|41=p-1|1=9|55=SIM001|54=2|38=7|40=2|44=1.5|"), "{replace}");
        assert_eq!(said(&Command::Ask { of }).unwrap(), "H|11=p-1|1=9|55=SIM001|54=2|");
    }

    #[test]
    fn reports_are_news_and_what_is_not_understood_is_none() {
        assert_eq!(heard("8", "11=p-1|150=0|39=0|"), [Says::Accepted]);
        assert_eq!(heard("8", "11=p-1|150=A|39=A|"), []);
        let trade = Says::Trade { id: "x".to_owned(), price: Price(1_500_000_000), quantity: Quantity(2) };
        let partial = heard("8", "11=p-1|150=F|39=1|17=x|31=1.5|32=2|14=2|");
        assert_eq!(partial, std::slice::from_ref(&trade));
        let state =
            |state, filled| Says::Status { state, filled: Quantity(filled), average: None, terms: None };
        assert_eq!(
            heard("8", "11=p-1|150=F|39=2|17=x|31=1.5|32=2.00|14=4|"),
            [trade, state(OrderState::Filled, 4)]
        );
        let ended = |reason| Says::Ended { reason, filled: Some(Quantity(4)) };
        assert_eq!(heard("8", "11=p-1|150=4|39=4|14=4|58=strategy-gone|"), [ended(Reason::StrategyGone)]);
        assert_eq!(heard("8", "11=p-1|150=4|39=4|14=4|"), [ended(Reason::Requested)]);
        assert_eq!(heard("8", "11=p-1|150=8|39=8|58=off-tick|103=99|"), [Says::Rejected(Reason::OffTick)]);
        assert_eq!(heard("8", "11=p-1|150=8|39=8|103=2|"), [Says::Rejected(Reason::MarketClosed)]);
        assert_eq!(heard("8", "11=p-1|150=I|39=8|37=NONE|14=0|103=5|"), [state(OrderState::None, 0)]);
        assert_eq!(heard("8", "11=p-1|150=I|39=A|37=7|14=0|"), [state(OrderState::Pending, 0)]);
        let (price, quantity) = (Price(2_000_000_000), Quantity(9));
        assert_eq!(heard("8", "11=p-1|150=5|39=0|38=9|44=2|"), [Says::Replaced { price, quantity }]);
        assert_eq!(heard("9", "11=p-1|41=p-0|102=0|"), [Says::Refused(Reason::UnknownOrder)]);
        assert_eq!(heard("0", "112=x|"), []);
    }
}
