//! What the page is told.

use std::time::Duration;

use node::Counter;
use observe::{Seated, StageSummary, Stages, Totals};
use serde::Serialize;
use topology::NodeKind;
use utoipa::ToSchema;

use super::Look;
use super::desk::Holdings;
use super::recent::RecentView;
use super::trouble::{FEED_NS, TroubleView, is_judged};

/// Readers at most, the farthest behind first.
const MOST_READERS: usize = 100;

/// The platform in one look.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct OverviewView {
    /// Name of the instance.
    instance: String,
    /// When it was looked at, in nanoseconds since the epoch.
    at_ns: u64,
    /// Where the platform stands.
    phase: &'static str,
    /// Whether a master process lives.
    master: bool,
    /// Nothing is dead, stale or losing.
    is_well: bool,
    /// What is; the worst first.
    troubles: Vec<TroubleView>,
    /// By seat.
    nodes: Vec<NodeView>,
    /// Market data, by journal.
    feeds: Vec<FeedView>,
    /// The farthest behind first.
    readers: Vec<ReaderView>,
    /// Readers that are not listed.
    more_readers: usize,
    /// Journals that are recorded.
    durable: Vec<DurableView>,
    /// Recorders.
    disks: Vec<DiskView>,
    /// What was asked and refused since the instance was made.
    #[schema(value_type = Object)]
    totals: Totals,
    /// Where the time of orders went since then.
    #[schema(value_type = Object)]
    stages: std::collections::BTreeMap<String, StageSummary>,
    /// Orders that td has passed on, the newest first.
    recent: Vec<RecentView>,
    /// What is held and at work; null where it cannot be read.
    holdings: Option<Holdings>,
    /// How old that is.
    holdings_age_ms: Option<u64>,
    /// Why it cannot be read.
    holdings_error: Option<String>,
}

/// A node.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct NodeView {
    /// Its name.
    node: String,
    /// What it is.
    kind: String,
    /// Where it stands, in words.
    state: String,
    /// Whether its process lives.
    alive: bool,
    /// Since its last sign of life.
    silent_ms: Option<u64>,
    /// How often it was started.
    starts: u64,
    /// What it lost so far.
    lost_bytes: u64,
}

/// A journal of market data.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FeedView {
    /// The journal.
    journal: String,
    /// Who writes it.
    source: String,
    /// Since its last frame.
    age_ms: Option<u64>,
    /// Frames so far.
    frames: u64,
    /// Silence is wrong here, and it is silent.
    is_stale: bool,
}

/// A reader of a journal.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ReaderView {
    /// Of which journal.
    journal: String,
    /// Who.
    node: String,
    /// The writer waits for it.
    gated: bool,
    /// Bytes that it has not read.
    lag_bytes: u64,
    /// Bytes of the ring.
    capacity_bytes: u64,
    /// Bytes that it lost so far.
    lost_bytes: u64,
}

/// A journal that is recorded.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DurableView {
    /// Its name.
    journal: String,
    /// Up to here it is on disk.
    durable: u64,
    /// Bytes that are not.
    behind_bytes: u64,
}

/// A recorder.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DiskView {
    /// Its name.
    recorder: String,
    /// Bytes on disk.
    recorded_bytes: u64,
    /// Writes that were synced.
    syncs: u64,
    /// How long its disk has refused to write.
    refuses_ms: Option<u64>,
    /// Bytes of journals that its recording lacks.
    missing_bytes: u64,
}

impl OverviewView {
    pub(super) fn of(
        look: &Look,
        troubles: Vec<TroubleView>,
        recent: Vec<RecentView>,
        holdings: Option<(Duration, &Result<Holdings, String>)>,
    ) -> OverviewView {
        let state = &look.state;
        let stages = Stages::read(&look.view, look.topology.as_ref(), &look.totals).stages;
        let mut readers = readers(look);
        let more_readers = readers.len().saturating_sub(MOST_READERS);
        readers.truncate(MOST_READERS);
        let age = holdings.map(|(age, _)| age.as_millis() as u64);
        OverviewView {
            instance: state.instance.clone(),
            at_ns: look.at_ns,
            phase: state.phase_name(),
            master: state.has_master(),
            is_well: troubles.is_empty(),
            troubles,
            nodes: nodes(look),
            feeds: feeds(look),
            readers,
            more_readers,
            durable: durable(look),
            disks: disks(look),
            totals: look.totals.clone(),
            stages,
            recent,
            holdings: holdings.and_then(|(_, read)| read.as_ref().ok()).cloned(),
            holdings_age_ms: age,
            holdings_error: holdings.and_then(|(_, read)| read.as_ref().err()).cloned(),
        }
    }
}

fn nodes(look: &Look) -> Vec<NodeView> {
    let row = |seat: &observe::SeatView| NodeView {
        node: seat.name.clone(),
        kind: seat.kind.to_string(),
        state: Seated::of(seat).state,
        alive: seat.alive,
        silent_ms: seat.silent_ns.map(|silent| silent / 1_000_000),
        starts: seat.generation,
        lost_bytes: seat.counter(Counter::BytesLost),
    };
    look.state.seats.iter().map(row).collect()
}

fn feeds(look: &Look) -> Vec<FeedView> {
    let judged = is_judged(look);
    let row = |stat: &journal::tools::JournalStat| FeedView {
        journal: stat.shape.name.clone(),
        source: look.name_of(stat.writer_seat),
        age_ms: look.age_ns(stat).map(|age| age / 1_000_000),
        frames: stat.frames,
        is_stale: judged && look.age_ns(stat).is_some_and(|age| age > FEED_NS),
    };
    look.feeds().map(row).collect()
}

fn readers(look: &Look) -> Vec<ReaderView> {
    let mut rows: Vec<ReaderView> = Vec::new();
    for stat in look.state.journals.iter().map(|journal| &journal.stat) {
        rows.extend(stat.readers.iter().map(|reader| ReaderView {
            journal: stat.shape.name.clone(),
            node: look.name_of(reader.seat),
            gated: reader.gated,
            lag_bytes: stat.head.saturating_sub(reader.position),
            capacity_bytes: stat.shape.capacity,
            lost_bytes: reader.lost,
        }));
    }
    rows.sort_by(|one, other| {
        let key = |row: &ReaderView| (std::cmp::Reverse(row.lag_bytes), std::cmp::Reverse(row.lost_bytes));
        key(one)
            .cmp(&key(other))
            .then_with(|| one.journal.cmp(&other.journal))
            .then_with(|| one.node.cmp(&other.node))
    });
    rows
}

fn durable(look: &Look) -> Vec<DurableView> {
    let stats = look.state.journals.iter().map(|journal| &journal.stat);
    let rows = stats.filter_map(|stat| {
        let durable = look.durable(stat)?;
        Some(DurableView {
            journal: stat.shape.name.clone(),
            durable,
            behind_bytes: stat.head.saturating_sub(durable),
        })
    });
    rows.collect()
}

fn disks(look: &Look) -> Vec<DiskView> {
    let row = |seat: &observe::SeatView| {
        let since = Some(seat.counter(Counter::DiskRefusesSince)).filter(|since| *since > 0);
        DiskView {
            recorder: seat.name.clone(),
            recorded_bytes: seat.counter(Counter::BytesRecorded),
            syncs: seat.counter(Counter::Syncs),
            refuses_ms: since.map(|since| look.at_ns.saturating_sub(since) / 1_000_000),
            missing_bytes: seat.counter(Counter::BytesLost),
        }
    };
    look.state.seats.iter().filter(|seat| seat.kind == NodeKind::Recorder).map(row).collect()
}
