//! Who gives a process its seats, where that is not master behind its socket.

use std::fmt::Debug;

use crate::protocol::Assignment;

/// Gives seats to nodes of this process, and hears when one of them leaves.
pub trait Front: Debug + Send + Sync {
    /// The part of node `name` in the platform.
    ///
    /// # Errors
    /// Why it is refused.
    fn seat(&self, name: &str) -> Result<Assignment, String>;

    /// A node that shares its process with others has left this seat; what came of it stands there.
    fn left(&self, seat: u32);
}
