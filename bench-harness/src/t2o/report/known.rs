//! What is known of the report that colo starts from. Facts, as cited in colo's own design notes; the report's single
//! cells are not among them, and nothing is made up for them.

/// How the source is named wherever a figure of it is shown.
pub(super) const SOURCE: &str =
    "“the report”: measurements of Kungfu’s tick-to-order time, 80 strategies, 12 cores";

/// Lowest and highest mean t2o of 80 parked strategies over the report's matrix, in microseconds.
pub(super) const RANGE_US: [f64; 2] = [500.0, 38_000.0];

/// Highest mean t2o divided by the lowest, over the twelve rates of a group.
pub(super) const FLATNESS: [(&str, f64); 2] = [("A", 50.0), ("D", 6.4)];

/// What a fast writer costs parked readers there, in microseconds.
pub(super) const MIXED_US: f64 = 50_000.0;
