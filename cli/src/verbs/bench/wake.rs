//! `colo bench wake`.

use bench_harness::wake::{Policy, WakeReport, WakeSettings, measure};
use clap::{Args, ValueEnum};

use super::{measured, peer};
use crate::failure::Failure;
use crate::output::{self, Format, table};

/// How sleepers are woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum WakeBy {
    /// All of them, at every message.
    Broadcast,
    /// The one that wants it, by the writer.
    Targeted,
    /// The one that wants it, by a relay on its core.
    Relay,
    /// Nobody: one process polls for all of them.
    Hosted,
    /// As targeted, by a writer that never sleeps.
    Mixed,
}

#[derive(Debug, Args)]
pub(crate) struct Wake {
    /// One short round: ends within half a minute.
    #[arg(long)]
    quick: bool,
    /// Sleeping readers, each in a process of its own.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=WakeSettings::MOST_READERS as i64))]
    readers: Option<u32>,
    /// Messages a second, row by row.
    #[arg(long, value_delimiter = ',', value_name = "RATE,…", value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    rates: Vec<u64>,
    /// How sleepers are woken; all ways when left out.
    #[arg(long, value_delimiter = ',', value_enum)]
    policies: Vec<WakeBy>,
    /// Rounds over all rates and policies.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: Option<u32>,
    /// CPUs: the writer's, then those of the readers. By default the last two cores of the host.
    #[arg(long, value_delimiter = ',', value_name = "CPU,CPU")]
    cpus: Vec<usize>,
    /// Text for people, or one JSON object.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) fn wake(arguments: &Wake) -> Result<u8, Failure> {
    let mut settings = if arguments.quick { WakeSettings::quick() } else { WakeSettings::full() };
    settings.cpus.clone_from(&arguments.cpus);
    if let Some(readers) = arguments.readers {
        settings.readers = readers as usize;
    }
    if let Some(rounds) = arguments.rounds {
        settings.rounds = rounds as usize;
    }
    if !arguments.rates.is_empty() {
        settings.rates.clone_from(&arguments.rates);
    }
    if !arguments.policies.is_empty() {
        settings.policies = arguments.policies.iter().map(|policy| policy.of_bench()).collect();
    }
    measured("hand-over", arguments.format, text, |progress| measure(&settings, || peer("wake"), progress))
}

impl WakeBy {
    fn of_bench(self) -> Policy {
        match self {
            WakeBy::Broadcast => Policy::Broadcast,
            WakeBy::Targeted => Policy::Targeted,
            WakeBy::Relay => Policy::Relay,
            WakeBy::Mixed => Policy::Mixed,
            WakeBy::Hosted => Policy::Hosted,
        }
    }
}

fn text(report: &WakeReport) -> String {
    let host = &report.host;
    let cpus: Vec<String> = report.cpus.iter().map(usize::to_string).collect();
    let handoff = &report.handoff;
    let mut text = format!(
        "{}, {} CPUs{}; writer on CPU {}, readers on {}\n\nhand-over to a sleeper, one way: futex {:.1} µs, journal \
         {:.1} µs, ratio {:.3} (the median of those of each round)\n\n",
        host.cpu_model,
        host.cpus,
        host.virtualised.as_ref().map(|kind| format!(" ({kind})")).unwrap_or_default(),
        cpus[0],
        cpus[1..].join(", "),
        handoff.futex_floor_p50_ns / 1e3,
        handoff.journal_p50_ns / 1e3,
        handoff.ratio_p50,
    );
    let (cost, bell) = (&report.wait_support, &report.doorbell);
    text += &format!(
        "a write: {:.1} ns; able to wake, nobody to tell: {:+.1} ns; one to look at, awake: {:+.1} ns\n\
         a reader of {} journals, idle round: {:.1} ns direct, {:.1} ns by doorbell; a message reaches it in {:.0} ns \
         direct, {:.0} ns by doorbell\n\n",
        cost.write_p50_ns,
        cost.nobody_added_ns,
        cost.awake_added_ns,
        bell.journals,
        bell.direct_round_p50_ns,
        bell.bell_round_p50_ns,
        bell.direct_latency_p50_ns,
        bell.bell_latency_p50_ns,
    );
    let rows = report.rows.iter().map(|row| {
        vec![
            format!("{:?}", row.policy).to_lowercase(),
            output::number(row.rate),
            output::number(row.achieved_rate.round() as u64),
            output::duration(row.writer_p50_ns),
            output::duration(row.writer_p99_ns),
            format!("{:.1}", row.latency_p50_us),
            format!("{:.1}", row.latency_p99_us),
            format!("{:.1}", row.latency_p999_us),
            format!("{:.2}", row.wakeups_per_message),
            format!("{:.2}", row.cpu_seconds_readers),
            output::number(row.context_switches),
            row.wait_timeouts_with_data.to_string(),
            format!("{:.1}", row.lateness_p99_us),
            output::number(row.samples),
        ]
    });
    let head = [
        "policy",
        "msgs/s",
        "achieved",
        "write p50",
        "p99",
        "latency µs p50",
        "p99",
        "p99.9",
        "wakes/msg",
        "cpu s",
        "switches",
        "missed",
        "late µs p99",
        "samples",
    ];
    text += &table(&head, 1, rows);
    text
}
