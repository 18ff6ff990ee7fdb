//! Keeping td's latency samples one by one while the platform runs: for measurements. The histograms of all orders are
//! td's own, see [`crate::Stages`].

use journal::{LooseReader, OpenError, ReadError};
use node::InstanceView;
use wire::{LatencySample, Message};

/// Reads `td.samples` from its first frame on, unseen by td.
#[derive(Debug)]
pub struct Collector {
    reader: LooseReader,
    /// Bytes of samples that were overwritten before they were read.
    lost_bytes: u64,
    raw: Vec<LatencySample>,
}

impl Collector {
    /// Name of the journal.
    pub const JOURNAL: &str = "td.samples";

    /// Starts to read.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open(view: &InstanceView) -> Result<Collector, OpenError> {
        let journal = journal::Journal::open_read_only(view.instance().find_journal(Self::JOURNAL))?;
        Ok(Collector { reader: journal.loose_from_start()?, lost_bytes: 0, raw: Vec::new() })
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
                        self.raw.push(sample);
                    }
                }
                Ok(None) => return Ok(()),
                Err(ReadError::Lapped(gap)) => self.lost_bytes += gap.bytes(),
                Err(error) => return Err(error),
            }
        }
    }

    /// Bytes of samples that came too fast for this reader.
    pub fn lost_bytes(&self) -> u64 {
        self.lost_bytes
    }

    /// The samples so far.
    pub fn raw(&self) -> &[LatencySample] {
        &self.raw
    }
}
