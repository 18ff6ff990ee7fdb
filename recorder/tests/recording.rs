//! What was in the rings is in the files, whatever happened to whoever wrote them.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use recorder::gather::Gathered;
use recorder::read::Recording;
use recorder::write::{Policy, Recorder, WriteError};
use support::{Held, clock, description, frames, gatherer, journal, policy, recorder, write};

#[test]
fn frames_come_back_byte_for_byte_from_every_segment() {
    for compress in [None, Some(1)] {
        let folder = tempfile::tempdir().unwrap();
        let (quotes, orders) = (journal(1, "quotes", 1 << 16), journal(2, "orders", 1 << 16));
        let both = [&quotes, &orders];
        let mut gatherer = gatherer(&both);
        let policy = Policy { segment_bytes: 1 << 17, compress };
        let mut recorder = Recorder::open(folder.path(), &description(&both), policy, clock().now()).unwrap();
        let mut writers = both.map(|journal| journal.writer(0, clock()).unwrap());
        let mut held: [Vec<Held>; 2] = Default::default();
        for number in 0..5_000_u64 {
            let which = usize::from(number % 3 == 0);
            let payload = vec![number as u8; number as usize % 200];
            held[which].push(write(&mut writers[which], number as u16, (number % 8) as u32, &payload));
            if number % 40 == 0 {
                gatherer.cut(&mut recorder, clock().now(), |_, _| ()).unwrap();
                assert_eq!(orders.durable(), Some(orders.head()));
            }
        }
        gatherer.cut(&mut recorder, clock().now(), |_, _| ()).unwrap();
        let still_written = Recording::open(folder.path()).unwrap();
        assert_eq!(frames(&still_written, "quotes"), (held[0].clone(), Vec::new()));
        drop(recorder);
        let recording = Recording::open(folder.path()).unwrap();
        assert!(recording.segments().len() > 4);
        let compressed =
            recording.segments().iter().filter(|segment| segment.path.extension().unwrap() == "zst");
        assert_eq!(compressed.count() > 4, compress.is_some());
        for (name, held) in ["quotes", "orders"].into_iter().zip(&held) {
            assert_eq!(frames(&recording, name), (held.clone(), Vec::new()));
        }
        let others: Vec<_> =
            std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert!(others.iter().all(|name| !name.to_string_lossy().ends_with(".tmp")), "{others:?}");
    }
}

#[test]
fn a_recorder_that_is_killed_continues_where_its_last_cut_ended() {
    let folder = tempfile::tempdir().unwrap();
    let journal = journal(1, "orders", 1 << 16);
    let mut writer = journal.writer(0, clock()).unwrap();
    let mut held = Vec::new();
    for round in 0..20_u64 {
        let mut gatherer = gatherer(&[&journal]);
        let mut recorder = recorder(folder.path(), &[&journal]);
        for number in 0..50_u64 {
            held.push(write(&mut writer, 1, 0, &(round * 100 + number).to_le_bytes()));
        }
        gatherer.cut(&mut recorder, clock().now(), |_, _| ()).unwrap();
        // Written, read, and never cut.
        held.push(write(&mut writer, 2, 0, b"late"));
        if round % 2 == 0 {
            let _begun = recorder.begin_cut(0).is_ok();
        }
    }
    let mut gatherer = gatherer(&[&journal]);
    let mut last = recorder(folder.path(), &[&journal]);
    gatherer.cut(&mut last, clock().now(), |_, _| ()).unwrap();
    drop(last);
    assert_eq!(frames(&Recording::open(folder.path()).unwrap(), "orders"), (held, Vec::new()));
}

#[test]
fn two_recorders_do_not_share_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let journal = journal(1, "orders", 1 << 16);
    let first = recorder(folder.path(), &[&journal]);
    let second = Recorder::open(folder.path(), &description(&[&journal]), policy(), 0);
    assert!(matches!(second, Err(WriteError::Taken(_))));
    drop(first);
    drop(recorder(folder.path(), &[&journal]));
}

#[test]
fn without_news_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let journal = journal(1, "orders", 1 << 16);
    let mut gatherer = gatherer(&[&journal]);
    let mut recorder = recorder(folder.path(), &[&journal]);
    let syncs = recorder.syncs();
    let time = clock().now();
    assert_eq!(gatherer.cut(&mut recorder, time, |_, _| ()).unwrap(), Gathered::default());
    journal.writer(0, clock()).unwrap().write(1, 0, b"later than the cut").unwrap();
    assert_eq!(gatherer.cut(&mut recorder, time, |_, _| ()).unwrap(), Gathered::default());
    assert_eq!(recorder.syncs(), syncs);
    assert_eq!(gatherer.cut(&mut recorder, clock().now(), |_, _| ()).unwrap().frames, 1);
}

/// An answer is written after what it answers was read, by another thread. No cut has one without the other, however
/// the recorder is interrupted.
#[test]
fn no_cut_has_an_effect_without_its_cause() {
    let folder = tempfile::tempdir().unwrap();
    let (causes, effects) = (journal(1, "causes", 1 << 20), journal(2, "effects", 1 << 20));
    // Effects are looked at first.
    let both = [&effects, &causes];
    let mut gatherer = gatherer(&both);
    let mut recorder = recorder(folder.path(), &both);
    causes.admit_gated(9).unwrap();
    let mut cuts = Vec::new();
    std::thread::scope(|scope| {
        let answering = scope.spawn(|| {
            let mut reader = causes.gated(9).unwrap();
            let mut writer = effects.writer(1, clock()).unwrap();
            for _ in 0..40_000 {
                let payload = loop {
                    if let Some(frame) = reader.read().unwrap() {
                        break frame.payload.to_vec();
                    }
                    std::thread::yield_now();
                };
                while writer.write(1, 0, &payload).is_err() {
                    std::thread::yield_now();
                }
            }
        });
        scope.spawn(|| {
            let mut writer = causes.writer(0, clock()).unwrap();
            for number in 0..40_000_u64 {
                while writer.write(1, 0, &number.to_le_bytes()).is_err() {
                    std::thread::yield_now();
                }
            }
        });
        while !answering.is_finished() || gatherer.has_news() {
            gatherer.cut(&mut recorder, clock().now(), |_, _| ()).unwrap();
            cuts.push([causes.durable().unwrap(), effects.durable().unwrap()]);
        }
    });
    // The rings hold less than was written, and nobody passes a frame that is not recorded.
    assert!(cuts.len() >= 2, "{} cuts", cuts.len());
    for [causes, effects] in cuts {
        assert!(
            effects <= causes,
            "frames have one size, so positions count them: {effects} answers to {causes}"
        );
    }
}

#[test]
fn what_was_passed_over_is_a_gap_and_what_follows_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let (quotes, reports) = (journal(1, "quotes", 1 << 16), journal(2, "reports", 1 << 16));
    let both = [&quotes, &reports];
    let mut gatherer = gatherer(&both);
    let mut recorder = recorder(folder.path(), &both);
    let mut writers = both.map(|journal| journal.writer(0, clock()).unwrap());
    let mut held: [Vec<Held>; 2] = Default::default();
    let (mut from, mut to) = (0, 0);
    for round in 0..3_u64 {
        // Many times what the ring holds: the writer never waits.
        for number in 0..2_000_u64 {
            let frame = write(&mut writers[0], 1, 0, &[round as u8; 100]);
            match round {
                1 => to = frame.0 + 192,
                _ => held[0].push(frame),
            }
            if round == 1 && number == 0 {
                from = behind(&held[0]);
            }
            if number % 50 == 0 {
                if number % 500 == 0 {
                    held[1].push(write(&mut writers[1], 2, 0, &number.to_le_bytes()));
                }
                match round {
                    1 => _ = gatherer.pass_over(clock().now(), &[true, false]).unwrap(),
                    _ => _ = gatherer.cut(&mut recorder, clock().now(), |_, _| ()).unwrap(),
                }
            }
        }
        if round == 1 {
            assert!(gatherer.pass_over(clock().now(), &[true, false]).unwrap() > 0);
            assert!(reports.durable() < Some(reports.head()), "what is to be on disk is not passed over");
        } else {
            gatherer.cut(&mut recorder, clock().now(), |_, _| ()).unwrap();
        }
    }
    drop(recorder);
    let recording = Recording::open(folder.path()).unwrap();
    assert_eq!(frames(&recording, "quotes"), (held[0].clone(), vec![(from, to)]));
    assert_eq!(frames(&recording, "reports"), (held[1].clone(), Vec::new()));
}

/// Position behind the last frame.
fn behind(held: &[Held]) -> u64 {
    held.last().map_or(0, |frame| frame.0 + 192)
}

#[test]
fn an_earlier_time_gives_the_last_cut_before_it_in_whatever_segment() {
    let folder = tempfile::tempdir().unwrap();
    let journal = journal(1, "orders", 1 << 16);
    let mut gatherer = gatherer(&[&journal]);
    let policy = Policy { segment_bytes: 1 << 14, compress: None };
    let mut recorder =
        Recorder::open(folder.path(), &description(&[&journal]), policy, clock().now()).unwrap();
    let mut writer = journal.writer(0, clock()).unwrap();
    let before = clock().now();
    let mut cuts = Vec::new();
    for number in 0..300_u64 {
        write(&mut writer, 1, 0, &[number as u8; 200]);
        let time = clock().now();
        gatherer.cut(&mut recorder, time, |_, _| ()).unwrap();
        cuts.push((time, journal.head()));
    }
    drop(recorder);
    assert!(Recording::open(folder.path()).unwrap().segments().len() > 3);
    for &(time, head) in &cuts {
        for until in [time, time + 1] {
            let recording = Recording::open_until(folder.path(), until).unwrap();
            assert_eq!(recording.end().time, time);
            assert_eq!(recording.ends().unwrap(), [Some(head)]);
        }
    }
    let early = Recording::open_until(folder.path(), before);
    assert!(matches!(early, Err(recorder::read::OpenError::TooEarly(_))), "{early:?}");
}
