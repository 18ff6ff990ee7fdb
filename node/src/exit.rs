//! What a process says when it ends.

use std::process::ExitCode;

/// Exit codes of every colo process and verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Done.
    Done = 0,
    /// Failed.
    Failed = 1,
    /// The command line or a TOML file is wrong.
    Usage = 2,
    /// The host is not fit for what was asked.
    HostUnfit = 3,
    /// A check or comparison did not hold.
    CheckFailed = 4,
    /// Nothing can be said.
    Inconclusive = 5,
    /// No master runs.
    NoMaster = 69,
    /// Something could not be made: memory, a file, a process.
    CannotCreate = 73,
    /// Not permitted.
    Permission = 77,
}

impl Exit {
    /// The number.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// As it stands in a seat: the number and one, and a mark when nobody is to start the node again.
    pub fn to_word(self, gives_up: bool) -> u64 {
        u64::from(self.code()) + 1 + if gives_up { Self::GIVES_UP } else { 0 }
    }

    /// Whether this word of a seat says that nobody is to start the node again.
    pub fn gives_up(word: u64) -> bool {
        word & Self::GIVES_UP != 0
    }

    const GIVES_UP: u64 = 1 << 16;

    /// The exit for a refusal by the system.
    pub fn of_io(error: &std::io::Error) -> Exit {
        match error.kind() {
            std::io::ErrorKind::PermissionDenied => Exit::Permission,
            std::io::ErrorKind::StorageFull => Exit::CannotCreate,
            _ => Exit::Failed,
        }
    }
}

/// "was killed by signal 9 (SIGKILL)".
pub fn killed_by(signal: i32) -> String {
    match nix::sys::signal::Signal::try_from(signal) {
        Ok(name) => format!("was killed by signal {signal} ({name})"),
        Err(_) => format!("was killed by signal {signal}"),
    }
}

/// How a process ended that left this code in its seat: its exit code, or 128 + the signal that killed it.
pub fn how_it_ended(code: u8) -> String {
    match code {
        129..=192 => killed_by(i32::from(code) - 128),
        code => format!("ended with exit code {code}"),
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}
