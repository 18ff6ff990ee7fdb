//! From what master gives the node, and the command line, to what the session starts with.

use std::path::Path;
use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use topology::StrategySection;
use topology::config::{InstrumentChoice, InstrumentRule, MarketData};
use wire::AccountId;

use crate::instruments::Interest;
use crate::options::Options;

/// A strategy's section: what the topology says, with its parameters beside it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct Section {
    #[serde(flatten)]
    strategy: StrategySection,
    #[serde(default)]
    params: Value,
}

/// The parameters do not fit the strategy.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ParametersError {
    /// `params` is no table.
    #[error("`params` is {0}, but must be a table of names and values")]
    NoTable(Value),
    /// A name or value that the strategy does not know.
    #[error("{0}; see `params` of the strategy in the platform file, and --param")]
    Unfit(#[from] serde_json::Error),
}

impl Section {
    /// The name behind `builtin:`.
    pub(crate) fn builtin(&self) -> Option<&str> {
        self.strategy.builtin.as_deref()
    }

    /// What the strategy hears of the market.
    pub(crate) fn data(&self) -> MarketData {
        self.strategy.data
    }

    /// The accounts that it may trade for, its default first; empty: its own, or all.
    pub(crate) fn accounts(&self) -> Vec<AccountId> {
        self.strategy.accounts.iter().copied().map(AccountId).collect()
    }

    /// How much of the market it hears before its start.
    pub(crate) fn warm_up(&self) -> Duration {
        self.strategy.warm_up
    }

    /// The recording that it is taken from, if not from the platform's own market data.
    pub(crate) fn history(&self) -> Option<&Path> {
        self.strategy.history.as_deref()
    }

    /// Longest that one call should take, in nanoseconds; zero: not measured.
    pub(crate) fn budget(&self) -> u64 {
        u64::try_from(self.strategy.budget.as_nanos()).unwrap_or(u64::MAX)
    }

    /// The parameters, those of the command line over those of the platform file.
    pub(crate) fn parameters<P: DeserializeOwned>(&self, options: &Options) -> Result<P, ParametersError> {
        let mut table = match &self.params {
            Value::Null => Map::new(),
            Value::Object(table) => table.clone(),
            other => return Err(ParametersError::NoTable(other.clone())),
        };
        table.extend(options.parameters.iter().cloned());
        Ok(serde_json::from_value(Value::Object(table))?)
    }

    /// The instruments that it reads: the command line overrides the strategy's own interest, and that the platform file.
    pub(crate) fn interest(&self, options: &Options, own: Option<Interest>) -> Interest {
        if !options.instruments.is_empty() {
            return Interest::Symbols(options.instruments.clone());
        }
        own.unwrap_or_else(|| match &self.strategy.instruments {
            InstrumentChoice::Rule(InstrumentRule::All) => Interest::All,
            InstrumentChoice::Rule(InstrumentRule::RoundRobin) => {
                Interest::RoundRobin { index: self.strategy.index }
            }
            InstrumentChoice::Listed(symbols) => Interest::Symbols(symbols.clone()),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct Parameters {
        quantity: i64,
        name: String,
    }

    impl Default for Parameters {
        fn default() -> Parameters {
            Parameters { quantity: 1, name: "none".into() }
        }
    }

    fn section(instruments: Value, params: Value) -> Section {
        serde_json::from_value(json!({
            "group": "takers", "index": 5, "index_in_group": 2, "instruments": instruments, "params": params,
        }))
        .unwrap()
    }

    #[test]
    fn a_section_without_parameters_takes_the_defaults() {
        let text = r#"{ "group": "g", "index": 0, "index_in_group": 0, "instruments": "all", "newer": 1 }"#;
        let section: Section = serde_json::from_str(text).unwrap();
        assert_eq!(section.parameters::<Parameters>(&Options::default()).unwrap(), Parameters::default());
    }

    #[test]
    fn the_command_line_goes_over_the_file() {
        let section = section(json!("all"), json!({ "quantity": 3, "name": "file" }));
        let options = Options { parameters: vec![("quantity".into(), json!(7))], ..Options::default() };
        let expected = Parameters { quantity: 7, name: "file".into() };
        assert_eq!(section.parameters::<Parameters>(&options).unwrap(), expected);
    }

    #[test]
    fn parameters_that_do_not_fit_are_named() {
        let unknown = section(json!("all"), json!({ "quantty": 3 }));
        let error = unknown.parameters::<Parameters>(&Options::default()).unwrap_err().to_string();
        assert!(error.contains("quantty") && error.contains("quantity"), "{error}");
        let list = section(json!("all"), json!([1]));
        assert!(list.parameters::<Parameters>(&Options::default()).is_err());
    }

    #[test]
    fn the_interest_comes_from_the_command_line_the_strategy_or_the_file() {
        let none = Options::default();
        let from_line = Options { instruments: vec!["A".into()], ..Options::default() };
        let robin = section(json!("round-robin"), Value::Null);
        assert_eq!(robin.interest(&none, None), Interest::RoundRobin { index: 5 });
        assert_eq!(section(json!("all"), Value::Null).interest(&none, None), Interest::All);
        let listed = section(json!(["X", "Y"]), Value::Null);
        assert_eq!(listed.interest(&none, None), Interest::Symbols(vec!["X".into(), "Y".into()]));
        assert_eq!(listed.interest(&none, Some(Interest::All)), Interest::All);
        assert_eq!(listed.interest(&from_line, Some(Interest::All)), Interest::Symbols(vec!["A".into()]));
    }
}
