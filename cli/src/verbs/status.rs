//! `colo status`.

use std::collections::BTreeMap;

use journal::WriterState;
use node::Counter;
use observe::{
    DamagedJournal, InstanceView, JournalView, Lost, SeatView, Seated, Stages, State, Totals, seat_name,
};
use pinning::PageBacking;
use serde::Serialize;
use topology::{NodeSpec, StrategySection, Topology};

use crate::args::Status;
use crate::failure::Failure;
use crate::output::{self, Format, bytes, number, table};
use crate::verbs::report;
use crate::verbs::seats::{damaged_text, held_text};

/// What `--format json` prints.
#[derive(Debug, Serialize)]
struct StatusReport {
    instance: String,
    phase: String,
    /// Whether a master process lives.
    master: bool,
    /// Its processes are of another pid namespace: whether they live cannot be told from here.
    foreign: bool,
    clock: &'static str,
    /// What the journals have held since the instance was made; `null` where its topology cannot be read.
    totals: Option<Totals>,
    /// Where the time of orders went since then.
    #[serde(flatten)]
    stages: Stages,
    /// What which reader lost of which journal since then.
    lost_by: Vec<Lost>,
    nodes: Vec<NodeRow>,
    journals: Vec<JournalRow>,
    /// Journals that cannot be read.
    damaged: Vec<DamagedJournal>,
}

#[derive(Debug, Serialize)]
struct NodeRow {
    #[serde(flatten)]
    seated: Seated,
    starts: u64,
    silent_ms: Option<u64>,
    exit: Option<u8>,
    /// Bytes committed for its gated inputs and not handled yet.
    lag_bytes: u64,
    lost_bytes: u64,
    /// CPUs that the plan gives it; `null` without a plan.
    planned_cpus: Option<String>,
    /// Longest that one call of this strategy should take; `null` where that is not measured.
    budget_ns: Option<u64>,
    /// Looks at its threads in which one was not where the plan says, and looks in all.
    off_plan: u64,
    place_samples: u64,
    counters: serde_json::Map<String, serde_json::Value>,
}

#[derive(Debug, Serialize)]
pub(super) struct JournalRow {
    pub(super) journal: String,
    pub(super) id: u32,
    pub(super) capacity_bytes: u64,
    /// Pages that it was made for.
    pub(super) page_bytes: u64,
    /// Pages that it lies on, in words.
    pub(super) backing: String,
    /// The same as the kernel says it of a process that maps the ring; `null` when none does that may be looked into.
    pub(super) pages: Option<PageBacking>,
    pub(super) head: u64,
    pub(super) frames: u64,
    pub(super) writer: String,
    pub(super) epoch: u64,
    pub(super) full: u64,
    pub(super) wakes: u64,
    pub(super) readers: Vec<ReaderRow>,
}

#[derive(Debug, Serialize)]
pub(super) struct ReaderRow {
    pub(super) node: String,
    pub(super) kind: &'static str,
    pub(super) position: u64,
    pub(super) lag_bytes: u64,
    pub(super) lost_bytes: u64,
    pub(super) gaps: u64,
}

pub(crate) fn status(arguments: &Status) -> Result<u8, Failure> {
    let view = super::instance::view(arguments.instance.name())?;
    let report = gather(&view)?;
    match arguments.format {
        Format::Json => output::print_json(&report)?,
        Format::Text => output::print(&text(&report))?,
    }
    Ok(node::Exit::Done.code())
}

fn gather(view: &InstanceView) -> Result<StatusReport, Failure> {
    let state = State::read(view)?;
    let master = state.has_master();
    let State { instance, phase, seats, journals, damaged, .. } = state;
    let topology = topology(view);
    let planned = topology.as_ref().map(planned).unwrap_or_default();
    let budget = |seat: &SeatView| budget_ns(topology.as_ref()?.node(&seat.name)?);
    let node = |seat: &SeatView| NodeRow {
        budget_ns: budget(seat),
        planned_cpus: planned.get(&seat.name).cloned(),
        ..node_row(seat, &journals)
    };
    let nodes = seats.iter().map(node).collect();
    let totals = topology.as_ref().map(|topology| Totals::read(view, topology).0);
    Ok(StatusReport {
        instance,
        phase: phase.to_string(),
        master,
        foreign: view.is_foreign(),
        clock: view.clock().source().as_str(),
        stages: Stages::read(view, &totals.clone().unwrap_or_default()),
        totals,
        lost_by: topology.map(|topology| Lost::read(view, &topology, &seats)).unwrap_or_default(),
        nodes,
        journals: journal_rows(view, &journals, &seats),
        damaged,
    })
}

/// Rows of these journals by number, with what the kernel says of their pages.
pub(super) fn journal_rows(
    view: &InstanceView,
    journals: &[JournalView],
    seats: &[SeatView],
) -> Vec<JournalRow> {
    let backings = view.backings(journals);
    let row = |journal: &JournalView| {
        let mut row = journal_row(journal, seats);
        if view.is_foreign()
            && let WriterState::Attached(process) | WriterState::Dead(process) = journal.stat.writer
        {
            row.writer = format!("process {} of another pid namespace", process.pid);
        }
        let pages = backings.get(&row.journal).copied();
        let backing = pages.map_or_else(|| backing(row.page_bytes), |pages| pages.to_string());
        JournalRow { pages, backing, ..row }
    };
    let mut rows: Vec<JournalRow> = journals.iter().map(row).collect();
    rows.sort_by_key(|row| row.id);
    rows
}

/// What the instance was made from; `None` when that cannot be read.
fn topology(view: &InstanceView) -> Option<Topology> {
    let text = std::fs::read(view.instance().topology()).ok()?;
    serde_json::from_slice(&text).ok()
}

/// CPUs by node, as the instance's plan has them on this host; empty when it plans nothing.
fn planned(topology: &Topology) -> BTreeMap<String, String> {
    let host = pinning::Host::read("/".as_ref()).ok();
    let plan = host.and_then(|host| topology.place(&host).ok().flatten());
    let placements = plan.into_iter().flat_map(|plan| plan.placements);
    placements.map(|placement| (placement.node, placement.cpus.to_string())).collect()
}

fn node_row(seat: &SeatView, journals: &[JournalView]) -> NodeRow {
    let lag_bytes = journals
        .iter()
        .flat_map(|journal| journal.stat.readers.iter().map(move |reader| (journal.stat.head, reader)))
        .filter(|(_, reader)| reader.gated && reader.seat == seat.seat)
        .map(|(head, reader)| head.saturating_sub(reader.position))
        .sum();
    NodeRow {
        seated: Seated::of(seat),
        starts: seat.generation,
        silent_ms: seat.silent_ns.filter(|_| seat.alive).map(|silent| silent / 1_000_000),
        exit: seat.exit,
        lag_bytes,
        lost_bytes: seat.counter(Counter::BytesLost),
        planned_cpus: None,
        budget_ns: None,
        off_plan: seat.counter(Counter::OffPlan),
        place_samples: seat.counter(Counter::PlaceSamples),
        counters: seat.counters.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect(),
    }
}

fn journal_row(view: &JournalView, seats: &[SeatView]) -> JournalRow {
    let stat = &view.stat;
    JournalRow {
        journal: stat.shape.name.clone(),
        id: stat.shape.id,
        capacity_bytes: stat.shape.capacity,
        page_bytes: stat.shape.page,
        backing: String::new(),
        pages: None,
        head: stat.head,
        frames: stat.frames,
        writer: writer(stat.writer),
        epoch: stat.epoch,
        full: stat.full,
        wakes: stat.wakes,
        readers: stat
            .readers
            .iter()
            .map(|reader| ReaderRow {
                node: seat_name(seats, reader.seat),
                kind: if reader.gated { "gated" } else { "loose" },
                position: reader.position,
                lag_bytes: stat.head.saturating_sub(reader.position),
                lost_bytes: reader.lost,
                gaps: reader.gaps,
            })
            .collect(),
    }
}

fn backing(page: u64) -> String {
    let made_for =
        if page == 4096 { "4 KiB pages".to_owned() } else { format!("{} huge pages", bytes(page)) };
    format!("made for {made_for}, nobody maps it")
}

fn writer(state: WriterState) -> String {
    match state {
        WriterState::Never => "nobody yet".to_owned(),
        WriterState::Attached(process) => format!("process {}", process.pid),
        WriterState::Closed => "left".to_owned(),
        WriterState::Dead(process) => format!("process {} died", process.pid),
    }
}

/// Longest that one call of a strategy should take, where that is measured.
fn budget_ns(node: &NodeSpec) -> Option<u64> {
    let section: StrategySection = serde_json::from_value(node.section.clone()).ok()?;
    let budget = u64::try_from(section.budget.as_nanos()).ok()?;
    (budget > 0).then_some(budget)
}

/// Strategies whose calls take longer than they should.
fn over_budget(report: &StatusReport) -> String {
    let count = |node: &NodeRow, name: &str| node.counters.get(name).and_then(serde_json::Value::as_u64);
    let rows = report.nodes.iter().filter_map(|node| {
        let overruns = count(node, "overruns").filter(|overruns| *overruns > 0)?;
        let longest = count(node, "overrun_max_ns")? as f64 / 1_000_000.0;
        let budget =
            node.budget_ns.map_or(String::new(), |budget| format!(" of {:.3} ms", budget as f64 / 1e6));
        Some(format!(
            "over its time budget{budget}: {}, {} calls, the longest {longest:.3} ms\n",
            node.seated.node,
            number(overruns)
        ))
    });
    rows.collect()
}

fn text(report: &StatusReport) -> String {
    let master = match (report.master, report.foreign) {
        (true, false) => "",
        (true, true) => {
            "; its nodes run in another pid namespace: whether they live cannot be told from here"
        }
        (false, false) => "; its master is gone: `colo up` takes it over",
        (false, true) => {
            "; its master is gone, its nodes run in another pid namespace: `colo up` there takes it over"
        }
    };
    let mut text =
        format!("instance {}: {}, clock {}{master}\n\n", report.instance, report.phase, report.clock);
    let nodes = report.nodes.iter().map(|node| {
        vec![
            node.seated.node.clone(),
            if node.seated.pid == 0 { "-".to_owned() } else { node.seated.pid.to_string() },
            node.seated.cpu.map_or("-".to_owned(), |cpu| cpu.to_string()),
            node.planned_cpus.clone().unwrap_or("-".to_owned()),
            if node.place_samples == 0 { "-".to_owned() } else { number(node.off_plan) },
            node.seated.mode.clone(),
            node.seated.state.clone(),
            node.starts.to_string(),
            bytes(node.lag_bytes),
            bytes(node.lost_bytes),
        ]
    });
    text.push_str(&table(
        &["node", "pid", "cpu", "plan", "off plan", "wait", "state", "starts", "lag", "lost"],
        1,
        nodes,
    ));
    if let Some(totals) = &report.totals {
        text.push_str(&format!(
            "since it was made: {} quotes, {} trade prints, {}, {} fills\n",
            number(totals.quotes),
            number(totals.trades),
            report::requests(&totals.requests),
            number(totals.fills)
        ));
    }
    text.push_str(&report::lost(&report.lost_by));
    text.push_str(&report::stages(&report.stages));
    text.push_str(&over_budget(report));
    text.push_str(&held_text(report.nodes.iter().map(|node| &node.seated)));
    text.push('\n');
    let journals = report.journals.iter().map(|journal| {
        let lag = journal.readers.iter().map(|reader| reader.lag_bytes).max().unwrap_or(0);
        vec![
            journal.journal.clone(),
            bytes(journal.capacity_bytes),
            journal.backing.clone(),
            number(journal.frames),
            journal.readers.len().to_string(),
            bytes(lag),
            number(journal.full),
            journal.writer.clone(),
        ]
    });
    let head = ["journal", "ring", "backing", "frames", "readers", "largest lag", "full", "writer"];
    text.push_str(&table(&head, 1, journals));
    text.push_str(&damaged_text(&report.damaged));
    text
}
