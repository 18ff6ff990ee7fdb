//! Reading td's latency samples one by one while the platform runs. The histograms of all orders are td's own, see
//! [`crate::Stages`].

use std::collections::BTreeMap;

use journal::{LooseReader, OpenError, ReadError};
use topology::Stream;
use wire::{LatencySample, Message};

use crate::view::InstanceView;

/// Keeps td's samples, from the first frame of their journal on, unseen by td: for measurements.
#[derive(Debug)]
pub struct Collector {
    reader: LooseReader,
    /// Bytes of samples that were overwritten before they were read.
    lost_bytes: u64,
    raw: Vec<LatencySample>,
}

impl Collector {
    /// Name of the journal.
    pub fn journal() -> &'static str {
        Stream::Samples.journal().unwrap_or_default()
    }

    /// Starts to read.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open(view: &InstanceView) -> Result<Collector, OpenError> {
        let journal = journal::Journal::open_read_only(view.instance().find_journal(Self::journal()))?;
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

/// td's samples as they come, by strategy.
#[derive(Debug)]
pub(crate) struct Samples {
    /// `None`: the instance has no such journal, or it is damaged.
    reader: Option<LooseReader>,
}

/// The samples of one interval, as far as they were not overwritten before this program came to read them.
#[derive(Debug, Default)]
pub(crate) struct Times {
    /// Nanoseconds from a quote's publication until td had the order in hand, by the strategy's seat; each ascending.
    pub(crate) by_seat: BTreeMap<u32, Vec<u64>>,
    /// Bytes of samples that came too fast to be read.
    pub(crate) lost_bytes: u64,
}

impl Samples {
    /// From the newest sample on.
    pub(crate) fn from_now_on(view: &InstanceView) -> Samples {
        let opened = view.journal(Collector::journal()).ok();
        let reader = opened.and_then(|(journal, _)| journal.observe(journal.head()).ok());
        Samples { reader }
    }

    /// What has come since the last call.
    pub(crate) fn take(&mut self) -> Times {
        let mut taken = Times::default();
        let Some(reader) = &mut self.reader else { return taken };
        loop {
            match reader.read() {
                Ok(Some(frame)) => {
                    if let Ok(sample) = LatencySample::decode(frame.payload)
                        && sample.published.0 != 0
                    {
                        let seat = u32::from(sample.order_id.strategy().0);
                        let time = sample.taken.0.saturating_sub(sample.published.0);
                        taken.by_seat.entry(seat).or_default().push(time);
                    }
                }
                Ok(None) => break,
                Err(ReadError::Lapped(gap)) => taken.lost_bytes += gap.bytes(),
                Err(_) => {
                    // Damaged: `colo journal verify` says how. The rest of the table is still of use.
                    self.reader = None;
                    break;
                }
            }
        }
        taken.by_seat.values_mut().for_each(|times| times.sort_unstable());
        taken
    }
}
