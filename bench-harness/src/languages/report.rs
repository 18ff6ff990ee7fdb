//! What was measured.

use pinning::HostSummary;
use serde::{Deserialize, Serialize};

use super::found::Skipped;
use super::row::{Row, median};
use super::taker::Taken;
use super::{BYTES, LanguagesSettings};

/// `colo bench languages`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LanguagesReport {
    /// Where.
    pub host: HostSummary,
    /// Bytes of a message.
    pub message_bytes: usize,
    /// Turns of each language without a platform.
    pub rounds: usize,
    /// Platforms of each language and way of waiting.
    pub platforms: usize,
    /// Rust's side was compiled without optimisation across crates, so ratios flatter the others.
    pub is_unoptimised: bool,
    /// Rust first, then by name.
    pub languages: Vec<LanguageRow>,
    /// Languages that this host has no toolchain for.
    pub skipped: Vec<Skipped>,
}

/// One language. Times are medians over the turns; ratios are medians of those of each turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LanguageRow {
    /// Its name.
    pub language: String,
    /// Reading a message, one a call.
    pub read_ns: Option<f64>,
    /// Reading a message, up to 64 a call.
    pub read_batch_ns: Option<f64>,
    /// Writing a message.
    pub write_ns: Option<f64>,
    /// Rust's time to read a message by this language's: its rate in parts of Rust's.
    pub read_rate_ratio: Option<f64>,
    /// The same, up to 64 a call.
    pub read_batch_rate_ratio: Option<f64>,
    /// Reading a message beyond what Rust takes, one a call.
    pub read_over_rust_ns: Option<f64>,
    /// Bytes allocated a message, read or written.
    pub allocated_bytes: Option<f64>,
    /// From before a message is written until a sleeper has it.
    pub wake_p50_us: Option<f64>,
    /// 99th percentile.
    pub wake_p99_us: Option<f64>,
    /// From a quote's publication to td's hand by a taker that sleeps.
    pub t2o_parked_p50_us: Option<f64>,
    /// By one that looks all the time.
    pub t2o_fast_p50_us: Option<f64>,
    /// By Rust's.
    pub t2o_parked_ratio: Option<f64>,
    /// By Rust's.
    pub t2o_fast_ratio: Option<f64>,
    /// Orders behind both.
    pub orders: u64,
}

pub(super) fn report(
    host: HostSummary,
    settings: &LanguagesSettings,
    rows: &[Row],
    skipped: Vec<Skipped>,
) -> LanguagesReport {
    let rust = &rows[0];
    LanguagesReport {
        host,
        message_bytes: BYTES,
        rounds: settings.rounds,
        platforms: settings.platforms,
        is_unoptimised: cfg!(debug_assertions),
        languages: rows.iter().map(|row| language(row, rust)).collect(),
        skipped,
    }
}

fn language(row: &Row, rust: &Row) -> LanguageRow {
    let t2o = |taken: &[Taken]| taken.iter().map(|taken| taken.p50_us).collect::<Vec<f64>>();
    let (parked, fast) = (t2o(&row.parked), t2o(&row.fast));
    LanguageRow {
        language: row.name.clone(),
        read_ns: median(&row.next),
        read_batch_ns: median(&row.batch),
        write_ns: median(&row.write),
        read_rate_ratio: by_turn(&rust.next, &row.next, |rust, own| rust / own),
        read_batch_rate_ratio: by_turn(&rust.batch, &row.batch, |rust, own| rust / own),
        read_over_rust_ns: by_turn(&rust.next, &row.next, |rust, own| own - rust),
        allocated_bytes: row.allocated.map(|(bytes, messages)| bytes as f64 / messages.max(1) as f64),
        wake_p50_us: at(&row.wakes, 0.5),
        wake_p99_us: at(&row.wakes, 0.99),
        t2o_parked_p50_us: median(&parked),
        t2o_fast_p50_us: median(&fast),
        t2o_parked_ratio: by_turn(&t2o(&rust.parked), &parked, |rust, own| own / rust),
        t2o_fast_ratio: by_turn(&t2o(&rust.fast), &fast, |rust, own| own / rust),
        orders: row.parked.iter().chain(&row.fast).map(|taken| taken.orders).sum(),
    }
}

/// The median of what each turn says of both.
fn by_turn(rust: &[f64], own: &[f64], of: impl Fn(f64, f64) -> f64) -> Option<f64> {
    let turns: Vec<f64> = rust.iter().zip(own).map(|(rust, own)| of(*rust, *own)).collect();
    median(&turns)
}

/// A percentile of nanoseconds by nearest rank, in microseconds.
fn at(values: &[f64], share: f64) -> Option<f64> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    let rank = (values.len() as f64 * share).ceil() as usize;
    values.get(rank.saturating_sub(1)).map(|nanos| nanos / 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_the_median_of_those_of_each_turn_and_not_of_two_medians() {
        // The host was slow for both in the second turn.
        assert_eq!(by_turn(&[10.0, 30.0, 10.0], &[20.0, 60.0, 25.0], |rust, own| rust / own), Some(0.5));
        assert_eq!(by_turn(&[10.0], &[], |rust, own| rust / own), None, "a language that cannot do it");
    }

    #[test]
    fn percentiles_of_few_values_are_among_them() {
        assert_eq!(at(&[], 0.5), None);
        assert_eq!((at(&[3_000.0], 0.99), at(&[1_000.0, 2_000.0, 9_000.0], 0.5)), (Some(3.0), Some(2.0)));
    }
}
