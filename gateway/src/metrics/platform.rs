//! The platform's metrics, from shared memory.

use node::Counter;
use observe::SeatView;
use prometheus_client::registry::Unit;
use topology::NodeKind;

use super::families::{Family, Labels};
use crate::watch::Look;

/// Nanoseconds in seconds.
fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

fn of_node(seat: &SeatView) -> Labels {
    vec![("node", seat.name.clone()), ("kind", seat.kind.to_string())]
}

pub(super) fn families(look: &Look, kills: Option<u64>) -> Vec<Family> {
    let mut all = vec![whole(look)];
    all.push(
        Family::gauge("colo_master_up", "1 while a master process lives", None)
            .with(u64::from(look.state.has_master())),
    );
    let help = "By how much the platform's clock is ahead of the host's";
    let mut clock = Family::gauge("colo_clock_ahead", help, Some(Unit::Seconds));
    clock.add(Vec::new(), look.clock_ahead_ns as f64 / 1e9);
    all.push(clock);
    all.extend(totals(look));
    if let Some(kills) = kills {
        let help = "Kill switches that have fallen and are not lifted";
        all.push(Family::gauge("colo_kill_switches_fallen", help, None).with(kills));
    }
    all.extend(nodes(look));
    all.extend(counters(look));
    all.extend(journals(look));
    all.extend(readers(look));
    all.push(feeds(look));
    all
}

fn whole(look: &Look) -> Family {
    let help = "1, with where the platform stands";
    let mut phase = Family::gauge("colo_platform_phase", help, None);
    let labels =
        vec![("instance_name", look.state.instance.clone()), ("phase", look.state.phase_name().to_owned())];
    phase.add(labels, 1.0);
    phase
}

fn totals(look: &Look) -> Vec<Family> {
    let (totals, requests) = (&look.totals, &look.totals.requests);
    let one = |name, help, count: u64| Family::counter(name, help, None).with(count);
    vec![
        one("colo_orders", "New orders that were sent", requests.orders),
        one("colo_order_refusals", "New orders that td or the market refused", requests.rejected),
        one("colo_cancels", "Cancels that were sent", requests.cancels),
        one("colo_cancel_refusals", "Cancels that were refused", requests.cancels_rejected),
        one("colo_replaces", "Replaces that were sent", requests.replaces),
        one("colo_replace_refusals", "Replaces that were refused", requests.replaces_rejected),
        one("colo_fills", "Fills; a trade between two orders of the platform is two", totals.fills),
        one("colo_quotes", "Quotes that were published", totals.quotes),
        one("colo_trades", "Trades that were published", totals.trades),
        one("colo_book_events", "Events of the flow of orders that were published", totals.book_events),
    ]
}

fn nodes(look: &Look) -> [Family; 4] {
    let mut up = Family::gauge("colo_node_up", "1 while the node's process lives", None);
    let mut state = Family::gauge("colo_node_state", "1, with where the node stands", None);
    let mut age =
        Family::gauge("colo_node_heartbeat_age", "Since the node's last sign of life", Some(Unit::Seconds));
    let mut starts = Family::counter("colo_node_starts", "Starts of a process in the node's seat", None);
    for seat in &look.state.seats {
        up.add(of_node(seat), f64::from(u8::from(seat.alive)));
        let mut labels = of_node(seat);
        labels.push(("state", seat.state.to_string()));
        state.add(labels, 1.0);
        if let Some(silent) = seat.silent_ns {
            age.add(of_node(seat), seconds(silent));
        }
        starts.add(of_node(seat), seat.generation as f64);
    }
    [up, state, age, starts]
}

/// How a node's counter is called. Some have a unit, and some are no counters at all.
fn named(counter: Counter, name: &str) -> Family {
    let help = counter.help().trim_end_matches('.');
    match counter {
        Counter::BytesLost => Family::counter(
            "colo_node_lost",
            "Bytes that were overwritten before the node had read them",
            Some(Unit::Bytes),
        ),
        Counter::BytesRecorded => Family::counter("colo_node_recorded", help, Some(Unit::Bytes)),
        Counter::LatenessMax => Family::gauge(
            "colo_node_lateness_max",
            "Largest lateness of a scheduled publication so far",
            Some(Unit::Seconds),
        ),
        Counter::OverrunMax => Family::gauge(
            "colo_node_overrun_max",
            "Longest call of the strategy beyond its time budget so far",
            Some(Unit::Seconds),
        ),
        Counter::DiskRefusesSince => Family::gauge(
            "colo_node_disk_refuses",
            "How long the recorder's disk has refused to write; 0 while it writes",
            Some(Unit::Seconds),
        ),
        Counter::Unbooked => {
            Family::gauge("colo_node_unbooked", "Executions of the market outside that are not booked", None)
        }
        Counter::MustEnd => {
            Family::gauge("colo_node_must_end", "Orders that td has to end and that have not ended", None)
        }
        Counter::StateNeeds => Family::gauge(
            "colo_node_state_needs",
            "Capacity that the ring of the node's state needs; 0 while it is large enough",
            Some(Unit::Bytes),
        ),
        Counter::DeskNeeds => Family::gauge(
            "colo_node_desk_needs",
            "Capacity that the ring for snapshots of the accounts needs; 0 while it is large enough",
            Some(Unit::Bytes),
        ),
        _ => Family::counter(&format!("colo_node_{name}"), help, None),
    }
}

/// Some counters mean something in nodes of one kind only.
fn concerns(counter: Counter, name: &str, kind: NodeKind) -> bool {
    match counter {
        Counter::LatenessMax | Counter::MarketTimes => kind == NodeKind::Md,
        // Lock-step alone has it, and no gateway.
        Counter::MarketDue => false,
        Counter::Syncs | Counter::BytesRecorded | Counter::DiskRefusesSince => kind == NodeKind::Recorder,
        Counter::Overruns | Counter::OverrunMax | Counter::ClockReads | Counter::WarmingUp => {
            kind == NodeKind::Strategy
        }
        Counter::WideBooks | Counter::DeskNeeds => kind == NodeKind::Ledger,
        Counter::StateNeeds => matches!(kind, NodeKind::Ledger | NodeKind::Matching),
        Counter::MarginCalls | Counter::ForcedOrders => matches!(kind, NodeKind::Td | NodeKind::Ledger),
        Counter::Unbooked => kind == NodeKind::Matching,
        Counter::MustEnd => kind == NodeKind::Td,
        Counter::ClockChanges | Counter::RingsHidden => kind == NodeKind::Master,
        Counter::Relayed => kind == NodeKind::Relay,
        _ => !name.starts_with("source_") || kind == NodeKind::Md,
    }
}

fn counters(look: &Look) -> Vec<Family> {
    let one = |(counter, name): &(Counter, &'static str)| {
        let mut family = named(*counter, name);
        for seat in look.state.seats.iter().filter(|seat| concerns(*counter, name, seat.kind)) {
            let count = seat.counter(*counter);
            let value = match counter {
                Counter::LatenessMax | Counter::OverrunMax => seconds(count),
                Counter::DiskRefusesSince if count > 0 => seconds(look.at_ns.saturating_sub(count)),
                _ => count as f64,
            };
            family.add(of_node(seat), value);
        }
        family
    };
    Counter::ALL.iter().map(one).collect()
}

fn journals(look: &Look) -> Vec<Family> {
    let bytes = || Some(Unit::Bytes);
    let mut head = Family::counter("colo_journal_written", "Bytes committed: the head", bytes());
    let mut capacity = Family::gauge("colo_journal_capacity", "Bytes of the ring", bytes());
    let mut frames = Family::counter("colo_journal_frames", "Frames committed", None);
    let mut full = Family::counter("colo_journal_full", "Writes that found the ring full", None);
    let mut wakes = Family::counter("colo_journal_wakes", "Readers that the writer woke", None);
    let mut slowest =
        Family::gauge("colo_journal_slowest_reader_lag", "Lag of the reader farthest behind", bytes());
    let mut durable = Family::gauge("colo_journal_durable_position", "Up to here it is on disk", bytes());
    let mut behind =
        Family::gauge("colo_journal_not_durable", "Bytes committed and not on disk yet", bytes());
    for stat in look.state.journals.iter().map(|journal| &journal.stat) {
        let labels = || vec![("journal", stat.shape.name.clone())];
        head.add(labels(), stat.head as f64);
        capacity.add(labels(), stat.shape.capacity as f64);
        frames.add(labels(), stat.frames as f64);
        full.add(labels(), stat.full as f64);
        wakes.add(labels(), stat.wakes as f64);
        let lags = stat.readers.iter().map(|reader| stat.head.saturating_sub(reader.position));
        slowest.add(labels(), lags.max().unwrap_or_default() as f64);
        if let Some(on_disk) = look.durable(stat) {
            durable.add(labels(), on_disk as f64);
            behind.add(labels(), stat.head.saturating_sub(on_disk) as f64);
        }
    }
    let damaged = Family::gauge("colo_journals_damaged", "Journals that cannot be read", None);
    let damaged = damaged.with(look.state.damaged.len() as u64);
    vec![head, capacity, frames, full, wakes, slowest, durable, behind, damaged]
}

fn readers(look: &Look) -> [Family; 3] {
    let mut lag = Family::gauge("colo_reader_lag", "Bytes committed that it has not read", Some(Unit::Bytes));
    let help = "Bytes that were overwritten before it had read them";
    let mut lost = Family::counter("colo_reader_lost", help, Some(Unit::Bytes));
    let mut gaps = Family::counter("colo_reader_gaps", "How many times it was overtaken", None);
    for stat in look.state.journals.iter().map(|journal| &journal.stat) {
        for reader in &stat.readers {
            let labels = || {
                let kind = if reader.gated { "gated" } else { "loose" };
                vec![
                    ("journal", stat.shape.name.clone()),
                    ("node", look.name_of(reader.seat)),
                    ("reads", kind.to_owned()),
                ]
            };
            lag.add(labels(), stat.head.saturating_sub(reader.position) as f64);
            lost.add(labels(), reader.lost as f64);
            gaps.add(labels(), reader.gaps as f64);
        }
    }
    [lag, lost, gaps]
}

fn feeds(look: &Look) -> Family {
    let help = "Since the last frame of market data, by source";
    let mut age = Family::gauge("colo_feed_age", help, Some(Unit::Seconds));
    for stat in look.feeds() {
        if let Some(old) = look.age_ns(stat) {
            let source = look.name_of(stat.writer_seat);
            age.add(vec![("journal", stat.shape.name.clone()), ("source", source)], seconds(old));
        }
    }
    age
}
