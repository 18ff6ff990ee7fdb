//! What a person wants of one strategy while the others go on.

use std::io::ErrorKind;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use node::protocol::{self, ProtocolError, Reply, Request, Want};

use observe::InstanceView;

use crate::error::LaunchError;

/// A master that neither answers nor shows a sign of life for so long is taken for one that does not run.
const SILENT: Duration = Duration::from_secs(5);

/// Asks master for it, and waits until it is done.
///
/// # Errors
/// [`LaunchError::Refused`] with what became of it; [`LaunchError::NoMaster`]; [`LaunchError::Abandoned`] when master died over
/// it, or has not answered within `patience`; [`LaunchError::Mute`] when it shows no sign of life.
pub fn want(view: &InstanceView, node: &str, want: Want, patience: Duration) -> Result<(), LaunchError> {
    let instance = view.instance();
    let name = || instance.name().to_owned();
    let stream = UnixStream::connect(instance.socket()).map_err(|source| match source.kind() {
        ErrorKind::NotFound | ErrorKind::ConnectionRefused => LaunchError::NoMaster { instance: name() },
        _ => {
            LaunchError::System { action: format!("reach master at {}", instance.socket().display()), source }
        }
    })?;
    let failed = |source| match source {
        ProtocolError::Io(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
            LaunchError::Abandoned {
                instance: name(),
                why: format!("has not answered within {} s", patience.as_secs()),
            }
        }
        ProtocolError::Io(_) => {
            LaunchError::Abandoned { instance: name(), why: "went before it answered".to_owned() }
        }
        source => LaunchError::Protocol { instance: name(), source },
    };
    protocol::send(&stream, &Request::Strategy { node: node.to_owned(), want }).map_err(failed)?;
    let until = Instant::now() + patience;
    while !protocol::wait_for_answer(&stream, SILENT).map_err(|error| failed(error.into()))? {
        // Seat 0 is master's.
        let silent = view.seats().first().and_then(|master| master.silent_ns).map(Duration::from_nanos);
        if silent.is_some_and(|silent| silent >= SILENT) {
            return Err(LaunchError::Mute { instance: name(), seconds: SILENT.as_secs() });
        }
        if Instant::now() >= until {
            break;
        }
    }
    let left = until.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
    match protocol::receive(&stream, Some(left)).map_err(failed)? {
        Reply::Done | Reply::Assigned(_) => Ok(()),
        Reply::Removed => Err(LaunchError::TakenDown { instance: name() }),
        Reply::Refused { reason } => Err(LaunchError::Refused(reason)),
    }
}
