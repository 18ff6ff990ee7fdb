use super::*;

fn slice(steal_percent: f64, others: f64) -> Slice {
    Slice {
        until_ns: 500_000_000,
        steal_percent,
        others_cpus: Some(others),
        others_seen: true,
        cpus_allowed: 2,
        ..Slice::default()
    }
}

#[test]
fn steal_and_other_processes_make_a_slice_busy_or_leave_it_out() {
    let level = |steal, others| slice(steal, others).host_level().0;
    assert_eq!(level(2.0, 0.2), Level::Quiet);
    assert_eq!(level(3.0, 0.0), Level::Busy);
    assert_eq!([level(0.0, 0.3), level(0.0, 1.9)], [Level::Busy; 2]);
    assert_eq!(level(21.0, 0.0), Level::LeftOut);
    assert_eq!(
        slice(23.0, 1.9).host_level(),
        (Level::LeftOut, vec!["steal".to_owned(), "others".to_owned()])
    );
    let unseen = Slice { others_seen: false, ..slice(0.0, 0.4) };
    assert_eq!(unseen.host_level().0, Level::Quiet, "the host's account is not that exact");
}

fn answer(due: u64, late: u64) -> Stamps {
    let published = due + late;
    Stamps {
        order_id: 1,
        due,
        published,
        received: published + 20_000,
        ordered: published + 30_000,
        taken: published + 40_000,
        durable: 0,
    }
}

#[test]
fn a_slice_is_late_by_what_is_usual_in_its_run() {
    let run = |lates: [u64; 4]| {
        let mut slices: Vec<Slice> = (0..4)
            .map(|at| Slice { from_ns: at * 1_000, until_ns: (at + 1) * 1_000, ..slice(0.0, 0.0) })
            .collect();
        let answers: Vec<Stamps> =
            (0..4).zip(lates).map(|(at, late)| answer(at * 1_000 + 1, late * 1_000)).collect();
        // Quotes that are late by a thousand slices belong to the slice that they were due in, here.
        let divided: Vec<Vec<&Stamps>> = answers.iter().map(|answer| vec![answer]).collect();
        judge(&mut slices, &divided);
        slices.iter().map(|slice| slice.level).collect::<Vec<_>>()
    };
    use Level::{LeftOut, Quiet};
    assert_eq!(run([50, 60, 9_000, 55]), [Quiet, Quiet, LeftOut, Quiet]);
    assert_eq!(run([9_000, 9_500, 9_000, 9_100]), [Quiet; 4], "the platform itself holds its generator up");
    assert_eq!(run([50, 60, 900, 55]), [Quiet; 4]);
}

#[test]
fn answers_belong_to_the_slice_in_which_their_quote_was_published() {
    let slices: Vec<Slice> = (0..3)
        .map(|at| Slice { from_ns: 100 + at * 100, until_ns: 200 + at * 100, ..Slice::default() })
        .collect();
    let records: Vec<Stamps> = [90, 199, 200, 399, 450].map(|at| answer(at, 0)).to_vec();
    let counts: Vec<usize> = divide(&slices, &records).iter().map(Vec::len).collect();
    assert_eq!(counts, [2, 1, 2], "before the first and behind the last too");
    let unpublished = [Stamps::open(250, 0, 900)];
    assert_eq!(divide(&slices, &unpublished)[1].len(), 1);
    assert!(divide(&[], &records).is_empty());
}

#[test]
fn a_run_is_cut_into_slices_that_follow_each_other_and_see_a_process_that_spins() {
    let Some(host) = pinning::Host::read("/".as_ref()).ok() else {
        eprintln!("skipped: the host's CPUs cannot be read");
        return;
    };
    let begun = std::time::Instant::now();
    let now = || begun.elapsed().as_nanos() as u64 + 1;
    let mut hog = std::process::Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
    let ours = BTreeSet::from([std::process::id()]);
    let mut slicer = Slicer::begin(now(), 200_000_000, ours, host.allowed);
    while slicer.slices.len() < 3 {
        std::thread::sleep(std::time::Duration::from_millis(20));
        slicer.look(now());
    }
    let end = now();
    let slices = slicer.end(end);
    hog.kill().unwrap();
    hog.wait().unwrap();
    assert_eq!(slices.len(), 3, "what is left belongs to the last");
    assert_eq!(slices[2].until_ns, end);
    assert!(slices.windows(2).all(|pair| pair[0].until_ns == pair[1].from_ns));
    let beside: f64 = slices.iter().filter_map(|slice| slice.others_cpus).sum();
    assert!(beside > 0.0, "{slices:?}");
}
