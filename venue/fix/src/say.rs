//! The words of the driver in FIX 4.4. Pure.

use fix_codec::codec::Fields;
use fix_codec::time::utc;
use venue::{Command, Target};
use wire::terms::{self, TERMS, Value};
use wire::{NewOrder, Offset, OrderType, Quantity, Reason, Side, TimeInForce};

/// Where instruments are found by their number.
pub(crate) trait Symbols {
    fn symbol(&self, instrument: wire::InstrumentId) -> Option<&str>;

    /// Quantities of this instrument are multiples of this.
    fn lot(&self, instrument: wire::InstrumentId) -> Quantity;
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
            ("D", new_order(name, order, (symbol, symbols.lot(order.instrument)), words, time)?)
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
    (symbol, lot): (&str, Quantity),
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
    if order.flags & !(terms::flags() | NewOrder::FORCED) != 0 {
        return Err(Reason::Unsupported);
    }
    let life = match order.time_in_force {
        TimeInForce::Day | TimeInForce::PostOnly => '0',
        TimeInForce::GoodTillCancel => '1',
        TimeInForce::AtTheOpen => '2',
        TimeInForce::ImmediateOrCancel => '3',
        TimeInForce::FillOrKill => '4',
        TimeInForce::AtTheClose => '7',
        TimeInForce::GoodTillDate => '6',
    };
    let mut order = *order;
    if order.time_in_force == TimeInForce::PostOnly {
        order.flags |= NewOrder::POST_ONLY;
    }
    let order = &order;
    let fields = Fields::default()
        .with(11, name)
        .may(1, words.account)
        .with(55, symbol)
        .with(54, side(order.side))
        .with(60, time)
        .with(38, order.quantity.0)
        .with(40, order_type(order))
        .may(44, order.order_type.has_price().then_some(order.price))
        .may(99, order.order_type.has_trigger().then_some(order.trigger))
        .with(59, life);
    Ok(with_terms(fields, order, lot)?.may(77, offset))
}

/// The terms that FIX 4.4 has fields for.
fn with_terms(mut fields: Fields, order: &NewOrder, lot: Quantity) -> Result<Fields, Reason> {
    // The market has its own words for the day of a position: see above.
    for term in TERMS.iter().filter(|term| term.name != "offset") {
        let text = match term.of(order, lot) {
            None => continue,
            Some(_) if !term.is_fix_44 => return Err(Reason::Unsupported),
            Some(Value::Quantity(quantity)) => quantity.0.to_string(),
            Some(Value::Time(time)) => utc(time.0)[..17].to_owned(),
            Some(Value::Word(word)) => word.fix.ok_or(Reason::Unsupported)?.to_owned(),
        };
        fields = fields.with(term.tag, text);
    }
    Ok(fields)
}

#[cfg(test)]
mod tests {
    use wire::{InstrumentId, OrderId, Price, StrategyId};

    use super::*;

    struct One;

    impl Symbols for One {
        fn symbol(&self, instrument: InstrumentId) -> Option<&str> {
            (instrument.0 == 1).then_some("SIM001")
        }

        fn lot(&self, _: InstrumentId) -> Quantity {
            Quantity(3)
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
        assert_eq!(new(order(1, TimeInForce::PostOnly)), Ok(format!("{head}{tail}59=0|18=6|")));
        let close = NewOrder { flags: Offset::Close.flags(), ..order(1, TimeInForce::FillOrKill) };
        assert_eq!(new(close), Ok(format!("{head}{tail}59=4|77=C|")));
        // The day goes out in the market's own word, or the order is refused.
        let of_day =
            |offset: Offset| new(NewOrder { flags: offset.flags(), ..order(1, TimeInForce::FillOrKill) });
        assert_eq!(of_day(Offset::CloseToday), Err(Reason::Unsupported));
        assert_eq!(of_day(Offset::CloseYesterday), Ok(format!("{head}{tail}59=4|77=Y|")));
        assert_eq!(new(order(2, TimeInForce::Day)), Err(Reason::UnknownInstrument));
        let whole = NewOrder { display_lots: 1, minimum_lots: 1, ..order(1, TimeInForce::Day) };
        assert_eq!(new(whole), Ok(format!("{head}{tail}59=0|111=3|110=3|")));
        let till = NewOrder { ends_s: 86_400, ..order(1, TimeInForce::GoodTillDate) };
        assert_eq!(new(till), Ok(format!("{head}{tail}59=6|126=19700102-00:00:00|")));
        // FIX 4.4 has no field for it.
        let alone = NewOrder { flags: NewOrder::CANCEL_NEWEST, ..order(1, TimeInForce::Day) };
        assert_eq!(new(alone), Err(Reason::Unsupported));
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
