//! Exit codes.

use std::process::ExitCode;

use nix::sys::signal::Signal;

/// Exit codes of all colo processes and verbs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Done.
    Done = 0,
    /// Failed.
    Failed = 1,
    /// The command line or a TOML file is wrong.
    Usage = 2,
    /// The host does not meet the requirements.
    HostUnfit = 3,
    /// A check or comparison failed.
    CheckFailed = 4,
    /// No conclusion is possible.
    Inconclusive = 5,
    /// No master is running.
    NoMaster = 69,
    /// Memory, a file or a process could not be created.
    CannotCreate = 73,
    /// Not permitted.
    Permission = 77,
}

impl Exit {
    /// The number.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// The code in a seat's record: the number plus one, and a mark when the node must not be restarted.
    pub fn to_word(self, gives_up: bool) -> u64 {
        u64::from(self.code()) + 1 + if gives_up { Self::GIVES_UP } else { 0 }
    }

    /// Whether this word of a seat says that the node must not be restarted.
    pub fn gives_up(word: u64) -> bool {
        word & Self::GIVES_UP != 0
    }

    const GIVES_UP: u64 = 1 << 16;

    /// The word of a seat whose node did not stop when asked to, and was killed for that.
    pub fn overstayed(code: u8) -> u64 {
        (u64::from(code) + 1) | Self::OVERSTAYED
    }

    /// Whether this word of a seat says that the node did not stop when asked to.
    pub fn has_overstayed(word: u64) -> bool {
        word & Self::OVERSTAYED != 0
    }

    const OVERSTAYED: u64 = 1 << 17;

    /// The word of a seat whose node a person has stopped.
    pub fn by_a_person(word: u64) -> u64 {
        word | Self::BY_A_PERSON
    }

    /// Whether this word of a seat says that a person has stopped the node.
    pub fn is_by_a_person(word: u64) -> bool {
        word & Self::BY_A_PERSON != 0
    }

    const BY_A_PERSON: u64 = 1 << 18;

    /// The word of a seat whose process was sent the signal to end; `false`: of a process that was not.
    pub fn asked(word: u64, asked: bool) -> u64 {
        if asked { word | Self::ASKED } else { word & !Self::ASKED }
    }

    /// Whether this word of a seat says that its process was sent the signal to end.
    pub fn is_asked(word: u64) -> bool {
        word & Self::ASKED != 0
    }

    const ASKED: u64 = 1 << 19;

    /// The exit code in this word of a seat, if there is one.
    pub fn code_in(word: u64) -> Option<u8> {
        (word & 0xffff).checked_sub(1).map(|code| code as u8)
    }

    /// The exit code for an error of the system.
    pub fn of_io(error: &std::io::Error) -> Exit {
        match error.kind() {
            std::io::ErrorKind::PermissionDenied => Exit::Permission,
            std::io::ErrorKind::StorageFull => Exit::CannotCreate,
            _ => Exit::Failed,
        }
    }
}

/// "was killed by signal 9 (SIGKILL)", with the usual cause where the signal has one.
pub fn killed_by(signal: i32) -> String {
    let Ok(name) = Signal::try_from(signal) else { return format!("was killed by signal {signal}") };
    let cause = match name {
        Signal::SIGBUS => ": a file that it had mapped was truncated, or there was no memory behind it",
        Signal::SIGSYS => ": a filter (seccomp) forbids a system call that it made",
        Signal::SIGXCPU | Signal::SIGXFSZ => ": it passed a limit (`ulimit -a`)",
        _ => "",
    };
    format!("was killed by signal {signal} ({name}){cause}")
}

/// How a process ended that left this code in its seat: its exit code, or 128 plus the signal that killed it.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_that_has_one_usual_cause_is_told_with_it() {
        assert_eq!(killed_by(9), "was killed by signal 9 (SIGKILL)");
        assert!(killed_by(Signal::SIGSYS as i32).contains("seccomp"));
        assert!(killed_by(Signal::SIGBUS as i32).contains("truncated"));
        assert_eq!(killed_by(99), "was killed by signal 99");
    }

    #[test]
    fn marks_in_a_seat_do_not_change_its_code() {
        let word = Exit::overstayed(137);
        assert_eq!((word - 1) as u8, 137);
        assert!(Exit::has_overstayed(word) && !Exit::gives_up(word));
        assert!(!Exit::has_overstayed(Exit::Failed.to_word(true)));
    }
}
