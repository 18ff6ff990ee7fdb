//! A cut through several journals: all that each holds up to one time, and nothing whose cause is missing.
//!
//! A frame is stamped before it is committed, and what it causes is stamped later. So the frames up to a time are whole
//! with their causes, if a look at all journals found none that were not seen before: then whatever caused one of them
//! was committed before that look. The time is taken before the first look, so that looking ends.

use std::convert::Infallible;

use journal::{GatedReader, LooseReader, ReadError};

use crate::format::Kind;
use crate::read::Counts;
use crate::write::{Batch, Recorder, WriteError};

/// Bytes of one block.
const BLOCK_BYTES: usize = 1 << 20;

/// Bytes that are written at once.
const WRITE_BYTES: usize = 1 << 22;

/// A journal as a recorder reads it.
#[derive(Debug)]
pub enum Input {
    /// Holds its writer up rather than miss anything.
    Gated(GatedReader),
    /// May be overtaken.
    Loose(LooseReader),
}

/// Why a cut could not be recorded.
#[derive(Debug, thiserror::Error)]
pub enum GatherError {
    /// A journal is damaged.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The disk.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// What a cut had.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gathered {
    /// Frames on disk.
    pub frames: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes that loose readers lost.
    pub lost: u64,
}

/// The journals of a recording.
#[derive(Debug)]
pub struct Gatherer {
    /// By number, from 1 on.
    inputs: Vec<Input>,
    /// By input: what its journal has held up to the end of the last cut.
    counts: Vec<Counts>,
    /// By input: what was passed over since the last cut, from where to where.
    passed: Vec<Option<(u64, u64)>>,
    classify: fn(u16, &[u8]) -> usize,
    /// As `counts`, and where the inputs stood, before the cut at hand.
    counts_before: Vec<Counts>,
    positions_before: Vec<u64>,
}

impl Gatherer {
    /// The inputs are the journals of the description, in its order. `counts` has what each has held before what is
    /// recorded next, `classify` gives the class of a message.
    pub fn new(inputs: Vec<Input>, counts: Vec<Counts>, classify: fn(u16, &[u8]) -> usize) -> Gatherer {
        let passed = vec![None; inputs.len()];
        let (counts_before, positions_before) = (counts.clone(), Vec::with_capacity(inputs.len()));
        Gatherer { inputs, counts, passed, classify, counts_before, positions_before }
    }

    /// True when there is something to record.
    pub fn has_news(&self) -> bool {
        self.passed.iter().any(Option::is_some)
            || self.inputs.iter().any(|input| match input {
                Input::Gated(reader) => reader.has_news(),
                Input::Loose(reader) => reader.has_news(),
            })
    }

    /// Records everything up to `time`, the present time. `last` may add blocks at the end, and is told what each journal
    /// has held by then; without frames it is not called. All of it is on disk when this returns, and the gated readers
    /// have said so.
    ///
    /// # Errors
    /// [`GatherError`]. After an error of the disk the readers stand where they stood after the last cut, and all can be
    /// tried again; what loose readers had read by then is a gap.
    pub fn cut(
        &mut self,
        recorder: &mut Recorder,
        time: u64,
        last: impl FnOnce(&mut Batch, &[Counts]),
    ) -> Result<Gathered, GatherError> {
        if !self.has_news() {
            return Ok(Gathered::default());
        }
        self.counts_before.clone_from(&self.counts);
        self.positions_before.clear();
        self.positions_before.extend(self.inputs.iter().map(Input::position));
        let done = self.record(recorder, time, last);
        match &done {
            Ok(_) => {
                self.passed.fill(None);
                self.inputs.iter_mut().for_each(Input::keep);
            }
            Err(_) => {
                recorder.abandon();
                self.counts.clone_from(&self.counts_before);
                self.inputs.iter_mut().for_each(Input::rewind);
                for index in 0..self.inputs.len() {
                    self.note_passed(index, self.positions_before[index]);
                }
            }
        }
        done
    }

    /// Passes over what the journals hold up to `time` without recording it, so that nobody waits for us: those of the gated
    /// inputs for which `may` (by input) is true. The next cut says in the recording what is missing. How many bytes that
    /// were.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn pass_over(&mut self, time: u64, may: &[bool]) -> Result<u64, ReadError> {
        let mut bytes = 0;
        for index in 0..self.inputs.len() {
            let Input::Gated(reader) = &mut self.inputs[index] else { continue };
            if may.get(index) != Some(&true) {
                continue;
            }
            let from = reader.position();
            while let Some(chunk) = reader.read_bytes_until(BLOCK_BYTES, time)? {
                self.counts[index].add(chunk.bytes, self.classify);
            }
            bytes += reader.position() - from;
            self.inputs[index].keep();
            self.note_passed(index, from);
        }
        Ok(bytes)
    }

    /// What lies between `from` and where the input stands now is not recorded.
    fn note_passed(&mut self, index: usize, from: u64) {
        let to = self.inputs[index].position();
        if to > from {
            let begun = self.passed[index].map_or(from, |(begun, _)| begun);
            self.passed[index] = Some((begun, to));
        }
    }

    fn record(
        &mut self,
        recorder: &mut Recorder,
        time: u64,
        last: impl FnOnce(&mut Batch, &[Counts]),
    ) -> Result<Gathered, GatherError> {
        let mut done = Gathered::default();
        let batch = recorder.begin_cut(time)?;
        for (index, passed) in self.passed.iter().enumerate() {
            if let Some((from, to)) = *passed {
                gap(batch, index as u16 + 1, from, to - from);
            }
        }
        let has_passed = !batch.is_empty();
        let mut news = true;
        while news {
            news = false;
            for (index, input) in self.inputs.iter_mut().enumerate() {
                let number = index as u16 + 1;
                let mut count = |bytes: &[u8]| self.counts[index].add(bytes, self.classify);
                while input.block(number, time, recorder.batch(), &mut done, &mut count)? {
                    news = true;
                    if recorder.batch().len() >= WRITE_BYTES {
                        recorder.write()?;
                    }
                }
            }
        }
        if done.frames == 0 && done.lost == 0 && !has_passed {
            // Everything new is newer than `time`.
            recorder.abandon_batch();
            return Ok(done);
        }
        last(recorder.batch(), &self.counts);
        recorder.close_cut()?;
        Ok(done)
    }

    /// Passes over what is on disk already: `ends` has the position behind it, by input. What is between that position and
    /// what a journal still holds is lost, and the next cut says so.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn pass_recorded(&mut self, ends: &[Option<u64>]) -> Result<(), ReadError> {
        for (index, end) in ends.iter().enumerate().take(self.inputs.len()) {
            if let Some(end) = *end {
                self.inputs[index].pass_to(end)?;
                self.note_passed(index, end);
            }
        }
        self.inputs.iter_mut().for_each(Input::keep);
        Ok(())
    }

    /// At the end of all: the readers say that what was passed over since the last cut is on no disk.
    pub fn owe(&mut self) {
        for (input, passed) in self.inputs.iter_mut().zip(&self.passed) {
            if let (Input::Gated(reader), Some((from, _))) = (input, passed) {
                reader.owe(*from);
            }
        }
    }

    /// What is not recorded of what the journals hold: by input, from which position on.
    pub fn unrecorded(&self) -> Vec<(usize, u64)> {
        let of_input = |(index, input): (usize, &Input)| {
            let has_news = match input {
                Input::Gated(reader) => reader.has_news(),
                Input::Loose(reader) => reader.has_news(),
            };
            let passed = self.passed[index].map(|(from, _)| from);
            passed.or_else(|| has_news.then(|| input.position())).map(|from| (index, from))
        };
        self.inputs.iter().enumerate().filter_map(of_input).collect()
    }

    /// The readers.
    pub fn inputs(&mut self) -> &mut [Input] {
        &mut self.inputs
    }
}

impl Input {
    /// Appends a block with what is new up to `time`; false if nothing is.
    fn block(
        &mut self,
        number: u16,
        time: u64,
        batch: &mut Batch,
        done: &mut Gathered,
        count: &mut impl FnMut(&[u8]),
    ) -> Result<bool, ReadError> {
        let before = done.frames;
        let filled = match self {
            Input::Gated(reader) => batch.block(Kind::Frames, number, |bytes| {
                let Some(chunk) = reader.read_bytes_until(BLOCK_BYTES, time)? else { return Ok((0, 0)) };
                count(chunk.bytes);
                bytes.extend_from_slice(chunk.bytes);
                done.frames += chunk.frames;
                Ok((chunk.position, chunk.frames))
            }),
            Input::Loose(reader) => batch.block(Kind::Frames, number, |bytes| {
                let start = bytes.len();
                let found = reader.read_bytes_until(BLOCK_BYTES, time, bytes)?.unwrap_or_default();
                count(&bytes[start..]);
                done.frames += found.1;
                Ok(found)
            }),
        };
        match filled {
            Ok(bytes) => done.bytes += bytes as u64,
            Err(ReadError::Lapped(gap)) => {
                done.lost += gap.bytes();
                self::gap(batch, number, gap.from, gap.bytes());
                return Ok(true);
            }
            Err(error) => return Err(error),
        }
        Ok(done.frames > before)
    }

    /// Position of the next frame.
    pub(crate) fn position(&self) -> u64 {
        match self {
            Input::Gated(reader) => reader.position(),
            Input::Loose(reader) => reader.position(),
        }
    }

    fn pass_to(&mut self, end: u64) -> Result<(), ReadError> {
        let mut copy = Vec::new();
        loop {
            copy.clear();
            match self {
                Input::Gated(reader) if reader.position() < end => {
                    let left = (end - reader.position()) as usize;
                    if reader.read_bytes(left.min(BLOCK_BYTES))?.is_none() {
                        return Ok(());
                    }
                }
                Input::Loose(reader) if reader.position() < end => {
                    let left = (end - reader.position()) as usize;
                    match reader.read_bytes_until(left.min(BLOCK_BYTES), u64::MAX, &mut copy) {
                        Ok(Some(_)) | Err(ReadError::Lapped(_)) => {}
                        Ok(None) => return Ok(()),
                        Err(error) => return Err(error),
                    }
                }
                _ => return Ok(()),
            }
        }
    }

    /// Says that everything read is on disk.
    fn keep(&mut self) {
        if let Input::Gated(reader) = self {
            reader.publish();
            reader.keep(reader.position());
        }
    }

    /// Returns to what is on disk.
    fn rewind(&mut self) {
        if let Input::Gated(reader) = self {
            reader.rewind();
        }
    }
}

/// A block that says what is missing.
fn gap(batch: &mut Batch, journal: u16, from: u64, length: u64) {
    let fill = |bytes: &mut Vec<u8>| {
        bytes.extend_from_slice(&length.to_le_bytes());
        Ok::<_, Infallible>((from, 0))
    };
    let Ok(_) = batch.block(Kind::Gap, journal, fill);
}
