//! Reading td's latency samples while the platform runs.

use journal::{LooseReader, OpenError, ReadError};
use node::InstanceView;
use wire::{LatencySample, Message};

use crate::stages::Stages;

/// Reads `td.samples` from its first frame on, unseen by td.
#[derive(Debug)]
pub struct Collector {
    reader: LooseReader,
    stages: Stages,
    /// Bytes of samples that were overwritten before they were read.
    lost_bytes: u64,
    raw: Option<Vec<LatencySample>>,
}

impl Collector {
    /// Name of the journal.
    pub const JOURNAL: &str = "td.samples";

    /// Starts to read. With `keep_raw`, every sample is kept besides.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open(view: &InstanceView, keep_raw: bool) -> Result<Collector, OpenError> {
        let journal = journal::Journal::open_read_only(view.instance().find_journal(Self::JOURNAL))?;
        Ok(Collector {
            reader: journal.loose_from_start()?,
            stages: Stages::default(),
            lost_bytes: 0,
            raw: keep_raw.then(Vec::new),
        })
    }

    /// Takes what has come since the last call. Samples live in a ring: call this at least a few times a second.
    ///
    /// # Errors
    /// [`ReadError::Corrupt`].
    pub fn take(&mut self) -> Result<(), ReadError> {
        loop {
            match self.reader.read() {
                Ok(Some(frame)) => {
                    if let Ok(sample) = LatencySample::decode(frame.payload) {
                        self.stages.add(&sample);
                        if let Some(raw) = &mut self.raw {
                            raw.push(sample);
                        }
                    }
                }
                Ok(None) => return Ok(()),
                Err(ReadError::Lapped(gap)) => self.lost_bytes += gap.bytes(),
                Err(error) => return Err(error),
            }
        }
    }

    /// What was collected so far.
    pub fn stages(&self) -> &Stages {
        &self.stages
    }

    /// Bytes of samples that came too fast for this reader.
    pub fn lost_bytes(&self) -> u64 {
        self.lost_bytes
    }

    /// The samples themselves, if they were to be kept.
    pub fn raw(&self) -> &[LatencySample] {
        self.raw.as_deref().unwrap_or_default()
    }
}
