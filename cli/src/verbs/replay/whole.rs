//! The whole platform.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use node::Exit;
use recorder::format::RecordedJournal;
use recorder::read::Recording;
use replay::ReplayError;
use settings::TimeOfDay;
use topology::config::{Durability, Files, Fill, MarketSource, MatchingConfig, MdConfig, Mode, ReaderKind};
use topology::{NodeKind, RelaySection, Topology};

use super::args::Replay;
use crate::failure::Failure;
use crate::verbs::up;

/// Nanoseconds of a day.
const DAY: u64 = 86_400_000_000_000;

pub(super) fn replay(arguments: &Replay, recording: &Recording) -> Result<u8, Failure> {
    let description = recording.description();
    let names = ["md.instruments", "md.quotes", "md.best", "md.flow"];
    let market: Vec<&RecordedJournal> = names.iter().filter_map(|name| description.journal(name)).collect();
    let damaged = replay::damage(recording, &market)?;
    if !damaged.is_empty() {
        return Err(ReplayError::NotWhole(damaged.join("; ")).into());
    }
    let unfit = |what: String| Failure::new(Exit::Usage, what);
    let mut topology: Topology = match &arguments.platform {
        None => serde_json::from_value(description.topology.clone())
            .map_err(|error| unfit(format!("the recorded platform is not understood: {error}")))?,
        Some(file) => {
            let mut sets = arguments.sets.clone();
            sets.push("md.source=\"recording\"".to_owned());
            sets.push(format!("md.files=\"{}\"", recording.folder().display()));
            super::super::load(Some(file), &sets)?.topology
        }
    };
    topology.instance = super::instance(arguments, &description.instance);
    without_recorders(&mut topology);
    in_lock_step(&mut topology);
    source(&mut topology, arguments, recording)?;
    up::whole(topology, &arguments.out, arguments.format)
}

/// md's source becomes the recording.
fn source(topology: &mut Topology, arguments: &Replay, recording: &Recording) -> Result<(), Failure> {
    let unfit = |what: String| Failure::new(Exit::Usage, what);
    let matching = topology.nodes.iter().find(|node| node.kind == NodeKind::Matching);
    let matching = matching.map(|node| serde_json::from_value::<MatchingConfig>(node.section.clone()));
    if let Some(Ok(MatchingConfig { fill: Fill::Exchange, .. })) = &matching {
        return Err(unfit(
            "the platform is an exchange: its market is what its strategies make, and not in the recording; \
             --strategy replays one of them, --platform another platform"
                .to_owned(),
        ));
    }
    if let Some(Ok(MatchingConfig { fill: Fill::External, .. })) = matching {
        return Err(unfit(
            "the platform's orders went to a market outside, which cannot be replayed; --strategy replays one of its \
             strategies, --platform another platform"
                .to_owned(),
        ));
    }
    let Some(md) = topology.nodes.iter_mut().find(|node| node.kind == NodeKind::Md) else {
        return Err(unfit("the platform has no market data".to_owned()));
    };
    let mut config: MdConfig = serde_json::from_value(md.section.clone())
        .map_err(|error| unfit(format!("the section of md is not understood: {error}")))?;
    let folder =
        std::path::absolute(recording.folder()).unwrap_or_else(|_| PathBuf::from(recording.folder()));
    config.source = MarketSource::Recording;
    config.files = Some(Files::Path(folder));
    config.speed = arguments.speed;
    // md knows times of day only: bounds outside of the recording are none, and those inside must be of its one day.
    // The recording at hand ends at --to already; what md reads does not.
    let end = Recording::open(recording.folder()).map_or(recording.end().time, |whole| whole.end().time);
    let begin = recording.segments().first().map_or(end, |segment| segment.head.created.get());
    let (from, to) = (arguments.from.filter(|&from| from > begin), arguments.to.filter(|&to| to < end));
    if (from.is_some() || to.is_some()) && begin / DAY != end / DAY {
        return Err(unfit(
            "the recording spans midnight (UTC): --from and --to need one of a single day".to_owned(),
        ));
    }
    let time_of_day = |time: u64| TimeOfDay(time % DAY);
    (config.from, config.to) = (from.map(time_of_day), to.map(time_of_day));
    md.section = serde_json::to_value(&config).map_err(|error| unfit(error.to_string()))?;
    Ok(())
}

/// The readers of market data are waited for, and nobody naps.
fn in_lock_step(topology: &mut Topology) {
    topology.deterministic = true;
    let market: Vec<String> = topology
        .journals
        .iter()
        .filter(|journal| journal.writer == "md" && journal.name != "md.instruments")
        .map(|journal| journal.name.clone())
        .collect();
    let takes_part = |kind: NodeKind| {
        matches!(kind, NodeKind::Strategy | NodeKind::Host | NodeKind::Ledger | NodeKind::Matching)
    };
    let mut gated = Vec::new();
    for node in &mut topology.nodes {
        if matches!(node.mode, Mode::Napping { .. }) {
            node.mode = Mode::Parked;
        }
        for read in &mut node.reads {
            read.wake_within = Duration::ZERO;
            if takes_part(node.kind) && market.contains(&read.journal) {
                read.kind = ReaderKind::Gated;
                gated.push((read.journal.clone(), node.name.clone()));
            }
        }
    }
    for journal in &mut topology.journals {
        for reader in &mut journal.readers {
            if gated.iter().any(|(name, node)| *name == journal.name && *node == reader.node) {
                reader.kind = ReaderKind::Gated;
            }
        }
    }
}

/// A replay is not recorded: it would lie among the recordings that it is made from.
fn without_recorders(topology: &mut Topology) {
    let mut seats = BTreeMap::new();
    let nodes = std::mem::take(&mut topology.nodes);
    let (recorders, mut nodes): (Vec<_>, Vec<_>) =
        nodes.into_iter().partition(|node| node.kind == NodeKind::Recorder);
    for (index, node) in nodes.iter_mut().enumerate() {
        let seat = u16::try_from(index).unwrap_or(u16::MAX);
        seats.insert(node.seat, seat);
        node.seat = seat;
    }
    for node in nodes.iter_mut().filter(|node| node.kind == NodeKind::Relay) {
        if let Ok(mut section) = serde_json::from_value::<RelaySection>(node.section.clone()) {
            section.seats = section.seats.iter().filter_map(|seat| seats.get(seat).copied()).collect();
            node.section = serde_json::to_value(section).unwrap_or_default();
        }
    }
    for journal in &mut topology.journals {
        journal.durability = Durability::None;
        journal.readers.retain(|reader| recorders.iter().all(|recorder| recorder.name != reader.node));
    }
    topology.nodes = nodes;
}
