//! The facts of a host that may change while a platform runs; reading them takes two files.

use std::path::Path;

use crate::cpuset::CpuSet;
use crate::host::tree::Tree;

/// The state of a host at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostSigns {
    /// The kernel's time source; `None` where it does not report it.
    pub clock_source: Option<String>,
    /// CPUs that are online; `None` where the kernel does not report it.
    pub online: Option<CpuSet>,
}

impl HostSigns {
    /// Reads the state of the host whose `sys` folder lies below `root`.
    ///
    /// ```
    /// let signs = pinning::HostSigns::read("/".as_ref());
    /// assert_eq!(signs, pinning::HostSigns::read("/".as_ref()));
    /// ```
    pub fn read(root: &Path) -> HostSigns {
        let tree = Tree::new(root);
        HostSigns {
            clock_source: tree.some_text("sys/devices/system/clocksource/clocksource0/current_clocksource"),
            online: tree.cpus("sys/devices/system/cpu/online").ok(),
        }
    }
}
