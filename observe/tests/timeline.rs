//! The trace for Perfetto, made from frames that a test has made up, and read again by code of its own.

mod pftrace;

use std::sync::Arc;

use journal::Frame;
use observe::{Lag, Look, SeatLook, Timeline, TimelineTotals, TracedJournal, TracedNode};
use pftrace::{Kind, Slice, Trace};
use topology::NodeKind;
use wire::{
    Best, Cause, Fill, LatencySample, Message, Nanos, NewOrder, OrderId, OrderStatus, OrderUpdate, Quantity,
    StrategyId,
};

/// When it all begins.
const START: u64 = 1_795_242_600_000_000_000;
const SEAT: u16 = 7;

fn nodes() -> Vec<TracedNode> {
    let node = |seat: u32, name: &str, kind, pid| TracedNode { seat, name: name.to_owned(), kind, pid };
    vec![
        node(1, "md", NodeKind::Md, Some(101)),
        node(2, "td", NodeKind::Td, Some(102)),
        node(3, "matching", NodeKind::Matching, None),
        node(u32::from(SEAT), "taker", NodeKind::Strategy, Some(107)),
        node(8, "maker", NodeKind::Strategy, Some(107)),
        node(9, "desk", NodeKind::Host, Some(107)),
    ]
}

struct Made {
    timeline: Timeline<Vec<u8>>,
    best: TracedJournal,
    requests: TracedJournal,
    orders: TracedJournal,
    samples: TracedJournal,
    executions: TracedJournal,
    reports: TracedJournal,
    next: u64,
}

impl Made {
    fn new(most: Option<u64>) -> Made {
        Made {
            timeline: Timeline::new(Vec::new(), most, (START, Some(5_000)), &nodes()).unwrap(),
            best: TracedJournal::new(1, "md.best", "md"),
            requests: TracedJournal::new(2, "orders.taker", "taker"),
            orders: TracedJournal::new(3, "td.orders", "td"),
            samples: TracedJournal::new(4, "td.samples", "td"),
            executions: TracedJournal::new(5, "matching.executions", "matching"),
            reports: TracedJournal::new(6, "reports.taker", "td"),
            next: 64,
        }
    }

    /// A frame at so many nanoseconds behind the start; its position.
    fn frame<M: Message>(&mut self, journal: &TracedJournal, after: u64, message: &M) -> u64 {
        self.next += 64;
        let frame = Frame {
            position: self.next,
            time: START + after,
            message_id: M::ID,
            flags: 0,
            topic: 3,
            epoch: 1,
            payload: message.bytes(),
        };
        self.timeline.frame(journal, &frame).unwrap();
        self.next
    }

    fn quote(&mut self, after: u64) -> u64 {
        let best = self.best.clone();
        self.frame(&best, after, &Best::decode(&[0; Best::SIZE]).unwrap())
    }

    /// The strategy answers the frame at `position`: published, received and ordered so long after the start.
    fn order(&mut self, number: u32, position: u64, times: [u64; 3]) -> NewOrder {
        let [published, received, ordered] = times;
        let cause = Cause {
            position,
            due: Nanos(0),
            published: Nanos(START + published),
            received: Nanos(START + received),
            journal: 1,
            reserved: 0,
        };
        let order = NewOrder::decode(&[1; NewOrder::SIZE]).unwrap();
        let order = NewOrder { order_id: id(number), cause, ..order };
        let requests = self.requests.clone();
        self.frame(&requests, ordered, &order);
        order
    }

    /// td takes the order, passes it on and writes its sample.
    fn passes(&mut self, order: &NewOrder, taken: u64, routed: u64, ordered: u64) {
        let (orders, samples) = (self.orders.clone(), self.samples.clone());
        self.frame(&orders, routed, order);
        let cause = order.cause;
        let sample = LatencySample {
            order_id: order.order_id,
            due: cause.due,
            published: cause.published,
            received: cause.received,
            ordered: Nanos(START + ordered),
            taken: Nanos(START + taken),
        };
        self.frame(&samples, routed + 1, &sample);
    }

    fn says(&mut self, number: u32, status: OrderStatus, executed: u64, reported: u64) {
        let update = OrderUpdate::decode(&[1; OrderUpdate::SIZE]).unwrap();
        let update = OrderUpdate { order_id: id(number), status, execution: 0, ..update };
        let (executions, reports) = (self.executions.clone(), self.reports.clone());
        let execution = self.frame(&executions, executed, &update);
        self.frame(&reports, reported, &OrderUpdate { execution, ..update });
    }

    fn finish(self) -> (Trace, TimelineTotals) {
        let (bytes, totals) = self.timeline.finish().unwrap();
        assert_eq!(bytes.len() as u64, totals.bytes);
        let trace = Trace::read(&bytes);
        assert_eq!(trace.packets, totals.packets);
        (trace, totals)
    }
}

fn id(number: u32) -> OrderId {
    OrderId::new(StrategyId(SEAT), 1, number)
}

fn named<'a>(slices: &'a [Slice], name: &str) -> Vec<&'a Slice> {
    slices.iter().filter(|slice| slice.begin.name == name).collect()
}

#[test]
fn an_order_leads_from_the_quote_to_its_report_and_its_stages_are_the_times_of_the_frames() {
    let mut made = Made::new(None);
    let quote = made.quote(1_000);
    made.quote(1_500);
    let order = made.order(1, quote, [1_000, 4_000, 9_000]);
    made.passes(&order, 15_000, 18_000, 9_000);
    made.says(1, OrderStatus::Filled, 25_000, 31_000);
    let (trace, totals) = made.finish();
    assert_eq!((trace.primary_clock, trace.clocks[&1], trace.clocks[&3]), (1, START, 5_000));

    let slices = trace.slices();
    let whole = named(&slices, "order 7-1-1");
    let [whole] = whole.as_slice() else { panic!("one slice, not {whole:?}") };
    assert_eq!((whole.begin.time, whole.end), (START + 1_000, START + 31_000));
    for (stage, from, to) in [
        ("md", 1_000, 4_000),
        ("strategy", 4_000, 9_000),
        ("order", 9_000, 15_000),
        ("td", 15_000, 18_000),
        ("matching", 18_000, 25_000),
        ("report", 25_000, 31_000),
    ] {
        let [found] = named(&slices, stage)[..] else { panic!("one {stage}") };
        assert_eq!((found.begin.time, found.end, found.depth), (START + from, START + to, 1), "{stage}");
        assert_eq!(found.begin.track, whole.begin.track, "{stage} lies in its order");
    }
    // What each node did, on its own track.
    let [work] = named(&slices, "NewOrder buy instrument 16843009")[..] else { panic!("{slices:#?}") };
    assert_eq!((work.begin.time, work.end), (START + 4_000, START + 9_000));
    let [work] = named(&slices, "NewOrder")[..] else { panic!("td's") };
    assert_eq!((work.begin.time, work.end), (START + 15_000, START + 18_000));

    let flows = trace.flows();
    let way: Vec<(&str, u64)> = flows[&id(1).0]
        .iter()
        .map(|event| (trace.tracks[&event.track].name.as_str(), event.time - START))
        .collect();
    let expected = [("md", 1_000), ("taker", 4_000), ("td", 15_000), ("matching", 25_000), ("td", 31_000)];
    assert_eq!(way, expected);
    assert_eq!((flows.len(), totals.flows, totals.orders, totals.late, totals.cut), (1, 1, 1, 0, 0));
}

#[test]
fn a_node_s_track_has_its_process_and_nodes_of_one_process_have_tracks_below_it() {
    let (trace, _) = Made::new(None).finish();
    let processes: Vec<_> = trace.tracks.values().filter(|track| track.parent == 0).collect();
    let pids: Vec<_> = processes.iter().map(|track| (track.name.as_str(), track.pid)).collect();
    assert_eq!(pids, [("md", Some(101)), ("td", Some(102)), ("matching", None), ("desk", Some(107))]);
    let threads: Vec<_> = trace.tracks.values().filter_map(|track| track.tid).collect();
    assert_eq!(
        threads,
        [101, 102],
        "a process of several nodes has one thread, and cannot be all of their tracks"
    );
    let desk = trace.tracks.iter().find(|(_, track)| track.pid == Some(107)).unwrap().0;
    for node in ["taker", "maker"] {
        let [track] = trace.named(node)[..] else { panic!("one track of {node}") };
        assert_eq!(trace.tracks[&track].parent, *desk);
    }
}

#[test]
fn a_node_that_is_started_again_has_a_track_below_its_new_process() {
    let mut made = Made::new(None);
    let quote = made.quote(10);
    made.timeline.join(&[TracedNode { pid: Some(201), ..nodes()[0].clone() }]).unwrap();
    let again = made.quote(20_000);
    let (trace, _) = made.finish();
    let of = |pid| trace.events.iter().filter(|event| trace.tracks[&event.track].tid == Some(pid)).count();
    assert!(quote < again);
    assert!(of(101) > 0 && of(201) > 0, "what it did before lies there, and what it did since here");
}

#[test]
fn orders_that_overlap_lie_in_lanes_of_their_own_and_each_is_there_once() {
    let mut made = Made::new(None);
    let quote = made.quote(1_000);
    for number in 1..=3 {
        let at = 2_000 + u64::from(number) * 100;
        made.order(number, quote, [1_000, 1_500, at]);
    }
    made.says(2, OrderStatus::Cancelled, 10_000, 11_000);
    let later = made.quote(20_000);
    made.order(4, later, [20_000, 20_500, 21_000]);
    for number in [4, 3, 1] {
        let at = 30_000 + u64::from(number);
        made.says(number, OrderStatus::Filled, at, at);
    }
    let (trace, totals) = made.finish();
    let slices = trace.slices();
    let mut tracks = Vec::new();
    for number in 1..=4 {
        let [slice] = named(&slices, &format!("order 7-1-{number}"))[..] else {
            panic!("order {number} once")
        };
        assert_eq!(slice.depth, 0);
        tracks.push(slice.begin.track);
    }
    assert_eq!(tracks[3], tracks[1], "the lane of the one that had ended");
    tracks.truncate(3);
    tracks.dedup();
    assert_eq!((tracks.len(), totals.orders), (3, 4));
    // Three answers to one quote: the strategy's work is cut into three, one after the other.
    let work: Vec<_> = named(&slices, "NewOrder buy instrument 16843009");
    let spans: Vec<(u64, u64)> =
        work.iter().map(|slice| (slice.begin.time - START, slice.end - START)).collect();
    assert_eq!(spans, [(1_500, 2_100), (2_100, 2_200), (2_200, 2_300), (20_500, 21_000)]);
    assert_eq!(trace.flows().len(), 4);
}

#[test]
fn an_order_that_still_works_ends_with_the_trace_and_one_that_rests_long_keeps_its_flow() {
    const HOUR: u64 = 3_600_000_000_000;
    let mut made = Made::new(None);
    let quote = made.quote(1_000);
    let order = made.order(1, quote, [1_000, 4_000, 9_000]);
    made.passes(&order, 15_000, 18_000, 9_000);
    let quote = made.quote(20_000);
    made.order(2, quote, [20_000, 20_500, 21_000]);
    for minute in 1..60 {
        made.quote(minute * 60_000_000_000);
    }
    made.says(1, OrderStatus::Filled, HOUR, HOUR + 5_000);
    let (trace, totals) = made.finish();
    let slices = trace.slices();
    let [rested] = named(&slices, "order 7-1-1")[..] else { panic!("once") };
    assert_eq!(rested.end, START + HOUR + 5_000);
    let [open] = named(&slices, "order 7-1-2")[..] else { panic!("once") };
    assert_eq!(open.end, START + HOUR + 5_000, "the end of the trace");
    let says = trace.events.iter().find_map(|event| event.arguments.get("open"));
    assert!(says.is_some_and(|says| says.contains("ends it")));
    let flow = trace.flows()[&id(1).0].iter().map(|event| event.time - START).collect::<Vec<_>>();
    assert_eq!(flow, [1_000, 4_000, 15_000, HOUR, HOUR + 5_000]);
    assert_eq!(totals.late, 0);
}

#[test]
fn an_order_that_answers_an_old_quote_says_where_its_slice_would_begin() {
    let mut made = Made::new(None);
    let quote = made.quote(1_000);
    for second in 1..10 {
        made.quote(second * 1_000_000_000);
        made.timeline.now(START + second * 1_000_000_000).unwrap();
    }
    made.order(1, quote, [1_000, 2_000, 9_500_000_000]);
    let (trace, totals) = made.finish();
    let slices = trace.slices();
    let [slice] = named(&slices, "order 7-1-1")[..] else { panic!("once") };
    assert_eq!(slice.begin.arguments["begins_ns"], (START + 1_000).to_string());
    assert!(slice.begin.time > START + 1_000 && totals.cut > 0);
    trace.flows();
}

#[test]
fn a_full_file_ends_with_whole_packets_and_no_slice_without_an_end() {
    for most in [1_500, 2_000, 3_001, 5_000, 9_999] {
        let mut made = Made::new(Some(most));
        for number in 1..500 {
            let at = u64::from(number) * 100_000_000;
            let quote = made.quote(at);
            made.order(number, quote, [at, at + 10, at + 20]);
        }
        assert!(made.timeline.is_full());
        let (trace, totals) = made.finish();
        assert!(totals.bytes <= most && totals.is_full, "{} of {most}", totals.bytes);
        trace.slices();
    }
}

#[test]
fn frames_that_are_missing_before_all_others_do_not_begin_the_trace_in_1970() {
    let mut made = Made::new(None);
    let best = made.best.clone();
    made.timeline.gap(&best, 640, "overwritten before they were read").unwrap();
    made.quote(1_000);
    let (trace, totals) = made.finish();
    let gap = trace.on("md").find(|event| event.category == "gap").unwrap();
    assert_eq!((gap.time, totals.gaps), (START + 1_000, 1));
}

#[test]
fn missing_frames_are_marked_and_what_is_no_message_is_shown() {
    let mut made = Made::new(None);
    made.quote(1_000);
    let best = made.best.clone();
    made.timeline.gap(&best, 640, "overwritten before they were read").unwrap();
    let own = TracedJournal::new(40, "signals", "model");
    let frame = Frame {
        position: 64,
        time: START + 3_000,
        message_id: 40_000,
        flags: 0,
        topic: 0,
        epoch: 1,
        payload: &[1, 2, 3],
    };
    made.timeline.frame(&own, &frame).unwrap();
    let (trace, totals) = made.finish();
    let gap = trace.on("md").find(|event| event.category == "gap").unwrap();
    assert_eq!((gap.arguments["bytes"].as_str(), gap.arguments["journal"].as_str()), ("640", "md.best"));
    assert_eq!((totals.gaps, totals.lost_bytes), (1, 640));
    let shown: Vec<_> = trace.on("model").map(|event| (event.name.as_str(), event.time)).collect();
    assert_eq!(shown, [("message 40000", START + 3_000)]);
}

#[test]
fn a_node_is_shown_asleep_only_between_looks_that_saw_it_so_with_nothing_done_in_between() {
    let mut made = Made::new(None);
    let look = |at: u64, is_asleep: bool, done: u64, bytes: u64| Look {
        time: START + at,
        over: START + at + 10,
        seats: vec![SeatLook { node: Arc::from("td"), is_asleep, done: [done, 0, 0], wakes: done }],
        lags: vec![Lag { journal: "td.orders".to_owned(), node: "matching".to_owned(), bytes }],
    };
    for (at, is_asleep, done, bytes) in [
        (1_000, true, 1, 0),
        (2_000, true, 1, 128),
        (3_000, true, 1, 128),
        // It slept and woke in between.
        (4_000, true, 2, 0),
        (5_000, false, 3, 0),
        (6_000, true, 4, 0),
        (7_000, true, 4, 0),
    ] {
        made.timeline.look(&look(at, is_asleep, done, bytes)).unwrap();
    }
    let (trace, _) = made.finish();
    let slept: Vec<(u64, u64)> =
        trace.slices().iter().map(|slice| (slice.begin.time - START, slice.end - START)).collect();
    assert_eq!(slept, [(1_010, 3_000), (6_010, 7_000)]);
    let behind: Vec<(u64, i64)> =
        trace.on("matching behind in td.orders").map(|event| (event.time - START, event.value)).collect();
    assert_eq!(behind, [(2_000, 128), (4_000, 0)]);
    let wakes: Vec<i64> = trace.on("td: wake-ups").map(|event| event.value).collect();
    assert_eq!(wakes, [1, 2, 3, 4]);
}

#[test]
fn rates_are_frames_a_second_and_silence_is_zero() {
    let mut made = Made::new(None);
    for number in 0..7 {
        made.quote(number * 1_000_000);
    }
    made.quote(500_000_000);
    let (trace, _) = made.finish();
    let rates: Vec<(u64, i64)> = trace
        .on("md.best frames/s")
        .inspect(|event| assert_eq!(event.kind, Kind::Counter))
        .map(|event| (event.time - START, event.value))
        .collect();
    assert_eq!(rates, [(0, 70), (100_000_000, 0), (500_000_000, 10), (600_000_000, 0)]);
}

#[test]
fn fills_are_on_the_nodes_that_say_them_and_on_the_order_s_way() {
    let mut made = Made::new(None);
    let quote = made.quote(1_000);
    made.order(1, quote, [1_000, 2_000, 3_000]);
    let fill = Fill::decode(&[1; Fill::SIZE]).unwrap();
    let fill = Fill { order_id: id(1), quantity: Quantity(5), execution: 0, ..fill };
    let (executions, reports) = (made.executions.clone(), made.reports.clone());
    let execution = made.frame(&executions, 10_000, &fill);
    made.frame(&reports, 11_000, &Fill { execution, ..fill });
    made.says(1, OrderStatus::Filled, 10_500, 12_000);
    let (trace, _) = made.finish();
    let fills: Vec<_> = trace
        .events
        .iter()
        .filter(|event| event.name == "Fill")
        .map(|event| (trace.tracks[&event.track].name.as_str(), event.time - START, event.flows.len()))
        .collect();
    assert_eq!(fills, [("matching", 10_000, 1), ("td", 11_000, 1)]);
    trace.slices();
}
