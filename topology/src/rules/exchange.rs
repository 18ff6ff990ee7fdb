//! What must hold of an exchange: its day and its ticks.

use super::Rules;
use crate::config::{ByInstrument, Fill, named};

impl Rules<'_> {
    pub(super) fn exchange(&mut self) {
        if self.config.is_in_lock_step() {
            self.error(
                "platform.deterministic",
                "lock-step goes by the events of a market, and an exchange of strategies has none of its own",
                "set it to false",
            );
        }
        self.phases();
        self.ticks();
        let matching = &self.config.matching;
        let phases: Vec<Vec<String>> = matching.phases.iter().map(|row| row.instruments.clone()).collect();
        let ticks: Vec<Vec<String>> = matching.ticks.iter().map(|row| row.instruments.clone()).collect();
        for (table, rows) in [("phases", phases), ("ticks", ticks)] {
            for (index, symbols) in rows.iter().enumerate() {
                self.instruments_of(&format!("matching.{table}.{index}.instruments"), symbols);
            }
        }
    }

    /// A row is for instruments that md lists.
    fn instruments_of(&mut self, path: &str, symbols: &[String]) {
        if symbols.is_empty() && self.rows.is_written(path) {
            self.error(
                path,
                "this row names no instrument",
                "leave `instruments` out for a row that holds for all that no row names",
            );
        }
        let count = self.config.md.instruments;
        for symbol in symbols {
            if !is_listed(symbol, count) {
                self.error(
                    path,
                    format!("md lists no instrument `{symbol}`"),
                    format!("its instruments are SIM001 to SIM{count:03} (md.instruments = {count})"),
                );
            }
        }
    }

    /// Each schedule has one kind of times, and they ascend.
    fn phases(&mut self) {
        let phases = &self.config.matching.phases;
        for (index, row) in phases.iter().enumerate() {
            let path = format!("matching.phases.{index}.phase");
            match (row.after, row.at) {
                (None, None) => self.error(
                    &path,
                    "it is not said when this phase begins",
                    "write after = \"5s\", or at = \"09:30:00\"",
                ),
                (Some(_), Some(_)) => {
                    self.error(&path, "this phase begins `after` and `at` a time", "leave one of them out");
                }
                _ => {}
            }
        }
        for symbol in schedules(phases) {
            for pair in rows_of(phases, symbol).windows(2) {
                let ((_, before), (index, row)) = (pair[0], pair[1]);
                let is_mixed = before.at.is_some() != row.at.is_some();
                if is_mixed {
                    let path = format!("matching.phases.{index}.phase");
                    let message = "some phases of one instrument begin `after` a time, and some `at` one";
                    self.error(&path, message, "use one of them for all phases of an instrument");
                } else if (before.after, before.at) >= (row.after, row.at) {
                    let key = if row.at.is_some() { "at" } else { "after" };
                    let path = format!("matching.phases.{index}.{key}");
                    let message = "the phases are not in ascending order of time";
                    self.error(&path, message, format!("sort them by `{key}`"));
                }
            }
        }
    }

    /// Each table of ticks is one that the exchange takes.
    fn ticks(&mut self) {
        let ticks = &self.config.matching.ticks;
        for (index, row) in ticks.iter().enumerate() {
            let path = format!("matching.ticks.{index}.tick");
            if row.tick <= wire::Price::ZERO {
                self.error(&path, "a tick is more than zero", "write tick = \"0.01\"");
            } else if row.from.0 % row.tick.0 != 0 {
                let message = format!(
                    "{} is no multiple of the tick {}, which holds from there on",
                    row.from, row.tick
                );
                self.error(&path, message, "choose a `from` that is one");
            }
        }
        for symbol in schedules(ticks) {
            for pair in rows_of(ticks, symbol).windows(2) {
                let ((_, before), (index, row)) = (pair[0], pair[1]);
                if before.from >= row.from {
                    let path = format!("matching.ticks.{index}.tick");
                    self.error(&path, "the ticks are not in ascending order of price", "sort them by `from`");
                }
            }
        }
    }

    pub(super) fn keys_of_the_exchange(&mut self) {
        // Beside a recorded or quoted market the platform's orders may meet, too.
        if !matches!(self.config.matching.fill, Fill::Book | Fill::Quotes)
            && self.rows.is_written("matching.self_trade")
        {
            self.means_nothing("self_trade", "matching.self_trade");
        }
        for key in ["rules", "utc_offset", "band", "band_auction", "snapshot", "statistics"] {
            let path = format!("matching.{key}");
            if self.rows.is_written(&path) {
                self.means_nothing(key, &path);
            }
        }
        if !self.config.matching.phases.is_empty() {
            self.means_nothing("phases", "matching.phases.0.phase");
        }
        if !self.config.matching.ticks.is_empty() {
            self.means_nothing("ticks", "matching.ticks.0.tick");
        }
    }
}

/// Whether md lists this symbol among so many that it makes itself.
fn is_listed(symbol: &str, count: u32) -> bool {
    let number = symbol.strip_prefix("SIM").and_then(|number| number.parse::<u32>().ok());
    number.is_some_and(|number| (1..=count).contains(&number) && symbol == format!("SIM{number:03}"))
}

/// One symbol of each set of rows that may differ; `None`: those that no row names.
fn schedules<R: ByInstrument>(rows: &[R]) -> Vec<Option<&str>> {
    std::iter::once(None).chain(named(rows).into_iter().map(Some)).collect()
}

/// The rows of a symbol, with their places in the file.
fn rows_of<'a, R: ByInstrument>(rows: &'a [R], symbol: Option<&str>) -> Vec<(usize, &'a R)> {
    let is_its = |row: &R| match symbol {
        Some(symbol) => row.instruments().iter().any(|name| name == symbol),
        None => row.instruments().is_empty(),
    };
    rows.iter().enumerate().filter(|(_, row)| is_its(row)).collect()
}
