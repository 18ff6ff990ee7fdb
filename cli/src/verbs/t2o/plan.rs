//! `colo t2o plan`, and `colo check` on a scenario.

use bench_harness::t2o;
use node::Exit;

use super::args::Plan;
use crate::failure::Failure;
use crate::output::{self, Format, bytes, number, table};

pub(crate) fn plan(arguments: &Plan) -> Result<u8, Failure> {
    let scenario = super::scenario(&arguments.scenario)?;
    let plan = super::plan_of(&scenario, &arguments.scenario)?;
    match arguments.format {
        Format::Json => output::print_json(&plan)?,
        Format::Text => output::print(&text(&plan))?,
    }
    Ok(Exit::Done.code())
}

fn text(plan: &t2o::Plan) -> String {
    let cells = plan.cells.iter().map(|cell| {
        vec![
            cell.name.clone(),
            number_of(cell.rate),
            cell.repeats.to_string(),
            format!("{:.1}", cell.measured_seconds),
            number(cell.samples),
            format!("{:.0}", cell.seconds),
        ]
    });
    let mut text = table(&["cell", "quotes/s", "runs", "s a run", "samples a run", "s in all"], 1, cells);
    text.push('\n');
    let cores = plan.cores.iter().map(|need| {
        let pinned = if need.pinned_to.is_empty() { "-" } else { need.pinned_to.as_str() };
        let remapped: Vec<String> =
            need.remapped.iter().map(|(planned, used)| format!("{planned}→{used}")).collect();
        vec![
            need.group.clone(),
            need.title.clone(),
            need.fast.to_string(),
            need.sleeping.to_string(),
            pinned.to_owned(),
            if remapped.is_empty() { "-".to_owned() } else { remapped.join(" ") },
        ]
    });
    text.push_str(&table(&["group", "what", "fast", "sleeping", "pinned to", "remapped"], 2, cores));
    for left_out in &plan.left_out {
        text.push_str(&format!("group {} is left out: {}\n", left_out.group, left_out.why));
    }
    text.push_str(&format!("\n{}\n", summary(plan)));
    text
}

/// In one line.
pub(crate) fn summary(plan: &t2o::Plan) -> String {
    let huge = if plan.huge_bytes == 0 {
        String::new()
    } else {
        format!(", or {} on huge pages", bytes(plan.huge_bytes))
    };
    format!(
        "{}: {} cells, {} runs, about {}; at most {} of shared memory at a time{huge}; {} CPUs here",
        plan.scenario,
        plan.cells.len(),
        plan.runs,
        duration(plan.seconds),
        bytes(plan.small_bytes),
        plan.host_cpus,
    )
}

/// `2h 5min`, `25min`, `40s`.
pub(crate) fn duration(seconds: f64) -> String {
    let seconds = seconds.round().max(0.0) as u64;
    match (seconds / 3_600, seconds / 60 % 60) {
        (0, 0) => format!("{seconds} s"),
        (0, minutes) if minutes < 10 => format!("{minutes} min {} s", seconds % 60),
        (0, minutes) => format!("{minutes} min"),
        (hours, minutes) => format!("{hours} h {minutes} min"),
    }
}

/// A rate without needless digits.
pub(crate) fn number_of(rate: f64) -> String {
    if rate.fract() == 0.0 { number(rate as u64) } else { rate.to_string() }
}
