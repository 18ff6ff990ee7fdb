//! What `[matching]` says of an exchange: its day, its ticks, and whose orders do not trade with each other.

use std::collections::BTreeSet;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use settings::schema::{Absent, DAY_NS, Form, Kind};
use settings::{TimeOfDay, described, section, words};
use wire::{Price, TradingPhase};

use crate::forms;

words! {
    /// A ready set of the rules that differ between markets.
    pub enum RuleSet ("set of rules") {
        /// Everything in every phase; auctions by least imbalance, then nearest to the reference.
        Plain = "plain",
        /// As on the Shanghai Stock Exchange.
        Shanghai = "shanghai",
        /// As on the Shenzhen Stock Exchange.
        Shenzhen = "shenzhen",
        /// As on a futures market of CME's kind.
        Cme = "cme",
    }
}

words! {
    /// What happens when an order would trade with one of its owner, and does not say itself.
    pub enum SelfTradeRule ("rule for self-trades") {
        /// What the set of rules says; beside a recorded or quoted market: cancel-newest.
        AsRules = "as-rules",
        /// They trade.
        Allow = "allow",
        /// What is left of the incoming order is cancelled.
        CancelNewest = "cancel-newest",
        /// The resting order is cancelled.
        CancelOldest = "cancel-oldest",
        /// Both are cancelled.
        CancelBoth = "cancel-both",
        /// Both lose the smaller open quantity, without a trade.
        Decrement = "decrement",
    }
}

words! {
    /// A phase of the day.
    pub enum PhaseName ("phase") {
        /// Nothing is taken; orders for the day end.
        Closed = "closed",
        /// Orders are collected for the opening auction; no price is indicated yet.
        PreOpen = "pre-open",
        /// Orders are collected for the opening auction.
        OpeningAuction = "opening-auction",
        /// The last part of the opening auction.
        OpeningFreeze = "opening-freeze",
        /// Nothing trades.
        Pause = "pause",
        /// Incoming orders trade with resting ones.
        Continuous = "continuous",
        /// Trading is interrupted.
        Halt = "halt",
        /// Orders are collected for the closing auction.
        ClosingAuction = "closing-auction",
        /// The last part of the closing auction.
        ClosingFreeze = "closing-freeze",
    }
}

impl PhaseName {
    /// The phase of this name. (Volatility auctions, which begin by themselves, have no name here.)
    pub fn phase(self) -> TradingPhase {
        let named = TradingPhase::ALL.into_iter().find(|phase| phase.as_str() == self.as_str());
        named.unwrap_or(TradingPhase::Closed)
    }
}

/// How far a market's clock is ahead of UTC: `"+08:00"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UtcOffset {
    /// East is positive.
    pub minutes: i32,
}

impl FromStr for UtcOffset {
    type Err = String;

    fn from_str(text: &str) -> Result<UtcOffset, String> {
        let shape = || "write hours and minutes ahead of UTC, as in +08:00 or -05:00".to_owned();
        let (sign, clock) = match text.split_at_checked(1) {
            Some(("+", clock)) => (1, clock),
            Some(("-", clock)) => (-1, clock),
            _ => return Err(shape()),
        };
        let part = |digits: &str, limit: i32| {
            let plain = digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_digit());
            digits.parse::<i32>().ok().filter(|value| plain && *value < limit)
        };
        let (hours, minutes) = clock.split_once(':').ok_or_else(shape)?;
        let (hours, minutes) = part(hours, 15).zip(part(minutes, 60)).ok_or_else(shape)?;
        Ok(UtcOffset { minutes: sign * (hours * 60 + minutes) })
    }
}

impl std::fmt::Display for UtcOffset {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (sign, minutes) = (if self.minutes < 0 { '-' } else { '+' }, self.minutes.abs());
        f.pad(&format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60))
    }
}

impl Serialize for UtcOffset {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for UtcOffset {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

const UTC_OFFSET: Form = Form {
    what: "an offset from UTC",
    example: "\"+08:00\"",
    pattern: "^[+-][0-9]{2}:[0-9]{2}$",
    parse: |text| text.parse().map(|offset: UtcOffset| offset.to_string()),
    integer: false,
    longest: None,
};

described! {
    UtcOffset = Kind::Parsed(&UTC_OFFSET);
}

/// A price of the file, exactly: text.
mod price {
    use super::*;

    pub(super) fn serialize<S: Serializer>(price: &Price, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(price)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Price, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// A duration that may be left out.
mod optional_duration {
    use super::*;

    pub(super) fn serialize<S: Serializer>(value: &Option<Duration>, to: S) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => settings::duration::serialize(value, to),
            None => to.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
        #[derive(Deserialize)]
        struct Text(#[serde(with = "settings::duration")] Duration);
        Ok(Option::<Text>::deserialize(from)?.map(|text| text.0))
    }
}

section! {
    /// A phase and its beginning: `after` or `at`, the same in all phases of an instrument.
    pub struct PhaseStart {
        /// When it begins: time since md listed the instruments.
        #[serde(with = "optional_duration")]
        after: Option<Duration> = None => Kind::Duration { min_ns: 0, max_ns: DAY_NS };
        /// When it begins: time of day where the market is (`matching.utc_offset`), on the day of the start there.
        at: Option<TimeOfDay> = None;
        /// Which one.
        phase: PhaseName = PhaseName::Continuous, Absent::Required("write phase = \"continuous\"");
        /// Only for these instruments; empty: for those that no other row names.
        instruments: Vec<String> = Vec::new() => Kind::List(&Kind::Parsed(&forms::SYMBOL));
    }
}

section! {
    /// A row of a table of ticks.
    pub struct TickRow {
        /// From this price on. The first row's tick holds below it too.
        #[serde(with = "price")]
        from: Price = Price::ZERO => Kind::Parsed(&forms::PRICE);
        /// Prices are multiples of this.
        #[serde(with = "price")]
        tick: Price = Price::ZERO => Kind::Parsed(&forms::PRICE), Absent::Required("write tick = \"0.01\"");
        /// Only for these instruments; empty: for those that no other row names.
        instruments: Vec<String> = Vec::new() => Kind::List(&Kind::Parsed(&forms::SYMBOL));
    }
}

/// A row that may be for some instruments only.
pub trait ByInstrument {
    /// Their symbols; none: all that no row names.
    fn instruments(&self) -> &[String];
}

impl ByInstrument for PhaseStart {
    fn instruments(&self) -> &[String] {
        &self.instruments
    }
}

impl ByInstrument for TickRow {
    fn instruments(&self) -> &[String] {
        &self.instruments
    }
}

/// The rows for an instrument, in their order: those that name it, or else those that name none.
pub fn rows_for<'a, R: ByInstrument>(rows: &'a [R], symbol: &str) -> Vec<&'a R> {
    let names = |row: &&R| row.instruments().iter().any(|name| name == symbol);
    let named: Vec<&R> = rows.iter().filter(names).collect();
    if named.is_empty() { rows.iter().filter(|row| row.instruments().is_empty()).collect() } else { named }
}

/// The symbols that rows name, each once, by name.
pub fn named<R: ByInstrument>(rows: &[R]) -> BTreeSet<&str> {
    rows.iter().flat_map(R::instruments).map(String::as_str).collect()
}

/// The ticks of an instrument: from this price on, this tick. Empty: the instrument has one tick, its own.
pub fn ticks_of(rows: &[TickRow], symbol: &str) -> Vec<(Price, Price)> {
    rows_for(rows, symbol).into_iter().map(|row| (row.from, row.tick)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_phase_of_the_file_is_one_of_the_market() {
        for (word, _) in words().iter().copied() {
            assert!(TradingPhase::ALL.iter().any(|phase| phase.as_str() == word), "{word}");
        }
        assert_eq!(words().len(), TradingPhase::ALL.len() - 1, "all but the volatility auction");
        assert_eq!(PhaseName::ClosingFreeze.phase(), TradingPhase::ClosingFreeze);
    }

    fn words() -> &'static [(&'static str, &'static str)] {
        match <PhaseName as settings::schema::Described>::KIND {
            Kind::Words(words) => words.words,
            _ => &[],
        }
    }

    #[test]
    fn offsets_print_as_they_parse() {
        for (text, minutes) in [("+08:00", 480), ("-05:30", -330), ("+00:00", 0)] {
            assert_eq!(text.parse(), Ok(UtcOffset { minutes }));
            assert_eq!(UtcOffset { minutes }.to_string(), text);
        }
        for wrong in ["", "+", "8", "08:00", "+8:00", "+08:60", "+15:00", "+0800", "+-1:00", "é08:00"] {
            assert!(wrong.parse::<UtcOffset>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn rows_that_name_an_instrument_go_before_those_for_all() {
        let row = |tick, names: &[&str]| TickRow {
            from: Price(0),
            tick: Price(tick),
            instruments: names.iter().map(|name| (*name).to_owned()).collect(),
        };
        let rows = [row(1, &[]), row(2, &["A", "B"]), row(3, &["B"])];
        let ticks = |symbol| ticks_of(&rows, symbol).iter().map(|(_, tick)| tick.0).collect::<Vec<_>>();
        assert_eq!((ticks("A"), ticks("B"), ticks("C")), (vec![2], vec![2, 3], vec![1]));
        assert_eq!(ticks_of(&rows[1..], "C"), []);
        assert_eq!(named(&rows).into_iter().collect::<Vec<_>>(), ["A", "B"]);
    }
}
