//! Checks of memory: huge pages, swap, shared memory, NUMA, and background work of the kernel.

use nix::sys::statvfs::statvfs;
use nix::unistd::{AccessFlags, access};

use super::Spec;
use super::probe::{Answer, Probe, Skip, fail, ok, skip, warn};
use crate::cpuset::CpuSet;
use crate::host::HugePages;
use crate::host::tree::{Unreadable, chosen};

const THP: &str = "sys/kernel/mm/transparent_hugepage";
const MIB: u64 = 1 << 20;

pub(super) const CHECKS: &[Spec] = &[
    Spec {
        id: "memory-available",
        wanted: "1 GiB available or more",
        cost: "journals cannot be made, or the kernel reclaims pages while nodes run",
        look: available,
    },
    Spec {
        id: "memory-swap",
        wanted: "no swap, or none of it in use",
        cost: "a page that was swapped out takes a millisecond to come back",
        look: swap,
    },
    Spec {
        id: "memory-swappiness",
        wanted: "vm.swappiness of 10 or less, where there is swap",
        cost: "the kernel swaps idle pages out to grow the file cache",
        look: swappiness,
    },
    Spec {
        id: "memory-huge-2m",
        wanted: "free huge pages of the default size (2 MiB on x86-64)",
        cost: "a 4 MiB journal takes 1,024 entries of the TLB instead of 2: misses of 20 to 100 ns",
        look: huge_default,
    },
    Spec {
        id: "memory-huge-1g",
        wanted: "huge pages of 1 GiB, only where the plan asks for page = \"1GiB\"",
        cost: "journals of several GiB take more than one entry of the TLB",
        look: huge_gigantic,
    },
    Spec {
        id: "memory-huge-nodes",
        wanted: "huge pages on every NUMA node that has planned CPUs",
        cost: "journals land on the far node: every access crosses sockets, 60 to 100 ns more",
        look: huge_nodes,
    },
    Spec {
        id: "memory-hugetlbfs",
        wanted: "a hugetlbfs mount that this user may write to",
        cost: "journals cannot be put on huge pages",
        look: hugetlbfs,
    },
    Spec {
        id: "memory-shm",
        wanted: "/dev/shm writable, 512 MiB or more",
        cost: "journals cannot be made: colo up fails with exit code 73",
        look: shm,
    },
    Spec {
        id: "memory-thp",
        wanted: "transparent_hugepage/enabled = madvise or never",
        cost: "the kernel moves pages together behind the process's back: stalls of 100 µs to ms",
        look: thp,
    },
    Spec {
        id: "memory-thp-defrag",
        wanted: "transparent_hugepage/defrag not always",
        cost: "a page fault may stop to compact memory: milliseconds",
        look: thp_defrag,
    },
    Spec {
        id: "memory-thp-shmem",
        wanted: "transparent_hugepage/shmem_enabled = advise or within_size, where no hugetlbfs pages are reserved",
        cost: "journals in /dev/shm stay on 4 KiB pages",
        look: thp_shmem,
    },
    Spec {
        id: "memory-numa-balancing",
        wanted: "kernel.numa_balancing = 0",
        cost: "the kernel unmaps pages to see who uses them: faults of 1 to 10 µs, and it moves pages",
        look: numa_balancing,
    },
    Spec {
        id: "memory-numa-planned",
        wanted: "planned CPUs on one NUMA node, which has memory",
        cost: "messages cross sockets, or all memory is remote: 60 to 100 ns more each",
        look: numa_planned,
    },
    Spec {
        id: "memory-zone-reclaim",
        wanted: "vm.zone_reclaim_mode = 0",
        cost: "an allocation may stop to free pages of its own node first",
        look: |probe| probe.sysctl("vm.zone_reclaim_mode", 0),
    },
    Spec {
        id: "memory-ksm",
        wanted: "ksm/run = 0",
        cost: "pages that look alike are merged; the next write to one takes a fault",
        look: ksm,
    },
    Spec {
        id: "memory-compaction",
        wanted: "vm.compaction_proactiveness = 0",
        cost: "the kernel moves pages in the background; who touches one meanwhile waits",
        look: |probe| probe.sysctl("vm.compaction_proactiveness", 0),
    },
    Spec {
        id: "memory-pressure",
        wanted: "nobody waited for memory in the last 10 s",
        cost: "nodes stop for as long as reclaim takes",
        look: pressure,
    },
];

fn mib(bytes: u64) -> String {
    format!("{} MiB", bytes / MIB)
}

fn available(probe: &Probe<'_>) -> Answer {
    let available = probe.tree.field("proc/meminfo", "MemAvailable")?.saturating_mul(1024);
    let fix = "stop what takes it: ps -eo rss,comm --sort -rss | head";
    match available / MIB {
        0..256 => fail(mib(available), fix),
        256..1024 => warn(mib(available), fix),
        _ => ok(mib(available)),
    }
}

fn swap(probe: &Probe<'_>) -> Answer {
    let total = probe.tree.field("proc/meminfo", "SwapTotal")?;
    let free = probe.tree.field("proc/meminfo", "SwapFree")?;
    let used = total.saturating_sub(free).saturating_mul(1024);
    match (total, used) {
        (0, _) => ok("no swap"),
        (_, 0) => ok(format!("{} of swap, none in use", mib(total.saturating_mul(1024)))),
        _ => fail(format!("{} of swap in use", mib(used)), "sudo swapoff -a"),
    }
}

fn swappiness(probe: &Probe<'_>) -> Answer {
    if probe.tree.field("proc/meminfo", "SwapTotal")? == 0 {
        return skip("no swap");
    }
    let value = probe.tree.number("proc/sys/vm/swappiness")?;
    let found = format!("vm.swappiness = {value}");
    if value <= 10 { ok(found) } else { warn(found, "sudo sysctl -w vm.swappiness=1") }
}

fn pools<'p>(probe: &'p Probe<'_>) -> Result<&'p [HugePages], Skip> {
    let pools = &probe.host()?.huge_pages;
    if pools.is_empty() {
        skip("the kernel offers no huge pages (/sys/kernel/mm/hugepages)")
    } else {
        Ok(pools)
    }
}

fn huge_default(probe: &Probe<'_>) -> Answer {
    let default_size = probe.tree.field("proc/meminfo", "Hugepagesize").unwrap_or(2048);
    let Some(pool) = pools(probe)?.iter().find(|pool| pool.size_kib == default_size) else {
        return skip(format!("no pool of {default_size} KiB pages"));
    };
    let found = format!("{} of {} pages of {default_size} KiB available", pool.available(), pool.total);
    let file = format!("/sys/kernel/mm/hugepages/hugepages-{default_size}kB/nr_hugepages");
    if pool.available() > 0 {
        ok(found)
    } else {
        warn(found, format!("echo {} | sudo tee {file}", pool.total + 256))
    }
}

fn huge_gigantic(probe: &Probe<'_>) -> Answer {
    match pools(probe)?.iter().find(|pool| pool.size_kib == MIB) {
        None => skip("the CPU or the kernel offers no 1 GiB pages"),
        Some(pool) => ok(format!("{} of {} pages of 1 GiB available", pool.available(), pool.total)),
    }
}

fn huge_nodes(probe: &Probe<'_>) -> Answer {
    let host = probe.host()?;
    if host.nodes.len() < 2 {
        return skip("one NUMA node");
    }
    if host.huge_pages.iter().all(|pool| pool.total == 0) {
        return skip("no huge pages reserved");
    }
    let cpus = probe.cpus()?;
    let lacks = |node: &&crate::host::NumaNode| {
        node.cpus.overlaps(&cpus) && node.has_memory() && node.huge_pages.iter().all(|pool| pool.free == 0)
    };
    let lacking: CpuSet = host.nodes.iter().filter(lacks).map(|node| node.id).collect();
    let Some(first) = lacking.first() else { return ok("every node with planned CPUs has some") };
    let file = format!("/sys/devices/system/node/node{first}/hugepages/hugepages-2048kB/nr_hugepages");
    warn(format!("no free huge page on nodes {lacking}"), format!("echo 256 | sudo tee {file}"))
}

/// Mounts of one kind: (mount point, options), from `/proc/self/mounts`.
fn mounts(probe: &Probe<'_>, kind: &str) -> Result<Vec<(String, String)>, Skip> {
    let text = probe.tree.text("proc/self/mounts").or_else(|_| probe.tree.text("proc/mounts"))?;
    let line = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        (*words.get(2)? == kind).then(|| Some((words.get(1)?.to_string(), words.get(3)?.to_string())))?
    };
    Ok(text.lines().filter_map(line).collect())
}

fn may_write(probe: &Probe<'_>, folder: &str) -> bool {
    access(&probe.tree.path(folder), AccessFlags::W_OK | AccessFlags::X_OK).is_ok()
}

fn hugetlbfs(probe: &Probe<'_>) -> Answer {
    let mounts = mounts(probe, "hugetlbfs")?;
    let fix = "sudo mkdir -p /dev/hugepages && sudo mount -t hugetlbfs -o mode=1777 none /dev/hugepages";
    if mounts.is_empty() {
        return warn("not mounted", fix);
    }
    let option = |options: &str, wanted: &str| {
        options.split(',').find_map(|option| option.strip_prefix(wanted).map(str::to_owned))
    };
    let is_read_only = |options: &str| option(options, "ro").is_some_and(|rest| rest.is_empty());
    let writable = mounts.iter().find(|(place, options)| !is_read_only(options) && may_write(probe, place));
    if let Some((place, options)) = writable {
        let limit = option(options, "size=").map(|size| format!(", for {size} at most")).unwrap_or_default();
        return ok(format!("mounted at {place}{limit}"));
    }
    let places: Vec<&str> = mounts.iter().map(|(place, _)| place.as_str()).collect();
    let (first, options) = &mounts[0];
    match is_read_only(options) {
        true => warn(
            format!("mounted at {}, read-only", places.join(", ")),
            format!("sudo mount -o remount,rw {first}"),
        ),
        false => warn(
            format!("mounted at {}, not writable by this user", places.join(", ")),
            format!("sudo chmod 1777 {first}"),
        ),
    }
}

/// `24683668k` in bytes.
fn size_option(options: &str) -> Option<u64> {
    let text = options.split(',').find_map(|option| option.strip_prefix("size="))?;
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor: u64 = match &text[digits.len()..] {
        "" => 1,
        "k" => 1 << 10,
        "m" => 1 << 20,
        "g" => 1 << 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(factor)
}

fn shm(probe: &Probe<'_>) -> Answer {
    let mounts = mounts(probe, "tmpfs")?;
    // The last mount covers the earlier ones.
    let Some((_, options)) = mounts.iter().rfind(|(place, _)| place == "/dev/shm") else {
        return fail("/dev/shm is not mounted", "sudo mount -t tmpfs -o mode=1777 none /dev/shm");
    };
    if options.split(',').any(|option| option == "ro")
        || (probe.tree.is_live() && !may_write(probe, "dev/shm"))
    {
        return fail("/dev/shm is not writable by this user", "sudo mount -o remount,rw,mode=1777 /dev/shm");
    }
    let half_of_memory = probe.host().ok().and_then(|host| host.memory.total_bytes).map(|bytes| bytes / 2);
    let Some(size) = size_option(options).or(half_of_memory) else { return skip("/dev/shm: size unknown") };
    let free = match statvfs("/dev/shm") {
        Ok(stat) if probe.tree.is_live() => stat.blocks_available().saturating_mul(stat.fragment_size()),
        _ => size,
    };
    let found = format!("{}, {} free", mib(size), mib(free));
    let fix = "sudo mount -o remount,size=2g /dev/shm  # in a container: docker run --shm-size=2g";
    match free / MIB {
        0..64 => fail(found, fix),
        64..512 => warn(found, fix),
        _ => ok(found),
    }
}

/// The selected word of a setting of transparent huge pages.
fn thp_setting(probe: &Probe<'_>, file: &str) -> Result<String, Skip> {
    let path = format!("{THP}/{file}");
    let text = probe.tree.text(&path)?;
    match chosen(&text) {
        Some(word) => Ok(word.to_owned()),
        None => Err(Unreadable::garbled(&path, &text, "a choice of words with one in brackets").into()),
    }
}

fn thp(probe: &Probe<'_>) -> Answer {
    match thp_setting(probe, "enabled")?.as_str() {
        "always" => warn("always", format!("echo madvise | sudo tee /{THP}/enabled")),
        word => ok(word),
    }
}

fn thp_defrag(probe: &Probe<'_>) -> Answer {
    match thp_setting(probe, "defrag")?.as_str() {
        "always" => warn("always", format!("echo madvise | sudo tee /{THP}/defrag")),
        word => ok(word),
    }
}

fn thp_shmem(probe: &Probe<'_>) -> Answer {
    let word = thp_setting(probe, "shmem_enabled")?;
    let has_huge = probe.host()?.huge_pages.iter().any(|pool| pool.total > 0);
    match word.as_str() {
        "advise" | "within_size" | "always" | "force" => ok(word),
        _ if has_huge => ok(format!("{word}, and huge pages are reserved")),
        _ => warn(word, format!("echo advise | sudo tee /{THP}/shmem_enabled")),
    }
}

fn numa_balancing(probe: &Probe<'_>) -> Answer {
    if probe.host()?.nodes.len() < 2 {
        return skip("one NUMA node");
    }
    probe.sysctl("kernel.numa_balancing", 0)
}

fn numa_planned(probe: &Probe<'_>) -> Answer {
    let host = probe.host()?;
    if host.nodes.len() < 2 {
        return ok("one NUMA node");
    }
    let cpus = probe.quiet()?;
    let used: Vec<&crate::host::NumaNode> =
        host.nodes.iter().filter(|node| node.cpus.overlaps(&cpus)).collect();
    if let Some(node) = used.iter().find(|node| !node.has_memory()) {
        let planned = node.cpus.intersection(&cpus);
        return warn(
            format!("node {} has no memory, and CPUs {planned} are planned", node.id),
            "plan CPUs of a node with memory",
        );
    }
    let ids: CpuSet = used.iter().map(|node| node.id).collect();
    if ids.len() > 1 {
        warn(format!("nodes {ids}"), "plan CPUs of one node: numa = 0")
    } else {
        ok(format!("node {ids}"))
    }
}

fn ksm(probe: &Probe<'_>) -> Answer {
    let run = probe.tree.number("sys/kernel/mm/ksm/run")?;
    let found = format!("ksm/run = {run}");
    if run == 1 { warn(found, "echo 2 | sudo tee /sys/kernel/mm/ksm/run") } else { ok(found) }
}

fn pressure(probe: &Probe<'_>) -> Answer {
    let text = probe.tree.text("proc/pressure/memory")?;
    let share = text.lines().find_map(|line| {
        let rest =
            line.strip_prefix("some ")?.split_whitespace().find_map(|word| word.strip_prefix("avg10="))?;
        rest.parse::<f64>().ok()
    });
    match share {
        None => skip("/proc/pressure/memory has no line `some avg10=`"),
        Some(share) if share >= 1.0 => warn(
            format!("{share:.1} % of the last 10 s"),
            "stop what takes the memory: ps -eo rss,comm --sort -rss | head",
        ),
        Some(share) => ok(format!("{share:.1} % of the last 10 s")),
    }
}
