//! What a message of the market is news of. Pure.

use std::collections::BTreeMap;

use fix_codec::codec::Message;
use fix_codec::time::read_utc_nanos;
use venue::{Average, Lots, News, OrderState, Report, Says};
use wire::{InstrumentId, Nanos, Price, Quantity, Reason, Side};
use zerocopy::TryFromBytes;

use crate::exec_type::ExecType;
use crate::numbers::{self, price};

/// Where instruments are found by their symbol.
pub trait Instruments {
    /// The instrument of a symbol.
    fn instrument(&self, symbol: &str) -> Option<InstrumentId>;
}

/// The news in an execution report or a refusal of a cancel.
pub fn hear(message: &Message, instruments: &impl Instruments, news: &mut Vec<News>) {
    // Of an answer it counts when it was given, and not when something last happened to the order.
    let is_answer = message.kind() == "9" || ExecType::of(message) == ExecType::OrderStatus;
    let time = Nanos(message.get(if is_answer { 52 } else { 60 }).and_then(read_utc_nanos).unwrap_or(0));
    let name = message.get(11).unwrap_or_default().to_owned();
    let original = message.get(41).filter(|original| *original != name).map(str::to_owned);
    let side = match message.get(54) {
        Some("1" | "3") => Some(Side::Buy),
        Some("2" | "4" | "5" | "6") => Some(Side::Sell),
        _ => None,
    };
    // A symbol that is not listed is no instrument of ours. Some markets leave it out in these words.
    let symbol = message.get(55).filter(|symbol| !matches!(*symbol, "[N/A]" | "N/A" | "NONE"));
    let of = symbol.map(|symbol| instruments.instrument(symbol).unwrap_or(InstrumentId(0))).zip(side);
    let mut tell = |says| {
        let (name, original) = (name.clone(), original.clone());
        news.push(News::Report(Report { name, original, of, time, says }));
    };
    match message.kind() {
        "8" => report(message).into_iter().for_each(&mut tell),
        "9" => tell(Says::Refused(reason(message, Reason::UnknownOrder))),
        other => log::warn!("a message of type {other} says nothing here: passed over"),
    }
}

fn report(message: &Message) -> Vec<Says> {
    let (filled, average) = (filled(message), average(message));
    let terms = || price(message, 44).zip(lots(message, 38));
    match ExecType::of(message) {
        ExecType::New => vec![Says::Accepted],
        ExecType::PartialFill | ExecType::Fill | ExecType::Trade => {
            let id = message.get(17).unwrap_or_default();
            let mut all =
                traded(message, id, |id, price, quantity| Says::Trade { id, price, quantity, filled });
            if all.is_empty() || message.get(39) == Some("2") {
                // Nothing is left of it, even if a replace asked for more.
                all.push(status(message, None));
            }
            all
        }
        ExecType::TradeCorrect => {
            let of = message.get(19).unwrap_or_default();
            let all = traded(message, message.get(17).unwrap_or_default(), |new_id, price, quantity| {
                Says::Corrected { id: of.to_owned(), new_id, price, quantity, works: works(message) }
            });
            match all.first() {
                // As corrected no fill can carry it: what was is taken back.
                Some(Says::Inexact { .. }) => {
                    let bust = Says::Busted {
                        id: of.to_owned(),
                        price: None,
                        quantity: None,
                        filled: None,
                        works: works(message),
                    };
                    vec![bust].into_iter().chain(all).collect()
                }
                Some(_) => all,
                None => vec![Says::Standing { filled }],
            }
        }
        ExecType::TradeCancel => {
            let id = message.get(19).or(message.get(17)).unwrap_or_default().to_owned();
            let (price, quantity) = (price(message, 31), lots(message, 32));
            vec![Says::Busted { id, price, quantity, filled, works: works(message) }]
        }
        ExecType::Canceled => {
            vec![Says::Ended { reason: reason(message, Reason::Requested), filled, average }]
        }
        ExecType::Expired => vec![Says::Ended { reason: Reason::Expired, filled, average }],
        ExecType::DoneForDay => vec![Says::DoneForDay { filled, average }],
        // What is calculated has been filled, or is done for the day.
        ExecType::Calculated if message.get(39) == Some("2") => vec![status(message, None)],
        ExecType::Calculated => vec![Says::DoneForDay { filled, average }],
        ExecType::Replaced => match terms() {
            Some((price, quantity)) => vec![Says::Replaced { price, quantity }],
            None => vec![status(message, None)],
        },
        ExecType::Rejected => {
            let reason = reason(message, Reason::Malformed);
            match filled {
                None | Some(Lots(0)) => vec![Says::Rejected(reason)],
                // It was accepted before.
                filled => vec![Says::Ended { reason, filled, average }],
            }
        }
        ExecType::Restated => {
            let restated = Says::Restated { price: price(message, 44), quantity: lots(message, 38), filled };
            match state(message) {
                OrderState::Working | OrderState::Pending | OrderState::DoneForDay => vec![restated],
                OrderState::None | OrderState::Ended(_) | OrderState::Rejected(_) | OrderState::Filled => {
                    vec![restated, status(message, None)]
                }
            }
        }
        // The market has it, and has not decided.
        ExecType::PendingNew => Vec::new(),
        ExecType::PendingCancel | ExecType::PendingReplace | ExecType::Stopped | ExecType::Suspended => {
            vec![Says::Standing { filled }]
        }
        ExecType::OrderStatus => vec![status(message, terms())],
        ExecType::Triggered => vec![Says::Triggered],
        ExecType::Other => {
            log::error!(
                "an execution report says ExecType {:?}, which is not of FIX 4.4: only how much has traded is looked at",
                message.get(150)
            );
            vec![Says::Standing { filled }]
        }
    }
}

/// A trade of the report, if it has one: exact, or as it is written.
fn traded(message: &Message, id: &str, exact: impl Fn(String, Price, Quantity) -> Says) -> Vec<Says> {
    let (Some(at), Some(much)) = (message.get(31), message.get(32)) else { return Vec::new() };
    if let (Some(price), Some(quantity)) = (price(message, 31), lots(message, 32)) {
        return match quantity.0 {
            0 => Vec::new(),
            _ => vec![exact(id.to_owned(), price, quantity)],
        };
    }
    // What is no number adds nothing that can be counted, and is listed in its own words.
    let (lots, unread) = numbers::lots(much).map_or((0, ", which is no number of lots"), |lots| (lots, ""));
    let text = format!("{much} at {at}{unread}");
    vec![Says::Inexact { id: id.to_owned(), lots, price: numbers::nearest_price(at), text }]
}

/// Whether a report has an execution, which counts whatever else of the report cannot be read.
pub(crate) fn is_execution(message: &Message) -> bool {
    let kind = ExecType::of(message);
    let is_trade = matches!(kind, ExecType::PartialFill | ExecType::Fill | ExecType::Trade);
    message.kind() == "8" && (is_trade || matches!(kind, ExecType::TradeCorrect | ExecType::TradeCancel))
}

/// Whether the order works, as OrdStatus (39) says.
fn works(message: &Message) -> bool {
    matches!(message.get(39), Some("0" | "1" | "5"))
}

fn status(message: &Message, terms: Option<(Price, Quantity)>) -> Says {
    Says::Status { state: state(message), filled: filled(message), average: average(message), terms }
}

/// OrdStatus (39).
fn state(message: &Message) -> OrderState {
    match message.get(39).unwrap_or_default() {
        // New, partially filled, replaced; pending cancel, stopped, suspended, pending replace.
        "0" | "1" | "5" | "6" | "7" | "9" | "E" => OrderState::Working,
        "2" => OrderState::Filled,
        // Done for the day, calculated.
        "3" | "B" => OrderState::DoneForDay,
        "4" => OrderState::Ended(reason(message, Reason::Requested)),
        "8" if message.get(37) == Some("NONE") || message.get(103) == Some("5") => OrderState::None,
        "8" => OrderState::Rejected(reason(message, Reason::Malformed)),
        "C" => OrderState::Ended(Reason::Expired),
        // Pending new, accepted for bidding.
        "A" | "D" => OrderState::Pending,
        other => {
            log::error!("an execution report says OrdStatus {other:?}, which is not of FIX 4.4");
            OrderState::Pending
        }
    }
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

/// The reason of a BusinessMessageReject (380).
pub(crate) fn business_reason(message: &Message) -> Reason {
    match message.get(380) {
        Some("2") => Reason::UnknownInstrument,
        Some("3") => Reason::Unsupported,
        Some("4") => Reason::MarketClosed,
        Some("6") => Reason::UnknownAccount,
        _ => Reason::Malformed,
    }
}

fn lots(message: &Message, tag: u32) -> Option<Quantity> {
    let text = message.get(tag)?;
    numbers::whole_lots(text).map(Quantity)
}

/// AvgPx (6). Where nothing has traded it is zero.
fn average(message: &Message) -> Option<Average> {
    message.get(6)?.parse().ok().filter(|average: &Average| average.price > 0)
}

/// CumQty (14), with parts of a lot.
fn filled(message: &Message) -> Option<Lots> {
    let lots = numbers::lots(message.get(14)?).ok()?;
    (lots >= 0).then_some(Lots(lots))
}

/// The positions of a PositionReport: one instrument, long less short, in lots of 1e-9.
pub(crate) fn position(message: &Message) -> Option<(&str, i128)> {
    let symbol = message.get(55)?;
    let (mut total, mut end_of_day, mut parts, mut is_any) = (None, None, 0_i128, false);
    let mut kind = "";
    let mut lots = BTreeMap::new();
    for (tag, value) in &message.fields {
        match tag {
            703 => kind = value,
            704 => *lots.entry(kind).or_insert(0_i128) += numbers::lots(value).ok()?,
            705 => *lots.entry(kind).or_insert(0_i128) -= numbers::lots(value).ok()?,
            _ => {}
        }
    }
    for (kind, lots) in lots {
        match kind {
            "TOT" => total = Some(lots),
            "FIN" => end_of_day = Some(lots),
            // Since the start of the day, and what was there then.
            "TQ" | "SOD" => (parts, is_any) = (parts + lots, true),
            other => log::warn!("a position report of {symbol} says PosType {other}: passed over"),
        }
    }
    let lots = total.or(end_of_day).or(is_any.then_some(parts))?;
    Some((symbol, lots))
}

#[cfg(test)]
mod tests {
    use fix_codec::codec::{Decoder, Step, message};
    use venue::LOT;

    use super::*;

    struct One;

    impl Instruments for One {
        fn instrument(&self, symbol: &str) -> Option<InstrumentId> {
            (symbol == "SIM001").then_some(InstrumentId(1))
        }
    }

    fn read(kind: &str, body: &str) -> Message {
        let mut decoder = Decoder::default();
        decoder.add(&message("FIX.4.4", &format!("35={kind}|{body}").replace('|', "\x01")));
        let Step::Message(message) = decoder.next() else { panic!("{body}") };
        message
    }

    fn reports(kind: &str, body: &str) -> Vec<Report> {
        let mut news = Vec::new();
        hear(&read(kind, body), &One, &mut news);
        let reports = news.into_iter().map(|piece| match piece {
            News::Report(report) => report,
            other => panic!("{other:?}"),
        });
        reports.collect()
    }

    fn heard(kind: &str, body: &str) -> Vec<Says> {
        reports(kind, body).into_iter().map(|report| report.says).collect()
    }

    #[test]
    fn reports_are_news_and_what_is_not_understood_is_none() {
        assert_eq!(heard("8", "11=p-1|150=0|39=0|"), [Says::Accepted]);
        assert_eq!(heard("8", "11=p-1|150=A|39=A|"), []);
        let trade = |filled| {
            let (price, quantity) = (Price(1_500_000_000), Quantity(2));
            let filled = Some(Quantity(filled).into());
            Says::Trade { id: "x".to_owned(), price, quantity, filled }
        };
        let partial = heard("8", "11=p-1|150=F|39=1|17=x|31=1.5|32=2|14=2|");
        assert_eq!(partial, [trade(2)]);
        let state = |state, filled| Says::Status {
            state,
            filled: Some(Quantity(filled).into()),
            average: None,
            terms: None,
        };
        assert_eq!(
            heard("8", "11=p-1|150=F|39=2|17=x|31=1.5|32=2.00|14=4|"),
            [trade(4), state(OrderState::Filled, 4)]
        );
        let ended = |reason| Says::Ended { reason, filled: Some(Quantity(4).into()), average: None };
        assert_eq!(heard("8", "11=p-1|150=4|39=4|14=4|58=strategy-gone|"), [ended(Reason::StrategyGone)]);
        let (filled, average) = (Some(Quantity(4).into()), "1.5".parse().ok());
        assert_eq!(heard("8", "11=p-1|150=3|39=3|14=4|6=1.5|"), [Says::DoneForDay { filled, average }]);
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

    #[test]
    fn trades_that_are_cancelled_corrected_or_no_whole_lots_are_news() {
        let busted = |price, quantity| {
            let (id, filled) = ("x".to_owned(), Some(Lots(0)));
            Says::Busted { id, price, quantity, filled, works: true }
        };
        let price = Price(1_500_000_000);
        assert_eq!(
            heard("8", "11=p-1|150=H|39=0|17=b|19=x|31=1.5|32=2|14=0|"),
            [busted(Some(price), Some(Quantity(2)))]
        );
        // As FIX 4.2 says it.
        assert_eq!(heard("8", "11=p-1|20=1|150=1|39=0|17=b|19=x|14=0|"), [busted(None, None)]);
        let (id, new_id) = ("x".to_owned(), "c".to_owned());
        assert_eq!(
            heard("8", "11=p-1|150=G|39=1|17=c|19=x|31=1.5|32=2|14=2|"),
            [Says::Corrected { id, new_id, price, quantity: Quantity(2), works: true }]
        );
        let inexact = heard("8", "11=p-1|150=F|39=1|17=x|31=1.5|32=2.5|14=2.5|");
        let (id, text) = ("x".to_owned(), "2.5 at 1.5".to_owned());
        assert_eq!(inexact, [Says::Inexact { id, lots: 2_500_000_000, price: Some(price), text }]);
        for (much, lots, text) in [
            ("1000000000000", 1_000_000_000_000 * LOT, "1000000000000 at 1.5"),
            ("abc", 0, "abc at 1.5, which is no number of lots"),
        ] {
            let inexact = heard("8", &format!("11=p-1|150=F|39=1|17=x|31=1.5|32={much}|14=2|"));
            let (id, text) = ("x".to_owned(), text.to_owned());
            assert_eq!(inexact, [Says::Inexact { id, lots, price: Some(price), text }]);
        }
        let inexact = heard("8", "11=p-1|150=F|39=1|17=x|31=1e3|32=2|14=2|");
        let (id, text) = ("x".to_owned(), "2 at 1e3".to_owned());
        assert_eq!(inexact, [Says::Inexact { id, lots: 2_000_000_000, price: None, text }]);
    }

    #[test]
    fn a_report_says_its_order_s_names_instrument_side_and_time() {
        let report = &reports("8", "11=a b|41=p-1|150=0|39=0|55=SIM001|54=5|60=20240229-15:59:59.5|")[0];
        assert_eq!((report.name.as_str(), report.original.as_deref()), ("a b", Some("p-1")));
        assert_eq!(report.of, Some((InstrumentId(1), Side::Sell)));
        assert_eq!(report.time, Nanos(1_709_222_399_500_000_000));
    }

    #[test]
    fn positions_are_long_less_short_of_the_day_and_of_before() {
        let of = |body: &str| position(&read("AP", body)).map(|(symbol, lots)| (symbol.to_owned(), lots));
        let is = |lots: i128| Some(("S".to_owned(), lots * LOT));
        assert_eq!(of("55=S|702=1|703=TQ|704=7|705=2|"), is(5));
        assert_eq!(of("55=S|702=2|703=SOD|704=10|703=TQ|704=7|705=2|"), is(15));
        assert_eq!(of("55=S|702=2|703=TOT|705=3|703=TQ|704=7|"), is(-3));
        assert_eq!(of("702=1|703=TQ|704=7|"), None);
        assert_eq!(of("55=S|702=0|"), None);
        assert_eq!(of("55=S|702=1|703=TQ|704=abc|705=2|"), None);
        assert_eq!(of("55=S|702=1|703=TQ|704=1000000000004|"), is(1_000_000_000_004));
    }
}
