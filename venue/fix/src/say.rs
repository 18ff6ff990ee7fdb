//! The words of the driver in FIX 4.4. Pure.

use fix_codec::codec::Fields;
use fix_codec::time::utc;
use venue::{Command, Target};
use wire::{NewOrder, Offset, OrderType, Reason, Side, TimeInForce};

/// Where instruments are found by their number.
pub(crate) trait Symbols {
    fn symbol(&self, instrument: wire::InstrumentId) -> Option<&str>;
}

/// What this market calls things.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Words<'a> {
    /// Account (1).
    pub(crate) account: Option<&'a str>,
    /// PositionEffect (77) of an order that closes what was opened today; none: the market does not distinguish the days.
    pub(crate) close_today: Option<char>,
    /// Of one that closes what was opened before.
    pub(crate) close_yesterday: Option<char>,
}

/// The type and the fields of a command; or the reason for which this market is not asked.
pub(crate) fn say(
    command: &Command,
    symbols: &impl Symbols,
    words: Words<'_>,
    now_ns: u64,
) -> Result<(&'static str, Fields), Reason> {
    let account = words.account;
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
            ("D", new_order(name, order, symbol, words, time)?)
        }
        Command::Cancel { name, of } => ("F", head(of, Some(name))?.with(38, of.quantity.0).with(60, time)),
        Command::Replace { name, of, price, quantity } => {
            let fields = head(of, Some(name))?.with(38, quantity.0).with(40, order_type(&of.order));
            let price = of.order.order_type.has_price().then_some(price);
            ("G", fields.may(44, price).with(60, time))
        }
        Command::Ask { of, .. } => ("H", head(of, None)?),
        // It is a request of its own for each thing that can be asked for: the session knows which.
        Command::Reconcile => return Err(Reason::Unsupported),
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
    words: Words<'_>,
    time: &str,
) -> Result<Fields, Reason> {
    let offset = match order.offset() {
        Some(Offset::Auto) => None,
        Some(Offset::Open) => Some('O'),
        Some(Offset::Close) => Some('C'),
        // FIX has no word for the day: as a plain close the order would close another one's lots.
        Some(Offset::CloseToday) => Some(words.close_today.ok_or(Reason::Unsupported)?),
        Some(Offset::CloseYesterday) => Some(words.close_yesterday.ok_or(Reason::Unsupported)?),
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
        .may(1, words.account)
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

#[cfg(test)]
mod tests {
    use wire::{InstrumentId, OrderId, Price, Quantity, StrategyId};

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
        let (kind, fields) = say(
            command,
            &One,
            Words { account: Some("9"), close_today: None, close_yesterday: Some('Y') },
            0,
        )?;
        Ok(format!("{kind}|{}", fields.0.replace('\x01', "|")))
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
        // The day goes out in the market's own word, or the order is refused.
        let of_day =
            |offset: Offset| new(NewOrder { flags: offset.flags(), ..order(1, TimeInForce::FillOrKill) });
        assert_eq!(of_day(Offset::CloseToday), Err(Reason::Unsupported));
        assert_eq!(of_day(Offset::CloseYesterday), Ok(format!("{head}{tail}59=4|77=Y|")));
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
        assert_eq!(said(&Command::Ask { of, can_wait: false }).unwrap(), "H|11=p-1|1=9|55=SIM001|54=2|");
    }
}
