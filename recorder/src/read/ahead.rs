//! Blocks of one journal that a thread of its own reads and checks, while what came before is put to use.

use std::io;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{Builder, Scope};

use super::FrameError;
use super::chunks::Chunks;

/// Bytes that are handed over at once, at least: small blocks together.
const AT_ONCE: usize = 1 << 20;

/// How many of those may wait.
const AHEAD: usize = 4;

/// Frames of blocks in a row.
#[derive(Debug)]
pub(crate) struct Piece {
    /// Position of the first.
    pub(crate) position: u64,
    /// Whole frames, as they lay in the ring.
    pub(crate) bytes: Vec<u8>,
}

/// Some frames; or that frames are missing, with those behind them.
type Read = Result<Piece, (FrameError, Vec<u8>)>;

/// The receiving end.
#[derive(Debug)]
pub(crate) struct Ahead {
    pieces: Receiver<Read>,
    used: Sender<Vec<u8>>,
}

impl Ahead {
    /// Begins to read.
    ///
    /// # Errors
    /// The system has no thread for it.
    pub(crate) fn start<'scope>(
        scope: &'scope Scope<'scope, '_>,
        chunks: Chunks<'scope>,
    ) -> io::Result<Ahead> {
        let (send, pieces) = sync_channel(AHEAD);
        let (used, again) = channel();
        Builder::new().name("read".to_owned()).spawn_scoped(scope, move || read(chunks, &send, &again))?;
        Ok(Ahead { pieces, used })
    }

    /// What comes next; `None` at the end of the recording.
    pub(crate) fn next(&self) -> Option<Read> {
        self.pieces.recv().ok()
    }

    /// Memory that was used, to be used again.
    pub(crate) fn give_back(&self, bytes: Vec<u8>) {
        // The thread may have read everything already.
        let _ = self.used.send(bytes);
    }
}

/// Reads until the end, or until nobody wants more.
fn read(mut chunks: Chunks<'_>, send: &SyncSender<Read>, again: &Receiver<Vec<u8>>) {
    let empty = || {
        let mut bytes = again.try_recv().unwrap_or_default();
        bytes.clear();
        bytes
    };
    let mut piece = Piece { position: 0, bytes: empty() };
    loop {
        let before = piece.bytes.len();
        let read = chunks.append(&mut piece.bytes);
        if let Ok(Some(position)) = read {
            if before == 0 {
                piece.position = position;
            }
            if piece.bytes.len() < AT_ONCE {
                continue;
            }
        }
        let behind = piece.bytes.split_off(if read.is_err() { before } else { piece.bytes.len() });
        if !piece.bytes.is_empty() {
            let whole = std::mem::replace(&mut piece, Piece { position: 0, bytes: empty() });
            if send.send(Ok(whole)).is_err() {
                return;
            }
        }
        match read {
            Ok(Some(_)) => {}
            Ok(None) => return,
            Err(error) => {
                let goes_on = matches!(error, FrameError::Missing { .. });
                if send.send(Err((error, behind))).is_err() || !goes_on {
                    return;
                }
            }
        }
    }
}
