//! The umask of a process.

use nix::sys::stat::{Mode, umask};

/// Leaves the owner's permissions to all that this process and its children create, whatever the umask takes away. A folder that its owner
/// may not enter would stay in the way of every later run. The permissions of others are as the umask says.
///
/// It belongs at the start of a program: the umask is that of the whole process.
pub fn keep_own_permissions() {
    let found = umask(Mode::S_IRWXU);
    umask(found & !Mode::S_IRWXU);
}
