//! `colo bench ipc`.

use bench_harness::ipc::{IpcReport, IpcSettings, measure};

use super::{Ipc, measured, peer};
use crate::failure::Failure;
use crate::output::{self, table};

pub(super) fn ipc(arguments: &Ipc) -> Result<u8, Failure> {
    let mut settings = if arguments.quick { IpcSettings::quick() } else { IpcSettings::full() };
    settings.cpus.clone_from(&arguments.cpus);
    if let Some(rounds) = arguments.rounds {
        settings.rounds = rounds as usize;
    }
    if let Some(kib) = arguments.ring {
        settings.capacity = (kib << 10).next_power_of_two();
    }
    measured("ping-pong", arguments.format, text, |progress| measure(&settings, || peer("ipc"), progress))
}

fn text(report: &IpcReport) -> String {
    let host = &report.host;
    let cpus: Vec<String> = report.cpus.iter().map(usize::to_string).collect();
    let mut text = format!(
        "{}, {} CPUs{}; measured on CPUs {}, clock {}\n\none-way, ns (half of a round trip); floor: a word over {} \
         cache lines, one each way, with a reading of the clock a round trip as the journal has it; bare: without; ratios: the median of those of each \
         round\n",
        host.cpu_model,
        host.cpus,
        host.virtualised.as_ref().map(|kind| format!(" ({kind})")).unwrap_or_default(),
        cpus.join(", "),
        report.clock,
        report.floor_lines,
    );
    let ns = |value: f64| format!("{value:.0}");
    let rows = report.rows.iter().map(|row| {
        vec![
            row.payload_bytes.to_string(),
            format!("{:?}", row.placement).to_lowercase(),
            ns(row.floor_p50_ns),
            ns(row.floor_p99_ns),
            ns(row.floor_p999_ns),
            ns(row.floor_max_ns),
            ns(row.floor_bare_p50_ns),
            ns(row.journal_p50_ns),
            ns(row.journal_p99_ns),
            ns(row.journal_p999_ns),
            ns(row.journal_max_ns),
            format!("{:.2}", row.ratio_p50),
            format!("{:.2}", row.ratio_bare_p50),
            row.rounds.to_string(),
            output::number(row.samples),
        ]
    });
    let head = [
        "payload",
        "cores",
        "floor p50",
        "p99",
        "p99.9",
        "max",
        "bare p50",
        "journal p50",
        "p99",
        "p99.9",
        "max",
        "ratio p50",
        "to bare",
        "rounds",
        "samples",
    ];
    text += &table(&head, 2, rows);
    text += "\nthroughput, million messages a second; a row is one run, that with the middle msgs/s of all, whose range is beside it\n";
    let million = |value: f64| format!("{:.1}", value / 1e6);
    let rows = report.throughput.iter().map(|row| {
        vec![
            row.payload_bytes.to_string(),
            row.readers.to_string(),
            format!("{:?}", row.mode).to_lowercase(),
            format!("{:?}", row.calls).to_lowercase(),
            million(row.msgs_per_s),
            format!("{}..{}", million(row.range[0]), million(row.range[1])),
            million(row.received_per_s),
            format!("{:.1} %", row.lost_part * 100.0),
            if row.exact { "exact" } else { "NOT EXACT" }.to_owned(),
        ]
    });
    let head = ["payload", "readers", "mode", "calls", "msgs/s", "range", "received/s", "lost", "counts"];
    text += &table(&head, 0, rows);
    text += "\na write of 32 bytes beside loose readers\n";
    let rows = report.fan_out.iter().map(|row| {
        vec![row.loose_readers.to_string(), format!("{:.1}", row.write_p50_ns), row.blocks.to_string()]
    });
    text += &table(&["loose readers", "ns p50", "blocks"], 0, rows);
    text += "\none round of polling\n";
    let poll = &report.poll;
    let rows = poll.idle_journals.iter().zip(&poll.added_p50_ns).zip(&poll.looking_added_p50_ns);
    let rows = rows.map(|((idle, added), looking)| {
        vec![idle.to_string(), format!("{added:.1}"), format!("{looking:.1}")]
    });
    text += &table(&["idle journals", "ns added", "looking at each"], 0, rows);
    text
}
