use super::*;
use crate::t2o::fixture;
use crate::t2o::slices::{self, Slice};

#[test]
fn buckets_are_a_hundredth_wide_and_in_order() {
    for time in (0..2_000).chain((1..40).map(|power| (1 << power) - 1)).chain([u64::MAX]) {
        let low = lowest(bucket(time));
        assert!(low <= time as f64 && time as f64 <= low * 1.017 + 1.0, "{time}: {low}");
    }
    assert!((1..2_000).all(|time| bucket(time) >= bucket(time - 1)));
}

/// A run of `levels.len()` slices of 100 ms with ten answers each; those of slice n take `times[n]` µs.
fn run(levels: &[Level], times: &[u64]) -> (RunRecord, Vec<Stamps>) {
    let mut run = fixture::cell("A", 1, 100.0, &[40.0]).runs.remove(0);
    let slice = |(at, level): (u64, &Level)| Slice {
        from_ns: at * 100_000_000,
        until_ns: (at + 1) * 100_000_000,
        steal_percent: if *level == Level::LeftOut { 30.0 } else { 0.0 },
        others_cpus: Some(if *level == Level::Quiet { 0.0 } else { 2.0 }),
        others_seen: true,
        cpus_allowed: 2,
        ..Slice::default()
    };
    run.slices = (0..).zip(levels).map(slice).collect();
    run.seconds = levels.len() as f64 / 10.0;
    let stamps = |(n, time): (u64, u64)| {
        let due = n * 10_000_000 + 1;
        let (published, ns) = (due + 1_000, time * 1_000);
        let (received, ordered) = (published + ns / 2, published + ns / 2 + 1);
        Stamps { order_id: n + 1, due, published, received, ordered, taken: published + ns, durable: 0 }
    };
    let each = times.iter().flat_map(|time| [*time; 10]);
    let records: Vec<Stamps> = (0..).zip(each).map(stamps).collect();
    let divided = slices::divide(&run.slices, &records);
    slices::judge(&mut run.slices, &divided);
    run.kept = of_run(&run, &divided).unwrap();
    (run, records)
}

#[test]
fn figures_are_those_of_the_slices_that_count() {
    use Level::{Busy, LeftOut, Quiet};
    let (run, _) = run(&[Quiet, Quiet, Busy, Quiet, LeftOut], &[50, 50, 70, 50, 900]);
    let levels: Vec<Level> = run.slices.iter().map(|slice| slice.level).collect();
    assert_eq!(levels, [Quiet, Quiet, Busy, Quiet, LeftOut]);
    assert_eq!(run.slices[4].why, ["steal", "others"]);
    let quiet = run.kept(Quiet).unwrap();
    assert_eq!((quiet.slices, quiet.samples), (3, 30));
    assert!((quiet.stages["t2o"].p50_us - 50.0).abs() < 0.1 && quiet.errors["t2o"].p50 < 1e-9);
    assert!((quiet.achieved_rate - 100.0).abs() < 1e-6);
    let busy = run.kept(Busy).unwrap();
    assert_eq!((busy.slices, busy.samples), (4, 40));
    assert!((busy.stages["t2o"].mean_us - 55.0).abs() < 0.1 && busy.errors["t2o"].mean > 0.01);
}

#[test]
fn too_few_slices_have_no_figures_and_a_level_is_kept_once() {
    use Level::{LeftOut, Quiet};
    let (few, _) = run(&[Quiet, Quiet, LeftOut], &[50; 3]);
    assert!(few.kept.is_empty());
    let (all, _) = run(&[Quiet; 4], &[50, 51, 49, 50]);
    assert_eq!(all.kept.len(), 1);
    assert_eq!(all.kept(Level::Busy), all.kept(Quiet));
}

#[test]
fn the_same_run_gives_the_same_errors_again() {
    let (run, records) = run(&[Level::Quiet; 9], &[40, 45, 70, 44, 41, 60, 39, 40, 52]);
    let divided = slices::divide(&run.slices, &records);
    assert_eq!(of_run(&run, &divided).unwrap(), run.kept);
}

#[test]
fn an_error_is_that_of_the_mean_of_independent_slices() {
    let mut generator = ChaCha8Rng::seed_from_u64(3);
    let times: Vec<u64> = (0..64).map(|_| generator.random_range(80..120)).collect();
    let (run, _) = run(&[Level::Quiet; 64], &times);
    // A uniform spread of 40 around 100, in 64 slices.
    let expected = 40.0 / 12_f64.sqrt() / 8.0 / 100.0;
    let error = run.kept(Level::Quiet).unwrap().errors["t2o"].mean;
    assert!((0.6..1.5).contains(&(error / expected)), "{error} instead of {expected}");
}
