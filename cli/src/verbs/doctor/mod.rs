//! `colo doctor`: is this host fit for latency figures?

mod topology;

use observe::Fit;
use pinning::{Check, DoctorReport, Group, HostSummary, Scale, Status, Verdict, unmet};
use serde::Serialize;

use super::fit::{self, FitAnswer};
use crate::args::{Doctor, PlanArguments};
use crate::failure::Failure;
use crate::output::{self, Format};

/// What `--format json` prints.
#[derive(Debug, Serialize)]
struct Answer<'a> {
    #[serde(flatten)]
    report: &'a DoctorReport,
    /// The plan that the host was looked at for; `null` without a platform file, or when that plans nothing.
    plan: Option<PlanAnswer<'a>>,
    /// Ids of required checks that failed.
    unmet: Vec<&'a str>,
}

#[derive(Debug, Serialize)]
struct PlanAnswer<'a> {
    file: &'a str,
    #[serde(flatten)]
    fit: FitAnswer<'a>,
}

/// A platform on the host that is looked at.
pub(super) struct Planned {
    pub(super) platform: ::topology::Platform,
    pub(super) fit: Fit,
}

/// Reads the plan that the arguments name; `None` without a platform file.
pub(super) fn planned(arguments: &PlanArguments) -> Result<Option<Planned>, Failure> {
    let Some(file) = &arguments.file else { return Ok(None) };
    let platform = ::topology::load(file, &arguments.sets)?;
    let fit = fit::fit(&platform.topology, &arguments.root)?;
    Ok(Some(Planned { platform, fit }))
}

pub(crate) fn doctor(arguments: &Doctor) -> Result<u8, Failure> {
    if arguments.topology {
        return topology::print(&fit::host(&arguments.plan.root)?, arguments.format);
    }
    let planned = planned(&arguments.plan)?;
    let plan = planned.as_ref().and_then(|planned| planned.fit.plan.as_ref());
    let report = pinning::Doctor::report(&arguments.plan.root, plan);
    let required: &[String] =
        planned.as_ref().map_or(&[], |planned| planned.platform.topology.pin.required.as_slice());
    let failed = unmet(&report.checks, required);
    let fits = planned.as_ref().is_none_or(|planned| planned.fit.is_good());
    match arguments.format {
        Format::Json => output::print_json(&Answer {
            report: &report,
            plan: planned
                .as_ref()
                .map(|planned| PlanAnswer { file: &planned.platform.file, fit: FitAnswer::of(&planned.fit) }),
            unmet: failed.iter().map(|check| check.id.as_str()).collect(),
        })?,
        Format::Text => {
            let mut text = report.host.as_ref().map_or(String::new(), summary);
            text.push_str(&checks(&report.checks, required, arguments.problems));
            if let Some(planned) = &planned {
                text.push_str(&plan_text(planned));
            }
            text.push_str(&totals(&report.checks, &failed));
            let is_refused = !fits || !failed.is_empty();
            text.push_str(&verdict(&report.verdict, &report.checks, is_refused));
            output::print(&text)?;
        }
    }
    let exit = if failed.is_empty() && fits { node::Exit::Done } else { node::Exit::HostUnfit };
    Ok(exit.code())
}

/// The host in a line or two.
pub(super) fn summary(host: &HostSummary) -> String {
    let mut parts = vec![
        host.cpu_model.clone(),
        counted(host.packages, "socket"),
        counted(host.cores, "core"),
        format!("{} ({} allowed)", counted(host.cpus, "CPU"), host.allowed_cpus),
        counted(host.numa_nodes, "NUMA node"),
    ];
    parts.extend(host.memory_bytes.map(|bytes| format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30))));
    parts.extend(host.kernel.as_ref().map(|kernel| format!("Linux {kernel}")));
    parts.push(host.virtualised.as_ref().map_or("no hypervisor".to_owned(), |kind| format!("under {kind}")));
    parts.extend(host.container.as_ref().map(|kind| format!("in a container ({kind})")));
    parts.extend(host.clocksource.as_ref().map(|clock| format!("clock {clock}")));
    parts.join(", ") + "\n"
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

const GROUPS: [(Group, &str); 7] = [
    (Group::Cpu, "CPU"),
    (Group::Memory, "memory"),
    (Group::Interrupts, "interrupts"),
    (Group::Kernel, "kernel"),
    (Group::Clock, "clock"),
    (Group::Limits, "limits"),
    (Group::Container, "container"),
];

fn word(status: Status) -> &'static str {
    match status {
        Status::Ok => "ok",
        Status::Warn => "warn",
        Status::Fail => "FAIL",
        Status::Skip => "skip",
    }
}

fn checks(all: &[Check], required: &[String], only_problems: bool) -> String {
    let mut text = String::new();
    let is_problem = |check: &Check| matches!(check.status, Status::Warn | Status::Fail);
    for (group, title) in GROUPS {
        let shown: Vec<&Check> = all
            .iter()
            .filter(|check| check.group == group && (!only_problems || is_problem(check)))
            .collect();
        if shown.is_empty() {
            continue;
        }
        text.push_str(&format!("\n{title}\n"));
        for check in shown {
            let mark = if required.contains(&check.id) { " (required)" } else { "" };
            text.push_str(&format!("  {:<4}  {:<24}{}{mark}\n", word(check.status), check.id, check.found));
            if is_problem(check) {
                let indent = " ".repeat(8);
                text.push_str(&format!(
                    "{indent}wanted  {}\n{indent}cost    {}\n{indent}fix     {}\n",
                    check.wanted, check.cost, check.fix
                ));
            }
        }
    }
    text
}

fn plan_text(planned: &Planned) -> String {
    let mut text = format!("\nplatform of {}\n", planned.platform.file);
    match &planned.fit.plan {
        Some(plan) => text.push_str(&format!("  CPUs that must be quiet: {}\n", plan.quiet_cpus())),
        None if planned.fit.plan_problems.is_empty() => {
            text.push_str("  no pin plan: the kernel decides who runs where\n");
        }
        None => {}
    }
    fit::lines(&planned.fit).lines().for_each(|line| text.push_str(&format!("  {line}\n")));
    text
}

fn totals(all: &[Check], failed: &[&Check]) -> String {
    let count = |status: Status| all.iter().filter(|check| check.status == status).count();
    let mut text = format!(
        "\n{} checks: {} ok, {} warn, {} fail, {} skipped\n",
        all.len(),
        count(Status::Ok),
        count(Status::Warn),
        count(Status::Fail),
        count(Status::Skip)
    );
    if !failed.is_empty() {
        let names: Vec<&str> = failed.iter().map(|check| check.id.as_str()).collect();
        text.push_str(&format!("required and failed: {}\n", names.join(", ")));
    }
    text
}

/// How many findings the verdict names.
const NAMED: usize = 3;

/// What it comes to, and what to mend first.
fn verdict(verdict: &Verdict, all: &[Check], is_refused: bool) -> String {
    let mut text = String::from("\n");
    if is_refused {
        text.push_str("the platform does not fit this host, for the reasons above; the host itself is\n");
    }
    text.push_str(&format!("{}\n", verdict.sentence));
    let ranked = verdict.ranked.iter().filter_map(|id| all.iter().find(|check| check.id == *id));
    let delaying: Vec<&Check> =
        ranked.filter(|check| check.status == Status::Fail || check.scale < Scale::Less).collect();
    for (place, check) in delaying.iter().take(NAMED).enumerate() {
        let place = place + 1;
        let cost = if check.scale == Scale::Less { &check.cost } else { check.scale.words() };
        text.push_str(&format!("  {place}. {:<20} {:<13} {}\n", check.id, cost, check.fix));
    }
    if delaying.len() > NAMED {
        text.push_str(&format!("  and {} more: see above\n", delaying.len() - NAMED));
    }
    text
}
