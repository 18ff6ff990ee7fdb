//! What came of a run, from its folder.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use outcome::{Manifest, RunState, shelf};
use topology::config::Decimal;

use crate::store::RunEnd;

/// What a run that failed has said, in its folder.
pub(crate) const WORDS: &str = "stderr.txt";
/// The table of strategies.
pub(crate) const STRATEGIES: &str = "strategies.csv";

/// How a run ended.
pub(crate) struct Ended {
    pub(crate) state: RunEnd,
    pub(crate) why: String,
    pub(crate) measures: BTreeMap<String, String>,
}

impl Ended {
    fn failed(why: impl Into<String>) -> Ended {
        let why: String = why.into();
        let why = why.split_whitespace().collect::<Vec<_>>().join(" ");
        Ended { state: RunEnd::Failed, why, measures: BTreeMap::new() }
    }

    pub(crate) fn timeout(limit: Duration) -> Ended {
        let why = format!("it took longer than {}", humantime::format_duration(limit));
        Ended { state: RunEnd::Timeout, ..Ended::failed(why) }
    }
}

/// Reads the folder of a run that ended with this code, or by this signal, and has said this.
pub(crate) fn read(folder: &Path, strategy: Option<&str>, exit: Result<i32, i32>, said: &str) -> Ended {
    let last = said.lines().rev().find_map(|line| line.strip_prefix("colo: "));
    let words =
        last.or_else(|| said.lines().find(|line| line.starts_with("error"))).unwrap_or("it left no words");
    match exit {
        Err(signal) => return Ended::failed(format!("its process was killed by signal {signal}")),
        Ok(0) => {}
        Ok(code) => {
            let reason = shelf::read(folder).ok().and_then(|manifest| reason(&manifest));
            return Ended::failed(reason.unwrap_or_else(|| format!("exit code {code}: {words}")));
        }
    }
    let manifest = match shelf::read(folder) {
        Ok(manifest) => manifest,
        Err(error) => return Ended::failed(error.to_string()),
    };
    match manifest.state {
        RunState::Finished if manifest.complete => {}
        RunState::Finished => {
            let missed = manifest.missed.iter().map(|missed| missed.journal.clone());
            let lacks: Vec<String> = manifest.problems.iter().cloned().chain(missed).collect();
            return Ended::failed(format!("its tables are not whole: {}", lacks.join(", ")));
        }
        RunState::Interrupted => return Ended::failed("somebody interrupted it"),
        RunState::Failed | RunState::Running => {
            return Ended::failed(reason(&manifest).unwrap_or_else(|| words.to_owned()));
        }
    }
    match measures(&folder.join(STRATEGIES), strategy) {
        Ok(measures) => Ended { state: RunEnd::Finished, why: String::new(), measures },
        Err(why) => Ended::failed(why),
    }
}

/// The first node that failed, and why.
fn reason(manifest: &Manifest) -> Option<String> {
    let report = manifest.report.as_ref()?;
    let node = report.failed_nodes().next()?;
    let why = node.reason.clone().unwrap_or_else(|| "it left no words".to_owned());
    Some(format!("{}: {why}", node.name))
}

/// The measures of a strategy, or of all that are meant together.
fn measures(path: &Path, strategy: Option<&str>) -> Result<BTreeMap<String, String>, String> {
    let failed = |error: csv::Error| format!("cannot read {STRATEGIES}: {error}");
    let mut table = csv::Reader::from_path(path).map_err(failed)?;
    let head = table.headers().map_err(failed)?.clone();
    let mut rows = Vec::new();
    for row in table.records() {
        let row = row.map_err(failed)?;
        if is_meant(row.get(0).unwrap_or_default(), strategy) {
            rows.push(row);
        }
    }
    let column = |name: &str| head.iter().position(|column| column == name);
    let mut measures = BTreeMap::new();
    for outcome::Measure { name, is_sum, .. } in outcome::strategy_measures() {
        let Some(place) = column(name) else { continue };
        let cells: Vec<&str> = rows.iter().filter_map(|row| row.get(place)).collect();
        let value = match cells.as_slice() {
            [] => return Err(format!("{STRATEGIES} has no row of {}", strategy.unwrap_or("any strategy"))),
            [one] => (*one).to_owned(),
            // What is no sum (a drawdown, a ratio) several strategies do not have together.
            all if is_sum => {
                sum(all).ok_or_else(|| format!("{STRATEGIES}: the sum of {name} is too large"))?
            }
            _ => String::new(),
        };
        measures.insert(name.to_owned(), value);
    }
    Ok(measures)
}

/// A strategy is meant by its own name or by its group's: NAME, NAME-1, NAME-2.
fn is_meant(row: &str, strategy: Option<&str>) -> bool {
    let Some(strategy) = strategy else { return true };
    match row.strip_prefix(strategy) {
        Some("") => true,
        Some(rest) => rest
            .strip_prefix('-')
            .is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())),
        None => false,
    }
}

/// The exact sum, as exact as its parts.
fn sum(cells: &[&str]) -> Option<String> {
    let is_whole = cells.iter().all(|cell| !cell.contains('.'));
    let mut sum = 0_i128;
    for cell in cells {
        sum = sum.checked_add(cell.parse::<Decimal>().ok()?.0)?;
    }
    Some(match is_whole {
        true => (sum / Decimal::ONE).to_string(),
        false => Decimal(sum).to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_strategies_have_sums_and_nothing_that_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(STRATEGIES);
        let text = "strategy,orders,pnl,max_drawdown,sharpe\nmaker-1,3,-0.5,2.0,0.1\nmaker-2,4,1.25,1.0,\nmaker-x,9,9.0,9.0,9\n";
        std::fs::write(&path, text).unwrap();
        let both = measures(&path, Some("maker")).unwrap();
        assert_eq!((both["orders"].as_str(), both["pnl"].as_str()), ("7", "0.75"));
        assert_eq!((both["max_drawdown"].as_str(), both["sharpe"].as_str()), ("", ""));
        let one = measures(&path, Some("maker-2")).unwrap();
        assert_eq!((one["pnl"].as_str(), one["max_drawdown"].as_str()), ("1.25", "1.0"));
        assert_eq!(measures(&path, None).unwrap()["orders"], "16");
        assert!(measures(&path, Some("taker")).unwrap_err().contains("no row of taker"));
    }
}
