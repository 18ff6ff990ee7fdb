//! Runs all rounds: each contains every rival once, in an order of its own.

use std::io::Write as _;
use std::time::{Duration, Instant};

use rand::seq::SliceRandom as _;

use super::block;
use super::{Figures, Plan};
use crate::error::CompareError;
use crate::rival::Facts;

/// The final result of one block.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    /// Index of the row.
    pub(crate) row: usize,
    /// From 0.
    pub(crate) round: usize,
    /// Name of the rival.
    pub(crate) rival: &'static str,
    /// The figures, or the reason why there are none.
    pub(crate) outcome: Result<Figures, String>,
    /// What disturbed even the last attempt; empty: nothing.
    pub(crate) disturbed: Vec<String>,
    /// How often it was measured again.
    pub(crate) repeated: usize,
    /// Duration of the last attempt, from the start of its processes to their end.
    pub(crate) took: Duration,
}

/// Blocks that take longer, mostly to start eighty virtual machines, are measured in [`Plan::slow_rounds`] only, and
/// never repeated.
const SLOW: Duration = Duration::from_secs(8);

/// Runs all rounds. A rival that fails twice at one row is not measured there again.
pub(crate) fn measure(plan: &Plan) -> Result<Vec<Measured>, CompareError> {
    let mut measured: Vec<Measured> = Vec::new();
    let mut order = rand::rng();
    let mut repeats_time = plan.repeats_time;
    for round in 0..plan.rounds {
        for (index, row) in plan.rows.iter().enumerate() {
            eprint!("\rround {} of {}: {:<44}", round + 1, plan.rounds, row.title);
            // A progress line that is not shown does no harm.
            let _ = std::io::stderr().flush();
            let mut rivals: Vec<_> = plan.rivals.iter().filter(|facts| row.suits(facts.can)).collect();
            rivals.shuffle(&mut order);
            for facts in rivals {
                let before =
                    || measured.iter().filter(|block| block.row == index && block.rival == facts.name);
                let failures = before().filter(|block| block.outcome.is_err()).count();
                let slow = before().filter(|block| block.took > SLOW).count();
                if failures < 2 && slow < plan.slow_rounds {
                    measured.push(one(plan, index, round, facts, &mut repeats_time));
                }
            }
        }
    }
    eprintln!();
    Ok(measured)
}

/// Measures a block, and repeats it while it is disturbed and there is time for it.
fn one(plan: &Plan, index: usize, round: usize, facts: &Facts, repeats_time: &mut Duration) -> Measured {
    let row = &plan.rows[index];
    let mut repeated = 0;
    loop {
        let begin = Instant::now();
        let (outcome, disturbed) = match block::run(facts, row.work, row.payload, &plan.cpus) {
            Ok(good) => (Ok(good.figures), good.disturbed),
            Err(error) => (Err(error.to_string()), Vec::new()),
        };
        if let Err(error) = &outcome {
            eprintln!("\n{}: {}: {error}", facts.name, row.title);
        }
        let took = begin.elapsed();
        if repeated > 0 {
            *repeats_time = repeats_time.saturating_sub(took);
        }
        if disturbed.is_empty() || repeated >= plan.repeats || took > SLOW || repeats_time.is_zero() {
            return Measured { row: index, round, rival: facts.name, outcome, disturbed, repeated, took };
        }
        repeated += 1;
    }
}
