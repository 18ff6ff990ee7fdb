//! Files that are no segments, or not of this version, and recordings that are mixed up: each has an error or a finding.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use std::convert::Infallible;
use std::fs;
use std::path::Path;

use recorder::format::{CursorEntry, Description, FileHead, Kind, What};
use recorder::read::{Blocks, Counts, FindingKind, Found, OpenError, Recording};
use recorder::recover::{latest, older};
use recorder::write::{Batch, Recorder};
use support::{clock, description, gatherer, journal, policy, write};
use wire::{
    AccountId, InstrumentId, Message, NewOrder, OrderId, OrderType, Price, Quantity, Side, TimeInForce,
};
use zerocopy::IntoBytes;

/// A recording of three segments.
fn record(folder: &Path, change: impl FnOnce(&mut Description)) {
    let journal = journal(1, "orders", 1 << 16);
    let mut gatherer = gatherer(&[&journal]);
    let mut described = description(&[&journal]);
    change(&mut described);
    let mut recorder = Recorder::open(folder, &described, policy(), clock().now()).unwrap();
    let mut writer = journal.writer(0, clock()).unwrap();
    for number in 0..30_u64 {
        write(&mut writer, 1, 0, &number.to_le_bytes());
        gatherer.cut(&mut recorder, clock().now(), |_, _| ()).unwrap();
        if number % 10 == 9 && number < 29 {
            recorder.begin_segment(clock().now()).unwrap();
        }
    }
}

fn faults(folder: &Path) -> Vec<(FindingKind, Option<u32>, String)> {
    let verified = Recording::open(folder).unwrap().verify().unwrap();
    let faults = verified.findings.into_iter().filter(|finding| finding.kind.is_fault());
    faults.map(|finding| (finding.kind, finding.segment, finding.found)).collect()
}

#[test]
fn a_whole_recording_has_no_findings() {
    let folder = tempfile::tempdir().unwrap();
    record(folder.path(), |_| ());
    let verified = Recording::open(folder.path()).unwrap().verify().unwrap();
    assert_eq!(verified.findings, []);
    assert_eq!((verified.segments.len(), verified.journals[0].frames), (3, 30));
    assert!(verified.segments.iter().all(|segment| segment.closed));
}

/// Of a recording that was closed every byte counts: also those that no checksum covers, behind the payload of a block.
#[test]
fn a_flipped_bit_is_found_at_every_byte() {
    let folder = tempfile::tempdir().unwrap();
    record(folder.path(), |_| ());
    let mut unseen = Vec::new();
    for number in [1, 3] {
        let path = folder.path().join(format!("{number:08}.seg"));
        let whole = fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << (at % 8);
            fs::write(&path, &bytes).unwrap();
            let verified = Recording::open(folder.path()).map(|recording| recording.verify().unwrap());
            if verified.is_ok_and(|verified| verified.is_clean()) {
                unseen.push((number, at));
            }
        }
        fs::write(&path, &whole).unwrap();
    }
    assert_eq!(faults(folder.path()), []);
    assert_eq!(unseen, []);
}

#[test]
fn an_empty_folder_and_none_at_all_are_said_to_be() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(Recording::open(folder.path()), Err(OpenError::Empty)));
    assert!(matches!(Recording::open(&folder.path().join("no")), Err(OpenError::Folder(_))));
    fs::write(folder.path().join("notes.txt"), "no segment").unwrap();
    assert!(matches!(Recording::open(folder.path()), Err(OpenError::Empty)));
    fs::write(folder.path().join("00000001.seg"), "neither").unwrap();
    let error = Recording::open(folder.path()).unwrap_err().to_string();
    assert!(error.contains("00000001.seg") && error.contains("shorter than a head"), "{error}");
    fs::write(folder.path().join("00000001.seg"), [7; 4096]).unwrap();
    let error = Recording::open(folder.path()).unwrap_err().to_string();
    assert!(error.contains("this is no segment"), "{error}");
    fs::write(folder.path().join("00000001.seg.zst"), [7; 4096]).unwrap();
    fs::remove_file(folder.path().join("00000001.seg")).unwrap();
    let error = Recording::open(folder.path()).unwrap_err().to_string();
    assert!(error.contains("no seek table"), "{error}");
}

#[test]
fn another_version_of_the_format_is_named() {
    let folder = tempfile::tempdir().unwrap();
    record(folder.path(), |_| ());
    for number in [2, 1, 3] {
        let path = folder.path().join(format!("{number:08}.seg"));
        let mut bytes = fs::read(&path).unwrap();
        bytes[8..12].copy_from_slice(&9_u32.to_le_bytes());
        fs::write(&path, bytes).unwrap();
        if number == 2 {
            let faults = faults(folder.path());
            assert_eq!(faults.len(), 2, "{faults:?}");
            assert_eq!(faults[0].0, FindingKind::Unreadable);
            assert!(faults[0].2.contains("version 9, this build reads version 1"), "{faults:?}");
            assert_eq!((faults[1].0, faults[1].1), (FindingKind::Missing, Some(2)));
        }
    }
    let error = Recording::open(folder.path()).unwrap_err().to_string();
    assert!(error.contains("version 9, this build reads version 1"), "{error}");
}

#[test]
fn frames_of_another_journal_format_are_not_misread_and_newer_messages_are_named() {
    let folder = tempfile::tempdir().unwrap();
    record(folder.path(), |description| description.journal_format += 1);
    let error = Recording::open(folder.path()).unwrap_err();
    assert!(matches!(error, OpenError::JournalFormat { .. }), "{error}");
    assert!(error.to_string().contains("journal format 5, this build reads 4"), "{error}");
    let folder = tempfile::tempdir().unwrap();
    record(folder.path(), |description| description.messages = 900);
    let verified = Recording::open(folder.path()).unwrap().verify().unwrap();
    assert!(verified.is_clean());
    assert_eq!(verified.findings.len(), 1);
    assert!(verified.findings[0].found.contains("version 900"), "{:?}", verified.findings);
}

#[test]
fn a_recovery_says_that_a_recording_has_the_messages_of_an_earlier_version() {
    let said = |messages: u32| {
        let folder = tempfile::tempdir().unwrap();
        record(folder.path(), |description| description.messages = messages);
        older(&[Recording::open(folder.path()).unwrap()])
    };
    let known = u32::from(wire::schema::VERSION);
    assert_eq!(said(known), Vec::<String>::new());
    let said = said(known - 1);
    assert!(said.len() == 1 && said[0].contains(&format!("version {}", known - 1)), "{said:?}");
}

/// The messages of a recording are orders with an account, which came with version 2, and it says that it has these messages.
fn orders(folder: &Path, messages: u32, account: u32) -> Recording {
    let journal = journal(1, "orders", 1 << 16);
    let mut gatherer = gatherer(&[&journal]);
    let described = Description { messages, ..description(&[&journal]) };
    let mut recorder = Recorder::open(folder, &described, policy(), clock().now()).unwrap();
    let mut writer = journal.writer(0, clock()).unwrap();
    for number in 0..20 {
        let order = NewOrder::plain(
            OrderId(number),
            InstrumentId(1),
            Side::Buy,
            OrderType::Limit,
            TimeInForce::Day,
            Price(1),
            Quantity(1),
        );
        let account = AccountId(if number < 10 { 0 } else { account });
        write(&mut writer, NewOrder::ID, 0, NewOrder { account, ..order }.bytes());
        let state = |batch: &mut Batch, _: &[Counts]| {
            let row = CursorEntry {
                journal: 1.into(),
                seat: 9.into(),
                what: (What::Reader as u16).into(),
                reserved: 0.into(),
                first: 0.into(),
                second: 0.into(),
            };
            let fill = |bytes: &mut Vec<u8>| {
                bytes.extend_from_slice(row.as_bytes());
                Ok::<_, Infallible>((0, 0))
            };
            let Ok(_) = batch.block(Kind::Cursors, 0, fill);
        };
        gatherer.cut(&mut recorder, clock().now(), state).unwrap();
    }
    drop(recorder);
    Recording::open(folder).unwrap()
}

#[test]
fn a_recording_that_says_an_older_version_than_its_messages_have_is_refused() {
    for (messages, account, is_good) in
        [(1, 0, true), (1, 7, false), (2, 7, true), (u32::from(wire::schema::VERSION), 7, true)]
    {
        let folder = tempfile::tempdir().unwrap();
        let recording = orders(folder.path(), messages, account);
        let mut frames = recording.frames(&recording.description().journals[0], 0);
        let mut count = 0;
        let error = loop {
            match frames.next() {
                Ok(Some(_)) => count += 1,
                Ok(None) => break None,
                Err(error) => break Some(error.to_string()),
            }
        };
        let faults = faults(folder.path());
        if is_good {
            assert_eq!((count, error, faults), (20, None, Vec::new()), "version {messages}");
            continue;
        }
        let error = error.unwrap();
        for words in ["NewOrder.account", "came with version 2", "its messages have version 1"] {
            assert!(error.contains(words), "{error}");
        }
        assert_eq!(count, 10, "up to the first such message");
        let kinds: Vec<FindingKind> = faults.iter().map(|(kind, ..)| *kind).collect();
        assert_eq!(kinds, [FindingKind::Relabelled], "{faults:?}");
    }
}

/// The version is a part of a block: another one in its place is damage like any other.
#[test]
fn another_version_that_is_written_over_the_label_is_damage() {
    let folder = tempfile::tempdir().unwrap();
    drop(orders(folder.path(), u32::from(wire::schema::VERSION), 7));
    let path = folder.path().join("00000001.seg");
    let mut bytes = fs::read(&path).unwrap();
    let label = format!("\"messages\":{}", wire::schema::VERSION);
    let place = bytes.windows(label.len()).position(|part| part == label.as_bytes()).unwrap();
    bytes[place + label.len() - 1] -= 1;
    fs::write(&path, bytes).unwrap();
    let error = Recording::open(folder.path()).unwrap_err();
    assert!(matches!(error, OpenError::Description { .. }), "{error}");
}

/// A recovery does not go back to an earlier run because the description of the latest is damaged. One that has acknowledged nothing
/// does not count.
#[test]
fn a_run_with_a_damaged_description_is_still_the_latest_where_something_of_it_was_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let [first, second] = ["20260101T000000.000Z", "20260102T000000.000Z"].map(|run| folder.path().join(run));
    for run in [&first, &second] {
        fs::create_dir(run).unwrap();
        drop(orders(run, u32::from(wire::schema::VERSION), 7));
    }
    assert_eq!(latest(folder.path()), second);
    let path = second.join("00000001.seg");
    let mut bytes = fs::read(&path).unwrap();
    let mut blocks = Blocks::open(&path).unwrap();
    let Found::Block(description) = blocks.find().unwrap() else { panic!("no description") };
    bytes[200] ^= 1;
    fs::write(&path, &bytes).unwrap();
    assert_eq!(latest(folder.path()), second);
    assert!(matches!(Recording::open(&second), Err(OpenError::Description { .. })));
    bytes[64 + description..].fill(0);
    fs::write(&path, &bytes).unwrap();
    assert_eq!(latest(folder.path()), first, "nothing of the second was acknowledged");
}

#[test]
fn segments_of_two_runs_in_one_folder_are_told_apart() {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    record(first.path(), |_| ());
    record(second.path(), |_| ());
    fs::copy(second.path().join("00000003.seg"), first.path().join("00000004.seg")).unwrap();
    let error = Recording::open(first.path()).unwrap_err();
    assert!(matches!(&error, OpenError::Foreign(path) if path.ends_with("00000004.seg")), "{error}");
    assert!(error.to_string().contains("another recording"), "{error}");
}

#[test]
fn a_segment_cut_short_in_the_middle_of_a_recording_is_damage_and_the_rest_is_read() {
    let folder = tempfile::tempdir().unwrap();
    record(folder.path(), |_| ());
    let path = folder.path().join("00000002.seg");
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let faults = faults(folder.path());
    let damage = faults.iter().find(|(kind, segment, _)| (*kind, *segment) == (FindingKind::Damage, Some(2)));
    assert!(damage.is_some_and(|(_, _, found)| found.contains("missing at its end")), "{faults:?}");
    let recording = Recording::open(folder.path()).unwrap();
    let (found, missing) = support::frames(&recording, "orders");
    assert!(found.len() > 20 && found.len() < 30 && missing.len() == 1, "{} {missing:?}", found.len());
}

#[test]
fn a_damaged_description_is_taken_from_the_next_segment() {
    let folder = tempfile::tempdir().unwrap();
    record(folder.path(), |_| ());
    let path = folder.path().join("00000001.seg");
    let mut bytes = fs::read(&path).unwrap();
    bytes[200] ^= 1;
    fs::write(&path, bytes).unwrap();
    let faults = faults(folder.path());
    assert_eq!(faults.len(), 1, "{faults:?}");
    assert_eq!(support::frames(&Recording::open(folder.path()).unwrap(), "orders").0.len(), 30);
}

#[test]
fn a_chain_that_was_cut_between_segments_is_found() {
    let folder = tempfile::tempdir().unwrap();
    record(folder.path(), |_| ());
    let path = folder.path().join("00000002.seg");
    let mut bytes = fs::read(&path).unwrap();
    let head = FileHead::read(&bytes).unwrap();
    let other = FileHead::new(2, head.recording.get(), head.first_block.get(), 77, head.created.get());
    bytes[..64].copy_from_slice(other.as_bytes());
    fs::write(&path, bytes).unwrap();
    assert!(
        faults(folder.path())
            .iter()
            .any(|(_, segment, found)| *segment == Some(2) && found.contains("chain"))
    );
}
