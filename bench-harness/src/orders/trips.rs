//! Round trips, as the strategies write them down.

use std::collections::BTreeMap;

use crate::ipc::IpcError;

/// How often each time was met, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Trips(BTreeMap<u64, u64>);

impl Trips {
    pub(super) fn count(&self) -> u64 {
        self.0.values().sum()
    }

    /// The smallest time that this share of all does not exceed; zero without any.
    pub(super) fn at(&self, share: f64) -> u64 {
        let wanted = (self.count() as f64 * share).ceil() as u64;
        let mut seen = 0;
        for (nanos, count) in &self.0 {
            seen += count;
            if seen >= wanted.max(1) {
                return *nanos;
            }
        }
        0
    }

    pub(super) fn add(&mut self, other: &Trips) {
        for (nanos, count) in &other.0 {
            *self.0.entry(*nanos).or_default() += count;
        }
    }
}

/// Adds what one strategy wrote: lines of a stage, a time and how often it was met.
///
/// # Errors
/// [`IpcError::Peer`]: orders were refused, so no figure means anything, or it is no such file.
pub(super) fn read(text: &str, alone: &mut Trips, together: &mut Trips) -> Result<(), IpcError> {
    let wrong = |line: &str| IpcError::Peer(format!("(a strategy) wrote `{line}`, which is no result"));
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let stage = words.next();
        let numbers: Vec<u64> = words.map(str::parse).collect::<Result<_, _>>().map_err(|_| wrong(line))?;
        let trips = match (stage, &numbers[..]) {
            (Some("refused"), [0]) => continue,
            (Some("refused"), [refused]) => {
                return Err(IpcError::Peer(format!("(td or the exchange) refused {refused} orders")));
            }
            (Some("alone"), [_, _]) => &mut *alone,
            (Some("together"), [_, _]) => &mut *together,
            _ => return Err(wrong(line)),
        };
        *trips.0.entry(numbers[0]).or_default() += numbers[1];
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_strategies_write_adds_up() {
        let (mut alone, mut together) = (Trips::default(), Trips::default());
        read("refused 0\nalone 900 98\nalone 5000 1\ntogether 7 3\n", &mut alone, &mut together).unwrap();
        read("refused 0\nalone 900 1\n", &mut alone, &mut together).unwrap();
        assert_eq!((alone.count(), together.count()), (100, 3));
        assert_eq!((alone.at(0.5), alone.at(0.99), alone.at(0.999)), (900, 900, 5_000));
        let mut twice = alone.clone();
        twice.add(&alone);
        assert_eq!((twice.count(), twice.at(0.99)), (200, 900));
        assert_eq!(Trips::default().at(0.5), 0);
    }

    #[test]
    fn refused_orders_and_other_files_are_no_result() {
        let (mut alone, mut together) = (Trips::default(), Trips::default());
        let mut error = |text: &str| read(text, &mut alone, &mut together).unwrap_err().to_string();
        assert!(error("refused 7\n").contains("refused 7 orders"));
        for text in ["alone 1\n", "alone x 1\n", "between 1 1\n", "\n"] {
            assert!(error(text).contains("no result"), "{text:?}");
        }
    }
}
