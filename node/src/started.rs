//! Finds the node that a process was started for, from its environment, which its children inherit.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use crate::instance::{InstanceDir, ROOT_VARIABLE};
use crate::node::{INSTANCE_VARIABLE, NODE_VARIABLE};

/// Name of the node of `instance` for which master started process `pid`, or one of its ancestors. `None` also for a
/// process that may not be inspected.
pub fn started_for(pid: u32, instance: &InstanceDir) -> Option<String> {
    let environment = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
    let value = |name: &str| {
        let mut entries = environment.split(|byte| *byte == 0);
        entries.find_map(|entry| entry.strip_prefix(name.as_bytes())?.strip_prefix(b"="))
    };
    let root = std::env::var_os(ROOT_VARIABLE);
    let is_of_it = value(INSTANCE_VARIABLE) == Some(instance.name().as_bytes())
        && value(ROOT_VARIABLE) == root.as_deref().map(OsStr::as_bytes);
    let node = value(NODE_VARIABLE).filter(|_| is_of_it)?;
    Some(String::from_utf8_lossy(node).into_owned())
}
