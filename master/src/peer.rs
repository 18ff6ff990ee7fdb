//! The process at the other end of a connection, according to the kernel.
//!
//! A client sends its process id, and could send another's: master would supervise, and at the end signal, a process
//! that is not in the seat. So the kernel's answer counts, and the client's is only compared with it: they differ where
//! the client runs in another pid namespace, and what it writes as its id into shared memory means nothing here.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;

use journal::process::ProcessIdentity;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{getsockopt, sockopt};
use nix::unistd::geteuid;

/// Who connected.
#[derive(Debug)]
pub(crate) struct Peer {
    user: u32,
    /// 0 for a process of a pid namespace that this one does not contain.
    process: u32,
    handle: Handle,
}

/// What the kernel gives to watch the peer by.
#[derive(Debug)]
enum Handle {
    Open(OwnedFd),
    /// The kernel is older than this request.
    Unknown,
    Ended,
}

impl Peer {
    /// Looks at the other end.
    ///
    /// # Errors
    /// The error of the system.
    pub(crate) fn of(stream: &UnixStream) -> io::Result<Peer> {
        let credentials = getsockopt(stream, sockopt::PeerCredentials)?;
        let handle = match getsockopt(stream, sockopt::PeerPidfd) {
            Ok(handle) => Handle::Open(handle),
            Err(Errno::ESRCH) => Handle::Ended,
            Err(_) => Handle::Unknown,
        };
        let process = u32::try_from(credentials.pid()).unwrap_or(0);
        Ok(Peer { user: credentials.uid(), process, handle })
    }

    /// Its identity, if it is the process that it says it is; else the reason for a refusal.
    pub(crate) fn identity(&self, claimed: u32) -> Result<ProcessIdentity, String> {
        let user = geteuid().as_raw();
        if self.user != user {
            return Err(format!(
                "it runs as user {}, and master as user {user}: start it as the user of the instance",
                self.user
            ));
        }
        if self.process == 0 {
            return Err("master cannot see its process: it runs in another pid namespace, such as another container; \
                        start it where master runs"
                .to_owned());
        }
        if claimed != self.process {
            return Err(format!(
                "process {claimed} is not the one that asks, which is process {} as seen from master: it runs in \
                 another pid namespace, such as another container; start it where master runs",
                self.process
            ));
        }
        let identity = ProcessIdentity::of(self.process).filter(|_| self.runs());
        identity.ok_or_else(|| "its process has ended".to_owned())
    }

    /// False when the peer is known to have ended. Asked after its id was looked up: the id was its own then, and not
    /// that of a process which has it by now.
    fn runs(&self) -> bool {
        match &self.handle {
            Handle::Open(handle) => {
                let mut ended = [PollFd::new(handle.as_fd(), PollFlags::POLLIN)];
                poll(&mut ended, PollTimeout::ZERO) == Ok(0)
            }
            Handle::Unknown => true,
            Handle::Ended => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    fn here() -> Peer {
        let (_ours, theirs) = UnixStream::pair().unwrap();
        Peer::of(&theirs).unwrap()
    }

    #[test]
    fn it_is_who_the_kernel_says_it_is() {
        let this = std::process::id();
        assert_eq!(here().identity(this), Ok(ProcessIdentity::current()));
        let mut other = Command::new("sleep").arg("1000").spawn().unwrap();
        let claims = here().identity(other.id()).unwrap_err();
        other.kill().unwrap();
        other.wait().unwrap();
        assert!(claims.contains(&format!("is process {this} as seen from master")), "{claims}");
        assert!(here().identity(0).is_err(), "no process has this id");
    }

    #[test]
    fn one_that_master_cannot_see_is_refused_whatever_it_says() {
        for claimed in [0, 1, std::process::id()] {
            let unseen = Peer { process: 0, ..here() }.identity(claimed).unwrap_err();
            assert!(unseen.contains("another pid namespace"), "{unseen}");
        }
        let foreign = Peer { user: geteuid().as_raw() + 1, ..here() }.identity(std::process::id());
        assert!(foreign.unwrap_err().contains("as user"));
    }

    #[test]
    fn a_process_that_has_the_id_of_one_that_ended_is_not_it() {
        let mut ended = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let handle = pidfd_of(ended.id());
        drop(ended.stdin.take());
        ended.wait().unwrap();
        let Some(handle) = handle else {
            println!("skipped: no handle on a process");
            return;
        };
        let reused = Peer { handle, ..here() };
        assert_eq!(reused.identity(std::process::id()), Err("its process has ended".to_owned()));
        let reused = Peer { handle: Handle::Ended, ..here() };
        assert!(reused.identity(std::process::id()).is_err());
        let unknown = Peer { handle: Handle::Unknown, ..here() };
        assert!(unknown.identity(std::process::id()).is_ok(), "the kernel does not say");
    }

    fn pidfd_of(pid: u32) -> Option<Handle> {
        let handle = journal::process::PidFd::open(ProcessIdentity::of(pid)?).ok()?;
        Some(Handle::Open(handle.as_fd().try_clone_to_owned().ok()?))
    }
}
