//! Many readers in one process that polls for all of them, without sleeping.

use journal::{LooseReader, ReadError};

use super::reader::Heard;
use super::share::{END, NEWS, Share, seat};
use crate::ipc::IpcError;

/// Turns without news between two checks whether any reader is left.
const LOOK: u32 = 1 << 16;

/// What one of the readers has to know of its messages.
#[derive(Debug, Default)]
struct Member {
    latencies: Vec<u64>,
}

/// One cell of a host with this many readers.
pub(super) struct Hosting<'a> {
    share: &'a Share,
    reader: LooseReader,
    /// The interested readers by topic.
    dispatch: Vec<Vec<u16>>,
    members: Vec<Member>,
}

impl<'a> Hosting<'a> {
    /// Ready: from now on no message is missed.
    pub(super) fn new(share: &'a Share, readers: usize) -> Result<Hosting<'a>, IpcError> {
        let members: Vec<Member> = (0..readers).map(|_| Member::default()).collect();
        let dispatch = (0..readers as u16).map(|member| vec![member]).collect();
        Ok(Hosting { share, reader: share.journal("news")?.loose(seat::HOST)?, dispatch, members })
    }

    /// Polls until the cell is over.
    pub(super) fn listen(mut self) -> Result<Heard, IpcError> {
        let clock = self.share.clock;
        let parent = std::os::unix::process::parent_id();
        let (mut ended, mut turns) = (0, 0_u32);
        while ended < self.members.len() {
            match self.reader.read() {
                Ok(Some(frame)) if frame.message_id == NEWS => {
                    let due = frame.payload.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
                    for &member in self.dispatch.get(frame.topic as usize).map_or(&[][..], Vec::as_slice) {
                        let now = clock.now();
                        if let Some(member) = self.members.get_mut(usize::from(member)) {
                            member.latencies.push(now.saturating_sub(due));
                        }
                    }
                }
                Ok(Some(frame)) => ended += usize::from(frame.message_id == END),
                Ok(None) => {
                    std::hint::spin_loop();
                    turns = turns.wrapping_add(1);
                    if turns.is_multiple_of(LOOK) && std::os::unix::process::parent_id() != parent {
                        break;
                    }
                }
                // Lost messages stay lost; the end messages come last.
                Err(ReadError::Lapped(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let latencies = self.members.into_iter().flat_map(|member| member.latencies).collect();
        Ok(Heard { latencies, timeouts_with_data: 0 })
    }
}
