//! From two looks at an instance to rates.

use journal::WriterState;
use journal::tools::JournalStat;
use node::Counter;
use serde::Serialize;
use topology::NodeKind;

use crate::samples::Times;
use crate::seated::{Seated, seat_name};
use crate::state::State;
use crate::view::{DamagedJournal, JournalView, SeatView};

/// What happened between two looks at an instance.
#[derive(Clone, Debug, Serialize)]
pub struct Rates {
    /// Name of the instance.
    pub instance: String,
    /// Where the platform stands; `dead` when nothing of it runs.
    pub phase: &'static str,
    /// Whether a master process lives.
    pub master: bool,
    /// What the rates were measured over.
    pub interval_s: f64,
    /// Of the platform as a whole.
    pub totals: RateTotals,
    /// By seat.
    pub nodes: Vec<NodeRates>,
    /// By number.
    pub journals: Vec<JournalRates>,
    /// Journals that cannot be read.
    pub damaged: Vec<DamagedJournal>,
}

/// Of the platform as a whole.
#[derive(Clone, Debug, Serialize)]
pub struct RateTotals {
    /// Quotes that md published.
    pub quotes_per_s: f64,
    /// Orders sent.
    pub orders_per_s: f64,
    /// Fills that matching made.
    pub fills_per_s: f64,
    /// Sleeps of nodes that were ended by a wake-up.
    pub wakes_per_s: f64,
    /// Bytes that loose readers lost, so far.
    pub lost_bytes: u64,
    /// Sleeps so far that only the safety time-out ended although there was news: must be zero.
    pub wait_timeouts_with_data: u64,
    /// From a quote's publication until td had the order that answers it in hand.
    pub t2o: TimeSpread,
    /// Bytes of samples that came too fast for this program: the nodes' own times lack them.
    pub t2o_lost_bytes: u64,
}

/// Times of one interval.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct TimeSpread {
    /// How many.
    pub n: u64,
    /// Median.
    pub p50_us: Option<f64>,
    /// 99th percentile.
    pub p99_us: Option<f64>,
    /// Largest.
    pub max_us: Option<f64>,
}

/// Of one node.
#[derive(Clone, Debug, Serialize)]
pub struct NodeRates {
    /// Which.
    #[serde(flatten)]
    pub seated: Seated,
    /// Of one CPU; more than 100 with several threads. Null where the system does not say.
    pub cpu_percent: Option<f64>,
    /// Frames that it took from its inputs.
    pub frames_read_per_s: f64,
    /// Frames that it committed.
    pub frames_written_per_s: f64,
    /// Times that it went to sleep.
    pub parks_per_s: f64,
    /// Sleeps that a wake-up ended.
    pub wakes_per_s: f64,
    /// Orders sent.
    pub orders_per_s: f64,
    /// Bytes that it has not read yet, over all journals.
    pub lag_bytes: u64,
    /// Sleeps that only the safety time-out ended, although there was a message: so far.
    pub wait_timeouts_with_data: u64,
    /// Bytes that were overwritten before they were read, so far.
    pub lost_bytes: u64,
    /// Median t2o of its orders.
    pub t2o_p50_us: Option<f64>,
    /// 99th percentile of the same.
    pub t2o_p99_us: Option<f64>,
}

/// Of one journal.
#[derive(Clone, Debug, Serialize)]
pub struct JournalRates {
    /// Name of the journal.
    pub journal: String,
    /// Its number.
    pub id: u32,
    /// Bytes of its ring.
    pub capacity_bytes: u64,
    /// Frames committed.
    pub frames_per_s: f64,
    /// Bytes of them.
    pub bytes_per_s: f64,
    /// Wake-ups that its writer sent.
    pub wakes_per_s: f64,
    /// Times that its writer found it full.
    pub full_per_s: f64,
    /// How many readers it has.
    pub readers: usize,
    /// That of the reader that is farthest behind.
    pub lag_bytes: u64,
    /// That reader; null when nobody is behind.
    pub lag_reader: Option<String>,
    /// Bytes that were overwritten before they were read, so far.
    pub lost_bytes: u64,
    /// The node that writes it, now or last; null before the first.
    pub writer: Option<String>,
    /// `never`, `alive`, `closed` or `dead`.
    pub writer_state: &'static str,
}

impl Rates {
    /// What happened from one look to a later one; `times` are those of the orders in between.
    pub(crate) fn between(before: &State, now: &State, times: &Times) -> Rates {
        let seconds = now.at.duration_since(before.at).as_secs_f64().max(1e-9);
        let nodes: Vec<NodeRates> =
            now.seats.iter().map(|seat| node_rates(seat, before, now, seconds, times)).collect();
        let counted = |kind: NodeKind, counter: Counter| -> f64 {
            let of_kind = now.seats.iter().filter(|seat| seat.kind == kind);
            of_kind.map(|seat| rate(seat, before, counter, seconds)).sum()
        };
        let so_far = |counter: Counter| now.seats.iter().map(|seat| seat.counter(counter)).sum();
        let t2o = now.t2o.iter().map(|(time, count)| {
            let old = before.t2o.get(time).copied().unwrap_or(0);
            (*time, count.saturating_sub(old))
        });
        let t2o: Vec<(u64, u64)> = t2o.filter(|(_, count)| *count > 0).collect();
        Rates {
            instance: now.instance.clone(),
            phase: now.phase_name(),
            master: now.has_master(),
            interval_s: seconds,
            totals: RateTotals {
                quotes_per_s: counted(NodeKind::Md, Counter::Quotes),
                orders_per_s: counted(NodeKind::Strategy, Counter::Orders)
                    + counted(NodeKind::Gateway, Counter::Orders),
                fills_per_s: counted(NodeKind::Matching, Counter::Fills),
                wakes_per_s: nodes.iter().map(|node| node.wakes_per_s).sum(),
                lost_bytes: so_far(Counter::BytesLost),
                wait_timeouts_with_data: so_far(Counter::WaitTimeoutsWithData),
                t2o: TimeSpread::of(&t2o),
                t2o_lost_bytes: times.lost_bytes,
            },
            nodes,
            journals: now
                .journals
                .iter()
                .map(|journal| journal_rates(&journal.stat, before, now, seconds))
                .collect(),
            damaged: now.damaged.clone(),
        }
    }
}

fn per_second(now: u64, before: u64, seconds: f64) -> f64 {
    now.saturating_sub(before) as f64 / seconds
}

fn rate(seat: &SeatView, before: &State, counter: Counter, seconds: f64) -> f64 {
    let old = before.seats.iter().find(|old| old.seat == seat.seat);
    per_second(seat.counter(counter), old.map_or(0, |old| old.counter(counter)), seconds)
}

fn node_rates(seat: &SeatView, before: &State, now: &State, seconds: f64, times: &Times) -> NodeRates {
    let rate = |counter: Counter| rate(seat, before, counter, seconds);
    let used = |state: &State| state.cpu_ns.get(&seat.process.pid).copied();
    // A strategy in a host shares its process: the time is the host's.
    let is_guest = |other: &SeatView| other.kind == NodeKind::Host && other.process == seat.process;
    let is_guest = seat.kind == NodeKind::Strategy && now.seats.iter().any(is_guest);
    let cpu_percent = used(now)
        .filter(|_| !is_guest)
        .zip(used(before))
        .map(|(now, before)| per_second(now, before, seconds) / 1e7);
    let stats = || now.journals.iter().map(|journal| &journal.stat);
    let readers = stats().flat_map(|stat| stat.readers.iter().map(move |reader| (stat, reader)));
    let mine = readers.filter(|(_, reader)| reader.seat == seat.seat);
    let written = stats().filter(|stat| stat.writer_seat == seat.seat);
    let times: Vec<(u64, u64)> =
        times.by_seat.get(&seat.seat).into_iter().flatten().map(|time| (*time, 1)).collect();
    let t2o = TimeSpread::of(&times);
    NodeRates {
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
        wait_timeouts_with_data: seat.counter(Counter::WaitTimeoutsWithData),
        lost_bytes: seat.counter(Counter::BytesLost),
        t2o_p50_us: t2o.p50_us,
        t2o_p99_us: t2o.p99_us,
    }
}

fn journal_rate(stat: &JournalStat, before: &State, seconds: f64, value: fn(&JournalStat) -> u64) -> f64 {
    let same = |old: &&JournalView| old.stat.shape.id == stat.shape.id;
    let old = before.journals.iter().find(same).map(|old| &old.stat);
    per_second(value(stat), old.map_or_else(|| value(stat), value), seconds)
}

fn journal_rates(stat: &JournalStat, before: &State, now: &State, seconds: f64) -> JournalRates {
    let rate = |value| journal_rate(stat, before, seconds, value);
    let name = |number| seat_name(&now.seats, number);
    let lag = |position: u64| stat.head.saturating_sub(position);
    let last = stat.readers.iter().max_by_key(|reader| lag(reader.position));
    let last = last.map(|reader| (lag(reader.position), reader.seat)).filter(|(lag, _)| *lag > 0);
    JournalRates {
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

impl TimeSpread {
    /// Of ascending nanoseconds, each with how many took it.
    fn of(times: &[(u64, u64)]) -> TimeSpread {
        let n: u64 = times.iter().map(|(_, count)| count).sum();
        // By nearest rank, as in the report: the smallest time that so many of a hundred do not exceed.
        let at = |percent: u64| {
            let rank = (n * percent).div_ceil(100);
            let mut passed = 0;
            let found = times.iter().find(|(_, count)| {
                passed += count;
                passed >= rank
            });
            found.or(times.last()).map(|(time, _)| *time as f64 / 1_000.0)
        };
        TimeSpread { n, p50_us: at(50), p99_us: at(99), max_us: at(100) }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::{Duration, Instant};

    use journal::tools::ReaderView;
    use node::Phase;

    use super::*;
    use crate::fixture::{counting, journal, seat};

    #[test]
    fn quantiles_are_of_the_sorted_times_and_nothing_has_none() {
        let times: Vec<(u64, u64)> = (1..=200).map(|micros| (micros * 1_000, 1)).collect();
        let spread = TimeSpread::of(&times);
        assert_eq!((spread.n, spread.p50_us, spread.p99_us), (200, Some(100.0), Some(198.0)));
        assert_eq!(spread.max_us, Some(200.0));
        assert_eq!(TimeSpread::of(&[(7_000, 1)]).p99_us, Some(7.0));
        assert!(TimeSpread::of(&[]).p50_us.is_none());
    }

    #[test]
    fn times_count_as_often_as_they_came() {
        let spread = TimeSpread::of(&[(1_000, 980), (5_000, 15), (9_000, 5)]);
        assert_eq!((spread.n, spread.p50_us), (1_000, Some(1.0)));
        assert_eq!((spread.p99_us, spread.max_us), (Some(5.0), Some(9.0)));
    }

    /// Two looks, two seconds apart, at an instance with md, matching, a host and its strategy.
    fn looks() -> (State, State) {
        let seats = vec![
            seat(0, "master", NodeKind::Master),
            seat(1, "md", NodeKind::Md),
            seat(2, "matching", NodeKind::Matching),
            seat(3, "host", NodeKind::Host),
            SeatView {
                process: seat(3, "host", NodeKind::Host).process,
                ..seat(4, "a-1", NodeKind::Strategy)
            },
        ];
        let before = State {
            instance: "made-up".to_owned(),
            at: Instant::now(),
            phase: Phase::Running,
            is_dead: false,
            seats,
            journals: vec![journal(1, "md.quotes", 1)],
            damaged: Vec::new(),
            cpu_ns: BTreeMap::new(),
            t2o: BTreeMap::new(),
        };
        let now = State { at: before.at + Duration::from_secs(2), ..before.clone() };
        (before, now)
    }

    fn set(state: &mut State, seat: usize, counts: &[(Counter, u64)]) {
        state.seats[seat] = counting(state.seats[seat].clone(), counts);
    }

    #[test]
    fn rates_are_what_was_added_between_the_looks() {
        let (mut before, mut now) = looks();
        set(&mut before, 1, &[(Counter::Quotes, 1_000)]);
        set(&mut now, 1, &[(Counter::Quotes, 1_500), (Counter::BytesLost, 64)]);
        set(&mut now, 4, &[(Counter::Orders, 20), (Counter::Wakes, 4)]);
        // Of another kind: what others count as orders are the same ones once more.
        set(&mut now, 2, &[(Counter::Orders, 20), (Counter::Fills, 6)]);
        before.journals[0].stat.frames = 7;
        (now.journals[0].stat.frames, now.journals[0].stat.head) = (27, 4_096);
        let rates = Rates::between(&before, &now, &Times::default());
        assert_eq!(rates.interval_s, 2.0);
        let totals = &rates.totals;
        assert_eq!((totals.quotes_per_s, totals.orders_per_s, totals.fills_per_s), (250.0, 10.0, 3.0));
        assert_eq!((totals.wakes_per_s, totals.lost_bytes), (2.0, 64));
        assert_eq!((rates.journals[0].frames_per_s, rates.journals[0].bytes_per_s), (10.0, 2_048.0));
        assert_eq!(rates.nodes[1].frames_written_per_s, 10.0, "md writes that journal");
        assert_eq!(rates.nodes[2].frames_written_per_s, 0.0);
        assert_eq!(rates.journals[0].writer.as_deref(), Some("md"));
    }

    #[test]
    fn a_counter_that_fell_and_a_journal_that_is_new_have_no_rate() {
        let (mut before, mut now) = looks();
        set(&mut before, 1, &[(Counter::Quotes, 1_000)]);
        set(&mut now, 1, &[(Counter::Quotes, 10)]);
        now.journals.push(journal(2, "td.orders", 2));
        now.journals[1].stat.frames = 5;
        let rates = Rates::between(&before, &now, &Times::default());
        assert_eq!(rates.totals.quotes_per_s, 0.0, "the instance was made again under its name");
        assert_eq!(rates.journals[1].frames_per_s, 0.0, "what it held before nobody saw come");
    }

    #[test]
    fn the_time_of_a_process_is_its_hosts_and_not_each_strategys() {
        let (mut before, mut now) = looks();
        let pid = now.seats[3].process.pid;
        before.cpu_ns.insert(pid, 1_000_000_000);
        now.cpu_ns.insert(pid, 2_000_000_000);
        let rates = Rates::between(&before, &now, &Times::default());
        assert_eq!(rates.nodes[3].cpu_percent, Some(50.0));
        assert_eq!(rates.nodes[4].cpu_percent, None);
        assert_eq!(rates.nodes[1].cpu_percent, None, "the system does not say");
    }

    #[test]
    fn t2o_is_of_the_orders_between_the_looks() {
        let (mut before, mut now) = looks();
        before.t2o.insert(1_000, 100);
        now.t2o.extend([(1_000, 100), (3_000, 2)]);
        let times = Times { by_seat: BTreeMap::from([(4, vec![5_000])]), lost_bytes: 9 };
        let rates = Rates::between(&before, &now, &times);
        assert_eq!((rates.totals.t2o.n, rates.totals.t2o.p50_us), (2, Some(3.0)));
        assert_eq!((rates.nodes[4].t2o_p50_us, rates.nodes[1].t2o_p50_us), (Some(5.0), None));
        assert_eq!(rates.totals.t2o_lost_bytes, 9);
    }

    #[test]
    fn a_journal_names_the_reader_that_is_farthest_behind() {
        let (before, mut now) = looks();
        let reader = |seat, position| ReaderView {
            seat,
            gated: true,
            position,
            holds: Some(position),
            durable: false,
            lost: 1,
            gaps: 0,
            frames: 0,
        };
        let stat = &mut now.journals[0].stat;
        (stat.head, stat.readers) = (640, vec![reader(4, 128), reader(2, 512)]);
        let rates = Rates::between(&before, &now, &Times::default());
        let row = &rates.journals[0];
        assert_eq!((row.lag_bytes, row.lag_reader.as_deref(), row.lost_bytes), (512, Some("a-1"), 2));
        assert_eq!((rates.nodes[4].lag_bytes, rates.nodes[2].lag_bytes), (512, 128));
        now.journals[0].stat.readers = vec![reader(4, 640)];
        let rates = Rates::between(&before, &now, &Times::default());
        assert_eq!((rates.journals[0].lag_bytes, rates.journals[0].lag_reader.as_deref()), (0, None));
    }
}
