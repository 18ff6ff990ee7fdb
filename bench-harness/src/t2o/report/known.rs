//! Known figures of the report that colo starts from, as cited in colo's own design notes. They do not include the
//! report's single cells, and none are invented.

/// The name of the source wherever one of its figures is shown.
pub(super) const SOURCE: &str =
    "“the report”: measurements of Kungfu’s tick-to-order time, 80 strategies, 12 cores";

/// Lowest and highest mean t2o of 80 parked strategies over the report's matrix, in microseconds.
pub(super) const RANGE_US: [f64; 2] = [500.0, 38_000.0];

/// Highest mean t2o divided by the lowest, over the twelve rates of a group.
pub(super) const FLATNESS: [(&str, f64); 2] = [("A", 50.0), ("D", 6.4)];

/// The cost of a fast writer for parked readers there, in microseconds.
pub(super) const MIXED_US: f64 = 50_000.0;
