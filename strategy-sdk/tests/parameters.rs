//! Parameters that change while a strategy runs.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use serde_json::json;
use strategy_sdk::testing::Harness;
use strategy_sdk::{Context, Deserialize, NoParameters, ParameterError, Strategy};

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Parameters {
    size: i64,
}

#[derive(Debug)]
struct Takes(i64);

impl Strategy for Takes {
    type Parameters = Parameters;

    fn create(parameters: Parameters) -> Result<Takes, ParameterError> {
        Ok(Takes(parameters.size))
    }

    fn parameters(&mut self, _: &mut Context, parameters: Parameters) -> Result<(), ParameterError> {
        if parameters.size < self.0 {
            return Err(ParameterError::new("size", "cannot shrink while it runs"));
        }
        self.0 = parameters.size;
        Ok(())
    }
}

struct Fixed;

impl Strategy for Fixed {
    type Parameters = NoParameters;

    fn create(_: NoParameters) -> Result<Fixed, ParameterError> {
        Ok(Fixed)
    }
}

#[test]
fn a_strategy_takes_new_parameters_or_says_why_not_and_goes_on_with_the_old() {
    let mut harness = Harness::<Takes>::new(Parameters { size: 2 }).unwrap();
    assert_eq!(harness.set(json!({ "size": 5 })), Err("it has not started yet".to_owned()));
    harness.list("SIM001", "0.01", 100);
    harness.start();
    assert_eq!(harness.set(json!({ "size": 5 })), Ok(()));
    assert_eq!(harness.set(json!({ "size": 1 })), Err("`size` cannot shrink while it runs".to_owned()));
    let unknown = harness.set(json!({ "sice": 7 })).unwrap_err();
    assert!(unknown.contains("unknown field `sice`, expected `size`"), "{unknown}");
    assert_eq!(harness.strategy().0, 5);
}

#[test]
fn one_that_takes_none_says_what_to_do_instead() {
    let mut harness = Harness::<Fixed>::new(NoParameters {}).unwrap();
    harness.list("SIM001", "0.01", 100);
    harness.start();
    let said = harness.set(json!({})).unwrap_err();
    assert_eq!(said, "it does not take new parameters while it runs: use `colo strategy reload`");
}
