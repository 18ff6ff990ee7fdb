//! The expensive end of `SYNC: interest`: a full fence in every thread that writes.
//!
//! | `membarrier` here | [`announce`] | a writer, between commit and look |
//! |---|---|---|
//! | `GLOBAL_EXPEDITED` works | a fence in every process that registered | compiler barrier; full fence if it could not register |
//! | `GLOBAL` works | a fence in every thread of the host | the same |
//! | neither | sets the registry's FENCES, and waits a moment | full fence |
//!
//! `GLOBAL_EXPEDITED` is first: it interrupts the CPUs that run a registered process and takes microseconds. `GLOBAL` waits for a grace
//! period of the kernel's RCU, which takes milliseconds on an idle host, and many seconds where the kernel's own threads get no
//! CPU: meanwhile a node that starts, or narrows its topics, is blocked.
//!
//! Who creates a registry where neither works sets FENCES before any writer exists: then no writer ever relies on a
//! barrier. A node that alone finds none (its sandbox refuses the call) sets FENCES while writers run, and has only
//! time to rely on at that one moment: a writer that has not seen the word by the end of the wait would have kept a
//! store to itself for as long. From then on every writer makes its fence.

use std::time::Duration;

use crate::files::registry::Registry;
use crate::sync::{Ordering, fence};

/// A command of `membarrier`, by the kernel's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub(super) enum Command {
    /// A fence in every thread of the host, after a grace period. Refused by kernels with `nohz_full` CPUs.
    Global = 1,
    /// A fence in every running thread of the processes that registered.
    GlobalExpedited = 2,
    /// Registers this process for that.
    Register = 4,
}

/// What [`announce`] had to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Announced {
    /// A barrier of the kernel did it.
    By(Command),
    /// From now on every writer makes its own fences.
    Fences,
}

/// Stores become visible to other CPUs within microseconds; this is far longer.
const VISIBLE_WITHIN: Duration = Duration::from_millis(2);

/// Makes every writer on the host see the interest that was set before this call, at every commit whose frame this
/// process might otherwise miss. It interrupts other CPUs: call it once, before the first sleep.
pub fn announce(registry: &Registry) {
    announce_by(registry, membarrier);
}

/// `membarrier` is true when the kernel did as the command says.
pub(super) fn announce_by(registry: &Registry, membarrier: impl Fn(Command) -> bool) -> Announced {
    // SYNC: interest.
    for command in [Command::GlobalExpedited, Command::Global] {
        if membarrier(command) {
            return Announced::By(command);
        }
    }
    registry.require_fences();
    fence(Ordering::SeqCst);
    #[cfg(not(loom))]
    std::thread::sleep(VISIBLE_WITHIN);
    Announced::Fences
}

/// True when this process's threads get the barrier of others' announcements. Otherwise its writers make a full fence
/// behind each commit.
#[cfg(not(any(loom, miri)))]
pub(super) fn register() -> bool {
    static REGISTERED: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    *REGISTERED.get_or_init(|| membarrier(Command::Register))
}

/// Every thread has the announcements of its own process.
#[cfg(any(loom, miri))]
pub(super) fn register() -> bool {
    true
}

/// False where no process as confined as this one can announce anything without the help of writers.
pub(crate) fn is_available() -> bool {
    available(query())
}

/// By the kernel's answer to the query: a set of commands, or negative.
fn available(commands: i64) -> bool {
    let barriers = Command::Global as i64 | Command::GlobalExpedited as i64;
    commands > 0 && commands & barriers != 0
}

/// miri runs only its own threads and has no such system call; loom has light barriers that pair with this.
#[cfg(any(loom, miri))]
fn membarrier(_: Command) -> bool {
    fence(Ordering::SeqCst);
    true
}

#[cfg(any(loom, miri))]
fn query() -> i64 {
    Command::Global as i64
}

#[cfg(not(any(loom, miri)))]
fn membarrier(command: Command) -> bool {
    // SAFETY: integers only.
    unsafe { libc::syscall(libc::SYS_membarrier, command as libc::c_int, 0, 0) == 0 }
}

#[cfg(not(any(loom, miri)))]
fn query() -> i64 {
    const QUERY: libc::c_int = 0;
    // SAFETY: integers only.
    unsafe { libc::syscall(libc::SYS_membarrier, QUERY, 0, 0) }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::clock::Clock;

    fn registry() -> Registry {
        Registry::in_memory(64, Clock::monotonic()).unwrap()
    }

    #[test]
    fn each_barrier_is_tried_before_writers_have_to_fence() {
        for (works, expected) in [
            (vec![Command::Global, Command::GlobalExpedited], Announced::By(Command::GlobalExpedited)),
            (vec![Command::Global], Announced::By(Command::Global)),
            (vec![], Announced::Fences),
        ] {
            let (registry, tried) = (registry(), RefCell::new(Vec::new()));
            let outcome = announce_by(&registry, |command| {
                tried.borrow_mut().push(command);
                works.contains(&command)
            });
            assert_eq!(outcome, expected);
            assert_eq!(tried.borrow()[0], Command::GlobalExpedited, "it waits for no grace period");
            assert_eq!(registry.requires_fences(), expected == Announced::Fences);
        }
    }

    #[test]
    fn a_registry_made_where_there_is_no_barrier_requires_fences() {
        assert!(!available(-1), "refused");
        assert!(!available(0) && !available(Command::Register as i64), "only registrations");
        assert!(available(Command::Global as i64) && available(Command::GlobalExpedited as i64));
        let directory = tempfile::tempdir().unwrap();
        let made = Registry::create(&directory.path().join("registry"), 64, Clock::monotonic()).unwrap();
        assert_eq!(made.requires_fences(), !is_available());
    }

    /// The commands are those of the kernel.
    #[test]
    #[cfg_attr(miri, ignore = "a system call")]
    fn the_kernel_takes_the_commands_that_it_lists() {
        let commands = query();
        if commands <= 0 {
            println!("skipped: membarrier is refused here ({commands})");
            return;
        }
        for command in [Command::Global, Command::GlobalExpedited, Command::Register] {
            assert_eq!(membarrier(command), commands & command as i64 != 0, "{command:?}");
        }
    }
}
