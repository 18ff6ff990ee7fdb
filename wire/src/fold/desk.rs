//! A snapshot of all accounts as bytes, to the parts that a journal carries and back.

use crate::DeskPart;

/// The parts of a snapshot, in their order; `drops` is the position in the drop copy before which it contains everything.
pub fn desk_parts(drops: u64, bytes: &[u8]) -> impl Iterator<Item = DeskPart> {
    let parts = bytes.len().div_ceil(DeskPart::MOST).max(1) as u32;
    (0..parts).map(move |part| {
        let rest = bytes.get(part as usize * DeskPart::MOST..).unwrap_or_default();
        let own = &rest[..rest.len().min(DeskPart::MOST)];
        let mut padded = [0; DeskPart::MOST];
        padded[..own.len()].copy_from_slice(own);
        DeskPart { drops, part, parts, length: own.len() as u32, reserved: 0, bytes: padded }
    })
}

/// Puts the parts of a snapshot together again.
///
/// A first part without the last one of the snapshot before starts anew: the ledger was killed in between.
#[derive(Clone, Debug, Default)]
pub struct DeskReader {
    bytes: Vec<u8>,
    /// Of the snapshot that is being read.
    drops: u64,
    parts: u32,
    /// The part that comes next; zero: none is being read.
    next: u32,
}

impl DeskReader {
    /// Before the first part.
    pub fn new() -> DeskReader {
        DeskReader::default()
    }

    /// Takes the next part. `Some` when a snapshot is whole with it: its bytes. Parts before the first one of a snapshot are
    /// skipped; a part that does not follow the one before gives the snapshot up.
    pub fn take(&mut self, part: &DeskPart) -> Option<Vec<u8>> {
        if part.part == 0 {
            self.bytes.clear();
            (self.drops, self.parts, self.next) = (part.drops, part.parts, 0);
        } else if self.next == 0 || (self.drops, self.parts, self.next) != (part.drops, part.parts, part.part)
        {
            self.reset();
            return None;
        }
        let is_last = self.next.checked_add(1) == Some(self.parts);
        let own = part.bytes.get(..part.length as usize);
        // Only the last part is shorter.
        let Some(own) = own.filter(|own| is_last || own.len() == DeskPart::MOST) else {
            self.reset();
            return None;
        };
        self.bytes.extend_from_slice(own);
        self.next += 1;
        if !is_last {
            return None;
        }
        self.next = 0;
        Some(std::mem::take(&mut self.bytes))
    }

    /// Parts were lost: the snapshot that was being read is given up.
    pub fn reset(&mut self) {
        self.bytes.clear();
        self.next = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(length: usize) -> Vec<u8> {
        (0..length).map(|index| (index % 251) as u8).collect()
    }

    fn read(reader: &mut DeskReader, parts: &[DeskPart]) -> Option<Vec<u8>> {
        parts.iter().fold(None, |_, part| reader.take(part))
    }

    #[test]
    fn what_is_taken_apart_is_the_same_when_put_together() {
        let mut reader = DeskReader::new();
        for length in [0, 1, DeskPart::MOST - 1, DeskPart::MOST, DeskPart::MOST + 1, 3 * DeskPart::MOST + 7] {
            let parts: Vec<DeskPart> = desk_parts(640, &bytes(length)).collect();
            assert_eq!(parts.len(), length.div_ceil(DeskPart::MOST).max(1));
            let (last, first) = parts.split_last().unwrap();
            assert_eq!(read(&mut reader, first), None, "not before the last part");
            assert_eq!(reader.take(last), Some(bytes(length)));
            assert_eq!(reader.take(last).is_some(), parts.len() == 1, "once");
        }
    }

    #[test]
    fn a_snapshot_that_was_not_finished_is_dropped_for_the_next_one() {
        let old: Vec<DeskPart> = desk_parts(640, &bytes(9_000)).collect();
        let new: Vec<DeskPart> = desk_parts(704, &bytes(8_500)).collect();
        let mut reader = DeskReader::new();
        assert_eq!(read(&mut reader, &old[..2]), None);
        assert_eq!(read(&mut reader, &new), Some(bytes(8_500)));
        // A successor of a killed ledger has the same position.
        assert_eq!(read(&mut reader, &old[..2]), None);
        assert_eq!(read(&mut reader, &old), Some(bytes(9_000)));
    }

    #[test]
    fn lost_foreign_and_damaged_parts_give_a_snapshot_up() {
        let parts: Vec<DeskPart> = desk_parts(640, &bytes(9_000)).collect();
        let mut reader = DeskReader::new();
        assert_eq!(read(&mut reader, &parts[1..]), None, "no first part");
        assert_eq!(read(&mut reader, &[parts[0], parts[2]]), None, "one is lost");
        assert_eq!(read(&mut reader, &[parts[0], DeskPart { drops: 1, ..parts[1] }, parts[2]]), None);
        assert_eq!(read(&mut reader, &[parts[0], DeskPart { length: 9, ..parts[1] }, parts[2]]), None);
        let long = DeskPart { length: DeskPart::MOST as u32 + 1, ..parts[2] };
        assert_eq!(read(&mut reader, &[parts[0], parts[1], long]), None);
        assert_eq!(reader.take(&DeskPart { parts: 0, ..parts[0] }), None);
        assert_eq!(read(&mut reader, &parts[..2]), None);
        reader.reset();
        assert_eq!(reader.take(&parts[2]), None, "given up");
        assert_eq!(read(&mut reader, &parts), Some(bytes(9_000)));
    }
}
