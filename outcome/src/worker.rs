//! The fold on a thread of its own: who reads along only copies frames.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use crate::fold::Fold;
use crate::follow::{Header, Role, take};

/// Bytes of a batch, about.
const BATCH_BYTES: usize = 1 << 18;
/// Batches that may wait; then who reads along waits too.
const MOST_WAITING: usize = 64;

/// Frames, one behind the other.
#[derive(Debug, Default)]
struct Batch {
    heads: Vec<(Role, Header, u32)>,
    bytes: Vec<u8>,
    is_flush: bool,
}

impl Batch {
    fn fold_into(&self, fold: &mut Fold) {
        let mut at = 0;
        for (role, header, length) in &self.heads {
            let end = at + *length as usize;
            take(fold, *role, *header, &self.bytes[at..end]);
            at = end;
        }
        if self.is_flush {
            fold.flush();
        }
    }
}

/// Takes frames in their order, and folds them elsewhere; here, where there is no thread to be had.
#[derive(Debug)]
pub(crate) struct Worker {
    batch: Batch,
    /// Held by the thread for as long as a batch takes.
    fold: Arc<Mutex<Fold>>,
    elsewhere: Option<(SyncSender<Batch>, JoinHandle<()>)>,
}

impl Worker {
    pub(crate) fn start(fold: Fold) -> Worker {
        let fold = Arc::new(Mutex::new(fold));
        let (sender, receiver) = sync_channel::<Batch>(MOST_WAITING);
        let theirs = Arc::clone(&fold);
        let run = move || {
            while let Ok(batch) = receiver.recv() {
                batch.fold_into(&mut theirs.lock().unwrap_or_else(PoisonError::into_inner));
            }
        };
        let thread = std::thread::Builder::new().name("outcome".to_owned()).spawn(run);
        if let Err(error) = &thread {
            log::warn!("no thread for the run's folder: {error}; it is written beside the run");
        }
        Worker { batch: Batch::default(), fold, elsewhere: thread.ok().map(|thread| (sender, thread)) }
    }

    #[inline]
    pub(crate) fn take(&mut self, role: Role, header: Header, payload: &[u8]) {
        self.batch.heads.push((role, header, payload.len() as u32));
        self.batch.bytes.extend_from_slice(payload);
        if self.batch.bytes.len() >= BATCH_BYTES {
            self.hand_over();
        }
    }

    #[cold]
    fn hand_over(&mut self) {
        let new = Batch { bytes: Vec::with_capacity(BATCH_BYTES + 4_096), ..Batch::default() };
        let batch = std::mem::replace(&mut self.batch, new);
        let left = match &self.elsewhere {
            Some((sender, _)) => sender.send(batch).err().map(|refused| refused.0),
            None => Some(batch),
        };
        if let Some(batch) = left {
            batch.fold_into(&mut self.fold.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Has all that came so far written to its files soon.
    pub(crate) fn flush(&mut self) {
        self.batch.is_flush = true;
        self.hand_over();
    }

    /// The fold of all that came; `None` where the thread has panicked.
    pub(crate) fn finish(mut self) -> Option<Fold> {
        self.hand_over();
        if let Some((sender, thread)) = self.elsewhere.take() {
            drop(sender);
            thread.join().ok()?;
        }
        Arc::into_inner(self.fold)?.into_inner().ok()
    }
}
