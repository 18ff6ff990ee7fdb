//! `colo doctor --topology`: what the host has.

use pinning::{CgroupLimits, CoreKind, Host, HugePages};

use super::summary;
use crate::failure::Failure;
use crate::output::{self, Format, bytes, table};

pub(super) fn print(host: &Host, format: Format) -> Result<u8, Failure> {
    match format {
        Format::Json => output::print_json(host)?,
        Format::Text => output::print(&text(host))?,
    }
    Ok(node::Exit::Done.code())
}

fn text(host: &Host) -> String {
    let mut text = summary(&host.summary());
    text.push_str(&format!("\n{}", sets(host)));
    text.push_str(&format!("\n{}", nodes(host)));
    text.push_str(&format!("\n{}", cores(host)));
    text.push_str(&limits(&host.limits));
    for note in &host.notes {
        text.push_str(&format!("note: {note}\n"));
    }
    text
}

/// Sets of CPUs by what they are.
fn sets(host: &Host) -> String {
    let dash = |set: &pinning::CpuSet| if set.is_empty() { "-".to_owned() } else { set.to_string() };
    let rows = [
        ("online", &host.online),
        ("offline", &host.offline),
        ("allowed to this process", &host.allowed),
        ("isolated (isolcpus)", &host.isolated),
        ("nohz_full", &host.nohz_full),
        ("rcu_nocbs", &host.rcu_nocbs),
    ];
    table(&["CPUs", ""], 2, rows.map(|(name, set)| vec![name.to_owned(), dash(set)]))
}

fn pools(pools: &[HugePages]) -> String {
    let pool = |pool: &HugePages| {
        format!("{} of {} x {}", pool.available(), pool.total, bytes(pool.size_kib.saturating_mul(1024)))
    };
    let text: Vec<String> = pools.iter().filter(|pool| pool.total > 0).map(pool).collect();
    if text.is_empty() { "none".to_owned() } else { text.join(", ") }
}

fn nodes(host: &Host) -> String {
    let rows = host.nodes.iter().map(|node| {
        let size = |size: Option<u64>| size.map_or("?".to_owned(), bytes);
        let distances: Vec<String> =
            node.distances.iter().map(|(to, distance)| format!("{to}:{distance}")).collect();
        vec![
            node.id.to_string(),
            node.cpus.to_string(),
            size(node.memory_bytes),
            size(node.free_bytes),
            pools(&node.huge_pages),
            if distances.is_empty() { "-".to_owned() } else { distances.join(" ") },
        ]
    });
    table(&["NUMA node", "CPUs", "memory", "free", "huge pages free", "distances"], 6, rows)
}

/// One row a core: its hardware threads, and whom it shares its caches with.
fn cores(host: &Host) -> String {
    let rows = host.cores.iter().map(|core| {
        let cpu = core.cpus.first().unwrap_or_default();
        let known = host.cpu(cpu);
        let shared = |level: u8| {
            let group = host.caches.iter().find(|group| group.level == level && group.cpus.contains(cpu));
            group.map_or("-".to_owned(), |group| match group.size_kib {
                Some(size) => format!("{} ({})", group.cpus, bytes(size.saturating_mul(1024))),
                None => group.cpus.to_string(),
            })
        };
        let number = |number: Option<usize>| number.map_or("-".to_owned(), |number| number.to_string());
        vec![
            core.cpus.to_string(),
            number(known.and_then(|cpu| cpu.package)),
            number(known.and_then(|cpu| cpu.node)),
            match core.kind {
                CoreKind::Performance => "fast",
                CoreKind::Efficient => "slow",
            }
            .to_owned(),
            shared(2),
            shared(3),
        ]
    });
    table(&["core: CPUs", "socket", "NUMA node", "kind", "L2 shared by", "L3 shared by"], 6, rows)
}

fn limits(limits: &CgroupLimits) -> String {
    let mut parts = Vec::new();
    parts.extend(limits.cpus.as_ref().map(|cpus| format!("CPUs {cpus}")));
    parts.extend(limits.memory_nodes.as_ref().map(|nodes| format!("memory of NUMA nodes {nodes}")));
    parts.extend(limits.cpu_quota.map(|quota| format!("{quota:.2} CPUs' time")));
    parts.extend(limits.memory_bytes.map(|limit| format!("{} of memory", bytes(limit))));
    parts.extend(limits.tasks.map(|tasks| format!("{tasks} tasks")));
    if parts.is_empty() {
        return "\ncontrol groups limit nothing\n".to_owned();
    }
    format!("\ncontrol groups (version {}) limit: {}\n", limits.version, parts.join(", "))
}
