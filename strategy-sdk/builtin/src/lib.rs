//! The strategies that `colo` has built in: the examples of the SDK, so that what a reader of its documentation sees is what
//! runs.
//!
//! They are a crate of their own because they lie on the path of every message, and the program that parses command lines does
//! not: where the build is to be short, it is compiled for that.

#![forbid(unsafe_code)]

use node::Exit;
use strategy_sdk::{Options, Roster};

#[path = "../../examples/market_maker.rs"]
#[allow(dead_code, reason = "the example's own `main` is not called here")]
mod market_maker;
#[path = "../../examples/noise.rs"]
#[allow(dead_code, reason = "the example's own `main` is not called here")]
mod noise;
#[path = "../../examples/round_trips.rs"]
#[allow(dead_code, reason = "the example's own `main` is not called here")]
mod round_trips;
#[path = "../../examples/taker.rs"]
#[allow(dead_code, reason = "the example's own `main` is not called here")]
mod taker;

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Builtin {
    /// Answers quotes with immediate-or-cancel orders, sides alternating.
    Taker,
    /// Quotes both sides around the middle.
    MarketMaker,
    /// Trades at random, so that a market of strategies moves.
    Noise,
    /// Sends orders that cannot trade, and times them: `colo bench orders`.
    RoundTrips,
}

/// All of them, by the names that platform files have for them.
pub fn roster(options: Options) -> Roster {
    Roster::new(options)
        .with::<taker::Taker>("taker")
        .with::<market_maker::MarketMaker>("market-maker")
        .with::<noise::Noise>("noise")
        .with::<round_trips::RoundTrips>("round-trips")
}

/// Joins a platform and runs one of them to its end.
pub fn run(strategy: Builtin, options: &Options) -> Exit {
    match strategy {
        Builtin::Taker => strategy_sdk::run::<taker::Taker>(options),
        Builtin::MarketMaker => strategy_sdk::run::<market_maker::MarketMaker>(options),
        Builtin::Noise => strategy_sdk::run::<noise::Noise>(options),
        Builtin::RoundTrips => strategy_sdk::run::<round_trips::RoundTrips>(options),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::{Value, json};

    use super::*;

    /// The table in docs/strategies.md: strategy, parameter, default.
    fn documented() -> Vec<(&'static str, &'static str, &'static str)> {
        let text = include_str!("../../../docs/strategies.md");
        let (_, table) = text.split_once("| strategy | parameter |").expect("the table");
        let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
        rows.map(|row| {
            let cells: Vec<&str> = row.split('|').map(|cell| cell.trim().trim_matches('`')).collect();
            (cells[1], cells[2], cells[4])
        })
        .collect()
    }

    #[test]
    fn the_documented_parameters_are_those_that_the_strategies_take_with_their_defaults() {
        let sources = [
            ("taker", include_str!("../../examples/taker.rs")),
            ("market-maker", include_str!("../../examples/market_maker.rs")),
            ("noise", include_str!("../../examples/noise.rs")),
            ("round-trips", include_str!("../../examples/round_trips.rs")),
        ];
        let mut names: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (strategy, parameter, default) in documented() {
            names.entry(strategy).or_default().push(parameter);
            let value: Value = serde_json::from_str(default).unwrap_or_else(|_| json!(default));
            let given = json!({ parameter: value });
            let taken = roster(Options::default()).check(strategy, given).expect("a strategy");
            assert_eq!(taken, Ok(()), "{strategy}: {parameter} = {default}");
            let (_, source) = sources.iter().find(|(name, _)| *name == strategy).expect("a source");
            let (_, defaults) = source.split_once("impl Default for Parameters").expect("defaults");
            let (defaults, _) = defaults.split_once("\n}\n").expect("their end");
            let defaults = defaults.replace('_', "").replace("PathBuf::from(\".\")", ".");
            let written = format!("{}: {default}", parameter.replace('_', ""));
            let ends = [",", " }", "\n"].map(|end| format!("{written}{end}"));
            assert!(ends.iter().any(|words| defaults.contains(words)), "{strategy}: {written} in {defaults}");
        }
        for (strategy, _) in sources {
            let unknown = roster(Options::default()).check(strategy, json!({ "no such": 1 }));
            let said = unknown.expect("a strategy").expect_err("no such parameter");
            let expected: Vec<String> = names[strategy].iter().map(|name| format!("`{name}`")).collect();
            let count = said.matches('`').count() / 2 - 1;
            assert!(expected.iter().all(|name| said.contains(name)), "{strategy}: {said}");
            assert_eq!(count, expected.len(), "{strategy} has others too: {said}");
        }
    }
}
