//! Putting the threads of another process back onto their CPUs.

use std::io;
use std::path::Path;

use super::system;
use crate::host::tree::Tree;
use crate::observe::list;
use crate::plan::Placement;

/// Gives every thread of process `pid` the CPUs of its placement again, where it has others: the kernel widens a thread's
/// mask when its last CPU goes offline, and leaves it wide when the CPU comes back. Answers how many threads were put
/// back. Threads that end meanwhile are left out.
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
