//! A host that goes down: what no sync has confirmed may be on disk, or not, or in parts.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use recorder::format::Kind;
use recorder::read::{Blocks, Found, Recording};

use crate::platform::{Chance, Platform};

/// A block of a segment, and the cut that it belongs to.
struct Seen {
    cut: u64,
    closes: bool,
    end: u64,
    /// Journal and position behind its last frame.
    frames: Option<(u16, u64)>,
}

/// Drops or garbles lines behind the last write of the recorder that returned, which is known by what it has said to be on
/// disk. Everybody is dead, and the journals are there still. How many bytes that concerned.
pub(crate) fn lose_what_was_not_synced(platform: &Platform, chance: &mut Chance) -> u64 {
    let runs = platform.runs();
    let folder = runs.last().expect("a recording");
    // A run that ended before its first segment was there has said nothing.
    let Ok(recording) = Recording::open(folder) else { return 0 };
    let kept = platform.kept_by_recorder();
    let said: BTreeMap<u16, u64> = (recording.description().journals.iter())
        .filter_map(|journal| Some((journal.number, *kept.get(&journal.name)?)))
        .collect();
    let mut lost = 0;
    for path in segments(folder).into_iter().rev() {
        let Ok(blocks) = blocks(&path) else { continue };
        // Everything up to the end of the last cut of which something was said to be on disk.
        let is_said = |seen: &Seen| {
            seen.frames.is_some_and(|(journal, end)| said.get(&journal).is_some_and(|said| end <= *said))
        };
        let cut = blocks.iter().filter(|seen| is_said(seen)).map(|seen| seen.cut).max();
        let safe = blocks.iter().filter(|seen| Some(seen.cut) <= cut).map(|seen| seen.end).max();
        if cut.is_some() {
            assert!(
                blocks.iter().any(|seen| Some(seen.cut) == cut && seen.closes),
                "{}: a cut that was confirmed is not whole",
                path.display()
            );
        }
        lost += garble(&path, safe.unwrap_or(64), chance);
        if cut.is_some() {
            break;
        }
    }
    lost
}

/// Segments that are still written, or were being closed.
fn segments(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = (fs::read_dir(folder).expect("a folder").flatten())
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "seg"))
        .collect();
    found.sort();
    found
}

fn blocks(path: &Path) -> std::io::Result<Vec<Seen>> {
    let mut blocks = Blocks::open(path)?;
    let mut seen = Vec::new();
    while let Found::Block(size) = blocks.find()? {
        let Some(block) = blocks.block() else { break };
        let head = block.head;
        let is_frames = head.kind() == Some(Kind::Frames);
        let end = head.position.get() + u64::from(head.length.get());
        seen.push(Seen {
            cut: head.cut.get(),
            closes: head.closes_cut(),
            end: blocks.offset() + size as u64,
            frames: is_frames.then_some((head.journal.get(), end)),
        });
        blocks.pass(size);
    }
    Ok(seen)
}

/// Some of the lines behind `safe` are lost.
fn garble(path: &Path, safe: u64, chance: &mut Chance) -> u64 {
    let file = File::options().read(true).write(true).open(path).expect("a segment");
    let end = file.metadata().expect("its size").len();
    let mut bytes = vec![0; end.saturating_sub(safe) as usize];
    file.read_exact_at(&mut bytes, safe).expect("its end");
    let written = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1).next_multiple_of(64);
    let lines = written / 64;
    match chance.below(4) {
        // The disk had it all.
        0 => return 0,
        // Nothing of it.
        1 => bytes[..written.min(end as usize)].fill(0),
        // Up to some line; the file ends there.
        2 => {
            let left = chance.below(lines as u64 + 1) * 64;
            file.set_len(safe + left).expect("a shorter file");
            return written as u64 - left;
        }
        // Any lines of it.
        _ => {
            for line in 0..lines {
                match chance.below(3) {
                    0 => bytes[line * 64..line * 64 + 64].fill(0),
                    1 => bytes[line * 64..line * 64 + 64].fill(0xee),
                    _ => {}
                }
            }
        }
    }
    file.write_all_at(&bytes[..written], safe).expect("its end");
    written as u64
}
