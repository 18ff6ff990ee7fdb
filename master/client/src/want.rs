//! What a person wants of one strategy while the others go on.

use std::io::ErrorKind;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use node::InstanceDir;
use node::protocol::{self, ProtocolError, Reply, Request, Want};

use crate::error::LaunchError;

/// Asks master for it, and waits until it is done.
///
/// # Errors
/// [`LaunchError::Refused`] with what became of it; [`LaunchError::NoMaster`]; [`LaunchError::Abandoned`] when master died over
/// it, or has not answered within `patience`.
pub fn want(instance: &InstanceDir, node: &str, want: Want, patience: Duration) -> Result<(), LaunchError> {
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
    match protocol::receive(&stream, Some(patience)).map_err(failed)? {
        Reply::Done | Reply::Assigned(_) => Ok(()),
        Reply::Removed => Err(LaunchError::TakenDown { instance: name() }),
        Reply::Refused { reason } => Err(LaunchError::Refused(reason)),
    }
}
