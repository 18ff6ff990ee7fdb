//! What FIX's clients say, for fuzzers: any bytes, and nothing but messages or what is passed over.

use wire::{AccountId, InstrumentId, Level, Price, Quantity, Quote};

use super::codec::{self, Decoder, Step};
use super::market::{Market, Subscription, Wish};
use super::{sequence, words};

/// A stream, cut as its first bytes say.
///
/// # Panics
/// A message that was read is not read again as it was written, or more comes out than went in.
pub fn fix(data: &[u8]) {
    let mut market = Market::default();
    market.list([("A".to_owned(), 1)].into());
    let mut quote = Quote::empty(InstrumentId(1));
    quote.bids[0] = Level { price: Price(Price::ONE), quantity: Quantity(2) };
    market.set(quote);
    let (cuts, stream) = data.split_at(data.len().min(8));
    let mut decoder = Decoder::default();
    let (mut left, mut turn, mut steps) = (stream, 0, 0);
    while !left.is_empty() {
        let cut = cuts.get(turn % 8).map_or(1, |cut| usize::from(*cut) + 1).min(left.len());
        decoder.add(&left[..cut]);
        (left, turn) = (&left[cut..], turn + 1);
        loop {
            steps += 1;
            assert!(steps <= 2 * stream.len() + turn, "it goes on for ever");
            let message = match decoder.next() {
                Step::More => break,
                Step::Garbled(_) => continue,
                Step::Message(message) => message,
            };
            let _ = words::order(&message, InstrumentId(1), AccountId(9));
            let _ = words::refused(&message, "x", 99, "why", 1);
            let _ = sequence::judge(&message, 5);
            if let Ok(Ok((_, Wish::Once(mut wish) | Wish::Subscribe(mut wish)))) =
                Subscription::read(&message, &market)
            {
                assert!(wish.news(&market).len() <= 1_000);
            }
            let is_plain = message.fields.iter().all(|(_, value)| !value.contains(['\x01', '\u{fffd}']));
            if is_plain {
                let mut body = codec::Fields::default();
                for (tag, value) in &message.fields[2..] {
                    body = body.with(*tag, value);
                }
                let begin = message.get(8).unwrap_or_default();
                let mut again = Decoder::default();
                again.add(&codec::message(begin, &body.0));
                let Step::Message(read) = again.next() else { panic!("{message:?} is not read again") };
                assert_eq!(read.fields[2..], message.fields[2..]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::codec::message;

    #[test]
    fn a_hundred_thousand_of_garbage_are_messages_or_passed_over() {
        let bodies = [
            "35=D|49=A|56=B|34=5|52=20261123-14:09:00|11=a|55=A|54=1|38=5|40=2|44=99.5|59=0|",
            "35=V|49=A|56=B|34=5|52=20261123-14:09:00|262=r|263=1|264=0|265=1|267=2|269=0|269=1|146=1|55=A|",
            "35=4|49=A|56=B|34=5|123=Y|36=9|",
            "35=A|49=A|56=B|34=1|98=0|108=30|95=3|96=a\x02b|554=x|",
        ];
        let seeds = bodies.map(|body| message("FIX.4.4", &body.replace('|', "\x01")));
        let mut seed = 22_u64;
        let mut random = move || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize
        };
        for _ in 0..50_000 {
            let mut data = vec![random() as u8; 8];
            for _ in 0..2 {
                let mut one = seeds[random() % seeds.len()].clone();
                for _ in 0..random() % 4 {
                    let place = random() % one.len();
                    match random() % 4 {
                        0 => drop(one.remove(place)),
                        1 => one.insert(place, random() as u8),
                        _ => one[place] = random() as u8,
                    }
                }
                data.extend(one);
            }
            super::fix(&data);
        }
    }
}
