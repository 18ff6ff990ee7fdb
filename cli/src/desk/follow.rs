//! A desk of our own: the ledger's last snapshot, and the drop copy behind it.

use accounts::{FollowError, Followed, Follower};
use journal::{Journal, LooseReader, ReadError};
use node::{Exit, InstanceDir};
use topology::DeskSection;
use wire::Nanos;

use super::source::{begin as begin_of, oldest};
use super::{DROPS, SNAPSHOTS};
use crate::failure::Failure;

/// While the drop copy is overwritten faster than it is read, all is read anew.
const TRIES: usize = 20;

/// A desk that has followed the drop copy, and goes on with it.
#[derive(Debug)]
pub(crate) struct Following {
    pub(crate) follower: Follower,
    reader: LooseReader,
    /// Frames that could not follow what came before.
    pub(crate) errors: Vec<FollowError>,
}

/// Follows up to the head as it is now.
pub(crate) fn follow(instance: &InstanceDir, section: Option<&DeskSection>) -> Result<Following, Failure> {
    follow_to(instance, section, u64::MAX)
}

/// Follows up to and with the frame at `last`. Where the ledger's last snapshot is behind that, the desk is that snapshot.
pub(crate) fn follow_to(
    instance: &InstanceDir,
    section: Option<&DeskSection>,
    last: u64,
) -> Result<Following, Failure> {
    super::demand(instance)?;
    let drops = Journal::open_read_only(instance.find_journal(DROPS))?;
    for _ in 0..TRIES {
        let Some(mut following) = begin(instance, section, &drops)? else { continue };
        if following.go_on(last, |_, _| {})? {
            return Ok(following);
        }
    }
    Err(Failure::new(
        Exit::Inconclusive,
        format!(
            "`{DROPS}` of instance `{}` does not reach back to a snapshot in `{SNAPSHOTS}`: the ledger is behind or dead; \
             see `colo status`",
            instance.name()
        ),
    ))
}

/// At the ledger's last snapshot, or at the begin; `None` where neither is there any more.
fn begin(
    instance: &InstanceDir,
    section: Option<&DeskSection>,
    drops: &Journal,
) -> Result<Option<Following>, Failure> {
    let follower = match node::last_desk(instance)? {
        Some(bytes) => Follower::restore(&bytes).map_err(|error| {
            Failure::new(Exit::Failed, format!("the last snapshot in `{SNAPSHOTS}` is damaged: {error}"))
        })?,
        None => Follower::new(super::options(section)),
    };
    // Its last frame is read once more, and passed over: frames do not say where the next one begins.
    let from = follower.contained.drops.saturating_sub(1);
    if from == 0 && oldest(drops)? != begin_of(drops.shape().capacity) {
        return Ok(None);
    }
    let reader = drops.observe(from)?;
    Ok(Some(Following { follower, reader, errors: Vec::new() }))
}

impl Following {
    /// Takes what is there, up to and with the frame at `last`, and shows what each frame was, with its position. False when
    /// the reader was overtaken: then this desk lacks something.
    pub(crate) fn go_on(
        &mut self,
        last: u64,
        mut visit: impl FnMut(u64, &Followed),
    ) -> Result<bool, Failure> {
        loop {
            if self.follower.contained.drops > last {
                return Ok(true);
            }
            match self.reader.read() {
                Ok(Some(frame)) => {
                    let at = (frame.position, frame.topic, Nanos(frame.time));
                    match self.follower.frame(at, frame.message_id, frame.payload) {
                        Ok(followed) => visit(frame.position, &followed),
                        Err(error) => self.errors.push(error),
                    }
                }
                Ok(None) => return Ok(true),
                Err(ReadError::Lapped(_)) => return Ok(false),
                Err(error) => return Err(Failure::new(Exit::Failed, format!("`{DROPS}`: {error}"))),
            }
        }
    }
}
