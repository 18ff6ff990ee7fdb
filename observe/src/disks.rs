//! Recorders whose disk takes nothing, or which are gone, and what their recordings lack.

use std::time::{Duration, SystemTime};

use node::{Counter, NodeState};
use serde::Serialize;
use topology::NodeKind;

use crate::view::SeatView;

/// A recorder that does not record, or whose recording lacks something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Disk {
    /// The recorder.
    pub recorder: String,
    /// Since when its disk refuses to write; `None` while it writes.
    pub refuses_since: Option<String>,
    /// It stays down: nobody records what it was to record.
    pub is_gone: bool,
    /// Bytes of journals that are missing in its recording.
    pub missing_bytes: u64,
}

impl Disk {
    /// Those of which there is something to say.
    pub(crate) fn of_all(seats: &[SeatView]) -> Vec<Disk> {
        let recorders = seats.iter().filter(|seat| seat.kind == NodeKind::Recorder);
        let disks = recorders.map(|seat| {
            let since = Some(seat.counter(Counter::DiskRefusesSince)).filter(|since| *since > 0);
            Disk {
                recorder: seat.name.clone(),
                refuses_since: since.map(time),
                is_gone: seat.state == NodeState::Failed,
                missing_bytes: seat.counter(Counter::BytesLost),
            }
        });
        disks.filter(|disk| disk.refuses_since.is_some() || disk.is_gone || disk.missing_bytes > 0).collect()
    }
}

fn time(ns: u64) -> String {
    humantime::format_rfc3339_millis(SystemTime::UNIX_EPOCH + Duration::from_nanos(ns)).to_string()
}

impl std::fmt::Display for Disk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let recorder = &self.recorder;
        let mut what = Vec::new();
        if self.is_gone {
            what.push("it is gone for good: nothing is recorded any more".to_owned());
        } else if let Some(since) = &self.refuses_since {
            what.push(format!("its disk has refused to write since {since}"));
        }
        if self.missing_bytes > 0 {
            what.push(format!("{} bytes of journals are missing in its recording", self.missing_bytes));
        }
        write!(f, "recorder {recorder}: {}; its log says more", what.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{counting, seat};

    #[test]
    fn a_recorder_that_records_everything_is_not_spoken_of() {
        let recorder = || seat(9, "disk", NodeKind::Recorder);
        assert_eq!(
            Disk::of_all(&[recorder(), counting(seat(1, "md", NodeKind::Md), &[(Counter::BytesLost, 5)])]),
            []
        );
        let full =
            counting(recorder(), &[(Counter::DiskRefusesSince, 1_000_000_000), (Counter::BytesLost, 64)]);
        let gone = SeatView { state: NodeState::Failed, ..recorder() };
        let said: Vec<String> = Disk::of_all(&[full, gone]).iter().map(ToString::to_string).collect();
        assert_eq!(
            said,
            [
                "recorder disk: its disk has refused to write since 1970-01-01T00:00:01.000Z; 64 bytes of journals are missing \
                 in its recording; its log says more",
                "recorder disk: it is gone for good: nothing is recorded any more; its log says more"
            ]
        );
    }
}
