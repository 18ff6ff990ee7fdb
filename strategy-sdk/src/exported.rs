//! A strategy as a plug-in, for the one process of a backtest.

use std::marker::PhantomData;

use node::{Node, RunError, Runner, Steps, Stepwise};
use plugin::Export;
use serde_json::Value;

use crate::factory::Factory;
use crate::options::Options;
use crate::process::Strategies;
use crate::strategy::Strategy;

/// What [`export!`](crate::export) exports.
#[doc(hidden)]
#[derive(Debug)]
pub struct Exported<S>(PhantomData<S>);

impl<S: Strategy> Export for Exported<S> {
    fn steps(mut node: Node) -> Result<Box<dyn Steps>, RunError> {
        let strategies = Strategies::new(&mut node, Factory::of::<S>(Options::default()))
            .map_err(|error| RunError::Component { message: error.to_string(), exit: error.exit() })?;
        Stepwise.run(node, strategies)
    }

    fn check(parameters: Value) -> Result<(), String> {
        Factory::of::<S>(Options::default()).check("", parameters).unwrap_or(Ok(()))
    }
}

/// Makes a plug-in of a strategy, so that a backtest runs it in its one process: many times as fast as a program beside it, with the
/// same orders and fills. Once in the library of a package:
///
/// ```toml
/// [lib]
/// crate-type = ["cdylib", "rlib"]
/// ```
///
/// ```no_run
/// # use strategy_sdk::{NoParameters, ParameterError, Strategy};
/// pub struct Mine;
///
/// impl Strategy for Mine {
///     // …
/// #     type Parameters = NoParameters;
/// #     fn create(_: NoParameters) -> Result<Mine, ParameterError> { Ok(Mine) }
/// }
///
/// strategy_sdk::export!(Mine);
/// # fn main() {}
/// ```
///
/// The program, `src/main.rs`, is as ever `strategy_sdk::main::<Mine>()`, and is what runs live. `cargo build` puts `libNAME.so`
/// beside it, where `colo up` finds it. Plug-in and `colo` are to be built from one version; another is refused. A panic ends the
/// strategy and not the run, unless the profile says `panic = "abort"`, which is refused too.
#[macro_export]
macro_rules! export {
    ($strategy:ty) => {
        /// What `colo` asks for when it loads this library.
        #[unsafe(no_mangle)]
        pub extern "C" fn colo_plugin() -> *const $crate::plugin::Table {
            $crate::plugin::table::<$crate::Exported<$strategy>>()
        }
    };
}
