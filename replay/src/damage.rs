//! What is missing in a recording.

use recorder::format::RecordedJournal;
use recorder::read::{FrameError, Recording, is_removed, scan};

use crate::error::ReplayError;

/// What is damaged or missing of these journals, in words; empty when they are whole.
///
/// # Errors
/// [`ReplayError::NotWhole`] when the disk does not give the bytes.
pub fn damage(recording: &Recording, journals: &[&RecordedJournal]) -> Result<Vec<String>, ReplayError> {
    let mut found = Vec::new();
    for segment in recording.segments() {
        let number = segment.head.number.get();
        let seen = match scan(segment) {
            Ok(seen) => seen,
            Err(error) if is_removed(&error) => {
                found.push(format!("segment {number}: {error}"));
                continue;
            }
            Err(source) => return Err(FrameError::Disk { segment: number, source }.into()),
        };
        found.extend(seen.damage.iter().map(|damage| {
            format!(
                "segment {}, offset {}: {} ({} bytes, {} blocks from block {} on)",
                damage.segment, damage.offset, damage.what, damage.bytes, damage.blocks, damage.first_block
            )
        }));
    }
    found.extend(recording.lacks_end().map(|end| end.to_string()));
    for journal in journals {
        let mut chunks = recording.chunks(journal, 0);
        let mut bytes = Vec::new();
        let mut is_first = true;
        loop {
            match chunks.next(&mut bytes) {
                Ok(Some(position)) if is_first && position > journal.first_position => {
                    let (name, from) = (&journal.name, journal.first_position);
                    found.push(format!(
                        "{name}: positions {from} to {position} are missing: removed, or lost"
                    ));
                }
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(error @ FrameError::Missing { .. }) => found.push(error.to_string()),
                Err(error) => return Err(error.into()),
            }
            is_first = false;
        }
    }
    Ok(found)
}
