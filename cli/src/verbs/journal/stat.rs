//! `colo journal stat`.

use std::time::Instant;

use journal::WriterState;
use journal::process::ProcessIdentity;
use journal::tools::{Backlog, JournalStat};
use node::Exit;
use observe::seat_name;
use pinning::PageBacking;
use serde::Serialize;

use super::args::Stat;
use super::record::time_of_day;
use super::recorded;
use super::target::Target;
use crate::failure::Failure;
use crate::output::{self, Format, bytes, count, duration, number, table};

/// What `--format json` prints.
#[derive(Debug, Serialize)]
struct StatReport {
    journal: String,
    id: u32,
    instance: Option<String>,
    path: String,
    capacity_bytes: u64,
    /// Largest payload that the journal takes.
    max_payload_bytes: u64,
    topics: u32,
    backing: Backing,
    created_ns: u64,
    /// 1, or one more than that of the journal whose positions it continues.
    incarnation: u64,
    first_position: u64,
    /// End of what is on disk; null when nobody writes it there.
    durable: Option<u64>,
    head: u64,
    /// Bytes before this may be gone.
    oldest: u64,
    frames: u64,
    bytes: u64,
    last_time_ns: Option<u64>,
    rate: Rate,
    writer: Writer,
    /// Times that the writer found it full.
    full: u64,
    /// Wake-ups that the writer sent.
    wakes: u64,
    readers: Vec<Reader>,
}

#[derive(Debug, Serialize)]
struct Backing {
    ring: String,
    /// As the journal was made.
    page_bytes: u64,
    /// As this process has it mapped; null where the kernel does not say.
    mapped_page_bytes: Option<u64>,
    /// The same with its kind: small, huge, or transparent huge pages.
    pages: Option<PageBacking>,
}

#[derive(Debug, Serialize)]
struct Rate {
    /// `interval`: measured just now; `creation`: the mean since the journal was made.
    basis: &'static str,
    seconds: f64,
    frames_per_s: f64,
    bytes_per_s: f64,
}

#[derive(Debug, Serialize)]
struct Writer {
    /// `never`, `alive`, `closed` or `dead`.
    state: &'static str,
    node: Option<String>,
    pid: Option<u32>,
    /// When its process started.
    started_ns: Option<u64>,
    /// How many writers there were so far.
    epoch: u64,
}

#[derive(Debug, Serialize)]
struct Reader {
    node: String,
    seat: u32,
    kind: &'static str,
    position: u64,
    /// Bytes that it has read and the writer must not overwrite for it.
    held_bytes: u64,
    /// True for a reader that writes to disk what it reads.
    durable: bool,
    lag_bytes: u64,
    /// Null where its next frame is overwritten.
    lag_frames: Option<u64>,
    /// How long its next frame has been there; zero when it has read everything.
    behind_ns: Option<u64>,
    frames: u64,
    gaps: u64,
    lost_bytes: u64,
}

pub(super) fn stat(arguments: &Stat) -> Result<u8, Failure> {
    if let Some(folder) = &arguments.journal.recording.recording {
        return recorded::stat(folder, &arguments.journal.journal, arguments.format);
    }
    let target = Target::open(&arguments.journal)?;
    let before = target.journal.stat();
    let start = Instant::now();
    // Nobody writes: there is nothing to measure.
    let measured = !arguments.no_rate && matches!(before.writer, WriterState::Attached(_));
    if measured {
        std::thread::sleep(arguments.interval);
    }
    let stat = target.journal.stat();
    let seconds = start.elapsed().as_secs_f64();
    let now = now(&target, &stat);
    let rate = match measured {
        true => Rate::new(
            "interval",
            seconds,
            stat.frames.saturating_sub(before.frames),
            stat.head.saturating_sub(before.head),
        ),
        false => {
            let age = now.saturating_sub(stat.created) as f64 / 1e9;
            Rate::new("creation", age, stat.frames, stat.head.saturating_sub(target.journal.first_position()))
        }
    };
    let report = report(&target, stat, rate, now)?;
    match arguments.format {
        Format::Json => output::print_json(&report)?,
        Format::Text => output::print(&text(&report))?,
    }
    Ok(Exit::Done.code())
}

/// The platform's time while somebody writes, else that of the last frame: for the dead, time stands still.
fn now(target: &Target, stat: &JournalStat) -> u64 {
    match (&target.view, stat.writer) {
        (Some(view), WriterState::Attached(_)) => view.clock().now().max(stat.last_time),
        _ => stat.last_time,
    }
}

impl Rate {
    fn new(basis: &'static str, seconds: f64, frames: u64, bytes: u64) -> Rate {
        let per_s = |count: u64| if seconds > 0.0 { count as f64 / seconds } else { 0.0 };
        Rate { basis, seconds, frames_per_s: per_s(frames), bytes_per_s: per_s(bytes) }
    }
}

fn report(target: &Target, stat: JournalStat, rate: Rate, now: u64) -> Result<StatReport, Failure> {
    let seats = target.view.as_ref().map(|view| view.seats()).unwrap_or_default();
    let node = |number: u32| seats.iter().find(|seat| seat.seat == number).map(|seat| seat.name.clone());
    let positions: Vec<u64> = stat.readers.iter().map(|reader| reader.position).collect();
    let backlogs = target.journal.backlogs(&positions)?;
    let readers = stat.readers.iter().zip(backlogs).map(|(reader, backlog)| {
        let behind = |backlog: Backlog| backlog.first_time.map_or(0, |time| now.saturating_sub(time));
        let lag = stat.head.saturating_sub(reader.position);
        // The head has moved since the cursors were read; who stood at it then was not behind.
        let backlog = if lag == 0 { Some(Backlog { frames: 0, first_time: None }) } else { backlog };
        Reader {
            node: seat_name(&seats, reader.seat),
            seat: reader.seat,
            kind: if reader.gated { "gated" } else { "loose" },
            position: reader.position,
            held_bytes: reader.holds.map_or(0, |holds| reader.position.saturating_sub(holds)),
            durable: reader.durable,
            lag_bytes: lag,
            lag_frames: backlog.map(|backlog| backlog.frames),
            behind_ns: backlog.map(behind),
            frames: reader.frames,
            gaps: reader.gaps,
            lost_bytes: reader.lost,
        }
    });
    Ok(StatReport {
        readers: readers.collect(),
        journal: target.name.clone(),
        id: stat.shape.id,
        instance: target.view.as_ref().map(|view| view.instance().name().to_owned()),
        path: target.files.control.display().to_string(),
        capacity_bytes: stat.shape.capacity,
        max_payload_bytes: stat.max_payload,
        topics: stat.shape.topics,
        backing: backing(target, &stat)?,
        created_ns: stat.created,
        incarnation: stat.incarnation,
        first_position: stat.first_position,
        durable: stat.durable,
        head: stat.head,
        oldest: stat.oldest,
        frames: stat.frames,
        bytes: stat.head.saturating_sub(target.journal.first_position()),
        last_time_ns: (stat.frames > 0).then_some(stat.last_time),
        rate,
        writer: writer(&stat, node),
        full: stat.full,
        wakes: stat.wakes,
    })
}

fn backing(target: &Target, stat: &JournalStat) -> Result<Backing, Failure> {
    // Mapped for as long as it takes to look.
    let reader = target.journal.observe(stat.head)?;
    let ring = target.files.ring.canonicalize().unwrap_or_else(|_| target.files.ring.clone());
    let files = pinning::mapped_files(std::process::id()).unwrap_or_default();
    let pages = files.into_iter().find(|file| file.path == ring).map(|file| file.pages);
    drop(reader);
    Ok(Backing {
        ring: target.files.ring.display().to_string(),
        page_bytes: stat.shape.page,
        mapped_page_bytes: pages.map(PageBacking::page_bytes),
        pages,
    })
}

fn writer(stat: &JournalStat, node: impl Fn(u32) -> Option<String>) -> Writer {
    let process = stat.writer.process();
    Writer {
        state: stat.writer.as_str(),
        node: (stat.writer != WriterState::Never).then(|| node(stat.writer_seat)).flatten(),
        pid: process.map(|process| process.pid),
        started_ns: process.and_then(started),
        epoch: stat.epoch,
    }
}

/// When a process started, in nanoseconds since the epoch. Start times count in hundredths of a second since boot.
fn started(process: ProcessIdentity) -> Option<u64> {
    let stat = std::fs::read_to_string("/proc/stat").ok()?;
    let boot: u64 = stat.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()?;
    boot.checked_mul(1_000_000_000)?.checked_add(process.start.checked_mul(10_000_000)?)
}

fn text(report: &StatReport) -> String {
    let Rate { basis, seconds, frames_per_s, bytes_per_s } = report.rate;
    let measured = match basis {
        "interval" => format!("measured over {seconds:.1} s"),
        _ => format!("mean of {seconds:.1} s since it was made"),
    };
    let made_for = bytes(report.backing.page_bytes);
    let backing = match report.backing.pages {
        Some(pages) if pages.page_bytes() != report.backing.page_bytes => {
            format!("made for {made_for} pages, mapped with {pages}")
        }
        Some(pages) => pages.to_string(),
        None => format!("{made_for} pages (the kernel does not say)"),
    };
    let last = report
        .last_time_ns
        .map_or("no frame yet".to_owned(), |time| format!("last frame at {} UTC", time_of_day(time)));
    let instance = report.instance.as_ref().map_or(String::new(), |name| format!(" of instance {name}"));
    let mut text = format!(
        "journal {} (id {}){instance}\n\
         \x20 ring     {}, {backing}; largest payload {}, {}\n\
         \x20 head     {}; {}, {} so far; readable from {}\n\
         \x20 rate     {} frames/s, {}/s, {measured}; {last}\n\
         \x20 writer   {}\n\
         \x20 counters found full {}, sent {}\n",
        report.journal,
        report.id,
        bytes(report.capacity_bytes),
        bytes(report.max_payload_bytes),
        count(u64::from(report.topics), "topic"),
        report.head,
        count(report.frames, "frame"),
        bytes(report.bytes),
        report.oldest,
        number(frames_per_s.round() as u64),
        bytes(bytes_per_s.round() as u64),
        writer_text(&report.writer),
        count(report.full, "time"),
        count(report.wakes, "wake-up"),
    );
    if report.readers.is_empty() {
        return text + "\nnobody reads it\n";
    }
    let unknown = || "overwritten".to_owned();
    let rows = report.readers.iter().map(|reader| {
        vec![
            reader.node.clone(),
            reader.kind.to_owned(),
            reader.position.to_string(),
            bytes(reader.held_bytes),
            bytes(reader.lag_bytes),
            reader.lag_frames.map_or_else(unknown, number),
            reader.behind_ns.map_or_else(unknown, duration),
            reader.gaps.to_string(),
            bytes(reader.lost_bytes),
        ]
    });
    text.push('\n');
    text.push_str(&table(
        &["reader", "kind", "position", "holds", "lag", "lag frames", "behind", "gaps", "lost"],
        2,
        rows,
    ));
    text
}

fn writer_text(writer: &Writer) -> String {
    let who = match (&writer.node, writer.pid) {
        (Some(node), Some(pid)) => format!("{node}, process {pid}"),
        (Some(node), None) => node.clone(),
        (None, Some(pid)) => format!("process {pid}"),
        (None, None) => "somebody".to_owned(),
    };
    let since =
        writer.started_ns.map_or(String::new(), |time| format!(", started {} UTC", &time_of_day(time)[..8]));
    match writer.state {
        "never" => "nobody yet".to_owned(),
        "alive" => format!("{who}, alive{since}, writer number {}", writer.epoch),
        "closed" => format!("{who} left in good order, writer number {}", writer.epoch),
        _ => format!("{who} died{since}, writer number {}", writer.epoch),
    }
}
