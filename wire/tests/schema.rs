//! The table of fields against the types that it is derived from.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot go on fails")]

use std::collections::BTreeMap;

use wire::schema::{Described, Field, Kind, MessageType, Record, TABLE, VERSION, Value, View};
use wire::*;

/// All records: the messages and their parts.
fn records() -> Vec<&'static Record> {
    fn add(record: &'static Record, found: &mut Vec<&'static Record>) {
        found.push(record);
        for field in record.fields {
            if let Kind::Record(inner) | Kind::List(inner) = field.kind {
                add(inner, found);
            }
        }
    }
    let mut found = Vec::new();
    TABLE.iter().for_each(|message| add(message.record, &mut found));
    found
}

#[test]
fn fields_cover_every_byte_once_in_their_order() {
    let mut fields = 0;
    for record in records() {
        let mut end = 0;
        for field in record.fields {
            assert_eq!(field.offset, end, "{}.{}", record.name, field.name);
            assert!(!field.doc.is_empty(), "{}.{} is not documented", record.name, field.name);
            assert!((1..=VERSION).contains(&field.since), "{}.{}", record.name, field.name);
            end += field.size;
            fields += 1;
        }
        assert_eq!(end, record.size, "{}", record.name);
        assert!(!record.doc.is_empty());
    }
    println!("{fields} fields of {} records", records().len());
    assert!(fields > 100);
}

/// One column of CSV holds values of one kind, and says the unit of times.
#[test]
fn a_column_has_one_kind() {
    let mut kinds: BTreeMap<&str, (Kind, &str)> = BTreeMap::new();
    for record in records() {
        for field in record
            .fields
            .iter()
            .filter(|field| !matches!(field.kind, Kind::Opaque | Kind::Reserved | Kind::Flags(_)))
        {
            assert_eq!(field.kind == Kind::Time, field.column.ends_with("_ns"), "{}", field.column);
            let (kind, first) = *kinds.entry(field.column).or_insert((field.kind, record.name));
            assert_eq!(kind, field.kind, "{} of {first} and of {}", field.column, record.name);
        }
    }
    assert!(kinds.len() > 50);
}

#[test]
fn members_and_flags_are_different_and_documented() {
    let mut seen = 0;
    for field in records().iter().flat_map(|record| record.fields) {
        let values: Vec<(u64, &str, &str)> = match field.kind {
            Kind::Enum(kind) => kind.members.iter().map(|m| (m.value.into(), m.name, m.doc)).collect(),
            Kind::Flags(kind) => {
                assert!(kind.flags.iter().all(|flag| flag.bit.is_power_of_two()), "{}", kind.name);
                assert!(kind.flags.iter().all(|flag| flag.bit >> (8 * field.size) == 0), "{}", kind.name);
                kind.flags.iter().map(|flag| (flag.bit, flag.name, flag.doc)).collect()
            }
            _ => continue,
        };
        assert!(values.windows(2).all(|pair| pair[0].0 < pair[1].0), "{}", field.kind.unit());
        assert!(values.iter().all(|(_, name, doc)| !name.is_empty() && !doc.is_empty()));
        seen += values.len();
    }
    assert!(seen > 40);
}

fn value_of<'a>(view: &View<'a>, name: &str) -> Option<Value<'a>> {
    view.fields().find(|(field, _)| field.name == name).unwrap().1
}

#[test]
fn a_view_reads_what_was_written() {
    let order = NewOrder {
        order_id: OrderId::new(StrategyId(7), 1, 42),
        instrument: InstrumentId(3),
        side: Side::Sell,
        order_type: OrderType::Limit,
        time_in_force: TimeInForce::ImmediateOrCancel,
        flags: 0,
        price: Price(-5),
        quantity: Quantity(9),
        cause: Cause::NONE,
        account: AccountId(8),
        display_lots: 0,
        trigger: Price::ZERO,
        minimum_lots: 0,
        ends_s: 0,
    };
    let view = View::of(NewOrder::ID, order.bytes()).unwrap();
    assert_eq!(view.record(), NewOrder::RECORD);
    assert_eq!(value_of(&view, "order_id"), Some(Value::Order(order.order_id)));
    assert_eq!(value_of(&view, "instrument"), Some(Value::Instrument(InstrumentId(3))));
    assert_eq!(value_of(&view, "price"), Some(Value::Price(Price(-5))));
    assert_eq!(value_of(&view, "quantity"), Some(Value::Quantity(Quantity(9))));
    assert_eq!(value_of(&view, "account"), Some(Value::Account(AccountId(8))));
    let Some(Value::Enum(member)) = value_of(&view, "time_in_force") else { panic!("no member") };
    assert_eq!((member.name, member.value), (order.time_in_force.as_str(), 2));
    let Some(Value::Record(cause)) = value_of(&view, "cause") else { panic!("no record") };
    assert!(
        !cause.is_present()
            && cause.fields().all(|(field, value)| field.name == "journal" || value.is_none())
    );
    assert!(view.fields().all(|(field, _)| !field.name.starts_with("reserved")));

    let mut quote = Quote::empty(InstrumentId(3));
    quote.flags = Quote::CALL_AUCTION;
    quote.bids[0] = Level { price: Price(12), quantity: Quantity(700) };
    let message = AnyMessage::Quote(quote);
    let view = message.view();
    let Some(Value::Flags(word, flags)) = value_of(&view, "flags") else { panic!("no flags") };
    assert_eq!((word, flags.flags[0].bit, flags.flags[0].name), (1, 1, "call_auction"));
    let Some(Value::List(bids)) = value_of(&view, "bids") else { panic!("no list") };
    assert_eq!((bids.iter().count(), bids.iter().filter(View::is_present).count()), (LEVELS, 1));
    assert_eq!(value_of(&bids.iter().next().unwrap(), "quantity"), Some(Value::Quantity(Quantity(700))));
    assert_eq!(value_of(&view, "last_price"), None);

    let event = NodeEvent {
        generation: 1,
        seat: 4,
        change: NodeChange::Died,
        role: NodeRole::Strategy,
        pid: 77,
        exit_code: -1,
        reserved: 0,
        reserved_tail: 0,
    };
    let died = AnyMessage::NodeEvent(NodeEvent { exit_code: -7, ..event });
    assert_eq!(value_of(&died.view(), "exit_code"), Some(Value::Signed(-7)));
    assert_eq!(value_of(&AnyMessage::NodeEvent(event).view(), "exit_code"), None);
    let position = PositionState {
        cash: WideMoney::from_wide(i128::MIN),
        ..PositionState::decode(&[0; PositionState::SIZE]).unwrap()
    };
    let message = AnyMessage::PositionState(position);
    assert_eq!(value_of(&message.view(), "cash"), Some(Value::WideMoney(position.cash)));
    let instrument =
        Instrument { symbol: Symbol::new("AAPL").unwrap(), ..Instrument::decode(&[0; 96]).unwrap() };
    assert_eq!(value_of(&AnyMessage::Instrument(instrument).view(), "symbol"), Some(Value::Text("AAPL")));
}

/// Reading by the table accepts and refuses the same bytes as decoding, for the same reason.
#[test]
fn a_view_refuses_what_decoding_refuses() {
    let (mut accepted, mut refused) = (0, 0);
    let mut check = |id: u16, bytes: &[u8]| match (AnyMessage::decode(id, bytes), View::of(id, bytes)) {
        (Ok(message), Ok(view)) => {
            accepted += 1;
            assert_eq!(message.view(), view);
        }
        (Err(left), Err(right)) => {
            refused += 1;
            assert_eq!(left, right);
        }
        (left, right) => panic!("{id}: {left:?} but {right:?}"),
    };
    for &MessageType { id, record } in TABLE {
        for length in 0..=record.size + 1 {
            check(id, &vec![1; length]);
        }
        for byte in 0..=u8::MAX {
            check(id, &vec![byte; record.size]);
            for Field { offset, .. } in record.fields {
                let mut bytes = vec![1; record.size];
                bytes[*offset] = byte;
                check(id, &bytes);
            }
        }
    }
    check(9_999, &[]);
    println!("{accepted} accepted, {refused} refused");
    assert!(accepted > 1_000 && refused > 1_000);
}
