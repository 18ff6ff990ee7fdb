//! From two moments to rates.

use journal::{JournalStat, WriterState};
use node::{Counter, InstanceView, SeatView};
use serde::Serialize;
use topology::NodeKind;

use super::moment::{Moment, T2o};
use crate::verbs::seats::{self, Seated};
use crate::verbs::status::{DamagedRow, damaged_rows};

/// What `--format json` prints.
#[derive(Debug, Serialize)]
pub(super) struct TopReport {
    pub(super) instance: String,
    pub(super) phase: String,
    pub(super) master: bool,
    /// What the rates were measured over.
    pub(super) interval_s: f64,
    pub(super) totals: Totals,
    pub(super) nodes: Vec<NodeRow>,
    pub(super) journals: Vec<JournalRow>,
    /// Journals that cannot be read.
    pub(super) damaged: Vec<DamagedRow>,
}

#[derive(Debug, Serialize)]
pub(super) struct Totals {
    pub(super) quotes_per_s: f64,
    pub(super) orders_per_s: f64,
    pub(super) fills_per_s: f64,
    /// Sleeps of nodes that were ended by a wake-up.
    pub(super) wakes_per_s: f64,
    /// Bytes that loose readers lost, so far.
    pub(super) lost_bytes: u64,
    /// Sleeps so far that only the safety time-out ended although there was news: must be zero.
    pub(super) wait_timeouts_with_data: u64,
    pub(super) t2o: Spread,
    /// Bytes of samples that came too fast for this program: the nodes' own times lack them.
    pub(super) t2o_lost_bytes: u64,
}

/// Times of one interval.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct Spread {
    pub(super) n: u64,
    pub(super) p50_us: Option<f64>,
    pub(super) p99_us: Option<f64>,
    pub(super) max_us: Option<f64>,
}

#[derive(Debug, Serialize)]
pub(super) struct NodeRow {
    #[serde(flatten)]
    pub(super) seated: Seated,
    /// Of one CPU; more than 100 with several threads. Null where the system does not say.
    pub(super) cpu_percent: Option<f64>,
    pub(super) frames_read_per_s: f64,
    pub(super) frames_written_per_s: f64,
    pub(super) parks_per_s: f64,
    pub(super) wakes_per_s: f64,
    pub(super) orders_per_s: f64,
    /// Bytes that it has not read yet, over all journals.
    pub(super) lag_bytes: u64,
    pub(super) lost_bytes: u64,
    pub(super) t2o_p50_us: Option<f64>,
    pub(super) t2o_p99_us: Option<f64>,
}

#[derive(Debug, Serialize)]
pub(super) struct JournalRow {
    pub(super) journal: String,
    pub(super) id: u32,
    pub(super) capacity_bytes: u64,
    pub(super) frames_per_s: f64,
    pub(super) bytes_per_s: f64,
    /// Wake-ups that its writer sent.
    pub(super) wakes_per_s: f64,
    /// Times that its writer found it full.
    pub(super) full_per_s: f64,
    pub(super) readers: usize,
    /// That of the reader that is farthest behind.
    pub(super) lag_bytes: u64,
    pub(super) lag_reader: Option<String>,
    pub(super) lost_bytes: u64,
    /// The node that writes it, now or last; null before the first.
    pub(super) writer: Option<String>,
    /// `never`, `alive`, `closed` or `dead`.
    pub(super) writer_state: &'static str,
}

pub(super) fn report(view: &InstanceView, before: &Moment, now: &Moment, t2o: &T2o) -> TopReport {
    let seconds = now.at.duration_since(before.at).as_secs_f64().max(1e-9);
    let nodes: Vec<NodeRow> =
        now.seats.iter().map(|seat| node_row(seat, before, now, seconds, t2o)).collect();
    let counted = |kind: NodeKind, counter: Counter| -> f64 {
        let of_kind = now.seats.iter().filter(|seat| seat.kind == kind);
        of_kind.map(|seat| rate(seat, before, counter, seconds)).sum()
    };
    let so_far = |counter: Counter| now.seats.iter().map(|seat| seat.counter(counter)).sum();
    let times = now.t2o.iter().map(|(time, count)| {
        let old = before.t2o.get(time).copied().unwrap_or(0);
        (*time, count.saturating_sub(old))
    });
    let times: Vec<(u64, u64)> = times.filter(|(_, count)| *count > 0).collect();
    TopReport {
        instance: view.instance().name().to_owned(),
        phase: view.phase().to_string(),
        master: now.seats.first().is_some_and(|master| master.alive),
        interval_s: seconds,
        totals: Totals {
            quotes_per_s: counted(NodeKind::Md, Counter::Quotes),
            orders_per_s: counted(NodeKind::Strategy, Counter::Orders),
            fills_per_s: counted(NodeKind::Matching, Counter::Fills),
            wakes_per_s: nodes.iter().map(|node| node.wakes_per_s).sum(),
            lost_bytes: so_far(Counter::BytesLost),
            wait_timeouts_with_data: so_far(Counter::WaitTimeoutsWithData),
            t2o: Spread::of(&times),
            t2o_lost_bytes: t2o.lost_bytes,
        },
        nodes,
        journals: now.journals.iter().map(|stat| journal_row(stat, before, now, seconds)).collect(),
        damaged: damaged_rows(&now.damaged),
    }
}

fn per_second(now: u64, before: u64, seconds: f64) -> f64 {
    now.saturating_sub(before) as f64 / seconds
}

fn rate(seat: &SeatView, before: &Moment, counter: Counter, seconds: f64) -> f64 {
    let old = before.seats.iter().find(|old| old.seat == seat.seat);
    per_second(seat.counter(counter), old.map_or(0, |old| old.counter(counter)), seconds)
}

fn node_row(seat: &SeatView, before: &Moment, now: &Moment, seconds: f64, t2o: &T2o) -> NodeRow {
    let rate = |counter: Counter| rate(seat, before, counter, seconds);
    let used = |moment: &Moment| moment.cpu_ns.get(&seat.process.pid).copied();
    // A strategy in a host shares its process: the time is the host's.
    let is_guest = |other: &SeatView| other.kind == NodeKind::Host && other.process == seat.process;
    let is_guest = seat.kind == NodeKind::Strategy && now.seats.iter().any(is_guest);
    let cpu_percent = used(now)
        .filter(|_| !is_guest)
        .zip(used(before))
        .map(|(now, before)| per_second(now, before, seconds) / 1e7);
    let readers = now.journals.iter().flat_map(|stat| stat.readers.iter().map(move |reader| (stat, reader)));
    let mine = readers.filter(|(_, reader)| reader.seat == seat.seat);
    let written = now.journals.iter().filter(|stat| stat.writer_seat == seat.seat);
    let times: Vec<(u64, u64)> =
        t2o.by_seat.get(&seat.seat).into_iter().flatten().map(|time| (*time, 1)).collect();
    let t2o = Spread::of(&times);
    NodeRow {
        seated: Seated::of(seat),
        cpu_percent,
        frames_read_per_s: rate(Counter::FramesRead),
        frames_written_per_s: written
            .map(|stat| journal_rate(stat, before, seconds, |stat| stat.frames))
            .sum(),
        parks_per_s: rate(Counter::Parks),
        wakes_per_s: rate(Counter::Wakes),
        orders_per_s: rate(Counter::Orders),
        lag_bytes: mine.map(|(stat, reader)| stat.head.saturating_sub(reader.position)).sum(),
        lost_bytes: seat.counter(Counter::BytesLost),
        t2o_p50_us: t2o.p50_us,
        t2o_p99_us: t2o.p99_us,
    }
}

fn journal_rate(stat: &JournalStat, before: &Moment, seconds: f64, value: fn(&JournalStat) -> u64) -> f64 {
    let old = before.journals.iter().find(|old| old.shape.id == stat.shape.id);
    per_second(value(stat), old.map_or_else(|| value(stat), value), seconds)
}

fn journal_row(stat: &JournalStat, before: &Moment, now: &Moment, seconds: f64) -> JournalRow {
    let rate = |value| journal_rate(stat, before, seconds, value);
    let name = |number| seats::name(&now.seats, number);
    let lag = |position: u64| stat.head.saturating_sub(position);
    let last = stat.readers.iter().max_by_key(|reader| lag(reader.position));
    let last = last.map(|reader| (lag(reader.position), reader.seat)).filter(|(lag, _)| *lag > 0);
    JournalRow {
        journal: stat.shape.name.clone(),
        id: stat.shape.id,
        capacity_bytes: stat.shape.capacity,
        frames_per_s: rate(|stat| stat.frames),
        bytes_per_s: rate(|stat| stat.head),
        wakes_per_s: rate(|stat| stat.wakes),
        full_per_s: rate(|stat| stat.full),
        readers: stat.readers.len(),
        lag_bytes: last.map_or(0, |(lag, _)| lag),
        lag_reader: last.map(|(_, seat)| name(seat)),
        lost_bytes: stat.readers.iter().map(|reader| reader.lost).sum(),
        writer: (stat.writer != WriterState::Never).then(|| name(stat.writer_seat)),
        writer_state: stat.writer.as_str(),
    }
}

impl Spread {
    /// Of ascending nanoseconds, each with how many took it.
    fn of(times: &[(u64, u64)]) -> Spread {
        let n: u64 = times.iter().map(|(_, count)| count).sum();
        let at = |rank: u64| {
            let mut passed = 0;
            let found = times.iter().find(|(_, count)| {
                passed += count;
                passed > rank
            });
            found.or(times.last()).map(|(time, _)| *time as f64 / 1_000.0)
        };
        let (p50_us, p99_us) = (at(n / 2), at(n * 99 / 100));
        Spread { n, p50_us, p99_us, max_us: at(n.saturating_sub(1)) }
    }
}

#[cfg(test)]
mod tests {
    use super::Spread;

    #[test]
    fn quantiles_are_of_the_sorted_times_and_nothing_has_none() {
        let times: Vec<(u64, u64)> = (1..=200).map(|micros| (micros * 1_000, 1)).collect();
        let spread = Spread::of(&times);
        assert_eq!((spread.n, spread.p50_us, spread.p99_us), (200, Some(101.0), Some(199.0)));
        assert_eq!(spread.max_us, Some(200.0));
        assert_eq!(Spread::of(&[(7_000, 1)]).p99_us, Some(7.0));
        assert!(Spread::of(&[]).p50_us.is_none());
    }

    #[test]
    fn times_count_as_often_as_they_came() {
        let spread = Spread::of(&[(1_000, 980), (5_000, 15), (9_000, 5)]);
        assert_eq!((spread.n, spread.p50_us), (1_000, Some(1.0)));
        assert_eq!((spread.p99_us, spread.max_us), (Some(5.0), Some(9.0)));
    }
}
