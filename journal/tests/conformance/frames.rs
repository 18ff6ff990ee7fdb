//! Frames are read as they were written, and in that order.

use journal::{Gap, Journal, JournalShape, Merge, ReadError, Reader, Topics, WriteError, layout};

use super::bed::{Bed, LAPS, scaled};
use super::support;
use super::support::{clock, payload};

pub(super) fn every_field_comes_back(bed: &Bed) {
    let reading = bed.opened();
    let journal = reading.as_ref().unwrap_or(&bed.journal);
    let mut gated = Reader::Gated(journal.gated(3).unwrap());
    let mut loose = Reader::Loose(journal.loose(4).unwrap());
    let mut writer = bed.journal.writer(0, clock()).unwrap();
    for number in 0..scaled(2_000) as u16 {
        let body = payload(u64::from(number), usize::from(number % 200));
        let written = writer.write(number, u32::from(number % 16), &body).unwrap();
        for reader in [&mut gated, &mut loose] {
            assert!(reader.has_news());
            assert_eq!(reader.peek_time().unwrap(), Some(written.time));
            let frame = reader.read().unwrap().expect("committed");
            assert_eq!((frame.position, frame.time), (written.position, written.time));
            assert_eq!((frame.message_id, frame.topic), (number, u32::from(number % 16)));
            assert_eq!((frame.flags, frame.epoch), (0, 1));
            assert_eq!(frame.payload, body);
            assert_eq!(reader.read(), Ok(None));
            assert!(!reader.has_news());
        }
    }
}

pub(super) fn sizes_come_back(bed: &Bed) {
    let most = layout::max_payload(bed.capacity()) as usize;
    let mut gated = bed.journal.gated(0).unwrap();
    let mut loose = bed.journal.loose(1).unwrap();
    let mut writer = bed.journal.writer(0, clock()).unwrap();
    let (small, between, large) = if cfg!(miri) { (17, 4, 33) } else { (1, 50, 1) };
    let sizes = (0..=100).step_by(small).chain((101..most).step_by(most / between));
    let sizes = sizes.chain((most - 70..=most).rev().step_by(large));
    for size in sizes {
        let body = payload(size as u64, size);
        writer.write(1, 0, &body).unwrap();
        assert_eq!(gated.read().unwrap().unwrap().payload, body);
        assert_eq!(loose.read().unwrap().unwrap().payload, body);
        gated.publish();
    }
    let too_large = vec![0; most + 1];
    let refused = WriteError::TooLarge { size: most + 1, max: most as u64 };
    assert_eq!(writer.write(1, 0, &too_large), Err(refused));
}

pub(super) fn full_hands_back(bed: &Bed) {
    let mut reader = bed.journal.gated(5).unwrap();
    let mut writer = bed.journal.writer(0, clock()).unwrap();
    let mut written = 0_u16;
    while let Ok(done) = writer.write(written, 0, &[7; 96]) {
        assert_eq!(done.position, bed.journal.first_position() + u64::from(written) * 128);
        written += 1;
    }
    // A ring except for one line, which the successor's commit word needs.
    assert_eq!(u64::from(written), bed.capacity() / 128 - 1);
    let full = WriteError::Full { needed: 128, free: 64 };
    assert_eq!(writer.write(written, 0, &[7; 96]), Err(full));
    assert!(writer.write(written, 0, &[7; 32]).is_ok(), "what fits is taken");
    assert_eq!(writer.write(0, 0, &[]), Err(WriteError::Full { needed: 64, free: 0 }));
    assert_eq!(bed.journal.stat().full, 3);
    for number in 0..=written {
        assert_eq!(reader.read().unwrap().unwrap().message_id, number);
    }
    assert_eq!(reader.read(), Ok(None));
    assert!(writer.write(written, 0, &[7; 96]).is_ok(), "room again");
}

pub(super) fn a_gap_is_exact(bed: &Bed) {
    let mut reader = bed.journal.loose(9).unwrap();
    let from = reader.position();
    let mut writer = bed.journal.writer(0, clock()).unwrap();
    bed.advance(&mut writer, LAPS * bed.capacity(), 192);
    let gap = Gap { from, resumed_at: writer.position() };
    assert_eq!(reader.read(), Err(ReadError::Lapped(gap)));
    assert_eq!((reader.position(), reader.lost_bytes()), (writer.position(), gap.bytes()));
    assert_eq!(reader.read(), Ok(None));
    writer.write(2, 0, b"next").unwrap();
    assert_eq!(reader.read().unwrap().unwrap().payload, b"next");
    reader.publish();
    let view = bed.journal.stat().readers[0];
    assert_eq!((view.seat, view.gated, view.position), (9, false, writer.position()));
    assert_eq!((view.lost, view.gaps, view.frames), (gap.bytes(), 1, 1));
}

pub(super) fn topics_are_filtered(bed: &Bed) {
    let mut gated = Reader::Gated(bed.journal.gated(0).unwrap());
    let mut loose = Reader::Loose(bed.journal.loose(1).unwrap());
    for reader in [&mut gated, &mut loose] {
        reader.set_topics(Topics::only([3, 15]));
    }
    let mut writer = bed.journal.writer(2, clock()).unwrap();
    for number in 0..scaled(5_000) as u16 {
        let topic = u32::from(number % 16);
        let written = writer.write(number, topic, &[1; 40]).unwrap();
        for reader in [&mut gated, &mut loose] {
            let wanted = matches!(topic, 3 | 15);
            assert_eq!(reader.peek_time().unwrap(), wanted.then_some(written.time));
            assert_eq!(reader.read().unwrap().map(|frame| frame.message_id), wanted.then_some(number));
            // Unwanted frames are finished too: the writer is never held up by them.
            assert_eq!(reader.read(), Ok(None));
        }
    }
}

pub(super) fn what_comes_next_is_shown_and_stays(bed: &Bed) {
    let mut gated = bed.journal.gated(0).unwrap();
    gated.set_topics(Topics::only([3, 15]));
    let loose = Reader::Loose(bed.journal.loose(1).unwrap());
    let mut writer = bed.journal.writer(2, clock()).unwrap();
    let mut across = 0;
    for round in 0..scaled(400) {
        gated.look_ahead(5, |frame| panic!("nothing is there: {frame:?}"));
        for number in 0..16_u16 {
            writer.write(number, u32::from(number), &payload(round, (round % 200) as usize)).unwrap();
        }
        let mut shown = Vec::new();
        gated.look_ahead(2, |frame| shown.push((frame.position, frame.message_id, frame.payload.to_vec())));
        loose.look_ahead(2, |frame| panic!("its frames may be overwritten: {frame:?}"));
        let mut read = Vec::new();
        while let Some(frame) = gated.read().unwrap() {
            read.push((frame.position, frame.message_id, frame.payload.to_vec()));
        }
        assert_eq!(read.iter().map(|(_, id, _)| *id).collect::<Vec<_>>(), [3, 15]);
        across += read.len() - shown.len();
        assert!(shown.iter().all(|frame| read.contains(frame)), "{shown:?}, {read:?}");
    }
    assert!((across as u64) < scaled(400) / 8, "only what lies across the end of the ring is left out");
}

pub(super) fn merge_is_total(bed: &Bed) {
    let other = Journal::in_memory(JournalShape { id: 8, ..support::shape("o", support::SMALL) }).unwrap();
    let mut writers = [bed.journal.writer(0, clock()).unwrap(), other.writer(0, clock()).unwrap()];
    let mut expected = Vec::new();
    for number in 0..100_u16 {
        let which = usize::from(number % 7 % 2);
        let written = writers[which].write(number, u32::from(number % 16), &[]).unwrap();
        expected.push((written.time, [7, 8][which], number));
    }
    expected.sort_unstable();
    let mut readers = vec![
        Reader::Loose(bed.journal.loose_from_start().unwrap()),
        Reader::Gated({
            other.admit_gated(3).unwrap();
            other.gated(3).unwrap()
        }),
    ];
    readers[0].set_topics(Topics::only(0..16));
    let mut merge = Merge::new(readers);
    let mut seen = Vec::new();
    while let Some((reader, frame)) = merge.next().unwrap() {
        seen.push((frame.time, [7, 8][reader], frame.message_id));
    }
    assert_eq!(seen, expected);
}
