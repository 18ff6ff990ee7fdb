//! Strategies and journals for Python: the module `colo._colo`, below the package in `python/colo`.
//!
//! ```text
//!   colo.run(Class) ─► strategy.rs ─► strategy-sdk         messages.rs   a class for each message, made from the table of fields
//!        on_quote(ctx, quote) ◄── one reused view           arrays.rs     the same messages as numpy's records
//!        on_quotes(ctx, array) ◄── what waited together     journals.rs   readers and writers without a strategy
//!        colo.testing.Harness ─► harness.rs                 measure.rs    what the interpreter allocates
//! ```
//!
//! The interpreter's lock is held while events are handled, and given up around each sleep of the node. It also makes
//! accesses to what a view or context points to one after the other, and these end with the call.

mod arrays;
mod context;
mod harness;
mod journals;
mod measure;
mod messages;
mod strategy;
mod stubs;

use pyo3::prelude::*;

pyo3::create_exception!(
    colo,
    ColoError,
    pyo3::exceptions::PyException,
    "What colo refuses says what, where, and what to do."
);
pyo3::create_exception!(
    colo,
    OrderError,
    ColoError,
    "A request was not sent. `refusal` has the reason by name, `full` for one: td is behind, try again at a later event."
);

/// The native part of the package `colo`. An interpreter without a lock takes its lock up when it loads this: what views and contexts
/// point to is guarded by it.
#[pymodule(gil_used = true)]
fn _colo(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("ColoError", py.get_type::<ColoError>())?;
    module.add("OrderError", py.get_type::<OrderError>())?;
    messages::add_to(module)?;
    module.add_class::<context::Context>()?;
    module.add_class::<context::Position>()?;
    module.add_class::<context::WorkingOrder>()?;
    module.add_class::<context::Timer>()?;
    journals::add_to(module)?;
    module.add_class::<harness::Harness>()?;
    module.add_function(wrap_pyfunction!(measure::count_allocations, module)?)?;
    module.add_function(wrap_pyfunction!(strategy::run, module)?)?;
    module.add_function(wrap_pyfunction!(strategy::drive, module)?)?;
    module.add_function(wrap_pyfunction!(arrays::dtype, module)?)?;
    module.add_function(wrap_pyfunction!(stubs::stubs, module)?)?;
    Ok(())
}
