//! The limits of the control groups around this process: version 1, version 2, or both side by side.
//!
//! `/proc/self/cgroup` names a process's groups, and `/proc/self/mountinfo` the mount point of each hierarchy. A limit
//! applies when this group or any above it sets it, so each is looked up in the whole chain.

use serde::Serialize;

use super::tree::Tree;
use crate::cpuset::CpuSet;

/// Limits set by control groups; `None` means no limit.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CgroupLimits {
    /// Version of the hierarchy that holds the cpuset controller: 1, 2, or 0 when no group was found.
    pub version: u8,
    /// CPUs of the cpuset.
    pub cpus: Option<CpuSet>,
    /// NUMA nodes of the cpuset.
    pub memory_nodes: Option<CpuSet>,
    /// CPU time per elapsed time: 1.5 is one and a half CPUs. The kernel stops the group when it is used up.
    pub cpu_quota: Option<f64>,
    /// How often the group was stopped because its quota was used up.
    pub throttled: Option<u64>,
    /// Memory in bytes.
    pub memory_bytes: Option<u64>,
    /// Processes and threads.
    pub tasks: Option<u64>,
}

/// A mounted hierarchy and this process's group in it: `mount` + `group` is its folder.
struct Hierarchy {
    version: u8,
    mount: String,
    group: String,
}

impl Hierarchy {
    /// The group's folder and all above it, up to the mount.
    fn folders(&self) -> Vec<String> {
        let mut parts: Vec<&str> = self.group.split('/').filter(|part| !part.is_empty()).collect();
        let mut folders = Vec::new();
        loop {
            folders.push(
                std::iter::once(self.mount.as_str())
                    .chain(parts.iter().copied())
                    .collect::<Vec<_>>()
                    .join("/"),
            );
            if parts.pop().is_none() {
                return folders;
            }
        }
    }

    /// The value of the nearest folder that has one.
    fn nearest<T>(&self, look: impl FnMut(String) -> Option<T>) -> Option<T> {
        self.folders().into_iter().find_map(look)
    }

    /// The strictest value of all folders.
    fn strictest(&self, look: impl FnMut(String) -> Option<u64>) -> Option<u64> {
        self.folders().into_iter().filter_map(look).min()
    }
}

pub(super) fn read(tree: &Tree, notes: &mut Vec<String>) -> CgroupLimits {
    let cpuset = hierarchy(tree, "cpuset");
    let set = |version_1: [&str; 2], version_2: [&str; 2], notes: &mut Vec<String>| {
        let hierarchy = cpuset.as_ref()?;
        let names = if hierarchy.version == 1 { version_1 } else { version_2 };
        hierarchy.nearest(|folder| {
            names.iter().find_map(|name| match tree.cpus(&format!("{folder}/{name}")) {
                Ok(set) => Some(set).filter(|set| !set.is_empty()),
                Err(error) => {
                    if !error.is_missing() {
                        notes.push(error.to_string());
                    }
                    None
                }
            })
        })
    };
    let cpu = hierarchy(tree, "cpu");
    let memory = hierarchy(tree, "memory");
    let tasks = hierarchy(tree, "pids");
    CgroupLimits {
        version: cpuset.as_ref().map_or(0, |hierarchy| hierarchy.version),
        cpus: set(["cpuset.effective_cpus", "cpuset.cpus"], ["cpuset.cpus.effective", "cpuset.cpus"], notes),
        memory_nodes: set(
            ["cpuset.effective_mems", "cpuset.mems"],
            ["cpuset.mems.effective", "cpuset.mems"],
            notes,
        ),
        cpu_quota: cpu.as_ref().and_then(|hierarchy| quota(tree, hierarchy)),
        throttled: cpu.and_then(|hierarchy| {
            hierarchy.nearest(|f| tree.field(&format!("{f}/cpu.stat"), "nr_throttled").ok())
        }),
        memory_bytes: memory.and_then(|hierarchy| {
            let name = if hierarchy.version == 1 { "memory.limit_in_bytes" } else { "memory.max" };
            // Version 1 prints «no limit» as a number close to 2^63.
            hierarchy
                .strictest(|folder| number(tree, &format!("{folder}/{name}")))
                .filter(|&bytes| bytes < 1 << 60)
        }),
        tasks: tasks
            .and_then(|hierarchy| hierarchy.strictest(|folder| number(tree, &format!("{folder}/pids.max")))),
    }
}

/// `max` is not a number and means no limit.
fn number(tree: &Tree, path: &str) -> Option<u64> {
    tree.text(path).ok()?.parse().ok()
}

fn quota(tree: &Tree, hierarchy: &Hierarchy) -> Option<f64> {
    let of_folder = |folder: &String| -> Option<f64> {
        let (quota, period): (f64, f64) = if hierarchy.version == 1 {
            let quota = number(tree, &format!("{folder}/cpu.cfs_quota_us"))?;
            (quota as f64, number(tree, &format!("{folder}/cpu.cfs_period_us"))? as f64)
        } else {
            let text = tree.text(&format!("{folder}/cpu.max")).ok()?;
            let (quota, period) = text.split_once(' ')?;
            (quota.parse::<u64>().ok()? as f64, period.trim().parse::<u64>().ok()? as f64)
        };
        (period > 0.0).then_some(quota / period)
    };
    hierarchy.folders().iter().filter_map(of_folder).min_by(f64::total_cmp)
}

/// The hierarchy that holds `controller`: version 1 if it is mounted there, otherwise version 2.
fn hierarchy(tree: &Tree, controller: &str) -> Option<Hierarchy> {
    let groups = tree.text("proc/self/cgroup").unwrap_or_default();
    let mounts = tree.text("proc/self/mountinfo").unwrap_or_default();
    let lists = |list: &str| list.split(',').any(|name| name == controller);
    let at = |point: String| (point, "/".to_owned());

    let version_1 = group_lines(&groups).find(|(_, controllers, _)| lists(controllers));
    if let Some((_, controllers, path)) = version_1 {
        let mounted = mount_of(&mounts, |kind, options| kind == "cgroup" && lists(options));
        let usual = [controller, controllers].map(|name| Some(at(format!("/sys/fs/cgroup/{name}"))));
        let candidates = std::iter::once(mounted).chain(usual).flatten();
        return candidates.into_iter().find_map(|mount| place(tree, 1, mount, path));
    }
    // Without the list of groups, a folder with the controller's name indicates version 1.
    let bare = format!("/sys/fs/cgroup/{controller}");
    if groups.is_empty() && tree.exists(&bare) {
        return place(tree, 1, at(bare), "/");
    }
    let version_2 = group_lines(&groups).find(|(id, controllers, _)| *id == "0" && controllers.is_empty());
    let path = version_2.map_or("/", |(_, _, path)| path);
    let mounted = mount_of(&mounts, |kind, _| kind == "cgroup2");
    let candidates = mounted.into_iter().chain([at("/sys/fs/cgroup".to_owned())]);
    candidates.into_iter().find_map(|mount| place(tree, 2, mount, path))
}

/// The lines `ID:CONTROLLERS:PATH` of `/proc/self/cgroup`.
fn group_lines(groups: &str) -> impl Iterator<Item = (&str, &str, &str)> {
    groups.lines().filter_map(|line| {
        let mut parts = line.splitn(3, ':');
        Some((parts.next()?, parts.next()?, parts.next()?))
    })
}

/// Mount point and the folder of the hierarchy that is mounted there.
fn mount_of(mountinfo: &str, wanted: impl Fn(&str, &str) -> bool) -> Option<(String, String)> {
    mountinfo.lines().find_map(|line| {
        // `36 25 0:30 ROOT POINT options … - KIND SOURCE OPTIONS`
        let (left, right) = line.split_once(" - ")?;
        let mut right = right.split(' ');
        let (kind, options) = (right.next()?, right.nth(1)?);
        let mut left = left.split(' ').skip(3);
        let (root, point) = (left.next()?, left.next()?);
        wanted(kind, options).then(|| (point.to_owned(), root.to_owned()))
    })
}

/// A container often sees its own group mounted as the whole hierarchy; then the path in `/proc/self/cgroup` is the
/// host's, and the part above the mount must be removed.
fn place(tree: &Tree, version: u8, (mount, root): (String, String), path: &str) -> Option<Hierarchy> {
    if !tree.exists(&mount) {
        return None;
    }
    let below = path.strip_prefix(root.as_str()).unwrap_or(path).trim_matches('/');
    let is_safe = !below.split('/').any(|part| part == "..");
    let is_there = is_safe && tree.exists(&format!("{mount}/{below}"));
    let group = if is_there { below.to_owned() } else { String::new() };
    Some(Hierarchy { version, mount, group })
}
