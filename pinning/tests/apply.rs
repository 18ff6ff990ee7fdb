//! Placements on the running host: what the kernel reports afterwards, from inside and from outside.
#![allow(clippy::unwrap_used)] // The helpers are tests too.

use std::io::Read;
use std::process::{Command, Stdio};

use pinning::{
    ApplyError, CpuSet, Host, NodeRequest, ObserveError, OffPlan, Placement, Plan, Policy, Scheduling,
    ThreadPlacement, apply, current_cpu, observe,
};

fn host() -> Host {
    Host::read("/".as_ref()).unwrap()
}

fn placement(cpus: CpuSet, policy: Option<Policy>, memory_node: Option<usize>) -> Placement {
    Placement {
        node: "md".into(),
        busy: false,
        platform: true,
        cpus,
        policy,
        memory_node,
        exclusive: false,
        no_smt_sibling: false,
        reasons: Vec::new(),
    }
}

/// On a thread of its own, because a placement stays with the thread that applied it.
fn on_a_thread<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| scope.spawn(work).join().unwrap())
}

/// The calling thread as `/proc` shows it.
fn this_thread() -> ThreadPlacement {
    let tid: u32 = std::fs::read_link("/proc/thread-self")
        .unwrap()
        .file_name()
        .unwrap()
        .to_str()
        .unwrap()
        .parse()
        .unwrap();
    let threads = observe(std::process::id()).unwrap();
    threads.into_iter().find(|thread| thread.tid == tid).unwrap()
}

#[test]
fn one_cpu_holds_and_is_seen_from_outside() {
    for cpu in host().allowed.iter() {
        let wanted = placement(CpuSet::single(cpu), None, None);
        let (applied, seen, now) = on_a_thread(|| (apply(&wanted).unwrap(), this_thread(), current_cpu()));
        assert_eq!((applied.cpus, applied.running_on), (wanted.cpus.clone(), Some(cpu)));
        assert_eq!(now, Some(cpu));
        assert_eq!((seen.cpu, &seen.allowed), (cpu, &wanted.cpus));
        assert_eq!(seen.off_plan(&wanted), None);
        assert!(seen.run_ns.is_none_or(|ns| ns > 0));
        // Kernels with migration counts must show them.
        let is_counted =
            std::fs::read_to_string("/proc/self/sched").is_ok_and(|text| text.contains("nr_migrations"));
        assert_eq!(seen.migrations.is_some(), is_counted);
    }
}

#[test]
fn several_cpus_hold_and_children_inherit_them() {
    let allowed = host().allowed;
    let wanted = placement(allowed.iter().take(2).collect(), None, None);
    let listed = on_a_thread(|| {
        assert_eq!(apply(&wanted).unwrap().cpus, wanted.cpus);
        let output = Command::new("cat").arg("/proc/self/status").output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    });
    let line = listed.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
    assert_eq!(line.trim(), wanted.cpus.to_string());
}

#[test]
fn cpus_that_are_not_there_are_an_error_and_a_half_truth_too() {
    let absent = on_a_thread(|| apply(&placement(CpuSet::single(1_000), None, None))).unwrap_err();
    assert!(matches!(&absent, ApplyError::Affinity { cpus, .. } if cpus.contains(1_000)), "{absent}");
    let far = on_a_thread(|| apply(&placement(CpuSet::single(8_000), None, None))).unwrap_err();
    assert!(matches!(far, ApplyError::Affinity { .. }), "{far}");
    // The kernel uses the existing part without an error; the read-back detects it.
    let first = host().allowed.first().unwrap();
    let half: CpuSet = [first, 1_000].into_iter().collect();
    let error = on_a_thread(|| apply(&placement(half, None, None))).unwrap_err();
    assert!(matches!(&error, ApplyError::Mismatch { found, .. } if *found == first.to_string()), "{error}");
}

#[test]
fn policies_hold_or_the_error_names_the_limit() {
    let cpus = host().allowed;
    let policies = [(Policy::Idle, Scheduling::Idle), (Policy::Nice(5), Scheduling::Other(5))];
    for (policy, scheduling) in policies {
        let wanted = placement(cpus.clone(), Some(policy), None);
        let (applied, seen) = on_a_thread(|| (apply(&wanted).unwrap(), this_thread()));
        assert_eq!((applied.scheduling, seen.scheduling), (scheduling, scheduling));
    }
    for (policy, scheduling, limit) in [
        (Policy::Fifo(50), Scheduling::Fifo(50), "rtprio"),
        (Policy::Nice(-5), Scheduling::Other(-5), "nice"),
    ] {
        match on_a_thread(|| apply(&placement(cpus.clone(), Some(policy), None))) {
            Ok(applied) => assert_eq!(applied.scheduling, scheduling),
            Err(error) => {
                println!("{policy} is not allowed here: {error}");
                let text = error.to_string();
                assert!(text.contains(limit) || text.contains("cpu.rt_runtime_us"), "{text}");
            }
        }
    }
}

#[test]
fn memory_is_bound_to_a_node_or_the_error_says_why_not() {
    let node = host().nodes.iter().find(|node| node.has_memory()).unwrap().id;
    match on_a_thread(|| apply(&placement(host().allowed, None, Some(node)))) {
        Ok(applied) => {
            assert_eq!(applied.memory_nodes, Some(CpuSet::single(node)));
            let maps = on_a_thread(|| {
                apply(&placement(host().allowed, None, Some(node))).unwrap();
                std::fs::read_to_string("/proc/thread-self/numa_maps")
            });
            // Kernels without NUMA have no such file.
            if let Ok(maps) = maps {
                assert!(maps.lines().any(|line| line.contains(&format!("bind:{node}"))), "{maps}");
            }
        }
        Err(error) => assert!(matches!(error, ApplyError::Memory { .. }), "{error}"),
    }
    let error = on_a_thread(|| apply(&placement(host().allowed, None, Some(900)))).unwrap_err();
    assert!(matches!(error, ApplyError::Memory { memory_node: 900, .. }), "{error}");
}

#[test]
fn nothing_stays_with_other_threads() {
    let before = this_thread();
    on_a_thread(|| {
        apply(&placement(CpuSet::single(host().allowed.first().unwrap()), Some(Policy::Idle), None)).unwrap()
    });
    let after = this_thread();
    assert_eq!((before.allowed, before.scheduling), (after.allowed, after.scheduling));
}

#[test]
fn a_process_is_seen_from_outside_until_it_is_gone() {
    let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let threads = observe(child.id()).unwrap();
    assert_eq!(threads.len(), 1);
    assert_eq!(threads[0].tid, child.id());
    assert!(threads[0].allowed.is_subset(&host().online));

    // Compared with another placement than its own, it deviates.
    let elsewhere = placement(CpuSet::single(4_000), None, None);
    assert!(matches!(threads[0].off_plan(&elsewhere), Some(OffPlan::Cpu { .. })));
    let narrower = placement(CpuSet::single(threads[0].cpu), None, None);
    if threads[0].allowed.len() > 1 {
        assert!(matches!(threads[0].off_plan(&narrower), Some(OffPlan::Mask { .. })));
    }
    let real_time = placement(threads[0].allowed.clone(), Some(Policy::Fifo(99)), None);
    assert!(matches!(threads[0].off_plan(&real_time), Some(OffPlan::Policy { .. })));

    drop(child.stdin.take());
    let mut rest = String::new();
    child.stdout.take().unwrap().read_to_string(&mut rest).unwrap();
    child.wait().unwrap();
    assert!(matches!(observe(child.id()), Err(ObserveError::Gone { .. })));
}

#[test]
fn what_a_plan_resolves_to_can_be_applied() {
    let host = host();
    let plan: Plan = toml::from_str("auto = \"latency\"\non_small_host = \"remap\"").unwrap();
    let nodes =
        ["master", "md", "td"].map(|name| NodeRequest { name: name.into(), busy: true, platform: true });
    let resolved = plan.resolve(&host, &nodes).unwrap();
    for wanted in &resolved.placements {
        let seen = on_a_thread(|| {
            apply(wanted).unwrap();
            this_thread()
        });
        assert_eq!(seen.off_plan(wanted), None);
    }
}

#[test]
fn a_thread_of_another_process_is_put_back_onto_its_cpus() {
    let host = Host::read("/".as_ref()).unwrap();
    let first = host.allowed.first().unwrap();
    let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
    let plan: Plan = toml::from_str(&format!("nodes.md.cpu = {first}")).unwrap();
    let md = NodeRequest { name: "md".into(), busy: false, platform: true };
    let placement = plan.resolve(&host, &[md]).unwrap().placements.remove(0);
    let mask = |pid| pinning::observe(pid).unwrap()[0].allowed.clone();
    let moved = pinning::repin(child.id(), &placement);
    let (again, now) = (pinning::repin(child.id(), &placement), mask(child.id()));
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(moved.unwrap(), usize::from(host.allowed.len() > 1));
    assert_eq!((again.unwrap(), now), (0, placement.cpus.clone()), "who is in its place is left alone");
    assert_eq!(pinning::repin(u32::MAX, &placement).unwrap(), 0, "nobody there");
}
