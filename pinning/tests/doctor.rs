//! The doctor against a plan, and against a `/proc` with invented threads.
#![allow(clippy::unwrap_used)] // The helpers are tests too.

mod support;

use std::time::Duration;

use pinning::{
    Check, Doctor, DoctorReport, Host, NodeRequest, ObserveError, Plan, ResolvedPlan, Scheduling, Status,
    check_ids, observe_below, unmet,
};
use support::{Recorded, unpack};

fn resolve(recorded: &Recorded, text: &str) -> ResolvedPlan {
    let plan: Plan = toml::from_str(text).unwrap();
    let host = Host::read(recorded.root.path()).unwrap();
    let nodes = [("md", true), ("td", true), ("master", false)];
    let nodes = nodes.map(|(name, busy)| NodeRequest { name: name.into(), busy, platform: true });
    plan.resolve(&host, &nodes).unwrap()
}

fn status(checks: &[Check], id: &str) -> Status {
    checks.iter().find(|check| check.id == id).unwrap().status
}

#[test]
fn the_plan_says_which_cpus_must_be_quiet() {
    let tuned = Recorded::open("tuned-server");
    let isolated = resolve(&tuned, "nodes = { md = { cpu = 4 }, td = { cpu = 5 }, master = { cpu = 0 } }");
    let checks = Doctor::report(tuned.root.path(), Some(&isolated)).checks;
    for id in [
        "cpu-isolated",
        "cpu-nohz-full",
        "cpu-rcu-nocbs",
        "irq-affinity",
        "irq-default",
        "irq-network",
        "irq-workqueue",
    ] {
        assert_eq!(status(&checks, id), Status::Ok, "{id}");
    }
    let disturbed = resolve(&tuned, "nodes = { md = { cpu = 2 }, td = { cpu = 5 }, master = { cpu = 0 } }");
    let checks = Doctor::report(tuned.root.path(), Some(&disturbed)).checks;
    for id in [
        "cpu-isolated",
        "cpu-nohz-full",
        "cpu-rcu-nocbs",
        "irq-affinity",
        "irq-default",
        "irq-network",
        "irq-workqueue",
    ] {
        assert_eq!(status(&checks, id), Status::Warn, "{id}");
    }
    let irq = checks.iter().find(|check| check.id == "irq-affinity").unwrap();
    assert_eq!(irq.found, "interrupts 24 go to CPUs 2,5");
    assert!(irq.fix.contains("echo 0-1,3-4,6-7"), "{}", irq.fix);
    let isolcpus = checks.iter().find(|check| check.id == "cpu-isolated").unwrap();
    assert_eq!(isolcpus.fix, "kernel command line: isolcpus=managed_irq,domain,2,4-7");
}

#[test]
fn both_threads_of_a_core_are_noticed() {
    let xeon = Recorded::open("xeon-2s-smt");
    let apart = resolve(&xeon, "nodes = { md = { cpu = 1 }, td = { cpu = 2 } }");
    assert_eq!(status(&Doctor::report(xeon.root.path(), Some(&apart)).checks, "cpu-smt"), Status::Ok);
    let together = resolve(&xeon, "nodes = { md = { cpu = 1 }, td = { cpu = 21 } }");
    assert_eq!(status(&Doctor::report(xeon.root.path(), Some(&together)).checks, "cpu-smt"), Status::Warn);
    let across = resolve(&xeon, "nodes = { md = { cpu = 1 }, td = { cpu = 12 } }");
    let checks = Doctor::report(xeon.root.path(), Some(&across)).checks;
    assert_eq!(status(&checks, "memory-numa-planned"), Status::Warn);
    // Only node 0 has huge pages.
    assert_eq!(status(&checks, "memory-huge-nodes"), Status::Warn);
    assert_eq!(
        status(&Doctor::report(xeon.root.path(), Some(&apart)).checks, "memory-huge-nodes"),
        Status::Ok
    );
}

#[test]
fn real_time_plans_need_their_limits() {
    let container = Recorded::open("container-v1");
    let plan = resolve(
        &container,
        r#"nodes = { md = { cpu = 2, policy = "fifo:50" }, td = { cpu = 3, policy = "nice:-5" } }"#,
    );
    let checks = Doctor::report(container.root.path(), Some(&plan)).checks;
    assert_eq!(status(&checks, "limit-rtprio"), Status::Fail);
    assert_eq!(status(&checks, "limit-nice"), Status::Fail);
    let required = ["limit-rtprio", "limit-memlock", "cpu-governor"].map(str::to_owned);
    let failed: Vec<&str> = unmet(&checks, &required).iter().map(|check| check.id.as_str()).collect();
    assert_eq!(failed, ["limit-memlock", "limit-rtprio"], "a skip is no failure, a warning is");
}

fn check<'a>(checks: &'a [Check], id: &str) -> &'a Check {
    checks.iter().find(|check| check.id == id).unwrap()
}

/// Two CPUs, with the files in `more`.
fn two_cpus(more: &str) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let base = "\
sys/devices/system/cpu/online = 0-1
sys/devices/system/cpu/isolated =
sys/devices/system/cpu/cpu[0-1]/topology/core_cpus_list = {n}
sys/devices/virtual/workqueue/cpumask = 3
proc/irq/24/smp_affinity_list = 0-1
proc/irq/default_smp_affinity = 3
proc/self/status:
  CapEff: 0000000000000000
";
    unpack(&format!("{base}{more}"), root.path());
    root
}

fn resolve_below(root: &std::path::Path, text: &str) -> ResolvedPlan {
    // A polling node without a rule would get the remaining CPU.
    let nodes = [("md", true), ("td", text.contains("td")), ("master", false)];
    let nodes = nodes.map(|(name, busy)| NodeRequest { name: name.into(), busy, platform: true });
    let plan: Plan = toml::from_str(text).unwrap();
    plan.resolve(&Host::read(root).unwrap(), &nodes).unwrap()
}

#[test]
fn a_required_clock_source_is_not_kvm_clock() {
    let source = "sys/devices/system/clocksource/clocksource0";
    let root = two_cpus(&format!(
        "{source}/current_clocksource = kvm-clock\n{source}/available_clocksource = tsc kvm-clock\n"
    ));
    let checks = Doctor::run(root.path());
    let required = ["clock-source".to_owned()];
    assert_eq!(unmet(&checks, &required).len(), 1);
    assert!(check(&checks, "clock-source").fix.starts_with("echo tsc"));
    let root = two_cpus(&format!(
        "{source}/current_clocksource = kvm-clock\n{source}/available_clocksource = kvm-clock\n"
    ));
    let fix = check(&Doctor::run(root.path()), "clock-source").fix.clone();
    assert!(!fix.contains("echo tsc"), "there is no tsc to choose: {fix}");
    let root = two_cpus(&format!("{source}/current_clocksource = tsc\n"));
    assert_eq!(unmet(&Doctor::run(root.path()), &required).len(), 0);
}

#[test]
fn a_node_that_polls_under_fifo_learns_of_the_fair_server() {
    const RUNTIME: &str = "sys/kernel/debug/sched/fair_server/cpu[0-1]/runtime";
    let plan = "nodes = { md = { cpu = 1, policy = \"fifo:50\" }, td = { cpu = 0, policy = \"nice:-5\" } }";
    let answer = |kernel: &str, more: &str, plan: &str| {
        let root = two_cpus(&format!("proc/sys/kernel/osrelease = {kernel}\n{more}"));
        let checks = Doctor::report(root.path(), Some(&resolve_below(root.path(), plan))).checks;
        let found = check(&checks, "kernel-fair-server");
        (found.status, found.found.clone(), found.fix.clone())
    };
    let on = format!("{RUNTIME} = 50000000\n");
    let (status, found, fix) = answer("6.12.0", &on, plan);
    assert_eq!((status, found.as_str()), (Status::Warn, "on for CPUs 1"));
    assert_eq!(
        fix,
        "for c in 1; do echo 0 | sudo tee /sys/kernel/debug/sched/fair_server/cpu$c/runtime; done"
    );
    assert_eq!(answer("6.12.0", &format!("{RUNTIME} = 0\n"), plan).0, Status::Ok);
    assert_eq!(answer("6.11.9", "", plan).0, Status::Ok, "there was none");
    assert_eq!(answer("6.12.0", &on, "nodes.md.cpu = 1").0, Status::Ok, "nobody polls under fifo");
    let (status, found, fix) = answer("6.18.1", "", plan);
    assert_eq!(status, Status::Warn, "what cannot be read is not taken for harmless");
    assert!(found.contains("cannot be read") && fix.contains("mount -t debugfs"), "{found} {fix}");
}

#[test]
fn no_mend_asks_for_what_the_kernel_refuses_when_every_cpu_is_planned() {
    let root = two_cpus("proc/sys/kernel/osrelease = 6.1.0\n");
    let all = resolve_below(root.path(), "nodes = { md = { cpu = 0 }, td = { cpu = 1 } }");
    let checks = Doctor::report(root.path(), Some(&all)).checks;
    for id in ["irq-affinity", "irq-default", "irq-workqueue", "cpu-isolated", "cpu-rcu-nocbs"] {
        let found = check(&checks, id);
        assert_eq!(found.status, Status::Warn, "{id}");
        assert!(found.fix.starts_with("leave a CPU out of the plan"), "{id}: {}", found.fix);
    }
    let one = resolve_below(root.path(), "nodes.md.cpu = 1");
    let checks = Doctor::report(root.path(), Some(&one)).checks;
    assert_eq!(
        check(&checks, "irq-workqueue").fix,
        "echo 1 | sudo tee /sys/devices/virtual/workqueue/cpumask"
    );
}

#[test]
fn no_mend_names_what_the_kernel_does_not_have() {
    let plan = "nodes.md.cpu = 1";
    let without = two_cpus("");
    let checks = Doctor::report(without.path(), Some(&resolve_below(without.path(), plan))).checks;
    let nohz = check(&checks, "cpu-nohz-full");
    assert!(nohz.found.contains("built without CONFIG_NO_HZ_FULL"), "{nohz:?}");
    assert!(!nohz.fix.contains("kernel command line"), "{nohz:?}");
    let with = two_cpus("sys/devices/system/cpu/nohz_full =\n");
    let checks = Doctor::report(with.path(), Some(&resolve_below(with.path(), plan))).checks;
    assert_eq!(check(&checks, "cpu-nohz-full").fix, "kernel command line: nohz_full=1");

    let guest = "proc/cpuinfo:\n  processor : 0\n  flags : fpu hypervisor\nproc/cmdline = quiet\n";
    let fix = |more: &str| {
        let root = two_cpus(&format!("{guest}{more}"));
        check(&Doctor::run(root.path()), "cpu-guest-halt").fix.clone()
    };
    assert!(fix("proc/modules = loop 1\n").starts_with("sudo modprobe cpuidle-haltpoll"));
    assert!(fix("").starts_with("kernel command line: idle=poll"), "a kernel without modules");
    let built_in = fix("proc/modules = loop 1\nsys/module/cpuidle_haltpoll/parameters/force = N\n");
    assert!(built_in.starts_with("kernel command line: cpuidle_haltpoll.force=1"), "{built_in}");
    let loaded = fix("proc/modules = loop 1\nsys/module/cpuidle_haltpoll/initstate = live\n");
    assert!(loaded.starts_with("sudo modprobe"), "{loaded}");
}

/// A correction that starts like a command is one: it can be pasted into a shell.
#[test]
fn every_mend_that_is_a_command_can_be_pasted() {
    let mut commands = 0;
    for recorded in Recorded::all() {
        let Ok(host) = Host::read(recorded.root.path()) else { continue };
        let mut reports = vec![Doctor::run(recorded.root.path())];
        let first =
            host.allowed.first().map(|cpu| format!("nodes.md = {{ cpu = {cpu}, policy = \"fifo:50\" }}"));
        let plan: Option<Plan> = first.map(|text| toml::from_str(&text).unwrap());
        let md = NodeRequest { name: "md".into(), busy: true, platform: true };
        let plan = plan.and_then(|plan| plan.resolve(&host, &[md]).ok());
        reports.extend(plan.map(|plan| Doctor::report(recorded.root.path(), Some(&plan)).checks));
        for check in reports.iter().flatten().filter(|check| !check.fix.is_empty()) {
            let words = ["echo ", "sudo ", "for ", "printf ", "taskset "];
            if !words.iter().any(|word| check.fix.starts_with(word)) {
                continue;
            }
            commands += 1;
            let command = check.fix.split("  # ").next().unwrap();
            for prose in [", or ", ", then ", " (", "CPUS"] {
                assert!(!command.contains(prose), "{}: `{}`", check.id, check.fix);
            }
            let parsed = std::process::Command::new("bash").args(["-n", "-c", &check.fix]).output().unwrap();
            assert!(parsed.status.success(), "{}: `{}`: {parsed:?}", check.id, check.fix);
        }
    }
    assert!(commands > 100, "{commands}");
}

#[test]
fn the_running_host_gets_an_answer_to_every_check() {
    let report = Doctor::report("/".as_ref(), None);
    assert_eq!(report.checks.len(), check_ids().len());
    assert_eq!(report.host, Some(Host::read("/".as_ref()).unwrap().summary()));
    let json = serde_json::to_string(&report).unwrap();
    assert_eq!(serde_json::from_str::<DoctorReport>(&json).unwrap(), report);
    for key in ["\"id\"", "\"group\":\"cpu\"", "\"status\"", "\"found\"", "\"wanted\"", "\"cost\"", "\"fix\""]
    {
        assert!(json.contains(key), "{key}");
    }
}

const STAT: &str = "S 1 1 1 0 -1 4194304 17 0 3 0 5 6 0 0 20 -5 1 0 100 1000 50 18446744073709551615 1 1 0 0 0 0 0 0 0 0 \
                    0 0 17 6 0 0 0 0 0 0 0 0 0 0 0 0 0";

fn thread(pid: u32, tid: u32, name: &str, stat: &str) -> String {
    format!(
        "proc/{pid}/task/{tid}/stat = {tid} ({name}) {stat}\n\
         proc/{pid}/task/{tid}/status:\n  Name:\tx\n  Cpus_allowed:\t40\n  Cpus_allowed_list:\t6\n  Mems_allowed_list:\t0\n  \
         voluntary_ctxt_switches:\t12\n  nonvoluntary_ctxt_switches:\t3\n"
    )
}

#[test]
fn threads_are_read_whatever_their_names() {
    let root = tempfile::tempdir().unwrap();
    let counters = "proc/7/task/7/schedstat = 5000 70 9\nproc/7/task/7/sched:\n  md (7, #threads: 2)\n  \
                    se.nr_migrations                             :                    4\n";
    let real_time = STAT.replace(" 17 6 0 0 ", " 17 6 50 1 ");
    let text = format!("{}{counters}{}", thread(7, 7, "a) R (b", STAT), thread(7, 8, "", &real_time));
    unpack(&text, root.path());
    let threads = observe_below(root.path(), 7).unwrap();
    assert_eq!(threads.len(), 2);
    let first = &threads[0];
    assert_eq!((first.name.as_str(), first.cpu, first.allowed.to_string().as_str()), ("a) R (b", 6, "6"));
    assert_eq!(first.scheduling, Scheduling::Other(-5));
    assert_eq!((first.voluntary_switches, first.involuntary_switches), (12, 3));
    assert_eq!((first.run_ns, first.run_queue_wait_ns, first.migrations), (Some(5000), Some(70), Some(4)));
    assert_eq!((first.minor_faults, first.major_faults), (17, 3));
    assert_eq!(threads[1].scheduling, Scheduling::Fifo(50));
    assert_eq!(threads[1].run_ns, None);
}

#[test]
fn a_thread_that_ends_meanwhile_is_left_out_and_garbage_is_an_error() {
    let root = tempfile::tempdir().unwrap();
    unpack(
        &format!("{}proc/7/task/9/comm = half\nproc/8/comm = hidden\n", thread(7, 7, "md", STAT)),
        root.path(),
    );
    assert_eq!(observe_below(root.path(), 7).unwrap().len(), 1);
    assert!(matches!(observe_below(root.path(), 8), Err(ObserveError::Hidden { pid: 8, .. })));
    assert!(matches!(observe_below(root.path(), 9), Err(ObserveError::Gone { pid: 9 })));
    for stat in ["", "S", "S 1 1 x", &STAT.replace("17 6", "17 -6"), &STAT.replace(' ', "\n")] {
        let root = tempfile::tempdir().unwrap();
        unpack(&thread(7, 7, "md", "S"), root.path());
        std::fs::write(root.path().join("proc/7/task/7/stat"), format!("7 (md) {stat}")).unwrap();
        match observe_below(root.path(), 7) {
            Err(ObserveError::Hidden { reason, .. }) => {
                assert!(reason.contains("a line of /proc/PID/stat"), "{reason}")
            }
            Ok(threads) => assert_eq!(threads[0].cpu, 6),
            Err(error) => panic!("{stat}: {error}"),
        }
    }
}

#[test]
fn watching_the_host_takes_the_time_that_is_said() {
    let start = std::time::Instant::now();
    Doctor::run("/".as_ref());
    assert!(start.elapsed() >= Duration::from_millis(200));
}
