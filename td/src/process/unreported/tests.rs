//! Which reports count as at risk, and the cost of counting them.

use std::cell::Cell;
use std::collections::VecDeque;

use super::*;

const CAPACITY: u64 = 64_000;
/// An execution's bytes.
const FRAME: u64 = 100;

/// Executions whose reports wait, and the number of looks at it.
#[derive(Default)]
struct Fake {
    waiting: VecDeque<u64>,
    committed: u64,
    looks: Cell<u64>,
}

impl Fake {
    fn look(&self) {
        self.looks.set(self.looks.get() + 1);
    }

    fn commit(&mut self, count: usize) {
        self.committed += self.waiting.drain(..count).count() as u64;
    }
}

impl Backlog for Fake {
    fn is_empty(&self) -> bool {
        self.look();
        self.waiting.is_empty()
    }

    fn committed(&self) -> u64 {
        self.committed
    }

    fn oldest(&self) -> Option<u64> {
        self.look();
        self.waiting.front().copied()
    }

    fn oldest_from(&self, position: u64) -> Option<u64> {
        let first = self.waiting.partition_point(|waiting| {
            self.look();
            *waiting < position
        });
        self.waiting.get(first).copied()
    }

    fn count_before(&self, position: u64) -> u64 {
        self.waiting.partition_point(|waiting| {
            self.look();
            *waiting < position
        }) as u64
    }
}

/// One more execution, whose report waits in this journal if there is one.
fn execute(unreported: &mut Unreported, reports: &mut [Fake], journal: Option<usize>) {
    let position = unreported.read;
    unreported.read += FRAME;
    if let Some(journal) = journal {
        reports[journal].waiting.push_back(position);
        unreported.add_waiting(journal);
        unreported.begins(position);
    }
}

fn reports(count: usize) -> Vec<Fake> {
    std::iter::repeat_with(Fake::default).take(count).collect()
}

#[test]
fn a_report_is_at_risk_when_its_execution_is_not_kept_and_until_it_is_committed() {
    let mut reports = reports(3);
    let mut unreported = Unreported::with_ring(CAPACITY, 0, None, 3);
    let mut at_risk = [0; 3];
    let mut kept = 0;
    let mut seed: u64 = 1;
    for round in 0..20_000 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let random = (seed >> 33) as usize;
        execute(&mut unreported, &mut reports, [Some(0), Some(1), None, None][random % 4]);
        // Long without a reader, then with one that takes all, in parts.
        if round % 5_000 > 3_000 {
            for report in &mut reports {
                report.commit((random / 4 % 4).min(report.waiting.len()));
            }
        }
        let moved = unreported.follow(&reports, None, None, |journal, count| at_risk[journal] = count);
        kept = unreported.from.map_or(kept, |from| from.max(kept));
        assert!(moved.is_none_or(|from| from == kept));
        assert_eq!(kept % FRAME, 0, "an execution starts there");
        assert!(unreported.read - kept < CAPACITY, "matching has no room");
        for (report, at_risk) in reports.iter().zip(at_risk) {
            let lost = report.waiting.iter().filter(|position| **position < kept).count() as u64;
            assert_eq!(at_risk, lost, "round {round}");
        }
    }
}

#[test]
fn nothing_is_at_risk_when_everything_is_committed() {
    let mut reports = reports(1);
    let mut unreported = Unreported::with_ring(CAPACITY, 0, None, 1);
    let mut counts = Vec::new();
    for _ in 0..2_000 {
        execute(&mut unreported, &mut reports, Some(0));
        unreported.follow(&reports, None, None, |_, count| counts.push(count));
    }
    assert!(counts.last().is_some_and(|count| *count > 1_000), "{counts:?}");
    reports[0].commit(2_000);
    unreported.follow(&reports, None, None, |_, count| counts.push(count));
    assert_eq!((counts.last(), unreported.waiting()), (Some(&0), &[][..]));
    // The kept part follows the cursor from now on.
    execute(&mut unreported, &mut reports, None);
    assert_eq!(unreported.from, Some(unreported.read - FRAME));
}

#[test]
fn the_cost_grows_with_the_unread_reports_only() {
    const HUNG: usize = 500;
    let mut reports = reports(1_000);
    let mut unreported = Unreported::with_ring(CAPACITY, 0, None, 1_000);
    let mut looks = Vec::new();
    for count in 1..=16_384_u64 {
        execute(&mut unreported, &mut reports, Some(HUNG));
        unreported.follow(&reports, None, None, |_, _| {});
        if count.is_power_of_two() && count >= 4_096 {
            looks.push(reports[HUNG].looks.get() as f64 / count as f64);
        }
    }
    let others: u64 =
        reports.iter().enumerate().map(|(at, report)| report.looks.get() * u64::from(at != HUNG)).sum();
    assert_eq!(others, 0, "journals without waiting reports are not looked at");
    assert!(looks.iter().all(|each| (1.0..8.0).contains(each)), "looks a report: {looks:?}");
}

#[test]
fn what_is_not_in_the_drop_copy_is_kept_whatever_the_reports_give_up() {
    let mut reports = reports(2);
    let mut unreported = Unreported::with_ring(CAPACITY, 0, None, 2);
    for _ in 0..2_000 {
        execute(&mut unreported, &mut reports, Some(0));
    }
    let uncopied = unreported.least() / 2 / FRAME * FRAME;
    unreported.follow(&reports, None, Some(uncopied), |_, _| {});
    assert!(unreported.from.is_some_and(|from| from <= uncopied), "{:?} of {uncopied}", unreported.from);
    unreported.follow(&reports, None, None, |_, _| {});
    assert!(unreported.from.is_some_and(|from| from >= unreported.least()), "{:?}", unreported.from);
}
