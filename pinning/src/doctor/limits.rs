//! Checks of this user's limits.

use super::Spec;
use super::probe::{Answer, Probe, fail, ok, skip, warn};
use crate::host::tree::{CAP_IPC_LOCK, CAP_SYS_NICE};

pub(super) const CHECKS: &[Spec] = &[
    Spec {
        id: "limit-memlock",
        wanted: "1 GiB or more of locked memory, or CAP_IPC_LOCK",
        cost: "private memory cannot be locked: it may be swapped or moved while a node runs",
        look: memlock,
    },
    Spec {
        id: "limit-rtprio",
        wanted: "a real-time priority as high as the plan's, or CAP_SYS_NICE",
        cost: "policy = \"fifo:N\" is refused",
        look: rtprio,
    },
    Spec {
        id: "limit-nice",
        wanted: "a nice limit as high as the plan's, or CAP_SYS_NICE",
        cost: "policy = \"nice:-N\" is refused",
        look: nice,
    },
    Spec {
        id: "limit-open-files",
        wanted: "4,096 open files or more",
        cost: "master runs out of descriptors: two per journal, two per node",
        look: open_files,
    },
    Spec {
        id: "limit-processes",
        wanted: "1,024 processes or more",
        cost: "some strategies cannot be started",
        look: processes,
    },
    Spec {
        id: "limit-map-count",
        wanted: "vm.max_map_count of 65,530 or more",
        cost: "a node with many journals cannot map them: three mappings each",
        look: map_count,
    },
    Spec {
        id: "limit-remove-ipc",
        wanted: "RemoveIPC=no, or a system user (uid below 1000)",
        cost: "at logout systemd deletes the user's files in /dev/shm while the platform runs",
        look: remove_ipc,
    },
];

const LIMITS_FILE: &str = "/etc/security/limits.d/colo.conf";

fn memlock(probe: &Probe<'_>) -> Answer {
    let limit = probe.limit("Max locked memory")?;
    let fix = format!("echo '* - memlock unlimited' | sudo tee -a {LIMITS_FILE}  # then log in again");
    match limit {
        None => ok("unlimited"),
        _ if probe.tree.has_capability(CAP_IPC_LOCK) => ok("CAP_IPC_LOCK"),
        Some(bytes) if bytes >= 1 << 30 => ok(format!("{} MiB", bytes >> 20)),
        Some(bytes) => warn(format!("{} KiB", bytes >> 10), fix),
    }
}

fn rtprio(probe: &Probe<'_>) -> Answer {
    let limit = probe.limit("Max realtime priority")?;
    let planned =
        probe.plan.map(|plan| plan.placements.iter().filter_map(|p| p.policy)).into_iter().flatten();
    let wanted = planned.filter_map(|policy| match policy {
        crate::policy::Policy::Fifo(priority) => Some(u64::from(priority)),
        _ => None,
    });
    let wanted = wanted.max();
    let fix = format!("echo '* - rtprio 99' | sudo tee -a {LIMITS_FILE}  # then log in again");
    match (limit, wanted) {
        _ if probe.tree.has_capability(CAP_SYS_NICE) => ok("CAP_SYS_NICE"),
        (None, _) => ok("unlimited"),
        (Some(limit), Some(wanted)) if limit < wanted => {
            fail(format!("{limit}, the plan wants {wanted}"), fix)
        }
        (Some(limit), Some(_)) => ok(limit.to_string()),
        (Some(0), None) => warn("0", fix),
        (Some(limit), None) => ok(limit.to_string()),
    }
}

fn nice(probe: &Probe<'_>) -> Answer {
    // The limit is 20 minus the nice value, so 0 means nice 20: no lower value is allowed.
    let limit = probe.limit("Max nice priority")?;
    let planned =
        probe.plan.map(|plan| plan.placements.iter().filter_map(|p| p.policy)).into_iter().flatten();
    let lowest = planned
        .filter_map(|policy| match policy {
            crate::policy::Policy::Nice(nice) => Some(i64::from(nice)),
            _ => None,
        })
        .min();
    let allowed = |limit: u64| 20 - i64::try_from(limit.min(40)).unwrap_or(40);
    match (limit, lowest) {
        _ if probe.tree.has_capability(CAP_SYS_NICE) => ok("CAP_SYS_NICE"),
        (None, _) => ok("unlimited"),
        (Some(limit), Some(lowest)) if lowest < 0 && allowed(limit) > lowest => fail(
            format!("down to nice {}, the plan wants {lowest}", allowed(limit).min(19)),
            format!("echo '* - nice {lowest}' | sudo tee -a {LIMITS_FILE}  # then log in again"),
        ),
        (Some(_), None) => skip("no node of a plan has a nice value"),
        (Some(limit), Some(_)) => ok(format!("down to nice {}", allowed(limit).min(19))),
    }
}

/// A limit that should be at least `wanted`, and fails below `needed`.
fn at_least(probe: &Probe<'_>, name: &str, key: &str, wanted: u64, needed: u64) -> Answer {
    let fix = format!("echo '* - {key} {}' | sudo tee -a {LIMITS_FILE}  # then log in again", wanted * 16);
    match probe.limit(name)? {
        None => ok("unlimited"),
        Some(limit) if limit < needed => fail(limit.to_string(), fix),
        Some(limit) if limit < wanted => warn(limit.to_string(), fix),
        Some(limit) => ok(limit.to_string()),
    }
}

fn open_files(probe: &Probe<'_>) -> Answer {
    at_least(probe, "Max open files", "nofile", 4096, 256)
}

fn processes(probe: &Probe<'_>) -> Answer {
    at_least(probe, "Max processes", "nproc", 1024, 64)
}

fn map_count(probe: &Probe<'_>) -> Answer {
    let value = probe.tree.number("proc/sys/vm/max_map_count")?;
    let found = format!("vm.max_map_count = {value}");
    if value >= 65_530 { ok(found) } else { warn(found, "sudo sysctl -w vm.max_map_count=262144") }
}

fn remove_ipc(probe: &Probe<'_>) -> Answer {
    let is_running = probe.processes().iter().any(|name| name == "systemd-logind");
    if !is_running {
        return skip("systemd-logind does not run here");
    }
    let uid = probe.tree.field("proc/self/status", "Uid")?;
    if uid < 1000 {
        return ok(format!("uid {uid} is a system user, whose files stay"));
    }
    let mut files = vec!["etc/systemd/logind.conf".to_owned()];
    let folder = "etc/systemd/logind.conf.d";
    files.extend(probe.tree.names(folder).into_iter().map(|name| format!("{folder}/{name}")));
    let setting = files.iter().filter_map(|file| probe.tree.text(file).ok()).fold(None, |last, text| {
        let line =
            text.lines().rev().find_map(|line| line.trim().strip_prefix("RemoveIPC=").map(str::to_owned));
        line.or(last)
    });
    match setting.as_deref() {
        Some("no" | "false" | "0" | "off") => ok("RemoveIPC=no"),
        _ => warn(
            "RemoveIPC is on (systemd's default)",
            "printf '[Login]\\nRemoveIPC=no\\n' | sudo tee /etc/systemd/logind.conf.d/colo.conf && sudo systemctl restart \
             systemd-logind  # or sudo loginctl enable-linger $USER",
        ),
    }
}
