//! What DIFF's clients say, for fuzzers: any bytes, and nothing but a patch or a word.

use serde_json::Value;
use wire::{AccountId, InstrumentId};

use super::asked::Asked;
use super::board::Board;
use super::charts::Series;
use super::session::Session;
use crate::view::{Bar, InstrumentView};

/// Messages, one a line, to one session.
///
/// # Panics
/// An answer is no JSON.
pub fn diff(data: &[u8]) {
    let mut board = Board::new("SHFE".to_owned());
    let one = |instrument: u32, symbol: &str| InstrumentView {
        instrument,
        symbol: symbol.to_owned(),
        tick: Some("0.01".to_owned()),
        lot: 1,
        price_low: None,
        price_high: None,
        reference_price: None,
    };
    board.list(vec![one(1, "A"), one(2, "B\"\\")], 1);
    let bar = |begin_ns: u64| Bar {
        begin_ns,
        open: "1".to_owned(),
        high: "2".to_owned(),
        low: "1".to_owned(),
        close: "1.5".to_owned(),
        quantity: 3,
        trades: 1,
    };
    let mut session = Session::default();
    session.login(9);
    for line in data.split(|byte| *byte == b'\n').take(64) {
        let Ok(text) = std::str::from_utf8(line) else { continue };
        match Asked::read(text) {
            Ok(Asked::InsertOrder(asked)) => {
                let _ = asked.order(InstrumentId(1), AccountId(9));
                let row = super::rows::never_sent(9, &asked, "why");
                session.tell(9, "orders", &super::rows::entry(&asked.order_id, &row));
            }
            Ok(Asked::SubscribeQuote { ins_list }) => drop(session.subscribe(&ins_list, &board)),
            Ok(Asked::SetChart(chart)) => {
                for (instrument, duration) in session.chart(chart, text.trim(), &board).into_iter().flatten()
                {
                    let mut series = Series::new(duration);
                    let mut version = board.version;
                    series.take(&[bar(60_000_000_000), bar(600_000_000_000)], true, &mut version);
                    board.version = version;
                    board.series.insert((instrument, duration), series);
                }
            }
            Ok(_) => {}
            Err(why) => session.notify(1, "ERROR", &why),
        }
        session.peek();
        if let Some(answer) = session.answer(&board, 1) {
            let read: Result<Value, _> = serde_json::from_str(&answer);
            assert!(read.is_ok(), "{answer}");
        }
    }
}

#[cfg(test)]
mod tests {
    /// Good ones, of which bytes are changed.
    const SEEDS: &[&str] = &[
        r#"{"aid":"peek_message"}"#,
        r#"{"aid":"subscribe_quote","ins_list":"SHFE.A,SHFE.B\"\\"}"#,
        r#"{"aid":"set_chart","chart_id":"c","ins_list":"SHFE.A,SHFE.B\"\\","duration":60000000000,"view_width":8}"#,
        r#"{"aid":"set_chart","chart_id":"c","ins_list":"SHFE.A","duration":1000000000,"view_width":99999999999,"left_kline_id":3}"#,
        r#"{"aid":"req_login","user_name":"9","password":"x"}"#,
        r#"{"aid":"insert_order","user_id":"9","order_id":"a","exchange_id":"SHFE","instrument_id":"A","direction":"BUY","offset":"OPEN","volume":2,"price_type":"LIMIT","limit_price":99.5,"time_condition":"GFD","volume_condition":"ANY"}"#,
        r#"{"aid":"cancel_order","user_id":"9","order_id":"a"}"#,
    ];

    #[test]
    fn a_hundred_thousand_of_garbage_are_patches_or_words() {
        let mut seed = 21_u64;
        let mut random = move || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize
        };
        for _ in 0..50_000 {
            let mut data = Vec::new();
            for _ in 0..2 {
                let mut line = SEEDS[random() % SEEDS.len()].as_bytes().to_vec();
                for _ in 0..random() % 4 {
                    let place = random() % line.len().max(1);
                    match random() % 4 {
                        _ if line.is_empty() => {}
                        0 => drop(line.remove(place)),
                        1 => line.insert(place, random() as u8),
                        _ => line[place] = random() as u8,
                    }
                }
                data.extend(line);
                data.push(b'\n');
            }
            super::diff(&data);
        }
    }
}
