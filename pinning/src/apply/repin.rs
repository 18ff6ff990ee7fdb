//! Moves the threads of another process back to their CPUs.

use std::io;
use std::path::Path;

use super::system;
use crate::host::tree::Tree;
use crate::observe::list;
use crate::placement::Placement;

/// Gives every thread of process `pid` whose mask differs the CPUs of its placement again: the kernel widens a thread's
/// mask when its last CPU goes offline, and leaves it wide when the CPU comes back. Returns the number of corrected
/// threads. Threads that end meanwhile are left out.
///
/// # Errors
/// The first refusal of the kernel: a CPU that is offline, or a process of another user.
pub fn repin(pid: u32, placement: &Placement) -> io::Result<usize> {
    let tree = Tree::new(Path::new("/"));
    let folder = format!("proc/{pid}/task");
    let mut moved = 0;
    for tid in tree.numbered_all(&folder) {
        let mask = list(&tree, &format!("{folder}/{tid}/status"), "Cpus_allowed_list");
        if mask.is_ok_and(|mask| mask != placement.cpus) {
            match system::set_affinity_of(tid, &placement.cpus) {
                Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
                Err(error) => return Err(error),
                Ok(()) => moved += 1,
            }
        }
    }
    Ok(moved)
}
