//! All books do what each flow expects, and a wrong one is noticed.

use bench_kit::book::{Book, Disagreement, Ladder, SortedBook, Tally, TreeBook, apply_all};
use bench_kit::flow::{Add, Cancel, Flow, Ids, Mix, Plan, Side, Take};
use bench_kit::measure::{Contestant, Named, in_turns};

fn flow(mix: Mix, levels: u32) -> Flow {
    Flow::generate(&Plan { mix, levels, operations: 20_000, seed: 42, ids: Ids::Scattered })
}

fn no_clock() -> u64 {
    0
}

#[test]
fn every_book_does_what_every_flow_expects_again_and_again() {
    let mut trades = 0;
    for mix in Mix::ALL {
        for levels in [2, 10, 100, 1_000, 10_000] {
            let flow = flow(mix, levels);
            let mut ladder = Named::new("ladder", Ladder::new(&flow));
            let mut sorted = Named::new("sorted", SortedBook::default());
            let mut tree = Named::new("tree", TreeBook::default());
            let books: &mut [&mut dyn Contestant<fn() -> u64>] = &mut [&mut ladder, &mut sorted, &mut tree];
            let figures = in_turns(&flow, books, 1, no_clock as fn() -> u64, || true).unwrap().unwrap();
            assert!(figures.iter().all(|figures| figures.samples == 20_000));
            trades += flow.expected.trades;
        }
    }
    println!("{trades} trades in 20 flows, each by 3 books in 4 passes");
    assert!(trades > 40_000);
}

/// Trades with the newest order of a level first.
#[derive(Default)]
struct Unfair(Vec<(Add, u32)>);

impl Book for Unfair {
    fn add(&mut self, add: &Add, _: &mut Tally) {
        self.0.push((*add, add.quantity));
    }

    fn cancel(&mut self, cancel: &Cancel, tally: &mut Tally) {
        let before = self.0.len();
        self.0.retain(|(add, _)| add.id != cancel.id);
        tally.cancelled += (before - self.0.len()) as u64;
    }

    fn take(&mut self, take: &Take, tally: &mut Tally) {
        let mut quantity = take.quantity;
        while quantity > 0 {
            let resting = self.0.iter_mut().filter(|(add, _)| add.side != take.side);
            let Some((add, open)) = resting.max_by_key(|(add, _)| match add.side {
                Side::Buy => add.tick,
                Side::Sell => u32::MAX - add.tick,
            }) else {
                return;
            };
            let traded = quantity.min(*open);
            *open -= traded;
            quantity -= traded;
            tally.trade(add.tick, traded);
            self.0.retain(|(_, open)| *open > 0);
        }
    }
}

#[test]
fn a_book_that_takes_the_wrong_order_of_a_level_is_found() {
    let flow = flow(Mix::Mixed, 10);
    let mut unfair = Unfair::default();
    apply_all(&mut unfair, &flow.fill);
    let found = apply_all(&mut unfair, &flow.run);
    let error = Disagreement::check("unfair", &flow, found).unwrap_err();
    assert!(error.to_string().contains("unfair does not match as it should: in the flow `mixed`"), "{error}");
    assert_ne!(found.cancelled, flow.expected.cancelled);
}

#[test]
fn flows_are_what_their_documentation_says() {
    for levels in [10, 100, 1_000, 10_000] {
        for mix in Mix::ALL {
            let plan = Plan { mix, levels, operations: 100_000, seed: 3, ids: Ids::Ascending };
            let flow = Flow::generate(&plan);
            let shares = flow.shares;
            println!("{mix} over {levels}: {shares:?}");
            assert_eq!(shares.adds + shares.cancels + shares.takes, 100_000);
            assert_eq!(shares.missed_cancels, 0);
            let percent = |count: u64| count as f64 / 1e3;
            let (adds, takes, living) = match mix {
                Mix::Mixed => (47.5..=48.5, 10.0, 10_000),
                Mix::Calm => (49.0..=51.0, 2.0, u64::from(levels) + 60),
                Mix::Volatile => (45.0..=60.0, 10.0, u64::from(2 * levels).clamp(200, 10_000)),
                Mix::Crash => (50.0..=68.0, 5.5, u64::from(2 * levels).clamp(200, 10_000)),
            };
            assert!(adds.contains(&percent(shares.adds)), "{shares:?}");
            assert!((percent(shares.takes) - takes).abs() <= 1.0, "{shares:?}");
            assert!(shares.living[1].abs_diff(living) * 5 <= living, "{shares:?}");
            match mix {
                Mix::Mixed | Mix::Calm => assert_eq!(shares.crossing_adds, 0),
                Mix::Volatile => assert!(shares.crossing_adds > 0),
                Mix::Crash => assert!(shares.trades > 2 * shares.takes, "{shares:?}"),
            }
        }
    }
}

#[test]
fn one_seed_gives_one_flow_and_ids_change_nothing_else() {
    let plan = Plan { mix: Mix::Crash, levels: 100, operations: 5_000, seed: 5, ids: Ids::Ascending };
    let (first, again) = (Flow::generate(&plan), Flow::generate(&plan));
    assert_eq!((&first.run, first.expected), (&again.run, again.expected));
    let other = Flow::generate(&Plan { seed: 6, ..plan });
    assert_ne!(first.run, other.run);
    let scattered = Flow::generate(&Plan { ids: Ids::Scattered, ..plan });
    assert_eq!(first.expected, scattered.expected);
}
