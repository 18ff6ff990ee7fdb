//! What was heard, in a file: a line for each request and each piece of news, written before it is acted upon. Whoever reads it
//! from the start knows all that the one before knew. A process that is killed leaves at most half a line at the end, on which
//! nobody has acted.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::str::FromStr;

use wire::{InstrumentId, Nanos, OrderId, Price, Quantity, Reason, Request, Side};
use zerocopy::TryFromBytes;

use crate::average::Average;
use crate::driver::{Input, Overdue};
use crate::market::{Lots, News, OrderState, Report, Says};
use crate::unbooked::{How, LOT, Settlement, decimal};

/// First words of the file; the prefix of the names follows. The number changes when the driver makes other executions of the same lines.
const HEAD: &str = "colo venue 4";

/// The file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// By the system.
    #[error("{path}: {source}")]
    System {
        /// Which file.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// A line that cannot be read.
    #[error("{path}, line {line}: `{text}` is not understood: it is damaged, or of another version")]
    Damaged {
        /// Which file.
        path: String,
        /// Which line.
        line: u64,
        /// What stands there.
        text: String,
    },
}

/// The file.
#[derive(Debug)]
pub struct Memory {
    file: File,
    path: String,
    prefix: String,
}

impl Memory {
    /// Opens the file, or begins one with this prefix; `visit` is told what was heard, from the first on.
    ///
    /// # Errors
    /// [`MemoryError`].
    pub fn open(path: &Path, prefix: &str, visit: impl FnMut(&str, Input)) -> Result<Memory, MemoryError> {
        let shown = path.display().to_string();
        let system = |source| MemoryError::System { path: shown.clone(), source };
        let mut options = OpenOptions::new();
        let file = node::own_file(path, options.read(true).append(true).create(true).mode(0o600));
        let mut file = file.map_err(|error| system(error.into()))?;
        let (found, whole) = read_all(&file, &shown, visit)?;
        file.set_len(whole).map_err(system)?;
        let prefix = match found {
            Some(found) => found,
            None => {
                file.write_all(format!("{HEAD} {prefix}\n").as_bytes()).map_err(system)?;
                prefix.to_owned()
            }
        };
        Ok(Memory { file, path: shown, prefix })
    }

    /// Reads a file that another process writes, and changes nothing: a line that is not whole yet is left out.
    ///
    /// # Errors
    /// [`MemoryError`]; a file that is not there is one too.
    pub fn look(path: &Path, visit: impl FnMut(&str, Input)) -> Result<(), MemoryError> {
        let shown = path.display().to_string();
        let file = File::open(path).map_err(|source| MemoryError::System { path: shown.clone(), source })?;
        read_all(&file, &shown, visit).map(drop)
    }

    /// The prefix of all names.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Notes what is going to be acted upon.
    ///
    /// # Errors
    /// [`MemoryError::System`]; then nothing may be done about it.
    pub fn note(&mut self, input: &Input) -> Result<(), MemoryError> {
        let mut line = write(input);
        line.push('\n');
        self.file
            .write_all(line.as_bytes())
            .map_err(|source| MemoryError::System { path: self.path.clone(), source })
    }
}

/// Visits each whole line. The prefix, and where the last whole line ends.
fn read_all(
    file: &File,
    shown: &str,
    mut visit: impl FnMut(&str, Input),
) -> Result<(Option<String>, u64), MemoryError> {
    let mut lines = BufReader::new(file);
    let (mut line, mut whole, mut number, mut found) = (Vec::new(), 0_u64, 0, None::<String>);
    loop {
        line.clear();
        let count = lines
            .read_until(b'\n', &mut line)
            .map_err(|source| MemoryError::System { path: shown.to_owned(), source })?;
        let Some(text) = line.strip_suffix(b"\n") else { return Ok((found, whole)) };
        number += 1;
        let text = String::from_utf8_lossy(text);
        let damaged =
            || MemoryError::Damaged { path: shown.to_owned(), line: number, text: text.clone().into_owned() };
        match &found {
            None => {
                let prefix = text.strip_prefix(HEAD).map(str::trim).filter(|prefix| !prefix.is_empty());
                found = Some(prefix.ok_or_else(damaged)?.to_owned());
            }
            Some(prefix) => visit(prefix, read(&text).ok_or_else(damaged)?),
        }
        whole += count as u64;
    }
}

/// The line of an input.
pub(crate) fn write(input: &Input) -> String {
    match input {
        Input::Request(position, request) => {
            let bytes: String = request.bytes().iter().map(|byte| format!("{byte:02x}")).collect();
            format!("request {position} {} {bytes}", request.message_id())
        }
        Input::Overdue(Overdue::Request(position)) => format!("overdue {position}"),
        Input::Overdue(Overdue::End(order)) => format!("behind {}", order.0),
        Input::Overdue(Overdue::Position(instrument, report)) => format!("differs {} {report}", instrument.0),
        Input::Close => "close".to_owned(),
        Input::Stop(stops) => format!("stop {}", u8::from(*stops)),
        Input::Tick(instrument, tick) => format!("tick {} {}", instrument.0, tick.0),
        Input::Settle(settlement) => settled(settlement),
        Input::News(News::Up) => "up".to_owned(),
        Input::News(News::Down) => "down".to_owned(),
        Input::News(News::Gap) => "gap".to_owned(),
        Input::News(News::Position { instrument, lots }) => format!("position {} {lots}", instrument.0),
        Input::News(News::Report(report)) => {
            let mut name = escape(&report.name);
            if let Some(original) = &report.original {
                name = format!("{name}|{}", escape(original));
            }
            let head = match report.of {
                Some((instrument, side)) => {
                    format!("{name}@{}:{} {}", instrument.0, side as u8, report.time.0)
                }
                None => format!("{name} {}", report.time.0),
            };
            match &report.says {
                Says::Accepted => format!("accepted {head}"),
                Says::Rejected(reason) => format!("rejected {head} {}", *reason as u8),
                Says::Trade { id, price, quantity, filled } => {
                    format!("trade {head} {} {} {} {}", price.0, quantity.0, counted(*filled), line(id))
                }
                Says::Inexact { id, lots, price, text } => format!(
                    "inexact {head} {} {lots} {} {}",
                    escape(id),
                    or_dash(price.map(|price| price.0)),
                    line(text)
                ),
                Says::Busted { id, price, quantity, filled, works } => format!(
                    "busted {head} {} {} {} {} {}",
                    u8::from(*works),
                    or_dash(price.map(|price| price.0)),
                    or_dash(quantity.map(|quantity| quantity.0)),
                    counted(*filled),
                    line(id)
                ),
                Says::Corrected { id, new_id, price, quantity, works } => format!(
                    "corrected {head} {} {} {} {} {}",
                    u8::from(*works),
                    price.0,
                    quantity.0,
                    escape(id),
                    line(new_id)
                ),
                Says::Restated { price, quantity, filled } => format!(
                    "restated {head} {} {} {}",
                    or_dash(price.map(|price| price.0)),
                    or_dash(quantity.map(|quantity| quantity.0)),
                    counted(*filled)
                ),
                Says::DoneForDay { filled, average } => {
                    format!("paused {head} {} {}", counted(*filled), or_dash(*average))
                }
                Says::Standing { filled } => {
                    format!("stands {head} {}", counted(*filled))
                }
                Says::Ended { reason, filled, average } => {
                    format!("ended {head} {} {} {}", *reason as u8, counted(*filled), or_dash(*average))
                }
                Says::Replaced { price, quantity } => format!("replaced {head} {} {}", price.0, quantity.0),
                Says::Refused(reason) => format!("refused {head} {}", *reason as u8),
                Says::Triggered => format!("triggered {head}"),
                Says::Status { state, filled, average, terms } => {
                    let (state, reason) = match state {
                        OrderState::None => ("none", Reason::None),
                        OrderState::Pending => ("pending", Reason::None),
                        OrderState::Working => ("working", Reason::None),
                        OrderState::DoneForDay => ("paused", Reason::None),
                        OrderState::Ended(reason) => ("ended", *reason),
                        OrderState::Rejected(reason) => ("rejected", *reason),
                        OrderState::Filled => ("filled", Reason::None),
                    };
                    format!(
                        "status {head} {state} {} {} {} {} {}",
                        reason as u8,
                        counted(*filled),
                        or_dash(*average),
                        or_dash(terms.map(|(price, _)| price.0)),
                        or_dash(terms.map(|(_, quantity)| quantity.0))
                    )
                }
            }
        }
    }
}

/// What an operator decided, as it stands here and in the file that operators write.
pub(crate) fn settled(settlement: &Settlement) -> String {
    let how = match settlement.how {
        How::Book => "book",
        How::Apart => "apart",
    };
    format!("settle {} {how} {}", settlement.number, line(&settlement.by))
}

/// Text that ends a line holds no line ends.
fn line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

/// A word without blanks and control characters, from any text: a market may call an order as it likes.
fn escape(text: &str) -> String {
    let mut word = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'!'..=b'~' if !matches!(byte, b'%' | b'@' | b'|') => word.push(char::from(byte)),
            other => word.push_str(&format!("%{other:02x}")),
        }
    }
    word
}

fn unescape(word: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(word.len());
    let mut rest = word.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first == b'%' {
            let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &rest[2..];
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).ok()
}

/// The names and what is known of the order.
struct Head {
    name: String,
    original: Option<String>,
    of: Option<(InstrumentId, Side)>,
}

fn head(word: &str) -> Option<Head> {
    let (names, of) = word.split_once('@').map_or((word, None), |(names, of)| (names, Some(of)));
    let (name, original) = names.split_once('|').map_or((names, None), |(name, more)| (name, Some(more)));
    let of = match of {
        Some(of) => {
            let (instrument, side) = of.split_once(':')?;
            let side = Side::try_read_from_bytes(&[side.parse().ok()?]).ok()?;
            Some((InstrumentId(instrument.parse().ok()?), side))
        }
        None => None,
    };
    let original = match original {
        Some(original) => Some(unescape(original)?),
        None => None,
    };
    Some(Head { name: unescape(name)?, original, of })
}

fn or_dash(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}

/// The input of a line.
pub(crate) fn read(line: &str) -> Option<Input> {
    let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
    match kind {
        "request" => {
            let mut words = rest.split(' ');
            let (position, id) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
            let digits = words.next()?;
            let byte = |place: usize| u8::from_str_radix(digits.get(place..place + 2)?, 16).ok();
            let bytes: Vec<u8> = (0..digits.len()).step_by(2).map(byte).collect::<Option<_>>()?;
            return Some(Input::Request(position, Request::decode(id, &bytes).ok()?));
        }
        "overdue" => return Some(Input::Overdue(Overdue::Request(rest.parse().ok()?))),
        "behind" => return Some(Input::Overdue(Overdue::End(OrderId(rest.parse().ok()?)))),
        "differs" => {
            let (instrument, report) = rest.split_once(' ')?;
            let instrument = InstrumentId(instrument.parse().ok()?);
            return Some(Input::Overdue(Overdue::Position(instrument, report.parse().ok()?)));
        }
        "close" => return Some(Input::Close),
        "tick" => {
            let (instrument, tick) = rest.split_once(' ')?;
            let instrument = InstrumentId(instrument.parse().ok()?);
            return Some(Input::Tick(instrument, Price(tick.parse().ok()?)));
        }
        "stop" => return Some(Input::Stop(rest.parse::<u8>().ok()? != 0)),
        "settle" => {
            let mut words = rest.splitn(3, ' ');
            let number = words.next()?.parse().ok()?;
            let how = match words.next()? {
                "book" => How::Book,
                "apart" => How::Apart,
                _ => return None,
            };
            return Some(Input::Settle(Settlement { number, how, by: words.next()?.to_owned() }));
        }
        "position" => {
            let (instrument, lots) = rest.split_once(' ')?;
            let instrument = InstrumentId(instrument.parse().ok()?);
            return Some(Input::News(News::Position { instrument, lots: lots.parse().ok()? }));
        }
        "up" => return Some(Input::News(News::Up)),
        "down" => return Some(Input::News(News::Down)),
        "gap" => return Some(Input::News(News::Gap)),
        _ => {}
    }
    let most = match kind {
        "busted" | "corrected" => 7,
        "trade" | "inexact" => 6,
        _ => 5,
    };
    let mut words = rest.splitn(most, ' ');
    let (Head { name, original, of }, time) = (head(words.next()?)?, Nanos(words.next()?.parse().ok()?));
    let mut next = || words.next();
    let says = match kind {
        "accepted" => Says::Accepted,
        "triggered" => Says::Triggered,
        "rejected" => Says::Rejected(reason(next()?)?),
        "refused" => Says::Refused(reason(next()?)?),
        "trade" => {
            let (price, quantity) = (Price(next()?.parse().ok()?), Quantity(next()?.parse().ok()?));
            Says::Trade { price, quantity, filled: lots(next()?)?, id: next()?.to_owned() }
        }
        "inexact" => Says::Inexact {
            id: unescape(next()?)?,
            lots: next()?.parse().ok()?,
            price: number(next()?)?.map(Price),
            text: next()?.to_owned(),
        },
        "busted" => Says::Busted {
            works: is_set(next()?)?,
            price: number(next()?)?.map(Price),
            quantity: number(next()?)?.map(Quantity),
            filled: lots(next()?)?,
            id: next()?.to_owned(),
        },
        "corrected" => Says::Corrected {
            works: is_set(next()?)?,
            price: Price(next()?.parse().ok()?),
            quantity: Quantity(next()?.parse().ok()?),
            id: unescape(next()?)?,
            new_id: next()?.to_owned(),
        },
        "restated" => Says::Restated {
            price: number(next()?)?.map(Price),
            quantity: number(next()?)?.map(Quantity),
            filled: lots(next()?)?,
        },
        "paused" => Says::DoneForDay { filled: lots(next()?)?, average: may_be(next()?)? },
        "stands" => Says::Standing { filled: lots(next()?)? },
        "ended" => {
            Says::Ended { reason: reason(next()?)?, filled: lots(next()?)?, average: may_be(next()?)? }
        }
        "replaced" => {
            Says::Replaced { price: Price(next()?.parse().ok()?), quantity: Quantity(next()?.parse().ok()?) }
        }
        "status" => {
            let (state, why) = (next()?, reason(next()?)?);
            let state = match state {
                "none" => OrderState::None,
                "pending" => OrderState::Pending,
                "working" => OrderState::Working,
                "paused" => OrderState::DoneForDay,
                "ended" => OrderState::Ended(why),
                "rejected" => OrderState::Rejected(why),
                "filled" => OrderState::Filled,
                _ => return None,
            };
            let mut rest = next()?.split(' ');
            let filled = lots(rest.next()?)?;
            let average = may_be(rest.next()?)?;
            let mut number = || rest.next().and_then(number);
            let terms = number()?.map(Price).zip(number()?.map(Quantity));
            Says::Status { state, filled, average, terms }
        }
        _ => return None,
    };
    Some(Input::News(News::Report(Report { name, original, of, time, says })))
}

fn is_set(word: &str) -> Option<bool> {
    word.parse::<u8>().ok().map(|bit| bit != 0)
}

/// Lots as a decimal number.
fn counted(filled: Option<Lots>) -> String {
    filled.map_or_else(|| "-".to_owned(), |filled| decimal(filled.0))
}

fn lots(word: &str) -> Option<Option<Lots>> {
    // More of them may have traded than a price of 64 bits holds.
    Some(may_be::<Average>(word)?.map(|lots| Lots(lots.price / LOT)))
}

fn number(word: &str) -> Option<Option<i64>> {
    may_be(word)
}

fn may_be<T: FromStr>(word: &str) -> Option<Option<T>> {
    if word == "-" { Some(None) } else { word.parse().ok().map(Some) }
}

/// A reason by its number.
fn reason(word: &str) -> Option<Reason> {
    let number: u8 = word.parse().ok()?;
    Reason::try_read_from_bytes(&[number]).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::{CancelOrder, InstrumentId, StrategyId};

    fn report(says: Says) -> Input {
        Input::News(News::Report(Report {
            name: "p-1a.2".to_owned(),
            original: None,
            of: None,
            time: Nanos(7),
            says,
        }))
    }

    fn all() -> Vec<Input> {
        let cancel = CancelOrder::new(OrderId::new(StrategyId(5), 1, 2), InstrumentId(3));
        let status = |state, terms| Says::Status {
            state,
            filled: Some(Quantity(3).into()),
            average: Some(Average { price: -4_500_000_000_000_000_000, decimals: 12 }),
            terms,
        };
        let foreign = |name: &str, side| {
            let (name, of) = (name.to_owned(), Some((InstrumentId(4), side)));
            let (id, price, quantity) = ("a b".to_owned(), None, None);
            let says = Says::Busted { id, price, quantity, filled: None, works: false };
            let original = Some(format!("{name} |"));
            Input::News(News::Report(Report { name, original, of, time: Nanos(0), says }))
        };
        let trade = |filled| {
            report(Says::Trade { id: "a b  c".to_owned(), price: Price(5), quantity: Quantity(6), filled })
        };
        let ended = |average| {
            let filled = Some(Quantity(6).into());
            report(Says::Ended { reason: Reason::Expired, filled, average })
        };
        let settle =
            |how| Input::Settle(Settlement { number: 3, how, by: "anna: agreed by phone".to_owned() });
        vec![
            Input::Stop(true),
            Input::Tick(InstrumentId(4), Price(10_000_000)),
            Input::Stop(false),
            settle(How::Book),
            settle(How::Apart),
            Input::Overdue(Overdue::Position(InstrumentId(4), 17)),
            Input::News(News::Position { instrument: InstrumentId(4), lots: -2_500_000_000 }),
            foreign("", Side::Buy),
            foreign("a b@7:1 100%\u{fc}", Side::Sell),
            report(Says::Inexact {
                id: "x y".to_owned(),
                lots: 2_500_000_000,
                price: None,
                text: "2.5 at 1e3".to_owned(),
            }),
            report(Says::Busted {
                id: "x y".to_owned(),
                price: Some(Price(5)),
                quantity: Some(Quantity(6)),
                filled: Some(Lots(0)),
                works: true,
            }),
            report(Says::Corrected {
                id: "x y".to_owned(),
                new_id: "z 1".to_owned(),
                price: Price(5),
                quantity: Quantity(6),
                works: true,
            }),
            report(Says::Restated { price: None, quantity: Some(Quantity(6)), filled: None }),
            report(Says::DoneForDay {
                filled: Some(Lots(2_500_000_000)),
                average: Some(Average { price: -4_500_000_000_000_000_000, decimals: 12 }),
            }),
            report(Says::Standing { filled: None }),
            report(Says::Standing { filled: Some(Lots(999_999_999_999_999_999_999_999)) }),
            report(Says::Status { state: OrderState::DoneForDay, filled: None, average: None, terms: None }),
            Input::Request(640, Request::Cancel(cancel)),
            Input::Overdue(Overdue::Request(640)),
            Input::Overdue(Overdue::End(OrderId(77))),
            Input::Close,
            Input::News(News::Up),
            Input::News(News::Down),
            report(Says::Accepted),
            report(Says::Triggered),
            report(Says::Rejected(Reason::OffTick)),
            report(Says::Refused(Reason::ForcedLiquidation)),
            trade(None),
            trade(Some(Lots(2_500_000_000))),
            Input::News(News::Gap),
            report(Says::Ended { reason: Reason::Requested, filled: None, average: None }),
            ended(Some(Average { price: 7, decimals: 18 })),
            report(Says::Replaced { price: Price(5), quantity: Quantity(6) }),
            report(status(OrderState::Ended(Reason::Expired), Some((Price(1), Quantity(2))))),
            report(status(OrderState::Working, None)),
        ]
    }

    #[test]
    fn what_is_noted_comes_back() {
        for input in all() {
            assert_eq!(read(&write(&input)).as_ref(), Some(&input), "{}", write(&input));
        }
        for wrong in ["", "x", "request 1", "trade p 1 2", "accepted p", "rejected p 0 255"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn half_a_line_was_never_acted_upon_and_a_wrong_one_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("matching.venue");
        let mut memory = Memory::open(&path, "one", |_, _| panic!("nothing yet")).unwrap();
        all().iter().for_each(|input| memory.note(input).unwrap());
        drop(memory);
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, [&whole[..], b"accepted p-1"].concat()).unwrap();
        let mut found = Vec::new();
        let memory = Memory::open(&path, "two", |_, input| found.push(input)).unwrap();
        assert_eq!((found, memory.prefix()), (all(), "one"));
        assert_eq!(std::fs::read(&path).unwrap(), whole, "and is gone");
        std::fs::write(&path, [&whole[..], b"what\n"].concat()).unwrap();
        let error = Memory::open(&path, "two", |_, _| {}).unwrap_err().to_string();
        assert!(error.contains(&format!("line {}", all().len() + 2)) && error.contains("what"), "{error}");
    }
}
