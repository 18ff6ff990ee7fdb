//! What was heard, in a file: a line for each request and each piece of news, written before it is acted upon. Whoever reads it
//! from the start knows all that the one before knew. A process that is killed leaves at most half a line at the end, on which
//! nobody has acted.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use wire::{Nanos, OrderId, Price, Quantity, Reason, Request};
use zerocopy::TryFromBytes;

use crate::driver::{Input, Overdue};
use crate::market::{News, OrderState, Report, Says};

/// First words of the file; the prefix of the names follows.
const HEAD: &str = "colo venue 1";

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
    pub fn open(
        path: &Path,
        prefix: &str,
        mut visit: impl FnMut(&str, Input),
    ) -> Result<Memory, MemoryError> {
        let shown = path.display().to_string();
        let system = |source| MemoryError::System { path: shown.clone(), source };
        let mut file =
            OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path).map_err(system)?;
        let mut lines = BufReader::new(&file);
        let (mut line, mut whole, mut number, mut found) = (Vec::new(), 0_u64, 0, None::<String>);
        loop {
            line.clear();
            let count = lines.read_until(b'\n', &mut line).map_err(system)?;
            let Some(text) = line.strip_suffix(b"\n") else { break };
            number += 1;
            let text = String::from_utf8_lossy(text);
            let damaged = || MemoryError::Damaged {
                path: shown.clone(),
                line: number,
                text: text.clone().into_owned(),
            };
            match &found {
                None => {
                    let prefix = text.strip_prefix(HEAD).map(str::trim).filter(|prefix| !prefix.is_empty());
                    found = Some(prefix.ok_or_else(damaged)?.to_owned());
                }
                Some(prefix) => visit(prefix, read(&text).ok_or_else(damaged)?),
            }
            whole += count as u64;
        }
        drop(lines);
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

/// The line of an input.
pub(crate) fn write(input: &Input) -> String {
    match input {
        Input::Request(position, request) => {
            let bytes: String = request.bytes().iter().map(|byte| format!("{byte:02x}")).collect();
            format!("request {position} {} {bytes}", request.message_id())
        }
        Input::Overdue(Overdue::Request(position)) => format!("overdue {position}"),
        Input::Overdue(Overdue::End(order)) => format!("behind {}", order.0),
        Input::Close => "close".to_owned(),
        Input::News(News::Up) => "up".to_owned(),
        Input::News(News::Down) => "down".to_owned(),
        Input::News(News::Report(report)) => {
            let head = format!("{} {}", report.name, report.time.0);
            match &report.says {
                Says::Accepted => format!("accepted {head}"),
                Says::Rejected(reason) => format!("rejected {head} {}", *reason as u8),
                Says::Trade { id, price, quantity } => {
                    format!("trade {head} {} {} {}", price.0, quantity.0, id.replace(['\n', '\r'], " "))
                }
                Says::Ended { reason, filled } => {
                    format!("ended {head} {} {}", *reason as u8, or_dash(filled.map(|filled| filled.0)))
                }
                Says::Replaced { price, quantity } => format!("replaced {head} {} {}", price.0, quantity.0),
                Says::Refused(reason) => format!("refused {head} {}", *reason as u8),
                Says::Triggered => format!("triggered {head}"),
                Says::Status { state, filled, average, terms } => {
                    let (state, reason) = match state {
                        OrderState::None => ("none", Reason::None),
                        OrderState::Pending => ("pending", Reason::None),
                        OrderState::Working => ("working", Reason::None),
                        OrderState::Ended(reason) => ("ended", *reason),
                        OrderState::Rejected(reason) => ("rejected", *reason),
                        OrderState::Filled => ("filled", Reason::None),
                    };
                    format!(
                        "status {head} {state} {} {} {} {} {}",
                        reason as u8,
                        filled.0,
                        or_dash(average.map(|average| average.0)),
                        or_dash(terms.map(|(price, _)| price.0)),
                        or_dash(terms.map(|(_, quantity)| quantity.0))
                    )
                }
            }
        }
    }
}

fn or_dash(value: Option<i64>) -> String {
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
        "close" => return Some(Input::Close),
        "up" => return Some(Input::News(News::Up)),
        "down" => return Some(Input::News(News::Down)),
        _ => {}
    }
    let mut words = rest.splitn(5, ' ');
    let (name, time) = (words.next()?.to_owned(), Nanos(words.next()?.parse().ok()?));
    let mut next = || words.next();
    let says = match kind {
        "accepted" => Says::Accepted,
        "triggered" => Says::Triggered,
        "rejected" => Says::Rejected(reason(next()?)?),
        "refused" => Says::Refused(reason(next()?)?),
        "trade" => {
            let (price, quantity) = (Price(next()?.parse().ok()?), Quantity(next()?.parse().ok()?));
            Says::Trade { price, quantity, id: next()?.to_owned() }
        }
        "ended" => Says::Ended { reason: reason(next()?)?, filled: number(next()?)?.map(Quantity) },
        "replaced" => {
            Says::Replaced { price: Price(next()?.parse().ok()?), quantity: Quantity(next()?.parse().ok()?) }
        }
        "status" => {
            let (state, why) = (next()?, reason(next()?)?);
            let state = match state {
                "none" => OrderState::None,
                "pending" => OrderState::Pending,
                "working" => OrderState::Working,
                "ended" => OrderState::Ended(why),
                "rejected" => OrderState::Rejected(why),
                "filled" => OrderState::Filled,
                _ => return None,
            };
            let mut numbers = next()?.split(' ').map(number);
            let mut number = || numbers.next().flatten();
            let (filled, average) = (Quantity(number()??), number()?.map(Price));
            let terms = number()?.map(Price).zip(number()?.map(Quantity));
            Says::Status { state, filled, average, terms }
        }
        _ => return None,
    };
    Some(Input::News(News::Report(Report { name, time, says })))
}

fn number(word: &str) -> Option<Option<i64>> {
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
        Input::News(News::Report(Report { name: "p-1a.2".to_owned(), time: Nanos(7), says }))
    }

    fn all() -> Vec<Input> {
        let cancel = CancelOrder::new(OrderId::new(StrategyId(5), 1, 2), InstrumentId(3));
        let status =
            |state, terms| Says::Status { state, filled: Quantity(3), average: Some(Price(-4)), terms };
        vec![
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
            report(Says::Trade { id: "a b  c".to_owned(), price: Price(5), quantity: Quantity(6) }),
            report(Says::Ended { reason: Reason::Requested, filled: None }),
            report(Says::Ended { reason: Reason::Expired, filled: Some(Quantity(6)) }),
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
        assert!(error.contains("line 18") && error.contains("what"), "{error}");
    }
}
